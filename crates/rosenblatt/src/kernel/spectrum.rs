//! Is a kernel valid? The smallest eigenvalue of a Gram matrix tells.

use super::Kernel;
use crate::data::Dataset;
use crate::random::{Random, Stream};

/// The ends of the spectrum of a sample's Gram matrix.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Spectrum {
    /// The smallest eigenvalue.
    pub smallest: f64,
    /// The largest eigenvalue.
    pub largest: f64,
    /// Examples in the sample.
    pub examples: usize,
}

/// Examples that are enough to tell, and few enough to cost nothing.
const SAMPLE: usize = 128;

impl Spectrum {
    /// The spectrum on a sample of `data`, drawn by `seed`.
    pub fn of(kernel: &Kernel, data: &Dataset, seed: u64) -> Self {
        let mut rows: Vec<usize> = (0..data.len()).collect();
        if rows.len() > SAMPLE {
            let mut random = Random::new(seed, Stream::Sample, 1);
            for k in 0..SAMPLE {
                let other = k + random.below((rows.len() - k) as u64) as usize;
                rows.swap(k, other);
            }
            rows.truncate(SAMPLE);
            rows.sort_unstable();
        }
        let n = rows.len();
        let mut gram = vec![0.0; n * n];
        for (a, &i) in rows.iter().enumerate() {
            for (b, &j) in rows.iter().enumerate().take(a + 1) {
                let value = match kernel {
                    Kernel::Precomputed => data.row(data.position(i)).get(j),
                    _ => kernel.value(data.row(data.position(i)), data.row(data.position(j))),
                };
                gram[a * n + b] = value;
                gram[b * n + a] = value;
            }
        }
        let eigenvalues = eigenvalues(&mut gram, n);
        Spectrum {
            smallest: eigenvalues.iter().copied().fold(f64::INFINITY, f64::min),
            largest: eigenvalues
                .iter()
                .copied()
                .fold(f64::NEG_INFINITY, f64::max),
            examples: n,
        }
    }

    /// Whether the smallest eigenvalue is below 0 beyond doubt of rounding.
    pub fn is_clearly_negative(&self) -> bool {
        self.smallest < -1e-8 * self.largest.abs().max(self.smallest.abs())
    }
}

/// The eigenvalues of a symmetric matrix by Jacobi's rotations.
pub(crate) fn eigenvalues(matrix: &mut [f64], n: usize) -> Vec<f64> {
    let scale: f64 = matrix.iter().fold(0.0, |m, x| m.max(x.abs()));
    for _ in 0..30 {
        let mut off = 0.0f64;
        for p in 0..n {
            for q in p + 1..n {
                let apq = matrix[p * n + q];
                off = off.max(apq.abs());
                if apq.abs() <= 1e-300 {
                    continue;
                }
                let theta = (matrix[q * n + q] - matrix[p * n + p]) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (a, b) = (matrix[p * n + k], matrix[q * n + k]);
                    matrix[p * n + k] = c * a - s * b;
                    matrix[q * n + k] = s * a + c * b;
                }
                for k in 0..n {
                    let (a, b) = (matrix[k * n + p], matrix[k * n + q]);
                    matrix[k * n + p] = c * a - s * b;
                    matrix[k * n + q] = s * a + c * b;
                }
            }
        }
        if off <= 1e-15 * scale {
            break;
        }
    }
    (0..n).map(|i| matrix[i * n + i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Matrix, Precision};

    #[test]
    fn known_eigenvalues_come_out() {
        let mut found = eigenvalues(&mut [2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, -5.0], 3);
        found.sort_by(f64::total_cmp);
        for (a, b) in found.iter().zip([-5.0, 1.0, 3.0]) {
            assert!((a - b).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(eigenvalues(&mut [0.0, 0.0, 0.0, 0.0], 2), [0.0, 0.0]);
    }

    #[test]
    fn sigmoids_are_told_from_valid_kernels() {
        let rows: Vec<Vec<f64>> = (0..200)
            .map(|i| vec![(i % 17) as f64 / 8.0 - 1.0, (i % 23) as f64 / 11.0 - 1.0])
            .collect();
        let data = Dataset::new(
            Matrix::dense_from_rows(2, &rows, Precision::F32),
            (0..200).map(|i| i % 2).collect(),
            Classes::from_labels(["a", "b"]),
            None,
        )
        .unwrap();
        for kernel in [
            "linear",
            "quadratic",
            "geometric:3",
            "monomial:2",
            "rbf:1",
            "laplacian:1",
        ] {
            let spectrum = Spectrum::of(&kernel.parse().unwrap(), &data, 0);
            assert!(!spectrum.is_clearly_negative(), "{kernel}: {spectrum:?}");
        }
        let spectrum = Spectrum::of(&"sigmoid:1,-1".parse().unwrap(), &data, 0);
        assert!(spectrum.is_clearly_negative(), "{spectrum:?}");
    }
}
