//! A trained model in Python's hands.

use std::path::PathBuf;

use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rosenblatt::calibration::Method;
use rosenblatt::data::{Precision, StringTable};
use rosenblatt::model::{Decision, Model as Trained};
use rosenblatt::options::parse_choice;
use rosenblatt::progress::Progress;
use rosenblatt::read::Preparation;
use rosenblatt::readout::Average;
use rosenblatt::scheme::Scheme;
use rosenblatt::training::{Fitted, MarginBracket};
use rosenblatt::weights::Weights;

use crate::partitions::TablePreparation;
use crate::{arrays, raised};

/// What a model's recipe calls the type of its labels in Python; the program has no use for it.
const LABEL_TYPE: &str = "label-type";

/// A model, and what its training found out beside it.
#[pyclass(frozen, module = "rosenblatt._core")]
pub(crate) struct Model {
    pub(crate) model: Trained,
    radius: Option<f64>,
    margin: Option<MarginBracket>,
    most_updates: Option<u64>,
}

impl Model {
    pub(crate) fn fitted(fitted: Fitted) -> Self {
        Model {
            radius: Some(fitted.radius),
            margin: fitted.margin,
            most_updates: fitted.updates_at_most,
            model: fitted.model,
        }
    }

    /// A model that was saved, its preparation checked.
    fn loaded(model: Trained) -> PyResult<Self> {
        Preparation::of_model(&model).map_err(raised)?;
        Ok(Model {
            model,
            radius: None,
            margin: None,
            most_updates: None,
        })
    }

    /// The model with a preparation, so that the command line can give it files.
    fn for_files(
        &self,
        names: Option<Vec<String>>,
        label: &str,
        single: bool,
        label_type: Option<String>,
    ) -> Trained {
        let mut model = self.model.clone();
        model.recipe.retain(|(name, _)| name != LABEL_TYPE);
        let label_type = label_type.map(|kind| (LABEL_TYPE.to_owned(), kind));
        model.recipe.extend(label_type);
        if model.preparation.is_none() {
            let names: Option<StringTable> = names.map(|n| n.iter().collect());
            let precision = if single {
                Precision::F32
            } else {
                Precision::F64
            };
            let features = model.features();
            Preparation::for_arrays(features, names.as_ref(), label, precision)
                .store_in(&mut model);
        }
        model
    }
}

#[pymethods]
impl Model {
    /// The model in a file's bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Self::loaded(Trained::from_bytes(bytes).map_err(raised)?)
    }

    /// The model in a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let model = Trained::load(&path).map_err(raised)?;
        Preparation::of_model(&model).map_err(|e| raised(e.in_file(&path)))?;
        Self::loaded(model)
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.model.to_bytes().map_err(raised)?))
    }

    /// Writes it to a file, with what files need to become its features, and the type of the
    /// labels where their texts do not tell it.
    #[pyo3(signature = (path, names, label, single, label_type))]
    fn save(
        &self,
        path: PathBuf,
        names: Option<Vec<String>>,
        label: &str,
        single: bool,
        label_type: Option<String>,
    ) -> PyResult<()> {
        self.for_files(names, label, single, label_type)
            .save(path)
            .map_err(raised)
    }

    /// The same model, which carries how the columns of a table become its features.
    fn with_preparation(&self, table: &TablePreparation) -> PyResult<Self> {
        let mut model = self.model.clone();
        table.preparation.store_in(&mut model);
        Preparation::of_model(&model).map_err(raised)?;
        Ok(Model { model, ..*self })
    }

    /// The bytes of an ONNX file that predicts as it does.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let graph = rosenblatt_onnx::export(&self.model).map_err(raised)?;
        Ok(PyBytes::new(py, &graph))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Rebuilt<'py>)> {
        let py = slf.py();
        let this = slf.get();
        let margin = this.margin.map(|m| (m.lower, m.upper, m.kind));
        Ok((
            slf.get_type().getattr("_rebuilt")?,
            (this.to_bytes(py)?, this.radius, margin, this.most_updates),
        ))
    }

    /// The inverse of `__reduce__`.
    #[staticmethod]
    fn _rebuilt(
        bytes: &[u8],
        radius: Option<f64>,
        margin: Option<(f64, f64, String)>,
        most_updates: Option<u64>,
    ) -> PyResult<Self> {
        Ok(Model {
            model: Trained::from_bytes(bytes).map_err(raised)?,
            radius,
            margin: margin.map(|(lower, upper, kind)| MarginBracket {
                lower,
                upper,
                kind: if kind == "lifted" { "lifted" } else { "plain" },
            }),
            most_updates,
        })
    }

    /// A model is never changed, so a copy is the model itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// As `__copy__`.
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// The scores of rows, one column a discriminator.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let matrix = arrays::matrix(rows)?;
        let scores = py
            .detach(|| self.model.scores(&matrix, threads))
            .map_err(raised)?;
        arrays::array(py, scores).reshape([matrix.rows(), self.model.scheme.discriminators()])
    }

    /// The probability of each class for rows, one column a class.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let matrix = arrays::matrix(rows)?;
        let found = py
            .detach(|| self.model.probabilities(&matrix, threads))
            .map_err(raised)?;
        arrays::array(py, found).reshape([matrix.rows(), self.model.scheme.classes()])
    }

    /// Whether it gives probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.has_probabilities()
    }

    /// The model with a calibration that is fitted to rows it was not trained on.
    fn calibrated(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        labels: PyReadonlyArray1<'_, u32>,
        method: Option<&str>,
        threads: usize,
    ) -> PyResult<Self> {
        let method = method
            .map(|name| parse_choice::<Method>(name).map_err(PyValueError::new_err))
            .transpose()?;
        let data = arrays::dataset(rows, labels, self.classes(), None)?;
        let model = py.detach(|| {
            let mut model = self.model.clone();
            let unseen = model.held_out_scores(&data, threads)?;
            model.calibrate(method, &unseen).map(|()| model)
        });
        Ok(Model {
            model: model.map_err(raised)?,
            radius: self.radius,
            margin: self.margin,
            most_updates: self.most_updates,
        })
    }

    /// The class of rows, as numbers.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let matrix = arrays::matrix(rows)?;
        let classes = py
            .detach(|| self.model.predict(&matrix, threads))
            .map_err(raised)?;
        Ok(arrays::array(py, classes))
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes.names().to_vec()
    }

    /// The type that the labels had in Python, where the file says it.
    #[getter]
    fn label_type(&self) -> Option<String> {
        let mut recipe = self.model.recipe.iter();
        recipe.find_map(|(name, value)| (name == LABEL_TYPE).then(|| value.clone()))
    }

    /// The number of features it takes.
    #[getter]
    fn features(&self) -> usize {
        self.model.features()
    }

    /// The names of the features it takes, where it was trained on a file.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        let preparation = Preparation::of_model(&self.model).ok().flatten()?;
        let names = preparation.feature_names();
        Some(
            (0..self.model.features())
                .map(|j| names.get(j).into_owned())
                .collect(),
        )
    }

    /// Every option, as text.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let options = PyDict::new(py);
        for (name, value) in self.model.options.values() {
            options.set_item(name, value)?;
        }
        Ok(options)
    }

    /// How scores become classes: binary, argmax, ovr or ovo.
    #[getter]
    fn scheme(&self) -> &'static str {
        match self.model.scheme {
            Scheme::Binary => "binary",
            Scheme::Argmax { .. } => "argmax",
            Scheme::OneVsRest { .. } => "ovr",
            Scheme::OneVsOne { .. } => "ovo",
        }
    }

    /// The weights, one row a discriminator, and their biases; `None` if it is not linear.
    #[getter]
    #[allow(clippy::type_complexity)] // A pair of arrays.
    fn weights<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)>> {
        let Some(weights) = self.model.weights() else {
            return Ok(None);
        };
        let shape = [weights.discriminators(), weights.features()];
        let rows: Vec<f64> = (0..shape[0]).flat_map(|d| weights.column(d)).collect();
        Ok(Some((
            arrays::array(py, rows).reshape(shape)?,
            arrays::array(py, weights.biases().to_vec()),
        )))
    }

    /// A linear model with other weights, from which a further run begins: no run has made
    /// them, so nothing is told of one.
    fn with_weights(
        &self,
        rows: PyReadonlyArray2<'_, f64>,
        biases: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let shape = self
            .model
            .weights()
            .map(|weights| [weights.discriminators(), weights.features()]);
        let [discriminators, features] =
            shape.ok_or_else(|| PyValueError::new_err("the model is not linear"))?;
        if rows.shape() != [discriminators, features] || biases.len() != discriminators {
            return Err(PyValueError::new_err(format!(
                "expected {discriminators} × {features} weights and {discriminators} biases, \
                 found {:?} and {:?}",
                rows.shape(),
                biases.shape()
            )));
        }
        let (rows, biases) = (rows.as_array(), biases.as_array());
        if !rows.iter().chain(&biases).all(|w| w.is_finite()) {
            return Err(PyValueError::new_err("weights must be finite"));
        }
        // In units of the run, which are 1 for the model itself.
        let scaled = |unit: f64| {
            let values: Vec<f64> = rows.t().iter().map(|w| w / unit).collect();
            let biases: Vec<f64> = biases.iter().map(|b| b / unit).collect();
            Weights::from_parts(discriminators, &values, &biases)
        };
        let mut model = self.model.clone();
        if let Some(state) = &mut model.state {
            state.weights = scaled(state.unit);
            state.average = (state.average.as_ref()).map(|_| Average::new(model.scheme, features));
            state.scale = None;
            state.cut = None;
            state.kept = state.kept.as_ref().map(|_| state.weights.clone());
        }
        model.decision = Decision::Linear(scaled(1.0));
        // What was fitted to the scores of other weights.
        (model.support, model.calibration, model.threshold) = (None, None, None);
        model.progress = Progress::default();
        Ok(Model {
            model,
            radius: None,
            margin: None,
            most_updates: None,
        })
    }

    /// The corrected examples by row number, their coefficients, one row a discriminator, and
    /// what is added to every score of one; `None` if it keeps none.
    #[getter]
    fn dual<'py>(&self, py: Python<'py>) -> PyResult<Option<Coefficients<'py>>> {
        let Decision::Kernel(kernel) = &self.model.decision else {
            return Ok(None);
        };
        let k = self.model.scheme.discriminators();
        let by_row = kernel.coefficients();
        let coefficients: Vec<f64> = (0..k)
            .flat_map(|d| by_row.iter().skip(d).step_by(k).copied())
            .collect();
        let rows: Vec<i64> = kernel.rows.iter().map(|&r| i64::from(r)).collect();
        let of_each = coefficients.chunks(rows.len().max(1));
        let sums = of_each.map(|each| kernel.constant * each.iter().sum::<f64>());
        let biases = kernel.bias().iter().zip(sums.chain(std::iter::repeat(0.0)));
        let biases: Vec<f64> = biases.map(|(bias, sum)| bias + sum).collect();
        let shape = [k, rows.len()];
        Ok(Some((
            arrays::array(py, rows),
            arrays::array(py, coefficients).reshape(shape)?,
            arrays::array(py, biases),
        )))
    }

    /// The weights of each layer of a network, inputs × units, and the biases of its units, the
    /// first layer's for features as they are given; `None` if it is none.
    #[getter]
    fn layer_weights<'py>(&self, py: Python<'py>) -> PyResult<Option<LayerWeights<'py>>> {
        let Decision::Network(network) = &self.model.decision else {
            return Ok(None);
        };
        let mut scale = network.scale;
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        for layer in &network.layers {
            let values: Vec<f64> = layer.weights().iter().map(|w| w * scale).collect();
            scale = 1.0;
            weights.push(arrays::array(py, values).reshape([layer.inputs(), layer.outputs()])?);
            biases.push(arrays::array(py, layer.biases()));
        }
        Ok(Some((weights, biases)))
    }

    /// Units in each layer of a network, the inputs first; `None` if it is none.
    #[getter]
    fn layers(&self) -> Option<Vec<usize>> {
        let Decision::Network(network) = &self.model.decision else {
            return None;
        };
        let outputs = network.layers.iter().map(|layer| layer.outputs());
        Some(std::iter::once(network.features()).chain(outputs).collect())
    }

    /// Passes begun.
    #[getter]
    fn epochs(&self) -> u64 {
        self.model.progress.epochs()
    }

    /// All visits.
    #[getter]
    fn visits(&self) -> u64 {
        self.model.progress.visits
    }

    /// All wrong answers.
    #[getter]
    fn mistakes(&self) -> u64 {
        self.model.progress.mistakes
    }

    /// All updates.
    #[getter]
    fn updates(&self) -> u64 {
        self.model.progress.updates
    }

    /// Wrong answers in each pass.
    #[getter]
    fn mistakes_per_epoch(&self) -> Vec<u64> {
        self.model.progress.mistakes_per_epoch()
    }

    /// Mean loss in each pass: squared error for the linear unit, the loss of a network,
    /// perceptron loss otherwise.
    #[getter]
    fn loss_per_epoch(&self) -> Vec<f64> {
        let learner = &self.model.options.learner;
        let squared = !learner.is_mistake_driven() && learner.name() != "max-margin";
        self.model
            .progress
            .passes
            .iter()
            .map(|p| {
                p.mean(if squared {
                    p.squared_error
                } else {
                    p.perceptron_loss
                })
            })
            .collect()
    }

    /// Accuracy on held-out rows after each pass, where measured.
    #[getter]
    fn validation_accuracy_per_epoch(&self) -> Vec<Option<f64>> {
        let passes = &self.model.progress.passes;
        passes.iter().map(|p| p.validation_accuracy).collect()
    }

    /// Why its run stopped, by its short name.
    #[getter]
    fn stop(&self) -> Option<&'static str> {
        self.model.progress.stop.map(|stop| stop.name())
    }

    /// R = max c‖x‖ over the training rows; `None` in a model from a file.
    #[getter]
    fn radius(&self) -> Option<f64> {
        self.radius
    }

    /// The margin lies between the first two; the third says which margin.
    #[getter]
    fn margin(&self) -> Option<(f64, f64, &'static str)> {
        self.margin.map(|m| (m.lower, m.upper, m.kind))
    }

    /// Updates that the theorem allows, where the run proved a margin.
    #[getter]
    fn most_updates(&self) -> Option<u64> {
        self.most_updates
    }
}

/// Row numbers, coefficients and biases.
type Coefficients<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
);

/// Of each layer the weights, and the biases.
type LayerWeights<'py> = (
    Vec<Bound<'py, PyArray2<f64>>>,
    Vec<Bound<'py, PyArray1<f64>>>,
);

/// What `_rebuilt` takes.
type Rebuilt<'py> = (
    Bound<'py, PyBytes>,
    Option<f64>,
    Option<(f64, f64, &'static str)>,
    Option<u64>,
);
