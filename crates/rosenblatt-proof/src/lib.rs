//! What can be proved about a data set: whether it can be separated, by how much, and what
//! that means for a learner.
//!
//! Three things are kept apart. A *verdict* is the outcome, a *certificate* a witness that
//! anyone can check, a *bound* a theorem evaluated on numbers.
//!
//! A decision searches in floating point and proves in whole numbers. The layers, from the
//! bottom: `number` (what a value exactly stands for), `rows` (signed rows, seen both
//! ways), `modular` and `solve` (exact linear algebra), `nearest` (the search),
//! `settle` (the same without rounding), [`decide`](decide()) (rounds of it, and the witness).

mod bracket;
mod coefficients;
mod decide;
mod document;
mod dual_lp;
mod exact_walk;
mod gram;
mod jointly;
mod margin;
mod modular;
mod number;
mod rows;
mod scan;
mod search;
mod separability;
mod solve;
mod verdict;
mod with_axis;

pub use bracket::{Bracket, Effort, MarginKind};
pub use coefficients::{Coefficients, Trend, coefficients};
pub use decide::decide;
pub use document::{Claim, SourceColumn, SourceFile, SourceFormat, Subject, certificate};
pub use dual_lp::{DualCounts, dual_counts};
pub use gram::{ExactKernel, Gram, StrictKernel, strict_kernel};
pub use jointly::{Jointly, joint_margin};
pub use margin::{margin, radius};
pub use number::{Exact, Reading};
pub use rows::{Bias, ExactRows, Exception, Rows, Sides, TwoSides};
pub use separability::separability;
pub use verdict::{Decision, Direction, MOST_NULL_VECTORS, Multipliers, Verdict, Whole, Witness};
