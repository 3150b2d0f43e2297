//! Scores found before their visits.
//!
//! The order of a pass is known ahead, so the examples of a block can be scored before they
//! are visited: four at a time, which hides the latency of each other's sums, or many at a time
//! on all threads. A score found ahead stands until the next update; those behind are then found
//! again, so what a visit sees is to the bit what one-at-a-time learning would see.
//!
//! Threads pay only where updates are rare and rows are long: handing work over takes a
//! microsecond, and an update throws away what is left of it. Let an update come every 1/u
//! visits, a row take c and handing over h. Sharing out s rows costs h/s + u·c·s/2 a visit too
//! much, which is least for s = √(2h/(u·c)), and then √(2h·u·c). The result does not depend on it.

use super::pace::{Pace, Way};
use super::twin::{Lead, Twin};
use crate::crew::Crew;
use crate::data::{LONG_ROW, Matrix, Row, Rows};
use crate::model::{Change, GROUP, Weights};
use crate::train::Block;

/// What handing work over takes, in products of a weight and a value.
const HANDING_OVER: f64 = 1000.0;

/// Work worth handing over, counted the same way.
const WORTH_SHARING: f64 = 4.0 * HANDING_OVER;

/// Updates a visit up to which sharing is thought to pay before it is timed: after each, the other
/// threads fetch the weights that it changed anew.
const RARE: f64 = 0.02;

/// How much of what sharing saves it may cost, to be thought to pay.
const WORTH_TRYING: f64 = 0.75;

/// Updates a visit beyond which it is not even tried.
const FREQUENT: f64 = 0.1;

/// Work that a thread takes at a time, counted the same way, at least.
const PART: f64 = 1000.0;

/// Visits over which the rate of updates is found.
const OF_LATE: f64 = 1024.0;

/// Values in a line of memory, if they are small.
const LINE: usize = 16;

/// Scores the examples of a block before they are visited.
pub(super) struct Ahead<'a> {
    pub(super) rows: Rows<'a>,
    /// Whether a few rows take little longer to score than one.
    in_step: bool,
    /// Rows that are scored at a time on one thread.
    few: usize,
    /// Examples of the block that were left when some were last scored.
    left: usize,
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
    /// Updates of the visits that are not counted in it yet.
    updates: f64,
    /// Visits over which that was found.
    visits: f64,
    /// Whether threads pay here.
    pace: Pace,
    /// A thread that scores every other group.
    lead: Lead<'a>,
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
    fn new(rows: Rows<'a>, coming: &Block, times: usize) -> Self {
        if let Some(range) = coming.together.clone() {
            let rows = rows.together(range);
            let at_a_time = rows.stored().div_ceil(times.max(1)).next_multiple_of(LINE);
            return Coming::Together { rows, at_a_time };
        }
        Coming::Anywhere {
            rows: coming.examples.clone(),
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
    pub(super) fn new(
        matrix: &'a Matrix,
        weights: &Weights,
        crew: &'a Crew,
        twin: &'a Twin<'a>,
    ) -> Self {
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
            left: 0,
            coming: Coming::none(),
            stride,
            crew,
            stored,
            products,
            part: few * (PART / (products * few as f64)).ceil() as usize,
            // The first visit is likely to bring an update.
            update_rate: 1.0,
            updates: 0.0,
            visits: 1.0,
            pace: Pace::new(),
            lead: Lead::new(twin),
        }
    }

    /// The examples of `block` are visited next, and then those of `coming`. Somebody else may
    /// keep `weights` up if they are given and all changes of them are told.
    pub(super) fn expect(&mut self, block: &[u32], coming: &Block, weights: Option<&Weights>) {
        self.visited(self.left);
        self.left = block.len();
        self.coming = match self.stored > LONG_ROW as f64 {
            true => Coming::none(),
            false => Coming::new(self.rows, coming, block.len().div_ceil(self.few)),
        };
        match weights.filter(|weights| self.wants_twin(weights)) {
            Some(weights) => {
                if self.lead.begin(block, &coming.examples, weights) {
                    self.crew.ask();
                }
            }
            None => self.lead.dismiss(),
        }
    }

    /// Whether a twin pays: updates are too frequent to hand work over, but not so frequent that
    /// hardly a group is found ahead.
    fn wants_twin(&self, weights: &Weights) -> bool {
        let helpers = self.crew.helpers() as f64;
        self.in_step
            && self.stride == 1
            && helpers > 0.0
            && self.stored <= LONG_ROW as f64
            && self.update_rate <= FREQUENT
            && self.guess(helpers) == Way::Alone
            && self.lead.suits(weights)
    }

    /// So many visits were made since this was last said.
    #[inline]
    fn visited(&mut self, visits: usize) {
        self.visits = (self.visits + visits as f64).min(OF_LATE);
        let updates = std::mem::take(&mut self.updates);
        self.update_rate += (updates - self.update_rate * visits as f64) / self.visits;
        self.pace.went_on(visits as f64 * self.products);
    }

    /// The last visit brought an update.
    #[inline]
    pub(super) fn updated(&mut self) {
        self.updates += 1.0;
    }

    /// The weights are changed by the row of an example visited last.
    #[inline]
    pub(super) fn changed(&mut self, example: u32, change: Change) {
        self.lead.updated(example, change);
    }

    /// The scores of some of the examples that come `next`, from the first on.
    #[inline]
    pub(super) fn score(&mut self, next: &[u32], weights: &Weights, scores: &mut Vec<f64>) {
        self.visited(self.left.saturating_sub(next.len()));
        self.left = next.len();
        let shared = match self.lead.is_there() {
            true => None,
            false => self.shared(),
        };
        let count = shared.unwrap_or(self.few).min(next.len());
        let stride = self.stride;
        scores.resize(count * stride, 0.0);
        if shared.is_none() {
            self.coming.ask(self.rows, self.few);
            let (rows, in_step) = (self.rows, self.in_step);
            let score = |examples: &[u32], scores: &mut [f64]| {
                let examples = examples.iter().map(|&i| i as usize);
                weights.scores_of_group(rows, in_step, examples, scores);
            };
            if !self.lead.is_there() {
                return score(&next[..count], scores);
            }
            self.pace.no_choice();
            return self.lead.score(next, scores, score);
        }
        self.score_on_all(&next[..count], weights, scores);
    }

    /// The scores of all of these, found on several threads.
    fn score_on_all(&self, examples: &[u32], weights: &Weights, scores: &mut [f64]) {
        let (rows, in_step, stride, size) = (self.rows, self.in_step, self.stride, self.part);
        let fetches = self.stored <= LONG_ROW as f64;
        let others = size * self.crew.helpers();
        self.crew.share(scores, size * stride, |p, scores| {
            let part = &examples[p * size..];
            if fetches {
                // Each thread asks for its own next rows.
                let next = part.iter().skip(size + others).take(size);
                next.for_each(|&i| rows.row(i as usize).prefetch());
            }
            let groups = part[..part.len().min(size)].chunks(GROUP);
            for (group, scores) in groups.zip(scores.chunks_mut(GROUP * stride)) {
                let group = group.iter().map(|&i| i as usize);
                weights.scores_of_group(rows, in_step, group, scores);
            }
        });
    }

    /// The way that is likely to be faster.
    #[inline]
    fn guess(&self, helpers: f64) -> Way {
        // √(2h·u·c) against what it saves, without the root.
        let saved = WORTH_TRYING * helpers / (helpers + 1.0);
        let most = saved * saved * self.products / (2.0 * HANDING_OVER);
        match self.update_rate <= most.min(RARE) {
            true => Way::Shared,
            false => Way::Alone,
        }
    }

    /// How many rows to score on several threads, where that pays.
    #[inline]
    fn shared(&mut self) -> Option<usize> {
        let helpers = self.crew.helpers();
        if helpers == 0 || self.update_rate > FREQUENT {
            self.pace.no_choice();
            return None;
        }
        let guess = self.guess(helpers as f64);
        if self.pace.way(guess) == Way::Alone {
            return None;
        }
        let left = self.left;
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
            let twin = Twin::new(&matrix);
            let mut ahead = Ahead::new(&matrix, &weights, crew, &twin);
            (ahead.update_rate, ahead.visits) = (update_rate, OF_LATE);
            let coming = Block {
                examples: vec![1, 2, 3],
                together: Some(1..4),
            };
            ahead.expect(&block, &coming, None);
            let (mut most, mut visits) = (0, 0);
            let mut found = Vec::new();
            while visits < block.len() {
                ahead.score(&block[visits..], &weights, &mut found);
                let found = found.chunks(expected.len());
                assert!(found.len() > 0 && found.len() <= block.len() - visits);
                most = most.max(found.len());
                for found in found {
                    let row = matrix.row(block[visits] as usize);
                    weights.scores(row, &mut expected);
                    assert_eq!(found, expected);
                    visits += 1;
                    if visits.is_multiple_of(60) {
                        weights.add(0, row, 0.5, 0.5);
                        ahead.updated();
                        break;
                    }
                }
            }
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
                (0..helpers).for_each(|_| drop(scope.spawn(|| crew.serve(|| {}))));
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
