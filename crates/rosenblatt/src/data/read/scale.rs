//! Scaling of features: centre and scale of each column, from training rows alone.

use crate::data::{Matrix, Values};
use crate::error::{Error, Result};
use crate::simd::{self, Work};

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
}

impl Scale {
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
            _ => {
                return Err(Error::options(format!("there is no scaling {name:?}"))
                    .remedy("use none, standard, minmax or unit-rows"));
            }
        })
    }
}

/// Centre and scale of each column: a value x becomes (x − centre) / scale.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Moments {
    pub(crate) centre: Vec<f64>,
    pub(crate) scale: Vec<f64>,
}

/// The moments of `columns` columns over the rows that `fill` writes out, in their order; NaN
/// is a missing value. Also the number of missing values in each column. If the numbers of a
/// column are too large to be scaled: which column.
pub(crate) fn moments(
    columns: usize,
    rows: impl Iterator<Item = usize> + Clone,
    mut fill: impl FnMut(usize, &mut [f64]),
    scale: Scale,
) -> std::result::Result<(Moments, Vec<u64>), usize> {
    let mut row = vec![0.0; columns];
    let mut sum = vec![0.0; columns];
    let mut present = vec![0u64; columns];
    let mut low = vec![f64::INFINITY; columns];
    let mut high = vec![f64::NEG_INFINITY; columns];
    let mut n = 0u64;
    for_each_row(rows.clone(), &mut fill, &mut row, |row: &[f64]| {
        n += 1;
        let sums = sum.iter_mut().zip(&mut present);
        let extremes = low.iter_mut().zip(&mut high);
        for ((&x, (sum, present)), (low, high)) in row.iter().zip(sums).zip(extremes) {
            let here = !x.is_nan();
            *sum += if here { x } else { 0.0 };
            *present += u64::from(here);
            *low = if x < *low { x } else { *low };
            *high = if x > *high { x } else { *high };
        }
    });
    let missing = present.iter().map(|p| n - p).collect();
    let mut moments = Moments {
        centre: vec![0.0; columns],
        scale: vec![1.0; columns],
    };
    match scale {
        Scale::None | Scale::UnitRows => {}
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
            for_each_row(rows.clone(), &mut fill, &mut row, |row: &[f64]| {
                for ((x, centre), sum) in row.iter().zip(centre).zip(&mut *sums) {
                    let d = x - centre;
                    *sum += if d.is_nan() { 0.0 } else { d * d };
                }
            });
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
            for i in rows.take(if again.is_empty() { 0 } else { usize::MAX }) {
                fill(i, &mut row);
                for (j, most, shares) in &mut again {
                    let d = (row[*j] - moments.centre[*j]) / *most;
                    *shares += if d.is_nan() { 0.0 } else { d * d };
                }
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

/// Writes out one row after the other and shows it to `look`, in wide registers.
fn for_each_row(
    rows: impl Iterator<Item = usize>,
    fill: &mut impl FnMut(usize, &mut [f64]),
    row: &mut [f64],
    look: impl FnMut(&[f64]),
) {
    simd::dispatch(EachRow {
        rows,
        fill,
        row,
        look,
    });
}

struct EachRow<'a, R, F, L> {
    rows: R,
    fill: &'a mut F,
    row: &'a mut [f64],
    look: L,
}

impl<R, F, L> Work for EachRow<'_, R, F, L>
where
    R: Iterator<Item = usize>,
    F: FnMut(usize, &mut [f64]),
    L: FnMut(&[f64]),
{
    type Output = ();

    #[inline(always)]
    fn run<const LEVEL: u8>(mut self) {
        for i in self.rows {
            (self.fill)(i, self.row);
            (self.look)(self.row);
        }
    }
}

/// What to say of a column that cannot be scaled.
pub(crate) fn too_large_to_scale(column: impl std::fmt::Display) -> Error {
    Error::data(format!(
        "the numbers of {column} are too large, or too far apart, to be scaled"
    ))
    .remedy("rescale them in the file, or pass --scale none")
}

/// The first row with a value that is not finite.
pub(crate) fn first_not_finite(matrix: &Matrix) -> Option<usize> {
    let place = |values: &Values| match values {
        Values::F32(v) => first_where(v, |x| !x.is_finite()),
        Values::F64(v) => first_where(v, |x| !x.is_finite()),
    };
    match matrix {
        Matrix::Dense {
            columns, values, ..
        } => place(values).map(|at| at / columns),
        Matrix::Sparse {
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
        let fill = |i: usize, row: &mut [f64]| row.copy_from_slice(&data[i]);
        let (m, missing) = moments(3, 0..4, fill, Scale::Standard).unwrap();
        assert_eq!(m.centre, [4.0, 0.1, 6.0]);
        assert_eq!(m.scale, [5f64.sqrt(), 1.0, 2.0]);
        assert_eq!(missing, [0, 0, 2]);
        let (m, _) = moments(3, [1, 2].into_iter(), fill, Scale::Minmax).unwrap();
        assert_eq!(m.centre, [3.0, 0.1, 4.0]);
        assert_eq!(m.scale, [2.0, 1.0, 1.0]);
        let (m, _) = moments(3, 0..0, fill, Scale::Standard).unwrap();
        assert_eq!((m.centre, m.scale), (vec![0.0; 3], vec![1.0; 3]));
    }

    #[test]
    fn numbers_whose_squares_are_not_numbers() {
        for unit in [1e300, 1e-300] {
            let fill = |i: usize, row: &mut [f64]| row[0] = [1.0, 3.0][i] * unit;
            let (m, _) = moments(1, 0..2, fill, Scale::Standard).unwrap();
            assert_eq!(m.centre, [2.0 * unit]);
            assert_eq!(m.scale, [unit]);
        }
        let huge = |i: usize, row: &mut [f64]| row[0] = [f64::MAX, -f64::MAX][i];
        assert_eq!(moments(1, 0..2, huge, Scale::Standard), Err(0));
        assert_eq!(moments(1, 0..2, huge, Scale::Minmax), Err(0));
    }
}
