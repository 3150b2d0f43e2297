//! Eight tokens `index:value` that lie together.
//!
//! Eight tokens seldom take more than 128 bytes, which are two registers. The digits of all of
//! them are moved to their lanes by one permutation of bytes; fetching them from memory one by
//! one, as [`eight`](super::eight) does, takes several times the instructions.

use std::arch::x86_64::*;

use super::eight::{Eight, Places, beyond_nine, joined, lower};
use crate::simd::Text;

/// Bytes of text that are looked at.
const SPAN: usize = 128;

/// Sixteen places of bytes in text: of a colon and of what ends the number behind it, eight times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs(__m512i);

/// Eight tokens, a lane for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tokens {
    pub(crate) indices: Places,
    pub(crate) numbers: Eight,
    /// A bit for each token that was looked at, the first lowest: the others end too far away.
    pub(crate) near: u8,
    /// A bit for each of them whose index is a number before a colon.
    pub(crate) whole: u8,
}

// SAFETY of all below: a `Text` says that the processor has every feature that is used.
impl Text {
    #[inline(always)]
    pub(crate) fn pairs(self, places: &[u32; 16]) -> Pairs {
        // SAFETY: see above; sixteen numbers of 32 bits are read.
        Pairs(unsafe { _mm512_loadu_si512(places.as_ptr().cast()) })
    }

    /// The places of colons, and those of what ends the numbers.
    #[inline(always)]
    pub(crate) fn apart(self, pairs: Pairs) -> (Places, Places) {
        // SAFETY: see above.
        unsafe {
            let seconds = _mm512_srli_epi64::<32>(pairs.0);
            let (colons, stops) = (
                _mm512_cvtepi64_epi32(pairs.0),
                _mm512_cvtepi64_epi32(seconds),
            );
            (Places(colons), Places(stops))
        }
    }

    /// The tokens from `at` on whose colons and ends are at `pairs`: up to eight digits, a colon,
    /// and a number of up to eight characters. `None` if there are fewer than 128 bytes left.
    #[inline(always)]
    pub(crate) fn near_tokens(self, text: &[u8], at: usize, pairs: Pairs) -> Option<Tokens> {
        let span = text.get(at..)?.first_chunk()?;
        // SAFETY: see above.
        unsafe {
            let span = Span::new(span, at, pairs);
            let marks = span.marks();
            let (first, second) = (lower(marks), _mm512_srli_epi64::<32>(marks));
            let parted = _mm512_cmpeq_epi64_mask(first, _mm512_set1_epi64(i64::from(b':')));
            let near = span.near();
            let index = span.index();
            let whole = near & parted & index.usual & !beyond_nine(index.digits);
            let number = span.number();
            let good = near & number.usual & !beyond_nine(number.digits);
            // Lanes without a number must not look like zeros, which are dealt with apart.
            let one = _mm512_set1_epi64(1);
            let numbers = Eight {
                mantissas: _mm512_mask_mov_epi64(one, good, lower(joined(number.digits))),
                places: number.places,
                negative: number.negative,
                stops: second,
                good,
            };
            Some(Tokens {
                indices: Places(_mm512_cvtepi64_epi32(joined(index.digits))),
                numbers,
                near,
                whole,
            })
        }
    }
}

/// 128 bytes, and the places of marks counted from the first.
pub(super) struct Span {
    low: __m512i,
    high: __m512i,
    pairs: __m512i,
}

/// The digits of eight whole numbers, the last one highest.
pub(super) struct Index {
    pub(super) digits: __m512i,
    /// Which are as many as digits can be.
    pub(super) usual: u8,
}

/// The same of numbers.
pub(super) struct Number {
    pub(super) digits: __m512i,
    pub(super) places: __m512i,
    pub(super) negative: u8,
    pub(super) usual: u8,
}

// SAFETY of all below: the caller's.
impl Span {
    #[inline(always)]
    pub(super) unsafe fn new(span: &[u8; SPAN], at: usize, pairs: Pairs) -> Self {
        // SAFETY: see above; the two halves of the span are read.
        unsafe {
            Span {
                low: _mm512_loadu_si512(span.as_ptr().cast()),
                high: _mm512_loadu_si512(span.as_ptr().add(SPAN / 2).cast()),
                pairs: _mm512_sub_epi32(pairs.0, _mm512_set1_epi32(at as i32)),
            }
        }
    }

    #[inline(always)]
    unsafe fn colons(&self) -> __m512i {
        // SAFETY: see above.
        unsafe { lower(self.pairs) }
    }

    #[inline(always)]
    unsafe fn stops(&self) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_srli_epi64::<32>(self.pairs) }
    }

    /// The bytes at the places.
    #[inline(always)]
    pub(super) unsafe fn marks(&self) -> __m512i {
        // SAFETY: see above.
        unsafe { at_each(self.low, self.high, self.pairs) }
    }

    /// Which tokens end in the span.
    #[inline(always)]
    pub(super) unsafe fn near(&self) -> u8 {
        // SAFETY: see above.
        unsafe { _mm512_cmplt_epu64_mask(self.stops(), _mm512_set1_epi64(SPAN as i64)) }
    }

    /// What is before the colons.
    #[inline(always)]
    pub(super) unsafe fn index(&self) -> Index {
        // SAFETY: see above.
        unsafe {
            let stops_before = _mm512_alignr_epi64::<7>(self.stops(), _mm512_set1_epi64(-1));
            let missing = missing_of_eight(stops_before, self.colons());
            let word = before(self.low, self.high, self.pairs, FIRSTS);
            Index {
                digits: _mm512_and_si512(_mm512_xor_si512(word, zeros()), last_bytes(missing)),
                usual: from_none_to_seven(missing),
            }
        }
    }

    /// What is behind them.
    #[inline(always)]
    pub(super) unsafe fn number(&self) -> Number {
        // SAFETY: see above.
        unsafe {
            let missing = missing_of_eight(self.colons(), self.stops());
            let mut usual = from_none_to_seven(missing);
            let word = before(self.low, self.high, self.pairs, SECONDS);
            // The bytes of the number: first with its sign, then without.
            let all = last_bytes(missing);
            let first = _mm512_andnot_si512(_mm512_slli_epi64::<8>(all), all);
            let minus = bytes_equal(word, b'-', all);
            let negative = _mm512_cmpeq_epi64_mask(minus, first);
            let all = _mm512_mask_slli_epi64::<8>(all, negative, all);
            // The bytes before the first point, which are all where there is none. A second one
            // is no digit and gives itself away.
            let point = bytes_equal(word, b'.', all);
            let has_point = _mm512_test_epi64_mask(point, point);
            let below = _mm512_sub_epi64(point, _mm512_set1_epi64(1));
            let below = _mm512_andnot_si512(point, below);
            usual &= _mm512_test_epi64_mask(all, below);
            let digits = _mm512_and_si512(_mm512_xor_si512(word, zeros()), all);
            // The digits before the point close up to those behind it.
            let wholes = _mm512_and_si512(digits, below);
            let wholes = _mm512_mask_slli_epi64::<8>(wholes, has_point, wholes);
            let not_behind =
                _mm512_or_si512(_mm512_slli_epi64::<8>(below), _mm512_set1_epi64(0xFF));
            let behind = _mm512_andnot_si512(not_behind, digits);
            Number {
                digits: _mm512_or_si512(wholes, behind),
                places: _mm512_maskz_srli_epi64::<3>(has_point, _mm512_lzcnt_epi64(point)),
                negative,
                usual,
            }
        }
    }
}

// SAFETY of the helpers: their callers'.

/// How many of eight bytes there are not between one place and another.
#[inline(always)]
unsafe fn missing_of_eight(from: __m512i, to: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_add_epi64(_mm512_sub_epi64(from, to), _mm512_set1_epi64(9)) }
}

/// Which numbers are from none to seven.
#[inline(always)]
unsafe fn from_none_to_seven(numbers: __m512i) -> u8 {
    // SAFETY: the caller's.
    unsafe { _mm512_cmplt_epu64_mask(numbers, _mm512_set1_epi64(8)) }
}

/// The character of the digit 0, eight times in each word.
#[inline(always)]
unsafe fn zeros() -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_set1_epi8(b'0' as i8) }
}

/// The lowest byte of the first or of the second of each pair, eight times.
const FIRSTS: [i64; 2] = [0, 0x0808_0808_0808_0808];
const SECONDS: [i64; 2] = [0x0404_0404_0404_0404, 0x0C0C_0C0C_0C0C_0C0C];

/// The eight bytes of the span before one of each pair of places, the last one highest.
#[inline(always)]
unsafe fn before(low: __m512i, high: __m512i, pairs: __m512i, which: [i64; 2]) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let spread = _mm512_set4_epi64(which[1], which[0], which[1], which[0]);
        let places = _mm512_shuffle_epi8(pairs, spread);
        // Less eight to one.
        let back = _mm512_set1_epi64(i64::from_le_bytes([248, 249, 250, 251, 252, 253, 254, 255]));
        _mm512_permutex2var_epi8(low, _mm512_add_epi8(places, back), high)
    }
}

/// The byte of the span at each of sixteen places.
#[inline(always)]
unsafe fn at_each(low: __m512i, high: __m512i, places: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let lowest = 0x1111_1111_1111_1111;
        _mm512_maskz_permutex2var_epi8(lowest, low, places, high)
    }
}

/// All bits of all but so many bytes of each word, from the top.
#[inline(always)]
unsafe fn last_bytes(missing: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_slli_epi64::<3>(missing)) }
}

/// Those bytes of `among` at which a byte of `words` is this one.
#[inline(always)]
unsafe fn bytes_equal(words: __m512i, byte: u8, among: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let equal = _mm512_cmpeq_epi8_mask(words, _mm512_set1_epi8(byte as i8));
        _mm512_maskz_mov_epi8(equal, among)
    }
}
