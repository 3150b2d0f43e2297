//! Planes of largest margin: optimality conditions, known answers, and plain versions of the
//! same problem solved otherwise.

#[path = "../common/mod.rs"]
mod common;
mod hard;
mod kernels;
mod runs;
mod soft;

use std::sync::atomic::AtomicBool;

use common::{PLAIN, Storage, Toy, bits, close, dot, planes, random, score, trained};
use proptest::prelude::*;
use rosenblatt::Options;
use rosenblatt::data::Precision;
use rosenblatt::kernel::Kernel;
use rosenblatt::learner::{MaxMargin, Perceptron};
use rosenblatt::model::{Model, SupportVectors};
use rosenblatt::options::{Bias, ClassWeight, Multiclass};
use rosenblatt::progress::Stop;
use rosenblatt::training::Fitted;

const BIASES: [Bias; 3] = [Bias::Lifted, Bias::None, Bias::Unlifted(None)];

fn options(c: Option<f64>, bias: Bias) -> Options {
    Options {
        learner: MaxMargin {
            c,
            ..MaxMargin::default()
        }
        .into(),
        bias: Some(bias),
        ..Options::default()
    }
}

fn over(kernel: &str, c: Option<f64>, bias: Bias) -> Options {
    let mut options = options(c, bias);
    options.set("kernel", kernel).unwrap();
    options
}

/// The same with another tolerance.
fn within(tolerance: f64, mut options: Options) -> Options {
    options.set("tolerance", &tolerance.to_string()).unwrap();
    options
}

fn tolerance(options: &Options) -> f64 {
    let max_margin = options.learner.settings::<MaxMargin>();
    max_margin.unwrap().tolerance
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
