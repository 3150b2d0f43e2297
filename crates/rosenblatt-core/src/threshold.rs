//! The decision between two classes: from which score on it is the positive one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::calibration::ChosenOn;
use crate::error::{Error, Result};
use crate::model::Parts;

/// What a threshold is chosen by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ThresholdRule {
    /// It is this: a probability where the model gives such, else a score.
    Value(f64),
    /// The largest F1 of the positive class.
    F1,
    /// The least cost: of a false alarm and of a miss.
    Cost {
        /// What a negative row costs that is predicted positive.
        false_positive: f64,
        /// What a positive row costs that is predicted negative.
        false_negative: f64,
    },
    /// At least this precision of the positive class, and then the largest recall.
    Precision(f64),
    /// At least this recall of the positive class, and then the largest precision.
    Recall(f64),
}

impl FromStr for ThresholdRule {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected = || {
            "expected a number, f1, cost:FP=COST,FN=COST, precision:SHARE or recall:SHARE"
                .to_owned()
        };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let share = |text: &str| {
            let share = number(text).filter(|x| *x > 0.0 && *x <= 1.0);
            share.ok_or_else(|| "expected a share above 0 and at most 1, such as 0.9".to_owned())
        };
        match text.split_once(':') {
            None if text == "f1" => Ok(ThresholdRule::F1),
            None => number(text).map(ThresholdRule::Value).ok_or_else(expected),
            Some(("precision", text)) => share(text).map(ThresholdRule::Precision),
            Some(("recall", text)) => share(text).map(ThresholdRule::Recall),
            Some(("cost", text)) => {
                let (mut fp, mut fn_) = (None, None);
                for part in text.split(',') {
                    let cost = |text: &str| number(text).filter(|c| *c > 0.0);
                    match part.split_once('=') {
                        Some(("FP", text)) if fp.is_none() => fp = cost(text),
                        Some(("FN", text)) if fn_.is_none() => fn_ = cost(text),
                        _ => return Err(expected()),
                    }
                }
                let both = fp.zip(fn_);
                let both =
                    both.ok_or_else(|| "expected two costs above 0, cost:FP=1,FN=10".to_owned());
                both.map(|(false_positive, false_negative)| ThresholdRule::Cost {
                    false_positive,
                    false_negative,
                })
            }
            Some(_) => Err(expected()),
        }
    }
}

impl fmt::Display for ThresholdRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThresholdRule::Value(value) => write!(f, "{value}"),
            ThresholdRule::F1 => f.write_str("f1"),
            ThresholdRule::Cost {
                false_positive,
                false_negative,
            } => write!(f, "cost:FP={false_positive},FN={false_negative}"),
            ThresholdRule::Precision(share) => write!(f, "precision:{share}"),
            ThresholdRule::Recall(share) => write!(f, "recall:{share}"),
        }
    }
}

impl ThresholdRule {
    /// Whether rows are needed to find it.
    pub fn needs_rows(self) -> bool {
        !matches!(self, ThresholdRule::Value(_))
    }

    /// The score from which on rows count as positive, given the scores of rows and whether they
    /// are; of equally good ones the highest. It lies midway to the next lower score.
    ///
    /// # Errors
    /// Without rows of both classes, and where no threshold reaches the precision.
    fn choose(self, rows: &[(f64, bool)]) -> Result<f64> {
        let mut ranked = rows.to_vec();
        ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let all = ranked.iter().filter(|(_, up)| *up).count() as f64;
        if all == 0.0 || all == ranked.len() as f64 {
            return Err(
                Error::data("the rows for the threshold are not of both classes")
                    .remedy("hold out more rows"),
            );
        }
        // How good it is to predict positive so many rows, hits and false alarms.
        let worth = |hits: f64, alarms: f64| -> Option<f64> {
            let (precision, recall) = (hits / (hits + alarms), hits / all);
            match self {
                ThresholdRule::F1 => Some(2.0 * hits / (hits + alarms + all)),
                ThresholdRule::Cost {
                    false_positive,
                    false_negative,
                } => Some(-(false_positive * alarms + false_negative * (all - hits))),
                ThresholdRule::Precision(least) => (precision >= least).then_some(recall),
                ThresholdRule::Recall(least) => (recall >= least).then_some(precision),
                ThresholdRule::Value(_) => None,
            }
        };
        let (mut hits, mut alarms, mut seen) = (0.0, 0.0, 0);
        // To predict none may cost least.
        let mut best = match self {
            ThresholdRule::Cost { .. } => worth(0.0, 0.0).map(|worth| (worth, 0)),
            _ => None,
        };
        let mut precision: f64 = 0.0;
        for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
            let up = tied.iter().filter(|(_, up)| *up).count() as f64;
            (hits, alarms) = (hits + up, alarms + tied.len() as f64 - up);
            seen += tied.len();
            precision = precision.max(hits / (hits + alarms));
            let here = worth(hits, alarms);
            if let Some(worth) = here.filter(|w| best.is_none_or(|(most, _)| *w > most)) {
                best = Some((worth, seen));
            }
        }
        let (_, positive) = best.ok_or_else(|| {
            Error::data(format!(
                "no threshold reaches ⟨threshold {self}⟩ on these rows: the highest precision is {precision:.3}"
            ))
            .remedy("ask for less")
        })?;
        Ok(match (positive.checked_sub(1), ranked.get(positive)) {
            (None, _) => ranked[0].0.next_up(),
            (Some(last), None) => ranked[last].0,
            (Some(last), Some(next)) => {
                let middle = ranked[last].0 / 2.0 + next.0 / 2.0;
                match middle > next.0 {
                    true => middle,
                    false => ranked[last].0,
                }
            }
        })
    }
}

/// What a threshold is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdOf {
    /// The score of the positive class.
    Score,
    /// The probability of the positive class.
    Probability,
}

/// From where on the class is the positive one.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// What it was chosen by.
    pub rule: ThresholdRule,
    /// Of this or more is the positive class.
    pub value: f64,
    /// What is compared with it.
    pub of: ThresholdOf,
    /// The rows that it was chosen on, where it was not given.
    pub chosen_on: Option<ChosenOn>,
}

impl Threshold {
    /// A threshold of scores, chosen on rows: their scores, and whether they are positive.
    ///
    /// # Errors
    /// Without rows of both classes, and where no threshold reaches the precision asked for.
    pub fn choose(rule: ThresholdRule, rows: &[(f64, bool)], held_out: bool) -> Result<Self> {
        Ok(Threshold {
            rule,
            value: rule.choose(rows)?,
            of: ThresholdOf::Score,
            chosen_on: Some(ChosenOn {
                examples: rows.len() as u64,
                held_out,
            }),
        })
    }

    pub(crate) fn put(&self, parts: &mut Parts<'_>) {
        parts.put_fact("threshold", self.rule.to_string());
        parts.put_fact("threshold.of", self.of);
        parts.put_fact("threshold.chosen_on", self.chosen_on);
        parts.put("threshold.value", vec![self.value]);
    }

    pub(crate) fn take(parts: &mut Parts<'_>) -> Result<Option<Self>> {
        if !parts.has_fact("threshold") {
            return Ok(None);
        }
        let bad = |what: String| {
            Error::model(format!(
                "the model file is not valid: its threshold: {what}"
            ))
            .remedy("take it from its source again, or train it anew")
        };
        let rule: String = parts.take_fact("threshold")?;
        let value: Vec<f64> = parts.take_len("threshold.value", 1)?;
        if !value[0].is_finite() {
            return Err(bad(format!("{} is no number to compare with", value[0])));
        }
        Ok(Some(Threshold {
            rule: rule.parse().map_err(bad)?,
            value: value[0],
            of: parts.take_fact("threshold.of")?,
            chosen_on: parts.take_fact("threshold.chosen_on")?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    #[test]
    fn rules_read_back_as_written_and_nonsense_is_refused() {
        for text in [
            "0.3",
            "-2",
            "f1",
            "cost:FP=1,FN=10",
            "precision:0.9",
            "recall:1",
        ] {
            let rule: ThresholdRule = text.parse().unwrap();
            assert_eq!(rule.to_string(), text);
            assert_eq!(rule.needs_rows(), text.parse::<f64>().is_err());
        }
        for text in [
            "",
            "F1",
            "nan",
            "cost:FP=1",
            "cost:FP=0,FN=1",
            "cost:FN=1,FP=1,FP=1",
            "recall:0",
            "precision:1.1",
            "accuracy:0.5",
        ] {
            let refused = text.parse::<ThresholdRule>().unwrap_err();
            assert!(refused.starts_with("expected"), "{text}: {refused}");
        }
    }

    /// By every threshold there is.
    #[test]
    fn what_is_chosen_is_the_best() {
        let mut random = Random::new(1, Stream::Sample, 0);
        for round in 0..60 {
            let rows: Vec<(f64, bool)> = (0..5 + round)
                .map(|i| {
                    let up = i % 3 == 0;
                    let score = (random.normal() + f64::from(u8::from(up))) * 2.0;
                    (score.round(), up)
                })
                .collect();
            let at = |t: f64| {
                let count = |up: bool| rows.iter().filter(|r| r.0 >= t && r.1 == up).count() as f64;
                (count(true), count(false))
            };
            let all = rows.iter().filter(|r| r.1).count() as f64;
            let thresholds: Vec<f64> = (-20..=20).map(|i| f64::from(i) / 2.0 + 0.25).collect();
            for text in [
                "f1",
                "cost:FP=1,FN=3",
                "cost:FP=9,FN=1",
                "precision:0.4",
                "recall:0.7",
            ] {
                let rule: ThresholdRule = text.parse().unwrap();
                let worth = |t: f64| {
                    let (hits, alarms) = at(t);
                    let precision = if hits > 0.0 {
                        hits / (hits + alarms)
                    } else {
                        0.0
                    };
                    let recall = hits / all;
                    match text.split(':').next().unwrap() {
                        "f1" => 2.0 * hits / (hits + alarms + all),
                        "precision" if precision >= 0.4 => recall,
                        "recall" if recall >= 0.7 => precision,
                        "cost" if text.contains("FN=3") => -(alarms + 3.0 * (all - hits)),
                        "cost" => -(9.0 * alarms + (all - hits)),
                        _ => f64::NEG_INFINITY,
                    }
                };
                let best = thresholds
                    .iter()
                    .map(|t| worth(*t))
                    .fold(f64::NEG_INFINITY, f64::max);
                match Threshold::choose(rule, &rows, true) {
                    Ok(found) => assert_eq!(worth(found.value), best, "{text} {rows:?}"),
                    Err(e) => {
                        assert!(
                            text.starts_with("precision") && best == f64::NEG_INFINITY,
                            "{e}"
                        );
                        assert!(e.to_string().contains("highest precision"), "{e}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_class_alone_and_the_ends_of_the_numbers() {
        assert!(Threshold::choose(ThresholdRule::F1, &[(1.0, true)], true).is_err());
        let rows = [(1e308, false), (-1e308, true)];
        let found = Threshold::choose(ThresholdRule::F1, &rows, true).unwrap();
        assert_eq!(found.value, -1e308);
        let dear = "cost:FP=9,FN=1".parse().unwrap();
        let none = Threshold::choose(dear, &rows, true).unwrap();
        assert!(none.value > 1e308 && none.value.is_finite());
    }
}
