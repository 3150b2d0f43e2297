//! Scaling of features: centre and scale of each column, from training rows alone.

use std::ops::Range;

use super::assemble::on_threads;
use super::number::Stored;
use rosenblatt_core::data::{Matrix, Storage, Values};
use rosenblatt_core::internal::simd::{self, Level, Work};
use rosenblatt_core::{Error, Result};

/// How features are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// As they are.
    #[default]
    None,
    /// Mean 0 and (population) standard deviation 1.
    Standard,
    /// From 0 to 1.
    Minmax,
    /// Each row divided by its length.
    UnitRows,
    /// All rows divided by the length of the longest training row.
    Radius,
}

impl Scale {
    /// Whether it is known only when all rows have been read.
    pub(crate) fn needs_all_rows(self) -> bool {
        self.by_column() || self == Scale::Radius
    }

    /// Whether columns are shifted, so that zeros do not stay zeros.
    pub(crate) fn by_column(self) -> bool {
        matches!(self, Scale::Standard | Scale::Minmax)
    }
}

impl std::str::FromStr for Scale {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "none" => Scale::None,
            "standard" => Scale::Standard,
            "minmax" => Scale::Minmax,
            "unit-rows" => Scale::UnitRows,
            "radius" => Scale::Radius,
            _ => {
                return Err(Error::options(format!("there is no scaling {name:?}"))
                    .remedy("use none, standard, minmax, unit-rows or radius"));
            }
        })
    }
}

/// What a row is divided by once its columns are scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RowDivisor {
    One,
    /// Its length, unless that is 0.
    Length,
    /// The same number for all.
    Common(f64),
}

impl RowDivisor {
    /// Divides the values of a row.
    #[inline]
    pub(crate) fn divide<T: Stored>(self, row: &mut [T]) {
        let divisor = match self {
            RowDivisor::One => return,
            RowDivisor::Common(divisor) => divisor,
            RowDivisor::Length => {
                let mut squares = 0.0;
                row.iter().for_each(|x| squares += x.to_f64() * x.to_f64());
                squares.sqrt()
            }
        };
        if divisor > 0.0 && divisor.is_finite() {
            row.iter_mut()
                .for_each(|x| *x = T::from_f64(x.to_f64() / divisor));
        }
    }
}

/// Centre and scale of each column: a value x becomes (x − centre) / scale.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Moments {
    pub(crate) centre: Vec<f64>,
    pub(crate) scale: Vec<f64>,
}

/// The moments of columns, and the number of missing values in each. If the numbers of a column
/// are too large to be scaled: which column.
type Found = std::result::Result<(Moments, Vec<u64>), usize>;

/// Rows of numbers.
pub(crate) trait Numbers: Sync {
    /// Writes out some columns of a row, NaN for a missing value.
    fn write(&self, row: usize, columns: Range<usize>, out: &mut [f64]);
}

impl<F: Fn(usize, Range<usize>, &mut [f64]) + Sync> Numbers for F {
    #[inline(always)]
    fn write(&self, row: usize, columns: Range<usize>, out: &mut [f64]) {
        self(row, columns, out);
    }
}

/// The moments of `columns` columns over these rows, in their order. Each thread has columns of
/// its own, so that no sum depends on how many there are.
pub(crate) fn moments(
    columns: usize,
    rows: impl Iterator<Item = usize> + Clone + Send,
    numbers: &impl Numbers,
    scale: Scale,
    threads: usize,
) -> Found {
    /// Columns that registers hold side by side.
    const TOGETHER: usize = 8;
    /// Numbers that pay for a thread.
    const MANY: usize = 1 << 16;
    let most = rows.size_hint().0.saturating_mul(columns) / MANY;
    let most = most.min(columns / TOGETHER);
    let share = columns.div_ceil(threads.clamp(1, most.max(1)));
    let share = share.next_multiple_of(TOGETHER).max(TOGETHER);
    let shares = (0..columns)
        .step_by(share)
        .map(|start| (start..columns.min(start + share), rows.clone()));
    let found = on_threads(shares, |(here, rows)| {
        let start = here.start;
        moments_of(here, rows, numbers, scale).map_err(|column| start + column)
    });
    let mut moments = Moments::default();
    let mut missing = Vec::with_capacity(columns);
    for found in found {
        let (found, absent) = found?;
        moments.centre.extend(found.centre);
        moments.scale.extend(found.scale);
        missing.extend(absent);
    }
    Ok((moments, missing))
}

/// The moments of columns that one thread looks at.
fn moments_of(
    here: Range<usize>,
    rows: impl Iterator<Item = usize> + Clone,
    numbers: &impl Numbers,
    scale: Scale,
) -> Found {
    let columns = here.len();
    let look_at = |rows| EachRow {
        numbers,
        columns: here.clone(),
        rows,
    };
    let mut sum = vec![0.0; columns];
    let mut present = vec![0u64; columns];
    let mut low = vec![f64::INFINITY; columns];
    let mut high = vec![f64::NEG_INFINITY; columns];
    let mut n = 0u64;
    look_at(rows.clone()).with(|row: &[f64]| {
        n += 1;
        tally(row, &mut sum, &mut present, &mut low, &mut high);
    });
    let missing = present.iter().map(|p| n - p).collect();
    let mut moments = Moments {
        centre: vec![0.0; columns],
        scale: vec![1.0; columns],
    };
    match scale {
        Scale::None | Scale::UnitRows | Scale::Radius => {}
        Scale::Minmax => {
            for j in 0..columns {
                if present[j] > 0 {
                    moments.centre[j] = low[j];
                }
                let range = high[j] - low[j];
                if range == f64::INFINITY {
                    return Err(j);
                }
                if range > 0.0 {
                    moments.scale[j] = range;
                }
            }
        }
        Scale::Standard => {
            let mut squares = vec![0.0; columns];
            for j in 0..columns {
                // A constant column is its own mean, whatever the sum's rounding says.
                if low[j] == high[j] {
                    moments.centre[j] = low[j];
                } else if present[j] > 0 {
                    moments.centre[j] = sum[j] / present[j] as f64;
                }
            }
            let (centre, sums) = (&moments.centre, &mut squares);
            look_at(rows.clone()).with(|row: &[f64]| add_squares(row, centre, sums));
            let mut again = Vec::new();
            for j in 0..columns {
                let centre = moments.centre[j];
                if !centre.is_finite() || high[j] - low[j] == f64::INFINITY {
                    return Err(j);
                }
                let deviation = (squares[j] / present[j].max(1) as f64).sqrt();
                if low[j] < high[j] && !squares[j].is_normal() {
                    // Numbers so large or so small that their squares are not.
                    again.push((j, (high[j] - centre).max(centre - low[j]), 0.0));
                } else if deviation > 0.0 {
                    moments.scale[j] = deviation;
                }
            }
            if !again.is_empty() {
                look_at(rows).with(|row: &[f64]| {
                    for (j, most, shares) in &mut again {
                        let d = (row[*j] - moments.centre[*j]) / *most;
                        *shares += if d.is_nan() { 0.0 } else { d * d };
                    }
                });
            }
            for (j, most, shares) in again {
                let deviation = most * (shares / present[j] as f64).sqrt();
                if deviation > 0.0 {
                    moments.scale[j] = deviation;
                }
            }
        }
    }
    Ok((moments, missing))
}

/// Counts a row in. (As a function, so that the lists are known to lie apart.)
#[inline(always)]
fn tally(row: &[f64], sum: &mut [f64], present: &mut [u64], low: &mut [f64], high: &mut [f64]) {
    let sums = sum.iter_mut().zip(present);
    let extremes = low.iter_mut().zip(high);
    for ((&x, (sum, present)), (low, high)) in row.iter().zip(sums).zip(extremes) {
        let here = !x.is_nan();
        *sum += if here { x } else { 0.0 };
        *present += u64::from(here);
        *low = if x < *low { x } else { *low };
        *high = if x > *high { x } else { *high };
    }
}

/// Adds the squared distances of a row from the centres.
#[inline(always)]
fn add_squares(row: &[f64], centre: &[f64], sums: &mut [f64]) {
    for ((x, centre), sum) in row.iter().zip(centre).zip(sums) {
        let d = x - centre;
        *sum += if d.is_nan() { 0.0 } else { d * d };
    }
}

/// Some columns of one row after the other.
struct EachRow<'a, N, R> {
    numbers: &'a N,
    columns: Range<usize>,
    rows: R,
}

impl<N: Numbers, R: Iterator<Item = usize>> EachRow<'_, N, R> {
    /// Shows them to `look`, in wide registers.
    fn with(self, look: impl FnMut(&[f64])) {
        simd::dispatch(Shown(self, look));
    }
}

struct Shown<'a, N, R, L>(EachRow<'a, N, R>, L);

impl<N: Numbers, R: Iterator<Item = usize>, L: FnMut(&[f64])> Work for Shown<'_, N, R, L> {
    type Output = ();

    #[inline(always)]
    fn run<A: Level>(self, _: A) {
        let Shown(each, mut look) = self;
        let mut row = vec![0.0; each.columns.len()];
        for i in each.rows {
            each.numbers.write(i, each.columns.clone(), &mut row);
            look(&row);
        }
    }
}

/// What to say of a column that cannot be scaled.
pub(crate) fn too_large_to_scale(column: impl std::fmt::Display) -> Error {
    Error::data(format!(
        "the numbers of {column} are too large, or too far apart, to be scaled"
    ))
    .remedy("rescale them in the file, or pass ⟨scale none⟩")
}

/// The first row with a value that is not finite.
pub(crate) fn first_not_finite(matrix: &Matrix) -> Option<usize> {
    let place = |values: &Values| match values {
        Values::F32(v) => first_where(v, |x| !x.is_finite()),
        Values::F64(v) => first_where(v, |x| !x.is_finite()),
    };
    match matrix.storage() {
        Storage::Dense {
            columns, values, ..
        } => place(values).map(|at| at / columns),
        Storage::Sparse {
            offsets, values, ..
        } => place(values).map(|at| offsets.partition_point(|&o| o <= at) - 1),
    }
}

/// The first place of such a value. Where there are none, whole pieces are passed at once.
fn first_where<T: Copy>(values: &[T], is: impl Fn(T) -> bool) -> Option<usize> {
    const PIECE: usize = 1024;
    let any = |piece: &[T]| piece.iter().fold(false, |any, &x| any | is(x));
    let start = PIECE * values.chunks(PIECE).position(any)?;
    let within = values[start..].iter().position(|&x| is(x));
    within.map(|k| start + k)
}

/// What to say of a row, counted from 0, whose values no longer fit their type.
pub(crate) fn overflows_scaled(row: usize) -> Error {
    Error::data(format!(
        "row {} holds a number that is too large once scaled",
        row + 1
    ))
    .remedy("it is far outside what the model was trained on; correct it or leave the row out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centre_and_scale_of_columns() {
        let nan = f64::NAN;
        let data = [
            [1.0, 0.1, nan],
            [3.0, 0.1, nan],
            [5.0, 0.1, 4.0],
            [7.0, 0.1, 8.0],
        ];
        let fill =
            |i: usize, here: Range<usize>, row: &mut [f64]| row.copy_from_slice(&data[i][here]);
        let (m, missing) = moments_of(0..3, 0..4, &fill, Scale::Standard).unwrap();
        assert_eq!(m.centre, [4.0, 0.1, 6.0]);
        assert_eq!(m.scale, [5f64.sqrt(), 1.0, 2.0]);
        assert_eq!(missing, [0, 0, 2]);
        let (m, _) = moments_of(0..3, [1, 2].into_iter(), &fill, Scale::Minmax).unwrap();
        assert_eq!(m.centre, [3.0, 0.1, 4.0]);
        assert_eq!(m.scale, [2.0, 1.0, 1.0]);
        let (m, _) = moments_of(0..3, 0..0, &fill, Scale::Standard).unwrap();
        assert_eq!((m.centre, m.scale), (vec![0.0; 3], vec![1.0; 3]));
    }

    #[test]
    fn however_many_threads_look_the_same_is_found() {
        let (rows, columns) = (20_000, 41);
        let value = |i: usize, j: usize| match (i * 7 + j * 13) % 101 {
            0 => f64::NAN,
            k => (k as f64 - 40.0) / (j + 1) as f64,
        };
        let part = |i: usize, here: Range<usize>, row: &mut [f64]| {
            assert_eq!(row.len(), here.len());
            row.iter_mut().zip(here).for_each(|(x, j)| *x = value(i, j));
        };
        for scale in [Scale::None, Scale::Standard, Scale::Minmax] {
            let expected = moments_of(0..columns, 0..rows, &part, scale).unwrap();
            for threads in [1, 2, 3, 40] {
                let found = moments(columns, 0..rows, &part, scale, threads).unwrap();
                assert_eq!(found, expected, "{threads} threads");
            }
        }
        // The first column that cannot be scaled is told, whoever looks at it.
        let huge = |i: usize, here: Range<usize>, row: &mut [f64]| {
            let value = |j| if j < 30 { 1.0 } else { f64::MAX } * (i as f64 - 1.0);
            row.iter_mut().zip(here).for_each(|(x, j)| *x = value(j));
        };
        for threads in [1, 2, 5] {
            assert_eq!(
                moments(columns, 0..rows, &huge, Scale::Minmax, threads),
                Err(30)
            );
        }
        let no_columns = |_: usize, _: Range<usize>, _: &mut [f64]| {};
        let (m, missing) = moments(0, 0..rows, &no_columns, Scale::Standard, 2).unwrap();
        assert!(m.centre.is_empty() && m.scale.is_empty() && missing.is_empty());
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_found() {
        for n in [1usize, 1000, 1_000_000] {
            for bad in [vec![], vec![n - 1], vec![n / 2, n - 1], vec![0, n / 3]] {
                let mut values = vec![1.0f32; n];
                bad.iter().for_each(|&k| values[k] = f32::INFINITY);
                let found = first_where(&values, |x| !x.is_finite());
                assert_eq!(found, bad.first().copied(), "{n}");
            }
        }
    }

    #[test]
    fn numbers_whose_squares_are_not_numbers() {
        for unit in [1e300, 1e-300] {
            let fill = |i: usize, _: Range<usize>, row: &mut [f64]| row[0] = [1.0, 3.0][i] * unit;
            let (m, _) = moments_of(0..1, 0..2, &fill, Scale::Standard).unwrap();
            assert_eq!(m.centre, [2.0 * unit]);
            assert_eq!(m.scale, [unit]);
        }
        let huge = |i: usize, _: Range<usize>, row: &mut [f64]| row[0] = [f64::MAX, -f64::MAX][i];
        assert_eq!(moments_of(0..1, 0..2, &huge, Scale::Standard), Err(0));
        assert_eq!(moments_of(0..1, 0..2, &huge, Scale::Minmax), Err(0));
    }
}
