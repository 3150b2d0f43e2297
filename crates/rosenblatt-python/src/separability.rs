//! Whether classes can be separated, decided and proved on the very numbers of an array.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rosenblatt::proof::{
    BiasTerm, Decision, Estimate, ExactRows, ExactText, JointRows, Limits, MarginKind, Notation,
    ProvedVerdict, SearchBudget, SignedRows, TwoSides, Undecided, Witness, margin_within, radius,
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

/// A verdict, or what is known without one: rows that refute separability, with their
/// multipliers, and the fewest rows that a plane misclassified.
enum Outcome {
    Found(Found),
    Undecided(Undecided),
}

/// What is asked.
struct Question {
    bias: BiasTerm,
    most_coefficients: usize,
    verdict_only: bool,
    threads: usize,
}

/// How often Python is asked whether the user interrupts.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `decide` on a thread of its own and looks after Python's signals until it is done.
fn attended<T: Send>(
    py: Python<'_>,
    decide: impl FnOnce(&AtomicBool) -> rosenblatt::Result<T> + Send,
) -> PyResult<T> {
    let interrupt = AtomicBool::new(false);
    let (outcome, error) = py.detach(|| {
        std::thread::scope(|scope| {
            let (flag, mut error) = (&interrupt, None);
            let worker = scope.spawn(move || decide(flag));
            let mut pause = Duration::from_micros(50);
            while !worker.is_finished() {
                std::thread::sleep(pause);
                pause = (pause * 2).min(LOOK);
                if error.is_none() && pause == LOOK {
                    error = Python::attach(|py| py.check_signals()).err();
                    interrupt.store(error.is_some(), Ordering::Relaxed);
                }
            }
            (worker.join(), error)
        })
    });
    match (outcome, error) {
        (_, Some(error)) => Err(error),
        (Ok(outcome), None) => outcome.map_err(raised),
        (Err(panic), None) => std::panic::resume_unwind(panic),
    }
}

pub(crate) fn toward(estimate: Estimate) -> &'static str {
    match estimate {
        Estimate::PlusInfinity => "+inf",
        Estimate::MinusInfinity => "-inf",
        Estimate::Either => "either",
        Estimate::Finite => "finite",
        Estimate::NotIdentified => "not_identified",
    }
}

/// Decides; coefficients are classified where there are at most `most_coefficients`. Numbers are
/// binary unless there are `decimals`: then they are the shortest decimals, but for these (row,
/// feature, text).
#[pyfunction]
#[pyo3(signature = (rows, labels, classes, *, lifted, most_coefficients, time_limit, verdict_only, threads, decimals=None))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub(crate) fn check<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    lifted: bool,
    most_coefficients: usize,
    time_limit: Option<f64>,
    verdict_only: bool,
    threads: usize,
    decimals: Option<Vec<(usize, usize, String)>>,
) -> PyResult<Bound<'py, PyDict>> {
    let started = Instant::now();
    let data = arrays::dataset(rows, labels, classes, None)?;
    let question = Question {
        bias: match lifted {
            true => BiasTerm::Lifted,
            false => BiasTerm::None,
        },
        most_coefficients,
        verdict_only,
        threads,
    };
    let limit = time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let outcome = attended(py, |interrupt| {
        let limits = Limits {
            deadline: limit.and_then(|limit| started.checked_add(limit)),
            interrupt: Some(interrupt),
            listener: None,
        };
        let (notation, exceptions) = match &decimals {
            None => (Notation::Binary, Vec::new()),
            Some(long) => {
                let long = long.iter().map(|(row, feature, text)| ExactText {
                    row: *row,
                    feature: *feature,
                    text: text.clone(),
                });
                (Notation::Decimal, long.collect())
            }
        };
        let exact = ExactRows::new(&data, notation, &exceptions)?;
        if data.classes.len() <= 2 {
            two_classes(&exact, &question, &limits)
        } else {
            several_classes(&exact, &question, &limits)
        }
    })?;
    let found = match outcome {
        Outcome::Found(found) => found,
        Outcome::Undecided(known) => return undecided(py, &known),
    };
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

/// What is known without a verdict.
fn undecided<'py>(py: Python<'py>, known: &Undecided) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let refutation = known.refutation.iter();
    let (support, multipliers): (Vec<usize>, Vec<String>) =
        refutation.map(|(row, m)| (*row, m.to_string())).unzip();
    result.set_item("verdict", "undecided")?;
    result.set_item("stop", known.stop.name())?;
    result.set_item("support", support)?;
    result.set_item("multipliers", multipliers)?;
    result.set_item("fewest_misclassified", known.fewest_misclassified)?;
    Ok(result)
}

fn two_classes(
    exact: &ExactRows<'_>,
    question: &Question,
    limits: &Limits<'_>,
) -> rosenblatt::Result<Outcome> {
    let threads = question.threads;
    let rows = TwoSides::positive_against_rest(exact, question.bias);
    let decision = match Decision::new(&rows, threads, limits)? {
        Ok(decision) => decision,
        Err(known) => return Ok(Outcome::Undecided(known)),
    };
    let wanted = !question.verdict_only;
    let classified = match wanted && rows.dimension() <= question.most_coefficients {
        true => decision.coefficients().ok(),
        false => None,
    };
    let margins = match &decision.proved.witness {
        Witness::Separable { w } if wanted => {
            Some([MarginKind::Lifted, MarginKind::Plain].map(|kind| {
                let budget = SearchBudget::default();
                let bracket = margin_within(limits, &rows, kind, Some(w), budget, threads);
                (bracket.lower, bracket.upper)
            }))
        }
        _ => None,
    };
    let decision = decision.proved;
    Ok(Outcome::Found(Found {
        support: decision.lambda().iter().map(|(row, _)| *row).collect(),
        radius: radius(&rows, threads),
        decision,
        rank: classified.as_ref().map(|found| found.rank),
        estimates: classified.map_or(Vec::new(), |found| found.estimates),
        margins,
    }))
}

fn several_classes(
    exact: &ExactRows<'_>,
    question: &Question,
    limits: &Limits<'_>,
) -> rosenblatt::Result<Outcome> {
    let jointly = JointRows::new(exact, question.bias);
    let example = |row: usize| jointly.example_and_rival(row).0;
    let decision = match Decision::new(&jointly, question.threads, limits)? {
        Ok(decision) => decision.proved,
        Err(mut known) => {
            // By example, as the support of a verdict is.
            for (row, _) in &mut known.refutation {
                *row = example(*row);
            }
            known.refutation.dedup_by_key(|(row, _)| *row);
            return Ok(Outcome::Undecided(known));
        }
    };
    let lambda = decision.lambda().iter();
    let support: std::collections::BTreeSet<usize> = lambda.map(|(row, _)| example(*row)).collect();
    let rows = TwoSides::positive_against_rest(exact, question.bias);
    Ok(Outcome::Found(Found {
        support: support.into_iter().collect(),
        radius: radius(&rows, question.threads),
        decision,
        estimates: Vec::new(),
        rank: None,
        margins: None,
    }))
}
