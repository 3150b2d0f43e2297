//! Eight tokens `index:value` that lie together and have nothing special about them.
//!
//! Like [`near`](super::near), with fewer instructions: of a line that is likely to be all right
//! it is enough to know whether it is.

use std::arch::x86_64::*;

use super::eight::{beyond_nine, joined, lower, product, quotient, with_signs};
use super::near::{Pairs, Span};
use crate::simd::Text;

/// Eight tokens of the plainest sort, a lane for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain {
    indices: __m512i,
    pub(crate) few: Few,
    /// A bit for each of the sixteen marks that is a colon or a blank, in turn.
    pub(crate) marks: u16,
    /// A bit for each token whose digits are digits and whose value is not zero.
    pub(crate) good: u8,
}

// SAFETY of all below: there is a `Plain`, so there was a `Text`.
impl Plain {
    /// Whether the first `count` are good, a blank behind each but the last one if it ends the
    /// line; and their indices above each other and above that `before` them.
    #[inline(always)]
    pub(crate) fn are_good(&self, count: usize, ends: bool, before: Before) -> bool {
        // SAFETY: see above.
        let rising = unsafe {
            let before = _mm512_alignr_epi64::<7>(self.indices, before.0);
            _mm512_mask_cmpgt_epi64_mask(self.good, self.indices, before)
        };
        let marks = u16::MAX >> (16 - 2 * count) >> u32::from(ends);
        (rising | (u8::MAX << 1) << (count - 1) == u8::MAX) & (self.marks | !marks == u16::MAX)
    }

    /// What is before the tokens behind all of these.
    #[inline(always)]
    pub(crate) fn last(&self) -> Before {
        Before(self.indices)
    }

    /// The indices less `first`.
    #[inline(always)]
    pub(crate) fn columns(&self, first: u32) -> Columns {
        // SAFETY: see above.
        Columns(unsafe { _mm512_sub_epi64(self.indices, _mm512_set1_epi64(first.into())) })
    }
}

/// Where rows of increasing indices have come to: at the last of eight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before(__m512i);

/// Eight columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns(__m512i);

// SAFETY of all below: a `Text` says that the processor has every feature that is used.
impl Text {
    /// The tokens from `at` on whose colons and ends are at `pairs`, if nothing has to be known of
    /// them but whether they are good. `None` if there are fewer than 128 bytes left.
    #[inline(always)]
    pub(crate) fn plain_tokens(self, text: &[u8], at: usize, pairs: Pairs) -> Option<Plain> {
        let span = text.get(at..)?.first_chunk()?;
        // SAFETY: see above.
        unsafe {
            let span = Span::new(span, at, pairs);
            let expected = _mm512_set1_epi64(i64::from(b' ') << 32 | i64::from(b':'));
            let marks = _mm512_cmpeq_epi32_mask(span.marks(), expected);
            let (index, number) = (span.index(), span.number());
            let strange = beyond_nine(_mm512_max_epu8(index.digits, number.digits));
            let mantissas = lower(joined(number.digits));
            let lanes = span.near() & index.usual & number.usual & !strange;
            Some(Plain {
                indices: lower(joined(index.digits)),
                few: Few {
                    mantissas,
                    places: number.places,
                    negative: number.negative,
                },
                marks,
                good: _mm512_mask_test_epi64_mask(lanes, mantissas, mantissas),
            })
        }
    }

    /// Before any index, the least of which is `first`.
    #[inline(always)]
    pub(crate) fn before(self, first: u32) -> Before {
        // SAFETY: see above.
        Before(unsafe { _mm512_set1_epi64(i64::from(first) - 1) })
    }

    #[inline(always)]
    pub(crate) fn in_32_bits(self, columns: Columns) -> [u32; 8] {
        let mut all = [0; 8];
        // SAFETY: see above; eight numbers of 32 bits are written.
        unsafe {
            let columns = _mm512_cvtepi64_epi32(columns.0);
            _mm256_storeu_si256(all.as_mut_ptr().cast(), columns);
        }
        all
    }

    #[inline(always)]
    pub(crate) fn in_16_bits(self, columns: Columns) -> [u16; 8] {
        let mut all = [0; 8];
        // SAFETY: see above; eight numbers of 16 bits are written.
        unsafe {
            let columns = _mm512_cvtepi64_epi16(columns.0);
            _mm_storeu_si128(all.as_mut_ptr().cast(), columns);
        }
        all
    }

    /// The numbers, correctly rounded.
    ///
    /// Those with a point have a mantissa m of up to 7 digits and up to 7 places k. A number
    /// halfway between two of binary32 has 25 bits, so it is no such m/10ᵏ: 2ᵏ times it would be
    /// the whole number m/5ᵏ, which has 24 at most. Be it h/2ˢ, h < 2²⁵. Then m·2ˢ and h·10ᵏ
    /// differ by 1 or more, and m/10ᵏ is away from it by 1/(h·10ᵏ) > 2⁻⁴⁹ of it. The product,
    /// wrong by 2⁻⁵¹ at most, is on the same side.
    #[inline(always)]
    pub(crate) fn few_narrow(self, few: &Few) -> [f32; 8] {
        let mut found = [0.0; 8];
        // SAFETY: see above; eight numbers of 32 bits are written.
        unsafe {
            let values = product(few.mantissas, few.places);
            let values = _mm512_cvtpd_ps(with_signs(values, few.negative));
            _mm256_storeu_ps(found.as_mut_ptr(), values);
        }
        found
    }

    /// The same in full.
    #[inline(always)]
    pub(crate) fn few_full(self, few: &Few) -> [f64; 8] {
        let mut found = [0.0; 8];
        // SAFETY: see above; eight numbers of 64 bits are written.
        unsafe {
            let values = quotient(few.mantissas, few.places);
            _mm512_storeu_pd(found.as_mut_ptr(), with_signs(values, few.negative));
        }
        found
    }
}

/// Numbers of up to eight characters, a lane for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Few {
    mantissas: __m512i,
    /// Digits behind the point.
    places: __m512i,
    negative: u8,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd;

    /// Tokens of a line that is one of the plainest sort, and what spoils it.
    #[test]
    fn tokens_are_good_together() {
        struct Good<'a>(&'a str, usize, bool);
        impl simd::Work for Good<'_> {
            type Output = Option<bool>;

            #[inline(always)]
            fn run<const LEVEL: u8>(self) -> Self::Output {
                let text = Text::at::<LEVEL>()?;
                let Good(line, count, ends) = self;
                let mut marks = line
                    .bytes()
                    .enumerate()
                    .filter(|(_, b)| b": \n".contains(b));
                let pairs =
                    std::array::from_fn(|_| marks.next().map_or(u32::MAX, |(k, _)| k as u32));
                let line = format!("{line}{}", "7".repeat(128));
                let plain = text.plain_tokens(line.as_bytes(), 0, text.pairs(&pairs));
                Some(plain.unwrap().are_good(count, ends, text.before(1)))
            }
        }
        for (line, count, ends, expected) in [
            ("1:2 2:3 ", 2, false, true),
            ("1:2 2:3\n", 2, true, true),
            ("1:2 2:3\n", 2, false, false),
            ("1:2\n2:3\n", 2, true, false),
            ("1:2 2:3\n", 1, false, true),
            ("0:2 2:3\n", 2, true, false),
            ("1:2 1:3\n", 2, true, false),
            ("1:2 1:3\n", 1, false, true),
            ("3:2 2:3\n", 2, true, false),
            ("1:0 2:3\n", 2, true, false),
            ("1:2 2:-0.0\n", 2, true, false),
            ("1:2 2:x\n", 2, true, false),
            ("1:2 x:2\n", 2, true, false),
            ("1:2:3:4\n", 2, true, false),
            ("1:2 3 4:5\n", 2, true, false),
            ("1:2  2:3\n", 2, true, false),
            ("1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 ", 8, false, true),
            ("1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8\n", 8, true, true),
            ("1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:0\n", 8, true, false),
            ("1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8\n", 8, false, false),
        ] {
            let found = simd::dispatch_bytes(Good(line, count, ends));
            assert!(
                found.is_none_or(|found| found == expected),
                "{line:?} {count}"
            );
        }
    }
}
