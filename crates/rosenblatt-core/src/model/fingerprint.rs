//! Telling one data set from another in eight bytes.

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
const BLOCK: usize = 256;

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

/// What is summed over the values of a row that are not zero.
struct RowSums {
    hash: u64,
    count: u64,
    squared_norm: f64,
}

#[inline(always)]
fn row_sums(row: Row<'_>) -> RowSums {
    let mut sums = RowSums {
        hash: 0,
        count: 0,
        squared_norm: 0.0,
    };
    row.for_each(|j, x| {
        sums.hash = sums.hash.wrapping_add(share(j as u32, x));
        sums.count += 1;
        sums.squared_norm += x * x;
    });
    sums
}

/// The hash of a row and its class, wherever it stands.
pub(super) fn hash_row(row: Row<'_>, class: u32) -> u64 {
    let sums = row_sums(row);
    with_class(&sums, class)
}

#[inline]
fn with_class(sums: &RowSums, class: u32) -> u64 {
    let hash = mix(mix(class.into(), sums.hash), sums.count);
    let hash = (hash ^ hash >> 32).wrapping_mul(ODD);
    hash ^ hash >> 29
}

/// What one pass over all rows finds of each.
pub(crate) struct RowScan {
    pub fingerprint: Fingerprint,
    /// The hash of each row and its class.
    pub hashes: Vec<u64>,
    /// ‖x‖² of each row.
    pub squared_norms: Vec<f64>,
}

/// Rows that a thread takes at a time, and where it writes what it finds.
struct Block<'a> {
    first: usize,
    hashes: &'a mut [u64],
    norms: &'a mut [f64],
    /// Of all rows: the hash, and the values that are not zero.
    sums: &'a mut (u64, u64),
}

impl RowScan {
    /// Looks at all rows of `data`.
    pub fn of(data: &Dataset, threads: usize) -> Self {
        let n = data.len();
        let (mut hashes, mut squared_norms) = (vec![0; n], vec![0.0; n]);
        let mut blocks = vec![(0, 0); n.div_ceil(BLOCK)];
        let items = (hashes
            .chunks_mut(BLOCK)
            .zip(squared_norms.chunks_mut(BLOCK)))
        .zip(&mut blocks)
        .enumerate()
        .map(|(k, ((hashes, norms), sums))| Block {
            first: k * BLOCK,
            hashes,
            norms,
            sums,
        });
        parallel::each(items, parallel::worth(threads, n), || {
            |block: Block<'_>| {
                let rows = block.hashes.len();
                let (mut hash_of_all, mut non_zeros) = (0u64, 0);
                let outputs = block.hashes.iter_mut().zip(block.norms);
                for (i, (hash, norm)) in (block.first..).zip(outputs) {
                    let sums = row_sums(data.row(i));
                    *hash = with_class(&sums, data.labels[i]);
                    *norm = sums.squared_norm;
                    let example = hash_example(data, i, data.number(i) as u32, &sums);
                    hash_of_all = hash_of_all.wrapping_add(example);
                    non_zeros += sums.count;
                }
                // Once, at the end: the places of other threads are near.
                *block.sums = (hash_of_all, non_zeros);
                data.matrix.were_read(rows);
            }
        });
        let (hash, non_zeros) = blocks.iter().fold((0u64, 0), |(hash, count), (h, n)| {
            (hash.wrapping_add(*h), count + n)
        });
        RowScan {
            fingerprint: Fingerprint {
                examples: n as u64,
                features: data.features() as u64,
                non_zeros,
                hash,
            },
            hashes,
            squared_norms,
        }
    }
}

/// The hash of example `i`, which is row `number` of its source.
#[inline]
fn hash_example(data: &Dataset, i: usize, number: u32, sums: &RowSums) -> u64 {
    let mut hash = mix(mix(number.into(), data.labels[i].into()), sums.hash);
    if let Some(weights) = &data.weights {
        hash = mix(hash, weights[i].to_bits());
    }
    mix(hash, sums.count)
}

impl Fingerprint {
    /// The fingerprint of `data`.
    pub fn of(data: &Dataset, threads: usize) -> Self {
        RowScan::of(data, threads).fingerprint
    }

    /// What all these examples add to the hash, and how many values of theirs are not zero, where
    /// they are the rows from `first` on of a larger set, in its order.
    #[doc(hidden)]
    pub fn of_part(data: &Dataset, first: usize) -> (u64, u64) {
        (0..data.len()).fold((0u64, 0), |(hash, count), i| {
            let sums = row_sums(data.row(i));
            let number = (first + data.number(i)) as u32;
            let example = hash_example(data, i, number, &sums);
            (hash.wrapping_add(example), count + sums.count)
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
