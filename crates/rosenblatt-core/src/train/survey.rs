//! One look at all rows beside training: which data they are, and how long each is.
//!
//! Neither is needed before training ends, and training seldom needs all threads. So one that is
//! free may take blocks of rows meanwhile; whoever needs the result takes what is left.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::Importance;
use crate::data::Dataset;
use crate::model::Fingerprint;

/// Rows that are looked at together: they stay near for the second look.
const BLOCK: usize = 256;

/// The look at all rows, as far as it has come.
pub(super) struct Survey<'a> {
    /// The rows as they were given.
    raw: &'a Dataset,
    /// How long they are, embedded where they are.
    importance: &'a Importance<'a>,
    /// What the bias adds to every ‖x‖².
    lift: f64,
    known: Option<Fingerprint>,
    /// Blocks that were begun, and that are done.
    begun: AtomicUsize,
    done: AtomicUsize,
    hash: AtomicU64,
    non_zeros: AtomicU64,
    /// The bits of R²: numbers that are not negative are ordered as their bits are.
    squared_radius: AtomicU64,
}

/// Counts a block as done when it is given up.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl<'a> Survey<'a> {
    pub(super) fn new(
        raw: &'a Dataset,
        importance: &'a Importance<'a>,
        lift: f64,
        known: Option<Fingerprint>,
    ) -> Self {
        Survey {
            raw,
            importance,
            lift,
            known,
            begun: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            hash: AtomicU64::new(0),
            non_zeros: AtomicU64::new(0),
            squared_radius: AtomicU64::new(0),
        }
    }

    /// What the bias adds to every ‖x‖².
    pub(super) fn lift(&self) -> f64 {
        self.lift
    }

    fn blocks(&self) -> usize {
        self.raw.len().div_ceil(BLOCK)
    }

    /// Looks at blocks until all are begun.
    pub(super) fn help(&self) {
        loop {
            let block = self.begun.fetch_add(1, Ordering::Relaxed);
            if block >= self.blocks() {
                return;
            }
            // Even should a look fail: nobody may wait for it then.
            let _done = Done(&self.done);
            let rows = block * BLOCK..self.raw.len().min((block + 1) * BLOCK);
            if self.known.is_none() {
                let (hash, non_zeros) = Fingerprint::of_rows(self.raw, rows.clone());
                self.hash.fetch_add(hash, Ordering::Relaxed);
                self.non_zeros.fetch_add(non_zeros, Ordering::Relaxed);
            }
            let longest = self.importance.squared_radius_of(rows, self.lift);
            self.squared_radius
                .fetch_max(longest.to_bits(), Ordering::Relaxed);
            self.raw.matrix.were_read(BLOCK);
        }
    }

    /// Looks at what is left, on so many threads, and waits for the others.
    fn finish(&self, threads: usize) {
        let begun = self.begun.load(Ordering::Relaxed);
        let left = self.blocks().saturating_sub(begun);
        std::thread::scope(|scope| {
            for _ in 1..threads.clamp(1, left.max(1)) {
                scope.spawn(|| self.help());
            }
            self.help();
        });
        while self.done.load(Ordering::Acquire) < self.blocks() {
            std::thread::yield_now();
        }
    }

    /// Which data these are.
    pub(super) fn fingerprint(&self, threads: usize) -> Fingerprint {
        if let Some(known) = self.known {
            return known;
        }
        self.finish(threads);
        Fingerprint {
            examples: self.raw.len() as u64,
            features: self.raw.features() as u64,
            non_zeros: self.non_zeros.load(Ordering::Relaxed),
            hash: self.hash.load(Ordering::Relaxed),
        }
    }

    /// R² = max c_i²(‖x_i‖² + lift).
    pub(super) fn squared_radius(&self, threads: usize) -> f64 {
        self.finish(threads);
        f64::from_bits(self.squared_radius.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Matrix, Precision};
    use crate::options::ClassWeight;

    #[test]
    fn however_many_look_the_same_is_found() {
        for n in [1, 255, 256, 257, 3000] {
            let rows: Vec<Vec<f64>> = (0..n)
                .map(|i| {
                    let value = |j| f64::from((i * 7 + j * 3) % 11) - 4.0;
                    (0..5).map(value).collect()
                })
                .collect();
            let matrix = Matrix::dense_from_rows(5, &rows, Precision::F32);
            let labels = (0..n).map(|i| (i % 2) as u32).collect();
            let weights = (0..n).map(|i| 1.0 + f64::from(i % 3)).collect();
            let classes = Classes::from_ordered(vec!["a".into(), "b".into()]);
            let data = Dataset::new(matrix, labels, classes, Some(weights)).unwrap();
            let of = || Importance::new(&data, &ClassWeight::One).unwrap();
            let importance = of();
            let expected = (0..n as usize).fold(0.0, |most: f64, i| {
                let c = importance.of(i, data.labels[i]);
                most.max(c * c * (data.row(i).squared_norm() + 1.0))
            });
            for (before, threads) in [(false, 1), (false, 3), (true, 1), (true, 2)] {
                let importance = of();
                let survey = Survey::new(&data, &importance, 1.0, None);
                std::thread::scope(|scope| {
                    if before {
                        scope.spawn(|| survey.help());
                    }
                    assert_eq!(survey.squared_radius(threads), expected);
                    for i in 0..n as usize {
                        assert_eq!(importance.squared_norm(i), data.row(i).squared_norm());
                    }
                    assert_eq!(survey.fingerprint(threads), Fingerprint::of(&data, 1));
                });
            }
        }
    }
}
