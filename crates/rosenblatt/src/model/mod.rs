//! What predicts, and what a run remembers.

mod scheme;
mod state;
mod voted;
mod weights;

pub use scheme::Scheme;
pub use state::{Average, LinearState, LogEntry, UpdateLog};
pub use voted::Voted;
pub use weights::Weights;

use crate::data::{Classes, Matrix, Row};
use crate::options::{AtZero, Options};
use crate::train::Progress;

/// How a model turns features into scores.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// Linear discriminators.
    Linear(Weights),
    /// All linear discriminators of a run, voting.
    Voted(Voted),
}

/// A trained model, with the run that made it.
#[derive(Debug, Clone)]
pub struct Model {
    /// The classes it knows.
    pub classes: Classes,
    /// How scores become classes.
    pub scheme: Scheme,
    /// How features become scores.
    pub decision: Decision,
    /// What it was told.
    pub options: Options,
    /// How far its run came.
    pub progress: Progress,
    /// What its run remembers; `None` for learners that start afresh.
    pub state: Option<LinearState>,
    /// A fingerprint of the examples it was trained on.
    pub trained_on: Fingerprint,
}

/// What can be said of a data set in a few numbers: its size, and a hash of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint {
    /// Number of examples.
    pub examples: u64,
    /// Number of features.
    pub features: u64,
    /// Number of values that are not zero.
    pub non_zeros: u64,
    /// A hash of rows, labels and weights, the same however they are stored.
    pub hash: u64,
}

/// Buffers for scoring on one thread.
#[derive(Debug)]
pub struct Scorer<'a> {
    model: &'a Model,
    scores: Vec<f64>,
    replay: voted::Replay,
}

impl Model {
    /// The number of features it takes.
    pub fn features(&self) -> usize {
        match &self.decision {
            Decision::Linear(weights) => weights.features(),
            Decision::Voted(voted) => voted.support.columns(),
        }
    }

    /// The linear weights of its read-out, where it has such.
    pub fn weights(&self) -> Option<&Weights> {
        match &self.decision {
            Decision::Linear(weights) => Some(weights),
            Decision::Voted(_) => None,
        }
    }

    /// What a score of exactly 0 predicts.
    pub fn at_zero(&self) -> AtZero {
        self.options.at_zero
    }

    /// Buffers for scoring rows one after the other.
    pub fn scorer(&self) -> Scorer<'_> {
        let scores = match &self.decision {
            Decision::Linear(weights) => weights.score_buffer(),
            Decision::Voted(_) => vec![0.0; self.scheme.discriminators()],
        };
        Scorer { model: self, scores, replay: voted::Replay::default() }
    }

    /// The class of every row, on `threads` threads.
    pub fn predict(&self, matrix: &Matrix, threads: usize) -> Vec<u32> {
        let mut classes = vec![0; matrix.rows()];
        crate::threads::fill(&mut classes, threads, || {
            let mut scorer = self.scorer();
            move |i| scorer.class(matrix.row(i))
        });
        classes
    }
}

impl Scorer<'_> {
    /// The scores of `row`: one for two classes, else one a discriminator.
    pub fn scores(&mut self, row: Row<'_>) -> &[f64] {
        let model = self.model;
        match &model.decision {
            Decision::Linear(weights) => weights.scores(row, &mut self.scores),
            Decision::Voted(voted) => {
                voted.votes(model.scheme, model.at_zero(), row, &mut self.replay, &mut self.scores);
            }
        }
        &self.scores[..model.scheme.discriminators()]
    }

    /// The class of `row`.
    pub fn class(&mut self, row: Row<'_>) -> u32 {
        let (scheme, at_zero) = (self.model.scheme, self.model.at_zero());
        scheme.decide(self.scores(row), at_zero)
    }
}
