//! Stop rules: what may end a run, and why it ended. Stopping is a value with a reason, never an
//! error.
//!
//! To add a rule: a field and a parameter in `options`, a reason in [`Stop`], and a line in
//! [`Limits`] at the moment it applies.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Progress;
use crate::options::Options;

/// The reason a run ended.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// A sweep over all examples found every margin above 0: the running weights separate.
    Separated,
    /// A sweep over all examples called for no update, but some margins are exactly 0.
    NoMistakes {
        /// How many examples lie on the boundary.
        at_zero: u64,
    },
    /// The limit on passes.
    EpochLimit,
    /// The limit on updates.
    UpdateLimit,
    /// The limit on time.
    TimeLimit,
    /// The metric on held-out examples did not improve for as many passes as patience allows.
    NoImprovement,
    /// Further passes gained nothing.
    NoGain,
    /// The caller asked to stop.
    Interrupted,
    /// The gradient is as small as the tolerance asks.
    Converged,
    /// Rounding leaves nothing to gain, though the duality gap is above the tolerance.
    Stalled,
    /// Every start of a network got stuck: its loss stopped falling while examples were wrong.
    Stuck {
        /// Starts tried.
        starts: u64,
    },
    /// The error grew without bound.
    Diverged {
        /// A rate below this one is safe.
        safe_rate: f64,
    },
}

impl Stop {
    /// The name by which programs know it.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Separated => "separated",
            Stop::NoMistakes { .. } => "no_mistakes",
            Stop::EpochLimit => "epoch_limit",
            Stop::UpdateLimit => "update_limit",
            Stop::TimeLimit => "time_limit",
            Stop::NoImprovement => "no_improvement",
            Stop::NoGain => "no_gain",
            Stop::Interrupted => "interrupted",
            Stop::Converged => "converged",
            Stop::Stalled => "stalled",
            Stop::Stuck { .. } => "stuck",
            Stop::Diverged { .. } => "diverged",
        }
    }

    /// The reason of this name, which may tell how many examples lie on the boundary; `None` if
    /// there is none.
    #[doc(hidden)]
    pub fn named(name: &str, at_zero: u64) -> Option<Stop> {
        let told = serde_json::json!({
            "reason": name, "at_zero": at_zero, "starts": 0, "safe_rate": 0.0
        });
        serde_json::from_value(told).ok()
    }

    /// Whether the run was cut short, so that what the learner strives for may be missing.
    pub fn is_limit(self) -> bool {
        matches!(self, Stop::EpochLimit | Stop::UpdateLimit | Stop::TimeLimit)
    }

    /// Whether going on would change nothing.
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Stop::Separated
                | Stop::NoMistakes { .. }
                | Stop::Converged
                | Stop::Stalled
                | Stop::Stuck { .. }
                | Stop::Diverged { .. }
        )
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Separated => f.write_str(
                "separated: a sweep over all examples found every one on its correct side",
            ),
            Stop::NoMistakes { at_zero } => {
                write!(
                    f,
                    "no mistakes: a sweep called for no update, but {at_zero} examples lie exactly on the boundary"
                )
            }
            Stop::EpochLimit => f.write_str("stopped at the epoch limit"),
            Stop::UpdateLimit => f.write_str("stopped at the update limit"),
            Stop::TimeLimit => f.write_str("stopped at the time limit"),
            Stop::NoImprovement => {
                f.write_str("stopped because the held-out examples were predicted no better")
            }
            Stop::NoGain => f.write_str("stopped because further passes gained nothing"),
            Stop::Interrupted => f.write_str("interrupted"),
            Stop::Converged => f.write_str("converged: the gradient is within the tolerance"),
            Stop::Stalled => f.write_str(
                "stalled: rounding prevents further progress, with the duality gap above the tolerance",
            ),
            Stop::Stuck { starts } => write!(
                f,
                "stuck: from each of {starts} initialisations the loss stopped falling while examples were misclassified"
            ),
            Stop::Diverged { safe_rate } => {
                write!(
                    f,
                    "diverged: the error grew without bound; a learning rate below {safe_rate:.3e} is safe"
                )
            }
        }
    }
}

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
    /// Passes that are always allowed, where the run may end because others gain nothing.
    pub free_passes: Option<u64>,
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

    /// Whether the passes made are enough.
    pub(crate) fn after_pass(&self, progress: &Progress) -> Option<Stop> {
        self.out_of_patience(progress)
            .or_else(|| self.without_gain(progress))
    }

    /// Whether further passes gain nothing; `bench/passes` is the experiment behind the numbers.
    fn without_gain(&self, progress: &Progress) -> Option<Stop> {
        const FEWEST: u64 = 5;
        const USUAL: u64 = 10;
        const MOST: u64 = 20;
        let made = progress.passes.len() as u64;
        if made < self.free_passes?.max(FEWEST) {
            return None;
        }
        let mistakes = |pass: u64| progress.passes[pass as usize - 1].mistakes as f64;
        let gains = match progress.best {
            // The best pass lies in the second half.
            Some(best) => made < 2 * best.reached,
            // Fewer mistakes than at first; then only where half of them still vanish, so that
            // the run is about to separate.
            None if made < USUAL => mistakes(made) < 0.95 * mistakes(1),
            None => mistakes(made) < 0.5 * mistakes(made.div_ceil(2)),
        };
        (!gains || made >= MOST).then_some(Stop::NoGain)
    }

    /// Whether the last `patience` passes brought no better metric on the held-out examples.
    fn out_of_patience(&self, progress: &Progress) -> Option<Stop> {
        let patience = self.options.patience?;
        let best = progress.best.map_or(1, |best| best.reached);
        let waited = progress.passes.len() as u64 >= best + patience;
        waited.then_some(Stop::NoImprovement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_reasons() {
        let all = [
            Stop::Separated,
            Stop::NoMistakes { at_zero: 3 },
            Stop::EpochLimit,
            Stop::UpdateLimit,
            Stop::TimeLimit,
            Stop::NoImprovement,
            Stop::NoGain,
            Stop::Interrupted,
            Stop::Converged,
            Stop::Stalled,
            Stop::Stuck { starts: 0 },
            Stop::Diverged { safe_rate: 0.0 },
        ];
        for stop in all {
            assert_eq!(Stop::named(stop.name(), 3), Some(stop));
        }
        assert_eq!(Stop::named("tired", 3), None);
    }
}
