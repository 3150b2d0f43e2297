//! The voted read-out: every update of the run is kept, with how many visits its result survived.

use crate::scheme::Scheme;
use crate::weights::Weights;

/// One update: which example moved which discriminators, and for how many visits the
/// result then stood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogEntry {
    /// Row number in the training file, from 0.
    pub row: u32,
    /// The discriminator moved by +coefficient·x.
    pub raised: u32,
    /// The discriminator moved by −coefficient·x, or [`LogEntry::NONE`].
    pub lowered: u32,
    /// Signed step, in units of the state's unit.
    pub coefficient: f64,
    /// What the weights were divided by after the update: 1 unless they are renormalised.
    pub divisor: f64,
    /// Visits that the new hypothesis survived (its votes).
    pub survived: u64,
}

impl LogEntry {
    /// No second discriminator.
    pub const NONE: u32 = u32::MAX;
}

/// How often a start votes that survived so many visits of each group, before these updates.
pub(crate) fn votes_of_start(survived: &[u64], entries: &[LogEntry], group: usize) -> u64 {
    let unvisited = entries.is_empty() && survived.iter().all(|&visits| visits == 0);
    if unvisited { 1 } else { survived[group] }
}

/// All updates of a run, in order, with votes as in Freund & Schapire (1999).
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateLog {
    /// The weights before the first update.
    pub start: Weights,
    /// Visits that the starting weights survived, by group.
    pub start_survived: Vec<u64>,
    /// The updates.
    pub entries: Vec<LogEntry>,
    /// The last entry of each group, by which votes are counted; rebuilt on loading.
    latest: Vec<Option<usize>>,
}

impl UpdateLog {
    /// An empty log.
    pub fn new(scheme: Scheme, start: Weights) -> Self {
        let groups = scheme.groups();
        UpdateLog {
            start,
            start_survived: vec![0; groups],
            entries: Vec::new(),
            latest: vec![None; groups],
        }
    }

    /// A log from its parts; `None` if an entry names a discriminator that does not exist.
    pub fn from_parts(
        scheme: Scheme,
        start: Weights,
        start_survived: Vec<u64>,
        entries: Vec<LogEntry>,
    ) -> Option<Self> {
        let mut log = UpdateLog {
            start,
            start_survived,
            entries,
            latest: vec![None; scheme.groups()],
        };
        if log.start_survived.len() != scheme.groups() {
            return None;
        }
        for (i, entry) in log.entries.iter().enumerate() {
            let known = |d: u32| (d as usize) < scheme.discriminators();
            if !known(entry.raised) || (entry.lowered != LogEntry::NONE && !known(entry.lowered)) {
                return None;
            }
            log.latest[scheme.group(entry.raised as usize)] = Some(i);
        }
        Some(log)
    }

    /// How often the start of `group` votes: once where a run made no visit at all.
    pub(crate) fn start_votes(&self, group: usize) -> u64 {
        votes_of_start(&self.start_survived, &self.entries, group)
    }

    /// Notes an update.
    pub fn push(&mut self, scheme: Scheme, entry: LogEntry) {
        self.latest[scheme.group(entry.raised as usize)] = Some(self.entries.len());
        self.entries.push(entry);
    }

    /// Notes that the weights of `group` were divided after its last update.
    pub fn divided(&mut self, group: usize, divisor: f64) {
        if let Some(i) = self.latest[group] {
            self.entries[i].divisor = divisor;
        }
    }

    /// Counts visits of `group`.
    #[inline]
    pub fn count(&mut self, group: usize, visits: usize) {
        match self.latest[group] {
            Some(i) => self.entries[i].survived += visits as u64,
            None => self.start_survived[group] += visits as u64,
        }
    }
}
