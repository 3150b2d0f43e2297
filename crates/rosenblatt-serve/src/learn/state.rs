//! What learning keeps in memory: the learner, what it answered to requests with a key, and rows
//! that wait for their labels. All of it follows from the log.

use std::collections::{HashMap, VecDeque};

use rosenblatt::data::Matrix;
use rosenblatt::training::{Callback, Step};
use rosenblatt::{OnlineLearner, Result};

use crate::log::codec::{Entry, Examples, Remembered, joined};

/// Requests with a key that are remembered.
const MOST_KEYS: usize = 1 << 16;

/// Rows of theirs.
const MOST_ANSWERS: usize = 1 << 20;

/// Rows that wait for labels, and the bytes of their features.
const MOST_PENDING: usize = 1 << 16;
const MOST_PENDING_BYTES: usize = 64 << 20;

/// A list of things by name that forgets the oldest.
#[derive(Debug)]
pub struct Bounded<T> {
    by_name: HashMap<String, (u64, T)>,
    order: VecDeque<(u64, String)>,
    count: u64,
    size: usize,
    most: (usize, usize),
    size_of: fn(&T) -> usize,
}

impl<T> Bounded<T> {
    fn new(most: (usize, usize), size_of: fn(&T) -> usize) -> Self {
        Bounded {
            by_name: HashMap::new(),
            order: VecDeque::new(),
            count: 0,
            size: 0,
            most,
            size_of,
        }
    }

    /// What is known by this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.by_name.get(name).map(|(_, thing)| thing)
    }

    fn insert(&mut self, name: String, thing: T) {
        self.remove(&name);
        self.size += (self.size_of)(&thing);
        self.by_name.insert(name.clone(), (self.count, thing));
        self.order.push_back((self.count, name));
        self.count += 1;
        while self.by_name.len() > self.most.0 || self.size > self.most.1 {
            let Some((count, oldest)) = self.order.pop_front() else {
                break;
            };
            if self.by_name.get(&oldest).is_some_and(|(n, _)| *n == count) {
                self.remove(&oldest);
            }
        }
        // Names that were removed leave their place in the order behind.
        if self.order.len() > 2 * self.by_name.len() + 16 {
            let by_name = &self.by_name;
            self.order
                .retain(|(count, name)| by_name.get(name).is_some_and(|(n, _)| n == count));
        }
    }

    fn remove(&mut self, name: &str) -> Option<T> {
        let (_, thing) = self.by_name.remove(name)?;
        self.size -= (self.size_of)(&thing);
        Some(thing)
    }

    /// All of them, the oldest first.
    fn iter(&self) -> impl Iterator<Item = (&String, &T)> {
        self.order.iter().filter_map(|(count, name)| {
            let (n, thing) = self.by_name.get(name)?;
            (n == count).then_some((name, thing))
        })
    }
}

/// The state of learning.
#[derive(Debug)]
pub struct State {
    /// The learner.
    pub learner: OnlineLearner,
    /// How many examples it has learned from the log.
    pub sequence: u64,
    /// What requests with a key were answered.
    pub answered: Bounded<Remembered>,
    /// Rows that wait for labels.
    pub pending: Bounded<Matrix>,
}

impl State {
    /// The state of a learner that has learned so many examples, with nothing remembered.
    pub fn new(learner: OnlineLearner, sequence: u64) -> Self {
        State {
            learner,
            sequence,
            answered: Bounded::new((MOST_KEYS, MOST_ANSWERS), |answer| answer.rows.len()),
            pending: Bounded::new((MOST_PENDING, MOST_PENDING_BYTES), Matrix::bytes),
        }
    }

    /// Takes entries in; gives, for each in turn that holds examples, what was predicted before
    /// each row was learned. Only those with a key need `predictions`, unless all are wanted.
    ///
    /// # Errors
    /// If the weights grew beyond what a number can hold: then it cannot go on.
    pub fn take(&mut self, entries: &[Entry], all: bool) -> Result<Vec<Vec<u32>>> {
        let mut predicted = Vec::new();
        let mut first = 0;
        while first < entries.len() {
            let Entry::Learned(examples) = &entries[first] else {
                self.remember(&entries[first]);
                first += 1;
                continue;
            };
            for name in &examples.new_classes {
                self.learner.add_class(name)?;
            }
            // Examples that follow one another are learned in one go, which gives the same model.
            let more = entries[first + 1..].iter().map_while(|entry| match entry {
                Entry::Learned(next) if next.new_classes.is_empty() => Some(next),
                _ => None,
            });
            let run: Vec<&Examples> = std::iter::once(examples).chain(more).collect();
            first += run.len();
            self.learn(&run, all, &mut predicted)?;
        }
        Ok(predicted)
    }

    fn learn(&mut self, run: &[&Examples], all: bool, predicted: &mut Vec<Vec<u32>>) -> Result<()> {
        let mut rest = run;
        while let Some(first) = rest.first() {
            let alike = |e: &&&Examples| {
                e.rows.is_sparse() == first.rows.is_sparse()
                    && e.rows.precision() == first.rows.precision()
                    && e.rows.columns() == first.rows.columns()
            };
            let (now, later) = rest.split_at(rest.iter().take_while(alike).count());
            rest = later;
            let parts: Vec<&Matrix> = now.iter().map(|e| &e.rows).collect();
            let matrix = joined(&parts).unwrap_or_else(|| first.rows.clone());
            let labels = now.iter().flat_map(|e| e.labels.iter().copied()).collect();
            let asked = all || now.iter().any(|e| e.key.is_some());
            let mut visits = Visits {
                asked,
                scores: Vec::new(),
            };
            self.learner.learn(matrix, labels, &mut visits)?;
            let model = self.learner.model();
            let mut classes =
                (visits.scores.iter()).map(|scores| model.scheme.decide(scores, model.at_zero()));
            for examples in now {
                let rows = examples.labels.len();
                let before: Vec<u32> = classes.by_ref().take(rows).collect();
                if let Some(key) = &examples.key {
                    let rows = before.iter().copied().zip(examples.labels.iter().copied());
                    let answer = Remembered {
                        said: examples.said,
                        sequence: self.sequence,
                        rows: rows.collect(),
                    };
                    self.answered.insert(key.clone(), answer);
                }
                if let Some(id) = &examples.id {
                    self.pending.remove(id);
                }
                self.sequence += rows as u64;
                predicted.push(before);
            }
        }
        Ok(())
    }

    fn remember(&mut self, entry: &Entry) {
        match entry {
            Entry::Pending { id, rows } => self.pending.insert(id.clone(), rows.clone()),
            Entry::Answered(key, answer) => self.answered.insert(key.clone(), answer.clone()),
            Entry::Learned(_) => {}
        }
    }

    /// What a shortened log must say so that nothing remembered is forgotten.
    pub fn remembered(&self) -> Vec<Entry> {
        let answered = self.answered.iter();
        let pending = self.pending.iter();
        answered
            .map(|(key, answer)| Entry::Answered(key.clone(), answer.clone()))
            .chain(pending.map(|(id, rows)| Entry::Pending {
                id: id.clone(),
                rows: rows.clone(),
            }))
            .collect()
    }
}

/// Notes the scores that each visit found.
struct Visits {
    asked: bool,
    scores: Vec<Vec<f64>>,
}

impl Callback for Visits {
    fn wants_steps(&self) -> bool {
        self.asked
    }

    fn wants_weights(&self) -> bool {
        false
    }

    fn step(&mut self, step: Step) {
        self.scores.push(step.scores);
    }
}
