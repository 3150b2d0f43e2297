//! Learning from examples as they come: one pass that never ends.

use std::time::Instant;

use crate::data::{Classes, Dataset, FeatureNames, Matrix};
use crate::error::{Error, Result};
use crate::learner::LearnerEntry;
use crate::model::{Fingerprint, LinearState, Model};
use crate::options::{Bias, Multiclass, Options, Order};
use crate::progress::Limits;
use crate::scheme::Scheme;
use crate::training::{Callback, Part, Recorder, Resources, SampleWeights, Training};
use crate::weights::Weights;

/// A mistake-driven learner with explicit weights that goes on from a model, example by example.
/// The model depends on the sequence of examples alone, not on how it comes in parts.
#[derive(Debug, Clone)]
pub struct OnlineLearner {
    model: Model,
}

impl OnlineLearner {
    /// Goes on from a model's weights: what it sees from now on is a pass of its own.
    ///
    /// # Errors
    /// If the model's learner must see all examples at once, or the model holds what was fitted
    /// to weights as they were (a calibration, a threshold).
    pub fn new(model: Model) -> Result<Self> {
        let mut learner = Self::resume(model)?;
        let progress = &mut learner.model.progress;
        if progress.current.visits > 0 {
            let broken_off = std::mem::take(&mut progress.current);
            progress.passes.push(broken_off);
        }
        Ok(learner)
    }

    /// Goes on with the model of an online learner as if it had never stopped.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn resume(mut model: Model) -> Result<Self> {
        let options = &model.options;
        options.learner.check_partial_fit(&Options {
            order: Order::Given,
            ..options.clone()
        })?;
        let explicit = options.learner.is_mistake_driven() && options.learner.keeps_weights();
        if !explicit || model.state.is_none() {
            return Err(Error::options(format!(
                "a model of the learner {} cannot learn online",
                options.learner.name()
            ))
            .remedy("train a perceptron, passive-aggressive learning or AROW"));
        }
        if model.calibration.is_some() || model.threshold.is_some() {
            return Err(Error::options(
                "the model's calibration or threshold was fitted to its weights as they are, and would be wrong once they move",
            )
            .remedy("train without ⟨calibrate⟩ and ⟨threshold⟩ to learn online"));
        }
        // Of the examples that made it, there is no list any more.
        model.trained_on = Fingerprint::default();
        model.seen_rows = None;
        model.chosen_on = None;
        model.progress.best = None;
        model.progress.kept = None;
        model.progress.stop = None;
        Ok(OnlineLearner { model })
    }

    /// The model as it is, with all that it takes to [`resume`](Self::resume).
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model as it is, without what only learning needs.
    pub fn predictor(&self) -> Model {
        Model {
            decision: self.model.decision.clone(),
            ..self.template()
        }
    }

    /// Learns from these examples, in their order, and tells `callback` of each visit: the scores
    /// in a [`Step`](crate::training::Step) are those before the example was learned.
    ///
    /// # Errors
    /// If the examples do not fit the model. If the weights grew beyond what a number can hold, the
    /// learner cannot go on.
    pub fn learn(
        &mut self,
        matrix: Matrix,
        labels: Vec<u32>,
        callback: &mut dyn Callback,
    ) -> Result<()> {
        if matrix.columns() != self.model.features() {
            return Err(Error::data(format!(
                "the rows have {} features, but the model takes {}",
                matrix.columns(),
                self.model.features()
            )));
        }
        let raw = Dataset::new(matrix, labels, self.model.classes.clone(), None)?;
        let embedded = self.model.embedding.as_ref().map(|e| Dataset {
            matrix: e.apply(&raw.matrix, 1),
            names: FeatureNames::default(),
            ..raw.clone()
        });
        let data = embedded.as_ref().unwrap_or(&raw);
        let options = self.model.options.clone();
        let sample_weights = SampleWeights::new(data, &options.class_weight)?;
        if !sample_weights.is_surely_finite() {
            sample_weights.require_finite(1)?;
        }
        let state = self.model.state.take().ok_or_else(|| {
            Error::model("this learner failed before").remedy("go on from a saved model")
        })?;
        let training = Training {
            data,
            sample_weights: &sample_weights,
            targets: None,
            scheme: self.model.scheme,
            options: &options,
            limits: Limits {
                options: &options,
                interrupt: None,
                started: Instant::now(),
                epochs: 1,
                free_passes: None,
            },
            resources: Resources {
                memory: 0,
                threads: 1,
            },
            separability_test: None,
            resumed: None,
            state: Some(state),
            finished: None,
            progress: std::mem::take(&mut self.model.progress),
            recorder: Recorder {
                callback,
                validation: None,
                template: self.template(),
                data,
                threads: 1,
                best: None,
                pass_to_keep: None,
            },
            part: Some(Part::Visits),
        };
        let learned = LearnerEntry::fit(training)?.model;
        self.model.decision = learned.decision;
        self.model.progress = learned.progress;
        self.model.state = learned.state;
        Ok(())
    }

    /// Adds a class, with the mean of the others' weights (zero, where updates cancel): its score is
    /// never above all others, so no prediction changes until an example of it is learned.
    /// Gives its number.
    ///
    /// # Errors
    /// If the classes are told apart by planes of their own, or the name cannot be one.
    pub fn add_class(&mut self, name: &str) -> Result<u32> {
        self.check_new_class(name)?;
        let model = &mut self.model;
        let mut names = model.classes.names().to_vec();
        names.push(name.to_owned());
        let classes = Classes::from_stored(names)?;
        let scheme = Scheme::Argmax {
            classes: classes.len() as u32,
        };
        let (before, lifted) = (model.scheme, model.options.bias() == Bias::Lifted);
        let with_bias = f64::from(u8::from(model.options.bias() != Bias::None));
        if let Some(state) = &mut model.state {
            grow_state(state, before, scheme, (with_bias, lifted));
        }
        if let crate::model::Decision::Linear(weights) = &mut model.decision {
            *weights = grown(weights, before, scheme, 0.5, 0.0, 0.0);
        }
        model.classes = classes;
        model.scheme = scheme;
        Ok(scheme.classes() as u32 - 1)
    }

    /// Refuses a new class where the classes are told apart by planes of their own.
    ///
    /// # Errors
    /// If they are.
    pub fn check_new_class(&self, name: &str) -> Result<()> {
        let model = &self.model;
        let joint = match model.scheme {
            Scheme::Argmax { .. } => true,
            Scheme::Binary => matches!(model.options.multiclass, None | Some(Multiclass::Argmax)),
            _ => false,
        };
        if !joint {
            return Err(Error::options(format!(
                "the class {name:?} is new, and the model's classes are not learned jointly"
            ))
            .remedy("train with ⟨multiclass argmax⟩ to add classes later"));
        }
        Ok(())
    }

    /// The model but for what learning changes.
    fn template(&self) -> Model {
        let model = &self.model;
        Model {
            classes: model.classes.clone(),
            scheme: model.scheme,
            decision: crate::model::Decision::Linear(Weights::zero(1, 0)),
            options: model.options.clone(),
            progress: Default::default(),
            state: None,
            support: None,
            trained_on: model.trained_on,
            seen_rows: None,
            calibration: None,
            threshold: None,
            chosen_on: None,
            embedding: model.embedding.clone(),
            preparation: None,
            recipe: Vec::new(),
        }
    }
}

/// The state with another class: what it knows stays as it is.
fn grow_state(
    state: &mut LinearState,
    before: Scheme,
    scheme: Scheme,
    (with_bias, lifted): (f64, bool),
) {
    let zero = |w: &Weights| grown(w, before, scheme, 0.5, 0.0, 0.0);
    state.weights = zero(&state.weights);
    if let Some(kept) = &mut state.kept {
        *kept = zero(kept);
    }
    if let Some(average) = &mut state.average {
        average.correction = zero(&average.correction);
    }
    if let Some(confidence) = &mut state.confidence {
        // The first confidence, and for two classes the one they shared.
        *confidence = grown(confidence, before, scheme, 1.0, 1.0, with_bias);
    }
    if let Some(norms) = &mut state.norms {
        *norms = vec![state.weights.squared_norms(lifted).iter().sum()];
    }
}

/// Weights with another discriminator of `weight` and `bias`, or the mean of the others where
/// `weight` is 0. The plane of two classes becomes two
/// discriminators of `share` times its weights, the first with the other sign where they are
/// weights that are shared between the two.
fn grown(
    old: &Weights,
    before: Scheme,
    scheme: Scheme,
    share: f64,
    weight: f64,
    bias: f64,
) -> Weights {
    let (k, features) = (scheme.discriminators(), old.features());
    let mut new = Weights::filled(k, features, weight, bias);
    let of = |d: usize| match before {
        Scheme::Binary if d == 0 && share < 1.0 => (0, -share),
        Scheme::Binary => (0, share),
        _ => (d, 1.0),
    };
    for d in 0..k - 1 {
        let (from, factor) = of(d);
        new.set_bias(d, factor * old.bias(from));
        for j in 0..features {
            new.set(d, j, factor * old.get(from, j));
        }
    }
    if weight == 0.0 {
        let others = (k - 1) as f64;
        new.set_bias(k - 1, (0..k - 1).map(|d| new.bias(d)).sum::<f64>() / others);
        for j in 0..features {
            let sum: f64 = (0..k - 1).map(|d| new.get(d, j)).sum();
            new.set(k - 1, j, sum / others);
        }
    }
    new
}
