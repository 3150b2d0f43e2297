//! The studies, one file each.

pub mod angle;
pub mod bound;
pub mod classes;
pub mod convergence;
pub mod rates;
pub mod readouts;
pub mod scatter;
pub mod variants;

use super::study::{Row, having, values_of};

/// What a study varies, one thing at a time about a common middle.
struct Axis {
    /// The setting, as the column `vary` names it.
    name: &'static str,
    /// As an axis of a figure names it.
    label: &'static str,
}

const SIZE_AXES: [Axis; 3] = [
    Axis {
        name: "n",
        label: "examples n",
    },
    Axis {
        name: "d",
        label: "features d",
    },
    Axis {
        name: "margin",
        label: "margin γ",
    },
];

/// The ends of what a setting was varied over: the smallest and the largest.
fn ends(rows: &[Row<'_>], name: &str) -> (f64, f64) {
    let numbers = values_of(rows, name)
        .into_iter()
        .filter_map(|v| v.parse().ok());
    numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x: f64| {
        (low.min(x), high.max(x))
    })
}

/// The rows at one value of a setting.
fn at<'a>(rows: &[Row<'a>], name: &str, value: f64) -> Vec<Row<'a>> {
    having(rows, name, &value.to_string())
}

/// How a quantity changes from one value to another.
fn falls_or_grows(from: f64, to: f64) -> &'static str {
    if to < from { "falls" } else { "grows" }
}
