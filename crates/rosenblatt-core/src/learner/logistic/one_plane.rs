//! The loss of one plane: C log(1 + exp(−y s)) of every example.

use super::Penalty;
use super::lasso::Curvature;
use super::newton::{Loss, Slope, by_diagonal, conjugate_gradients};
use crate::data::{Dataset, dots4};
use crate::learner::max_margin::{DenseSystem, LinearProblem, Plane, count_margin};
use crate::options::Bias;
use crate::progress::{Limits, Pass};

/// One plane; w is the weights, then the bias if it is lifted. Scores are margins y(x·w + b).
pub(super) struct OnePlane<'a> {
    problem: LinearProblem<'a>,
    lifted: bool,
    penalty: Penalty,
    curvature: Curvature<'a>,
}

/// log(1 + exp(−m)), and exp(−|m|).
fn log_loss(margin: f64) -> (f64, f64) {
    let e = libm::exp(-margin.abs());
    (libm::log1p(e) + (-margin).max(0.0), e)
}

/// x log x.
pub(super) fn entropy(x: f64) -> f64 {
    if x > 0.0 { x * libm::log(x) } else { 0.0 }
}

impl<'a> OnePlane<'a> {
    pub(super) fn new(data: &'a Dataset, plane: &'a Plane, lifted: bool, penalty: Penalty) -> Self {
        let bias = if lifted { Bias::Lifted } else { Bias::None };
        OnePlane {
            problem: LinearProblem { data, plane, bias },
            lifted,
            penalty,
            curvature: Curvature::new(data, plane, lifted),
        }
    }

    /// The diagonal of Σ h x xᵀ.
    fn diagonal(&self, curvatures: &[f64]) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.unknowns()];
        let rows = self.problem.rows();
        for (&i, h) in self.problem.plane.examples.iter().zip(curvatures) {
            let row = rows.row(i as usize);
            row.for_each(|j, x| diagonal[j] += h * x * x);
        }
        if self.lifted {
            diagonal[self.problem.data.features()] = curvatures.iter().sum();
        }
        diagonal
    }

    /// (I + Σ h x xᵀ) v, in one pass.
    fn curved(&self, curvatures: &[f64], v: &[f64]) -> Vec<f64> {
        let rows = self.problem.rows();
        let (of_features, bias) = v.split_at(self.problem.data.features());
        let bias = bias.first().copied().unwrap_or(0.0);
        let mut image = v.to_vec();
        let mut lean = 0.0;
        let (fours, rest) = self.problem.plane.examples.as_chunks::<4>();
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
            image[self.problem.data.features()] += lean;
        }
        image
    }
}

impl Loss for OnePlane<'_> {
    fn unknowns(&self) -> usize {
        self.problem.data.features() + usize::from(self.lifted)
    }

    fn scores(&self, v: &[f64]) -> Vec<f64> {
        let (of_features, bias) = v.split_at(self.problem.data.features());
        let bias = bias.first().copied().unwrap_or(0.0);
        let mut found = self
            .problem
            .scores(&self.problem.plane.examples, of_features);
        for (score, sign) in found.iter_mut().zip(&self.problem.plane.signs) {
            *score = sign * (*score + bias);
        }
        found
    }

    fn value(&self, margins: &[f64]) -> f64 {
        let each = margins.iter().zip(&self.problem.plane.prices);
        each.fold(0.0, |sum, (m, c)| sum + c * log_loss(*m).0)
    }

    /// The shares are α = C/(1 + exp(m)), the curvatures h = α(1 − α/C).
    fn slope(&self, margins: &[f64]) -> Slope {
        let n = self.problem.plane.len();
        let mut slope = Slope {
            loss: 0.0,
            shares: Vec::with_capacity(n),
            curvatures: Vec::with_capacity(n),
            pull: vec![0.0; self.unknowns()],
        };
        let rows = self.problem.rows();
        for (t, (&margin, &price)) in margins.iter().zip(&self.problem.plane.prices).enumerate() {
            let (loss, e) = log_loss(margin);
            let numerator = if margin > 0.0 { e } else { 1.0 };
            let alpha = price * (numerator / (1.0 + e));
            slope.loss += price * loss;
            slope.shares.push(alpha);
            slope.curvatures.push(price * (e / ((1.0 + e) * (1.0 + e))));
            let signed = alpha * self.problem.plane.signs[t];
            let row = rows.row(self.problem.plane.examples[t] as usize);
            row.add_to(&mut slope.pull, signed);
            if self.lifted {
                slope.pull[self.problem.data.features()] += signed;
            }
        }
        slope
    }

    fn bound(&self, slope: &Slope, scale: f64) -> f64 {
        let each = slope.shares.iter().zip(&self.problem.plane.prices);
        each.filter(|(_, c)| **c > 0.0)
            .fold(0.0, |sum, (alpha, c)| {
                let share = scale * alpha / c;
                sum - c * (entropy(share) + entropy(1.0 - share))
            })
    }

    fn direction(
        &mut self,
        w: &[f64],
        slope: &Slope,
        enough: f64,
        limits: &Limits<'_>,
    ) -> Vec<f64> {
        let Slope {
            curvatures, pull, ..
        } = slope;
        if self.penalty == Penalty::L1 {
            return self.curvature.lasso_direction(w, pull, curvatures, limits);
        }
        let residual: Vec<f64> = pull.iter().zip(w).map(|(v, w)| v - w).collect();
        let ones = |features, biased: bool| DenseSystem::diagonal(features, biased.then_some(1.0));
        let system = self.curvature.summed(ones, curvatures);
        if let Some(found) = system.and_then(|system| system.solve(residual.clone())) {
            return found;
        }
        let diagonal = self.diagonal(curvatures);
        let curved = |v: &[f64]| self.curved(curvatures, v);
        conjugate_gradients(residual, by_diagonal(&diagonal), enough, limits, curved).0
    }

    fn pass(&self, margins: &[f64]) -> Pass {
        let mut pass = Pass {
            visits: margins.len() as u64,
            ..Pass::default()
        };
        margins.iter().for_each(|&m| count_margin(&mut pass, m));
        pass
    }
}
