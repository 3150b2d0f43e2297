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

/// The eigenvalues of a symmetric matrix: Householder's reflections make it tridiagonal, then
/// implicit steps with Wilkinson's shift make it diagonal (Golub & Van Loan, Matrix
/// Computations, 8.3).
fn eigenvalues(matrix: &mut [f64], n: usize) -> Vec<f64> {
    let largest = matrix.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return vec![0.0; n];
    }
    // So that no square overflows or vanishes.
    matrix.iter_mut().for_each(|x| *x /= largest);
    let (mut diagonal, mut beside) = tridiagonal(matrix, n);
    diagonalise(&mut diagonal, &mut beside);
    diagonal.into_iter().map(|x| x * largest).collect()
}

/// The diagonal of a tridiagonal matrix with the same eigenvalues, and what stands beside it;
/// the last number is there for convenience.
fn tridiagonal(matrix: &mut [f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut beside = vec![0.0; n];
    for k in 0..n.saturating_sub(1) {
        let below = k + 1;
        let mut v: Vec<f64> = (below..n).map(|i| matrix[i * n + k]).collect();
        let rest: f64 = v[1..].iter().map(|x| x * x).sum();
        beside[k] = v[0];
        if rest == 0.0 {
            continue;
        }
        // The reflection that leaves only the first of the column: x − 2v(v·x)/(v·v).
        let length = (v[0] * v[0] + rest).sqrt();
        beside[k] = if v[0] > 0.0 { -length } else { length };
        v[0] -= beside[k];
        let scale = 2.0 / (v[0] * v[0] + rest);
        let mut p = vec![0.0; v.len()];
        for (line, x) in matrix[below * n..].chunks_exact(n).zip(&v) {
            let factor = scale * x;
            (p.iter_mut().zip(&line[below..])).for_each(|(p, a)| *p += factor * a);
        }
        let along: f64 = v.iter().zip(&p).map(|(v, p)| v * p).sum();
        let half = 0.5 * scale * along;
        (p.iter_mut().zip(&v)).for_each(|(p, v)| *p -= half * v);
        let lines = matrix[below * n..].chunks_exact_mut(n);
        for (line, (vi, pi)) in lines.zip(v.iter().zip(&p)) {
            let entries = line[below..].iter_mut().zip(v.iter().zip(&p));
            entries.for_each(|(a, (vj, pj))| *a -= vi * pj + pi * vj);
        }
    }
    let diagonal = (0..n).map(|i| matrix[i * n + i]).collect();
    (diagonal, beside)
}

/// Makes a tridiagonal matrix diagonal.
fn diagonalise(diagonal: &mut [f64], beside: &mut [f64]) {
    /// Each eigenvalue takes two or three steps.
    const STEPS: usize = 60;
    let n = diagonal.len();
    for low in 0..n {
        for _ in 0..STEPS {
            // The block from `low` up to where the matrix falls apart.
            let negligible = |m: usize| {
                let size = diagonal[m].abs() + diagonal[m + 1].abs();
                beside[m].abs() <= f64::EPSILON * size
            };
            let high = (low..n - 1).find(|&m| negligible(m)).unwrap_or(n - 1);
            if high == low {
                break;
            }
            step(&mut diagonal[low..=high], &mut beside[low..=high]);
        }
    }
}

/// One implicit step, from the end of the block to its start.
fn step(diagonal: &mut [f64], beside: &mut [f64]) {
    let last = diagonal.len() - 1;
    let half = (diagonal[1] - diagonal[0]) / (2.0 * beside[0]);
    let away = half + libm::hypot(half, 1.0).copysign(half);
    let mut bulge = diagonal[last] - diagonal[0] + beside[0] / away;
    let (mut sine, mut cosine, mut shift) = (1.0, 1.0, 0.0);
    for i in (0..last).rev() {
        let (f, b) = (sine * beside[i], cosine * beside[i]);
        let r = libm::hypot(f, bulge);
        beside[i + 1] = r;
        if r == 0.0 {
            // The block has fallen apart here.
            diagonal[i + 1] -= shift;
            beside[last] = 0.0;
            return;
        }
        (sine, cosine) = (f / r, bulge / r);
        bulge = diagonal[i + 1] - shift;
        let turned = (diagonal[i] - bulge) * sine + 2.0 * cosine * b;
        shift = sine * turned;
        diagonal[i + 1] = bulge + shift;
        bulge = cosine * turned - b;
    }
    diagonal[0] -= shift;
    beside[0] = bulge;
    beside[last] = 0.0;
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
        assert_eq!(eigenvalues(&mut [7.0], 1), [7.0]);
        assert!(eigenvalues(&mut [], 0).is_empty());
    }

    /// Σλ is the trace and Σλ² the sum of all squares; and the matrix of a path of n points has
    /// 2 cos(πk/(n + 1)).
    #[test]
    fn large_matrices_keep_their_sums_and_paths_have_cosines() {
        use crate::random::{Random, Stream};
        let mut random = Random::new(1, Stream::Start, 0);
        for (n, scale) in [(2, 1.0), (9, 1e-150), (60, 1e150), (128, 1.0)] {
            let mut matrix = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..=i {
                    let x = scale * random.normal();
                    (matrix[i * n + j], matrix[j * n + i]) = (x, x);
                }
            }
            let trace: f64 = (0..n).map(|i| matrix[i * n + i] / scale).sum();
            let squares: f64 = matrix.iter().map(|x| (x / scale) * (x / scale)).sum();
            let found = eigenvalues(&mut matrix, n);
            let sum: f64 = found.iter().map(|x| x / scale).sum();
            let of_squares: f64 = found.iter().map(|x| (x / scale) * (x / scale)).sum();
            assert!((sum - trace).abs() <= 1e-11 * squares, "{sum} {trace}");
            assert!(
                (of_squares / squares - 1.0).abs() <= 1e-12,
                "{of_squares} {squares}"
            );
        }
        let n = 50;
        let mut path = vec![0.0; n * n];
        for i in 1..n {
            (path[i * n + i - 1], path[(i - 1) * n + i]) = (1.0, 1.0);
        }
        let mut found = eigenvalues(&mut path, n);
        found.sort_by(|a, b| b.total_cmp(a));
        for (k, x) in found.iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (n + 1) as f64;
            assert!((x - 2.0 * angle.cos()).abs() < 1e-13, "{k}: {x}");
        }
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
