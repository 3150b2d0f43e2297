//! A training run or a test as one self-contained page.

mod diagnostics;
mod figures;

pub use diagnostics::Diagnostics;

use rosenblatt::Wording;
use rosenblatt::data::FeatureNames;
use rosenblatt::metrics::Evaluation;
use rosenblatt::model::Model;
use rosenblatt::report::{Discriminator, TrainReport, largest_weights};
use rosenblatt_plot::html::{Page, Table};

use super::numbers::{count, counted, percent, seconds, short};
use super::table::clipped;
use super::train;
use crate::summary::TrainSummary;

/// Classes whose confusions are drawn; more are listed.
const CLASSES_DRAWN: usize = 25;
/// Discriminators whose weights are drawn.
const WEIGHTS_DRAWN: usize = 12;
/// Lines of a long table.
const LINES: usize = 60;

/// The page of a training run. `diagnostics` holds what the model says about the training examples,
/// where that was worth asking, and about the held-out ones, where there are any.
pub fn train_page(
    summary: &TrainSummary,
    model: &Model,
    names: &FeatureNames,
    diagnostics: [Option<&Diagnostics<'_>>; 2],
) -> String {
    let report = &summary.report;
    let [training, held_out] = diagnostics;
    let mut page = Page::new(format!("Trained on {}", file_name(&summary.data.file)))
        .contents()
        .note(trust(report))
        .facts(facts(summary));
    for note in &report.notes {
        page = page.paragraph(format!("Note: {}.", note.as_command_line()));
    }
    page = data_section(page, summary);
    page = page
        .heading("Passes")
        .paragraph(format!("The run {}.{}", stopped(report), kept(report)))
        .figure(&figures::passes(report));
    if matches!(report.learner, "perceptron" | "kernel") {
        page = page
            .subheading("Mistakes against the bound")
            .paragraph(format!("{}.", train::updates(report)));
        if let Some(figure) = figures::against_bound(report) {
            page = page.figure(&figure);
        }
    }
    for (name, line) in summary.decided.lines() {
        let line = format!("{}: {line}.", capital(name));
        page = page.paragraph(line);
    }
    page = (train::flattered(summary).into_iter()).fold(page, |page, line| {
        page.paragraph(format!("{}.", capital(&line)))
    });
    if let Some(shown) = held_out.or(training) {
        let whose = match held_out {
            Some(_) => "held-out",
            None => "training",
        };
        page = page.heading(format!("On the {whose} examples"));
        page = answers(page, shown);
        let both: Vec<(&str, &Diagnostics<'_>)> = [("training", training), ("held out", held_out)]
            .into_iter()
            .filter_map(|(name, diagnostics)| Some((name, diagnostics?)))
            .collect();
        page = page.figure(&figures::margins(&both));
        page = regions(page, summary.scaling, model, names, shown);
        page = weights(page, model, names, &report.largest_weights);
        page = hardest(page, model, names, shown, &format!("{whose} examples"));
    } else {
        page = weights(page, model, names, &report.largest_weights);
    }
    page.html()
}

/// The page of a test.
pub fn test_page(
    file: &str,
    model: &Model,
    names: &FeatureNames,
    diagnostics: &Diagnostics<'_>,
    said: &[String],
) -> String {
    let evaluation = &diagnostics.evaluation;
    let most = majority(evaluation);
    let accuracy = evaluation.accuracy().unwrap_or(0.0);
    let mut page = Page::new(format!("Tested on {}", file_name(file)))
        .contents()
        .note(format!(
            "On {} the accuracy is {}; the majority-class baseline is {}.",
            counted(evaluation.examples(), "example", "examples"),
            percent(accuracy),
            percent(most)
        ))
        .facts([
            ("examples", count(evaluation.examples())),
            ("accuracy", percent(accuracy)),
            ("error", percent(1.0 - accuracy)),
            ("majority-class baseline", percent(most)),
            (
                "area under the ROC curve",
                evaluation
                    .auc()
                    .map_or_else(|| "–".into(), |a| format!("{a:.4}")),
            ),
            ("learner", model.options.learner.name().to_owned()),
        ]);
    for line in said {
        page = page.paragraph(format!("{line}."));
    }
    if evaluation.unknown_examples() > 0 {
        page = page.paragraph(format!(
            "{} with labels unseen in training count as errors.",
            counted(evaluation.unknown_examples(), "example", "examples")
        ));
    }
    page = answers(page.heading("Predictions"), diagnostics);
    page = page.figure(&figures::margins(&[("tested", diagnostics)]));
    page = regions(page, train::scaling_of(model), model, names, diagnostics);
    page = weights(page, model, names, &largest_weights(model, names, 10));
    hardest(page, model, names, diagnostics, "tested examples").html()
}

/// What a reader should think of the accuracy, from the numbers.
fn trust(report: &TrainReport) -> String {
    let baseline = format!(
        "the majority-class baseline is {}",
        percent(report.majority_accuracy)
    );
    match (&report.validation, report.train_accuracy) {
        (Some(held), _) => format!(
            "The accuracy on {} held out of training is {}; {baseline}.",
            counted(held.examples, "example", "examples"),
            percent(held.accuracy)
        ),
        (None, Some(accuracy)) => format!(
            "The accuracy on the training examples is {}; {baseline}. The accuracy on new examples is unknown: hold some out with --validate, or test on another file.",
            percent(accuracy)
        ),
        (None, None) => format!("No accuracy was measured; {baseline}."),
    }
}

fn stopped(report: &TrainReport) -> String {
    match report.stop {
        "separated" => {
            "ended separated: a sweep over all examples found every one on its correct side".into()
        }
        _ => format!(
            "ended after {}: {}",
            counted(report.epochs, "pass", "passes"),
            report.stop_reason
        ),
    }
}

/// Which pass became the model, where held-out examples chose it.
fn kept(report: &TrainReport) -> String {
    let best = report.best_epoch;
    best.map_or_else(String::new, |best| {
        format!(" Kept is {}.", train::kept(best, report))
    })
}

/// The text with its first letter large.
fn capital(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(rest).collect()
}

/// The last part of a path: what a reader calls the file.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn facts(summary: &TrainSummary) -> Vec<(String, String)> {
    let report = &summary.report;
    let share = |accuracy: Option<f64>| accuracy.map_or_else(|| "–".into(), percent);
    let mut named = vec![
        ("training examples", count(report.examples)),
        ("features", count(report.features)),
        ("classes", count(report.classes.len() as u64)),
        ("learner", format!("{}, {}", report.learner, report.readout)),
        ("passes", count(report.epochs)),
        ("updates", count(report.updates)),
        ("training accuracy", share(report.train_accuracy)),
    ];
    if let Some(held) = &report.validation {
        named.push(("held-out accuracy", percent(held.accuracy)));
    }
    if let Some(cv) = &summary.cv {
        named.push((
            "cross-validated accuracy",
            format!("{} ± {}", percent(cv.mean), percent(cv.standard_deviation)),
        ));
    }
    named.push(("majority-class baseline", percent(report.majority_accuracy)));
    named.push(("seed", report.seed.to_string()));
    named.push((
        "time",
        format!(
            "{} reading, {} training",
            seconds(report.seconds.read),
            seconds(report.seconds.train)
        ),
    ));
    let mut facts: Vec<(String, String)> = (named.into_iter())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    for (name, value) in &report.options {
        if !matches!(*name, "learner" | "readout" | "seed") {
            facts.push((format!("--{name}"), clipped(value, 60)));
        }
    }
    facts
}

fn data_section(mut page: Page, summary: &TrainSummary) -> Page {
    let (data, report) = (&summary.data, &summary.report);
    page = page.heading("Data");
    let total = report.examples.max(1) as f64;
    let mut order: Vec<usize> = (0..report.classes.len()).collect();
    order.sort_by_key(|&c| std::cmp::Reverse(report.class_counts[c]));
    let classes = order.iter().take(LINES).map(|&c| {
        let n = report.class_counts[c];
        [
            clipped(&report.classes[c], 40),
            count(n),
            percent(n as f64 / total),
        ]
    });
    page = page.table(
        &Table::new(["class", "training examples", "share"])
            .rows(classes)
            .caption(if order.len() > LINES {
                format!(
                    "The {LINES} most frequent of {} classes",
                    count(order.len() as u64)
                )
            } else {
                "Classes".into()
            }),
    );
    if !data.columns.is_empty() {
        let rows = train::column_rows(data);
        let table = Table::new(["column", "treated as", "detail"])
            .rows(rows.iter().take(LINES).cloned())
            .caption(if rows.len() > LINES {
                format!("The first {LINES} of {} columns", count(rows.len() as u64))
            } else {
                "How columns were treated".into()
            });
        page = page.table(&table);
    }
    if let Some(scaling) = summary.scaling {
        page = page.paragraph(format!("Scaling: {scaling}."));
    }
    let warnings = data.warnings.iter().map(Wording::as_command_line);
    let remarks: Vec<String> = data.notes.iter().cloned().chain(warnings).collect();
    if !remarks.is_empty() {
        page = page.list(remarks);
    }
    page
}

/// Confusions, figures by class and, for two classes, the curves.
fn answers(mut page: Page, diagnostics: &Diagnostics<'_>) -> Page {
    let evaluation = &diagnostics.evaluation;
    let figure = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
    let by_class = evaluation.by_class();
    let rows = by_class.iter().take(LINES).map(|c| {
        [
            clipped(&c.class, 40),
            count(c.examples),
            figure(c.precision),
            figure(c.recall),
            figure(c.f1),
        ]
    });
    page = page.table(
        &Table::new(["class", "examples", "precision", "recall", "F1"])
            .rows(rows)
            .caption("Precision: the fraction of the predictions of a class that are correct. Recall: the fraction of the examples of a class that are predicted as such."),
    );
    for line in diagnostics.figures() {
        page = page.paragraph(format!("{line}."));
    }
    if by_class.len() <= CLASSES_DRAWN {
        page = page.figure(&figures::confusion(evaluation));
    } else {
        page = page.table(&commonest_confusions(evaluation));
    }
    let figures = [
        figures::curves(evaluation),
        figures::reliability(evaluation),
    ];
    (figures.iter().flatten()).fold(page, |page, figure| page.figure(figure))
}

fn commonest_confusions(evaluation: &Evaluation) -> Table {
    let name = |c: usize| clipped(evaluation.classes().name(c as u32), 40);
    let mut cells: Vec<(u64, usize, usize)> = Vec::new();
    for (truth, row) in evaluation.confusion().iter().enumerate() {
        for (predicted, &n) in row.iter().enumerate() {
            if truth != predicted && n > 0 {
                cells.push((n, truth, predicted));
            }
        }
    }
    cells.sort_by_key(|&(n, truth, predicted)| (std::cmp::Reverse(n), truth, predicted));
    Table::new(["true class", "predicted class", "examples"])
        .rows(
            cells
                .iter()
                .take(20)
                .map(|&(n, t, p)| [name(t), name(p), count(n)]),
        )
        .caption("Most frequent confusions")
}

fn regions(
    page: Page,
    scaling: Option<&str>,
    model: &Model,
    names: &FeatureNames,
    diagnostics: &Diagnostics<'_>,
) -> Page {
    if model.features() != 2 {
        return page;
    }
    page.heading("Decision regions").figure(&figures::regions(
        model,
        names,
        diagnostics,
        scaling.is_some(),
    ))
}

fn weights(page: Page, model: &Model, names: &FeatureNames, largest: &[Discriminator]) -> Page {
    if largest.is_empty() {
        return page;
    }
    let page = page.heading("Weights");
    if let Some(figure) = figures::weight_pictures(model, names) {
        return page.figure(&figure);
    }
    let page = page.figure(&figures::weight_bars(
        &largest[..largest.len().min(WEIGHTS_DRAWN)],
    ));
    if largest.len() <= WEIGHTS_DRAWN {
        return page;
    }
    page.paragraph(format!(
        "The first {WEIGHTS_DRAWN} of {} discriminators.",
        count(largest.len() as u64)
    ))
}

fn hardest(
    page: Page,
    model: &Model,
    names: &FeatureNames,
    diagnostics: &Diagnostics<'_>,
    whose: &str,
) -> Page {
    let wrong = diagnostics
        .hardest
        .iter()
        .filter(|h| h.truth != h.predicted)
        .count();
    let page = page.heading("Hardest examples").paragraph(format!(
        "The {} with the smallest margins; {wrong} of these are misclassified. Rows are counted from 1.",
        whose
    ));
    if let Some(figure) = figures::hard_pictures(model, names, diagnostics) {
        return page.figure(&figure);
    }
    let rows = diagnostics.hardest.iter().map(|hard| {
        let against: Vec<String> = hard
            .against(model)
            .iter()
            .map(|(j, pull)| format!("{} ({})", clipped(&names.get(*j), 32), short(*pull)))
            .collect();
        vec![
            count(hard.row as u64 + 1),
            clipped(model.classes.name(hard.truth), 30),
            clipped(model.classes.name(hard.predicted), 30),
            short(hard.margin),
            against.join(", "),
        ]
    });
    page.table(
        &Table::new([
            "row",
            "truth",
            "predicted",
            "margin",
            "strongest evidence against the true class",
        ])
        .rows(rows),
    )
}

/// The accuracy of always predicting the most frequent class.
fn majority(evaluation: &Evaluation) -> f64 {
    let most = evaluation.by_class().iter().map(|c| c.examples).max();
    most.unwrap_or(0) as f64 / evaluation.examples().max(1) as f64
}
