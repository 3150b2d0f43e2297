//! The conditions of a proof.
//!
//! Write z_i = y_i·x_i for the rows with their signs, x_i lifted where the bias is.
//!
//! * *separable*: w·z_i > 0 for every row.
//! * *not separable* (Gordan): λ ≥ 0, λ ≠ 0, Σ λ_i z_i = 0. For any w, Σ λ_i (w·z_i) = 0, so
//!   the rows with λ_i > 0 are not all strictly on their own side.
//! * *quasi-separable*: not separable by λ, and w·z_i ≥ 0 for every row, > 0 for one.
//! * *overlapping*: not separable by λ, and every row is in the span of the rows with
//!   λ_i > 0. A w without a row on the wrong side is orthogonal to those, hence to all.
//!
//! That the rows with λ_i > 0 span is shown by a basis N of what is orthogonal to them: N
//! independent, rank + |N| the full dimension, and z_i·N = 0 for every row. Or λ_i > 0 for
//! every row, and there is nothing to show. In the quasi-separable case the same N,
//! orthogonal to every row with w·z_i = 0, shows that no row of those could be separated.
//!
//! Several classes have a row (e_y − e_j) ⊗ x_i for each rival j of the class y of row i.
//! Kernels are in `kernel_space.rs`.

mod kernel_space;
mod support;

use crate::budget::Budget;
use crate::certificate::{Certificate, Verdict};
use crate::kernel::Kernel;
use crate::outcome::{Claim, Flaw, Outcome};
use crate::read::{Open, Row, Stop, each_row};
use crate::vectors::Vectors;
use dashu_int::IBig;
use std::cmp::Ordering;
use std::io::{self, Read};
use support::Support;

pub(crate) fn check<R: Read>(
    certificate: &Certificate,
    budget: Budget,
    files: usize,
    mut open: impl FnMut(usize) -> io::Result<R>,
) -> io::Result<Outcome> {
    let mut claim = Claim {
        verdict: certificate.verdict,
        rows: certificate.rows,
        features: certificate.features,
        separated: None,
        complete: false,
        question: certificate.question(),
    };
    let said = certificate.files.len();
    if files != said {
        let said = if said == 1 {
            "1 file".into()
        } else {
            format!("{said} files")
        };
        let found = if files == 1 {
            "this is 1".into()
        } else {
            format!("these are {files}")
        };
        let reason = format!("the certificate speaks of {said}, {found}");
        return Ok(Outcome::DoesNotHold(claim, Flaw::new(reason)));
    }
    let open = &mut open;
    let result = match &certificate.kernel {
        None => linear(certificate, budget, open, &mut claim),
        Some(Kernel::StrictlyPositive) => {
            kernel_space::equal_rows(certificate, budget, open, &mut claim)
        }
        Some(kernel) => kernel_space::expansions(certificate, budget, kernel, open, &mut claim),
    };
    match result {
        Ok(()) => Ok(Outcome::Holds(claim)),
        Err(Stop::Flaw(flaw)) => Ok(Outcome::DoesNotHold(claim, flaw)),
        Err(Stop::Io(error)) => Err(error),
    }
}

/// Two classes or several, in the space of the features.
fn linear<R: Read>(
    certificate: &Certificate,
    budget: Budget,
    open: Open<'_, R>,
    claim: &mut Claim,
) -> Result<(), Stop> {
    let (verdict, witness) = (certificate.verdict, &certificate.witness);
    let multiclass = certificate.labels.multiclass;
    let mut normals = Vectors::new(&witness.w);
    let mut null_space = Vectors::new(witness.null_space.as_deref().unwrap_or_default());
    let mut support = Support::new(&witness.lambda, multiclass);
    let mut separated = 0;
    each_row(certificate, budget, open, &mut claim.question, |row| {
        let mut side = Ordering::Equal;
        if verdict.has_sides() {
            side = if multiclass {
                side_among_rivals(row, normals.products(row))
            } else {
                side_of(row, &normals.products(row)[0])
            };
            separated += admit(row, side, verdict)?;
        }
        if side == Ordering::Equal {
            let mut products = null_space.products(row).iter();
            if let Some(vector) = products.position(|product| !product.is_zero()) {
                return Err(row.flaw(format!("is not orthogonal to null_space[{vector}]")));
            }
        }
        support.meet(row)
    })?;
    count_separated(claim, separated)?;
    if verdict != Verdict::Separable {
        support.check_weights()?;
        support.check_balance()?;
        if let Some(basis) = &witness.null_space {
            support.check_span(basis, certificate.dimension(), budget)?;
            claim.complete = verdict == Verdict::QuasiSeparable;
        } else if verdict == Verdict::Overlapping {
            support.check_everywhere(certificate.rows)?;
        }
    }
    Ok(())
}

/// On which side of the boundary the row is: its own (`Greater`), none, or the wrong one.
fn side_of(row: &Row, score: &IBig) -> Ordering {
    let side = score.cmp(&IBig::ZERO);
    if row.is_positive() {
        side
    } else {
        side.reverse()
    }
}

/// The same for several classes: the worst against any rival.
fn side_among_rivals(row: &Row, scores: &[IBig]) -> Ordering {
    let own = &scores[row.class];
    let classes = scores.iter().enumerate();
    let rivals = classes.filter(|(class, _)| *class != row.class);
    let sides = rivals.map(|(_, rival)| own.cmp(rival));
    sides.min().unwrap_or(Ordering::Greater)
}

/// Whether a verdict allows a row on this side; gives 1 for a row that is separated.
fn admit(row: &Row, side: Ordering, verdict: Verdict) -> Result<u64, Flaw> {
    match side {
        Ordering::Greater => Ok(1),
        Ordering::Equal if verdict == Verdict::QuasiSeparable => Ok(0),
        Ordering::Equal => Err(row.flaw("lies on the boundary, not strictly on its own side")),
        Ordering::Less => Err(row.flaw("lies on the wrong side")),
    }
}

/// Notes how many rows are separated; a quasi-separable claim needs one.
fn count_separated(claim: &mut Claim, separated: u64) -> Result<(), Flaw> {
    if claim.verdict == Verdict::QuasiSeparable && separated == 0 {
        return Err(Flaw::new("no row is strictly on its own side"));
    }
    claim.separated = claim.verdict.has_sides().then_some(separated);
    Ok(())
}
