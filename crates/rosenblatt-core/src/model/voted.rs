//! The voted perceptron: every hypothesis of the run votes.
//!
//! Explicit weight vectors would fill gigabytes, so the model keeps the examples that were
//! corrected and the log of corrections, and predicts by replaying it: a score after k
//! updates is the score after k − 1 plus the coefficient times x_k·x.
//!
//! Reference: Y. Freund and R. E. Schapire, "Large margin classification using the
//! perceptron algorithm", Machine Learning 37 (1999).

use crate::data::{Dataset, Matrix, Row};
use crate::options::{AtZero, Options, Votes};
use crate::readout::UpdateLog;
use crate::scheme::Scheme;
use crate::simd::{self, Level, Work};

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
    pub(super) fn votes(&self, scheme: Scheme, options: &Options, row: Row<'_>, votes: &mut [f64]) {
        // Inner products with every corrected example, each once.
        let row_in_full = row.to_dense(self.support.columns());
        let values: Vec<[f64; 1]> = (0..self.support.rows())
            .map(|i| [self.support.row(i).dot(&row_in_full, self.constant)])
            .collect();
        let mut scores = self.log.start.score_buffer();
        self.log.start.scores(row, &mut scores);
        simd::dispatch(Vote {
            log: &self.log,
            index: &self.index,
            scheme,
            at_zero: options.at_zero,
            counted: options.votes,
            values: &values,
            scores: scores.as_chunks_mut().0,
            votes: votes.as_chunks_mut().0,
        });
    }
}

/// Replays a log for N rows side by side; every hypothesis has its votes.
pub(super) struct Vote<'a, S, const N: usize> {
    pub log: &'a UpdateLog<S>,
    /// For each update, which of the values is that of its example.
    pub index: &'a [u32],
    pub scheme: Scheme,
    pub at_zero: AtZero,
    pub counted: Votes,
    /// Products or kernel values of the rows with each corrected example.
    pub values: &'a [[f64; N]],
    /// The scores of the start, then of each hypothesis.
    pub scores: &'a mut [[f64; N]],
    pub votes: &'a mut [[f64; N]],
}

impl<S, const N: usize> Vote<'_, S, N> {
    #[inline(always)]
    fn count(&mut self, group: usize, votes: u64) {
        if votes == 0 {
            return;
        }
        let count = votes as f64;
        if let Scheme::Argmax { .. } = self.scheme {
            let mut one = [0.0; 64];
            let mut many = Vec::new();
            let k = self.scores.len();
            let buffer = if k <= 64 {
                &mut one[..k]
            } else {
                many.resize(k, 0.0);
                &mut many[..]
            };
            for lane in 0..N {
                for (b, s) in buffer.iter_mut().zip(&*self.scores) {
                    *b = s[lane];
                }
                self.votes[self.scheme.decide(buffer, self.at_zero) as usize][lane] += count;
            }
        } else {
            let votes = self.votes[group].iter_mut().zip(&self.scores[group]);
            match self.at_zero {
                AtZero::Positive => {
                    votes.for_each(|(v, &s)| *v += if s >= 0.0 { count } else { -count })
                }
                AtZero::Negative => {
                    votes.for_each(|(v, &s)| *v += if s > 0.0 { count } else { -count })
                }
            }
        }
    }
}

impl<S, const N: usize> Work for Vote<'_, S, N> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(mut self, _: L) {
        let (log, index) = (self.log, self.index);
        self.votes.fill([0.0; N]);
        for group in 0..self.scheme.groups() {
            self.count(group, log.start_votes(group));
        }
        for (entry, &k) in log.entries.iter().zip(index) {
            entry.apply(self.scheme, &self.values[k as usize], self.scores);
            let votes = self.counted.of(entry.survived);
            self.count(self.scheme.group(entry.raised as usize), votes);
        }
    }
}
