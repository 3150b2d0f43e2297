//! Which rows a decision rests on.

use rosenblatt::data::Dataset;
use rosenblatt::proof::{ProvedVerdict, Witness};

/// The rows that the refutation weighs, from 1.
pub(super) fn support(data: &Dataset, decision: &ProvedVerdict) -> Vec<usize> {
    decision
        .lambda()
        .iter()
        .map(|(row, _)| data.number(*row) + 1)
        .collect()
}

/// The rows that a quasi-separating plane has strictly on their right side.
pub(super) fn separated(decision: &ProvedVerdict) -> Option<&[usize]> {
    match &decision.witness {
        Witness::QuasiSeparable { separated, .. } => Some(separated),
        _ => None,
    }
}
