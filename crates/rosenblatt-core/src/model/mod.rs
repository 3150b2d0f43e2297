//! What predicts, and what a run remembers.

mod dual_log;
mod explain;
mod file;
mod fingerprint;
mod kernel;
mod kernel_file;
mod linear_state;
mod network;
mod network_file;
mod parts;
mod preparation;
mod probabilities;
mod seen_rows;
mod state_file;
mod support_vectors;
mod voted;
mod weights_file;

pub use dual_log::DualLog;
pub use explain::{Contribution, Explanation, Reason};
pub use file::FORMAT;
pub use fingerprint::Fingerprint;
pub(crate) use fingerprint::RowScan;
pub use kernel::KernelModel;
pub use linear_state::LinearState;
pub(crate) use network::Forward;
pub use network::{Activation, Attempt, Layer, Network};
#[doc(hidden)]
pub use parts::seal;
pub use parts::{Array, Element, Parts};
pub use preparation::StoredPreparation;
pub use probabilities::UnseenScores;
pub use seen_rows::SeenRows;
pub(crate) use support_vectors::relative_gap;
pub use support_vectors::{Optimum, SupportVectors};
pub use voted::Voted;

use crate::calibration::Calibration;
use crate::data::{Classes, Dataset, Matrix, Row, Rows};
use crate::embedding::Embedding;
use crate::error::{Error, Result};
use crate::optimisations;
use crate::options::{AtZero, Options};
use crate::progress::Progress;
use crate::scheme::Scheme;
use crate::threshold::Threshold;
use crate::weights::{GROUP, Weights};

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
    /// A network with hidden layers.
    Network(Box<Network>),
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
    /// The examples that hold its planes up, for maximum-margin learners.
    pub support: Option<SupportVectors>,
    /// A fingerprint of the examples it was trained on.
    pub trained_on: Fingerprint,
    /// Which rows those were, unless they were very many or came in parts.
    pub seen_rows: Option<SeenRows>,
    /// How its scores become probabilities, where it was calibrated.
    pub calibration: Option<Calibration>,
    /// From where on the class is the positive one, where that was not left to the score's sign.
    pub threshold: Option<Threshold>,
    /// A fingerprint of the held-out examples that chose the pass, the calibration or the
    /// threshold.
    pub chosen_on: Option<Fingerprint>,
    /// Features made of features before anything else, where the options ask for it.
    pub embedding: Option<Embedding>,
    /// How raw files become its features; `None` if it was trained on arrays.
    pub preparation: Option<StoredPreparation>,
    /// How its data were read, as (option, value) texts, so that it can be trained again.
    pub recipe: Vec<(String, String)>,
}

/// Buffers for scoring on one thread.
#[derive(Debug)]
pub struct Scorer<'a> {
    model: &'a Model,
    scores: Vec<f64>,
    embedded: Vec<f64>,
    forward: Forward,
}

impl Model {
    /// The number of features it takes.
    pub fn features(&self) -> usize {
        match &self.embedding {
            Some(embedding) => embedding.inputs(),
            None => self.inner_features(),
        }
    }

    /// The number of features its decision takes, after any embedding.
    pub fn inner_features(&self) -> usize {
        match &self.decision {
            Decision::Linear(weights) => weights.features(),
            Decision::Voted(voted) => voted.support.columns(),
            Decision::Kernel(kernel) => kernel.features(),
            Decision::Network(network) => network.features(),
        }
    }

    /// The linear weights of its read-out, where it has such.
    pub fn weights(&self) -> Option<&Weights> {
        match &self.decision {
            Decision::Linear(weights) => Some(weights),
            _ => None,
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
            _ => vec![0.0; self.scheme.discriminators()],
        };
        Scorer {
            model: self,
            scores,
            embedded: Vec::new(),
            forward: Forward::default(),
        }
    }

    /// The scores of every row, `rows × discriminators`, row by row: the same as a
    /// [`Scorer`] gives row after row, and much faster where rows can share work.
    ///
    /// Rows of another width than the model's are refused (a sparse matrix may be narrower), and
    /// so is a row whose score is beyond the largest number.
    pub fn scores(&self, matrix: &Matrix, threads: usize) -> Result<Vec<f64>> {
        self.numbered_scores(matrix, |i| i, threads)
    }

    /// The same for rows that have numbers of their own, from 0, for messages.
    pub fn numbered_scores(
        &self,
        matrix: &Matrix,
        number: impl Fn(usize) -> usize,
        threads: usize,
    ) -> Result<Vec<f64>> {
        self.check_width(matrix)?;
        let scores = self.scores_of(matrix, predict_threads(threads));
        match scores.iter().position(|score| !score.is_finite()) {
            None => Ok(scores),
            Some(at) => Err(Error::data(format!(
                "row {}: its score is {}, no number to decide by",
                number(at / self.scheme.discriminators()) + 1,
                scores[at]
            ))
            .remedy("its features are too large for this model: look for a wrong value, or train with scaled features")),
        }
    }

    /// Refuses rows that the model was not made for.
    fn check_width(&self, matrix: &Matrix) -> Result<()> {
        let (found, expected) = (matrix.columns(), self.features());
        let fits = match matrix.is_sparse() {
            true => found <= expected,
            false => found == expected,
        };
        match fits {
            true => Ok(()),
            false => Err(Error::data(format!(
                "the rows have {found} features, but the model takes {expected}"
            ))
            .remedy("give the features that the model was trained on, in their order")),
        }
    }

    fn scores_of(&self, matrix: &Matrix, threads: usize) -> Vec<f64> {
        let Some(embedding) = &self.embedding else {
            return self.inner_scores(matrix, threads);
        };
        let mut scores = Vec::with_capacity(matrix.rows() * self.scheme.discriminators());
        embedding.in_parts(matrix, threads, |part| {
            scores.extend(self.inner_scores(part, threads));
        });
        scores
    }

    fn inner_scores(&self, matrix: &Matrix, threads: usize) -> Vec<f64> {
        match &self.decision {
            Decision::Linear(weights) => self.linear_scores(weights, matrix, threads),
            Decision::Voted(_) => {
                let discriminators = self.scheme.discriminators();
                let mut scores = vec![0.0; matrix.rows() * discriminators];
                let threads = crate::parallel::worth(threads, matrix.rows());
                crate::parallel::chunks(&mut scores, discriminators, threads, || {
                    let mut scorer = self.scorer();
                    move |i: usize, out: &mut [f64]| {
                        out.copy_from_slice(scorer.inner_scores(matrix.row(i)));
                    }
                });
                scores
            }
            Decision::Kernel(kernel) => kernel.scores(self.scheme, &self.options, matrix, threads),
            Decision::Network(network) => network.scores(matrix, threads),
        }
    }

    fn linear_scores(&self, weights: &Weights, matrix: &Matrix, threads: usize) -> Vec<f64> {
        let discriminators = self.scheme.discriminators();
        // A small batch is done before another thread has started.
        let small = matrix.bytes() / 8 * discriminators < 1 << 18;
        let threads = if small { 1 } else { threads };
        let rows = Rows::of(matrix);
        let in_step = weights.in_step(rows);
        let mut all = vec![0.0; matrix.rows() * discriminators];
        crate::parallel::chunks(&mut all, GROUP * discriminators, threads, || {
            let stride = weights.score_buffer().len();
            let mut scores = vec![0.0; GROUP * stride];
            move |group: usize, out: &mut [f64]| {
                let first = group * GROUP;
                let examples = first..first + out.len() / discriminators;
                rows.look_past(examples.clone());
                weights.scores_of_group(rows, in_step, examples, &mut scores);
                let each = out.chunks_exact_mut(discriminators);
                (each.zip(scores.chunks_exact(stride)))
                    .for_each(|(to, scores)| to.copy_from_slice(&scores[..discriminators]));
                matrix.group_was_read(group, GROUP);
            }
        });
        all
    }

    /// The class of every row, on `threads` threads.
    pub fn predict(&self, matrix: &Matrix, threads: usize) -> Result<Vec<u32>> {
        let scores = self.scores(matrix, threads)?;
        let each = scores.chunks_exact(self.scheme.discriminators());
        Ok(each.map(|scores| self.decide(scores)).collect())
    }

    /// The share of examples whose class it predicts. The data's classes must be its own.
    pub fn accuracy(&self, data: &Dataset, threads: usize) -> Result<f64> {
        let predicted = self.predict(&data.matrix, threads)?;
        let right = predicted
            .iter()
            .zip(&data.labels)
            .filter(|(p, l)| p == l)
            .count();
        Ok(right as f64 / data.len().max(1) as f64)
    }
}

/// How many of these threads predict.
fn predict_threads(threads: usize) -> usize {
    match optimisations::enabled("parallel-predict") {
        true => threads,
        false => 1,
    }
}

impl Scorer<'_> {
    /// The scores of `row`: one for two classes, else one a discriminator.
    pub fn scores(&mut self, row: Row<'_>) -> &[f64] {
        let Some(embedding) = &self.model.embedding else {
            return self.inner_scores(row);
        };
        let mut embedded = std::mem::take(&mut self.embedded);
        embedding.apply_to_row(row, &mut embedded);
        self.inner_scores(Row::Dense64(&embedded));
        self.embedded = embedded;
        &self.scores[..self.model.scheme.discriminators()]
    }

    /// The scores of a row that is already embedded.
    fn inner_scores(&mut self, row: Row<'_>) -> &[f64] {
        let model = self.model;
        match &model.decision {
            Decision::Linear(weights) => weights.scores(row, &mut self.scores),
            Decision::Voted(voted) => {
                voted.votes(model.scheme, &model.options, row, &mut self.scores);
            }
            Decision::Kernel(kernel) => {
                kernel.scores_of_one(model.scheme, &model.options, row, &mut self.scores);
            }
            Decision::Network(network) => {
                network.forward(std::iter::once(row), &mut self.forward);
                self.scores
                    .copy_from_slice(&self.forward.activations[network.layers.len()]);
            }
        }
        &self.scores[..model.scheme.discriminators()]
    }

    /// The class of `row`.
    pub fn class(&mut self, row: Row<'_>) -> u32 {
        let model = self.model;
        model.decide(self.scores(row))
    }
}
