//! Digits in 64-bit words and in windows of text, many at a time.

use rosenblatt_core::internal::simd::Level;

pub(crate) static POWERS: [u64; 16] = {
    let mut powers = [1; 16];
    let mut k = 1;
    while k < 16 {
        powers[k] = 10 * powers[k - 1];
        k += 1;
    }
    powers
};

/// Eight bytes at `at`, the first one lowest; zeros past the end.
#[inline(always)]
pub(crate) fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => u64::from_le_bytes(*word),
        None => load_tail(bytes, at),
    }
}

#[cold]
fn load_tail(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    let tail = bytes.get(at..).unwrap_or_default();
    let n = tail.len().min(8);
    word[..n].copy_from_slice(&tail[..n]);
    u64::from_le_bytes(word)
}

/// The high bit of each byte of `word` that is no digit, right up to and including the first
/// of them; and the digits' values.
#[inline(always)]
fn not_digits_in(word: u64) -> (u64, u64) {
    let x = word ^ 0x3030_3030_3030_3030;
    // A carry can only reach bytes behind the first that is no digit.
    let other = (x.wrapping_add(0x7676_7676_7676_7676) | x) & 0x8080_8080_8080_8080;
    (other, x)
}

/// The value of the first `count` digits in `x`, written as characters or as values.
#[inline(always)]
pub(crate) fn digits_value(x: u64, count: u32) -> u64 {
    all_digits(up_to_eight_to_top(x, count as usize) & 0x0F0F_0F0F_0F0F_0F0F)
}

/// The first `count` bytes of `x`, none to 8 of them, moved to the top.
#[inline(always)]
pub(super) fn up_to_eight_to_top(x: u64, count: usize) -> u64 {
    // In two shifts, because one by 64 bits is none.
    let half = 32 - 4 * count as u32;
    x << half << half
}

/// The same for `count` from 1 to 8.
#[inline(always)]
pub(super) fn some_digits(x: u64, count: usize) -> u64 {
    all_digits(to_top(x, count) & 0x0F0F_0F0F_0F0F_0F0F)
}

/// The first `count` bytes of `x`, 1 to 8 of them, moved to the top.
#[inline(always)]
pub(crate) fn to_top(x: u64, count: usize) -> u64 {
    x << ((64 - 8 * count as u32) & 63)
}

/// The values of the digits at the top of two words; below them are zeros.
#[inline(always)]
#[allow(unsafe_code)] // measured: libsvm text is read a tenth slower without it
pub(crate) fn two_values(level: impl Level, a: u64, b: u64) -> (u64, u64) {
    #[cfg(target_arch = "x86_64")]
    if level.avx2().is_some() {
        use std::arch::x86_64::{
            _mm_and_si128, _mm_cvtsi128_si64, _mm_madd_epi16, _mm_maddubs_epi16, _mm_packus_epi32,
            _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32,
        };
        // SAFETY: these are SSE4.1 and below, which every processor with AVX2 has.
        let both = unsafe {
            let digits = _mm_and_si128(_mm_set_epi64x(b as i64, a as i64), _mm_set1_epi8(0x0F));
            // Neighbours are joined: ten times the first and the second, a hundred times the
            // first pair and the second, ten thousand times the first four and the second.
            let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x01_0A));
            let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
            let fours = _mm_packus_epi32(fours, fours);
            _mm_cvtsi128_si64(_mm_madd_epi16(fours, _mm_set1_epi32(0x0001_2710))) as u64
        };
        return (both & 0xFFFF_FFFF, both >> 32);
    }
    let digits = 0x0F0F_0F0F_0F0F_0F0F;
    (all_digits(a & digits), all_digits(b & digits))
}

/// The value of eight digits, those at the top behind those below, which may be leading zeros.
#[inline(always)]
fn all_digits(x: u64) -> u64 {
    let pairs = x.wrapping_mul(10).wrapping_add(x >> 8);
    let low = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// The value and the number of up to seven digits that `word` starts with; an eighth is not
/// looked at.
#[inline(always)]
pub(crate) fn up_to_seven_digits(word: u64) -> (u64, u32) {
    let (other, x) = not_digits_in(word);
    // The compiler sees that this is not zero and spares the test.
    let count = (other | 1 << 63).trailing_zeros() / 8;
    (digits_value(x, count), count)
}

/// Bytes that the fast way may look at, from the start of a cell or token.
pub(crate) const WINDOW: usize = 40;

/// A bit for each of the first 32 bytes that is no digit, the first lowest.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: libsvm text is read half as fast without it
pub(crate) fn not_digits(window: &[u8; WINDOW]) -> u32 {
    use std::arch::x86_64::{
        _mm_add_epi8, _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8,
    };
    let mut bits = 0;
    for (k, half) in window.as_chunks::<16>().0.iter().enumerate() {
        let both = u128::from_le_bytes(*half);
        let high = (both >> 64) as i64;
        // SAFETY: these are SSE2, which every x86-64 processor has.
        let other = unsafe {
            let bytes = _mm_set_epi64x(high, both as i64);
            // '0'..='9' become the ten smallest signed numbers.
            let shifted = _mm_add_epi8(bytes, _mm_set1_epi8(0x50));
            _mm_movemask_epi8(_mm_cmpgt_epi8(shifted, _mm_set1_epi8(-119)))
        };
        bits |= u32::from(other as u16) << (16 * k);
    }
    bits
}

/// A bit for each of the first 32 bytes that is no digit, the first lowest.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn not_digits(window: &[u8; WINDOW]) -> u32 {
    scalar_not_digits(window)
}

/// The same, byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) fn scalar_not_digits(window: &[u8; WINDOW]) -> u32 {
    window[..32]
        .iter()
        .rev()
        .fold(0, |bits, b| bits << 1 | u32::from(!b.is_ascii_digit()))
}
