//! Callbacks that follow a run, and the recorder that serves them.

use super::hypothesis::Snapshot;
use crate::data::Dataset;
use crate::error::Result;
use crate::metrics::Evaluation;
use crate::model::{Decision, Model, SupportVectors};
use crate::options::{Metric, Readout};
use crate::progress::{BestPass, Pass, Progress};

/// One visit of a run, as a teacher would write it on the board.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// Visit number, from 1.
    pub step: u64,
    /// Pass, from 1.
    pub epoch: u64,
    /// Row in the file, from 1.
    pub row: u64,
    /// Class of the example.
    pub label: u32,
    /// The weights before, bias first where there is one; empty where nobody
    /// [wants](Callback::wants_weights) them.
    pub weights: Vec<f64>,
    /// The score of each discriminator.
    pub scores: Vec<f64>,
    /// Whether no update was called for.
    pub correct: bool,
    /// The weights after, likewise.
    pub weights_after: Vec<f64>,
    /// ½ Σ (y − o)² over the outputs, times the sample weight, of a linear unit.
    pub squared_error: Option<f64>,
}

/// Follows a run: prints progress, saves checkpoints, collects steps.
pub trait Callback {
    /// Whether every visit should be reported.
    fn wants_steps(&self) -> bool {
        false
    }

    /// Whether steps should hold the weights before and after. A copy costs a number for each
    /// feature and discriminator, or in the dual form for each example and discriminator.
    fn wants_weights(&self) -> bool {
        true
    }

    /// A visit is over.
    fn step(&mut self, _step: Step) {}

    /// Pass number `epoch`, from 1, is over.
    fn pass(&mut self, _epoch: u64, _pass: &Pass) {}

    /// Whether the model as it is should be handed over now.
    fn wants_checkpoint(&mut self) -> bool {
        false
    }

    /// The model as it is after a whole pass.
    fn checkpoint(&mut self, _model: Model) -> Result<()> {
        Ok(())
    }
}

/// A callback that does nothing.
pub(crate) struct NoCallback;

impl Callback for NoCallback {}

/// Makes models of a run under way: for validation, checkpoints and the end.
pub(crate) struct Recorder<'a> {
    pub callback: &'a mut dyn Callback,
    pub validation: Option<&'a Dataset>,
    /// The model but for what training finds.
    pub template: Model,
    pub data: &'a Dataset,
    pub threads: usize,
    /// What becomes the model: that of the pass which is best by the held-out examples, or of
    /// `pass_to_keep`.
    pub best: Option<(Decision, Option<SupportVectors>)>,
    /// The pass to be kept where nothing is held out.
    pub pass_to_keep: Option<u64>,
}

impl Recorder<'_> {
    /// The model at the end of the run, with the state that the learner then gives up.
    pub(crate) fn last_model(&self, learner: &mut impl Snapshot, progress: &Progress) -> Model {
        let model = self.without_state(learner, progress);
        Model {
            state: learner.take_state(),
            ..model
        }
    }

    fn without_state(&self, learner: &mut impl Snapshot, progress: &Progress) -> Model {
        let (decision, support) = match &self.best {
            Some(best) => best.clone(),
            None => (
                learner.decision(self.data, self.template.options.readout()),
                learner.support(),
            ),
        };
        Model {
            decision,
            progress: progress.clone(),
            support,
            ..self.template.clone()
        }
    }

    /// Measures a pass that ends by the held-out examples, where there are any and the read-out
    /// makes it cheap, and keeps it if it is the best.
    pub(crate) fn validate(
        &mut self,
        learner: &mut impl Snapshot,
        pass: &mut Pass,
        progress: &mut Progress,
    ) -> Result<()> {
        let (options, threads) = (&self.template.options, self.threads);
        let readout = options.readout();
        let number = progress.passes.len() as u64 + 1;
        if self.pass_to_keep == Some(number) {
            self.best = Some((learner.decision(self.data, readout), learner.support()));
            progress.kept = self.pass_to_keep;
        }
        let Some(validation) = self.validation.filter(|_| readout != Readout::Voted) else {
            return Ok(());
        };
        let model = Model {
            decision: learner.decision(self.data, readout),
            ..self.template.clone()
        };
        let score = if options.metric == Metric::Accuracy {
            pass.validation_accuracy = Some(model.accuracy(validation, threads)?);
            pass.validation_accuracy
        } else {
            let found = Evaluation::of(&model, validation, threads)?;
            pass.validation_accuracy = found.accuracy();
            found.score(options.metric)
        };
        let Some(score) = score else { return Ok(()) };
        let best = BestPass::after(progress.best, number, score);
        progress.best = Some(best);
        if best.pass == number && options.keeps_best_pass() {
            self.best = Some((model.decision, learner.support()));
        }
        Ok(())
    }

    /// A pass is on record: reports it and hands a checkpoint over if one is wanted.
    pub(crate) fn pass_done(
        &mut self,
        learner: &mut impl Snapshot,
        progress: &Progress,
    ) -> Result<()> {
        self.report_pass(progress);
        if !self.callback.wants_checkpoint() {
            return Ok(());
        }
        let model = Model {
            state: learner.state(),
            ..self.without_state(learner, progress)
        };
        self.callback.checkpoint(model)
    }

    /// Reports a pass of which there is no model yet.
    pub(crate) fn report_pass(&mut self, progress: &Progress) {
        if let Some(pass) = progress.passes.last() {
            self.callback.pass(progress.passes.len() as u64, pass);
        }
    }
}
