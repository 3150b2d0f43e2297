//! Read-outs: which weights of a run become the model. One file each.
//!
//! `last` needs no more than the running weights. [`averaged`] keeps their sum, [`voted`] every
//! update, [`random`] and [`pocket`] a snapshot that they replace by their own rule.

mod averaged;
mod pocket;
mod random;
mod voted;

pub use averaged::Average;
pub(crate) use averaged::inverse_root;
pub use pocket::Pocket;
pub use random::Reservoir;
pub use voted::{LogEntry, UpdateLog};
