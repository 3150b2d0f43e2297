//! What can be proved about a data set: whether it can be separated, by how much, and what
//! that means for a learner.
//!
//! Three things are kept apart. A *verdict* is the outcome, a *certificate* a witness that
//! anyone can check, a *bound* a theorem evaluated on numbers.

pub mod bounds;
mod modular;
mod number;
mod rows;
mod solve;

pub use number::{Exact, Reading};
pub use rows::{Bias, ExactRows, Exception, Rows, Sides, TwoSides};
