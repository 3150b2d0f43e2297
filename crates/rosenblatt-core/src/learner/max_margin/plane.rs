//! One plane's problem, and what solving it gave.

use crate::data::{Dataset, RowPermutation};
use crate::model::relative_gap;
use crate::progress::{Pass, Stop};
use crate::scheme::Scheme;
use crate::training::SampleWeights;

/// Which examples a plane parts, on which sides they belong, and what a violation costs.
#[derive(Debug, Clone)]
pub(in crate::learner) struct Plane {
    /// Memory positions, in the order of [`RowPermutation`], whatever the layout: near-sequential
    /// in scattered memory, and mixed where a file is sorted by label.
    pub examples: Vec<u32>,
    /// y = ±1.
    pub signs: Vec<f64>,
    /// C_i = C·c_i; infinite for a hard margin.
    pub prices: Vec<f64>,
}

impl Plane {
    /// The problem of discriminator `d`.
    pub(in crate::learner) fn new(
        data: &Dataset,
        sample_weights: &SampleWeights<'_>,
        scheme: Scheme,
        d: usize,
        c: Option<f64>,
    ) -> Self {
        let (negative, positive) = scheme.sides(d);
        let permutation = RowPermutation::new(data.len());
        let mut plane = Plane::with_capacity(data.len());
        for place in 0..data.len() {
            let i = data.position(permutation.row_at(place));
            let label = data.labels[i];
            let sign = if label == positive {
                1.0
            } else if negative.is_none_or(|n| label == n) {
                -1.0
            } else {
                continue;
            };
            let price = c.map_or(f64::INFINITY, |c| c * sample_weights.of(i, label));
            plane.push(i as u32, sign, price);
        }
        plane
    }

    /// No examples yet, and room for `n`.
    pub(super) fn with_capacity(n: usize) -> Self {
        Plane {
            examples: Vec::with_capacity(n),
            signs: Vec::with_capacity(n),
            prices: Vec::with_capacity(n),
        }
    }

    pub(super) fn push(&mut self, example: u32, sign: f64, price: f64) {
        self.examples.push(example);
        self.signs.push(sign);
        self.prices.push(price);
    }

    pub(in crate::learner) fn len(&self) -> usize {
        self.examples.len()
    }

    /// Whether violations have no finite price.
    pub(super) fn is_hard(&self) -> bool {
        self.prices.first().is_some_and(|p| p.is_infinite())
    }

    /// Whether there are examples on both sides.
    pub(super) fn has_two_sides(&self) -> bool {
        self.signs.iter().any(|y| *y > 0.0) && self.signs.iter().any(|y| *y < 0.0)
    }
}

/// ½‖w‖² + Σ C_i max(0, 1 − y_i s_i), and what no plane can go below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Objective {
    pub primal: f64,
    pub dual: f64,
}

impl Objective {
    /// (primal − dual)/primal.
    pub(super) fn relative_gap(self) -> f64 {
        relative_gap(self.primal, self.dual)
    }

    /// Of w with these margins and of squared length `squared`, and α with `total` as its sum and
    /// `dual_squared` as ‖Σ α y x‖²; and the smallest margin.
    pub(super) fn of(
        plane: &Plane,
        margins: impl Iterator<Item = f64> + Clone,
        squared: f64,
        total: f64,
        dual_squared: f64,
    ) -> (Self, f64) {
        let least = margins.clone().fold(f64::INFINITY, f64::min);
        if plane.is_hard() {
            return (Self::hard(squared, least, total, dual_squared), least);
        }
        let violations = margins.zip(&plane.prices);
        let loss: f64 = violations.map(|(m, c)| c * (1.0 - m).max(0.0)).sum();
        let objective = Objective {
            primal: 0.5 * squared + loss,
            dual: total - 0.5 * dual_squared,
        };
        (objective, least)
    }

    /// Of a hard margin: w and α at the lengths that suit them best, w of squared length
    /// `squared` with `least` as its smallest margin, α with `total` as its sum and
    /// `dual_squared` as ‖Σ α y x‖².
    fn hard(squared: f64, least: f64, total: f64, dual_squared: f64) -> Self {
        Objective {
            primal: if least > 0.0 {
                0.5 * squared / (least * least)
            } else {
                f64::INFINITY
            },
            // Multipliers that cancel out bound nothing: the examples are not separable.
            dual: match (dual_squared > 0.0, total > 0.0) {
                (true, _) => 0.5 * total * total / dual_squared,
                (false, true) => f64::INFINITY,
                (false, false) => 0.0,
            },
        }
    }
}

/// A plane found.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    /// α_i ≥ 0 by example of the plane.
    pub alphas: Vec<f64>,
    /// w, where it is kept in full.
    pub weights: Vec<f64>,
    pub bias: f64,
    /// ‖w‖², a lifted bias included.
    pub squared_norm: f64,
    pub objective: Objective,
    pub stop: Stop,
    pub passes: Vec<Pass>,
}

/// The bias that makes Σ C_i max(0, 1 − y_i(s_i + b)) least, for scores s without a bias.
/// Where a whole interval does, its middle.
///
/// The sum is convex and piecewise linear in b. Each example bends it at b = y_i − s_i by
/// C_i, from a slope of −Σ C_i over the positive ones; the minimum is where the slope turns.
pub(super) fn best_bias(plane: &Plane, scores: &[f64]) -> f64 {
    if plane.is_hard() {
        let of = |sign: f64| {
            let both = plane.signs.iter().zip(scores);
            both.filter(move |(y, _)| **y == sign).map(|(_, s)| *s)
        };
        let lowest = of(1.0).fold(f64::INFINITY, f64::min);
        let highest = of(-1.0).fold(f64::NEG_INFINITY, f64::max);
        return -0.5 * (lowest + highest);
    }
    let mut bends: Vec<(f64, f64)> = (0..plane.len())
        .map(|t| (plane.signs[t] - scores[t], plane.prices[t]))
        .collect();
    bends.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let positive = plane.signs.iter().zip(&plane.prices);
    let rise: f64 = positive.filter(|(y, _)| **y > 0.0).map(|(_, c)| c).sum();
    let mut slope = -rise;
    for (k, &(at, price)) in bends.iter().enumerate() {
        slope += price;
        // Sums of equal prices meet zero exactly; others miss it by a rounding.
        if slope.abs() <= 1e-12 * rise {
            return bends.get(k + 1).map_or(at, |next| 0.5 * (at + next.0));
        }
        if slope > 0.0 {
            return at;
        }
    }
    bends.last().map_or(0.0, |b| b.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pairs_of_classes_are_found_again() {
        let scheme = Scheme::OneVsOne { classes: 5 };
        for low in 0..5 {
            for high in low + 1..5 {
                let d = scheme.pair(low, high);
                assert_eq!(scheme.sides(d), (Some(low as u32), high as u32));
            }
        }
    }

    proptest! {
        #[test]
        fn no_bias_is_better_than_the_best(
            rows in prop::collection::vec((-3.0f64..3.0, any::<bool>(), 0.1f64..2.0), 2..20),
            other in -5.0f64..5.0,
        ) {
            let plane = Plane {
                examples: (0..rows.len() as u32).collect(),
                signs: rows.iter().map(|r| if r.1 { 1.0 } else { -1.0 }).collect(),
                prices: rows.iter().map(|r| r.2).collect(),
            };
            let scores: Vec<f64> = rows.iter().map(|r| r.0).collect();
            let loss = |b: f64| -> f64 {
                rows.iter()
                    .zip(&plane.signs)
                    .map(|(r, y)| r.2 * (1.0 - y * (r.0 + b)).max(0.0))
                    .sum()
            };
            let best = best_bias(&plane, &scores);
            prop_assert!(loss(best) <= loss(other) + 1e-9);
            prop_assert!(loss(best) <= loss(best + 1e-3) + 1e-9);
            prop_assert!(loss(best) <= loss(best - 1e-3) + 1e-9);
        }
    }
}
