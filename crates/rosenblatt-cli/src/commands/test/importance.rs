//! `test --importance`: how much worse the predictions are where a column tells nothing.

use std::fmt::Write;
use std::ops::Range;

use rosenblatt::data::Matrix;
use rosenblatt::metrics::{Importance, permutation_importance};
use rosenblatt::model::Model;
use rosenblatt::options::choice_name;
use rosenblatt::read::{Batch, LabelFound, Preparation};
use rosenblatt::{Error, Result};
use serde::Serialize;

use crate::render::table::{Align, clipped, columns};

/// Columns beyond which one after the other takes too long.
const MOST: usize = 2000;

/// Columns that are listed.
const SHOWN: usize = 20;

/// The rows that are kept to be permuted.
pub struct Permutations {
    columns: Vec<(String, Range<usize>)>,
    times: u32,
    matrix: Matrix,
    labels: Vec<u32>,
}

/// The importance of one column.
#[derive(Serialize)]
pub struct ColumnImportance {
    column: String,
    #[serde(flatten)]
    importance: Importance,
}

impl Permutations {
    pub fn new(preparation: &Preparation, times: u32) -> Result<Self> {
        let columns = preparation.feature_columns();
        if columns.len() > MOST {
            return Err(Error::options(format!(
                "--importance permutes one column after the other, and here are {}",
                columns.len()
            ))
            .remedy("use explain, or inspect for the largest weights"));
        }
        let matrix = Matrix::empty_sparse(preparation.features(), preparation.precision());
        Ok(Permutations {
            columns,
            times,
            matrix,
            labels: Vec::new(),
        })
    }

    /// Keeps the rows whose label the model knows.
    pub fn add(&mut self, batch: &Batch, labels: &[LabelFound]) {
        for (i, label) in labels.iter().enumerate() {
            if let LabelFound::Class(class) = label {
                let mut row = Vec::new();
                (batch.matrix.row(i)).for_each(|j, x| row.push((j as u32, x)));
                self.matrix.push_sparse(row);
                self.labels.push(*class);
            }
        }
    }

    /// Every column, the most important one first.
    pub fn find(&self, model: &Model, threads: usize) -> Result<Vec<ColumnImportance>> {
        let features: Vec<Range<usize>> = self.columns.iter().map(|c| c.1.clone()).collect();
        let (rows, metric) = ((&self.matrix, &self.labels[..]), model.options.metric);
        let found = permutation_importance(model, rows, &features, metric, self.times, threads)?;
        let names = self.columns.iter().map(|(name, _)| name.clone());
        let mut all: Vec<ColumnImportance> = names
            .zip(found)
            .map(|(column, importance)| ColumnImportance { column, importance })
            .collect();
        all.sort_by(|a, b| b.importance.mean.total_cmp(&a.importance.mean));
        Ok(all)
    }

    /// The leading columns in a line.
    pub fn line(model: &Model, found: &[ColumnImportance]) -> String {
        const NAMED: usize = 10;
        let each = found.iter().take(NAMED).map(|c| {
            let Importance { mean, deviation } = c.importance;
            format!("{} {mean:.4} ± {deviation:.4}", clipped(&c.column, 40))
        });
        format!(
            "importance, the fall of the {} where the values of a column are permuted: {}",
            choice_name(model.options.metric),
            each.collect::<Vec<_>>().join(", ")
        )
    }

    /// The columns as people read them.
    pub fn text(&self, model: &Model, found: &[ColumnImportance]) -> String {
        let metric = choice_name(model.options.metric);
        let head = ["column", "importance", "±"].map(String::from);
        let rows = found.iter().take(SHOWN).map(|c| {
            let Importance { mean, deviation } = c.importance;
            vec![
                clipped(&c.column, 40),
                format!("{mean:.4}"),
                format!("{deviation:.4}"),
            ]
        });
        let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(rows).collect();
        let mut text = columns(&rows, &[Align::Left, Align::Right, Align::Right], 0);
        let more = found.len().saturating_sub(SHOWN);
        if more > 0 {
            let _ = writeln!(text, "… and {more} more");
        }
        let _ = writeln!(
            text,
            "importance: by how much the {metric} falls where the values of the column are permuted, mean and standard deviation of {}; columns that say the same share it",
            self.times
        );
        text
    }
}
