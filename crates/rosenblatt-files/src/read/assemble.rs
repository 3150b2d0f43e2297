//! Matrices of rows that several threads make.

use std::ops::Range;

use super::number::Stored;
use super::order::ranges;
use rosenblatt_core::data::{Matrix, Storage};
pub(crate) use rosenblatt_core::internal::parallel::on_threads;

/// The dense matrix of `n` rows, where `fill` writes those of a range to zeros; and what it
/// returned for each range.
pub(crate) fn dense<T: Stored, O: Send>(
    n: usize,
    width: usize,
    threads: usize,
    fill: impl Fn(Range<usize>, &mut [T]) -> O + Sync,
) -> (Matrix, Vec<O>) {
    let mut values: Vec<T> = vec![T::ZERO; n * width];
    let mut rest = values.as_mut_slice();
    let shares = ranges(n, threads).into_iter().map(|range| {
        let here = rest.split_off_mut(..range.len() * width);
        (range, here.unwrap_or_default())
    });
    let found = on_threads(shares, |(range, here)| fill(range, here));
    let matrix = Matrix::from_storage(Storage::Dense {
        rows: n,
        columns: width,
        values: T::wrap(values),
    });
    (matrix, found)
}

/// Sparse rows, one behind the other.
#[derive(Default)]
pub(crate) struct SparseRows<T> {
    lengths: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
}

impl<T: Stored> SparseRows<T> {
    /// Appends a row, zeros left out.
    pub(crate) fn push(&mut self, row: impl Iterator<Item = (u32, T)>) {
        let before = self.values.len();
        for (j, x) in row.filter(|&(_, x)| x != T::ZERO) {
            self.indices.push(j);
            self.values.push(x);
        }
        self.lengths.push(self.values.len() - before);
    }
}

/// The sparse matrix of `n` rows, where `push` appends those of a range; and what it returned
/// for each range.
pub(crate) fn sparse<T: Stored, O: Send>(
    n: usize,
    width: usize,
    threads: usize,
    push: impl Fn(Range<usize>, &mut SparseRows<T>) -> O + Sync,
) -> (Matrix, Vec<O>) {
    let made = on_threads(ranges(n, threads).into_iter(), |range| {
        let mut rows = SparseRows::default();
        let found = push(range, &mut rows);
        (rows, found)
    });
    let mut offsets = Vec::with_capacity(n + 1);
    offsets.push(0);
    let (mut indices, mut values, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for (rows, other) in made {
        for length in rows.lengths {
            offsets.push(offsets.last().copied().unwrap_or(0) + length);
        }
        if indices.is_empty() {
            (indices, values) = (rows.indices, rows.values);
        } else {
            indices.extend(rows.indices);
            values.extend(rows.values);
        }
        found.push(other);
    }
    let matrix = Matrix::from_storage(Storage::Sparse {
        columns: width,
        offsets: offsets.into(),
        indices: indices.into(),
        values: T::wrap(values),
    });
    (matrix, found)
}

/// Sparse matrices of `width` columns, one below the other.
pub(crate) fn stacked<T: Stored>(mut made: Vec<Matrix>, width: usize) -> Matrix {
    if made.len() == 1 {
        return made.remove(0);
    }
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for matrix in &made {
        if let Storage::Sparse {
            offsets: ends,
            indices: places,
            values: numbers,
            ..
        } = matrix.storage()
        {
            let before: usize = values.len();
            offsets.extend(ends.iter().skip(1).map(|end| before + end));
            indices.extend_from_slice(places);
            values.extend_from_slice(T::slice(numbers, 0..numbers.len()));
        }
    }
    Matrix::from_storage(Storage::Sparse {
        columns: width,
        offsets: offsets.into(),
        indices: indices.into(),
        values: T::wrap(values),
    })
}
