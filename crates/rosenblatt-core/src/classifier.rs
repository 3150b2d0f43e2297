//! Fit and predict in three lines, from slices or arrays.

use crate::data::{Classes, Dataset, Matrix};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::options::Options;
use crate::parallel;
use crate::progress::Stop;
use crate::session::Session;

/// A fitted classifier of rows of numbers.
///
/// ```
/// use rosenblatt_core::Classifier;
///
/// let rows = [[-2.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, -1.0]];
/// let classifier = Classifier::fit(&rows, &["left", "left", "right", "right"])?;
/// assert_eq!(classifier.predict(&[[1.5, 0.0], [-1.5, 0.0]])?, ["right", "left"]);
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
///
/// With options, here a plane of largest margin:
///
/// ```
/// use rosenblatt_core::learner::MaxMargin;
/// use rosenblatt_core::{Classifier, Options};
///
/// let options = Options { learner: MaxMargin::default().into(), ..Options::default() };
/// let rows = [[0.0], [1.0], [3.0], [4.0]];
/// let classifier = Classifier::fit_with(&options, &rows, &[-1, -1, 1, 1])?;
/// assert_eq!(classifier.predict(&[[1.9], [2.1]])?, ["-1", "1"]);
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Classifier {
    model: Model,
}

impl Classifier {
    /// Trains with default options. Each row has as many numbers as the first; each label is
    /// anything that can be written as text.
    pub fn fit(
        rows: &(impl RowSource + ?Sized),
        labels: impl IntoIterator<Item = impl ToString>,
    ) -> Result<Self> {
        Self::fit_with(&Options::default(), rows, labels)
    }

    /// Trains with these options.
    pub fn fit_with(
        options: &Options,
        rows: &(impl RowSource + ?Sized),
        labels: impl IntoIterator<Item = impl ToString>,
    ) -> Result<Self> {
        let labels: Vec<String> = labels.into_iter().map(|label| label.to_string()).collect();
        let classes = Classes::from_labels(labels.iter().map(String::as_str));
        let numbers = labels.iter().filter_map(|label| classes.find(label));
        let data = Dataset::new(rows.to_matrix(None)?, numbers.collect(), classes, None)?;
        let model = Session::new(options).train(&data)?.model;
        Ok(Classifier { model })
    }

    /// The label of each row.
    pub fn predict(&self, rows: &(impl RowSource + ?Sized)) -> Result<Vec<&str>> {
        let matrix = rows.to_matrix(Some(self.model.features()))?;
        let classes = self.model.predict(&matrix, parallel::available())?;
        let names = classes.into_iter().map(|c| self.model.classes.name(c));
        Ok(names.collect())
    }

    /// The scores of each row: one for two classes (positive speaks for the second), else one a
    /// discriminator.
    pub fn decision_function(&self, rows: &(impl RowSource + ?Sized)) -> Result<Vec<Vec<f64>>> {
        let matrix = rows.to_matrix(Some(self.model.features()))?;
        let scores = self.model.scores(&matrix, parallel::available())?;
        let each = scores.chunks(self.model.scheme.discriminators());
        Ok(each.map(<[f64]>::to_vec).collect())
    }

    /// Why training stopped.
    pub fn stop(&self) -> Option<Stop> {
        self.model.progress.stop
    }

    /// The model: weights, progress, and what can be saved.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

/// Rows of numbers: slices, arrays or vectors of rows, a [`Matrix`], and with the feature
/// `ndarray` a two-dimensional array.
pub trait RowSource {
    /// The rows as a matrix. Where they carry no number of columns themselves, each has as many as
    /// `columns` says, or else as the first.
    fn to_matrix(&self, columns: Option<usize>) -> Result<Matrix>;
}

impl RowSource for Matrix {
    fn to_matrix(&self, _: Option<usize>) -> Result<Matrix> {
        Ok(self.clone())
    }
}

impl<R: AsRef<[f64]>> RowSource for [R] {
    fn to_matrix(&self, columns: Option<usize>) -> Result<Matrix> {
        let columns = columns.unwrap_or_else(|| self.first().map_or(0, |row| row.as_ref().len()));
        let odd = self.iter().position(|row| row.as_ref().len() != columns);
        if let Some(i) = odd {
            return Err(Error::data(format!(
                "row {} has {} numbers, expected {columns}",
                i + 1,
                self[i].as_ref().len()
            ))
            .remedy("give every row the same number of features"));
        }
        let values: Vec<f64> = self.iter().flat_map(|row| row.as_ref()).copied().collect();
        Matrix::dense(self.len(), columns, values)
    }
}

impl<R: AsRef<[f64]>> RowSource for Vec<R> {
    fn to_matrix(&self, columns: Option<usize>) -> Result<Matrix> {
        self.as_slice().to_matrix(columns)
    }
}

impl<R: AsRef<[f64]>, const N: usize> RowSource for [R; N] {
    fn to_matrix(&self, columns: Option<usize>) -> Result<Matrix> {
        self.as_slice().to_matrix(columns)
    }
}

#[cfg(feature = "ndarray")]
impl<S: ndarray::Data<Elem = f64>> RowSource for ndarray::ArrayBase<S, ndarray::Ix2> {
    fn to_matrix(&self, _: Option<usize>) -> Result<Matrix> {
        let values: Vec<f64> = self.iter().copied().collect();
        Matrix::dense(self.nrows(), self.ncols(), values)
    }
}
