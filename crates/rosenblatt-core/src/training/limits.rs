//! Stop rules: what may end a run besides its own success.
//!
//! To add one: a field and a parameter in `options`, a reason in [`Stop`], and a line here at the
//! moment it applies.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::options::Options;
use crate::progress::{Progress, Stop};

/// The limits of a run, asked at every moment at which it may stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub options: &'a Options,
    /// Set when the caller wants to stop.
    pub interrupt: Option<&'a AtomicBool>,
    /// When the clock for the time limit began.
    pub started: Instant,
    /// The limit on passes.
    pub epochs: u64,
}

impl Limits<'_> {
    /// Whether the caller or the clock wants an end.
    pub(crate) fn now(&self) -> Option<Stop> {
        if self
            .interrupt
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
        {
            return Some(Stop::Interrupted);
        }
        let spent = self.started.elapsed().as_secs_f64();
        let over = self.options.time_limit.is_some_and(|limit| spent >= limit);
        over.then_some(Stop::TimeLimit)
    }

    /// Whether no further pass is allowed; a resumed run may have used up its limits before.
    pub(crate) fn before_pass(&self, progress: &Progress) -> Option<Stop> {
        if progress.passes.len() as u64 >= self.epochs {
            return Some(Stop::EpochLimit);
        }
        self.after_update(progress)
    }

    /// Whether the updates made are enough.
    #[inline]
    pub(crate) fn after_update(&self, progress: &Progress) -> Option<Stop> {
        let spent = self
            .options
            .max_updates
            .is_some_and(|most| progress.updates >= most);
        spent.then_some(Stop::UpdateLimit)
    }

    /// Whether the last `patience` passes brought no better validation accuracy.
    pub(crate) fn after_pass(&self, progress: &Progress) -> Option<Stop> {
        let patience = self.options.patience?;
        let mut best = (0, f64::NEG_INFINITY);
        for (epoch, pass) in progress.passes.iter().enumerate() {
            if let Some(accuracy) = pass.validation_accuracy.filter(|&a| a > best.1) {
                best = (epoch, accuracy);
            }
        }
        let waited = progress.passes.len() as u64 > best.0 as u64 + patience;
        waited.then_some(Stop::NoImprovement)
    }
}
