//! What one update does.

use super::*;

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn an_update_raises_the_margin_by_rate_times_weight_times_squared_length(
        seed in 0u64..1_000_000,
        whole in any::<bool>(),
        bias in biases(),
        order in orders(),
        ties in one_of(&[Ties::Mistake, Ties::Positive]),
        rate in one_of(&[1.0, 4.0, 0.5, 0.3]),
        demand in one_of(&[0.0, 2.0]),
        multiclass in one_of(&[None, Some(Multiclass::Argmax), Some(Multiclass::Ovr)]),
        from_afar in any::<bool>(),
    ) {
        let classes = if multiclass.is_some() { 3 } else { 2 };
        let mut toy = if whole {
            common::integers(seed, 9, 3, classes, 4)
        } else {
            common::reals(seed, 9, 3, classes)
        };
        toy.weights = Some((0..9).map(|i| [1.0, 2.0, 0.5][i % 3]).collect());
        let options = last(Options {
            bias: Some(bias), order, ties, multiclass, seed,
            margin_demand: demand,
            learning_rate: Some(rate),
            start: if from_afar { Start::Random(3.0) } else { Start::Zero },
            epochs: Some(6),
            ..Options::default()
        });
        let (steps, _) = followed(&toy.dataset(), &options).unwrap();
        let exact = whole && rate != 0.3 && !from_afar;
        prop_assume!(steps.iter().any(|s| !s.correct));
        for step in &steps {
            let i = step.row as usize - 1;
            let (x, y) = (&toy.rows[i], toy.labels[i] as usize);
            let before = unflattened(&step.weights, 3, bias);
            let after = unflattened(&step.weights_after, 3, bias);
            let grown = rate * toy.weight(i) * (dot(x, x) + constant(bias, &toy));
            let mut touched = 0;
            for d in 0..before.len() {
                if before[d] == after[d] && (step.correct || grown > 0.0) {
                    continue;
                }
                touched += 1;
                let raised = if before.len() == 1 { y == 1 } else { d == y };
                let sign = if raised { 1.0 } else { -1.0 };
                let found = sign * (score(&after[d], x) - score(&before[d], x));
                let scale = norm(&before[d]).max(norm(&after[d])) * (1.0 + norm(x));
                prop_assert!(
                    if exact { found == grown } else { close(found, grown, scale, 1e-14) },
                    "{found}, expected {grown}"
                );
            }
            prop_assert_eq!(touched > 0, !step.correct);
            if multiclass == Some(Multiclass::Argmax) && !step.correct && grown > 0.0 {
                prop_assert_eq!(touched, 2);
            }
        }
    }

    #[test]
    fn from_zero_every_rate_makes_the_same_mistakes(
        seed in 0u64..1_000_000,
        whole in any::<bool>(),
        bias in biases(),
        order in orders(),
        readout in one_of(&READOUTS),
        classes in 2usize..4,
    ) {
        let toy = if whole {
            common::integers(seed, 10, 3, classes, 2)
        } else {
            common::reals(seed, 10, 3, classes)
        };
        let data = toy.dataset();
        let at = |rate: f64| {
            let options = Options {
                bias: Some(bias), order, seed,
                readout: Some(readout),
                learning_rate: Some(rate),
                epochs: Some(12),
                ..Options::default()
            };
            followed(&data, &options).unwrap()
        };
        let (steps, one) = at(1.0);
        for rate in [0.1, 1e-3, 7.0, 1.0 / 3.0, 1e9] {
            let (others, other) = at(rate);
            prop_assert_eq!(updated_rows(&others), updated_rows(&steps));
            let (a, b) = (&one.model.progress, &other.model.progress);
            prop_assert_eq!(
                (a.stop, a.mistakes_per_epoch(), a.updates),
                (b.stop, b.mistakes_per_epoch(), b.updates)
            );
            for (a, b) in a.passes.iter().zip(&b.passes) {
                prop_assert!(close(a.perceptron_loss * rate, b.perceptron_loss, 0.0, 1e-12));
            }
            match (one.model.weights(), other.model.weights()) {
                (Some(a), Some(b)) => {
                    // Only the direction counts where each vector is divided by its length.
                    let unit = if readout == Readout::AveragedNormalised { 1.0 } else { rate };
                    let scaled: Vec<Vec<f64>> = planes(a)
                        .iter()
                        .map(|p| p.iter().map(|w| w * unit).collect())
                        .collect();
                    prop_assert_eq!(bits(&scaled), bits(&planes(b)));
                }
                _ => prop_assert_eq!(
                    one.model.predict(&data.matrix, 1).unwrap(),
                    other.model.predict(&data.matrix, 1).unwrap()
                ),
            }
        }
    }

    #[test]
    fn argmax_discriminators_keep_their_sum(
        seed in 0u64..1_000_000,
        classes in 2usize..6,
        bias in biases(),
        order in orders(),
        demand in one_of(&[0.0, 3.0]),
        start in one_of(&[Start::Zero, Start::Random(2.0)]),
    ) {
        let toy = common::integers(seed, 12, 3, classes, 3);
        let options = last(Options {
            multiclass: Some(Multiclass::Argmax),
            bias: Some(bias), order, seed,
            margin_demand: demand,
            start: start.clone(),
            epochs: Some(5),
            ..Options::default()
        });
        let sum = |vector: &[f64]| {
            let planes = unflattened(vector, 3, bias);
            (0..4).map(|j| planes.iter().map(|p| p[j]).sum()).collect::<Vec<f64>>()
        };
        let (steps, _) = followed(&toy.dataset(), &options).unwrap();
        let Some(first) = steps.first() else { return Ok(()); };
        let begun = sum(&first.weights);
        for step in &steps {
            let now = sum(&step.weights_after);
            let scale = norm(&step.weights_after);
            for (a, b) in now.iter().zip(&begun) {
                if start == Start::Zero {
                    prop_assert_eq!(a, b);
                } else {
                    prop_assert!(close(*a, *b, scale, 1e-13));
                }
            }
            prop_assert_eq!(step.correct, step.weights == step.weights_after);
        }
    }

    #[test]
    fn two_classes_by_argmax_follow_one_plane_at_twice_the_rate(
        seed in 0u64..1_000_000,
        whole in any::<bool>(),
        bias in biases(),
        order in orders(),
        ties in one_of(&[Ties::Mistake, Ties::Positive, Ties::Correct]),
        rate in one_of(&[1.0, 0.1, 3.0]),
        demand in one_of(&[0.0, 1.0]),
        readout in one_of(&[Readout::Last, Readout::Averaged, Readout::Pocket, Readout::Random]),
        at_zero in one_of(&[AtZero::Positive, AtZero::Negative]),
    ) {
        prop_assume!(ties != Ties::Correct || demand > 0.0);
        let toy = if whole {
            common::integers(seed, 10, 3, 2, 2)
        } else {
            common::reals(seed, 10, 3, 2)
        };
        let data = toy.dataset();
        let pair = Options {
            multiclass: Some(Multiclass::Argmax),
            readout: Some(readout),
            bias: Some(bias), order, ties, at_zero, seed,
            learning_rate: Some(rate),
            margin_demand: demand,
            epochs: Some(15),
            ..Options::default()
        };
        let plane = Options {
            multiclass: None,
            learning_rate: Some(2.0 * rate),
            ..pair.clone()
        };
        let (pair_steps, pair) = followed(&data, &pair).unwrap();
        let (plane_steps, plane) = followed(&data, &plane).unwrap();
        prop_assert_eq!(updated_rows(&pair_steps), updated_rows(&plane_steps));
        prop_assert_eq!(pair.model.progress.stop, plane.model.progress.stop);
        prop_assert_eq!(pair.model.progress.mistakes, plane.model.progress.mistakes);
        let two = planes(pair.model.weights().unwrap());
        let one = planes(plane.model.weights().unwrap());
        for j in 0..4 {
            prop_assert_eq!(two[0][j], -two[1][j]);
            prop_assert_eq!(2.0 * two[1][j], one[0][j]);
        }
        prop_assert_eq!(
            pair.model.predict(&data.matrix, 1).unwrap(),
            plane.model.predict(&data.matrix, 1).unwrap()
        );
    }
}
