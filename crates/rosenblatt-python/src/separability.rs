//! Whether classes can be separated, decided and proved on the very numbers of an array.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rosenblatt::proof::{
    BiasTerm, Coefficients, Estimate, ExactRows, JointRows, MarginKind, Notation, ProvedVerdict,
    SearchBudget, SignedRows, TwoSides, Witness, coefficients, decide, margin, radius,
};

use rosenblatt::bounds;

use crate::{arrays, raised};

/// What was found, before it becomes Python's.
struct Found {
    decision: ProvedVerdict,
    estimates: Vec<Estimate>,
    rank: Option<usize>,
    radius: f64,
    margins: Option<[(f64, f64); 2]>,
    support: Vec<usize>,
}

fn toward(estimate: Estimate) -> &'static str {
    match estimate {
        Estimate::PlusInfinity => "+inf",
        Estimate::MinusInfinity => "-inf",
        Estimate::Either => "either",
        Estimate::Finite => "finite",
        Estimate::NotIdentified => "not_identified",
    }
}

/// Decides; coefficients are classified where there are at most `most_coefficients`.
#[pyfunction]
#[pyo3(signature = (rows, labels, classes, *, lifted, most_coefficients, threads))]
pub(crate) fn check<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    lifted: bool,
    most_coefficients: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let data = arrays::dataset(rows, labels, classes, None)?;
    let bias = if lifted {
        BiasTerm::Lifted
    } else {
        BiasTerm::None
    };
    let found = py
        .detach(|| {
            let exact = ExactRows::new(&data, Notation::Binary, &[])?;
            if data.classes.len() <= 2 {
                two_classes(&exact, bias, most_coefficients, threads)
            } else {
                several_classes(&exact, bias, threads)
            }
        })
        .map_err(raised)?;
    let result = PyDict::new(py);
    result.set_item("verdict", found.decision.verdict().name())?;
    result.set_item(
        "trends",
        found
            .estimates
            .iter()
            .map(|t| toward(*t))
            .collect::<Vec<_>>(),
    )?;
    result.set_item("rank", found.rank)?;
    result.set_item("radius", found.radius)?;
    let [lifted_margin, plain_margin] = match found.margins {
        Some([lifted, plain]) => [Some(lifted), Some(plain)],
        None => [None, None],
    };
    result.set_item("margin", lifted_margin)?;
    result.set_item("plain_margin", plain_margin)?;
    result.set_item(
        "mistake_bound",
        lifted_margin.and_then(|m| bounds::count(bounds::from_zero(found.radius, m.0))),
    )?;
    result.set_item("support", found.support)?;
    // Whole numbers of any size travel as text.
    let decimal = |list: &[rosenblatt::proof::Integer]| -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    };
    result.set_item("separator", found.decision.separator().map(|w| decimal(w)))?;
    result.set_item(
        "multipliers",
        found
            .decision
            .lambda()
            .iter()
            .map(|(_, weight)| weight.to_string())
            .collect::<Vec<_>>(),
    )?;
    result.set_item(
        "separated",
        match &found.decision.witness {
            Witness::QuasiSeparable { separated, .. } => Some(separated.clone()),
            _ => None,
        },
    )?;
    Ok(result)
}

fn two_classes(
    exact: &ExactRows<'_>,
    bias: BiasTerm,
    most_coefficients: usize,
    threads: usize,
) -> rosenblatt::Result<Found> {
    let rows = TwoSides::positive_against_rest(exact, bias);
    let (decision, estimates, rank) = if rows.dimension() <= most_coefficients {
        let Coefficients {
            decision,
            estimates,
            rank,
            ..
        } = coefficients(&rows, threads)?;
        (decision, estimates, Some(rank))
    } else {
        (decide(&rows, threads)?, Vec::new(), None)
    };
    let margins = match &decision.witness {
        Witness::Separable { w } => Some([MarginKind::Lifted, MarginKind::Plain].map(|kind| {
            let bracket = margin(&rows, kind, Some(w), SearchBudget::default(), threads);
            (bracket.lower, bracket.upper)
        })),
        _ => None,
    };
    Ok(Found {
        support: decision.lambda().iter().map(|(row, _)| *row).collect(),
        radius: radius(&rows, threads),
        decision,
        estimates,
        rank,
        margins,
    })
}

fn several_classes(
    exact: &ExactRows<'_>,
    bias: BiasTerm,
    threads: usize,
) -> rosenblatt::Result<Found> {
    let jointly = JointRows::new(exact, bias);
    let decision = decide(&jointly, threads)?;
    let support: std::collections::BTreeSet<usize> = decision
        .lambda()
        .iter()
        .map(|(row, _)| jointly.example_and_rival(*row).0)
        .collect();
    Ok(Found {
        support: support.into_iter().collect(),
        radius: radius(&TwoSides::positive_against_rest(exact, bias), threads),
        decision,
        estimates: Vec::new(),
        rank: None,
        margins: None,
    })
}
