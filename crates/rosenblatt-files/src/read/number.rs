//! Decimals to binary, rounded once and correctly.
//!
//! Digits are taken eight at a time from a 64-bit word, without a branch for each. Nearly
//! every decimal in a data file has a mantissa below 2⁵³ and a power of ten up to 22; then
//! one multiplication or division of two exact `f64` numbers rounds correctly (Clinger,
//! 1990). That `f64` rounds on to the right `f32` unless it lies exactly halfway between two
//! of them, where the first rounding may have hidden on which side the decimal was. Whatever
//! is not covered goes to the standard library's parser.

mod digits;
mod stored;

pub(crate) use self::digits::{
    POWERS, WINDOW, digits_value, load, not_digits, to_top, two_values, up_to_seven_digits,
};
use self::digits::{leading_digits, some_digits, up_to_eight_to_top};
pub(crate) use self::stored::Stored;
use rosenblatt_core::internal::simd;

/// The powers of ten that `f64` holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
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

#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
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
pub(crate) fn too_large_at<T: Stored>(
    bytes: &[u8],
    start: usize,
) -> Option<rosenblatt_core::Error> {
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

/// The number that is all of `text`; infinite if too large.
pub(crate) fn whole<T: Stored>(text: &[u8]) -> Option<T> {
    let decimal = scan(text, 0)?;
    (decimal.end == text.len()).then(|| T::from_decimal(&decimal, text))
}

/// What to say of a number that is too large for its type.
pub(crate) fn too_large<T: Stored>(text: &str) -> rosenblatt_core::Error {
    let short: String = text.chars().take(40).collect();
    let in_f64 = text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    match T::PRECISION {
        rosenblatt_core::data::Precision::F32 if in_f64 => {
            rosenblatt_core::Error::data(format!("{short} is too large for f32"))
                .remedy("rescale the column, or train with --precision f64")
        }
        _ => rosenblatt_core::Error::data(format!("{short} is too large for f64"))
            .remedy("rescale the column"),
    }
}

#[cfg(test)]
mod tests;
