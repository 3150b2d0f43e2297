//! Decimals to binary, rounded once and correctly.
//!
//! Digits are taken eight at a time from a 64-bit word, without a branch for each. Nearly
//! every decimal in a data file has a mantissa below 2⁵³ and a power of ten up to 22; then
//! one multiplication or division of two exact `f64` numbers rounds correctly (Clinger,
//! 1990). That `f64` rounds on to the right `f32` unless it lies exactly halfway between two
//! of them, where the first rounding may have hidden on which side the decimal was. Whatever
//! is not covered goes to the standard library's parser.

/// The powers of ten that `f64` holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

const POWERS: [u64; 9] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// Digits beyond which a 64-bit mantissa may have overflowed.
const DIGITS_HELD: u32 = 19;

/// A decimal found in text: `[+-]? (digits [. digits?] | . digits) ([eE] [+-]? digits)?`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    mantissa: u64,
    /// Power of ten of the mantissa.
    exponent: i32,
    negative: bool,
    /// Digits written, leading zeros included.
    digits: u32,
    start: usize,
    /// Where the text goes on behind the number.
    pub(crate) end: usize,
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

/// The digits that `word` starts with: their value and their number.
#[inline(always)]
pub(crate) fn leading_digits(word: u64) -> (u64, u32) {
    let x = word ^ 0x3030_3030_3030_3030;
    // The high bit of each byte that is no digit. A carry can only reach later bytes.
    let other = (x.wrapping_add(0x7676_7676_7676_7676) | x) & 0x8080_8080_8080_8080;
    let count = other.trailing_zeros() / 8;
    // Digits to the top, zeros (which are leading zeros) below.
    let x = if count == 0 { 0 } else { x << (64 - 8 * count) };
    let pairs = x.wrapping_mul(10).wrapping_add(x >> 8);
    let low = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(0x0000_2710_0000_0001);
    (low.wrapping_add(high) >> 32, count)
}

#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The longest decimal that starts at `at`.
#[inline(always)]
pub(crate) fn scan(bytes: &[u8], at: usize) -> Option<Decimal> {
    let start = at;
    let sign = byte(bytes, at);
    let negative = sign == b'-';
    let mut at = at + usize::from(negative | (sign == b'+'));
    let (mut mantissa, mut digits) = leading_digits(load(bytes, at));
    at += digits as usize;
    if digits == 8 {
        (mantissa, digits, at) = more_digits(bytes, mantissa, digits, at);
    }
    let mut exponent = 0;
    if byte(bytes, at) == b'.' {
        let (fraction, count) = leading_digits(load(bytes, at + 1));
        mantissa = mantissa
            .wrapping_mul(POWERS[count as usize])
            .wrapping_add(fraction);
        at += 1 + count as usize;
        let whole = digits;
        digits += count;
        if count == 8 {
            (mantissa, digits, at) = more_digits(bytes, mantissa, digits, at);
        }
        exponent = whole as i32 - digits as i32;
    }
    if digits == 0 {
        return None;
    }
    if byte(bytes, at) | 0x20 == b'e' {
        (exponent, at) = with_exponent(bytes, exponent, at);
    }
    Some(Decimal {
        mantissa,
        exponent,
        negative,
        digits,
        start,
        end: at,
    })
}

fn more_digits(
    bytes: &[u8],
    mut mantissa: u64,
    mut digits: u32,
    mut at: usize,
) -> (u64, u32, usize) {
    loop {
        let (value, count) = leading_digits(load(bytes, at));
        mantissa = mantissa
            .wrapping_mul(POWERS[count as usize])
            .wrapping_add(value);
        digits = digits.saturating_add(count);
        at += count as usize;
        if count < 8 {
            return (mantissa, digits, at);
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
    pub(crate) fn text<'a>(&self, bytes: &'a [u8]) -> &'a str {
        std::str::from_utf8(&bytes[self.start..self.end]).unwrap_or_default()
    }

    /// The correctly rounded `f64`, if the fast way gives it.
    #[inline(always)]
    fn fast(&self) -> Option<f64> {
        if self.digits > DIGITS_HELD || self.mantissa > 1 << 53 {
            return None;
        }
        let m = self.mantissa as f64;
        let value = if self.exponent <= 0 {
            m / *EXACT_POWERS.get(self.exponent.unsigned_abs() as usize)?
        } else {
            m * *EXACT_POWERS.get(self.exponent as usize)?
        };
        Some(if self.negative { -value } else { value })
    }

    /// Whether `f64` arithmetic on the shortest form cannot stand for this decimal: more
    /// than 15 significant digits, or outside 10⁻²⁹⁰..10²⁹⁰.
    pub(crate) fn is_long(&self, bytes: &[u8]) -> bool {
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
pub(crate) trait Stored: Copy + PartialEq + Send + 'static {
    const ZERO: Self;
    const MISSING: Self;
    const PRECISION: crate::data::Precision;

    /// The correctly rounded value; infinite if too large.
    fn from_decimal(decimal: &Decimal, bytes: &[u8]) -> Self;
    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
    fn finite(self) -> bool;
    fn wrap(values: Vec<Self>) -> crate::data::Values;
}

impl Stored for f64 {
    const ZERO: f64 = 0.0;
    const MISSING: f64 = f64::NAN;
    const PRECISION: crate::data::Precision = crate::data::Precision::F64;

    #[inline(always)]
    fn from_decimal(decimal: &Decimal, bytes: &[u8]) -> f64 {
        match decimal.fast() {
            Some(value) => value,
            None => slow(decimal, bytes, f64::NAN),
        }
    }

    fn from_f64(x: f64) -> f64 {
        x
    }

    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }

    fn wrap(values: Vec<f64>) -> crate::data::Values {
        crate::data::Values::F64(values)
    }
}

impl Stored for f32 {
    const ZERO: f32 = 0.0;
    const MISSING: f32 = f32::NAN;
    const PRECISION: crate::data::Precision = crate::data::Precision::F32;

    #[inline(always)]
    fn from_decimal(decimal: &Decimal, bytes: &[u8]) -> f32 {
        if let Some(value) = decimal.fast() {
            let halfway = value.to_bits() & 0x1FFF_FFFF == 0x1000_0000;
            // Whole numbers up to 2⁵³ were not rounded yet.
            let safe = value.abs() >= f64::from(f32::MIN_POSITIVE) && !halfway;
            if safe | (decimal.exponent == 0) | (decimal.mantissa == 0) {
                return value as f32;
            }
        }
        slow(decimal, bytes, f32::NAN)
    }

    fn from_f64(x: f64) -> f32 {
        x as f32
    }

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn finite(self) -> bool {
        self.is_finite()
    }

    fn wrap(values: Vec<f32>) -> crate::data::Values {
        crate::data::Values::F32(values)
    }
}

#[cold]
#[inline(never)]
fn slow<T: std::str::FromStr>(decimal: &Decimal, bytes: &[u8], never: T) -> T {
    decimal.text(bytes).parse().unwrap_or(never)
}

/// The number that is all of `text`.
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
mod tests {
    use super::*;
    use crate::random::{Random, Stream};
    use std::fmt::Write;

    fn agree(text: &str) {
        let d = scan(text.as_bytes(), 0).unwrap_or_else(|| panic!("{text} is a number"));
        assert_eq!(d.end, text.len(), "{text}");
        let f64_value = f64::from_decimal(&d, text.as_bytes());
        let f32_value = f32::from_decimal(&d, text.as_bytes());
        assert_eq!(
            f64_value.to_bits(),
            text.parse::<f64>().unwrap().to_bits(),
            "{text}"
        );
        assert_eq!(
            f32_value.to_bits(),
            text.parse::<f32>().unwrap().to_bits(),
            "{text}"
        );
    }

    #[test]
    fn the_grammar() {
        for good in [
            "0",
            "-0",
            "+1",
            "1.5",
            ".5",
            "-.5",
            "5.",
            "1e5",
            "1E-5",
            "1.e+3",
            "00012",
            "123456789",
            "12345678.12345678",
            "1e400",
            "1e-400",
            "0.000000000000000000000000000001",
        ] {
            agree(good);
        }
        for bad in [
            "", "-", ".", "e5", "+.", "inf", "nan", "NaN", "-inf", "x", " 1",
        ] {
            assert!(scan(bad.as_bytes(), 0).is_none(), "{bad}");
        }
        for (text, end) in [
            ("1e", 1),
            ("1e+", 1),
            ("1.2.3", 3),
            ("12x", 2),
            ("1_000", 1),
            ("1,5", 1),
        ] {
            assert_eq!(scan(text.as_bytes(), 0).map(|d| d.end), Some(end), "{text}");
        }
        assert!(whole::<f32>(b"1e39").is_some_and(f32::is_infinite));
    }

    /// The exact decimal expansion of m·2^e.
    fn expansion(mantissa: u64, exponent: i32) -> String {
        let mut digits = vec![0u8];
        let multiply = |digits: &mut Vec<u8>, by: u64, plus: u64| {
            let mut carry = plus;
            for d in digits.iter_mut() {
                carry += u64::from(*d) * by;
                *d = (carry % 10) as u8;
                carry /= 10;
            }
            while carry > 0 {
                digits.push((carry % 10) as u8);
                carry /= 10;
            }
        };
        for bit in (0..64).rev() {
            multiply(&mut digits, 2, mantissa >> bit & 1);
        }
        // 2^-k = 5^k / 10^k
        for _ in 0..exponent.unsigned_abs() {
            multiply(&mut digits, if exponent < 0 { 5 } else { 2 }, 0);
        }
        let mut text: String = digits.iter().rev().map(|d| char::from(b'0' + d)).collect();
        if exponent < 0 {
            write!(text, "e{exponent}").unwrap();
        }
        text
    }

    #[test]
    fn halfway_cases_and_their_neighbours() {
        let mut random = Random::new(3, Stream::Sample, 0);
        let bump = |text: &str, by: i8| {
            let cut = text.find('e').unwrap_or(text.len());
            let exponent: i32 = text[cut..].trim_start_matches('e').parse().unwrap_or(0);
            let last = if by > 0 { "1" } else { "9" };
            if by > 0 {
                format!("{}{last}e{}", &text[..cut], exponent - 1)
            } else {
                // One less in the last place, then a nine.
                let mut digits: Vec<u8> = text[..cut].bytes().collect();
                for d in digits.iter_mut().rev() {
                    if *d > b'0' {
                        *d -= 1;
                        break;
                    }
                    *d = b'9';
                }
                format!(
                    "{}{last}e{}",
                    String::from_utf8(digits).unwrap(),
                    exponent - 1
                )
            }
        };
        for _ in 0..3_000 {
            // Halfway between two f32: 25 bits, the last one set; f64: 54 bits.
            let m32 = (random.bits() >> 40) << 1 | 1;
            let m64 = (random.bits() >> 11) << 1 | 1;
            for (m, e) in [
                (m32, random.below(60) as i32 - 40),
                (m64, random.below(40) as i32 - 60),
                (random.below(1 << 20) << 1 | 1, -150), // f32 subnormals
            ] {
                let text = expansion(m, e);
                agree(&text);
                agree(&bump(&text, 1));
                agree(&bump(&text, -1));
            }
        }
    }

    #[test]
    fn a_million_random_decimals() {
        let mut random = Random::new(4, Stream::Sample, 0);
        let mut text = String::new();
        for i in 0..1_000_000u32 {
            text.clear();
            if i % 3 == 0 {
                text.push('-');
            }
            match i % 8 {
                0 => write!(text, "{}", f32::from_bits(random.below(0x7F80_0000) as u32)),
                1 => write!(text, "{:e}", f64::from_bits(random.below(0x7FF << 52))),
                2 => write!(text, "0.{:06}", random.below(1_000_000)),
                3 => write!(text, "{}.{}", random.below(1 << 30), random.below(1 << 30)),
                4 => write!(text, "{}e{}", random.bits(), random.below(80) as i32 - 60),
                5 => write!(
                    text,
                    "{}{}{}",
                    random.bits(),
                    random.bits(),
                    random.below(99)
                ),
                // f32 values written with one digit more or less than needed.
                6 => write!(
                    text,
                    "{:.7e}",
                    f32::from_bits(random.below(0x7F80_0000) as u32)
                ),
                _ => write!(text, "{:.1$}", random.unit(), random.below(20) as usize),
            }
            .unwrap();
            agree(&text);
        }
    }

    #[test]
    fn long_decimals_are_known() {
        let long = |t: &str| scan(t.as_bytes(), 0).unwrap().is_long(t.as_bytes());
        for t in [
            "1",
            "0.1",
            "123456789012345",
            "0.000000000000000000001",
            "1.50000000000000000000",
            "1e289",
            "1e-290",
            "0e999",
            "100000000000000000000000",
        ] {
            assert!(!long(t), "{t}");
        }
        for t in [
            "1234567890123456",
            "0.1234567890123456",
            "1e291",
            "1e-291",
            "1e400",
        ] {
            assert!(long(t), "{t}");
        }
    }
}
