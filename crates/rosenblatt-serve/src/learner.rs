//! The face of the thread that learns: whom requests ask, and what is known of it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use rosenblatt::data::Classes;
use rosenblatt::model::Model;
use rosenblatt::{Error, Result};
use tokio::sync::oneshot;

use crate::learn::journal::{Journal, Recovery};
use crate::learn::state::State;
use crate::learn::writer::{Listener, Writer};
use crate::learn::{Job, Learned, NewClasses, Sync, Task};
use crate::metrics::ModelMetrics;
use crate::model::Published;
use crate::problem::{Answer, Problem};
use crate::report::Report;

/// Examples in the window of recent mistakes.
pub const WINDOW: usize = 1000;

/// Examples that the page shows.
const LAST: usize = 20;

/// Points of the error curve.
const CURVE: usize = 200;

/// An example that was learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastLearned {
    /// Its number.
    pub sequence: u64,
    /// The class predicted before.
    pub predicted: String,
    /// Its own.
    pub label: String,
    /// When.
    pub at: SystemTime,
}

/// What was learned lately.
#[derive(Debug, Default)]
pub struct Recent {
    window: VecDeque<bool>,
    wrong: usize,
    /// Examples and mistakes since the server started.
    pub examples: u64,
    /// Of those.
    pub mistakes: u64,
    /// The share of mistakes in the window, a point every few examples.
    pub curve: VecDeque<(u64, f64)>,
    /// Examples between points.
    every: u64,
    /// What was learned last, the newest first.
    pub last: VecDeque<LastLearned>,
}

impl Recent {
    fn count(&mut self, sequence: u64, mistake: bool) {
        self.examples += 1;
        self.mistakes += u64::from(mistake);
        self.window.push_back(mistake);
        self.wrong += usize::from(mistake);
        if self.window.len() > WINDOW {
            self.wrong -= usize::from(self.window.pop_front() == Some(true));
        }
        if self.examples.is_multiple_of(self.every.max(1)) {
            self.curve.push_back((sequence, self.error()));
            if self.curve.len() > CURVE {
                // Half as many points, twice as far apart.
                self.curve = self.curve.iter().copied().skip(1).step_by(2).collect();
                self.every = self.every.max(1) * 2;
            }
        }
    }

    /// The share of mistakes in the window.
    pub fn error(&self) -> f64 {
        self.wrong as f64 / self.window.len().max(1) as f64
    }
}

/// What the thread that learns tells, and who is told.
#[derive(Clone)]
struct Told {
    name: String,
    published: Arc<ArcSwap<Published>>,
    failure: Arc<OnceLock<String>>,
    recent: Arc<Mutex<Recent>>,
    sequence: Arc<AtomicU64>,
    metrics: ModelMetrics,
    report: Report,
}

impl Listener for Told {
    fn publish(&self, model: Model, sequence: u64) {
        self.published
            .store(Arc::new(Published { model, sequence }));
    }

    fn learned(&self, rows: &[(u32, u32)], classes: &Classes) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let first = self
            .sequence
            .fetch_add(rows.len() as u64, Ordering::Relaxed);
        for (i, &(predicted, label)) in rows.iter().enumerate() {
            let sequence = first + i as u64 + 1;
            recent.count(sequence, predicted != label);
            if i + LAST >= rows.len() {
                recent.last.push_front(LastLearned {
                    sequence,
                    predicted: classes.name(predicted).to_owned(),
                    label: classes.name(label).to_owned(),
                    at: SystemTime::now(),
                });
                recent.last.truncate(LAST);
            }
        }
        let mistakes = rows.iter().filter(|(p, l)| p != l).count() as u64;
        self.metrics.learned(rows.len() as u64, mistakes, &recent);
    }

    fn synced(&self, took: Duration) {
        self.metrics.sync.observe(took.as_secs_f64());
    }

    fn grown(&self, bytes: u64) {
        self.metrics.log_bytes.set(bytes as i64);
    }

    fn saved(&self, snapshot: std::result::Result<&str, &str>) {
        match snapshot {
            Ok(name) => self
                .report
                .say("snapshot saved", &[("model", &self.name), ("file", name)]),
            Err(why) => self
                .report
                .say("snapshot failed", &[("model", &self.name), ("error", why)]),
        }
    }

    fn failed(&self, why: &str) {
        // Only the first reason counts.
        let _ = self.failure.set(why.to_owned());
        self.report
            .say("learning stopped", &[("model", &self.name), ("error", why)]);
    }
}

/// Who learns for a model.
pub struct Learner {
    /// The weights that predict now.
    pub published: Arc<ArcSwap<Published>>,
    /// When the log is synced.
    pub sync: Sync,
    /// What was found when it started.
    pub recovery: Recovery,
    told: Told,
    jobs: Sender<Job>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Learner {
    /// Goes on from a journal, on a thread of its own.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn start(
        name: &str,
        (journal, state, recovery): (Journal, State, Recovery),
        (sync, new_classes): (Sync, NewClasses),
        metrics: ModelMetrics,
        report: Report,
    ) -> Result<Self> {
        let (jobs, receiver) = channel();
        let first = Published {
            model: state.learner.predictor(),
            sequence: state.sequence,
        };
        let told = Told {
            name: name.to_owned(),
            sequence: Arc::new(AtomicU64::new(state.sequence)),
            published: Arc::new(ArcSwap::from_pointee(first)),
            failure: Arc::default(),
            recent: Arc::default(),
            metrics,
            report,
        };
        let writer = Writer {
            journal,
            state,
            sync,
            new_classes,
            snapshot_bytes: crate::learn::writer::SNAPSHOT_BYTES,
            listener: told.clone(),
            failed: None,
            saving: None,
            synced: Instant::now(),
        };
        let thread = std::thread::Builder::new().name("learn".into());
        let thread = thread.spawn(move || writer.run(&receiver));
        let thread = thread.map_err(|e| Error::io("the thread that learns", &e))?;
        Ok(Learner {
            published: told.published.clone(),
            sync,
            recovery,
            told,
            jobs,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Has something done; the answer comes once it is as durable as is promised.
    ///
    /// # Errors
    /// If it is refused, or nothing is learned any more.
    pub async fn ask(&self, task: Task, key: Option<String>) -> Answer<Learned> {
        let gone = || Problem::unavailable("the thread that learns has ended");
        let (answer, answered) = oneshot::channel();
        let job = Job { task, key, answer };
        self.jobs.send(job).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    /// Why nothing more is learned.
    pub fn failure(&self) -> Option<&str> {
        self.told.failure.get().map(String::as_str)
    }

    /// Looks at what was learned lately.
    pub fn recent<T>(&self, look: impl FnOnce(&Recent) -> T) -> T {
        look(
            &self
                .told
                .recent
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Waits for its thread, which was told to stop.
    pub fn join(&self) {
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // It has said why, if it failed.
            let _ = thread.join();
        }
    }
}
