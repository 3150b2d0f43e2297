//! `test`: how good a model is on labelled rows.

use std::fmt::Write;

use rosenblatt::Error;
use rosenblatt::metrics::Evaluation;
use rosenblatt::read::LabelFound;
use serde_json::json;

use super::batches;
use super::context::{Context, in_data};
use crate::args::TestArgs;
use crate::output::{self, Done, Outcome};
use crate::render::numbers::{count, counted, percent};
use crate::render::report::{Diagnostics, test_page};
use crate::render::table::{Align, clipped, columns};

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
    for batch in &mut batches {
        let batch = batch?;
        let labels = batch.labels.ok_or_else(|| {
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
        for (label, class) in labels.iter().zip(predicted) {
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
    if let Some(path) = &args.report {
        let names = preparation.map(|p| p.feature_names());
        let file = args.data.display().to_string();
        let page = test_page(&file, &model, &names.unwrap_or_default(), &diagnostics);
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
            "unknown_labels": evaluation.unknown().iter().map(|(label, n)| json!({"label": label, "examples": n})).collect::<Vec<_>>(),
        }))?;
    } else {
        output::print(&text(evaluation))?;
    }
    Ok(Done::Finished)
}

fn text(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    let accuracy = evaluation.accuracy().unwrap_or(0.0);
    let _ = writeln!(
        text,
        "accuracy {} ({} of {} correct), error {}",
        percent(accuracy),
        count(evaluation.right()),
        counted(evaluation.examples(), "example", "examples"),
        percent(1.0 - accuracy)
    );
    if let Some(auc) = evaluation.auc() {
        let _ = writeln!(
            text,
            "AUC {auc:.4}: the probability that a positive example scores above a negative one"
        );
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

/// The confusion matrix, with a line for labels that the model does not know.
fn confusion(evaluation: &Evaluation) -> String {
    let names: Vec<String> = evaluation
        .classes()
        .names()
        .iter()
        .map(|n| clipped(n, 14))
        .collect();
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
