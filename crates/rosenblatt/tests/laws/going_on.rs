//! Runs that stop and go on, threads and layouts: one answer.

use super::*;

fn assert_same_run(a: &Model, b: &Model, what: &str) {
    assert_eq!(a.progress, b.progress, "{what}");
    assert_eq!(a.state, b.state, "{what}");
    assert_eq!(a.decision, b.decision, "{what}");
    assert_eq!(bits(&running(a)), bits(&running(b)), "{what}");
    if let (Some(a), Some(b)) = (a.weights(), b.weights()) {
        assert_eq!(bits(&planes(a)), bits(&planes(b)), "{what}");
    }
}

/// Trains in pieces, each limited as `limits` say, and then without those limits.
fn in_pieces(data: &Dataset, options: &Options, limits: &[Options]) -> Model {
    let mut model: Option<Model> = None;
    for piece in limits.iter().chain([options]) {
        let session = Session::new(piece).resume(model.as_ref());
        model = Some(session.train(data).unwrap().model);
    }
    model.unwrap()
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_run_stopped_anywhere_goes_on_as_if_it_had_not(
        seed in 0u64..1_000_000,
        whole in any::<bool>(),
        order in orders(),
        readout in one_of(&READOUTS),
        multiclass in one_of(&[
            None,
            Some(Multiclass::Argmax),
            Some(Multiclass::Ovr),
            Some(Multiclass::Ovo),
        ]),
        bias in biases(),
        normalise_weights in any::<bool>(),
        demand in one_of(&[0.0, 1.0]),
        start in one_of(&[Start::Zero, Start::Random(2.0)]),
        rate in one_of(&[1.0, 0.1]),
        first in 1u64..40,
        second in 0u64..40,
        epochs in 1u64..8,
    ) {
        let classes = if multiclass.is_some() { 3 } else { 2 };
        let toy = if whole {
            common::integers(seed, 12, 3, classes, 3)
        } else {
            common::reals(seed, 12, 3, classes)
        };
        let data = toy.dataset();
        let options = Options {
            order, multiclass, bias: Some(bias), seed, normalise_weights, start,
            readout: Some(readout),
            margin_demand: demand,
            learning_rate: Some(rate),
            epochs: Some(9),
            ..Options::default()
        };
        let unbroken = trained(&data, &options).model;
        let after_updates = |most| Options { max_updates: Some(most), ..options.clone() };
        let after_passes = |most| Options { epochs: Some(most), ..options.clone() };
        let pieces = [
            vec![after_updates(first)],
            vec![after_passes(epochs)],
            vec![after_updates(first), after_updates(first + second)],
            vec![after_passes(1), after_updates(first), after_passes(epochs)],
            vec![after_updates(first), after_updates(first), after_updates(first)],
        ];
        for limits in &pieces {
            let broken = in_pieces(&data, &options, limits);
            assert_same_run(&broken, &unbroken, "in pieces");
        }
    }
}

/// Raises a flag at a visit.
struct Interrupter<'a> {
    at: u64,
    flag: &'a AtomicBool,
}

impl Callback for Interrupter<'_> {
    fn wants_steps(&self) -> bool {
        true
    }
    fn step(&mut self, step: Step) {
        if step.step >= self.at {
            self.flag.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn an_interrupted_run_goes_on_as_if_it_had_not_been() {
    let toy = common::reals(5, 700, 4, 2);
    let data = toy.dataset();
    for order in ORDERS {
        for readout in READOUTS {
            let epochs = if matches!(order, Order::Mistakes | Order::Worst) {
                1
            } else {
                3
            };
            let options = Options {
                order,
                readout: Some(readout),
                epochs: Some(epochs),
                ..Options::default()
            };
            let unbroken = trained(&data, &options).model;
            for at in [1, 300, 701] {
                let flag = AtomicBool::new(false);
                let stopped = Session::new(&options)
                    .interrupt(&flag)
                    .train_with(&data, &mut Interrupter { at, flag: &flag })
                    .unwrap()
                    .model;
                if at < 700 {
                    assert_eq!(stopped.progress.stop, Some(Stop::Interrupted));
                    assert!(stopped.progress.visits >= at && stopped.progress.visits < at + 257);
                }
                let resumed = Session::new(&options)
                    .resume(Some(&stopped))
                    .train(&data)
                    .unwrap();
                assert_same_run(&resumed.model, &unbroken, "interrupted");
            }
        }
    }
}

/// Keeps the model of every pass.
#[derive(Default)]
struct Checkpoints(Vec<Model>);

impl Callback for Checkpoints {
    fn wants_checkpoint(&mut self) -> bool {
        true
    }
    fn checkpoint(&mut self, model: Model) -> rosenblatt::Result<()> {
        self.0.push(model);
        Ok(())
    }
}

#[test]
fn a_run_killed_after_any_pass_goes_on_from_its_checkpoint() {
    let data = common::reals(6, 40, 4, 3).dataset();
    for order in ORDERS {
        for readout in READOUTS {
            let options = Options {
                order,
                readout: Some(readout),
                epochs: Some(6),
                ..Options::default()
            };
            let mut checkpoints = Checkpoints::default();
            let unbroken = Session::new(&options)
                .train_with(&data, &mut checkpoints)
                .unwrap()
                .model;
            assert_eq!(checkpoints.0.len(), unbroken.progress.passes.len());
            for saved in &checkpoints.0 {
                let resumed = Session::new(&options)
                    .resume(Some(saved))
                    .train(&data)
                    .unwrap();
                assert_same_run(&resumed.model, &unbroken, "from a checkpoint");
            }
        }
    }
}

/// Three classes, each moved so far along an axis of its own.
fn three_apart(seed: u64, n: usize, d: usize, by: f64) -> Toy {
    let mut toy = common::reals(seed, n, d, 3);
    for (row, &label) in toy.rows.iter_mut().zip(&toy.labels) {
        row[label as usize] += by;
    }
    toy
}

/// A clean pass has seen every margin; a run that does not have one looks again.
#[test]
fn a_separating_run_proves_the_same_margin_however_it_came_to_its_end() {
    let (two, _) = separable(3, 700, 4, 0.2, 0.3);
    for toy in [two, three_apart(4, 600, 3, 30.0)] {
        let data = toy.dataset();
        for order in ORDERS {
            let options = Options {
                order,
                epochs: Some(500),
                ..Options::default()
            };
            let whole = trained(&data, &options);
            assert_eq!(
                whole.model.progress.stop,
                Some(Stop::Separated),
                "{order:?}"
            );
            assert!(whole.margin.is_some() && whole.updates_at_most.is_some());
            let told = |fitted: &Fitted| (fitted.margin, fitted.updates_at_most);
            let go_on = |from: &Model| {
                let session = Session::new(&options).resume(Some(from));
                session.train(&data).unwrap()
            };
            assert_eq!(told(&go_on(&whole.model)), told(&whole), "{order:?}");
            // Stopped inside the last pass, the others saw only a part of it.
            let at = whole.model.progress.visits.saturating_sub(300).max(1);
            let flag = AtomicBool::new(false);
            let stopped = Session::new(&options)
                .interrupt(&flag)
                .train_with(&data, &mut Interrupter { at, flag: &flag })
                .unwrap();
            assert_eq!(told(&go_on(&stopped.model)), told(&whole), "{order:?}");
        }
    }
}

#[test]
fn a_spent_update_limit_stays_spent() {
    let data = common::integers(7, 12, 3, 2, 3).dataset();
    for order in ORDERS {
        let options = Options {
            order,
            max_updates: Some(5),
            epochs: Some(50),
            ..Options::default()
        };
        let first = trained(&data, &options).model;
        assert_eq!(first.progress.stop, Some(Stop::UpdateLimit));
        assert_eq!(first.progress.updates, 5);
        let again = Session::new(&options)
            .resume(Some(&first))
            .train(&data)
            .unwrap()
            .model;
        assert_same_run(&again, &first, "nothing left to do");
    }
}

#[test]
fn threads_and_layout_never_change_a_bit() {
    for (classes, multiclass) in [(2, None), (3, None), (3, Some(Multiclass::Ovo))] {
        let mut toy = common::reals(8, 600, 6, classes);
        toy.weights = Some((0..600).map(|i| 0.5 + (i % 7) as f64).collect());
        for order in [
            Order::Given,
            Order::ByClass,
            Order::Shuffled,
            Order::Random,
            Order::Restart,
        ] {
            for readout in READOUTS {
                let options = Options {
                    order,
                    multiclass,
                    readout: Some(readout),
                    class_weight: ClassWeight::Balanced,
                    epochs: Some(3),
                    ..Options::default()
                };
                let reference = Session::new(&options)
                    .threads(1)
                    .train(&toy.dataset())
                    .unwrap();
                for (threads, sparse, scattered) in
                    [(2, false, true), (5, true, false), (1, true, true)]
                {
                    let data = toy.stored(Storage {
                        sparse,
                        scattered,
                        ..PLAIN
                    });
                    let other = Session::new(&options)
                        .threads(threads)
                        .train(&data)
                        .unwrap();
                    assert_eq!(other.model.progress, reference.model.progress);
                    assert_eq!(other.model.state, reference.model.state);
                    assert_eq!(other.radius.to_bits(), reference.radius.to_bits());
                    assert_eq!(
                        bits(&running(&other.model)),
                        bits(&running(&reference.model))
                    );
                    if let (Some(a), Some(b)) = (other.model.weights(), reference.model.weights()) {
                        assert_eq!(bits(&planes(a)), bits(&planes(b)));
                    } else {
                        let rows = toy.dataset();
                        assert_eq!(
                            other.model.predict(&rows.matrix, threads).unwrap(),
                            reference.model.predict(&rows.matrix, 1).unwrap()
                        );
                    }
                }
            }
        }
    }
}

/// Rows so long and updates so rare that others help to score ahead.
#[test]
fn helpers_never_change_a_bit() {
    let (two, _) = separable(11, 900, 600, 0.0, 0.5);
    for toy in [two, three_apart(12, 700, 500, 4.0)] {
        for sparse in [false, true] {
            let data = toy.stored(Storage {
                sparse,
                scattered: true,
                ..PLAIN
            });
            let options = Options {
                epochs: Some(60),
                ..Options::default()
            };
            let train = |threads| {
                let session = Session::new(&options).threads(threads);
                session.train(&data).unwrap()
            };
            let alone = train(1);
            assert!(alone.model.progress.updates > 20);
            for threads in [2, 3, 7] {
                let together = train(threads);
                let bytes = |fitted: &Fitted| fitted.model.to_bytes().unwrap();
                assert!(bytes(&together) == bytes(&alone), "{threads} {sparse}");
                assert_eq!(together.margin, alone.margin);
            }
        }
    }
}

#[test]
fn a_run_goes_on_only_with_the_options_it_began_with() {
    let data = common::reals(10, 600, 3, 2).dataset();
    let begun = Options {
        max_updates: Some(3),
        ..Options::default()
    };
    let model = trained(&data, &begun).model;
    for (name, value) in [
        ("order", "given"),
        ("readout", "voted"),
        ("learning-rate", "0.5"),
        ("ties", "positive"),
        ("margin-demand", "1"),
        ("bias", "none"),
        ("normalise-weights", "true"),
        ("start", "random:1"),
        ("class-weight", "balanced"),
        ("at-zero", "negative"),
        ("seed", "3"),
        ("learner", "linear-unit"),
    ] {
        let mut other = begun.clone();
        other.set(name, value).unwrap();
        let error = Session::new(&other)
            .resume(Some(&model))
            .train(&data)
            .unwrap_err();
        let named = name.replace('-', "_");
        assert!(error.to_string().contains(&named), "{name}: {error}");
    }
    for (name, value) in [
        ("epochs", "3"),
        ("max-updates", "30"),
        ("time-limit", "1000"),
        ("patience", "2"),
    ] {
        let mut other = begun.clone();
        other.set(name, value).unwrap();
        Session::new(&other)
            .resume(Some(&model))
            .train(&data)
            .unwrap();
    }
}

#[test]
fn the_linear_unit_goes_on_as_if_it_had_not_stopped() {
    let mut stops = std::collections::HashSet::new();
    for (classes, rate, gradient) in [
        (2, None, Gradient::Batch),
        (2, None, Gradient::Stochastic),
        (3, None, Gradient::Stochastic),
        (2, Some(0.2), Gradient::Batch),
        (2, Some(3.0), Gradient::Batch),
        (2, Some(3.0), Gradient::Stochastic),
    ] {
        let data = common::reals(11, 30, 3, classes).dataset();
        for order in [Order::Given, Order::Shuffled, Order::Random] {
            let options = Options {
                learner: LinearUnit {
                    gradient,
                    decay: 0.01,
                    ..LinearUnit::default()
                }
                .into(),
                learning_rate: rate,
                order,
                epochs: Some(40),
                ..Options::default()
            };
            let unbroken = trained(&data, &options).model;
            stops.insert(unbroken.progress.stop.unwrap().name());
            for epochs in 1..8 {
                let piece = Options {
                    epochs: Some(epochs),
                    ..options.clone()
                };
                assert_same_run(
                    &in_pieces(&data, &options, &[piece]),
                    &unbroken,
                    "linear unit",
                );
            }
        }
    }
    assert!(
        stops.contains("diverged") && stops.contains("epoch_limit"),
        "{stops:?}"
    );
}

#[test]
fn the_best_pass_by_held_out_rows_is_kept_and_remembered() {
    let rows = |seed| {
        let mut toy = common::reals(seed, 200, 4, 2);
        toy.labels = (0..200u32).map(|i| i * 7919 % 13 % 2).collect();
        toy.dataset()
    };
    let (data, held_out) = (rows(5), rows(6));
    let train = |options: &Options, from: Option<&Model>| {
        let session = Session::new(options).validate_on(Some(&held_out));
        session.resume(from).train(&data).unwrap().model
    };
    let mut earlier = 0;
    for metric in [Metric::Accuracy, Metric::MacroF1, Metric::Auc] {
        let options = |epochs, keep| Options {
            epochs: Some(epochs),
            keep,
            metric,
            ..Options::default()
        };
        let unbroken = train(&options(15, Keep::Best), None);
        let best = unbroken.progress.best.unwrap();
        assert!(best.reached <= best.pass && best.pass <= 15, "{best:?}");
        earlier += u64::from(best.pass < 15);
        // It is what a run of so many passes ends with.
        let shorter = train(&options(best.pass, Keep::Last), None);
        assert_eq!(unbroken.decision, shorter.decision);
        let found = Evaluation::of(&unbroken, &held_out, 1).unwrap();
        assert_eq!(found.score(metric), Some(best.score));
        let last = train(&options(15, Keep::Last), None);
        assert_eq!(unbroken.decision == last.decision, best.pass == 15);
        assert_eq!(unbroken.state, last.state);
        for first in [1, best.pass, (best.pass + 1).min(15)] {
            let broken = train(&options(first, Keep::Best), None);
            let bytes = broken.to_bytes().unwrap();
            let broken = Model::from_bytes(&bytes).unwrap();
            let broken = train(&options(15, Keep::Best), Some(&broken));
            assert_same_run(&broken, &unbroken, "across a stop");
        }
    }
    assert!(earlier > 0, "the last pass was always the best");
}
