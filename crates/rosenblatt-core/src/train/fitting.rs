//! One learner at work: options and examples are checked, what is left is to train.

use super::hypothesis::Hypothesis;
use super::importance::Importance;
use super::looping::Run;
use super::margin;
use super::observer::Watcher;
use super::progress::Progress;
use super::readable::Readable;
use super::session::Fitted;
use super::stop::Stop;
use super::survey::Survey;
use super::watch::Control;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::Spectrum;
use crate::learner::dual::{Dual, Means};
use crate::learner::linear_unit::LinearUnit;
use crate::learner::max_margin::MaxMargin;
use crate::learner::network::NetworkLearner;
use crate::learner::perceptron::{Help, Perceptron};
use crate::model::{Decision, LinearState, Model, Scheme, Weights};
use crate::options::{LearnerKind, Options};

/// Everything a learner needs.
pub(super) struct Fitting<'f> {
    pub(super) data: &'f Dataset,
    pub(super) importance: &'f Importance<'f>,
    pub(super) scheme: Scheme,
    pub(super) options: &'f Options,
    pub(super) control: Control<'f>,
    pub(super) means: Means,
    /// Who helps with small pieces of work.
    pub(super) help: Help<'f>,
    pub(super) survey: &'f Survey<'f>,
    /// The model whose run over the same examples goes on.
    pub(super) resumed: Option<&'f Model>,
    /// What the run before remembered.
    pub(super) state: Option<LinearState>,
    /// Why the run before stopped, if there is nothing left to do.
    pub(super) finished: Option<Stop>,
    pub(super) progress: Progress,
    pub(super) watcher: Watcher<'f>,
}

/// How a run of the loop ended.
pub(super) struct Ending {
    pub(super) stop: Stop,
    /// The margin of every example under the last weights, where it is known already.
    pub(super) margins: Option<Vec<f64>>,
}

impl Fitting<'_> {
    pub(super) fn fit(self) -> Result<Fitted> {
        match self.options.learner {
            LearnerKind::Perceptron => self.perceptron(),
            LearnerKind::Kernel => self.kernel(),
            LearnerKind::LinearUnit => self.linear_unit(),
            LearnerKind::Network => self.network(),
            LearnerKind::MaxMargin => self.max_margin(),
        }
    }

    fn perceptron(mut self) -> Result<Fitted> {
        let (data, importance, options) = (self.data, self.importance, self.options);
        let (help, state) = (self.help, self.state.take());
        let mut perceptron = Perceptron::new(data, importance, self.scheme, options, help, state)?;
        let ending = self.go(&mut perceptron)?;
        let progress = &self.progress;
        let (margin, updates_at_most) =
            margin::from_run(data, importance, &perceptron, options, progress, ending);
        Ok(Fitted {
            margin,
            updates_at_most,
            ..self.fitted(&mut perceptron)?
        })
    }

    fn kernel(mut self) -> Result<Fitted> {
        let (data, importance, options) = (self.data, self.importance, self.options);
        let log = self.resumed.and_then(|model| match &model.decision {
            Decision::Kernel(kernel) => Some(kernel.log.clone()),
            _ => None,
        });
        let mut dual = Dual::new(data, importance, self.scheme, options, self.means, log)?;
        let Ending { stop, .. } = self.go(&mut dual)?;
        let progress = &self.progress;
        let (margin, updates_at_most) =
            margin::from_dual_run(data, importance, &mut dual, options, progress, stop);
        Ok(Fitted {
            radius: dual.squared_radius(self.survey.lift()).sqrt(),
            margin,
            updates_at_most,
            spectrum: Some(Spectrum::of(&options.kernel(), data, options.seed)),
            ..self.fitted(&mut dual)?
        })
    }

    fn linear_unit(mut self) -> Result<Fitted> {
        let (data, importance, state) = (self.data, self.importance, self.state.take());
        let mut unit = LinearUnit::new(data, importance, self.scheme, self.options, state)?;
        let stop = match self.finished {
            Some(stop) => stop,
            None => unit.go(self.control, &mut self.progress, &mut self.watcher)?,
        };
        self.progress.stop = Some(stop);
        Ok(Fitted {
            learning_rate: unit.rate(),
            ..self.fitted(&mut unit)?
        })
    }

    fn network(mut self) -> Result<Fitted> {
        if self.resumed.is_some() {
            return Err(
                Error::options("the training of a network cannot be resumed")
                    .remedy("train it afresh with more --epochs"),
            );
        }
        let mut learner =
            NetworkLearner::new(self.data, self.importance, self.scheme, self.options)?;
        let stop = learner.go(self.control, &mut self.progress, &mut self.watcher)?;
        self.progress.stop = Some(stop);
        Ok(Fitted {
            learning_rate: learner.rate(),
            ..self.fitted(&mut learner)?
        })
    }

    fn max_margin(mut self) -> Result<Fitted> {
        if self.resumed.is_some() {
            return Err(Error::options(
                "the search for the largest margin cannot be resumed: its answer is the same from any start",
            )
            .remedy("train afresh with larger limits or another --tolerance"));
        }
        let (data, options) = (self.data, self.options);
        let mut learner = MaxMargin::new(data, self.importance, self.scheme, options, self.means)?;
        let watcher = &mut self.watcher;
        let stop = learner.go(self.control, &mut self.progress, |progress| {
            watcher.tell(progress);
        })?;
        self.progress.stop = Some(stop);
        let spectrum = |kernel| Spectrum::of(&kernel, data, options.seed);
        Ok(Fitted {
            margin: learner.margin(),
            spectrum: options.kernel.map(spectrum),
            ..self.fitted(&mut learner)?
        })
    }

    /// Runs the loop, unless there is nothing left to do.
    fn go<H: Hypothesis + Readable>(&mut self, hypothesis: &mut H) -> Result<Ending> {
        let ending = match self.finished {
            Some(stop) => Ending {
                stop,
                margins: None,
            },
            None => {
                let mut run = Run::new(
                    self.data,
                    self.options,
                    self.control,
                    hypothesis,
                    &mut self.progress,
                    &mut self.watcher,
                );
                let stop = run.go()?;
                let margins = run.into_margins();
                Ending { stop, margins }
            }
        };
        self.progress.stop = Some(ending.stop);
        Ok(ending)
    }

    /// What is the same for all learners.
    fn fitted(&self, learner: &mut impl Readable) -> Result<Fitted> {
        let squared_radius = self.survey.squared_radius(self.means.threads);
        Ok(Fitted {
            model: require_finite(self.watcher.last_model(learner, &self.progress))?,
            radius: squared_radius.sqrt(),
            learning_rate: self.options.rate(),
            margin: None,
            updates_at_most: None,
            spectrum: None,
        })
    }
}

/// Refuses weights beyond what a number can hold.
fn require_finite(model: Model) -> Result<Model> {
    let read_out = match &model.decision {
        Decision::Linear(weights) => Some(weights),
        _ => None,
    };
    // A mean of weights is finite only if the last of them are.
    let last = model.state.as_ref().filter(|state| state.average.is_none());
    let last = last.map(|state| &state.weights);
    if read_out.into_iter().chain(last).all(Weights::is_finite) {
        return Ok(model);
    }
    Err(
        Error::options("the weights grew beyond what a number can hold")
            .remedy("use a smaller --learning-rate, or scale the data"),
    )
}
