//! Medians, slopes and how sure they are.

use super::study::{Row, having, values_of};
use crate::render::numbers::{digits, short};
use rosenblatt_plot::quartiles;

/// An estimate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub estimate: f64,
    /// NaN where a single sample allows none.
    pub low: f64,
    pub high: f64,
    pub samples: usize,
}

impl Interval {
    /// The mean of independent samples with Student's interval.
    pub fn of_mean(samples: &[f64]) -> Self {
        let n = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / n;
        let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
        let half = match samples.len() {
            0 | 1 => f64::NAN,
            len => student(len as u64 - 1) * (squares / (n - 1.0) / n).sqrt(),
        };
        Interval {
            estimate: mean,
            low: mean - half,
            high: mean + half,
            samples: samples.len(),
        }
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.low.is_nan() {
            return write!(f, "{} (one seed, so no interval)", digits(self.estimate, 3));
        }
        write!(
            f,
            "{} (95 % interval {} to {} over {} seeds)",
            digits(self.estimate, 3),
            digits(self.low, 3),
            digits(self.high, 3),
            self.samples
        )
    }
}

/// The slope of log `y` against log `x`, fitted to each seed's runs alone. Runs of one seed may
/// depend on each other (their data are drawn alike), seeds do not; so the interval is over seeds.
pub fn log_slope(rows: &[Row<'_>], x: impl Fn(&Row<'_>) -> f64, y: &str) -> Interval {
    let slopes: Vec<f64> = values_of(rows, "seed")
        .into_iter()
        .filter_map(|seed| {
            let points: Vec<(f64, f64)> = having(rows, "seed", seed)
                .iter()
                .map(|r| (x(r).ln(), r.number(y).ln()))
                .filter(|p| p.0.is_finite() && p.1.is_finite())
                .collect();
            slope(&points)
        })
        .collect();
    Interval::of_mean(&slopes)
}

/// The slope of the least-squares line; `None` unless x takes two values.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.0 - mean_x)).sum();
    let along: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    (spread > 0.0).then(|| along / spread)
}

/// The median; NaN of nothing.
pub fn median(values: &[f64]) -> f64 {
    quartiles(values).map_or(f64::NAN, |q| q[1])
}

/// Median and quartiles as a table shows them.
pub fn spread_text(values: &[f64]) -> String {
    quartiles(values).map_or_else(
        || "–".into(),
        |[low, middle, high]| format!("{} ({} – {})", short(middle), short(low), short(high)),
    )
}

/// The 97.5 % point of Student's distribution: closed forms for one and two degrees of freedom,
/// the expansion of Cornish and Fisher in 1/ν beyond (Abramowitz & Stegun 26.7.5).
fn student(freedom: u64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    match freedom {
        0 => f64::NAN,
        1 => 12.706_204_736_432_095,
        2 => 4.302_652_729_911_275,
        _ => {
            let v = freedom as f64;
            let z2 = Z * Z;
            let terms = [
                (z2 + 1.0) / 4.0,
                ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0,
                (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0,
                ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0,
            ];
            Z * (1.0 + terms.iter().rev().fold(0.0, |sum, term| (sum + term) / v))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_agrees_with_the_tables() {
        for (freedom, table) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (9, 2.262),
            (19, 2.093),
            (29, 2.045),
        ] {
            let found = student(freedom);
            assert!((found / table - 1.0).abs() < 3e-3, "{freedom}: {found}");
        }
        assert!((student(1_000_000) - 1.959_966).abs() < 1e-5);
    }

    #[test]
    fn a_mean_and_its_interval() {
        // Mean 3, standard deviation √2.5, five samples: 3 ± 2.776·√2.5/√5.
        let found = Interval::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((found.estimate, found.samples), (3.0, 5));
        assert!((found.high - found.estimate - 1.963).abs() < 5e-3);
        assert!((found.estimate - found.low - 1.963).abs() < 5e-3);
        let single = Interval::of_mean(&[7.0]);
        assert_eq!(single.estimate, 7.0);
        assert!(single.low.is_nan() && single.to_string().contains("no interval"));
    }

    #[test]
    fn a_slope_is_that_of_the_line() {
        let found = slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert!((found - 2.0).abs() < 1e-12);
        assert_eq!(slope(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(slope(&[]), None);
    }
}
