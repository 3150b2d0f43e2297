//! Observed updates against the theorem's bound.

use std::sync::atomic::AtomicBool;

use rosenblatt::Result;
use rosenblatt::bounds;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt_plot::{Axis, Color, Dash, Figure, Layer, Marker, Panel, spread};

use super::super::data::{Known, plain, train};
use super::super::statistics::{Interval, log_slope, median, spread_text};
use super::super::study::{
    Case, Check, Conclusion, Effort, Row, Study, Table, case, having, measured, values_of,
    within_bounds,
};
use crate::render::numbers::short;

pub const STUDY: Study = Study {
    name: "bound",
    title: "Observed updates against the bound",
    question: "The theorem allows (R/γ)² updates. How close do runs come to it as the margin \
        shrinks, and are there data that reach it?",
    settings: &["rows", "n", "d", "margin", "seed"],
    measures: &["updates", "radius", "gamma", "bound"],
    plan,
    run,
    conclude,
};

const SPHERE: &str = "random points";
const ORTHONORMAL: &str = "orthonormal rows";

fn plan(effort: &Effort) -> Vec<Case> {
    let margins: &[f64] = effort.choose(
        &[0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
        &[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
    );
    let counts: &[usize] = effort.choose(&[4, 25, 100, 400], &[4, 25, 100, 400, 1600]);
    let mut cases = Vec::new();
    for seed in effort.seeds(10, 100) {
        for d in [3, 30] {
            cases.extend(
                margins
                    .iter()
                    .map(|g| case(&[&SPHERE, &1000, &d, g, &seed])),
            );
        }
    }
    for n in counts {
        let margin = 1.0 / (*n as f64).sqrt();
        cases.push(case(&[&ORTHONORMAL, n, n, &margin, &0]));
    }
    cases
}

/// The rows e₁ … e_n, all positive but for every other label and sign: no two have anything in
/// common, so each must be corrected once, and u = (±1, …, ±1)/√n has the margin 1/√n.
fn orthonormal(n: usize) -> Result<Known> {
    let sign = |i: usize| if i.is_multiple_of(2) { -1.0 } else { 1.0 };
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let labels = (0..n).map(|i| u32::from(sign(i) > 0.0)).collect();
    let length = 1.0 / (n as f64).sqrt();
    Ok(Known {
        data: Dataset::new(
            Matrix::dense_from_rows(n, &rows, Precision::F64),
            labels,
            Classes::from_labels(["-1", "+1"]),
            None,
        )?,
        separator: (0..n).map(|i| sign(i) * length).collect(),
        margin: length,
    })
}

fn run(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    let known = match row.text("rows") {
        ORTHONORMAL => orthonormal(row.count("n"))?,
        _ => Known::separable(
            row.count("n"),
            row.count("d"),
            row.number("margin"),
            row.seed(),
        )?,
    };
    let fitted = train(&plain(row.seed()), &known.data, interrupt)?;
    Ok(vec![
        fitted.model.progress.updates as f64,
        fitted.radius,
        known.margin,
        bounds::from_zero(fitted.radius, known.margin),
    ])
}

/// (R/γ)² as measured.
fn inverse_square(row: &Row<'_>) -> f64 {
    (row.number("radius") / row.number("gamma")).powi(2)
}

fn conclude(rows: &[Row<'_>]) -> Result<Conclusion> {
    let sphere = having(rows, "rows", SPHERE);
    let worst = having(rows, "rows", ORTHONORMAL);
    let slopes: Vec<(String, Interval)> = values_of(&sphere, "d")
        .into_iter()
        .map(|d| {
            let slope = log_slope(&having(&sphere, "d", d), inverse_square, "updates");
            (format!("d = {d}"), slope)
        })
        .collect();
    let listed: Vec<String> = slopes.iter().map(|(d, s)| format!("{s} for {d}")).collect();
    let met = worst
        .iter()
        .filter(|r| r.number("updates") == r.number("bound"))
        .count();
    let mut checks = vec![within_bounds(rows, "(R/γ)²")];
    checks.extend(slopes.iter().map(|(d, slope)| {
        let verdict = if slope.high <= 1.0 {
            "is at most 1 with its whole interval"
        } else {
            "is not above 1 by more than chance"
        };
        Check {
            statement: format!(
                "the slope of log updates against log (R/γ)² {verdict} for {d}: {slope}"
            ),
            holds: slope.estimate <= 1.0 || slope.low <= 1.0,
        }
    }));
    Ok(Conclusion {
        sentences: vec![
            format!(
                "On random points the slope of log updates against log (R/γ)² is {}; the bound's own slope is 1.",
                listed.join(" and ")
            ),
            format!(
                "Orthonormal rows reach the bound exactly in {met} of {} cases{}.",
                worst.len(),
                if met > 0 {
                    ", so no smaller one could hold for all data"
                } else {
                    ""
                }
            ),
        ],
        checks,
        table: table(&sphere, &worst),
        figures: vec![("loglog".into(), figure(rows, &sphere, &worst))],
    })
}

/// Updates and bound of each family: random points by dimension and margin, then orthonormal rows.
fn table(sphere: &[Row<'_>], worst: &[Row<'_>]) -> Table {
    let mut table = Table::new(&["rows", "γ", "updates", "bound", "share of the bound"]);
    for d in values_of(sphere, "d") {
        let family = having(sphere, "d", d);
        for margin in values_of(&family, "margin") {
            let here = having(&family, "margin", margin);
            let updates = measured(&here, "updates");
            let bound = median(&measured(&here, "bound"));
            table.push(vec![
                format!("{SPHERE}, d = {d}"),
                margin.into(),
                spread_text(&updates),
                short(bound),
                format!("{} %", short(100.0 * median(&updates) / bound)),
            ]);
        }
    }
    for row in worst {
        let share = 100.0 * row.number("updates") / row.number("bound");
        table.push(vec![
            format!("{ORTHONORMAL}, n = {}", row.text("n")),
            short(row.number("gamma")),
            short(row.number("updates")),
            short(row.number("bound")),
            format!("{} %", short(share)),
        ]);
    }
    table
}

fn figure(rows: &[Row<'_>], sphere: &[Row<'_>], worst: &[Row<'_>]) -> Figure {
    let places = |rows: &[Row<'_>]| -> Vec<(f64, f64)> {
        let each = rows.iter();
        each.map(|r| (inverse_square(r), r.number("updates")))
            .collect()
    };
    let mut panel = Panel::new()
        .x(Axis::log("(R/γ)²"))
        .y(Axis::log("updates"))
        .size(460.0, 360.0)
        .layer(
            Layer::points(places(sphere))
                .label("one run")
                .color(Color::Muted)
                .marker(Marker::Dot)
                .size(3.0),
        );
    for d in values_of(sphere, "d") {
        let family = having(sphere, "d", d);
        let groups: Vec<(f64, Vec<f64>)> = values_of(&family, "margin")
            .into_iter()
            .map(|margin| {
                let here = having(&family, "margin", margin);
                let x: Vec<f64> = here.iter().map(inverse_square).collect();
                (median(&x), measured(&here, "updates"))
            })
            .collect();
        panel = panel.layers(spread(&format!("{SPHERE}, d = {d}"), &groups));
    }
    let widest = rows.iter().map(inverse_square).fold(1.0, f64::max);
    let panel = panel
        .layer(
            Layer::points(places(worst))
                .label(ORTHONORMAL)
                .hollow()
                .size(9.0),
        )
        .layer(
            Layer::line([(1.0, 1.0), (widest, widest)])
                .label("bound (R/γ)²")
                .color(Color::Ink)
                .dash(Dash::Dashed),
        );
    Figure::of(panel)
        .title("Every run stays below the bound")
        .caption("Updates until every example is right against the inverse square of the relative margin, both axes logarithmic; n = 1,000 for random points. Lines: median and quartiles over seeds.")
}
