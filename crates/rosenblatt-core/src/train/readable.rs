//! What a learner leaves behind, as parts of a model.

use crate::data::Dataset;
use crate::learner::dual::Dual;
use crate::learner::linear_unit::LinearUnit;
use crate::learner::max_margin::MaxMargin;
use crate::learner::network::NetworkLearner;
use crate::learner::perceptron::Perceptron;
use crate::model::{Decision, LinearState, SupportVectors, Voted};
use crate::options::Readout;

/// A learner whose state can become a model.
pub(super) trait Readable {
    fn decision(&mut self, data: &Dataset, readout: Readout) -> Decision;
    fn saved_state(&mut self) -> Option<LinearState>;
    /// The same from a learner that is not asked again.
    fn give_up_state(&mut self) -> Option<LinearState> {
        self.saved_state()
    }
    fn support(&self) -> Option<SupportVectors> {
        None
    }
}

impl Readable for Perceptron<'_> {
    fn decision(&mut self, data: &Dataset, readout: Readout) -> Decision {
        let scheme = super::Hypothesis::scheme(self);
        let (constant, threads) = (self.constant(), self.threads());
        let state = self.state();
        if let (Readout::Voted, Some(log)) = (readout, &state.log) {
            return Decision::Voted(Box::new(Voted::new(data, log.clone(), constant)));
        }
        Decision::Linear(if let Some(average) = &state.average {
            // A direction has no unit.
            let unit = match readout {
                Readout::AveragedNormalised => 1.0,
                _ => state.unit,
            };
            average.mean(scheme, &state.weights, unit, threads)
        } else if let Some(kept) = &state.kept {
            let mut kept = kept.clone();
            (0..scheme.discriminators()).for_each(|d| kept.map(d, |w| w * state.unit));
            kept
        } else {
            self.weights_now()
        })
    }

    fn saved_state(&mut self) -> Option<LinearState> {
        Some(self.state().clone())
    }

    fn give_up_state(&mut self) -> Option<LinearState> {
        Some(self.take_state())
    }
}

impl Readable for Dual<'_> {
    fn decision(&mut self, _: &Dataset, _: Readout) -> Decision {
        Decision::Kernel(Box::new(self.model()))
    }

    /// The log in the model is all the state there is.
    fn saved_state(&mut self) -> Option<LinearState> {
        None
    }
}

impl Readable for NetworkLearner<'_> {
    fn decision(&mut self, _: &Dataset, _: Readout) -> Decision {
        Decision::Network(Box::new(self.network().clone()))
    }

    fn saved_state(&mut self) -> Option<LinearState> {
        None
    }
}

impl Readable for MaxMargin<'_> {
    fn decision(&mut self, _: &Dataset, _: Readout) -> Decision {
        MaxMargin::decision(self)
    }

    fn saved_state(&mut self) -> Option<LinearState> {
        None
    }

    fn support(&self) -> Option<SupportVectors> {
        Some(self.support())
    }
}

impl Readable for LinearUnit<'_> {
    fn decision(&mut self, _: &Dataset, _: Readout) -> Decision {
        Decision::Linear(self.weights().clone())
    }

    fn saved_state(&mut self) -> Option<LinearState> {
        Some(self.state().clone())
    }
}
