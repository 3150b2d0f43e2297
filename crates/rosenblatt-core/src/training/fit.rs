//! Everything a learner needs to train, and what it gives back.

use super::callback::Recorder;
use super::hypothesis::{Hypothesis, Snapshot};
use super::rule::Rule;
use super::run::Run;
use super::sample_weights::SampleWeights;
use super::separability::SeparabilityTest;
use super::step::StepSize;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::Spectrum;
use crate::model::{Decision, LinearState, Model};
use crate::options::{Bias, ClassWeight, Options};
use crate::progress::{Limits, Progress, Stop};
use crate::scheme::Scheme;
use crate::weights::Weights;

/// Checked options and data, the state of a run to be resumed, and who follows it.
pub(crate) struct Training<'f> {
    pub data: &'f Dataset,
    pub sample_weights: &'f SampleWeights<'f>,
    /// What each example's output is to be, in place of ±1 by its label.
    pub targets: Option<&'f [f64]>,
    pub scheme: Scheme,
    pub options: &'f Options,
    pub limits: Limits<'f>,
    pub resources: Resources,
    pub separability_test: Option<SeparabilityTest>,
    /// The model whose run over the same examples is resumed.
    pub resumed: Option<&'f Model>,
    /// The state of the run before.
    pub state: Option<LinearState>,
    /// Why the run before stopped, if there is nothing left to do.
    pub finished: Option<Stop>,
    pub progress: Progress,
    pub recorder: Recorder<'f>,
    /// What is to be done where the examples are a part of those of a run, which is spread over
    /// machines or goes on as they come; what a run says of its examples at its end is then not
    /// asked for.
    pub part: Option<Part>,
}

/// What a run over a part of the examples does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// One pass.
    Pass,
    /// A visit to each in the order given, in a pass that goes on with others.
    Visits,
    /// A look at every example, which changes nothing.
    Sweep,
}

/// How much memory and how many threads a learner may use; its results depend on neither.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resources {
    pub memory: usize,
    pub threads: usize,
}

/// The outcome of training.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fitted {
    /// The model, with its progress and why it stopped.
    pub model: Model,
    /// R = max c_i‖x_i‖, lifted where the learner lifts.
    pub radius: f64,
    /// η as used.
    pub learning_rate: f64,
    /// What the run says about the margin; only from weights that separate.
    pub margin: Option<MarginBracket>,
    /// How many updates the theorem allows, from that margin.
    pub updates_at_most: Option<u64>,
    /// What a theorem allows the squared hinge losses of all visits to sum to, from that margin.
    pub squared_loss_at_most: Option<f64>,
    /// How many mistakes a theorem allows, from that margin.
    pub mistakes_at_most: Option<u64>,
    /// Kernel learners: the ends of the spectrum of a sample's Gram matrix.
    pub spectrum: Option<Spectrum>,
}

/// The margin γ of a data set lies between these.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct MarginBracket {
    /// At least this.
    pub lower: f64,
    /// At most this.
    pub upper: f64,
    /// `lifted` if the norm of the separator counts its bias, else `plain`.
    pub kind: &'static str,
}

impl MarginBracket {
    pub(crate) fn new(lower: f64, upper: f64, bias: Bias) -> Self {
        let kind = if bias == Bias::Lifted {
            "lifted"
        } else {
            "plain"
        };
        MarginBracket { lower, upper, kind }
    }
}

impl Training<'_> {
    /// Runs the loop of mistake-driven learners, unless there is nothing left to do.
    pub(crate) fn run<H: Hypothesis>(
        &mut self,
        hypothesis: &mut H,
        rule: Rule,
        step: impl StepSize,
    ) -> Result<()> {
        if let Some(stop) = self.finished {
            self.progress.stop = Some(stop);
            return Ok(());
        }
        let part = self.part;
        let mut run = Run::new(self, hypothesis, rule, step);
        match part {
            Some(Part::Visits) => run.part_of_pass(),
            Some(Part::Sweep) => run.count_sweep(),
            Some(Part::Pass) | None => {
                let stop = run.go()?;
                self.progress.stop = Some(stop);
            }
        }
        Ok(())
    }

    /// Whether every example has the weight 1.
    pub(crate) fn counts_all_alike(&self) -> bool {
        self.data.weights.is_none() && self.options.class_weight == ClassWeight::One
    }

    /// What the bias adds to every ‖x‖².
    pub(crate) fn lift(&self) -> f64 {
        self.options.bias().lift()
    }

    /// What is the same for all learners.
    pub(crate) fn fitted(&self, learner: &mut impl Snapshot) -> Result<Fitted> {
        let squared_radius = if self.part.is_some() {
            0.0
        } else {
            self.sample_weights.measure(self.resources.threads);
            self.sample_weights.squared_radius_with(self.lift())
        };
        Ok(Fitted {
            model: require_finite(self.recorder.last_model(learner, &self.progress))?,
            radius: squared_radius.sqrt(),
            learning_rate: self.options.rate(),
            margin: None,
            updates_at_most: None,
            squared_loss_at_most: None,
            mistakes_at_most: None,
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
            .remedy("use a smaller ⟨learning-rate⟩, or scale the data"),
    )
}
