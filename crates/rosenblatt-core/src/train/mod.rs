//! Training: one loop for every learner that is driven by mistakes.
//!
//! ```text
//! for each pass
//!   for each block of the visiting order
//!     look ahead (score the block on all cores, where that pays)
//!     for each example of the block, in order
//!       score, judge, update if called for, tell the read-out
//!   stop? (a value with a reason)
//! ```

mod fitting;
mod going_on;
mod hypothesis;
mod importance;
mod looping;
mod margin;
mod observer;
mod order;
mod progress;
mod readable;
mod rule;
mod session;
mod stop;
mod survey;
mod watch;

pub(crate) use hypothesis::Hypothesis;
pub(crate) use importance::Importance;
pub(crate) use looping::{asked_to_stop, out_of_patience};
pub use margin::MarginBracket;
pub use observer::{Observer, Step};
pub use order::BLOCK;
pub(crate) use order::{Block, PassOrder};
pub use progress::{Pass, Pocket, Progress, Reservoir};
pub use rule::{Judgement, Rule};
pub use session::{Fitted, Session};
pub use stop::Stop;
pub(crate) use watch::{Control, Watch};
