//! Arrays of Python's as rows of ours, without a copy.

use std::sync::Arc;

use numpy::{
    Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rosenblatt::data::{Buffer, Classes, Dataset, Matrix, Values};

use crate::raised;

/// The numbers of an array, read where they lie.
#[allow(unsafe_code)] // The only way not to copy what may be most of the machine's memory.
fn lend<T: Element + 'static>(values: &[T], array: Bound<'_, PyAny>) -> Buffer<T> {
    // SAFETY: the buffer holds a reference to the array, so its memory stays. That nobody
    // writes to it meanwhile is the caller's duty, as with every routine that works on an
    // array with the interpreter's lock let go, NumPy's own included.
    unsafe { Buffer::lent(values, Arc::new(array.unbind())) }
}

fn lent<T: Element + 'static>(array: PyReadonlyArray1<'_, T>) -> PyResult<Buffer<T>> {
    Ok(lend(array.as_slice()?, array.as_any().clone()))
}

fn values(array: &Bound<'_, PyAny>) -> PyResult<Values> {
    if let Ok(array) = array.extract::<PyReadonlyArray1<'_, f32>>() {
        return Ok(Values::F32(lent(array)?));
    }
    Ok(Values::F64(lent(array.extract()?)?))
}

/// A matrix from a two-dimensional array of floats in C order, or from the parts of a
/// canonical CSR matrix: (columns, offsets, indices, values).
pub(crate) fn matrix(rows: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    type Parts<'py> = (
        usize,
        PyReadonlyArray1<'py, usize>,
        PyReadonlyArray1<'py, u32>,
        Bound<'py, PyAny>,
    );
    if let Ok((columns, offsets, indices, numbers)) = rows.extract::<Parts<'_>>() {
        return Matrix::sparse(columns, lent(offsets)?, lent(indices)?, values(&numbers)?)
            .map_err(raised);
    }
    fn dense<T: Element + 'static>(
        array: &PyReadonlyArray2<'_, T>,
        wrap: fn(Buffer<T>) -> Values,
    ) -> PyResult<Matrix> {
        let values = wrap(lend(array.as_slice()?, array.as_any().clone()));
        Matrix::dense(array.shape()[0], array.shape()[1], values).map_err(raised)
    }
    if let Ok(array) = rows.extract::<PyReadonlyArray2<'_, f32>>() {
        return dense(&array, Values::F32);
    }
    if let Ok(array) = rows.extract::<PyReadonlyArray2<'_, f64>>() {
        return dense(&array, Values::F64);
    }
    Err(PyTypeError::new_err(
        "expected a two-dimensional array of float32 or float64, or the parts of a CSR matrix",
    ))
}

/// Labelled rows. Labels are numbers of classes, whose names are given in their order.
pub(crate) fn dataset(
    rows: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Dataset> {
    Dataset::new(
        matrix(rows)?,
        labels.as_slice()?.to_vec(),
        Classes::from_ordered(classes),
        weights.map(|w| w.to_vec()).transpose()?,
    )
    .map_err(raised)
}

/// An array that owns its numbers.
pub(crate) fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    PyArray1::from_vec(py, values)
}
