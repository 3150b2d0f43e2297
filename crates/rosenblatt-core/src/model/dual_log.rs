//! The dual form of a run: every update, in order.
//!
//! A hypothesis is w = w0 + Σ over updates of coefficient·φ(x), so the list of updates holds
//! all hypotheses the run went through, and every read-out can be taken from it: the last
//! one, means, votes, any one in between.

use std::ops::Deref;

use crate::options::Readout;
use crate::readout::{LogEntry, UpdateLog};
use crate::scheme::Scheme;

/// All updates of a dual run, with what its read-outs need. It starts at signed coefficients: row
/// number in the training file, from 0, and coefficient.
#[derive(Debug, Clone, PartialEq)]
pub struct DualLog {
    /// The updates.
    pub updates: UpdateLog<Vec<(u32, f64)>>,
    /// What one unit of the coefficients is worth.
    pub unit: f64,
    /// Squared norms of the weights by group, where something divides by them.
    pub norms: Option<Vec<f64>>,
    /// Read-out `averaged-normalised`: 1/‖w‖ at the start by group, then after each update.
    pub shares: Option<Vec<f64>>,
    /// Read-outs `random` and `pocket`: how many updates the hypothesis kept is made of.
    pub kept: Option<u64>,
}

impl Deref for DualLog {
    type Target = UpdateLog<Vec<(u32, f64)>>;

    fn deref(&self) -> &Self::Target {
        &self.updates
    }
}

impl DualLog {
    /// An empty log.
    pub fn new(scheme: Scheme, start: Vec<(u32, f64)>, unit: f64) -> Self {
        DualLog {
            updates: UpdateLog::new(scheme, start),
            unit,
            norms: None,
            shares: None,
            kept: None,
        }
    }

    /// Makes the log whole after its public parts were set; `None` if they do not fit.
    pub fn checked(mut self, scheme: Scheme) -> Option<Self> {
        self.updates = self.updates.checked(scheme)?;
        let (groups, updates) = (scheme.groups(), self.entries.len());
        let long = |list: &Option<Vec<f64>>, len| list.as_ref().is_none_or(|l| l.len() == len);
        let fits = long(&self.norms, groups)
            && long(&self.shares, groups + updates)
            && self.kept.is_none_or(|k| k <= updates as u64)
            && self.unit.is_finite();
        fits.then_some(self)
    }

    /// Notes an update, after which 1/‖w‖ is `share`.
    pub(crate) fn push(&mut self, scheme: Scheme, entry: LogEntry, share: f64) {
        self.updates.push(scheme, entry);
        if let Some(shares) = &mut self.shares {
            shares.push(share);
        }
    }

    /// The rows named, ascending, each once.
    pub fn rows(&self) -> Vec<u32> {
        let mut rows: Vec<u32> = self
            .start
            .iter()
            .map(|s| s.0)
            .chain(self.entries.iter().map(|e| e.row))
            .collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// How often each row was corrected: (row, times), the hardest first.
    pub fn hardest(&self) -> Vec<(u32, u64)> {
        let mut rows: Vec<u32> = self.entries.iter().map(|e| e.row).collect();
        rows.sort_unstable();
        let mut counts: Vec<(u32, u64)> = Vec::new();
        for row in rows {
            match counts.last_mut() {
                Some((last, count)) if *last == row => *count += 1,
                _ => counts.push((row, 1)),
            }
        }
        counts.sort_by_key(|&(row, count)| (std::cmp::Reverse(count), row));
        counts
    }

    /// The log as it stood after `visits` visits; `None` for one-vs-one, where not every
    /// visit counts for every plane.
    pub fn after_visits(&self, scheme: Scheme, visits: u64) -> Option<DualLog> {
        if matches!(scheme, Scheme::OneVsOne { .. }) {
            return None;
        }
        let mut log = DualLog::new(scheme, self.start.clone(), self.unit);
        // An update falls on the visit that follows all those its group had survived.
        let mut at = self.start_survived.clone();
        log.updates.start_survived = at.iter().map(|&s| s.min(visits)).collect();
        log.shares = self.shares.as_ref().map(|s| s[..scheme.groups()].to_vec());
        for (i, entry) in self.entries.iter().enumerate() {
            let visit = &mut at[scheme.group(entry.raised as usize)];
            if *visit < visits {
                let survived = entry.survived.min(visits - *visit);
                log.updates.entries.push(LogEntry { survived, ..*entry });
                if let (Some(to), Some(from)) = (&mut log.shares, &self.shares) {
                    to.push(from[scheme.groups() + i]);
                }
            }
            *visit += entry.survived;
        }
        log.checked(scheme)
    }

    /// The coefficients of the read-out over `rows` (ascending), `rows × discriminators`,
    /// row by row. A vote has none; its hypotheses are replayed.
    pub fn coefficients(&self, scheme: Scheme, readout: Readout, rows: &[u32]) -> Vec<f64> {
        let discriminators = scheme.discriminators();
        let mut sums = vec![0.0; rows.len() * discriminators];
        let place = |row: u32| rows.binary_search(&row).ok();
        let averaged = matches!(readout, Readout::Averaged | Readout::AveragedNormalised);
        let used = match (readout, self.kept) {
            (Readout::Random | Readout::Pocket, Some(kept)) => kept as usize,
            _ => self.entries.len(),
        };
        // A later hypothesis of the group holds this update divided by all that came after.
        let groups = scheme.groups();
        let visits: Vec<u64> = {
            let mut visits = self.start_survived.clone();
            for e in &self.entries {
                visits[scheme.group(e.raised as usize)] += e.survived;
            }
            visits
        };
        let mean_of = |g: usize| averaged && visits[g] > 0;
        let mut ahead: Vec<f64> = (0..groups)
            .map(|g| if mean_of(g) { 0.0 } else { 1.0 })
            .collect();
        let share_at = |k: usize| match &self.shares {
            Some(shares) if readout == Readout::AveragedNormalised => shares[k],
            _ => 1.0,
        };
        let mut weights = vec![0.0; used];
        for (i, e) in self.entries[..used].iter().enumerate().rev() {
            let g = scheme.group(e.raised as usize);
            if mean_of(g) {
                ahead[g] += share_at(groups + i) * e.survived as f64;
            }
            ahead[g] /= e.divisor;
            weights[i] = ahead[g];
        }
        for (g, ahead) in ahead.iter_mut().enumerate() {
            if mean_of(g) {
                *ahead += share_at(g) * self.start_survived[g] as f64;
            }
        }
        for &(row, coefficient) in &self.start {
            if let Some(k) = place(row) {
                sums[k * discriminators] += ahead[0] * coefficient;
            }
        }
        for (e, weight) in self.entries[..used].iter().zip(weights) {
            let Some(k) = place(e.row) else { continue };
            let step = weight * e.coefficient;
            sums[k * discriminators + e.raised as usize] += step;
            if e.lowered != LogEntry::NONE {
                sums[k * discriminators + e.lowered as usize] -= step;
            }
        }
        for (k, sum) in sums.iter_mut().enumerate() {
            let g = scheme.group(k % discriminators);
            *sum = match mean_of(g) {
                // A direction has no unit.
                true if readout == Readout::AveragedNormalised => *sum / visits[g] as f64,
                true => *sum / visits[g] as f64 * self.unit,
                false => *sum * self.unit,
            };
        }
        sums
    }
}
