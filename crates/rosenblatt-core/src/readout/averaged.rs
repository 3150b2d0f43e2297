//! The averaged read-outs: the mean of the weights over visits, or of the weights divided by
//! their norms.

use crate::scheme::Scheme;
use crate::weights::{Change, Weights};

/// The sum of the weights over visits, in O(non-zeros) per update.
///
/// The sum is S = factor·w + correction. A visit that leaves w alone adds 1 (or 1/‖w‖) to
/// the factor; an update w ← w + δ takes factor·δ from the correction, which leaves S as it
/// was.
#[derive(Debug, Clone, PartialEq)]
pub struct Average {
    /// Σ over visits of 1, or of 1/‖w‖, by group of discriminators.
    pub factor: Vec<f64>,
    /// Visits counted, by group.
    pub visits: Vec<u64>,
    /// What must be added to factor·w.
    pub correction: Weights,
}

/// 1/‖w‖ from ‖w‖², 0 where the weights are zero.
#[inline]
pub(crate) fn inverse_root(square: f64) -> f64 {
    match square > 0.0 {
        true => 1.0 / square.sqrt(),
        false => 0.0,
    }
}

impl Average {
    /// No visit counted yet.
    pub fn new(scheme: Scheme, features: usize) -> Self {
        Average {
            factor: vec![0.0; scheme.groups()],
            visits: vec![0; scheme.groups()],
            correction: Weights::zero(scheme.discriminators(), features),
        }
    }

    /// What to add to the correction when `change` is added to the weights of `group`.
    #[inline]
    pub(crate) fn due(&self, group: usize, change: Change) -> Option<Change> {
        let factor = self.factor[group];
        (factor != 0.0).then_some(Change {
            d: change.d,
            scale: -factor * change.scale,
            bias: -factor * change.bias,
        })
    }

    /// Moves factor·w into the correction, as must be done before w is rescaled.
    pub fn flush(
        &mut self,
        group: usize,
        discriminators: impl Iterator<Item = usize>,
        weights: &Weights,
    ) {
        let factor = std::mem::take(&mut self.factor[group]);
        discriminators.for_each(|d| {
            self.correction
                .combine(d, weights, |own, w| own + factor * w)
        });
    }

    /// Counts visits of `group` at weights whose share is `share` (1, or 1/‖w‖) each time.
    #[inline]
    pub fn count(&mut self, group: usize, share: f64, visits: usize) {
        // One by one: shares are not always whole, so a product would be rounded otherwise.
        let factor = &mut self.factor[group];
        *factor = (0..visits).fold(*factor, |sum, _| sum + share);
        self.visits[group] += visits as u64;
    }

    /// The mean over visits, times `unit`; discriminators never visited are as in `weights`.
    pub fn mean(&self, scheme: Scheme, weights: &Weights, unit: f64) -> Weights {
        let counted: Vec<(f64, f64)> = (0..scheme.discriminators())
            .map(|d| {
                (
                    self.factor[scheme.group(d)],
                    self.visits[scheme.group(d)] as f64,
                )
            })
            .collect();
        self.correction
            .combined(weights, |d, own, w| match counted[d] {
                (_, 0.0) => w * unit,
                (factor, visits) => (factor * w + own) / visits * unit,
            })
    }
}
