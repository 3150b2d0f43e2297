//! Scaling of features: centre and scale of each column, from training rows alone.

use crate::error::{Error, Result};

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
/// is a missing value. Also the number of missing values in each column.
pub(crate) fn moments(
    columns: usize,
    rows: impl Iterator<Item = usize> + Clone,
    mut fill: impl FnMut(usize, &mut [f64]),
    scale: Scale,
) -> (Moments, Vec<u64>) {
    let mut row = vec![0.0; columns];
    let mut sum = vec![0.0; columns];
    let mut present = vec![0u64; columns];
    let mut low = vec![f64::INFINITY; columns];
    let mut high = vec![f64::NEG_INFINITY; columns];
    let mut n = 0u64;
    for i in rows.clone() {
        n += 1;
        fill(i, &mut row);
        for j in 0..columns {
            let x = row[j];
            let here = !x.is_nan();
            sum[j] += if here { x } else { 0.0 };
            present[j] += u64::from(here);
            low[j] = if x < low[j] { x } else { low[j] };
            high[j] = if x > high[j] { x } else { high[j] };
        }
    }
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
                if range > 0.0 && range.is_finite() {
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
            for i in rows {
                fill(i, &mut row);
                for j in 0..columns {
                    let d = row[j] - moments.centre[j];
                    squares[j] += if d.is_nan() { 0.0 } else { d * d };
                }
            }
            for j in 0..columns {
                let deviation = (squares[j] / present[j].max(1) as f64).sqrt();
                if deviation > 0.0 && deviation.is_finite() {
                    moments.scale[j] = deviation;
                }
            }
        }
    }
    (moments, missing)
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
        let (m, missing) = moments(3, 0..4, fill, Scale::Standard);
        assert_eq!(m.centre, [4.0, 0.1, 6.0]);
        assert_eq!(m.scale, [5f64.sqrt(), 1.0, 2.0]);
        assert_eq!(missing, [0, 0, 2]);
        let (m, _) = moments(3, [1, 2].into_iter(), fill, Scale::Minmax);
        assert_eq!(m.centre, [3.0, 0.1, 4.0]);
        assert_eq!(m.scale, [2.0, 1.0, 1.0]);
        let (m, _) = moments(3, 0..0, fill, Scale::Standard);
        assert_eq!((m.centre, m.scale), (vec![0.0; 3], vec![1.0; 3]));
    }
}
