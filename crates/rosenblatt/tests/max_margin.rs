//! Planes of largest margin: optimality conditions, known answers, and plain versions of the
//! same problem solved otherwise.

mod common;

use std::sync::atomic::AtomicBool;

use common::{PLAIN, Storage, Toy, bits, close, dot, planes, random, score, trained};
use proptest::prelude::*;
use rosenblatt::Options;
use rosenblatt::data::Precision;
use rosenblatt::kernel::Kernel;
use rosenblatt::model::{Model, SupportVectors};
use rosenblatt::options::{Bias, ClassWeight, LearnerKind, Multiclass};
use rosenblatt::train::{Fitted, Session, Stop};

const BIASES: [Bias; 3] = [Bias::Lifted, Bias::None, Bias::Unlifted(None)];

fn options(c: Option<f64>, bias: Bias) -> Options {
    Options {
        learner: LearnerKind::MaxMargin,
        c,
        bias: Some(bias),
        ..Options::default()
    }
}

fn over(kernel: &str, c: Option<f64>, bias: Bias) -> Options {
    Options {
        kernel: Some(kernel.parse().unwrap()),
        ..options(c, bias)
    }
}

fn support(model: &Model) -> &SupportVectors {
    model.support.as_ref().unwrap()
}

/// α of every row for discriminator `d`.
fn alphas(model: &Model, n: usize, d: usize) -> Vec<f64> {
    let support = support(model);
    let mut all = vec![0.0; n];
    for (k, &row) in support.rows.iter().enumerate() {
        all[row as usize] = support.alpha(k, d);
    }
    all
}

/// ‖w‖² as the objective counts it.
fn squared_norm(plane: &[f64], bias: Bias) -> f64 {
    let lift = if bias == Bias::Lifted {
        plane[0] * plane[0]
    } else {
        0.0
    };
    dot(&plane[1..], &plane[1..]) + lift
}

/// ½‖w‖² + Σ C_i max(0, 1 − y_i s_i), straight from the definition.
fn primal(toy: &Toy, plane: &[f64], c: f64, bias: Bias) -> f64 {
    let loss: f64 = (0..toy.len())
        .map(|i| {
            let margin = toy.sign(i) * score(plane, &toy.rows[i]);
            c * toy.weight(i) * (1.0 - margin).max(0.0)
        })
        .sum();
    0.5 * squared_norm(plane, bias) + loss
}

/// A set with labels that a plane gets mostly right.
fn noisy(seed: u64, n: usize, d: usize) -> Toy {
    let mut random = random(seed);
    let mut toy = common::reals(seed, n, d, 2);
    for (row, label) in toy.rows.iter().zip(&mut toy.labels) {
        let side = row[0] - 0.5 * row[d - 1] + 0.3 + 0.7 * random.normal();
        *label = u32::from(side > 0.0);
    }
    (toy.labels[0], toy.labels[1]) = (0, 1);
    toy
}

/// Optimality in full: w is what α says, α is where its margin allows, the gap is closed, and
/// the objective reported is the objective.
fn check_soft(toy: &Toy, fitted: &Fitted, c: f64, bias: Bias, slack: f64) {
    let plane = &planes(fitted.model.weights().unwrap())[0];
    let optimum = support(&fitted.model).optima[0];
    let own = primal(toy, plane, c, bias);
    assert!(close(own, optimum.primal, 0.0, 1e-10), "{own} {optimum:?}");
    assert!(
        optimum.dual <= optimum.primal * (1.0 + 1e-12),
        "{optimum:?}"
    );
    assert!(
        optimum.primal - optimum.dual <= fitted.model.options.tolerance * optimum.primal,
        "{optimum:?}"
    );
    let alpha = alphas(&fitted.model, toy.len(), 0);
    let mut w = vec![0.0; toy.features() + 1];
    for (i, a) in alpha.iter().enumerate() {
        let price = c * toy.weight(i);
        assert!((0.0..=price).contains(a));
        let margin = toy.sign(i) * score(plane, &toy.rows[i]);
        if *a < price * 1e-9 {
            assert!(margin >= 1.0 - slack, "row {i}: α = {a}, margin {margin}");
        } else if *a > price * (1.0 - 1e-9) {
            assert!(margin <= 1.0 + slack, "row {i}: α = {a}, margin {margin}");
        }
        w[0] += a * toy.sign(i);
        for (w, x) in w[1..].iter_mut().zip(&toy.rows[i]) {
            *w += a * toy.sign(i) * x;
        }
    }
    for (a, b) in w[1..].iter().zip(&plane[1..]) {
        assert!(close(*a, *b, 1.0, 1e-10), "{w:?} {plane:?}");
    }
    match bias {
        Bias::Lifted => assert!(close(w[0], plane[0], 1.0, 1e-10)),
        Bias::None => assert_eq!(plane[0], 0.0),
        Bias::Unlifted(_) => assert!(w[0].abs() <= slack * c * toy.len() as f64),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn soft_margins_are_optimal(
        seed in 0u64..1000,
        n in 4usize..60,
        d in 1usize..6,
        c in prop::sample::select(vec![0.01, 0.3, 1.0, 20.0]),
        weighted in any::<bool>(),
    ) {
        let mut toy = noisy(seed, n, d);
        if weighted {
            toy.weights = Some((0..n).map(|i| 0.5 + (i % 3) as f64).collect());
        }
        for bias in BIASES {
            let mut told = options(Some(c), bias);
            told.tolerance = 1e-9;
            let fitted = trained(&toy.dataset(), &told);
            prop_assert_eq!(fitted.model.progress.stop, Some(Stop::Converged));
            check_soft(&toy, &fitted, c, bias, 2e-3);
        }
    }

    #[test]
    fn soft_margins_agree_with_projected_gradients(
        seed in 0u64..1000,
        n in 4usize..16,
        d in 1usize..4,
        c in prop::sample::select(vec![0.1, 1.0, 5.0]),
    ) {
        let toy = noisy(seed, n, d);
        for (bias, lift) in [(Bias::Lifted, 1.0), (Bias::None, 0.0)] {
            let least = projected_gradient(&toy, c, lift);
            for told in [options(Some(c), bias), over("linear", Some(c), bias)] {
                let fitted = trained(&toy.dataset(), &told);
                let found = support(&fitted.model).optima[0];
                prop_assert!(close(found.primal, least, 0.0, 2e-5), "{} {}", found.primal, least);
            }
        }
    }

    #[test]
    fn hard_margins_agree_with_every_subset_tried(
        seed in 0u64..1000,
        n in 3usize..8,
        d in 1usize..4,
    ) {
        let toy = common::separable(seed, n, d, 0.2, 0.05).0;
        for bias in BIASES {
            let Some((squared, alpha)) = by_subsets(&toy, bias) else {
                let error = Session::new(&options(None, bias)).train(&toy.dataset()).unwrap_err();
                prop_assert!(error.to_string().contains("not separable"), "{}", error);
                continue;
            };
            for told in [options(None, bias), over("linear", None, bias)] {
                let mut told = told;
                told.tolerance = 1e-10;
                let fitted = trained(&toy.dataset(), &told);
                let found = support(&fitted.model).optima[0];
                prop_assert!(close(2.0 * found.primal, squared, 0.0, 1e-7), "{:?} {}", found, squared);
                prop_assert!(close(found.margin, 1.0 / squared.sqrt(), 0.0, 1e-7));
                let total: f64 = alphas(&fitted.model, n, 0).iter().sum();
                prop_assert!(close(total, alpha.iter().sum(), 0.0, 1e-6));
                let margin = fitted.margin.unwrap();
                prop_assert!(margin.lower <= 1.0 / squared.sqrt() * (1.0 + 1e-9));
                prop_assert!(margin.upper >= 1.0 / squared.sqrt() * (1.0 - 1e-9));
                for (row, label) in toy.rows.iter().zip(&toy.labels) {
                    let row = rosenblatt::data::Row::Dense64(row);
                    prop_assert_eq!(fitted.model.scorer().class(row), *label);
                }
            }
        }
    }
}

/// The soft objective by projected gradients on the dual, with Nesterov's momentum.
fn projected_gradient(toy: &Toy, c: f64, lift: f64) -> f64 {
    let n = toy.len();
    let q: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let signed =
                |j: usize| toy.sign(i) * toy.sign(j) * (dot(&toy.rows[i], &toy.rows[j]) + lift);
            (0..n).map(signed).collect()
        })
        .collect();
    let trace: f64 = (0..n).map(|i| q[i][i]).sum::<f64>().max(1e-9);
    let (mut alpha, mut before) = (vec![0.0; n], vec![0.0; n]);
    for step in 0..5000 {
        let momentum = f64::from(step % 500) / f64::from(step % 500 + 3);
        let ahead: Vec<f64> = (0..n)
            .map(|i| alpha[i] + momentum * (alpha[i] - before[i]))
            .collect();
        before = alpha;
        alpha = (0..n)
            .map(|i| (ahead[i] - (dot(&q[i], &ahead) - 1.0) / trace).clamp(0.0, c))
            .collect();
    }
    let squared: f64 = (0..n).map(|i| alpha[i] * dot(&q[i], &alpha)).sum();
    alpha.iter().sum::<f64>() - 0.5 * squared
}

/// ‖w‖² and α of the hard margin: of every set of examples that could hold the plane up, the
/// one whose plane has no example nearer. `None` if there is none.
fn by_subsets(toy: &Toy, bias: Bias) -> Option<(f64, Vec<f64>)> {
    let n = toy.len();
    let free = matches!(bias, Bias::Unlifted(_));
    let lift = f64::from(u8::from(bias == Bias::Lifted));
    let product =
        |i: usize, j: usize| toy.sign(i) * toy.sign(j) * (dot(&toy.rows[i], &toy.rows[j]) + lift);
    for set in 1u32..1 << n {
        let members: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let m = members.len();
        let size = m + usize::from(free);
        // Margins of 1 on the members, and Σ α y = 0 where the bias is free.
        let mut system = vec![vec![0.0; size + 1]; size];
        for (a, &i) in members.iter().enumerate() {
            for (b, &j) in members.iter().enumerate() {
                system[a][b] = product(i, j);
            }
            if free {
                system[a][m] = toy.sign(i);
                system[m][a] = toy.sign(i);
            }
            system[a][size] = 1.0;
        }
        let Some(solved) = eliminate(system) else {
            continue;
        };
        if solved[..m].iter().any(|a| *a < 0.0) {
            continue;
        }
        let b = if free { solved[m] } else { 0.0 };
        let margin = |k: usize| -> f64 {
            let sum: f64 = members
                .iter()
                .zip(&solved)
                .map(|(&i, a)| a * product(i, k))
                .sum();
            sum + b * toy.sign(k)
        };
        if (0..n).all(|k| margin(k) >= 1.0 - 1e-9) {
            let mut alpha = vec![0.0; n];
            members
                .iter()
                .zip(&solved)
                .for_each(|(&i, a)| alpha[i] = *a);
            return Some((solved[..m].iter().sum(), alpha));
        }
    }
    None
}

fn eliminate(mut system: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = system.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| system[a][k].abs().total_cmp(&system[b][k].abs()))?;
        system.swap(k, pivot);
        if system[k][k].abs() < 1e-10 {
            return None;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = system[i][k] / system[k][k];
            let pivot = system[k].clone();
            for (x, p) in system[i].iter_mut().zip(pivot) {
                *x -= factor * p;
            }
        }
    }
    Some((0..n).map(|k| system[k][n] / system[k][k]).collect())
}

#[test]
fn answers_known_by_hand() {
    // Two points on a line, at −1 and +1: w = min(1, 2C) without a bias.
    let two = Toy::binary(vec![vec![-1.0], vec![1.0]], vec![0, 1]);
    for (c, w) in [(0.1, 0.2), (0.25, 0.5), (0.5, 1.0), (3.0, 1.0)] {
        for bias in BIASES {
            let mut told = options(Some(c), bias);
            // A gap of ε leaves w uncertain by √(2ε).
            told.tolerance = 1e-12;
            let fitted = trained(&two.dataset(), &told);
            let plane = &planes(fitted.model.weights().unwrap())[0];
            assert!(close(plane[1], w, 0.0, 1e-5), "{bias} {c}: {plane:?}");
            assert!(plane[0].abs() < 1e-5);
        }
    }
    // At 0 and 2 the plane stands at 1, whatever the bias costs.
    let shifted = Toy::binary(vec![vec![0.0], vec![2.0]], vec![0, 1]);
    for bias in [Bias::Lifted, Bias::Unlifted(None)] {
        let fitted = trained(&shifted.dataset(), &options(None, bias));
        let plane = &planes(fitted.model.weights().unwrap())[0];
        assert!(close(plane[0], -1.0, 0.0, 1e-6) && close(plane[1], 1.0, 0.0, 1e-6));
    }
    // Farther out a bias that counts makes another plane than one that does not.
    let far = Toy::binary(vec![vec![10.0], vec![12.0]], vec![0, 1]);
    let unlifted = trained(&far.dataset(), &options(None, Bias::Unlifted(None)));
    let plane = &planes(unlifted.model.weights().unwrap())[0];
    assert!(close(plane[0], -11.0, 0.0, 1e-6) && close(plane[1], 1.0, 0.0, 1e-6));
    assert!(close(
        support(&unlifted.model).optima[0].margin,
        1.0,
        0.0,
        1e-6
    ));
    assert_eq!(unlifted.margin.unwrap().kind, "plain");
    // XOR by the quadratic kernel: each point holds the plane up.
    let xor = Toy::binary(
        vec![
            vec![0.0, 0.0],
            vec![0.0, 1.0],
            vec![1.0, 0.0],
            vec![1.0, 1.0],
        ],
        vec![0, 1, 1, 0],
    );
    let fitted = trained(&xor.dataset(), &over("quadratic", None, Bias::None));
    assert_eq!(support(&fitted.model).rows, [0, 1, 2, 3]);
    assert_eq!(fitted.model.accuracy(&xor.dataset(), 1), 1.0);
}

#[test]
fn storage_layout_threads_and_memory_change_no_bit() {
    let toy = noisy(5, 400, 6);
    let three = common::reals(6, 200, 5, 3);
    for (toy, told) in [
        (&toy, options(Some(1.0), Bias::Lifted)),
        (&toy, options(Some(0.5), Bias::Unlifted(None))),
        (&three, options(Some(1.0), Bias::Lifted)),
        (&toy, over("rbf:0.5", Some(1.0), Bias::Unlifted(None))),
        (&three, over("polynomial:2", Some(0.1), Bias::None)),
    ] {
        let reference = trained(&toy.dataset(), &told);
        let expected = support(&reference.model);
        for sparse in [false, true] {
            for scattered in [false, true] {
                for threads in [1, 3] {
                    for memory in [Some(1), None] {
                        let data = toy.stored(Storage {
                            sparse,
                            precision: Precision::F32,
                            scattered,
                        });
                        let session = Session::new(&told).threads(threads).memory(memory);
                        let model = session.train(&data).unwrap().model;
                        assert_eq!(support(&model), expected, "{told:?}");
                        if let (Some(a), Some(b)) = (model.weights(), reference.model.weights()) {
                            assert_eq!(bits(&planes(a)), bits(&planes(b)));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_linear_kernel_finds_the_linear_plane() {
    let toy = noisy(11, 120, 4);
    let data = toy.dataset();
    for bias in BIASES {
        for c in [Some(0.2), Some(2.0)] {
            let mut linear = options(c, bias);
            let mut kernel = over("linear", c, bias);
            (linear.tolerance, kernel.tolerance) = (1e-9, 1e-9);
            let (linear, kernel) = (trained(&data, &linear), trained(&data, &kernel));
            let (a, b) = (
                support(&linear.model).optima[0],
                support(&kernel.model).optima[0],
            );
            assert!(close(a.primal, b.primal, 0.0, 1e-8), "{bias}: {a:?} {b:?}");
            assert!(close(a.margin, b.margin, 0.0, 1e-4), "{bias}: {a:?} {b:?}");
            let of = |m: &Model| m.scores(&data.matrix, 1);
            for (s, t) in of(&linear.model).iter().zip(of(&kernel.model)) {
                assert!(close(*s, t, 1.0, 1e-3), "{bias}: {s} {t}");
            }
        }
    }
}

#[test]
fn a_precomputed_kernel_is_the_kernel() {
    let toy = noisy(12, 60, 3);
    let kernel: Kernel = "rbf:0.4".parse().unwrap();
    let data = toy.dataset();
    let gram = (0..60)
        .map(|i| {
            (0..60)
                .map(|j| kernel.value(data.row(i), data.row(j)))
                .collect()
        })
        .collect();
    let given = Toy {
        rows: gram,
        ..toy.clone()
    };
    for scattered in [false, true] {
        let stored = given.stored(Storage { scattered, ..PLAIN });
        let a = trained(
            &stored,
            &over("precomputed", Some(1.0), Bias::Unlifted(None)),
        );
        let b = trained(&data, &over("rbf:0.4", Some(1.0), Bias::Unlifted(None)));
        assert_eq!(support(&a.model).rows, support(&b.model).rows);
        let (a, b) = (support(&a.model).optima[0], support(&b.model).optima[0]);
        assert!(close(a.primal, b.primal, 0.0, 1e-6));
    }
}

#[test]
fn weights_count_as_repeated_rows() {
    let mut toy = noisy(21, 40, 3);
    let mut repeated = toy.clone();
    for i in 0..10 {
        repeated.rows.push(toy.rows[i].clone());
        repeated.labels.push(toy.labels[i]);
    }
    toy.weights = Some((0..40).map(|i| if i < 10 { 2.0 } else { 1.0 }).collect());
    let mut told = options(Some(0.7), Bias::Lifted);
    told.tolerance = 1e-9;
    let (a, b) = (
        trained(&toy.dataset(), &told),
        trained(&repeated.dataset(), &told),
    );
    let (a, b) = (support(&a.model).optima[0], support(&b.model).optima[0]);
    assert!(close(a.primal, b.primal, 0.0, 1e-8), "{a:?} {b:?}");
    // A class weight multiplies C for its class.
    toy.weights = Some(
        toy.labels
            .iter()
            .map(|&l| if l == 1 { 3.0 } else { 1.0 })
            .collect(),
    );
    let by_rows = trained(&toy.dataset(), &told);
    toy.weights = None;
    told.class_weight = ClassWeight::Listed(vec![("1".into(), 3.0)]);
    let by_class = trained(&toy.dataset(), &told);
    assert_eq!(support(&by_rows.model), support(&by_class.model));
}

#[test]
fn several_classes_are_several_planes() {
    let toy = common::reals(31, 90, 4, 3);
    let data = toy.dataset();
    let mut told = options(Some(1.0), Bias::Lifted);
    let rest = trained(&data, &told);
    told.multiclass = Some(Multiclass::Ovo);
    let pairs = trained(&data, &told);
    for (model, against_rest) in [(&rest.model, true), (&pairs.model, false)] {
        assert_eq!(support(model).optima.len(), 3);
        for d in 0..3u32 {
            let (low, high) = [(0, 1), (0, 2), (1, 2)][d as usize];
            let chosen: Vec<usize> = (0..toy.len())
                .filter(|&i| against_rest || [low, high].contains(&toy.labels[i]))
                .collect();
            let positive = if against_rest { d } else { high };
            let alone = Toy::binary(
                chosen.iter().map(|&i| toy.rows[i].clone()).collect(),
                chosen
                    .iter()
                    .map(|&i| u32::from(toy.labels[i] == positive))
                    .collect(),
            );
            let plane = &planes(model.weights().unwrap())[d as usize];
            let least = trained(&alone.dataset(), &options(Some(1.0), Bias::Lifted));
            let least = support(&least.model).optima[0].primal;
            assert!(close(
                primal(&alone, plane, 1.0, Bias::Lifted),
                least,
                0.0,
                2e-6
            ));
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_advice() {
    let refused = |toy: &Toy, told: &Options| {
        let outcome = Session::new(told).train(&toy.dataset());
        outcome.map(|_| ()).unwrap_err().to_string()
    };
    let line = Toy::binary(vec![vec![0.0], vec![1.0], vec![2.0]], vec![0, 1, 0]);
    for bias in BIASES {
        let said = refused(&line, &options(None, bias));
        assert!(
            said.contains("not separable") && said.contains("--c 1"),
            "{said}"
        );
    }
    let conflict = Toy::binary(vec![vec![1.0], vec![1.0], vec![3.0]], vec![0, 1, 0]);
    let said = refused(&conflict, &over("rbf:1", None, Bias::None));
    assert!(
        said.contains("rows 1 and 2 are equal") && said.contains("--c 1"),
        "{said}"
    );
    let said = refused(&conflict, &over("polynomial:3", None, Bias::Unlifted(None)));
    assert!(
        said.contains("not separable") && said.contains("--c 1"),
        "{said}"
    );
    let mut weighted = common::separable(1, 10, 2, 0.0, 0.1).0;
    weighted.weights = Some(vec![2.0; 10]);
    assert!(refused(&weighted, &options(None, Bias::Lifted)).contains("hard"));
    let mut told = options(None, Bias::Lifted);
    told.class_weight = ClassWeight::Balanced;
    assert!(refused(&line, &told).contains("--c"));
    told = options(Some(1.0), Bias::Unlifted(Some(2.0)));
    assert!(refused(&line, &told).contains("whatever ρ"));
    told = options(Some(1.0), Bias::Lifted);
    told.margin_demand = 1.0;
    assert!(refused(&line, &told).contains("--margin-demand"));
    told = options(Some(1.0), Bias::Lifted);
    told.learner = LearnerKind::Perceptron;
    assert!(refused(&line, &told).contains("--c belongs"));
    // A model is an answer, not a state to go on from.
    let told = options(Some(1.0), Bias::Lifted);
    let model = trained(&line.dataset(), &told).model;
    let error = Session::new(&told)
        .resume(Some(&model))
        .train(&line.dataset());
    let error = error.map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("cannot be resumed"));
}

#[test]
fn limits_end_a_run_with_a_true_gap() {
    let toy = noisy(41, 300, 5);
    let data = toy.dataset();
    for kernel in [None, Some("rbf:1")] {
        let mut told = options(Some(10.0), Bias::Lifted);
        told.kernel = kernel.map(|k| k.parse().unwrap());
        told.max_updates = Some(50);
        let few = trained(&data, &told);
        assert_eq!(few.model.progress.stop, Some(Stop::UpdateLimit));
        assert_eq!(few.model.progress.updates, 50);
        let optimum = support(&few.model).optima[0];
        assert!(optimum.dual <= optimum.primal && optimum.relative_gap() > 1e-6);
        if let Some(weights) = few.model.weights() {
            let own = primal(&toy, &planes(weights)[0], 10.0, Bias::Lifted);
            assert!(close(own, optimum.primal, 0.0, 1e-10));
        }
        told.max_updates = None;
        told.epochs = Some(1);
        let short = trained(&data, &told);
        assert_eq!(short.model.progress.stop, Some(Stop::EpochLimit));
        assert_eq!(short.model.progress.epochs(), 1);
        told.epochs = None;
        let flag = AtomicBool::new(true);
        let stopped = Session::new(&told).interrupt(&flag).train(&data).unwrap();
        assert_eq!(stopped.model.progress.stop, Some(Stop::Interrupted));
        told.time_limit = Some(1e-9);
        let late = trained(&data, &told);
        assert_eq!(late.model.progress.stop, Some(Stop::TimeLimit));
    }
}

#[test]
fn models_come_back_from_their_files() {
    let data = noisy(51, 80, 3).dataset();
    for told in [
        options(Some(1.0), Bias::Unlifted(None)),
        over("rbf:0.7", Some(1.0), Bias::Unlifted(None)),
        over("quadratic", Some(0.3), Bias::Lifted),
    ] {
        let model = trained(&data, &told).model;
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.support, model.support);
        assert_eq!(again.decision, model.decision);
        assert_eq!(again.scores(&data.matrix, 1), model.scores(&data.matrix, 1));
        let mut scorer = again.scorer();
        let one = scorer.scores(data.row(7))[0];
        assert_eq!(one.to_bits(), model.scores(&data.matrix, 1)[7].to_bits());
    }
}
