//! Which weights to keep when labels are noisy.

use std::sync::atomic::AtomicBool;

use rosenblatt::bounds;
use rosenblatt::data::Precision;
use rosenblatt::options::{Readout, parse_choice};
use rosenblatt::synthetic::{self, Kind};
use rosenblatt::{Error, Options, Result};
use rosenblatt_plot::{Axis, Figure, Panel, spread};

use super::super::data::{plain, train};
use super::super::statistics::{Interval, median, spread_text};
use super::super::study::{
    Case, Conclusion, Effort, Row, Study, Table, case, having, measured, values_of, within_bounds,
};
use crate::render::numbers::percent;

pub const STUDY: Study = Study {
    name: "readouts",
    title: "Last, averaged, voted or pocket",
    question: "A tenth of the labels are wrong, so that no hyperplane separates and the running \
        weights never come to rest. Which of the weights a run goes through should be kept, and \
        after how many passes?",
    settings: &["readout", "seed"],
    measures: &[
        "error_1", "error_2", "error_3", "error_5", "error_10", "error_20", "updates", "bound",
    ],
    plan,
    run,
    conclude,
};

const PASSES: [usize; 6] = [1, 2, 3, 5, 10, 20];
const EXAMPLES: usize = 500;
const NEW: usize = 1000;
const NOISE: f64 = 0.1;

fn plan(effort: &Effort) -> Vec<Case> {
    let mut cases = Vec::new();
    for seed in effort.seeds(12, 100) {
        for readout in ["last", "averaged", "averaged-normalised", "voted", "pocket"] {
            cases.push(case(&[&readout, &seed]));
        }
    }
    cases
}

fn run(row: &Row<'_>, interrupt: &AtomicBool) -> Result<Vec<f64>> {
    let made = synthetic::generate(&synthetic::Options {
        examples: Some(EXAMPLES + NEW),
        features: Some(10),
        margin: Some(0.05),
        noise: NOISE,
        precision: Precision::F64,
        seed: row.seed(),
        ..synthetic::Options::new(Kind::Separable)
    })?;
    let old: Vec<usize> = (0..EXAMPLES).collect();
    let new: Vec<usize> = (EXAMPLES..EXAMPLES + NEW).collect();
    let data = made.dataset.select(&old);
    // New examples are held against the truth, so their labels are put right.
    let mut truth = made.dataset.clone();
    for &i in &made.flipped {
        truth.labels[i] = 1 - truth.labels[i];
    }
    let truth = truth.select(&new);
    let readout = parse_choice::<Readout>(row.text("readout")).map_err(Error::options)?;
    let mut measures = Vec::new();
    let mut longest = None;
    for passes in PASSES {
        let options = Options {
            readout: Some(readout),
            epochs: Some(passes as u64),
            ..plain(row.seed())
        };
        let fitted = train(&options, &data, interrupt)?;
        measures.push(1.0 - fitted.model.accuracy(&truth, 1)?);
        longest = Some((passes as u64, fitted));
    }
    let margins: Vec<f64> = made.separator.as_ref().map_or_else(Vec::new, |s| {
        let of = |i: usize| s.functional_margin(data.row(i), data.labels[i]) / s.length();
        (0..data.len()).map(of).collect()
    });
    if let Some((passes, fitted)) = longest {
        measures.push(fitted.model.progress.updates as f64);
        measures.push(bounds::best_inseparable(fitted.radius, &margins, passes).1);
    }
    Ok(measures)
}

fn conclude(rows: &[Row<'_>]) -> Result<Conclusion> {
    let mut panel = Panel::new()
        .x(Axis::log("pass"))
        .y(Axis::linear("error on new examples").percent().from_zero())
        .size(460.0, 320.0);
    let mut header = vec!["read-out".to_owned()];
    header.extend(PASSES.iter().map(|p| format!("pass {p} [%]")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header);
    let error = |rows: &[Row<'_>], pass: usize| measured(rows, &format!("error_{pass}"));
    for readout in values_of(rows, "readout") {
        let chosen = having(rows, "readout", readout);
        let groups: Vec<(f64, Vec<f64>)> = PASSES
            .iter()
            .map(|&p| (p as f64, error(&chosen, p)))
            .collect();
        panel = panel.layers(spread(readout, &groups));
        let mut cells = vec![readout.to_owned()];
        cells.extend(groups.iter().map(|(_, errors)| {
            let errors: Vec<f64> = errors.iter().map(|e| 100.0 * e).collect();
            spread_text(&errors)
        }));
        table.push(cells);
    }
    let figure = Figure::of(panel)
        .title("Error by pass when a tenth of the labels is wrong")
        .caption(format!(
            "{EXAMPLES} examples, 10 features; {NEW} new examples with their true labels. Median and quartiles over seeds."
        ));
    let last = PASSES[PASSES.len() - 1];
    let mut finals: Vec<(&str, f64)> = values_of(rows, "readout")
        .into_iter()
        .map(|r| (r, median(&error(&having(rows, "readout", r), last))))
        .collect();
    finals.sort_by(|a, b| a.1.total_cmp(&b.1));
    let listed: Vec<String> = finals
        .iter()
        .map(|(name, e)| format!("{name} {}", percent(*e)))
        .collect();
    let gains: Vec<f64> = values_of(rows, "seed")
        .into_iter()
        .filter_map(|seed| {
            let of = |readout: &str| {
                let one = having(&having(rows, "seed", seed), "readout", readout);
                error(&one, last).first().copied()
            };
            Some(100.0 * (of("last")? - of("averaged")?))
        })
        .collect();
    Ok(Conclusion {
        sentences: vec![
            format!(
                "After {last} passes the median errors are: {}.",
                listed.join(", ")
            ),
            format!(
                "Averaging instead of keeping the last weights takes {} percentage points off the error.",
                Interval::of_mean(&gains)
            ),
        ],
        checks: vec![within_bounds(
            rows,
            "the bound ((R + √T·D)/γ)² for T passes over inseparable data",
        )],
        table,
        figures: vec![("passes".into(), figure)],
    })
}
