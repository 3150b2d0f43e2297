//! Ways to hold the bias, to renormalise and to pick examples.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use rosenblatt::data::{Dataset, Matrix, Precision};
use rosenblatt::options::{Bias, Choice, Order, choice_name, parse_choice};
use rosenblatt::progress::Stop;
use rosenblatt::training::{Callback, Step};
use rosenblatt::{Error, ErrorKind, Options, Result};
use rosenblatt::{bounds, proof};
use rosenblatt_plot::{Axis, Color, Dash, Figure, Layer, Marker, Panel, quartiles, spread};

use super::super::data::{Known, plain, separated, train, train_with};
use super::super::statistics::{median, spread_text};
use super::super::study::{
    Case, Check, Conclusion, Effort, Row, Study, Table, case, having, measured, samples, values_of,
    within_bounds,
};
use crate::render::numbers::{percent, short};

pub const STUDY: Study = Study {
    name: "variants",
    title: "Bias, renormalising and the order of visits",
    question: "What does the bias cost when the hyperplane does not pass through the origin, lifted or not? Do \
        weights renormalised after each update still converge? And does it matter in which order \
        examples are picked?",
    settings: &["part", "choice", "value", "seed"],
    measures: &["updates", "scored", "bound", "separated", "cycles"],
    plan,
    run,
    conclude,
};

/// Rates of renormalised runs, as multiples of the largest for which there is a bound.
const MULTIPLES: [f64; 8] = [0.1, 0.3, 0.9, 1.5, 4.0, 10.0, 30.0, 100.0];
/// Distances of the plane from the origin.
const OFFSETS: [f64; 5] = [0.0, 0.25, 0.5, 1.0, 2.0];

fn plan(effort: &Effort) -> Vec<Case> {
    let mut cases = Vec::new();
    for seed in effort.seeds(10, 100) {
        for bias in ["lifted", "unlifted", "none"] {
            cases.extend(OFFSETS.iter().map(|o| case(&[&"bias", &bias, o, &seed])));
        }
        cases.extend(
            Order::ALL
                .iter()
                .map(|(_, name)| case(&[&"order", name, &0, &seed])),
        );
    }
    for seed in effort.seeds(50, 1000) {
        for m in MULTIPLES {
            cases.push(case(&[&"renormalise", &"renormalised", &m, &seed]));
        }
        cases.push(case(&[&"renormalise", &"plain", &1, &seed]));
    }
    cases
}

fn run(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    match row.text("part") {
        "bias" => run_bias(row, interrupt),
        "order" => run_order(row, interrupt),
        _ => run_renormalised(row, interrupt),
    }
}

/// The known plane moved away from the origin: rows x + θu, so that u·x = θ separates them.
fn moved(known: &Known, offset: f64) -> Result<Dataset> {
    let d = known.data.features();
    let rows: Vec<Vec<f64>> = (0..known.data.len())
        .map(|i| {
            let x = known.data.row(i).to_dense(d);
            let moved = x.iter().zip(&known.separator).map(|(x, u)| x + offset * u);
            moved.collect()
        })
        .collect();
    Dataset::new(
        Matrix::dense_from_rows(d, &rows, Precision::F64),
        known.data.labels.clone(),
        known.data.classes.clone(),
        None,
    )
}

fn run_bias(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    let offset = row.number("value");
    let known = Known::separable(200, 5, 0.05, row.seed())?;
    let data = moved(&known, offset)?;
    // Rounding in the move may cost a little of the margin.
    let margin = known.margin - 1e-12;
    let bias = match row.text("choice") {
        "lifted" => Bias::Lifted,
        "unlifted" => Bias::Unlifted(None),
        _ => Bias::None,
    };
    let options = Options {
        bias: Some(bias),
        // No plane through the origin need separate, so that such a run may have no end.
        epochs: Some(if bias == Bias::None { 1000 } else { 10_000_000 }),
        ..plain(row.seed())
    };
    let fitted = train(&options, &data, interrupt)?;
    let bound = match bias {
        Bias::Lifted => bounds::from_zero(fitted.radius, margin / offset.hypot(1.0)),
        Bias::Unlifted(_) => bounds::unlifted(fitted.radius, fitted.radius, margin, offset),
        Bias::None if offset == 0.0 => bounds::from_zero(fitted.radius, margin),
        Bias::None => f64::NAN,
    };
    Ok(vec![
        fitted.model.progress.updates as f64,
        fitted.model.progress.visits as f64,
        bound,
        f64::from(u8::from(separated(&fitted))),
        f64::NAN,
    ])
}

fn run_order(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    let known = Known::separable(200, 10, 0.02, row.seed())?;
    let order = parse_choice::<Order>(row.text("choice")).map_err(Error::options)?;
    let options = Options {
        order,
        ..plain(row.seed())
    };
    let fitted = train(&options, &known.data, interrupt)?;
    // These two look at every example before they pick one.
    let searched = match order {
        Order::Mistakes | Order::Worst => known.data.len(),
        _ => 1,
    };
    Ok(vec![
        fitted.model.progress.updates as f64,
        (fitted.model.progress.visits * searched as u64) as f64,
        bounds::from_zero(fitted.radius, known.margin),
        f64::from(u8::from(separated(&fitted))),
        f64::NAN,
    ])
}

/// Watches the weights at the end of each pass. With a fixed order a pass is a function of the
/// weights alone, so weights that come back bit for bit come back for ever.
struct Recurrence<'a> {
    rows: u64,
    seen: HashSet<Vec<u64>>,
    cycles: bool,
    stop: &'a AtomicBool,
    interrupt: &'a AtomicBool,
}

impl Callback for Recurrence<'_> {
    fn wants_steps(&self) -> bool {
        true
    }

    fn step(&mut self, step: Step) {
        if step.step.is_multiple_of(self.rows) {
            let bits = step.weights_after.iter().map(|w| w.to_bits()).collect();
            self.cycles |= !self.seen.insert(bits);
        }
        if self.cycles || self.interrupt.load(Ordering::Relaxed) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn run_renormalised(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    // Margins of many sizes, a few rows each.
    let wanted = 0.02 * 10f64.powf((row.seed() % 50) as f64 / 50.0);
    let known = Known::separable(8, 3, wanted, row.seed())?;
    let exact = proof::ExactRows::new(&known.data, proof::Notation::Binary, &[])?;
    let sides = proof::TwoSides::positive_against_rest(&exact, proof::BiasTerm::None);
    let effort = proof::SearchBudget::default();
    let lifted = proof::MarginKind::Lifted;
    let margin = proof::margin(&sides, lifted, None, effort, 1).lower;
    let radius = proof::radius(&sides, 1);
    let limit = 2.0 * margin / ((radius - margin) * (radius + margin));
    let rate = limit * row.number("value");
    let renormalise = row.text("choice") == "renormalised";
    let options = Options {
        order: Order::Given,
        normalise_weights: renormalise,
        learning_rate: Some(rate),
        epochs: Some(20_000),
        ..plain(row.seed())
    };
    let stop = AtomicBool::new(false);
    let mut watch = Recurrence {
        rows: known.data.len() as u64,
        seen: HashSet::new(),
        cycles: false,
        stop: &stop,
        interrupt,
    };
    let fitted = match train_with(&options, &known.data, &stop, &mut watch) {
        Err(error) if error.kind() == ErrorKind::Interrupted && watch.cycles => {
            return Ok(vec![f64::NAN, f64::NAN, f64::NAN, 0.0, 1.0]);
        }
        other => other?,
    };
    let bound = if renormalise {
        bounds::renormalised(radius, margin, rate).unwrap_or(f64::NAN)
    } else {
        bounds::from_zero(radius, margin)
    };
    let ended = fitted.model.progress.stop == Some(Stop::Separated);
    Ok(vec![
        fitted.model.progress.updates as f64,
        fitted.model.progress.visits as f64,
        bound,
        f64::from(u8::from(ended)),
        0.0,
    ])
}

fn conclude(rows: &[Row<'_>]) -> Result<Conclusion> {
    let bias = having(rows, "part", "bias");
    let order = having(rows, "part", "order");
    let renormalise = having(rows, "part", "renormalise");
    let renormalised = having(&renormalise, "choice", "renormalised");
    let at_rate = |accepted: fn(f64) -> bool| -> Vec<Row<'_>> {
        let those = renormalised.iter().filter(|r| accepted(r.number("value")));
        those.copied().collect()
    };
    let safe = at_rate(|rate| rate < 1.0);
    let mut sentences = vec![
        bias_sentence(&bias),
        renormalised_sentence(&safe, &at_rate(|rate| rate > 1.0)),
    ];
    sentences.extend(order_sentence(&order));
    let bounded: Vec<Row<'_>> = (bias.iter().chain(&order)).copied().collect();
    Ok(Conclusion {
        sentences,
        checks: vec![
            within_bounds(&bounded, "the bound for their bias, in every order"),
            within_bounds(
                &safe,
                "the bound for renormalised weights at rates that have one",
            ),
            Check {
                statement: format!(
                    "below the limiting rate all {} renormalised runs separate and none cycles",
                    safe.len()
                ),
                holds: safe
                    .iter()
                    .all(|r| r.number("separated") == 1.0 && r.number("cycles") == 0.0),
            },
        ],
        table: table(rows),
        figures: vec![
            ("bias".into(), bias_figure(&bias)),
            ("renormalised".into(), renormalised_figure(&renormalised)),
            ("orders".into(), order_figure(&order)),
        ],
    })
}

fn table(rows: &[Row<'_>]) -> Table {
    let mut table = Table::new(&[
        "variant",
        "at",
        "updates",
        "bound (median)",
        "separated",
        "cycling",
    ]);
    for (part, named) in [
        ("bias", "θ ="),
        ("renormalise", "η / limit ="),
        ("order", ""),
    ] {
        let part = having(rows, "part", part);
        for choice in values_of(&part, "choice") {
            let chosen = having(&part, "choice", choice);
            for value in values_of(&chosen, "value") {
                let here = having(&chosen, "value", value);
                table.push(table_row(choice, named, value, &here));
            }
        }
    }
    table
}

fn bias_sentence(bias: &[Row<'_>]) -> String {
    let price: Vec<f64> = values_of(bias, "seed")
        .into_iter()
        .filter_map(|seed| {
            let one = having(&having(bias, "seed", seed), "value", "1");
            let updates = |choice| {
                measured(&having(&one, "choice", choice), "updates")
                    .first()
                    .copied()
            };
            Some(updates("unlifted")? / updates("lifted")?)
        })
        .collect();
    let without = having(&having(bias, "choice", "none"), "value", "1");
    let separated = measured(&without, "separated");
    format!(
        "With the plane at distance 1 from the origin an unlifted bias takes {} times the updates of a lifted one (median over seeds), and no bias at all separates {} of the sets within its 1,000 passes.",
        short(median(&price)),
        percent(separated.iter().sum::<f64>() / separated.len().max(1) as f64)
    )
}

/// What renormalising does below and above the limiting rate.
fn renormalised_sentence(safe: &[Row<'_>], beyond: &[Row<'_>]) -> String {
    let positive = |values: Vec<f64>| values.iter().filter(|v| **v > 0.0).count();
    format!(
        "Renormalised runs below the limiting rate 2γ/(R² − γ²) separate in {} of {} cases; above it {} of {} return to the same weights, bit for bit, and cycle.",
        positive(measured(safe, "separated")),
        safe.len(),
        positive(measured(beyond, "cycles")),
        beyond.len(),
    )
}

fn order_sentence(order: &[Row<'_>]) -> Option<String> {
    let medians: Vec<(&str, f64)> = values_of(order, "choice")
        .into_iter()
        .map(|o| (o, median(&measured(&having(order, "choice", o), "updates"))))
        .collect();
    let least = medians.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = medians.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "Among the orders, {} needs the fewest updates (median {}) and {} the most ({}).",
        least.0,
        short(least.1),
        most.0,
        short(most.1)
    ))
}

fn table_row(choice: &str, named: &str, value: &str, here: &[Row<'_>]) -> Vec<String> {
    let share = |name: &str| {
        let those = measured(here, name);
        if those.is_empty() {
            return "–".to_owned();
        }
        percent(those.iter().sum::<f64>() / those.len() as f64)
    };
    let bound = measured(here, "bound");
    vec![
        choice.into(),
        if named.is_empty() {
            String::new()
        } else {
            format!("{named} {value}")
        },
        spread_text(&measured(here, "updates")),
        if bound.is_empty() {
            "none".into()
        } else {
            short(median(&bound))
        },
        share("separated"),
        share("cycles"),
    ]
}

fn bias_figure(rows: &[Row<'_>]) -> Figure {
    let mut panel = Panel::new()
        .x(Axis::linear("distance θ of the plane from the origin"))
        .y(Axis::log("updates"));
    for choice in ["lifted", "unlifted"] {
        let chosen = having(rows, "choice", choice);
        let bound: Vec<(f64, f64)> = samples(&chosen, "value", "bound")
            .into_iter()
            .map(|(x, all)| (x, median(&all)))
            .collect();
        let series = usize::from(choice == "unlifted");
        panel = panel
            .layers(spread(choice, &samples(&chosen, "value", "updates")))
            .layer(
                Layer::line(bound)
                    .label(format!("bound, {choice}"))
                    .color(Color::Series(series))
                    .dash(Dash::Dashed),
            );
    }
    let none = having(&having(rows, "choice", "none"), "value", "0");
    let without: Vec<(f64, Vec<f64>)> = vec![(0.0, measured(&none, "updates"))];
    panel = panel.layers(spread("no bias", &without));
    Figure::of(panel)
        .title("The price of a bias")
        .caption("200 examples, 5 features, γ = 0.05. Median and quartiles over seeds. Without a bias only the plane through the origin is learnable.")
}

fn renormalised_figure(rows: &[Row<'_>]) -> Figure {
    let share: Vec<(f64, f64)> = samples(rows, "value", "cycles")
        .into_iter()
        .map(|(x, all)| (x, all.iter().sum::<f64>() / all.len().max(1) as f64))
        .collect();
    let runs: Vec<(f64, f64)> = rows
        .iter()
        .filter(|r| r.number("bound") > 0.0)
        .map(|r| (r.number("bound"), r.number("updates")))
        .collect();
    let widest = runs.iter().map(|p| p.0).fold(1.0, f64::max);
    let limit = Layer::vertical(1.0).note("limit");
    Figure::new()
        .panel(
            Panel::new()
                .title("Runs that cycle for ever")
                .x(Axis::log("η as a multiple of 2γ/(R² − γ²)"))
                .y(Axis::linear("share of sets").percent().from_zero())
                .layer(Layer::line(share.clone()).series(0))
                .layer(Layer::points(share).series(0))
                .layer(limit),
        )
        .panel(
            Panel::new()
                .title("Updates below the limit")
                .x(Axis::log("bound"))
                .y(Axis::log("updates"))
                .layer(Layer::points(runs).label("one run").marker(Marker::Dot).size(4.0))
                .layer(
                    Layer::line([(1.0, 1.0), (widest, widest)])
                        .label("bound")
                        .color(Color::Ink)
                        .dash(Dash::Dashed),
                ),
        )
        .columns(2)
        .panel_size(290.0, 240.0)
        .title("Weights renormalised after each update")
        .caption("Sets of 8 examples in 3 dimensions, visited in a fixed order. Rates below the limit have a bound. A run that meets the same weights twice at the end of a pass will meet them for ever.")
}

fn order_figure(rows: &[Row<'_>]) -> Figure {
    let orders: Vec<&str> = Order::ALL.iter().map(|(o, _)| choice_name(*o)).collect();
    let panel = |title: &str, measure: &str, label: &str| {
        let mut points = Vec::new();
        let mut middle = Vec::new();
        let mut quarter = Vec::new();
        for (i, order) in orders.iter().enumerate() {
            let values = measured(&having(rows, "choice", order), measure);
            points.extend(values.iter().map(|v| (i as f64, *v)));
            if let Some([low, mid, high]) = quartiles(&values) {
                middle.push((i as f64, mid));
                quarter.push((i as f64, low, high));
            }
        }
        Panel::new()
            .title(title)
            .x(Axis::categories("order", orders.iter().copied()))
            .y(Axis::log(label))
            .layer(
                Layer::points(points)
                    .label("one run")
                    .color(Color::Muted)
                    .marker(Marker::Dot)
                    .size(3.5),
            )
            .layer(Layer::ranges(quarter).label("median, quartiles").series(0))
            .layer(Layer::points(middle).label("median, quartiles").series(0))
    };
    let bound = median(&measured(rows, "bound"));
    Figure::new()
        .panel(
            panel("Updates", "updates", "updates")
                .layer(Layer::horizontal(bound).label("bound R²/γ²")),
        )
        .panel(panel("Examples scored on the way", "scored", "scores"))
        .columns(2)
        .panel_size(300.0, 230.0)
        .title("Which order of visits?")
        .caption("200 examples, 10 features, γ = 0.02; the bound holds for every order. The orders mistakes and worst score all examples before each pick.")
}
