//! Tokens of the usual sort, eight together.

use super::Parser;
use crate::data::Index;
use crate::data::read::number::{Pairs, Places, Stored, Tokens};
use crate::data::read::stops::{ColonOrBlank, Stops};
use crate::simd;

/// What was found ahead of being read.
pub(super) struct Found<'a> {
    /// The colons in tokens and the ends of them, which take turns.
    pub(super) marks: Stops<'a, ColonOrBlank>,
    /// Groups of tokens to be read as if they were far apart.
    apart: u8,
}

impl<'a> Found<'a> {
    /// Nothing: there is no text yet.
    pub(super) fn new() -> Self {
        Found {
            marks: Stops::new(&[], ColonOrBlank),
            apart: 0,
        }
    }

    /// Goes to other text.
    #[inline(always)]
    pub(super) fn restart(&mut self, bytes: &'a [u8]) {
        self.marks.restart(bytes);
    }

    /// Where the text goes on behind the next `count` tokens, the first of which starts at `at`.
    #[inline(always)]
    fn behind(&self, count: usize, at: usize) -> usize {
        match count {
            0 => at,
            _ => self.marks.last_of(2 * count) + 1,
        }
    }
}

impl<I: Index, T: Stored> Parser<'_, I, T> {
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
        self.found.marks.go_to(at);
        loop {
            self.look_forward();
            let pairs = text.pairs(self.found.marks.few::<16, LEVEL>());
            let near = match self.found.apart {
                0 => text.near_tokens(self.bytes, read.at, pairs),
                _ => None,
            };
            let mut group = match near {
                Some(tokens) => Group::new(text, tokens),
                None => self.anywhere(text, read.at, pairs),
            };
            // Branched on, so that the next eight need not wait until these are understood.
            let (mut count, mut ended) = (group.looked_at(), false);
            if group.good & !group.newlines != group.lanes {
                (count, ended) = up_to_newline(group.good, group.newlines);
                let cut_short = !ended && count < group.looked_at();
                let behind = self.found.behind(count, read.at);
                if near.is_some() && cut_short && !self.row_ends_at(behind) {
                    // Longer tokens are likely to come together.
                    self.found.apart = APART;
                    group = self.anywhere(text, read.at, pairs);
                    (count, ended) = up_to_newline(group.good, group.newlines);
                }
            }
            self.found.apart = self.found.apart.saturating_sub(1);
            let Group {
                indices, values, ..
            } = group;
            if count == 0 {
                return read;
            }
            let least = u32::try_from(read.least).unwrap_or(u32::MAX);
            let in_order = text.ascending(indices, least).trailing_ones() as usize;
            read.disorder |= in_order < count;
            let listed = text.listed(indices);
            read.least = u64::from(listed[count - 1]) + 1;
            self.too_wide |= text.below(indices, I::LIMIT).trailing_ones() < count as u32;
            if values.contains(&T::ZERO) {
                for (&index, &value) in listed.iter().zip(&values).take(count) {
                    self.push(u64::from(index), value);
                }
            } else {
                let end = self.indices.len() + count;
                // (The `map` of arrays is not always inlined.)
                let mut fitting = [I::default(); 8];
                if I::LIMIT > u16::LIMIT {
                    (fitting.iter_mut().zip(listed)).for_each(|(to, j)| *to = I::of(j));
                } else {
                    let narrowed = text.narrowed(indices);
                    (fitting.iter_mut().zip(narrowed)).for_each(|(to, j)| *to = I::of(j.into()));
                }
                self.indices.extend_from_slice(&fitting);
                self.indices.truncate(end);
                self.values.extend_from_slice(&values);
                self.values.truncate(end);
            }
            read.at = self.found.behind(count, read.at);
            self.found.marks.pass(2 * count);
            read.ended = ended;
            if ended || count < group.looked_at() {
                return read;
            }
        }
    }

    /// Whether no token follows from `at` on.
    #[inline(always)]
    fn row_ends_at(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), Some(b'\n' | b'\r' | b'#'))
    }

    /// The eight tokens from `at` on, wherever they are.
    #[inline(always)]
    fn anywhere(&self, text: simd::Text, at: usize, pairs: Pairs) -> Group<T> {
        let (colons, stops) = text.apart(pairs);
        let (indices, whole) = text.wholes(self.bytes, text.starts(at, stops), colons);
        let numbers = text.numbers::<false>(self.bytes, text.behind(colons), stops);
        let tokens = Tokens {
            indices,
            numbers,
            near: u8::MAX,
            whole,
        };
        Group::new(text, tokens)
    }
}

/// Eight tokens, understood.
struct Group<T> {
    indices: Places,
    values: [T; 8],
    /// A bit for each that was looked at, the first lowest.
    lanes: u8,
    /// Those that are of the usual sort and end with a blank or a newline.
    good: u8,
    /// Those that end with a newline.
    newlines: u8,
}

impl<T: Stored> Group<T> {
    #[inline(always)]
    fn new(text: simd::Text, tokens: Tokens) -> Self {
        let Tokens {
            indices,
            numbers,
            near: lanes,
            whole,
        } = tokens;
        let (values, good) = T::from_eight(text, &numbers);
        let newlines = text.ending_with(&numbers, b'\n');
        Group {
            indices,
            values,
            lanes,
            good: whole & good & text.ending_blank(&numbers),
            newlines,
        }
    }

    /// How many were looked at.
    #[inline(always)]
    fn looked_at(&self) -> usize {
        self.lanes.count_ones() as usize
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

/// Groups after one that could not be read as tokens that lie together until the next may be.
const APART: u8 = 32;

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
