//! Eight numbers at once, on processors with AVX-512 for bytes.
//!
//! Where the numbers begin and end is known, so their digits can be gathered into eight words
//! and joined together. A number that is not of the usual sort (an exponent, a plus, more than
//! fifteen digits) is left to the ways that read one at a time.

use std::arch::x86_64::*;

use super::digits::POWERS;
use super::stored::{FIRST_POWERS, TENTHS};
use crate::simd::Text;

/// Places of eight bytes in text, or eight other whole numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places(pub(super) __m256i);

/// Bytes that must stand before the numbers, and behind them.
const AROUND: usize = 16;

/// Digits behind a point that the first look takes in.
const FEW_PLACES: i64 = 7;

const MOST_DIGITS: i64 = 15;

/// Numbers as found, a lane for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Eight {
    pub(super) mantissas: __m512i,
    /// Digits behind the point.
    pub(super) places: __m512i,
    pub(super) negative: u8,
    /// The bytes that end them.
    pub(super) stops: __m512i,
    /// A bit for each that is of the usual sort, the first lowest.
    pub(super) good: u8,
}

/// Those of the lanes whose places, widened by what is looked at, lie inside the text.
#[inline(always)]
unsafe fn inside(text: &[u8], starts: __m256i, ends: __m256i) -> u8 {
    if text.len() >= i32::MAX as usize || text.len() < 2 * AROUND {
        return 0;
    }
    let limit = (text.len() - AROUND) as i32;
    // SAFETY: the caller's.
    unsafe {
        _mm256_cmpge_epu32_mask(starts, _mm256_set1_epi32(AROUND as i32))
            & _mm256_cmple_epu32_mask(starts, ends)
            & _mm256_cmple_epu32_mask(ends, _mm256_set1_epi32(limit))
    }
}

// SAFETY of all below: a `Text` says that the processor has every feature that is used, and
// bytes are only gathered for lanes that `inside` lets through.
impl Text {
    #[inline(always)]
    pub(crate) fn places(self, places: &[u32; 8]) -> Places {
        // SAFETY: see above; eight numbers of 32 bits are read.
        Places(unsafe { _mm256_loadu_si256(places.as_ptr().cast()) })
    }

    #[inline(always)]
    pub(crate) fn listed(self, places: Places) -> [u32; 8] {
        let mut listed = [0; 8];
        // SAFETY: see above; eight numbers of 32 bits are written.
        unsafe { _mm256_storeu_si256(listed.as_mut_ptr().cast(), places.0) };
        listed
    }

    /// The lower half of each.
    #[inline(always)]
    pub(crate) fn narrowed(self, places: Places) -> [u16; 8] {
        let mut narrowed = [0; 8];
        // SAFETY: see above; eight numbers of 16 bits are written.
        unsafe {
            let lower = _mm256_cvtepi32_epi16(places.0);
            _mm_storeu_si128(narrowed.as_mut_ptr().cast(), lower);
        }
        narrowed
    }

    /// One place on.
    #[inline(always)]
    pub(crate) fn behind(self, places: Places) -> Places {
        // SAFETY: see above.
        Places(unsafe { _mm256_add_epi32(places.0, _mm256_set1_epi32(1)) })
    }

    /// Where cells start, the first at `at`, each other one behind the end of the one before.
    #[inline(always)]
    pub(crate) fn starts(self, at: usize, ends: Places) -> Places {
        // SAFETY: see above.
        unsafe {
            let before = _mm256_set1_epi32((at as i32).wrapping_sub(1));
            self.behind(Places(_mm256_alignr_epi32::<7>(ends.0, before)))
        }
    }

    /// Which numbers are above the one before, the first at least `least`.
    #[inline(always)]
    pub(crate) fn ascending(self, numbers: Places, least: u32) -> u8 {
        // SAFETY: see above.
        unsafe {
            let before = self.starts(least as usize, numbers);
            _mm256_cmpge_epu32_mask(numbers.0, before.0)
        }
    }

    /// Which numbers are below `limit`.
    #[inline(always)]
    pub(crate) fn below(self, numbers: Places, limit: u64) -> u8 {
        let most = u32::try_from(limit - 1).unwrap_or(u32::MAX);
        // SAFETY: see above.
        unsafe { _mm256_cmple_epu32_mask(numbers.0, _mm256_set1_epi32(most as i32)) }
    }

    /// Whole numbers of up to eight digits from `starts` to a colon at `ends`, and which of them
    /// are good.
    #[inline(always)]
    pub(crate) fn wholes(self, text: &[u8], starts: Places, ends: Places) -> (Places, u8) {
        // SAFETY: see above.
        unsafe {
            let (starts, ends) = (starts.0, ends.0);
            let lanes = inside(text, starts, ends);
            let bits = bits_between(starts, ends);
            let usual = _mm512_cmplt_epu64_mask(
                _mm512_sub_epi64(bits, _mm512_set1_epi64(8)),
                _mm512_set1_epi64(64),
            );
            let words = digits(gather(text, starts, lanes));
            let words = to_top(words, bits);
            let behind = gather(text, ends, lanes);
            let first = _mm512_and_si512(behind, _mm512_set1_epi64(0xFF));
            let colons = _mm512_cmpeq_epi64_mask(first, _mm512_set1_epi64(i64::from(b':')));
            let good = lanes & usual & colons & !beyond_nine(words);
            (Places(_mm512_cvtepi64_epi32(joined(words))), good)
        }
    }

    /// The numbers from `starts` to `ends`. If those with many digits behind the point are rare or
    /// nearly all are such, let `OFTEN` be false: they are branched on then.
    #[inline(always)]
    pub(crate) fn numbers<const OFTEN: bool>(
        self,
        text: &[u8],
        starts: Places,
        ends: Places,
    ) -> Eight {
        // SAFETY: see above.
        unsafe {
            let (starts, ends) = (starts.0, ends.0);
            let lanes = inside(text, starts, ends);
            let words = gather(text, starts, lanes);
            let all = bits_between(starts, ends);
            let first = _mm512_and_si512(words, _mm512_set1_epi64(0xFF));
            let negative = _mm512_cmpeq_epi64_mask(first, _mm512_set1_epi64(i64::from(b'-')));
            let words = _mm512_mask_srli_epi64::<8>(words, negative, words);
            let all = _mm512_mask_sub_epi64(all, negative, all, _mm512_set1_epi64(8));
            // The first point in each word; beyond everything where there is none.
            let points = _mm512_cmpeq_epi8_mask(words, _mm512_set1_epi8(b'.' as i8));
            let points = _mm512_movm_epi8(points);
            let below = _mm512_andnot_si512(points, _mm512_sub_epi64(points, _mm512_set1_epi64(1)));
            let point = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_lzcnt_epi64(below));
            let whole = _mm512_min_epu64(point, all);
            let has_point = _mm512_cmplt_epu64_mask(whole, all);
            let behind = _mm512_sub_epi64(all, _mm512_set1_epi64(8));
            let behind = _mm512_maskz_sub_epi64(has_point, behind, whole);
            let sum = _mm512_add_epi64(whole, behind);
            let usual = _mm512_cmplt_epu64_mask(
                _mm512_sub_epi64(whole, _mm512_set1_epi64(8)),
                _mm512_set1_epi64(64),
            ) & _mm512_cmple_epu64_mask(sum, _mm512_set1_epi64(8 * MOST_DIGITS));
            // A ninth byte was not looked at, so it may not be taken for a point.
            let unseen = has_point & _mm512_cmpeq_epi64_mask(whole, _mm512_set1_epi64(64));
            let usual = usual & !unseen;
            let tail = gather(
                text,
                _mm256_sub_epi32(ends, _mm256_set1_epi32(FEW_PLACES as i32)),
                lanes,
            );
            let stops = _mm512_srli_epi64::<56>(tail);
            let few = _mm512_set1_epi64(8 * FEW_PLACES);
            // A sign is one of the first eight bytes.
            let seen = _mm512_set1_epi64(64);
            let seen = _mm512_mask_sub_epi64(seen, negative, seen, _mm512_set1_epi64(8));
            let short = _mm512_cmple_epu64_mask(all, _mm512_add_epi64(seen, few));
            if OFTEN && lanes & (unseen | !short) == 0 {
                // The first bytes and those behind them are all, and a point is among the first:
                // without it they are one number.
                let later = _mm512_srli_epi64::<8>(words);
                let joint = _mm512_or_si512(
                    _mm512_and_si512(words, below),
                    _mm512_andnot_si512(below, later),
                );
                let first = _mm512_min_epu64(all, seen);
                let rest = _mm512_sub_epi64(all, first);
                let first = _mm512_mask_sub_epi64(first, has_point, first, _mm512_set1_epi64(8));
                let joint = to_top(digits(joint), first);
                let tail = keep_top(_mm512_slli_epi64::<8>(digits(tail)), rest);
                let shift = power_of_ten(_mm512_srli_epi64::<3>(rest));
                let (wholes, tails) = (lower(joined(joint)), lower(joined(tail)));
                return Eight {
                    mantissas: _mm512_madd52lo_epu64(tails, wholes, shift),
                    places: _mm512_srli_epi64::<3>(behind),
                    negative,
                    stops,
                    good: lanes & usual & !beyond_nine(_mm512_max_epu8(joint, tail)),
                };
            }
            let before = to_top(digits(words), whole);
            let near = _mm512_min_epu64(behind, few);
            let tail = keep_top(_mm512_slli_epi64::<8>(digits(tail)), near);
            let places = _mm512_srli_epi64::<3>(behind);
            let mut strange = _mm512_max_epu8(before, tail);
            let (wholes, tails) = (lower(joined(before)), lower(joined(tail)));
            let many = _mm512_cmpgt_epu64_mask(behind, few) & lanes & usual;
            let mantissas = if !OFTEN && many == 0 {
                _mm512_madd52lo_epu64(tails, wholes, power_of_ten(places))
            } else {
                // Eight digits more before those.
                let back = _mm256_set1_epi32(FEW_PLACES as i32 + 8);
                let middle = digits(gather(text, _mm256_sub_epi32(ends, back), lanes));
                let middle = keep_top(middle, _mm512_sub_epi64(behind, near));
                strange = _mm512_max_epu8(strange, middle);
                let shift = _mm512_set1_epi64(10_i64.pow(FEW_PLACES as u32));
                // Fifteen digits fit the 52 bits that are multiplied.
                let tails = _mm512_madd52lo_epu64(tails, lower(joined(middle)), shift);
                _mm512_madd52lo_epu64(tails, wholes, power_of_ten(places))
            };
            Eight {
                mantissas,
                places,
                negative,
                stops,
                good: lanes & usual & !beyond_nine(strange),
            }
        }
    }

    /// Which of them end with this byte.
    #[inline(always)]
    pub(crate) fn ending_with(self, numbers: &Eight, byte: u8) -> u8 {
        // SAFETY: see above.
        unsafe { _mm512_cmpeq_epi64_mask(numbers.stops, _mm512_set1_epi64(i64::from(byte))) }
    }

    /// Which of them end with a blank, a tab or the end of a line.
    #[inline(always)]
    pub(crate) fn ending_blank(self, numbers: &Eight) -> u8 {
        const BLANKS: i64 = 1 << b' ' | 1 << b'\t' | 1 << b'\r' | 1 << b'\n';
        // SAFETY: see above.
        unsafe {
            let bits = _mm512_srlv_epi64(_mm512_set1_epi64(BLANKS), numbers.stops);
            _mm512_test_epi64_mask(bits, _mm512_set1_epi64(1))
        }
    }

    /// The numbers, rounded as [`Stored::from_small`](super::Stored::from_small) does, and which
    /// of them are good.
    #[inline(always)]
    pub(crate) fn narrow(self, numbers: &Eight) -> ([f32; 8], u8) {
        // SAFETY: see above.
        unsafe {
            let values = product(numbers.mantissas, numbers.places);
            let bits = _mm512_castpd_si512(values);
            let beyond_halfway = _mm512_and_si512(
                _mm512_sub_epi64(bits, _mm512_set1_epi64(0x1000_0000 - 4)),
                _mm512_set1_epi64(0x1FFF_FFFF),
            );
            let told = _mm512_cmpgt_epu64_mask(beyond_halfway, _mm512_set1_epi64(8));
            let mut found = [0.0; 8];
            _mm256_storeu_ps(
                found.as_mut_ptr(),
                _mm512_cvtpd_ps(with_signs(values, numbers.negative)),
            );
            (found, numbers.good & told)
        }
    }

    /// The numbers, correctly rounded, and which of them are good.
    #[inline(always)]
    pub(crate) fn full(self, numbers: &Eight) -> ([f64; 8], u8) {
        // SAFETY: see above.
        unsafe {
            let values = quotient(numbers.mantissas, numbers.places);
            let mut found = [0.0; 8];
            _mm512_storeu_pd(found.as_mut_ptr(), with_signs(values, numbers.negative));
            (found, numbers.good)
        }
    }
}

// SAFETY of the helpers: their callers'.

/// Eight bytes at each of these places, the first lowest; zeros for the other lanes.
#[inline(always)]
unsafe fn gather(text: &[u8], at: __m256i, lanes: u8) -> __m512i {
    // SAFETY: the lanes are inside the text.
    unsafe {
        let none = _mm512_setzero_si512();
        _mm512_mask_i32gather_epi64::<1>(none, lanes, at, text.as_ptr().cast())
    }
}

/// Eight times the number of bytes between two places.
#[inline(always)]
unsafe fn bits_between(starts: __m256i, ends: __m256i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_slli_epi64::<3>(_mm512_cvtepu32_epi64(_mm256_sub_epi32(ends, starts))) }
}

/// Characters of digits as numbers; all others become more than nine.
#[inline(always)]
unsafe fn digits(words: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_xor_si512(words, _mm512_set1_epi8(b'0' as i8)) }
}

/// The lowest bits of each word, moved to the top.
#[inline(always)]
unsafe fn to_top(words: __m512i, bits: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_sllv_epi64(words, _mm512_sub_epi64(_mm512_set1_epi64(64), bits)) }
}

/// The highest bits of each word, the others being zero.
#[inline(always)]
unsafe fn keep_top(words: __m512i, bits: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let others = _mm512_sub_epi64(_mm512_set1_epi64(64), bits);
        _mm512_sllv_epi64(_mm512_srlv_epi64(words, others), others)
    }
}

/// Which words have a byte beyond nine.
#[inline(always)]
pub(super) unsafe fn beyond_nine(words: __m512i) -> u8 {
    // SAFETY: the caller's.
    unsafe {
        let beyond = _mm512_subs_epu8(words, _mm512_set1_epi8(9));
        _mm512_test_epi64_mask(beyond, beyond)
    }
}

/// The number that the eight digits of each word form, in its lower half; the upper half is of
/// no use.
#[inline(always)]
pub(super) unsafe fn joined(words: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        // Ten times a digit and the next, a hundred times a pair and the next, ten thousand
        // times four and the next four.
        let pairs = _mm512_maddubs_epi16(words, _mm512_set1_epi16(0x01_0A));
        let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064));
        let both = _mm512_madd_epi16(fours, _mm512_set1_epi64(0x0000_0001_0000_2710));
        _mm512_add_epi64(both, _mm512_srli_epi64::<32>(both))
    }
}

/// The lower half of each word.
#[inline(always)]
pub(super) unsafe fn lower(words: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_and_si512(words, _mm512_set1_epi64(0xFFFF_FFFF)) }
}

/// m · 10⁻ᵏ, both factors rounded.
#[inline(always)]
pub(super) unsafe fn product(mantissas: __m512i, places: __m512i) -> __m512d {
    // SAFETY: the caller's.
    unsafe { _mm512_mul_pd(_mm512_cvtepi64_pd(mantissas), entries(&TENTHS, places)) }
}

/// m / 10ᵏ.
#[inline(always)]
pub(super) unsafe fn quotient(mantissas: __m512i, places: __m512i) -> __m512d {
    // SAFETY: the caller's.
    unsafe {
        _mm512_div_pd(
            _mm512_cvtepi64_pd(mantissas),
            entries(&FIRST_POWERS, places),
        )
    }
}

/// The entries of a table at these places, which are below 16.
#[inline(always)]
unsafe fn entries(table: &[f64; 16], places: __m512i) -> __m512d {
    // SAFETY: the two halves of the table are read.
    unsafe {
        let low = _mm512_loadu_pd(table.as_ptr());
        let high = _mm512_loadu_pd(table.as_ptr().add(8));
        _mm512_permutex2var_pd(low, places, high)
    }
}

/// The powers of ten to these numbers, which are below 16.
#[inline(always)]
unsafe fn power_of_ten(places: __m512i) -> __m512i {
    // SAFETY: the two halves of the table are read.
    unsafe {
        let low = _mm512_loadu_si512(POWERS.as_ptr().cast());
        let high = _mm512_loadu_si512(POWERS.as_ptr().add(8).cast());
        _mm512_permutex2var_epi64(low, places, high)
    }
}

#[inline(always)]
pub(super) unsafe fn with_signs(values: __m512d, negative: u8) -> __m512d {
    // SAFETY: the caller's.
    unsafe {
        let bits = _mm512_castpd_si512(values);
        let sign = _mm512_set1_epi64(i64::MIN);
        _mm512_castsi512_pd(_mm512_mask_xor_epi64(bits, negative, bits, sign))
    }
}
