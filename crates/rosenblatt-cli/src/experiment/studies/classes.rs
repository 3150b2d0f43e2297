//! Two classes against many: error by examples and by classes.

use std::sync::atomic::AtomicBool;

use rosenblatt::Result;
use rosenblatt::bounds;
use rosenblatt::data::Precision;
use rosenblatt::options::{Multiclass, Readout};
use rosenblatt::synthetic::{self, Kind};
use rosenblatt::{Error, Options};
use rosenblatt_plot::{Axis, Color, Dash, Figure, Layer, Panel, spread};

use super::super::data::{plain, train};
use super::super::statistics::{log_slope, median, spread_text};
use super::super::study::{
    Case, Conclusion, Effort, Row, Study, Table, case, having, measured, samples, values_of,
    within_bounds,
};
use super::{at, ends};
use crate::render::numbers::short;
use rosenblatt::options::parse_choice;

pub const STUDY: Study = Study {
    name: "classes",
    title: "Two classes against many",
    question: "How does the error on new examples change with the number of examples n and the \
        number of classes k, and does it matter how several classes are learned: all at once by \
        argmax, one against the rest, or each pair?",
    settings: &["scheme", "k", "n", "seed"],
    measures: &["error_percent", "updates", "bound"],
    plan,
    run,
    conclude,
};

/// New examples that each run is measured on.
const NEW: usize = 1000;
const FEATURES: usize = 20;
const MARGIN: f64 = 0.002;
/// The number of examples at which the schemes are compared.
const MIDDLE: usize = 500;

fn plan(effort: &Effort) -> Vec<Case> {
    let sizes: &[usize] = effort.choose(&[50, 100, 200, 500], &[50, 100, 200, 500, 1000, 2000]);
    let classes: &[usize] = effort.choose(&[2, 3, 5, 10], &[2, 3, 5, 10, 20]);
    let mut cases = Vec::new();
    for seed in effort.seeds(6, 40) {
        for k in classes {
            cases.extend(sizes.iter().map(|n| case(&[&"argmax", k, n, &seed])));
            for scheme in ["ovr", "ovo"] {
                cases.push(case(&[&scheme, k, &MIDDLE, &seed]));
            }
        }
    }
    cases
}

fn run(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    let (n, k) = (row.count("n"), row.count("k"));
    let made = synthetic::generate(&synthetic::Options {
        examples: Some(n + NEW),
        features: Some(FEATURES),
        classes: Some(k),
        margin: Some(MARGIN),
        precision: Precision::F64,
        seed: row.seed(),
        ..synthetic::Options::new(Kind::Classes)
    })?;
    let old: Vec<usize> = (0..n).collect();
    let new: Vec<usize> = (n..n + NEW).collect();
    let data = made.dataset.select(&old);
    let scheme = parse_choice::<Multiclass>(row.text("scheme")).map_err(Error::options)?;
    let options = Options {
        multiclass: Some(scheme),
        readout: Some(Readout::Averaged),
        epochs: Some(if scheme == Multiclass::Argmax {
            1_000_000
        } else {
            50
        }),
        ..plain(row.seed())
    };
    let fitted = train(&options, &data, interrupt)?;
    let margin = made.separator.map_or(0.0, |s| s.margin(&data));
    Ok(vec![
        100.0 * (1.0 - fitted.model.accuracy(&made.dataset.select(&new), 1)?),
        fitted.model.progress.updates as f64,
        match scheme {
            Multiclass::Argmax => bounds::multiclass(fitted.radius, margin),
            _ => f64::NAN,
        },
    ])
}

/// A percentage as text.
fn short_percent(percent: f64) -> String {
    format!("{} %", short(percent))
}

fn conclude(rows: &[Row<'_>]) -> Result<Conclusion> {
    let argmax = having(rows, "scheme", "argmax");
    let mut by_n = Panel::new()
        .title("by examples (argmax)")
        .x(Axis::log("examples n"))
        .y(Axis::log("error on new examples").unit("%"));
    let mut table = Table::new(&["scheme", "k", "n", "error [%]", "updates"]);
    for k in values_of(&argmax, "k") {
        let name = format!("k = {k}");
        by_n = by_n.layers(spread(
            &name,
            &samples(&having(&argmax, "k", k), "n", "error_percent"),
        ));
    }
    let middle = at(rows, "n", MIDDLE as f64);
    let mut by_k = Panel::new()
        .title(format!("by classes (n = {})", short(MIDDLE as f64)))
        .x(Axis::log("classes k"))
        .y(Axis::log("error on new examples").unit("%"));
    for scheme in values_of(&middle, "scheme") {
        by_k = by_k.layers(spread(
            scheme,
            &samples(&having(&middle, "scheme", scheme), "k", "error_percent"),
        ));
    }
    let chance: Vec<(f64, f64)> = samples(&middle, "k", "error_percent")
        .into_iter()
        .map(|(k, _)| (k, 100.0 * (1.0 - 1.0 / k)))
        .collect();
    by_k = by_k.layer(
        Layer::line(chance)
            .label("chance 1 − 1/k")
            .color(Color::Ink)
            .dash(Dash::Dashed),
    );
    for name in values_of(rows, "scheme") {
        let scheme = having(rows, "scheme", name);
        for k in values_of(&scheme, "k") {
            let classes = having(&scheme, "k", k);
            for n in values_of(&classes, "n") {
                let here = having(&classes, "n", n);
                let errors = measured(&here, "error_percent");
                table.push(vec![
                    name.into(),
                    k.into(),
                    n.into(),
                    spread_text(&errors),
                    spread_text(&measured(&here, "updates")),
                ]);
            }
        }
    }
    let figure = Figure::new()
        .panel(by_n)
        .panel(by_k)
        .columns(2)
        .panel_size(290.0, 250.0)
        .share_y()
        .title("Error on new examples")
        .caption(format!(
            "Points on the unit sphere in {FEATURES} dimensions, labelled by the largest of k known scores; averaged read-out; {NEW} new examples. Median and quartiles over seeds; an error of 0 has no place on the scale."
        ));
    let (few, many) = ends(&middle, "k");
    let error = |scheme: &str, k: f64| {
        median(&measured(
            &at(&having(&middle, "scheme", scheme), "k", k),
            "error_percent",
        ))
    };
    let (_, most) = ends(&argmax, "n");
    let binary = having(&argmax, "k", "2");
    let largest = at(&argmax, "k", many);
    Ok(Conclusion {
        sentences: vec![
            format!(
                "With {} examples the error of argmax grows from {} for {few} classes to {} for {many} (chance would be {}); at {many} classes one against the rest has {} and each pair {}.",
                short(MIDDLE as f64),
                short_percent(error("argmax", few)),
                short_percent(error("argmax", many)),
                short_percent(100.0 * (1.0 - 1.0 / many)),
                short_percent(error("ovr", many)),
                short_percent(error("ovo", many))
            ),
            format!(
                "Up to n = {} the error goes as n to the power {} for 2 classes and {} for {many}.",
                short(most),
                log_slope(&binary, |r| r.number("n"), "error_percent"),
                log_slope(&largest, |r| r.number("n"), "error_percent")
            ),
        ],
        checks: vec![within_bounds(&argmax, "2R²/γ²")],
        table,
        figures: vec![("error".into(), figure)],
    })
}
