//! Keeps the pages of a mapped file that lie in memory below a limit.
//!
//! The system takes pages of a file back when it needs memory, but until then they count as
//! the program's own. Under a limit, whoever goes through all rows says how many bytes were
//! read. Before they can be too many, with all that the system brought beside them, it is found
//! out how many there are, and all pages are handed back if need be; those still wanted come again
//! from the system's own cache, or from the disk. For readers who say nothing, a thread looks from
//! time to time; alone it would not do, as it may have to wait for its turn while others read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use memmap2::Mmap;

use rosenblatt_core::data::Lender;

/// What may be brought beside bytes that are read: the large page that they lie on.
const BESIDE: usize = 2 << 20;

/// How often the thread looks.
const PERIOD: Duration = Duration::from_micros(500);

/// A mapped file, perhaps under a limit.
#[derive(Debug)]
pub(super) struct PageEvictor {
    mapped: Arc<Mmap>,
    limit: Option<u64>,
    /// Bytes that may have been brought since somebody looked.
    brought: AtomicUsize,
    over: Arc<AtomicBool>,
    worker: Option<JoinHandle<()>>,
}

impl PageEvictor {
    /// Holds the mapping; with a limit in bytes, watches over it.
    pub(super) fn new(mapped: Mmap, limit: Option<u64>) -> Self {
        let mapped = Arc::new(mapped);
        let over = Arc::new(AtomicBool::new(false));
        let worker = limit.and_then(|limit| {
            let (mapped, over) = (mapped.clone(), over.clone());
            let watch = move || {
                while !over.load(Ordering::Relaxed) {
                    evict_if_over(&mapped, limit);
                    std::thread::sleep(PERIOD);
                }
            };
            // Without a thread, those who say what they read still keep the limit.
            std::thread::Builder::new().spawn(watch).ok()
        });
        PageEvictor {
            mapped,
            limit,
            brought: AtomicUsize::new(0),
            over,
            worker,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.mapped
    }
}

impl Lender for PageEvictor {
    fn hear(&self, bytes: usize) {
        let Some(limit) = self.limit else {
            return;
        };
        let bytes = bytes.saturating_add(BESIDE);
        let before = self.brought.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) as u64 >= limit / 4 {
            self.brought.store(0, Ordering::Relaxed);
            evict_if_over(&self.mapped, limit);
        }
    }
}

impl Drop for PageEvictor {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

/// Hands all pages back if too much is in memory. Some room is left for what comes in between two
/// looks.
fn evict_if_over(mapped: &Mmap, limit: u64) {
    if bytes_in_memory().is_some_and(|bytes| bytes > limit / 2) {
        evict(mapped);
    }
}

/// Bytes that count as this program's memory, where the system says.
fn bytes_in_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // The crate calls this advice unsafe because of mappings that are written.
fn evict(mapped: &Mmap) {
    // SAFETY: the mapping is of a file and read-only, so pages handed back come again with the
    // same bytes.
    let _ = unsafe { mapped.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
}

#[cfg(not(target_os = "linux"))]
fn evict(_mapped: &Mmap) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// KiB of the mapping that starts here which lie in memory.
    fn in_memory(mapped: &[u8]) -> u64 {
        let start = format!("{:x}-", mapped.as_ptr().addr());
        let text = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = text.lines().skip_while(|line| !line.starts_with(&start));
        let line = lines.find(|line| line.starts_with("Rss:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    const BYTES: usize = 4 << 20;

    /// Maps a file that only this process can find, as often as it is asked to.
    #[allow(unsafe_code)] // The only way to map a file.
    fn maps(name: &str) -> impl Fn() -> Mmap {
        let name = format!("rosenblatt-page_evictor-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, vec![7; BYTES]).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        // SAFETY: nobody else knows the file.
        move || unsafe { Mmap::map(&file) }.unwrap()
    }

    #[test]
    fn pages_go_back_once_too_much_is_in_memory() {
        let map = maps("limit");
        let all = BYTES as u64 >> 10;
        let read_all = |mapped: &[u8]| mapped.iter().map(|&b| u64::from(b)).sum::<u64>();
        // This process is always larger than that, so that all goes back at every look; the thread
        // is not waited for.
        let tight = PageEvictor::new(map(), Some(1 << 20));
        assert_eq!(read_all(tight.bytes()), 7 * BYTES as u64);
        tight.hear(1);
        assert_eq!(in_memory(tight.bytes()), 0);
        assert_eq!(read_all(tight.bytes()), 7 * BYTES as u64);
        // And always smaller than that, however much is said to have been read.
        let wide = PageEvictor::new(map(), Some(64 << 30));
        assert_eq!(read_all(wide.bytes()), 7 * BYTES as u64);
        wide.hear(1 << 40);
        assert_eq!(in_memory(wide.bytes()), all);
        // Without a limit nothing is ever handed back.
        let free = PageEvictor::new(map(), None);
        assert_eq!(read_all(free.bytes()), 7 * BYTES as u64);
        free.hear(usize::MAX);
        assert_eq!(in_memory(free.bytes()), all);
    }

    /// Rows far apart, on pages that the system has as large ones.
    #[test]
    fn what_the_system_brings_beside_is_counted() {
        let mapped = maps("beside")();
        let page_evictor = PageEvictor::new(mapped, Some(1 << 30));
        page_evictor.hear(1);
        assert!(page_evictor.brought.load(Ordering::Relaxed) > BESIDE);
        for _ in 0..1 << 7 {
            page_evictor.hear(1);
        }
        assert!(page_evictor.brought.load(Ordering::Relaxed) < 1 << 28);
    }
}
