//! Whether numeric columns look as they did in training.

use rosenblatt::data::Matrix;
use rosenblatt::read::{Preparation, StandardisedColumn};
use serde::Serialize;

use crate::render::numbers::short;

/// Rows below which a mean says little.
const FEWEST: u64 = 30;

/// A mean that is off by so many standard deviations has drifted.
const SHIFT: f64 = 0.5;

/// A standard deviation so many times as large, or as small, has drifted.
const SPREAD: f64 = 2.0;

/// Columns that are named in a line.
const NAMED: usize = 5;

/// Sums of the standardised columns, whose mean was 0 and standard deviation 1 in training.
pub struct Moments {
    columns: Vec<StandardisedColumn>,
    /// Of each column, by feature: which of `columns` it is.
    places: Vec<Option<usize>>,
    rows: u64,
    sums: Vec<[f64; 2]>,
}

/// A column that does not look as it did in training.
#[derive(Serialize)]
pub struct Drift {
    column: String,
    mean: f64,
    training_mean: f64,
    deviation: f64,
    training_deviation: f64,
    /// From mean to mean, in standard deviations of the training rows.
    shift: f64,
}

impl Moments {
    pub fn new(preparation: Option<&Preparation>) -> Self {
        let columns = preparation.map_or(Vec::new(), Preparation::standardised);
        let mut places = vec![None; preparation.map_or(0, Preparation::features)];
        for (k, column) in columns.iter().enumerate() {
            places[column.feature] = Some(k);
        }
        Moments {
            sums: vec![[0.0; 2]; columns.len()],
            columns,
            places,
            rows: 0,
        }
    }

    pub fn add(&mut self, matrix: &Matrix) {
        if self.columns.is_empty() {
            return;
        }
        self.rows += matrix.rows() as u64;
        for i in 0..matrix.rows() {
            matrix.row(i).for_each(|j, x| {
                if let Some(k) = self.places[j] {
                    self.sums[k][0] += x;
                    self.sums[k][1] += x * x;
                }
            });
        }
    }

    /// The columns that drifted, those that are furthest off first.
    pub fn drifts(&self) -> Vec<Drift> {
        if self.rows < FEWEST {
            return Vec::new();
        }
        let n = self.rows as f64;
        let each = self.columns.iter().zip(&self.sums);
        let mut found: Vec<Drift> = each
            .filter_map(|(column, [sum, squares])| {
                let shift = sum / n;
                let spread = (squares / n - shift * shift).max(0.0).sqrt();
                let drifted = shift.abs() >= SHIFT || !(1.0 / SPREAD..=SPREAD).contains(&spread);
                drifted.then(|| Drift {
                    column: column.name.clone(),
                    mean: column.mean + shift * column.deviation,
                    training_mean: column.mean,
                    deviation: spread * column.deviation,
                    training_deviation: column.deviation,
                    shift,
                })
            })
            .collect();
        found.sort_by(|a, b| b.shift.abs().total_cmp(&a.shift.abs()));
        found
    }
}

/// What drifted, in a line; none where nothing did.
pub fn text(drifts: &[Drift]) -> Option<String> {
    if drifts.is_empty() {
        return None;
    }
    let named: Vec<String> = drifts.iter().take(NAMED).map(Drift::text).collect();
    let more = match drifts.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more columns"),
    };
    Some(format!(
        "warning: these rows differ from the training rows: {}{more}",
        named.join(", ")
    ))
}

impl Drift {
    fn text(&self) -> String {
        format!(
            "{} has mean {} and standard deviation {} (in training {} and {})",
            self.column,
            short(self.mean),
            short(self.deviation),
            short(self.training_mean),
            short(self.training_deviation)
        )
    }
}
