//! Telling one data set from another in eight bytes.

use std::ops::Range;

use crate::data::{Dataset, Row};
use crate::threads;

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

/// Rows that are hashed one after the other.
const BLOCK: usize = 256;

fn mix(hash: u64, value: u64) -> u64 {
    (hash ^ value)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(29)
}

/// The hash of a row on its way: two accumulators that take turns, so that the multiplications
/// of neighbours overlap.
#[derive(Clone, Copy)]
struct RowHash {
    next: u64,
    after: u64,
    non_zeros: u64,
}

impl RowHash {
    /// The start of the hash of example `i`, which is row `number` of its source.
    fn new(data: &Dataset, i: usize, number: usize) -> Self {
        let mut after = u64::from(data.labels[i]);
        if let Some(weights) = &data.weights {
            after = mix(after, weights[i].to_bits());
        }
        RowHash {
            next: number as u64,
            after,
            non_zeros: 0,
        }
    }

    #[inline(always)]
    fn add(&mut self, j: u32, x: f64) {
        let mixed = mix(self.next, x.to_bits() ^ u64::from(j).rotate_left(32));
        (self.next, self.after) = (self.after, mixed);
        self.non_zeros += 1;
    }

    /// The hash, and how many values went into it.
    fn end(self) -> (u64, u64) {
        let (next, after) = match self.non_zeros % 2 {
            0 => (self.next, self.after),
            _ => (self.after, self.next),
        };
        (mix(mix(next, after), self.non_zeros), self.non_zeros)
    }
}

/// Indices and values of a sparse row.
type Pairs<'a, I, T> = (&'a [I], &'a [T]);

/// Two sparse rows in step, so that neither waits for the multiplications of the other.
#[inline(always)]
fn add_in_step<I: Copy + Into<u32>, T: Copy + Into<f64>>(
    hashes: &mut [RowHash; 2],
    a: Pairs<'_, I, T>,
    b: Pairs<'_, I, T>,
) {
    let both = a.0.len().min(b.0.len());
    let ((a, more_of_a), (b, more_of_b)) = (split(a, both), split(b, both));
    let [own, other] = hashes;
    for ((&i, &x), (&j, &z)) in a.0.iter().zip(a.1).zip(b.0.iter().zip(b.1)) {
        own.add(i.into(), x.into());
        other.add(j.into(), z.into());
    }
    for (hash, more) in [(own, more_of_a), (other, more_of_b)] {
        (more.0.iter().zip(more.1)).for_each(|(&j, &x)| hash.add(j.into(), x.into()));
    }
}

#[inline(always)]
fn split<I, T>(row: Pairs<'_, I, T>, at: usize) -> (Pairs<'_, I, T>, Pairs<'_, I, T>) {
    let ((i, j), (x, z)) = (row.0.split_at(at), row.1.split_at(at));
    ((i, x), (j, z))
}

/// The hashes of the example at `i` and of the one behind it, if there is one.
#[inline(always)]
fn hash_pair(data: &Dataset, i: usize, numbers: &[u32], out: &mut [(u64, u64)]) {
    let start = |k: usize| RowHash::new(data, i + k, numbers[k] as usize);
    let alone = |hash: &mut RowHash, row: Row<'_>| row.for_each(|j, x| hash.add(j as u32, x));
    if let [first] = out {
        let mut hash = start(0);
        alone(&mut hash, data.row(i));
        *first = hash.end();
        return;
    }
    let mut hashes = [start(0), start(1)];
    match (data.row(i), data.row(i + 1)) {
        (Row::Sparse32(i, x), Row::Sparse32(j, z)) => add_in_step(&mut hashes, (i, x), (j, z)),
        (Row::Sparse64(i, x), Row::Sparse64(j, z)) => add_in_step(&mut hashes, (i, x), (j, z)),
        (Row::Narrow32(i, x), Row::Narrow32(j, z)) => add_in_step(&mut hashes, (i, x), (j, z)),
        (Row::Narrow64(i, x), Row::Narrow64(j, z)) => add_in_step(&mut hashes, (i, x), (j, z)),
        rows => {
            alone(&mut hashes[0], rows.0);
            alone(&mut hashes[1], rows.1);
        }
    }
    out.copy_from_slice(&hashes.map(RowHash::end));
}

impl Fingerprint {
    /// The fingerprint of `data`.
    pub fn of(data: &Dataset, threads: usize) -> Self {
        let mut blocks = vec![(0, 0); data.len().div_ceil(BLOCK)];
        let threads = threads::worth(threads, data.len());
        threads::chunks(&mut blocks, 1, threads, || {
            |block: usize, out: &mut [(u64, u64)]| {
                let rows = block * BLOCK..data.len().min((block + 1) * BLOCK);
                out[0] = Self::of_rows(data, rows);
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

    /// What the rows at these positions add to the hash, and how many values of theirs are not
    /// zero.
    pub(crate) fn of_rows(data: &Dataset, rows: Range<usize>) -> (u64, u64) {
        Self::of_numbered(data, rows, |first, numbers| {
            data.numbers_from(first, numbers);
        })
    }

    /// The same of all these examples where they are the rows from `first` on of a larger set, in
    /// its order.
    pub(crate) fn of_part(data: &Dataset, first: usize) -> (u64, u64) {
        Self::of_numbered(data, 0..data.len(), |at, numbers| {
            let all = (first + at) as u32..;
            numbers.iter_mut().zip(all).for_each(|(to, n)| *to = n);
        })
    }

    fn of_numbered(
        data: &Dataset,
        rows: Range<usize>,
        number: impl Fn(usize, &mut [u32]),
    ) -> (u64, u64) {
        let mut sum = (0u64, 0);
        let mut numbers = [0; BLOCK];
        for first in rows.clone().step_by(BLOCK) {
            let numbers = &mut numbers[..BLOCK.min(rows.end - first)];
            number(first, numbers);
            for (pair, numbers) in numbers.chunks(2).enumerate() {
                let mut hashes = [(0, 0); 2];
                let hashes = &mut hashes[..numbers.len()];
                hash_pair(data, first + 2 * pair, numbers, hashes);
                for (hash, non_zeros) in hashes {
                    sum = (sum.0.wrapping_add(*hash), sum.1 + *non_zeros);
                }
            }
        }
        sum
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
            rows[n / 2][4] = 1.25;
            let other = dataset(Matrix::dense_from_rows(9, &rows, Precision::F64));
            assert_ne!(Fingerprint::of(&other, 1), expected);
        }
    }
}
