//! What a check may cost.
//!
//! A certificate comes from anybody, and may ask for more arithmetic than it has bytes: each of its
//! entries meets every row. What it may ask for is limited here; how long its numbers may be, in
//! `number.rs`.

use std::io;
use std::time::{Duration, Instant};

/// The most bytes of a certificate.
pub const MAX_CERTIFICATE_BYTES: usize = 1 << 28;

/// The most entries of an echelon form, of 16 bytes each.
const MAX_ENTRIES: usize = 1 << 27;

/// The time and the memory that are left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    start: Instant,
    time: Duration,
}

impl Budget {
    pub(crate) fn new(time: Duration) -> Self {
        Budget {
            start: Instant::now(),
            time,
        }
    }

    /// Fails once the time has passed.
    pub(crate) fn require_time(&self) -> io::Result<()> {
        if self.start.elapsed() < self.time {
            return Ok(());
        }
        let message = format!("it is not verified after {} s", self.time.as_secs_f64());
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }

    /// Fails where an echelon form has more entries than there is memory for.
    pub(crate) fn require_room(entries: usize) -> io::Result<()> {
        if entries <= MAX_ENTRIES {
            return Ok(());
        }
        let message = "its proof of a rank takes more than 2 GiB of memory";
        Err(io::Error::new(io::ErrorKind::OutOfMemory, message))
    }
}
