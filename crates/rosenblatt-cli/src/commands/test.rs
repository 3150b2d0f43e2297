//! `test`: how good a model is on labelled rows.

mod drift;
mod importance;

use std::fmt::Write;
use std::path::Path;

use rosenblatt::Error;
use rosenblatt::data::{Dataset, FeatureNames, Layout};
use rosenblatt::metrics::{Evaluation, Metrics, mcnemar, wilson};
use rosenblatt::model::{Fingerprint, Model};
use rosenblatt::read::{Batch, LabelFound};
use serde::Serialize;
use serde_json::json;

use super::batches;
use super::context::{Context, in_data};
use crate::args::TestArgs;
use crate::output::{self, Done, Outcome};
use crate::render::decision::{Decided, listed};
use crate::render::numbers::{count, counted, percent, short};
use crate::render::report::{Diagnostics, test_page};
use crate::render::table::{Align, clipped, columns};
use crate::render::train::{figures, interval};
use drift::Moments;
use importance::Permutations;

/// Classes whose confusion matrix is printed; that of more would not fit on a screen.
const MOST_CLASSES: usize = 30;

pub fn run(context: Context, args: &TestArgs) -> Outcome {
    let (model, preparation) = super::load_model(&args.model)?;
    if let Some(path) = &args.report {
        output::check_page(path, &[&args.data, &args.model])?;
    }
    let mut batches = batches::open(
        context,
        &model,
        preparation.as_ref(),
        &args.data,
        &args.source,
    )?;
    let mut diagnostics = Diagnostics::new(&model, context.threads);
    let (mut seen, mut right) = (Seen::default(), Vec::new());
    let mut moments = Moments::new(preparation.as_ref());
    let mut permutations = match (args.importance, &preparation) {
        (Some(times), Some(preparation)) => Some(Permutations::new(preparation, times)?),
        _ => None,
    };
    for batch in &mut batches {
        let batch = batch?;
        let labels = batch.labels.clone().ok_or_else(|| {
            Error::data("the rows have no labels, so there is nothing to test against")
                .in_file(&args.data)
                .remedy("use predict, or give --label or --labels")
        })?;
        let known = |i: usize| match labels[i] {
            LabelFound::Class(class) => Some(class),
            _ => None,
        };
        let predicted = diagnostics
            .add(&batch.matrix, known, |i| batch.first_row + i)
            .map_err(|e| in_data(e, &args.data))?;
        seen.look(&model, &batch, &labels);
        moments.add(&batch.matrix);
        if let Some(permutations) = &mut permutations {
            permutations.add(&batch, &labels);
        }
        for (label, class) in labels.iter().zip(predicted) {
            right.push(*label == LabelFound::Class(class));
            match label {
                LabelFound::Class(_) => {}
                LabelFound::Unknown(text) => diagnostics.evaluation.count_unknown(text, class),
                LabelFound::Absent => diagnostics.evaluation.count_unknown("", class),
            }
        }
    }
    let evaluation = &diagnostics.evaluation;
    batches::report(context, batches.report());
    if evaluation.examples() == 0 {
        return Err(Error::data("there are no rows to test on")
            .in_file(&args.data)
            .into());
    }
    let chosen = seen.chosen(&model);
    let seen = seen.finding(&model);
    let other = match &args.compare {
        Some(path) => Some(compare(context, args, path, &right)?),
        None => None,
    };
    let metrics = evaluation.metrics(model.options.seed);
    let drifts = moments.drifts();
    let importance = match &permutations {
        Some(permutations) => {
            let found = permutations.find(&model, context.threads);
            Some(found.map_err(|e| in_data(e, &args.data))?)
        }
        None => None,
    };
    let listed = permutations.zip(importance.as_ref());
    let listed = listed.map(|(permutations, found)| permutations.text(&model, found));
    let said: Vec<String> = (seen.as_ref().map(SeenFinding::text).into_iter())
        .chain(chosen.as_deref().map(chosen_text))
        .chain(drift::text(&drifts))
        .chain(other.as_ref().map(Comparison::text))
        .collect();
    if let Some(path) = &args.report {
        let names = preparation.map(|p| p.feature_names());
        let file = args.data.display().to_string();
        let names = names.unwrap_or_default();
        let line = importance
            .as_ref()
            .map(|found| Permutations::line(&model, found));
        let said: Vec<String> = said.iter().cloned().chain(line).collect();
        let page = test_page(&file, &model, &names, &diagnostics, &said);
        output::write_bytes(path, page.as_bytes())?;
    }
    if args.json {
        let accuracy = evaluation.accuracy();
        output::print_json(&json!({
            "examples": evaluation.examples(),
            "accuracy": accuracy,
            "error": accuracy.map(|a| 1.0 - a),
            "classes": model.classes.names(),
            "confusion": evaluation.confusion(),
            "predicted_for_unknown_labels": evaluation.predicted_for_unknown(),
            "by_class": evaluation.by_class(),
            "auc": evaluation.auc(),
            "metrics": metrics,
            "trained_on": seen,
            "chosen_on": chosen,
            "compare": other,
            "drift": drifts,
            "importance": importance,
            "log_loss": evaluation.log_loss(),
            "brier": evaluation.brier(),
            "unknown_labels": evaluation.unknown().iter().map(|(label, n)| json!({"label": label, "examples": n})).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut lines = text(evaluation, metrics.as_ref());
        if let Some(listed) = listed {
            let _ = write!(lines, "\n{listed}");
        }
        for line in said {
            let _ = write!(lines, "\n{line}\n");
        }
        output::print(&lines)?;
    }
    Ok(Done::Finished)
}

fn text(evaluation: &Evaluation, metrics: Option<&Metrics>) -> String {
    let mut text = String::new();
    let accuracy = evaluation.accuracy().unwrap_or(0.0);
    let _ = writeln!(
        text,
        "accuracy {} ({} of {} correct; 95 % interval {}), error {}",
        percent(accuracy),
        count(evaluation.right()),
        counted(evaluation.examples(), "example", "examples"),
        interval(wilson(evaluation.right(), evaluation.examples())),
        percent(1.0 - accuracy)
    );
    for line in metrics.map(figures).unwrap_or_default() {
        let _ = writeln!(text, "{line}");
    }
    if !evaluation.unknown().is_empty() {
        let shown: Vec<String> = evaluation
            .unknown()
            .iter()
            .take(10)
            .map(|(l, n)| format!("{l:?} × {}", count(*n)))
            .collect();
        let more = evaluation.unknown().len().saturating_sub(10);
        let _ = writeln!(
            text,
            "{} with labels unseen in training, counted as errors: {}{}",
            counted(evaluation.unknown_examples(), "example", "examples"),
            shown.join(", "),
            if more > 0 {
                format!(" and {more} more labels")
            } else {
                String::new()
            }
        );
    }
    let figure = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
    let mut rows = vec![
        ["class", "examples", "precision", "recall", "F1"]
            .map(String::from)
            .to_vec(),
    ];
    for class in evaluation.by_class() {
        rows.push(vec![
            clipped(&class.class, 30),
            count(class.examples),
            figure(class.precision),
            figure(class.recall),
            figure(class.f1),
        ]);
    }
    text.push('\n');
    text.push_str(&columns(
        &rows,
        &[
            Align::Left,
            Align::Right,
            Align::Right,
            Align::Right,
            Align::Right,
        ],
        0,
    ));
    if evaluation.classes().len() <= MOST_CLASSES {
        text.push('\n');
        text.push_str(&confusion(evaluation));
    }
    text
}

/// How many rows the model was trained on.
#[derive(Default)]
struct Seen {
    /// Rows that it would know.
    looked_at: u64,
    /// Of these, those that it knows.
    found: u64,
    rows: u64,
    /// What the rows would add to the fingerprint of all.
    hash: u64,
}

/// That rows were trained on.
#[derive(Serialize)]
struct SeenFinding {
    /// Rows that the model knows, label included.
    rows: u64,
    /// Of so many that it would know.
    of: u64,
}

impl Seen {
    fn look(&mut self, model: &Model, batch: &Batch, labels: &[LabelFound]) {
        let class = |label: &LabelFound| match label {
            LabelFound::Class(class) => Some(*class),
            _ => None,
        };
        if let Some(rows) = &model.seen_rows {
            for (i, label) in labels.iter().enumerate() {
                let Some(class) = class(label) else { continue };
                if let Some(found) = rows.contains(batch.matrix.row(i), class) {
                    self.looked_at += 1;
                    self.found += u64::from(found);
                }
            }
        }
        let by_hash = model.seen_rows.is_none() || model.chosen_on.is_some();
        if by_hash && let Some(labels) = labels.iter().map(class).collect::<Option<Vec<u32>>>() {
            let part = Dataset {
                matrix: batch.matrix.clone(),
                labels,
                classes: model.classes.clone(),
                weights: None,
                names: FeatureNames::default(),
                layout: Layout::AsGiven,
            };
            let (hash, _) = Fingerprint::of_part(&part, batch.first_row);
            self.hash = self.hash.wrapping_add(hash);
        }
        self.rows += labels.len() as u64;
    }

    /// What of the model was chosen on these very rows, if anything was.
    fn chosen(&self, model: &Model) -> Option<Vec<&'static str>> {
        let rows = model.chosen_on?;
        (rows.examples == self.rows && rows.hash == self.hash).then(|| {
            let pass = model.progress.best.is_some() && model.options.keeps_best_pass();
            let pass = pass.then_some("the pass");
            let decided = Decided::of(model).chosen_on_held_out();
            pass.into_iter().chain(decided).collect()
        })
    }

    /// What is worth saying.
    fn finding(self, model: &Model) -> Option<SeenFinding> {
        let trained_on = &model.trained_on;
        if self.looked_at == 0 && self.rows == trained_on.examples && self.hash == trained_on.hash {
            let rows = self.rows;
            return Some(SeenFinding { rows, of: rows });
        }
        (self.found > 0).then_some(SeenFinding {
            rows: self.found,
            of: self.looked_at,
        })
    }
}

fn chosen_text(chosen: &[&str]) -> String {
    format!(
        "warning: these rows chose {} of the model, so the figures flatter; test on other rows",
        listed(chosen)
    )
}

impl SeenFinding {
    fn text(&self) -> String {
        if self.rows == self.of {
            return "warning: the model was trained on these rows, so the figures say little about new ones; hold rows out with train --validate, and keep them with --save-split".into();
        }
        format!(
            "note: {} of {} equal rows that the model was trained on, label included; where these are the same cases, the figures flatter",
            percent(self.rows as f64 / self.of as f64),
            counted(self.of, "row looked up", "rows looked up"),
        )
    }
}

/// Two models on the same rows.
#[derive(Serialize)]
struct Comparison {
    model: String,
    accuracy: f64,
    /// Rows that the tested model alone has right.
    only_this: u64,
    /// Rows that the other alone has right.
    only_other: u64,
    /// Of McNemar's exact test.
    p_value: f64,
}

/// Compares with the model in a file; `right` says which rows the tested one has right.
fn compare(
    context: Context,
    args: &TestArgs,
    path: &Path,
    right: &[bool],
) -> rosenblatt::Result<Comparison> {
    let (model, preparation) = super::load_model(path)?;
    let preparation = preparation.as_ref();
    let mut others = Vec::with_capacity(right.len());
    for batch in batches::open(context, &model, preparation, &args.data, &args.source)? {
        let batch = batch?;
        let predicted = model.predict(&batch.matrix, context.threads)?;
        // A label is the same for both by its name.
        let labels = batch.labels.unwrap_or_default();
        others.extend((labels.iter().zip(predicted)).map(|(l, c)| *l == LabelFound::Class(c)));
    }
    if others.len() != right.len() {
        return Err(Error::data(format!(
            "{} reads {} rows of the file, not {}",
            path.display(),
            others.len(),
            right.len()
        ))
        .remedy("compare models that read the file alike"));
    }
    let only = |a: &[bool], b: &[bool]| a.iter().zip(b).filter(|(a, b)| **a && !**b).count() as u64;
    let (only_this, only_other) = (only(right, &others), only(&others, right));
    let hits = others.iter().filter(|r| **r).count();
    Ok(Comparison {
        model: path.display().to_string(),
        accuracy: hits as f64 / others.len().max(1) as f64,
        only_this,
        only_other,
        p_value: mcnemar(only_this, only_other),
    })
}

impl Comparison {
    fn text(&self) -> String {
        let verdict = match self.p_value < 0.05 {
            true => "chance alone would seldom make such a difference",
            false => "chance alone may make such a difference",
        };
        format!(
            "compared with {}: its accuracy is {}; {} right by this model alone, {} by the other alone; McNemar's exact test p = {}: {verdict}",
            self.model,
            percent(self.accuracy),
            counted(self.only_this, "row", "rows"),
            count(self.only_other),
            short(self.p_value)
        )
    }
}

/// The confusion matrix, with a line for labels that the model does not know.
fn confusion(evaluation: &Evaluation) -> String {
    let names = distinct_heads(evaluation.classes().names());
    let mut rows = vec![
        std::iter::once("truth \\ predicted".to_owned())
            .chain(names.iter().cloned())
            .collect::<Vec<_>>(),
    ];
    for (name, counts) in names.iter().zip(evaluation.confusion()) {
        rows.push(
            std::iter::once(name.clone())
                .chain(counts.iter().map(|&n| count(n)))
                .collect(),
        );
    }
    if !evaluation.unknown().is_empty() {
        let counts = evaluation.predicted_for_unknown().iter();
        rows.push(
            std::iter::once("(unseen)".to_owned())
                .chain(counts.map(|&n| count(n)))
                .collect(),
        );
    }
    let mut align = vec![Align::Right; names.len() + 1];
    align[0] = Align::Left;
    columns(&rows, &align, 0)
}

/// Names short enough for the heads of columns. Where they would look alike, their ends are shown,
/// or else their numbers before them.
fn distinct_heads(names: &[String]) -> Vec<String> {
    const WIDTH: usize = 14;
    let distinct = |heads: &[String]| {
        let set: std::collections::BTreeSet<&String> = heads.iter().collect();
        set.len() == heads.len()
    };
    let starts: Vec<String> = names.iter().map(|n| clipped(n, WIDTH)).collect();
    if distinct(&starts) {
        return starts;
    }
    let end = |name: &String| match name.chars().count() > WIDTH {
        true => {
            let skipped = name.chars().count() + 1 - WIDTH;
            let rest: String = name.chars().skip(skipped).collect();
            format!("…{}", clipped(&rest, WIDTH))
        }
        false => clipped(name, WIDTH),
    };
    let ends: Vec<String> = names.iter().map(end).collect();
    if distinct(&ends) {
        return ends;
    }
    let numbered = (1..).zip(names);
    numbered
        .map(|(i, name)| clipped(&format!("{i} {name}"), WIDTH))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::distinct_heads;

    #[test]
    fn no_two_columns_of_the_confusion_matrix_have_one_head() {
        let heads = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
            distinct_heads(&names)
        };
        assert_eq!(heads(&["yes", "no"]), ["yes", "no"]);
        let long = ["comp.sys.ibm.pc.hardware", "comp.sys.ibm.mac.hardware"];
        for names in [
            &[
                "customer left early",
                "customer left late",
                "customer left never",
            ][..],
            &long,
        ] {
            let found = heads(names);
            let set: std::collections::BTreeSet<&String> = found.iter().collect();
            assert_eq!(set.len(), names.len(), "{found:?}");
            assert!(
                found.iter().all(|head| head.chars().count() <= 14),
                "{found:?}"
            );
        }
    }
}
