//! What predicts, and what a run remembers.

mod dual_log;
mod file;
mod fingerprint;
mod kernel;
mod kernel_file;
mod parts;
mod scheme;
mod state;
mod voted;
mod weights;

pub use dual_log::DualLog;
pub use file::FORMAT;
pub use fingerprint::Fingerprint;
pub use kernel::KernelModel;
#[doc(hidden)]
pub use parts::seal;
pub use parts::{Array, Element, Parts};
pub use scheme::Scheme;
pub use state::{Average, LinearState, LogEntry, UpdateLog};
pub use voted::Voted;
pub use weights::Weights;

use crate::data::read::Preparation;
use crate::data::{Classes, Dataset, Matrix, Row};
use crate::options::{AtZero, Options};
use crate::train::Progress;

/// How a model turns features into scores.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// Linear discriminators.
    Linear(Weights),
    /// All linear discriminators of a run, voting.
    Voted(Box<Voted>),
    /// Coefficients over a kernel.
    Kernel(Box<KernelModel>),
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
    /// How raw files become its features; `None` if it was trained on arrays.
    pub preparation: Option<Preparation>,
    /// How its data were read, as (option, value) texts, so that it can be trained again.
    pub recipe: Vec<(String, String)>,
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
            Decision::Kernel(kernel) => kernel.features(),
        }
    }

    /// The linear weights of its read-out, where it has such.
    pub fn weights(&self) -> Option<&Weights> {
        match &self.decision {
            Decision::Linear(weights) => Some(weights),
            Decision::Voted(_) | Decision::Kernel(_) => None,
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
            Decision::Voted(_) | Decision::Kernel(_) => vec![0.0; self.scheme.discriminators()],
        };
        Scorer {
            model: self,
            scores,
            replay: voted::Replay::default(),
        }
    }

    /// The scores of every row, `rows × discriminators`, row by row: the same as a
    /// [`Scorer`] gives row after row, and much faster where rows can share work.
    pub fn scores(&self, matrix: &Matrix, threads: usize) -> Vec<f64> {
        if let Decision::Kernel(kernel) = &self.decision {
            return kernel.scores(self.scheme, self.at_zero(), matrix, threads);
        }
        let discriminators = self.scheme.discriminators();
        let mut scores = vec![0.0; matrix.rows() * discriminators];
        crate::threads::chunks(&mut scores, discriminators, threads, || {
            let mut scorer = self.scorer();
            move |i: usize, out: &mut [f64]| out.copy_from_slice(scorer.scores(matrix.row(i)))
        });
        scores
    }

    /// The class of every row, on `threads` threads.
    pub fn predict(&self, matrix: &Matrix, threads: usize) -> Vec<u32> {
        if let Decision::Kernel(_) = self.decision {
            return self
                .scores(matrix, threads)
                .chunks_exact(self.scheme.discriminators())
                .map(|scores| self.scheme.decide(scores, self.at_zero()))
                .collect();
        }
        let mut classes = vec![0; matrix.rows()];
        crate::threads::fill(&mut classes, threads, || {
            let mut scorer = self.scorer();
            move |i| scorer.class(matrix.row(i))
        });
        classes
    }

    /// The class and the first score of every row, on `threads` threads.
    pub fn score_all(&self, matrix: &Matrix, threads: usize) -> Vec<(u32, f64)> {
        let mut scored = vec![(0, 0.0); matrix.rows()];
        crate::threads::fill(&mut scored, threads, || {
            let mut scorer = self.scorer();
            move |i| {
                let scores = scorer.scores(matrix.row(i));
                (self.scheme.decide(scores, self.at_zero()), scores[0])
            }
        });
        scored
    }

    /// The share of examples whose class it predicts. The data's classes must be its own.
    pub fn accuracy(&self, data: &Dataset, threads: usize) -> f64 {
        let predicted = self.predict(&data.matrix, threads);
        let right = predicted
            .iter()
            .zip(&data.labels)
            .filter(|(p, l)| p == l)
            .count();
        right as f64 / data.len().max(1) as f64
    }
}

impl Scorer<'_> {
    /// The scores of `row`: one for two classes, else one a discriminator.
    pub fn scores(&mut self, row: Row<'_>) -> &[f64] {
        let model = self.model;
        match &model.decision {
            Decision::Linear(weights) => weights.scores(row, &mut self.scores),
            Decision::Voted(voted) => {
                voted.votes(
                    model.scheme,
                    model.at_zero(),
                    row,
                    &mut self.replay,
                    &mut self.scores,
                );
            }
            Decision::Kernel(kernel) => {
                kernel.scores_of_one(model.scheme, model.at_zero(), row, &mut self.scores);
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
