//! Rows in memory: dense or compressed sparse rows (CSR), `f32` or `f64`.

use std::ops::Range;

use super::buffer::Buffer;
use super::row::Row;
use super::rows::Rows;
use crate::error::{Error, Result};

/// How many bits a stored feature value keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// One correct rounding to binary32: half the memory, the default.
    #[default]
    F32,
    /// binary64.
    F64,
}

/// Feature values in one of the two precisions.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// binary32.
    F32(Buffer<f32>),
    /// binary64.
    F64(Buffer<f64>),
}

impl Values {
    /// An empty list.
    pub fn new(precision: Precision) -> Self {
        Self::with_capacity(precision, 0)
    }

    /// An empty list with room for `capacity` values.
    pub fn with_capacity(precision: Precision, capacity: usize) -> Self {
        match precision {
            Precision::F32 => Values::F32(Vec::with_capacity(capacity).into()),
            Precision::F64 => Values::F64(Vec::with_capacity(capacity).into()),
        }
    }

    /// How many bits each value keeps.
    pub fn precision(&self) -> Precision {
        match self {
            Values::F32(_) => Precision::F32,
            Values::F64(_) => Precision::F64,
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends `x`, rounded to the list's precision.
    pub fn push(&mut self, x: f64) {
        match self {
            Values::F32(v) => v.to_mut().push(x as f32),
            Values::F64(v) => v.to_mut().push(x),
        }
    }

    /// Drops the last value.
    pub fn pop(&mut self) {
        match self {
            Values::F32(v) => drop(v.to_mut().pop()),
            Values::F64(v) => drop(v.to_mut().pop()),
        }
    }

    /// The values in these ranges, one range after the other.
    fn gather(&self, ranges: impl Iterator<Item = Range<usize>> + Clone) -> Self {
        match self {
            Values::F32(v) => gather(v, ranges).into(),
            Values::F64(v) => gather(v, ranges).into(),
        }
    }

    fn were_read(&self, count: usize) {
        match self {
            Values::F32(v) => v.were_read(count),
            Values::F64(v) => v.were_read(count),
        }
    }

    /// The value at `i`.
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Values::F32(v) => f64::from(v[i]),
            Values::F64(v) => v[i],
        }
    }
}

/// A table of numbers, row by row, dense or sparse.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix(Storage);

/// How the numbers of a [`Matrix`] are stored.
#[derive(Debug, Clone, PartialEq)]
pub enum Storage {
    /// All values of each row, one row after the other.
    Dense {
        /// Number of rows.
        rows: usize,
        /// Values per row.
        columns: usize,
        /// `rows · columns` values.
        values: Values,
    },
    /// The non-zero values of each row.
    Sparse {
        /// Number of columns; indices are below it.
        columns: usize,
        /// `rows + 1` ascending offsets into `indices` and `values`.
        offsets: Buffer<usize>,
        /// Column of each value, strictly ascending within a row.
        indices: Buffer<u32>,
        /// The values, none of them zero.
        values: Values,
    },
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Values::F64(values.into())
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Values::F32(values.into())
    }
}

impl Matrix {
    /// A sparse matrix without rows.
    pub fn empty_sparse(columns: usize, precision: Precision) -> Self {
        Matrix(Storage::Sparse {
            columns,
            offsets: vec![0].into(),
            indices: Vec::<u32>::new().into(),
            values: Values::new(precision),
        })
    }

    /// A sparse matrix from `rows + 1` offsets, column indices and values, checked: offsets that ascend
    /// from 0 to the number of values, indices that ascend within each row and stay below
    /// `columns`, no value that is zero.
    pub fn sparse(
        columns: usize,
        offsets: impl Into<Buffer<usize>>,
        indices: impl Into<Buffer<u32>>,
        values: Values,
    ) -> Result<Self> {
        let (offsets, indices): (Buffer<usize>, Buffer<u32>) = (offsets.into(), indices.into());
        let ends_fit = offsets.first() == Some(&0)
            && offsets.last() == Some(&values.len())
            && indices.len() == values.len()
            && offsets.is_sorted();
        if !ends_fit {
            return Err(Error::data(
                "the offsets of a sparse matrix do not ascend from 0 to the number of its values",
            ));
        }
        for (i, ends) in offsets.windows(2).enumerate() {
            let row = &indices[ends[0]..ends[1]];
            if !row.is_sorted_by(|a, b| a < b) {
                return Err(
                    Error::data(format!("the indices of row {} do not ascend", i + 1))
                        .remedy("sort them, and add up what shares an index"),
                );
            }
            if let Some(&last) = row.last().filter(|&&j| j as usize >= columns) {
                return Err(Error::data(format!(
                    "row {} has the index {last}, but there are {columns} columns",
                    i + 1
                )));
            }
        }
        if (0..values.len()).any(|k| values.get(k) == 0.0) {
            return Err(
                Error::data("a sparse matrix stores a zero").remedy("leave out what is zero")
            );
        }
        Ok(Matrix(Storage::Sparse {
            columns,
            offsets,
            indices,
            values,
        }))
    }

    /// A dense matrix from rows of equal length.
    pub fn dense_from_rows(columns: usize, rows: &[Vec<f64>], precision: Precision) -> Self {
        let mut values = Values::with_capacity(precision, rows.len() * columns);
        for row in rows {
            assert_eq!(row.len(), columns, "rows of one matrix have one length");
            row.iter().for_each(|&x| values.push(x));
        }
        Matrix(Storage::Dense {
            rows: rows.len(),
            columns,
            values,
        })
    }

    /// A dense matrix of `rows · columns` values, row by row.
    pub fn dense(rows: usize, columns: usize, values: impl Into<Values>) -> Result<Self> {
        let values = values.into();
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(Error::data(format!(
                "{} values for {rows} rows of {columns} columns",
                values.len()
            )));
        }
        Ok(Matrix(Storage::Dense {
            rows,
            columns,
            values,
        }))
    }

    /// A matrix of arrays that a reader made: their lengths are checked, the order of the indices
    /// is not. (Wrong indices make panics, never reads beyond an array.)
    ///
    /// # Panics
    /// If the lengths do not fit each other.
    #[doc(hidden)]
    pub fn from_storage(storage: Storage) -> Self {
        let fits = match &storage {
            Storage::Dense {
                rows,
                columns,
                values,
            } => rows.checked_mul(*columns) == Some(values.len()),
            Storage::Sparse {
                offsets,
                indices,
                values,
                ..
            } => offsets.last() == Some(&values.len()) && indices.len() == values.len(),
        };
        assert!(fits, "the arrays of a matrix fit each other");
        Matrix(storage)
    }

    /// How its numbers are stored.
    #[doc(hidden)]
    #[inline(always)]
    pub fn storage(&self) -> &Storage {
        &self.0
    }

    /// Whether only values that are not zero are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(&self.0, Storage::Sparse { .. })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match &self.0 {
            Storage::Dense { rows, .. } => *rows,
            Storage::Sparse { offsets, .. } => offsets.len() - 1,
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        match &self.0 {
            Storage::Dense { columns, .. } | Storage::Sparse { columns, .. } => *columns,
        }
    }

    /// The precision of its values.
    pub fn precision(&self) -> Precision {
        match &self.0 {
            Storage::Dense { values, .. } | Storage::Sparse { values, .. } => values.precision(),
        }
    }

    /// Bytes held by its arrays.
    pub fn bytes(&self) -> usize {
        let width = match self.precision() {
            Precision::F32 => 4,
            Precision::F64 => 8,
        };
        match &self.0 {
            Storage::Dense { values, .. } => values.len() * width,
            Storage::Sparse {
                offsets,
                indices,
                values,
                ..
            } => offsets.len() * 8 + indices.len() * 4 + values.len() * width,
        }
    }

    /// The number of values that are not zero, however stored.
    pub fn non_zeros(&self) -> usize {
        match &self.0 {
            Storage::Dense {
                values: Values::F32(v),
                ..
            } => v.iter().filter(|&&x| x != 0.0).count(),
            Storage::Dense {
                values: Values::F64(v),
                ..
            } => v.iter().filter(|&&x| x != 0.0).count(),
            Storage::Sparse { indices, .. } => indices.len(),
        }
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> Row<'_> {
        Rows::of(self).row(i)
    }

    /// Tells whoever lent the numbers that about so many rows were read.
    pub(crate) fn were_read(&self, rows: usize) {
        match &self.0 {
            Storage::Dense {
                columns, values, ..
            } => values.were_read(rows * columns),
            Storage::Sparse {
                indices, values, ..
            } => {
                let each = indices.len().div_ceil(self.rows().max(1));
                indices.were_read(rows * each);
                values.were_read(rows * each);
            }
        }
    }

    /// The same of group number `group` of `size` rows, for those who read few at a time: every
    /// now and then it speaks for all since.
    #[inline]
    pub(crate) fn group_was_read(&self, group: usize, size: usize) {
        const SOME: usize = 64;
        if group % SOME == SOME - 1 {
            self.were_read(SOME * size);
        }
    }

    /// Appends a row of `(index, value)` pairs in ascending order; zeros are not stored.
    ///
    /// # Panics
    /// If the matrix is dense.
    pub fn push_sparse(&mut self, row: impl IntoIterator<Item = (u32, f64)>) {
        let Storage::Sparse {
            columns,
            offsets,
            indices,
            values,
        } = &mut self.0
        else {
            panic!("push_sparse appends to a sparse matrix");
        };
        for (j, x) in row {
            debug_assert!((j as usize) < *columns);
            values.push(x);
            // Judged as stored: a value may round to zero.
            if values.get(values.len() - 1) == 0.0 {
                values.pop();
            } else {
                indices.to_mut().push(j);
            }
        }
        offsets.to_mut().push(indices.len());
    }

    /// The same rows without these columns, which must ascend; the others move up.
    pub fn without_columns(&self, dropped: &[usize]) -> Matrix {
        let columns = self.columns() - dropped.len();
        let mut kept = Matrix::empty_sparse(columns, self.precision());
        for i in 0..self.rows() {
            let mut row = Vec::new();
            self.row(i).for_each(|j, x| {
                if let Err(before) = dropped.binary_search(&j) {
                    row.push(((j - before) as u32, x));
                }
            });
            kept.push_sparse(row);
        }
        kept
    }

    /// The same rows, but in these columns with the values of other rows: of row `order[i]` in
    /// row i.
    pub(crate) fn with_columns_of(&self, columns: Range<usize>, order: &[usize]) -> Matrix {
        Matrix(match &self.0 {
            Storage::Dense {
                rows,
                columns: width,
                values,
            } => {
                let at = |row: usize, column: usize| row * width + column;
                let ranges = order.iter().enumerate().flat_map(|(i, &other)| {
                    let (start, end) = (columns.start, columns.end);
                    [
                        at(i, 0)..at(i, start),
                        at(other, start)..at(other, end),
                        at(i, end)..at(i, *width),
                    ]
                });
                Storage::Dense {
                    rows: *rows,
                    columns: *width,
                    values: values.gather(ranges),
                }
            }
            Storage::Sparse {
                columns: width,
                offsets,
                indices,
                values,
            } => {
                // Where the columns begin and end in a row.
                let inside = |row: usize| {
                    let from = offsets[row];
                    let row = &indices[from..offsets[row + 1]];
                    let before = |end: usize| from + row.partition_point(|&j| (j as usize) < end);
                    before(columns.start)..before(columns.end)
                };
                let ranges = order.iter().enumerate().flat_map(|(i, &other)| {
                    let own = inside(i);
                    let (before, behind) = (offsets[i]..own.start, own.end..offsets[i + 1]);
                    [before, inside(other), behind]
                });
                let ranges: Vec<Range<usize>> = ranges.collect();
                let ends = ranges.chunks_exact(3).scan(0, |end, row| {
                    *end += row.iter().map(Range::len).sum::<usize>();
                    Some(*end)
                });
                let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
                Storage::Sparse {
                    columns: *width,
                    offsets: offsets.into(),
                    indices: gather(indices, ranges.iter().cloned()).into(),
                    values: values.gather(ranges.iter().cloned()),
                }
            }
        })
    }

    /// The rows named, in that order, in the same storage.
    pub fn select(&self, rows: impl ExactSizeIterator<Item = usize> + Clone) -> Matrix {
        Matrix(match &self.0 {
            Storage::Dense {
                columns, values, ..
            } => Storage::Dense {
                rows: rows.len(),
                columns: *columns,
                values: values.gather(rows.map(|i| i * columns..(i + 1) * columns)),
            },
            Storage::Sparse {
                columns,
                offsets,
                indices,
                values,
            } => {
                let ranges = rows.map(|i| offsets[i]..offsets[i + 1]);
                let mut new_offsets = Vec::with_capacity(ranges.len() + 1);
                let mut end = 0;
                new_offsets.push(end);
                for range in ranges.clone() {
                    end += range.len();
                    new_offsets.push(end);
                }
                Storage::Sparse {
                    columns: *columns,
                    offsets: new_offsets.into(),
                    indices: gather(indices, ranges.clone()).into(),
                    values: values.gather(ranges),
                }
            }
        })
    }
}

fn gather<T: Copy>(from: &[T], ranges: impl Iterator<Item = Range<usize>> + Clone) -> Vec<T> {
    let mut out = Vec::with_capacity(ranges.clone().map(|r| r.len()).sum());
    ranges.for_each(|range| out.extend_from_slice(&from[range]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> (Matrix, Matrix) {
        let rows = [
            vec![0.0, 1.5, 0.0, -2.0],
            vec![0.0; 4],
            vec![3.0, 0.0, 0.25, 0.0],
        ];
        let dense = Matrix::dense_from_rows(4, &rows, Precision::F32);
        let mut sparse = Matrix::empty_sparse(4, Precision::F32);
        for row in &rows {
            sparse.push_sparse(row.iter().enumerate().map(|(j, &x)| (j as u32, x)));
        }
        (dense, sparse)
    }

    #[test]
    fn columns_of_other_rows_are_taken_alike_dense_and_sparse() {
        let (dense, sparse) = both();
        let expected = [
            vec![0.0, 0.0, 0.25, -2.0],
            vec![0.0, 1.5, 0.0, 0.0],
            vec![3.0, 0.0, 0.0, 0.0],
        ];
        for matrix in [dense, sparse] {
            let mixed = matrix.with_columns_of(1..3, &[2, 0, 1]);
            for (i, row) in expected.iter().enumerate() {
                assert_eq!(&mixed.row(i).to_dense(4), row);
            }
            assert_eq!(mixed.is_sparse(), matrix.is_sparse());
        }
    }

    #[test]
    fn dense_and_sparse_are_the_same_rows() {
        let (dense, sparse) = both();
        let w = [0.1, -0.7, 3.0, 0.3];
        assert_eq!(dense.non_zeros(), 4);
        assert_eq!(sparse.non_zeros(), 4);
        for i in 0..3 {
            assert_eq!(dense.row(i).to_dense(4), sparse.row(i).to_dense(4));
            assert_eq!(
                dense.row(i).dot(&w, 0.5).to_bits(),
                sparse.row(i).dot(&w, 0.5).to_bits()
            );
            assert_eq!(dense.row(i).squared_norm(), sparse.row(i).squared_norm());
            let (mut a, mut b) = (w, w);
            dense.row(i).add_to(&mut a, -0.3);
            sparse.row(i).add_to(&mut b, -0.3);
            assert_eq!(a.map(f64::to_bits), b.map(f64::to_bits));
        }
    }

    #[test]
    fn values_that_round_to_zero_are_not_stored() {
        let mut sparse = Matrix::empty_sparse(2, Precision::F32);
        sparse.push_sparse([(0, 1e-50), (1, 2.0)]);
        assert_eq!(sparse.non_zeros(), 1);
        assert_eq!(sparse.row(0).to_dense(2), [0.0, 2.0]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let sparse = |columns, offsets: &[usize], indices: &[u32], values: &[f64]| {
            let values = Values::F64(values.to_vec().into());
            Matrix::sparse(columns, offsets.to_vec(), indices.to_vec(), values)
        };
        let fine = sparse(3, &[0, 2, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(fine.row(0).to_dense(3), [1.0, 0.0, 2.0]);
        for (offsets, indices, values) in [
            (&[][..], &[][..], &[][..]),
            (&[1, 2], &[0, 1], &[1.0, 2.0]),
            (&[0, 1], &[0, 1], &[1.0, 2.0]),
            (&[0, 2, 1, 2], &[0, 1], &[1.0, 2.0]),
            (&[0, 2], &[0, 1, 2], &[1.0, 2.0]),
            (&[0, 2], &[1, 0], &[1.0, 2.0]),
            (&[0, 2], &[1, 1], &[1.0, 2.0]),
            (&[0, 2], &[1, 3], &[1.0, 2.0]),
            (&[0, 2], &[0, 1], &[1.0, 0.0]),
        ] {
            assert!(
                sparse(3, offsets, indices, values).is_err(),
                "{offsets:?} {indices:?} {values:?}"
            );
        }
    }

    #[test]
    fn columns_can_be_left_out() {
        let (dense, sparse) = both();
        for m in [dense, sparse] {
            let kept = m.without_columns(&[0, 3]);
            assert_eq!(kept.columns(), 2);
            assert_eq!(kept.row(0).to_dense(2), [1.5, 0.0]);
            assert_eq!(kept.row(2).to_dense(2), [0.0, 0.25]);
        }
    }

    #[test]
    fn selecting_rows_keeps_their_order_and_content() {
        let (dense, sparse) = both();
        for m in [dense, sparse] {
            let picked = m.select([2usize, 0, 2].into_iter());
            assert_eq!(picked.rows(), 3);
            assert_eq!(picked.row(0).to_dense(4), m.row(2).to_dense(4));
            assert_eq!(picked.row(1).to_dense(4), m.row(0).to_dense(4));
            assert_eq!(picked.row(2).to_dense(4), m.row(2).to_dense(4));
        }
    }
}
