//! Figures of a confusion matrix.

use super::Interval;
use super::intervals::{percentiles, poisson, resamples};
use crate::random::{Random, Stream};

/// A confusion matrix, maybe resampled; its last row is of unknown labels.
pub(super) struct Counts(pub(super) Vec<Vec<f64>>);

impl Counts {
    /// Hits, examples and predictions of each class.
    fn classes(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        (0..self.0.len() - 1).map(|c| {
            let predicted = self.0.iter().map(|row| row[c]).sum();
            (self.0[c][c], self.0[c].iter().sum(), predicted)
        })
    }

    pub(super) fn balanced_accuracy(&self) -> f64 {
        let found = self.classes().filter(|(_, examples, _)| *examples > 0.0);
        mean(found.map(|(hits, examples, _)| (hits / examples, 1.0)))
    }

    pub(super) fn macro_f1(&self) -> f64 {
        mean(self.f1().map(|(f1, _)| (f1, 1.0)))
    }

    pub(super) fn weighted_f1(&self) -> f64 {
        mean(self.f1())
    }

    /// F1 of each class that occurs, and its examples.
    fn f1(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.classes().filter_map(|(hits, examples, predicted)| {
            let both = examples + predicted;
            (both > 0.0).then(|| (2.0 * hits / both, examples))
        })
    }

    pub(super) fn mcc(&self) -> f64 {
        let unknown: f64 = self.0[self.0.len() - 1].iter().sum();
        let all: f64 = self.0.iter().flatten().sum();
        let (mut right, mut both) = (0.0, 0.0);
        let (mut truths, mut predictions) = (unknown * unknown, 0.0);
        for (hits, examples, predicted) in self.classes() {
            right += hits;
            both += examples * predicted;
            truths += examples * examples;
            predictions += predicted * predicted;
        }
        let spread = ((all * all - truths) * (all * all - predictions)).sqrt();
        match spread > 0.0 {
            true => (right * all - both) / spread,
            false => 0.0,
        }
    }

    /// Intervals of the mean recall, the mean F1, the weighted F1 and Matthews correlation.
    pub(super) fn bootstrap(&self, seed: u64) -> [Interval; 4] {
        let cells = self.0.iter().map(Vec::len).sum();
        let mut values = [(); 4].map(|()| Vec::new());
        for draw in 0..resamples(cells) {
            let mut random = Random::new(seed, Stream::Bootstrap, draw as u64);
            let mut take = |&n: &f64| match n > 0.0 {
                true => poisson(&mut random, n),
                false => 0.0,
            };
            let rows = self.0.iter();
            let drawn = Counts(rows.map(|r| r.iter().map(&mut take).collect()).collect());
            values[0].push(drawn.balanced_accuracy());
            values[1].push(drawn.macro_f1());
            values[2].push(drawn.weighted_f1());
            values[3].push(drawn.mcc());
        }
        values.map(percentiles)
    }
}

/// The weighted mean of (value, weight); 0 of nothing.
pub(super) fn mean(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, weights) = values.fold((0.0, 0.0), |(sum, weights), (value, weight)| {
        (sum + value * weight, weights + weight)
    });
    match weights > 0.0 {
        true => sum / weights,
        false => 0.0,
    }
}
