//! Tokens as they nearly all are, in a few steps.

#[cfg(target_arch = "x86_64")]
use crate::read::number::not_digits;
use crate::read::number::{POWERS, Stored, WINDOW, digits_value, load, to_top, two_values};

/// Where the parts of a common token stand: up to eight digits, a colon, perhaps a minus, up to
/// eight digits and perhaps a point and up to seven more, then a blank or a newline.
///
/// The next token waits for this one's end and for nothing else, so its end is found in as few
/// steps as possible: from comparisons of all bytes, not from the digits themselves.
pub(super) struct Token {
    colon: usize,
    signed: bool,
    /// Where the number begins behind its sign.
    start: usize,
    /// Where its first digits end.
    point: usize,
    /// How many they are.
    whole: usize,
    /// How many digits follow a point.
    places: usize,
    /// Where the token ends, from its start.
    pub(super) end: usize,
    /// The byte there.
    pub(super) stop: u8,
}

// Masks tell the compiler what the conditions imply: every load lies in the window.
#[inline(always)]
fn word(window: &[u8; WINDOW], from: usize) -> u64 {
    load(window, from & 31)
}

#[inline(always)]
fn byte(window: &[u8; WINDOW], from: usize) -> u8 {
    window[from & 31]
}

impl Token {
    /// The token at the start of `window`, if it is a common one.
    #[inline(always)]
    pub(super) fn find(window: &[u8; WINDOW]) -> Option<Self> {
        let marks = Marks::of(window);
        let (colon, end) = (lowest(marks.colons), lowest(marks.ends));
        // A sign is a mark right behind the colon. It is not branched on, because half of the
        // branches would go wrong.
        let minus = marks.minuses & colon << 1;
        let within = end ^ end.wrapping_sub(1);
        let point = lowest(marks.points) & within;
        // All that is no digit, and in this order unless a count below is negative.
        if marks.others & within != colon | minus | point | end {
            return None;
        }
        let signed = minus != 0;
        let start = colon.trailing_zeros() as usize + 1 + usize::from(signed);
        let (colon, end) = (
            colon.trailing_zeros() as usize,
            end.trailing_zeros() as usize,
        );
        let (mut places, mut digits_end) = (0, end);
        if point != 0 {
            digits_end = point.trailing_zeros() as usize;
            places = end.wrapping_sub(digits_end + 1);
        }
        let whole = digits_end.wrapping_sub(start);
        // None of them is more than 7.
        let counts = colon.wrapping_sub(1) | whole.wrapping_sub(1) | places;
        (counts < 8).then_some(Token {
            colon,
            signed,
            start,
            point: digits_end,
            whole,
            places,
            end,
            stop: byte(window, end),
        })
    }

    /// Its index and its value.
    #[inline(always)]
    pub(super) fn read<T: Stored, const LEVEL: u8>(
        &self,
        window: &[u8; WINDOW],
    ) -> Option<(u64, T)> {
        let index = to_top(word(window, 0), self.colon);
        let (index, mantissa) = if self.point == self.end {
            let number = to_top(word(window, self.start), self.whole);
            two_values::<LEVEL>(index, number)
        } else {
            let fraction = word(window, self.point + 1);
            if self.whole == 1 {
                // One digit before the point is by far the most common.
                let first = u64::from(byte(window, self.start));
                two_values::<LEVEL>(index, to_top(fraction << 8 | first, self.places + 1))
            } else {
                let whole = to_top(word(window, self.start), self.whole);
                let (index, whole) = two_values::<LEVEL>(index, whole);
                let fraction = digits_value(fraction, self.places as u32);
                (index, whole * POWERS[self.places & 7] + fraction)
            }
        };
        let value = T::from_small(mantissa, self.places as u32, self.signed)?;
        Some((index, value))
    }
}

#[inline(always)]
fn lowest(bits: u32) -> u32 {
    bits & bits.wrapping_neg()
}

/// Which of the first 32 bytes of a window are what, a bit for each, the first lowest.
struct Marks {
    /// No digits.
    others: u32,
    colons: u32,
    points: u32,
    minuses: u32,
    /// Blanks, newlines and other bytes up to a blank.
    ends: u32,
}

impl Marks {
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)] // measured: libsvm text is read a tenth slower without it
    fn of(window: &[u8; WINDOW]) -> Self {
        use std::arch::x86_64::{
            _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8,
        };
        let mut marks = Marks {
            others: not_digits(window),
            colons: 0,
            points: 0,
            minuses: 0,
            ends: 0,
        };
        for (k, half) in window.as_chunks::<16>().0.iter().enumerate() {
            let both = u128::from_le_bytes(*half);
            // SAFETY: these are SSE2, which every x86-64 processor has.
            let found = unsafe {
                let bytes = _mm_set_epi64x((both >> 64) as i64, both as i64);
                let equal =
                    |b: u8| _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(b as i8)));
                let small = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x20)), bytes);
                [
                    equal(b':'),
                    equal(b'.'),
                    equal(b'-'),
                    _mm_movemask_epi8(small),
                ]
            };
            let [colons, points, minuses, ends] = found.map(|f| u32::from(f as u16) << (16 * k));
            marks.colons |= colons;
            marks.points |= points;
            marks.minuses |= minuses;
            marks.ends |= ends;
        }
        marks
    }

    #[inline(always)]
    #[cfg(not(target_arch = "x86_64"))]
    fn of(window: &[u8; WINDOW]) -> Self {
        Marks::scalar(window)
    }

    /// The same, byte by byte.
    #[cfg(any(test, not(target_arch = "x86_64")))]
    fn scalar(window: &[u8; WINDOW]) -> Self {
        let bits = |is: fn(u8) -> bool| {
            let bytes = window[..32].iter().rev();
            bytes.fold(0, |bits, &b| bits << 1 | u32::from(is(b)))
        };
        Marks {
            others: bits(|b| !b.is_ascii_digit()),
            colons: bits(|b| b == b':'),
            points: bits(|b| b == b'.'),
            minuses: bits(|b| b == b'-'),
            ends: bits(|b| b <= b' '),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_all_other_bytes() {
        let all: Vec<u8> = (0..=255).chain(0..=255).collect();
        for start in 0..256 {
            let window = all[start..].first_chunk().unwrap();
            let (found, scalar) = (Marks::of(window), Marks::scalar(window));
            assert_eq!(found.others, scalar.others);
            assert_eq!(found.colons, scalar.colons);
            assert_eq!(found.points, scalar.points);
            assert_eq!(found.minuses, scalar.minuses);
            assert_eq!(found.ends, scalar.ends);
        }
    }
}
