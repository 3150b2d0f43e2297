//! Random Fourier features: √(2/N)·cos(w·x + b), w normal with variance 2γ, b uniform.
//!
//! Reference: A. Rahimi and B. Recht, "Random features for large-scale kernel machines",
//! NIPS 20 (2007).

use crate::data::Row;
use crate::random::{Random, Stream};

/// The directions and phases, a function of the seed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fourier {
    /// Input by input, one value a feature.
    directions: Vec<f64>,
    phases: Vec<f64>,
}

impl Fourier {
    pub(super) fn new(inputs: usize, features: usize, gamma: f64, seed: u64) -> Self {
        let mut random = Random::new(seed, Stream::Embedding, 0);
        let width = (2.0 * gamma).sqrt();
        let phases = (0..features)
            .map(|_| random.unit() * std::f64::consts::TAU)
            .collect();
        let directions = (0..inputs * features)
            .map(|_| random.normal() * width)
            .collect();
        Fourier { directions, phases }
    }

    pub(super) fn apply(&self, row: Row<'_>, out: &mut [f64]) {
        let n = self.phases.len();
        out.copy_from_slice(&self.phases);
        row.for_each(|j, x| {
            for (sum, w) in out.iter_mut().zip(&self.directions[j * n..(j + 1) * n]) {
                *sum += w * x;
            }
        });
        let scale = (2.0 / n as f64).sqrt();
        for sum in out {
            *sum = scale * libm::cos(*sum);
        }
    }
}
