//! Files as arrays, read as the command line reads them.

use std::io::Read;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange, PyTuple};
use rosenblatt::data::{FeatureNames, Layout, Matrix, Precision, Storage, Values};
use rosenblatt::read::{self, ColumnKind, Format, OnError, Preparation, ReadOptions, Scale};
use sha2::{Digest, Sha256};

use crate::mixing::Span;
use crate::model::Model;
use crate::{arrays, raised, worded};

fn values<'py>(py: Python<'py>, values: &Values) -> Bound<'py, PyAny> {
    match values {
        Values::F32(v) => arrays::array(py, v.to_vec()).into_any(),
        Values::F64(v) => arrays::array(py, v.to_vec()).into_any(),
    }
}

/// The same with offsets as [`arrays::matrix`] takes them.
pub(crate) fn core_rows<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyAny>> {
    let found = rows(py, matrix)?;
    match found.cast::<PyTuple>() {
        Ok(parts) => {
            let offsets = parts.get_item(1)?.call_method1("view", ("uintp",))?;
            let parts = (
                parts.get_item(0)?,
                offsets,
                parts.get_item(2)?,
                parts.get_item(3)?,
            );
            Ok(parts.into_pyobject(py)?.into_any())
        }
        Err(_) => Ok(found),
    }
}

/// A two-dimensional array, or (columns, offsets, indices, values).
pub(crate) fn rows<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyAny>> {
    match matrix.storage() {
        Storage::Dense {
            rows,
            columns,
            values: v,
        } => values(py, v).call_method1("reshape", ((*rows, *columns),)),
        Storage::Sparse {
            columns,
            offsets,
            indices,
            values: v,
        } => {
            let parts = (
                *columns,
                arrays::array(py, offsets.iter().map(|&o| o as i64).collect::<Vec<i64>>()),
                arrays::array(py, indices.to_vec()),
                values(py, v),
            );
            Ok(PyTuple::new(
                py,
                [
                    parts.0.into_pyobject(py)?.into_any(),
                    parts.1.into_any(),
                    parts.2.into_any(),
                    parts.3,
                ],
            )?
            .into_any())
        }
    }
}

/// Reads a labelled file; `given` holds the words of the command line, in its spelling.
/// With a model, its features are made of the file as the model's own training file was.
#[pyfunction]
/// A span (first byte, byte after the last, text to put in front) reads a part of a text.
#[pyo3(signature = (path, given, model=None, span=None))]
pub(crate) fn read_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    given: &Bound<'py, PyDict>,
    model: Option<PyRef<'py, Model>>,
    span: Option<(u64, u64, Vec<u8>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let (mut options, scale) = read_options(given)?;
    let known = match &model {
        Some(model) => {
            let preparation = Preparation::of_model(&model.model).map_err(raised)?;
            let preparation = preparation.ok_or_else(|| {
                PyValueError::new_err("the model was trained on arrays, not on a file")
            })?;
            preparation.apply_to(&mut options);
            Some(preparation)
        }
        None => None,
    };
    let span = span.map(|(start, end, head)| Span { start, end, head });
    let (data, report, long) = py
        .detach(|| {
            let raw = match &span {
                None => read::read(&path, &options)?,
                Some(span) => read::read_from(span.bytes(&path)?, &path, &options)
                    .map_err(|error| span.placed(error, &path))?,
            };
            let (preparation, report) = match known {
                Some(preparation) => (preparation, raw.report().clone()),
                None => Preparation::fit_and_report(&raw, None, Some(scale))?,
            };
            let long = raw.long_decimals().iter();
            let long = long.filter_map(|long| {
                let feature = preparation.feature_of(long.column)?;
                Some((long.row as usize, feature, long.text.clone()))
            });
            let long: Vec<(usize, usize, String)> = long.collect();
            let data = raw.into_dataset(&preparation, Layout::AsGiven)?;
            Ok((data, report, long))
        })
        .map_err(raised)?;
    let result = PyDict::new(py);
    result.set_item("rows", rows(py, &data.matrix)?)?;
    let names = match &data.names {
        // Numbers are not written out here: there may be billions of them.
        FeatureNames::Numbered { first } => {
            let first = *first as usize;
            PyRange::new(py, first as isize, (first + data.features()) as isize)?.into_any()
        }
        named => (0..data.features())
            .map(|j| named.get(j).into_owned())
            .collect::<Vec<_>>()
            .into_pyobject(py)?,
    };
    result.set_item("names", names)?;
    result.set_item("classes", data.classes.names())?;
    result.set_item(
        "weights",
        data.weights.clone().map(|w| arrays::array(py, w)),
    )?;
    result.set_item("labels", arrays::array(py, data.labels))?;
    let warnings: Vec<String> = report.warnings.iter().map(worded).collect();
    result.set_item("warnings", warnings)?;
    result.set_item("long_decimals", long)?;
    Ok(result)
}

/// The SHA-256 of a file's decompressed bytes, in hexadecimal.
#[pyfunction]
pub(crate) fn sha256(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    py.detach(|| {
        let failed = |e| rosenblatt::Error::io(&path, &e);
        let mut bytes = read::decompressed(&path)?;
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
        loop {
            let found = bytes.read(&mut buffer).map_err(failed)?;
            if found == 0 {
                let digest = hash.finalize();
                return Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect());
            }
            hash.update(&buffer[..found]);
        }
    })
    .map_err(raised)
}

/// What a word of the command line means.
fn parsed<T: std::str::FromStr<Err = rosenblatt::Error>>(
    name: &str,
    value: Bound<'_, PyAny>,
) -> PyResult<T> {
    let text = value.str()?.to_string();
    let parsed = text.parse::<T>();
    parsed.map_err(|e| PyValueError::new_err(format!("{name}: {}", worded(&e.wording()))))
}

pub(crate) fn read_options(given: &Bound<'_, PyDict>) -> PyResult<(ReadOptions, Scale)> {
    let mut options = ReadOptions {
        memory: Some(rosenblatt::internal::parallel::memory_to_use() / 5 * 9),
        ..ReadOptions::default()
    };
    let mut scale = Scale::None;
    let unknown = |name: &str, value: &str, known: &str| {
        PyValueError::new_err(format!("{name}: found {value:?}, expected one of {known}"))
    };
    for (name, value) in given {
        let name: String = name.extract()?;
        match name.as_str() {
            "format" => {
                let text: String = value.extract()?;
                let format = text.parse::<Format>();
                let known = format.map_err(|_| unknown(&name, &text, &Format::names()))?;
                options.format = Some(known);
            }
            "precision" => {
                let text: String = value.extract()?;
                options.precision = match text.as_str() {
                    "f32" => Precision::F32,
                    "f64" => Precision::F64,
                    _ => return Err(unknown(&name, &text, "f32, f64")),
                };
            }
            "scale" => {
                let text: String = value.extract()?;
                scale = match text.as_str() {
                    "none" => Scale::None,
                    "standard" => Scale::Standard,
                    "minmax" => Scale::Minmax,
                    "unit-rows" => Scale::UnitRows,
                    "radius" => Scale::Radius,
                    _ => {
                        return Err(unknown(
                            &name,
                            &text,
                            "none, standard, minmax, unit-rows, radius",
                        ));
                    }
                };
            }
            "on_error" => {
                let text: String = value.extract()?;
                options.on_error = match text.as_str() {
                    "fail" => OnError::Fail,
                    "skip" => OnError::Skip,
                    _ => return Err(unknown(&name, &text, "fail, skip")),
                };
            }
            "columns" => {
                let kinds: Vec<(String, String)> = value.extract()?;
                for (column, kind) in kinds {
                    let known = kind.parse::<ColumnKind>();
                    let known = known.map_err(|_| unknown(&column, &kind, ColumnKind::NAMES))?;
                    options.columns.push((column, known));
                }
            }
            "text" => options.text.cut.terms = parsed(&name, value)?,
            "term_weights" => options.text.weights = Some(parsed(&name, value)?),
            "min_df" => options.text.min_df = parsed(&name, value)?,
            "max_df" => options.text.max_df = parsed(&name, value)?,
            "vocabulary" => options.text.vocabulary = value.extract()?,
            "keep_case" => options.text.cut.keep_case = value.extract()?,
            "strip_accents" => options.text.cut.strip_accents = value.extract()?,
            "labels" => options.labels = Some(value.extract()?),
            "label" => options.label = Some(value.extract()?),
            "header" => options.header = Some(value.extract()?),
            "keep_long_decimals" => options.keep_long_decimals = value.extract()?,
            "comment" => options.comment = Some(value.extract()?),
            "positive" => options.positive = Some(value.extract()?),
            "label_map" => options.label_map = value.extract()?,
            "weight_column" => options.weight_column = Some(value.extract()?),
            "threads" => options.threads = value.extract()?,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "there is no option {name:?}"
                )));
            }
        }
    }
    Ok((options, scale))
}
