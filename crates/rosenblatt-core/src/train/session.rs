//! A training session from the outside: data and options in, a fitted model out.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::fitting::Fitting;
use super::going_on::{check_carries_on, check_resumable, check_same};
use super::observer::{Nobody, Observer, Watcher};

use super::progress::Progress;
use super::survey::Survey;
use super::watch::Control;
use super::{Importance, MarginBracket};
use crate::crew::{Crew, Dismissal};
use crate::data::{Dataset, FeatureNames, Matrix};
use crate::embedding::Embedding;
use crate::error::{Error, Result};
use crate::kernel::Spectrum;
use crate::large;
use crate::learner::dual::Means;
use crate::learner::ledger::Ledger;
use crate::learner::perceptron::Help;
use crate::learner::twin::Twin;
use crate::model::{Decision, Fingerprint, Model, Scheme, Weights};
use crate::options::{Bias, LearnerKind, Multiclass, Options};

/// Everything a session needs besides its training data.
pub struct Session<'a> {
    options: &'a Options,
    validation: Option<&'a Dataset>,
    from: From<'a>,
    interrupt: Option<&'a AtomicBool>,
    threads: usize,
    memory: Option<u64>,
    fingerprint: Option<Fingerprint>,
    meanwhile: Option<&'a (dyn Fn() + Sync)>,
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
            meanwhile: None,
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

    /// Has this done beside training, by a thread that has nothing else to do by then; at once
    /// where there is none.
    #[must_use]
    pub fn meanwhile(mut self, work: &'a (dyn Fn() + Sync)) -> Self {
        self.meanwhile = Some(work);
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
        let importance = Importance::new(data, &options.class_weight)?;
        let lift = if options.bias() == Bias::Lifted {
            1.0
        } else {
            0.0
        };
        let survey = Survey::new(raw, &importance, lift, self.fingerprint);
        // Others are asked to help where that takes time, and to look at all rows before.
        let aside = self.threads > 1 && raw.matrix.bytes() >= large::MANY;
        let helpers = match aside || data.matrix.bytes() >= WORTH_HELPERS {
            true => self.threads.saturating_sub(1),
            false => 0,
        };
        let crew = Crew::new(self.threads);
        let ledger = Ledger::new(&data.matrix);
        let twin = Twin::new(&data.matrix);
        // The perceptron asks for few lengths before the end.
        let later = options.learner == LearnerKind::Perceptron && importance.is_surely_finite();
        if !(aside && later) {
            importance.require_finite(self.threads)?;
        }
        let sparse = matches!(raw.matrix, Matrix::Sparse { .. });
        let mut progress = Progress::default();
        let mut state = None;
        if let From::Run(model) | From::Weights(model) = self.from {
            check_same(model, options, raw, scheme)?;
            match self.from {
                From::Run(_) => check_resumable(model, survey.fingerprint(self.threads))?,
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
                        None if !sparse => survey.fingerprint(self.threads).non_zeros as usize,
                        _ => data.matrix.non_zeros(),
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
            trained_on: Fingerprint::default(),
            embedding: embedding.clone(),
            preparation: None,
            recipe: Vec::new(),
        };
        let fitting = Fitting {
            data,
            importance: &importance,
            scheme,
            options,
            control,
            means: self.means(),
            help: Help {
                crew: &crew,
                ledger: &ledger,
                twin: &twin,
            },
            survey: &survey,
            resumed: match self.from {
                From::Run(model) => Some(model),
                _ => None,
            },
            state,
            finished,
            progress,
            watcher: Watcher {
                observer,
                validation: self.validation,
                template,
                survey: &survey,
                data,
                threads: self.threads,
            },
        };
        let other_work = || self.meanwhile.into_iter().for_each(|work| work());
        let fitted = std::thread::scope(|scope| {
            let _dismissal = Dismissal(&crew);
            if !aside {
                other_work();
            }
            for helper in 0..helpers {
                let (survey, crew, ledger, twin) = (&survey, &crew, &ledger, &twin);
                scope.spawn(move || {
                    if aside {
                        survey.help();
                        if helper == 0 {
                            other_work();
                        }
                    }
                    crew.serve(|| {
                        ledger.work();
                        twin.work(|| ledger.work());
                    });
                });
            }
            fitting.fit()
        })?;
        Ok(fitted)
    }

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

/// Bytes of examples from which on training may be worth other threads.
const WORTH_HELPERS: usize = 1 << 18;

/// Refuses weights that cannot fit, early and with their size.
fn fits_memory(scheme: Scheme, features: usize) -> Result<()> {
    const LIMIT: u64 = 1 << 36;
    /// The running weights, their average, and what is saved.
    const COPIES: usize = 3;
    let planes = scheme.discriminators();
    let bytes = Weights::bytes_needed(planes, features);
    if bytes.is_some_and(|bytes| {
        bytes as u64 <= LIMIT && large::can_be_had(bytes.saturating_mul(COPIES))
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
        _ => "use fewer classes (--label-map, --positive), or --multiclass argmax",
    }))
}
