//! What a finished run proves about the margin, and the bound that follows.
//!
//! Any separator u gives the theorem a margin: its own smallest one. So a run that ends
//! `separated` brings a true bound on its updates with it, and M updates from zero show in
//! return that γ ≤ ‖w_M‖/M. Both ends are rounded outward.

use super::{Importance, Progress, Stop};
use crate::certificate::bounds;
use crate::data::Dataset;
use crate::learner::perceptron::Perceptron;
use crate::model::{Scheme, Weights};
use crate::options::{Bias, Options, Start};

/// The margin γ of a data set lies between these.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct MarginBracket {
    /// At least this.
    pub lower: f64,
    /// At most this.
    pub upper: f64,
    /// `lifted` if the norm of the separator counts its bias, else `plain`.
    pub kind: &'static str,
}

/// The bracket and the bound on updates that the run's weights prove, where they separate
/// two classes.
pub(super) fn from_run(
    data: &Dataset,
    importance: &Importance,
    perceptron: &Perceptron<'_>,
    options: &Options,
    progress: &Progress,
    stop: Stop,
) -> (Option<MarginBracket>, Option<u64>) {
    let binary = super::Hypothesis::scheme(perceptron) == Scheme::Binary;
    if stop != Stop::Separated || !binary {
        return (None, None);
    }
    let weights = &perceptron.state().weights;
    let lifted = options.bias() == Bias::Lifted;
    let norm = weights.squared_norm(0, lifted).sqrt() * (1.0 + rounding(data.features()));
    let mut lower = f64::INFINITY;
    let mut shortest = f64::INFINITY;
    for i in 0..data.len() {
        let c = importance.of(i, data.labels[i]);
        let sign = if data.labels[i] == 1 { 1.0 } else { -1.0 };
        let (score, error) = score_with_error(weights, data, i);
        lower = lower.min(c * (sign * score - error) * (1.0 - 4.0 * f64::EPSILON));
        shortest =
            shortest.min(c * (importance.squared_norm(i) + if lifted { 1.0 } else { 0.0 }).sqrt());
    }
    lower /= norm;
    if lower.is_nan() || lower <= 0.0 {
        return (None, None);
    }
    let up = |x: f64| x * (1.0 + rounding(data.features()));
    let from_zero = options.start == Start::Zero && !options.normalise_weights;
    let unlifted = matches!(options.bias(), Bias::Unlifted(_));
    // No example is farther from a plane through the origin than from the origin itself.
    let mut upper = if unlifted {
        up(importance.squared_radius().sqrt())
    } else {
        up(shortest)
    };
    if from_zero && !unlifted && progress.updates > 0 {
        let steps = progress.updates as f64
            * if perceptron.state().unit == 1.0 {
                options.rate()
            } else {
                1.0
            };
        upper = upper.min(up(weights.squared_norm(0, lifted).sqrt()) / steps);
    }
    let margin = MarginBracket {
        lower,
        upper: upper.max(lower),
        kind: if lifted { "lifted" } else { "plain" },
    };
    let radius = up(importance
        .squared_radius_with(data, if lifted { 1.0 } else { 0.0 })
        .sqrt());
    (
        Some(margin),
        bounds::count(bound(options, perceptron, margin.lower, radius)),
    )
}

fn bound(options: &Options, perceptron: &Perceptron<'_>, margin: f64, radius: f64) -> f64 {
    let weights = &perceptron.state().weights;
    if options.normalise_weights {
        return match options.start {
            Start::Zero
                if options.margin_demand == 0.0 && !matches!(options.bias(), Bias::Unlifted(_)) =>
            {
                bounds::renormalised(radius, margin, options.rate()).unwrap_or(f64::INFINITY)
            }
            _ => f64::INFINITY,
        };
    }
    let from_zero = options.start == Start::Zero;
    match options.bias() {
        Bias::Unlifted(_) if from_zero && options.margin_demand == 0.0 => {
            let threshold = weights.bias(0) / weights.squared_norm(0, false).sqrt();
            bounds::unlifted(radius, perceptron.constant().sqrt(), margin, threshold)
        }
        // The unlifted start and demand: no theorem is evaluated here.
        Bias::Unlifted(_) => f64::INFINITY,
        _ if from_zero && options.margin_demand == 0.0 => bounds::from_zero(radius, margin),
        _ => {
            let start = perceptron.start();
            let lifted = options.bias() == Bias::Lifted;
            let along = along(weights, start, lifted);
            bounds::general(
                radius,
                margin,
                bounds::Start {
                    norm: start.squared_norm(0, lifted).sqrt(),
                    along_separator: Some(along),
                    rate: options.rate(),
                    demand: options.margin_demand,
                },
            )
        }
    }
}

/// u·w0 for the unit separator u along `weights`.
fn along(weights: &Weights, start: &Weights, lifted: bool) -> f64 {
    let mut inner = if lifted {
        weights.bias(0) * start.bias(0)
    } else {
        0.0
    };
    (0..weights.features()).for_each(|j| inner += weights.get(0, j) * start.get(0, j));
    inner / weights.squared_norm(0, lifted).sqrt()
}

/// A relative bound on the rounding of a sum of `terms` products.
fn rounding(terms: usize) -> f64 {
    (terms as f64 + 4.0) * f64::EPSILON
}

/// The score of example `i`, and a bound on its rounding error.
fn score_with_error(weights: &Weights, data: &Dataset, i: usize) -> (f64, f64) {
    let row = data.row(i);
    let mut magnitude = weights.bias(0).abs();
    let mut terms = 0;
    row.for_each(|j, x| {
        magnitude += (weights.get(0, j) * x).abs();
        terms += 1;
    });
    (weights.score(0, row), magnitude * rounding(terms))
}
