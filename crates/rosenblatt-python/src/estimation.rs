//! The estimates of a logistic regression, and whether there are any.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rosenblatt::estimation::{Coefficient, Estimation, Interval, Objective};
use rosenblatt::proof::{BiasTerm, Estimate, ExactRows, Notation, TwoSides, coefficients};

use crate::{arrays, raised, separability::toward};

/// Estimates with Firth's penalty; columns that make up for each other are named and nothing is
/// estimated.
#[pyfunction]
#[pyo3(signature = (rows, labels, classes, weights, *, lifted, level, profile, threads))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub(crate) fn firth<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    lifted: bool,
    level: f64,
    profile: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let data = arrays::dataset(rows, labels, classes, weights)?;
    let bias = match lifted {
        true => BiasTerm::Lifted,
        false => BiasTerm::None,
    };
    let asked = Estimation {
        objective: Objective::Firth,
        interval: match profile {
            true => Interval::Profile,
            false => Interval::Wald,
        },
        level,
        intercept: lifted,
        threads,
    };
    let (found, estimates) = py
        .detach(|| {
            let exact = ExactRows::new(&data, Notation::Binary, &[])?;
            let found = coefficients(&TwoSides::positive_against_rest(&exact, bias), threads)?;
            let estimates = match found.estimates.contains(&Estimate::NotIdentified) {
                true => None,
                false => Some(rosenblatt::estimation::estimate(&data, &asked)?),
            };
            Ok((found, estimates))
        })
        .map_err(raised)?;
    let result = PyDict::new(py);
    let toward: Vec<&str> = found.estimates.iter().map(|t| toward(*t)).collect();
    result.set_item("verdict", found.decision.verdict().name())?;
    result.set_item("trends", toward)?;
    if let Some(estimates) = estimates {
        let each = |of: fn(&Coefficient) -> f64| -> Vec<f64> {
            estimates.coefficients.iter().map(of).collect()
        };
        result.set_item("estimate", arrays::array(py, each(|c| c.estimate)))?;
        result.set_item(
            "standard_error",
            arrays::array(py, each(|c| c.standard_error)),
        )?;
        result.set_item("lower", arrays::array(py, each(|c| c.lower)))?;
        result.set_item("upper", arrays::array(py, each(|c| c.upper)))?;
        result.set_item("p_value", arrays::array(py, each(|c| c.p_value)))?;
        result.set_item("log_likelihood", estimates.objective)?;
        result.set_item("steps", estimates.steps)?;
    }
    Ok(result)
}
