//! How many updates a run takes, against the size and the margin of the data.

use std::sync::atomic::AtomicBool;

use rosenblatt::Result;
use rosenblatt::bounds;
use rosenblatt_plot::{Axis, Color, Dash, Figure, Layer, Panel, spread};

use super::super::data::{Known, plain, train};
use super::super::statistics::{log_slope, median, spread_text};
use super::super::study::{
    Case, Conclusion, Effort, Row, Study, Table, case, having, measured, samples, values_of,
    within_bounds,
};
use super::SIZE_AXES;
use crate::render::numbers::short;

pub const STUDY: Study = Study {
    name: "convergence",
    title: "Updates against n, d and the margin",
    question: "How many updates does a perceptron make before it separates, and what determines that \
        number: the examples, the dimensions or the margin? The theorem's bound R²/γ² knows only \
        the margin.",
    settings: &["vary", "n", "d", "margin", "seed"],
    measures: &["updates", "passes", "bound"],
    plan,
    run,
    conclude,
};

fn plan(effort: &Effort) -> Vec<Case> {
    let rows: &[usize] = effort.choose(&[30, 100, 300, 1000], &[30, 100, 300, 1000, 3000, 10_000]);
    let features: &[usize] = effort.choose(&[2, 5, 20, 50], &[2, 5, 10, 20, 50, 100, 200]);
    let margins: &[f64] = effort.choose(
        &[0.01, 0.03, 0.1, 0.3],
        &[0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4],
    );
    let mut cases = Vec::new();
    for seed in effort.seeds(10, 100) {
        cases.extend(rows.iter().map(|n| case(&[&"n", n, &20, &0.02, &seed])));
        cases.extend(
            features
                .iter()
                .map(|d| case(&[&"d", &500, d, &0.02, &seed])),
        );
        cases.extend(
            margins
                .iter()
                .map(|g| case(&[&"margin", &500, &20, g, &seed])),
        );
    }
    cases
}

fn run(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    let known = Known::separable(
        row.count("n"),
        row.count("d"),
        row.number("margin"),
        row.seed(),
    )?;
    let fitted = train(&plain(row.seed()), &known.data, interrupt)?;
    let progress = &fitted.model.progress;
    Ok(vec![
        progress.updates as f64,
        progress.epochs() as f64,
        bounds::from_zero(fitted.radius, known.margin),
    ])
}

fn conclude(rows: &[Row<'_>]) -> Result<Conclusion> {
    let mut table = Table::new(&["varied", "at", "updates", "passes", "bound"]);
    let mut figure = Figure::new()
        .columns(3)
        .panel_size(215.0, 220.0)
        .share_y()
        .title("Updates until every example is right")
        .caption("Median and quartiles over seeds. Where nothing else is said n = 500, d = 20 and γ = 0.02.");
    for axis in &SIZE_AXES {
        let varied = having(rows, "vary", axis.name);
        let bound: Vec<(f64, f64)> = samples(&varied, axis.name, "bound")
            .into_iter()
            .map(|(x, bounds)| (x, median(&bounds)))
            .collect();
        figure = figure.panel(
            Panel::new()
                .x(Axis::log(axis.label))
                .y(Axis::log("updates"))
                .layers(spread("updates", &samples(&varied, axis.name, "updates")))
                .layer(
                    Layer::line(bound)
                        .label("bound R²/γ²")
                        .color(Color::Ink)
                        .dash(Dash::Dashed),
                ),
        );
        for value in values_of(&varied, axis.name) {
            let here = having(&varied, axis.name, value);
            let cell = |measure| spread_text(&measured(&here, measure));
            let bound = short(median(&measured(&here, "bound")));
            table.push(vec![
                axis.name.into(),
                value.into(),
                cell("updates"),
                cell("passes"),
                bound,
            ]);
        }
    }
    let exponent = |name: &str| {
        let varied = having(rows, "vary", name);
        log_slope(&varied, |r| r.number(name), "updates")
    };
    let share: Vec<f64> = rows
        .iter()
        .map(|r| r.number("updates") / r.number("bound"))
        .collect();
    Ok(Conclusion {
        sentences: vec![
            format!(
                "Updates scale as n to the power {}, as d to the power {} and as γ to the power {}.",
                exponent("n"),
                exponent("d"),
                exponent("margin")
            ),
            format!(
                "The bound knows only the margin; {} of {} runs pass it, and the median run uses {} % of it.",
                share.iter().filter(|s| **s > 1.0).count(),
                share.len(),
                short(100.0 * median(&share))
            ),
        ],
        checks: vec![within_bounds(rows, "R²/γ²")],
        table,
        figures: vec![("sizes".into(), figure)],
    })
}
