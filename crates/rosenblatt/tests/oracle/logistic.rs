//! Logistic regression: plain descent on the same objective, and the conditions of its optimum.

use rosenblatt::Options;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::learner::{Logistic, Penalty};
use rosenblatt::options::{Bias, ClassWeight, Multiclass};
use rosenblatt::progress::Stop;

use crate::common::{self, Storage, Toy, bits, close, planes, random, score, trained};

fn options(penalty: Penalty, c: f64, bias: Bias) -> Options {
    let learner = Logistic {
        penalty,
        c,
        tolerance: 1e-10,
    };
    Options {
        bias: Some(bias),
        ..Options::of(learner.into())
    }
}

/// The weights, bias first, and the slope of C Σ c log(1 + exp(−y s)) along each.
fn slopes(toy: &Toy, c: f64, w: &[f64], bias: Bias) -> Vec<f64> {
    let mut slopes = vec![0.0; w.len()];
    for (i, x) in toy.rows.iter().enumerate() {
        let y = toy.sign(i);
        let alpha = c * toy.weight(i) / (1.0 + (y * score(w, x)).exp());
        slopes[0] -= alpha * y * f64::from(u8::from(bias == Bias::Lifted));
        (slopes[1..].iter_mut().zip(x)).for_each(|(s, x)| *s -= alpha * y * x);
    }
    slopes
}

fn objective(toy: &Toy, penalty: Penalty, c: f64, w: &[f64]) -> f64 {
    let each = toy.rows.iter().enumerate();
    let loss = each.map(|(i, x)| c * toy.weight(i) * (-toy.sign(i) * score(w, x)).exp().ln_1p());
    let size: f64 = match penalty {
        Penalty::L2 => w.iter().map(|w| 0.5 * w * w).sum(),
        _ => w.iter().map(|w| w.abs()).sum(),
    };
    size + loss.sum::<f64>()
}

/// The least objective by proximal gradient descent with momentum, started again and again.
fn descended(toy: &Toy, penalty: Penalty, c: f64, bias: Bias) -> f64 {
    let squares = toy.rows.iter().enumerate();
    let bend: f64 = squares
        .map(|(i, x)| c * toy.weight(i) * (1.0 + x.iter().map(|x| x * x).sum::<f64>()) / 4.0)
        .sum();
    let (mut w, mut before) = (vec![0.0; toy.features() + 1], vec![0.0; toy.features() + 1]);
    for step in 0..10_000 {
        let momentum = f64::from(step % 300) / f64::from(step % 300 + 3);
        let ahead: Vec<f64> = w
            .iter()
            .zip(&before)
            .map(|(w, b)| w + momentum * (w - b))
            .collect();
        let slopes = slopes(toy, c, &ahead, bias);
        before = w;
        let moved = ahead.iter().zip(slopes).map(|(w, s)| w - s / bend);
        w = moved
            .map(|v| match penalty {
                Penalty::L2 => v / (1.0 + 1.0 / bend),
                _ => v.signum() * (v.abs() - 1.0 / bend).max(0.0),
            })
            .collect();
    }
    objective(toy, penalty, c, &w)
}

/// A set whose labels a plane gets mostly right; one in three is weighted.
fn noisy(seed: u64, n: usize, d: usize) -> Toy {
    let mut random = random(seed);
    let mut toy = common::reals(seed, n, d, 2);
    for (row, label) in toy.rows.iter().zip(&mut toy.labels) {
        *label = u32::from(row[0] - 0.5 * row[d - 1] + 0.3 + random.normal() > 0.0);
    }
    if seed.is_multiple_of(3) {
        toy.weights = Some((0..n).map(|i| [0.5, 1.0, 3.0][i % 3]).collect());
    }
    toy
}

#[test]
fn logistic_regression() {
    for seed in 0..21 {
        let (n, d) = (6 + 5 * (seed as usize % 7), 1 + seed as usize % 5);
        let toy = noisy(seed, n, d);
        let c = [0.1, 1.0, 20.0][seed as usize % 3];
        for penalty in [Penalty::L2, Penalty::L1] {
            for bias in [Bias::Lifted, Bias::None] {
                let told = options(penalty, c, bias);
                let fitted = trained(&toy.dataset(), &told);
                assert_eq!(fitted.model.progress.stop, Some(Stop::Converged));
                let w = &planes(fitted.model.weights().unwrap())[0];
                let (found, least) = (
                    objective(&toy, penalty, c, w),
                    descended(&toy, penalty, c, bias),
                );
                assert!(close(found, least, 0.0, 1e-8), "{told:?}: {found} {least}");
                for (w, slope) in w.iter().zip(slopes(&toy, c, w, bias)) {
                    match penalty {
                        Penalty::L2 => assert!(close(*w, -slope, 1.0, 1e-3), "{w} {slope}"),
                        Penalty::L1 if *w == 0.0 => assert!(slope.abs() <= 1.0 + 1e-3, "{slope}"),
                        _ => assert!(close(slope, -w.signum(), 1.0, 1e-3), "{w} {slope}"),
                    }
                }
                assert!(bias == Bias::Lifted || w[0] == 0.0);
            }
        }
    }
}

/// ½Σ‖w_k‖² + C Σ c log Σ_k exp(s_k − s_y), and its gradient, bias first.
fn multinomial(toy: &Toy, c: f64, w: &[Vec<f64>]) -> (f64, Vec<Vec<f64>>) {
    let mut gradient = w.to_vec();
    let mut sum: f64 = w.iter().flatten().map(|w| 0.5 * w * w).sum();
    for (i, x) in toy.rows.iter().enumerate() {
        let (price, truth) = (c * toy.weight(i), toy.labels[i] as usize);
        let each: Vec<f64> = w.iter().map(|w| score(w, x).exp()).collect();
        let total: f64 = each.iter().sum();
        sum += price * (total / each[truth]).ln();
        for (k, gradient) in gradient.iter_mut().enumerate() {
            let amount = price * (each[k] / total - f64::from(u8::from(k == truth)));
            gradient[0] += amount;
            (gradient[1..].iter_mut().zip(x)).for_each(|(g, x)| *g += amount * x);
        }
    }
    (sum, gradient)
}

#[test]
fn multinomial_logistic_regression() {
    for seed in 0..8 {
        let classes = 2 + seed as usize % 4;
        let mut toy = common::reals(seed, 20, 3, classes);
        if seed % 2 == 1 {
            toy.weights = Some((0..20).map(|i| [0.5, 1.0, 3.0][i % 3]).collect());
        }
        let told = Options {
            multiclass: Some(Multiclass::Argmax),
            ..options(Penalty::L2, 2.0, Bias::Lifted)
        };
        let plain = trained(&toy.dataset(), &told).model;
        assert_eq!(plain.progress.stop, Some(Stop::Converged));
        let w = planes(plain.weights().unwrap());
        let (least, gradient) = multinomial(&toy, 2.0, &w);
        // The objective bends at least as ½‖w‖² does: no other point is lower by more.
        let squared: f64 = gradient.iter().flatten().map(|g| g * g).sum();
        assert!(0.5 * squared <= 1e-10 * least, "{squared} {least}");
        let data = toy.dataset();
        let found = plain.probabilities(&data.matrix, 1).unwrap();
        for (p, x) in found.chunks_exact(classes).zip(&toy.rows) {
            let each: Vec<f64> = w.iter().map(|w| score(w, x).exp()).collect();
            let total: f64 = each.iter().sum();
            for (p, e) in p.iter().zip(each) {
                assert!(close(*p, e / total, 1.0, 1e-12));
            }
        }
        let sparse = Storage {
            sparse: true,
            scattered: true,
            ..common::PLAIN
        };
        let stored = trained(&toy.stored(sparse), &told).model;
        assert_eq!(bits(&planes(stored.weights().unwrap())), bits(&w));
    }
}

/// Rows of words, of which most features are absent: too many for a matrix of them.
fn words(seed: u64, rows: usize, features: u32) -> (Vec<Vec<(u32, f64)>>, Vec<u32>) {
    let mut random = random(seed);
    let row = |_| {
        let mut row: Vec<u32> = (0..8)
            .map(|_| random.below(u64::from(features)) as u32)
            .collect();
        row.sort_unstable();
        row.dedup();
        row.into_iter()
            .map(|j| (j, 0.5 + 0.1 * f64::from(j % 7)))
            .collect()
    };
    let all: Vec<Vec<(u32, f64)>> = (0..rows).map(row).collect();
    let labels = all
        .iter()
        .map(|row| u32::from(row.iter().filter(|(j, _)| j % 2 == 0).count() > 3));
    let labels = labels.collect();
    (all, labels)
}

#[test]
fn many_features_and_few_have_one_optimum() {
    let (rows, labels) = words(5, 150, 60);
    let dense = |width: usize| {
        let each = rows.iter().map(|row| {
            let mut full = vec![0.0; width];
            row.iter().for_each(|&(j, x)| full[j as usize] = x);
            full
        });
        Toy::binary(each.collect(), labels.clone())
    };
    for penalty in [Penalty::L2, Penalty::L1] {
        let told = options(penalty, 2.0, Bias::Lifted);
        // Beside 3,000 features that never occur, no matrix of all is summed.
        let [few, many] = [60, 3000].map(|width| {
            let toy = dense(width);
            let fitted = trained(
                &toy.stored(Storage {
                    sparse: true,
                    ..common::PLAIN
                }),
                &told,
            );
            assert_eq!(fitted.model.progress.stop, Some(Stop::Converged));
            let w = planes(fitted.model.weights().unwrap()).remove(0);
            assert!(w[61..].iter().all(|w| *w == 0.0));
            objective(&toy, penalty, 2.0, &w)
        });
        assert!(close(few, many, 0.0, 1e-9), "{few} {many}");
    }
}

#[test]
fn neither_storage_nor_threads_change_a_bit_of_logistic_regression() {
    let toy = common::integers(4, 40, 5, 3, 3);
    for penalty in [Penalty::L2, Penalty::L1] {
        let told = options(penalty, 0.7, Bias::Lifted);
        let plain = bits(&planes(
            trained(&toy.dataset(), &told).model.weights().unwrap(),
        ));
        for sparse in [false, true] {
            for precision in [Precision::F32, Precision::F64] {
                for scattered in [false, true] {
                    let data = toy.stored(Storage {
                        sparse,
                        precision,
                        scattered,
                    });
                    for threads in [1, 3] {
                        let session = rosenblatt::Session::new(&told).threads(threads);
                        let fitted = session.train(&data).unwrap();
                        assert_eq!(bits(&planes(fitted.model.weights().unwrap())), plain);
                    }
                }
            }
        }
    }
}

#[test]
fn weights_count_as_repeated_rows_in_logistic_regression() {
    let mut toy = noisy(20, 40, 3);
    let mut repeated = toy.clone();
    for i in 0..10 {
        repeated.rows.push(toy.rows[i].clone());
        repeated.labels.push(toy.labels[i]);
    }
    toy.weights = Some((0..40).map(|i| if i < 10 { 2.0 } else { 1.0 }).collect());
    for penalty in [Penalty::L2, Penalty::L1] {
        let mut told = options(penalty, 0.7, Bias::Lifted);
        let weights = |toy: &Toy, told: &Options| {
            planes(trained(&toy.dataset(), told).model.weights().unwrap()).remove(0)
        };
        for (a, b) in weights(&toy, &told).iter().zip(weights(&repeated, &told)) {
            assert!(close(*a, b, 1.0, 1e-4), "{a} {b}");
        }
        // A class weight multiplies C for its class.
        let mut heavy = repeated.clone();
        heavy.weights = Some(
            heavy
                .labels
                .iter()
                .map(|&y| if y == 1 { 5.0 } else { 1.0 })
                .collect(),
        );
        told.class_weight = ClassWeight::Listed(vec![("1".into(), 5.0)]);
        for (a, b) in weights(&repeated, &told)
            .iter()
            .zip(weights(&heavy, &options(penalty, 0.7, Bias::Lifted)))
        {
            assert!(close(*a, b, 1.0, 1e-4), "{a} {b}");
        }
    }
}

#[test]
fn probabilities_are_the_sigmoid_of_the_score_and_sum_to_one() {
    for classes in [2, 4] {
        let toy = common::reals(8, 60, 3, classes);
        let data = toy.dataset();
        let model = trained(&data, &options(Penalty::L2, 1.0, Bias::Lifted)).model;
        let scores = model.scores(&data.matrix, 1).unwrap();
        let found = model.probabilities(&data.matrix, 2).unwrap();
        let predicted = model.predict(&data.matrix, 1).unwrap();
        for (i, p) in found.chunks_exact(classes).enumerate() {
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let best = (0..classes).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap();
            assert_eq!(best as u32, predicted[i]);
            if classes == 2 {
                assert!((p[1] - 1.0 / (1.0 + (-scores[i]).exp())).abs() < 1e-15);
            }
        }
    }
    // No score is so far off that nothing is left to divide by.
    let far = Matrix::dense_from_rows(1, &[vec![-1e6], vec![1e6]], Precision::F64);
    let classes = Classes::from_labels(["a", "b"]);
    let data = Dataset::new(far, vec![0, 1], classes, None).unwrap();
    let model = trained(&data, &options(Penalty::L2, 1.0, Bias::None)).model;
    assert!(
        model
            .probabilities(&data.matrix, 1)
            .unwrap()
            .iter()
            .all(|p| p.is_finite())
    );
    let perceptron = trained(&data, &Options::default()).model;
    let refusal = perceptron.probabilities(&data.matrix, 1).unwrap_err();
    assert!(
        refusal.to_string().contains("no probabilities"),
        "{refusal}"
    );
}
