//! Soft linear planes of few features: Newton's method on proximal steps of the dual.
//!
//! *Rule.* The hinge has a corner at margin 1, where Newton's method finds no curvature. Each
//! round keeps the multipliers near those of the round before, c, which rounds the corner off
//! over margins within h of it: minimise ½‖w‖² plus a loss whose slope at a margin m is −α,
//! α_i = clip(c_i + C_i(1 − m_i)/2h) between 0 and C_i. This is smooth, and its curvature
//! comes from the few examples with 0 < α_i < C_i: Newton's step solves
//! (I + Σ C_i/2h x_i x_iᵀ) Δ = Σ α_i y_i x_i − w, with a search for the best length along it.
//! When a round has come as near to its own optimum as that is to the plane sought, c becomes
//! α and h is halved. A round's optimum has w = Σ α_i y_i x_i, so α also bounds the plane
//! sought from below.
//!
//! The bias is one more weight. Where it has no price it is held near that of the round before.
//!
//! *Cost.* A step scores every example and solves a system of as many unknowns as there are
//! features; 20 to 60 steps reach a gap of a millionth, whatever the number of examples.
//!
//! *Reference.* R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal
//! point algorithm in convex programming", Mathematics of Operations Research 1 (1976);
//! S. S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of large
//! scale linear SVMs", JMLR 6 (2005).

use super::cholesky::DenseSystem;
use super::limits::{PassCallback, SearchLimits, count_margin};
use super::linear::LinearProblem;
use crate::data::Row;
use crate::error::Result;
use crate::options::Bias;
use crate::progress::{Pass, Stop};
use crate::training::SampleWeights;

/// Steps after which coordinate descent goes on from where they led.
const STEPS: usize = 300;

/// Margins are rounded off over at least this.
const NARROWEST: f64 = 1e-8;

/// How many times h a margin may be away from 1 for its multiplier to change in a round.
const REACH: f64 = 16.0;

/// A round ends when what is left of its own gap is so much of the whole.
const ENOUGH: f64 = 0.5;

/// Where the search ended.
pub(super) struct NewtonEnd {
    pub alphas: Vec<f64>,
    pub passes: Vec<Pass>,
    /// Why, unless another method is to go on.
    pub stop: Option<Stop>,
}

/// Whether a step's system is cheap beside scoring the examples.
pub(super) fn is_worthwhile(problem: LinearProblem<'_>, limits: &SearchLimits<'_>) -> bool {
    let LinearProblem { data, plane, .. } = problem;
    let unknowns = data.features() as f64 + 1.0;
    let counts_updates = limits.limits.options.max_updates.is_some();
    !plane.is_hard()
        && !counts_updates
        && unknowns <= 2048.0
        && unknowns * unknowns * unknowns <= 10.0 * data.matrix.non_zeros() as f64
}

/// A plane on its way.
pub(super) struct Newton<'a> {
    problem: LinearProblem<'a>,
    /// κ: the bias costs (b − held)²/2κ. None where there is no bias.
    kappa: Option<f64>,
    held: f64,
    w: Vec<f64>,
    b: f64,
    /// α and c of all examples, as of when they were last sorted into near and far.
    alphas: Vec<f64>,
    centers: Vec<f64>,
    near: Near,
    far: Sums,
    all: Sums,
    /// h, a power of two.
    width: f64,
    /// Whether some examples stand for all.
    sampled: bool,
}

/// The examples whose multipliers may change in this round, side by side. Each of the others
/// lies at a bound and far from margin 1, where it would leave it.
#[derive(Default)]
struct Near {
    places: Vec<u32>,
    examples: Vec<u32>,
    signs: Vec<f64>,
    prices: Vec<f64>,
    centers: Vec<f64>,
    alphas: Vec<f64>,
    /// y(x·w + b).
    margins: Vec<f64>,
}

/// What some examples amount to.
#[derive(Default, Clone)]
struct Sums {
    /// Σ α y x.
    combined: Vec<f64>,
    /// Σ α y.
    lean: f64,
    /// Σ α.
    total: f64,
}

/// How far a round's plane is from the round's optimum, and from that of the whole.
struct Distance {
    /// What is left of the round's gap: half the square of w − Σ α y x.
    round: f64,
    primal: f64,
    dual: f64,
}

impl Distance {
    fn gap(&self) -> f64 {
        if self.primal > self.dual {
            (self.primal - self.dual) / self.primal
        } else {
            0.0
        }
    }
}

impl<'a> Newton<'a> {
    pub(super) fn new(problem: LinearProblem<'a>, sample_weights: &SampleWeights<'_>) -> Self {
        let LinearProblem { data, plane, bias } = problem;
        let none = Sums {
            combined: vec![0.0; data.features()],
            ..Sums::default()
        };
        Newton {
            problem,
            kappa: (bias != Bias::None).then(|| problem.kappa(sample_weights)),
            held: 0.0,
            w: vec![0.0; data.features()],
            b: 0.0,
            alphas: vec![0.0; plane.len()],
            centers: plane.prices.iter().map(|c| 0.5 * c).collect(),
            near: Near::default(),
            far: none.clone(),
            all: none,
            width: 1.0,
            sampled: false,
        }
    }

    /// Goes on until the gap is closed, something stops it or steps lead no farther.
    pub(super) fn go(
        mut self,
        limits: &SearchLimits<'_>,
        on_pass: PassCallback<'_>,
    ) -> Result<NewtonEnd> {
        let tolerance = limits.settings.tolerance;
        let mut passes: Vec<Pass> = Vec::new();
        let (mut visits, mut stepped) = (0, false);
        self.begin();
        let stop = loop {
            if let Some(stop) = limits.reached(passes.len(), visits, self.problem.plane.len()) {
                break Some(stop);
            }
            let updates = self.set_multipliers();
            let pass = self.near.pass(updates);
            on_pass(&pass)?;
            visits += pass.visits.max(1);
            passes.push(pass);
            let distance = self.distance();
            let gap = distance.gap();
            // The hinge feels how far w is from the plane that α makes, not its square.
            let close = gap <= tolerance && !self.sampled;
            let enough = if close {
                1e-6 * tolerance
            } else {
                ENOUGH * gap
            };
            if distance.round <= enough * distance.primal || (stepped && updates == 0) {
                stepped = false;
                let may_be_found = close || (self.problem.is_unlifted() && !self.sampled);
                if may_be_found && self.is_within_tolerance(tolerance) {
                    break Some(Stop::Converged);
                }
                self.next_round(close);
                if self.width < NARROWEST {
                    break None;
                }
            } else if passes.len() > STEPS || !self.step() {
                break None;
            } else {
                stepped = true;
            }
        };
        if stop != Some(Stop::Converged) {
            self.write_back();
        }
        Ok(NewtonEnd {
            alphas: self.alphas,
            passes,
            stop,
        })
    }

    fn write_back(&mut self) {
        for (k, &t) in self.near.places.iter().enumerate() {
            self.alphas[t as usize] = self.near.alphas[k];
            self.centers[t as usize] = self.near.centers[k];
        }
    }

    /// The first round, with the widest corner, is about where the plane roughly lies: where
    /// there are many examples, one in a few says that as well.
    fn begin(&mut self) {
        let plenty = 20 * (self.problem.data.features() + 1);
        let step = (self.problem.plane.len() / plenty).clamp(1, 8);
        self.sort_by(&vec![0.0; self.problem.plane.len()]);
        if step > 1 {
            self.near = self.near.one_in(step);
            self.sampled = true;
        }
    }

    /// Takes those as near whose multipliers may change in this round.
    fn sort(&mut self) {
        self.sort_by(&self.problem.scores(&self.problem.plane.examples, &self.w));
    }

    fn sort_by(&mut self, scores: &[f64]) {
        self.write_back();
        let mut near = Near::default();
        self.far = self.all.clone();
        let rows = self.problem.rows();
        for (t, score) in scores.iter().enumerate() {
            let (sign, price) = (self.problem.plane.signs[t], self.problem.plane.prices[t]);
            let (alpha, center) = (self.alphas[t], self.centers[t]);
            let margin = sign * (score + self.b);
            // From c at a bound, α leaves it where the margin crosses 1.
            let beyond = if alpha == 0.0 {
                margin - 1.0
            } else {
                1.0 - margin
            };
            let at_bound = alpha == center && (alpha == 0.0 || alpha == price);
            if at_bound && beyond > REACH * self.width {
                continue;
            }
            near.places.push(t as u32);
            near.examples.push(self.problem.plane.examples[t]);
            near.signs.push(sign);
            near.prices.push(price);
            near.centers.push(center);
            near.alphas.push(alpha);
            near.margins.push(margin);
            if alpha != 0.0 {
                let row = rows.row(self.problem.plane.examples[t] as usize);
                self.far.add(row, -sign * alpha, -alpha);
            }
        }
        self.near = near;
    }

    /// Sets α to what the margins ask for; how many changed.
    fn set_multipliers(&mut self) -> u64 {
        let rows = self.problem.rows();
        let near = &mut self.near;
        let mut updates = 0;
        for k in 0..near.places.len() {
            let alpha = multiplier(near.centers[k], near.prices[k], self.width, near.margins[k]);
            let change = alpha - near.alphas[k];
            if change != 0.0 {
                let row = rows.row(near.examples[k] as usize);
                self.all.add(row, change * near.signs[k], change);
                near.alphas[k] = alpha;
                updates += 1;
            }
        }
        updates
    }

    /// w − Σ α y x, and the same of the bias where there is one.
    fn gradient(&self) -> (Vec<f64>, Option<f64>) {
        let of_weights = self.w.iter().zip(&self.all.combined);
        let of_bias = self.kappa.map(|k| (self.b - self.held) / k - self.all.lean);
        (of_weights.map(|(w, v)| w - v).collect(), of_bias)
    }

    fn distance(&self) -> Distance {
        let kappa = self.kappa.unwrap_or(0.0);
        let (of_weights, of_bias) = self.gradient();
        let off = of_bias.unwrap_or(0.0);
        let away = self.b - self.held;
        let for_bias = self.kappa.map_or(0.0, |k| away * away / k);
        let far = &self.far;
        let near_loss = self.near.prices.iter().zip(&self.near.margins);
        let near_loss: f64 = near_loss.map(|(c, m)| c * (1.0 - m).max(0.0)).sum();
        let far_loss = far.total - dot(&self.w, &far.combined) - self.b * far.lean;
        let Sums {
            combined,
            lean,
            total,
        } = &self.all;
        let squared = dot(combined, combined) + kappa * lean * lean;
        Distance {
            round: 0.5 * (dot(&of_weights, &of_weights) + kappa * off * off),
            primal: 0.5 * (dot(&self.w, &self.w) + for_bias) + near_loss + far_loss,
            dual: total - lean * self.held - 0.5 * squared,
        }
    }

    /// Whether what would be saved leaves no more than this gap; then it is what is kept.
    fn is_within_tolerance(&mut self, tolerance: f64) -> bool {
        self.write_back();
        self.problem
            .is_within_tolerance(&mut self.alphas, tolerance)
    }

    /// Begins a round; `anew` if examples taken as far may be near after all.
    fn next_round(&mut self, anew: bool) {
        if self.sampled {
            self.near = Near::default();
            self.all.clear();
            self.sort();
            self.set_multipliers();
            self.sampled = false;
        }
        self.near.centers.copy_from_slice(&self.near.alphas);
        self.width *= 0.5;
        if self.problem.is_unlifted() {
            self.held = self.b;
        }
        // Looking at all examples costs as much as many steps with few of them.
        let many = self.near.places.len() > self.problem.plane.len() / 32;
        if anew || (many && REACH * self.width <= 1.0) {
            self.sort();
        }
    }

    /// Newton's step and the search along it; whether it led anywhere.
    fn step(&mut self) -> bool {
        let features = self.problem.data.features();
        let Some(direction) = self.direction() else {
            return false;
        };
        let (turn, shift) = direction.split_at(features);
        let shift = shift.first().copied().unwrap_or(0.0);
        let mut slopes = self.problem.scores(&self.near.examples, turn);
        for (slope, sign) in slopes.iter_mut().zip(&self.near.signs) {
            *slope = sign * (*slope + shift);
        }
        let length = self.best_length(turn, shift, &slopes);
        for (w, d) in self.w.iter_mut().zip(turn) {
            *w += length * d;
        }
        self.b += length * shift;
        for (margin, slope) in self.near.margins.iter_mut().zip(&slopes) {
            *margin += length * slope;
        }
        length > 0.0
    }

    /// Where a quadratic with the slope and curvature of this place would be least.
    fn direction(&self) -> Option<Vec<f64>> {
        let features = self.problem.data.features();
        let rows = self.problem.rows();
        let of_bias = self.kappa.map(|k| 1.0 / k);
        let mut system = DenseSystem::diagonal(features, of_bias);
        let near = &self.near;
        for k in 0..near.places.len() {
            if near.alphas[k] > 0.0 && near.alphas[k] < near.prices[k] {
                let curvature = near.prices[k] * (0.5 / self.width);
                system.add_product(rows.row(near.examples[k] as usize), curvature);
            }
        }
        let (of_weights, of_bias) = self.gradient();
        system.solve(of_weights.into_iter().chain(of_bias).map(|g| -g).collect())
    }

    /// The length of at most 1 at which the round's objective is about least.
    fn best_length(&self, turn: &[f64], shift: f64, slopes: &[f64]) -> f64 {
        let (near, far) = (&self.near, &self.far);
        let inverse = self.kappa.map_or(0.0, |k| 1.0 / k);
        let constant = dot(turn, &self.w) + inverse * shift * (self.b - self.held)
            - dot(turn, &far.combined)
            - shift * far.lean;
        let linear = dot(turn, turn) + inverse * shift * shift;
        // The derivative along the way, which never falls.
        let derivative = |length: f64| {
            let mut pull = 0.0;
            for (k, slope) in slopes.iter().enumerate() {
                let margin = near.margins[k] + length * slope;
                pull += slope * multiplier(near.centers[k], near.prices[k], self.width, margin);
            }
            constant + length * linear - pull
        };
        let (mut low, mut at_low) = (0.0, derivative(0.0));
        let (mut high, mut at_high) = (1.0, derivative(1.0));
        // Rounding may leave no way down.
        if at_low >= 0.0 {
            return 0.0;
        }
        let enough = 0.1 * at_low.abs();
        if at_high <= enough {
            return 1.0;
        }
        for _ in 0..60 {
            // Where a straight line would cross zero, but at most half way: the derivative
            // bends most at the start.
            let across = at_low / (at_low - at_high);
            let length = low + (high - low) * across.clamp(0.1, 0.5);
            let here = derivative(length);
            if here.abs() <= enough {
                return length;
            }
            if here < 0.0 {
                (low, at_low) = (length, here);
            } else {
                (high, at_high) = (length, here);
            }
        }
        low
    }
}

impl Near {
    /// One example in so many, at as many times the price.
    fn one_in(&self, step: usize) -> Self {
        let times = step as f64;
        let every = |values: &[f64]| values.iter().step_by(step).copied().collect::<Vec<f64>>();
        let scaled = |values: &[f64]| every(values).into_iter().map(|x| times * x).collect();
        Near {
            places: self.places.iter().step_by(step).copied().collect(),
            examples: self.examples.iter().step_by(step).copied().collect(),
            signs: every(&self.signs),
            prices: scaled(&self.prices),
            centers: scaled(&self.centers),
            alphas: scaled(&self.alphas),
            margins: every(&self.margins),
        }
    }

    /// What a step that changed so many multipliers met.
    fn pass(&self, updates: u64) -> Pass {
        let mut pass = Pass {
            visits: self.places.len() as u64,
            updates,
            ..Pass::default()
        };
        for &margin in &self.margins {
            count_margin(&mut pass, margin);
        }
        pass
    }
}

impl Sums {
    fn clear(&mut self) {
        self.combined.fill(0.0);
        (self.lean, self.total) = (0.0, 0.0);
    }

    fn add(&mut self, row: Row<'_>, signed: f64, alpha: f64) {
        row.add_to(&mut self.combined, signed);
        self.lean += signed;
        self.total += alpha;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + x * y)
}

/// clip(c + C(1 − m)/2h) between 0 and C.
#[inline(always)]
fn multiplier(center: f64, price: f64, width: f64, margin: f64) -> f64 {
    (center + price * ((1.0 - margin) * (0.5 / width))).clamp(0.0, price)
}
