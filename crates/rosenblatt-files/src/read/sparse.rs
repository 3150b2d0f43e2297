//! A whole libsvm file: the parts that the threads read, put together once.
//!
//! The parts stay as they are until the data set is built. Then every row is copied straight
//! to its final place, scattered or not, so the peak is about twice the arrays.

use std::ops::Range;

use super::assemble;
use super::libsvm::SparsePart;
use super::number::{Stored, value_width};
use super::order::{Order, Starts, cut};
use super::scale::{Moments, RowDivisor, Scale, moments, too_large_to_scale};
use rosenblatt_core::data::{Matrix, Precision, Storage, Values};
use rosenblatt_core::internal::{parallel, simd};
use rosenblatt_core::{Error, Result};

/// A sparse source that must be shifted becomes dense up to this many bytes.
pub(crate) const DENSE_LIMIT: u64 = 4 << 30;

/// How many rows ahead of being copied a row is asked for.
const NEAR: usize = 8;

/// Shares of the rows that each thread copies: one may be slower than another.
const SHARES: usize = 16;

/// Rows that are looked up together.
const SOME: usize = 256;

/// Bytes that finding the moments takes for each column.
const MOMENTS: u128 = 9 * 8;

/// All rows of a sparse file.
#[derive(Debug)]
pub(crate) struct SparseRaw {
    pub(crate) parts: Vec<SparsePart>,
    starts: Starts,
    pub(crate) rows: usize,
    /// What its indices count from.
    pub(crate) first: u32,
    /// The number of features.
    pub(crate) width: usize,
    precision: Precision,
}

impl SparseRaw {
    pub(crate) fn new(parts: Vec<SparsePart>, precision: Precision) -> Self {
        let starts = Starts::new(parts.iter().map(SparsePart::rows));
        let rows = starts.rows();
        let smallest = parts.iter().map(|p| p.smallest).min().unwrap_or(u32::MAX);
        let width = parts.iter().map(|p| p.width).max().unwrap_or(0);
        let first = u32::from(smallest > 0);
        SparseRaw {
            parts,
            starts,
            rows,
            first,
            width: (width as usize).saturating_sub(first as usize),
            precision,
        }
    }

    /// The part that holds a row, and the row's place in it.
    fn locate(&self, row: usize) -> (usize, Range<usize>) {
        let k = self.starts.find(row);
        (k, self.parts[k].range(row - self.starts.first_row(k)))
    }

    /// The moments of every column over these rows.
    pub(crate) fn moments(
        &self,
        rows: Option<&[usize]>,
        scale: Scale,
        threads: usize,
    ) -> Result<Moments> {
        let n = rows.map_or(self.rows, <[usize]>::len);
        refuse_dense(n, self.width, self.precision)?;
        let order = Order::new(self.rows, rows, rosenblatt_core::data::Layout::AsGiven, 1);
        let fill = |i: usize, columns: Range<usize>, full: &mut [f64]| {
            full.fill(0.0);
            let (part, range) = self.locate(order.row_at(i));
            for k in range {
                let (index, value) = self.parts[part].get(k);
                let column = (index - self.first) as usize;
                if columns.contains(&column) {
                    full[column - columns.start] = value;
                }
            }
        };
        let found = moments(self.width, 0..n, &fill, scale, threads)
            .map_err(|j| too_large_to_scale(format_args!("feature {}", j + self.first as usize)))?;
        Ok(found.0)
    }

    /// The rows in this order, as a model with these features wants them.
    pub(crate) fn matrix(
        &self,
        order: &Order<'_>,
        want: &Wanted<'_>,
        threads: usize,
    ) -> Result<Matrix> {
        if want.scale.by_column() {
            refuse_dense(order.len(), want.width, self.precision)?;
            return Ok(match self.precision {
                Precision::F32 => self.dense::<f32>(order, want, threads),
                Precision::F64 => self.dense::<f64>(order, want, threads),
            });
        }
        // Rows need not be looked into unless the model may lack some of their features.
        let all_known = self.first as usize + self.width <= want.first as usize + want.width;
        // One list of all rows is looked up faster than the lists of the parts.
        let mut rows: Vec<Place> = Vec::with_capacity(self.rows);
        rows.extend(self.places());
        let mut places: Vec<Place> = Vec::with_capacity(order.len());
        places.resize(order.len(), Place::default());
        parallel::chunks(
            &mut places,
            SOME,
            parallel::worth(threads, order.len()),
            || {
                |k: usize, places: &mut [Place]| {
                    for (p, place) in (k * SOME..).zip(places) {
                        *place = rows[order.row_at(p)];
                        if !all_known {
                            let part = &self.parts[place.part as usize];
                            place.len = want.kept(part, place.range()) as u32;
                        }
                    }
                }
            },
        );
        let mut offsets: Vec<usize> = Vec::with_capacity(order.len() + 1);
        let mut end = 0;
        offsets.push(end);
        offsets.extend(places.iter().map(|place| {
            end += place.len as usize;
            end
        }));
        let (indices, values) = match self.precision {
            Precision::F32 => self.gather::<f32>(&places, want, &offsets, threads),
            Precision::F64 => self.gather::<f64>(&places, want, &offsets, threads),
        };
        Ok(Matrix::from_storage(Storage::Sparse {
            columns: want.width,
            offsets: offsets.into(),
            indices: indices.into(),
            values,
        }))
    }

    /// Where each row is, in the order of the file.
    fn places(&self) -> impl Iterator<Item = Place> + '_ {
        self.parts.iter().zip(0..).flat_map(|(part, number)| {
            (0..part.rows()).map(move |i| {
                let range = part.range(i);
                Place {
                    part: number,
                    start: range.start as u32,
                    len: range.len() as u32,
                }
            })
        })
    }

    /// Copies the rows at `places`.
    fn gather<T: Stored>(
        &self,
        places: &[Place],
        want: &Wanted<'_>,
        offsets: &[usize],
        threads: usize,
    ) -> (Vec<u32>, Values) {
        let all = offsets.last().copied().unwrap_or(0);
        let mut indices = vec![0; all];
        let mut values = vec![T::ZERO; all];
        let row_at = |p: usize| {
            let part = &self.parts[places[p].part as usize];
            let range = places[p].range();
            (&part.indices[range.clone()], T::slice(&part.values, range))
        };
        let (mut rest_i, mut rest_v) = (indices.as_mut_slice(), values.as_mut_slice());
        let shares = cut(places.len(), threads * SHARES)
            .into_iter()
            .map(|range| {
                let len = offsets[range.end] - offsets[range.start];
                let here_i = rest_i.split_off_mut(..len).unwrap_or_default();
                let here_v = rest_v.split_off_mut(..len).unwrap_or_default();
                (range, here_i, here_v)
            });
        parallel::each(shares, threads, || {
            |(range, here_i, here_v): (Range<usize>, &mut [u32], &mut [T])| {
                for p in range.clone() {
                    if p + NEAR < range.end {
                        let (indices, values) = row_at(p + NEAR);
                        simd::prefetch(indices);
                        simd::prefetch(values);
                    }
                    let first = offsets[range.start];
                    let to = offsets[p] - first..offsets[p + 1] - first;
                    let (indices, values) = row_at(p);
                    renumber(&mut here_i[to.clone()], indices, want.first);
                    let row = &mut here_v[to];
                    row.copy_from_slice(values);
                    want.divisor.divide(row);
                }
            }
        });
        (indices, T::wrap(values))
    }

    fn dense<T: Stored>(&self, order: &Order<'_>, want: &Wanted<'_>, threads: usize) -> Matrix {
        let moments = want.moments;
        let matrix = assemble::dense(order.len(), want.width, threads, |range, out: &mut [T]| {
            let mut full = vec![0.0; want.width];
            for (p, row) in range.zip(out.chunks_exact_mut(want.width.max(1))) {
                full.fill(0.0);
                let (part, from) = self.locate(order.row_at(p));
                let part = &self.parts[part];
                let kept = want.kept(part, from.clone());
                for k in from.start..from.start + kept {
                    let (index, value) = part.get(k);
                    full[(index - want.first) as usize] = value;
                }
                for (j, x) in row.iter_mut().enumerate() {
                    *x = T::from_f64((full[j] - moments.centre[j]) / moments.scale[j]);
                }
            }
        });
        matrix.0
    }
}

/// Copies indices, those of the first feature becoming 0.
#[inline(always)]
pub(crate) fn renumber(to: &mut [u32], from: &[u32], first: u32) {
    for (new, old) in to.iter_mut().zip(from) {
        *new = old - first;
    }
}

/// Where a row is: in a part, from a place in its arrays on.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    part: u32,
    start: u32,
    len: u32,
}

impl Place {
    fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// What a model wants of a sparse row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) first: u32,
    pub(crate) width: usize,
    pub(crate) scale: Scale,
    pub(crate) moments: &'a Moments,
    pub(crate) divisor: RowDivisor,
}

impl Wanted<'_> {
    /// How many features of this row of a part the model knows.
    #[inline]
    pub(crate) fn kept(&self, part: &SparsePart, row: Range<usize>) -> usize {
        let limit = self.width as u64 + u64::from(self.first);
        let known = |k: usize| u64::from(part.indices[k]) < limit;
        let mut end = row.end;
        while end > row.start && !known(end - 1) {
            end -= 1;
        }
        end - row.start
    }
}

fn refuse_dense(rows: usize, width: usize, precision: Precision) -> Result<()> {
    let size = u128::from(value_width(precision));
    let bytes = (rows as u128 * size + MOMENTS) * width as u128;
    if bytes <= u128::from(DENSE_LIMIT) {
        return Ok(());
    }
    Err(Error::options(format!(
        "scaling columns would make these sparse rows dense: {rows} × {width} values, {} GiB",
        bytes >> 30
    ))
    .remedy("use ⟨scale unit-rows⟩ or ⟨scale none⟩, which keep zeros"))
}
