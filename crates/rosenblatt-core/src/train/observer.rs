//! Someone who follows a session, and what stands between them and the loop.

use super::progress::{Pass, Progress};
use super::readable::Readable;
use super::survey::Survey;
use super::watch::{Visit, Watch};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Model;
use crate::options::Readout;

/// One visit of a run, as a teacher would write it on the board.
#[derive(Debug, Clone, PartialEq)]
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
    /// [wants](Observer::wants_weights) them.
    pub weights: Vec<f64>,
    /// The score of each discriminator.
    pub scores: Vec<f64>,
    /// Whether no update was called for.
    pub correct: bool,
    /// The weights after, likewise.
    pub weights_after: Vec<f64>,
}

/// Someone who follows a session: prints progress, saves checkpoints, collects steps.
pub trait Observer {
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

/// Follows nothing.
pub(super) struct Nobody;

impl Observer for Nobody {}

/// Turns what the loop reports into what an observer sees.
pub(super) struct Watcher<'a> {
    pub(super) observer: &'a mut dyn Observer,
    pub(super) validation: Option<&'a Dataset>,
    /// The model but for what training finds, and the fingerprint, which is not waited for.
    pub(super) template: Model,
    pub(super) survey: &'a Survey<'a>,
    pub(super) data: &'a Dataset,
    pub(super) threads: usize,
}

impl Watcher<'_> {
    /// A pass is over of which there is no model yet.
    pub(super) fn tell(&mut self, progress: &Progress) {
        if let Some(pass) = progress.passes.last() {
            self.observer.pass(progress.passes.len() as u64, pass);
        }
    }

    /// The model as it is.
    fn model<H: Readable>(&self, hypothesis: &mut H, progress: &Progress) -> Model {
        Model {
            state: hypothesis.saved_state(),
            ..self.without_state(hypothesis, progress)
        }
    }

    /// The model at the end of the run, with the state that the hypothesis then gives up.
    pub(super) fn last_model<H: Readable>(&self, hypothesis: &mut H, progress: &Progress) -> Model {
        let model = self.without_state(hypothesis, progress);
        Model {
            state: hypothesis.give_up_state(),
            ..model
        }
    }

    fn without_state<H: Readable>(&self, hypothesis: &mut H, progress: &Progress) -> Model {
        Model {
            decision: hypothesis.decision(self.data, self.template.options.readout()),
            progress: progress.clone(),
            support: hypothesis.support(),
            trained_on: self.survey.fingerprint(self.threads),
            ..self.template.clone()
        }
    }
}

impl<H: Readable> Watch<H> for Watcher<'_> {
    fn wants_steps(&self) -> bool {
        self.observer.wants_steps()
    }

    fn wants_weights(&self) -> bool {
        self.observer.wants_weights()
    }

    fn step(&mut self, visit: Visit<'_>) {
        self.observer.step(Step {
            step: visit.step,
            epoch: visit.epoch + 1,
            row: self.data.number(visit.example) as u64 + 1,
            label: self.data.labels[visit.example],
            weights: visit.before,
            scores: visit.scores,
            correct: visit.judgement.changes.is_empty(),
            weights_after: visit.after,
        });
    }

    fn pass(&mut self, hypothesis: &mut H, _: &Progress) -> Result<Option<f64>> {
        let readout = self.template.options.readout();
        let Some(validation) = self.validation.filter(|_| readout != Readout::Voted) else {
            return Ok(None);
        };
        let model = Model {
            decision: hypothesis.decision(self.data, readout),
            ..self.template.clone()
        };
        Ok(Some(model.accuracy(validation, self.threads)))
    }

    fn recorded(&mut self, hypothesis: &mut H, progress: &Progress) -> Result<()> {
        if let Some(pass) = progress.passes.last() {
            self.observer.pass(progress.passes.len() as u64, pass);
        }
        if self.observer.wants_checkpoint() {
            let model = self.model(hypothesis, progress);
            self.observer.checkpoint(model)?;
        }
        Ok(())
    }
}
