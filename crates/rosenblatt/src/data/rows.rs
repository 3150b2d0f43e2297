//! The rows of a matrix, for loops that visit many.
//!
//! Whose the numbers are, how they are stored and in which precision is asked once here and not
//! again for each row.

use std::ops::Range;

use super::matrix::{Matrix, Values};
use super::row::Row;

/// The rows of a matrix, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    Dense32 {
        columns: usize,
        values: &'a [f32],
    },
    Dense64 {
        columns: usize,
        values: &'a [f64],
    },
    Sparse32 {
        offsets: &'a [usize],
        indices: &'a [u32],
        values: &'a [f32],
    },
    Sparse64 {
        offsets: &'a [usize],
        indices: &'a [u32],
        values: &'a [f64],
    },
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub(crate) fn of(matrix: &'a Matrix) -> Self {
        match matrix {
            &Matrix::Dense {
                columns,
                ref values,
                ..
            } => match values {
                Values::F32(values) => Rows::Dense32 { columns, values },
                Values::F64(values) => Rows::Dense64 { columns, values },
            },
            Matrix::Sparse {
                offsets,
                indices,
                values,
                ..
            } => match values {
                Values::F32(values) => Rows::Sparse32 {
                    offsets,
                    indices,
                    values,
                },
                Values::F64(values) => Rows::Sparse64 {
                    offsets,
                    indices,
                    values,
                },
            },
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
            Rows::Sparse32 {
                offsets,
                indices,
                values,
            } => {
                let range = offsets[rows.start]..offsets[rows.end];
                Row::Sparse32(&indices[range.clone()], &values[range])
            }
            Rows::Sparse64 {
                offsets,
                indices,
                values,
            } => {
                let range = offsets[rows.start]..offsets[rows.end];
                Row::Sparse64(&indices[range.clone()], &values[range])
            }
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
