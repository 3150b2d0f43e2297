//! Scores found before their visits.
//!
//! The order of a pass is known ahead, so the examples of a block can be scored before they
//! are visited: four at a time, which hides the latency of each other's sums, or many at a time
//! on all threads. A score found ahead stands until the next update and is then found again, so
//! what a visit sees is to the bit what one-at-a-time learning would see.
//!
//! Threads pay only where updates are rare and rows are long: handing work over takes a
//! microsecond, and an update throws away what is left of it. Let an update come every 1/u
//! visits, a row take c and handing over h. Sharing out s rows costs h/s + u·c·s/2 a visit too
//! much, which is least for s = √(2h/(u·c)). The result does not depend on it.

use std::ops::Range;

use crate::crew::Crew;
use crate::data::{Matrix, Row, Rows};
use crate::model::{GROUP, Weights};

/// What handing work over takes, in products of a weight and a value.
const HANDING_OVER: f64 = 1000.0;

/// Work worth handing over, counted the same way.
const WORTH_SHARING: f64 = 4.0 * HANDING_OVER;

/// Updates a visit up to which sharing pays: after each, the other threads fetch the weights that
/// it changed anew.
const RARE: f64 = 0.02;

/// Work that a thread takes at a time, counted the same way, at least.
const PART: f64 = 1000.0;

/// Visits over which the rate of updates is found.
const OF_LATE: f64 = 1024.0;

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
    /// Rows that are scored at a time on one thread.
    few: usize,
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
    /// The other threads.
    crew: &'a Crew,
    /// Values of a row that are not zero, on average.
    stored: f64,
    /// What a row takes, in products.
    products: f64,
    /// Rows that a thread takes at a time.
    part: usize,
    /// Updates a visit, of late.
    update_rate: f64,
    /// Visits over which that was found.
    visits: f64,
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
    pub(super) fn new(matrix: &'a Matrix, weights: &Weights, crew: &'a Crew) -> Self {
        let stride = weights.score_buffer().len();
        let rows = Rows::of(matrix);
        let stored = match matrix {
            Matrix::Dense { columns, .. } => *columns as f64 * rows.filled(),
            Matrix::Sparse { indices, .. } => indices.len() as f64 / matrix.rows().max(1) as f64,
        };
        let in_step = weights.in_step(rows);
        let few = if in_step { GROUP } else { 1 };
        let products = (stored * stride as f64).max(1.0);
        Ahead {
            rows,
            few,
            in_step,
            block: Vec::new(),
            next: 0,
            scored: 0..0,
            scores: Vec::new(),
            coming: Coming::none(),
            stride,
            crew,
            stored,
            products,
            part: few * (PART / (products * few as f64)).ceil() as usize,
            // The first visit is likely to bring an update.
            update_rate: 1.0,
            visits: 1.0,
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
            false => Coming::new(self.rows, coming, block.len().div_ceil(self.few)),
        };
    }

    /// The weights have changed.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.scored = 0..0;
        self.update_rate += 1.0 / self.visits;
    }

    /// The scores of example `i`, if it is the one expected.
    #[inline]
    pub(super) fn scores(&mut self, i: usize, weights: &Weights) -> Option<&[f64]> {
        if self.block.get(self.next) != Some(&(i as u32)) {
            return None;
        }
        let this = self.next;
        self.next += 1;
        self.visits = (self.visits + 1.0).min(OF_LATE);
        self.update_rate -= self.update_rate / self.visits;
        if !self.scored.contains(&this) {
            self.score_from(this, weights);
        }
        let from = (this - self.scored.start) * self.stride;
        Some(&self.scores[from..from + self.stride])
    }

    fn score_from(&mut self, this: usize, weights: &Weights) {
        let shared = self.shared();
        let count = shared.unwrap_or(self.few);
        self.scored = this..self.block.len().min(this + count);
        let block = &self.block[self.scored.clone()];
        let (rows, in_step, stride, size) = (self.rows, self.in_step, self.stride, self.part);
        let scores = &mut self.scores[..block.len() * stride];
        let score = |examples: &[u32], scores: &mut [f64]| {
            let examples = examples.iter().map(|&i| i as usize);
            weights.scores_of_group(rows, in_step, examples, scores);
        };
        if shared.is_none() {
            self.coming.ask(rows, self.few);
            return score(block, scores);
        }
        let fetches = self.stored <= LONG_ROW;
        let others = size * self.crew.helpers();
        self.crew.share(scores, size * stride, |p, scores| {
            let part = &block[p * size..];
            if fetches {
                // Each thread asks for its own next rows.
                let next = part.iter().skip(size + others).take(size);
                next.for_each(|&i| rows.row(i as usize).prefetch());
            }
            let groups = part[..part.len().min(size)].chunks(GROUP);
            for (group, scores) in groups.zip(scores.chunks_mut(GROUP * stride)) {
                score(group, scores);
            }
        });
    }

    /// How many rows to score on several threads, where that pays.
    #[inline]
    fn shared(&self) -> Option<usize> {
        let helpers = self.crew.helpers();
        if helpers == 0 || self.update_rate > RARE {
            return None;
        }
        let left = self.block.len() - self.next + 1;
        let rows = (2.0 * HANDING_OVER / (self.update_rate * self.products)).sqrt();
        // As much for one as for another.
        let rows = (rows.min(left as f64) as usize).next_multiple_of(self.part * (helpers + 1));
        let rows = rows.min(left);
        let pays = rows > self.part && rows as f64 * self.products >= WORTH_SHARING;
        pays.then_some(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::Dismissal;
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
        let run = |discriminators: usize, crew: &Crew, update_rate: f64| {
            let mut weights = Weights::zero(discriminators, columns as usize);
            for d in 0..discriminators {
                (0..columns as usize).for_each(|j| weights.set(d, j, (j + d) as f64 / 9.0));
            }
            let mut expected = weights.score_buffer();
            let mut ahead = Ahead::new(&matrix, &weights, crew);
            (ahead.update_rate, ahead.visits) = (update_rate, OF_LATE);
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
            most
        };
        for (discriminators, helpers, update_rate) in [
            (1, 0, 0.0),
            (1, 2, 0.0),
            (3, 1, 0.0),
            (3, 1, 0.001),
            (3, 1, 1.0),
        ] {
            let crew = Crew::new(helpers + 1);
            std::thread::scope(|scope| {
                let _dismissal = Dismissal(&crew);
                (0..helpers).for_each(|_| drop(scope.spawn(|| crew.serve())));
                while crew.helpers() < helpers {
                    std::thread::yield_now();
                }
                let most = run(discriminators, &crew, update_rate);
                // Many at a time only with somebody to help and few updates to fear.
                let shared = helpers > 0 && update_rate < 0.5;
                assert_eq!(
                    most > GROUP,
                    shared,
                    "{discriminators} {helpers} {update_rate}"
                );
            });
        }
    }
}
