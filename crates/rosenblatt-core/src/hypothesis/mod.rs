//! How a hypothesis is kept: explicit weights, or coefficients over a kernel.

mod dual;
mod linear;
mod margin;
mod penalised;
mod score_cache;
mod start;

pub(crate) use dual::{Dual, squared_radius};
pub(crate) use linear::Linear;
pub use margin::SweptMargin;
pub(crate) use margin::{FromStart, dual_margin, linear_margin, separator_margin};
pub(crate) use penalised::{Penalised, Shrinkage};
pub(crate) use start::starting_weights;
