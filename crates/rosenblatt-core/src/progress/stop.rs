//! Why a run ended. Stopping is a value with a reason, never an error.

use std::fmt;

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
    /// Validation accuracy did not improve for as many passes as patience allows.
    NoImprovement,
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
            Stop::Interrupted => "interrupted",
            Stop::Converged => "converged",
            Stop::Stalled => "stalled",
            Stop::Stuck { .. } => "stuck",
            Stop::Diverged { .. } => "diverged",
        }
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
                "separated: a sweep over all examples found every one on its right side",
            ),
            Stop::NoMistakes { at_zero } => {
                write!(
                    f,
                    "no mistakes: a sweep called for no update, but {at_zero} examples lie exactly on the boundary"
                )
            }
            Stop::EpochLimit => f.write_str("stopped at the limit of passes"),
            Stop::UpdateLimit => f.write_str("stopped at the limit of updates"),
            Stop::TimeLimit => f.write_str("stopped at the time limit"),
            Stop::NoImprovement => {
                f.write_str("stopped because validation accuracy no longer improved")
            }
            Stop::Interrupted => f.write_str("interrupted"),
            Stop::Converged => f.write_str("converged: the gradient is within the tolerance"),
            Stop::Stalled => f.write_str(
                "stalled: rounding leaves nothing to gain, with the duality gap above the tolerance",
            ),
            Stop::Stuck { starts } => write!(
                f,
                "stuck: in each of {starts} starts the loss stopped falling while examples were wrong"
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
