//! Calibration: a map from scores to probabilities, fitted on rows that the model was not
//! trained on.
//!
//! Every row counts once, and sums run row after row, so a fit depends on the rows alone. Two
//! classes have one score, that of the positive class. Several have one each: by sigmoid and by
//! isotonic regression each class is calibrated against the rest and the probabilities of a row
//! are divided by their sum (Zadrozny & Elkan 2002); temperature is one number for all and keeps
//! their order.

mod fit;

use self::fit::{isotonic_fit, sharpness, sigmoid_fit};
use crate::error::{Error, Result};
use crate::model::Parts;
use crate::options::{Choice, choices};
use crate::scheme::Scheme;

choices! {
    /// How scores become probabilities.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Method {
        /// 1/(1 + exp(−(a·s + b))) (Platt 2000).
        Sigmoid = "sigmoid",
        /// The best non-decreasing function of the score, by pooling adjacent violators.
        Isotonic = "isotonic",
        /// The softmax of s/T (Guo et al. 2017).
        Temperature = "temperature",
    }
}

impl Method {
    /// What serves this number of classes where nothing is said.
    pub fn usual(classes: usize) -> Self {
        match classes {
            0..=2 => Method::Sigmoid,
            _ => Method::Temperature,
        }
    }
}

/// Rows that something was chosen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ChosenOn {
    /// How many.
    pub examples: u64,
    /// Whether they were held out of training; else they were scored in cross-validation, each
    /// by a model that was trained without it.
    pub held_out: bool,
}

/// A fitted calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    map: Map,
    /// What it was fitted on.
    pub fitted_on: ChosenOn,
}

/// From a score to a probability; of several classes one each, but one temperature for all.
#[derive(Debug, Clone, PartialEq)]
enum Map {
    /// Slope and intercept.
    Sigmoid(Vec<[f64; 2]>),
    /// Scores, ascending, and their probabilities; between them straight lines.
    Isotonic(Vec<Vec<[f64; 2]>>),
    Temperature(f64),
}

impl Calibration {
    /// Fits a calibration to scores, `rows × discriminators`, and the class of each row.
    ///
    /// # Errors
    /// Without rows, and for two classes without rows of both.
    pub fn fit(
        method: Method,
        scheme: Scheme,
        scores: &[f64],
        labels: &[u32],
        held_out: bool,
    ) -> Result<Self> {
        let k = scheme.classes();
        let present = |class| labels.contains(&class);
        if labels.is_empty() || (k == 2 && !(present(0) && present(1))) {
            return Err(
                Error::data("the rows for the calibration are not of both classes")
                    .remedy("hold out more rows"),
            );
        }
        let rows = ClassScores::of(scheme, scores);
        let columns = if k == 2 { 1..2 } else { 0..k };
        let one_class = columns.map(|c| rows.against_rest(c, labels));
        let map = match method {
            Method::Sigmoid => Map::Sigmoid(one_class.map(|rows| sigmoid_fit(&rows)).collect()),
            Method::Isotonic => Map::Isotonic(one_class.map(isotonic_fit).collect()),
            Method::Temperature => Map::Temperature(1.0 / sharpness(&rows, labels)),
        };
        Ok(Calibration {
            map,
            fitted_on: ChosenOn {
                examples: labels.len() as u64,
                held_out,
            },
        })
    }

    /// Which method.
    pub fn method(&self) -> Method {
        match self.map {
            Map::Sigmoid(_) => Method::Sigmoid,
            Map::Isotonic(_) => Method::Isotonic,
            Map::Temperature(_) => Method::Temperature,
        }
    }

    /// The temperature, where it is one.
    pub fn temperature(&self) -> Option<f64> {
        match self.map {
            Map::Temperature(t) => Some(t),
            _ => None,
        }
    }

    /// The slope and the intercept of a sigmoid for two classes, where it is that.
    pub fn sigmoid(&self) -> Option<[f64; 2]> {
        match &self.map {
            Map::Sigmoid(lines) if lines.len() == 1 => Some(lines[0]),
            _ => None,
        }
    }

    /// The probability of each class, for the scores of one row.
    pub fn probabilities(&self, scheme: Scheme, scores: &[f64], to: &mut [f64]) {
        if scheme.classes() == 2 {
            let score = scheme.positive_score(scores);
            let [no, yes] = match &self.map {
                Map::Sigmoid(lines) => both_sides(line(lines[0], score)),
                Map::Temperature(t) => both_sides(score / t),
                Map::Isotonic(curves) => {
                    let p = along(&curves[0], score);
                    [1.0 - p, p]
                }
            };
            (to[0], to[1]) = (no, yes);
            return;
        }
        scheme.class_scores(scores, to);
        match &self.map {
            Map::Temperature(t) => {
                let most = to.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                to.iter_mut().for_each(|s| *s = libm::exp((*s - most) / t));
            }
            Map::Sigmoid(lines) => {
                let each = to.iter_mut().zip(lines);
                each.for_each(|(s, l)| *s = both_sides(line(*l, *s))[1]);
            }
            Map::Isotonic(curves) => {
                let each = to.iter_mut().zip(curves);
                each.for_each(|(s, curve)| *s = along(curve, *s));
            }
        }
        let sum: f64 = to.iter().sum();
        match sum > 0.0 {
            true => to.iter_mut().for_each(|p| *p /= sum),
            // All so unlikely that nothing is left of them.
            false => to.fill(1.0 / to.len() as f64),
        }
    }

    pub(crate) fn put(&self, parts: &mut Parts<'_>) {
        parts.put_fact("calibration", crate::options::choice_name(self.method()));
        parts.put_fact("calibration.fitted_on", self.fitted_on);
        let lists: Vec<Vec<[f64; 2]>> = match &self.map {
            Map::Sigmoid(lines) => lines.iter().map(|l| vec![*l]).collect(),
            Map::Isotonic(curves) => curves.clone(),
            Map::Temperature(t) => vec![vec![[*t, 0.0]]],
        };
        let lengths = lists.iter().map(|list| list.len() as u64);
        parts.put("calibration.lengths", lengths.collect());
        parts.put_table("calibration.points", 2, lists.concat().concat().into());
    }

    pub(crate) fn take(parts: &mut Parts<'_>, scheme: Scheme) -> Result<Option<Self>> {
        let bad = || {
            Error::model("the model file is not valid: its calibration does not fit")
                .remedy("take it from its source again, or train it anew")
        };
        if !parts.has_fact("calibration") {
            return Ok(None);
        }
        let name: String = parts.take_fact("calibration")?;
        let method = Method::ALL.iter().find(|(_, text)| *text == name);
        let (method, _) = *method.ok_or_else(bad)?;
        let fitted_on: ChosenOn = parts.take_fact("calibration.fitted_on")?;
        let lengths: Vec<u64> = parts.take("calibration.lengths")?;
        let points: Vec<f64> = parts.take("calibration.points")?;
        let (points, rest) = points.as_chunks::<2>();
        let finite = points.iter().flatten().all(|x| x.is_finite());
        let mut left = points;
        let mut lists = Vec::new();
        for length in lengths {
            let length = usize::try_from(length).map_err(|_| bad())?;
            let (list, behind) = left.split_at_checked(length).ok_or_else(bad)?;
            lists.push(list.to_vec());
            left = behind;
        }
        let k = scheme.classes();
        let columns = match method {
            Method::Temperature => 1,
            _ if k == 2 => 1,
            _ => k,
        };
        if !rest.is_empty() || !left.is_empty() || !finite || lists.len() != columns {
            return Err(bad());
        }
        let single = |list: &Vec<[f64; 2]>| (list.len() == 1).then(|| list[0]).ok_or_else(bad);
        let rises = |list: &Vec<[f64; 2]>| {
            let inside = list.iter().all(|[_, p]| (0.0..=1.0).contains(p));
            let up = list
                .windows(2)
                .all(|w| w[0][0] < w[1][0] && w[0][1] <= w[1][1]);
            inside && up && !list.is_empty()
        };
        let map = match method {
            Method::Sigmoid => Map::Sigmoid(lists.iter().map(single).collect::<Result<_>>()?),
            Method::Isotonic if lists.iter().all(rises) => Map::Isotonic(lists),
            Method::Temperature => match single(&lists[0])?[0] {
                t if t > 0.0 => Map::Temperature(t),
                _ => return Err(bad()),
            },
            Method::Isotonic => return Err(bad()),
        };
        Ok(Some(Calibration { map, fitted_on }))
    }
}

/// 1/(1 + exp(x)) and 1/(1 + exp(−x)).
pub(crate) fn both_sides(x: f64) -> [f64; 2] {
    let e = libm::exp(-x.abs());
    let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
    match x >= 0.0 {
        true => [small, large],
        false => [large, small],
    }
}

fn line([slope, intercept]: [f64; 2], score: f64) -> f64 {
    slope * score + intercept
}

/// The probability at a score, between points of a curve.
fn along(curve: &[[f64; 2]], score: f64) -> f64 {
    let after = curve.partition_point(|[s, _]| *s <= score);
    let (Some(before), Some(behind)) = (after.checked_sub(1), curve.get(after)) else {
        return curve[after.min(curve.len() - 1)][1];
    };
    let [[s, p], [t, q]] = [curve[before], *behind];
    // Halved, so that no difference is beyond all numbers.
    let share = (score / 2.0 - s / 2.0) / (t / 2.0 - s / 2.0);
    (p + (q - p) * share).clamp(p, q)
}

/// The scores of classes, row by row; of two classes the first has 0.
struct ClassScores {
    classes: usize,
    scores: Vec<f64>,
}

impl ClassScores {
    fn of(scheme: Scheme, scores: &[f64]) -> Self {
        let k = scheme.classes();
        let rows = scores.chunks_exact(scheme.discriminators());
        let mut found = vec![0.0; rows.len() * k];
        for (row, to) in rows.zip(found.chunks_exact_mut(k)) {
            match k {
                2 => to[1] = scheme.positive_score(row),
                _ => scheme.class_scores(row, to),
            }
        }
        ClassScores {
            classes: k,
            scores: found,
        }
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.scores.chunks_exact(self.classes)
    }

    /// The score of one class and whether the row is of it.
    fn against_rest(&self, class: usize, labels: &[u32]) -> Vec<(f64, bool)> {
        let rows = self.rows().zip(labels);
        rows.map(|(scores, &label)| (scores[class], label as usize == class))
            .collect()
    }
}

#[cfg(test)]
mod tests;
