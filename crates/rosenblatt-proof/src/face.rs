//! A face: the rows that no direction can separate, found so far.

use dashu_int::IBig;
use rosenblatt_core::internal::add_direction;

use super::dixon::Solver;
use super::echelon::Echelon;
use super::limits::{Limits, OrStopped};
use super::number::reduce;
use super::passes::{IntegerRow, Scales};
use super::rows::SignedRows;

/// Steps of conjugate gradients; where the rows of a face are so nearly dependent that it takes
/// more, exact arithmetic makes up for it.
const MOST_GRADIENTS: usize = 100;

/// A face: rows that every w with w·z ≥ 0 everywhere must score 0, and their span.
#[derive(Debug, Clone, Default)]
pub(crate) struct Face {
    /// Independent rows that span it.
    pub(crate) basis: Vec<usize>,
    pub(crate) echelon: Echelon,
    /// Which rows lie in it.
    pub(crate) inside: Vec<bool>,
    /// An orthonormal basis in floating point (scaled coordinates).
    pub(crate) near: Vec<Vec<f64>>,
    /// Of how many of the basis rows it was made.
    pub(crate) made_of: usize,
    /// Whether some basis row was so nearly dependent that `near` is no guide.
    pub(crate) ill_conditioned: bool,
    /// Its basis at its pivots, as far as it was needed.
    pub(crate) solver: FaceSolver,
    /// The rank when all rows were last looked at; where it is larger now, `inside` may lack
    /// rows.
    pub(crate) marked: usize,
}

impl Face {
    /// The first row that does not lie in it.
    pub(crate) fn any_outside(&self, rows: &dyn SignedRows) -> Option<usize> {
        (0..rows.groups()).find_map(|group| {
            let mut found = None;
            rows.members(group, &mut |row| {
                if found.is_none() && !self.inside[row] {
                    found = Some(row);
                }
            });
            found
        })
    }

    /// Brings the floating-point basis up to date.
    pub(crate) fn orthonormalise(&mut self, rows: &dyn SignedRows, scales: &Scales) {
        for &row in &self.basis[self.made_of..] {
            let new = add_direction(&mut self.near, scales.unit(rows, row));
            self.ill_conditioned |= new.is_nan() || new < 1e-6;
        }
        self.made_of = self.basis.len();
    }

    /// What is left of v orthogonally to it, by conjugate gradients on the rows of its basis,
    /// which stay sparse.
    pub(crate) fn beside(
        &self,
        rows: &dyn SignedRows,
        scales: &Scales,
        mut v: Vec<f64>,
    ) -> Vec<f64> {
        let factor = &scales.factor;
        let norm = |&row: &usize| scales.norm[rows.group_of(row)].max(1e-300);
        let basis: Vec<(usize, f64)> = self.basis.iter().map(|row| (*row, norm(row))).collect();
        let products = |v: &[f64]| -> Vec<f64> {
            let product = |&(row, norm): &(usize, f64)| {
                let mut sum = 0.0;
                rows.each(row, &mut |j, z| sum += v[j] * factor[j] * z);
                sum / norm
            };
            basis.iter().map(product).collect()
        };
        let squared = |v: &[f64]| -> f64 { v.iter().map(|x| x * x).sum() };
        let enough = 1e-28 * squared(&v);
        let mut along = products(&v);
        let mut direction = along.clone();
        let mut left = squared(&along);
        for _ in 0..MOST_GRADIENTS {
            if left <= enough {
                break;
            }
            let mut step = vec![0.0; v.len()];
            for (&(row, norm), d) in basis.iter().zip(&direction) {
                let by = d / norm;
                rows.each(row, &mut |j, z| step[j] += by * factor[j] * z);
            }
            let length = left / squared(&step);
            if !length.is_finite() {
                break;
            }
            v.iter_mut().zip(&step).for_each(|(v, s)| *v -= length * s);
            along = products(&v);
            let next = squared(&along);
            for (d, a) in direction.iter_mut().zip(&along) {
                *d = a + next / left * *d;
            }
            left = next;
        }
        v
    }

    /// A scaled row divided by its length; what is left of it beside the face where that has no
    /// orthonormal basis.
    pub(crate) fn unit(&self, rows: &dyn SignedRows, scales: &Scales, row: usize) -> Vec<f64> {
        let unit = scales.unit(rows, row);
        match self.near.is_empty() {
            true => self.beside(rows, scales, unit),
            false => unit,
        }
    }

    /// Whether all rows in it are known.
    pub(crate) fn is_marked(&self) -> bool {
        self.marked == self.basis.len()
    }

    /// Its basis in whole numbers.
    pub(crate) fn integer_rows(&self, rows: &dyn SignedRows, scales: &Scales) -> Vec<IntegerRow> {
        let basis = self.basis.iter();
        basis.map(|&row| scales.integer_row(rows, row)).collect()
    }

    /// Brings the solver up to date.
    pub(crate) fn grow_solver(
        &mut self,
        rows: &dyn SignedRows,
        scales: &Scales,
        limits: &Limits<'_>,
    ) -> OrStopped<()> {
        if self.solver.0.len() < self.basis.len() {
            let all = self.integer_rows(rows, scales);
            let places = self.echelon.places(rows.dimension());
            let grown =
                (self.solver).with_columns(&all.iter().collect::<Vec<_>>(), &places, limits)?;
            self.solver = FaceSolver(grown.unwrap_or_default());
        }
        Ok(())
    }
}

/// The matrix whose columns are the rows of a face's basis at its pivots, ready to be solved
/// against. A face grows by a few rows at a time, and the solver with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct FaceSolver(Solver);

impl FaceSolver {
    /// The same for more columns, of which the first are its own; each place is a row.
    pub(crate) fn with_columns(
        &self,
        columns: &[&IntegerRow],
        places: &[Option<usize>],
        limits: &Limits<'_>,
    ) -> OrStopped<Option<Solver>> {
        let n = self.0.len();
        let mut entries = Vec::new();
        for (c, column) in columns.iter().enumerate() {
            for (j, value) in &column.entries {
                if let Some(place) = places[*j]
                    && (place >= n || c >= n)
                {
                    entries.push((place, c, value.clone()));
                }
            }
        }
        self.0.extended(columns.len() - n, &entries, limits)
    }
}

/// Solves for the weights at a face's pivot columns, given those elsewhere.
pub(crate) struct PivotSolver {
    solver: Solver,
    pivots: Vec<usize>,
    /// The face's rows off the pivots.
    rest: Vec<Vec<(usize, IBig)>>,
}

impl PivotSolver {
    pub(crate) fn new(
        rows: &dyn SignedRows,
        scales: &Scales,
        face: &Face,
        limits: &Limits<'_>,
    ) -> OrStopped<Option<Self>> {
        let places = face.echelon.places(rows.dimension());
        let all = face.integer_rows(rows, scales);
        let columns: Vec<&IntegerRow> = all.iter().collect();
        let solver = face.solver.with_columns(&columns, &places, limits)?;
        let off_pivots = |row: IntegerRow| {
            let entries = row.entries.into_iter();
            entries.filter(|(j, _)| places[*j].is_none()).collect()
        };
        Ok(solver.map(|solver| PivotSolver {
            solver: solver.transposed(),
            pivots: face.echelon.pivots().to_vec(),
            rest: all.into_iter().map(off_pivots).collect(),
        }))
    }

    /// The weights with the given ones off the pivots (up to one positive factor) that are
    /// orthogonal to the face.
    pub(crate) fn complete(&self, short: &[i64], limits: &Limits<'_>) -> OrStopped<Vec<IBig>> {
        let target: Vec<IBig> = self
            .rest
            .iter()
            .map(|row| {
                let sum: IBig = row.iter().map(|(j, value)| value * short[*j]).sum();
                -sum
            })
            .collect();
        let solution = self.solver.solve(&target, limits)?;
        let mut weights: Vec<IBig> = short.iter().map(|&s| &solution.denominator * s).collect();
        for (&pivot, value) in self.pivots.iter().zip(solution.numerators) {
            weights[pivot] = value;
        }
        reduce(&mut weights);
        Ok(weights)
    }
}
