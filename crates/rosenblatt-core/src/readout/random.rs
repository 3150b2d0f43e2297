//! The `random` read-out: the weights at a visit drawn uniformly among all.

use serde::{Deserialize, Serialize};

use crate::random::{Random, Stream};

/// Reservoir sampling of one visit among all so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reservoir {
    /// The visit (from 1) at which the snapshot is next replaced.
    pub next: u64,
    /// Replacements so far.
    pub draws: u64,
}

impl Reservoir {
    /// Whether the weights after visit number `visit` replace the snapshot. After a replacement
    /// at visit t the next is at ⌊t/U⌋ + 1, U uniform, so that P(none up to m) = t/m.
    pub(crate) fn takes(&mut self, visit: u64, seed: u64) -> bool {
        if visit < self.next {
            return false;
        }
        self.draws += 1;
        let u = Random::new(seed, Stream::Readout, self.draws).positive_unit();
        self.next = (visit as f64 / u) as u64 + 1;
        true
    }
}
