//! The state of a run with explicit weights: the running weights and whatever its read-out
//! needs. It is saved with the model, so that a run can be resumed as if it had never stopped.

use crate::options::Readout;
use crate::readout::{Average, UpdateLog};
use crate::scheme::Scheme;
use crate::weights::Weights;

/// The running weights and what the read-out keeps beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearState {
    /// The weights now, in units of [`unit`](Self::unit).
    pub weights: Weights,
    /// What one unit of the weights is worth. From zero and without a margin demand the
    /// rate only scales the weights, so they are kept as counts times examples and
    /// multiplied by the rate when read out: then every rate makes identical mistakes.
    pub unit: f64,
    /// Squared norms of the weights by group, where something divides by them.
    pub norms: Option<Vec<f64>>,
    /// Under a penalty, the weights are these multiples, by group, of [`weights`](Self::weights).
    pub scale: Option<Vec<f64>>,
    /// What the penalty `l1` has added to each weight, and as bias what it has asked of each.
    pub cut: Option<Weights>,
    /// The confidence Σ of AROW, one diagonal for each discriminator.
    pub confidence: Option<Weights>,
    /// The running sum for the averaged read-outs.
    pub average: Option<Average>,
    /// The weights that the `random` and `pocket` read-outs keep; those before the last step
    /// of batch descent, to which it goes back if it diverges.
    pub kept: Option<Weights>,
    /// Every update, for the voted read-out.
    pub log: Option<UpdateLog>,
}

/// Weights that only some runs have: their name in the model file, and where the state holds them.
pub(crate) type OptionalWeights = (
    &'static str,
    fn(&LinearState) -> &Option<Weights>,
    fn(&mut LinearState) -> &mut Option<Weights>,
);

impl LinearState {
    /// All of them, in the order of the model file.
    pub(crate) const OPTIONAL_WEIGHTS: [OptionalWeights; 3] = [
        ("kept", |s| &s.kept, |s| &mut s.kept),
        ("confidence", |s| &s.confidence, |s| &mut s.confidence),
        ("cut", |s| &s.cut, |s| &mut s.cut),
    ];

    /// The weights that a read-out makes of it, in units of 1; that of votes is made of its log.
    pub(crate) fn read_out(&self, scheme: Scheme, readout: Readout) -> Weights {
        if let Some(average) = &self.average {
            // A direction has no unit.
            let unit = match readout {
                Readout::AveragedNormalised => 1.0,
                _ => self.unit,
            };
            return average.mean(scheme, &self.weights, unit);
        }
        let (mut weights, scaled) = match &self.kept {
            Some(kept) => (kept.clone(), true),
            None => (self.weights.clone(), self.unit != 1.0),
        };
        if scaled {
            (0..scheme.discriminators()).for_each(|d| weights.map(d, |w| w * self.unit));
        }
        weights
    }

    /// These weights and nothing beside them.
    pub(crate) fn of(weights: Weights) -> Self {
        LinearState {
            weights,
            unit: 1.0,
            norms: None,
            scale: None,
            cut: None,
            confidence: None,
            average: None,
            kept: None,
            log: None,
        }
    }
}
