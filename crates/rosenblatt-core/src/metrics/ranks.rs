//! Figures of an order by scores: areas under curves.

use super::Interval;
use super::intervals::{percentiles, poisson, resamples};
use crate::random::{Random, Stream};

/// Positive and negative examples of each score, the highest score first, maybe resampled.
pub(super) struct Ranks(pub(super) Vec<(f64, f64)>);

impl Ranks {
    /// Positive and negative examples, where there are both.
    pub(super) fn totals(&self) -> Option<(f64, f64)> {
        let all = self.above_thresholds().last()?;
        (all.0 > 0.0 && all.1 > 0.0).then_some(all)
    }

    /// Positive and negative examples at or above each score.
    pub(super) fn above_thresholds(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.0.iter().scan((0.0, 0.0), |above, (up, down)| {
            *above = (above.0 + up, above.1 + down);
            Some(*above)
        })
    }

    pub(super) fn auc(&self) -> Option<f64> {
        let (positives, negatives) = self.totals()?;
        let (mut wins, mut above) = (0.0, 0.0);
        for (up, down) in &self.0 {
            wins += up * (negatives - above - 0.5 * down);
            above += down;
        }
        Some(wins / (positives * negatives))
    }

    pub(super) fn average_precision(&self) -> Option<f64> {
        let (positives, _) = self.totals()?;
        let steps = self.0.iter().zip(self.above_thresholds());
        let area = steps
            .filter(|((up, _), _)| *up > 0.0)
            .map(|((up, _), (hits, others))| up * hits / (hits + others));
        Some(area.sum::<f64>() / positives)
    }

    /// Intervals of the area under the ROC curve and of average precision.
    pub(super) fn bootstrap(&self, seed: u64) -> Option<[Interval; 2]> {
        self.totals()?;
        let mut values = [(); 2].map(|()| Vec::new());
        for draw in 0..resamples(self.0.len()) {
            let mut random = Random::new(seed, Stream::Bootstrap, (draw as u64) | 1 << 32);
            let mut take = |n: f64| match n > 0.0 {
                true => poisson(&mut random, n),
                false => 0.0,
            };
            let drawn = Ranks(self.0.iter().map(|&(p, n)| (take(p), take(n))).collect());
            values[0].extend(drawn.auc());
            values[1].extend(drawn.average_precision());
        }
        let none = values.iter().any(Vec::is_empty);
        (!none).then(|| values.map(percentiles))
    }
}
