//! A run under way or over: trained once, recorded, and asked about from then on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rosenblatt::embedding::Embedding;
use rosenblatt::learner::{Arow, PassiveAggressive};
use rosenblatt::model::{Decision, Model};
use rosenblatt::progress::{Pass, Stop};
use rosenblatt::scheme::Scheme;
use rosenblatt::training::{Callback, Fitted, Judgement, Rule, Step};
use rosenblatt::{Error, Options, Result};

use crate::data::Data;
use crate::log::{Counted, Log};

/// Bytes that the record of a run may take.
const MOST_BYTES: usize = 512 << 20;
/// How long a run may go on.
const MOST_TIME: Duration = Duration::from_secs(120);
/// Bytes that a kernel's values may take.
const KERNEL_BYTES: u64 = 256 << 20;
/// Models kept of the ends of passes.
const MODELS: usize = 400;
/// Visits that are recorded together, and how long one may wait for others.
const TOGETHER: usize = 512;
const WAIT: Duration = Duration::from_millis(30);

/// A run.
pub struct Run {
    /// What is learned from.
    pub data: Arc<Data>,
    /// What the learner was told.
    pub options: Options,
    /// How scores become classes.
    pub scheme: Scheme,
    /// Features made of features, where the options ask for it.
    pub embedding: Option<Embedding>,
    log: RwLock<Log>,
    passes: RwLock<Passes>,
    ended: Mutex<Option<Ended>>,
    stop: AtomicBool,
}

/// The ends of passes.
#[derive(Debug, Default)]
pub struct Passes {
    /// What happened in each.
    pub all: Vec<Pass>,
    /// Models at the ends of some, by the number of the pass.
    pub models: Vec<(usize, Decision)>,
    /// Which passes' models are kept: every so many.
    every: usize,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// What was learned, or why nothing was.
    pub fitted: Result<Arc<Fitted>>,
    /// Why it was broken off, if it was.
    pub broken_off: Option<String>,
}

/// The guard of a lock whose holder may have panicked: what it guards is sound all the same.
pub fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    /// Begins a run on a thread of its own.
    pub fn start(data: Arc<Data>, options: Options, threads: usize) -> Result<Arc<Self>> {
        options.validate()?;
        let examples = &data.examples;
        let embed = options.embed;
        let embedding = embed.map(|embed| Embedding::fit(embed, examples, options.seed));
        let multiclass = match examples.classes.len() {
            0..=2 => options.multiclass,
            _ => Some(
                options
                    .multiclass
                    .unwrap_or(options.learner.default_multiclass()),
            ),
        };
        let run = Arc::new(Run {
            scheme: Scheme::new(examples.classes.len(), multiclass),
            embedding: embedding.transpose()?,
            data,
            options,
            log: RwLock::default(),
            passes: RwLock::new(Passes {
                every: 1,
                ..Passes::default()
            }),
            ended: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        let own = run.clone();
        let begun = std::thread::Builder::new()
            .name("run".into())
            .spawn(move || own.train(threads));
        begun.map_err(|e| Error::io("thread", &e))?;
        Ok(run)
    }

    /// Whether its visits are recorded; else the ends of its passes are.
    pub fn is_traced(&self) -> bool {
        self.options.learner.is_mistake_driven()
    }

    fn train(&self, threads: usize) {
        let mut recorder = Recorder::new(self);
        let session = rosenblatt::session(&self.options)
            .threads(threads)
            .memory(Some(KERNEL_BYTES))
            .interrupt(&self.stop);
        let fitted = session.train_with(&self.data.examples, &mut recorder);
        recorder.flush();
        let broken_off = recorder.broken_off.take();
        if let (Ok(fitted), false) = (&fitted, self.is_traced()) {
            self.keep_last(fitted);
        }
        *held(&self.ended) = Some(Ended {
            fitted: fitted.map(Arc::new),
            broken_off,
        });
    }

    /// The end of the last pass, where no model of it was kept.
    fn keep_last(&self, fitted: &Fitted) {
        let mut passes = self.passes.write().unwrap_or_else(PoisonError::into_inner);
        let last = passes.all.len().max(1);
        if passes
            .models
            .last()
            .is_none_or(|(number, _)| *number != last)
        {
            passes.models.push((last, fitted.model.decision.clone()));
        }
    }

    /// Ends it.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The record so far.
    pub fn log(&self) -> std::sync::RwLockReadGuard<'_, Log> {
        self.log.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ends of passes so far.
    pub fn passes(&self) -> std::sync::RwLockReadGuard<'_, Passes> {
        self.passes.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        held(&self.ended).clone()
    }

    /// What was learned, where the run came to its own end.
    pub fn fitted(&self) -> Result<Arc<Fitted>> {
        let not_yet = || Error::data("the run is not over").remedy("wait for its end");
        let ended = self.ended().ok_or_else(not_yet)?;
        match ended.broken_off {
            Some(why) => Err(Error::data(format!("the run was broken off: {why}"))
                .remedy("set a limit with ⟨epochs⟩, or use the command line")),
            None => ended.fitted,
        }
    }

    /// How many visits (or kept passes) there are.
    pub fn len(&self) -> usize {
        match self.is_traced() {
            true => self.log().visits(),
            false => self.passes().models.len(),
        }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.log().bytes()
    }

    /// The model with this decision.
    pub fn model(&self, decision: Decision) -> Model {
        Model {
            classes: self.data.examples.classes.clone(),
            scheme: self.scheme,
            decision,
            options: self.options.clone(),
            progress: rosenblatt::progress::Progress::default(),
            state: None,
            support: None,
            trained_on: rosenblatt::model::Fingerprint::default(),
            seen_rows: None,
            calibration: None,
            threshold: None,
            chosen_on: None,
            embedding: self.embedding.clone(),
            preparation: None,
            recipe: Vec::new(),
        }
    }

    /// The rule that judges a visit, for scores as reported.
    pub fn rule(&self) -> Rule {
        let learner = &self.options.learner;
        match learner.is::<PassiveAggressive>() || learner.is::<Arow>() {
            true => Rule::hinge(&self.options),
            false => Rule::new(&self.options, 1.0),
        }
    }
}

/// Records a run as it goes.
struct Recorder<'a> {
    run: &'a Run,
    rule: Rule,
    judgement: Judgement,
    waiting: Vec<(Step, Counted)>,
    began: Instant,
    flushed: Instant,
    broken_off: Option<String>,
}

impl<'a> Recorder<'a> {
    fn new(run: &'a Run) -> Self {
        Recorder {
            rule: run.rule(),
            run,
            judgement: Judgement::default(),
            waiting: Vec::new(),
            began: Instant::now(),
            flushed: Instant::now(),
            broken_off: None,
        }
    }

    fn flush(&mut self) {
        let waiting = self.waiting.drain(..);
        let mut log = self.run.log.write().unwrap_or_else(PoisonError::into_inner);
        waiting.for_each(|(step, counted)| log.push(step, counted));
        let bytes = log.bytes();
        drop(log);
        self.watch(bytes);
    }

    /// Breaks the run off when it takes too much.
    fn watch(&mut self, bytes: usize) {
        if self.broken_off.is_some() {
            return;
        }
        if bytes > MOST_BYTES {
            self.broken_off = Some("its record takes as much memory as a page may".into());
        } else if self.began.elapsed() > MOST_TIME {
            self.broken_off = Some(format!("it took {} s", MOST_TIME.as_secs()));
        } else {
            return;
        }
        self.run.stop();
    }
}

impl Callback for Recorder<'_> {
    fn wants_steps(&self) -> bool {
        self.run.is_traced()
    }

    fn step(&mut self, step: Step) {
        if self.broken_off.is_some() {
            return;
        }
        let scheme = self.run.scheme;
        self.rule
            .judge(scheme, step.label, &step.scores, &mut self.judgement);
        let counted = Counted {
            mistakes: self.judgement.mistakes,
            updates: if step.correct {
                0
            } else {
                self.judgement.updates
            },
        };
        self.waiting.push((step, counted));
        if self.waiting.len() >= TOGETHER || self.flushed.elapsed() > WAIT {
            self.flush();
            self.flushed = Instant::now();
        }
    }

    fn pass(&mut self, _epoch: u64, pass: &Pass) {
        let mut passes = self
            .run
            .passes
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        passes.all.push(*pass);
        drop(passes);
        self.watch(0);
    }

    fn wants_checkpoint(&mut self) -> bool {
        let passes = self.run.passes();
        // A vote grows with the run, and a kernel's coefficients are on record.
        let kept = self.run.options.learner.kernel().is_none()
            && self.run.options.readout() != rosenblatt::options::Readout::Voted;
        kept && passes.all.len().is_multiple_of(passes.every)
    }

    fn checkpoint(&mut self, model: Model) -> Result<()> {
        let mut passes = self
            .run
            .passes
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let number = passes.all.len();
        passes.models.push((number, model.decision));
        if passes.models.len() > MODELS {
            passes.every *= 2;
            let every = passes.every;
            passes.models.retain(|(n, _)| n.is_multiple_of(every));
        }
        Ok(())
    }
}

/// Why a run ended, in words.
pub fn reason(run: &Run, ended: &Ended) -> String {
    if let Some(why) = &ended.broken_off {
        return format!("broken off: {why}");
    }
    match &ended.fitted {
        Ok(fitted) => {
            let stop = fitted.model.progress.stop.unwrap_or(Stop::Interrupted);
            rosenblatt::report::reason(stop, &run.options)
        }
        Err(error) => error.wording().as_command_line(),
    }
}
