//! One row of features, dense or sparse, in either precision.
//!
//! Learners see only this view, so they never branch on how the data are stored. Every sum
//! runs in ascending feature order with one `f64` accumulator, multiply then add: dense and
//! sparse storage of the same numbers give the same bits.

use crate::simd::prefetch;

/// The features of one example, borrowed.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// Every feature, as `f32`.
    Dense32(&'a [f32]),
    /// Every feature, as `f64`.
    Dense64(&'a [f64]),
    /// The non-zero features: ascending indices and their `f32` values.
    Sparse32(&'a [u32], &'a [f32]),
    /// The non-zero features: ascending indices and their `f64` values.
    Sparse64(&'a [u32], &'a [f64]),
}

/// The same lines for all rows that are stored dense, and the same for all that are sparse.
macro_rules! by_storage {
    (
        $row:expr,
        Dense($all:pat) => $dense:expr,
        Sparse($indices:pat, $values:pat) => $sparse:expr $(,)?
    ) => {
        match $row {
            $crate::data::Row::Dense32($all) => $dense,
            #[allow(clippy::useless_conversion)] // not useless where it is `f32`
            $crate::data::Row::Dense64($all) => $dense,
            $crate::data::Row::Sparse32($indices, $values) => $sparse,
            #[allow(clippy::useless_conversion)] // not useless where it is `f32`
            $crate::data::Row::Sparse64($indices, $values) => $sparse,
        }
    };
}
pub(crate) use by_storage;

impl Row<'_> {
    /// Whether its values are finite, and its indices ascend and are those of `columns` features.
    pub fn is_sound(self, columns: usize) -> bool {
        by_storage!(
            self,
            Dense(values) => values.len() == columns && values.iter().all(|x| x.is_finite()),
            Sparse(indices, values) => {
                indices.is_sorted_by(|a, b| a < b)
                    && indices.last().is_none_or(|&last| (last as usize) < columns)
                    && values.iter().all(|x| x.is_finite())
            },
        )
    }

    /// Calls `f` with each feature's index and value, ascending, zeros left out.
    #[inline(always)]
    pub fn for_each(self, mut f: impl FnMut(usize, f64)) {
        by_storage!(
            self,
            Dense(values) => {
                for (j, &x) in values.iter().enumerate() {
                    if x != 0.0 {
                        f(j, f64::from(x));
                    }
                }
            },
            Sparse(indices, values) => {
                for (&j, &x) in indices.iter().zip(values) {
                    f(j as usize, f64::from(x));
                }
            },
        );
    }

    /// `start + Σ_j weights[j]·x[j]`, in ascending order of j.
    ///
    /// # Panics
    /// If the row has a feature beyond `weights`.
    #[inline]
    pub fn dot(self, weights: &[f64], start: f64) -> f64 {
        let mut sum = start;
        by_storage!(
            self,
            // Zeros add nothing, so they need no test.
            Dense(values) => {
                for (&w, &x) in weights[..values.len()].iter().zip(values) {
                    sum += w * f64::from(x);
                }
            },
            Sparse(indices, values) => {
                for (&j, &x) in indices.iter().zip(values) {
                    sum += weights[j as usize] * f64::from(x);
                }
            },
        );
        sum
    }

    /// Asks for the row to be brought near.
    #[inline]
    pub(crate) fn prefetch(self) {
        by_storage!(
            self,
            Dense(values) => prefetch(values),
            Sparse(indices, values) => {
                prefetch(indices);
                prefetch(values);
            },
        );
    }

    /// `weights += scale·x`.
    ///
    /// # Panics
    /// If the row has a feature beyond `weights`.
    #[inline]
    pub fn add_to(self, weights: &mut [f64], scale: f64) {
        by_storage!(
            self,
            Dense(values) => {
                for (w, &x) in weights[..values.len()].iter_mut().zip(values) {
                    *w += scale * f64::from(x);
                }
            },
            Sparse(indices, values) => {
                for (&j, &x) in indices.iter().zip(values) {
                    weights[j as usize] += scale * f64::from(x);
                }
            },
        );
    }

    /// Calls `f` with the two rows' values of each feature that is not zero in both,
    /// ascending.
    #[inline]
    pub fn for_each_pair(self, other: Row<'_>, mut f: impl FnMut(f64, f64)) {
        let (n, m) = (self.stored(), other.stored());
        let (mut i, mut j) = (0, 0);
        while i < n || j < m {
            let a = if i < n {
                self.stored_at(i)
            } else {
                (usize::MAX, 0.0)
            };
            let b = if j < m {
                other.stored_at(j)
            } else {
                (usize::MAX, 0.0)
            };
            let feature = a.0.min(b.0);
            let (mut x, mut z) = (0.0, 0.0);
            if a.0 == feature {
                x = a.1;
                i += 1;
            }
            if b.0 == feature {
                z = b.1;
                j += 1;
            }
            if x != 0.0 || z != 0.0 {
                f(x, z);
            }
        }
    }

    /// How many values are stored.
    #[doc(hidden)]
    pub fn stored(self) -> usize {
        by_storage!(
            self,
            Dense(values) => values.len(),
            Sparse(_, values) => values.len(),
        )
    }

    #[inline]
    fn stored_at(self, k: usize) -> (usize, f64) {
        by_storage!(
            self,
            Dense(values) => (k, f64::from(values[k])),
            Sparse(indices, values) => (indices[k] as usize, f64::from(values[k])),
        )
    }

    /// The value of feature `j`.
    pub fn get(self, j: usize) -> f64 {
        by_storage!(
            self,
            Dense(values) => values.get(j).map_or(0.0, |&x| f64::from(x)),
            Sparse(indices, values) => indices
                .binary_search_by_key(&j, |&i| i as usize)
                .map_or(0.0, |k| f64::from(values[k])),
        )
    }

    /// ‖x‖², summed in ascending order.
    pub fn squared_norm(self) -> f64 {
        let mut sum = 0.0;
        self.for_each(|_, x| sum += x * x);
        sum
    }

    /// The number of non-zero features.
    pub fn non_zeros(self) -> usize {
        by_storage!(
            self,
            Dense(values) => values.iter().filter(|&&x| x != 0.0).count(),
            Sparse(indices, _) => indices.len(),
        )
    }

    /// One past the largest feature index present.
    pub fn width(self) -> usize {
        by_storage!(
            self,
            Dense(values) => values.len(),
            Sparse(indices, _) => indices.last().map_or(0, |&j| j as usize + 1),
        )
    }

    /// The row written out in full, `width` features wide.
    pub fn to_dense(self, width: usize) -> Vec<f64> {
        let mut full = vec![0.0; width];
        self.for_each(|j, x| full[j] = x);
        full
    }
}
