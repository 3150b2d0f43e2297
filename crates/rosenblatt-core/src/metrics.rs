//! How good predictions are.

mod counts;
mod intervals;
mod ranks;

use serde::Serialize;

use self::counts::{Counts, mean};
use self::ranks::Ranks;
use crate::data::{Classes, Dataset, Matrix};
use crate::error::Result;
use crate::model::Model;
use crate::options::Metric;

pub use self::intervals::{mcnemar, wilson};
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

#[cfg(test)]
mod tests;
