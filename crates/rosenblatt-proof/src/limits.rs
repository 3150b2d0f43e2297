//! The limits of a decision: when it gives up, and who hears what it is doing.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rosenblatt_core::progress::Stop;

use super::verdict::Multipliers;

/// What is done, and what is known so far, told now and then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doing {
    /// What is done.
    pub what: String,
    /// Whether separability is refuted.
    pub refuted: bool,
    /// The fewest rows that a hyperplane met so far leaves off their correct side.
    pub fewest_misclassified: Option<usize>,
}

/// Hears what is done.
pub type Listener<'a> = dyn Fn(&Doing) + Sync + 'a;

/// The limits of a decision, asked at every moment at which it may stop.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Set when the caller wants to stop.
    pub interrupt: Option<&'a AtomicBool>,
    /// Hears what is done.
    pub listener: Option<&'a Listener<'a>>,
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits")
            .field("deadline", &self.deadline)
            .field("interrupt", &self.interrupt)
            .field("listener", &self.listener.is_some())
            .finish()
    }
}

/// A decision gave up, at the deadline or because the caller wanted it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopped(pub(crate) Stop);

pub(crate) type OrStopped<T> = std::result::Result<T, Stopped>;

impl Limits<'_> {
    /// Whether the caller or the clock wants an end.
    pub fn now(&self) -> Option<Stop> {
        if self.interrupt.is_some_and(|i| i.load(Ordering::Relaxed)) {
            return Some(Stop::Interrupted);
        }
        let over = self.deadline.is_some_and(|end| Instant::now() >= end);
        over.then_some(Stop::TimeLimit)
    }

    /// Stops if the caller or the clock wants an end.
    pub(crate) fn check(&self) -> OrStopped<()> {
        self.now().map_or(Ok(()), |stop| Err(Stopped(stop)))
    }

    /// Whether the caller or the clock wants an end, for loops that know nothing of limits.
    pub(crate) fn over(&self) -> bool {
        self.now().is_some()
    }

    /// Tells what is done.
    pub(crate) fn tell(&self, doing: impl FnOnce() -> Doing) {
        if let Some(listener) = self.listener {
            listener(&doing());
        }
    }
}

/// What is known of rows about which nothing was decided within the limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Undecided {
    /// Why the search ended.
    pub stop: Stop,
    /// Multipliers λ that refute separability, checked: the rows are quasi-separable or overlap.
    /// Empty if none were found; then nothing is known for certain.
    pub refutation: Multipliers,
    /// The fewest rows that a hyperplane met in the search leaves off their correct side.
    pub fewest_misclassified: Option<usize>,
}
