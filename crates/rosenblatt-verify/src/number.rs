//! Numbers as they are written, without rounding.
//!
//! A decimal is mantissa · 10^exponent, a rational a quotient of integers. The limits below
//! keep a hostile file from asking for more work or memory than it paid for in bytes:
//! `1e999999999` is no number here.

use dashu_int::ops::{BitTest, Gcd};
use dashu_int::{IBig, UBig};

/// Digits of a decimal. A binary64 number written out in full has up to 1,074 decimals.
const MAX_DIGITS: usize = 1_100;
/// Digits that always fit 64 bits.
const MACHINE_DIGITS: usize = 18;
/// Magnitude of a power of ten.
const MAX_EXPONENT: i32 = 1_100;
/// Digits of an integer in a certificate.
const MAX_INTEGER_DIGITS: usize = 20_000;
/// Magnitude of a power of two in `a*2^b`.
const MAX_POWER_OF_TWO: i32 = 20_000;
/// Bits of the least common denominator of one vector.
const MAX_DENOMINATOR_BITS: usize = 100_000;

/// `mantissa · 10^exponent`, in machine integers when the digits fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decimal {
    Small { mantissa: i64, exponent: i32 },
    Big { mantissa: IBig, exponent: i32 },
}

/// Reads `[+-]? (digits [. [digits]] | . digits) ([eE] [+-]? digits)?`, nothing before or after.
pub(crate) fn decimal(text: &[u8]) -> Option<Decimal> {
    let (value, length) = leading_decimal(text)?;
    (length == text.len()).then_some(value)
}

/// The decimal at the start of `text`, as long as it goes, and its length.
pub(crate) fn leading_decimal(text: &[u8]) -> Option<(Decimal, usize)> {
    let (negative, unsigned) = split_sign(text);
    let (mut magnitude, whole) = leading_digits(unsigned, 0);
    let mut length = whole;
    let mut decimals = 0;
    if unsigned.get(whole) == Some(&b'.') {
        (magnitude, decimals) = leading_digits(&unsigned[whole + 1..], magnitude);
        length += 1 + decimals;
    }
    let digits = whole + decimals;
    if digits == 0 || digits > MAX_DIGITS {
        return None;
    }
    let mut exponent = -(decimals as i32);
    let mantissa_length = length;
    if let Some(b'e' | b'E') = unsigned.get(length) {
        let (written, places) = power(&unsigned[length + 1..], 4, MAX_EXPONENT)?;
        exponent += written;
        length += 1 + places;
    }
    length += text.len() - unsigned.len();
    if digits <= MACHINE_DIGITS {
        let mantissa = if negative { -magnitude } else { magnitude };
        return Some((Decimal::Small { mantissa, exponent }, length));
    }
    let mantissa = unsigned[..mantissa_length].iter().copied();
    let digits: Vec<u8> = mantissa.filter(|&byte| byte != b'.').collect();
    let mantissa = with_sign(negative, integer(&digits)?);
    let value = match i64::try_from(&mantissa) {
        Ok(mantissa) => Decimal::Small { mantissa, exponent },
        Err(_) => Decimal::Big { mantissa, exponent },
    };
    Some((value, length))
}

/// Appends the digits at the start of `text` to `value`, and counts them. The value means
/// something if there are at most `MACHINE_DIGITS` in all.
pub(crate) fn leading_digits(text: &[u8], mut value: i64) -> (i64, usize) {
    let mut count = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
        count += 1;
    }
    (value, count)
}

/// An exact quotient in lowest terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rational {
    pub(crate) numerator: IBig,
    pub(crate) denominator: UBig,
}

/// Reads a decimal, an integer, `a/b` or `a*2^b`.
pub(crate) fn rational(text: &str) -> Option<Rational> {
    let text = text.as_bytes();
    let (numerator, denominator) = match decimal(text) {
        Some(Decimal::Small { mantissa, exponent }) => shifted(mantissa.into(), 10, exponent),
        Some(Decimal::Big { mantissa, exponent }) => shifted(mantissa, 10, exponent),
        None => {
            let place = text.iter().position(|byte| matches!(byte, b'/' | b'*'));
            let (first, rest) = text.split_at(place.unwrap_or(text.len()));
            let (negative, digits) = split_sign(first);
            let numerator = with_sign(negative, integer(digits)?);
            match rest {
                [] => (numerator, UBig::ONE),
                [b'/', denominator @ ..] => (numerator, integer(denominator)?),
                [b'*', b'2', b'^', exponent @ ..] => {
                    let (power, length) = power(exponent, 5, MAX_POWER_OF_TWO)?;
                    if length < exponent.len() {
                        return None;
                    }
                    shifted(numerator, 2, power)
                }
                _ => return None,
            }
        }
    };
    if denominator.is_zero() {
        return None;
    }
    let common = (&numerator).gcd(&denominator);
    Some(Rational {
        numerator: numerator / &common,
        denominator: denominator / &common,
    })
}

/// The rationals times their least common denominator; none if that passes the limit.
pub(crate) fn over_common_denominator(values: &[Rational]) -> Option<Vec<IBig>> {
    let mut common = UBig::ONE;
    for value in values {
        if !value.denominator.is_one() {
            let shared = (&common).gcd(&value.denominator);
            common *= &value.denominator / shared;
            if common.bit_len() > MAX_DENOMINATOR_BITS {
                return None;
            }
        }
    }
    let integers = values
        .iter()
        .map(|value| &value.numerator * (&common / &value.denominator));
    Some(integers.collect())
}

/// 10^exponent.
pub(crate) fn power_of_ten(exponent: usize) -> IBig {
    IBig::from(10).pow(exponent)
}

/// Numerator and denominator of mantissa · base^exponent.
fn shifted(mantissa: IBig, base: u8, exponent: i32) -> (IBig, UBig) {
    let factor = UBig::from(base).pow(exponent.unsigned_abs() as usize);
    if exponent < 0 {
        (mantissa, factor)
    } else {
        (mantissa * factor, UBig::ONE)
    }
}

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    }
}

fn with_sign(negative: bool, magnitude: UBig) -> IBig {
    let value = IBig::from(magnitude);
    if negative { -value } else { value }
}

/// A run of digits, at least one and not too many.
fn integer(digits: &[u8]) -> Option<UBig> {
    let good = !digits.is_empty()
        && digits.len() <= MAX_INTEGER_DIGITS
        && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| good)?;
    UBig::from_str_radix(text, 10).ok()
}

/// The signed exponent at the start of `text` and its length, of at most `places` digits
/// and `limit` in magnitude.
fn power(text: &[u8], places: usize, limit: i32) -> Option<(i32, usize)> {
    let (negative, unsigned) = split_sign(text);
    let (magnitude, digits) = leading_digits(unsigned, 0);
    if digits == 0 || digits > places {
        return None;
    }
    let magnitude = i32::try_from(magnitude).ok().filter(|&m| m <= limit)?;
    let value = if negative { -magnitude } else { magnitude };
    Some((value, digits + text.len() - unsigned.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(text: &str) -> Option<(i64, u64)> {
        let value = rational(text)?;
        Some((
            i64::try_from(value.numerator).unwrap(),
            u64::try_from(value.denominator).unwrap(),
        ))
    }

    #[test]
    fn rationals_are_read_in_all_their_spellings() {
        let cases = [
            ("3", (3, 1)),
            ("+3", (3, 1)),
            ("-7/2", (-7, 2)),
            ("6/4", (3, 2)),
            ("0/5", (0, 1)),
            ("0.125", (1, 8)),
            ("-.5", (-1, 2)),
            ("1.", (1, 1)),
            ("1.50e2", (150, 1)),
            ("2E-1", (1, 5)),
            ("3*2^-2", (3, 4)),
            ("-5*2^+3", (-40, 1)),
        ];
        for (text, value) in cases {
            assert_eq!(ratio(text), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "",
            "+",
            "-",
            ".",
            "e5",
            "1e",
            "1e+",
            "1e99999",
            "1e1101",
            "--1",
            "1 ",
            " 1",
            "1_0",
            "0x1",
            "inf",
            "nan",
            "1/0",
            "1/-2",
            "1/",
            "/2",
            "1*2^",
            "1*3^2",
            "1*2^20001",
            "1.5/2",
            "1.2.3",
            "١",
        ] {
            assert_eq!(rational(text), None, "{text:?}");
        }
        let nines = |count| "9".repeat(count);
        assert!(decimal(nines(MAX_DIGITS).as_bytes()).is_some());
        assert!(decimal(nines(MAX_DIGITS + 1).as_bytes()).is_none());
        assert!(rational(&nines(MAX_INTEGER_DIGITS)).is_some());
        assert!(rational(&nines(MAX_INTEGER_DIGITS + 1)).is_none());
    }

    #[test]
    fn long_decimals_keep_every_digit() {
        let text = b"-0.12345678901234567890123456789";
        let Some(Decimal::Big { mantissa, exponent }) = decimal(text) else {
            panic!("a long decimal is big");
        };
        assert_eq!(mantissa.to_string(), "-12345678901234567890123456789");
        assert_eq!(exponent, -29);
        let small = |mantissa, exponent| Some(Decimal::Small { mantissa, exponent });
        assert_eq!(decimal(b"9223372036854775807"), small(i64::MAX, 0));
        assert!(matches!(
            decimal(b"9223372036854775808"),
            Some(Decimal::Big { .. })
        ));
        assert_eq!(decimal(b"-0.0000000000000000000012e3"), small(-12, -19));
        assert_eq!(
            leading_decimal(b"-1.50e2,7"),
            small(-150, 0).map(|v| (v, 7))
        );
    }

    #[test]
    fn a_common_denominator_scales_to_integers_within_its_limit() {
        let values: Vec<_> = ["1/2", "-1/3", "5"].map(|t| rational(t).unwrap()).into();
        let integers = over_common_denominator(&values).unwrap();
        assert_eq!(integers, [3, -2, 30].map(IBig::from));
        let tens = "0".repeat(19_990);
        let wide: Vec<_> = [1u32, 3, 7, 9, 21, 33]
            .map(|last| rational(&format!("1/1{tens}{last}")).unwrap())
            .into();
        assert!(over_common_denominator(&wide).is_none());
    }
}
