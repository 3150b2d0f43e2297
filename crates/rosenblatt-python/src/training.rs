//! Training with the interpreter's lock let go.
//!
//! The work runs on a thread of its own. The calling thread looks after Python meanwhile: it
//! passes on what each pass found, and looks for signals, so that Ctrl-C ends a run within a
//! block of rows and not after it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rosenblatt::data::split;
use rosenblatt::options::{Order, Readout};
use rosenblatt::progress::{Pass, Stop};
use rosenblatt::training::{Callback, Fitted, Step};
use rosenblatt::{Error, Options, Result};

use crate::model::Model;
use crate::{arrays, options, raised};

/// How often the calling thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Ends a run whose training loss has stopped falling: as scikit-learn has it, when it was
/// above best − tolerance for so many passes in a row.
struct Plateau {
    tolerance: f64,
    patience: u64,
    best: f64,
    since: u64,
}

impl Plateau {
    fn reached(&mut self, loss: f64) -> bool {
        self.since = if loss > self.best - self.tolerance {
            self.since + 1
        } else {
            0
        };
        self.best = self.best.min(loss);
        self.since >= self.patience
    }
}

/// Hands every pass to the calling thread.
struct Teller<'a> {
    passes: Sender<(u64, Pass)>,
    plateau: Option<Plateau>,
    flat: &'a AtomicBool,
    interrupt: &'a AtomicBool,
}

impl Callback for Teller<'_> {
    fn pass(&mut self, epoch: u64, pass: &Pass) {
        if let Some(plateau) = &mut self.plateau
            && plateau.reached(pass.mean(pass.perceptron_loss))
        {
            self.flat.store(true, Ordering::Relaxed);
            self.interrupt.store(true, Ordering::Relaxed);
        }
        // Nobody listens any more once the caller has raised an exception.
        let _ = self.passes.send((epoch, *pass));
    }
}

/// What a pass found, for a callable of the user's.
fn record<'py>(py: Python<'py>, epoch: u64, pass: &Pass) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    record.set_item("epoch", epoch)?;
    record.set_item("visits", pass.visits)?;
    record.set_item("mistakes", pass.mistakes)?;
    record.set_item("updates", pass.updates)?;
    record.set_item("loss", pass.mean(pass.perceptron_loss))?;
    record.set_item("hinge_loss", pass.mean(pass.hinge_loss))?;
    record.set_item("squared_error", pass.mean(pass.squared_error))?;
    record.set_item("validation_accuracy", pass.validation_accuracy)?;
    Ok(record)
}

/// Follows the run until it ends; gives the exception that a callable or a signal raised.
fn follow(
    passes: &Receiver<(u64, Pass)>,
    progress: Option<&Py<PyAny>>,
    interrupt: &AtomicBool,
) -> Option<PyErr> {
    let mut looked = Instant::now();
    loop {
        let told = match passes.recv_timeout(LOOK) {
            Ok((epoch, pass)) => progress.map_or(Ok(()), |callable| {
                Python::attach(|py| callable.call1(py, (record(py, epoch, &pass)?,)).map(drop))
            }),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        // Passes may come faster than one would look, so the clock says when.
        let raised = told.and_then(|()| {
            if looked.elapsed() < LOOK {
                return Ok(());
            }
            looked = Instant::now();
            Python::attach(|py| py.check_signals())
        });
        if let Err(error) = raised {
            interrupt.store(true, Ordering::Relaxed);
            return Some(error);
        }
    }
}

/// Runs `train` on a thread of its own and looks after Python until it is done.
fn attended<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    plateau: Option<(f64, u64)>,
    train: impl FnOnce(&AtomicBool, &mut dyn Callback) -> Result<T> + Send,
) -> PyResult<(T, bool)> {
    let (interrupt, flat) = (AtomicBool::new(false), AtomicBool::new(false));
    let (outcome, error) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let (interrupt, flat) = (&interrupt, &flat);
            let worker = scope.spawn(move || {
                let mut teller = Teller {
                    passes: sender,
                    plateau: plateau.map(|(tolerance, patience)| Plateau {
                        tolerance,
                        patience,
                        best: f64::INFINITY,
                        since: 0,
                    }),
                    flat,
                    interrupt,
                };
                train(interrupt, &mut teller)
            });
            let error = follow(&receiver, progress.as_ref(), interrupt);
            drop(receiver);
            let outcome = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (outcome, error)
        })
    });
    if let Some(error) = error {
        return Err(error);
    }
    Ok((outcome.map_err(raised)?, flat.into_inner()))
}

/// Trains on arrays. `validate` holds out a share of the rows; `carry_on` is a model whose
/// weights go on with these rows; `plateau` is (tolerance, passes); `targets` are learned in
/// place of labels.
#[pyfunction]
#[pyo3(signature = (given, rows, labels, classes, *, weights=None, threads=1, memory=None, validate=None, carry_on=None, plateau=None, progress=None, targets=None))]
#[allow(clippy::too_many_arguments)] // Python's keywords, each with its own name.
pub(crate) fn fit(
    py: Python<'_>,
    given: &Bound<'_, PyDict>,
    rows: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
    memory: Option<u64>,
    validate: Option<f64>,
    carry_on: Option<PyRef<'_, Model>>,
    plateau: Option<(f64, u64)>,
    progress: Option<Py<PyAny>>,
    targets: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Model> {
    let options = options(given)?;
    let targets = targets.map(|targets| targets.as_array().to_vec());
    let data = arrays::dataset(rows, labels, classes, weights)?;
    let before = carry_on.map(|model| model.model.clone());
    let (mut fitted, flat): (Fitted, bool) =
        attended(py, progress, plateau, |interrupt, observer| {
            let parts = validate
                .map(|share| split::hold_out(&data.labels, share, options.seed))
                .map(|split| (data.select(&split.train), data.select(&split.held_out)));
            let (train, held_out) = match &parts {
                Some((_, held_out)) if held_out.is_empty() => {
                    return Err(Error::options("the validation set is empty")
                        .remedy("use a larger validation_fraction"));
                }
                Some((train, held_out)) => (train, Some(held_out)),
                None => (&data, None),
            };
            rosenblatt::session(&options)
                .validate_on(held_out)
                .targets(targets.as_deref())
                .partial_fit(before.as_ref())
                .interrupt(interrupt)
                .threads(threads)
                .memory(memory)
                .train_with(train, observer)
        })?;
    match fitted.model.progress.stop {
        Some(Stop::Interrupted) if flat => {
            fitted.model.progress.stop = Some(Stop::NoImprovement);
        }
        Some(Stop::Interrupted) => return Err(PyKeyboardInterrupt::new_err(())),
        _ => {}
    }
    Ok(Model::fitted(fitted))
}

/// Numbers that a trace may hold.
const LIMIT: usize = 50_000_000;

struct Steps<'a> {
    teller: &'a mut dyn Callback,
    steps: Vec<Step>,
    held: usize,
    interrupt: &'a AtomicBool,
}

impl Callback for Steps<'_> {
    fn wants_steps(&self) -> bool {
        true
    }

    fn step(&mut self, step: Step) {
        self.held += 2 * step.weights.len();
        if self.held <= LIMIT {
            self.steps.push(step);
        } else {
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }

    fn pass(&mut self, epoch: u64, pass: &Pass) {
        self.teller.pass(epoch, pass);
    }
}

/// The steps of a run as a list of dictionaries.
#[pyfunction]
pub(crate) fn trace<'py>(
    py: Python<'py>,
    given: &Bound<'py, PyDict>,
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyList>> {
    let mut options = options(given)?;
    let told = |name: &str| given.contains(name);
    if !told("order")? {
        options.order = Order::Given;
    }
    if !told("readout")? {
        options.readout = Some(Readout::Last);
    }
    let options: Options = options;
    let data = arrays::dataset(rows, labels, classes, weights)?;
    let ((steps, held, stop), _) = attended(py, None, None, |interrupt, teller| {
        let mut steps = Steps {
            teller,
            steps: Vec::new(),
            held: 0,
            interrupt,
        };
        let fitted = rosenblatt::session(&options)
            .interrupt(interrupt)
            .threads(1)
            .train_with(&data, &mut steps)?;
        Ok((steps.steps, steps.held, fitted.model.progress.stop))
    })?;
    if held > LIMIT {
        return Err(raised(
            Error::options("the trace is too long to be read").remedy("limit it with ⟨epochs⟩"),
        ));
    }
    if stop == Some(Stop::Interrupted) {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    let records = PyList::empty(py);
    for step in steps {
        let record = PyDict::new(py);
        record.set_item("step", step.step)?;
        record.set_item("epoch", step.epoch)?;
        record.set_item("row", step.row - 1)?;
        record.set_item("label", step.label)?;
        record.set_item("weights", arrays::array(py, step.weights))?;
        match step.scores.as_slice() {
            [score] => record.set_item("score", *score)?,
            _ => record.set_item("score", arrays::array(py, step.scores))?,
        }
        record.set_item("correct", step.correct)?;
        record.set_item("weights_after", arrays::array(py, step.weights_after))?;
        records.append(record)?;
    }
    Ok(records)
}
