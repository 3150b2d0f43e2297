//! The rows of λ, and what must be true of them.

use crate::budget::Budget;
use crate::certificate::{RowWeight, Sparse};
use crate::number::power_of_ten;
use crate::outcome::Flaw;
use crate::rank;
use crate::read::{Row, Stop};
use dashu_int::IBig;
use std::collections::BTreeMap;

/// Rows that have weights, kept as they come by.
pub(super) struct Support<'c> {
    pub(super) terms: Vec<Term<'c>>,
    /// Weights of rows still to come.
    later: &'c [RowWeight],
    multiclass: bool,
}

/// A row with its weights other than zero: one for each rival, or one.
pub(super) struct Term<'c> {
    pub(super) row: Row,
    weights: Vec<&'c RowWeight>,
}

impl Term<'_> {
    /// The weight, where there are two classes.
    pub(super) fn weight(&self) -> IBig {
        self.weights.iter().map(|weight| &weight.value).sum()
    }

    /// The weight with the sign of the row's class.
    pub(super) fn signed_weight(&self) -> IBig {
        let weight = self.weight();
        if self.row.is_positive() {
            weight
        } else {
            -weight
        }
    }
}

impl<'c> Support<'c> {
    pub(super) fn new(weights: &'c [RowWeight], multiclass: bool) -> Self {
        Support {
            terms: Vec::new(),
            later: weights,
            multiclass,
        }
    }

    /// Keeps the row if it has a weight other than zero. Rows and weights ascend.
    pub(super) fn meet(&mut self, row: &Row) -> Result<(), Flaw> {
        let count = self
            .later
            .iter()
            .take_while(|w| w.row == row.number)
            .count();
        let (here, later) = self.later.split_at(count);
        self.later = later;
        if self.multiclass && here.iter().any(|weight| weight.rival == row.class) {
            return Err(row.flaw("has a weight against its own class"));
        }
        let weights: Vec<_> = here.iter().filter(|w| !w.value.is_zero()).collect();
        if !weights.is_empty() {
            let row = row.kept();
            self.terms.push(Term { row, weights });
        }
        Ok(())
    }

    /// λ ≥ 0 and λ ≠ 0.
    pub(super) fn check_weights(&self) -> Result<(), Flaw> {
        let negative = |term: &&Term| term.weights.iter().any(|w| w.value < IBig::ZERO);
        if let Some(term) = self.terms.iter().find(negative) {
            return Err(term.row.flaw("has a negative weight in lambda"));
        }
        if self.terms.is_empty() {
            return Err(Flaw::new("lambda is zero"));
        }
        Ok(())
    }

    /// Σ λ z = 0.
    pub(super) fn check_balance(&self) -> Result<(), Flaw> {
        // A sum for each feature and class (0 where there are two), by power of ten.
        let mut sums: BTreeMap<(u32, usize), BTreeMap<i32, IBig>> = BTreeMap::new();
        for Term { row, weights } in &self.terms {
            for (feature, mantissa, exponent) in row.as_written() {
                let mut add = |class, value: IBig| {
                    let sum = sums.entry((feature, class)).or_default();
                    *sum.entry(exponent).or_default() += value;
                };
                for RowWeight { rival, value, .. } in weights {
                    let pull = value * &mantissa;
                    if self.multiclass {
                        add(*rival, -&pull);
                        add(row.class, pull);
                    } else {
                        add(0, if row.is_positive() { pull } else { -pull });
                    }
                }
            }
        }
        match sums.iter().find(|(_, sum)| !total(sum).is_zero()) {
            None => Ok(()),
            Some(((feature, _), _)) => {
                let reason = format!("the weighted rows do not cancel in feature {feature}");
                Err(Flaw::new(reason))
            }
        }
    }

    /// The rows with weights and `basis`, known to be orthogonal to them, fill the space.
    pub(super) fn check_span(
        &self,
        basis: &[Sparse],
        dimension: u64,
        budget: Budget,
    ) -> Result<(), Stop> {
        let vectors = basis.len() as u64;
        let basis = basis.iter().map(|vector| vector.iter().cloned());
        if vectors > dimension || !rank::at_least(basis, vectors, budget)? {
            return Err(Flaw::new("null_space is not seen to be independent").into());
        }
        let wanted = dimension - vectors;
        let rows = self.terms.iter().map(|term| term.row.integers());
        if (rows.len() as u64) < wanted || !rank::at_least(rows, wanted, budget)? {
            let reason = format!("the rows of lambda are not seen to have rank {wanted}");
            return Err(Flaw::new(reason).into());
        }
        Ok(())
    }

    /// λ > 0 on every row.
    pub(super) fn check_everywhere(&self, rows: u64) -> Result<(), Flaw> {
        if self.terms.len() as u64 == rows {
            return Ok(());
        }
        let numbers = self.terms.iter().map(|term| term.row.number);
        let gap = numbers.zip(1..).find(|(number, place)| number != place);
        let row = gap.map_or(self.terms.len() as u64 + 1, |(_, place)| place);
        let reason = format!("row {row} has no weight in lambda, and there is no null_space");
        Err(Flaw::new(reason))
    }
}

/// The sum of integers by their power of ten, up to a power of ten.
fn total(by_exponent: &BTreeMap<i32, IBig>) -> IBig {
    let (mut sum, mut at) = (IBig::ZERO, None);
    for (&exponent, value) in by_exponent.iter().rev() {
        let step: i32 = at.replace(exponent).map_or(0, |above| above - exponent);
        sum = sum * power_of_ten(step.unsigned_abs() as usize) + value;
    }
    sum
}
