//! What averages and votes are made of, and what a bias is.

use super::*;

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_average_is_the_mean_of_the_weights_after_each_visit(
        seed in 0u64..1_000_000,
        whole in any::<bool>(),
        bias in biases(),
        order in orders(),
        normalise_weights in any::<bool>(),
        classes in 2usize..4,
        normalised in any::<bool>(),
    ) {
        let toy = if whole {
            common::integers(seed, 11, 3, classes, 3)
        } else {
            common::reals(seed, 11, 3, classes)
        };
        let readout = if normalised { Readout::AveragedNormalised } else { Readout::Averaged };
        let options = Options {
            bias: Some(bias), order, seed, normalise_weights,
            readout: Some(readout),
            epochs: Some(9),
            ..Options::default()
        };
        let (steps, fitted) = followed(&toy.dataset(), &options).unwrap();
        prop_assume!(!steps.is_empty());
        let mut sum = vec![0.0; steps[0].weights.len()];
        for step in &steps {
            let planes = unflattened(&step.weights_after, 3, bias);
            let skip = usize::from(bias != Bias::Lifted);
            let squares: f64 = planes.iter().map(|p| dot(&p[skip..], &p[skip..])).sum();
            let share = match (normalised, squares > 0.0) {
                (false, _) => 1.0,
                (true, true) => 1.0 / squares.sqrt(),
                (true, false) => 0.0,
            };
            sum.iter_mut()
                .zip(&step.weights_after)
                .for_each(|(s, w)| *s += share * w);
        }
        let visits = steps.len() as f64;
        let mean: Vec<f64> = sum.iter().map(|s| s / visits).collect();
        let expected = unflattened(&mean, 3, bias);
        let found = planes(fitted.model.weights().unwrap());
        let scale = norm(&expected.concat());
        for (f, e) in found.iter().flatten().zip(expected.iter().flatten()) {
            let exact = whole && !normalised && !normalise_weights;
            prop_assert!(
                if exact { f == e } else { close(*f, *e, scale, 1e-12) },
                "{found:?}, expected {expected:?}"
            );
        }
    }

    #[test]
    fn a_vote_counts_every_visit_of_every_weight_vector(
        seed in 0u64..1_000_000,
        bias in biases(),
        order in orders(),
        at_zero in one_of(&[AtZero::Positive, AtZero::Negative]),
        start in one_of(&[Start::Zero, Start::Given(vec![1.0, -2.0, 3.0])]),
        counted in one_of(&[Votes::Visits, Votes::Correct]),
    ) {
        let toy = common::integers(seed, 11, 3, 2, 2);
        let given = match (&start, bias) {
            (Start::Given(v), Bias::None) => Start::Given(v.clone()),
            (Start::Given(v), _) => Start::Given([&[2.0][..], v].concat()),
            _ => Start::Zero,
        };
        let options = Options {
            bias: Some(bias), order, seed, at_zero,
            start: given,
            readout: Some(Readout::Voted),
            votes: counted,
            epochs: Some(6),
            ..Options::default()
        };
        let (steps, fitted) = followed(&toy.dataset(), &options).unwrap();
        let strangers = common::integers(seed + 1, 8, 3, 2, 5);
        let data = strangers.dataset();
        let mut scorer = fitted.model.scorer();
        for (i, row) in strangers.rows.iter().enumerate() {
            let votes: f64 = steps
                .iter()
                .filter(|step| counted == Votes::Visits || step.correct)
                .map(|step| {
                    let s = score(&unflattened(&step.weights_after, 3, bias)[0], row);
                    let positive = s > 0.0 || (s == 0.0 && at_zero == AtZero::Positive);
                    if positive { 1.0 } else { -1.0 }
                })
                .sum();
            prop_assert_eq!(scorer.scores(data.row(i)), &[votes][..]);
            let wins = votes > 0.0 || (votes == 0.0 && at_zero == AtZero::Positive);
            prop_assert_eq!(scorer.class(data.row(i)), u32::from(wins));
        }
    }

    #[test]
    fn a_lifted_bias_is_the_weight_of_a_constant_feature(
        seed in 0u64..1_000_000,
        whole in any::<bool>(),
        order in orders(),
        readout in one_of(&READOUTS),
        classes in 2usize..4,
        normalise_weights in any::<bool>(),
        rate in one_of(&[1.0, 0.3]),
        demand in one_of(&[0.0, 1.0]),
        start in one_of(&[Start::Zero, Start::Random(1.5)]),
    ) {
        let mut toy = if whole {
            common::integers(seed, 10, 3, classes, 3)
        } else {
            common::reals(seed, 10, 3, classes)
        };
        toy.weights = Some((0..10).map(|i| [1.0, 2.5][i % 2]).collect());
        let lifted = Options {
            order, seed, normalise_weights, start,
            readout: Some(readout),
            learning_rate: Some(rate),
            margin_demand: demand,
            epochs: Some(8),
            ..Options::default()
        };
        let explicit = Options { bias: Some(Bias::None), ..lifted.clone() };
        let wide = toy.with_constant(1.0);
        let (a_steps, a) = followed(&toy.dataset(), &lifted).unwrap();
        let (b_steps, b) = followed(&wide.dataset(), &explicit).unwrap();
        prop_assert_eq!(updated_rows(&a_steps), updated_rows(&b_steps));
        for (a, b) in a_steps.iter().zip(&b_steps) {
            prop_assert_eq!(&a.weights_after, &b.weights_after);
            prop_assert_eq!(&a.scores, &b.scores);
        }
        // Squared lengths are summed from the other end.
        prop_assert!(close(a.radius, b.radius, 0.0, 1e-15));
        let (a_ran, b_ran) = (&a.model.progress, &b.model.progress);
        prop_assert!(close(a_ran.squared_steps, b_ran.squared_steps, 0.0, 1e-14));
        prop_assert_eq!(&a_ran.passes, &b_ran.passes);
        prop_assert_eq!(a_ran.stop, b_ran.stop);
        match (&a.model.weights(), &b.model.weights()) {
            (Some(a), Some(b)) => {
                let b: Vec<Vec<f64>> = planes(b).iter().map(|p| p[1..].to_vec()).collect();
                let a = planes(a);
                let scale = norm(&a.concat());
                for (x, y) in a.iter().flatten().zip(b.iter().flatten()) {
                    prop_assert!(close(*x, *y, scale, 1e-13));
                }
                if readout != Readout::AveragedNormalised {
                    prop_assert_eq!(bits(&a), bits(&b));
                }
            }
            _ => prop_assert_eq!(
                a.model.predict(&toy.dataset().matrix, 1).unwrap(),
                b.model.predict(&wide.dataset().matrix, 1).unwrap()
            ),
        }
    }

    #[test]
    fn an_unlifted_bias_is_rho_times_the_weight_of_the_constant_rho(
        seed in 0u64..1_000_000,
        order in orders(),
        readout in one_of(&[Readout::Last, Readout::Averaged, Readout::Pocket, Readout::Random]),
        rho in one_of(&[1.0, 2.0, 3.0, 0.25, 10.0]),
        rate in one_of(&[1.0, 0.1, 4.0]),
        demand in one_of(&[0.0, 2.0]),
        classes in 2usize..4,
    ) {
        let mut toy = common::integers(seed, 10, 3, classes, 3);
        toy.weights = Some((0..10).map(|i| [1.0, 2.0, 0.5][i % 3]).collect());
        // With a demand the rate enters the sums; only whole steps stay exact there.
        prop_assume!(demand == 0.0 || rate != 0.1);
        let unlifted = Options {
            bias: Some(Bias::Unlifted(Some(rho))),
            order, seed,
            readout: Some(readout),
            learning_rate: Some(rate),
            margin_demand: demand,
            epochs: Some(8),
            ..Options::default()
        };
        let explicit = Options { bias: Some(Bias::None), ..unlifted.clone() };
        let (a_steps, a) = followed(&toy.dataset(), &unlifted).unwrap();
        let (b_steps, b) = followed(&toy.with_constant(rho).dataset(), &explicit).unwrap();
        prop_assert_eq!(updated_rows(&a_steps), updated_rows(&b_steps));
        prop_assert_eq!(&a.model.progress, &b.model.progress);
        let (a, b) = (a.model.weights().unwrap(), b.model.weights().unwrap());
        for (a, b) in planes(a).iter().zip(planes(b)) {
            prop_assert!(close(a[0], rho * b[1], 0.0, 1e-14));
            prop_assert_eq!(&a[1..], &b[2..]);
        }
    }

    #[test]
    fn rho_is_the_radius_unless_given(
        seed in 0u64..1_000_000,
        order in orders(),
        weighted in any::<bool>(),
    ) {
        let mut toy = common::reals(seed, 10, 3, 2);
        if weighted {
            toy.weights = Some((0..10).map(|i| [1.0, 3.0, 0.2][i % 3]).collect());
        }
        let options = |bias| last(Options { bias, order, seed, epochs: Some(9), ..Options::default() });
        let fitted = trained(&toy.dataset(), &options(Some(Bias::Unlifted(None))));
        prop_assert!(close(
            fitted.radius,
            constant(Bias::Unlifted(None), &toy).sqrt(),
            0.0,
            1e-15
        ));
        // From zero the first update shows the step of the bias.
        let (steps, _) = followed(&toy.dataset(), &options(Some(Bias::Unlifted(None)))).unwrap();
        let first = steps.iter().find(|s| !s.correct).unwrap();
        let row = first.row as usize - 1;
        let step = toy.sign(row) * toy.weight(row) * constant(Bias::Unlifted(None), &toy);
        prop_assert!(close(first.weights_after[0] - first.weights[0], step, 0.0, 1e-14));
    }
}

/// In one dimension weights of length 1 are +1 or −1, however much smaller they have become.
#[test]
fn a_norm_outlives_weights_that_cancel() {
    for large in [1e3, 1e6, 1e8] {
        let toy = Toy {
            rows: [-large - 0.3, -large - 0.1, 2.0, -1.0]
                .map(|x| vec![x])
                .to_vec(),
            labels: vec![0, 1, 1, 0],
            ..common::reals(1, 4, 1, 2)
        };
        let options = Options {
            bias: Some(Bias::None),
            order: Order::Given,
            epochs: Some(1),
            readout: Some(Readout::AveragedNormalised),
            ..Options::default()
        };
        let (steps, fitted) = followed(&toy.dataset(), &options).unwrap();
        assert!(steps.iter().all(|step| step.weights_after[0] > 0.0));
        let mean = fitted.model.weights().unwrap().get(0, 0);
        assert!(close(mean, 1.0, 1.0, 1e-7), "{large}: {mean}");
    }
}
