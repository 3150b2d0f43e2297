//! How far a run has come: everything needed to resume it, apart from the weights.

mod stop;

pub(crate) use stop::Limits;
pub use stop::Stop;

use serde::{Deserialize, Serialize};

use crate::readout::{Pocket, Reservoir};

/// What happened in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Pass {
    /// Visits made.
    pub visits: u64,
    /// Wrong answers, each before the example's own update.
    pub mistakes: u64,
    /// Updates made.
    pub updates: u64,
    /// Sum over visits of the perceptron loss max(0, −y·s), before the example's own update.
    pub perceptron_loss: f64,
    /// Sum over visits of the hinge loss max(0, 1 − y·s), before the example's own update.
    pub hinge_loss: f64,
    /// A second loss, summed over visits, each before the example's own update. Linear unit:
    /// c(y − o)² over all outputs, c the weight of the example. Passive-aggressive and AROW: the
    /// squared hinge loss. Network: its loss.
    pub squared_error: f64,
    /// Visits that found a margin of exactly 0.
    pub on_boundary: u64,
    /// Accuracy of the read-out on held-out examples after the pass.
    pub validation_accuracy: Option<f64>,
}

impl Pass {
    /// The numbers as a row of a table; no validation accuracy is NaN.
    pub(crate) fn to_numbers(self) -> [f64; 8] {
        [
            self.visits as f64,
            self.mistakes as f64,
            self.updates as f64,
            self.perceptron_loss,
            self.hinge_loss,
            self.squared_error,
            self.on_boundary as f64,
            self.validation_accuracy.unwrap_or(f64::NAN),
        ]
    }

    /// The pass from a row of a table.
    pub(crate) fn from_numbers(row: &[f64; 8]) -> Self {
        Pass {
            visits: row[0] as u64,
            mistakes: row[1] as u64,
            updates: row[2] as u64,
            perceptron_loss: row[3],
            hinge_loss: row[4],
            squared_error: row[5],
            on_boundary: row[6] as u64,
            validation_accuracy: Some(row[7]).filter(|a| !a.is_nan()),
        }
    }

    /// A loss per visit.
    pub fn mean(&self, sum: f64) -> f64 {
        sum / (self.visits as f64).max(1.0)
    }
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Passes completed.
    pub passes: Vec<Pass>,
    /// The pass under way.
    pub current: Pass,
    /// All visits.
    pub visits: u64,
    /// All updates.
    pub updates: u64,
    /// All wrong answers.
    pub mistakes: u64,
    /// Σ over updates of the squared length of the step, for the trace form of the bound.
    pub squared_steps: f64,
    /// Order `restart`: examples scanned without an update.
    pub scan: u64,
    /// The ratchet of the pocket read-out.
    pub pocket: Pocket,
    /// The sampling of the `random` read-out.
    pub reservoir: Reservoir,
    /// The best pass by the held-out examples.
    #[serde(default)]
    pub best: Option<BestPass>,
    /// The pass whose average became the model, where no examples were held out and further passes
    /// were made only to separate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<u64>,
    /// Why the run ended, once it has.
    pub stop: Option<Stop>,
}

/// The pass that the metric on held-out examples puts first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BestPass {
    /// The last pass, from 1, of the highest score.
    pub pass: u64,
    /// The first pass that reached it.
    pub reached: u64,
    /// The score: the metric.
    pub score: f64,
}

impl BestPass {
    /// The better of what was best and pass `pass` with this score.
    pub(crate) fn after(best: Option<Self>, pass: u64, score: f64) -> Self {
        match best {
            Some(best) if score < best.score => best,
            Some(best) if score == best.score => BestPass { pass, ..best },
            _ => BestPass {
                pass,
                reached: pass,
                score,
            },
        }
    }
}

impl Progress {
    /// Adds what a pass did to the totals.
    pub fn count(&mut self, pass: &Pass) {
        self.visits += pass.visits;
        self.mistakes += pass.mistakes;
        self.updates += pass.updates;
    }

    /// Passes completed, and the one under way if it has begun.
    pub fn epochs(&self) -> u64 {
        self.passes.len() as u64 + u64::from(self.current.visits > 0)
    }

    /// Mistakes in each pass, the one under way included.
    pub fn mistakes_per_epoch(&self) -> Vec<u64> {
        let current = (self.current.visits > 0).then_some(self.current.mistakes);
        self.passes
            .iter()
            .map(|p| p.mistakes)
            .chain(current)
            .collect()
    }
}
