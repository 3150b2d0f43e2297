//! Rows of an IDX file to features, dense or sparse by their density.

use std::ops::Range;

use super::assemble;
use super::idx;
use super::number::Stored;
use super::order::Order;
use super::scale::{Moments, Scale, moments, too_large_to_scale};
use super::sparse::Wanted;
use rosenblatt_core::Result;
use rosenblatt_core::data::{Matrix, Precision};

/// A whole IDX file.
#[derive(Debug)]
pub(crate) struct ImagesRaw {
    pub(crate) bytes: Vec<u8>,
    pub(crate) element: idx::Element,
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) shape: Option<(u32, u32)>,
}

impl ImagesRaw {
    /// The elements of a row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = f64> + '_ {
        self.part_of_row(row, 0..self.width)
    }

    fn part_of_row(&self, row: usize, part: Range<usize>) -> impl Iterator<Item = f64> + '_ {
        let (size, start) = (self.element.size(), row * self.width);
        let bytes = &self.bytes[(start + part.start) * size..(start + part.end) * size];
        bytes.chunks_exact(size).map(|b| self.element.value(b))
    }

    /// The moments of every column over these rows.
    pub(crate) fn moments(
        &self,
        rows: Option<&[usize]>,
        scale: Scale,
        threads: usize,
    ) -> Result<Moments> {
        let fill = |row: usize, columns: Range<usize>, out: &mut [f64]| {
            let values = self.part_of_row(row, columns);
            out.iter_mut().zip(values).for_each(|(o, x)| *o = x);
        };
        let found = match rows {
            Some(rows) => moments(self.width, rows.iter().copied(), &fill, scale, threads),
            None => moments(self.width, 0..self.rows, &fill, scale, threads),
        };
        found
            .map(|(moments, _)| moments)
            .map_err(|j| too_large_to_scale(format_args!("element {j}")))
    }

    /// The rows in this order, as a model wants them.
    pub(crate) fn matrix(
        &self,
        order: &Order<'_>,
        want: &Wanted<'_>,
        precision: Precision,
        threads: usize,
    ) -> Matrix {
        match precision {
            Precision::F32 => self.matrix_of::<f32>(order, want, threads),
            Precision::F64 => self.matrix_of::<f64>(order, want, threads),
        }
    }

    fn matrix_of<T: Stored>(&self, order: &Order<'_>, want: &Wanted<'_>, threads: usize) -> Matrix {
        let width = self.width;
        let write = |row: usize, out: &mut [T]| {
            let scaled = want.scale.by_column();
            for ((j, x), to) in self.row(row).enumerate().zip(&mut *out) {
                *to = T::from_f64(match scaled {
                    true => (x - want.moments.centre[j]) / want.moments.scale[j],
                    false => x,
                });
            }
            want.divisor.divide(out);
        };
        let n = order.len();
        let mut row = vec![T::ZERO; width];
        let (mut non_zeros, mut seen) = (0, 0);
        for p in (0..n).step_by((n / 1000).max(1)) {
            write(order.row_at(p), &mut row);
            non_zeros += row.iter().filter(|&&x| x != T::ZERO).count();
            seen += width;
        }
        if non_zeros * 2 >= seen {
            let dense = assemble::dense(n, width, threads, |range, out| {
                for (p, row) in range.zip(out.chunks_exact_mut(width.max(1))) {
                    write(order.row_at(p), row);
                }
            });
            return dense.0;
        }
        let sparse = assemble::sparse(n, width, threads, |range, rows| {
            let mut row = vec![T::ZERO; width];
            for p in range {
                write(order.row_at(p), &mut row);
                rows.push((0..).zip(row.iter().copied()));
            }
        });
        sparse.0
    }
}
