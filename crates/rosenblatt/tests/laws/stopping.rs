//! A run ends for the reason it gives.

use super::*;

/// The margin of every row under `planes`, by the definition of its scheme.
fn margins(toy: &Toy, multiclass: Option<Multiclass>, planes: &[Vec<f64>]) -> Vec<f64> {
    let k = toy.classes;
    (0..toy.len())
        .map(|i| {
            let y = toy.labels[i] as usize;
            let s: Vec<f64> = planes.iter().map(|p| score(p, &toy.rows[i])).collect();
            let all: Vec<f64> = match multiclass {
                None => vec![toy.sign(i) * s[0]],
                Some(Multiclass::Argmax) => {
                    (0..k).filter(|&c| c != y).map(|c| s[y] - s[c]).collect()
                }
                Some(Multiclass::Ovr) => {
                    (0..k).map(|c| if c == y { s[c] } else { -s[c] }).collect()
                }
                Some(Multiclass::Ovo) => (0..k)
                    .flat_map(|low| (low + 1..k).map(move |high| (low, high)))
                    .enumerate()
                    .filter(|(_, (low, high))| *low == y || *high == y)
                    .map(|(p, (_, high))| if high == y { s[p] } else { -s[p] })
                    .collect(),
            };
            all.into_iter().fold(f64::INFINITY, f64::min)
        })
        .collect()
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn separated_and_no_mistakes_are_only_said_when_a_sweep_agrees(
        seed in 0u64..1_000_000,
        n in 4usize..12,
        whole in any::<bool>(),
        order in orders(),
        ties in one_of(&[Ties::Mistake, Ties::Positive, Ties::Correct]),
        multiclass in one_of(&[
            None,
            Some(Multiclass::Argmax),
            Some(Multiclass::Ovr),
            Some(Multiclass::Ovo),
        ]),
        bias in biases(),
        demand in one_of(&[0.0, 1.0]),
        readout in one_of(&READOUTS),
        normalise_weights in any::<bool>(),
    ) {
        let classes = if multiclass.is_some() { 3 } else { 2 };
        let toy = if whole {
            common::integers(seed, n, 3, classes, 2)
        } else {
            common::reals(seed, n, 3, classes)
        };
        let start = if ties == Ties::Correct { Start::Random(1.0) } else { Start::Zero };
        let options = Options {
            order, ties, multiclass, bias: Some(bias), start, seed, normalise_weights,
            margin_demand: demand,
            readout: Some(readout),
            epochs: Some(60),
            ..Options::default()
        };
        let fitted = trained(&toy.dataset(), &options);
        let state = fitted.model.state.as_ref().unwrap();
        let margins = margins(&toy, multiclass, &planes(&state.weights));
        let zeros = margins.iter().filter(|m| **m == 0.0).count() as u64;
        match fitted.model.progress.stop.unwrap() {
            Stop::Separated => {
                prop_assert!(margins.iter().all(|m| *m > 0.0 && *m >= demand), "{margins:?}");
                if readout == Readout::Last && multiclass != Some(Multiclass::Ovo) {
                    let predicted = fitted.model.predict(&toy.dataset().matrix, 1).unwrap();
                    prop_assert_eq!(predicted, toy.labels);
                }
            }
            Stop::NoMistakes { at_zero } => {
                prop_assert!(margins.iter().all(|m| *m >= 0.0), "{margins:?}");
                prop_assert!(ties != Ties::Mistake && demand == 0.0);
                prop_assert!(at_zero > 0);
                prop_assert_eq!(at_zero, zeros);
            }
            stop => {
                prop_assert_eq!(stop, Stop::EpochLimit);
                // A whole pass without an update would have ended the run.
                let quiet = fitted.model.progress.passes.iter().any(|p| p.updates == 0);
                prop_assert!(!quiet || matches!(order, Order::Random | Order::Restart));
            }
        }
    }
}

#[test]
fn rows_on_the_boundary_are_counted_and_never_called_separated() {
    // Row (0) has score 0 for ever; as a positive row it is right under `positive`.
    let rows = vec![vec![1.0], vec![0.0], vec![-1.0], vec![0.0]];
    let toy = Toy::binary(rows, vec![1, 1, 0, 1]);
    for order in ORDERS {
        let options = last(Options {
            bias: Some(Bias::None),
            ties: Ties::Positive,
            order,
            epochs: Some(50),
            ..Options::default()
        });
        let stop = trained(&toy.dataset(), &options).model.progress.stop;
        assert_eq!(stop, Some(Stop::NoMistakes { at_zero: 2 }), "{order:?}");
    }
}

#[test]
fn a_lucky_epoch_of_draws_is_not_called_separated() {
    // One row among ten contradicts the rest: an epoch of draws misses it one time in three.
    let rows: Vec<Vec<f64>> = (0..10).map(|i| vec![1.0, f64::from(i)]).collect();
    let mut labels = vec![1; 10];
    labels[0] = 0;
    let toy = Toy::binary(rows, labels);
    let mut lucky = 0;
    for seed in 0..400 {
        let options = last(Options {
            order: Order::Random,
            epochs: Some(200),
            seed,
            ..Options::default()
        });
        let fitted = trained(&toy.dataset(), &options);
        let passes = &fitted.model.progress.passes;
        lucky += passes[..passes.len() - 1]
            .iter()
            .filter(|p| p.updates == 0)
            .count();
        assert_eq!(fitted.model.progress.stop, Some(Stop::Separated));
        assert!(
            margins(&toy, None, &running(&fitted.model))
                .iter()
                .all(|m| *m > 0.0)
        );
    }
    assert!(lucky > 100, "{lucky} lucky epochs");
}

#[test]
fn a_run_that_gains_nothing_ends_after_the_work_that_is_always_done() {
    let mut toy = common::reals(1, 20_000, 20, 2);
    toy.labels = (0..20_000u32).map(|i| i * 7919 % 13 % 2).collect();
    let data = toy.dataset();
    let run = |options: &Options| trained(&data, options).model;
    let plain = run(&Options {
        keep: Keep::Last,
        ..Options::default()
    });
    let size = DataSize::of(&data.matrix, 1);
    assert_eq!(plain.progress.stop, Some(Stop::NoGain));
    assert_eq!(plain.progress.epochs(), Options::free_passes(size));
    assert_eq!(plain.progress.epochs(), 15);
    // The same weights as that many passes, and a run on is not ended.
    let counted = run(&Options {
        epochs: Some(15),
        ..Options::default()
    });
    assert_eq!(counted.progress.stop, Some(Stop::EpochLimit));
    assert_eq!(counted.decision, plain.decision);
    // By default the average of the first ten is kept.
    let kept = run(&Options::default());
    let ten = run(&Options {
        epochs: Some(10),
        ..Options::default()
    });
    assert_eq!((kept.progress.epochs(), kept.progress.kept), (15, Some(10)));
    assert_eq!(kept.decision, ten.decision);
    assert_ne!(kept.decision, plain.decision);
    let on = run(&Options {
        until: Until::Separated,
        max_updates: Some(2 * plain.progress.updates),
        ..Options::default()
    });
    assert_eq!(on.progress.stop, Some(Stop::UpdateLimit));
}
