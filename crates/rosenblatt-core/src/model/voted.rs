//! The voted perceptron: every hypothesis of the run votes.
//!
//! Explicit weight vectors would fill gigabytes, so the model keeps the examples that were
//! corrected and the log of corrections, and predicts by replaying it: a score after k
//! updates is the score after k − 1 plus the coefficient times x_k·x.
//!
//! Reference: Y. Freund and R. E. Schapire, "Large margin classification using the
//! perceptron algorithm", Machine Learning 37 (1999).

use crate::data::{Dataset, Matrix, Row};
use crate::options::AtZero;
use crate::readout::{LogEntry, UpdateLog};
use crate::scheme::Scheme;

/// The corrected examples and the log of corrections.
#[derive(Debug, Clone, PartialEq)]
pub struct Voted {
    /// The corrected examples, ascending by row number.
    pub support: Matrix,
    /// Their row numbers in the training file, from 0.
    pub rows: Vec<u32>,
    /// The corrections.
    pub log: UpdateLog,
    /// What the constant feature contributes to an inner product: 1 lifted, ρ² unlifted,
    /// 0 without a bias.
    pub constant: f64,
    /// For each correction, which support row it names.
    index: Vec<u32>,
}

/// Buffers for one thread's replays.
#[derive(Debug, Default)]
pub(super) struct Replay {
    features: Vec<f64>,
    products: Vec<f64>,
    scores: Vec<f64>,
}

impl Voted {
    /// A voted model from a run's log and the examples it was trained on.
    pub fn new(data: &Dataset, log: UpdateLog, constant: f64) -> Self {
        let mut rows: Vec<u32> = log.entries.iter().map(|e| e.row).collect();
        rows.sort_unstable();
        rows.dedup();
        let support = data
            .matrix
            .select(rows.iter().map(|&r| data.position(r as usize)));
        Self::index(support, rows, log, constant)
            .unwrap_or_else(|| unreachable!("every logged row is in the support"))
    }

    /// A voted model from its parts; `None` if the log names a row that is not there.
    pub fn from_parts(
        support: Matrix,
        rows: Vec<u32>,
        log: UpdateLog,
        constant: f64,
    ) -> Option<Self> {
        let ascending = rows.is_sorted_by(|a, b| a < b);
        (ascending && rows.len() == support.rows())
            .then(|| Self::index(support, rows, log, constant))?
    }

    fn index(support: Matrix, rows: Vec<u32>, log: UpdateLog, constant: f64) -> Option<Self> {
        let index = log
            .entries
            .iter()
            .map(|e| rows.binary_search(&e.row).ok().map(|i| i as u32))
            .collect::<Option<_>>()?;
        Some(Voted {
            support,
            rows,
            log,
            constant,
            index,
        })
    }

    /// The votes for `row`: per class for argmax, per plane otherwise.
    pub(super) fn votes(
        &self,
        scheme: Scheme,
        at_zero: AtZero,
        row: Row<'_>,
        replay: &mut Replay,
        votes: &mut [f64],
    ) {
        // Inner products with every corrected example, each once.
        replay.features.clear();
        replay.features.resize(self.support.columns(), 0.0);
        row.for_each(|j, x| replay.features[j] = x);
        replay.products.clear();
        replay.products.extend(
            (0..self.support.rows())
                .map(|i| self.support.row(i).dot(&replay.features, self.constant)),
        );
        replay
            .scores
            .resize(self.log.start.score_buffer().len(), 0.0);
        self.log.start.scores(row, &mut replay.scores);

        let scores = &mut replay.scores;
        votes.fill(0.0);
        for group in 0..scheme.groups() {
            vote(
                scheme,
                at_zero,
                group,
                scores,
                self.log.start_votes(group),
                votes,
            );
        }
        for (entry, &support) in self.log.entries.iter().zip(&self.index) {
            let step = entry.coefficient * replay.products[support as usize];
            scores[entry.raised as usize] += step;
            if entry.lowered != LogEntry::NONE {
                scores[entry.lowered as usize] -= step;
            }
            let group = scheme.group(entry.raised as usize);
            if entry.divisor != 1.0 {
                scheme
                    .members(group)
                    .for_each(|d| scores[d] /= entry.divisor);
            }
            vote(scheme, at_zero, group, scores, entry.survived, votes);
        }
    }
}

fn vote(
    scheme: Scheme,
    at_zero: AtZero,
    group: usize,
    scores: &[f64],
    survived: u64,
    votes: &mut [f64],
) {
    let count = survived as f64;
    match scheme {
        Scheme::Argmax { .. } => votes[scheme.decide(scores, at_zero) as usize] += count,
        _ => {
            let positive =
                scores[group] > 0.0 || (scores[group] == 0.0 && at_zero == AtZero::Positive);
            votes[group] += if positive { count } else { -count };
        }
    }
}
