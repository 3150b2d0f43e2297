//! How close the learned separator comes to the known one.

use std::sync::atomic::AtomicBool;

use rosenblatt::Result;
use rosenblatt::bounds;
use rosenblatt::options::Readout;
use rosenblatt_plot::{Axis, Figure, Panel, spread};

use super::super::data::{Known, degrees_between, plain, train, weights};
use super::super::statistics::{log_slope, median, spread_text};
use super::super::study::{
    Case, Conclusion, Effort, Row, Study, Table, case, having, measured, samples, values_of,
    within_bounds,
};
use super::{SIZE_AXES, at, ends, falls_or_grows};
use crate::render::numbers::short;

pub const STUDY: Study = Study {
    name: "angle",
    title: "Closeness to a known separator",
    question: "Labels come from a known hyperplane. How far from it does the perceptron end, in \
        degrees, when it sees more examples, more dimensions or a wider gap; and is the average \
        of its weights closer than the last of them?",
    settings: &["vary", "n", "d", "margin", "seed"],
    measures: &["last_degrees", "averaged_degrees", "updates", "bound"],
    plan,
    run,
    conclude,
};

fn plan(effort: &Effort) -> Vec<Case> {
    let rows: &[usize] =
        effort.choose(&[100, 300, 1000, 3000], &[30, 100, 300, 1000, 3000, 10_000]);
    let features: &[usize] = effort.choose(&[2, 5, 10, 20, 50], &[2, 5, 10, 20, 50, 100]);
    let margins: &[f64] = effort.choose(&[0.01, 0.03, 0.1, 0.3], &[0.003, 0.01, 0.03, 0.1, 0.3]);
    let mut cases = Vec::new();
    for seed in effort.seeds(10, 100) {
        cases.extend(rows.iter().map(|n| case(&[&"n", n, &10, &0.01, &seed])));
        cases.extend(
            features
                .iter()
                .map(|d| case(&[&"d", &1000, d, &0.01, &seed])),
        );
        cases.extend(
            margins
                .iter()
                .map(|g| case(&[&"margin", &1000, &10, g, &seed])),
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
    let mut options = plain(row.seed());
    let last = train(&options, &known.data, interrupt)?;
    options.readout = Some(Readout::Averaged);
    let averaged = train(&options, &known.data, interrupt)?;
    Ok(vec![
        degrees_between(&weights(&last), &known.separator),
        degrees_between(&weights(&averaged), &known.separator),
        last.model.progress.updates as f64,
        bounds::from_zero(last.radius, known.margin),
    ])
}

fn conclude(rows: &[Row<'_>]) -> Result<Conclusion> {
    let readouts = [("last", "last_degrees"), ("averaged", "averaged_degrees")];
    let mut table = Table::new(&["varied", "at", "last [°]", "averaged [°]"]);
    let mut figure = Figure::new()
        .columns(3)
        .panel_size(215.0, 220.0)
        .share_y()
        .title("Angle between the learned and the known separator")
        .caption("Median and quartiles over seeds. Where nothing else is said n = 1,000, d = 10 and γ = 0.01.");
    for axis in &SIZE_AXES {
        let varied = having(rows, "vary", axis.name);
        let mut panel = Panel::new()
            .x(Axis::log(axis.label))
            .y(Axis::log("angle").unit("°"));
        for (label, measure) in readouts {
            panel = panel.layers(spread(label, &samples(&varied, axis.name, measure)));
        }
        figure = figure.panel(panel);
        for value in values_of(&varied, axis.name) {
            let here = having(&varied, axis.name, value);
            let cell = |measure| spread_text(&measured(&here, measure));
            table.push(vec![
                axis.name.into(),
                value.into(),
                cell("last_degrees"),
                cell("averaged_degrees"),
            ]);
        }
    }
    let by_n = having(rows, "vary", "n");
    let (fewest, most) = ends(&by_n, "n");
    let angle = |n: f64| median(&measured(&at(&by_n, "n", n), "last_degrees"));
    let ratios: Vec<f64> = rows
        .iter()
        .map(|r| r.number("averaged_degrees") / r.number("last_degrees"))
        .collect();
    let closer = ratios.iter().filter(|r| **r < 1.0).count();
    Ok(Conclusion {
        sentences: vec![
            format!(
                "From {} to {} examples the median angle {} from {}° to {}°, as n to the power {}.",
                short(fewest),
                short(most),
                falls_or_grows(angle(fewest), angle(most)),
                short(angle(fewest)),
                short(angle(most)),
                log_slope(&by_n, |r| r.number("n"), "last_degrees")
            ),
            format!(
                "The average is the closer of the two in {closer} of {} runs; its median angle is {} times that of the last weights.",
                rows.len(),
                short(median(&ratios))
            ),
        ],
        checks: vec![within_bounds(rows, "R²/γ²")],
        table,
        figures: vec![("sizes".into(), figure)],
    })
}
