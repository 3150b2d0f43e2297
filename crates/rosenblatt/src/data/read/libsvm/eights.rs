//! Tokens of the usual sort, eight together.

use super::Parser;
use crate::data::read::number::Stored;
use crate::simd;

impl<T: Stored> Parser<'_, T> {
    /// Reads tokens from `at` on, eight at a time, as long as they are of the usual sort.
    #[inline(always)]
    pub(super) fn eights<const LEVEL: u8>(
        &mut self,
        text: simd::Text,
        at: usize,
        least: u64,
    ) -> Eights {
        let mut read = Eights {
            at,
            least,
            disorder: false,
            ended: false,
        };
        self.blanks.go_to(at);
        self.colons.go_to(at);
        loop {
            let (ends, colons) = (self.blanks.eight::<LEVEL>(), self.colons.eight::<LEVEL>());
            let (stops, colons) = (text.places(ends), text.places(colons));
            let starts = text.starts(read.at, stops);
            let (indices, whole) = text.wholes(self.bytes, starts, colons);
            let numbers = text.numbers::<false>(self.bytes, text.behind(colons), stops);
            let (values, good) = T::from_eight(text, &numbers);
            let newlines = text.ending_with(&numbers, b'\n');
            let blanks = newlines
                | text.ending_with(&numbers, b' ')
                | text.ending_with(&numbers, b'\t')
                | text.ending_with(&numbers, b'\r');
            let usual = whole & good & blanks & !newlines;
            // Branched on, so that the next eight need not wait until these are understood.
            let (count, ended) = if usual == u8::MAX {
                (8, false)
            } else {
                up_to_newline(whole & good & blanks, newlines)
            };
            if count == 0 {
                return read;
            }
            let least = u32::try_from(read.least).unwrap_or(u32::MAX);
            let in_order = text.ascending(indices, least).trailing_ones() as usize;
            read.disorder |= in_order < count;
            let (last, indices) = (ends[count - 1], text.listed(indices));
            read.least = u64::from(indices[count - 1]) + 1;
            if values.contains(&T::ZERO) {
                for (&index, &value) in indices.iter().zip(&values).take(count) {
                    self.push(u64::from(index), value);
                }
            } else {
                let end = self.indices.len() + count;
                self.indices.extend_from_slice(&indices);
                self.indices.truncate(end);
                self.values.extend_from_slice(&values);
                self.values.truncate(end);
            }
            read.at = last as usize + 1;
            self.blanks.pass(count);
            self.colons.pass(count);
            read.ended = ended;
            if ended || count < 8 {
                return read;
            }
        }
    }
}

/// How many of the lowest bits are `good`, up to and including the first newline; and whether
/// they end with it.
#[inline(never)]
fn up_to_newline(good: u8, newlines: u8) -> (usize, bool) {
    let in_line = newlines ^ newlines.wrapping_sub(1);
    let count = (good & in_line).trailing_ones() as usize;
    (count, count > 0 && newlines >> (count - 1) & 1 == 1)
}

/// How far tokens were read together.
pub(super) struct Eights {
    /// Where the text goes on.
    pub(super) at: usize,
    /// The smallest index that keeps the row in order.
    pub(super) least: u64,
    /// Whether one was smaller than that.
    pub(super) disorder: bool,
    /// Whether the row is at its end.
    pub(super) ended: bool,
}
