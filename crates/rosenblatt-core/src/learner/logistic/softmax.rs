//! The loss of all classes at once: C log Σ_k exp(s_k − s_y) of every example.

use super::lasso::is_small;
use super::newton::{Loss, Slope, by_diagonal, conjugate_gradients};
use super::one_plane::entropy;
use crate::data::{Dataset, Row, Rows};
use crate::learner::max_margin::{DenseSystem, Factors, Plane, count_margin};
use crate::progress::{Limits, Pass};

/// Where a direction took more steps than this, the next are preconditioned by the blocks of H.
const MANY: usize = 30;

/// Most numbers in the blocks.
const LARGEST: usize = 1 << 24;

/// Classes whose sums are kept in registers while a row is gone through.
const TOGETHER: usize = 8;

/// Calls a function for so many classes, 1 to [`TOGETHER`].
macro_rules! by_count {
    ($count:expr, $of:ident $arguments:tt) => {
        match $count {
            1 => $of::<1> $arguments,
            2 => $of::<2> $arguments,
            3 => $of::<3> $arguments,
            4 => $of::<4> $arguments,
            5 => $of::<5> $arguments,
            6 => $of::<6> $arguments,
            7 => $of::<7> $arguments,
            _ => $of::<TOGETHER> $arguments,
        }
    };
}

/// Adds the scores of a row by the weights of `N` classes; a feature's weights are `stride` apart
/// from the next one's.
fn add_scores<const N: usize>(row: Row<'_>, weights: &[f64], stride: usize, to: &mut [f64]) {
    let mut sums: [f64; N] = std::array::from_fn(|k| to[k]);
    row.for_each(|j, x| {
        let weights = &weights[j * stride..j * stride + N];
        sums.iter_mut().zip(weights).for_each(|(s, w)| *s += w * x);
    });
    to.copy_from_slice(&sums);
}

/// Adds the row times the amounts of `N` classes, to sums that lie as the weights do.
fn add_row<const N: usize>(row: Row<'_>, amounts: &[f64], stride: usize, to: &mut [f64]) {
    let amounts: [f64; N] = std::array::from_fn(|k| amounts[k]);
    row.for_each(|j, x| {
        let sums = &mut to[j * stride..j * stride + N];
        sums.iter_mut().zip(amounts).for_each(|(s, a)| *s += a * x);
    });
}

/// A plane for each class; w is the weights feature by feature, each of all classes, the bias last
/// if it is lifted. The penalty is ½‖w‖².
pub(super) struct Softmax<'a> {
    data: &'a Dataset,
    /// The examples, in its order, and what they cost; its signs are not asked for.
    plane: &'a Plane,
    lifted: bool,
    classes: usize,
    /// Whether a direction has taken many steps and the blocks of H are cheap.
    by_blocks: bool,
}

impl<'a> Softmax<'a> {
    pub(super) fn new(data: &'a Dataset, plane: &'a Plane, lifted: bool) -> Self {
        Softmax {
            data,
            plane,
            lifted,
            classes: data.classes.len(),
            by_blocks: false,
        }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'a>> {
        let rows = Rows::of(&self.data.matrix);
        (self.plane.examples.iter()).map(move |&i| rows.row(i as usize))
    }

    /// The class of every example, and its price.
    fn truths(&self) -> impl Iterator<Item = (usize, f64)> {
        let classes = self
            .plane
            .examples
            .iter()
            .map(|&i| self.data.labels[i as usize] as usize);
        classes.zip(self.plane.prices.iter().copied())
    }

    /// The scores of a row by `v`.
    fn score(&self, row: Row<'_>, v: &[f64], to: &mut [f64]) {
        let k = self.classes;
        match self.lifted {
            true => to.copy_from_slice(&v[self.data.features() * k..]),
            false => to.fill(0.0),
        }
        for first in (0..k).step_by(TOGETHER) {
            let to = &mut to[first..k.min(first + TOGETHER)];
            by_count!(to.len(), add_scores(row, &v[first..], k, to));
        }
    }

    /// Adds the row times `amounts`, one a class.
    fn add(&self, row: Row<'_>, amounts: &[f64], to: &mut [f64]) {
        let k = self.classes;
        for first in (0..k).step_by(TOGETHER) {
            let amounts = &amounts[first..k.min(first + TOGETHER)];
            by_count!(amounts.len(), add_row(row, amounts, k, &mut to[first..]));
        }
        if self.lifted {
            let sums = &mut to[self.data.features() * k..];
            sums.iter_mut().zip(amounts).for_each(|(s, a)| *s += a);
        }
    }

    /// (I + H) v, in one pass: of an example, H turns scores u into C(p_k u_k − p_k Σ p u).
    fn curved(&self, shares: &[f64], v: &[f64]) -> Vec<f64> {
        let mut image = v.to_vec();
        let mut scores = vec![0.0; self.classes];
        let each = self.rows().zip(&self.plane.prices);
        for ((row, price), shares) in each.zip(shares.chunks_exact(self.classes)) {
            self.score(row, v, &mut scores);
            let mean: f64 = scores.iter().zip(shares).map(|(s, p)| s * p).sum();
            for (s, p) in scores.iter_mut().zip(shares) {
                *s = price * p * (*s - mean);
            }
            self.add(row, &scores, &mut image);
        }
        image
    }

    /// The diagonal of H.
    fn diagonal(&self, shares: &[f64]) -> Vec<f64> {
        let k = self.classes;
        let mut diagonal = vec![0.0; self.unknowns()];
        let each = self.rows().zip(&self.plane.prices);
        for ((row, price), shares) in each.zip(shares.chunks_exact(k)) {
            let mut add = |j: usize, x: f64| {
                let sums = &mut diagonal[j * k..(j + 1) * k];
                let each = sums.iter_mut().zip(shares);
                each.for_each(|(s, p)| *s += price * p * (1.0 - p) * (x * x));
            };
            row.for_each(&mut add);
            if self.lifted {
                add(self.data.features(), 1.0);
            }
        }
        diagonal
    }

    fn are_blocks_cheap(&self) -> bool {
        let each = self.unknowns() / self.classes.max(1);
        let numbers = each.saturating_mul(self.unknowns());
        numbers <= LARGEST && is_small(self.data, self.plane, self.lifted)
    }

    /// I + Σ C p(1 − p) x xᵀ of each class, once they are wanted.
    fn blocks(&self, shares: &[f64]) -> Option<Blocks> {
        if !self.by_blocks {
            return None;
        }
        let of_class = |class: usize| {
            let bias = self.lifted.then_some(1.0);
            let mut system = DenseSystem::diagonal(self.data.features(), bias);
            let each = self.rows().zip(&self.plane.prices);
            for ((row, price), shares) in each.zip(shares.chunks_exact(self.classes)) {
                let p = shares[class];
                system.add_product(row, price * p * (1.0 - p));
            }
            system.factors()
        };
        let blocks: Option<Vec<Factors>> = (0..self.classes).map(of_class).collect();
        blocks.map(Blocks)
    }
}

/// The part of I + H of each class alone, decomposed.
struct Blocks(Vec<Factors>);

impl Blocks {
    /// Solves each for its part of `right`; unknowns are feature by feature, each of all classes.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let k = self.0.len();
        let mut solved = right.to_vec();
        for (class, factors) in self.0.iter().enumerate() {
            let of_class = right.iter().skip(class).step_by(k).copied().collect();
            // What overflows stays as it was.
            if let Some(found) = factors.solve(of_class) {
                let places = solved.iter_mut().skip(class).step_by(k);
                places.zip(found).for_each(|(place, x)| *place = x);
            }
        }
        solved
    }
}

/// The largest score, and log Σ exp(s − largest).
fn log_sum(scores: &[f64]) -> (f64, f64) {
    let most = scores.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let sum: f64 = scores.iter().map(|s| libm::exp(s - most)).sum();
    (most, libm::log(sum))
}

impl Loss for Softmax<'_> {
    fn unknowns(&self) -> usize {
        (self.data.features() + usize::from(self.lifted)) * self.classes
    }

    fn scores(&self, v: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.plane.len() * self.classes];
        for (row, to) in self.rows().zip(scores.chunks_exact_mut(self.classes)) {
            self.score(row, v, to);
        }
        scores
    }

    fn value(&self, scores: &[f64]) -> f64 {
        let each = self.truths().zip(scores.chunks_exact(self.classes));
        each.fold(0.0, |sum, ((truth, price), scores)| {
            let (most, log_sum) = log_sum(scores);
            sum + price * (log_sum + (most - scores[truth]))
        })
    }

    /// The shares are the probabilities.
    fn slope(&self, scores: &[f64]) -> Slope {
        let mut slope = Slope {
            loss: self.value(scores),
            shares: Vec::with_capacity(scores.len()),
            curvatures: Vec::new(),
            pull: vec![0.0; self.unknowns()],
        };
        let mut amounts = vec![0.0; self.classes];
        let each = self.rows().zip(self.truths());
        for ((row, (truth, price)), scores) in each.zip(scores.chunks_exact(self.classes)) {
            let (most, log_sum) = log_sum(scores);
            for (k, score) in scores.iter().enumerate() {
                let share = libm::exp(score - most - log_sum);
                slope.shares.push(share);
                amounts[k] = price * (f64::from(u8::from(k == truth)) - share);
            }
            self.add(row, &amounts, &mut slope.pull);
        }
        slope
    }

    fn bound(&self, slope: &Slope, scale: f64) -> f64 {
        let each = self.truths().zip(slope.shares.chunks_exact(self.classes));
        each.fold(0.0, |sum, ((truth, price), shares)| {
            let of_class = |(k, p): (usize, &f64)| match k == truth {
                true => entropy(1.0 - scale * (1.0 - p)),
                false => entropy(scale * p),
            };
            sum - price * shares.iter().enumerate().map(of_class).sum::<f64>()
        })
    }

    fn direction(
        &mut self,
        w: &[f64],
        slope: &Slope,
        enough: f64,
        limits: &Limits<'_>,
    ) -> Vec<f64> {
        let each = slope.pull.iter().zip(w);
        let residual = each.map(|(v, w)| v - w).collect();
        let curved = |v: &[f64]| self.curved(&slope.shares, v);
        if let Some(blocks) = self.blocks(&slope.shares) {
            let solved = |r: &[f64]| blocks.solve(r);
            return conjugate_gradients(residual, solved, enough, limits, curved).0;
        }
        let diagonal = self.diagonal(&slope.shares);
        let divided = by_diagonal(&diagonal);
        let (step, steps) = conjugate_gradients(residual, divided, enough, limits, curved);
        self.by_blocks = steps > MANY && self.are_blocks_cheap();
        step
    }

    /// The margin is over the strongest wrong class.
    fn pass(&self, scores: &[f64]) -> Pass {
        let mut pass = Pass {
            visits: self.plane.len() as u64,
            ..Pass::default()
        };
        for ((truth, _), scores) in self.truths().zip(scores.chunks_exact(self.classes)) {
            let others = scores.iter().enumerate().filter(|(k, _)| *k != truth);
            let rival = others.fold(f64::NEG_INFINITY, |a, (_, s)| a.max(*s));
            count_margin(&mut pass, scores[truth] - rival);
        }
        pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::data::Precision;

    #[test]
    fn classes_taken_together_have_the_sums_that_each_has_alone() {
        const FEATURES: usize = 5;
        let value = |i: usize| (i as f64 * 0.7).sin();
        let mut matrix = Matrix::empty_sparse(FEATURES, Precision::F64);
        matrix.push_sparse([0, 2, 3].map(|j| (j as u32, value(j))).to_vec());
        let row = Rows::of(&matrix).row(0);
        for k in [1, 2, 3, 7, 8, 9, 16, 21] {
            let v: Vec<f64> = (0..FEATURES * k).map(|i| value(i + 10)).collect();
            let (mut scores, mut sums) = (vec![0.25; k], vec![0.5; FEATURES * k]);
            for first in (0..k).step_by(TOGETHER) {
                let end = k.min(first + TOGETHER);
                let to = &mut scores[first..end];
                by_count!(to.len(), add_scores(row, &v[first..], k, to));
                let amounts = &v[first..end];
                by_count!(amounts.len(), add_row(row, amounts, k, &mut sums[first..]));
            }
            for class in 0..k {
                let mut score = 0.25;
                row.for_each(|j, x| score += v[j * k + class] * x);
                assert_eq!(score.to_bits(), scores[class].to_bits(), "{k}");
                for j in 0..FEATURES {
                    let mut sum = 0.5;
                    row.for_each(|i, x| {
                        if i == j {
                            sum += v[class] * x
                        }
                    });
                    assert_eq!(sum.to_bits(), sums[j * k + class].to_bits(), "{k}");
                }
            }
        }
    }
}
