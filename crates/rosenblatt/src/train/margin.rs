//! What a finished run proves about the margin, and the bound that follows.
//!
//! Any separator u gives the theorem a margin: its own smallest one. So a run that ends
//! `separated` brings a true bound on its updates with it, and M updates from zero show in
//! return that γ ≤ ‖w_M‖/M. Both ends are rounded outward.

use super::{Importance, Progress, Stop};
use crate::certificate::bounds;
use crate::data::Dataset;
use crate::learner::dual::Dual;
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
/// two classes, or several jointly.
pub(super) fn from_run(
    data: &Dataset,
    importance: &Importance,
    perceptron: &Perceptron<'_>,
    options: &Options,
    progress: &Progress,
    stop: Stop,
) -> (Option<MarginBracket>, Option<u64>) {
    let scheme = super::Hypothesis::scheme(perceptron);
    let joint = matches!(scheme, Scheme::Argmax { .. });
    if stop != Stop::Separated || !(scheme == Scheme::Binary || joint) {
        return (None, None);
    }
    let weights = &perceptron.state().weights;
    let lifted = options.bias() == Bias::Lifted;
    let lift = if lifted { 1.0 } else { 0.0 };
    let up = |x: f64| x * (1.0 + rounding(data.features() * scheme.discriminators()));
    let norm = up((0..scheme.discriminators())
        .map(|d| weights.squared_norm(d, lifted))
        .sum::<f64>()
        .sqrt());
    let mut lower = f64::INFINITY;
    let mut shortest = f64::INFINITY;
    for i in 0..data.len() {
        let c = importance.of(i, data.labels[i]);
        let (margin, error) = margin_with_error(weights, scheme, data, i);
        lower = lower.min(c * (margin - error) * (1.0 - 4.0 * f64::EPSILON));
        shortest = shortest.min(c * (importance.squared_norm(i) + lift).sqrt());
    }
    lower /= norm;
    if lower.is_nan() || lower <= 0.0 {
        return (None, None);
    }
    let unlifted = matches!(options.bias(), Bias::Unlifted(_));
    // No example is farther from a plane through the origin than from the origin itself; for
    // two discriminators of joint norm 1 the difference is at most √2 times that.
    let mut upper = up(match (unlifted, joint) {
        (false, false) => shortest,
        (false, true) => shortest * std::f64::consts::SQRT_2,
        (true, false) => importance.squared_radius().sqrt(),
        (true, true) => f64::INFINITY,
    });
    let from_zero = options.start == Start::Zero && !options.normalise_weights;
    if from_zero && !unlifted && progress.updates > 0 {
        // M updates from zero have ηMγ ≤ u·w ≤ ‖w‖.
        let kept_rate = perceptron.state().unit == 1.0;
        let rate = if kept_rate { options.rate() } else { 1.0 };
        upper = upper.min(norm / (progress.updates as f64 * rate));
    }
    let margin = MarginBracket {
        lower,
        upper: upper.max(lower),
        kind: if lifted { "lifted" } else { "plain" },
    };
    let most = bound(data, importance, perceptron, options, joint, lower * norm);
    (Some(margin), bounds::count(most))
}

/// The same for a dual run: two classes, from zero, under a kernel that is an inner product.
/// With w = Σ_j α_j φ(x_j), ‖w‖² = Σ_j α_j s(x_j); and |K(x, z)| ≤ √K(x, x)·√K(z, z) bounds
/// what a score lost by rounding.
pub(super) fn from_dual_run(
    data: &Dataset,
    importance: &Importance,
    dual: &mut Dual<'_>,
    options: &Options,
    progress: &Progress,
    stop: Stop,
) -> (Option<MarginBracket>, Option<u64>) {
    let lifted = options.bias() == Bias::Lifted;
    let covered = stop == Stop::Separated
        && super::Hypothesis::scheme(dual) == Scheme::Binary
        && options.kernel().is_inner_product()
        && (lifted || options.bias() == Bias::None)
        && options.start_dual.is_none()
        && options.margin_demand == 0.0
        && !options.normalise_weights
        && progress.updates > 0;
    if !covered {
        return (None, None);
    }
    let corrections = dual.corrections();
    let lengths: Vec<f64> = (0..data.len()).map(|i| dual.length(i)).collect();
    let reach: f64 = corrections.iter().map(|&(i, a)| a.abs() * lengths[i]).sum();
    // Each kernel value is a sum over the features and each score one over the corrections.
    let share = reach * rounding(corrections.len() + 2 * data.features());
    let mut score = |i: usize| super::Hypothesis::scores(dual, i)[0];
    let (mut squared, mut lost) = (0.0, 0.0);
    for &(i, a) in &corrections {
        squared += a * score(i);
        lost += a.abs() * lengths[i] * share;
    }
    let norm = (squared + lost).sqrt() * (1.0 + rounding(corrections.len()));
    let mut lower = f64::INFINITY;
    let (mut shortest, mut radius) = (f64::INFINITY, 0.0f64);
    for (i, length) in lengths.iter().enumerate() {
        let c = importance.of(i, data.labels[i]);
        let margin = score(i) * if data.labels[i] == 1 { 1.0 } else { -1.0 };
        lower = lower.min(c * (margin - length * share) * (1.0 - 4.0 * f64::EPSILON));
        shortest = shortest.min(c * length);
        radius = radius.max(c * length);
    }
    lower = lower / norm * (1.0 - 4.0 * f64::EPSILON);
    if lower.is_nan() || lower <= 0.0 || !norm.is_finite() {
        return (None, None);
    }
    let up = |x: f64| x * (1.0 + rounding(data.features()));
    // The coefficients are in units of η, so M corrections from zero have Mγ ≤ ‖w‖.
    let upper = up(shortest).min(norm / progress.updates as f64).max(lower);
    let margin = MarginBracket {
        lower,
        upper,
        kind: if lifted { "lifted" } else { "plain" },
    };
    let most = bounds::from_zero(up(radius), lower);
    (Some(margin), bounds::count(most))
}

/// The bound on updates that the run's separator proves: no c_i times a margin under it is
/// below `least`.
///
/// A bias with its own rate ηρ² is a lifted one behind the constant ρ, in coordinates where
/// it is divided by ρ; and a correction of two discriminators at once is one of a row √2
/// times as long. So one theorem serves every bias and several classes.
fn bound(
    data: &Dataset,
    importance: &Importance,
    perceptron: &Perceptron<'_>,
    options: &Options,
    joint: bool,
    least: f64,
) -> f64 {
    let constant = perceptron.constant();
    let weights = &perceptron.state().weights;
    let up = |x: f64| x * (1.0 + rounding(weights.features() * weights.discriminators()));
    let length = up(inner(weights, weights, constant).sqrt());
    let margin = least / length * (1.0 - 4.0 * f64::EPSILON);
    let reach = if joint { std::f64::consts::SQRT_2 } else { 1.0 };
    let radius = up(importance.squared_radius_with(data, constant).sqrt() * reach);
    let from_zero = options.start == Start::Zero && options.margin_demand == 0.0;
    if options.normalise_weights {
        // An unlifted bias is divided by a norm that leaves it out: no theorem covers that.
        let covered = from_zero && !joint && !matches!(options.bias(), Bias::Unlifted(_));
        let bound = covered.then(|| bounds::renormalised(radius, margin, options.rate()));
        return bound.flatten().unwrap_or(f64::INFINITY);
    }
    if from_zero {
        return bounds::from_zero(radius, margin);
    }
    let start = perceptron.start();
    bounds::general(
        radius,
        margin,
        bounds::Start {
            norm: inner(start, start, constant).sqrt(),
            along_separator: Some(inner(weights, start, constant) / length),
            rate: options.rate(),
            // An update adds at most 2ηcβ + η²c²‖x‖² to ‖w‖².
            demand: options.margin_demand * importance.largest(data),
        },
    )
}

/// The inner product of weights, all discriminators together, with biases that stand behind
/// a constant whose square is `constant`.
fn inner(a: &Weights, b: &Weights, constant: f64) -> f64 {
    let mut sum = 0.0;
    for d in 0..a.discriminators() {
        if constant > 0.0 {
            sum += a.bias(d) / constant * b.bias(d);
        }
        (0..a.features()).for_each(|j| sum += a.get(d, j) * b.get(d, j));
    }
    sum
}

/// A relative bound on the rounding of a sum of `terms` products.
fn rounding(terms: usize) -> f64 {
    (terms as f64 + 4.0) * f64::EPSILON
}

/// The margin of example `i`, and a bound on its rounding error.
fn margin_with_error(weights: &Weights, scheme: Scheme, data: &Dataset, i: usize) -> (f64, f64) {
    let (row, label) = (data.row(i), data.labels[i] as usize);
    let of = |d: usize| {
        let mut magnitude = weights.bias(d).abs();
        let mut terms = 0;
        row.for_each(|j, x| {
            magnitude += (weights.get(d, j) * x).abs();
            terms += 1;
        });
        (weights.score(d, row), magnitude * rounding(terms))
    };
    if scheme == Scheme::Binary {
        let (score, error) = of(0);
        return (if label == 1 { score } else { -score }, error);
    }
    let (own, own_error) = of(label);
    (0..scheme.discriminators())
        .filter(|&d| d != label)
        .map(of)
        .map(|(rival, error)| (own - rival, 2.0 * (own_error + error)))
        .min_by(|a, b| (a.0 - a.1).total_cmp(&(b.0 - b.1)))
        .unwrap_or((0.0, 0.0))
}
