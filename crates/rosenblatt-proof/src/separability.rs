//! What learners ask before they look for a hard margin.

use rosenblatt_core::Result;
use rosenblatt_core::training::{Separability, SeparabilityQuestion};

use super::decide::decide;
use super::gram::{Gram, has_exact_values, strict_kernel};
use super::number::Notation;
use super::rows::{BiasTerm, ExactRows, Sides, TwoSides};
use super::verdict::{ProvedVerdict, Verdict};

/// Kernels with exact values are asked about at most so many examples.
const MOST_EXAMPLES: usize = 300;

/// Whether examples can be separated, in exact arithmetic; for
/// [`Session::separability_test`](rosenblatt_core::Session::separability_test).
///
/// In the space of a kernel that is answered where it is quickly decided: strictly positive
/// definite kernels separate unless equal rows have different labels, and kernels with exact
/// values are asked on small sets.
pub fn separability(question: &SeparabilityQuestion<'_>) -> Result<Separability> {
    let &SeparabilityQuestion { data, threads, .. } = question;
    let exact = ExactRows::new(data, Notation::Binary, &[])?;
    let sides = match question.negative {
        None => Sides::AgainstRest(question.positive),
        Some(negative) => Sides::Pair(question.positive, negative),
    };
    let bias = if question.has_bias {
        BiasTerm::Lifted
    } else {
        BiasTerm::None
    };
    let rows = TwoSides::new(&exact, bias, sides);
    let Some(kernel) = question.kernel else {
        return Ok(answer(&decide(&rows, threads)?));
    };
    if kernel.separates_all_distinct_rows() {
        return Ok(match strict_kernel(&rows).conflicts.first() {
            None => Separability::Separable,
            Some(&(a, b)) => {
                let (a, b) = (data.number(a) + 1, data.number(b) + 1);
                let why = format!("rows {} and {} are equal", a.min(b), a.max(b));
                Separability::NotSeparable(why)
            }
        });
    }
    if !has_exact_values(&kernel) || data.len() > MOST_EXAMPLES {
        return Ok(Separability::Unknown);
    }
    let gram = Gram::new(&rows, &kernel, question.has_bias)?;
    Ok(answer(&decide(&gram, threads)?))
}

fn answer(decision: &ProvedVerdict) -> Separability {
    match decision.verdict() {
        Verdict::Separable => Separability::Separable,
        verdict => Separability::NotSeparable(verdict.name().into()),
    }
}
