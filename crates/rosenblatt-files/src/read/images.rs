//! Rows of an IDX file to features, dense or sparse by their density.

use std::ops::Range;

use super::idx;
use super::number::Stored;
use super::order::{Order, ranges};
use super::scale::{Moments, Scale, moments, too_large_to_scale};
use super::sparse::{Wanted, unit};
use rosenblatt_core::Result;
use rosenblatt_core::data::{Matrix, Precision, Storage};

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
        let write = |row: usize, out: &mut Vec<T>| {
            out.clear();
            if want.scale.by_column() {
                let scaled = self.row(row).enumerate();
                out.extend(scaled.map(|(j, x)| {
                    T::from_f64((x - want.moments.centre[j]) / want.moments.scale[j])
                }));
            } else {
                out.extend(self.row(row).map(T::from_f64));
            }
            if want.scale == Scale::UnitRows {
                unit(out);
            }
        };
        let write = &write;
        let looked_at = (0..order.len()).step_by((order.len() / 1000).max(1));
        let mut scratch = Vec::new();
        let (mut non_zeros, mut seen) = (0, 0);
        for p in looked_at {
            write(order.row_at(p), &mut scratch);
            non_zeros += scratch.iter().filter(|&&x| x != T::ZERO).count();
            seen += width;
        }
        let dense = non_zeros * 2 >= seen;
        let parts: Vec<(Vec<usize>, Vec<u32>, Vec<T>)> = std::thread::scope(|scope| {
            let running: Vec<_> = ranges(order.len(), threads)
                .into_iter()
                .map(|range| {
                    scope.spawn(move || {
                        let (mut lengths, mut indices, mut values) =
                            (Vec::new(), Vec::new(), Vec::new());
                        let mut row = Vec::new();
                        for p in range {
                            write(order.row_at(p), &mut row);
                            if dense {
                                values.extend_from_slice(&row);
                                continue;
                            }
                            let before = values.len();
                            for (j, &x) in row.iter().enumerate() {
                                if x != T::ZERO {
                                    indices.push(j as u32);
                                    values.push(x);
                                }
                            }
                            lengths.push(values.len() - before);
                        }
                        (lengths, indices, values)
                    })
                })
                .collect();
            running
                .into_iter()
                .map(|r| {
                    r.join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        });
        let mut offsets = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (lengths, i, v) in parts {
            for length in lengths {
                offsets.push(offsets.last().copied().unwrap_or(0) + length);
            }
            indices.extend(i);
            values.extend(v);
        }
        Matrix::from_storage(if dense {
            Storage::Dense {
                rows: order.len(),
                columns: width,
                values: T::wrap(values),
            }
        } else {
            Storage::Sparse {
                columns: width,
                offsets: offsets.into(),
                indices: indices.into(),
                values: T::wrap(values),
            }
        })
    }
}
