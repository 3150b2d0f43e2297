//! Common tokens of a line, read up to 64 at a time with AVX2.
//!
//! A common token is up to eight digits, a colon, perhaps a minus, up to eight digits with a point
//! behind any of them or none, and a blank or newline. Three things make it fast: the ends of
//! indices and tokens are marked in a bitmap, so that the next token need not wait for the digits
//! of this one; one shuffle puts the digits of a value in order; and the numbers of several tokens
//! are put together side by side. Other tokens are left to the parser.

mod avx2;

use std::array::from_fn;

use self::avx2::{LENGTHS, in_order, join, mark};
use crate::read::number::Stored;
use rosenblatt_core::internal::simd::Avx2;

/// Tokens that are read together.
const SIZE: usize = 64;

/// Bytes that are marked at a time.
const MARKED: usize = 1 << 14;

/// Bytes that are looked at from the start of a token: a common one is no longer than 26.
const WINDOW: usize = 48;

/// Memory for some tokens of a line.
pub(crate) struct Batch<T> {
    marks: Marks,
    /// Of each token eight digits of the index, then eight of the value.
    digits: [[u8; 16]; SIZE],
    /// Its decimal places and its sign, as [`Stored::SCALES`] has them.
    scales: [u8; SIZE],
    indices: [u32; SIZE],
    values: [T; SIZE],
}

/// What was read.
pub(crate) struct Tokens<'a, T> {
    pub(crate) indices: &'a [u32],
    pub(crate) values: &'a [T],
    /// Where the text goes on behind them.
    pub(crate) next: usize,
    /// Up to where the tokens behind them are to be read one by one.
    pub(crate) uncommon: usize,
}

impl<T: Stored> Batch<T> {
    pub(crate) fn new() -> Self {
        Batch {
            marks: Marks::default(),
            digits: [[0; 16]; SIZE],
            scales: [0; SIZE],
            indices: [0; SIZE],
            values: [T::ZERO; SIZE],
        }
    }

    /// Reads the common tokens from `start` on, at most as many as there is memory for.
    #[inline(always)]
    pub(crate) fn read(&mut self, level: Avx2, bytes: &[u8], start: usize) -> Tokens<'_, T> {
        self.marks.cover(level, bytes, start);
        let (count, end) = self.arrange(level, bytes, start);
        let (mut good, mut next, mut uncommon) = (count, end, end);
        if !self.convert(level, count) {
            good = (0..count).take_while(|&k| self.is_number(k)).count();
            next = start;
            for _ in 0..good {
                next += memchr::memchr(b' ', &bytes[next..]).map_or(0, |n| n + 1);
            }
            // Those behind a single one are worth another try.
            if good * 4 >= count {
                uncommon = next + 1;
            }
        }
        Tokens {
            indices: &self.indices[..good],
            values: &self.values[..good],
            next,
            uncommon,
        }
    }

    /// Puts the digits of tokens in order; gives how many tokens, and where the text goes on.
    #[inline(always)]
    fn arrange(&mut self, level: Avx2, bytes: &[u8], mut at: usize) -> (usize, usize) {
        let mut count = 0;
        for (digits, scale) in self.digits.iter_mut().zip(&mut self.scales) {
            let Some(window) = bytes
                .get(at..)
                .and_then(|rest| rest.first_chunk::<WINDOW>())
            else {
                break;
            };
            let marks = self.marks.from(at);
            let colon = marks.trailing_zeros() as usize;
            let end = (marks & marks.wrapping_sub(1)).trailing_zeros() as usize;
            // Masks tell the compiler what the conditions imply: all lies in the window.
            let signed = window[(colon + 1) & 15] == b'-';
            let value = colon + 1 + usize::from(signed);
            let len = end.wrapping_sub(value);
            if colon.wrapping_sub(1) >= 8 || window[colon & 15] != b':' || len >= LENGTHS {
                break;
            }
            let places;
            (*digits, places) = in_order(level, window, colon, value, len);
            *scale = places | u8::from(signed) << 4;
            let stop = window[end & 31];
            if stop != b' ' {
                // The end of the line, or a blank that the parser has to look at.
                if stop != b':' {
                    count += 1;
                    at += end;
                }
                break;
            }
            count += 1;
            at += end + 1;
        }
        (count, at)
    }

    /// Makes numbers of the digits; false if some are no digits, or a value may be rounded wrongly.
    #[inline(always)]
    fn convert(&mut self, level: Avx2, count: usize) -> bool {
        let mut good = true;
        let used = count.next_multiple_of(4).min(SIZE);
        // What is left of a batch before must not pass for a fault of this one.
        self.digits[count..used].fill([0; 16]);
        let digits = self.digits[..used].as_chunks::<4>().0;
        let scales = self.scales.as_chunks::<4>().0;
        let indices = self.indices.as_chunks_mut::<4>().0;
        let values = self.values.as_chunks_mut::<4>().0;
        for (((digits, scales), indices), values) in
            digits.iter().zip(scales).zip(indices).zip(values)
        {
            let (found, mantissas, only_digits) = join(level, digits);
            *indices = found;
            good &= only_digits;
            let scales: [f64; 4] = from_fn(|k| T::SCALES[usize::from(scales[k]) & 31]);
            let mantissas = mantissas.map(|mantissa| f64::from(mantissa as i32));
            let found: [_; 4] = from_fn(|k| T::scaled(mantissas[k], scales[k]));
            *values = found.map(|(value, _)| value);
            good &= found.iter().fold(true, |all, (_, sure)| all & sure);
        }
        good
    }

    /// Whether token `k` was all digits and its value is sure.
    #[cold]
    fn is_number(&self, k: usize) -> bool {
        let (digits, scale) = (self.digits[k], T::SCALES[usize::from(self.scales[k]) & 31]);
        if digits.iter().any(|&d| d > 9) {
            return false;
        }
        let mantissa = digits[8..].iter().fold(0, |m, &d| 10 * m + i32::from(d));
        T::scaled(f64::from(mantissa), scale).1
    }
}

/// A bit for each of some bytes of the text: whether it is a colon, or a blank or below, such as a
/// newline.
struct Marks {
    bits: Box<[u8; MARKED / 8 + size_of::<u64>()]>,
    /// The place of the first byte, and one past the last.
    start: usize,
    end: usize,
}

impl Default for Marks {
    fn default() -> Self {
        Marks {
            bits: Box::new([0; MARKED / 8 + size_of::<u64>()]),
            start: 0,
            end: 0,
        }
    }
}

impl Marks {
    /// Marks the bytes from `at` on, enough for a batch.
    #[inline(always)]
    fn cover(&mut self, level: Avx2, bytes: &[u8], at: usize) {
        if at < self.start || at + SIZE * WINDOW > self.end {
            self.mark(level, bytes, at);
        }
    }

    #[inline(always)]
    fn mark(&mut self, level: Avx2, bytes: &[u8], at: usize) {
        self.bits.fill(0);
        (self.start, self.end) = (at / 8 * 8, at / 8 * 8 + MARKED);
        let blocks = bytes.get(self.start..).unwrap_or_default().as_chunks().0;
        for (bits, block) in self
            .bits
            .as_chunks_mut()
            .0
            .iter_mut()
            .zip(blocks)
            .take(MARKED / 64)
        {
            *bits = mark(level, block).to_le_bytes();
        }
    }

    /// The bits from `at` on, the first lowest: at least 57, and fewer where there are no more.
    #[inline(always)]
    fn from(&self, at: usize) -> u64 {
        let from = at.wrapping_sub(self.start);
        match self
            .bits
            .get(from / 8..)
            .and_then(|rest| rest.first_chunk())
        {
            Some(bits) => u64::from_le_bytes(*bits) >> (from % 8),
            None => 0,
        }
    }
}
