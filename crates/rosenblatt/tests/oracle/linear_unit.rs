//! The linear unit against its definition.

use rosenblatt::Options;
use rosenblatt::data::{Dataset, Precision, RowPermutation};
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::learner::{Gradient, LinearUnit};
use rosenblatt::options::{Bias, ClassWeight, Multiclass, Order, Start};
use rosenblatt::progress::Stop;

use crate::common::{self, Storage, Toy, close, dot, planes, score, trained};

/// Σ c(y − o)², Σ c(y − o)x for each output, over all rows.
fn gradient(toy: &Toy, c: &[f64], w: &[Vec<f64>], constant: f64) -> (f64, Vec<Vec<f64>>) {
    let mut error = 0.0;
    let mut sums = vec![vec![0.0; w[0].len()]; w.len()];
    for (i, x) in toy.rows.iter().enumerate() {
        for (p, plane) in w.iter().enumerate() {
            let residual = target(toy, i, p, w.len()) - score(plane, x);
            error += c[i] * residual * residual;
            sums[p][0] += c[i] * residual * constant;
            let moved = sums[p][1..].iter_mut().zip(x);
            moved.for_each(|(s, x)| *s += c[i] * residual * x);
        }
    }
    (error, sums)
}

fn target(toy: &Toy, i: usize, plane: usize, outputs: usize) -> f64 {
    let label = toy.labels[i] as usize;
    let hit = if outputs == 1 {
        label == 1
    } else {
        label == plane
    };
    if hit { 1.0 } else { -1.0 }
}

/// The visits of a pass of fewer than 256 rows.
fn order(toy: &Toy, order: Order, seed: u64, epoch: u64) -> Vec<usize> {
    let n = toy.len();
    let mut random = Random::new(seed, Stream::Order, epoch);
    match order {
        Order::ByClass => (0..toy.classes as u32)
            .rev()
            .flat_map(|c| (0..n).filter(move |&i| toy.labels[i] == c))
            .collect(),
        Order::Shuffled => {
            let permutation = RowPermutation::new(n);
            let mut rows: Vec<usize> = (0..n).map(|p| permutation.row_at(p)).collect();
            random.shuffle(&mut rows);
            rows
        }
        Order::Random => (0..n).map(|_| random.below(n as u64) as usize).collect(),
        _ => (0..n).collect(),
    }
}

#[test]
fn the_linear_unit_does_what_the_definition_says_on_every_axis() {
    let mut random = common::random(3);
    let mut pick = |n: usize| random.below(n as u64) as usize;
    let mut stops = std::collections::HashSet::new();
    for seed in 0..1_500 {
        let (classes, multiclass) = [
            (2, None),
            (2, Some(Multiclass::Ovr)),
            (3, None),
            (5, Some(Multiclass::Ovr)),
        ][pick(4)];
        let mut toy = common::reals(seed, 11, 3, classes);
        if pick(2) == 1 {
            toy.weights = Some((0..11).map(|i| [0.5, 1.0, 3.0][i % 3]).collect());
        }
        let class_weight = [
            ClassWeight::One,
            ClassWeight::Listed(vec![("1".into(), 2.5)]),
        ][pick(2)]
        .clone();
        let c: Vec<f64> = (0..11)
            .map(|i| {
                let class = match class_weight {
                    ClassWeight::Listed(_) if toy.labels[i] == 1 => 2.5,
                    _ => 1.0,
                };
                toy.weight(i) * class
            })
            .collect();
        let batch = pick(2) == 0;
        let options = Options {
            multiclass,
            class_weight,
            bias: Some([Bias::Lifted, Bias::None][pick(2)]),
            order: common::AHEAD[pick(common::AHEAD.len())],
            start: [Start::Zero, Start::Random(2.0)][pick(2)].clone(),
            learning_rate: [None, None, Some(0.01), Some(1.5)][pick(4)],
            learner: LinearUnit {
                gradient: [Gradient::Stochastic, Gradient::Batch][usize::from(batch)],
                decay: [0.0, 0.25][pick(2)],
                tolerance: [1e-6, 1e-2][pick(2)],
            }
            .into(),
            epochs: Some(25),
            seed,
            ..Options::default()
        };
        let storage = Storage {
            sparse: pick(2) == 1,
            precision: [Precision::F32, Precision::F64][pick(2)],
            scattered: pick(2) == 1,
        };
        let fitted = trained(&toy.stored(storage), &options);
        let rate = fitted.learning_rate;
        let progress = &fitted.model.progress;
        let found = planes(fitted.model.weights().unwrap());
        let stop = progress.stop.unwrap();
        stops.insert((batch, stop.name()));
        if matches!(stop, Stop::Diverged { .. }) {
            assert!(options.learning_rate.is_some(), "the default rate is safe");
            continue;
        }

        let constant = if options.bias() == Bias::None {
            0.0
        } else {
            1.0
        };
        // The start is seen through a run that cannot move far.
        let still = Options {
            learning_rate: Some(f64::MIN_POSITIVE),
            epochs: Some(1),
            ..options.clone()
        };
        let mut w = planes(trained(&toy.dataset(), &still).model.weights().unwrap());
        let nought = vec![vec![0.0; 4]; w.len()];
        let length = |g: &[Vec<f64>]| g.iter().map(|p| dot(p, p)).sum::<f64>().sqrt();
        let unit = options.learner.settings::<LinearUnit>().unwrap();
        let enough = unit.tolerance * (1.0 + length(&gradient(&toy, &c, &nought, constant).1));
        let mut visit = 0.0;
        let mut converged = false;
        for (epoch, pass) in progress.passes.iter().enumerate() {
            assert!(!converged, "a pass after convergence");
            let mut error = 0.0;
            if batch {
                let (e, step) = gradient(&toy, &c, &w, constant);
                error = e;
                converged = length(&step) <= enough;
                if !converged {
                    for (w, g) in w.iter_mut().flatten().zip(step.iter().flatten()) {
                        *w += rate * g;
                    }
                }
            } else {
                for i in order(&toy, options.order, options.seed, epoch as u64) {
                    let eta = rate / (1.0 + unit.decay * visit) * c[i];
                    let outputs = w.len();
                    for (p, plane) in w.iter_mut().enumerate() {
                        let residual = target(&toy, i, p, outputs) - score(plane, &toy.rows[i]);
                        error += c[i] * residual * residual;
                        plane[0] += eta * residual * constant;
                        let moved = plane[1..].iter_mut().zip(&toy.rows[i]);
                        moved.for_each(|(w, x)| *w += eta * residual * x);
                    }
                    visit += 1.0;
                }
                converged = length(&gradient(&toy, &c, &w, constant).1) <= enough;
            }
            assert!(
                close(pass.squared_error, error, 1e-9, 1e-9),
                "{} {error} {:?}",
                pass.squared_error,
                options.changed()
            );
            assert_eq!(pass.visits, 11);
        }
        assert_eq!(
            converged,
            stop == Stop::Converged,
            "{:?}",
            options.changed()
        );
        for (f, e) in found.iter().flatten().zip(w.iter().flatten()) {
            assert!(close(*f, *e, 1.0, 1e-9), "{found:?}, expected {w:?}");
        }
    }
    for expected in [
        (true, "converged"),
        (true, "epoch_limit"),
        (true, "diverged"),
        (false, "epoch_limit"),
        (false, "diverged"),
    ] {
        assert!(stops.contains(&expected), "{expected:?} never happened");
    }
}

#[test]
fn numbers_in_place_of_labels_are_a_regression() {
    let toy = common::reals(5, 40, 3, 2);
    let data = toy.dataset();
    let sides: Vec<f64> = (0..40).map(|i| target(&toy, i, 0, 1)).collect();
    for gradient in [Gradient::Batch, Gradient::Stochastic] {
        let unit = LinearUnit {
            gradient,
            tolerance: 0.0,
            ..LinearUnit::default()
        };
        let options = Options {
            learner: unit.into(),
            epochs: Some(20),
            ..Options::default()
        };
        let learned = |targets: &[f64]| {
            let session = rosenblatt::session(&options).targets(Some(targets));
            session.train(&data).unwrap().model
        };
        let expected = trained(&data, &options).model;
        let found = learned(&sides);
        assert_eq!(
            planes(found.weights().unwrap()),
            planes(expected.weights().unwrap())
        );
        assert_eq!(found.progress.mistakes_per_epoch(), [0; 20]);
        // Four times the targets, four times the weights, to the last bit.
        let fourfold: Vec<f64> = sides.iter().map(|t| 4.0 * t).collect();
        let mut four = planes(learned(&fourfold).weights().unwrap());
        four.iter_mut().flatten().for_each(|w| *w /= 4.0);
        assert_eq!(four, planes(expected.weights().unwrap()));
    }
}

#[test]
fn numbers_that_cannot_be_learned_are_refused() {
    let toy = common::reals(5, 40, 3, 2);
    let (data, three) = (toy.dataset(), common::reals(5, 40, 3, 3).dataset());
    let unit = Options {
        learner: LinearUnit::default().into(),
        ..Options::default()
    };
    let perceptron = Options::default();
    let mut targets = vec![0.5; 40];
    let refused = |options: &Options, data: &Dataset, targets: &[f64]| {
        let session = rosenblatt::session(options).targets(Some(targets));
        session.train(data).unwrap_err().to_string()
    };
    assert!(refused(&perceptron, &data, &targets).contains("learns classes, not numbers"));
    assert!(refused(&unit, &three, &targets).contains("one discriminator"));
    assert!(refused(&unit, &data, &targets[1..]).contains("39 targets for 40 examples"));
    targets[7] = f64::INFINITY;
    assert!(refused(&unit, &data, &targets).contains("the target of example 8"));
}
