//! What a linear plane is worth: the objectives of w and α, however they were found.

use super::plane::{Objective, Plane, Solution, best_bias};
use crate::data::{Dataset, Rows, dots4};
use crate::options::Bias;
use crate::progress::{Pass, Stop};
use crate::training::SampleWeights;

/// What a linear plane is to be found for.
#[derive(Clone, Copy)]
pub(super) struct LinearProblem<'a> {
    pub data: &'a Dataset,
    pub plane: &'a Plane,
    pub bias: Bias,
}

/// w = Σ α_i y_i x_i on its way to becoming a solution.
#[derive(Debug)]
pub(super) struct Measured {
    pub objective: Objective,
    pub bias: f64,
    /// ‖w‖², a lifted bias included.
    pub squared_norm: f64,
    /// The smallest y·s.
    pub least: f64,
    /// Σ α, after both sides are made equal where the bias is unlifted.
    pub total: f64,
}

fn squared(w: &[f64]) -> f64 {
    w.iter().fold(0.0, |sum, x| sum + x * x)
}

impl<'a> LinearProblem<'a> {
    pub(super) fn rows(self) -> Rows<'a> {
        Rows::of(&self.data.matrix)
    }

    /// Whether there is a bias without a price.
    pub(super) fn is_unlifted(self) -> bool {
        matches!(self.bias, Bias::Unlifted(_))
    }

    /// κ: what the bias adds to every product. It then costs b²/2κ; a bias that is to cost nothing
    /// is held near where it was, (b − b₀)²/2κ, and b₀ follows it.
    pub(super) fn kappa(self, sample_weights: &SampleWeights<'_>) -> f64 {
        let plane = self.plane;
        match self.bias {
            Bias::Lifted => 1.0,
            Bias::None => 0.0,
            // As long as the rows, so that no coordinate outweighs the others, but such that the
            // lighter side can move the bias by 1.
            Bias::Unlifted(_) => {
                let squares = plane.examples.iter();
                let sum: f64 = squares
                    .map(|&i| sample_weights.squared_norm(i as usize))
                    .sum();
                let side = |sign: f64| {
                    let of_side = plane.signs.iter().zip(&plane.prices);
                    let prices = of_side.filter(|(y, _)| **y == sign).map(|(_, c)| c);
                    prices.sum::<f64>()
                };
                let mean = sum / plane.len().max(1) as f64;
                let kappa = mean.max(1.0 / side(1.0).min(side(-1.0)));
                if kappa > 0.0 { kappa } else { 1.0 }
            }
        }
    }

    /// The scores of these examples by w, the bias left out.
    pub(super) fn scores(self, examples: &[u32], w: &[f64]) -> Vec<f64> {
        /// How many fours ahead rows are asked for.
        const AHEAD: usize = 3;
        let rows = self.rows();
        let row = |i: u32| rows.row(i as usize);
        let (fours, rest) = examples.as_chunks::<4>();
        let mut scores = Vec::with_capacity(examples.len());
        for (k, &four) in fours.iter().enumerate() {
            if let Some(next) = fours.get(k + AHEAD) {
                next.iter().for_each(|&i| row(i).prefetch());
            }
            scores.extend(dots4(rows, four.map(|i| i as usize), w, 0.0));
        }
        scores.extend(rest.iter().map(|&i| row(i).dot(w, 0.0)));
        scores
    }

    /// Σ a_t y_t x_t over the examples at `places`, and Σ a_t y_t.
    pub(super) fn combination(self, places: impl Iterator<Item = (usize, f64)>) -> (Vec<f64>, f64) {
        let rows = self.rows();
        let mut v = vec![0.0; self.data.features()];
        let mut lean = 0.0;
        for (t, a) in places.filter(|(_, a)| *a != 0.0) {
            let signed = a * self.plane.signs[t];
            rows.row(self.plane.examples[t] as usize)
                .add_to(&mut v, signed);
            lean += signed;
        }
        (v, lean)
    }

    /// The objectives of w = Σ α y x, whose scores without a bias are `scores`.
    pub(super) fn measure(self, alphas: &[f64], w: &[f64], scores: &[f64]) -> Measured {
        let (plane, bias) = (self.plane, self.bias);
        let own = squared(w);
        let (b, squared_norm, dual_squared, total);
        match bias {
            Bias::Unlifted(_) => {
                b = best_bias(plane, scores);
                squared_norm = own;
                (dual_squared, total) = self.balanced(alphas, w);
            }
            Bias::Lifted | Bias::None => {
                let lean: f64 = alphas.iter().zip(&plane.signs).map(|(a, y)| a * y).sum();
                b = if bias == Bias::Lifted { lean } else { 0.0 };
                squared_norm = own + b * b;
                dual_squared = squared_norm;
                total = alphas.iter().sum();
            }
        }
        let margins = scores.iter().zip(&plane.signs).map(|(s, y)| y * (s + b));
        let (objective, least) = Objective::of(plane, margins, squared_norm, total, dual_squared);
        Measured {
            objective,
            bias: b,
            squared_norm,
            least,
            total,
        }
    }

    /// ‖w‖² and Σα once α is [balanced](balance), as a bias without a price asks of every α that is
    /// to bound the optimum.
    fn balanced(self, alphas: &[f64], w: &[f64]) -> (f64, f64) {
        let (share, sign, light) = excess(self.plane, alphas);
        if share == 0.0 {
            return (squared(w), 2.0 * light);
        }
        let places = alphas.iter().enumerate();
        let of_side = places.filter(|(t, _)| self.plane.signs[*t] == sign);
        let (part, _) = self.combination(of_side.map(|(t, a)| (t, -share * a)));
        let sum = w
            .iter()
            .zip(&part)
            .fold(0.0, |s, (w, p)| s + (w + p) * (w + p));
        (sum, 2.0 * light)
    }

    /// Whether α and the plane that it makes, summed anew without the rounding of a whole run, leave no
    /// more than this gap. Where the bias has no price α is balanced first, unless it nearly is and
    /// the plane it makes is the better one.
    pub(super) fn is_within_tolerance(self, alphas: &mut Vec<f64>, tolerance: f64) -> bool {
        const NEARLY: f64 = 1e-6;
        let is_close = |alphas: &[f64]| {
            let (w, _) = self.combination(alphas.iter().copied().enumerate());
            let scores = self.scores(&self.plane.examples, &w);
            let found = self.measure(alphas, &w, &scores);
            found.objective.relative_gap() <= tolerance
        };
        if self.is_unlifted() {
            let mut balanced = alphas.clone();
            balance(self.plane, &mut balanced);
            if is_close(&balanced) {
                *alphas = balanced;
                return true;
            }
            if excess(self.plane, alphas).0 > NEARLY {
                return false;
            }
        }
        is_close(alphas)
    }

    /// The solution that α makes, its weights summed anew so that no rounding of the run is left
    /// in them. A hard margin is scaled until the nearest example has a margin of 1.
    pub(super) fn solution(self, mut alphas: Vec<f64>, stop: Stop, passes: Vec<Pass>) -> Solution {
        let places = alphas.iter().copied().enumerate();
        let (mut w, _) = self.combination(places);
        let scores = self.scores(&self.plane.examples, &w);
        let mut found = self.measure(&alphas, &w, &scores);
        if self.plane.is_hard() && found.objective.primal.is_finite() {
            w.iter_mut().for_each(|w| *w /= found.least);
            found.bias /= found.least;
            let scale = found.total / found.squared_norm;
            alphas.iter_mut().for_each(|a| *a *= scale);
            found.squared_norm /= found.least * found.least;
        }
        Solution {
            alphas,
            weights: w,
            bias: found.bias,
            squared_norm: found.squared_norm,
            objective: found.objective,
            stop,
            passes,
        }
    }
}

/// By what share the α of one side outweigh those of the other, which side, and Σα of the other.
fn excess(plane: &Plane, alphas: &[f64]) -> (f64, f64, f64) {
    let side = |sign: f64| {
        let of_side = alphas
            .iter()
            .zip(&plane.signs)
            .filter(move |(_, y)| **y == sign);
        of_side.map(|(a, _)| *a).sum::<f64>()
    };
    let (positive, negative) = (side(1.0), side(-1.0));
    let (heavy, light, sign) = if positive > negative {
        (positive, negative, 1.0)
    } else {
        (negative, positive, -1.0)
    };
    let share = if heavy > 0.0 {
        1.0 - light / heavy
    } else {
        0.0
    };
    (share, sign, light)
}

/// Scales the heavier side down until Σ α_i y_i = 0.
fn balance(plane: &Plane, alphas: &mut [f64]) {
    let (share, sign, _) = excess(plane, alphas);
    let of_side = alphas.iter_mut().zip(&plane.signs);
    (of_side.filter(|(_, y)| **y == sign)).for_each(|(a, _)| *a -= share * *a);
}
