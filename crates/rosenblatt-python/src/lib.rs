//! The Python module `rosenblatt._core`: a thin layer between NumPy arrays and the library.
//!
//! Everything that makes it comfortable (scikit-learn's conventions, names, checks of
//! arguments) is Python, in `python/rosenblatt`; here arrays become data sets without being
//! copied, the interpreter's lock is let go while there is work to do, and errors keep their
//! words.

mod arrays;
mod files;
mod model;
mod separability;
mod training;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rosenblatt::{Error, ErrorKind, Options};

/// An error of the library as an exception of Python's.
fn raised(error: Error) -> PyErr {
    match error.kind() {
        ErrorKind::Io => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Options from (name, text) pairs in the spelling of the library's table.
fn options(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut pairs = Vec::new();
    for (name, text) in given {
        let pair: (String, String) = (name.extract()?, text.extract()?);
        pairs.push(pair);
    }
    let mut options = Options::default();
    let pairs = pairs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    options.set_all(pairs).map_err(raised)?;
    Ok(options)
}

/// Every parameter as (name, help, default), from the library's one table.
#[pyfunction]
fn parameters() -> Vec<(&'static str, String, String)> {
    let all = Options::parameters().into_iter();
    all.map(|p| (p.name, p.help, p.default)).collect()
}

/// What option `name` expects, if it cannot take this text.
#[pyfunction]
fn expected(name: &str, text: &str) -> Option<String> {
    Options::expected(name, text)
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_function(wrap_pyfunction!(parameters, module)?)?;
    module.add_function(wrap_pyfunction!(expected, module)?)?;
    module.add_function(wrap_pyfunction!(training::fit, module)?)?;
    module.add_function(wrap_pyfunction!(training::trace, module)?)?;
    module.add_function(wrap_pyfunction!(separability::check, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_file, module)?)
}
