//! A training session from the outside: data and options in, a fitted model out.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::looping::{Control, Run, Visit, Watch};
use super::margin;
use super::progress::{Pass, Progress};
use super::{Importance, MarginBracket};
use crate::data::{Dataset, FeatureNames};
use crate::embedding::Embedding;
use crate::error::{Error, Result};
use crate::kernel::Spectrum;
use crate::learner::dual::{Dual, Means};
use crate::learner::linear_unit::LinearUnit;
use crate::learner::max_margin::MaxMargin;
use crate::learner::network::NetworkLearner;
use crate::learner::perceptron::Perceptron;
use crate::model::{
    Decision, Fingerprint, LinearState, Model, Scheme, SupportVectors, Voted, Weights,
};
use crate::options::{
    Bias, ClassWeight, Gradient, LearnerKind, Multiclass, Options, Order, PARAMETERS, Readout,
    choice_name,
};

/// One visit of a run, as a teacher would write it on the board.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Visit number, from 1.
    pub step: u64,
    /// Pass, from 1.
    pub epoch: u64,
    /// Row in the file, from 1.
    pub row: u64,
    /// Class of the example.
    pub label: u32,
    /// The weights before, bias first where there is one; empty where nobody
    /// [wants](Observer::wants_weights) them.
    pub weights: Vec<f64>,
    /// The score of each discriminator.
    pub scores: Vec<f64>,
    /// Whether no update was called for.
    pub correct: bool,
    /// The weights after, likewise.
    pub weights_after: Vec<f64>,
}

/// Someone who follows a session: prints progress, saves checkpoints, collects steps.
pub trait Observer {
    /// Whether every visit should be reported.
    fn wants_steps(&self) -> bool {
        false
    }

    /// Whether steps should hold the weights before and after. A copy costs a number for each
    /// feature and discriminator, or in the dual form for each example and discriminator.
    fn wants_weights(&self) -> bool {
        true
    }

    /// A visit is over.
    fn step(&mut self, _step: Step) {}

    /// Pass number `epoch`, from 1, is over.
    fn pass(&mut self, _epoch: u64, _pass: &Pass) {}

    /// Whether the model as it is should be handed over now.
    fn wants_checkpoint(&mut self) -> bool {
        false
    }

    /// The model as it is after a whole pass.
    fn checkpoint(&mut self, _model: Model) -> Result<()> {
        Ok(())
    }
}

/// Follows nothing.
struct Nobody;

impl Observer for Nobody {}

/// Everything a session needs besides its training data.
pub struct Session<'a> {
    options: &'a Options,
    validation: Option<&'a Dataset>,
    from: From<'a>,
    interrupt: Option<&'a AtomicBool>,
    threads: usize,
    memory: Option<u64>,
    fingerprint: Option<Fingerprint>,
}

/// Where a session begins.
#[derive(Debug, Clone, Copy)]
enum From<'a> {
    /// At the start that the options name.
    Start,
    /// Where this model's run over the same examples stopped.
    Run(&'a Model),
    /// At this model's weights, with other examples.
    Weights(&'a Model),
}

/// The outcome of a session.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The model, with its progress and why it stopped.
    pub model: Model,
    /// R = max c_i‖x_i‖, lifted where the learner lifts.
    pub radius: f64,
    /// η as used.
    pub learning_rate: f64,
    /// What the run says about the margin; only from weights that separate.
    pub margin: Option<MarginBracket>,
    /// How many updates the theorem allows, from that margin.
    pub updates_at_most: Option<u64>,
    /// Kernel learners: the ends of the spectrum of a sample's Gram matrix.
    pub spectrum: Option<Spectrum>,
}

impl<'a> Session<'a> {
    /// A session with these options, from the start, on all cores.
    pub fn new(options: &'a Options) -> Self {
        Session {
            options,
            validation: None,
            from: From::Start,
            interrupt: None,
            threads: crate::threads::available(),
            memory: None,
            fingerprint: None,
        }
    }

    /// Measures accuracy on these examples after each pass.
    #[must_use]
    pub fn validate_on(mut self, validation: Option<&'a Dataset>) -> Self {
        self.validation = validation;
        self
    }

    /// Goes on from this model as if its run had never stopped.
    #[must_use]
    pub fn resume(mut self, model: Option<&'a Model>) -> Self {
        self.from = model.map_or(From::Start, From::Run);
        self
    }

    /// Goes on from this model's weights with the examples it is given next, which need not
    /// be those the model has seen. Passes are numbered on, so one pass each over the parts
    /// of a data set, in the order given, makes the visits of one pass over the whole; the
    /// limit on passes is on those of this session.
    #[must_use]
    pub fn carry_on(mut self, model: Option<&'a Model>) -> Self {
        self.from = model.map_or(From::Start, From::Weights);
        self
    }

    /// Stops when this becomes true.
    #[must_use]
    pub fn interrupt(mut self, flag: &'a AtomicBool) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Uses this many threads; the result does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Keeps kernel values in at most this many bytes; the result does not depend on it.
    /// Without a word, half of the memory that is free.
    #[must_use]
    pub fn memory(mut self, bytes: Option<u64>) -> Self {
        self.memory = bytes;
        self
    }

    /// Takes this for the fingerprint of the examples, where somebody has just made sure of
    /// it, instead of looking at every number again.
    #[must_use]
    pub fn fingerprint(mut self, known: Option<Fingerprint>) -> Self {
        self.fingerprint = known;
        self
    }

    /// Trains.
    pub fn train(&self, data: &Dataset) -> Result<Fitted> {
        self.train_observed(data, &mut Nobody)
    }

    /// Trains, with an observer.
    pub fn train_observed(&self, data: &Dataset, observer: &mut dyn Observer) -> Result<Fitted> {
        let started = Instant::now();
        let options = self.options;
        options.validate()?;
        data.classes.require_two()?;
        if data.features() == 0 {
            return Err(Error::data("there are no features")
                .remedy("give a file with at least one feature"));
        }
        if u32::try_from(data.len()).is_err() {
            return Err(Error::data(format!(
                "{} examples are too many for one set",
                data.len()
            )));
        }
        let raw = data;
        let embedding = match self.from {
            // Its weights speak of the features it has learnt to make.
            From::Weights(model) => model.embedding.clone(),
            _ => options
                .embed
                .map(|embed| Embedding::fit(embed, raw, options.seed))
                .transpose()?,
        };
        let embedded = embedding.as_ref().map(|embedding| Dataset {
            matrix: embedding.apply(&raw.matrix, self.threads),
            labels: raw.labels.clone(),
            classes: raw.classes.clone(),
            weights: raw.weights.clone(),
            names: FeatureNames::default(),
            layout: raw.layout,
        });
        let data = embedded.as_ref().unwrap_or(raw);
        let scheme = match options.learner {
            LearnerKind::LinearUnit | LearnerKind::MaxMargin
                if data.classes.len() > 2 && options.multiclass.is_none() =>
            {
                Scheme::new(data.classes.len(), Some(Multiclass::Ovr))
            }
            _ => Scheme::new(data.classes.len(), options.multiclass),
        };
        if options.kernel.is_none() && options.learner != LearnerKind::Network {
            fits_memory(scheme, data.features())?;
        }
        let importance = Importance::new(data, &options.class_weight, self.threads)?;
        let lift = if options.bias() == Bias::Lifted {
            1.0
        } else {
            0.0
        };
        let radius = importance.squared_radius_with(data, lift).sqrt();
        let fingerprint = (self.fingerprint).unwrap_or_else(|| Fingerprint::of(raw, self.threads));
        let mut progress = Progress::default();
        let mut state = None;
        if let From::Run(model) | From::Weights(model) = self.from {
            check_same(model, options, raw, scheme)?;
            match self.from {
                From::Run(_) => check_resumable(model, fingerprint)?,
                _ => check_carries_on(options)?,
            }
            progress = model.progress.clone();
            state = model.state.clone();
        }
        let mut made_before = 0;
        if let From::Weights(_) = self.from {
            // What the last run proved, and where in its pass it was, is over.
            progress.stop = None;
            if progress.current.visits > 0 {
                let broken_off = std::mem::take(&mut progress.current);
                progress.passes.push(broken_off);
            }
            made_before = progress.passes.len() as u64;
        }
        let control = Control {
            interrupt: self.interrupt,
            started,
            epochs: made_before
                + options.epochs.unwrap_or_else(|| {
                    let non_zeros = match &embedded {
                        Some(embedded) => embedded.matrix.non_zeros(),
                        None => fingerprint.non_zeros as usize,
                    };
                    match options.learner {
                        LearnerKind::Kernel => {
                            Options::default_kernel_epochs(non_zeros, data.len())
                        }
                        // Passes leave most examples out before long.
                        LearnerKind::MaxMargin => {
                            10 * Options::default_epochs(non_zeros, scheme.discriminators())
                        }
                        _ => Options::default_epochs(non_zeros, scheme.discriminators()),
                    }
                }),
        };
        let finished = progress.stop.filter(|stop| stop.is_final());
        progress.stop = None;
        let template = Model {
            classes: data.classes.clone(),
            scheme,
            decision: Decision::Linear(Weights::zero(0, 0)),
            options: options.clone(),
            progress: Progress::default(),
            state: None,
            support: None,
            trained_on: fingerprint,
            embedding: embedding.clone(),
            preparation: None,
            recipe: Vec::new(),
        };
        let mut watcher = Watcher {
            observer,
            validation: self.validation,
            template,
            data,
            threads: self.threads,
        };
        match options.learner {
            LearnerKind::Perceptron => {
                let mut perceptron =
                    Perceptron::new(data, &importance, scheme, options, self.threads, state)?;
                let stop = match finished {
                    Some(stop) => stop,
                    None => Run::new(
                        data,
                        options,
                        control,
                        &mut perceptron,
                        &mut progress,
                        &mut watcher,
                    )
                    .go()?,
                };
                progress.stop = Some(stop);
                let (margin, updates_at_most) = margin::from_run(
                    data,
                    &importance,
                    &perceptron,
                    options,
                    &progress,
                    stop,
                    self.threads,
                );
                Ok(Fitted {
                    radius,
                    learning_rate: options.rate(),
                    model: require_finite(watcher.model(&perceptron, &progress))?,
                    margin,
                    updates_at_most,
                    spectrum: None,
                })
            }
            LearnerKind::Kernel => {
                let means = self.means();
                let log = match self.from {
                    From::Run(model) => match &model.decision {
                        Decision::Kernel(kernel) => Some(kernel.log.clone()),
                        _ => None,
                    },
                    _ => None,
                };
                let mut dual = Dual::new(data, &importance, scheme, options, means, log)?;
                let stop = match finished {
                    Some(stop) => stop,
                    None => Run::new(
                        data,
                        options,
                        control,
                        &mut dual,
                        &mut progress,
                        &mut watcher,
                    )
                    .go()?,
                };
                progress.stop = Some(stop);
                let (margin, updates_at_most) =
                    margin::from_dual_run(data, &importance, &mut dual, options, &progress, stop);
                Ok(Fitted {
                    radius: dual.squared_radius(lift).sqrt(),
                    learning_rate: options.rate(),
                    model: require_finite(watcher.model(&dual, &progress))?,
                    margin,
                    updates_at_most,
                    spectrum: Some(Spectrum::of(&options.kernel(), data, options.seed)),
                })
            }
            LearnerKind::Network => {
                if matches!(self.from, From::Run(_)) {
                    return Err(
                        Error::options("the training of a network cannot be resumed")
                            .remedy("train it afresh with more --epochs"),
                    );
                }
                let mut learner = NetworkLearner::new(data, &importance, scheme, options)?;
                let stop = learner.go(control, &mut progress, &mut watcher)?;
                progress.stop = Some(stop);
                Ok(Fitted {
                    radius,
                    learning_rate: learner.rate(),
                    model: require_finite(watcher.model(&learner, &progress))?,
                    margin: None,
                    updates_at_most: None,
                    spectrum: None,
                })
            }
            LearnerKind::MaxMargin => {
                if matches!(self.from, From::Run(_)) {
                    return Err(Error::options(
                        "the search for the largest margin cannot be resumed: its answer is the same from any start",
                    )
                    .remedy("train afresh with larger limits or another --tolerance"));
                }
                let mut learner = MaxMargin::new(data, &importance, scheme, options, self.means())?;
                let stop = learner.go(control, &mut progress, |progress| watcher.tell(progress))?;
                progress.stop = Some(stop);
                let spectrum = options.kernel;
                Ok(Fitted {
                    radius,
                    learning_rate: options.rate(),
                    model: require_finite(watcher.model(&learner, &progress))?,
                    margin: learner.margin(),
                    updates_at_most: None,
                    spectrum: spectrum.map(|kernel| Spectrum::of(&kernel, data, options.seed)),
                })
            }
            LearnerKind::LinearUnit => {
                let mut unit = LinearUnit::new(data, &importance, scheme, options, state)?;
                let stop = match finished {
                    Some(stop) => stop,
                    None => unit.go(control, &mut progress, &mut watcher)?,
                };
                progress.stop = Some(stop);
                Ok(Fitted {
                    radius,
                    learning_rate: unit.rate(),
                    model: require_finite(watcher.model(&unit, &progress))?,
                    margin: None,
                    updates_at_most: None,
                    spectrum: None,
                })
            }
        }
    }
}

impl Session<'_> {
    /// What a learner may use; only one over a kernel has to know how much memory is free.
    fn means(&self) -> Means {
        let options = self.options;
        let has_kernel = options.kernel.is_some() || options.learner == LearnerKind::Kernel;
        let memory = self.memory.unwrap_or_else(|| match has_kernel {
            true => crate::threads::memory_to_use(),
            false => 0,
        });
        Means {
            memory: memory.try_into().unwrap_or(usize::MAX),
            threads: self.threads,
        }
    }
}

/// Refuses weights beyond what a number can hold.
fn require_finite(model: Model) -> Result<Model> {
    let finite = match &model.decision {
        Decision::Linear(weights) => weights.is_finite(),
        _ => true,
    };
    if finite && model.state.as_ref().is_none_or(|s| s.weights.is_finite()) {
        return Ok(model);
    }
    Err(
        Error::options("the weights grew beyond what a number can hold")
            .remedy("use a smaller --learning-rate, or scale the data"),
    )
}

/// Refuses weights that cannot fit, early and with their size.
fn fits_memory(scheme: Scheme, features: usize) -> Result<()> {
    const LIMIT: usize = 1 << 36;
    match Weights::bytes_needed(scheme.discriminators(), features) {
        Some(bytes) if bytes <= LIMIT => Ok(()),
        _ => Err(Error::data(format!(
            "{} discriminators of {features} features each would take more than {} GiB",
            scheme.discriminators(),
            LIMIT >> 30
        ))
        .remedy("use fewer classes (--label-map, --positive), or --multiclass argmax")),
    }
}

/// The parameters that a run may change when it goes on.
const LIMITS: [&str; 4] = ["epochs", "time-limit", "max-updates", "patience"];

fn check_same(model: &Model, options: &Options, data: &Dataset, scheme: Scheme) -> Result<()> {
    for parameter in PARAMETERS.iter().filter(|p| !LIMITS.contains(&p.name)) {
        let (now, then) = (parameter.get(options), parameter.get(&model.options));
        if now != then {
            return Err(Error::options(format!(
                "--{} {now} differs from the model's {then}",
                parameter.name
            ))
            .remedy("a resumed run keeps its options; only limits may change"));
        }
    }
    if model.classes != data.classes
        || model.scheme != scheme
        || model.features() != data.features()
    {
        return Err(Error::data(
            "the data do not fit the model to go on from: its classes or features differ",
        )
        .remedy("resume with the data and the options the model was trained with"));
    }
    Ok(())
}

fn check_resumable(model: &Model, found: Fingerprint) -> Result<()> {
    if model.trained_on != found {
        return Err(Error::data(
            "the data are not those the model was trained on, so its run cannot go on exactly",
        )
        .remedy("resume with the same file, or train afresh"));
    }
    Ok(())
}

/// Refuses options under which old weights cannot go on with other examples.
fn check_carries_on(options: &Options) -> Result<()> {
    let stochastic = options.learner == LearnerKind::LinearUnit
        && options.gradient == Gradient::Stochastic
        && options.learning_rate.is_some();
    let (found, remedy) = if !stochastic && options.learner != LearnerKind::Perceptron {
        (
            format!("the learner {}", choice_name(options.learner)),
            "use the perceptron, or the linear unit with stochastic descent and a given rate",
        )
    } else if matches!(options.readout(), Readout::Voted | Readout::Pocket) {
        (
            format!("the read-out {}", choice_name(options.readout())),
            "use averaged, averaged-normalised, last or random",
        )
    } else if options.bias() == Bias::Unlifted(None) {
        (
            "an unlifted bias whose rate comes from the data".into(),
            "give its rate: unlifted:RHO",
        )
    } else if options.class_weight == ClassWeight::Balanced {
        (
            "balanced class weights".into(),
            "give the weights of the classes",
        )
    } else if matches!(
        options.order,
        Order::Mistakes | Order::Worst | Order::Restart
    ) {
        (
            format!("the order {}", choice_name(options.order)),
            "use given, by-class, shuffled or random",
        )
    } else {
        return Ok(());
    };
    Err(Error::options(format!(
        "{found} needs all examples at once, so a run cannot go on with others"
    ))
    .remedy(remedy))
}

/// A learner whose state can become a model.
trait Readable {
    fn decision(&self, data: &Dataset, readout: Readout) -> Decision;
    fn saved_state(&self) -> Option<LinearState>;
    fn support(&self) -> Option<SupportVectors> {
        None
    }
}

impl Readable for Perceptron<'_> {
    fn decision(&self, data: &Dataset, readout: Readout) -> Decision {
        let state = self.state();
        let scheme = super::Hypothesis::scheme(self);
        if let (Readout::Voted, Some(log)) = (readout, &state.log) {
            return Decision::Voted(Box::new(Voted::new(data, log.clone(), self.constant())));
        }
        Decision::Linear(if let Some(average) = &state.average {
            // A direction has no unit.
            let unit = match readout {
                Readout::AveragedNormalised => 1.0,
                _ => state.unit,
            };
            average.mean(scheme, &state.weights, unit)
        } else if let Some(kept) = &state.kept {
            let mut kept = kept.clone();
            (0..scheme.discriminators()).for_each(|d| kept.map(d, |w| w * state.unit));
            kept
        } else {
            self.weights_now()
        })
    }

    fn saved_state(&self) -> Option<LinearState> {
        Some(self.state().clone())
    }
}

impl Readable for Dual<'_> {
    fn decision(&self, _: &Dataset, _: Readout) -> Decision {
        Decision::Kernel(Box::new(self.model()))
    }

    /// The log in the model is all the state there is.
    fn saved_state(&self) -> Option<LinearState> {
        None
    }
}

impl Readable for NetworkLearner<'_> {
    fn decision(&self, _: &Dataset, _: Readout) -> Decision {
        Decision::Network(Box::new(self.network().clone()))
    }

    fn saved_state(&self) -> Option<LinearState> {
        None
    }
}

impl Readable for MaxMargin<'_> {
    fn decision(&self, _: &Dataset, _: Readout) -> Decision {
        self.decision()
    }

    fn saved_state(&self) -> Option<LinearState> {
        None
    }

    fn support(&self) -> Option<SupportVectors> {
        Some(self.support())
    }
}

impl Readable for LinearUnit<'_> {
    fn decision(&self, _: &Dataset, _: Readout) -> Decision {
        Decision::Linear(self.weights().clone())
    }

    fn saved_state(&self) -> Option<LinearState> {
        Some(self.state().clone())
    }
}

/// Turns what the loop reports into what an observer sees.
struct Watcher<'a> {
    observer: &'a mut dyn Observer,
    validation: Option<&'a Dataset>,
    template: Model,
    data: &'a Dataset,
    threads: usize,
}

impl Watcher<'_> {
    /// A pass is over of which there is no model yet.
    fn tell(&mut self, progress: &Progress) {
        if let Some(pass) = progress.passes.last() {
            self.observer.pass(progress.passes.len() as u64, pass);
        }
    }

    fn model<H: Readable>(&self, hypothesis: &H, progress: &Progress) -> Model {
        Model {
            decision: hypothesis.decision(self.data, self.template.options.readout()),
            progress: progress.clone(),
            state: hypothesis.saved_state(),
            support: hypothesis.support(),
            ..self.template.clone()
        }
    }
}

impl<H: Readable> Watch<H> for Watcher<'_> {
    fn wants_steps(&self) -> bool {
        self.observer.wants_steps()
    }

    fn wants_weights(&self) -> bool {
        self.observer.wants_weights()
    }

    fn step(&mut self, visit: Visit<'_>) {
        self.observer.step(Step {
            step: visit.step,
            epoch: visit.epoch + 1,
            row: self.data.number(visit.example) as u64 + 1,
            label: self.data.labels[visit.example],
            weights: visit.before,
            scores: visit.scores,
            correct: visit.judgement.changes.is_empty(),
            weights_after: visit.after,
        });
    }

    fn pass(&mut self, hypothesis: &H, _: &Progress) -> Result<Option<f64>> {
        let readout = self.template.options.readout();
        let Some(validation) = self.validation.filter(|_| readout != Readout::Voted) else {
            return Ok(None);
        };
        let model = Model {
            decision: hypothesis.decision(self.data, readout),
            ..self.template.clone()
        };
        Ok(Some(model.accuracy(validation, self.threads)))
    }

    fn recorded(&mut self, hypothesis: &H, progress: &Progress) -> Result<()> {
        if let Some(pass) = progress.passes.last() {
            self.observer.pass(progress.passes.len() as u64, pass);
        }
        if self.observer.wants_checkpoint() {
            let model = self.model(hypothesis, progress);
            self.observer.checkpoint(model)?;
        }
        Ok(())
    }
}
