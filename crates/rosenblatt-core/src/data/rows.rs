//! The rows of a matrix, for loops that visit many.
//!
//! Whose the numbers are, how they are stored and in which precision is asked once here and not
//! again for each row.

use std::ops::Range;

use super::indices::Indices;
use super::matrix::{Matrix, Storage, Values};
use super::row::Row;

/// Values from which on a row need not be asked for ahead: the processor sees for itself that it
/// is read from end to end.
pub(crate) const LONG_ROW: usize = 512;

/// The rows of a matrix, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    Dense32 { columns: usize, values: &'a [f32] },
    Dense64 { columns: usize, values: &'a [f64] },
    Sparse32(Lists<'a, u32, f32>),
    Sparse64(Lists<'a, u32, f64>),
    Narrow32(Lists<'a, u16, f32>),
    Narrow64(Lists<'a, u16, f64>),
}

/// The lists of sparse rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lists<'a, I, T> {
    offsets: &'a [usize],
    indices: &'a [I],
    values: &'a [T],
}

impl<'a, I, T> Lists<'a, I, T> {
    /// The indices and the values of neighbouring rows, one row's behind the other's.
    #[inline(always)]
    pub(crate) fn together(self, rows: Range<usize>) -> (&'a [I], &'a [T]) {
        let range = self.offsets[rows.start]..self.offsets[rows.end];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Those of row `i`.
    #[inline(always)]
    pub(crate) fn row(self, i: usize) -> (&'a [I], &'a [T]) {
        self.together(i..i + 1)
    }
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub(crate) fn of(matrix: &'a Matrix) -> Self {
        match matrix.storage() {
            &Storage::Dense {
                columns,
                ref values,
                ..
            } => match values {
                Values::F32(values) => Rows::Dense32 { columns, values },
                Values::F64(values) => Rows::Dense64 { columns, values },
            },
            Storage::Sparse {
                offsets,
                indices,
                values,
                ..
            } => {
                macro_rules! lists {
                    ($indices:expr, $values:expr) => {
                        Lists {
                            offsets,
                            indices: $indices,
                            values: $values,
                        }
                    };
                }
                match (indices, values) {
                    (Indices::Wide(i), Values::F32(x)) => Rows::Sparse32(lists!(i, x)),
                    (Indices::Wide(i), Values::F64(x)) => Rows::Sparse64(lists!(i, x)),
                    (Indices::Narrow(i), Values::F32(x)) => Rows::Narrow32(lists!(i, x)),
                    (Indices::Narrow(i), Values::F64(x)) => Rows::Narrow64(lists!(i, x)),
                }
            }
        }
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline(always)]
    pub(crate) fn row(self, i: usize) -> Row<'a> {
        self.together(i..i + 1)
    }

    /// The values of neighbouring rows, one row's behind the other's.
    ///
    /// # Panics
    /// If there are no such rows.
    #[inline(always)]
    pub(crate) fn together(self, rows: Range<usize>) -> Row<'a> {
        match self {
            Rows::Dense32 { columns, values } => {
                Row::Dense32(&values[rows.start * columns..rows.end * columns])
            }
            Rows::Dense64 { columns, values } => {
                Row::Dense64(&values[rows.start * columns..rows.end * columns])
            }
            Rows::Sparse32(lists) => {
                let (indices, values) = lists.together(rows);
                Row::Sparse32(indices, values)
            }
            Rows::Sparse64(lists) => {
                let (indices, values) = lists.together(rows);
                Row::Sparse64(indices, values)
            }
            Rows::Narrow32(lists) => {
                let (indices, values) = lists.together(rows);
                Row::Narrow32(indices, values)
            }
            Rows::Narrow64(lists) => {
                let (indices, values) = lists.together(rows);
                Row::Narrow64(indices, values)
            }
        }
    }

    /// Asks for rows behind `now` to be brought near, for somebody who is at these and goes
    /// through all of them. Of long ones the processor sees that for itself.
    #[inline]
    pub(crate) fn look_past(self, now: Range<usize>) {
        const NEAR: usize = 8;
        let next = now.start + NEAR..(now.end + NEAR).min(self.len());
        if next.start < next.end {
            let rows = self.together(next.clone());
            if rows.stored() <= LONG_ROW * next.len() {
                rows.prefetch();
            }
        }
    }

    fn len(self) -> usize {
        match self {
            Rows::Dense32 { columns, values } => values.len() / columns.max(1),
            Rows::Dense64 { columns, values } => values.len() / columns.max(1),
            Rows::Sparse32(lists) => lists.offsets.len() - 1,
            Rows::Sparse64(lists) => lists.offsets.len() - 1,
            Rows::Narrow32(lists) => lists.offsets.len() - 1,
            Rows::Narrow64(lists) => lists.offsets.len() - 1,
        }
    }

    /// How many of the stored values are not zero, of one, as far as a few hundred tell.
    pub(crate) fn filled(self) -> f64 {
        const ASKED: usize = 512;
        fn of<T: Copy + PartialEq + Default>(values: &[T]) -> f64 {
            let step = (values.len() / ASKED).max(1) | 1;
            let some = values.iter().step_by(step);
            let all = some.len().max(1);
            some.filter(|&&x| x != T::default()).count() as f64 / all as f64
        }
        match self {
            Rows::Dense32 { values, .. } => of(values),
            Rows::Dense64 { values, .. } => of(values),
            _ => 1.0,
        }
    }

    /// Whether every value is stored and hardly one is zero.
    pub(crate) fn are_full(self) -> bool {
        let dense = matches!(self, Rows::Dense32 { .. } | Rows::Dense64 { .. });
        dense && self.filled() > 0.75
    }
}
