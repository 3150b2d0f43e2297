//! What every solver shares: what ends it, and who is told of its passes.

use super::learner::MaxMargin;
use crate::error::Result;
use crate::progress::{Limits, Pass, Stop};

/// What may end the search for a plane before it is found.
#[derive(Clone, Copy)]
pub(super) struct SearchLimits<'a> {
    pub(super) settings: &'a MaxMargin,
    pub(super) limits: Limits<'a>,
    pub(super) updates_left: u64,
}

impl SearchLimits<'_> {
    /// Whether so many passes and visits over `examples` are enough. Where nobody said how
    /// many passes may be made, it is the visits that count: late passes leave most out.
    pub(super) fn reached(&self, passes: usize, visits: u64, examples: usize) -> Option<Stop> {
        if self.updates_left == 0 {
            return Some(Stop::UpdateLimit);
        }
        let made = if self.limits.options.epochs.is_some() {
            passes as u64
        } else {
            visits / examples.max(1) as u64
        };
        if made >= self.limits.epochs {
            return Some(Stop::EpochLimit);
        }
        self.limits.now()
    }
}

/// What is called with every pass.
pub(super) type PassCallback<'a> = &'a mut dyn FnMut(&Pass) -> Result<()>;

/// Counts an example that was met with this margin.
pub(in crate::learner) fn count_margin(pass: &mut Pass, margin: f64) {
    pass.mistakes += u64::from(margin <= 0.0);
    pass.on_boundary += u64::from(margin == 0.0);
    pass.perceptron_loss += (-margin).max(0.0);
    pass.hinge_loss += (1.0 - margin).max(0.0);
}
