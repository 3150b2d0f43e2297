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

    /// An update after which nothing has happened yet.
    pub(crate) fn new(row: u32, raised: u32, lowered: u32, coefficient: f64) -> Self {
        LogEntry {
            row,
            raised,
            lowered,
            coefficient,
            divisor: 1.0,
            survived: 0,
        }
    }

    /// The updates that these changes by a row are: one where two discriminators move together,
    /// else one for each.
    pub(crate) fn of(row: u32, scheme: Scheme, changes: &[(u32, f64)]) -> Vec<Self> {
        match (scheme, changes) {
            (Scheme::Argmax { .. }, &[(raised, amount), (lowered, _)]) => {
                vec![Self::new(row, raised, lowered, amount)]
            }
            _ => (changes.iter())
                .map(|&(raised, amount)| Self::new(row, raised, Self::NONE, amount))
                .collect(),
        }
    }

    /// Makes the scores of N rows before the update those after it; `values` are the rows'
    /// products with its example.
    #[inline(always)]
    pub(crate) fn apply<const N: usize>(
        &self,
        scheme: Scheme,
        values: &[f64; N],
        scores: &mut [[f64; N]],
    ) {
        for (s, v) in scores[self.raised as usize].iter_mut().zip(values) {
            *s += self.coefficient * v;
        }
        if self.lowered != Self::NONE {
            for (s, v) in scores[self.lowered as usize].iter_mut().zip(values) {
                *s -= self.coefficient * v;
            }
        }
        if self.divisor != 1.0 {
            for d in scheme.members(scheme.group(self.raised as usize)) {
                scores[d].iter_mut().for_each(|s| *s /= self.divisor);
            }
        }
    }
}

/// All updates of a run from `S`, in order, with votes as in Freund & Schapire (1999).
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateLog<S = Weights> {
    /// The hypothesis before the first update.
    pub start: S,
    /// Visits that the starting weights survived, by group.
    pub start_survived: Vec<u64>,
    /// The updates.
    pub entries: Vec<LogEntry>,
    /// The last entry of each group, by which votes are counted; rebuilt on loading.
    latest: Vec<Option<usize>>,
}

impl<S> UpdateLog<S> {
    /// An empty log.
    pub fn new(scheme: Scheme, start: S) -> Self {
        let groups = scheme.groups();
        UpdateLog {
            start,
            start_survived: vec![0; groups],
            entries: Vec::new(),
            latest: vec![None; groups],
        }
    }

    /// Makes the log whole after its public parts were set; `None` if they do not fit the scheme.
    pub fn checked(mut self, scheme: Scheme) -> Option<Self> {
        let known = |d: u32| (d as usize) < scheme.discriminators();
        let fits = |e: &LogEntry| {
            known(e.raised)
                && (e.lowered == LogEntry::NONE || known(e.lowered))
                && e.coefficient.is_finite()
                && e.divisor.is_normal()
                && e.divisor > 0.0
        };
        if self.start_survived.len() != scheme.groups() || !self.entries.iter().all(fits) {
            return None;
        }
        for (i, entry) in self.entries.iter().enumerate() {
            self.latest[scheme.group(entry.raised as usize)] = Some(i);
        }
        Some(self)
    }

    /// How often the start of `group` votes: once where a run made no visit at all.
    pub(crate) fn start_votes(&self, group: usize) -> u64 {
        let survived = &self.start_survived;
        match self.entries.is_empty() && survived.iter().all(|&visits| visits == 0) {
            true => 1,
            false => survived[group],
        }
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
