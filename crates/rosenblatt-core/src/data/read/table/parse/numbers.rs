//! Numbers of a record, one after the other or eight together.

use super::{Parser, Take};
use crate::data::read::number::{self, Stored};
#[cfg(target_arch = "x86_64")]
use crate::simd;

/// For each column: how many from it on are numbers with slots one after the other.
pub(super) fn numbers_ahead(takes: &[Take]) -> Vec<usize> {
    let mut ahead = vec![0; takes.len()];
    for i in (0..takes.len()).rev() {
        if let Take::Number { slot, .. } = takes[i] {
            let goes_on = matches!(takes.get(i + 1), Some(Take::Number { slot: next, .. }) if *next == slot + 1);
            ahead[i] = 1 + if goes_on { ahead[i + 1] } else { 0 };
        }
    }
    ahead
}

impl<T: Stored> Parser<'_, T> {
    /// Reads up to `count` numbers into the places from `first` on, while each is followed by
    /// the delimiter, or by a newline if it is the last and `ends` the record; gives how many,
    /// and where the next cell starts.
    #[inline(always)]
    pub(super) fn run_of_numbers<const LEVEL: u8>(
        &mut self,
        mut at: usize,
        first: usize,
        count: usize,
        ends: bool,
    ) -> (usize, usize) {
        let bytes = self.bytes;
        if self.one_by_one {
            return (0, at);
        }
        self.stops.go_to(at);
        let mut read = 0;
        while read < count {
            #[cfg(target_arch = "x86_64")]
            if let Some(text) = simd::Text::at::<LEVEL>() {
                let (first, most) = (first + read, count - read);
                let good = self.eight_numbers::<LEVEL>(text, &mut at, first, most, ends);
                read += good;
                if good > 0 {
                    continue;
                }
            }
            if ends && read + 1 == count {
                break;
            }
            let from = at + usize::from(bytes[at] == b' ' && self.delimiter != b' ');
            let window = bytes.get(from..).and_then(|rest| rest.first_chunk());
            let end = self.stops.peek::<LEVEL>();
            let value = match window.and_then(number::read_within::<T, LEVEL>) {
                // Where the delimiter is was known before, so the next number need not wait.
                Some(number) if from + number.end == end && number.stop == self.delimiter => {
                    at = end + 1;
                    self.stops.pass(1);
                    number.value
                }
                _ => match number::read_any::<T>(bytes, from) {
                    Some(number) if number.stop == self.delimiter => {
                        at = number.end + 1;
                        self.stops.go_to(at);
                        number.value
                    }
                    _ => return (read, at),
                },
            };
            self.numbers[first + read] = value;
            read += 1;
        }
        (read, at)
    }

    /// Reads up to `most` of the next eight numbers, as far as they are of the usual sort; gives
    /// how many.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    fn eight_numbers<const LEVEL: u8>(
        &mut self,
        text: simd::Text,
        at: &mut usize,
        first: usize,
        most: usize,
        ends_record: bool,
    ) -> usize {
        let ends = *self.stops.few::<8, LEVEL>();
        let stops = text.places(&ends);
        let numbers = text.numbers::<true>(self.bytes, text.starts(*at, stops), stops);
        let (values, good) = T::from_eight(text, &numbers);
        // A newline stands behind the last of a record, and there only.
        let closing = match most {
            1..=8 if ends_record => 1 << (most - 1),
            _ => 0,
        };
        let good = good
            & (text.ending_with(&numbers, self.delimiter) & !closing
                | text.ending_with(&numbers, b'\n') & closing);
        // Branched on, so that the next eight need not wait until these are understood.
        let wanted = most.min(8);
        let good = if good.trailing_ones() as usize >= wanted {
            wanted
        } else {
            fewer(good)
        };
        let places = &mut self.numbers[first..first + good];
        match places.first_chunk_mut() {
            Some(eight) => *eight = values,
            None => places.copy_from_slice(&values[..good]),
        }
        if good > 0 {
            *at = ends[good - 1] as usize + 1;
            self.stops.pass(good);
        }
        good
    }

    /// Reads the number that ends a record; gives the start of the next record.
    #[inline(always)]
    pub(super) fn last_number(&mut self, at: usize, place: usize) -> Option<usize> {
        let bytes = self.bytes;
        if self.one_by_one {
            return None;
        }
        let from = at + usize::from(bytes[at] == b' ' && self.delimiter != b' ');
        let number = number::read::<T>(bytes, from)?;
        let next = match number.stop {
            b'\n' => number.end + 1,
            b'\r' if bytes[number.end + 1] == b'\n' => number.end + 2,
            _ => return None,
        };
        self.numbers[place] = number.value;
        Some(next)
    }
}

/// How many of the lowest bits are set, when that is no longer urgent.
#[cold]
#[inline(never)]
#[cfg(target_arch = "x86_64")]
fn fewer(good: u8) -> usize {
    good.trailing_ones() as usize
}
