//! Tables whose rows lie in partitions: what each says of its columns, and its rows.
//!
//! Cells are lists of texts, None where one is missing; options are those of files.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyTuple};
use rosenblatt::read::partitions::{self, Cell, Column, ColumnCells, Found, Travels};
use rosenblatt::read::{Aside, ColumnKind, Preparation};

use crate::files::{self, read_options};
use crate::{arrays, raised, worded};

type Cells = Vec<Option<PyBackedStr>>;

fn texts(cells: &Cells) -> impl Iterator<Item = Cell<'_>> {
    cells.iter().map(|cell| cell.as_deref())
}

/// How an object is sent: what makes it, and of which text.
type Sent<'py> = (Bound<'py, PyAny>, (String,));

/// What the cells of a column of texts say of its kind.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct CellFacts(partitions::CellFacts);

#[pymethods]
impl CellFacts {
    /// Those of a partition.
    #[staticmethod]
    fn of(py: Python<'_>, cells: Cells, all_values: bool) -> Self {
        CellFacts(py.detach(|| partitions::CellFacts::of(texts(&cells), all_values)))
    }

    /// Those of partitions together.
    #[staticmethod]
    fn united(found: Vec<PyRef<'_, CellFacts>>) -> Self {
        let mut found = found.iter().map(|each| each.0.clone());
        let mut all = found.next().unwrap_or_default();
        found.for_each(|each| all.merge(each));
        CellFacts(all)
    }

    /// What the column is.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    /// Whether its numbers have decimal commas.
    #[getter]
    fn has_decimal_commas(&self) -> bool {
        self.0.has_decimal_commas()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Sent<'py>> {
        Ok((
            slf.get_type().getattr("_of_text")?,
            (slf.get().0.to_text(),),
        ))
    }

    #[staticmethod]
    fn _of_text(text: &str) -> PyResult<Self> {
        Ok(CellFacts(Travels::of_text(text).map_err(raised)?))
    }
}

/// The numbers that cells are written as, NaN where one is missing.
#[pyfunction]
pub(crate) fn text_numbers<'py>(
    py: Python<'py>,
    name: &str,
    cells: Cells,
    commas: bool,
    fixed: bool,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let found = py.detach(|| partitions::numbers(name, texts(&cells), commas, fixed));
    Ok(arrays::array(py, found.map_err(raised)?))
}

/// How many rows have each term of a column.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct TermCounts(partitions::TermCounts);

#[pymethods]
impl TermCounts {
    /// Those of a partition of the column called `name`.
    #[staticmethod]
    fn of(py: Python<'_>, name: &str, cells: Cells, given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let cut = read_options(given)?.0.text.cut;
        let found = py.detach(|| partitions::TermCounts::of(name, texts(&cells), cut));
        Ok(TermCounts(found))
    }

    /// Those of neighbouring partitions together.
    #[staticmethod]
    fn united(py: Python<'_>, found: Vec<Py<TermCounts>>) -> PyResult<Self> {
        py.detach(|| {
            let mut found = found.iter().map(|each| &each.get().0);
            let mut all = found.next().cloned().unwrap_or_default();
            found.try_for_each(|each| all.merge(each))?;
            Ok(TermCounts(all))
        })
        .map_err(raised)
    }

    /// Whether `Codes` must be known to say whether the column is set aside.
    #[getter]
    fn asks_for_codes(&self) -> bool {
        self.0.asks_for_codes()
    }

    /// Why the column is to be set aside, if it is.
    #[pyo3(signature = (name, codes=None))]
    fn aside(&self, name: &str, codes: Option<PyRef<'_, Codes>>) -> Option<String> {
        let why = self.0.aside(name, codes.as_ref().map(|codes| &codes.0));
        why.map(|why| why.to_text())
    }

    /// The terms that get a feature of their own.
    fn vocabulary(&self, py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<Vocabulary> {
        let (options, scale) = read_options(given)?;
        let found = py.detach(|| self.0.vocabulary(&options.text, scale));
        Ok(Vocabulary(found))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Sent<'py>> {
        Ok((
            slf.get_type().getattr("_of_text")?,
            (slf.get().0.to_text(),),
        ))
    }

    #[staticmethod]
    fn _of_text(text: &str) -> PyResult<Self> {
        Ok(TermCounts(Travels::of_text(text).map_err(raised)?))
    }
}

/// What tells whether the texts of a column are codes.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct Codes(partitions::Codes);

#[pymethods]
impl Codes {
    /// That of a partition, given the terms of all.
    #[staticmethod]
    fn of(
        py: Python<'_>,
        cells: Cells,
        given: &Bound<'_, PyDict>,
        all: Py<TermCounts>,
    ) -> PyResult<Self> {
        let cut = read_options(given)?.0.text.cut;
        let found = py.detach(|| partitions::Codes::of(texts(&cells), cut, &all.get().0));
        Ok(Codes(found))
    }

    /// That of partitions together.
    #[staticmethod]
    fn united(found: Vec<PyRef<'_, Codes>>) -> Self {
        let mut all = partitions::Codes::default();
        found.iter().for_each(|each| all.merge(each.0.clone()));
        Codes(all)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Sent<'py>> {
        Ok((
            slf.get_type().getattr("_of_text")?,
            (slf.get().0.to_text(),),
        ))
    }

    #[staticmethod]
    fn _of_text(text: &str) -> PyResult<Self> {
        Ok(Codes(Travels::of_text(text).map_err(raised)?))
    }
}

/// The terms of a column with a feature of their own.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct Vocabulary(partitions::Vocabulary);

#[pymethods]
impl Vocabulary {
    /// Whether it must be known how many rows have each of the features that other terms share.
    #[getter]
    fn weighs_buckets(&self) -> bool {
        self.0.weighs_buckets()
    }

    /// How many rows of a partition have each of them.
    fn rows_with_buckets<'py>(
        &self,
        py: Python<'py>,
        cells: Cells,
        given: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let cut = read_options(given)?.0.text.cut;
        let found = py.detach(|| self.0.rows_with_buckets(texts(&cells), cut));
        Ok(arrays::array(py, found))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Sent<'py>> {
        Ok((
            slf.get_type().getattr("_of_text")?,
            (slf.get().0.to_text(),),
        ))
    }

    #[staticmethod]
    fn _of_text(text: &str) -> PyResult<Self> {
        Ok(Vocabulary(Travels::of_text(text).map_err(raised)?))
    }
}

/// How the columns of a table become features.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct TablePreparation {
    pub(crate) preparation: Preparation,
}

#[pymethods]
impl TablePreparation {
    /// The names of the features.
    fn feature_names(&self) -> Vec<String> {
        let names = self.preparation.feature_names();
        let all = 0..self.preparation.features();
        all.map(|j| names.get(j).into_owned()).collect()
    }

    /// The sparse rows of a partition with so many, of each of its columns an array of numbers, a
    /// list of texts, or None where it makes no features: (columns, offsets, indices, values).
    fn rows<'py>(
        &self,
        py: Python<'py>,
        rows: usize,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        enum Given<'py> {
            Numbers(PyReadonlyArray1<'py, f64>),
            Texts(Cells),
            None,
        }
        let given = columns.iter().map(|column| {
            Ok(match column.extract::<PyReadonlyArray1<'py, f64>>() {
                Ok(numbers) => Given::Numbers(numbers),
                Err(_) if column.is_none() => Given::None,
                Err(_) => Given::Texts(column.extract()?),
            })
        });
        let given = given.collect::<PyResult<Vec<_>>>()?;
        let cells = given.iter().map(|column| {
            Ok(match column {
                Given::Numbers(numbers) => ColumnCells::Numbers(numbers.as_slice()?),
                Given::Texts(cells) => ColumnCells::Texts(texts(cells).collect()),
                Given::None => ColumnCells::None,
            })
        });
        let cells = cells.collect::<PyResult<Vec<_>>>()?;
        let made = py.detach(|| self.preparation.partition(rows, &cells));
        files::rows(py, &made.map_err(raised)?)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Sent<'py>> {
        let text = slf.get().preparation.to_text();
        Ok((slf.get_type().getattr("_of_text")?, (text,)))
    }

    #[staticmethod]
    fn _of_text(text: &str) -> PyResult<Self> {
        let preparation = Preparation::of_text(text).map_err(raised)?;
        Ok(TablePreparation { preparation })
    }
}

/// The kind of a column by its name.
fn kind(name: &str) -> PyResult<ColumnKind> {
    name.parse().map_err(raised)
}

/// What is known of a column: its kind, and what goes with it.
fn found(given: &Bound<'_, PyTuple>) -> PyResult<Found> {
    let name: String = given.get_item(0)?.extract()?;
    Ok(match name.as_str() {
        "numeric" => {
            type Numbers<'py> = (
                String,
                f64,
                f64,
                u64,
                (f64, f64),
                Option<(PyRef<'py, CellFacts>, bool)>,
            );
            let (_, centre, scale, missing, range, written) = given.extract::<Numbers<'_>>()?;
            Found::Numbers {
                centre,
                scale,
                missing,
                range,
                written: written.map(|(facts, commas)| (facts.0.clone(), commas)),
            }
        }
        "category" => {
            let (_, facts) = given.extract::<(String, PyRef<'_, CellFacts>)>()?;
            Found::Category(facts.0.clone())
        }
        "text" => {
            type Text<'py> = (
                String,
                PyRef<'py, Vocabulary>,
                Option<PyReadonlyArray1<'py, u32>>,
            );
            let (_, vocabulary, buckets) = given.extract::<Text<'_>>()?;
            let buckets = buckets.map(|buckets| buckets.to_vec()).transpose()?;
            Found::Text(vocabulary.0.clone(), buckets)
        }
        "aside" => {
            let (_, of, why) = given.extract::<(String, String, Option<String>)>()?;
            let why = why.map(|why| Aside::of_text(&why)).transpose();
            Found::Aside(kind(&of)?, why.map_err(raised)?)
        }
        _ => {
            return Err(PyValueError::new_err(format!(
                "there is no column that is {name:?}"
            )));
        }
    })
}

/// The preparation for columns (name, whether its kind was given, what is known of it) of so many
/// rows, and what is to be warned of. `label` is the place and the name of the labels in files.
#[pyfunction]
#[pyo3(signature = (columns, label, rows, given))]
pub(crate) fn prepare_table(
    columns: Vec<(String, bool, Bound<'_, PyTuple>)>,
    label: Option<(usize, String)>,
    rows: u64,
    given: &Bound<'_, PyDict>,
) -> PyResult<(TablePreparation, Vec<String>)> {
    let (options, scale) = read_options(given)?;
    let columns = columns.into_iter().map(|(name, given, known)| {
        Ok(Column {
            name,
            given,
            found: found(&known)?,
        })
    });
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    let made = partitions::prepare(columns, label, rows, scale, &options.text);
    let (preparation, warnings) = made.map_err(raised)?;
    let warnings = warnings.iter().map(worded).collect();
    Ok((TablePreparation { preparation }, warnings))
}

/// The kind that a word of the command line means.
#[pyfunction]
pub(crate) fn column_kind(name: &str) -> PyResult<&'static str> {
    Ok(kind(name)?.name())
}
