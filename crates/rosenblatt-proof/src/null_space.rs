//! Which rows lie in the face, and what is orthogonal to them all.
//!
//! *Rule.* A row lies in the face if it is orthogonal to a random vector of the face's orthogonal
//! complement modulo a prime; floating point shows most rows outside beforehand. Where all rows lie
//! in it, exact vectors of the complement show so at once, and are the null space of the witness.
//!
//! *Guarantee.* Residues take a row outside for one inside with odds of 2⁻⁶¹; wherever the witness
//! has a null space, every row inside is checked against it, exactly.

use std::sync::atomic::{self, AtomicBool};

use super::decide::{State, WIDE};
use super::face::PivotSolver;
use super::limits::OrStopped;
use super::modulo::PRIME;
use super::passes::{ExactWeights, QuickNormals};
use super::round::FEW;
use super::verdict::{Direction, MOST_NULL_VECTORS};
use rosenblatt_core::internal::random::{Random, Stream};
use rosenblatt_core::internal::unit_part_beside;
use rosenblatt_core::{Error, Result};

/// A row with so large a part of its length beside the face, in floating point, lies outside.
const FAR_OUTSIDE: f64 = 1e-3;

impl State<'_> {
    /// A vector that is orthogonal to the face modulo the prime, and hardly to any row outside.
    fn beside_face(&self, random: &mut Random) -> Vec<u64> {
        let draw = || random.bits() % PRIME;
        (self.face.echelon).orthogonal(self.rows.dimension(), draw)
    }

    /// A random direction orthogonal to the face, along which nearly every row outside has a part
    /// that floating point shows; none where the face is too nearly dependent for that.
    fn direction_beside(&self, random: &mut Random) -> Option<Vec<f64>> {
        if self.face.ill_conditioned {
            return None;
        }
        let any = (0..self.rows.dimension()).map(|_| random.normal());
        let beside = unit_part_beside(&self.face.near, any.collect());
        Some(self.scales.unscale(&beside))
    }

    /// Marks those of some rows that lie in the face.
    pub(crate) fn mark_inside_of(&mut self, some: impl Iterator<Item = usize>) {
        let mut random = Random::new(0, Stream::Sample, self.face.basis.len() as u64);
        let g = self.beside_face(&mut random);
        for row in some {
            self.face.inside[row] |= self.residues.dot(self.rows, row, &g) == 0;
        }
    }

    /// Whether all rows are known to lie in the face, which are marked then: it has full rank, or
    /// floating point shows that they are orthogonal to what is orthogonal to the face, as it does
    /// where columns are equal or levels sum to one.
    pub(crate) fn holds_all_rows(&mut self) -> OrStopped<bool> {
        let dimension = self.rows.dimension();
        let vectors = dimension - self.face.echelon.rank();
        if vectors > 0 {
            if dimension >= WIDE || vectors > MOST_NULL_VECTORS {
                return Ok(false);
            }
            // Where rows lie outside, floating point nearly always shows one that does.
            let mut random = Random::new(0, Stream::Sample, self.face.basis.len() as u64);
            if let Some(aside) = self.direction_beside(&mut random) {
                let outside = AtomicBool::new(false);
                self.scales.pieces(self.rows, 1, |range| {
                    for group in range {
                        if outside.load(atomic::Ordering::Relaxed) {
                            break;
                        }
                        let far = FAR_OUTSIDE * self.scales.norm[group];
                        self.rows.score(group, &aside, &mut |_, score| {
                            if score.abs() > far {
                                outside.store(true, atomic::Ordering::Relaxed);
                            }
                        });
                    }
                });
                if outside.into_inner() {
                    return Ok(false);
                }
            }
            let g = self.beside_face(&mut random);
            let mut inside = true;
            for group in (0..self.rows.groups()).step_by(1 + self.rows.groups() / FEW) {
                let look = &mut |row| inside &= self.residues.dot(self.rows, row, &g) == 0;
                self.rows.members(group, look);
                if !inside {
                    return Ok(false);
                }
            }
            let Some(basis) = self.beside_basis()? else {
                return Ok(false);
            };
            if !self.are_orthogonal(&basis, false)? {
                return Ok(false);
            }
            self.null_vectors = Some(basis);
        }
        self.face.inside.fill(true);
        self.face.marked = self.face.basis.len();
        Ok(true)
    }

    /// Marks all rows that lie in the face.
    pub(crate) fn mark_inside(&mut self) -> OrStopped<()> {
        if self.holds_all_rows()? {
            return Ok(());
        }
        self.face.marked = self.face.basis.len();
        let dimension = self.rows.dimension();
        let mut random = Random::new(0, Stream::Sample, self.face.basis.len() as u64);
        let g = self.beside_face(&mut random);
        // Most rows outside are so far outside that floating point shows it. Only the rest is looked
        // up.
        let aside = self.direction_beside(&mut random);
        let short_cut = aside.is_some();
        let aside = aside.unwrap_or_else(|| vec![0.0; dimension]);
        let found = self.scales.pieces(self.rows, 4, |range| {
            let mut found = Vec::new();
            for group in range {
                let far = FAR_OUTSIDE * self.scales.norm[group];
                self.rows.score(group, &aside, &mut |row, score| {
                    let outside = short_cut && score.abs() > far;
                    if !outside
                        && !self.face.inside[row]
                        && self.residues.dot(self.rows, row, &g) == 0
                    {
                        found.push(row);
                    }
                });
            }
            found
        });
        for row in found.into_iter().flatten() {
            self.face.inside[row] = true;
        }
        Ok(())
    }

    /// A basis of the vectors orthogonal to the face, checked against every row in it.
    pub(crate) fn null_space(&self) -> OrStopped<Result<Vec<Direction>>> {
        if self.face.basis.len() == self.rows.dimension() {
            return Ok(Ok(Vec::new()));
        }
        if let Some(basis) = &self.null_vectors {
            return Ok(Ok(self.directions(basis)));
        }
        let Some(basis) = self.beside_basis()? else {
            return Ok(Err(Error::data("the rows' rank could not be settled")));
        };
        if !self.are_orthogonal(&basis, true)? {
            // Odds of 2⁻⁶¹ a row; better said than hidden.
            return Ok(Err(Error::data(
                "a row outside the span was taken for one inside",
            )));
        }
        Ok(Ok(self.directions(&basis)))
    }

    fn directions(&self, vectors: &[ExactWeights]) -> Vec<Direction> {
        let radix = self.rows.notation().radix();
        let in_units = |v: &ExactWeights| self.scales.in_units(radix, &v.exact);
        vectors.iter().map(in_units).collect()
    }

    /// A basis of the vectors orthogonal to the basis of the face; none where that cannot be solved
    /// against.
    fn beside_basis(&self) -> OrStopped<Option<Vec<ExactWeights>>> {
        let dimension = self.rows.dimension();
        let solver = PivotSolver::new(self.rows, &self.scales, &self.face, self.limits)?;
        let Some(solver) = solver else {
            return Ok(None);
        };
        let places = self.face.echelon.places(dimension);
        let mut basis = Vec::new();
        for j in (0..dimension).filter(|&j| places[j].is_none()) {
            let mut axis = vec![0i64; dimension];
            axis[j] = 1;
            basis.push(ExactWeights::new(solver.complete(&axis, self.limits)?));
        }
        Ok(Some(basis))
    }

    /// Whether some vectors are orthogonal to the rows `marked` as inside, or to all of them, as
    /// far as floating point can show it.
    fn are_orthogonal(&self, vectors: &[ExactWeights], marked: bool) -> OrStopped<bool> {
        let dimension = self.rows.dimension();
        let quick = QuickNormals::new(&self.directions(vectors));
        let failed = AtomicBool::new(false);
        self.scales.pieces(self.rows, 8, |range| {
            let (mut full, mut there) = (vec![0.0; dimension], Vec::new());
            for group in range {
                if failed.load(atomic::Ordering::Relaxed) || self.limits.over() {
                    break;
                }
                self.rows.members(group, &mut |row| {
                    if marked && !self.face.inside[row] {
                        return;
                    }
                    let doubtful = if !self.rows.floats_tell(row) {
                        (0..vectors.len()).collect()
                    } else if self.rows.write_full(row, &mut full) {
                        quick.doubtful(&full, None)
                    } else {
                        there.clear();
                        self.rows.each(row, &mut |j, z| {
                            full[j] = z;
                            there.push(j);
                        });
                        let doubtful = quick.doubtful(&full, Some(&there));
                        there.iter().for_each(|&j| full[j] = 0.0);
                        doubtful
                    };
                    if !doubtful.is_empty() {
                        let exactly = || {
                            let row = self.scales.integer_row(self.rows, row);
                            (doubtful.iter()).all(|&k| row.is_orthogonal(&vectors[k].exact))
                        };
                        if !marked || !exactly() {
                            failed.store(true, atomic::Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        self.limits.check()?;
        Ok(!failed.into_inner())
    }
}
