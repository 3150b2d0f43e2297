//! The training report as text.

use std::fmt::Write;

use rosenblatt::Wording;
use rosenblatt::metrics::{Interval, Metrics};
use rosenblatt::model::Model;
use rosenblatt::read::{ColumnRole, Preparation, ReadReport, Scale};
use rosenblatt::report::{Discriminator, PlaneReport, TrainReport};

use super::decision::listed;
use super::numbers::{count, counted, percent, precise, seconds, short};
use super::table::{Align, clipped, columns};
use crate::summary::TrainSummary;

/// Writes lines under headings that stand in a column of their own.
pub(super) struct Page {
    pub(super) text: String,
    pub(super) colour: bool,
}

const HEADING: usize = 10;

impl Page {
    pub(super) fn section(&mut self, heading: &str, body: &str) {
        let mut lines = body.lines();
        let first = lines.next().unwrap_or("");
        let padded = format!("{heading:<HEADING$}");
        let padded = if self.colour {
            format!("\x1b[1;32m{padded}\x1b[0m")
        } else {
            padded
        };
        let _ = writeln!(self.text, "{padded}{first}");
        for line in lines {
            let _ = writeln!(self.text, "{}{line}", " ".repeat(HEADING));
        }
    }
}

/// The whole report.
pub fn text(summary: &TrainSummary, colour: bool) -> String {
    let mut page = Page {
        text: String::new(),
        colour,
    };
    let report = &summary.report;
    page.section("read", &read(&summary.data, report));
    page.section("classes", &classes(report));
    if !summary.data.columns.is_empty() {
        page.section("columns", &column_table(&summary.data));
    }
    if let Some(scaling) = &summary.scaling {
        page.section("scaling", scaling);
    }
    for note in &summary.data.notes {
        page.section("note", note);
    }
    if let Some(cv) = &summary.cv {
        let each: Vec<String> = cv.accuracies.iter().map(|&a| percent(a)).collect();
        let mut text = format!(
            "accuracy {} on average, standard deviation {}, over {}: {}",
            percent(cv.mean),
            percent(cv.standard_deviation),
            counted(cv.accuracies.len() as u64, "fold", "folds"),
            each.join(", ")
        );
        if let Some(metrics) = &cv.metrics {
            let _ = write!(text, "\n{}", figures(metrics).join("\n"));
        }
        page.section("folds", &text);
    }
    let mut options = format!(
        "{}, readout {}, seed {}",
        report.learner, report.readout, report.seed
    );
    for (name, value) in report
        .options
        .iter()
        .filter(|(n, _)| !matches!(*n, "learner" | "readout" | "seed"))
    {
        let _ = write!(options, ", {name} {value}");
    }
    page.section("learner", &options);
    page.section("passes", &pass_table(report));
    let reason = &report.stop_reason;
    page.section("stopped", reason.strip_prefix("stopped ").unwrap_or(reason));
    if let Some(best) = report.best_epoch {
        page.section("kept", &kept(best, report));
    } else if let Some(kept) = report.kept_epoch {
        let all = report.epochs;
        page.section(
            "kept",
            &format!(
                "the average of the first {kept} of {all} passes: more passes may separate the examples, and make the average no better on others; --keep last for all of them"
            ),
        );
    }
    for (name, line) in summary.decided.lines() {
        page.section(name, &line);
    }
    if report.learner == "perceptron" || report.learner == "kernel" {
        page.section("updates", &updates(report));
    }
    if !report.planes.is_empty() {
        page.section("planes", &planes(&report.planes));
    }
    page.section("accuracy", &accuracy(report));
    if let Some(metrics) = &report.metrics {
        let mut lines = figures(metrics);
        lines.extend(flattered(summary));
        page.section("held out", &lines.join("\n"));
    }
    if !report.largest_weights.is_empty() {
        page.section("weights", &weights(&report.largest_weights, 8, 12));
    }
    if !report.planes.is_empty() {
        page.section(
            "support",
            &support_vectors(&report.support_vectors, Some(report.examples)),
        );
    }
    if let Some(corrected) = report.corrected_examples {
        let hardest: Vec<String> = report
            .hardest
            .iter()
            .map(|(row, times)| format!("row {row} × {times}"))
            .collect();
        page.section(
            "support",
            &format!(
                "{}; hardest: {}",
                counted(corrected, "corrected example", "corrected examples"),
                hardest.join(", ")
            ),
        );
    }
    for note in &report.notes {
        page.section("note", &note.as_command_line());
    }
    if let Some([train, held_out]) = &summary.split {
        page.section("split", &format!("trained on {train}, held out {held_out}"));
    }
    match &summary.model {
        Some(path) => page.section("model", path),
        None => page.section("model", "not saved; add -o MODEL"),
    }
    let mut time = format!(
        "{} reading, {} training",
        seconds(report.seconds.read),
        seconds(report.seconds.train)
    );
    if let Some(cv) = &summary.cv {
        let _ = write!(time, ", {} cross-validation", seconds(cv.seconds));
    }
    page.section("time", &time);
    page.text
}

fn read(data: &ReadReport, report: &TrainReport) -> String {
    let format = serde_json::to_value(data.format)
        .ok()
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default();
    let mut line = format!(
        "{}: {format}, {}, {}, {} of the values non-zero",
        data.file,
        counted(report.examples, "training example", "training examples"),
        counted(report.features, "feature", "features"),
        percent(
            report.non_zeros as f64 / (report.examples as f64 * report.features as f64).max(1.0)
        ),
    );
    if let Some(held) = &report.validation {
        let _ = write!(line, ", {} held out", count(held.examples));
    }
    if data.skipped > 0 {
        let _ = write!(
            line,
            "\n{} left out:",
            counted(
                data.skipped,
                "row that could not be read",
                "rows that could not be read"
            )
        );
        for message in &data.skipped_messages {
            let _ = write!(line, "\n  {}", message.as_command_line());
        }
    }
    line
}

fn classes(report: &TrainReport) -> String {
    const SHOWN: usize = 12;
    let total = report.examples.max(1) as f64;
    let mut order: Vec<usize> = (0..report.classes.len()).collect();
    if order.len() > SHOWN {
        order.sort_by_key(|&c| std::cmp::Reverse(report.class_counts[c]));
    }
    let mut rows: Vec<Vec<String>> = order
        .iter()
        .take(SHOWN)
        .map(|&c| {
            vec![
                clipped(&report.classes[c], 30),
                count(report.class_counts[c]),
                percent(report.class_counts[c] as f64 / total),
            ]
        })
        .collect();
    if order.len() > SHOWN {
        let rest: u64 = order[SHOWN..].iter().map(|&c| report.class_counts[c]).sum();
        rows.push(vec![
            format!("{} more classes", order.len() - SHOWN),
            count(rest),
            percent(rest as f64 / total),
        ]);
    }
    let mut text = columns(&rows, &[Align::Left, Align::Right, Align::Right], 0);
    let _ = write!(
        text,
        "majority-class baseline {}",
        percent(report.majority_accuracy)
    );
    text
}

pub(super) fn column_table(data: &ReadReport) -> String {
    const SHOWN: usize = 24;
    let rows: Vec<Vec<String>> = column_rows(data).into_iter().take(SHOWN).collect();
    let mut text = columns(&rows, &[Align::Left; 3], 0);
    if data.columns.len() > SHOWN {
        let _ = write!(
            text,
            "and {} more (--json lists all)",
            counted((data.columns.len() - SHOWN) as u64, "column", "columns")
        );
    }
    text
}

/// Each column: its name, what it is used as, and why.
pub fn column_rows(data: &ReadReport) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for column in &data.columns {
        let role = match column.role {
            ColumnRole::Numeric => "numeric",
            ColumnRole::Category => "category",
            ColumnRole::Text => "text",
            ColumnRole::Date => "date",
            ColumnRole::Ignore => "ignored",
            ColumnRole::Label => "label",
            ColumnRole::Weight => "weight",
            ColumnRole::Groups => "groups",
            ColumnRole::Time => "time",
        };
        let mut detail = Vec::new();
        if let Some(levels) = column.levels {
            detail.push(counted(levels as u64, "level", "levels"));
        }
        if let Some(words) = column.words {
            detail.push(counted(words as u64, "word", "words"));
        }
        if column.missing > 0 {
            detail.push(format!("{} missing", count(column.missing)));
        }
        if column.given {
            detail.push("as given".into());
        }
        detail.extend(column.note.clone());
        detail.extend(column.warning.as_ref().map(Wording::as_command_line));
        rows.push(vec![
            clipped(&column.name, 30),
            role.into(),
            detail.join(", "),
        ]);
    }
    rows
}

/// How a model's features were scaled, where they were.
pub fn scaling_of(model: &Model) -> Option<&'static str> {
    let preparation = Preparation::of_model(model).ok().flatten();
    preparation.as_ref().and_then(describe_scaling)
}

/// How features are scaled, where they are.
pub fn describe_scaling(preparation: &Preparation) -> Option<&'static str> {
    match preparation.scale() {
        Scale::None => None,
        Scale::Standard if preparation.weighs_terms() => Some(
            "numeric columns to mean 0 and standard deviation 1, texts to tf-idf of unit length; weights, margin and R refer to scaled values",
        ),
        Scale::Standard if !preparation.has_texts() => Some(
            "numeric columns to mean 0 and standard deviation 1; weights, margin and R refer to scaled values",
        ),
        Scale::Standard => Some(
            "numeric columns to mean 0 and standard deviation 1, texts to unit length; weights, margin and R refer to scaled values",
        ),
        Scale::Minmax => {
            Some("columns to the range from 0 to 1; weights, margin and R refer to scaled values")
        }
        Scale::Radius => Some(
            "all rows divided by the length of the longest training row, so that none is longer than 1; weights, margin and R refer to scaled values",
        ),
        Scale::UnitRows => {
            Some("each row to unit length; weights, margin and R refer to scaled values")
        }
    }
}

/// Passes 1 to 5, then 10, 20, 50, 100, …, and the last.
fn shown(epoch: usize, last: usize) -> bool {
    let mut leading = epoch;
    while leading >= 10 && leading.is_multiple_of(10) {
        leading /= 10;
    }
    epoch <= 5 || epoch == last || (epoch >= 10 && matches!(leading, 1 | 2 | 5))
}

fn pass_table(report: &TrainReport) -> String {
    let last = report.mistakes_per_epoch.len();
    let validated = report
        .validation_accuracy_per_epoch
        .iter()
        .any(Option::is_some);
    // Passes over some of the rows say how many.
    let some = report.learner == "max-margin";
    let mut heading = vec!["pass".to_owned()];
    if some {
        heading.push("rows visited".into());
    }
    heading.extend([
        if some { "wrong there" } else { "mistakes" }.into(),
        "loss".into(),
        "hinge loss".into(),
    ]);
    if report.squared_error_per_epoch.is_some() {
        heading.push("squared error".into());
    }
    if validated {
        heading.push("validation error".into());
    }
    let width = heading.len();
    let mut rows = vec![heading];
    for epoch in (1..=last).filter(|&e| shown(e, last)) {
        let i = epoch - 1;
        let mut row = vec![count(epoch as u64)];
        if some {
            row.push(count(report.visits_per_epoch[i]));
        }
        row.extend([
            count(report.mistakes_per_epoch[i]),
            short(report.perceptron_loss_per_epoch[i]),
            short(report.hinge_loss_per_epoch[i]),
        ]);
        row.extend(report.squared_error_per_epoch.as_ref().map(|e| short(e[i])));
        if validated {
            row.push(
                report.validation_accuracy_per_epoch[i]
                    .map_or_else(String::new, |a| percent(1.0 - a)),
            );
        }
        rows.push(row);
    }
    columns(&rows, &vec![Align::Right; width], 0)
}

/// Updates and mistakes beside what the theorem allows.
pub fn updates(report: &TrainReport) -> String {
    let mut text = format!(
        "{}, {}; R = {}",
        counted(report.updates, "update", "updates"),
        counted(report.mistakes, "mistake", "mistakes"),
        short(report.radius)
    );
    match (&report.margin, report.updates_at_most) {
        (Some(margin), most) => {
            let _ = write!(
                text,
                ", {} margin in [{}, {}]",
                margin.kind,
                short(margin.lower),
                short(margin.upper)
            );
            match most {
                Some(most) => {
                    let _ = write!(
                        text,
                        "; the theorem allows at most {}",
                        counted(most, "update", "updates")
                    );
                }
                None => text.push_str("; the bound on updates is too large to print"),
            }
        }
        (None, _) => text.push_str("; the margin is unknown, so the bound does not apply"),
    }
    text
}

/// Which pass became the model.
pub fn kept(best: u64, report: &TrainReport) -> String {
    let passes = counted(report.epochs, "pass", "passes");
    let metric = report.metric.replace('-', " ");
    if report.epochs == 1 {
        return "the only pass".into();
    }
    match best == report.epochs {
        true => format!(
            "the last of {passes}, the best by {metric} on the held-out examples; chosen on them, so their figures may flatter a little"
        ),
        false => format!(
            "pass {best} of {passes}, the best by {metric} on the held-out examples; chosen on them, so their figures flatter a little; --keep last saves the last"
        ),
    }
}

/// That the held-out examples chose what their figures tell of.
pub fn flattered(summary: &TrainSummary) -> Option<String> {
    let chosen = summary.decided.chosen_on_held_out();
    (!chosen.is_empty()).then(|| {
        format!(
            "the held-out rows chose {}, so these figures flatter; test on other rows",
            listed(&chosen)
        )
    })
}

/// A confidence interval of a share.
pub fn interval([low, high]: Interval) -> String {
    format!("{:.1} to {:.1}", 100.0 * low, 100.0 * high)
}

/// Figures for all classes together but the accuracy, with their 95 % intervals, line by line;
/// where classes are imbalanced, those of the rarest.
pub fn figures(metrics: &Metrics) -> Vec<String> {
    let share = |name: &str, value: f64, within: Interval| {
        format!("{name} {} ({})", percent(value), interval(within))
    };
    let number = |name: &str, value: f64, [low, high]: Interval| {
        format!("{name} {value:.3} ({low:.3} to {high:.3})")
    };
    let within = &metrics.intervals;
    let balanced = ("balanced accuracy", metrics.balanced_accuracy);
    let shares = [
        share(balanced.0, balanced.1, within.balanced_accuracy),
        share("macro F1", metrics.macro_f1, within.macro_f1),
        share("weighted F1", metrics.weighted_f1, within.weighted_f1),
    ];
    let mut numbers = vec![number("Matthews correlation", metrics.mcc, within.mcc)];
    let ranks = [
        ("AUC", metrics.auc, within.auc),
        (
            "average precision",
            metrics.average_precision,
            within.average_precision,
        ),
    ];
    numbers.extend(ranks.into_iter().filter_map(|(name, value, interval)| {
        Some(match interval {
            Some(interval) => number(name, value?, interval),
            None => format!("{name} {:.3} on average", value?),
        })
    }));
    let mut lines = vec![shares.join(", "), numbers.join(", ")];
    if let (Some(log_loss), Some(brier)) = (metrics.log_loss, metrics.brier) {
        let mut line = format!("log loss {log_loss:.4}, Brier score {brier:.4}");
        if let Some(error) = metrics.expected_calibration_error {
            let _ = write!(line, ", expected calibration error {error:.4}");
        }
        lines.push(line);
    }
    lines.extend(rarest(metrics));
    lines
}

/// The class with the fewest examples, where it has fewer than half its even share.
fn rarest(metrics: &Metrics) -> Option<String> {
    let classes = &metrics.by_class;
    let all: u64 = classes.iter().map(|c| c.examples).sum();
    let rarest = classes
        .iter()
        .filter(|c| c.examples > 0)
        .min_by_key(|c| c.examples)?;
    if rarest.examples * 2 * classes.len() as u64 > all {
        return None;
    }
    let figure = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
    Some(format!(
        "rarest class {} ({}): recall {} ({}), precision {}, F1 {}",
        clipped(&rarest.class, 30),
        counted(rarest.examples, "example", "examples"),
        figure(rarest.recall),
        interval(rarest.recall_interval?),
        figure(rarest.precision),
        figure(rarest.f1)
    ))
}

/// How good each plane of largest margin is.
pub fn planes(planes: &[PlaneReport]) -> String {
    const SHOWN: usize = 12;
    let mut text = String::new();
    for plane in planes.iter().take(SHOWN) {
        if planes.len() > 1 {
            let _ = write!(text, "{}: ", clipped(&plane.name, 40));
        }
        let _ = writeln!(
            text,
            "objective {}, lower bound {}, relative gap {}; margin 1/‖w‖ = {}, {}",
            precise(plane.primal),
            precise(plane.dual),
            short(plane.relative_gap),
            short(plane.margin),
            counted(plane.support_vectors, "support vector", "support vectors"),
        );
    }
    if planes.len() > SHOWN {
        let more = (planes.len() - SHOWN) as u64;
        let _ = writeln!(text, "and {} more", counted(more, "plane", "planes"));
    }
    text
}

/// The support vectors, the hardest by name.
pub fn support_vectors(all: &[(u64, f64)], examples: Option<u64>) -> String {
    let hardest: Vec<String> = all
        .iter()
        .take(10)
        .map(|(row, alpha)| format!("row {row} (α = {})", short(*alpha)))
        .collect();
    let mut text = counted(all.len() as u64, "support vector", "support vectors");
    if let Some(examples) = examples {
        let _ = write!(text, " of {}", counted(examples, "example", "examples"));
    }
    if !hardest.is_empty() {
        let _ = write!(text, "; hardest: {}", hardest.join(", "));
    }
    text
}

fn accuracy(report: &TrainReport) -> String {
    let mut parts = Vec::new();
    if let Some(accuracy) = report.train_accuracy {
        parts.push(format!("{} on the training data", percent(accuracy)));
    }
    if let Some(held) = &report.validation {
        let within = report.metrics.as_ref().map(|m| m.intervals.accuracy);
        parts.push(format!(
            "{} on {}{}",
            percent(held.accuracy),
            counted(held.examples, "held-out example", "held-out examples"),
            within.map_or_else(String::new, |i| format!(" (95 % interval {})", interval(i)))
        ));
    }
    parts.push(format!(
        "majority-class baseline {}",
        percent(report.majority_accuracy)
    ));
    parts.join(", ")
}

/// The largest weights of up to `discriminators`, `most` each.
pub fn weights(all: &[Discriminator], most: usize, discriminators: usize) -> String {
    let mut text = String::new();
    for d in all.iter().take(discriminators) {
        let shown: Vec<String> = d
            .largest
            .iter()
            .take(most)
            .map(|(name, w)| format!("{} {}", clipped(name, 40), signed(*w)))
            .collect();
        let _ = writeln!(
            text,
            "{} (bias {}): {}",
            clipped(&d.name, 40),
            signed(d.bias),
            shown.join(", ")
        );
    }
    if all.len() > discriminators {
        let _ = writeln!(
            text,
            "and {} more",
            counted(
                (all.len() - discriminators) as u64,
                "discriminator",
                "discriminators"
            )
        );
    }
    text
}

fn signed(x: f64) -> String {
    if x > 0.0 {
        format!("+{}", short(x))
    } else {
        short(x)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn passes_are_shown_at_a_readable_cadence() {
        let shown: Vec<usize> = (1..=300).filter(|&e| super::shown(e, 300)).collect();
        assert_eq!(shown, [1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 300]);
    }
}
