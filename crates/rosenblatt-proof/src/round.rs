//! One round of the decision: are the rows outside a face separable modulo that face?
//!
//! A few perceptron passes settle easy sets. Then the nearest point is sought on a small
//! working set that grows by the rows its answer violates, worst first; a pass over all rows
//! costs a score each. Either no row is violated any more, and the nearest point, rounded to
//! as few bits as still separate, is proved a separator; or the working set's hull holds the
//! origin, and the corral's exact weights prove that nothing separates. Where floating point
//! cannot tell, [`ExactWalk`] goes on without rounding from the same corral.

use std::collections::HashMap;

use dashu_int::IBig;

use super::decide::WIDE;
use super::exact_walk::{ExactWalk, RoundOutcome};
use super::face::{Face, PivotSolver};
use super::limits::{Doing, Limits, OrStopped};
use super::modulo::Residues;
use super::passes::{ExactWeights, Scales};
use super::rows::SignedRows;
use rosenblatt_core::internal::random::{Random, Stream};
use rosenblatt_core::internal::{NearestPoint, Walk};

/// Lengths for rounded weights, in bits.
const LENGTHS: [i32; 17] = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 28, 34, 42, 52];

/// Below this distance from the origin (of unit rows) rounding may be all there is.
pub(crate) const NEAR_ZERO: f64 = 1e-11;

/// How far a walk goes before all rows are looked at again: each point of the working set is
/// to score this much of ‖p‖².
pub(crate) const FAR_ENOUGH: f64 = 0.5;

/// Steps of one walk.
pub(crate) const MOST_STEPS: usize = 20_000;

/// Passes of dual coordinate descent that leave no fewer rows violated before it gives up.
const PATIENCE: usize = 100;

/// Rows among which a relation is sought by itself.
pub(crate) const FEW: usize = 256;

/// What dual coordinate descent met.
enum Met {
    /// Weights that every row is on the positive side of.
    Separator(Vec<f64>),
    Relation(RoundOutcome),
    Nothing,
}

pub(crate) struct Search<'a> {
    pub(crate) rows: &'a dyn SignedRows,
    pub(crate) scales: &'a Scales,
    pub(crate) residues: &'a Residues,
    /// Rows worth starting from; refreshed by each round.
    pub(crate) hints: Vec<usize>,
    /// Whether to try a few passes of the perceptron first; only without a face.
    pub(crate) perceptron: bool,
    /// A working set to go on from, orthogonal to the face; in the end, that of this round.
    pub(crate) hull: Option<NearestPoint>,
    pub(crate) limits: &'a Limits<'a>,
    /// What is known so far, for those who listen.
    pub(crate) doing: Doing,
}

impl Search<'_> {
    /// Decides the rows outside `face`, of which there must be one in the working set if not all
    /// that lie in the face are marked.
    pub(crate) fn round(&mut self, face: &Face) -> OrStopped<RoundOutcome> {
        let dimension = self.rows.dimension();
        let mut guess = None;
        if self.perceptron {
            let (w, clean) = self.passes(if dimension < 500 { 3 } else { 40 })?;
            if clean && let Some(weights) = self.rounded(&w, face)? {
                return Ok(RoundOutcome::Separated(weights));
            }
            guess = Some(w);
        }
        // In many dimensions a step of the walk is dear and data are often separable.
        if dimension >= WIDE && self.hull.is_none() {
            // What a relation was found among often holds another.
            if let Some(balanced) = self.relation(&self.hints.clone(), face)? {
                return Ok(balanced);
            }
            if !face.is_marked() {
                self.hints.clear();
                return Ok(RoundOutcome::Unmarked);
            }
            match self.hard_margin(face)? {
                Met::Separator(v) => {
                    if let Some(weights) = self.rounded(&v, face)? {
                        return Ok(RoundOutcome::Separated(weights));
                    }
                    guess = Some(v);
                }
                Met::Relation(balanced) => return Ok(balanced),
                Met::Nothing => {}
            }
        }
        let mut hull = match self.hull.take() {
            Some(hull) => hull,
            None => NearestPoint::new(dimension, face.near.clone()),
        };
        let mut known = vec![false; self.rows.limit()];
        hull.rows().for_each(|row| known[row] = true);
        for row in std::mem::take(&mut self.hints) {
            self.enter(&mut hull, &mut known, face, row);
        }
        let batch = self.batch();
        if let Some(w) = &guess {
            let (worst, _) = self
                .scales
                .violated(self.rows, w, &face.inside, 0.0, 2 * batch);
            for (_, row) in worst {
                self.enter(&mut hull, &mut known, face, row);
            }
        }
        if hull.working_set_len() == 0 {
            // No hint and no guess: any row outside.
            if let Some(row) = face.any_outside(self.rows) {
                self.enter(&mut hull, &mut known, face, row);
            }
        }
        let settled = self.walk(&mut hull, known, face);
        self.hull = Some(hull);
        settled
    }

    /// Walks on ever larger working sets.
    fn walk(
        &mut self,
        hull: &mut NearestPoint,
        mut known: Vec<bool>,
        face: &Face,
    ) -> OrStopped<RoundOutcome> {
        let batch = self.batch();
        let dimension = self.rows.dimension();
        loop {
            let over = || self.limits.over();
            let walk = hull.walk_unless(&over, FAR_ENOUGH, NEAR_ZERO, MOST_STEPS);
            self.limits.check()?;
            let mut ended = walk != Walk::Reached;
            if !ended {
                if !face.is_marked() {
                    return Ok(RoundOutcome::Unmarked);
                }
                let p = hull.nearest().to_vec();
                let (worst, count) = self
                    .scales
                    .violated(self.rows, &p, &face.inside, 0.0, batch);
                let inside = face.inside.iter().filter(|&&inside| inside).count();
                self.misclassified((count + inside).min(self.rows.groups()), || {
                    let working = hull.working_set_len();
                    let rank = face.basis.len();
                    format!("nearest point: {working} rows considered, a face of rank {rank}")
                });
                if count == 0 {
                    if let Some(weights) = self.rounded(&p, face)? {
                        self.hints = hull.rows().collect();
                        return Ok(RoundOutcome::Separated(weights));
                    }
                    ended = true;
                } else {
                    let before = hull.working_set_len();
                    if before > 40 * batch {
                        let squared: f64 = p.iter().map(|x| x * x).sum();
                        hull.shrink(|score| score < 4.0 * squared);
                        known.fill(false);
                        hull.rows().for_each(|row| known[row] = true);
                    }
                    let mut added = 0;
                    for (_, row) in worst {
                        added += usize::from(self.enter(hull, &mut known, face, row));
                    }
                    ended = added == 0;
                }
            }
            if ended {
                let start = hull.corral();
                // The latest rows came in because they were violated: those are worth most.
                let skip = hull.working_set_len().saturating_sub(4 * dimension + 64);
                self.hints = hull.rows().skip(skip).collect();
                self.tell(|| format!("exact weights of {} rows", start.len()));
                let (rows, scales) = (self.rows, self.scales);
                return ExactWalk::new(rows, scales, self.residues, self.limits, face)
                    .settle(start);
            }
        }
    }

    /// Rows that enter the working set at a time.
    fn batch(&self) -> usize {
        (self.rows.dimension() / 2).clamp(16, 128)
    }

    /// Tells what is done.
    fn tell(&mut self, what: impl FnOnce() -> String) {
        if self.limits.listener.is_some() {
            self.doing.what = what();
            self.limits.tell(|| self.doing.clone());
        }
    }

    /// Notes of how many groups a hyperplane leaves a row off its correct side.
    fn misclassified(&mut self, rows: usize, what: impl FnOnce() -> String) {
        let fewest = self.doing.fewest_misclassified.unwrap_or(usize::MAX);
        self.doing.fewest_misclassified = Some(fewest.min(rows));
        self.tell(what);
    }

    fn enter(&self, hull: &mut NearestPoint, known: &mut [bool], face: &Face, row: usize) -> bool {
        if known[row] || face.inside[row] {
            return false;
        }
        known[row] = true;
        hull.add(row, face.unit(self.rows, self.scales, row), true);
        true
    }

    /// A relation among a few rows, if they have one.
    fn relation(&mut self, rows: &[usize], face: &Face) -> OrStopped<Option<RoundOutcome>> {
        if !(2..=FEW).contains(&rows.len()) {
            return Ok(None);
        }
        let mut hull = NearestPoint::new(self.rows.dimension(), face.near.clone());
        let mut known = vec![false; self.rows.limit()];
        for &row in rows {
            self.enter(&mut hull, &mut known, face, row);
        }
        let over = || self.limits.over();
        let walk = hull.walk_unless(&over, FAR_ENOUGH, NEAR_ZERO, MOST_STEPS);
        self.limits.check()?;
        if walk != Walk::Origin {
            return Ok(None);
        }
        let corral = hull.corral();
        self.tell(|| format!("exact weights of {} rows", corral.len()));
        let exactly = ExactWalk::new(self.rows, self.scales, self.residues, self.limits, face);
        let balanced = exactly.balance(&corral)?;
        if balanced.is_some() {
            self.hints = rows.to_vec();
        }
        Ok(balanced)
    }

    /// The lowest score of a group, and whose it is.
    fn worst(&self, group: usize, w: &[f64]) -> (f64, usize) {
        let mut worst = (f64::INFINITY, 0);
        self.rows.score(group, w, &mut |row, score| {
            if score < worst.0 {
                worst = (score, row);
            }
        });
        worst
    }

    /// A few passes of the perceptron on rows of unit length; whether the last was clean.
    /// Rows it still corrected at the end become hints.
    fn passes(&mut self, passes: usize) -> OrStopped<(Vec<f64>, bool)> {
        let squares: Vec<f64> = self.scales.factor.iter().map(|f| f * f).collect();
        let mut w = vec![0.0; self.rows.dimension()];
        let mut corrected: Vec<usize> = Vec::new();
        let mut clean = false;
        let mut before = usize::MAX;
        for _ in 0..passes {
            corrected.clear();
            self.limits.check()?;
            for group in 0..self.rows.groups() {
                let worst = self.worst(group, &w);
                if worst.0 <= 0.0 {
                    let step = 1.0 / self.scales.norm[group].max(1e-300);
                    self.rows
                        .each(worst.1, &mut |j, z| w[j] += step * squares[j] * z);
                    corrected.push(worst.1);
                }
            }
            clean = corrected.is_empty();
            if clean || corrected.len() > before - before / 20 {
                break;
            }
            before = corrected.len();
        }
        let most = 4 * self.rows.dimension().min(500);
        let skip = corrected.len().saturating_sub(most);
        self.hints.extend(&corrected[skip..]);
        Ok((self.scales.scale(&w), clean))
    }

    /// Dual coordinate descent on ½‖v‖² subject to v·z ≥ 1 for unit rows (Hsieh et al.,
    /// 2008), visiting mostly the rows that still matter, in a new order each time, and
    /// orthogonally to the face, until every row outside is on the positive side. Where nothing
    /// separates, the weights of the rows of a relation grow for ever.
    fn hard_margin(&mut self, face: &Face) -> OrStopped<Met> {
        let squares: Vec<f64> = self.scales.factor.iter().map(|f| f * f).collect();
        let mut w = vec![0.0; self.rows.dimension()];
        let mut alpha: HashMap<usize, f64> = HashMap::new();
        let mut before = HashMap::new();
        let groups = self.rows.groups();
        let outside = |&group: &usize| {
            let mut any = face.basis.is_empty();
            let look = &mut |row: usize| any |= !face.inside[row];
            self.rows.members(group, look);
            any
        };
        let all: Vec<usize> = (0..groups).filter(outside).collect();
        let mut active = all.clone();
        let mut random = Random::new(0, Stream::Order, 0);
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        for pass in 0.. {
            self.limits.check()?;
            let full = active.len() == all.len();
            if !face.basis.is_empty() {
                let v = face.beside(self.rows, self.scales, self.scales.scale(&w));
                w = self.scales.unscale(&v);
            }
            random.shuffle(&mut active);
            let mut kept = Vec::new();
            let mut wrong = false;
            for &group in &active {
                let norm = self.scales.norm[group].max(1e-300);
                let worst = self.worst(group, &w);
                let (score, row) = (worst.0 / norm, worst.1);
                wrong |= score <= 0.0;
                let old = alpha.get(&row).copied().unwrap_or(0.0);
                let new = (old + 1.0 - score).max(0.0);
                if new != old {
                    alpha.insert(row, new);
                    let step = (new - old) / norm;
                    self.rows
                        .each(row, &mut |j, z| w[j] += step * squares[j] * z);
                }
                if new > 0.0 || score < 2.0 {
                    kept.push(group);
                }
            }
            let size = alpha.values().fold(0.0f64, |m, &a| m.max(a));
            if size.is_nan() || size > 1e7 {
                return Ok(Met::Nothing);
            }
            if full {
                // v moved during the pass: it separates if it does so standing still.
                let v = face.beside(self.rows, self.scales, self.scales.scale(&w));
                let violated = self.scales.violated(self.rows, &v, &face.inside, 0.0, 1).1;
                if violated == 0 {
                    return Ok(Met::Separator(v));
                }
                self.misclassified(violated, || format!("maximum margin: pass {}", pass + 1));
                let grown = self.balanced_growth(&alpha, &before, face);
                if let Some(balanced) = self.relation(&grown, face)? {
                    return Ok(Met::Relation(balanced));
                }
                before.clone_from(&alpha);
                if violated < fewest {
                    (fewest, patience) = (violated, PATIENCE);
                }
            }
            // Back to all rows now and then, and whenever the rest looks done.
            active = if !wrong || pass % 8 == 7 {
                all.clone()
            } else {
                kept
            };
            patience -= 1;
            if patience == 0 {
                break;
            }
        }
        Ok(Met::Nothing)
    }

    /// The rows whose weights grew most, if they are few and what was added of them comes near
    /// the origin.
    fn balanced_growth(
        &self,
        weights: &HashMap<usize, f64>,
        before: &HashMap<usize, f64>,
        face: &Face,
    ) -> Vec<usize> {
        let growth = |(&row, a): (&usize, &f64)| (row, a - before.get(&row).unwrap_or(&0.0));
        let mut grown: Vec<(usize, f64)> = weights.iter().map(growth).collect();
        let most = grown.iter().map(|g| g.1).fold(0.0, f64::max);
        grown.retain(|g| g.1 > 0.1 * most);
        if grown.len() > FEW {
            return Vec::new();
        }
        grown.sort_unstable_by_key(|g| g.0);
        let mut sum = vec![0.0; self.rows.dimension()];
        for &(row, by) in &grown {
            let by = by / self.scales.norm[self.rows.group_of(row)].max(1e-300);
            let add = &mut |j: usize, z| sum[j] += by * self.scales.factor[j] * z;
            self.rows.each(row, add);
        }
        let sum = face.beside(self.rows, self.scales, sum);
        let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        let near = length < 0.1 * grown.iter().map(|g| g.1).sum::<f64>();
        match near {
            true => grown.into_iter().map(|(row, _)| row).collect(),
            false => Vec::new(),
        }
    }

    /// v in as few bits as still separate the rows outside the face, orthogonal to it.
    pub(crate) fn rounded(&self, v: &[f64], face: &Face) -> OrStopped<Option<ExactWeights>> {
        let top = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        if !(top > 0.0 && top.is_finite()) {
            return Ok(None);
        }
        let solver = match face.basis.is_empty() {
            // Nothing to be orthogonal to.
            true => None,
            false => match PivotSolver::new(self.rows, self.scales, face, self.limits)? {
                None => return Ok(None),
                solver => solver,
            },
        };
        let mut last_bad = None;
        for length in LENGTHS {
            self.limits.check()?;
            // A face makes the pivots' weights long anyway, and each try costs a solution.
            if !face.basis.is_empty() && ![4, 8, 15, 28, 42, 52].contains(&length) {
                continue;
            }
            let unit = libm::scalbn(1.0, length) / top;
            let short: Vec<i64> = v.iter().map(|x| (x * unit).round() as i64).collect();
            let exact = match &solver {
                None => short.into_iter().map(IBig::from).collect(),
                Some(solver) => solver.complete(&short, self.limits)?,
            };
            let weights = ExactWeights::new(exact);
            // The row that refuted the last try will often refute this one.
            if let Some(row) = last_bad
                && weights.sign(self.scales, self.rows, row).is_le()
            {
                continue;
            }
            match self.scales.refutes(self.rows, &weights, &face.inside) {
                None => return Ok(Some(weights)),
                Some(row) => last_bad = Some(row),
            }
        }
        Ok(None)
    }
}
