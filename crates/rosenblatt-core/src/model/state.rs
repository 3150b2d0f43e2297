//! What a run of the primal perceptron remembers: the running weights and whatever its
//! read-out needs. It is saved with the model, so that a run can go on as if it had never
//! stopped.

use super::scheme::Scheme;
use super::weights::{Change, Weights};

/// The running weights and what the read-out keeps beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearState {
    /// The weights now, in units of [`unit`](Self::unit).
    pub weights: Weights,
    /// What one unit of the weights is worth. From zero and without a margin demand the
    /// rate only scales the weights, so they are kept as counts times examples and
    /// multiplied by the rate when read out: then every rate makes identical mistakes.
    pub unit: f64,
    /// Squared norms of the weights by group, where something divides by them.
    pub norms: Option<Vec<f64>>,
    /// The running sum for the averaged read-outs.
    pub average: Option<Average>,
    /// The weights that the `random` and `pocket` read-outs keep; those before the last step
    /// of batch descent, to which it goes back if it diverges.
    pub kept: Option<Weights>,
    /// Every update, for the voted read-out.
    pub log: Option<UpdateLog>,
}

/// The sum of the weights over visits, in O(non-zeros) per update.
///
/// The sum is S = factor·w + correction. A visit that leaves w alone adds 1 (or 1/‖w‖) to
/// the factor; an update w ← w + δ takes factor·δ from the correction, which leaves S as it
/// was.
#[derive(Debug, Clone, PartialEq)]
pub struct Average {
    /// Σ over visits of 1, or of 1/‖w‖, by group of discriminators.
    pub factor: Vec<f64>,
    /// Visits counted, by group.
    pub visits: Vec<u64>,
    /// What must be added to factor·w.
    pub correction: Weights,
}

impl Average {
    /// No visit counted yet.
    pub fn new(scheme: Scheme, features: usize) -> Self {
        Average {
            factor: vec![0.0; scheme.groups()],
            visits: vec![0; scheme.groups()],
            correction: Weights::zero(scheme.discriminators(), features),
        }
    }

    /// What to add to the correction when `change` is added to the weights of `group`.
    #[inline]
    pub(crate) fn due(&self, group: usize, change: Change) -> Option<Change> {
        let factor = self.factor[group];
        (factor != 0.0).then_some(Change {
            d: change.d,
            scale: -factor * change.scale,
            bias: -factor * change.bias,
        })
    }

    /// Moves factor·w into the correction, as must be done before w is rescaled.
    pub fn flush(
        &mut self,
        group: usize,
        discriminators: impl Iterator<Item = usize>,
        weights: &Weights,
    ) {
        let factor = std::mem::take(&mut self.factor[group]);
        discriminators.for_each(|d| {
            self.correction
                .combine(d, weights, |own, w| own + factor * w)
        });
    }

    /// Counts visits of `group` at weights whose share is `share` (1, or 1/‖w‖) each time.
    #[inline]
    pub fn count(&mut self, group: usize, share: f64, visits: usize) {
        // One by one: shares are not always whole, so a product would be rounded otherwise.
        let factor = &mut self.factor[group];
        *factor = (0..visits).fold(*factor, |sum, _| sum + share);
        self.visits[group] += visits as u64;
    }

    /// The mean over visits, times `unit`; discriminators never visited are as in `weights`.
    pub fn mean(&self, scheme: Scheme, weights: &Weights, unit: f64, threads: usize) -> Weights {
        let counted: Vec<(f64, f64)> = (0..scheme.discriminators())
            .map(|d| {
                (
                    self.factor[scheme.group(d)],
                    self.visits[scheme.group(d)] as f64,
                )
            })
            .collect();
        self.correction
            .combined(weights, threads, |d, own, w| match counted[d] {
                (_, 0.0) => w * unit,
                (factor, visits) => (factor * w + own) / visits * unit,
            })
    }
}

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
pub(super) fn votes_of_start(survived: &[u64], entries: &[LogEntry], group: usize) -> u64 {
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
    pub(super) fn start_votes(&self, group: usize) -> u64 {
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
