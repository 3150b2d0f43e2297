//! `explain`: why rows have their classes, in the units of the file.

use std::fmt::Write;

use rosenblatt::data::FeatureNames;
use rosenblatt::model::{Explanation, Model, Reason};
use rosenblatt::read::Preparation;
use serde_json::{Value, json};

use super::batches;
use super::context::Context;
use crate::args::ExplainArgs;
use crate::output::{self, Done, Outcome};
use crate::render::numbers::{count, short};
use crate::render::table::{Align, clipped, columns};

pub fn run(context: Context, args: &ExplainArgs) -> Outcome {
    let (model, preparation) = super::load_model(&args.model)?;
    let names = Named::of(&model, preparation.as_ref());
    let mut batches = batches::open(
        context,
        &model,
        preparation.as_ref(),
        &args.data,
        &args.source,
    )?;
    let mut scorer = model.scorer();
    let (mut text, mut rows) = (String::new(), Vec::new());
    let mut left = args.rows;
    for batch in &mut batches {
        let batch = batch?;
        for i in 0..batch.matrix.rows().min(left) {
            let found = scorer.explain(batch.matrix.row(i), args.most);
            let row = batch.first_row + i + 1;
            match args.json {
                true => rows.push(names.json(&model, row, &found)),
                false => text.push_str(&names.text(&model, row, &found)),
            }
        }
        left -= batch.matrix.rows().min(left);
        if left == 0 {
            break;
        }
    }
    batches::report(context, batches.report());
    match args.json {
        true => output::print_json(&json!({ "rows": rows }))?,
        false => output::print(&text)?,
    }
    Ok(Done::Finished)
}

/// Contributions by the names and in the units of the file.
pub struct Named {
    names: FeatureNames,
    /// Whether values are those of the file.
    units: Option<Vec<(f64, f64)>>,
    /// Whether a feature says which category a cell has.
    is_level: Vec<bool>,
}

impl Named {
    pub fn of(model: &Model, preparation: Option<&Preparation>) -> Self {
        let names = preparation.map(Preparation::feature_names);
        let units = preparation.and_then(Preparation::units);
        Named {
            names: names.unwrap_or_default(),
            is_level: match preparation.map(Preparation::levels) {
                Some(levels) => levels,
                None => vec![false; model.features()],
            },
            units,
        }
    }

    /// The value of a feature in the units of the file, as far as they are known.
    fn original(&self, feature: usize, value: f64) -> f64 {
        match self.units.as_ref().and_then(|units| units.get(feature)) {
            // Features are stored in single precision: six digits are those of the file.
            Some((centre, scale)) => {
                let found = value * scale + centre;
                let (size, mut digits) = (found.abs() + scale.abs(), 1.0);
                while size * digits < 1e5 {
                    digits *= 10.0;
                }
                while size * digits >= 1e6 {
                    digits /= 10.0;
                }
                (found * digits).round() / digits
            }
            None => value,
        }
    }

    /// `age = 52` or `colour=red`.
    pub fn feature(&self, feature: usize, value: f64) -> String {
        let name = self.names.get(feature);
        match self.is_level.get(feature) {
            Some(true) => clipped(&name, 40),
            _ => format!(
                "{} = {}",
                clipped(&name, 40),
                short(self.original(feature, value))
            ),
        }
    }

    /// What a contribution is of.
    fn name(&self, found: &Explanation, of: usize, value: f64) -> String {
        match found.by {
            Reason::TrainingRows => format!("training row {}", of + 1),
            _ => self.feature(of, value),
        }
    }

    /// The contributions as cells of a line.
    pub fn cells(&self, found: &Explanation) -> Vec<String> {
        let each = found.contributions.iter();
        each.map(|c| format!("{} {}", self.name(found, c.of, c.value), signed(c.amount)))
            .collect()
    }

    fn text(&self, model: &Model, row: usize, found: &Explanation) -> String {
        let mut text = String::new();
        let class = |c: u32| clipped(model.classes.name(c), 30);
        let _ = write!(
            text,
            "row {}: {} rather than {}, score {}",
            count(row as u64),
            class(found.class),
            class(found.against),
            short(found.score)
        );
        if model.threshold.is_some() {
            text.push_str(", decided by the model's threshold");
        }
        let _ = match found.by {
            Reason::LeftOut => writeln!(text, "; by how much it falls without each feature:"),
            Reason::TrainingRows => writeln!(text, "; the leading training rows:"),
            Reason::Weights => writeln!(text),
        };
        let each = found.contributions.iter();
        let mut rows: Vec<Vec<String>> = each
            .map(|c| vec![self.name(found, c.of, c.value), signed(c.amount)])
            .collect();
        if found.by != Reason::LeftOut {
            let shown: f64 = found.contributions.iter().map(|c| c.amount).sum();
            let rest = found.score - found.bias - shown;
            if rest.abs() > 1e-9 * found.score.abs() {
                rows.push(vec!["all others".into(), signed(rest)]);
            }
            rows.push(vec!["bias".into(), signed(found.bias)]);
        }
        text.push_str(&columns(&rows, &[Align::Left, Align::Right], 2));
        text
    }

    fn json(&self, model: &Model, row: usize, found: &Explanation) -> Value {
        let each = found.contributions.iter();
        let contributions: Vec<Value> = each
            .map(|c| match found.by {
                Reason::TrainingRows => {
                    json!({"training_row": c.of + 1, "kernel": c.value, "amount": c.amount})
                }
                _ => json!({
                    "feature": self.names.get(c.of),
                    "value": self.original(c.of, c.value),
                    "amount": c.amount,
                }),
            })
            .collect();
        json!({
            "row": row,
            "class": model.classes.name(found.class),
            "against": model.classes.name(found.against),
            "score": found.score,
            "bias": found.bias,
            "by": found.by,
            "contributions": contributions,
        })
    }

    /// The weights and the bias that values in the units of the file have, where columns were
    /// scaled: of the features named, and of discriminator `d`.
    pub fn original_weights(&self, model: &Model, d: usize) -> Option<(f64, Vec<f64>)> {
        let (units, weights) = (self.units.as_ref()?, model.weights()?);
        if model.embedding.is_some() || units.iter().all(|unit| *unit == (0.0, 1.0)) {
            return None;
        }
        let mut bias = weights.bias(d);
        let each = units.iter().enumerate();
        let found = each.map(|(j, (centre, scale))| {
            let weight = weights.get(d, j) / scale;
            bias -= weight * centre;
            weight
        });
        let found = found.collect();
        Some((bias, found))
    }
}

fn signed(x: f64) -> String {
    match x > 0.0 {
        true => format!("+{}", short(x)),
        false => short(x),
    }
}
