//! The rows of a matrix, for loops that visit many.
//!
//! Whose the numbers are, how they are stored and in which precision is asked once here and not
//! again for each row.

use std::ops::Range;

use super::matrix::{Matrix, Storage, Values};
use super::row::{Row, by_storage};

/// The rows of a matrix, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// All values, one row's behind the other's.
    pub(super) all: Row<'a>,
    pub(super) ends: Ends<'a>,
}

/// Where rows end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ends<'a> {
    /// Each is so many values behind the one before.
    Every(usize),
    /// At these places.
    At(&'a [usize]),
}

impl Ends<'_> {
    /// Where the values of neighbouring rows lie.
    #[inline(always)]
    fn range(self, rows: Range<usize>) -> Range<usize> {
        match self {
            Ends::Every(columns) => rows.start * columns..rows.end * columns,
            Ends::At(offsets) => offsets[rows.start]..offsets[rows.end],
        }
    }

    /// Where the values of row `i` lie.
    #[inline(always)]
    pub(super) fn of(self, i: usize) -> Range<usize> {
        self.range(i..i + 1)
    }
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub(crate) fn of(matrix: &'a Matrix) -> Self {
        match matrix.storage() {
            Storage::Dense {
                columns, values, ..
            } => Rows {
                all: match values {
                    Values::F32(x) => Row::Dense32(x),
                    Values::F64(x) => Row::Dense64(x),
                },
                ends: Ends::Every(*columns),
            },
            Storage::Sparse {
                offsets,
                indices,
                values,
                ..
            } => Rows {
                all: match values {
                    Values::F32(x) => Row::Sparse32(indices, x),
                    Values::F64(x) => Row::Sparse64(indices, x),
                },
                ends: Ends::At(offsets),
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
    #[inline(always)]
    fn together(self, rows: Range<usize>) -> Row<'a> {
        let range = self.ends.range(rows);
        match self.all {
            Row::Dense32(x) => Row::Dense32(&x[range]),
            Row::Dense64(x) => Row::Dense64(&x[range]),
            Row::Sparse32(i, x) => Row::Sparse32(&i[range.clone()], &x[range]),
            Row::Sparse64(i, x) => Row::Sparse64(&i[range.clone()], &x[range]),
        }
    }

    fn len(self) -> usize {
        match self.ends {
            Ends::Every(columns) => self.all.stored() / columns.max(1),
            Ends::At(offsets) => offsets.len() - 1,
        }
    }

    /// Asks for rows behind `now` to be brought near, for somebody who is at these and goes
    /// through all of them. Of long ones the processor sees that for itself.
    #[inline]
    pub(crate) fn look_past(self, now: Range<usize>) {
        const NEAR: usize = 8;
        const LONG_ROW: usize = 512;
        let next = now.start + NEAR..(now.end + NEAR).min(self.len());
        if next.start < next.end {
            let rows = self.together(next.clone());
            if rows.stored() <= LONG_ROW * next.len() {
                rows.prefetch();
            }
        }
    }

    /// Whether every value is stored and, as far as a few hundred tell, hardly one is zero.
    pub(crate) fn are_full(self) -> bool {
        const ASKED: usize = 512;
        by_storage!(
            self.all,
            Dense(values) => {
                let step = (values.len() / ASKED).max(1) | 1;
                let some = values.iter().step_by(step);
                let all = some.len().max(1);
                some.filter(|&&x| x != 0.0).count() as f64 / all as f64 > 0.75
            },
            Sparse(_, _) => false,
        )
    }
}
