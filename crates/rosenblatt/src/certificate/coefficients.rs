//! What a logistic regression's coefficients do on these data (Albert & Anderson, 1984).
//!
//! Let C = {w : w·z_i ≥ 0 for all i}. Maximum likelihood runs off along C: a coefficient
//! that is positive somewhere on C and negative nowhere goes to +∞, and so on. C is
//! orthogonal to the face L that a decision finds, and has inner points w₀ relative to it.
//! So a coordinate is 0 on all of C iff its axis lies in L; and otherwise C has points with
//! w_j < 0 iff the rows with −e_j added can still be separated modulo L: each doubtful sign
//! is one more decision, started where the last one ended.

use super::decide::{Decision, Direction, State};
use super::modular::PRIME;
use super::number::is_negative;
use super::rows::{Rows, WithAxis};
use super::scan::{Scales, Weights};
use super::search::Search;
use super::settle::Settled;
use crate::error::Result;
use crate::random::{Random, Stream};

/// Where a coefficient's maximum likelihood estimate goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Trend {
    /// To +∞.
    #[serde(rename = "+inf")]
    PlusInfinity,
    /// To −∞.
    #[serde(rename = "-inf")]
    MinusInfinity,
    /// To infinity, with a sign that the data leave open.
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
    pub decision: Decision,
    /// By coordinate; the bias first where there is one.
    pub trends: Vec<Trend>,
    /// A direction along which the likelihood never falls, strict on every row that can be
    /// separated; `None` if the data overlap.
    pub recession: Option<Direction>,
    /// The rank of all rows.
    pub rank: usize,
}

/// Decides, and classifies every coefficient.
pub fn coefficients<T: Rows + ?Sized>(rows: &T, threads: usize) -> Result<Coefficients> {
    let mut state = State::new(rows, threads)?;
    let separated = state.run();
    let dimension = rows.dimension();
    let mut random = Random::new(0, Stream::Sample, 1);
    let mut draw = || random.bits() % PRIME;
    let (full, rank) = state.orthogonal_to_all(&mut draw);
    let face = state.face.echelon.orthogonal(dimension, &mut draw);
    let mut trends = vec![Trend::Finite; dimension];
    let free = separated.as_ref().map(|w0| free_signs(&state, w0));
    for j in 0..dimension {
        trends[j] = if full[j] != 0 {
            Trend::NotIdentified
        } else {
            match &separated {
                Some(w0) if face[j] != 0 => {
                    let easy = free.as_ref().is_some_and(|free| free[j]);
                    if easy || w0.exact[j].is_zero() || opposite_sign(&mut state, w0, j) {
                        Trend::Either
                    } else if is_negative(&w0.exact[j]) {
                        Trend::MinusInfinity
                    } else {
                        Trend::PlusInfinity
                    }
                }
                _ => Trend::Finite,
            }
        };
    }
    let decision = state.decision(separated)?;
    Ok(Coefficients {
        recession: decision.separator().cloned(),
        decision,
        trends,
        rank,
    })
}

/// Coordinates that can change sign by themselves: moving w₀ along one axis past zero keeps
/// every row positive. One pass settles most coefficients of separable data.
fn free_signs<T: Rows + ?Sized>(state: &State<'_, T>, w0: &Weights) -> Vec<bool> {
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

/// Whether C has a point whose coordinate j has the other sign than w₀'s.
fn opposite_sign<T: Rows + ?Sized>(state: &mut State<'_, T>, w0: &Weights, j: usize) -> bool {
    let rows = WithAxis {
        rows: state.rows,
        axis: j,
        negative: !is_negative(&w0.exact[j]),
    };
    let mut norm = state.scales.norm.clone();
    norm.push(state.scales.factor[j]);
    let scales = Scales {
        shift: state.scales.shift.clone(),
        factor: state.scales.factor.clone(),
        norm,
        terms: state.scales.terms,
        threads: state.scales.threads,
    };
    let mut face = state.face.clone();
    face.inside.push(false);
    let axis_row = state.rows.limit();
    let mut hints = state.hints.clone();
    hints.push(axis_row);
    let mut search = Search {
        rows: &rows,
        scales: &scales,
        residues: &state.residues,
        hints,
        perceptron: false,
    };
    let settled = search.round(&face);
    state.hints = search.hints;
    state.hints.retain(|&row| row != axis_row);
    matches!(settled, Settled::Separated(_))
}

impl<T: Rows + ?Sized> State<'_, T> {
    /// A random vector orthogonal (modulo the prime) to every row, and the rank of the rows:
    /// it is zero exactly where an axis lies in the row space.
    fn orthogonal_to_all(&self, draw: &mut impl FnMut() -> u64) -> (Vec<u64>, usize) {
        let dimension = self.rows.dimension();
        let mut echelon = self.face.echelon.clone();
        loop {
            let g = echelon.orthogonal(dimension, &mut *draw);
            if echelon.rank() == dimension {
                return (g, dimension);
            }
            let before = echelon.rank();
            let mut residue = Vec::new();
            let mut tried = 0;
            'rows: for group in 0..self.rows.groups() {
                let mut outside = Vec::new();
                self.rows.members(group, &mut |row| {
                    if !self.face.inside[row] && self.residues.dot(self.rows, row, &g) != 0 {
                        outside.push(row);
                    }
                });
                for row in outside {
                    self.residues.row(self.rows, row, &mut residue);
                    echelon.insert(residue.clone());
                    tried += 1;
                    if tried > 2 * dimension + 8 || echelon.rank() == dimension {
                        break 'rows;
                    }
                }
            }
            if echelon.rank() == before {
                return (g, before);
            }
        }
    }
}
