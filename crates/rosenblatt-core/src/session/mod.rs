//! Training from the outside: data and options in, a fitted model out.

mod cross_fit;
mod online;
mod resume;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub use online::OnlineLearner;

use self::resume::{check_resumable, check_same};
use crate::data::{Classes, Dataset, FeatureNames};
use crate::embedding::Embedding;
use crate::error::{Error, Result};
use crate::learner::{LearnerEntry, LinearUnit};
use crate::model::{Decision, Fingerprint, LinearState, Model, RowScan, SeenRows};
use crate::options::{DataSize, Declared, Metric, Options, choice_name};
use crate::parallel;
use crate::progress::{Limits, Progress};
use crate::scheme::Scheme;
use crate::training::{
    Callback, Fitted, NoCallback, Recorder, Resources, SampleWeights, SeparabilityTest, Training,
};
use crate::weights::Weights;

/// Everything a session needs besides its training data.
pub struct Session<'a> {
    options: &'a Options,
    validation: Option<&'a Dataset>,
    targets: Option<&'a [f64]>,
    from: Origin<'a>,
    interrupt: Option<&'a AtomicBool>,
    threads: usize,
    memory: Option<u64>,
    fingerprint: Option<Fingerprint>,
    separability_test: Option<SeparabilityTest>,
}

/// Where a session begins.
#[derive(Debug, Clone, Copy)]
enum Origin<'a> {
    /// At the start that the options name.
    Start,
    /// Where this model's run over the same examples stopped.
    Run(&'a Model),
    /// At this model's weights, with other examples.
    Weights(&'a Model),
}

impl<'a> Session<'a> {
    /// A session with these options, from the start, on all cores.
    pub fn new(options: &'a Options) -> Self {
        Session {
            options,
            validation: None,
            targets: None,
            from: Origin::Start,
            interrupt: None,
            threads: parallel::available(),
            memory: None,
            fingerprint: None,
            separability_test: None,
        }
    }

    /// Measures accuracy on these examples after each pass.
    #[must_use]
    pub fn validate_on(mut self, validation: Option<&'a Dataset>) -> Self {
        self.validation = validation;
        self
    }

    /// Learns these numbers, one for each example by its place in memory, instead of labels:
    /// a regression, for the linear unit alone. Labels are then not looked at, and mistakes not
    /// counted; of the model that comes out, the scores are the answers.
    #[must_use]
    pub fn targets(mut self, targets: Option<&'a [f64]>) -> Self {
        self.targets = targets;
        self
    }

    /// Resumes the run of this model as if it had never stopped.
    #[must_use]
    pub fn resume(mut self, model: Option<&'a Model>) -> Self {
        self.from = model.map_or(Origin::Start, Origin::Run);
        self
    }

    /// Continues from this model's weights with the examples it is given next, which need not
    /// be those the model has seen. Passes are numbered on, so one pass each over the parts
    /// of a data set, in the order given, makes the visits of one pass over the whole; the
    /// limit on passes is on those of this session.
    #[must_use]
    pub fn partial_fit(mut self, model: Option<&'a Model>) -> Self {
        self.from = model.map_or(Origin::Start, Origin::Weights);
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

    /// Asks this whether examples can be separated, before and after a search for a hard margin.
    /// Without it, what cannot be separated is searched until the search gives up.
    #[must_use]
    pub fn separability_test(mut self, test: SeparabilityTest) -> Self {
        self.separability_test = Some(test);
        self
    }

    /// Trains.
    pub fn train(&self, data: &Dataset) -> Result<Fitted> {
        self.train_with(data, &mut NoCallback)
    }

    /// Trains, and tells `callback` of it.
    pub fn train_with(&self, data: &Dataset, callback: &mut dyn Callback) -> Result<Fitted> {
        let started = Instant::now();
        let options = self.options;
        options.validate()?;
        check_data(data)?;
        self.check_metric(data)?;
        let raw = data;
        let embedding = match self.from {
            // Its weights speak of the features it has learnt to make.
            Origin::Weights(model) => model.embedding.clone(),
            _ => options
                .embed
                .map(|embed| Embedding::fit(embed, raw, options.seed))
                .transpose()?,
        };
        let embedded = embedding.as_ref().map(|e| self.embed(e, raw));
        let data = embedded.as_ref().unwrap_or(raw);
        let multiclass = match data.classes.len() {
            0..=2 => options.multiclass,
            _ => Some(
                options
                    .multiclass
                    .unwrap_or(options.learner.default_multiclass()),
            ),
        };
        let scheme = Scheme::new(data.classes.len(), multiclass);
        self.check_targets(data, scheme)?;
        if options.learner.keeps_weights() {
            fits_memory(scheme, data.features())?;
        }
        let mut sample_weights = SampleWeights::new(data, &options.class_weight)?;
        // The rows that earlier weights were learned from are not at hand.
        let keeps_seen = !matches!(self.from, Origin::Weights(_)) && SeenRows::are_kept(raw);
        let (mut fingerprint, mut seen_rows) = (self.fingerprint, None);
        if keeps_seen || fingerprint.is_none() {
            let scan = RowScan::of(raw, self.threads);
            fingerprint.get_or_insert(scan.fingerprint);
            seen_rows = keeps_seen.then(|| SeenRows::of(scan.hashes));
            if embedding.is_none() {
                sample_weights.know_squared_norms(scan.squared_norms);
            }
        }
        let fingerprint = fingerprint.unwrap_or_default();
        if !sample_weights.is_surely_finite() {
            sample_weights.require_finite(self.threads)?;
        }
        let (mut progress, state) = self.resumed(raw, scheme, fingerprint)?;
        let mut best = None;
        match self.from {
            Origin::Run(model) if self.resumes_best(model) => {
                if options.keeps_best_pass() && progress.best.is_some() {
                    best = Some((model.decision.clone(), model.support.clone()));
                }
            }
            _ => progress.best = None,
        }
        let open_end = !matches!(self.from, Origin::Weights(_)) && self.validation.is_none();
        let pass_to_keep = options.pass_to_keep().filter(|_| open_end);
        match self.from {
            Origin::Run(model) if pass_to_keep.is_some() && progress.kept.is_some() => {
                best = Some((model.decision.clone(), model.support.clone()));
            }
            _ => progress.kept = None,
        }
        let made_before = match self.from {
            Origin::Weights(_) => progress.passes.len() as u64,
            _ => 0,
        };
        let size = DataSize::of(&data.matrix, scheme.discriminators());
        let epochs = (options.epochs).unwrap_or_else(|| options.learner.default_epochs(size));
        let ends_without_gain = options.epochs.is_none()
            && options.ends_without_gain()
            && !matches!(self.from, Origin::Weights(_));
        let training = Training {
            data,
            sample_weights: &sample_weights,
            targets: self.targets,
            scheme,
            options,
            limits: Limits {
                options,
                interrupt: self.interrupt,
                started,
                epochs: made_before + epochs,
                free_passes: ends_without_gain.then(|| Options::free_passes(size)),
            },
            resources: self.resources(),
            separability_test: self.separability_test,
            resumed: match self.from {
                Origin::Run(model) => Some(model),
                _ => None,
            },
            state,
            finished: progress.stop.filter(|stop| stop.is_final()),
            progress: Progress {
                stop: None,
                ..progress
            },
            recorder: Recorder {
                callback,
                validation: self.validation,
                template: Model {
                    trained_on: fingerprint,
                    seen_rows,
                    ..template(options, data.classes.clone(), scheme, embedding.clone())
                },
                data,
                threads: self.threads,
                best,
                pass_to_keep,
            },
            part: None,
        };
        LearnerEntry::fit(training).map(|mut fitted| {
            let chosen = options.keeps_best_pass() && fitted.model.progress.best.is_some();
            let rows = self.validation.filter(|_| chosen);
            fitted.model.chosen_on = rows.map(|rows| Fingerprint::of(rows, self.threads));
            fitted
        })
    }

    /// The data with the features that the embedding makes.
    fn embed(&self, embedding: &Embedding, raw: &Dataset) -> Dataset {
        Dataset {
            matrix: embedding.apply(&raw.matrix, self.threads),
            labels: raw.labels.clone(),
            classes: raw.classes.clone(),
            weights: raw.weights.clone(),
            names: FeatureNames::default(),
            layout: raw.layout,
        }
    }

    /// How far the run before came, checked against the data and the options.
    fn resumed(
        &self,
        raw: &Dataset,
        scheme: Scheme,
        fingerprint: Fingerprint,
    ) -> Result<(Progress, Option<LinearState>)> {
        let (Origin::Run(model) | Origin::Weights(model)) = self.from else {
            return Ok(Default::default());
        };
        check_same(model, self.options, raw, scheme)?;
        let mut progress = model.progress.clone();
        if let Origin::Run(_) = self.from {
            if let Some(refusal) = self.options.learner.cannot_resume() {
                return Err(refusal);
            }
            check_resumable(model, fingerprint)?;
        } else {
            self.options.learner.check_partial_fit(self.options)?;
            // What the last run proved, and where in its pass it was, is over.
            progress.stop = None;
            if progress.current.visits > 0 {
                let broken_off = std::mem::take(&mut progress.current);
                progress.passes.push(broken_off);
            }
        }
        Ok((progress, model.state.clone()))
    }

    /// Whether the run that is resumed chose its best pass as this one does.
    fn resumes_best(&self, model: &Model) -> bool {
        let (before, now) = (&model.options, self.options);
        let same = self.validation.is_some() && before.metric == now.metric;
        same && (before.keeps_best_pass() || !now.keeps_best_pass())
    }

    /// Refuses targets that cannot be learned.
    fn check_targets(&self, data: &Dataset, scheme: Scheme) -> Result<()> {
        let Some(targets) = self.targets else {
            return Ok(());
        };
        let learner = self.options.learner.name();
        if learner != LinearUnit::NAME {
            return Err(
                Error::options(format!("⟨learner {learner}⟩ learns classes, not numbers"))
                    .remedy(format!("use ⟨learner {}⟩", LinearUnit::NAME)),
            );
        }
        if self.validation.is_some() || scheme.discriminators() != 1 {
            return Err(Error::options(
                "numbers are learned by one discriminator, without held-out examples",
            ));
        }
        if targets.len() != data.len() {
            return Err(Error::data(format!(
                "{} targets for {} examples",
                targets.len(),
                data.len()
            )));
        }
        match targets.iter().position(|target| !target.is_finite()) {
            None => Ok(()),
            Some(i) => Err(Error::data(format!(
                "the target of example {} is not a finite number",
                data.number(i) + 1
            ))),
        }
    }

    /// Refuses a metric that says nothing of these classes.
    fn check_metric(&self, data: &Dataset) -> Result<()> {
        let of_two = matches!(self.options.metric, Metric::Auc | Metric::AveragePrecision);
        if of_two && data.classes.len() > 2 {
            let name = choice_name(self.options.metric);
            return Err(Error::options(format!(
                "⟨metric {name}⟩ is for two classes, and these are {}",
                data.classes.len()
            ))
            .remedy("use macro-f1 or balanced-accuracy, or name the ⟨positive⟩ class"));
        }
        let of_probabilities = self.options.metric == Metric::NegLogLoss;
        if of_probabilities && self.validation.is_some() && !self.options.gives_probabilities() {
            return Err(Error::options(
                "⟨metric neg-log-loss⟩ is for models that give probabilities",
            )
            .remedy("use ⟨learner logistic⟩ or network, or another metric"));
        }
        Ok(())
    }

    /// What a learner may use; only one over a kernel has to know how much memory is free.
    fn resources(&self) -> Resources {
        let memory = self
            .memory
            .unwrap_or_else(|| match self.options.learner.kernel() {
                Some(_) => parallel::memory_to_use(),
                None => 0,
            });
        Resources {
            memory: memory.try_into().unwrap_or(usize::MAX),
            threads: self.threads,
        }
    }
}

/// The model but for what training finds.
pub(crate) fn template(
    options: &Options,
    classes: Classes,
    scheme: Scheme,
    embedding: Option<Embedding>,
) -> Model {
    Model {
        classes,
        scheme,
        decision: Decision::Linear(Weights::zero(0, 0)),
        options: options.clone(),
        progress: Progress::default(),
        state: None,
        support: None,
        trained_on: Fingerprint::default(),
        seen_rows: None,
        calibration: None,
        threshold: None,
        chosen_on: None,
        embedding,
        preparation: None,
        recipe: Vec::new(),
    }
}

/// Refuses data that no learner can learn from.
pub(crate) fn check_data(data: &Dataset) -> Result<()> {
    data.classes.require_two()?;
    if data.features() == 0 {
        return Err(
            Error::data("there are no features").remedy("give a file with at least one feature")
        );
    }
    if u32::try_from(data.len()).is_err() {
        return Err(Error::data(format!(
            "{} examples are too many for one set",
            data.len()
        )));
    }
    Ok(())
}

/// Refuses weights that cannot fit, early and with their size.
pub(crate) fn fits_memory(scheme: Scheme, features: usize) -> Result<()> {
    const LIMIT: u64 = 1 << 36;
    /// The running weights, their average, and what is saved.
    const COPIES: usize = 3;
    let planes = scheme.discriminators();
    let bytes = Weights::bytes_needed(planes, features);
    if bytes.is_some_and(|bytes| {
        bytes as u64 <= LIMIT && parallel::can_allocate(bytes.saturating_mul(COPIES))
    }) {
        return Ok(());
    }
    let gib = bytes.map_or(u64::MAX, |bytes| {
        (bytes as u64).saturating_mul(COPIES as u64)
    }) >> 30;
    let error = Error::data(match planes {
        1 => format!("the weights of {features} features would take {gib} GiB"),
        _ => format!("{planes} discriminators of {features} features each would take {gib} GiB"),
    });
    Err(error.remedy(match planes {
        1 => "renumber the features: the largest index says how many there are",
        _ => "use fewer classes (⟨label-map⟩, ⟨positive⟩), or ⟨multiclass argmax⟩",
    }))
}
