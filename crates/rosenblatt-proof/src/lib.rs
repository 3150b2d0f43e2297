//! What can be proved about a data set: whether it can be separated, by how much, and what
//! that means for a learner.
//!
//! Three things are kept apart. A *verdict* is the outcome, a *certificate* a witness that
//! anyone can check, a *bound* a theorem evaluated on numbers.
//!
//! A decision searches in floating point and proves in whole numbers. The layers, from the
//! bottom: `number` (what a value exactly stands for), `rows` (signed rows, seen both ways),
//! `modulo` (ranks modulo a prime), `dixon` (exact solutions), `passes` (over all rows),
//! `exact_walk` (the nearest point without rounding), `round` (one round of the search),
//! [`decide`](decide()) (rounds of it, and the witness).

mod bracket;
mod coefficients;
mod decide;
mod dixon;
mod document;
mod dual_lp;
mod echelon;
mod exact_walk;
mod face;
mod gram;
mod joint_rows;
mod limits;
mod margin;
mod modulo;
mod null_space;
mod number;
mod passes;
mod peel;
mod round;
mod rows;
mod rows_and_axis;
mod separability;
mod verdict;

pub use bracket::{Bracket, SearchBudget};
pub use coefficients::{Coefficients, Estimate, coefficients};
pub use decide::{Decision, decide};
pub use document::{Claim, Subject, certificate};
pub use dual_lp::{DualCounts, dual_counts};
pub use gram::{Gram, StrictKernel, has_exact_values, strict_kernel};
pub use joint_rows::{JointRows, joint_margin, joint_margin_within};
pub use limits::{Doing, Limits, Listener, Undecided};
pub use margin::{margin, margin_within, radius};
pub use number::{Exact, Notation};
pub use rosenblatt_core::geometry::MarginKind;
pub use rows::{BiasTerm, ExactRows, ExactText, Sides, SignedRows, TwoSides};
pub use separability::separability;
pub use verdict::{
    Direction, Integer, MOST_NULL_VECTORS, Multipliers, ProvedVerdict, Verdict, Witness,
};
