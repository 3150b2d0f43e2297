//! Scores found before their visits.
//!
//! The order of a pass is known ahead, so the examples of a block can be scored before they
//! are visited: four at a time, which hides the latency of each other's sums, or many at a time
//! on all threads. A score found ahead stands until the next update and is then found again, so
//! what a visit sees is to the bit what one-at-a-time learning would see.
//!
//! Threads pay only where an update is rare and a row is long: handing work over takes tens of
//! microseconds, and an update throws away what is left of it. How many rows are shared out
//! follows from how often updates came of late; the result does not depend on it.

use std::ops::Range;

use crate::data::{Matrix, Row, Rows};
use crate::model::{GROUP, Weights};
use crate::threads::Crew;
use crate::train::BLOCK;

/// Work worth handing to other threads, in products of a weight and a value.
const WORTH_SHARING: f64 = 20_000.0;

/// Updates that may be expected among rows scored together on several threads.
const UPDATES_RISKED: f64 = 0.5;

/// How fast the rate of updates is forgotten, for each visit.
const FORGETTING: f64 = 1.0 / 1024.0;

/// Values in a line of memory, if they are small.
const LINE: usize = 16;

/// Rows of more values are not asked for ahead: a block of them would not stay near, and the
/// processor sees for itself that they are read from end to end.
const LONG_ROW: f64 = 512.0;

/// The examples of a block and the scores of some of them.
pub(super) struct Ahead<'a> {
    rows: Rows<'a>,
    /// Whether a few rows take little longer to score than one.
    in_step: bool,
    /// Examples about to be visited, in order.
    block: Vec<u32>,
    /// The next of them.
    next: usize,
    /// Those that are scored.
    scored: Range<usize>,
    scores: Vec<f64>,
    /// The rows of the block after it that were not asked for yet.
    coming: Coming<'a>,
    /// Discriminators, padded.
    stride: usize,
    /// The other threads, where there are any.
    crew: Option<Crew>,
    /// Values of a row, on average.
    stored: f64,
    /// Updates a visit, of late.
    update_rate: f64,
}

/// Rows to be asked for while others are worked on.
enum Coming<'a> {
    /// Rows that lie together, of which so many values are asked for at a time: memory is
    /// fastest in its own order, and steps of one length are foreseen.
    Together { rows: Row<'a>, at_a_time: usize },
    /// Rows that lie anywhere, in the order of their visits.
    Anywhere { rows: Vec<u32>, asked: usize },
}

impl<'a> Coming<'a> {
    /// The rows `coming`, for somebody who asks `times` times.
    fn new(rows: Rows<'a>, coming: &[u32], times: usize) -> Self {
        if let (Some(&first), Some(&last)) = (coming.iter().min(), coming.iter().max())
            && (last - first) as usize + 1 == coming.len()
        {
            let rows = rows.together(first as usize..last as usize + 1);
            let at_a_time = rows.stored().div_ceil(times.max(1)).next_multiple_of(LINE);
            return Coming::Together { rows, at_a_time };
        }
        Coming::Anywhere {
            rows: coming.to_vec(),
            asked: 0,
        }
    }

    fn none() -> Self {
        Coming::Anywhere {
            rows: Vec::new(),
            asked: 0,
        }
    }

    /// Asks for the next, of which `few` rows are a share.
    #[inline]
    fn ask(&mut self, all: Rows<'a>, few: usize) {
        match self {
            Coming::Together { rows, at_a_time } => {
                let (now, later) = rows.split_at((*at_a_time).min(rows.stored()));
                now.prefetch();
                *rows = later;
            }
            Coming::Anywhere { rows, asked } => {
                let now = rows.iter().skip(*asked).take(few);
                now.for_each(|&i| all.row(i as usize).prefetch());
                *asked += few;
            }
        }
    }
}

impl<'a> Ahead<'a> {
    pub(super) fn new(matrix: &'a Matrix, weights: &Weights, threads: usize) -> Self {
        let stride = weights.score_buffer().len();
        let rows = Rows::of(matrix);
        let stored = match matrix {
            Matrix::Dense { columns, .. } => *columns as f64,
            Matrix::Sparse { indices, .. } => indices.len() as f64 / matrix.rows().max(1) as f64,
        };
        Ahead {
            rows,
            in_step: weights.in_step(rows),
            block: Vec::new(),
            next: 0,
            scored: 0..0,
            scores: Vec::new(),
            coming: Coming::none(),
            stride,
            // Nobody is kept waiting where a whole block is too little to share.
            crew: (BLOCK as f64 * stored * stride as f64 >= WORTH_SHARING)
                .then(|| Crew::new(threads))
                .flatten(),
            stored,
            update_rate: 1.0,
        }
    }

    /// The examples of `block` are visited next, and then those of `coming`.
    pub(super) fn expect(&mut self, block: &[u32], coming: &[u32]) {
        self.block.clear();
        self.block.extend_from_slice(block);
        self.next = 0;
        self.scored = 0..0;
        self.scores
            .resize(block.len().max(GROUP) * self.stride, 0.0);
        self.coming = match self.stored > LONG_ROW {
            true => Coming::none(),
            false => Coming::new(self.rows, coming, block.len().div_ceil(self.few())),
        };
    }

    /// Rows that are scored at a time on one thread.
    fn few(&self) -> usize {
        if self.in_step { GROUP } else { 1 }
    }

    /// The weights have changed.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.scored = 0..0;
        self.update_rate += FORGETTING;
    }

    /// The scores of example `i`, if it is the one expected.
    #[inline]
    pub(super) fn scores(&mut self, i: usize, weights: &Weights) -> Option<&[f64]> {
        if self.block.get(self.next) != Some(&(i as u32)) {
            return None;
        }
        let this = self.next;
        self.next += 1;
        self.update_rate -= FORGETTING * self.update_rate;
        if !self.scored.contains(&this) {
            self.score_from(this, weights);
        }
        let from = (this - self.scored.start) * self.stride;
        Some(&self.scores[from..from + self.stride])
    }

    fn score_from(&mut self, this: usize, weights: &Weights) {
        let shared = self.crew.as_ref().and_then(|_| self.shared());
        let few = self.few();
        if shared.is_none() {
            self.coming.ask(self.rows, few);
        }
        let count = shared.unwrap_or(few);
        self.scored = this..self.block.len().min(this + count);
        let block = &self.block[self.scored.clone()];
        let rows = self.rows;
        let fetches = shared.is_some() && self.stored <= LONG_ROW;
        let score = |group: usize, scores: &mut [f64]| {
            let left = &block[group * GROUP..];
            let (now, later) = left.split_at(left.len().min(GROUP));
            if fetches {
                // Each thread asks for its own next rows.
                let next = later.iter().take(GROUP);
                next.for_each(|&i| rows.row(i as usize).prefetch());
            }
            let examples = now.iter().map(|&i| i as usize);
            weights.scores_of_group(rows, self.in_step, examples, scores);
        };
        let scores = &mut self.scores[..block.len() * self.stride];
        match &self.crew {
            Some(crew) if block.len() > GROUP => crew.share(scores, GROUP * self.stride, score),
            _ => score(0, scores),
        }
    }

    /// How many rows to score on several threads, where that pays.
    fn shared(&self) -> Option<usize> {
        let left = (self.block.len() - self.next + 1) as f64;
        let rows = (UPDATES_RISKED / self.update_rate).min(left).floor();
        (rows * self.stored * self.stride as f64 >= WORTH_SHARING).then_some(rows as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Precision;

    #[test]
    fn scores_found_ahead_are_those_of_the_visit() {
        let columns = 700;
        let rows: Vec<Vec<f64>> = (0..300)
            .map(|i| {
                (0..columns)
                    .map(|j| f64::from((i * 31 + j * 17) % 23) / 7.0)
                    .collect()
            })
            .collect();
        let matrix = Matrix::dense_from_rows(columns as usize, &rows, Precision::F32);
        let block: Vec<u32> = (0..250).map(|k| (k * 7 % 300) as u32).collect();
        for (discriminators, threads, update_rate) in [
            (1, 1, 0.0),
            (1, 3, 0.0),
            (3, 2, 0.0),
            (3, 2, 0.001),
            (3, 2, 1.0),
        ] {
            let mut weights = Weights::zero(discriminators, columns as usize);
            for d in 0..discriminators {
                (0..columns as usize).for_each(|j| weights.set(d, j, (j + d) as f64 / 9.0));
            }
            let mut expected = weights.score_buffer();
            let mut ahead = Ahead::new(&matrix, &weights, threads);
            ahead.update_rate = update_rate;
            ahead.expect(&block, &[1, 2, 3]);
            let mut most = 0;
            for (k, &i) in block.iter().enumerate() {
                if k % 60 == 59 {
                    weights.add(0, matrix.row(i as usize), 0.5, 0.5);
                    ahead.forget();
                }
                weights.scores(matrix.row(i as usize), &mut expected);
                let found = ahead.scores(i as usize, &weights).unwrap();
                assert_eq!(found, expected);
                most = most.max(ahead.scored.len());
            }
            assert!(ahead.scores(0, &weights).is_none());
            // Many at a time only with threads to share them and few updates to fear.
            let shared = threads > 1 && update_rate < 0.5;
            assert_eq!(
                most > GROUP,
                shared,
                "{discriminators} {threads} {update_rate}"
            );
        }
    }
}
