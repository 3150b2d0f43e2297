//! Who watches a run, and what may end it.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::progress::Progress;
use super::rule::Judgement;
use crate::error::Result;

/// What may end a run besides its own success.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Control<'a> {
    /// Set when the caller wants to stop.
    pub interrupt: Option<&'a AtomicBool>,
    /// When the clock for the time limit began.
    pub started: Instant,
    /// The limit on passes.
    pub epochs: u64,
}

/// Someone who watches a run.
pub(crate) trait Watch<H> {
    /// Whether each visit should be reported.
    fn wants_steps(&self) -> bool {
        false
    }

    /// Whether reports should hold the weights before and after; otherwise they are empty.
    fn wants_weights(&self) -> bool {
        true
    }

    /// A visit to `row` is over.
    fn step(&mut self, _visit: Visit<'_>) {}

    /// A pass is over; gives the accuracy on held-out examples, where there are any.
    fn pass(&mut self, hypothesis: &mut H, progress: &Progress) -> Result<Option<f64>>;

    /// The pass and its validation accuracy are on record.
    fn recorded(&mut self, hypothesis: &mut H, progress: &Progress) -> Result<()>;
}

/// One visit, as reported to a watcher.
#[derive(Debug)]
pub(crate) struct Visit<'a> {
    /// Visit number, from 1.
    pub step: u64,
    /// Pass, from 0.
    pub epoch: u64,
    /// Memory position of the example.
    pub example: usize,
    /// The weights before.
    pub before: Vec<f64>,
    /// The scores, in units of 1.
    pub scores: Vec<f64>,
    /// What was found.
    pub judgement: &'a Judgement,
    /// The weights after.
    pub after: Vec<f64>,
}
