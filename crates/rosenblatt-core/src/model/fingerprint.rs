//! Telling one data set from another in eight bytes.

use std::ops::Range;

use crate::data::{Dataset, Row};
use crate::parallel;

/// What can be said of a data set in a few numbers: its size, and a hash of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint {
    /// Number of examples.
    pub examples: u64,
    /// Number of features.
    pub features: u64,
    /// Number of values that are not zero.
    pub non_zeros: u64,
    /// A hash of rows, labels and weights, the same however they are stored. It tells a
    /// mistake from a match; it is no defence against someone who wants to deceive.
    pub hash: u64,
}

/// Rows that a thread takes at a time.
pub(super) const BLOCK: usize = 256;

fn mix(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_mul(ODD).rotate_left(29)
}

const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// What value `x` of feature `j` adds to the hash of its row.
#[inline(always)]
fn share(j: u32, x: f64) -> u64 {
    let both = x.to_bits().wrapping_add(u64::from(j) * (ODD >> 32));
    let mixed = (both ^ both >> 32).wrapping_mul(ODD);
    mixed ^ mixed >> 29
}

/// The hash of a row's values, and how many are not zero.
#[inline]
fn hash_values(row: Row<'_>) -> (u64, u64) {
    let (mut values, mut non_zeros) = (0u64, 0);
    row.for_each(|j, x| {
        values = values.wrapping_add(share(j as u32, x));
        non_zeros += 1;
    });
    (values, non_zeros)
}

/// The hash of a row and its class, wherever it stands.
pub(super) fn hash_row(row: Row<'_>, class: u32) -> u64 {
    let (values, non_zeros) = hash_values(row);
    let hash = mix(mix(class.into(), values), non_zeros);
    let hash = (hash ^ hash >> 32).wrapping_mul(ODD);
    hash ^ hash >> 29
}

/// The hash of example `i`, which is row `number` of its source, and how many values of it are
/// not zero.
#[inline]
fn hash_example(data: &Dataset, i: usize, number: u32) -> (u64, u64) {
    let (values, non_zeros) = hash_values(data.row(i));
    let mut hash = mix(mix(number.into(), data.labels[i].into()), values);
    if let Some(weights) = &data.weights {
        hash = mix(hash, weights[i].to_bits());
    }
    (mix(hash, non_zeros), non_zeros)
}

impl Fingerprint {
    /// The fingerprint of `data`.
    pub fn of(data: &Dataset, threads: usize) -> Self {
        let mut blocks = vec![(0, 0); data.len().div_ceil(BLOCK)];
        let threads = parallel::worth(threads, data.len());
        parallel::chunks(&mut blocks, 1, threads, || {
            |block: usize, out: &mut [(u64, u64)]| {
                let rows = block * BLOCK..data.len().min((block + 1) * BLOCK);
                out[0] = Self::of_rows(data, rows, |i| data.number(i));
            }
        });
        let (hash, non_zeros) = blocks.iter().fold((0u64, 0), |(hash, count), (h, n)| {
            (hash.wrapping_add(*h), count + n)
        });
        Fingerprint {
            examples: data.len() as u64,
            features: data.features() as u64,
            non_zeros,
            hash,
        }
    }

    /// What all these examples add to the hash, and how many values of theirs are not zero, where
    /// they are the rows from `first` on of a larger set, in its order.
    #[doc(hidden)]
    pub fn of_part(data: &Dataset, first: usize) -> (u64, u64) {
        Self::of_rows(data, 0..data.len(), |i| first + data.number(i))
    }

    /// The same of the rows at these positions, with the numbers that they have in their source.
    fn of_rows(data: &Dataset, rows: Range<usize>, number: impl Fn(usize) -> usize) -> (u64, u64) {
        rows.fold((0u64, 0), |(sum, count), i| {
            let (hash, non_zeros) = hash_example(data, i, number(i) as u32);
            (sum.wrapping_add(hash), count + non_zeros)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Matrix, Precision};
    use crate::random::{Random, Stream};

    fn dataset(matrix: Matrix) -> Dataset {
        let labels = (0..matrix.rows() as u32).map(|i| i % 2).collect();
        let classes = Classes::from_ordered(vec!["a".into(), "b".into()]);
        Dataset::new(matrix, labels, classes, None).unwrap()
    }

    #[test]
    fn storage_and_threads_change_nothing_and_every_number_counts() {
        let mut random = Random::new(5, Stream::Start, 0);
        for n in [1, 2, 7, 301] {
            let mut rows: Vec<Vec<f64>> = (0..n)
                .map(|_| {
                    let keep = random.below(4);
                    let number = |_| match random.below(3) < keep {
                        true => f64::from(random.normal() as f32),
                        false => 0.0,
                    };
                    (0..9).map(number).collect()
                })
                .collect();
            rows[n / 2][4] = 1.5;
            let dense = dataset(Matrix::dense_from_rows(9, &rows, Precision::F64));
            let expected = Fingerprint::of(&dense, 1);
            let scattered = dense.to_permuted();
            assert_eq!(Fingerprint::of(&scattered, 1), expected);
            let behind = Fingerprint::of_part(&dense, 5);
            assert_eq!(Fingerprint::of_part(&scattered, 5), behind);
            assert_ne!(behind.0, expected.hash);
            for precision in [Precision::F32, Precision::F64] {
                let mut sparse = Matrix::empty_sparse(9, precision);
                for row in &rows {
                    sparse.push_sparse(row.iter().enumerate().map(|(j, &x)| (j as u32, x)));
                }
                let sparse = dataset(sparse);
                for threads in [1, 3] {
                    assert_eq!(Fingerprint::of(&sparse, threads), expected);
                }
            }
            let hash = |rows: &[Vec<f64>]| {
                let matrix = Matrix::dense_from_rows(9, rows, Precision::F64);
                Fingerprint::of(&dataset(matrix), 1).hash
            };
            // A number that changes, changes sign, or trades places in its row or its column.
            let changes: [fn(&mut [Vec<f64>]); 4] = [
                |rows| rows[rows.len() / 2][4] = 1.25,
                |rows| rows[rows.len() / 2][4] = -1.5,
                |rows| rows[rows.len() / 2].swap(4, 7),
                |rows| {
                    let (last, here) = (rows.len() - 1, rows.len() / 2);
                    (rows[here][4], rows[last][4]) = (rows[last][4], rows[here][4] + 1.0);
                },
            ];
            for change in changes {
                let mut other = rows.clone();
                change(&mut other);
                assert_eq!(hash(&rows), expected.hash);
                assert_ne!(hash(&other), expected.hash);
            }
        }
    }
}
