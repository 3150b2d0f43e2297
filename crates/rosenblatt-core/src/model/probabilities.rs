//! Probabilities of classes: by a calibration, or from scores that are log-odds; and the class
//! that a threshold decides for.

use super::{Fingerprint, Model};
use crate::calibration::{Calibration, Method, both_sides};
use crate::data::{Dataset, Matrix};
use crate::error::{Error, Result};
use crate::scheme::Scheme;
use crate::threshold::{Threshold, ThresholdOf, ThresholdRule};

/// Scores of rows that a model was not trained on, with their classes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnseenScores {
    /// `rows × discriminators`, row by row.
    pub scores: Vec<f64>,
    /// The class of each row.
    pub labels: Vec<u32>,
    /// The rows, where they were held out of training; else they were scored in
    /// cross-validation.
    pub held_out: Option<Fingerprint>,
}

impl Model {
    /// Whether it gives probabilities: it is calibrated, or its scores are log-odds.
    pub fn has_probabilities(&self) -> bool {
        let paired = matches!(self.scheme, Scheme::OneVsOne { .. });
        self.calibration.is_some() || (self.options.learner.gives_probabilities() && !paired)
    }

    /// Refuses a model that gives no probabilities.
    pub fn require_probabilities(&self) -> Result<()> {
        if self.has_probabilities() {
            return Ok(());
        }
        let remedy = match self.options.learner.gives_probabilities() {
            true => "train with ⟨multiclass ovr⟩, or with ⟨calibrate⟩",
            false => "train with ⟨calibrate⟩, or with ⟨learner logistic⟩",
        };
        Err(Error::options(format!(
            "the scores of this {} model are no probabilities, and it is not calibrated",
            self.options.learner.name()
        ))
        .remedy(remedy))
    }

    /// The probability of every class for every row, `rows × classes`, row by row.
    ///
    /// Without a calibration a plane's score s stands for 1/(1 + exp(−s)); of one plane a class,
    /// against the rest, they are divided by their sum, and scores learned jointly go through
    /// the softmax.
    pub fn probabilities(&self, matrix: &Matrix, threads: usize) -> Result<Vec<f64>> {
        self.require_probabilities()?;
        let scores = self.scores(matrix, threads)?;
        let mut found = vec![0.0; matrix.rows() * self.scheme.classes()];
        let each = scores.chunks_exact(self.scheme.discriminators());
        for (scores, to) in each.zip(found.chunks_exact_mut(self.scheme.classes())) {
            self.probabilities_of(scores, to);
        }
        Ok(found)
    }

    /// The probability of each class, from the scores of one row, where it
    /// [gives such](Self::has_probabilities).
    pub fn probabilities_of(&self, scores: &[f64], to: &mut [f64]) {
        match &self.calibration {
            Some(calibration) => calibration.probabilities(self.scheme, scores, to),
            None => self.scheme.probabilities(scores, to),
        }
    }

    /// The class that the scores of one row decide for, by the threshold where it has one.
    pub fn decide(&self, scores: &[f64]) -> u32 {
        let Some(threshold) = &self.threshold else {
            return self.scheme.decide(scores, self.at_zero());
        };
        let found = match threshold.of {
            ThresholdOf::Score => self.scheme.positive_score(scores),
            ThresholdOf::Probability => {
                let mut p = [0.0; 2];
                self.probabilities_of(scores, &mut p);
                p[1]
            }
        };
        u32::from(found >= threshold.value)
    }

    /// The scores that it gives rows which were held out of training.
    pub fn held_out_scores(&self, data: &Dataset, threads: usize) -> Result<UnseenScores> {
        Ok(UnseenScores {
            scores: self.scores(&data.matrix, threads)?,
            labels: data.labels.clone(),
            held_out: Some(Fingerprint::of(data, threads)),
        })
    }

    /// Fits a calibration to scores of rows that it was not trained on; without a method the
    /// [usual](Method::usual) one.
    pub fn calibrate(&mut self, method: Option<Method>, unseen: &UnseenScores) -> Result<()> {
        let method = method.unwrap_or(Method::usual(self.scheme.classes()));
        let held_out = unseen.held_out.is_some();
        let (scores, labels) = (&unseen.scores, &unseen.labels);
        let found = Calibration::fit(method, self.scheme, scores, labels, held_out)?;
        self.calibration = Some(found);
        self.note_chosen_on(unseen);
        Ok(())
    }

    /// Refuses a threshold for classes that are not two.
    pub fn require_two_classes_for_threshold(&self) -> Result<()> {
        match self.scheme.classes() {
            2 => Ok(()),
            k => Err(Error::options(format!(
                "⟨threshold⟩ decides between two classes, and these are {k}"
            ))
            .remedy("name the ⟨positive⟩ class, to tell it from all others")),
        }
    }

    /// Decides by a threshold from now on: a given one, or one chosen on rows that it was not
    /// trained on.
    pub fn set_threshold(
        &mut self,
        rule: ThresholdRule,
        unseen: Option<&UnseenScores>,
    ) -> Result<()> {
        self.require_two_classes_for_threshold()?;
        self.threshold = Some(match (rule, unseen) {
            (ThresholdRule::Value(value), _) => {
                let of = match self.has_probabilities() {
                    true => ThresholdOf::Probability,
                    false => ThresholdOf::Score,
                };
                if of == ThresholdOf::Probability && !(0.0..=1.0).contains(&value) {
                    return Err(Error::options(format!(
                        "⟨threshold {value}⟩ is of the probability, which lies between 0 and 1"
                    ))
                    .remedy("give a probability, such as 0.3"));
                }
                Threshold {
                    rule,
                    value,
                    of,
                    chosen_on: None,
                }
            }
            (_, Some(unseen)) => {
                let each = unseen.scores.chunks_exact(self.scheme.discriminators());
                let scores = each.map(|scores| self.scheme.positive_score(scores));
                let own = unseen.labels.iter().map(|&label| label == 1);
                let rows: Vec<(f64, bool)> = scores.zip(own).collect();
                self.note_chosen_on(unseen);
                Threshold::choose(rule, &rows, unseen.held_out.is_some())?
            }
            (_, None) => {
                return Err(Error::options(format!(
                    "⟨threshold {rule}⟩ is chosen on rows, and there are none"
                )));
            }
        });
        Ok(())
    }

    fn note_chosen_on(&mut self, unseen: &UnseenScores) {
        if unseen.held_out.is_some() {
            self.chosen_on = unseen.held_out;
        }
    }
}

impl Scheme {
    /// The probability of each class, where `scores` are log-odds.
    pub fn probabilities(self, scores: &[f64], to: &mut [f64]) {
        match self {
            Scheme::Binary => {
                to.copy_from_slice(&both_sides(scores[0]));
                return;
            }
            Scheme::Argmax { .. } => {
                let most = scores.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
                let each = to.iter_mut().zip(scores);
                each.for_each(|(p, s)| *p = libm::exp(s - most));
            }
            Scheme::OneVsRest { .. } | Scheme::OneVsOne { .. } => {
                let each = to.iter_mut().zip(scores);
                each.for_each(|(p, s)| *p = both_sides(*s)[1]);
            }
        }
        let sum: f64 = to.iter().sum();
        if sum > 0.0 {
            to.iter_mut().for_each(|p| *p /= sum);
        } else {
            // All so unlikely that nothing is left of them: the score decides.
            to[self.decide(scores, Default::default()) as usize] = 1.0;
        }
    }
}
