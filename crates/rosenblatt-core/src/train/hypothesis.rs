//! What the loop asks of a learner.

use super::order::Block;
use crate::model::Scheme;

/// What the loop asks of a learner that is driven by mistakes.
pub(crate) trait Hypothesis {
    /// Its discriminators.
    fn scheme(&self) -> Scheme;

    /// How many numbers the scores of an example are: the discriminators', and padding.
    fn width(&self) -> usize;

    /// What one unit of its scores is worth.
    fn unit(&self) -> f64;

    /// A pass begins.
    fn begin_pass(&mut self) {}

    /// The examples of `block` come next, and then those of `coming`.
    fn look_ahead(&mut self, _block: &[u32], _coming: &Block) {}

    /// The exact scores of example `i` by the hypothesis as it is now.
    fn scores(&mut self, i: usize) -> &[f64];

    /// The same of the first of the examples that come `next`, and of as many behind it as are
    /// worth a look before the hypothesis may change.
    fn scores_ahead(&mut self, next: &[u32], scores: &mut Vec<f64>) {
        scores.clear();
        scores.extend_from_slice(self.scores(next[0] as usize));
    }

    /// Changes the discriminators named, given the scores of example `i`; gives c²‖x‖² of it.
    fn update(&mut self, i: usize, scores: &[f64], changes: &[(u32, f64)]) -> f64;

    /// The visit to an example of class `label` is over: the hypothesis counts once more.
    fn settle(&mut self, label: u32);

    /// The same of so many visits, where there is one plane.
    fn settle_many(&mut self, visits: usize) {
        (0..visits).for_each(|_| self.settle(0));
    }

    /// Remembers the hypothesis as it is, for the `random` and `pocket` read-outs.
    fn keep(&mut self);

    /// The weights as one vector, discriminator by discriminator, bias first.
    fn vector(&self) -> Vec<f64>;
}
