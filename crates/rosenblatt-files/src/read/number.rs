//! Decimals to binary, rounded once and correctly.
//!
//! Digits are taken eight at a time from a 64-bit word, without a branch for each. Nearly
//! every decimal in a data file has a mantissa below 2⁵³ and a power of ten up to 22; then
//! one multiplication or division of two exact `f64` numbers rounds correctly (Clinger,
//! 1990). That `f64` rounds on to the right `f32` unless it lies about halfway between two
//! of them, where the first rounding may have hidden on which side the decimal was. Whatever
//! is not covered goes to the standard library's parser.

mod digits;
mod stored;
mod ways;

pub(crate) use self::digits::{
    POWERS, WINDOW, digits_value, load, not_digits, to_top, two_values, up_to_seven_digits,
};
use self::digits::{some_digits, up_to_eight_to_top};
pub(crate) use self::stored::{INDEX_WIDTH, Stored, value_width};
pub use self::ways::number_by_each_way;
use rosenblatt_core::Error;
use rosenblatt_core::data::Precision;
use rosenblatt_core::internal::simd::{self, Level};

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

#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The longest finite number that starts at `start`.
#[inline(always)]
pub(crate) fn read<T: Stored>(bytes: &[u8], start: usize) -> Option<Number<T>> {
    if let Some(window) = bytes.get(start..).and_then(|rest| rest.first_chunk())
        && let Some(mut number) = read_within::<T>(simd::Base, window)
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
pub(crate) fn read_within<T: Stored>(
    level: impl Level,
    window: &[u8; WINDOW],
) -> Option<Number<T>> {
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
        let (before, mut behind) = two_values(
            level,
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

/// The same for a number of any length, with any exponent: what the fast way is tested against.
#[inline(never)]
pub(crate) fn read_any<T: Stored>(bytes: &[u8], start: usize) -> Option<Number<T>> {
    let text = decimal(bytes, start)?;
    let value = text.parse().unwrap_or(T::MISSING);
    let end = start + text.len();
    value.finite().then(|| Number {
        value,
        end,
        stop: byte(bytes, end),
    })
}

/// The number at `start` that is too large for its type, if that is the trouble with it.
#[cold]
pub(crate) fn too_large_at<T: Stored>(bytes: &[u8], start: usize) -> Option<Error> {
    let text = decimal(bytes, start)?;
    let value = text.parse().unwrap_or(T::MISSING);
    (!value.finite()).then(|| too_large::<T>(text))
}

/// The longest decimal that starts at `start`:
/// `[+-]? (digits [. digits?] | . digits) ([eE] [+-]? digits)?`.
fn decimal(bytes: &[u8], start: usize) -> Option<&str> {
    let digits_end = |mut at: usize| {
        while byte(bytes, at).is_ascii_digit() {
            at += 1;
        }
        at
    };
    let sign_end = |at: usize| at + usize::from(matches!(byte(bytes, at), b'+' | b'-'));
    let whole = sign_end(start);
    let mut end = digits_end(whole);
    let mut digits = end - whole;
    if byte(bytes, end) == b'.' {
        let fraction = end + 1;
        end = digits_end(fraction);
        digits += end - fraction;
    }
    if digits == 0 {
        return None;
    }
    // Without digits an `e` is not part of it.
    if byte(bytes, end) | 0x20 == b'e' {
        let exponent = sign_end(end + 1);
        let exponent_end = digits_end(exponent);
        if exponent_end > exponent {
            end = exponent_end;
        }
    }
    std::str::from_utf8(&bytes[start..end]).ok()
}

/// Whether the number that starts at `start` is a decimal that its `f64` does not tell: more than
/// 15 significant digits that are not those with which the `f64` prints, or outside 10⁻²⁹⁰..10²⁹⁰.
pub(crate) fn is_long(bytes: &[u8], start: usize) -> bool {
    let Some(text) = decimal(bytes, start) else {
        return false;
    };
    if text.len() <= 15 && !text.bytes().any(|b| b | 0x20 == b'e') {
        return false;
    }
    let Some((digits, magnitude)) = significant(text) else {
        return false; // zero
    };
    // 10²⁹⁰ itself counts as outside.
    if !(-289..=290).contains(&magnitude) {
        return true;
    }
    // Programs that write an `f64` in full write the shortest digits that give it back.
    digits.len() > 15 && !(digits.len() <= 17 && is_shortest(text, (digits, magnitude)))
}

fn is_shortest(text: &str, written: (Digits, i64)) -> bool {
    let Ok(x) = text.parse::<f64>() else {
        return false;
    };
    let mut buffer = zmij::Buffer::new();
    significant(buffer.format_finite(x)) == Some(written)
}

/// Significant digits, the first twenty of them.
#[derive(PartialEq)]
struct Digits {
    digits: [u8; 20],
    count: usize,
}

impl Digits {
    fn len(&self) -> usize {
        self.count
    }
}

/// The significant digits d₁d₂… of a decimal and its magnitude: 0.d₁d₂… · 10^magnitude; `None`
/// for zero.
fn significant(text: &str) -> Option<(Digits, i64)> {
    let (written, exponent) = match text.bytes().position(|b| b | 0x20 == b'e') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, "0"),
    };
    let (mut digits, mut count, mut zeros) = ([0; 20], 0usize, 0usize);
    let (mut before, mut leading, mut point) = (0i64, 0i64, false);
    for b in written.bytes() {
        match b {
            b'.' => point = true,
            b'0'..=b'9' => {
                before += i64::from(!point);
                match (b, count) {
                    (b'0', 0) => leading += 1,
                    (b'0', _) => zeros += 1,
                    _ => {
                        // Zeros count once a digit follows them.
                        count += zeros;
                        zeros = 0;
                        if let Some(place) = digits.get_mut(count) {
                            *place = b;
                        }
                        count += 1;
                    }
                }
            }
            _ => {} // a sign
        }
    }
    // One that no `i64` holds is outside on its side.
    let exponent: i64 = exponent.parse().unwrap_or(match exponent.starts_with('-') {
        true => i64::MIN / 2,
        false => i64::MAX / 2,
    });
    let magnitude = exponent.saturating_add(before - leading);
    (count > 0).then_some((Digits { digits, count }, magnitude))
}

/// The number that is all of `text`; infinite if too large.
pub(crate) fn whole<T: Stored>(text: &[u8]) -> Option<T> {
    let all = decimal(text, 0)?;
    (all.len() == text.len()).then(|| all.parse().unwrap_or(T::MISSING))
}

/// What to say of a number that is too large for its type.
pub(crate) fn too_large<T: Stored>(text: &str) -> Error {
    let short: String = text.chars().take(40).collect();
    let in_f64 = text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    match T::PRECISION {
        Precision::F32 if in_f64 => Error::data(format!("{short} is too large for f32"))
            .remedy("rescale the column, or train with ⟨precision f64⟩"),
        _ => Error::data(format!("{short} is too large for f64")).remedy("rescale the column"),
    }
}

#[cfg(test)]
mod tests;
