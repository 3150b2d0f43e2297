//! No run exceeds the bound of its theorem.

use rosenblatt::bounds;

use super::*;

/// The weights before the first visit.
#[derive(Default)]
struct First(Option<Vec<f64>>);

impl Callback for First {
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
            let fitted = session.train_with(&known.toy.dataset(), &mut first).unwrap();
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
                    let four = bounds::from_zero(2.0 * radius, margin);
                    prop_assert!(updates as f64 <= four && bound <= four);
                }
            }
        }
        if plain && theta != 0.0 {
            let best = bounds::from_zero(radius + theta.abs(), margin);
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
