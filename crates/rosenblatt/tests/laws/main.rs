//! The laws of the perceptron, on generated sets.

#[path = "../common/mod.rs"]
mod common;
mod going_on;
mod mistake_bounds;
mod readouts;
mod stopping;
mod updates;

use std::sync::atomic::{AtomicBool, Ordering};

use common::{
    ORDERS, PLAIN, READOUTS, Storage, Toy, bits, close, dot, followed, norm, planes, random,
    running, score, separable, trained, unit_vector,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rosenblatt::Options;
use rosenblatt::Session;
use rosenblatt::data::Dataset;
use rosenblatt::learner::{Gradient, LinearUnit};
use rosenblatt::metrics::Evaluation;
use rosenblatt::model::Model;
use rosenblatt::options::{
    AtZero, Bias, ClassWeight, DataSize, Keep, Metric, Multiclass, Order, Readout, Start, Ties,
    Until, Votes,
};
use rosenblatt::progress::Stop;
use rosenblatt::training::{Callback, Fitted, Step};

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
