//! What is done to many bytes or digits at once.

use super::WINDOW;
use rosenblatt_core::internal::simd::Avx2;

/// One more than the most characters of a value without its sign.
pub(super) const LENGTHS: usize = 16;

/// A table that starts with a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

/// Which character of a value goes where, and how many decimal places it has, at
/// `len << 4 | point`: for values of `len` characters with a point at `point`, or with none if that
/// is `len`. The highest bit stands for a zero. Values that are not common, because they have no
/// digit before the point or more than eight, get a character that is no digit.
static LAYOUTS: (Aligned<[[u8; 16]; LENGTHS * 16]>, [u8; LENGTHS * 16]) = {
    const ZERO: u8 = 0x80;
    let mut layouts = [[ZERO; 16]; LENGTHS * 16];
    let mut places = [0; LENGTHS * 16];
    let mut k = 0;
    while k < LENGTHS * 16 {
        let (len, point) = (k >> 4, k & 15);
        let digits = if point < len { len - 1 } else { len };
        if point == 0 || point > len || digits > 8 {
            layouts[k][15] = if point < len { point } else { len } as u8;
        } else {
            places[k] = (digits - point) as u8;
            let (mut to, mut character) = (16, len);
            while character > 0 {
                character -= 1;
                if character != point {
                    to -= 1;
                    layouts[k][to] = character as u8;
                }
            }
        }
        k += 1;
    }
    (Aligned(layouts), places)
};

/// The digits of a token, eight of its index and then eight of its value, and the value's decimal
/// places. The index ends at `colon`; the value has `len` characters from `value` on.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: libsvm text is read a third slower without it
pub(super) fn in_order(
    _: Avx2,
    window: &[u8; WINDOW],
    colon: usize,
    value: usize,
    len: usize,
) -> ([u8; 16], u8) {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_cvtsi64_si128, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8, _mm_shuffle_epi8, _mm_storeu_si128, _mm_xor_si128,
    };
    let mut digits = [0; 16];
    let (Some(index), Some(characters)) = (
        window.first_chunk::<8>(),
        window[value & 15..].first_chunk::<16>(),
    ) else {
        return (digits, 0);
    };
    let index = u64::from_le_bytes(*index) ^ u64::from_le_bytes([b'0'; 8]);
    let index = index << ((64 - 8 * colon as u32) & 63);
    // SAFETY: these are SSSE3 and below, which a processor with AVX2 has; they read and write
    // arrays of 16 bytes.
    unsafe {
        let characters = _mm_loadu_si128(characters.as_ptr().cast());
        let points = _mm_cmpeq_epi8(characters, _mm_set1_epi8(b'.' as i8));
        let point = (_mm_movemask_epi8(points) as u32 | 1 << len).trailing_zeros() as usize;
        let layout = (len << 4 | point) & 255;
        let from = _mm_loadu_si128(LAYOUTS.0.0[layout].as_ptr().cast());
        let value = _mm_xor_si128(characters, _mm_set1_epi8(b'0' as i8));
        let both = _mm_or_si128(
            _mm_shuffle_epi8(value, from),
            _mm_cvtsi64_si128(index as i64),
        );
        _mm_storeu_si128(digits.as_mut_ptr().cast(), both);
        (digits, LAYOUTS.1[layout])
    }
}

/// The indices and mantissas of four tokens, and whether all their digits are such.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: libsvm text is read a third slower without it
pub(super) fn join(_: Avx2, digits: &[[u8; 16]; 4]) -> ([u32; 4], [u32; 4], bool) {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm_storeu_si128, _mm256_castsi256_si128, _mm256_extracti128_si256,
        _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_or_si256, _mm256_packus_epi32,
        _mm256_permutevar8x32_epi32, _mm256_set_m128i, _mm256_set1_epi8, _mm256_set1_epi16,
        _mm256_set1_epi32, _mm256_setr_epi32, _mm256_subs_epu8, _mm256_testz_si256,
    };
    let (mut indices, mut mantissas) = ([0; 4], [0; 4]);
    // SAFETY: these are AVX2 and below; they read and write arrays of 16 bytes.
    unsafe {
        let load = |k: usize| _mm_loadu_si128(digits[k].as_ptr().cast());
        let (a, b) = (
            _mm256_set_m128i(load(1), load(0)),
            _mm256_set_m128i(load(3), load(2)),
        );
        let nine = _mm256_set1_epi8(9);
        let others = _mm256_or_si256(_mm256_subs_epu8(a, nine), _mm256_subs_epu8(b, nine));
        // Neighbours are joined: ten times the first and the second, a hundred times the first
        // pair and the second, ten thousand times the first four and the second.
        let fours = |digits| {
            let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x01_0A));
            _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064))
        };
        let fours = _mm256_packus_epi32(fours(a), fours(b));
        let all = _mm256_madd_epi16(fours, _mm256_set1_epi32(0x0001_2710));
        // Indices and mantissas of tokens 0 and 2, then of 1 and 3.
        let all = _mm256_permutevar8x32_epi32(all, _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7));
        _mm_storeu_si128(indices.as_mut_ptr().cast(), _mm256_castsi256_si128(all));
        _mm_storeu_si128(
            mantissas.as_mut_ptr().cast(),
            _mm256_extracti128_si256::<1>(all),
        );
        (indices, mantissas, _mm256_testz_si256(others, others) != 0)
    }
}

/// A bit for each byte, the first lowest: whether it is a colon, or a blank or below.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: libsvm text is read a third slower without it
pub(super) fn mark(_: Avx2, block: &[u8; 64]) -> u64 {
    use std::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8,
    };
    let mut bits = 0;
    for (k, half) in block.as_chunks::<32>().0.iter().enumerate() {
        // SAFETY: these are AVX2; they read an array of 32 bytes.
        let found = unsafe {
            let bytes = _mm256_loadu_si256(half.as_ptr().cast());
            let colons = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b':' as i8));
            let low = _mm256_min_epu8(bytes, _mm256_set1_epi8(b' ' as i8));
            let blanks = _mm256_cmpeq_epi8(low, bytes);
            _mm256_movemask_epi8(_mm256_or_si256(colons, blanks))
        };
        bits |= u64::from(found as u32) << (32 * k);
    }
    bits
}

/// The same byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod scalar {
    use super::{Avx2, LAYOUTS, WINDOW};

    pub(in super::super) fn in_order(
        _: Avx2,
        window: &[u8; WINDOW],
        colon: usize,
        value: usize,
        len: usize,
    ) -> ([u8; 16], u8) {
        let characters = &window[value..value + 16];
        let is_point = |k: &usize| characters[*k] == b'.';
        let point = (0..len).find(is_point).unwrap_or(len);
        let mut digits = [0; 16];
        for k in 0..colon {
            digits[8 - colon + k] = window[k] ^ b'0';
        }
        for (digit, from) in digits.iter_mut().zip(LAYOUTS.0.0[len << 4 | point]) {
            if from < 16 {
                *digit = characters[usize::from(from)] ^ b'0';
            }
        }
        (digits, LAYOUTS.1[len << 4 | point])
    }

    pub(in super::super) fn join(_: Avx2, digits: &[[u8; 16]; 4]) -> ([u32; 4], [u32; 4], bool) {
        let number = |digits: &[u8]| digits.iter().fold(0, |n, &d| 10 * n + u32::from(d));
        (
            digits.map(|token| number(&token[..8])),
            digits.map(|token| number(&token[8..])),
            digits.as_flattened().iter().all(|&d| d <= 9),
        )
    }

    pub(in super::super) fn mark(_: Avx2, block: &[u8; 64]) -> u64 {
        let bytes = block.iter().rev();
        bytes.fold(0, |bits, &b| bits << 1 | u64::from(b == b':' || b <= b' '))
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) use scalar::{in_order, join, mark};

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::internal::random::{Random, Stream};
    use rosenblatt_core::internal::simd::{self, Level, Work};

    /// Compares all three with their scalar twins, where there is AVX2.
    struct Compare;

    impl Work for Compare {
        type Output = ();

        fn run<L: Level>(self, level: L) {
            let Some(level) = level.avx2() else { return };
            let mut random = Random::new(5, Stream::Start, 0);
            for _ in 0..3000 {
                let text = std::array::from_fn(|_| match random.below(3) {
                    0 => random.below(256) as u8,
                    1 => b'0' + random.below(10) as u8,
                    _ => b".-: \n/"[random.below(6) as usize],
                });
                assert_eq!(mark(level, &text), scalar::mark(level, &text));
                let window = text.first_chunk().unwrap();
                let (colon, sign) = (1 + random.below(8) as usize, random.below(2) as usize);
                let (value, len) = (colon + 1 + sign, random.below(16) as usize);
                assert_eq!(
                    in_order(level, window, colon, value, len),
                    scalar::in_order(level, window, colon, value, len)
                );
                let most = if random.below(2) == 0 { 10 } else { 12 };
                let digits = [(); 4].map(|()| [(); 16].map(|()| random.below(most) as u8));
                let (found, expected) = (join(level, &digits), scalar::join(level, &digits));
                assert_eq!(found.2, expected.2);
                if found.2 {
                    assert_eq!((found.0, found.1), (expected.0, expected.1));
                }
            }
        }
    }

    #[test]
    fn avx2_finds_what_plain_code_finds() {
        simd::dispatch_avx2(Compare);
    }
}
