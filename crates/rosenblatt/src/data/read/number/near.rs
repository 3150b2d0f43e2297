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

/// Eight tokens, a lane for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tokens {
    pub(crate) indices: Places,
    pub(crate) numbers: Eight,
    /// A bit for each token that was looked at, the first lowest: the others end too far away.
    pub(crate) near: u8,
    /// A bit for each of them whose index is a number.
    pub(crate) whole: u8,
}

// SAFETY of all below: a `Text` says that the processor has every feature that is used.
impl Text {
    /// The tokens from `at` on that end with a byte at `stops`, their colons being at `colons`:
    /// up to eight digits, a colon, and a number of up to eight characters. `None` if there are
    /// fewer than 128 bytes left.
    #[inline(always)]
    pub(crate) fn near_tokens(
        self,
        text: &[u8],
        at: usize,
        colons: Places,
        stops: Places,
    ) -> Option<Tokens> {
        let span: &[u8; SPAN] = text.get(at..)?.first_chunk()?;
        // SAFETY: see above; the two halves of the span are read.
        unsafe {
            let low = _mm512_loadu_si512(span.as_ptr().cast());
            let high = _mm512_loadu_si512(span.as_ptr().add(SPAN / 2).cast());
            // Places are counted from `at` on.
            let base = _mm256_set1_epi32(at as i32);
            let stops = _mm256_sub_epi32(stops.0, base);
            let colons = _mm256_sub_epi32(colons.0, base);
            let none = _mm256_set1_epi32(-1);
            let starts = _mm256_sub_epi32(_mm256_alignr_epi32::<7>(stops, none), none);
            let near = _mm256_cmplt_epu32_mask(stops, _mm256_set1_epi32(SPAN as i32));

            let length = _mm256_sub_epi32(colons, starts);
            let mut usual = from_one_to_eight(length);
            let digits = _mm512_xor_si512(before(low, high, colons), zeros());
            let digits = _mm512_and_si512(digits, last_bytes(length));
            let whole = near & usual & !beyond_nine(digits);
            let indices = Places(_mm512_cvtepi64_epi32(joined(digits)));

            let length = _mm256_sub_epi32(_mm256_sub_epi32(stops, colons), _mm256_set1_epi32(1));
            usual = from_one_to_eight(length);
            let word = before(low, high, stops);
            // The bytes of the number: first with its sign, then without.
            let all = last_bytes(length);
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
            let digits = _mm512_or_si512(wholes, behind);
            let places = _mm512_maskz_srli_epi64::<3>(has_point, _mm512_lzcnt_epi64(point));
            let good = near & usual & !beyond_nine(digits);
            // Lanes without a number must not look like zeros, which are dealt with apart.
            let one = _mm512_set1_epi64(1);
            let numbers = Eight {
                mantissas: _mm512_mask_mov_epi64(one, good, lower(joined(digits))),
                places,
                negative,
                stops: at_each(low, high, stops),
                good,
            };
            Some(Tokens {
                indices,
                numbers,
                near,
                whole,
            })
        }
    }
}

// SAFETY of the helpers: their callers'.

/// Which lengths are from one to eight.
#[inline(always)]
unsafe fn from_one_to_eight(lengths: __m256i) -> u8 {
    // SAFETY: the caller's.
    unsafe {
        let less = _mm256_sub_epi32(lengths, _mm256_set1_epi32(1));
        _mm256_cmplt_epu32_mask(less, _mm256_set1_epi32(8))
    }
}

/// The character of the digit 0, eight times in each word.
#[inline(always)]
unsafe fn zeros() -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_set1_epi8(b'0' as i8) }
}

/// The eight bytes of the span before each place, the last one highest.
#[inline(always)]
unsafe fn before(low: __m512i, high: __m512i, places: __m256i) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        // The lowest byte of each word, eight times, less eight to one.
        let places = _mm512_cvtepu32_epi64(places);
        let spread = _mm512_set4_epi32(0x0808_0808, 0x0808_0808, 0, 0);
        let places = _mm512_shuffle_epi8(places, spread);
        let back = _mm512_set1_epi64(i64::from_le_bytes([248, 249, 250, 251, 252, 253, 254, 255]));
        _mm512_permutex2var_epi8(low, _mm512_add_epi8(places, back), high)
    }
}

/// The byte of the span at each place.
#[inline(always)]
unsafe fn at_each(low: __m512i, high: __m512i, places: __m256i) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let lowest = 0x0101_0101_0101_0101;
        _mm512_maskz_permutex2var_epi8(lowest, low, _mm512_cvtepu32_epi64(places), high)
    }
}

/// All bits of so many bytes of each word, from the top.
#[inline(always)]
unsafe fn last_bytes(counts: __m256i) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let others = _mm256_sub_epi32(_mm256_set1_epi32(8), counts);
        let others = _mm512_slli_epi64::<3>(_mm512_cvtepu32_epi64(others));
        _mm512_sllv_epi64(_mm512_set1_epi64(-1), others)
    }
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
