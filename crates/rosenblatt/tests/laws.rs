//! The laws of the perceptron, on generated sets.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::{
    ORDERS, PLAIN, READOUTS, Storage, Toy, bits, close, dot, followed, norm, planes, random,
    running, score, separable, trained, unit_vector,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rosenblatt::Options;
use rosenblatt::certificate::bounds;
use rosenblatt::data::Dataset;
use rosenblatt::model::Model;
use rosenblatt::options::{
    AtZero, Bias, ClassWeight, Gradient, LearnerKind, Multiclass, Order, Readout, Start, Ties,
};
use rosenblatt::train::{Observer, Session, Step, Stop};

/// A case from one of the small lists.
fn one_of<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> impl Strategy<Value = T> {
    prop::sample::select(values.to_vec())
}

/// So many cases, the same ones each time.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn orders() -> impl Strategy<Value = Order> {
    one_of(&ORDERS)
}

fn biases() -> impl Strategy<Value = Bias> {
    one_of(&[
        Bias::Lifted,
        Bias::None,
        Bias::Unlifted(None),
        Bias::Unlifted(Some(2.0)),
        Bias::Unlifted(Some(0.5)),
    ])
}

/// What a constant feature adds to an inner product.
fn constant(bias: Bias, toy: &Toy) -> f64 {
    match bias {
        Bias::Lifted => 1.0,
        Bias::None => 0.0,
        Bias::Unlifted(Some(rho)) => rho * rho,
        Bias::Unlifted(None) => (0..toy.len())
            .map(|i| toy.weight(i).powi(2) * dot(&toy.rows[i], &toy.rows[i]))
            .fold(0.0, f64::max),
    }
}

/// A step's vector as planes with their bias first.
fn unflattened(vector: &[f64], features: usize, bias: Bias) -> Vec<Vec<f64>> {
    let has_bias = bias != Bias::None;
    vector
        .chunks_exact(features + usize::from(has_bias))
        .map(|chunk| {
            let none = if has_bias { &[][..] } else { &[0.0][..] };
            [none, chunk].concat()
        })
        .collect()
}

fn updated_rows(steps: &[Step]) -> Vec<(u64, bool)> {
    steps.iter().map(|s| (s.row, !s.correct)).collect()
}

fn last(options: Options) -> Options {
    Options {
        readout: Some(Readout::Last),
        ..options
    }
}

// ---- Updates ----------------------------------------------------------------------------

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
                    one.model.predict(&data.matrix, 1),
                    other.model.predict(&data.matrix, 1)
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
            pair.model.predict(&data.matrix, 1),
            plane.model.predict(&data.matrix, 1)
        );
    }
}

// ---- Read-outs and biases ---------------------------------------------------------------

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
                a.model.predict(&toy.dataset().matrix, 1),
                b.model.predict(&wide.dataset().matrix, 1)
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

// ---- Bounds -----------------------------------------------------------------------------

/// The weights before the first visit.
#[derive(Default)]
struct First(Option<Vec<f64>>);

impl Observer for First {
    fn wants_steps(&self) -> bool {
        true
    }
    fn step(&mut self, step: Step) {
        self.0.get_or_insert(step.weights);
    }
}

/// A separable set with what the theorems need to know about it.
struct Known {
    toy: Toy,
    /// R = max c‖x‖, γ = min c·y·u·x, of the rows as the learner lifts them.
    radius: f64,
    margin: f64,
    u: Vec<f64>,
}

/// Rows with c·y·(u·x) ≥ γ for a unit u, the bias first in u where the learner lifts.
fn known(seed: u64, n: usize, d: usize, bias: Bias, weighted: bool) -> Known {
    let mut random = random(seed);
    let lifted = bias == Bias::Lifted;
    let mut u = unit_vector(&mut random, d);
    if lifted {
        // The plane passes near enough to the origin for both classes to have rows.
        u.insert(0, random.unit() - 0.5);
        let length = norm(&u);
        u.iter_mut().for_each(|x| *x /= length);
    }
    let gap = 0.1 + 0.3 * random.unit();
    let side = |x: &[f64]| match lifted {
        true => u[0] + dot(x, &u[1..]),
        false => dot(x, &u),
    };
    let mut toy = Toy::binary(Vec::new(), Vec::new());
    let mut weights = Vec::new();
    while toy.rows.len() < n {
        let x: Vec<f64> = (0..d).map(|_| random.normal()).collect();
        let wanted = if toy.rows.len().is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        if wanted * side(&x) >= gap {
            toy.labels.push(u32::from(wanted > 0.0));
            toy.rows.push(x);
            weights.push(if weighted {
                0.5 + 2.0 * random.unit()
            } else {
                1.0
            });
        }
    }
    let lift = if lifted { 1.0 } else { 0.0 };
    let radius = (0..n)
        .map(|i| weights[i] * (dot(&toy.rows[i], &toy.rows[i]) + lift).sqrt())
        .fold(0.0, f64::max);
    let margin = (0..n)
        .map(|i| weights[i] * toy.sign(i) * side(&toy.rows[i]))
        .fold(f64::INFINITY, f64::min);
    toy.weights = weighted.then_some(weights);
    Known {
        toy,
        radius,
        margin,
        u,
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn from_zero_no_order_rate_or_weight_exceeds_the_bound(
        seed in 0u64..1_000_000,
        d in 1usize..5,
        n in 2usize..20,
        lifted in any::<bool>(),
        weighted in any::<bool>(),
        rate in one_of(&[1.0, 0.1, 1e-3, 7.0]),
        ties in one_of(&[Ties::Mistake, Ties::Positive]),
    ) {
        let bias = if lifted { Bias::Lifted } else { Bias::None };
        let known = known(seed, n, d, bias, weighted);
        let bound = bounds::from_zero(known.radius, known.margin);
        prop_assert!(bound.is_finite());
        for order in ORDERS {
            let options = last(Options {
                bias: Some(bias), order, ties, seed,
                learning_rate: Some(rate),
                epochs: Some(100_000),
                ..Options::default()
            });
            let fitted = trained(&known.toy.dataset(), &options);
            let progress = &fitted.model.progress;
            let ended = matches!(progress.stop, Some(Stop::Separated | Stop::NoMistakes { .. }));
            prop_assert!(ended, "{:?}", progress.stop);
            let updates = progress.updates as f64;
            prop_assert!(updates <= bound, "{order:?}: {updates} > {bound}");
            // The trace form, and what it says of the weights: Mγ ≤ ‖w‖/η ≤ sqrt(Σ c²‖x‖²).
            let length = norm(&running(&fitted.model)[0]) / rate;
            let steps = progress.squared_steps.sqrt();
            prop_assert!(updates * known.margin <= length * (1.0 + 1e-12));
            prop_assert!(length <= steps * (1.0 + 1e-12));
            prop_assert!(updates <= bounds::from_trace(progress.squared_steps, known.margin));
            prop_assert!(steps <= updates.sqrt() * known.radius * (1.0 + 1e-12));
            // What the run says of itself.
            if progress.stop == Some(Stop::Separated) {
                prop_assert!(fitted.updates_at_most.is_none_or(|most| progress.updates <= most));
                let bracket = fitted.margin.unwrap();
                prop_assert!(bracket.lower > 0.0 && bracket.lower <= bracket.upper);
                prop_assert!(known.margin <= bracket.upper, "{} {bracket:?}", known.margin);
                prop_assert_eq!(bracket.kind, if lifted { "lifted" } else { "plain" });
            }
            prop_assert!(close(fitted.radius, known.radius, 0.0, 1e-14));
        }
    }

    #[test]
    fn from_any_start_with_any_demand_no_run_exceeds_the_general_bound(
        seed in 0u64..1_000_000,
        d in 1usize..5,
        lifted in any::<bool>(),
        weighted in any::<bool>(),
        rate in one_of(&[1.0, 0.1, 7.0]),
        demand in one_of(&[0.0, 0.5, 20.0]),
        away in one_of(&[0.0, 1.0, 30.0]),
        ties in one_of(&[Ties::Mistake, Ties::Positive, Ties::Correct]),
    ) {
        prop_assume!(ties != Ties::Correct || demand > 0.0 || away > 0.0);
        let bias = if lifted { Bias::Lifted } else { Bias::None };
        let known = known(seed, 12, d, bias, weighted);
        let heaviest = (0..12).map(|i| known.toy.weight(i)).fold(0.0, f64::max);
        for order in ORDERS {
            let options = last(Options {
                bias: Some(bias), order, ties, seed,
                learning_rate: Some(rate),
                margin_demand: demand,
                start: if away > 0.0 { Start::Random(away) } else { Start::Zero },
                epochs: Some(100_000),
                ..Options::default()
            });
            let mut first = First::default();
            let session = Session::new(&options);
            let fitted = session.train_observed(&known.toy.dataset(), &mut first).unwrap();
            let progress = &fitted.model.progress;
            let ended = matches!(progress.stop, Some(Stop::Separated | Stop::NoMistakes { .. }));
            prop_assert!(ended, "{:?}", progress.stop);
            let Some(begun) = first.0 else { continue };
            let start = bounds::Start {
                norm: norm(&begun),
                along_separator: Some(dot(&begun, &known.u)),
                rate,
                // An update adds at most 2ηcβ to ‖w‖², so the demand counts c times.
                demand: demand * heaviest,
            };
            let bound = bounds::general(known.radius, known.margin, start);
            let updates = progress.updates as f64;
            prop_assert!(updates <= bound, "{order:?}: {updates} > {bound}");
            let loose = bounds::Start { along_separator: None, ..start };
            prop_assert!(bound <= bounds::general(known.radius, known.margin, loose));
            if progress.stop == Some(Stop::Separated) {
                prop_assert!(
                    fitted.updates_at_most.is_none_or(|most| progress.updates <= most),
                    "{order:?} {} > {:?}", progress.updates, fitted.updates_at_most
                );
                let bracket = fitted.margin.unwrap();
                prop_assert!(known.margin <= bracket.upper, "{} {bracket:?}", known.margin);
            }
        }
    }

    #[test]
    fn an_unlifted_bias_costs_what_its_bound_says(
        seed in 0u64..1_000_000,
        d in 1usize..5,
        theta in -1.0f64..1.0,
        gap in 0.05f64..0.5,
        rho in one_of(&[None, Some(0.3), Some(1.0), Some(5.0)]),
        rate in one_of(&[1.0, 0.1]),
        weights in one_of(&[1.0, 0.1, 10.0]),
    ) {
        let (mut toy, u) = separable(seed, 12, d, theta, gap);
        let margin = (0..12)
            .map(|i| toy.sign(i) * (dot(&toy.rows[i], &u) - theta))
            .fold(f64::INFINITY, f64::min);
        let radius = toy.rows.iter().map(|x| norm(x)).fold(0.0, f64::max);
        let plain = weights == 1.0;
        if !plain {
            toy.weights = Some((0..12).map(|i| if i % 3 == 0 { weights } else { 1.0 }).collect());
        }
        for order in ORDERS {
            let options = last(Options {
                bias: Some(Bias::Unlifted(rho)),
                order, seed,
                learning_rate: Some(rate),
                epochs: Some(100_000),
                ..Options::default()
            });
            let fitted = trained(&toy.dataset(), &options);
            let updates = fitted.model.progress.updates;
            prop_assert_eq!(fitted.model.progress.stop, Some(Stop::Separated));
            prop_assert!(
                fitted.updates_at_most.is_none_or(|most| updates <= most),
                "{order:?} {updates} > {:?}", fitted.updates_at_most
            );
            let bracket = fitted.margin.unwrap();
            prop_assert!(bracket.lower <= bracket.upper);
            if plain {
                let constant = rho.unwrap_or(radius);
                let bound = bounds::unlifted(radius, constant, margin, theta);
                prop_assert!(updates as f64 <= bound, "{order:?} {updates} > {bound}");
                prop_assert!(margin <= bracket.upper);
                if rho.is_none() {
                    let four = bounds::unlifted_both_classes(radius, margin);
                    prop_assert!(updates as f64 <= four && bound <= four);
                }
            }
        }
        if plain && theta != 0.0 {
            let best = bounds::unlifted_best(radius, margin, theta);
            let options = last(Options {
                bias: Some(Bias::Unlifted(Some((radius * theta.abs()).sqrt()))),
                epochs: Some(100_000),
                seed,
                ..Options::default()
            });
            prop_assert!(trained(&toy.dataset(), &options).model.progress.updates as f64 <= best);
        }
    }

    #[test]
    fn renormalised_runs_end_within_their_bound_at_rates_that_have_one(
        seed in 0u64..1_000_000,
        d in 2usize..5,
        lifted in any::<bool>(),
        weighted in any::<bool>(),
        share in 0.05f64..0.98,
    ) {
        let bias = if lifted { Bias::Lifted } else { Bias::None };
        let known = known(seed, 10, d, bias, weighted);
        let limit = 2.0 * known.margin / (known.radius.powi(2) - known.margin.powi(2));
        let rate = share * limit;
        let bound = bounds::renormalised(known.radius, known.margin, rate).unwrap();
        prop_assert_eq!(bounds::renormalised(known.radius, known.margin, 1.01 * limit), None);
        for order in ORDERS {
            let options = last(Options {
                bias: Some(bias), order, seed,
                normalise_weights: true,
                learning_rate: Some(rate),
                max_updates: Some(20_000),
                epochs: Some(100_000),
                ..Options::default()
            });
            let fitted = trained(&known.toy.dataset(), &options);
            let progress = &fitted.model.progress;
            let updates = progress.updates as f64;
            prop_assert!(updates <= bound, "{order:?}: {updates} > {bound}");
            if progress.updates < 20_000 {
                let ended = matches!(progress.stop, Some(Stop::Separated | Stop::NoMistakes { .. }));
                prop_assert!(ended, "{:?}", progress.stop);
                prop_assert!(fitted.updates_at_most.is_none_or(|most| progress.updates <= most));
                let length = norm(&running(&fitted.model)[0]);
                prop_assert!(close(length, 1.0, 0.0, 1e-14));
            }
        }
    }

    #[test]
    fn argmax_runs_stay_within_twice_the_bound_of_their_joint_margin(
        seed in 0u64..1_000_000,
        d in 2usize..5,
        classes in 2usize..5,
        lifted in any::<bool>(),
        weighted in any::<bool>(),
        rate in one_of(&[1.0, 0.1]),
    ) {
        let mut random = random(seed);
        let width = d + usize::from(lifted);
        let joint = unit_vector(&mut random, width * classes);
        let u: Vec<&[f64]> = joint.chunks(width).collect();
        let lift = |x: &[f64]| if lifted { [&[1.0], x].concat() } else { x.to_vec() };
        let gap = |x: &[f64], y: usize| {
            let s: Vec<f64> = u.iter().map(|u| dot(u, &lift(x))).collect();
            let rival = (0..classes).filter(|&c| c != y).map(|c| s[c]).fold(f64::MIN, f64::max);
            s[y] - rival
        };
        let mut toy = Toy { rows: vec![], labels: vec![], classes, weights: None };
        let mut tries = 0;
        while toy.rows.len() < 12 && tries < 20_000 {
            tries += 1;
            let x: Vec<f64> = (0..d).map(|_| 2.0 * random.normal()).collect();
            let y = toy.rows.len() % classes;
            if gap(&x, y) > 0.1 {
                toy.rows.push(x);
                toy.labels.push(y as u32);
            }
        }
        // A class whose region is empty or tiny says nothing.
        prop_assume!(toy.rows.len() == 12);
        if weighted {
            toy.weights = Some((0..12).map(|_| 0.5 + 2.0 * random.unit()).collect());
        }
        let margin = (0..12)
            .map(|i| toy.weight(i) * gap(&toy.rows[i], toy.labels[i] as usize))
            .fold(f64::INFINITY, f64::min);
        let radius = (0..12)
            .map(|i| toy.weight(i) * norm(&lift(&toy.rows[i])))
            .fold(0.0, f64::max);
        let bound = bounds::multiclass(radius, margin);
        for order in ORDERS {
            let options = last(Options {
                multiclass: Some(Multiclass::Argmax),
                bias: Some(if lifted { Bias::Lifted } else { Bias::None }),
                order, seed,
                learning_rate: Some(rate),
                epochs: Some(100_000),
                ..Options::default()
            });
            let fitted = trained(&toy.dataset(), &options);
            let progress = &fitted.model.progress;
            prop_assert_eq!(progress.stop, Some(Stop::Separated));
            prop_assert!(progress.updates as f64 <= bound, "{} > {bound}", progress.updates);
            let joint_length = norm(&running(&fitted.model).concat()) / rate;
            prop_assert!(progress.updates as f64 * margin <= joint_length * (1.0 + 1e-12));
        }
    }

    #[test]
    fn inseparable_sets_stay_within_the_bound_of_their_deviation(
        seed in 0u64..1_000_000,
        d in 1usize..5,
        lifted in any::<bool>(),
        flips in 1usize..6,
        passes in one_of(&[1u64, 2, 10, 50]),
        rate in one_of(&[1.0, 0.1]),
    ) {
        let bias = if lifted { Bias::Lifted } else { Bias::None };
        let mut known = known(seed, 20, d, bias, false);
        (0..flips).for_each(|k| known.toy.labels[3 * k] ^= 1);
        let margins: Vec<f64> = (0..20)
            .map(|i| {
                let x = &known.toy.rows[i];
                let side = if lifted { known.u[0] + dot(x, &known.u[1..]) } else { dot(x, &known.u) };
                known.toy.sign(i) * side
            })
            .collect();
        let (_, best) = bounds::best_inseparable(known.radius, &margins, passes);
        for order in [Order::Given, Order::ByClass, Order::Shuffled] {
            let options = last(Options {
                bias: Some(bias), order, seed,
                learning_rate: Some(rate),
                epochs: Some(passes),
                ..Options::default()
            });
            let updates = trained(&known.toy.dataset(), &options).model.progress.updates as f64;
            prop_assert!(updates <= best, "{updates} > {best}");
            for share in [0.1, 1.0, 10.0] {
                let gamma = share * known.margin;
                let deviation = bounds::deviation(&margins, gamma);
                let bound = bounds::inseparable(known.radius, deviation, gamma, passes);
                prop_assert!(updates <= bound, "{updates} > {bound}");
            }
        }
    }
}

#[test]
fn orthogonal_rows_meet_the_bound_exactly() {
    for n in [2usize, 5, 16] {
        // Row i is ±e_i with its sign as label: R = 1, γ = 1/√n.
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let row = |i: usize| (0..n).map(|j| if i == j { sign(i) } else { 0.0 }).collect();
        let labels = (0..n).map(|i| u32::from(sign(i) > 0.0)).collect();
        let toy = Toy::binary((0..n).map(row).collect(), labels);
        let bound = bounds::from_zero(1.0, 1.0 / (n as f64).sqrt());
        for order in ORDERS {
            let options = last(Options {
                bias: Some(Bias::None),
                order,
                epochs: Some(1_000),
                ..Options::default()
            });
            let fitted = trained(&toy.dataset(), &options);
            assert_eq!(fitted.model.progress.updates as f64, bound);
            assert_eq!(fitted.updates_at_most, Some(n as u64));
            let bracket = fitted.margin.unwrap();
            let gamma = 1.0 / (n as f64).sqrt();
            // Less what rounding may have added to a score of n products.
            assert!(bracket.lower <= gamma && close(bracket.lower, gamma, 0.0, 1e-13));
            assert!(close(bracket.upper, gamma, 0.0, 1e-14));
        }
    }
}

#[test]
fn a_demand_weighs_as_much_as_the_example() {
    // Each update adds 10 to w until it is above the demand: 101 updates, where a bound that
    // forgot the weight in 2ηcβ would allow 21.
    let mut toy = Toy::binary(vec![vec![1.0], vec![-1.0]], vec![1, 0]);
    toy.weights = Some(vec![10.0, 10.0]);
    let options = last(Options {
        bias: Some(Bias::None),
        margin_demand: 1000.0,
        epochs: Some(1_000),
        ..Options::default()
    });
    let fitted = trained(&toy.dataset(), &options);
    assert_eq!(fitted.model.progress.updates, 101);
    assert_eq!(fitted.updates_at_most, Some(201));
}

#[test]
fn an_unlifted_bias_weighs_as_much_as_the_example() {
    // A step of weight c moves the bias by cρ², so the constant feature is cρ long, not ρ:
    // the bound is max c²(‖x‖² + ρ²)·(1 + θ²/ρ²)/γ².
    let mut toy = Toy::binary(vec![vec![0.1], vec![0.05]], vec![1, 0]);
    toy.weights = Some(vec![10.0, 10.0]);
    let rho = 1.0;
    let options = last(Options {
        bias: Some(Bias::Unlifted(Some(rho))),
        order: Order::Given,
        epochs: Some(10_000),
        ..Options::default()
    });
    let fitted = trained(&toy.dataset(), &options);
    assert_eq!(fitted.model.progress.stop, Some(Stop::Separated));
    let w = &running(&fitted.model)[0];
    let theta = w[0] / w[1].abs();
    let gamma = (0..2)
        .map(|i| 10.0 * toy.sign(i) * score(w, &toy.rows[i]) / w[1].abs())
        .fold(f64::INFINITY, f64::min);
    let bound = 100.0 * (0.01 + rho * rho) * (1.0 + theta * theta / rho / rho) / gamma / gamma;
    let found = fitted.updates_at_most.unwrap();
    assert!(
        close(found as f64, bound, 0.0, 1e-6),
        "{found}, expected {bound}"
    );
    assert!((100..=found).contains(&fitted.model.progress.updates));
}

#[test]
fn a_renormalised_run_at_a_large_rate_may_cycle_and_then_meets_its_limit() {
    let mut cycled = 0;
    for seed in 0..300 {
        let known = known(seed, 6, 2, Bias::None, false);
        let options = last(Options {
            bias: Some(Bias::None),
            order: Order::Given,
            normalise_weights: true,
            learning_rate: Some(3.0),
            epochs: Some(2_000),
            ..Options::default()
        });
        let fitted = trained(&known.toy.dataset(), &options);
        match fitted.model.progress.stop {
            Some(Stop::EpochLimit) => {
                cycled += 1;
                assert_eq!(fitted.updates_at_most, None);
            }
            stop => assert_eq!(stop, Some(Stop::Separated)),
        }
    }
    assert!((1..300).contains(&cycled), "{cycled}");
}

// ---- Stopping ---------------------------------------------------------------------------

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
                    let predicted = fitted.model.predict(&toy.dataset().matrix, 1);
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

// ---- Going on ---------------------------------------------------------------------------

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

impl Observer for Interrupter<'_> {
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
                    .train_observed(&data, &mut Interrupter { at, flag: &flag })
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

impl Observer for Checkpoints {
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
                .train_observed(&data, &mut checkpoints)
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
                            other.model.predict(&rows.matrix, threads),
                            reference.model.predict(&rows.matrix, 1)
                        );
                    }
                }
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
        assert!(error.to_string().contains(name), "{name}: {error}");
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
                learner: LearnerKind::LinearUnit,
                learning_rate: rate,
                gradient,
                order,
                decay: 0.01,
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
