//! Numbers of a record, one after the other or eight together.

use super::super::cells::NumberForm;
use super::{Parser, Take};
use crate::read::number::{self, Stored};
use rosenblatt_core::internal::simd::Level;

/// The slot of numbers that are read where they stand: not those with a decimal comma.
pub(super) fn in_place(take: Take) -> Option<usize> {
    match take {
        Take::Number { slot, form, .. } if form != NumberForm::Comma => Some(slot),
        _ => None,
    }
}

/// For each column: how many from it on are numbers with slots one after the other.
pub(super) fn numbers_ahead(takes: &[Take]) -> Vec<usize> {
    let mut ahead = vec![0; takes.len()];
    for i in (0..takes.len()).rev() {
        if let Some(slot) = in_place(takes[i]) {
            let goes_on = takes
                .get(i + 1)
                .is_some_and(|next| in_place(*next) == Some(slot + 1));
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
    pub(super) fn run_of_numbers(
        &mut self,
        level: impl Level,
        mut at: usize,
        first: usize,
        count: usize,
        ends: bool,
    ) -> (usize, usize) {
        let bytes = self.bytes;
        if self.one_by_one {
            return (0, at);
        }
        self.delimiters.go_to(at);
        let mut read = 0;
        while read < count {
            if ends && read + 1 == count {
                break;
            }
            let from = at + usize::from(bytes[at] == b' ' && self.delimiter != b' ');
            let window = bytes.get(from..).and_then(|rest| rest.first_chunk());
            let end = self.delimiters.peek();
            let value = match window.and_then(|window| number::read_within::<T>(level, window)) {
                // Where the delimiter is was known before, so the next number need not wait.
                Some(number) if from + number.end == end && number.stop == self.delimiter => {
                    at = end + 1;
                    self.delimiters.pass();
                    number.value
                }
                _ => match number::read_any::<T>(bytes, from) {
                    Some(number) if number.stop == self.delimiter => {
                        at = number.end + 1;
                        self.delimiters.go_to(at);
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
