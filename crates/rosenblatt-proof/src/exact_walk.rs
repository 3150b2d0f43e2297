//! The same walk to the nearest point as [`nearest`](rosenblatt_core::geometry), without rounding.
//!
//! It starts from the corral that floating point ended at, so it usually takes one step:
//! the system for the corral is solved exactly, and either the origin is a combination with
//! positive weights, or the exact nearest point separates every row. Where rounding misled
//! the search, the walk goes on; the norm falls strictly and there are finitely many
//! corrals, so it always ends, and with a proof.

use dashu_int::IBig;

use super::dixon::Solver;
use super::echelon::Echelon;
use super::face::Face;
use super::limits::{Limits, OrStopped};
use super::modulo::Residues;
use super::number::{is_negative, power};
use super::passes::{ExactWeights, IntegerRow, Scales};
use super::rows::SignedRows;

/// What the walk proves about the rows outside a face L.
#[derive(Debug)]
pub(crate) enum RoundOutcome {
    /// Σ λ_i z_i lies in L: positive λ on rows outside, and what makes the sum vanish on the
    /// rows that span L. Both for the rows as they are, up to one positive factor.
    Balanced {
        outside: Vec<(usize, IBig)>,
        spanning: Vec<(usize, IBig)>,
    },
    /// Scaled weights, orthogonal to L, that every row outside L is strictly positive under.
    Separated(ExactWeights),
    /// Nothing yet: which rows lie in L must be known first.
    Unmarked,
}

/// The rows outside a face, all modulo its span.
pub(crate) struct ExactWalk<'a> {
    rows: &'a dyn SignedRows,
    scales: &'a Scales,
    residues: &'a Residues,
    limits: &'a Limits<'a>,
    face: &'a Face,
    basis: &'a [usize],
    basis_rows: Vec<IntegerRow>,
}

impl<'a> ExactWalk<'a> {
    pub(crate) fn new(
        rows: &'a dyn SignedRows,
        scales: &'a Scales,
        residues: &'a Residues,
        limits: &'a Limits<'a>,
        face: &'a Face,
    ) -> Self {
        ExactWalk {
            rows,
            scales,
            residues,
            limits,
            face,
            basis: &face.basis,
            basis_rows: face.integer_rows(rows, scales),
        }
    }

    /// Settles them, starting at a corral with approximate weights.
    pub(crate) fn settle(&self, start: Vec<(usize, f64)>) -> OrStopped<RoundOutcome> {
        if let Some(balanced) = self.balance(&start)? {
            return Ok(balanced);
        }
        match self.face.is_marked() {
            true => self.walk(&self.face.inside, start),
            false => Ok(RoundOutcome::Unmarked),
        }
    }

    /// The quick way: if the corral balances, its relation is the one-dimensional kernel of
    /// its rows, found without forming inner products. Rows of more weight come first: where
    /// rounding left some that have none, the relation is found without them.
    pub(crate) fn balance(&self, corral: &[(usize, f64)]) -> OrStopped<Option<RoundOutcome>> {
        let mut corral: Vec<(usize, f64)> = corral.to_vec();
        corral.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut echelon = self.face.echelon.clone();
        let mut rest = Vec::new();
        let mut last = None;
        for (row, _) in corral {
            self.limits.check()?;
            if !echelon.insert(self.residues.row(self.rows, row)) {
                last = Some(row);
                break;
            }
            rest.push(row);
        }
        let Some(last) = last else {
            return Ok(None);
        };
        let whole = |&row: &usize| self.scales.integer_row(self.rows, row);
        let corral_rows: Vec<IntegerRow> = rest.iter().map(whole).collect();
        let columns: Vec<&IntegerRow> = self.basis_rows.iter().chain(&corral_rows).collect();
        let dimension = self.rows.dimension();
        let places = echelon.places(dimension);
        let last_row = whole(&last);
        let mut target = vec![IBig::ZERO; columns.len()];
        for (j, value) in &last_row.entries {
            if let Some(place) = places[*j] {
                target[place] = -value;
            }
        }
        let solver = self
            .face
            .solver
            .with_columns(&columns, &places, self.limits)?;
        let Some(solver) = solver else {
            return Ok(None);
        };
        let solution = solver.solve(&target, self.limits)?;
        let positive = |x: &IBig| !is_negative(x) && !x.is_zero();
        let weights = &solution.numerators[self.basis.len()..];
        if weights.iter().any(is_negative) {
            return Ok(None);
        }
        // It must hold in every coordinate, not just at the pivots.
        let mut sum = vec![IBig::ZERO; dimension];
        let all = columns.iter().copied().chain([&last_row]);
        let factors = solution.numerators.iter().chain([&solution.denominator]);
        for (row, factor) in all.zip(factors) {
            for (j, value) in &row.entries {
                sum[*j] += value * factor;
            }
        }
        if !sum.iter().all(IBig::is_zero) {
            return Ok(None);
        }
        let mut outside: Vec<(usize, &IntegerRow, IBig)> = rest
            .iter()
            .zip(&corral_rows)
            .zip(weights)
            .filter(|(_, weight)| positive(weight))
            .map(|((&row, whole), weight)| (row, whole, weight.clone()))
            .collect();
        outside.push((last, &last_row, solution.denominator.clone()));
        Ok(Some(self.balanced(
            outside,
            &solution.numerators[..self.basis.len()],
        )))
    }

    /// Undoes the row scales and drops what is zero.
    fn balanced(
        &self,
        outside: Vec<(usize, &IntegerRow, IBig)>,
        spanning: &[IBig],
    ) -> RoundOutcome {
        let radix = self.rows.notation().radix();
        let lowest = outside
            .iter()
            .map(|(_, whole, _)| whole.shift)
            .chain(self.basis_rows.iter().map(|whole| whole.shift))
            .min()
            .unwrap_or(0);
        let lift = |weight: &IBig, shift: i32| {
            weight * power(radix, usize::try_from(shift - lowest).unwrap_or(0))
        };
        RoundOutcome::Balanced {
            outside: outside
                .iter()
                .map(|(row, whole, weight)| (*row, lift(weight, whole.shift)))
                .collect(),
            spanning: self
                .basis
                .iter()
                .zip(&self.basis_rows)
                .zip(spanning)
                .filter(|(_, weight)| !weight.is_zero())
                .map(|((&row, whole), weight)| (row, lift(weight, whole.shift)))
                .collect(),
        }
    }

    /// Wolfe's walk in whole numbers.
    fn walk(&self, inside: &[bool], start: Vec<(usize, f64)>) -> OrStopped<RoundOutcome> {
        let mut corral: Vec<(usize, IntegerRow)> = Vec::new();
        let mut approximate = Vec::new();
        for (row, weight) in self.independent(start) {
            let whole = self.scales.integer_row(self.rows, row);
            approximate.push((weight, whole.shift));
            corral.push((row, whole));
        }
        // A row times a power of the radix has its weight divided by it.
        let radix = self.rows.notation().radix() as f64;
        let lowest = approximate.iter().map(|a| a.1).min().unwrap_or(0);
        let turned: Vec<f64> = approximate
            .iter()
            .map(|&(weight, shift)| weight * libm::pow(radix, f64::from(lowest - shift)))
            .collect();
        let top = turned.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut weights: Vec<IBig> = turned
            .iter()
            .map(|w| IBig::from((w / top * 1e15).clamp(0.0, 1e15) as i64 + 1))
            .collect();
        loop {
            let (spanning, denominator) = self.towards_affine(&mut corral, &mut weights)?;
            // p = Σ λ z + Σ μ b, times the common denominator.
            let mut p = vec![IBig::ZERO; self.rows.dimension()];
            let members = corral.iter().map(|(_, whole)| whole).zip(&weights);
            for (whole, weight) in members.chain(self.basis_rows.iter().zip(&spanning)) {
                for (j, value) in &whole.entries {
                    p[*j] += value * weight;
                }
            }
            debug_assert!(denominator > IBig::ZERO);
            if p.iter().all(IBig::is_zero) {
                let outside = corral
                    .iter()
                    .zip(weights)
                    .map(|((row, whole), weight)| (*row, whole, weight))
                    .collect();
                return Ok(self.balanced(outside, &spanning));
            }
            super::number::reduce(&mut p);
            let p = ExactWeights::new(p);
            match self.violated(&p, inside) {
                None => return Ok(RoundOutcome::Separated(p)),
                Some(row) => {
                    corral.push((row, self.scales.integer_row(self.rows, row)));
                    weights.push(IBig::ZERO);
                }
            }
        }
    }

    /// A row that p does not put on the positive side, the worst if floating point can tell.
    fn violated(&self, p: &ExactWeights, inside: &[bool]) -> Option<usize> {
        let (worst, _) = self.scales.violated(self.rows, &p.near, inside, 0.0, 64);
        worst
            .iter()
            .map(|&(_, row)| row)
            .find(|&row| p.sign(self.scales, self.rows, row).is_le())
            .or_else(|| self.scales.refutes(self.rows, p, inside))
    }

    /// The rows of a corral that are affinely independent modulo the face.
    fn independent(&self, start: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
        let mut echelon = Echelon::default();
        let marked = |row: usize, mark: u64| {
            let mut residue = self.residues.row(self.rows, row);
            residue.push(mark);
            residue
        };
        for &b in self.basis {
            echelon.insert(marked(b, 0));
        }
        start
            .into_iter()
            .filter(|&(row, _)| echelon.insert(marked(row, 1)))
            .collect()
    }

    /// Moves the weights to the nearest point of the affine hull, dropping rows whose weight
    /// would turn negative on the way; returns the combination of the basis that goes with
    /// it and the denominator of all weights.
    fn towards_affine(
        &self,
        corral: &mut Vec<(usize, IntegerRow)>,
        weights: &mut Vec<IBig>,
    ) -> OrStopped<(Vec<IBig>, IBig)> {
        loop {
            let Some((target, denominator)) = self.affine(corral)? else {
                // Dependent after all (which only rounding in the start can cause): a
                // smaller corral is.
                corral.pop();
                weights.pop();
                continue;
            };
            let r = self.basis.len();
            let (spanning, target) = target.split_at(r);
            if target.iter().all(|t| t > &IBig::ZERO) {
                *weights = target.to_vec();
                return Ok((spanning.to_vec(), denominator));
            }
            // λ ← λ + θ(t − λ), θ the first at which a weight reaches 0. With λ = a/A, A the
            // sum of a, and t = b/B: weight i vanishes at θ = aB/(aB − bA).
            let total: IBig = weights.iter().sum();
            let mut first: Option<(IBig, IBig)> = None;
            for (a, b) in weights.iter().zip(target) {
                if b > &IBig::ZERO {
                    continue;
                }
                let top = a * &denominator;
                let bottom = &top - b * &total;
                let earlier = match &first {
                    None => true,
                    Some((t, s)) => &top * s < t * &bottom,
                };
                if earlier && !bottom.is_zero() {
                    first = Some((top, bottom));
                }
            }
            let (top, bottom) = first.unwrap_or((IBig::ZERO, IBig::ONE));
            let rest = &bottom - &top;
            let mut moved: Vec<IBig> = weights
                .iter()
                .zip(target)
                .map(|(a, b)| a * &denominator * &rest + b * &total * &top)
                .collect();
            super::number::reduce(&mut moved);
            // A row enters at weight 0 and stays if it is to grow.
            let stays = |m: &IBig, t: &IBig| m > &IBig::ZERO || t > &IBig::ZERO;
            let rows = std::mem::take(corral).into_iter().zip(moved).zip(target);
            (*corral, *weights) = rows
                .filter_map(|((row, m), t)| stays(&m, t).then_some((row, m)))
                .unzip();
        }
    }

    /// The nearest point of the corral's affine hull (plus L): the weights of basis and
    /// corral, over one positive denominator.
    fn affine(&self, corral: &[(usize, IntegerRow)]) -> OrStopped<Option<(Vec<IBig>, IBig)>> {
        let all: Vec<&IntegerRow> = self
            .basis_rows
            .iter()
            .chain(corral.iter().map(|(_, whole)| whole))
            .collect();
        let m = all.len();
        let n = m + 1;
        let r = self.basis.len();
        let mut matrix = vec![IBig::ZERO; n * n];
        let mut full = vec![IBig::ZERO; self.rows.dimension()];
        for a in 0..m {
            self.limits.check()?;
            for (j, value) in &all[a].entries {
                full[*j] = value.clone();
            }
            for b in a..m {
                let mut sum = IBig::ZERO;
                for (j, value) in &all[b].entries {
                    if !full[*j].is_zero() {
                        sum += value * &full[*j];
                    }
                }
                matrix[b * n + a] = sum.clone();
                matrix[a * n + b] = sum;
            }
            for (j, _) in &all[a].entries {
                full[*j] = IBig::ZERO;
            }
            if a >= r {
                matrix[a * n + m] = IBig::ONE;
                matrix[m * n + a] = IBig::ONE;
            }
        }
        let mut target = vec![IBig::ZERO; n];
        target[m] = IBig::ONE;
        let Some(solver) = Solver::new(n, matrix, self.limits)? else {
            return Ok(None);
        };
        let solution = solver.solve(&target, self.limits)?;
        let mut weights = solution.numerators;
        weights.pop();
        Ok(Some((weights, solution.denominator)))
    }
}
