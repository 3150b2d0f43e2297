//! Keeps the pages of a mapped file that lie in memory below a limit.
//!
//! The system takes pages of a file back when it needs memory, but until then they count as
//! the program's own. Under a limit, whoever goes through all rows says how many bytes were
//! read, and all pages are handed back when they are too many; those still wanted come again from
//! the system's own cache, or from the disk. For readers who say nothing, a thread looks from
//! time to time; alone it would not do, as it may have to wait for its turn while others read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use memmap2::Mmap;

use crate::data::Lender;

/// How often it looks.
const PERIOD: Duration = Duration::from_micros(500);

/// A mapped file, perhaps under a limit.
#[derive(Debug)]
pub(super) struct Janitor {
    mapped: Arc<Mmap>,
    /// Bytes that may be read before all are handed back.
    share: Option<usize>,
    /// Bytes that were read since.
    read: AtomicUsize,
    over: Arc<AtomicBool>,
    worker: Option<JoinHandle<()>>,
}

impl Janitor {
    /// Holds the mapping; with a limit in bytes, watches over it.
    pub(super) fn new(mapped: Mmap, limit: Option<u64>) -> Self {
        let mapped = Arc::new(mapped);
        let over = Arc::new(AtomicBool::new(false));
        let worker = limit.map(|limit| {
            let (mapped, over) = (mapped.clone(), over.clone());
            std::thread::spawn(move || {
                // Some room is left for what comes in between two looks.
                let most = limit / 2;
                while !over.load(Ordering::Relaxed) {
                    if bytes_in_memory().is_some_and(|bytes| bytes > most) {
                        hand_back(&mapped);
                    }
                    std::thread::sleep(PERIOD);
                }
            })
        });
        Janitor {
            mapped,
            // The system brings pages beside those that are asked for.
            share: limit.map(|limit| (limit / 4).try_into().unwrap_or(usize::MAX)),
            read: AtomicUsize::new(0),
            over,
            worker,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.mapped
    }
}

impl Lender for Janitor {
    fn hear(&self, bytes: usize) {
        let Some(share) = self.share else {
            return;
        };
        let before = self.read.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) >= share {
            self.read.store(0, Ordering::Relaxed);
            hand_back(&self.mapped);
        }
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
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
fn hand_back(mapped: &Mmap) {
    // SAFETY: the mapping is of a file and read-only, so pages handed back come again with the
    // same bytes.
    let _ = unsafe { mapped.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
}

#[cfg(not(target_os = "linux"))]
fn hand_back(_mapped: &Mmap) {}

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

    #[test]
    #[allow(unsafe_code)] // The only way to map a file.
    fn pages_go_back_once_enough_was_read() {
        const BYTES: usize = 4 << 20;
        let name = format!("rosenblatt-janitor-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, vec![7; BYTES]).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let map = || {
            // SAFETY: nobody else knows the file.
            unsafe { Mmap::map(&file) }.unwrap()
        };
        // The thread has nothing to do: this process stays far below half the limit.
        let janitor = Janitor::new(map(), Some(64 << 30));
        let read_all = || janitor.bytes().iter().map(|&b| u64::from(b)).sum::<u64>();
        assert_eq!(read_all(), 7 * BYTES as u64);
        janitor.hear((16 << 30) - 1);
        assert_eq!(in_memory(janitor.bytes()), BYTES as u64 >> 10);
        janitor.hear(1);
        assert_eq!(in_memory(janitor.bytes()), 0);
        assert_eq!(read_all(), 7 * BYTES as u64);
        janitor.hear(1 << 30);
        assert_eq!(in_memory(janitor.bytes()), BYTES as u64 >> 10);
        // Without a limit nothing is ever handed back.
        let free = Janitor::new(map(), None);
        assert_eq!(free.bytes().iter().filter(|&&b| b == 7).count(), BYTES);
        free.hear(usize::MAX);
        assert_eq!(in_memory(free.bytes()), BYTES as u64 >> 10);
    }
}
