//! The linear unit against least squares solved directly.

mod common;

use common::{Toy, close, dot, norm, planes, score, trained};
use rosenblatt::Options;
use rosenblatt::learner::{Gradient, LinearUnit};
use rosenblatt::options::{Bias, Order, Start};
use rosenblatt::progress::Stop;

fn unit() -> LinearUnit {
    LinearUnit {
        tolerance: 1e-12,
        ..LinearUnit::default()
    }
}

fn options() -> Options {
    Options {
        learner: unit().into(),
        epochs: Some(200_000),
        ..Options::default()
    }
}

fn lifted(row: &[f64]) -> Vec<f64> {
    [&[1.0], row].concat()
}

/// XᵀCX and XᵀCy of the lifted rows; ±1 targets of the positive class.
fn normal_equations(toy: &Toy) -> (Vec<Vec<f64>>, Vec<f64>) {
    let width = toy.features() + 1;
    let mut matrix = vec![vec![0.0; width]; width];
    let mut right = vec![0.0; width];
    for i in 0..toy.len() {
        let x = lifted(&toy.rows[i]);
        for a in 0..width {
            right[a] += toy.weight(i) * toy.sign(i) * x[a];
            for b in 0..width {
                matrix[a][b] += toy.weight(i) * x[a] * x[b];
            }
        }
    }
    (matrix, right)
}

/// Gaussian elimination with pivots.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs()))
            .unwrap();
        matrix.swap(k, pivot);
        right.swap(k, pivot);
        for r in k + 1..n {
            let factor = matrix[r][k] / matrix[k][k];
            let above = matrix[k].clone();
            let rest = matrix[r][k..].iter_mut().zip(&above[k..]);
            rest.for_each(|(x, a)| *x -= factor * a);
            right[r] -= factor * right[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|c| matrix[k][c] * right[c]).sum();
        right[k] = (right[k] - known) / matrix[k][k];
    }
    right
}

fn error(toy: &Toy, plane: &[f64]) -> f64 {
    (0..toy.len())
        .map(|i| toy.weight(i) * (toy.sign(i) - score(plane, &toy.rows[i])).powi(2))
        .sum()
}

/// λ_max by many multiplications.
fn largest_eigenvalue(matrix: &[Vec<f64>]) -> f64 {
    let mut v = vec![1.0; matrix.len()];
    let mut value = 0.0;
    for _ in 0..20_000 {
        let next: Vec<f64> = matrix.iter().map(|row| dot(row, &v)).collect();
        value = norm(&next);
        v = next.iter().map(|x| x / value).collect();
    }
    value
}

fn weighted(seed: u64) -> Toy {
    let mut toy = common::reals(seed, 20, 3, 2);
    if seed % 2 == 1 {
        toy.weights = Some((0..20).map(|i| [1.0, 4.0, 0.25][i % 3]).collect());
    }
    toy
}

#[test]
fn batch_descent_reaches_the_least_squares_solution() {
    for seed in 0..60 {
        let toy = weighted(seed);
        let (matrix, right) = normal_equations(&toy);
        let best = solve(matrix, right);
        let start = if seed % 3 == 0 {
            Start::Random(5.0)
        } else {
            Start::Zero
        };
        let fitted = trained(
            &toy.dataset(),
            &Options {
                start,
                seed,
                ..options()
            },
        );
        let progress = &fitted.model.progress;
        assert_eq!(progress.stop, Some(Stop::Converged), "seed {seed}");
        let found = &planes(fitted.model.weights().unwrap())[0];
        for (f, b) in found.iter().zip(&best) {
            assert!(close(*f, *b, 1.0, 1e-9), "{found:?}, expected {best:?}");
        }
        let errors: Vec<f64> = progress.passes.iter().map(|p| p.squared_error).collect();
        assert!(
            errors.windows(2).all(|e| e[1] <= e[0] * (1.0 + 1e-12)),
            "seed {seed}"
        );
        assert!(close(
            *errors.last().unwrap(),
            error(&toy, found),
            0.0,
            1e-12
        ));
        assert!(errors.len() > 2);
    }
}

#[test]
fn a_rate_below_the_limit_converges_and_one_above_is_reported_with_a_safe_one() {
    for seed in 0..60 {
        let toy = weighted(seed);
        let limit = 2.0 / largest_eigenvalue(&normal_equations(&toy).0);
        let at = |rate: f64| {
            let options = Options {
                learning_rate: Some(rate),
                seed,
                ..options()
            };
            trained(&toy.dataset(), &options)
                .model
                .progress
                .stop
                .unwrap()
        };
        assert_eq!(at(0.95 * limit), Stop::Converged, "seed {seed}");
        for factor in [1.05, 3.0, 1e6, 1e200] {
            let Stop::Diverged { safe_rate } = at(factor * limit) else {
                panic!("{factor} times the limit did not diverge, seed {seed}");
            };
            assert!(
                close(safe_rate, limit, 0.0, 0.02),
                "{safe_rate}, limit {limit}"
            );
            assert_eq!(at(0.97 * safe_rate), Stop::Converged);
        }
    }
}

#[test]
fn a_diverged_run_goes_back_to_finite_weights() {
    for gradient in [Gradient::Batch, Gradient::Stochastic] {
        for rate in [10.0, 1e200] {
            let toy = weighted(1);
            let options = Options {
                learner: LinearUnit { gradient, ..unit() }.into(),
                learning_rate: Some(rate),
                ..options()
            };
            let fitted = trained(&toy.dataset(), &options);
            let Some(Stop::Diverged { safe_rate }) = fitted.model.progress.stop else {
                panic!("{:?}", fitted.model.progress.stop);
            };
            assert!(safe_rate > 0.0 && safe_rate < rate);
            let plane = &planes(fitted.model.weights().unwrap())[0];
            assert!(plane.iter().all(|w| w.is_finite()));
        }
    }
}

#[test]
fn rounding_at_the_bottom_is_not_called_divergence() {
    // As many features as rows: the error falls to nothing but rounding.
    for seed in 0..20 {
        let toy = common::reals(seed, 3, 6, 2);
        let options = Options {
            learner: LinearUnit { tolerance: 0.0, ..unit() }.into(),
            epochs: Some(3_000),
            seed,
            ..options()
        };
        let fitted = trained(&toy.dataset(), &options);
        let stop = fitted.model.progress.stop.unwrap();
        assert!(
            matches!(stop, Stop::EpochLimit | Stop::Converged),
            "seed {seed}: {stop}"
        );
        let left = error(&toy, &planes(fitted.model.weights().unwrap())[0]);
        assert!(left < 1e-6, "seed {seed}: {left}");
    }
}

#[test]
fn a_weighted_example_is_that_example_repeated() {
    for seed in 0..40 {
        let mut toy = common::reals(seed, 15, 3, 2);
        let counts: Vec<usize> = (0..15).map(|i| 1 + (i * 7 + seed as usize) % 4).collect();
        let mut repeated = Toy::binary(Vec::new(), Vec::new());
        for (i, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                repeated.rows.push(toy.rows[i].clone());
                repeated.labels.push(toy.labels[i]);
            }
        }
        toy.weights = Some(counts.iter().map(|&c| c as f64).collect());
        // The same start for both power iterations: rates agree up to rounding.
        let (a, b) = (
            trained(&toy.dataset(), &options()),
            trained(&repeated.dataset(), &options()),
        );
        assert!(close(a.learning_rate, b.learning_rate, 0.0, 1e-10));
        let options = Options {
            learning_rate: Some(a.learning_rate),
            epochs: Some(30),
            learner: LinearUnit { tolerance: 0.0, ..unit() }.into(),
            ..options()
        };
        let (a, b) = (
            trained(&toy.dataset(), &options),
            trained(&repeated.dataset(), &options),
        );
        assert_eq!(a.model.progress.stop, Some(Stop::EpochLimit), "seed {seed}");
        for (a, b) in a.model.progress.passes.iter().zip(&b.model.progress.passes) {
            assert!(close(a.squared_error, b.squared_error, 0.0, 1e-12));
        }
        let (a, b) = (
            planes(a.model.weights().unwrap()),
            planes(b.model.weights().unwrap()),
        );
        for (a, b) in a[0].iter().zip(&b[0]) {
            assert!(close(*a, *b, 1.0, 1e-12));
        }
    }
}

#[test]
fn the_part_of_the_start_that_no_row_sees_stays() {
    // Feature 2 is always 0 and feature 1 always twice feature 0.
    let mut toy = common::reals(3, 12, 3, 2);
    toy.rows
        .iter_mut()
        .for_each(|x| (x[1], x[2]) = (2.0 * x[0], 0.0));
    let start = vec![0.0, 4.0, -1.0, 7.0];
    let options = Options {
        start: Start::Given(start.clone()),
        ..options()
    };
    let fitted = trained(&toy.dataset(), &options);
    assert_eq!(fitted.model.progress.stop, Some(Stop::Converged));
    let w = &planes(fitted.model.weights().unwrap())[0];
    assert_eq!(w[3], 7.0);
    // (2, −1) is orthogonal to (1, 2): w·(2, −1) is what it was.
    assert!(close(2.0 * w[1] - w[2], 9.0, 0.0, 1e-12));
    // What the rows do see is least squares: solve in the one feature that is left.
    let narrow = Toy::binary(
        toy.rows.iter().map(|x| vec![x[0]]).collect(),
        toy.labels.clone(),
    );
    let (matrix, right) = normal_equations(&narrow);
    let best = solve(matrix, right);
    assert!(close(w[0], best[0], 1.0, 1e-9));
    assert!(close(w[1] + 2.0 * w[2], best[1], 1.0, 1e-9));
}

#[test]
fn stochastic_descent_with_decay_comes_close_to_least_squares() {
    for seed in 0..12 {
        let toy = common::reals(seed, 40, 3, 2);
        let (matrix, right) = normal_equations(&toy);
        let best = error(&toy, &solve(matrix, right));
        for order in [Order::Given, Order::ByClass, Order::Shuffled, Order::Random] {
            let at = |decay: f64, rate: Option<f64>| {
                let options = Options {
                    learner: LinearUnit { gradient: Gradient::Stochastic, decay, ..unit() }.into(),
                    order,
                    seed,
                    learning_rate: rate,
                    epochs: Some(2_000),
                    ..options()
                };
                let fitted = trained(&toy.dataset(), &options);
                assert_eq!(fitted.model.progress.stop, Some(Stop::EpochLimit));
                error(&toy, &planes(fitted.model.weights().unwrap())[0])
            };
            let (decaying, constant) = (at(0.02, None), at(0.0, None));
            assert!(decaying >= best * (1.0 - 1e-12) && constant >= best * (1.0 - 1e-12));
            assert!(
                decaying < best * 1.005,
                "{order:?}: {decaying}, best {best}"
            );
            // At a constant rate it ends near, but not there.
            assert!(
                constant > decaying && constant < best * 10.0,
                "{order:?}: {constant}"
            );
        }
    }
}

#[test]
fn the_derived_rate_of_both_gradients_is_safe() {
    for seed in 0..40 {
        for gradient in [Gradient::Batch, Gradient::Stochastic] {
            for bias in [Bias::Lifted, Bias::None] {
                let toy = weighted(seed);
                let options = Options {
                    learner: LinearUnit { gradient, ..unit() }.into(),
                    bias: Some(bias),
                    seed,
                    epochs: Some(300),
                    ..options()
                };
                let stop = trained(&toy.dataset(), &options)
                    .model
                    .progress
                    .stop
                    .unwrap();
                assert!(
                    !matches!(stop, Stop::Diverged { .. }),
                    "seed {seed}: {stop}"
                );
            }
        }
    }
}

#[test]
fn several_classes_are_several_least_squares() {
    let toy = common::reals(4, 30, 3, 3);
    let fitted = trained(&toy.dataset(), &options());
    assert_eq!(fitted.model.progress.stop, Some(Stop::Converged));
    for (class, found) in planes(fitted.model.weights().unwrap()).iter().enumerate() {
        let labels = toy
            .labels
            .iter()
            .map(|&l| u32::from(l as usize == class))
            .collect();
        let (matrix, right) = normal_equations(&Toy::binary(toy.rows.clone(), labels));
        for (f, b) in found.iter().zip(solve(matrix, right)) {
            assert!(close(*f, b, 1.0, 1e-9));
        }
    }
}

#[test]
fn least_squares_may_misclassify_separable_data() {
    // One far row on the right side drags the line over a near one.
    let rows = vec![vec![-1.0], vec![1.0], vec![2.0], vec![60.0]];
    let toy = Toy::binary(rows, vec![0, 1, 1, 1]);
    let fitted = trained(&toy.dataset(), &options());
    let perceptron = Options {
        epochs: Some(1_000),
        ..Options::default()
    };
    assert_eq!(
        trained(&toy.dataset(), &perceptron).model.progress.stop,
        Some(Stop::Separated)
    );
    assert_eq!(fitted.model.progress.stop, Some(Stop::Converged));
    let predicted = fitted.model.predict(&toy.dataset().matrix, 1).unwrap();
    assert_ne!(predicted, toy.labels);
}
