//! Decimals to binary, rounded once and correctly.
//!
//! Digits are taken eight at a time from a 64-bit word, without a branch for each. Nearly
//! every decimal in a data file has a mantissa below 2⁵³ and a power of ten up to 22; then
//! one multiplication or division of two exact `f64` numbers rounds correctly (Clinger,
//! 1990). That `f64` rounds on to the right `f32` unless it lies exactly halfway between two
//! of them, where the first rounding may have hidden on which side the decimal was. Whatever
//! is not covered goes to the standard library's parser.

use super::libsvm::Pairs;
use crate::simd;

/// The powers of ten that `f64` holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The first sixteen of them, then the same with a minus: a sign costs nothing that way, and a
/// branch on it would go wrong half the time.
static SIGNED_POWERS: [f64; 32] = {
    let mut powers = [0.0; 32];
    let mut k = 0;
    while k < 16 {
        (powers[k], powers[k + 16]) = (EXACT_POWERS[k], -EXACT_POWERS[k]);
        k += 1;
    }
    powers
};

/// The negative powers of ten, rounded, and the same with a minus.
static SIGNED_TENTHS: [f64; 32] = {
    let tenths = [
        1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13,
        1e-14, 1e-15,
    ];
    let mut signed = [0.0; 32];
    let mut k = 0;
    while k < 16 {
        (signed[k], signed[k + 16]) = (tenths[k], -tenths[k]);
        k += 1;
    }
    signed
};

/// The place of a number of decimal places and a sign in either.
#[inline(always)]
fn signed_place(places: u32, negative: bool) -> usize {
    (places as usize & 15) | usize::from(negative) << 4
}

pub(crate) static POWERS: [u64; 16] = {
    let mut powers = [1; 16];
    let mut k = 1;
    while k < 16 {
        powers[k] = 10 * powers[k - 1];
        k += 1;
    }
    powers
};

/// Digits beyond which a 64-bit mantissa may have overflowed.
const DIGITS_HELD: u32 = 19;

/// A number found in text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number<T> {
    /// Correctly rounded.
    pub(crate) value: T,
    /// Where the text goes on behind it.
    pub(crate) end: usize,
    /// The byte there.
    pub(crate) stop: u8,
}

impl<T> Number<T> {
    /// Whether an exponent or more digits follow, which must be read the general way.
    #[inline(always)]
    pub(crate) fn may_go_on(&self) -> bool {
        (self.stop | 0x20 == b'e') | self.stop.is_ascii_digit()
    }
}

/// A decimal taken apart: `[+-]? (digits [. digits?] | . digits) ([eE] [+-]? digits)?`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    /// All digits as one number; the largest `u64` if they are too many.
    mantissa: u64,
    /// Power of ten of the mantissa.
    exponent: i32,
    negative: bool,
    /// Digits written, leading zeros included.
    digits: u32,
    start: usize,
    end: usize,
}

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
fn up_to_eight_to_top(x: u64, count: usize) -> u64 {
    // In two shifts, because one by 64 bits is none.
    let half = 32 - 4 * count as u32;
    x << half << half
}

/// The same for `count` from 1 to 8.
#[inline(always)]
fn some_digits(x: u64, count: usize) -> u64 {
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
pub(crate) fn two_values<const LEVEL: u8>(a: u64, b: u64) -> (u64, u64) {
    #[cfg(target_arch = "x86_64")]
    if LEVEL >= simd::AVX2 {
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

/// The digits that `word` starts with: their value and their number.
#[inline(always)]
fn leading_digits(word: u64) -> (u64, u32) {
    let (other, x) = not_digits_in(word);
    let count = other.trailing_zeros() / 8;
    (digits_value(x, count), count)
}

/// The same, but the eighth is not looked at.
#[inline(always)]
pub(crate) fn up_to_seven_digits(word: u64) -> (u64, u32) {
    let (other, x) = not_digits_in(word);
    // The compiler sees that this is not zero and spares the test.
    let count = (other | 1 << 63).trailing_zeros() / 8;
    (digits_value(x, count), count)
}

#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
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
    plain_not_digits(window)
}

/// The same, byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain_not_digits(window: &[u8; WINDOW]) -> u32 {
    window[..32]
        .iter()
        .rev()
        .fold(0, |bits, b| bits << 1 | u32::from(!b.is_ascii_digit()))
}

/// The longest finite number that starts at `start`.
#[inline(always)]
pub(crate) fn read<T: Stored>(bytes: &[u8], start: usize) -> Option<Number<T>> {
    if let Some(window) = bytes.get(start..).and_then(|rest| rest.first_chunk())
        && let Some(mut number) = read_within::<T, { simd::BASE }>(window)
        && !number.may_go_on()
    {
        number.end += start;
        return Some(number);
    }
    read_any(bytes, start)
}

/// 0 if they are the same, else 1.
#[inline(always)]
pub(crate) fn different(a: u8, b: u8) -> usize {
    usize::from((a ^ b).min(1))
}

/// The number at the start of `window`, if it is of the usual sort: up to seven digits, a point,
/// more digits, fifteen in all.
///
/// Where it ends is found from one comparison of all bytes, and nothing is branched on that
/// differs from number to number. Unless the byte behind it is one that the caller expects there,
/// the number [may go on](Number::may_go_on).
#[inline(always)]
pub(crate) fn read_within<T: Stored, const LEVEL: u8>(window: &[u8; WINDOW]) -> Option<Number<T>> {
    // Masks tell the compiler what the conditions imply: every load lies in the window.
    let byte = |from: usize| window[from & 31];
    let marks = not_digits(window);
    let sign = byte(0);
    let start = marks as usize & 1;
    // Every other number has a sign, so it is not branched on: a mark that is none makes the
    // number too long.
    let stray = start * different(sign, b'-') * different(sign, b'+') * WINDOW;
    let marks = marks & !1;
    let point = marks.trailing_zeros() as usize;
    let whole = point.wrapping_sub(start);
    if whole.wrapping_sub(1).wrapping_add(stray) >= 7 {
        return None;
    }
    let before = load(window, start);
    let (mut places, mut end) = (0, point);
    let mantissa = if byte(point) == b'.' {
        end = (marks & marks.wrapping_sub(1)).trailing_zeros() as usize;
        places = end - point - 1;
        if whole + places > 15 {
            return None;
        }
        let behind = load(window, (point + 1) & 31);
        let (before, mut behind) = two_values::<LEVEL>(
            to_top(before, whole),
            up_to_eight_to_top(behind, places.min(8)),
        );
        if places > 8 {
            let rest = load(window, (point + 9) & 31);
            behind = behind * POWERS[(places - 8) & 15] + digits_value(rest, places as u32 - 8);
        }
        before * POWERS[places & 15] + behind
    } else {
        some_digits(before, whole)
    };
    Some(Number {
        value: T::from_small(mantissa, places as u32, sign == b'-')?,
        end,
        stop: byte(end),
    })
}

/// The same for a number of any length, with any exponent.
#[inline(never)]
pub(crate) fn read_any<T: Stored>(bytes: &[u8], start: usize) -> Option<Number<T>> {
    let decimal = scan(bytes, start)?;
    let value = T::from_decimal(&decimal, bytes);
    value.finite().then(|| Number {
        value,
        end: decimal.end,
        stop: byte(bytes, decimal.end),
    })
}

/// The number at `start` that is too large for its type, if that is the trouble with it.
#[cold]
pub(crate) fn too_large_at<T: Stored>(bytes: &[u8], start: usize) -> Option<crate::Error> {
    let decimal = scan(bytes, start)?;
    let value = T::from_decimal(&decimal, bytes);
    (!value.finite()).then(|| too_large::<T>(decimal.text(bytes)))
}

/// The longest decimal that starts at `start`, taken apart.
fn scan(bytes: &[u8], start: usize) -> Option<Decimal> {
    let sign = byte(bytes, start);
    let negative = sign == b'-';
    let whole = start + usize::from(negative || sign == b'+');
    let (mantissa, digits) = more_digits(bytes, 0, 0, whole);
    let mut end = whole + digits as usize;
    let (mut mantissa, mut all, mut exponent) = (mantissa, digits, 0);
    if byte(bytes, end) == b'.' {
        (mantissa, all) = more_digits(bytes, mantissa, digits, end + 1);
        exponent = digits as i32 - all as i32;
        end += 1 + (all - digits) as usize;
    }
    if all == 0 {
        return None;
    }
    if byte(bytes, end) | 0x20 == b'e' {
        (exponent, end) = with_exponent(bytes, exponent, end);
    }
    Some(Decimal {
        mantissa: if all > DIGITS_HELD {
            u64::MAX
        } else {
            mantissa
        },
        exponent,
        negative,
        digits: all,
        start,
        end,
    })
}

/// Whether the number that starts at `start` is a decimal that `f64` arithmetic cannot stand
/// for: more than 15 significant digits, or outside 10⁻²⁹⁰..10²⁹⁰.
#[cold]
pub(crate) fn is_long(bytes: &[u8], start: usize) -> bool {
    scan(bytes, start).is_some_and(|decimal| decimal.is_long(bytes))
}

/// Appends the digits at `at` to a mantissa; gives it and the number of digits in all.
fn more_digits(bytes: &[u8], mut mantissa: u64, mut digits: u32, mut at: usize) -> (u64, u32) {
    loop {
        let (value, count) = leading_digits(load(bytes, at));
        mantissa = mantissa
            .wrapping_mul(POWERS[count as usize])
            .wrapping_add(value);
        digits = digits.saturating_add(count);
        at += count as usize;
        if count < 8 {
            return (mantissa, digits);
        }
    }
}

/// The exponent written at `at` (an `e`), added; without digits the `e` is not part of it.
fn with_exponent(bytes: &[u8], exponent: i32, at: usize) -> (i32, usize) {
    let sign = byte(bytes, at + 1);
    let mut end = at + 1 + usize::from(sign == b'-' || sign == b'+');
    let first = end;
    let mut written = 0i32;
    while byte(bytes, end).is_ascii_digit() {
        written = (written * 10 + i32::from(byte(bytes, end) - b'0')).min(100_000_000);
        end += 1;
    }
    if end == first {
        return (exponent, at);
    }
    let written = if sign == b'-' { -written } else { written };
    (exponent.saturating_add(written), end)
}

impl Decimal {
    /// The bytes it was read from, out of the same text.
    fn text<'a>(&self, bytes: &'a [u8]) -> &'a str {
        std::str::from_utf8(&bytes[self.start..self.end]).unwrap_or_default()
    }

    /// The correctly rounded `f64`, if the fast way gives it.
    fn fast(&self) -> Option<f64> {
        if self.mantissa > 1 << 53 {
            return None;
        }
        // Through i64, which the processor converts in one step.
        let m = self.mantissa as i64 as f64;
        let power = *EXACT_POWERS.get(self.exponent.unsigned_abs() as usize)?;
        let value = if self.exponent <= 0 {
            m / power
        } else {
            m * power
        };
        // The sign is put in as a bit: a branch on it would be mispredicted half the time.
        Some(f64::from_bits(
            value.to_bits() | u64::from(self.negative) << 63,
        ))
    }

    /// Whether it is [`is_long`].
    fn is_long(&self, bytes: &[u8]) -> bool {
        if self.digits <= 15 && self.exponent.unsigned_abs() <= 250 {
            return false;
        }
        let text = self.text(bytes);
        let written = text.split(['e', 'E']).next().unwrap_or(text);
        let digits: Vec<u8> = written.bytes().filter(u8::is_ascii_digit).collect();
        let Some(first) = digits.iter().position(|&d| d != b'0') else {
            return false; // zero
        };
        let last = digits.iter().rposition(|&d| d != b'0').unwrap_or(first);
        // The value is 0.d₁d₂… · 10^magnitude; 10²⁹⁰ itself counts as outside.
        let magnitude = i64::from(self.exponent) + (digits.len() - first) as i64;
        last - first + 1 > 15 || !(-289..=290).contains(&magnitude)
    }
}

/// A number type that features are stored in.
pub(crate) trait Stored: Copy + Default + PartialEq + Send + Sync + 'static {
    const ZERO: Self;
    const MISSING: Self;
    const PRECISION: crate::data::Precision;

    /// `mantissa` (below 10¹⁵) divided by 10^`places` (up to 15), if that is soon told.
    fn from_small(mantissa: u64, places: u32, negative: bool) -> Option<Self>;
    /// The correctly rounded value; infinite if too large.
    fn from_decimal(decimal: &Decimal, bytes: &[u8]) -> Self;
    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
    fn finite(self) -> bool;
    fn wrap(values: Vec<Self>) -> crate::data::Values;
    fn wrap_pairs(pairs: Vec<(u32, Self)>) -> Pairs;
    /// Some of a list that is known to be of this type.
    fn slice(values: &crate::data::Values, range: std::ops::Range<usize>) -> &[Self];
    /// The pairs of a list that is known to be of this type.
    fn pairs(pairs: &Pairs) -> &[(u32, Self)];
}

impl Stored for f64 {
    const ZERO: f64 = 0.0;
    const MISSING: f64 = f64::NAN;
    const PRECISION: crate::data::Precision = crate::data::Precision::F64;

    #[inline(always)]
    fn from_small(mantissa: u64, places: u32, negative: bool) -> Option<f64> {
        Some(mantissa as i64 as f64 / SIGNED_POWERS[signed_place(places, negative)])
    }

    fn from_decimal(decimal: &Decimal, bytes: &[u8]) -> f64 {
        match decimal.fast() {
            Some(value) => value,
            None => slow(decimal, bytes, f64::NAN),
        }
    }

    #[inline(always)]
    fn from_f64(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }

    fn wrap(values: Vec<f64>) -> crate::data::Values {
        crate::data::Values::F64(values.into())
    }

    fn wrap_pairs(pairs: Vec<(u32, f64)>) -> Pairs {
        Pairs::F64(pairs)
    }

    #[inline(always)]
    fn slice(values: &crate::data::Values, range: std::ops::Range<usize>) -> &[f64] {
        match values {
            crate::data::Values::F64(values) => &values[range],
            _ => &[],
        }
    }

    fn pairs(pairs: &Pairs) -> &[(u32, f64)] {
        match pairs {
            Pairs::F64(pairs) => pairs,
            _ => &[],
        }
    }
}

impl Stored for f32 {
    const ZERO: f32 = 0.0;
    const MISSING: f32 = f32::NAN;
    const PRECISION: crate::data::Precision = crate::data::Precision::F32;

    #[inline(always)]
    fn from_small(mantissa: u64, places: u32, negative: bool) -> Option<f32> {
        // A product is found much sooner than a quotient. Both its factor and it are rounded, so
        // it may be two units of f64 off: it rounds on to the right f32 unless it lies about
        // halfway between two of them.
        let value = mantissa as i64 as f64 * SIGNED_TENTHS[signed_place(places, negative)];
        let beyond_halfway = (value.to_bits() as u32).wrapping_sub(0x1000_0000 - 4) & 0x1FFF_FFFF;
        (beyond_halfway > 8).then_some(value as f32)
    }

    fn from_decimal(decimal: &Decimal, bytes: &[u8]) -> f32 {
        if let Some(value) = decimal.fast() {
            let halfway = value.to_bits() & 0x1FFF_FFFF == 0x1000_0000;
            // Whole numbers up to 2⁵³ were not rounded yet.
            let safe = (value.abs() >= f64::from(f32::MIN_POSITIVE)) & !halfway;
            if safe | (decimal.exponent == 0) | (decimal.mantissa == 0) {
                return value as f32;
            }
        }
        slow(decimal, bytes, f32::NAN)
    }

    #[inline(always)]
    fn from_f64(x: f64) -> f32 {
        x as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }

    fn wrap(values: Vec<f32>) -> crate::data::Values {
        crate::data::Values::F32(values.into())
    }

    fn wrap_pairs(pairs: Vec<(u32, f32)>) -> Pairs {
        Pairs::F32(pairs)
    }

    #[inline(always)]
    fn slice(values: &crate::data::Values, range: std::ops::Range<usize>) -> &[f32] {
        match values {
            crate::data::Values::F32(values) => &values[range],
            _ => &[],
        }
    }

    fn pairs(pairs: &Pairs) -> &[(u32, f32)] {
        match pairs {
            Pairs::F32(pairs) => pairs,
            _ => &[],
        }
    }
}

#[cold]
#[inline(never)]
fn slow<T: std::str::FromStr>(decimal: &Decimal, bytes: &[u8], never: T) -> T {
    decimal.text(bytes).parse().unwrap_or(never)
}

/// The number that is all of `text`; infinite if too large.
pub(crate) fn whole<T: Stored>(text: &[u8]) -> Option<T> {
    let decimal = scan(text, 0)?;
    (decimal.end == text.len()).then(|| T::from_decimal(&decimal, text))
}

/// What to say of a number that is too large for its type.
pub(crate) fn too_large<T: Stored>(text: &str) -> crate::Error {
    let short: String = text.chars().take(40).collect();
    match T::PRECISION {
        crate::data::Precision::F32 => crate::Error::data(format!("{short} is too large for f32"))
            .remedy("pass --precision f64"),
        crate::data::Precision::F64 => {
            crate::Error::data(format!("{short} is too large for f64")).remedy("rescale the column")
        }
    }
}

#[cfg(test)]
mod tests;
