//! Passes over parts of the rows, for runs that are spread over machines.
//!
//! What travels between machines is made of plain arrays: a state is a dictionary of them, with
//! the weights feature by feature and the biases last.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rosenblatt::data::{Classes, Dataset, Layout, split};
use rosenblatt::mixing::{self, Finished, Made, Measured, SweptMargin};
use rosenblatt::model::{Fingerprint, LinearState};
use rosenblatt::options::{DataSize, Readout};
use rosenblatt::progress::{BestPass, Pass, Progress, Stop};
use rosenblatt::readout::Average;
use rosenblatt::scheme::Scheme;
use rosenblatt::weights::Weights;
use rosenblatt::{Error, Options};

use crate::model::Model;
use crate::{arrays, files, options, raised};

/// Rows that are learned together.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct Partition {
    data: Dataset,
}

/// A pass: visits, mistakes, updates, perceptron loss, hinge loss, squared error, visits that found
/// a margin of 0, accuracy on held-out rows.
type PassTuple = (u64, u64, u64, f64, f64, f64, u64, Option<f64>);

fn told(pass: &Pass) -> PassTuple {
    (
        pass.visits,
        pass.mistakes,
        pass.updates,
        pass.perceptron_loss,
        pass.hinge_loss,
        pass.squared_error,
        pass.on_boundary,
        pass.validation_accuracy,
    )
}

fn pass(told: PassTuple) -> Pass {
    Pass {
        visits: told.0,
        mistakes: told.1,
        updates: told.2,
        perceptron_loss: told.3,
        hinge_loss: told.4,
        squared_error: told.5,
        on_boundary: told.6,
        validation_accuracy: told.7,
    }
}

/// Weights feature by feature, and the biases behind them.
fn flat<'py>(py: Python<'py>, weights: &Weights) -> Bound<'py, PyArray1<f64>> {
    let mut all = weights.packed().into_owned();
    all.extend_from_slice(weights.biases());
    arrays::array(py, all)
}

fn state_dict<'py>(py: Python<'py>, state: &LinearState) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("unit", state.unit)?;
    found.set_item("weights", flat(py, &state.weights))?;
    if let Some(confidence) = &state.confidence {
        found.set_item("confidence", flat(py, confidence))?;
    }
    if let Some(average) = &state.average {
        found.set_item("factor", arrays::array(py, average.factor.clone()))?;
        found.set_item("visits", arrays::array(py, average.visits.clone()))?;
        found.set_item("correction", flat(py, &average.correction))?;
    }
    Ok(found)
}

fn state_of(options: &Options, scheme: Scheme, given: &Bound<'_, PyDict>) -> PyResult<LinearState> {
    fn taken<'py, T: FromPyObjectOwned<'py>>(
        given: &Bound<'py, PyDict>,
        name: &str,
    ) -> PyResult<Option<T>> {
        given
            .get_item(name)?
            .map(|found| found.extract().map_err(Into::into))
            .transpose()
    }
    let k = scheme.discriminators();
    let weights = |name: &str| -> PyResult<Option<Weights>> {
        let Some(all) = taken::<PyReadonlyArray1<'_, f64>>(given, name)? else {
            return Ok(None);
        };
        let all = all.as_slice()?;
        if all.len() < k || !all.len().is_multiple_of(k) {
            return Err(PyValueError::new_err(format!(
                "{name}: {} numbers are no weights of {k} discriminators",
                all.len()
            )));
        }
        let (weights, biases) = all.split_at(all.len() - k);
        Ok(Some(Weights::from_parts(k, weights, biases)))
    };
    let missing = || PyValueError::new_err("the state has no weights");
    let now = weights("weights")?.ok_or_else(missing)?;
    let readout = options.readout();
    let averaged = matches!(readout, Readout::Averaged | Readout::AveragedNormalised);
    let norms = readout == Readout::AveragedNormalised || options.normalise_weights;
    let average = match weights("correction")? {
        _ if !averaged => None,
        None => Some(Average::new(scheme, now.features())),
        Some(correction) => Some(Average {
            factor: taken::<Vec<f64>>(given, "factor")?.ok_or_else(missing)?,
            visits: taken::<Vec<u64>>(given, "visits")?.ok_or_else(missing)?,
            correction,
        }),
    };
    let groups = scheme.groups();
    let fits = |average: &Average| {
        average.factor.len() == groups
            && average.visits.len() == groups
            && average.correction.features() == now.features()
    };
    let confidence = weights("confidence")?;
    if !average.iter().all(fits) || confidence.iter().any(|c| c.features() != now.features()) {
        return Err(PyValueError::new_err(
            "the parts of the state do not fit each other",
        ));
    }
    Ok(LinearState {
        weights: now,
        unit: taken(given, "unit")?.unwrap_or(1.0),
        norms: norms.then(|| vec![0.0; groups]),
        confidence,
        average,
        kept: None,
        log: None,
        scale: None,
        cut: None,
    })
}

impl Partition {
    fn state(&self, options: &Options, given: &Bound<'_, PyDict>) -> PyResult<LinearState> {
        let scheme = mixing::scheme(options, self.data.classes.len());
        let state = state_of(options, scheme, given)?;
        if state.weights.features() != self.data.features() {
            return Err(PyValueError::new_err(format!(
                "the rows have {} features, but the weights {}",
                self.data.features(),
                state.weights.features()
            )));
        }
        Ok(state)
    }
}

#[pymethods]
impl Partition {
    /// Labelled rows; labels are numbers of classes. `permuted` says that the rows lie in the order
    /// of a partition that was permuted.
    #[new]
    #[pyo3(signature = (rows, labels, classes, weights=None, permuted=false))]
    fn new(
        rows: &Bound<'_, PyAny>,
        labels: PyReadonlyArray1<'_, u32>,
        classes: Vec<String>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        permuted: bool,
    ) -> PyResult<Self> {
        let mut data = arrays::dataset(rows, labels, classes, weights)?;
        if permuted {
            data.layout = Layout::Permuted;
        }
        Ok(Partition { data })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, data) = (slf.py(), &slf.get().data);
        let labels = arrays::array(py, data.labels.clone());
        let weights = data.weights.clone().map(|w| arrays::array(py, w));
        // Offsets as the constructor takes them.
        let rows = files::core_rows(py, &data.matrix)?;
        let permuted = data.layout == Layout::Permuted;
        let arguments = (
            rows,
            labels,
            data.classes.names().to_vec(),
            weights,
            permuted,
        );
        let rebuilt = py.import("rosenblatt._mix")?.getattr("_rebuilt")?;
        Ok((rebuilt, arguments.into_pyobject(py)?))
    }

    fn __sizeof__(&self) -> usize {
        let each = size_of::<u32>() + self.data.weights.as_ref().map_or(0, |_| size_of::<f64>());
        self.data.matrix.bytes() + self.data.len() * each
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }

    #[getter]
    fn features(&self) -> usize {
        self.data.features()
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.data.classes.names().to_vec()
    }

    /// The same rows in another order in memory, in which passes run faster.
    fn permuted(&self, py: Python<'_>) -> Self {
        py.detach(|| Partition {
            data: self.data.to_permuted(),
        })
    }

    /// Values that are not zero, values that a pass looks at, whether rows are sparse, rows.
    fn size(&self) -> (usize, usize, bool, usize) {
        let size = DataSize::of(&self.data.matrix, 1);
        (size.non_zeros, size.values, size.sparse, size.examples)
    }

    /// One pass from a state, or from the start, after so many passes and updates of the whole run:
    /// the state then, what happened, Σ of the squared steps, and whether the limit on updates ended
    /// the pass early.
    #[pyo3(signature = (given, state, passes, updates))]
    fn one_pass<'py>(
        &self,
        py: Python<'py>,
        given: &Bound<'py, PyDict>,
        state: Option<&Bound<'py, PyDict>>,
        passes: u64,
        updates: u64,
    ) -> PyResult<(Bound<'py, PyDict>, PassTuple, f64, bool)> {
        let options = options(given)?;
        let before = state.map(|state| self.state(&options, state)).transpose()?;
        let made = Made { passes, updates };
        let update = py
            .detach(|| mixing::one_pass(&options, &self.data, before, made))
            .map_err(raised)?;
        Ok((
            state_dict(py, &update.state)?,
            told(&update.pass),
            update.squared_steps,
            update.broken_off,
        ))
    }

    /// What a look at every row finds with these weights.
    fn sweep(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyDict>,
        state: &Bound<'_, PyDict>,
    ) -> PyResult<PassTuple> {
        let options = options(given)?;
        let state = self.state(&options, state)?;
        py.detach(|| mixing::sweep(&options, &self.data, state))
            .map(|found| told(&found))
            .map_err(raised)
    }

    /// R² with and without the constant feature, and the largest weight of a row.
    fn measure(&self, py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<(f64, f64, f64)> {
        let options = options(given)?;
        let found = py
            .detach(|| mixing::measure(&options, &self.data, 1))
            .map_err(raised)?;
        Ok((
            found.squared_radius,
            found.plain_squared_radius,
            found.largest_weight,
        ))
    }

    /// The smallest margin of these weights, and the length of the shortest row.
    fn margin(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyDict>,
        state: &Bound<'_, PyDict>,
    ) -> PyResult<(f64, f64)> {
        let options = options(given)?;
        let state = self.state(&options, state)?;
        py.detach(|| mixing::margin(&options, &self.data, &state, 1))
            .map(|swept| (swept.least, swept.shortest))
            .map_err(raised)
    }

    /// The losses of a logistic regression, for each group of discriminators learned together, and
    /// their slope downhill.
    fn log_losses<'py>(
        &self,
        py: Python<'py>,
        given: &Bound<'py, PyDict>,
        weights: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(Vec<f64>, Bound<'py, PyArray1<f64>>)> {
        let options = options(given)?;
        let weights = weights.as_slice()?;
        let (losses, slope) = py
            .detach(|| mixing::log_losses(&options, &self.data, weights))
            .map_err(raised)?;
        Ok((losses, arrays::array(py, slope)))
    }

    /// What the rows add to the fingerprint of a set in which they begin at row `first`.
    fn fingerprint(&self, py: Python<'_>, first: usize) -> (u64, u64) {
        py.detach(|| Fingerprint::of_part(&self.data, first))
    }

    /// The rows that are learned, and a share that is held out, by class.
    fn hold_out(&self, share: f64, seed: u64) -> (Self, Self) {
        let rows = 0..self.data.len();
        let labels: Vec<u32> = rows
            .map(|row| self.data.labels[self.data.position(row)])
            .collect();
        let split = split::hold_out(&labels, share, seed);
        (
            Partition {
                data: self.data.select(&split.train),
            },
            Partition {
                data: self.data.select(&split.held_out),
            },
        )
    }

    /// How many rows a model classifies as they are labelled.
    fn right(&self, py: Python<'_>, model: PyRef<'_, Model>) -> PyResult<usize> {
        let model = &model.model;
        let labels = py
            .detach(|| model.predict(&self.data.matrix, 1))
            .map_err(raised)?;
        let both = labels.iter().zip(&self.data.labels);
        Ok(both.filter(|(found, label)| found == label).count())
    }
}

/// The state before the first pass.
#[pyfunction]
pub(crate) fn mixing_start<'py>(
    py: Python<'py>,
    given: &Bound<'py, PyDict>,
    classes: Vec<String>,
    features: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let options = options(given)?;
    let state = mixing::start(&options, Classes::from_ordered(classes), features);
    state_dict(py, &state.map_err(raised)?)
}

/// Refuses options of runs that need all rows in one place.
#[pyfunction]
pub(crate) fn mixing_check(given: &Bound<'_, PyDict>) -> PyResult<()> {
    mixing::check(&options(given)?).map_err(raised)
}

/// Why a run ends after these passes, unless it goes on. `size` is that of all rows; `best` are the
/// best pass by held-out rows, the first that was as good, and how good it is.
#[pyfunction]
#[pyo3(signature = (given, classes, size, passes, updates, best=None))]
pub(crate) fn mixing_stop(
    given: &Bound<'_, PyDict>,
    classes: usize,
    size: (usize, usize, bool, usize),
    passes: Vec<PassTuple>,
    updates: u64,
    best: Option<(u64, u64, f64)>,
) -> PyResult<Option<&'static str>> {
    let options = options(given)?;
    let progress = Progress {
        passes: passes.into_iter().map(pass).collect(),
        updates,
        best: best.map(best_pass),
        ..Progress::default()
    };
    let size = DataSize {
        non_zeros: size.0,
        values: size.1,
        sparse: size.2,
        examples: size.3,
        discriminators: mixing::scheme(&options, classes).discriminators(),
    };
    Ok(mixing::stop(&options, size, &progress).map(Stop::name))
}

fn best_pass((pass, reached, score): (u64, u64, f64)) -> BestPass {
    BestPass {
        pass,
        reached,
        score,
    }
}

fn stop_named(name: &str, at_zero: u64) -> PyResult<Stop> {
    Stop::named(name, at_zero)
        .ok_or_else(|| PyValueError::new_err(format!("{name:?} is no reason to stop")))
}

/// What a run of passes over parts found, as [`mixed_model`] takes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunDict<'py> {
    state: Bound<'py, PyDict>,
    best_state: Option<Bound<'py, PyDict>>,
    passes: Vec<PassTuple>,
    current: Option<PassTuple>,
    squared_steps: f64,
    mixed_updates: f64,
    stop: Option<String>,
    best: Option<(u64, u64, f64)>,
    kept: Option<u64>,
    measured: (f64, f64, f64),
    margin: Option<(f64, f64)>,
    /// Examples, features, values that are not zero, hash.
    trained_on: (u64, u64, u64, u64),
}

/// The pass whose average becomes the model where nothing is held out, if there is one.
#[pyfunction]
pub(crate) fn mixing_pass_to_keep(given: &Bound<'_, PyDict>) -> PyResult<Option<u64>> {
    Ok(mixing::pass_to_keep(&options(given)?))
}

/// The model of a run of passes over parts.
#[pyfunction]
pub(crate) fn mixed_model(
    given: &Bound<'_, PyDict>,
    classes: Vec<String>,
    run: RunDict<'_>,
) -> PyResult<Model> {
    let options = options(given)?;
    let scheme = mixing::scheme(&options, classes.len());
    let state = state_of(&options, scheme, &run.state)?;
    let mut progress = Progress {
        squared_steps: run.squared_steps,
        best: run.best.map(best_pass),
        kept: run.kept,
        ..Progress::default()
    };
    for found in run.passes.into_iter().map(pass) {
        progress.count(&found);
        progress.passes.push(found);
    }
    if let Some(found) = run.current.map(pass) {
        progress.count(&found);
        progress.current = found;
    }
    let at_zero = progress.passes.last().map_or(0, |pass| pass.on_boundary);
    let stop = run
        .stop
        .map(|name| stop_named(&name, at_zero))
        .transpose()?;
    progress.stop = stop;
    let (squared_radius, plain_squared_radius, largest_weight) = run.measured;
    let (examples, features, non_zeros, hash) = run.trained_on;
    let finished = Finished {
        classes: Classes::from_ordered(classes),
        state,
        progress,
        kept: (run.best_state)
            .map(|best| state_of(&options, scheme, &best))
            .transpose()?,
        measured: Measured {
            squared_radius,
            plain_squared_radius,
            largest_weight,
        },
        margin: (run.margin).map(|(least, shortest)| SweptMargin { least, shortest }),
        mixed_updates: run.mixed_updates,
        trained_on: Fingerprint {
            examples,
            features,
            non_zeros,
            hash,
        },
    };
    Ok(Model::fitted(
        mixing::fitted(&options, finished).map_err(raised)?,
    ))
}

/// Classes in their order from names that may repeat.
#[pyfunction]
pub(crate) fn classes_of(names: Vec<String>) -> Vec<String> {
    let classes = Classes::from_labels(names.iter().map(String::as_str));
    classes.names().to_vec()
}

/// The number of the class that each name means, None where it means none.
#[pyfunction]
pub(crate) fn class_numbers(classes: Vec<String>, names: Vec<String>) -> Vec<Option<u32>> {
    let classes = Classes::from_ordered(classes);
    names.iter().map(|name| classes.find(name)).collect()
}

/// The text of a file from byte `start` to `end`, after `head`.
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) head: Vec<u8>,
}

impl Span {
    /// Its bytes.
    pub(crate) fn bytes(&self, path: &Path) -> rosenblatt::Result<Cursor<Vec<u8>>> {
        let mut bytes = self.head.clone();
        let mut read = || -> std::io::Result<usize> {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(self.start))?;
            file.take(self.end - self.start).read_to_end(&mut bytes)
        };
        read().map_err(|e| Error::io(path, &e))?;
        Ok(Cursor::new(bytes))
    }

    /// An error of a line of it, with the line's number in the file.
    pub(crate) fn placed(&self, error: Error, path: &Path) -> Error {
        let count = || -> std::io::Result<u64> {
            let mut before = File::open(path)?.take(self.start);
            let (mut lines, mut part) = (0, vec![0; 1 << 20]);
            loop {
                match before.read(&mut part)? {
                    0 => return Ok(lines),
                    n => lines += part[..n].iter().filter(|&&b| b == b'\n').count() as u64,
                }
            }
        };
        let head = self.head.iter().filter(|&&b| b == b'\n').count() as u64;
        match (error.position().map(|p| p.line), count()) {
            (Some(line), Ok(lines)) if line > head => error.shifted(lines.saturating_sub(head)),
            _ => error,
        }
    }
}
