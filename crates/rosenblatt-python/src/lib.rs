//! The Python module `rosenblatt._core`: a thin layer between NumPy arrays and the library.
//!
//! Everything that makes it comfortable (scikit-learn's conventions, names, checks of
//! arguments) is Python, in `python/rosenblatt`; here arrays become data sets without being
//! copied, the interpreter's lock is let go while there is work to do, and errors keep their
//! words.

mod arrays;
mod estimation;
mod files;
mod mixing;
mod model;
mod partitions;
mod separability;
mod training;

use std::collections::HashMap;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rosenblatt::{Error, ErrorKind, Options, Wording};

/// An error of the library as an exception of Python's.
fn raised(error: Error) -> PyErr {
    let text = worded(&error.wording());
    match error.kind() {
        ErrorKind::Io => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// A text of the library with parameters as Python has them, `name='value'`.
fn worded(text: &Wording) -> String {
    text.spelled(&|name, value| {
        let name = parameter_name(name);
        match value {
            // Here each learner is a class.
            Some(value) if name == "learner" => format!("the learner {value}"),
            Some(value) => format!("{name}={}", literal(value)),
            None => name,
        }
    })
}

/// A value as it is written in Python.
fn literal(text: &str) -> String {
    match text {
        "true" | "yes" => "True".to_owned(),
        "false" | "no" => "False".to_owned(),
        number if number.parse::<f64>().is_ok() => number.to_owned(),
        _ => match text.split_once('=') {
            Some((key, value)) => format!("{{{}: {}}}", literal(key), literal(value)),
            None => format!("'{}'", text.escape_debug()),
        },
    }
}

/// What scikit-learn calls a parameter, where that is not its own name with underscores.
const SKLEARN_NAMES: [(&str, &str); 7] = [
    ("epochs", "max_iter"),
    ("learning-rate", "eta0"),
    ("margin-demand", "margin"),
    ("seed", "random_state"),
    ("patience", "n_iter_no_change"),
    ("tolerance", "tol"),
    ("c", "C"),
];

/// What Python calls a parameter.
fn parameter_name(name: &str) -> String {
    let known = SKLEARN_NAMES.iter().find(|(own, _)| *own == name);
    match (name, known) {
        (_, Some((_, theirs))) => (*theirs).to_owned(),
        ("column" | "ignore", None) => "columns".to_owned(),
        _ => name.replace('-', "_"),
    }
}

/// The parameters that the estimators call otherwise, as (parameter, name of the library).
#[pyfunction]
fn sklearn_names() -> Vec<(&'static str, &'static str)> {
    SKLEARN_NAMES.map(|(own, theirs)| (theirs, own)).to_vec()
}

/// Options from (name, text) pairs in the spelling of the library's table.
fn options(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut pairs = Vec::new();
    for (name, text) in given {
        let pair: (String, String) = (name.extract()?, text.extract()?);
        pairs.push(pair);
    }
    let mut options = Options::default();
    let pairs = pairs
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    options.set_all(pairs).map_err(raised)?;
    Ok(options)
}

/// Every parameter as (name, help, default), from the library's one table.
#[pyfunction]
fn parameters() -> Vec<(&'static str, String, String)> {
    let all = Options::parameters().into_iter();
    all.map(|p| (p.name, p.help, p.default)).collect()
}

/// The value of every parameter that a learner knows, when nothing is said.
#[pyfunction]
fn defaults(learner: &str) -> PyResult<HashMap<&'static str, String>> {
    let mut options = Options::default();
    options.set("learner", learner).map_err(raised)?;
    Ok(options.values().into_iter().collect())
}

/// What option `name` expects, if it cannot take this text.
#[pyfunction]
fn expected(name: &str, text: &str) -> Option<String> {
    Options::expected(name, text)
}

/// Runs the program with these arguments, its own name first; gives its exit status.
#[pyfunction]
fn run_program(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| rosenblatt_cli::run(arguments))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_class::<mixing::Partition>()?;
    module.add_function(wrap_pyfunction!(mixing::mixing_start, module)?)?;
    module.add_function(wrap_pyfunction!(mixing::mixing_check, module)?)?;
    module.add_function(wrap_pyfunction!(mixing::mixing_stop, module)?)?;
    module.add_function(wrap_pyfunction!(mixing::mixing_pass_to_keep, module)?)?;
    module.add_function(wrap_pyfunction!(mixing::mixed_model, module)?)?;
    module.add_function(wrap_pyfunction!(mixing::classes_of, module)?)?;
    module.add_function(wrap_pyfunction!(mixing::class_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(parameters, module)?)?;
    module.add_function(wrap_pyfunction!(sklearn_names, module)?)?;
    module.add_function(wrap_pyfunction!(defaults, module)?)?;
    module.add_function(wrap_pyfunction!(expected, module)?)?;
    module.add_function(wrap_pyfunction!(run_program, module)?)?;
    module.add_function(wrap_pyfunction!(training::fit, module)?)?;
    module.add_function(wrap_pyfunction!(training::trace, module)?)?;
    module.add_function(wrap_pyfunction!(separability::check, module)?)?;
    module.add_function(wrap_pyfunction!(estimation::firth, module)?)?;
    module.add_class::<partitions::CellFacts>()?;
    module.add_class::<partitions::TermCounts>()?;
    module.add_class::<partitions::Codes>()?;
    module.add_class::<partitions::Vocabulary>()?;
    module.add_class::<partitions::TablePreparation>()?;
    module.add_function(wrap_pyfunction!(partitions::text_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(partitions::prepare_table, module)?)?;
    module.add_function(wrap_pyfunction!(partitions::column_kind, module)?)?;
    module.add_function(wrap_pyfunction!(files::read_file, module)?)?;
    module.add_function(wrap_pyfunction!(files::sha256, module)?)
}
