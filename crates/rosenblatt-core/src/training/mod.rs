//! Training: one loop for every mistake-driven learner.
//!
//! ```text
//! for each pass
//!   for each block of the visiting order            order
//!     for each example of the block
//!       scores                                      hypothesis
//!       does the margin call for an update?         rule (ties, margin demand)
//!       how far does it go?                         step
//!       update                                      hypothesis
//!       count the visit for the read-out            hypothesis, readout
//!       report the visit                            callback
//!   stop? (a value with a reason)                   progress::stop
//! ```

mod callback;
mod fit;
mod hypothesis;
mod order;
mod rule;
mod run;
mod sample_weights;
mod separability;
mod step;

pub use callback::{Callback, Step};
pub(crate) use callback::{NoCallback, Recorder};
pub use fit::{Fitted, MarginBracket};
pub(crate) use fit::{Part, Resources, Training};
pub(crate) use hypothesis::{Hypothesis, Snapshot};
pub use order::BLOCK;
pub(crate) use order::PassOrder;
pub use rule::{Judgement, Rule};
pub(crate) use sample_weights::SampleWeights;
pub use separability::{Separability, SeparabilityQuestion, SeparabilityTest};
pub(crate) use step::{Constant, StepSize};
