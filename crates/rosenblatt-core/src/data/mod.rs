//! Labelled examples in memory.

mod buffer;
mod dot4;
mod labels;
mod matrix;
mod names;
mod permutation;
mod row;
mod rows;
pub mod split;

pub use buffer::Buffer;
#[doc(hidden)]
pub use buffer::{Lender, Owner};
pub(crate) use dot4::dots as dots4;
#[doc(hidden)]
pub use labels::label_number;
pub use labels::{ClassFinder, Classes};
#[doc(hidden)]
pub use matrix::Storage;
pub use matrix::{Matrix, Precision, Values};
pub use names::{FeatureNames, StringTable};
pub use permutation::RowPermutation;
pub use row::Row;
pub(crate) use row::by_storage;
pub(crate) use rows::Rows;

use crate::error::{Error, Result};

/// How the rows lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// In the order of the file.
    #[default]
    AsGiven,
    /// Permuted by [`RowPermutation`], which makes shuffled passes nearly sequential in memory.
    Permuted,
}

/// Labelled examples: features, classes, and what they are called.
///
/// Indices below mean positions in memory; [`Dataset::number`] gives the row's number in the
/// file. Results never depend on the layout.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The features, a row each.
    pub matrix: Matrix,
    /// The class of each row, an index into `classes`.
    pub labels: Vec<u32>,
    /// The classes in their order.
    pub classes: Classes,
    /// A positive weight for each row; `None` means 1 for all.
    pub weights: Option<Vec<f64>>,
    /// What the features are called.
    pub names: FeatureNames,
    /// How the rows lie in memory.
    pub layout: Layout,
}

impl Dataset {
    /// A data set in the order given, checked: one known class a row, finite features,
    /// positive finite weights.
    pub fn new(
        matrix: Matrix,
        labels: Vec<u32>,
        classes: Classes,
        weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        if labels.len() != matrix.rows() {
            return Err(Error::data(format!(
                "{} labels for {} rows",
                labels.len(),
                matrix.rows()
            )));
        }
        if let Some(bad) = labels.iter().find(|&&l| l as usize >= classes.len()) {
            return Err(Error::data(format!(
                "class number {bad}, but there are {} classes",
                classes.len()
            )));
        }
        for i in 0..matrix.rows() {
            let mut bad = None;
            matrix.row(i).for_each(|j, x| {
                if !x.is_finite() && bad.is_none() {
                    bad = Some((j, x));
                }
            });
            if let Some((j, x)) = bad {
                return Err(
                    Error::data(format!("row {} has the value {x} at feature {j}", i + 1))
                        .remedy("features must be finite"),
                );
            }
        }
        if let Some(weights) = &weights {
            if weights.len() != matrix.rows() {
                return Err(Error::data(format!(
                    "{} weights for {} rows",
                    weights.len(),
                    matrix.rows()
                )));
            }
            if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w > 0.0)) {
                return Err(
                    Error::data(format!("row {} has the weight {}", i + 1, weights[i]))
                        .remedy("weights must be positive and finite"),
                );
            }
        }
        Ok(Dataset {
            matrix,
            labels,
            classes,
            weights,
            names: FeatureNames::default(),
            layout: Layout::AsGiven,
        })
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.matrix.columns()
    }

    /// The features of the example at memory position `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        self.matrix.row(i)
    }

    /// The row number in the file, from 0, of the example at memory position `i`.
    pub fn number(&self, i: usize) -> usize {
        match self.layout {
            Layout::AsGiven => i,
            Layout::Permuted => RowPermutation::new(self.len()).row_at(i),
        }
    }

    /// The memory position of the row with this number in the file, from 0.
    pub fn position(&self, number: usize) -> usize {
        match self.layout {
            Layout::AsGiven => number,
            Layout::Permuted => RowPermutation::new(self.len()).position_of(number),
        }
    }

    /// The same examples scattered in memory.
    #[must_use]
    pub fn permuted(self) -> Dataset {
        match self.layout {
            Layout::AsGiven => self.to_permuted(),
            Layout::Permuted => self,
        }
    }

    /// A copy of the examples, scattered in memory.
    pub fn to_permuted(&self) -> Dataset {
        if self.layout == Layout::Permuted {
            return self.clone();
        }
        let permutation = RowPermutation::new(self.len());
        let order = (0..self.len()).map(move |p| permutation.row_at(p));
        Dataset {
            layout: Layout::Permuted,
            ..self.gathered(order)
        }
    }

    /// The examples with these file row numbers, in that order, laid out as given.
    #[must_use]
    pub fn select(&self, numbers: &[usize]) -> Dataset {
        self.gathered(numbers.iter().map(|&r| self.position(r)))
    }

    fn gathered(&self, positions: impl ExactSizeIterator<Item = usize> + Clone) -> Dataset {
        Dataset {
            matrix: self.matrix.select(positions.clone()),
            labels: positions.clone().map(|p| self.labels[p]).collect(),
            classes: self.classes.clone(),
            weights: self
                .weights
                .as_ref()
                .map(|w| positions.map(|p| w[p]).collect()),
            names: self.names.clone(),
            layout: Layout::AsGiven,
        }
    }

    /// The number of examples of each class.
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        for &label in &self.labels {
            counts[label as usize] += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toy(n: usize) -> Dataset {
        let rows: Vec<Vec<f64>> = (0..n).map(|i| vec![i as f64, 1.0]).collect();
        let matrix = Matrix::dense_from_rows(2, &rows, Precision::F32);
        let labels = (0..n).map(|i| (i % 2) as u32).collect();
        Dataset::new(matrix, labels, Classes::from_labels(["a", "b"]), None).unwrap()
    }

    #[test]
    fn scattering_moves_rows_and_forgets_nothing() {
        let scattered = toy(1000).permuted();
        for number in 0..1000 {
            let p = scattered.position(number);
            assert_eq!(scattered.number(p), number);
            assert_eq!(scattered.row(p).to_dense(2)[0], number as f64);
            assert_eq!(scattered.labels[p], (number % 2) as u32);
        }
        let back = scattered.select(&[3, 999, 0]);
        assert_eq!(back.row(1).to_dense(2)[0], 999.0);
        assert_eq!(back.labels, [1, 1, 0]);
    }

    #[test]
    fn hostile_parts_are_refused() {
        let matrix = || Matrix::dense_from_rows(1, &[vec![1.0], vec![2.0]], Precision::F64);
        let ab = || Classes::from_labels(["a", "b"]);
        assert!(Dataset::new(matrix(), vec![0], ab(), None).is_err());
        assert!(Dataset::new(matrix(), vec![0, 2], ab(), None).is_err());
        assert!(Dataset::new(matrix(), vec![0, 1], ab(), Some(vec![1.0, 0.0])).is_err());
        assert!(Dataset::new(matrix(), vec![0, 1], ab(), Some(vec![1.0])).is_err());
        let nan = Matrix::dense_from_rows(1, &[vec![1.0], vec![f64::NAN]], Precision::F64);
        assert!(Dataset::new(nan, vec![0, 1], ab(), None).is_err());
    }
}
