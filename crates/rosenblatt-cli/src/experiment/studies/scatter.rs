//! How examples toggle on the way, and where runs end.

use std::sync::atomic::AtomicBool;

use rosenblatt::bounds;
use rosenblatt::data::{Dataset, Row as Features};
use rosenblatt::options::{Order, Readout, Start};
use rosenblatt::training::{Callback, Step};
use rosenblatt::{Options, Result};
use rosenblatt_plot::{Axis, Color, Dash, Figure, HeatMap, Layer, Marker, Panel, quartiles};

use super::super::data::{Known, plain, train_with, weights};
use super::super::statistics::{median, spread_text};
use super::super::study::{
    Case, Check, Conclusion, Effort, Row, Study, Table, case, having, measured, values_of,
    within_bounds,
};
use crate::render::numbers::{percent, short};

pub const STUDY: Study = Study {
    name: "scatter",
    title: "Toggling examples and scattered separators",
    question: "On the way to a separator an update may break what was correct: which examples \
        toggle between right and wrong, and how often? And since many planes separate the same \
        data, how far apart do runs end that differ only in the order of visits or in the start?",
    settings: &["vary", "seed"],
    measures: &[
        "degrees",
        "averaged_degrees",
        "updates",
        "bound",
        "passes",
        "toggled_share",
        "toggles_1",
        "toggles_2",
        "toggles_3",
        "toggles_4",
        "toggles_5",
    ],
    plan,
    run,
    conclude,
};

const ROWS: usize = 100;
const MARGIN: f64 = 0.02;
const FIFTHS: usize = 5;

fn plan(effort: &Effort) -> Vec<Case> {
    let mut cases = Vec::new();
    for vary in ["order", "start", "both"] {
        cases.extend(effort.seeds(40, 400).map(|seed| case(&[&vary, &seed])));
    }
    cases
}

/// The one data set of this study: 100 points on the unit circle.
fn points() -> Result<Known> {
    Known::separable(ROWS, 2, MARGIN, 0)
}

fn options(vary: &str, seed: u64) -> Options {
    Options {
        order: if vary == "start" {
            Order::Given
        } else {
            Order::Shuffled
        },
        start: if vary == "order" {
            Start::Zero
        } else {
            Start::Random(3.0)
        },
        ..plain(seed)
    }
}

/// Which rows are right after each update.
struct Updates<'a> {
    data: &'a Dataset,
    start: Option<Vec<f64>>,
    right: Vec<Vec<bool>>,
}

impl<'a> Updates<'a> {
    fn new(data: &'a Dataset) -> Self {
        Updates {
            data,
            start: None,
            right: Vec::new(),
        }
    }

    /// How often each row changed from one update to the next.
    fn toggles(&self) -> Vec<f64> {
        (0..self.data.len())
            .map(|i| {
                let changed = self.right.windows(2).filter(|w| w[0][i] != w[1][i]);
                changed.count() as f64
            })
            .collect()
    }
}

impl Callback for Updates<'_> {
    fn wants_steps(&self) -> bool {
        true
    }

    fn step(&mut self, step: Step) {
        self.start.get_or_insert(step.weights);
        if !step.correct {
            let w = &step.weights_after;
            let right = |i: usize| margin(self.data.row(i), self.data.labels[i], w) > 0.0;
            self.right.push((0..self.data.len()).map(right).collect());
        }
    }
}

/// y·w·x.
fn margin(row: Features<'_>, label: u32, w: &[f64]) -> f64 {
    let score = row.dot(w, 0.0);
    if label == 1 { score } else { -score }
}

/// The turn from u to w in the plane, in degrees, positive against the clock.
fn turn(w: &[f64], u: &[f64]) -> f64 {
    let along = w[0] * u[0] + w[1] * u[1];
    let across = u[0] * w[1] - u[1] * w[0];
    across.atan2(along).to_degrees()
}

/// The turns from u that still separate: less than a right angle from every y·x.
fn arc(known: &Known) -> (f64, f64) {
    let turns = (0..known.data.len()).map(|i| {
        let sign = if known.data.labels[i] == 1 { 1.0 } else { -1.0 };
        let z: Vec<f64> = known
            .data
            .row(i)
            .to_dense(2)
            .iter()
            .map(|x| sign * x)
            .collect();
        turn(&z, &known.separator)
    });
    turns.fold((f64::NEG_INFINITY, f64::INFINITY), |(low, high), t| {
        (low.max(t - 90.0), high.min(t + 90.0))
    })
}

/// The rows from the nearest to the known plane to the farthest.
fn by_distance(known: &Known) -> Vec<usize> {
    let distance = |i: usize| margin(known.data.row(i), known.data.labels[i], &known.separator);
    let mut order: Vec<usize> = (0..known.data.len()).collect();
    order.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    order
}

fn run(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    let known = points()?;
    let mut options = options(row.text("vary"), row.seed());
    let mut history = Updates::new(&known.data);
    let last = train_with(&options, &known.data, interrupt, &mut history)?;
    options.readout = Some(Readout::Averaged);
    let averaged = super::super::data::train(&options, &known.data, interrupt)?;
    let start = history.start.clone().unwrap_or_default();
    let bound = bounds::general(
        last.radius,
        known.margin,
        bounds::Start {
            norm: start.iter().map(|x| x * x).sum::<f64>().sqrt(),
            along_separator: Some(start.iter().zip(&known.separator).map(|(a, b)| a * b).sum()),
            rate: 1.0,
            demand: 0.0,
        },
    );
    let toggles = history.toggles();
    let order = by_distance(&known);
    let mut measures = vec![
        turn(&weights(&last), &known.separator),
        turn(&weights(&averaged), &known.separator),
        last.model.progress.updates as f64,
        bound,
        last.model.progress.epochs() as f64,
        toggles.iter().filter(|t| **t > 0.0).count() as f64 / toggles.len() as f64,
    ];
    measures.extend(
        order
            .chunks(ROWS / FIFTHS)
            .map(|fifth| fifth.iter().map(|&i| toggles[i]).sum::<f64>() / fifth.len() as f64),
    );
    Ok(measures)
}

fn conclude(rows: &[Row<'_>]) -> Result<Conclusion> {
    let known = points()?;
    let arc = arc(&known);
    let mut table = Table::new(&[
        "varied",
        "angle of the last weights [°]",
        "angle of the averaged weights [°]",
        "updates",
        "passes",
        "rows that toggled [%]",
    ]);
    for vary in values_of(rows, "vary") {
        let here = having(rows, "vary", vary);
        let shares: Vec<f64> = measured(&here, "toggled_share")
            .iter()
            .map(|s| 100.0 * s)
            .collect();
        table.push(vec![
            vary.into(),
            spread_text(&measured(&here, "degrees")),
            spread_text(&measured(&here, "averaged_degrees")),
            spread_text(&measured(&here, "updates")),
            spread_text(&measured(&here, "passes")),
            spread_text(&shares),
        ]);
    }
    let inside = |name: &str| {
        let turns = measured(rows, name);
        turns
            .iter()
            .filter(|t| (arc.0..=arc.1).contains(*t))
            .count()
    };
    let width = |name: &str| {
        let turns = measured(&having(rows, "vary", "order"), name);
        quartiles(&turns).map_or(f64::NAN, |q| q[2] - q[0])
    };
    let mean = |name: &str| {
        let all = measured(rows, name);
        all.iter().sum::<f64>() / all.len().max(1) as f64
    };
    Ok(Conclusion {
        sentences: vec![
            format!(
                "In the median run {} of the rows toggle at least once; a row of the fifth nearest to the plane toggles {} times on average, one of the farthest fifth {} times.",
                percent(median(&measured(rows, "toggled_share"))),
                short(mean("toggles_1")),
                short(mean("toggles_5"))
            ),
            format!(
                "Separators fill an arc of {}°; over orders the middle half of the last weights covers {}° of it and that of the averaged weights {}°.",
                short(arc.1 - arc.0),
                short(width("degrees")),
                short(width("averaged_degrees"))
            ),
        ],
        checks: vec![
            Check {
                statement: format!(
                    "{} of {} runs end inside the arc of all separators, from {}° to {}°",
                    inside("degrees"),
                    rows.len(),
                    short(arc.0),
                    short(arc.1)
                ),
                holds: inside("degrees") == rows.len(),
            },
            within_bounds(rows, "the bound for their own start"),
        ],
        table,
        figures: vec![
            ("toggles".into(), toggle_figure(rows, &known)?),
            ("separators".into(), separator_figure(rows, &known, arc)),
        ],
    })
}

fn toggle_figure(rows: &[Row<'_>], known: &Known) -> Result<Figure> {
    // One run in full: neither a lucky one nor the longest.
    let order = having(rows, "vary", "order");
    let wanted = quartiles(&measured(&order, "updates")).map_or(0.0, |q| q[2]);
    let chosen = order.iter().min_by(|a, b| {
        let far = |r: &Row<'_>| (r.number("updates") - wanted).abs();
        far(a).total_cmp(&far(b))
    });
    let seed = chosen.map_or(0, Row::seed);
    let mut history = Updates::new(&known.data);
    train_with(
        &options("order", seed),
        &known.data,
        &AtomicBool::new(false),
        &mut history,
    )?;
    let nearest: Vec<usize> = by_distance(known).into_iter().take(ROWS / FIFTHS).collect();
    let columns = history.right.len();
    let cells: Vec<f64> = nearest
        .iter()
        .flat_map(|&i| {
            history
                .right
                .iter()
                .map(move |right| f64::from(u8::from(!right[i])))
        })
        .collect();
    let raster = Panel::new()
        .title("wrong after each update")
        .x(Axis::linear("update"))
        .y(Axis::linear("row, nearest to the plane first")
            .whole()
            .reversed())
        .layer(HeatMap::new(columns.max(1), cells).range(0.0, 1.0));
    let mut fifths = Panel::new()
        .title("toggles by distance from the plane")
        .x(Axis::categories(
            "fifth of the rows",
            ["nearest", "2nd", "3rd", "4th", "farthest"],
        ))
        .y(Axis::linear("toggles per row").from_zero());
    for vary in values_of(rows, "vary") {
        let here = having(rows, "vary", vary);
        let samples: Vec<(f64, Vec<f64>)> = (0..FIFTHS)
            .map(|i| (i as f64, measured(&here, &format!("toggles_{}", i + 1))))
            .collect();
        fifths = fifths.layers(rosenblatt_plot::spread(vary, &samples));
    }
    Ok(Figure::new()
        .panel(raster)
        .panel(fifths)
        .columns(2)
        .panel_size(290.0, 240.0)
        .title("Which examples toggle between right and wrong")
        .caption(format!("Left: one run, seed {seed}; dark is wrong. Right: median and quartiles over runs that differ in the order of visits, in the start, or in both.")))
}

fn separator_figure(rows: &[Row<'_>], known: &Known, arc: (f64, f64)) -> Figure {
    let mut strip = Panel::new()
        .title("where runs end")
        .x(Axis::categories(
            "varied, read-out",
            [
                "order\nlast",
                "order\naveraged",
                "start\nlast",
                "start\naveraged",
                "both\nlast",
                "both\naveraged",
            ],
        ))
        .y(Axis::linear("angle from the known separator").unit("°"));
    let mut at = 0.0;
    for vary in ["order", "start", "both"] {
        let here = having(rows, "vary", vary);
        for measure in ["degrees", "averaged_degrees"] {
            let values = measured(&here, measure);
            let points: Vec<(f64, f64)> = values
                .iter()
                .enumerate()
                .map(|(i, v)| (at + 0.5 * ((i as f64 * 0.618).fract() - 0.5), *v))
                .collect();
            let label = if measure == "degrees" {
                "last"
            } else {
                "averaged"
            };
            strip = strip.layer(
                Layer::points(points)
                    .label(label)
                    .marker(Marker::Dot)
                    .size(4.0),
            );
            at += 1.0;
        }
    }
    strip = strip
        .layer(Layer::horizontal(arc.0).label("ends of the arc of separators"))
        .layer(Layer::horizontal(arc.1).label("ends of the arc of separators"));
    let mut plane = Panel::new()
        .title("30 runs in other orders")
        .x(Axis::linear("x₁").range(-1.15, 1.15))
        .y(Axis::linear("x₂").range(-1.15, 1.15))
        .equal();
    let u = &known.separator;
    for row in having(rows, "vary", "order").iter().take(30) {
        let (sin, cos) = row.number("degrees").to_radians().sin_cos();
        let w = [cos * u[0] - sin * u[1], sin * u[0] + cos * u[1]];
        plane = plane.layer(
            Layer::boundary(w, 0.0)
                .color(Color::Muted)
                .dash(Dash::Solid)
                .width(0.8)
                .opacity(0.6)
                .label("learned"),
        );
    }
    plane = plane.layer(
        Layer::boundary([u[0], u[1]], 0.0)
            .color(Color::Ink)
            .dash(Dash::Solid)
            .width(2.0)
            .label("known"),
    );
    for (class, series) in [(0u32, 0), (1, 1)] {
        let those: Vec<(f64, f64)> = (0..known.data.len())
            .filter(|&i| known.data.labels[i] == class)
            .map(|i| {
                let x = known.data.row(i).to_dense(2);
                (x[0], x[1])
            })
            .collect();
        plane = plane.layer(
            Layer::points(those)
                .label(format!("class {}", known.data.classes.name(class)))
                .series(series + 2)
                .size(5.0),
        );
    }
    Figure::new()
        .panel(strip)
        .panel(plane)
        .columns(2)
        .panel_size(300.0, 280.0)
        .title("How separators scatter")
        .caption("100 points on the unit circle, γ = 0.02. The last weights of every run separate them; averages need not.")
}
