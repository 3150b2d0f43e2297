//! Lines of which it is known how many tokens they have.
//!
//! The end of a line is a surprise for the processor, and one that it learns of late: once the
//! digits of the last tokens are understood. Where tokens were counted before, nothing waits for
//! that.

use super::Parser;
use crate::data::Index;
use crate::data::read::number::Stored;
use crate::simd;

/// Tokens that are read together.
const EIGHT: usize = 8;

/// Lines after one that was not of the plainest sort until another may be.
const OTHERS: u32 = 16;

/// What sort of lines is expected.
#[derive(Debug, Default)]
pub(super) struct Sort {
    /// Lines to come that are not tried.
    others: u32,
}

impl<I: Index, T: Stored> Parser<'_, I, T> {
    /// Reads the only line there is to the front of `indices`, which are counted from the smallest
    /// one, and `values`, if it is of the plainest sort: a label and `count` tokens that lie
    /// together, a blank before each, with increasing indices and values that are not zero. What
    /// is behind them may be overwritten.
    #[inline(always)]
    pub(super) fn counted<const LEVEL: u8>(
        &mut self,
        text: simd::Text,
        count: usize,
        (indices, values): (&mut [I], &mut [T]),
    ) -> bool {
        // Eight are written at a time.
        if count == 0 || indices.len() < count.next_multiple_of(EIGHT) {
            return false;
        }
        if self.sort.others > 0 {
            self.sort.others -= 1;
            return false;
        }
        let width = self.tokens::<LEVEL>(text, count, indices, values);
        match width.filter(|&width| width <= I::LIMIT) {
            Some(width) => self.width = self.width.max(width),
            None => {
                self.sort.others = OTHERS;
                self.found.restart(self.bytes);
                return false;
            }
        }
        true
    }

    /// Reads its tokens; gives one past the largest index.
    #[inline(always)]
    fn tokens<const LEVEL: u8>(
        &mut self,
        text: simd::Text,
        count: usize,
        indices: &mut [I],
        values: &mut [T],
    ) -> Option<u64> {
        let first = self.smallest;
        let label = self.found.marks.peek::<LEVEL>();
        if self.bytes.get(label) != Some(&b' ') {
            return None;
        }
        self.found.marks.pass(1);
        let (mut at, mut before, mut done) = (label + 1, text.before(first), 0);
        loop {
            self.look_forward();
            let pairs = text.pairs(self.found.marks.few::<16, LEVEL>());
            let plain = text.plain_tokens(self.bytes, at, pairs)?;
            let few = (count - done).min(EIGHT);
            if !plain.are_good(few, done + few == count, before) {
                return None;
            }
            let columns = plain.columns(first);
            let to: &mut [I; EIGHT] = indices.get_mut(done..)?.first_chunk_mut()?;
            if I::LIMIT > u16::LIMIT {
                let columns = text.in_32_bits(columns);
                (to.iter_mut().zip(columns)).for_each(|(to, j)| *to = I::of(j));
            } else {
                let columns = text.in_16_bits(columns);
                (to.iter_mut().zip(columns)).for_each(|(to, j)| *to = I::of(j.into()));
            }
            let to: &mut [T; EIGHT] = values.get_mut(done..)?.first_chunk_mut()?;
            *to = T::from_few(text, &plain.few);
            at = self.found.marks.last_of(2 * few) + 1;
            self.found.marks.pass(2 * few);
            done += few;
            before = plain.last();
            if done == count {
                let end = self.bytes.get(at - 1..self.len)?;
                let ended = matches!(end, b"\n" | b"\r\n" | b" \n");
                let last = text.in_32_bits(columns)[few - 1];
                return ended.then_some(u64::from(last) + u64::from(first) + 1);
            }
        }
    }
}
