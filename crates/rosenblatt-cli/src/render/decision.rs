//! How a model's scores become probabilities, and from where on its class is the positive one.

use rosenblatt::calibration::{ChosenOn, Method};
use rosenblatt::model::Model;
use rosenblatt::options::choice_name;
use rosenblatt::threshold::{ThresholdOf, ThresholdRule};
use serde::Serialize;

use super::numbers::{counted, short};
use super::table::clipped;

/// What was decided after training.
#[derive(Debug, Clone, Serialize)]
pub struct Decided {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibrated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Thresholded>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Calibrated {
    method: &'static str,
    fitted_on: ChosenOn,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// Slope and intercept.
    #[serde(skip_serializing_if = "Option::is_none")]
    sigmoid: Option<[f64; 2]>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Thresholded {
    rule: String,
    value: f64,
    of: ThresholdOf,
    /// The class of all rows at or above it.
    positive: String,
    /// The probability there, where the threshold is of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    chosen_on: Option<ChosenOn>,
}

impl Decided {
    pub fn of(model: &Model) -> Self {
        let calibration = model.calibration.as_ref().map(|c| Calibrated {
            method: choice_name(c.method()),
            fitted_on: c.fitted_on,
            temperature: c.temperature(),
            sigmoid: c.sigmoid(),
        });
        let threshold = model.threshold.as_ref().map(|t| {
            let score =
                (t.of == ThresholdOf::Score && model.has_probabilities()).then_some(t.value);
            let probability = score.map(|score| {
                let mut p = [0.0; 2];
                let scores = [0.0, score];
                // Two discriminators decide by their difference.
                let scores = &scores[2 - model.scheme.discriminators()..];
                model.probabilities_of(scores, &mut p);
                p[1]
            });
            Thresholded {
                rule: t.rule.to_string(),
                value: t.value,
                of: t.of,
                positive: model.classes.name(1).to_owned(),
                probability,
                chosen_on: t.chosen_on,
            }
        });
        Decided {
            calibration,
            threshold,
        }
    }

    /// What was decided, each with its heading.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let calibration = self.calibration.as_ref().map(Calibrated::text);
        let threshold = self.threshold.as_ref().map(Thresholded::text);
        let both = [("scores", calibration), ("threshold", threshold)];
        (both.into_iter())
            .filter_map(|(name, text)| Some((name, text?)))
            .collect()
    }

    /// What the held-out rows chose, which figures on them therefore flatter.
    pub fn chosen_on_held_out(&self) -> Vec<&'static str> {
        let held_out = |rows: Option<ChosenOn>| rows.is_some_and(|rows| rows.held_out);
        let calibration = self.calibration.as_ref().map(|c| c.fitted_on);
        let threshold = self.threshold.as_ref().and_then(|t| t.chosen_on);
        let both = [
            ("the calibration", calibration),
            ("the threshold", threshold),
        ];
        (both.into_iter())
            .filter_map(|(name, rows)| held_out(rows).then_some(name))
            .collect()
    }
}

fn rows(on: ChosenOn) -> String {
    let rows = counted(on.examples, "row", "rows");
    match on.held_out {
        true => rows.replace(" row", " held-out row"),
        false => format!("{rows} scored in cross-validation"),
    }
}

impl Calibrated {
    fn text(&self) -> String {
        let how = match (self.sigmoid, self.temperature) {
            (Some([slope, intercept]), _) => format!(
                "by the sigmoid 1/(1 + exp(−({}·score {} {})))",
                short(slope),
                if intercept < 0.0 { "−" } else { "+" },
                short(intercept.abs())
            ),
            (_, Some(temperature)) => format!("by the temperature {}", short(temperature)),
            _ if self.method == choice_name(Method::Isotonic) => "by isotonic regression".into(),
            _ => "by a sigmoid for each class against the rest".into(),
        };
        format!("calibrated {how}, fitted on {}", rows(self.fitted_on))
    }
}

impl Thresholded {
    fn text(&self) -> String {
        let of = match self.of {
            ThresholdOf::Score => "score",
            ThresholdOf::Probability => "probability",
        };
        let mut text = format!(
            "{} where the {of} is at least {}",
            clipped(&self.positive, 30),
            short(self.value)
        );
        if let Some(p) = self.probability {
            text.push_str(&format!(" (probability {p:.3})"));
        }
        match self.chosen_on {
            Some(on) => {
                let by = match self.rule.parse() {
                    Ok(ThresholdRule::F1) => "for the largest F1".to_owned(),
                    Ok(ThresholdRule::Precision(share)) => {
                        format!("for the largest recall at a precision of at least {share}")
                    }
                    Ok(ThresholdRule::Recall(share)) => {
                        format!("for the largest precision at a recall of at least {share}")
                    }
                    Ok(ThresholdRule::Cost {
                        false_positive,
                        false_negative,
                    }) => format!(
                        "for the least cost, {} for a false positive and {} for a false negative",
                        short(false_positive),
                        short(false_negative)
                    ),
                    _ => format!("by {}", self.rule),
                };
                text.push_str(&format!(", chosen {by} on {}", rows(on)));
            }
            None => text.push_str(", as given"),
        }
        text
    }
}

/// The words joined as a list in a sentence.
pub fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
