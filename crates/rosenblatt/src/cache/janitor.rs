//! Keeps the pages of a mapped file that lie in memory below a limit.
//!
//! The system takes pages of a file back when it needs memory, but until then they count as
//! the program's own. Under a limit, a thread looks from time to time how many there are and
//! hands all of them back when they are too many; those still wanted come again from the
//! system's own cache, or from the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use memmap2::Mmap;

/// How often it looks.
const PERIOD: Duration = Duration::from_micros(500);

/// A mapped file, perhaps under a limit.
#[derive(Debug)]
pub(super) struct Janitor {
    mapped: Arc<Mmap>,
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
            over,
            worker,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.mapped
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
