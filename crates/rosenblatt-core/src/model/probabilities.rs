//! Probabilities of classes, from scores that are log-odds.

use super::Model;
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::scheme::Scheme;

impl Model {
    /// Whether its scores are log-odds, so that it gives probabilities.
    pub fn has_probabilities(&self) -> bool {
        let paired = matches!(self.scheme, Scheme::OneVsOne { .. });
        self.options.learner.gives_probabilities() && !paired
    }

    /// Refuses a model whose scores are no log-odds.
    pub fn require_probabilities(&self) -> Result<()> {
        if self.has_probabilities() {
            return Ok(());
        }
        let error = match self.scheme {
            Scheme::OneVsOne { .. } => {
                Error::options("planes that tell pairs of classes apart give no probabilities")
                    .remedy("train with ⟨multiclass ovr⟩")
            }
            _ => Error::options(format!(
                "the scores of the learner {} are no probabilities",
                self.options.learner.name()
            ))
            .remedy("train with ⟨learner logistic⟩"),
        };
        Err(error)
    }

    /// The probability of every class for every row, `rows × classes`, row by row.
    ///
    /// A plane's score s stands for 1/(1 + exp(−s)); of one plane a class, against the rest, they
    /// are divided by their sum, and scores learned jointly go through the softmax.
    pub fn probabilities(&self, matrix: &Matrix, threads: usize) -> Result<Vec<f64>> {
        self.require_probabilities()?;
        let scores = self.scores(matrix, threads)?;
        let mut found = vec![0.0; matrix.rows() * self.scheme.classes()];
        let each = scores.chunks_exact(self.scheme.discriminators());
        for (scores, to) in each.zip(found.chunks_exact_mut(self.scheme.classes())) {
            self.scheme.probabilities(scores, to);
        }
        Ok(found)
    }
}

/// 1/(1 + exp(−s)).
fn sigmoid(score: f64) -> f64 {
    let e = libm::exp(-score.abs());
    let numerator = if score >= 0.0 { 1.0 } else { e };
    numerator / (1.0 + e)
}

impl Scheme {
    /// The probability of each class, where `scores` are log-odds.
    pub fn probabilities(self, scores: &[f64], to: &mut [f64]) {
        match self {
            Scheme::Binary => {
                (to[0], to[1]) = (sigmoid(-scores[0]), sigmoid(scores[0]));
                return;
            }
            Scheme::Argmax { .. } => {
                let most = scores.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
                let each = to.iter_mut().zip(scores);
                each.for_each(|(p, s)| *p = libm::exp(s - most));
            }
            Scheme::OneVsRest { .. } | Scheme::OneVsOne { .. } => {
                let each = to.iter_mut().zip(scores);
                each.for_each(|(p, s)| *p = sigmoid(*s));
            }
        }
        let sum: f64 = to.iter().sum();
        if sum > 0.0 {
            to.iter_mut().for_each(|p| *p /= sum);
        } else {
            // All so unlikely that nothing is left of them: the score decides.
            to[self.decide(scores, Default::default()) as usize] = 1.0;
        }
    }
}
