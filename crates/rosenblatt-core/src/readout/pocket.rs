//! The `pocket` read-out: Gallant's ratchet.
//!
//! *Reference.* S. I. Gallant, "Perceptron-based learning algorithms", IEEE Transactions on
//! Neural Networks 1 (1990).

use serde::{Deserialize, Serialize};

/// The state of the ratchet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pocket {
    /// Correct visits in a row by the running weights.
    pub run: u64,
    /// The run of the weights in the pocket.
    pub best_run: u64,
    /// Their errors on all examples; `None` before anything is in the pocket.
    pub best_errors: Option<u64>,
}

impl Pocket {
    /// Counts a visit. The running weights may be worth the pocket once their run of correct
    /// visits beats the pocket's; with `any_run` (orders that visit only mistakes never see such
    /// a run) each new hypothesis may be. `counted` says whether its errors were counted before.
    pub(crate) fn is_candidate(
        &mut self,
        updated: bool,
        any_run: bool,
        counted: &mut bool,
    ) -> bool {
        if updated {
            self.run = 0;
            *counted = false;
        } else {
            self.run += 1;
        }
        let candidate = (any_run || self.run > self.best_run) && !*counted;
        *counted |= candidate;
        candidate
    }

    /// Whether a candidate with so many errors on all examples goes into the pocket.
    pub(crate) fn takes(&mut self, errors: u64) -> bool {
        let better = self.best_errors.is_none_or(|best| errors < best);
        if better {
            self.best_errors = Some(errors);
            self.best_run = self.run;
        }
        better
    }
}
