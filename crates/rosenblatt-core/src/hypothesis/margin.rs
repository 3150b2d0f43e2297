//! What a finished run proves about the margin, and the bound that follows.
//!
//! Any separator u gives the theorem a margin: its own smallest one. So a run that ends
//! `separated` brings a true bound on its updates with it, and M updates from zero show in
//! return that γ ≤ ‖w_M‖/M. Both ends are rounded outward.

use super::dual::Dual;
use super::linear::Linear;
use crate::bounds;
use crate::data::{Dataset, Rows};
use crate::options::{Bias, Options, Start};
use crate::parallel;
use crate::progress::Stop;
use crate::scheme::{Scheme, leader};
use crate::training::{Hypothesis, MarginBracket, SampleWeights, Training};
use crate::weights::{GROUP, Weights};

/// What weights that separate say about the margin.
pub(crate) struct SeparatorMargin {
    /// Of the data set: at least this, the smallest margin of these weights divided by their norm.
    pub lower: f64,
    /// At most this, since no row is farther from a plane than that.
    pub upper: f64,
    /// The norm of the weights, rounded up.
    norm: f64,
    joint: bool,
}

/// The margin of the running weights, where they separate two classes, or several jointly.
pub(crate) fn separator_margin(
    training: &Training<'_>,
    linear: &Linear<'_>,
) -> Option<SeparatorMargin> {
    let (data, sample_weights) = (training.data, training.sample_weights);
    let (scheme, options) = (training.scheme, training.options);
    let joint = matches!(scheme, Scheme::Argmax { .. });
    if training.part.is_some()
        || training.progress.stop != Some(Stop::Separated)
        || !(scheme == Scheme::Binary || joint)
    {
        return None;
    }
    let threads = parallel::worth(training.resources.threads, data.len());
    let weights = linear.weights();
    let swept = SweptMargin::of(
        data,
        sample_weights,
        weights,
        scheme,
        training.lift(),
        threads,
    );
    swept.separator(weights, scheme, options, || sample_weights.squared_radius())
}

/// What a sweep over rows says of the margin of weights; of parts of the rows the smaller of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweptMargin {
    /// At least this is the smallest margin, weighted.
    pub least: f64,
    /// The length of the shortest row, weighted.
    pub shortest: f64,
}

impl SweptMargin {
    /// Of these rows.
    pub(crate) fn of(
        data: &Dataset,
        sample_weights: &SampleWeights<'_>,
        weights: &Weights,
        scheme: Scheme,
        lift: f64,
        threads: usize,
    ) -> Self {
        sample_weights.measure(threads);
        let up = |x: f64| x * (1.0 + rounding(data.features() * scheme.discriminators()));
        let with_bias = weights.squared_norms(true);
        // What rounding may have added to a score: one of t products is off by at most
        // (t + 4)ε Σ|w_j x_j|, and that sum is at most ‖w‖‖x‖ and at most √t max|w| ‖x‖, the constant
        // feature included.
        let longest = up(with_bias.into_iter().fold(0.0, f64::max).sqrt());
        let largest = weights.largest();
        let doubt = |i: usize| {
            let terms = data.row(i).stored();
            let weight = (largest * (terms as f64 + 1.0).sqrt()).min(longest);
            (sample_weights.squared_norm(i) + 1.0).sqrt() * weight * rounding(terms)
        };
        let least = margins(data, weights, scheme, threads);
        // A difference of two scores is in doubt by both.
        let scores = if matches!(scheme, Scheme::Argmax { .. }) {
            4.0
        } else {
            2.0
        };
        let mut swept = SweptMargin {
            least: f64::INFINITY,
            shortest: f64::INFINITY,
        };
        for (i, least) in least.into_iter().enumerate() {
            let c = sample_weights.of(i, data.labels[i]);
            let least = least - scores * doubt(i);
            swept.least = swept.least.min(c * least * (1.0 - 4.0 * f64::EPSILON));
            swept.shortest = swept
                .shortest
                .min(c * (sample_weights.squared_norm(i) + lift).sqrt());
        }
        swept
    }

    /// What it says of all rows; the squared length of the longest one is asked for where the bias
    /// is not lifted.
    pub(crate) fn separator(
        self,
        weights: &Weights,
        scheme: Scheme,
        options: &Options,
        squared_radius: impl FnOnce() -> f64,
    ) -> Option<SeparatorMargin> {
        let joint = matches!(scheme, Scheme::Argmax { .. });
        let up = |x: f64| x * (1.0 + rounding(weights.features() * scheme.discriminators()));
        let norms = weights.squared_norms(options.bias() == Bias::Lifted);
        let norm = up(norms.iter().sum::<f64>().sqrt());
        let lower = self.least / norm;
        if lower.is_nan() || lower <= 0.0 {
            return None;
        }
        let unlifted = matches!(options.bias(), Bias::Unlifted(_));
        // No example is farther from a plane through the origin than from the origin itself; for
        // two discriminators of joint norm 1 the difference is at most √2 times that.
        let upper = up(match (unlifted, joint) {
            (false, false) => self.shortest,
            (false, true) => self.shortest * std::f64::consts::SQRT_2,
            (true, false) => squared_radius().sqrt(),
            (true, true) => f64::INFINITY,
        });
        Some(SeparatorMargin {
            lower,
            upper,
            norm,
            joint,
        })
    }
}

impl SeparatorMargin {
    /// The bracket of the margin γ.
    pub(crate) fn bracket(&self, bias: Bias) -> MarginBracket {
        MarginBracket::new(self.lower, self.upper.max(self.lower), bias)
    }
}

/// The bracket and the bound on updates that a perceptron's weights prove, where they separate.
pub(crate) fn linear_margin(
    training: &Training<'_>,
    linear: &Linear<'_>,
) -> Option<(MarginBracket, Option<u64>)> {
    let sample_weights = training.sample_weights;
    let found = separator_margin(training, linear)?;
    let run = FromStart {
        weights: linear.weights(),
        unit: linear.unit(),
        constant: linear.constant(),
        start: linear.start(),
        updates: training.progress.updates as f64,
        squared_radius: sample_weights.squared_radius_with(linear.constant()),
        largest_weight: sample_weights.largest(),
    };
    Some(found.after(&run, training.options))
}

/// A perceptron's way from its start to weights that separate.
pub(crate) struct FromStart<'a> {
    /// In units of `unit`.
    pub weights: &'a Weights,
    pub unit: f64,
    /// What the constant feature contributes to an inner product.
    pub constant: f64,
    /// Where the weights began, unless at zero.
    pub start: Option<&'a Weights>,
    pub updates: f64,
    /// R², the constant feature included.
    pub squared_radius: f64,
    /// The largest weight of an example.
    pub largest_weight: f64,
}

impl SeparatorMargin {
    /// The bracket, and the bound on updates, of a perceptron's run.
    pub(crate) fn after(
        mut self,
        run: &FromStart<'_>,
        options: &Options,
    ) -> (MarginBracket, Option<u64>) {
        let unlifted = matches!(options.bias(), Bias::Unlifted(_));
        let from_zero = options.start == Start::Zero && !options.normalise_weights;
        if from_zero && !unlifted && run.updates > 0.0 {
            // M updates from zero have ηMγ ≤ u·w ≤ ‖w‖.
            let kept_rate = run.unit == 1.0;
            let rate = if kept_rate { options.rate() } else { 1.0 };
            self.upper = self.upper.min(self.norm / (run.updates * rate));
        }
        let most = update_bound(run, options, &self);
        (self.bracket(options.bias()), bounds::count(most))
    }
}

/// The same for a dual run: two classes or several jointly, from zero, under a kernel that is an
/// inner product. With w = Σ_j α_j φ(x_j), ‖w‖² = Σ_j α_j s(x_j), where a correction of two
/// discriminators has the difference of their scores in place of s; and |K(x, z)| ≤ √K(x, x)·√K(z, z) bounds
/// what a score lost by rounding.
pub(crate) fn dual_margin(
    training: &Training<'_>,
    dual: &mut Dual<'_>,
) -> Option<(MarginBracket, Option<u64>)> {
    let (data, sample_weights) = (training.data, training.sample_weights);
    let (options, progress) = (training.options, &training.progress);
    let joint = matches!(training.scheme, Scheme::Argmax { .. });
    let covered = progress.stop == Some(Stop::Separated)
        && (training.scheme == Scheme::Binary || joint)
        && dual.kernel().is_inner_product()
        && !matches!(options.bias(), Bias::Unlifted(_))
        && dual.starts_at_zero()
        && options.margin_demand == 0.0
        && !options.normalise_weights
        && progress.updates > 0;
    if !covered {
        return None;
    }
    let corrections = dual.corrections();
    let lengths: Vec<f64> = (0..data.len()).map(|i| dual.length(i)).collect();
    let reach: f64 = corrections.iter().map(|c| c.2.abs() * lengths[c.0]).sum();
    // Each kernel value is a sum over the features and each score one over the corrections.
    let scores = if joint { 2.0 } else { 1.0 };
    let share = scores * reach * rounding(corrections.len() + 2 * data.features());
    let (mut squared, mut lost) = (0.0, 0.0);
    for &(i, (raised, lowered), a) in &corrections {
        let scores = dual.scores(i);
        let lowered = lowered.map_or(0.0, |lowered| scores[lowered as usize]);
        squared += a * (scores[raised as usize] - lowered);
        lost += a.abs() * lengths[i] * share;
    }
    let norm = (squared + lost).sqrt() * (1.0 + rounding(corrections.len()));
    let mut lower = f64::INFINITY;
    let (mut shortest, mut radius) = (f64::INFINITY, 0.0f64);
    for (i, length) in lengths.iter().enumerate() {
        let c = sample_weights.of(i, data.labels[i]);
        let (scores, label) = (dual.scores(i), data.labels[i]);
        let margin = match joint {
            true => scores[label as usize] - scores[leader(scores, Some(label)) as usize],
            false if label == 1 => scores[0],
            false => -scores[0],
        };
        lower = lower.min(c * (margin - length * share) * (1.0 - 4.0 * f64::EPSILON));
        shortest = shortest.min(c * length);
        radius = radius.max(c * length);
    }
    lower = lower / norm * (1.0 - 4.0 * f64::EPSILON);
    if lower.is_nan() || lower <= 0.0 || !norm.is_finite() {
        return None;
    }
    let up = |x: f64| x * (1.0 + rounding(data.features()));
    // The coefficients are in units of η, so M corrections from zero have Mγ ≤ ‖w‖.
    // A correction of two discriminators is one of a row √2 times as long.
    let longer = if joint { std::f64::consts::SQRT_2 } else { 1.0 };
    let upper = up(shortest * longer)
        .min(norm / progress.updates as f64)
        .max(lower);
    let margin = MarginBracket::new(lower, upper, options.bias());
    let most = bounds::from_zero(up(radius * longer), lower);
    Some((margin, bounds::count(most)))
}

/// The bound on updates that the run's separator proves.
///
/// A bias with its own rate ηρ² is a lifted one behind the constant ρ, in coordinates where
/// it is divided by ρ; and a correction of two discriminators at once is one of a row √2
/// times as long. So one theorem serves every bias and several classes.
fn update_bound(run: &FromStart<'_>, options: &Options, found: &SeparatorMargin) -> f64 {
    let &SeparatorMargin {
        lower, norm, joint, ..
    } = found;
    let least = lower * norm;
    let &FromStart {
        weights,
        constant,
        start,
        ..
    } = run;
    let up = |x: f64| x * (1.0 + rounding(weights.features() * weights.discriminators()));
    let length = match options.bias() {
        Bias::Unlifted(_) => up(inner(weights, weights, constant).sqrt()),
        Bias::Lifted | Bias::None => norm,
    };
    let margin = least / length * (1.0 - 4.0 * f64::EPSILON);
    let reach = if joint { std::f64::consts::SQRT_2 } else { 1.0 };
    let radius = up(run.squared_radius.sqrt() * reach);
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
    bounds::general(
        radius,
        margin,
        bounds::Start {
            norm: start.map_or(0.0, |start| inner(start, start, constant).sqrt()),
            along_separator: Some(
                start.map_or(0.0, |start| inner(weights, start, constant) / length),
            ),
            rate: options.rate(),
            // An update adds at most 2ηcβ + η²c²‖x‖² to ‖w‖².
            demand: options.margin_demand * run.largest_weight,
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
    }
    sum + a.dot(b)
}

/// A relative bound on the rounding of a sum of `terms` products.
fn rounding(terms: usize) -> f64 {
    (terms as f64 + 4.0) * f64::EPSILON
}

/// The margin of every example: its own score, or what it is ahead of the best rival by.
fn margins(data: &Dataset, weights: &Weights, scheme: Scheme, threads: usize) -> Vec<f64> {
    let mut margins = vec![0.0; data.len()];
    let rows = Rows::of(&data.matrix);
    let in_step = weights.in_step(rows);
    parallel::chunks(&mut margins, GROUP, threads, || {
        let stride = weights.score_buffer().len();
        let mut scores = vec![0.0; GROUP * stride];
        move |group: usize, margins: &mut [f64]| {
            let examples = GROUP * group..GROUP * group + margins.len();
            weights.scores_of_group(rows, in_step, examples.clone(), &mut scores);
            let scored = examples.zip(scores.chunks_exact(stride));
            for ((i, scores), margin) in scored.zip(margins) {
                let label = data.labels[i];
                *margin = match scheme {
                    Scheme::Binary if label == 1 => scores[0],
                    Scheme::Binary => -scores[0],
                    _ => {
                        let rival = leader(&scores[..scheme.discriminators()], Some(label));
                        scores[label as usize] - scores[rival as usize]
                    }
                };
            }
            data.matrix.group_was_read(group, GROUP);
        }
    });
    margins
}
