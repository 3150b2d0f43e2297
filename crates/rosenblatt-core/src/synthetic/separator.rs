//! The separator that labels come from.

use crate::data::{Dataset, Row};
use crate::geometry::norm;
use crate::scheme::leader;

/// A known separator: one score w·x + b whose sign is the class, or a score for each class,
/// the largest winning.
#[derive(Debug, Clone, PartialEq)]
pub struct Separator {
    /// One vector for two classes, else one for each class.
    pub weights: Vec<Vec<f64>>,
    /// The bias of each vector.
    pub biases: Vec<f64>,
}

impl Separator {
    pub(super) fn binary(weights: Vec<f64>, bias: f64) -> Self {
        Separator {
            weights: vec![weights],
            biases: vec![bias],
        }
    }

    pub(super) fn multiclass(weights: Vec<Vec<f64>>) -> Self {
        let biases = vec![0.0; weights.len()];
        Separator { weights, biases }
    }

    /// The score of each vector.
    pub fn scores(&self, row: Row<'_>) -> Vec<f64> {
        let each = self.weights.iter().zip(&self.biases);
        each.map(|(w, &b)| row.dot(w, b)).collect()
    }

    /// How far `row` lies on the right side for `label`, in the units of the weights.
    pub fn functional_margin(&self, row: Row<'_>, label: u32) -> f64 {
        let scores = self.scores(row);
        match scores[..] {
            [score] if label == 0 => -score,
            [score] => score,
            _ => gap(&scores, label as usize),
        }
    }

    /// √(Σ_c ‖u_c‖²), the biases left out.
    pub fn length(&self) -> f64 {
        norm(&self.weights.iter().map(|w| norm(w)).collect::<Vec<_>>())
    }

    /// The least margin over all rows, divided by [`length`](Self::length).
    pub fn margin(&self, dataset: &Dataset) -> f64 {
        let least = (0..dataset.len())
            .map(|i| self.functional_margin(dataset.row(i), dataset.labels[i]))
            .fold(f64::INFINITY, f64::min);
        least / self.length()
    }
}

/// s_y − max_{j≠y} s_j.
pub(super) fn gap(scores: &[f64], y: usize) -> f64 {
    scores[y] - scores[leader(scores, Some(y as u32)) as usize]
}
