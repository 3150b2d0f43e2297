//! Every learner against a naive reference, through one table of cases.
//!
//! A case is one value on each axis; the table draws thousands of them and says at the end
//! that every pair of values on every two axes has met.

mod arow;
#[path = "../common/mod.rs"]
mod common;
mod linear_unit;
mod logistic;
mod passive_aggressive;
mod penalty;
mod reference;

use std::collections::HashSet;

use common::{READOUTS, Storage, Toy, bits, close, followed, planes, random, running, trained};
use reference::{Planes, Reference, Tally};
use rosenblatt::Options;
use rosenblatt::data::Precision;
use rosenblatt::internal::random::Random;
use rosenblatt::options::{AtZero, Bias, ClassWeight, Multiclass, Order, Readout, Start, Ties};
use rosenblatt::progress::Pass;
use rosenblatt::training::{Fitted, Step};

/// How many values each axis has, by the order in which [`Case::new`] reads them.
const AXES: [(&str, usize); 16] = [
    ("scheme", 7),
    ("readout", 6),
    ("ties", 3),
    ("bias", 4),
    ("order", common::ORDERS.len()),
    ("start", 3),
    ("rate", 4),
    ("demand", 2),
    ("normalise", 2),
    ("class weight", 3),
    ("example weight", 2),
    ("storage", 4),
    ("layout", 2),
    ("numbers", 2),
    ("limit", 2),
    ("at zero", 2),
];

const EPOCHS: usize = 7;

struct Case {
    options: Options,
    toy: Toy,
    storage: Storage,
    /// All sums are of whole numbers, so every bit must agree.
    exact: bool,
}

impl Case {
    fn new(at: &[usize; AXES.len()], seed: u64) -> Self {
        let [scheme, readout, ties, bias, order, start, rate, demand, ..] = *at;
        let [
            ..,
            normalise,
            class,
            example,
            storage,
            layout,
            numbers,
            limit,
            zero,
        ] = *at;
        let (classes, multiclass) = [
            (2, None),
            (3, None),
            (2, Some(Multiclass::Argmax)),
            (5, Some(Multiclass::Argmax)),
            (2, Some(Multiclass::Ovr)),
            (3, Some(Multiclass::Ovr)),
            (4, Some(Multiclass::Ovo)),
        ][scheme];
        let (n, d) = (13, 3);
        let mut toy = match numbers {
            0 => common::integers(seed, n, d, classes, 3),
            _ => common::reals(seed, n, d, classes),
        };
        // Every other set can be separated: the label is one that a drawn plane gives.
        if seed.is_multiple_of(2) {
            let mut random = random(seed + 1);
            let u: Vec<Vec<f64>> = (0..classes)
                .map(|_| common::unit_vector(&mut random, d + 1))
                .collect();
            for (label, row) in toy.labels.iter_mut().zip(&toy.rows) {
                let best = |a: &usize, b: &usize| {
                    common::score(&u[*a], row).total_cmp(&common::score(&u[*b], row))
                };
                *label = (0..classes).max_by(best).unwrap() as u32;
            }
        }
        if example == 1 {
            let choices = [0.5, 1.0, 2.0, 3.0];
            let mut random = random(seed + 2);
            toy.weights = Some((0..n).map(|_| choices[random.below(4) as usize]).collect());
        }
        let bias = [
            Bias::Lifted,
            Bias::None,
            Bias::Unlifted(None),
            Bias::Unlifted(Some(2.0)),
        ][bias];
        let mut given = vec![-1.0, 2.0, 0.0, 1.0];
        if bias == Bias::None {
            given.remove(0);
        }
        let options = Options {
            multiclass,
            readout: Some(READOUTS[readout]),
            ties: [Ties::Mistake, Ties::Positive, Ties::Correct][ties],
            bias: Some(bias),
            order: common::ORDERS[order],
            start: [Start::Zero, Start::Given(given), Start::Random(2.0)][start].clone(),
            learning_rate: [None, Some(0.1), Some(7.0), Some(1e-3)][rate],
            margin_demand: [0.0, 1.5][demand],
            normalise_weights: normalise == 1,
            class_weight: [
                ClassWeight::One,
                ClassWeight::Balanced,
                ClassWeight::Listed(vec![("1".into(), 0.25), ("0".into(), 3.0)]),
            ][class]
                .clone(),
            at_zero: [AtZero::Positive, AtZero::Negative][zero],
            max_updates: [None, Some(9)][limit],
            epochs: Some(EPOCHS as u64),
            seed,
            ..Options::default()
        };
        let whole_steps = (start == 0 && demand == 0) || (start < 2 && (rate == 0 || rate == 2));
        Case {
            exact: numbers == 0
                && whole_steps
                && class != 1
                && normalise == 0
                && options.readout() != Readout::AveragedNormalised,
            options,
            toy,
            storage: Storage {
                sparse: storage % 2 == 1,
                precision: [Precision::F32, Precision::F64][storage / 2],
                scattered: layout == 1,
            },
        }
    }

    fn refused(&self) -> bool {
        let stands_still = self.options.ties == Ties::Correct
            && self.options.start == Start::Zero
            && self.options.margin_demand == 0.0;
        let one_vector = matches!(self.options.start, Start::Given(_));
        let many_planes = self.toy.classes > 2 || self.options.multiclass.is_some();
        stands_still || (one_vector && many_planes)
    }

    /// The same to the last bit where arithmetic is exact, else to rounding.
    fn same(&self, found: f64, expected: f64, scale: f64) -> bool {
        if self.exact {
            found == expected
        } else {
            close(found, expected, scale, 1e-11)
        }
    }

    fn check(&self) -> Result<(), String> {
        let run = followed(&self.toy.stored(self.storage), &self.options);
        let (steps, fitted) = match (run, self.refused()) {
            (Ok(run), false) => run,
            (Err(_), true) => return Ok(()),
            (Ok(_), true) => return Err("was not refused".into()),
            (Err(error), false) => return Err(error.to_string()),
        };
        let reference = Reference::new(&self.toy, &self.options);
        let start = self.start(&steps, &fitted)?;
        let observed: Vec<usize> = steps.iter().map(|s| s.row as usize - 1).collect();
        if self.options.order == Order::Shuffled {
            for pass in observed.chunks_exact(self.toy.len()) {
                let distinct: HashSet<_> = pass.iter().collect();
                ensure(
                    distinct.len() == pass.len(),
                    "a shuffled pass repeats a row",
                )?;
            }
        }
        let expected = reference.run(start, &observed, EPOCHS);

        let found: Vec<(usize, bool)> = steps
            .iter()
            .map(|s| (s.row as usize - 1, !s.correct))
            .collect();
        ensure_eq(&found, &expected.visits, "visits and updates")?;
        let progress = &fitted.model.progress;
        ensure_eq(progress.stop, Some(expected.stop), "stop")?;
        ensure_eq(progress.passes.len(), expected.passes.len(), "passes")?;
        for (pass, tally) in progress.passes.iter().zip(&expected.passes) {
            self.check_pass(pass, tally)?;
        }
        self.check_pass(&progress.current, &expected.unfinished)?;
        let all = || expected.passes.iter().chain([&expected.unfinished]);
        ensure_eq(
            (progress.visits, progress.updates, progress.mistakes),
            (
                all().map(|t| t.visits).sum(),
                all().map(|t| t.updates).sum(),
                all().map(|t| t.mistakes).sum(),
            ),
            "totals",
        )?;
        let steps_squared = (progress.squared_steps, expected.squared_steps);
        ensure(
            self.same(steps_squared.0, steps_squared.1, 0.0),
            "squared steps",
        )?;

        for (step, planes) in steps.iter().zip(&expected.history) {
            let found = self.unflattened(&step.weights_after);
            self.check_planes(
                &found,
                &scaled(planes, reference.unit),
                "weights after a visit",
            )?;
        }
        match reference.read_out(&expected) {
            Some(expected) => {
                let found = planes(fitted.model.weights().expect("linear weights"));
                self.check_planes(&found, &expected, "read-out")
            }
            None => self.check_votes(&reference, &expected, &fitted),
        }
    }

    fn check_votes(
        &self,
        reference: &Reference<'_>,
        expected: &reference::Outcome,
        fitted: &Fitted,
    ) -> Result<(), String> {
        ensure(fitted.model.weights().is_none(), "votes have no weights")?;
        let mut others = common::integers(self.options.seed + 3, 6, 3, 2, 4);
        others.rows.extend(self.toy.rows.clone());
        others.labels.resize(others.rows.len(), 0);
        let data = others.stored(Storage {
            scattered: false,
            ..self.storage
        });
        let mut scorer = fitted.model.scorer();
        for (i, row) in others.rows.iter().enumerate() {
            let (votes, doubtful) = reference.votes(expected, row);
            let class = scorer.class(data.row(i));
            let found = scorer.scores(data.row(i));
            if self.exact || doubtful == 0.0 {
                ensure_eq(found, &votes[..], "votes")?;
                ensure_eq(class, reference.decide(&votes), "class")?;
            }
            let apart = |(f, v): (&f64, &f64)| (f - v).abs() <= 2.0 * doubtful;
            ensure(found.iter().zip(&votes).all(apart), "votes beyond doubt")?;
        }
        Ok(())
    }

    fn check_pass(&self, pass: &Pass, tally: &Tally) -> Result<(), String> {
        ensure_eq(
            (pass.visits, pass.updates, pass.mistakes, pass.on_boundary),
            (
                tally.visits,
                tally.updates,
                tally.mistakes,
                tally.on_boundary,
            ),
            "counts of a pass",
        )?;
        for (found, expected) in [
            (pass.perceptron_loss, tally.perceptron_loss),
            (pass.hinge_loss, tally.hinge_loss),
        ] {
            // A loss in units of an inexact rate is a sum of rounded numbers.
            let close = close(found, expected, 1.0, 1e-12);
            ensure(close, &format!("loss {found}, expected {expected}"))?;
        }
        Ok(())
    }

    fn check_planes(&self, found: &Planes, expected: &Planes, what: &str) -> Result<(), String> {
        ensure_eq(found.len(), expected.len(), "planes")?;
        let scale = expected
            .iter()
            .flatten()
            .fold(0.0f64, |m, w| m.max(w.abs()));
        let same = found
            .iter()
            .flatten()
            .zip(expected.iter().flatten())
            .all(|(f, e)| self.same(*f, *e, scale));
        ensure(same, &format!("{what}: {found:?}, expected {expected:?}"))
    }

    /// A step's vector as planes with their bias first, 0 where there is none.
    fn unflattened(&self, vector: &[f64]) -> Planes {
        let has_bias = self.options.bias() != Bias::None;
        vector
            .chunks_exact(self.toy.features() + usize::from(has_bias))
            .map(|chunk| {
                let bias = if has_bias { &[][..] } else { &[0.0][..] };
                [bias, chunk].concat()
            })
            .collect()
    }

    /// Where the run began, checked against what was asked.
    fn start(&self, steps: &[Step], fitted: &Fitted) -> Result<Planes, String> {
        let start = match steps.first() {
            Some(step) => self.unflattened(&step.weights),
            None => running(&fitted.model),
        };
        match &self.options.start {
            Start::Zero => ensure(start.iter().flatten().all(|w| *w == 0.0), "start is not 0")?,
            Start::Given(vector) => {
                let skip = usize::from(self.options.bias() == Bias::None);
                ensure_eq(&start[0][skip..], &vector[..], "start")?;
            }
            Start::Random(length) => {
                for plane in &start {
                    let right = close(common::norm(plane), *length, 1.0, 1e-14);
                    ensure(right, "length of a random start")?;
                }
            }
        }
        Ok(start)
    }
}

fn scaled(planes: &Planes, unit: f64) -> Planes {
    planes
        .iter()
        .map(|p| p.iter().map(|w| w * unit).collect())
        .collect()
}

fn ensure(condition: bool, what: &str) -> Result<(), String> {
    condition.then_some(()).ok_or_else(|| what.to_owned())
}

fn ensure_eq<T: PartialEq + std::fmt::Debug>(
    found: T,
    expected: T,
    what: &str,
) -> Result<(), String> {
    let text = || format!("{what}: {found:?}, expected {expected:?}");
    (found == expected).then_some(()).ok_or_else(text)
}

fn drawn(random: &mut Random) -> [usize; AXES.len()] {
    std::array::from_fn(|axis| random.below(AXES[axis].1 as u64) as usize)
}

#[test]
fn perceptrons_do_what_the_definition_says_on_every_axis() {
    let mut random = random(1);
    let mut met = HashSet::new();
    let (mut ran, mut exact, mut stops) = (0, 0, HashSet::new());
    let mut failures = Vec::new();
    for seed in 0..12_000 {
        let at = drawn(&mut random);
        let case = Case::new(&at, seed);
        for (a, &x) in at.iter().enumerate() {
            for (b, &y) in at.iter().enumerate().skip(a + 1) {
                met.insert((a, x, b, y));
            }
        }
        match case.check() {
            Ok(()) if case.refused() => {}
            Ok(()) => {
                ran += 1;
                exact += usize::from(case.exact);
                let fitted = trained(&case.toy.dataset(), &case.options);
                stops.insert(fitted.model.progress.stop.unwrap().name());
            }
            Err(what) => failures.push(format!("{:?} {:?}: {what}", at, case.options.changed())),
        }
    }
    assert!(
        failures.is_empty(),
        "{} cases differ, the first ones:\n{}",
        failures.len(),
        failures[..failures.len().min(8)].join("\n")
    );
    let pairs: usize = (0..AXES.len())
        .flat_map(|a| (a + 1..AXES.len()).map(move |b| AXES[a].1 * AXES[b].1))
        .sum();
    assert_eq!(met.len(), pairs, "some pair of values never met");
    assert!(
        ran > 7_000 && exact > 300,
        "{ran} ran, {exact} of them exact"
    );
    for stop in ["separated", "no_mistakes", "epoch_limit", "update_limit"] {
        assert!(stops.contains(stop), "no case ended {stop}");
    }
}

#[test]
fn storage_and_layout_never_change_a_bit() {
    let mut random = random(2);
    let mut compared = 0;
    for seed in 0..600 {
        let at = drawn(&mut random);
        let case = Case::new(&at, seed);
        if case.refused() {
            continue;
        }
        let mut first: Option<Fitted> = None;
        for storage in 0..8 {
            let fitted = trained(
                &case.toy.stored(Storage {
                    sparse: storage & 1 == 1,
                    precision: [Precision::F32, Precision::F64][storage >> 1 & 1],
                    scattered: storage & 4 == 4,
                }),
                &case.options,
            );
            let Some(first) = &first else {
                first = Some(fitted);
                continue;
            };
            let (a, b) = (&first.model, &fitted.model);
            assert_eq!(bits(&running(a)), bits(&running(b)), "{:?}", case.options);
            assert_eq!(a.progress, b.progress);
            assert_eq!(a.trained_on, b.trained_on);
            match (a.weights(), b.weights()) {
                (Some(a), Some(b)) => assert_eq!(bits(&planes(a)), bits(&planes(b))),
                _ => {
                    let rows = case.toy.dataset();
                    let predicted = a.predict(&rows.matrix, 1).unwrap();
                    assert_eq!(predicted, b.predict(&rows.matrix, 2).unwrap());
                }
            }
            compared += 1;
        }
    }
    assert!(compared > 2_000, "{compared}");
}

/// Under a demand no margin can meet every visit updates, so the weights name the visit.
fn every_visit_updates() -> (Toy, Options) {
    let rows = (0..5).map(|i| vec![f64::from(1 << i), 1.0]).collect();
    let toy = Toy::binary(rows, vec![1, 0, 1, 0, 1]);
    let options = Options {
        margin_demand: 1e12,
        bias: Some(Bias::None),
        ..Options::default()
    };
    (toy, options)
}

/// Whether `counts` look like equal chances: χ² within 5 standard deviations, both ways.
fn equal_chances(counts: &[usize]) -> bool {
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let chi: f64 = counts
        .iter()
        .map(|&c| (c as f64 - mean).powi(2) / mean)
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    chi <= freedom + 5.0 * (2.0 * freedom).sqrt()
}

#[test]
fn the_random_readout_keeps_every_visit_equally_often() {
    let (toy, options) = every_visit_updates();
    let options = Options {
        readout: Some(Readout::Random),
        order: Order::Given,
        epochs: Some(4),
        ..options
    };
    let data = toy.dataset();
    let (steps, _) = followed(&data, &options).unwrap();
    let after: Vec<&Vec<f64>> = steps.iter().map(|s| &s.weights_after).collect();
    let distinct: HashSet<String> = after.iter().map(|w| format!("{w:?}")).collect();
    assert_eq!(distinct.len(), 20);
    let mut counts = vec![0; steps.len()];
    for seed in 0..4_000 {
        let options = Options {
            seed,
            ..options.clone()
        };
        let kept = planes(trained(&data, &options).model.weights().unwrap());
        let visit = after.iter().position(|w| **w == kept[0][1..]).unwrap();
        counts[visit] += 1;
    }
    assert!(equal_chances(&counts), "{counts:?}");
}

#[test]
fn drawn_orders_give_every_row_its_chance() {
    let (toy, options) = every_visit_updates();
    for order in [Order::Random, Order::Mistakes] {
        let options = Options {
            order,
            epochs: Some(800),
            ..options.clone()
        };
        let (steps, _) = followed(&toy.dataset(), &options).unwrap();
        assert_eq!(steps.len(), 4_000);
        let mut counts = [0; 5];
        let mut pairs = [0; 25];
        for (a, b) in steps.iter().zip(&steps[1..]) {
            counts[a.row as usize - 1] += 1;
            pairs[(a.row as usize - 1) * 5 + b.row as usize - 1] += 1;
        }
        assert!(equal_chances(&counts), "{order:?} {counts:?}");
        assert!(equal_chances(&pairs), "{order:?} {pairs:?}");
    }
}

#[test]
fn shuffled_passes_give_every_row_every_place() {
    let (toy, options) = every_visit_updates();
    let options = Options {
        order: Order::Shuffled,
        epochs: Some(2_000),
        ..options
    };
    let (steps, _) = followed(&toy.dataset(), &options).unwrap();
    let mut places = [0; 25];
    for (place, step) in steps.iter().enumerate() {
        places[place % 5 * 5 + step.row as usize - 1] += 1;
    }
    assert!(equal_chances(&places), "{places:?}");
    assert_eq!(places[..5].iter().sum::<usize>(), 2_000);
}
