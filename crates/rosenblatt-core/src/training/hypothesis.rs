//! What the training loop asks of a hypothesis.

use crate::data::Dataset;
use crate::model::{Decision, LinearState, SupportVectors};
use crate::options::Readout;

/// A hypothesis that mistakes correct: explicit weights, or coefficients over a kernel.
pub(crate) trait Hypothesis: Snapshot {
    /// How many numbers the scores of an example are: the discriminators', and padding.
    fn width(&self) -> usize;

    /// What one unit of its scores is worth.
    fn unit(&self) -> f64;

    /// Whether a visit moves it even where it calls for no update, so that a pass without one
    /// proves nothing.
    fn always_moves(&self) -> bool {
        false
    }

    /// A pass begins.
    fn begin_pass(&mut self) {}

    /// The examples of `block` come next, and then those of `coming`.
    fn look_ahead(&mut self, _block: &[u32], _coming: &[u32]) {}

    /// The exact scores of example `i` by the hypothesis as it is now.
    fn scores(&mut self, i: usize) -> &[f64];

    /// The same of the first of the examples that come `next`, and of as many behind it as are
    /// worth scoring before the hypothesis may change.
    fn scores_ahead(&mut self, next: &[u32], scores: &mut Vec<f64>) {
        scores.clear();
        scores.extend_from_slice(self.scores(next[0] as usize));
    }

    /// ‖x‖² of example `i`, what the bias adds included.
    fn squared_length(&self, i: usize) -> f64;

    /// The squared length by which discriminator `d` measures the row of example `i` when it
    /// decides on a step.
    fn step_length(&self, i: usize, _d: u32) -> f64 {
        self.squared_length(i)
    }

    /// Adds to each discriminator named that much of the row of example `i`, whose scores were
    /// these.
    fn update(&mut self, i: usize, scores: &[f64], changes: &[(u32, f64)]);

    /// A visit to an example of class `label` is over: the hypothesis counts once more.
    fn visited(&mut self, label: u32);

    /// The same of so many visits, where there is one plane.
    fn visited_many(&mut self, visits: usize) {
        (0..visits).for_each(|_| self.visited(0));
    }

    /// Keeps the hypothesis as it is, for the `random` and `pocket` read-outs.
    fn keep_snapshot(&mut self);

    /// The weights as one vector, discriminator by discriminator, bias first.
    fn vector(&self) -> Vec<f64>;
}

/// A learner's state that can become a model at any time.
pub(crate) trait Snapshot {
    /// The decision function that the read-out makes of it.
    fn decision(&mut self, data: &Dataset, readout: Readout) -> Decision;

    /// What a resumed run needs beside the model.
    fn state(&mut self) -> Option<LinearState> {
        None
    }

    /// The same when it is not asked again.
    fn take_state(&mut self) -> Option<LinearState> {
        self.state()
    }

    /// The examples that hold its planes up, for maximum-margin learners.
    fn support(&self) -> Option<SupportVectors> {
        None
    }
}
