//! The thread that learns.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use rosenblatt::data::Classes;
use rosenblatt::model::Model;
use rosenblatt::read::LabelFound;

use super::journal::Journal;
use super::labels::resolve;
use super::state::State;
use super::{Job, Learned, NewClasses, Sync, Task};
use crate::log::codec::{Entry, Examples, Remembered};
use crate::problem::Problem;

/// Rows that are learned before they are synced, at most, unless one request has more.
const MOST_ROWS: usize = 1 << 14;

/// Bytes of log after which a snapshot is made.
pub const SNAPSHOT_BYTES: u64 = 64 << 20;

/// Who is told what the thread that learns does.
pub trait Listener: Send {
    /// The weights to predict with from now on, after so many examples.
    fn publish(&self, model: Model, sequence: u64);
    /// Examples were learned: for each row the class predicted before and its own.
    fn learned(&self, rows: &[(u32, u32)], classes: &Classes);
    /// The log was synced in this time.
    fn synced(&self, took: Duration);
    /// The log of its segment has so many bytes.
    fn grown(&self, bytes: u64);
    /// A snapshot was saved, or could not be.
    fn saved(&self, snapshot: Result<&str, &str>);
    /// Nothing more is learned, and why.
    fn failed(&self, why: &str);
}

/// Learns what it is asked to.
pub struct Writer<L> {
    /// The log.
    pub journal: Journal,
    /// What was learned so far.
    pub state: State,
    /// When to sync.
    pub sync: Sync,
    /// What to do with labels that are no classes.
    pub new_classes: NewClasses,
    /// Bytes of log after which a snapshot is made.
    pub snapshot_bytes: u64,
    /// Who is told.
    pub listener: L,
    /// Why nothing more is learned.
    pub failed: Option<String>,
    /// The thread that saves a snapshot.
    pub saving: Option<JoinHandle<Result<String, String>>>,
    /// When the log was synced last.
    pub synced: Instant,
}

/// A job of which an entry was made, or that is answered already.
struct Taken {
    job: Job,
    /// The entry among those to be learned, and whether it was there before.
    entry: Option<(usize, bool)>,
    answer: Option<Result<Learned, Problem>>,
}

impl<L: Listener> Writer<L> {
    /// Works until it is told to stop, or nobody is left to ask.
    pub fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            match self.wait(jobs) {
                Ok(job) => {
                    if self.work(gather(job, jobs)) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.sync_now(),
                Err(RecvTimeoutError::Disconnected) => {
                    self.stop();
                    return;
                }
            }
        }
    }

    /// Waits for a job, or until the log is to be synced.
    fn wait(&self, jobs: &Receiver<Job>) -> Result<Job, RecvTimeoutError> {
        match self.sync {
            Sync::Interval(every) if !self.journal.is_durable() && self.failed.is_none() => {
                jobs.recv_timeout(every.saturating_sub(self.synced.elapsed()))
            }
            _ => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn sync_now(&mut self) {
        let started = Instant::now();
        self.synced = started;
        match self.journal.sync() {
            Ok(()) => self.listener.synced(started.elapsed()),
            Err(error) => self.fail(&format!("the log could not be synced: {error}")),
        }
    }

    fn fail(&mut self, why: &str) {
        if self.failed.is_none() {
            self.listener.failed(why);
            self.failed = Some(why.to_owned());
        }
    }

    /// Does some jobs; says whether one was to stop.
    pub fn work(&mut self, jobs: Vec<Job>) -> bool {
        let mut stop = false;
        let (mut entries, mut taken) = (Vec::new(), Vec::new());
        let mut keys = HashMap::new();
        let mut classes = self.state.learner.model().classes.clone();
        for job in jobs {
            match job.task {
                Task::Stop | Task::Snapshot => {
                    stop |= matches!(job.task, Task::Stop);
                    taken.push(Taken {
                        job,
                        entry: None,
                        answer: None,
                    });
                }
                _ => taken.push(self.take(job, &mut entries, &mut keys, &mut classes)),
            }
        }
        let learned = self.learn(&entries);
        for one in &mut taken {
            if let (Some((i, again)), None) = (one.entry, &one.answer) {
                one.answer = Some(learned.as_ref().map_err(Problem::clone).map(|all| Learned {
                    repeated: again,
                    ..all[i].clone()
                }));
            }
        }
        for one in taken {
            let answer = match (one.answer, &one.job.task) {
                (Some(answer), _) => answer,
                (None, Task::Stop) => {
                    self.stop();
                    Ok(Learned::default())
                }
                (None, _) => self.snapshot_now(),
            };
            // Whoever asked may be gone.
            let _ = one.job.answer.send(answer);
        }
        if !stop && self.journal.grown() >= self.snapshot_bytes {
            self.begin_snapshot();
        }
        self.listener.grown(self.journal.grown());
        stop
    }

    /// Makes an entry of a job, or its answer where there is nothing to learn.
    fn take(
        &self,
        mut job: Job,
        entries: &mut Vec<Entry>,
        keys: &mut HashMap<String, (usize, u32)>,
        classes: &mut Classes,
    ) -> Taken {
        let (mut entry, mut answer) = (None, None);
        if let Task::Label(id, _) = &job.task {
            // A label that is sent twice is learned once.
            job.key.get_or_insert_with(|| format!("label of {id}"));
        }
        let said = job.task.checksum();
        let key = job.key.clone();
        let known = key.as_ref().and_then(|key| self.state.answered.get(key));
        let now = key.as_ref().and_then(|key| keys.get(key));
        let made = match (known, now) {
            _ if self.failed.is_some() => Err(self.unavailable()),
            (Some(known), _) if known.said == said => {
                answer = Some(Ok(self.again(known)));
                Ok(None)
            }
            (None, Some(&(i, same))) if same == said => {
                entry = Some((i, true));
                Ok(None)
            }
            (None, None) => self.entry(&job.task, key.clone(), said, classes).map(Some),
            _ => Err(Problem::new(
                StatusCode::CONFLICT,
                "this idempotency key was used for a request that said something else; use another",
            )),
        };
        match made {
            Ok(None) => {}
            Ok(Some(new)) => {
                if let Some(key) = key {
                    keys.insert(key, (entries.len(), said));
                }
                entry = Some((entries.len(), false));
                entries.push(new);
            }
            Err(problem) => answer = Some(Err(problem)),
        }
        Taken { job, entry, answer }
    }

    fn unavailable(&self) -> Problem {
        let why = self.failed.as_deref().unwrap_or("the log failed");
        Problem::unavailable(format!(
            "nothing is learned any more: {why}; predictions go on"
        ))
    }

    fn again(&self, known: &Remembered) -> Learned {
        Learned {
            sequence: known.sequence,
            rows: known.rows.clone(),
            repeated: true,
            durable: self.journal.is_durable(),
            snapshot: None,
        }
    }

    fn entry(
        &self,
        task: &Task,
        key: Option<String>,
        said: u32,
        classes: &mut Classes,
    ) -> Result<Entry, Problem> {
        let (rows, labels, id) = match task {
            Task::Learn(rows, labels) => (rows.clone(), labels.clone(), None),
            Task::Label(id, labels) => {
                let rows = self.state.pending.get(id).ok_or_else(|| {
                    Problem::unknown(format!("no row waits for the label of the id {id:?}"))
                })?;
                if labels.len() != rows.rows() {
                    let (found, expected) = (labels.len(), rows.rows());
                    return Err(Problem::new(
                        StatusCode::CONFLICT,
                        format!("{found} labels for the id {id:?}, expected {expected}"),
                    ));
                }
                let find = |label: &String| match classes.find(label) {
                    Some(class) => LabelFound::Class(class),
                    None => LabelFound::Unknown(label.clone()),
                };
                (
                    rows.clone(),
                    labels.iter().map(find).collect(),
                    Some(id.clone()),
                )
            }
            Task::Keep(id, rows) => {
                return Ok(Entry::Pending {
                    id: id.clone(),
                    rows: rows.clone(),
                });
            }
            Task::Snapshot | Task::Stop => return Err(Problem::malformed("nothing to learn")),
        };
        let (labels, new_classes) =
            resolve(&self.state.learner, self.new_classes, &labels, classes)?;
        Ok(Entry::Learned(Examples {
            key,
            said,
            id,
            new_classes,
            rows,
            labels,
        }))
    }

    /// Learns entries, writes them to the log, and publishes what came of it. Gives what is to be
    /// answered to each.
    fn learn(&mut self, entries: &[Entry]) -> Result<Vec<Learned>, Problem> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let before = self.state.sequence;
        let predicted = match self.state.take(entries, true) {
            Ok(predicted) => predicted,
            Err(error) => {
                self.fail(&format!("an example could not be learned: {error}"));
                return Err(self.unavailable());
            }
        };
        let written = self.journal.append(before, entries);
        let synced = written.and_then(|()| match self.sync {
            Sync::Always => {
                let started = Instant::now();
                let synced = self.journal.sync();
                self.listener.synced(started.elapsed());
                synced
            }
            _ => Ok(()),
        });
        if let Err(error) = synced {
            self.fail(&format!("the log could not be written: {error}"));
            return Err(Problem::unavailable(format!(
                "{}; whether this was learned shows when the server starts again: send it again with the same idempotency key",
                self.unavailable().detail()
            )));
        }
        if let Sync::Interval(every) = self.sync
            && self.synced.elapsed() >= every
        {
            self.sync_now();
        }
        let model = self.state.learner.predictor();
        let classes = model.classes.clone();
        if self.state.sequence > before {
            self.listener.publish(model, self.state.sequence);
        }
        let (mut sequence, mut predicted) = (before, predicted.into_iter());
        let durable = self.journal.is_durable();
        Ok(entries
            .iter()
            .map(|entry| {
                let rows: Vec<(u32, u32)> = match entry {
                    Entry::Learned(examples) => predicted
                        .next()
                        .unwrap_or_default()
                        .into_iter()
                        .zip(examples.labels.iter().copied())
                        .collect(),
                    _ => Vec::new(),
                };
                self.listener.learned(&rows, &classes);
                let first = sequence;
                sequence += rows.len() as u64;
                Learned {
                    sequence: first,
                    rows,
                    durable,
                    ..Learned::default()
                }
            })
            .collect())
    }

    /// Begins a segment, and saves the snapshot there on a thread of its own.
    fn begin_snapshot(&mut self) {
        if self.failed.is_some() || self.saving.as_ref().is_some_and(|t| !t.is_finished()) {
            return;
        }
        self.finish_snapshot();
        match self.journal.rotate(&self.state) {
            Ok(snapshot) => {
                let save = move || snapshot.save().map_err(|e| e.to_string());
                self.saving = Some(std::thread::spawn(save));
            }
            Err(error) => self.fail(&format!("the log could not go on: {error}")),
        }
    }

    /// Waits for the snapshot that is being saved.
    fn finish_snapshot(&mut self) -> Option<Result<String, String>> {
        let saved = self.saving.take()?.join();
        let saved = saved.unwrap_or_else(|_| Err("the thread that saved it failed".into()));
        self.listener
            .saved(saved.as_deref().map_err(String::as_str));
        Some(saved)
    }

    fn snapshot_now(&mut self) -> Result<Learned, Problem> {
        self.finish_snapshot();
        self.begin_snapshot();
        match self.finish_snapshot() {
            Some(Ok(name)) => Ok(Learned {
                sequence: self.state.sequence,
                durable: true,
                snapshot: Some(name),
                ..Learned::default()
            }),
            Some(Err(why)) => Err(Problem::unavailable(format!(
                "the snapshot could not be saved: {why}"
            ))),
            None => Err(self.unavailable()),
        }
    }

    fn stop(&mut self) {
        self.finish_snapshot();
        if self.failed.is_none() && self.journal.grown() > 0 {
            self.begin_snapshot();
            self.finish_snapshot();
        }
    }
}

/// The first job and those that wait behind it: as many as are learned before one sync.
fn gather(first: Job, jobs: &Receiver<Job>) -> Vec<Job> {
    let size = |job: &Job| match &job.task {
        Task::Learn(rows, _) => rows.rows().max(1),
        _ => 1,
    };
    let mut rows = size(&first);
    let mut batch = vec![first];
    while rows < MOST_ROWS {
        match jobs.try_recv() {
            Ok(job) => {
                rows += size(&job);
                batch.push(job);
            }
            Err(_) => break,
        }
    }
    batch
}
