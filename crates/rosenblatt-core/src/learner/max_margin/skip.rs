//! Examples that are left alone for a while because they did not move.

/// Passes that an example sits out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SkipCount {
    /// Those that it sat out before its last visit.
    length: u8,
    /// Those still to come.
    left: u8,
}

impl SkipCount {
    const LONGEST: u8 = 15;

    /// Whether the example is to be visited in this pass.
    pub(super) fn is_over(&mut self) -> bool {
        let over = self.left == 0;
        self.left = self.left.saturating_sub(1);
        over
    }

    /// After a visit that moved the example: the next rest is short again.
    pub(super) fn shorten(&mut self) {
        self.length = 0;
    }

    /// After a visit that left the example where it was.
    pub(super) fn lengthen(&mut self) {
        self.length = (2 * self.length + 1).min(Self::LONGEST);
        self.left = self.length;
    }
}
