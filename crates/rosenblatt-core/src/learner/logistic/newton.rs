//! Newton's method for one plane, whatever the penalty.

use super::lasso::Curvature;
use super::{Logistic, Penalty};
use crate::data::{Dataset, Rows, dots4};
use crate::learner::max_margin::{DenseSystem, Plane, count_margin, scores};
use crate::progress::{Limits, Pass, Stop};

/// Of the fall that the slope promises, so much must come true.
const ENOUGH: f64 = 0.01;

/// A fall of this part of the objective may be lost in rounding, though slopes still improve.
const ROUNDING: f64 = 1e-13;

/// So many steps in a row whose falls are lost lead nowhere.
const LOST: usize = 10;

/// Conjugate gradients leave this part of the residual, or less where little is left to do.
const LOOSEST: f64 = 0.3;

/// The plane found, and how.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// The weights, then the bias if it is lifted.
    pub w: Vec<f64>,
    pub stop: Stop,
    pub passes: Vec<Pass>,
}

/// A plane on its way.
pub(super) struct Newton<'a> {
    settings: &'a Logistic,
    data: &'a Dataset,
    plane: &'a Plane,
    lifted: bool,
    /// The weights, then the bias if it is lifted.
    w: Vec<f64>,
    /// y(x·w + b) of every example.
    margins: Vec<f64>,
}

/// The loss where the plane is.
struct Slope {
    /// Σ C log(1 + exp(−m)).
    loss: f64,
    /// α = C/(1 + exp(m)): by how much the loss falls with the margin.
    alphas: Vec<f64>,
    /// Its curvature.
    curvatures: Vec<f64>,
    /// Σ α y x: minus its gradient.
    pull: Vec<f64>,
}

/// log(1 + exp(−m)), and exp(−|m|).
fn log_loss(margin: f64) -> (f64, f64) {
    let e = libm::exp(-margin.abs());
    (libm::log1p(e) + (-margin).max(0.0), e)
}

impl<'a> Newton<'a> {
    /// At w = 0.
    pub(super) fn new(
        settings: &'a Logistic,
        data: &'a Dataset,
        plane: &'a Plane,
        lifted: bool,
    ) -> Self {
        Newton {
            settings,
            data,
            plane,
            lifted,
            w: vec![0.0; data.features() + usize::from(lifted)],
            margins: vec![0.0; plane.len()],
        }
    }

    /// Goes on until the gap is closed or something else stops it.
    pub(super) fn go(mut self, limits: Limits<'_>, on_pass: &mut dyn FnMut(&Pass)) -> Found {
        let mut passes: Vec<Pass> = Vec::new();
        // Margins that were added up step by step have rounded more often than the scores that
        // the model will give.
        let mut summed_anew = true;
        let mut lost = 0;
        let mut curvature = Curvature::new(self.data, self.plane, self.lifted);
        let stop = loop {
            if let Some(stop) = limits.now() {
                break stop;
            }
            if passes.len() as u64 >= limits.epochs {
                break Stop::EpochLimit;
            }
            let slope = self.slope();
            let penalty = self.penalty_of(&self.w);
            let primal = penalty + slope.loss;
            let gap = primal - self.dual(&slope, primal);
            let converged = gap <= self.settings.tolerance * primal;
            if converged && !summed_anew {
                self.margins = self.signed(&self.w);
                summed_anew = true;
                continue;
            }
            let mut pass = self.pass();
            if converged {
                on_pass(&pass);
                passes.push(pass);
                break Stop::Converged;
            }
            let direction = match self.settings.penalty {
                Penalty::L2 => self.ridge_direction(&curvature, &slope, gap / primal, &limits),
                Penalty::L1 => {
                    curvature.lasso_direction(&self.w, &slope.pull, &slope.curvatures, &limits)
                }
            };
            let promised = self.step(&direction, &slope, penalty);
            let moved = promised.is_some();
            lost = match promised {
                Some(fall) if fall > ROUNDING * primal => 0,
                _ => lost + 1,
            };
            pass.updates = u64::from(moved);
            on_pass(&pass);
            passes.push(pass);
            if !moved || lost == LOST {
                // An interrupt may have come before there was a direction.
                break limits.now().unwrap_or(Stop::Stalled);
            }
            summed_anew = false;
        };
        Found {
            w: self.w,
            stop,
            passes,
        }
    }

    /// y(x·v + v_b) of every example.
    fn signed(&self, v: &[f64]) -> Vec<f64> {
        let (of_features, bias) = v.split_at(self.data.features());
        let bias = bias.first().copied().unwrap_or(0.0);
        let mut found = scores(self.data, &self.plane.examples, of_features);
        for (score, sign) in found.iter_mut().zip(&self.plane.signs) {
            *score = sign * (*score + bias);
        }
        found
    }

    fn penalty_of(&self, w: &[f64]) -> f64 {
        match self.settings.penalty {
            Penalty::L2 => 0.5 * dot(w, w),
            Penalty::L1 => w.iter().map(|w| w.abs()).sum(),
        }
    }

    fn slope(&self) -> Slope {
        let n = self.plane.len();
        let (mut alphas, mut curvatures) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut pull = vec![0.0; self.w.len()];
        let mut loss = 0.0;
        let rows = Rows::of(&self.data.matrix);
        for (t, (&margin, &price)) in self.margins.iter().zip(&self.plane.prices).enumerate() {
            let (own, e) = log_loss(margin);
            let share = if margin > 0.0 { e } else { 1.0 } / (1.0 + e);
            let alpha = price * share;
            loss += price * own;
            alphas.push(alpha);
            curvatures.push(price * (e / ((1.0 + e) * (1.0 + e))));
            let signed = alpha * self.plane.signs[t];
            rows.row(self.plane.examples[t] as usize)
                .add_to(&mut pull, signed);
            if self.lifted {
                pull[self.data.features()] += signed;
            }
        }
        Slope {
            loss,
            alphas,
            curvatures,
            pull,
        }
    }

    /// What no plane can go below, from the α of this one.
    fn dual(&self, slope: &Slope, primal: f64) -> f64 {
        if self.settings.penalty == Penalty::L2 {
            let each = self.w.iter().zip(&slope.pull);
            return primal - 0.5 * each.fold(0.0, |sum, (w, v)| sum + (w - v) * (w - v));
        }
        // No coordinate of Σ α y x may be above 1, so α is made smaller by as much.
        let most = slope
            .pull
            .iter()
            .fold(1.0, |most: f64, v| most.max(v.abs()));
        let entropy = |x: f64| if x > 0.0 { x * libm::log(x) } else { 0.0 };
        let each = slope.alphas.iter().zip(&self.plane.prices);
        each.filter(|(_, c)| **c > 0.0)
            .fold(0.0, |sum, (alpha, c)| {
                let share = alpha / (c * most);
                sum - c * (entropy(share) + entropy(1.0 - share))
            })
    }

    /// What the examples were met with.
    fn pass(&self) -> Pass {
        let mut pass = Pass {
            visits: self.margins.len() as u64,
            ..Pass::default()
        };
        self.margins
            .iter()
            .for_each(|&m| count_margin(&mut pass, m));
        pass
    }

    /// Goes along `direction` until the objective has fallen enough; gives the fall that the slope
    /// promised, or nothing where there is none.
    fn step(&mut self, direction: &[f64], slope: &Slope, penalty: f64) -> Option<f64> {
        let along = |length: f64| -> Vec<f64> {
            let each = self.w.iter().zip(direction);
            each.map(|(w, d)| w + length * d).collect()
        };
        let of_loss = -dot(direction, &slope.pull);
        let promised = of_loss
            + match self.settings.penalty {
                Penalty::L2 => dot(direction, &self.w),
                Penalty::L1 => self.penalty_of(&along(1.0)) - penalty,
            };
        let before = penalty + slope.loss;
        if promised.is_nan() || promised > ROUNDING * before {
            return None;
        }
        let slopes = self.signed(direction);
        let mut length = 1.0;
        for _ in 0..60 {
            let w = along(length);
            let each = self.margins.iter().zip(&slopes);
            let margins: Vec<f64> = each.map(|(m, s)| m + length * s).collect();
            let losses = margins.iter().zip(&self.plane.prices);
            let loss = losses.fold(0.0, |sum, (m, c)| sum + c * log_loss(*m).0);
            let after = self.penalty_of(&w) + loss;
            if after - before <= ENOUGH * length * promised + ROUNDING * before {
                (self.w, self.margins) = (w, margins);
                return Some(-promised);
            }
            length *= 0.5;
        }
        None
    }

    /// The way to where ½‖w‖² and the quadratic that agrees with the loss are least together.
    fn ridge_direction(
        &self,
        curvature: &Curvature<'_>,
        slope: &Slope,
        gap: f64,
        limits: &Limits<'_>,
    ) -> Vec<f64> {
        let each = slope.pull.iter().zip(&self.w);
        let residual: Vec<f64> = each.map(|(v, w)| v - w).collect();
        let ones =
            |features, has_bias: bool| DenseSystem::diagonal(features, has_bias.then_some(1.0));
        let system = curvature.summed(ones, &slope.curvatures);
        if let Some(direction) = system.and_then(|system| system.solve(residual.clone())) {
            return direction;
        }
        let enough = LOOSEST.min(gap.sqrt().sqrt());
        self.conjugate_gradients(residual, &slope.curvatures, enough, limits)
    }

    /// Solves (I + Σ h x xᵀ) d = r by conjugate gradients (Hestenes & Stiefel, 1952), to this part
    /// of r. Unknowns are scaled by a mean of 1 and the diagonal (Hsia, Chiang & Lin, 2018).
    fn conjugate_gradients(
        &self,
        mut residual: Vec<f64>,
        curvatures: &[f64],
        enough: f64,
        limits: &Limits<'_>,
    ) -> Vec<f64> {
        const SHARE: f64 = 0.01;
        let diagonal = self.diagonal(curvatures);
        let scaled = |r: &[f64]| -> Vec<f64> {
            let each = r.iter().zip(&diagonal);
            each.map(|(r, h)| r / (1.0 + SHARE * h)).collect()
        };
        let mut step = vec![0.0; residual.len()];
        let mut preconditioned = scaled(&residual);
        let mut direction = preconditioned.clone();
        let mut squared = dot(&residual, &preconditioned);
        let goal = squared * enough * enough;
        for _ in 0..residual.len().max(10) {
            if squared <= goal || squared == 0.0 || limits.now().is_some() {
                break;
            }
            let image = self.curved(curvatures, &direction);
            let amount = squared / dot(&direction, &image);
            for (k, image) in image.iter().enumerate() {
                step[k] += amount * direction[k];
                residual[k] -= amount * image;
            }
            preconditioned = scaled(&residual);
            let next = dot(&residual, &preconditioned);
            let ratio = next / squared;
            for (p, z) in direction.iter_mut().zip(&preconditioned) {
                *p = z + ratio * *p;
            }
            squared = next;
        }
        step
    }

    /// The diagonal of Σ h x xᵀ.
    fn diagonal(&self, curvatures: &[f64]) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.w.len()];
        let rows = Rows::of(&self.data.matrix);
        for (&i, h) in self.plane.examples.iter().zip(curvatures) {
            rows.row(i as usize)
                .for_each(|j, x| diagonal[j] += h * x * x);
        }
        if self.lifted {
            diagonal[self.data.features()] = curvatures.iter().sum();
        }
        diagonal
    }

    /// (I + Σ h x xᵀ) v, in one pass.
    fn curved(&self, curvatures: &[f64], v: &[f64]) -> Vec<f64> {
        let rows = Rows::of(&self.data.matrix);
        let (of_features, bias) = v.split_at(self.data.features());
        let bias = bias.first().copied().unwrap_or(0.0);
        let mut image = v.to_vec();
        let mut lean = 0.0;
        let (fours, rest) = self.plane.examples.as_chunks::<4>();
        let mut add = |i: u32, score: f64, h: f64, image: &mut [f64]| {
            let amount = h * score;
            lean += amount;
            rows.row(i as usize).add_to(image, amount);
        };
        for (k, four) in fours.iter().enumerate() {
            if let Some(next) = fours.get(k + 3) {
                next.iter().for_each(|&i| rows.row(i as usize).prefetch());
            }
            let scores = dots4(rows, four.map(|i| i as usize), of_features, bias);
            for (l, &i) in four.iter().enumerate() {
                add(i, scores[l], curvatures[4 * k + l], &mut image);
            }
        }
        for (&i, &h) in rest.iter().zip(&curvatures[4 * fours.len()..]) {
            let score = rows.row(i as usize).dot(of_features, bias);
            add(i, score, h, &mut image);
        }
        if self.lifted {
            image[self.data.features()] += lean;
        }
        image
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + x * y)
}
