//! The same conditions where a kernel stands for the inner product of images φ(x_i).
//!
//! With v_i = λ_i y_i, Σ_j K_ij v_j = 0 for the rows i with weights gives
//! v·Kv = ‖Σ v_i φ(x_i)‖² = 0, and so Σ λ_i z_i = 0.

use super::support::Support;
use super::{admit, count_separated, side_of};
use crate::budget::Budget;
use crate::certificate::{Certificate, Verdict};
use crate::kernel::{Expansion, Kernel};
use crate::outcome::Claim;
use crate::read::{Open, Row, Stop, each_row};
use dashu_int::IBig;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// Kernels with rational values. The first pass keeps the rows that are needed, the second
/// has every row on its side of Σ α_j K(x_j, ·).
pub(super) fn expansions<R: Read>(
    certificate: &Certificate,
    budget: Budget,
    kernel: &Kernel,
    open: Open<'_, R>,
    claim: &mut Claim,
) -> Result<(), Stop> {
    let (verdict, lifted) = (certificate.verdict, certificate.lifted);
    let mut expanded = Support::new(&certificate.witness.alpha, false);
    let mut support = Support::new(&certificate.witness.lambda, false);
    each_row(certificate, budget, open, &mut claim.question, |row| {
        expanded.meet(row)?;
        support.meet(row)
    })?;
    if verdict != Verdict::Separable {
        support.check_weights()?;
        let terms = support.terms.iter();
        let signed = terms.map(|term| (term.signed_weight(), &term.row));
        let mut sum = Expansion::new(kernel, lifted, signed);
        for term in &support.terms {
            budget.require_time()?;
            if !sum.score(&term.row).is_zero() {
                let reason = "the sum of lambda·y·K with this row is not zero";
                return Err(term.row.flaw(reason).into());
            }
        }
    }
    if verdict == Verdict::Overlapping {
        support.check_everywhere(certificate.rows)?;
    }
    if verdict.has_sides() {
        let terms = expanded.terms.iter();
        let weighted = terms.map(|term| (term.weight(), &term.row));
        let mut expansion = Expansion::new(kernel, lifted, weighted);
        let mut separated = 0;
        each_row(certificate, budget, open, &mut claim.question, |row| {
            let side = side_of(row, &expansion.score(row));
            separated += admit(row, side, verdict)?;
            Ok(())
        })?;
        count_separated(claim, separated)?;
    }
    Ok(())
}

/// Strictly positive definite kernels: images of distinct rows are independent, so that on
/// distinct rows any scores are possible, and only equal rows stand in each other's way.
pub(super) fn equal_rows<R: Read>(
    certificate: &Certificate,
    budget: Budget,
    open: Open<'_, R>,
    claim: &mut Claim,
) -> Result<(), Stop> {
    let verdict = certificate.verdict;
    let mut support = Support::new(&certificate.witness.lambda, false);
    // By the hash of a row, whether it occurs in each class, and how often. Equal rows have
    // equal hashes, so no conflict is missed.
    let mut groups: HashMap<[u8; 32], ([bool; 2], u64)> = HashMap::new();
    each_row(certificate, budget, open, &mut claim.question, |row| {
        if verdict.has_sides() {
            let hash = Sha256::digest(spelling(row)).into();
            let (classes, count) = groups.entry(hash).or_default();
            classes[row.class] = true;
            *count += 1;
            if verdict == Verdict::Separable && *classes == [true; 2] {
                return Err(row.flaw("an equal row before it is of the other class"));
            }
        }
        support.meet(row)
    })?;
    let alone = groups.values().filter(|(classes, _)| *classes != [true; 2]);
    count_separated(claim, alone.map(|(_, count)| count).sum())?;
    claim.complete = verdict == Verdict::QuasiSeparable;
    if verdict != Verdict::Separable {
        support.check_weights()?;
        let mut sums: BTreeMap<Vec<u8>, IBig> = BTreeMap::new();
        for term in &support.terms {
            *sums.entry(spelling(&term.row)).or_default() += term.signed_weight();
        }
        let unbalanced = |row: &Row| sums.get(&spelling(row)).is_some_and(|sum| !sum.is_zero());
        if let Some(term) = support.terms.iter().find(|term| unbalanced(&term.row)) {
            let reason = "the weights of the rows equal to this one do not cancel";
            return Err(term.row.flaw(reason).into());
        }
    }
    if verdict == Verdict::Overlapping {
        support.check_everywhere(certificate.rows)?;
    }
    Ok(())
}

/// A text that equal rows share, and no others, however their numbers are written.
fn spelling(row: &Row) -> Vec<u8> {
    let mut text = String::new();
    for (feature, mantissa, exponent) in row.as_written() {
        let digits = mantissa.to_string();
        let kept = digits.trim_end_matches('0');
        let exponent = i64::from(exponent) + (digits.len() - kept.len()) as i64;
        text += &format!("{feature}:{kept}e{exponent} ");
    }
    text.into_bytes()
}
