//! Nyström features: L⁻¹ (K(x, z_1), …, K(x, z_m)) for landmarks z with K_zz = L·Lᵀ, so that
//! inner products are exact between landmarks and projected onto them elsewhere.
//!
//! Reference: C. Williams and M. Seeger, "Using the Nyström method to speed up kernel
//! machines", NIPS 13 (2001).

use crate::data::{Dataset, Matrix, Row};
use crate::kernel::{Arithmetic, Kernel, PackedRows, SupportRows, WIDTH};
use crate::random::{Random, Stream};

/// Landmarks and the triangle that makes them orthonormal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Nystrom {
    kernel: Kernel,
    landmarks: Matrix,
    /// The lower triangle L, row by row.
    triangle: Vec<f64>,
}

/// A landmark nearer than this to the span of the earlier ones adds nothing but noise.
const INDEPENDENT: f64 = 1e-10;

/// Different rows of the data, drawn by `seed`, in the order of the file.
pub(super) fn draw_landmarks(data: &Dataset, count: usize, seed: u64) -> Matrix {
    let mut rows: Vec<usize> = (0..data.len()).collect();
    let mut random = Random::new(seed, Stream::Embedding, 1);
    let count = count.min(rows.len());
    for k in 0..count {
        let other = k + random.below((rows.len() - k) as u64) as usize;
        rows.swap(k, other);
    }
    rows.truncate(count);
    rows.sort_unstable();
    data.matrix.select(rows.iter().map(|&r| data.position(r)))
}

impl Nystrom {
    /// Keeps the landmarks that are independent of the earlier ones.
    pub(super) fn new(candidates: Matrix, gamma: f64) -> Self {
        let kernel = Kernel::Rbf { gamma };
        let mut kept: Vec<usize> = Vec::new();
        let mut triangle: Vec<f64> = Vec::new();
        for i in 0..candidates.rows() {
            let mut row: Vec<f64> = kept
                .iter()
                .map(|&j| kernel.value(candidates.row(i), candidates.row(j)))
                .collect();
            forward::<1>(&triangle, row.as_chunks_mut().0);
            let rest = 1.0 - row.iter().fold(0.0, |s, x| s + x * x);
            if rest > INDEPENDENT {
                row.push(rest.sqrt());
                triangle.extend(row);
                kept.push(i);
            }
        }
        Nystrom {
            kernel,
            landmarks: candidates.select(kept.into_iter()),
            triangle,
        }
    }

    pub(super) fn features(&self) -> usize {
        self.landmarks.rows()
    }

    pub(super) fn landmarks(&self) -> &Matrix {
        &self.landmarks
    }

    pub(super) fn apply_to_row(&self, row: Row<'_>, out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            *out = self.kernel.value(self.landmarks.row(k), row);
        }
        forward::<1>(&self.triangle, out.as_chunks_mut().0);
    }

    pub(super) fn apply(&self, matrix: &Matrix, threads: usize, out: &mut [f64]) {
        let n = self.features();
        let arithmetic = Arithmetic::choose(&self.kernel, &[&self.landmarks, matrix]);
        let mut support = SupportRows::new(arithmetic);
        (0..n).for_each(|k| support.push(self.landmarks.row(k), k as u32));
        let slots: Vec<u32> = (0..n as u32).collect();
        crate::parallel::chunks(out, (n * WIDTH).max(1), threads, || {
            let mut values = vec![[0.0; WIDTH]; n];
            let (support, slots) = (&support, &slots);
            move |p: usize, out: &mut [f64]| {
                let rows = p * WIDTH..p * WIDTH + out.len() / n;
                let packed = PackedRows::new(arithmetic, rows.map(|i| matrix.row(i)));
                packed.values(&self.kernel, 0.0, support, slots, &mut values);
                forward(&self.triangle, &mut values);
                for (lane, out) in out.chunks_exact_mut(n).enumerate() {
                    for (out, value) in out.iter_mut().zip(&values) {
                        *out = value[lane];
                    }
                }
            }
        });
    }
}

/// x ← L⁻¹x, for several x side by side.
fn forward<const N: usize>(triangle: &[f64], x: &mut [[f64; N]]) {
    let mut start = 0;
    for k in 0..x.len() {
        let row = &triangle[start..=start + k];
        let (before, rest) = x.split_at_mut(k);
        let value = &mut rest[0];
        for (l, y) in row[..k].iter().zip(before) {
            for (v, &y) in value.iter_mut().zip(y.iter()) {
                *v -= l * y;
            }
        }
        value.iter_mut().for_each(|v| *v /= row[k]);
        start += k + 1;
    }
}
