//! Lines read one by one, wherever they are.

use super::{Parser, Rules};
use crate::data::Index;
use crate::data::read::number::Stored;
use crate::simd;

/// Reads lines one by one, wherever they are.
pub(crate) struct Lines<'a, I, T> {
    parser: Parser<'a, I, T>,
    /// What indices count from.
    first: u32,
}

impl<'a, I: Index, T: Stored> Lines<'a, I, T> {
    pub(crate) fn new(first: u32) -> Self {
        let rules = Rules {
            labels_required: true,
            ..Rules::default()
        };
        let mut parser = Parser::new(rules, 0);
        parser.smallest = first;
        Lines { parser, first }
    }

    /// Reads the line that takes the first `len` bytes, if it is of the usual sort: nothing but a
    /// label and so many values, their indices in order. Says whether they are at the front of
    /// `place`, indices counted from the first, and what is behind them perhaps overwritten; if
    /// not, they are kept here. Meanwhile the text that is `coming` is brought near.
    #[inline(always)]
    pub(crate) fn read<const LEVEL: u8>(
        &mut self,
        (bytes, len): (&'a [u8], usize),
        count: usize,
        coming: &'a [u8],
        place: (&mut [I], &mut [T]),
    ) -> Option<bool> {
        let parser = &mut self.parser;
        parser.begin(bytes, len);
        simd::prefetch(parser.coming);
        parser.coming = coming;
        #[cfg(target_arch = "x86_64")]
        if let Some(text) = simd::Text::at::<LEVEL>()
            && parser.counted::<LEVEL>(text, count, place)
        {
            return Some(true);
        }
        let before = parser.values.len();
        parser.ends.clear();
        parser.labels.codes.clear();
        let end = parser.line::<LEVEL>(0).ok()?;
        let usual = end == len
            && !parser.too_wide
            && parser.ends.len() == 1
            && parser.values.len() == before + count
            && parser.qids == 0
            && parser.unsorted == 0
            && parser.smallest == self.first;
        usual.then_some(false)
    }

    /// The indices, as written, and the values of the lines that were kept since they were last
    /// forgotten.
    pub(crate) fn pairs(&self) -> (&[I], &[T]) {
        (&self.parser.indices, &self.parser.values)
    }

    /// Forgets the lines that were kept.
    pub(crate) fn forget(&mut self) {
        self.parser.indices.clear();
        self.parser.values.clear();
    }

    /// One past the largest index.
    pub(crate) fn width(&self) -> u64 {
        self.parser.width
    }
}
