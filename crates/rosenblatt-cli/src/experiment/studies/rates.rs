//! What the learning rate changes, and what it does not.

use std::sync::atomic::AtomicBool;

use rosenblatt::Result;
use rosenblatt::bounds;
use rosenblatt::options::Start;
use rosenblatt::training::{Callback, Step};
use rosenblatt_plot::{Axis, Color, Dash, Figure, Layer, Panel, spread};

use super::super::data::{Known, plain, train_with};
use super::super::statistics::{median, spread_text};
use super::super::study::{
    Case, Check, Conclusion, Effort, Row, Study, Table, case, having, measured, samples, values_of,
    within_bounds,
};
use super::{at, ends};
use crate::render::numbers::short;

pub const STUDY: Study = Study {
    name: "rates",
    title: "Learning rates",
    question: "Does the learning rate η matter? From zero weights it only scales them; from \
        other weights it decides how much the start weighs against the updates.",
    settings: &["start", "rate", "seed"],
    measures: &["updates", "bound", "sequence"],
    plan,
    run,
    conclude,
};

fn plan(effort: &Effort) -> Vec<Case> {
    let rates = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];
    let mut cases = Vec::new();
    for seed in effort.seeds(10, 200) {
        for start in ["zero", "random"] {
            cases.extend(rates.iter().map(|rate| case(&[&start, rate, &seed])));
        }
    }
    cases
}

/// The sequence of visits and whether each was a mistake, as one number (Fowler, Noll and Vo's
/// hash, the same everywhere); and the start.
struct Sequence {
    hash: u64,
    start: Option<Vec<f64>>,
}

impl Callback for Sequence {
    fn wants_steps(&self) -> bool {
        true
    }

    fn step(&mut self, step: Step) {
        let visit = 2 * step.row + u64::from(step.correct);
        self.hash = (self.hash ^ visit).wrapping_mul(0x0100_0000_01b3);
        self.start.get_or_insert(step.weights);
    }
}

fn run(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    let known = Known::separable(200, 10, 0.05, row.seed())?;
    let rate = row.number("rate");
    let mut options = plain(row.seed());
    options.learning_rate = Some(rate);
    if row.text("start") == "random" {
        options.start = Start::Random(1.0);
    }
    let mut sequence = Sequence {
        hash: 0xcbf2_9ce4_8422_2325,
        start: None,
    };
    let fitted = train_with(&options, &known.data, interrupt, &mut sequence)?;
    let start = sequence.start.unwrap_or_default();
    let along = start.iter().zip(&known.separator).map(|(a, b)| a * b).sum();
    let bound = bounds::general(
        fitted.radius,
        known.margin,
        bounds::Start {
            norm: start.iter().map(|x| x * x).sum::<f64>().sqrt(),
            along_separator: Some(along),
            rate,
            demand: 0.0,
        },
    );
    Ok(vec![
        fitted.model.progress.updates as f64,
        bound,
        // As many bits as a number in the log keeps exactly.
        (sequence.hash >> 11) as f64,
    ])
}

fn conclude(rows: &[Row<'_>]) -> Result<Conclusion> {
    let zero = having(rows, "start", "zero");
    let random = having(rows, "start", "random");
    let seeds = values_of(&zero, "seed");
    let alike = |rows: &[Row<'_>]| {
        let same = |seed: &&&str| {
            let sequences = measured(&having(rows, "seed", seed), "sequence");
            sequences.iter().all(|s| *s == sequences[0])
        };
        seeds.iter().filter(same).count()
    };
    let rates = values_of(rows, "rate").len();
    let mut table = Table::new(&["start", "η", "updates", "bound (median)"]);
    for (name, part) in [("zero", &zero), ("random, norm 1", &random)] {
        for rate in values_of(part, "rate") {
            let here = having(part, "rate", rate);
            table.push(vec![
                name.into(),
                rate.into(),
                spread_text(&measured(&here, "updates")),
                short(median(&measured(&here, "bound"))),
            ]);
        }
    }
    let panel = |title: &str, part: &[Row<'_>]| {
        let bound: Vec<(f64, f64)> = samples(part, "rate", "bound")
            .into_iter()
            .map(|(x, bounds)| (x, median(&bounds)))
            .collect();
        Panel::new()
            .title(title)
            .x(Axis::log("learning rate η"))
            .y(Axis::log("updates"))
            .layers(spread("updates", &samples(part, "rate", "updates")))
            .layer(
                Layer::line(bound.clone())
                    .label("bound at that η")
                    .color(Color::Ink)
                    .dash(Dash::Dashed),
            )
            .layer(
                Layer::points(bound)
                    .label("bound at that η")
                    .color(Color::Ink)
                    .hollow(),
            )
    };
    let figure = Figure::new()
        .panel(panel("from zero", &zero))
        .panel(panel("from random weights of norm 1", &random))
        .columns(2)
        .panel_size(280.0, 240.0)
        .share_y()
        .title("Updates against the learning rate")
        .caption("200 examples, 10 features, γ = 0.05. Median and quartiles over seeds; the bound is the median of those evaluated for each run's own start.");
    let (low, high) = ends(&random, "rate");
    let updates = |rate: f64| median(&measured(&at(&random, "rate", rate), "updates"));
    let same = alike(&zero);
    Ok(Conclusion {
        sentences: vec![
            format!(
                "From zero all {rates} rates make the identical sequence of mistakes in {same} of {} seeds.",
                seeds.len()
            ),
            format!(
                "From random weights the sequences agree in {} of {}: the median run takes {} updates at η = {low} and {} at η = {high}, where the start weighs next to nothing.",
                alike(&random),
                seeds.len(),
                short(updates(low)),
                short(updates(high))
            ),
        ],
        checks: vec![
            Check {
                statement: format!(
                    "from zero the mistakes are the same at every rate in {same} of {} seeds",
                    seeds.len()
                ),
                holds: same == seeds.len(),
            },
            within_bounds(&zero, "the bound from zero, which is free of η"),
            within_bounds(&random, "the bound for their own start and rate"),
        ],
        table,
        figures: vec![("rates".into(), figure)],
    })
}
