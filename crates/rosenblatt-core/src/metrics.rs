//! How good predictions are.

use serde::Serialize;

use crate::data::Classes;

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
        // Of two classes one is enough.
        let halves = if probabilities.len() == 2 { 0.5 } else { 1.0 };
        self.scored.examples += 1;
        self.scored.log_loss -= libm::log(own.max(f64::EPSILON));
        self.scored.brier += halves * squares;
    }

    /// The mean of −log p, p the probability that was given to the true class (at least 2⁻⁵²);
    /// `None` without probabilities.
    pub fn log_loss(&self) -> Option<f64> {
        let Scored {
            examples, log_loss, ..
        } = self.scored;
        (examples > 0).then(|| log_loss / examples as f64)
    }

    /// The Brier score: the mean squared distance of the probabilities from 1 for the true class
    /// and 0 for the others, with two classes of the positive one alone; `None` without
    /// probabilities.
    pub fn brier(&self) -> Option<f64> {
        let Scored {
            examples, brier, ..
        } = self.scored;
        (examples > 0).then(|| brier / examples as f64)
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
                }
            })
            .collect()
    }

    /// The ROC curve: for every threshold, from the strictest to the laxest, the share of the
    /// negative examples at or above it and the share of the positive ones. Examples of one
    /// score come together, so that the area below is [`auc`](Self::auc). Empty unless both
    /// classes were ranked.
    pub fn roc(&self) -> Vec<(f64, f64)> {
        let (positives, negatives) = self.ranked_totals();
        if positives == 0.0 || negatives == 0.0 {
            return Vec::new();
        }
        let start = std::iter::once((0.0, 0.0));
        let rest = self.above_thresholds().into_iter();
        start
            .chain(rest.map(|(up, down)| (down / negatives, up / positives)))
            .collect()
    }

    /// Recall and precision at every threshold, from the strictest to the laxest. Empty unless
    /// both classes were ranked.
    pub fn precision_recall(&self) -> Vec<(f64, f64)> {
        let (positives, negatives) = self.ranked_totals();
        if positives == 0.0 || negatives == 0.0 {
            return Vec::new();
        }
        let above = self.above_thresholds().into_iter();
        above
            .map(|(up, down)| (up / positives, up / (up + down)))
            .collect()
    }

    /// Ranked examples of the positive and of the negative class.
    fn ranked_totals(&self) -> (f64, f64) {
        let positives = self.ranked.iter().filter(|(_, p)| *p).count();
        (positives as f64, (self.ranked.len() - positives) as f64)
    }

    /// Positive and negative examples at or above each score, the highest score first.
    fn above_thresholds(&self) -> Vec<(f64, f64)> {
        let mut ranked = self.ranked.clone();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut up, mut down) = (0.0, 0.0);
        ranked
            .chunk_by(|a, b| a.0 == b.0)
            .map(|tied| {
                let hits = tied.iter().filter(|(_, p)| *p).count() as f64;
                up += hits;
                down += tied.len() as f64 - hits;
                (up, down)
            })
            .collect()
    }

    /// The probability that a positive example scores above a negative one, ties counted
    /// half (the area under the ROC curve); `None` unless both classes were ranked.
    pub fn auc(&self) -> Option<f64> {
        let (positives, negatives) = self.ranked_totals();
        if positives == 0.0 || negatives == 0.0 {
            return None;
        }
        let (mut wins, mut above) = (0.0, (0.0, 0.0));
        for (up, down) in self.above_thresholds() {
            wins += (up - above.0) * (negatives - 0.5 * (down + above.1));
            above = (up, down);
        }
        Some(wins / (positives * negatives))
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
        two.count_probabilities(1, &[0.25, 0.75]);
        two.count_probabilities(0, &[0.5, 0.5]);
        let mean = -(0.75f64.ln() + 0.5f64.ln()) / 2.0;
        assert!((two.log_loss().unwrap() - mean).abs() < 1e-15);
        assert_eq!(two.brier(), Some((0.0625 + 0.25) / 2.0));
        let mut three = Evaluation::new(&Classes::from_labels(["a", "b", "c"]));
        three.count_probabilities(2, &[0.5, 0.25, 0.25]);
        assert_eq!(three.brier(), Some(0.25 + 0.0625 + 0.5625));
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
        assert_eq!(
            Evaluation::new(&Classes::from_labels(["n", "p"])).auc(),
            None
        );
    }
}
