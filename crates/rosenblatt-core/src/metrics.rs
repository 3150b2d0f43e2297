//! How good predictions are.

use serde::Serialize;

use crate::data::{Classes, Dataset, Matrix};
use crate::error::Result;
use crate::model::Model;
use crate::options::Metric;
use crate::random::{Random, Stream};

pub use crate::importance::{Importance, permutation_importance};

/// Predictions counted against the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    classes: Classes,
    /// Rows are the true class, columns the predicted one.
    confusion: Vec<Vec<u64>>,
    /// Labels unseen in training, in the order met, with how often.
    unknown: Vec<(String, u64)>,
    /// What was predicted for them, by class.
    predicted_for_unknown: Vec<u64>,
    /// With two classes: (score, is positive) of every example, for the AUC.
    ranked: Vec<(f64, bool)>,
    /// Examples met with probabilities: how many, and their losses summed.
    scored: Scored,
}

/// Losses of predicted probabilities, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Scored {
    examples: u64,
    log_loss: f64,
    brier: f64,
    bins: [Bin; BINS],
}

/// Bins of equal width that probabilities are counted in.
const BINS: usize = 10;

/// Examples of about one predicted probability, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bin {
    examples: u64,
    predicted: f64,
    happened: u64,
}

/// Examples of about one predicted probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reliability {
    /// Their mean predicted probability.
    pub predicted: f64,
    /// The share for which it came true.
    pub observed: f64,
    /// How many there are.
    pub examples: u64,
}

/// Figures for all classes together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Metrics {
    /// The share of right predictions.
    pub accuracy: f64,
    /// The mean recall of the classes that have examples.
    pub balanced_accuracy: f64,
    /// The mean F1 of the classes that have examples or predictions.
    pub macro_f1: f64,
    /// The mean F1 of the classes, each weighted by its examples.
    pub weighted_f1: f64,
    /// Matthews correlation of truth and prediction, for any number of classes (Gorodkin 2004).
    pub mcc: f64,
    /// The area under the ROC curve, with two classes.
    pub auc: Option<f64>,
    /// Average precision, with two classes: precision at each threshold, weighted by the recall
    /// that it adds.
    pub average_precision: Option<f64>,
    /// The mean of −ln p of the true class, where the model gives probabilities.
    pub log_loss: Option<f64>,
    /// The mean squared distance of the probabilities from the truth, where the model gives such;
    /// with two classes of the positive one alone (Brier 1950).
    pub brier: Option<f64>,
    /// The mean distance of predicted probability and observed share, over ten bins of equal
    /// width: of the positive class of two, else of the most probable class (Guo et al. 2017).
    pub expected_calibration_error: Option<f64>,
    /// The bins that have examples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reliability: Vec<Reliability>,
    /// 95 % confidence intervals of these.
    pub intervals: Intervals,
    /// Figures for each class.
    pub by_class: Vec<ClassFigures>,
}

/// A confidence interval.
pub type Interval = [f64; 2];

/// 95 % confidence intervals: Wilson's of the accuracy; of the others the percentiles of a
/// bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Intervals {
    /// Of the accuracy.
    pub accuracy: Interval,
    /// Of the mean recall.
    pub balanced_accuracy: Interval,
    /// Of the mean F1.
    pub macro_f1: Interval,
    /// Of the weighted mean F1.
    pub weighted_f1: Interval,
    /// Of Matthews correlation.
    pub mcc: Interval,
    /// Of the area under the ROC curve.
    pub auc: Option<Interval>,
    /// Of average precision.
    pub average_precision: Option<Interval>,
}

/// Figures for one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassFigures {
    /// Its name.
    pub class: String,
    /// Examples of it.
    pub examples: u64,
    /// Of those predicted as it, the share that are; `None` if none were.
    pub precision: Option<f64>,
    /// Of its examples, the share predicted as it; `None` if there are none.
    pub recall: Option<f64>,
    /// Harmonic mean of the two; `None` where neither says anything.
    pub f1: Option<f64>,
    /// Wilson's 95 % confidence interval of the recall.
    pub recall_interval: Option<Interval>,
}

impl Evaluation {
    /// Nothing counted yet.
    pub fn new(classes: &Classes) -> Self {
        let k = classes.len();
        Evaluation {
            classes: classes.clone(),
            confusion: vec![vec![0; k]; k],
            unknown: Vec::new(),
            predicted_for_unknown: vec![0; k],
            ranked: Vec::new(),
            scored: Scored::default(),
        }
    }

    /// What the model predicts for these examples. Their classes must be its own.
    pub fn of(model: &Model, data: &Dataset, threads: usize) -> Result<Self> {
        Self::of_rows(model, &data.matrix, &data.labels, threads)
    }

    /// The same of rows and their classes.
    pub(crate) fn of_rows(
        model: &Model,
        matrix: &Matrix,
        labels: &[u32],
        threads: usize,
    ) -> Result<Self> {
        let mut found = Evaluation::new(&model.classes);
        let predicted = model.predict(matrix, threads)?;
        let truths = labels.iter().copied();
        (truths.clone().zip(predicted)).for_each(|(truth, class)| found.count(truth, class));
        let (two, probable) = (model.classes.len() == 2, model.has_probabilities());
        if !(two || probable) {
            return Ok(found);
        }
        let scores = model.scores(matrix, threads)?;
        let each = scores.chunks_exact(model.scheme.discriminators());
        let mut probabilities = vec![0.0; model.classes.len()];
        for (scores, truth) in each.zip(truths) {
            if two {
                found.rank(model.scheme.positive_score(scores), truth == 1);
            }
            if probable {
                model.probabilities_of(scores, &mut probabilities);
                found.count_probabilities(truth, &probabilities);
            }
        }
        Ok(found)
    }

    /// Figures for all classes together; `None` without examples. The seed draws the resamples of
    /// the confidence intervals.
    pub fn metrics(&self, seed: u64) -> Option<Metrics> {
        let accuracy = self.accuracy()?;
        let (counts, ranks) = (self.counts(), self.ranks());
        let spread = counts.bootstrap(seed);
        let areas = ranks.bootstrap(seed);
        Some(Metrics {
            accuracy,
            balanced_accuracy: counts.balanced_accuracy(),
            macro_f1: counts.macro_f1(),
            weighted_f1: counts.weighted_f1(),
            mcc: counts.mcc(),
            auc: ranks.auc(),
            average_precision: ranks.average_precision(),
            log_loss: self.log_loss(),
            brier: self.brier(),
            expected_calibration_error: self.expected_calibration_error(),
            reliability: self.reliability(),
            intervals: Intervals {
                accuracy: wilson(self.right(), self.examples()),
                balanced_accuracy: spread[0],
                macro_f1: spread[1],
                weighted_f1: spread[2],
                mcc: spread[3],
                auc: areas.map(|a| a[0]),
                average_precision: areas.map(|a| a[1]),
            },
            by_class: self.by_class(),
        })
    }

    /// One figure for all classes together; `None` where it is not defined.
    pub fn score(&self, metric: Metric) -> Option<f64> {
        let counts = || (self.examples() > 0).then(|| self.counts());
        match metric {
            Metric::Accuracy => self.accuracy(),
            Metric::BalancedAccuracy => counts().map(|c| c.balanced_accuracy()),
            Metric::MacroF1 => counts().map(|c| c.macro_f1()),
            Metric::WeightedF1 => counts().map(|c| c.weighted_f1()),
            Metric::Mcc => counts().map(|c| c.mcc()),
            Metric::Auc => self.ranks().auc(),
            Metric::AveragePrecision => self.ranks().average_precision(),
            Metric::NegLogLoss => self.log_loss().map(|loss| -loss),
        }
    }

    /// The confusion matrix with a last row for unknown labels.
    fn counts(&self) -> Counts {
        let rows = self.confusion.iter().chain([&self.predicted_for_unknown]);
        Counts(
            rows.map(|r| r.iter().map(|&n| n as f64).collect())
                .collect(),
        )
    }

    /// The examples of each score.
    fn ranks(&self) -> Ranks {
        let mut ranked = self.ranked.clone();
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let tied = ranked.chunk_by(|a, b| a.0 == b.0);
        Ranks(
            tied.map(|tied| {
                let up = tied.iter().filter(|(_, positive)| *positive).count() as f64;
                (up, tied.len() as f64 - up)
            })
            .collect(),
        )
    }

    /// Adds what another evaluation counted. Scores of two models rank nothing together, so its
    /// ranks are left out.
    pub fn add_counts(&mut self, other: &Evaluation) {
        let pairs = self.confusion.iter_mut().zip(&other.confusion);
        for (to, from) in pairs.flat_map(|(to, from)| to.iter_mut().zip(from)) {
            *to += from;
        }
    }

    /// Counts a prediction for an example of a known class.
    pub fn count(&mut self, truth: u32, predicted: u32) {
        self.confusion[truth as usize][predicted as usize] += 1;
    }

    /// Counts a prediction for an example whose label the model does not know: an error.
    pub fn count_unknown(&mut self, label: &str, predicted: u32) {
        self.predicted_for_unknown[predicted as usize] += 1;
        match self.unknown.iter_mut().find(|(name, _)| name == label) {
            Some((_, times)) => *times += 1,
            None => self.unknown.push((label.to_owned(), 1)),
        }
    }

    /// With two classes: notes an example's score.
    pub fn rank(&mut self, score: f64, positive: bool) {
        self.ranked.push((score, positive));
    }

    /// Notes the probability that was given to each class, for an example of a known one.
    pub fn count_probabilities(&mut self, truth: u32, probabilities: &[f64]) {
        let own = probabilities[truth as usize];
        let of_rest = probabilities.iter().fold(0.0, |sum, p| sum + p * p) - own * own;
        let squares = (1.0 - own) * (1.0 - own) + of_rest;
        let two = probabilities.len() == 2;
        // Of two classes one is enough.
        let halves = if two { 0.5 } else { 1.0 };
        self.scored.examples += 1;
        self.scored.log_loss -= libm::log(own.max(f64::EPSILON));
        self.scored.brier += halves * squares;
        let shown = match two {
            true => 1,
            false => crate::scheme::leader(probabilities, None),
        };
        let p = probabilities[shown as usize];
        let bin = &mut self.scored.bins[((p * BINS as f64) as usize).min(BINS - 1)];
        bin.examples += 1;
        bin.predicted += p;
        bin.happened += u64::from(truth == shown);
    }

    /// The mean of −log p, p the probability that was given to the true class (at least 2⁻⁵²);
    /// `None` without probabilities.
    pub fn log_loss(&self) -> Option<f64> {
        let scored = &self.scored;
        (scored.examples > 0).then(|| scored.log_loss / scored.examples as f64)
    }

    /// The Brier score: the mean squared distance of the probabilities from 1 for the true class
    /// and 0 for the others, with two classes of the positive one alone; `None` without
    /// probabilities.
    pub fn brier(&self) -> Option<f64> {
        let scored = &self.scored;
        (scored.examples > 0).then(|| scored.brier / scored.examples as f64)
    }

    /// Predicted probabilities and what came of them, in ten bins of equal width, those without
    /// examples left out: of the positive class of two, else of the most probable class.
    pub fn reliability(&self) -> Vec<Reliability> {
        let bins = self.scored.bins.iter().filter(|bin| bin.examples > 0);
        bins.map(|bin| Reliability {
            predicted: bin.predicted / bin.examples as f64,
            observed: bin.happened as f64 / bin.examples as f64,
            examples: bin.examples,
        })
        .collect()
    }

    /// The mean distance of predicted probability and observed share, each bin weighted by its
    /// examples; `None` without probabilities.
    pub fn expected_calibration_error(&self) -> Option<f64> {
        let bins = self.reliability();
        let apart = bins
            .iter()
            .map(|b| ((b.predicted - b.observed).abs(), b.examples as f64));
        (!bins.is_empty()).then(|| mean(apart))
    }

    /// Examples counted, those with unknown labels included.
    pub fn examples(&self) -> u64 {
        self.confusion.iter().flatten().sum::<u64>() + self.unknown_examples()
    }

    /// Right predictions.
    pub fn right(&self) -> u64 {
        (0..self.confusion.len())
            .map(|c| self.confusion[c][c])
            .sum()
    }

    /// The share of right predictions; `None` without examples.
    pub fn accuracy(&self) -> Option<f64> {
        (self.examples() > 0).then(|| self.right() as f64 / self.examples() as f64)
    }

    /// The classes.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Counts by true class (rows) and predicted class (columns).
    pub fn confusion(&self) -> &[Vec<u64>] {
        &self.confusion
    }

    /// Labels unseen in training, with how often each occurred.
    pub fn unknown(&self) -> &[(String, u64)] {
        &self.unknown
    }

    /// What was predicted for examples with labels unseen in training, by class.
    pub fn predicted_for_unknown(&self) -> &[u64] {
        &self.predicted_for_unknown
    }

    /// Examples with labels unseen in training.
    pub fn unknown_examples(&self) -> u64 {
        self.unknown.iter().map(|(_, n)| n).sum()
    }

    /// Precision, recall and F1 of each class.
    pub fn by_class(&self) -> Vec<ClassFigures> {
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        (0..self.classes.len())
            .map(|c| {
                let hits = self.confusion[c][c];
                let examples: u64 = self.confusion[c].iter().sum();
                let known: u64 = self.confusion.iter().map(|row| row[c]).sum();
                let predicted = known + self.predicted_for_unknown[c];
                ClassFigures {
                    class: self.classes.name(c as u32).to_owned(),
                    examples,
                    precision: share(hits, predicted),
                    recall: share(hits, examples),
                    f1: share(2 * hits, examples + predicted),
                    recall_interval: (examples > 0).then(|| wilson(hits, examples)),
                }
            })
            .collect()
    }

    /// The ROC curve: for every threshold, from the strictest to the laxest, the share of the
    /// negative examples at or above it and the share of the positive ones. Examples of one
    /// score come together, so that the area below is [`auc`](Self::auc). Empty unless both
    /// classes were ranked.
    pub fn roc(&self) -> Vec<(f64, f64)> {
        let ranks = self.ranks();
        let Some((positives, negatives)) = ranks.totals() else {
            return Vec::new();
        };
        let start = std::iter::once((0.0, 0.0));
        let rest = ranks.above_thresholds();
        start
            .chain(rest.map(|(up, down)| (down / negatives, up / positives)))
            .collect()
    }

    /// Recall and precision at every threshold, from the strictest to the laxest. Empty unless
    /// both classes were ranked.
    pub fn precision_recall(&self) -> Vec<(f64, f64)> {
        let ranks = self.ranks();
        let Some((positives, _)) = ranks.totals() else {
            return Vec::new();
        };
        let above = ranks.above_thresholds();
        above
            .map(|(up, down)| (up / positives, up / (up + down)))
            .collect()
    }

    /// The probability that a positive example scores above a negative one, ties counted
    /// half (the area under the ROC curve); `None` unless both classes were ranked.
    pub fn auc(&self) -> Option<f64> {
        self.ranks().auc()
    }
}

/// Resamples of a bootstrap, fewer where that many would take long.
fn resamples(cells: usize) -> usize {
    (20_000_000 / cells.max(1)).clamp(100, 1000)
}

/// The interval between the 2.5th and the 97.5th percentile.
fn percentiles(mut values: Vec<f64>) -> Interval {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    [at(0.025), at(0.975)]
}

/// Wilson's 95 % confidence interval of a share (Wilson 1927).
pub fn wilson(hits: u64, all: u64) -> Interval {
    const Z: f64 = 1.959_963_984_540_054;
    let (n, p) = (all as f64, hits as f64 / all as f64);
    let centre = p + Z * Z / (2.0 * n);
    let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let shrink = 1.0 + Z * Z / n;
    [
        ((centre - reach) / shrink).max(0.0),
        ((centre + reach) / shrink).min(1.0),
    ]
}

/// The two-sided p-value of McNemar's exact test (McNemar 1947): `a` rows are right by one model
/// alone, `b` by the other alone, and either is as likely if both are as good.
pub fn mcnemar(a: u64, b: u64) -> f64 {
    let n = a + b;
    let half = libm::log(0.5) * n as f64;
    // ln of C(n, i)/2ⁿ, from one i to the next.
    let (mut term, mut tail) = (half, 0.0);
    for i in 0..=a.min(b) {
        tail += libm::exp(term);
        term += libm::log((n - i) as f64 / (i + 1) as f64);
    }
    (2.0 * tail).min(1.0)
}

/// How often something with this mean happens, after Poisson. A bootstrap of many examples draws
/// how often each is taken so (Hanley & MacGibbon 2006).
fn poisson(random: &mut Random, mean: f64) -> f64 {
    if mean > 30.0 {
        return (mean + mean.sqrt() * random.normal()).round().max(0.0);
    }
    let (limit, mut product, mut count) = (libm::exp(-mean), 1.0, -1.0);
    while product >= limit {
        product *= random.positive_unit();
        count += 1.0;
    }
    count
}

/// A confusion matrix, maybe resampled; its last row is of unknown labels.
struct Counts(Vec<Vec<f64>>);

impl Counts {
    /// Hits, examples and predictions of each class.
    fn classes(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        (0..self.0.len() - 1).map(|c| {
            let predicted = self.0.iter().map(|row| row[c]).sum();
            (self.0[c][c], self.0[c].iter().sum(), predicted)
        })
    }

    fn balanced_accuracy(&self) -> f64 {
        let found = self.classes().filter(|(_, examples, _)| *examples > 0.0);
        mean(found.map(|(hits, examples, _)| (hits / examples, 1.0)))
    }

    fn macro_f1(&self) -> f64 {
        mean(self.f1().map(|(f1, _)| (f1, 1.0)))
    }

    fn weighted_f1(&self) -> f64 {
        mean(self.f1())
    }

    /// F1 of each class that occurs, and its examples.
    fn f1(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.classes().filter_map(|(hits, examples, predicted)| {
            let both = examples + predicted;
            (both > 0.0).then(|| (2.0 * hits / both, examples))
        })
    }

    fn mcc(&self) -> f64 {
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
    fn bootstrap(&self, seed: u64) -> [Interval; 4] {
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
fn mean(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, weights) = values.fold((0.0, 0.0), |(sum, weights), (value, weight)| {
        (sum + value * weight, weights + weight)
    });
    match weights > 0.0 {
        true => sum / weights,
        false => 0.0,
    }
}

/// Positive and negative examples of each score, the highest score first, maybe resampled.
struct Ranks(Vec<(f64, f64)>);

impl Ranks {
    /// Positive and negative examples, where there are both.
    fn totals(&self) -> Option<(f64, f64)> {
        let all = self.above_thresholds().last()?;
        (all.0 > 0.0 && all.1 > 0.0).then_some(all)
    }

    /// Positive and negative examples at or above each score.
    fn above_thresholds(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.0.iter().scan((0.0, 0.0), |above, (up, down)| {
            *above = (above.0 + up, above.1 + down);
            Some(*above)
        })
    }

    fn auc(&self) -> Option<f64> {
        let (positives, negatives) = self.totals()?;
        let (mut wins, mut above) = (0.0, 0.0);
        for (up, down) in &self.0 {
            wins += up * (negatives - above - 0.5 * down);
            above += down;
        }
        Some(wins / (positives * negatives))
    }

    fn average_precision(&self) -> Option<f64> {
        let (positives, _) = self.totals()?;
        let steps = self.0.iter().zip(self.above_thresholds());
        let area = steps
            .filter(|((up, _), _)| *up > 0.0)
            .map(|((up, _), (hits, others))| up * hits / (hits + others));
        Some(area.sum::<f64>() / positives)
    }

    /// Intervals of the area under the ROC curve and of average precision.
    fn bootstrap(&self, seed: u64) -> Option<[Interval; 2]> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_small_table() {
        let mut e = Evaluation::new(&Classes::from_labels(["n", "p"]));
        for (truth, predicted, times) in [(0, 0, 5), (0, 1, 1), (1, 0, 2), (1, 1, 2)] {
            (0..times).for_each(|_| e.count(truth, predicted));
        }
        assert_eq!((e.examples(), e.right(), e.accuracy()), (10, 7, Some(0.7)));
        let p = &e.by_class()[1];
        assert_eq!(
            (p.precision, p.recall, p.f1),
            (Some(2.0 / 3.0), Some(0.5), Some(4.0 / 7.0))
        );
        e.count_unknown("x", 1);
        e.count_unknown("x", 1);
        assert_eq!((e.examples(), e.right()), (12, 7));
        assert_eq!(e.by_class()[1].precision, Some(2.0 / 5.0));
        assert_eq!(e.unknown(), [("x".to_owned(), 2)]);
    }

    #[test]
    fn losses_of_probabilities() {
        let mut two = Evaluation::new(&Classes::from_labels(["n", "p"]));
        assert_eq!((two.log_loss(), two.brier()), (None, None));
        assert_eq!(two.expected_calibration_error(), None);
        two.count_probabilities(1, &[0.25, 0.75]);
        two.count_probabilities(0, &[0.5, 0.5]);
        let mean = -(0.75f64.ln() + 0.5f64.ln()) / 2.0;
        assert!((two.log_loss().unwrap() - mean).abs() < 1e-15);
        assert_eq!(two.brier(), Some((0.0625 + 0.25) / 2.0));
        assert_eq!(two.expected_calibration_error(), Some((0.25 + 0.5) / 2.0));
        two.count_probabilities(1, &[0.5, 0.5]);
        let bins = two.reliability();
        assert_eq!(
            (bins.len(), bins[0].examples, bins[0].observed),
            (2, 2, 0.5)
        );
        assert_eq!(two.expected_calibration_error(), Some(0.25 / 3.0));
        let mut three = Evaluation::new(&Classes::from_labels(["a", "b", "c"]));
        three.count_probabilities(2, &[0.5, 0.25, 0.25]);
        assert_eq!(three.brier(), Some(0.25 + 0.0625 + 0.5625));
        assert_eq!(three.expected_calibration_error(), Some(0.5));
    }

    #[test]
    fn empty_classes_have_no_figures() {
        let mut e = Evaluation::new(&Classes::from_labels(["a", "b", "c"]));
        e.count(0, 1);
        let figures = e.by_class();
        assert_eq!(
            (figures[0].precision, figures[0].recall, figures[0].f1),
            (None, Some(0.0), Some(0.0))
        );
        assert_eq!(
            (figures[2].precision, figures[2].recall, figures[2].f1),
            (None, None, None)
        );
        assert_eq!(
            Evaluation::new(&Classes::from_labels(["a", "b"])).accuracy(),
            None
        );
    }

    /// Two classes: 90 negatives, 10 positives, of which 4 are found beside 2 false alarms.
    fn rare() -> Evaluation {
        let mut e = Evaluation::new(&Classes::from_labels(["n", "p"]));
        for (truth, predicted, times) in [(0, 0, 88), (0, 1, 2), (1, 0, 6), (1, 1, 4)] {
            (0..times).for_each(|_| e.count(truth, predicted));
        }
        e
    }

    #[test]
    fn figures_for_all_classes_follow_their_definitions() {
        let m = rare().metrics(1).unwrap();
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        };
        let (negative, positive) = (2.0 * 88.0 / (90.0 + 94.0), 2.0 * 4.0 / (10.0 + 6.0));
        close(m.accuracy, 0.92);
        close(m.balanced_accuracy, (88.0 / 90.0 + 0.4) / 2.0);
        close(m.macro_f1, (negative + positive) / 2.0);
        close(m.weighted_f1, 0.9 * negative + 0.1 * positive);
        let root = (90.0f64 * 10.0 * 94.0 * 6.0).sqrt();
        close(m.mcc, (88.0 * 4.0 - 2.0 * 6.0) / root);
        assert_eq!((m.auc, m.average_precision, m.log_loss), (None, None, None));
        for metric in <Metric as crate::options::Choice>::ALL {
            let of_scores = matches!(
                metric.0,
                Metric::Auc | Metric::AveragePrecision | Metric::NegLogLoss
            );
            assert_eq!(rare().score(metric.0).is_none(), of_scores);
        }
        // Labels that the model does not know are errors there, too.
        let mut e = rare();
        (0..10).for_each(|_| e.count_unknown("x", 1));
        let with = e.metrics(1).unwrap();
        assert!(with.mcc < m.mcc && with.macro_f1 < m.macro_f1);
    }

    #[test]
    fn intervals_hold_their_figure_and_narrow_with_the_examples() {
        let few = rare().metrics(1).unwrap();
        let mut many = Evaluation::new(&Classes::from_labels(["n", "p"]));
        let mut random = Random::new(3, Stream::Sample, 0);
        for i in 0..100 {
            let truth = u32::from(i % 10 == 0);
            for _ in 0..100 {
                many.rank(random.normal() + f64::from(truth), truth == 1);
            }
        }
        (0..100).for_each(|_| many.add_counts(&rare()));
        let more = many.metrics(1).unwrap();
        let inside =
            |[low, high]: Interval, x: f64| assert!(low <= x && x <= high, "{low} {x} {high}");
        for m in [&few, &more] {
            let i = &m.intervals;
            inside(i.accuracy, m.accuracy);
            inside(i.balanced_accuracy, m.balanced_accuracy);
            inside(i.macro_f1, m.macro_f1);
            inside(i.weighted_f1, m.weighted_f1);
            inside(i.mcc, m.mcc);
        }
        inside(more.intervals.auc.unwrap(), more.auc.unwrap());
        inside(
            more.intervals.average_precision.unwrap(),
            more.average_precision.unwrap(),
        );
        let width = |[low, high]: Interval| high - low;
        let ratio =
            width(few.intervals.balanced_accuracy) / width(more.intervals.balanced_accuracy);
        assert!((7.0..13.0).contains(&ratio), "{ratio}");
        // The standard error of an AUC of about 0.76 from 1,000 and 9,000 is 0.008 (Hanley & McNeil).
        let auc = width(more.intervals.auc.unwrap());
        assert!((0.02..0.045).contains(&auc), "{auc}");
        assert_eq!(few, rare().metrics(1).unwrap());
        assert_ne!(few, rare().metrics(2).unwrap());
    }

    #[test]
    fn wilson_and_mcnemar_agree_with_tables() {
        // Newcombe (1998): 81 of 263.
        let [low, high] = wilson(81, 263);
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5);
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        };
        assert_eq!((mcnemar(0, 0), mcnemar(5, 5)), (1.0, 1.0));
        close(mcnemar(1, 9), 22.0 / 1024.0);
        close(mcnemar(9, 1), 22.0 / 1024.0);
        close(mcnemar(0, 6), 2.0 / 64.0);
        assert!((0.0..1e-100).contains(&mcnemar(10, 1000)));
    }

    #[test]
    fn auc_equals_counting_pairs() {
        let scores = [0.1, 0.4, 0.4, 0.8, -1.0, 0.4];
        let positive = [false, true, false, true, false, true];
        let mut e = Evaluation::new(&Classes::from_labels(["n", "p"]));
        scores.iter().zip(positive).for_each(|(&s, p)| e.rank(s, p));
        let (mut wins, mut pairs) = (0.0, 0.0);
        for (&s, p) in scores.iter().zip(positive) {
            for (&t, q) in scores.iter().zip(positive) {
                if p && !q {
                    pairs += 1.0;
                    wins += if s > t {
                        1.0
                    } else if s == t {
                        0.5
                    } else {
                        0.0
                    };
                }
            }
        }
        assert_eq!(e.auc(), Some(wins / pairs));
        // The same area under the curve, by trapezia.
        let curve = e.roc();
        let area: f64 = curve
            .windows(2)
            .map(|w| (w[1].0 - w[0].0) * (w[0].1 + w[1].1) / 2.0)
            .sum();
        assert!((area - wins / pairs).abs() < 1e-12);
        assert_eq!((curve[0], curve[curve.len() - 1]), ((0.0, 0.0), (1.0, 1.0)));
        // 0.8 is right; the three at 0.4 hold two more; then three negatives.
        let third = 1.0 / 3.0;
        assert_eq!(
            e.precision_recall(),
            [(third, 1.0), (1.0, 0.75), (1.0, 0.6), (1.0, 0.5)]
        );
        // 0.8; then two more of the three at 0.4.
        assert_eq!(
            e.score(Metric::AveragePrecision),
            Some((1.0 + 2.0 * 0.75) / 3.0)
        );
        assert_eq!(
            Evaluation::new(&Classes::from_labels(["n", "p"])).auc(),
            None
        );
    }
}
