//! What a logistic regression's coefficients do on these data (Albert & Anderson, 1984).
//!
//! Let C = {w : w·z_i ≥ 0 for all i}. Maximum likelihood runs off along C: a coefficient
//! that is positive somewhere on C and negative nowhere goes to +∞, and so on. C is
//! orthogonal to the face L that a decision finds, and has inner points w₀ relative to it.
//! So a coordinate is 0 on all of C iff its axis lies in L; and otherwise C has points with
//! w_j < 0 iff the rows with −e_j added can still be separated modulo L: each doubtful sign
//! is one more decision. It goes on from the working set that separates the rows alone, to
//! which the axis adds one point; and a separator that it finds shows the other sign for
//! every coordinate in which it differs from w₀, not just for j.

use super::decide::{Decision, State};
use super::exact_walk::RoundOutcome;
use super::face::Face;
use super::limits::{Doing, Limits, OrStopped, Stopped};
use super::modulo::PRIME;
use super::number::is_negative;
use super::passes::{ExactWeights, Scales};
use super::round::{FAR_ENOUGH, MOST_STEPS, NEAR_ZERO, Search};
use super::rows::SignedRows;
use super::rows_and_axis::RowsAndAxis;
use super::verdict::{Direction, ProvedVerdict};
use rosenblatt_core::internal::NearestPoint;
use rosenblatt_core::internal::random::{Random, Stream};
use rosenblatt_core::progress::Stop;
use rosenblatt_core::{Error, Result};

/// Where a coefficient's maximum likelihood estimate goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Estimate {
    /// To +∞.
    #[serde(rename = "+inf")]
    PlusInfinity,
    /// To −∞.
    #[serde(rename = "-inf")]
    MinusInfinity,
    /// No unique limit: the likelihood nears its supremum along paths where this coefficient goes
    /// to +∞, to −∞, or stays finite.
    #[serde(rename = "either")]
    Either,
    /// Nowhere: the estimate is finite.
    #[serde(rename = "finite")]
    Finite,
    /// Not determined: another coefficient can make up for it exactly.
    #[serde(rename = "not_identified")]
    NotIdentified,
}

/// A decision and what it means for each coefficient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coefficients {
    /// The verdict and its witness.
    pub decision: ProvedVerdict,
    /// By coordinate; the bias first where there is one.
    pub estimates: Vec<Estimate>,
    /// A direction along which the likelihood never falls, strict on every row that can be
    /// separated; `None` if the data overlap.
    pub recession: Option<Direction>,
    /// The rank of all rows.
    pub rank: usize,
}

/// Decides, and classifies every coefficient.
pub fn coefficients(rows: &dyn SignedRows, threads: usize) -> Result<Coefficients> {
    let limits = Limits::default();
    let unlimited = |stop: Stop| Error::data(stop.to_string());
    let decision = Decision::new(rows, threads, &limits)?.map_err(|u| unlimited(u.stop))?;
    decision.coefficients().map_err(unlimited)
}

impl Decision<'_> {
    /// Classifies every coefficient, unless a limit ends that.
    pub fn coefficients(&self) -> std::result::Result<Coefficients, Stop> {
        let decision = self.proved.clone();
        match estimates(&self.state, self.separated.as_ref()) {
            Ok((estimates, rank)) => Ok(Coefficients {
                recession: decision.separator().cloned(),
                decision,
                estimates,
                rank,
            }),
            Err(Stopped(stop)) => Err(stop),
        }
    }
}

/// The estimates by coordinate, and the rank of all rows.
fn estimates(
    state: &State<'_>,
    separated: Option<&ExactWeights>,
) -> OrStopped<(Vec<Estimate>, usize)> {
    let dimension = state.rows.dimension();
    let mut random = Random::new(0, Stream::Sample, 1);
    let mut draw = || random.bits() % PRIME;
    let (full, rank) = state.orthogonal_to_all(&mut draw)?;
    let face = state.face.echelon.orthogonal(dimension, &mut draw);
    let mut estimates = vec![Estimate::Finite; dimension];
    if let Some(w0) = separated {
        let mut either = free_signs(state, w0);
        let mut axes = Axes::new(state)?;
        for j in 0..dimension {
            if face[j] == 0 || full[j] != 0 {
                continue;
            }
            state.limits.tell(|| Doing {
                what: format!("coefficient {} of {dimension}", j + 1),
                refuted: !state.face.basis.is_empty(),
                fewest_misclassified: None,
            });
            if !either[j]
                && !w0.exact[j].is_zero()
                && let Some(v) = axes.opposite(w0, j)?
            {
                // Both lie inside C, open in what is orthogonal to L: a coordinate that is
                // not 0 on all of C takes both signs around a point where it is 0.
                for (either, (v, w)) in either.iter_mut().zip(v.exact.iter().zip(&w0.exact)) {
                    *either |= v.is_zero() || is_negative(v) != is_negative(w);
                }
            }
            estimates[j] = if either[j] || w0.exact[j].is_zero() {
                Estimate::Either
            } else if is_negative(&w0.exact[j]) {
                Estimate::MinusInfinity
            } else {
                Estimate::PlusInfinity
            };
        }
    }
    for (estimate, full) in estimates.iter_mut().zip(&full) {
        if *full != 0 {
            *estimate = Estimate::NotIdentified;
        }
    }
    Ok((estimates, rank))
}

/// Coordinates that can change sign by themselves: moving w₀ along one axis past zero keeps
/// every row positive. One pass settles most coefficients of separable data.
fn free_signs(state: &State<'_>, w0: &ExactWeights) -> Vec<bool> {
    let dimension = state.rows.dimension();
    if !state.face.basis.is_empty() {
        // Along an axis one would leave the face.
        return vec![false; dimension];
    }
    let w = state.scales.unscale(&w0.near);
    // The longest step against the sign of each weight.
    let mut room = vec![f64::INFINITY; dimension];
    let trust = (state.scales.terms as f64 + 8.0) * 1e7 * f64::EPSILON;
    for group in 0..state.rows.groups() {
        let mut scores = Vec::new();
        state
            .rows
            .score_with_size(group, &w, &mut |row, score, size| {
                // A score that rounding may have touched leaves no room.
                scores.push((row, if score > trust * size { score } else { 0.0 }));
            });
        for (row, score) in scores {
            state.rows.each(row, &mut |j, z| {
                if z * w[j] > 0.0 {
                    room[j] = room[j].min(score / z.abs());
                }
            });
        }
    }
    w.iter()
        .zip(room)
        .map(|(w, room)| room > w.abs() * (1.0 + 1e-6))
        .collect()
}

/// Decisions about the rows with one axis added behind them.
struct Axes<'s, 'a> {
    state: &'s State<'a>,
    /// With a place for the axis at the end.
    scales: Scales,
    face: Face,
    /// A working set that separates the rows outside the face.
    hull: NearestPoint,
    known: Vec<bool>,
}

/// Rows that a working set keeps from one axis to the next, for each dimension.
const KEPT: usize = 20;

impl<'s, 'a> Axes<'s, 'a> {
    fn new(state: &'s State<'a>) -> OrStopped<Self> {
        let mut scales = state.scales.clone();
        scales.norm.push(0.0);
        let mut face = state.face.clone();
        face.inside.push(false);
        let mut axes = Axes {
            hull: NearestPoint::new(state.rows.dimension(), face.near.clone()),
            known: face.inside.clone(),
            state,
            scales,
            face,
        };
        axes.keep(&state.hints);
        let over = || state.limits.over();
        axes.hull
            .walk_unless(&over, FAR_ENOUGH, NEAR_ZERO, MOST_STEPS);
        state.limits.check()?;
        Ok(axes)
    }

    fn keep(&mut self, rows: &[usize]) {
        let most = KEPT * self.state.rows.dimension() + 64;
        for &row in rows {
            if row < self.state.rows.limit()
                && self.hull.working_set_len() < most
                && !self.known[row]
            {
                self.known[row] = true;
                let unit = (self.state.face).unit(self.state.rows, &self.scales, row);
                self.hull.add(row, unit, true);
            }
        }
    }

    /// A point inside C whose coordinate j has the other sign than w₀'s, if there is one.
    fn opposite(&mut self, w0: &ExactWeights, j: usize) -> OrStopped<Option<ExactWeights>> {
        let rows = RowsAndAxis {
            rows: self.state.rows,
            axis: j,
            sign: if is_negative(&w0.exact[j]) { 1.0 } else { -1.0 },
        };
        let last = self.scales.norm.len() - 1;
        self.scales.norm[last] = self.scales.factor[j];
        let silent = Limits {
            listener: None,
            ..*self.state.limits
        };
        let mut search = Search {
            rows: &rows,
            scales: &self.scales,
            residues: &self.state.residues,
            hints: vec![self.state.rows.limit()],
            perceptron: false,
            hull: Some(self.hull.clone()),
            limits: &silent,
            doing: Doing::default(),
        };
        let settled = search.round(&self.face);
        let met = search.hints;
        self.keep(&met);
        Ok(match settled? {
            RoundOutcome::Separated(v) => Some(v),
            RoundOutcome::Balanced { .. } | RoundOutcome::Unmarked => None,
        })
    }
}

impl State<'_> {
    /// A random vector orthogonal (modulo the prime) to every row, and the rank of the rows:
    /// it is zero exactly where an axis lies in the row space.
    fn orthogonal_to_all(&self, draw: &mut impl FnMut() -> u64) -> OrStopped<(Vec<u64>, usize)> {
        let dimension = self.rows.dimension();
        let mut echelon = self.face.echelon.clone();
        // Where each row is opposite to another, all are inside and nothing is spanned yet.
        let spanned = !self.face.basis.is_empty();
        loop {
            self.limits.check()?;
            let g = echelon.orthogonal(dimension, &mut *draw);
            if echelon.rank() == dimension {
                return Ok((g, dimension));
            }
            let before = echelon.rank();
            let mut tried = 0;
            'rows: for group in 0..self.rows.groups() {
                let mut outside = Vec::new();
                self.rows.members(group, &mut |row| {
                    let inside = spanned && self.face.inside[row];
                    if !inside && self.residues.dot(self.rows, row, &g) != 0 {
                        outside.push(row);
                    }
                });
                for row in outside {
                    echelon.insert(self.residues.row(self.rows, row));
                    tried += 1;
                    if tried > 2 * dimension + 8 || echelon.rank() == dimension {
                        break 'rows;
                    }
                }
            }
            if echelon.rank() == before {
                return Ok((g, before));
            }
        }
    }
}
