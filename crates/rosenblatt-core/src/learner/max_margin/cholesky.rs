//! Symmetric positive definite systems, small enough to be written out.

use crate::data::{Row, by_storage};
use crate::simd::{Level, Work, dispatch};

/// A matrix of which the lower triangle is kept, a row after the other.
pub(in crate::learner) struct DenseSystem {
    size: usize,
    features: usize,
    lower: Vec<f64>,
}

impl DenseSystem {
    /// Ones on the diagonal for every feature, then this for the bias, if there is one.
    pub(in crate::learner) fn diagonal(features: usize, bias: Option<f64>) -> Self {
        let size = features + usize::from(bias.is_some());
        let mut lower = vec![0.0; size * size];
        lower.iter_mut().step_by(size + 1).for_each(|x| *x = 1.0);
        if let (Some(last), Some(bias)) = (lower.last_mut(), bias) {
            *last = bias;
        }
        DenseSystem {
            size,
            features,
            lower,
        }
    }

    /// All zero.
    pub(in crate::learner) fn zero(features: usize, has_bias: bool) -> Self {
        let size = features + usize::from(has_bias);
        DenseSystem {
            size,
            features,
            lower: vec![0.0; size * size],
        }
    }

    /// The whole symmetric matrix, row after row, and its size.
    pub(in crate::learner) fn into_full(mut self) -> (Vec<f64>, usize) {
        for i in 0..self.size {
            for j in 0..i {
                self.lower[j * self.size + i] = self.lower[i * self.size + j];
            }
        }
        (self.lower, self.size)
    }

    /// Adds `scale`·x xᵀ, where x ends in a 1 for the bias. The order of the sums does not
    /// depend on how x is stored.
    pub(in crate::learner) fn add_product(&mut self, x: Row<'_>, scale: f64) {
        if let Row::Dense64(values) = x {
            self.add_dense(values, scale);
        } else {
            by_storage!(
                x,
                Dense(values) => {
                    let values: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
                    self.add_dense(&values, scale);
                },
                Sparse(indices, values) => self.add_sparse(indices, values, scale),
            );
        }
        if self.size > self.features {
            let last = &mut self.lower[self.features * self.size..];
            x.for_each(|j, value| last[j] += scale * value);
            last[self.features] += scale;
        }
    }

    fn add_dense(&mut self, values: &[f64], scale: f64) {
        dispatch(DenseProduct {
            system: self,
            values,
            scale,
        });
    }

    fn add_sparse<I: Copy + Into<u32>, T: Copy + Into<f64>>(
        &mut self,
        indices: &[I],
        values: &[T],
        scale: f64,
    ) {
        for (k, (&j, &x)) in indices.iter().zip(values).enumerate() {
            let scaled = scale * x.into();
            if scaled != 0.0 {
                let start = j.into() as usize * self.size;
                let line = &mut self.lower[start..start + self.size];
                for (&i, &z) in indices[..=k].iter().zip(&values[..=k]) {
                    line[i.into() as usize] += scaled * z.into();
                }
            }
        }
    }

    /// Solves the system for this right side; `None` if rounding has left the matrix not positive
    /// definite.
    pub(in crate::learner) fn solve(self, right: Vec<f64>) -> Option<Vec<f64>> {
        self.factors()?.solve(right)
    }

    /// Cholesky's decomposition; `None` if rounding has left the matrix not positive definite.
    pub(in crate::learner) fn factors(self) -> Option<Factors> {
        dispatch(Decompose(self))
    }
}

/// L where the matrix is L Lᵀ, to solve for many right sides.
pub(in crate::learner) struct Factors {
    size: usize,
    /// L in the lower triangle and Lᵀ in the upper, row after row.
    both: Vec<f64>,
    /// 1 divided by the diagonal.
    inverses: Vec<f64>,
}

impl Factors {
    /// The solution, unless it overflows.
    pub(in crate::learner) fn solve(&self, right: Vec<f64>) -> Option<Vec<f64>> {
        dispatch(Substitute(self, right))
    }
}

struct DenseProduct<'a> {
    system: &'a mut DenseSystem,
    values: &'a [f64],
    scale: f64,
}

impl Work for DenseProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let size = self.system.size;
        for (j, &x) in self.values.iter().enumerate() {
            let scaled = self.scale * x;
            if scaled != 0.0 {
                let line = &mut self.system.lower[j * size..(j + 1) * size];
                for (entry, &z) in line.iter_mut().zip(&self.values[..=j]) {
                    *entry += scaled * z;
                }
            }
        }
    }
}

struct Decompose(DenseSystem);

impl Work for Decompose {
    type Output = Option<Factors>;

    #[inline(always)]
    fn run<L: Level>(self, _: L) -> Option<Factors> {
        let DenseSystem {
            size,
            lower: mut both,
            ..
        } = self.0;
        let mut inverses = Vec::with_capacity(size);
        let mut column = vec![0.0; size];
        for k in 0..size {
            let pivot = both[k * size + k];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            let inverse = 1.0 / pivot.sqrt();
            for i in k..size {
                column[i] = both[i * size + k] * inverse;
                both[i * size + k] = column[i];
            }
            both[k * size + k..(k + 1) * size].copy_from_slice(&column[k..]);
            inverses.push(inverse);
            for i in k + 1..size {
                let factor = column[i];
                if factor != 0.0 {
                    let line = &mut both[i * size + k + 1..=i * size + i];
                    for (entry, c) in line.iter_mut().zip(&column[k + 1..=i]) {
                        *entry -= factor * c;
                    }
                }
            }
        }
        Some(Factors {
            size,
            both,
            inverses,
        })
    }
}

struct Substitute<'a>(&'a Factors, Vec<f64>);

impl Work for Substitute<'_> {
    type Output = Option<Vec<f64>>;

    #[inline(always)]
    fn run<L: Level>(self, _: L) -> Option<Vec<f64>> {
        let Substitute(factors, mut right) = self;
        let size = factors.size;
        let row = |k: usize| &factors.both[k * size..(k + 1) * size];
        for k in 0..size {
            right[k] *= factors.inverses[k];
            let known = right[k];
            for (r, l) in right[k + 1..].iter_mut().zip(&row(k)[k + 1..]) {
                *r -= known * l;
            }
        }
        for k in (0..size).rev() {
            right[k] /= row(k)[k];
            let known = right[k];
            for (r, l) in right[..k].iter_mut().zip(row(k)) {
                *r -= known * l;
            }
        }
        right.iter().all(|x| x.is_finite()).then_some(right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    #[test]
    fn solutions_solve_and_storage_changes_no_bit() {
        let mut random = Random::new(3, Stream::Start, 0);
        for (features, bias) in [(1, None), (4, Some(0.25)), (17, Some(1.0)), (40, None)] {
            let size = features + usize::from(bias.is_some());
            let rows: Vec<Vec<f64>> = (0..30)
                .map(|_| {
                    let number = |_| match random.below(3) {
                        0 => 0.0,
                        _ => random.normal(),
                    };
                    (0..features).map(number).collect()
                })
                .collect();
            let mut dense = DenseSystem::diagonal(features, bias);
            let mut sparse = DenseSystem::diagonal(features, bias);
            let mut plain = vec![vec![0.0; size]; size];
            (0..size).for_each(|j| plain[j][j] = 1.0);
            if let Some(bias) = bias {
                plain[features][features] = bias;
            }
            for (k, row) in rows.iter().enumerate() {
                let scale = 0.1 * (k as f64 + 1.0);
                dense.add_product(Row::Dense64(row), scale);
                let stored = (0..features as u32).filter(|&j| row[j as usize] != 0.0);
                let indices: Vec<u32> = stored.collect();
                let values: Vec<f64> = indices.iter().map(|&j| row[j as usize]).collect();
                sparse.add_product(Row::Sparse64(&indices, &values), scale);
                let lifted: Vec<f64> = row.iter().copied().chain(bias.map(|_| 1.0)).collect();
                for (i, line) in plain.iter_mut().enumerate() {
                    for (j, entry) in line.iter_mut().enumerate() {
                        *entry += scale * lifted[i] * lifted[j];
                    }
                }
            }
            assert_eq!(dense.lower, sparse.lower);
            let right: Vec<f64> = (0..size).map(|_| random.normal()).collect();
            let found = dense.solve(right.clone()).unwrap();
            for (line, right) in plain.iter().zip(&right) {
                let sum: f64 = line.iter().zip(&found).map(|(a, x)| a * x).sum();
                assert!((sum - right).abs() <= 1e-9, "{sum} {right}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_not_solved() {
        let mut system = DenseSystem::diagonal(2, None);
        system.add_product(Row::Dense64(&[1.0, 2.0]), -1.0);
        assert_eq!(system.solve(vec![1.0, 1.0]), None);
    }
}
