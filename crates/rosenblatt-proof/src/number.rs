//! Numbers as written: exact values m·rᵉ with a radix r of ten or two.
//!
//! A verdict speaks of the numbers in the file. There 0.1 is a tenth, although no binary64
//! number is. A text of at most 15 significant digits survives the way to binary64 and back
//! (the shortest decimal that rounds to the number is the one that was written), so the
//! `f64` itself remembers it; longer texts are kept aside. Numbers that never were decimals,
//! from arrays and binary files, are the dyadic rationals that their bits say.

use dashu_int::IBig;

/// What a stored `f64` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notation {
    /// The shortest decimal that rounds to it: what a text file said.
    #[default]
    Decimal,
    /// The binary number itself.
    Binary,
}

impl Notation {
    /// The radix of the exact values.
    pub(crate) fn radix(self) -> u64 {
        match self {
            Notation::Decimal => 10,
            Notation::Binary => 2,
        }
    }
}

/// The exact value `mantissa · radixᵉˣᵖᵒⁿᵉⁿᵗ`; the radix is known from the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exact {
    /// The whole number in front.
    pub mantissa: IBig,
    /// The power of the radix.
    pub exponent: i32,
}

impl Exact {
    /// A whole number.
    pub fn integer(value: i64) -> Self {
        Exact {
            mantissa: IBig::from(value),
            exponent: 0,
        }
    }

    /// What `x` stands for. Not for infinities and NaN, which no data set holds.
    pub fn of(x: f64, notation: Notation) -> Self {
        let (mantissa, exponent) = parts(x, notation);
        Exact {
            mantissa: IBig::from(mantissa),
            exponent,
        }
    }

    /// The value of a decimal text such as `-12.5e-7`; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(short) = Self::parse_short(text) {
            return Some(short);
        }
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (body, exponent) = match digits.find(['e', 'E']) {
            Some(at) => (&digits[..at], digits[at + 1..].parse::<i32>().ok()?),
            None => (digits, 0),
        };
        let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
        let all = [whole, fraction].concat();
        if all.is_empty() || !all.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let significant = all.trim_end_matches('0');
        let dropped = i32::try_from(all.len() - significant.len()).ok()?;
        let scale = i32::try_from(fraction.len()).ok()?;
        let magnitude = if significant.is_empty() {
            IBig::ZERO
        } else {
            IBig::from_str_radix(significant, 10).ok()?
        };
        let exponent = if magnitude.is_zero() {
            0
        } else {
            exponent.checked_sub(scale)?.checked_add(dropped)?
        };
        Some(Exact {
            mantissa: if negative { -magnitude } else { magnitude },
            exponent,
        })
    }

    /// The same for at most 18 digits without an exponent, in machine words.
    fn parse_short(text: &str) -> Option<Self> {
        let (mut mantissa, mut digits, mut places, mut point) = (0i64, 0, 0i32, false);
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        for b in unsigned.bytes() {
            match b {
                b'.' if !point => point = true,
                b'0'..=b'9' if digits == 18 => return None,
                b'0'..=b'9' => {
                    mantissa = mantissa * 10 + i64::from(b - b'0');
                    digits += 1;
                    places += i32::from(point);
                }
                _ => return None,
            }
        }
        if digits == 0 {
            return None;
        }
        while mantissa != 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            places -= 1;
        }
        let mantissa = if text.starts_with('-') {
            -mantissa
        } else {
            mantissa
        };
        Some(Exact {
            mantissa: mantissa.into(),
            exponent: if mantissa == 0 { 0 } else { -places },
        })
    }

    pub(crate) fn negated_if(self, negative: bool) -> Self {
        Exact {
            mantissa: if negative {
                -self.mantissa
            } else {
                self.mantissa
            },
            exponent: self.exponent,
        }
    }

    pub(crate) fn add(&self, other: &Exact, radix: u64) -> Exact {
        let exponent = self.exponent.min(other.exponent);
        Exact {
            mantissa: self.at(exponent, radix) + other.at(exponent, radix),
            exponent,
        }
    }

    pub(crate) fn is_below(&self, other: &Exact, radix: u64) -> bool {
        let exponent = self.exponent.min(other.exponent);
        self.at(exponent, radix) < other.at(exponent, radix)
    }

    pub(crate) fn mul(&self, other: &Exact) -> Exact {
        Exact {
            mantissa: &self.mantissa * &other.mantissa,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The value divided by `radix^exponent`, which must leave a whole number.
    pub(crate) fn at(&self, exponent: i32, radix: u64) -> IBig {
        let shift = usize::try_from(self.exponent - exponent).unwrap_or(0);
        &self.mantissa * power(radix, shift)
    }

    /// A `f64` within a few units in the last place (0 or infinite where it must be).
    pub(crate) fn approximate(&self, radix: u64) -> f64 {
        let size =
            f64::from(self.exponent) * libm::log2(radix as f64) + bits(&self.mantissa) as f64;
        if self.mantissa.is_zero() || size < -1080.0 {
            return 0.0;
        }
        if radix == 2 {
            return scaled_f64(&self.mantissa, self.exponent.into());
        }
        if self.exponent >= 0 {
            let shift = usize::try_from(self.exponent).unwrap_or(0);
            if size > 1100.0 {
                return if is_negative(&self.mantissa) {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                };
            }
            return scaled_f64(&(&self.mantissa * power(radix, shift)), 0);
        }
        // A quotient of 64 bits or more, then down by that power of two.
        let shift = usize::try_from(-self.exponent).unwrap_or(0);
        let divisor = power(radix, shift);
        let up = (bits(&divisor) + 66).saturating_sub(bits(&self.mantissa));
        scaled_f64(
            &((&self.mantissa << up) / divisor),
            -i64::try_from(up).unwrap_or(0),
        )
    }
}

/// `radix` to the `exponent`.
pub(crate) fn power(radix: u64, exponent: usize) -> IBig {
    if radix == 2 {
        IBig::ONE << exponent
    } else {
        IBig::from(radix).pow(exponent)
    }
}

/// The length of |x| in bits.
pub(crate) fn bits(x: &IBig) -> usize {
    use dashu_base::BitTest;
    if is_negative(x) {
        (-x).bit_len()
    } else {
        x.bit_len()
    }
}

pub(crate) fn is_negative(x: &IBig) -> bool {
    x < &IBig::ZERO
}

/// Mantissa and exponent of what `x` stands for; the mantissa of a decimal has no trailing
/// zero unless `x` is a whole number below 2⁵³.
pub(crate) fn parts(x: f64, notation: Notation) -> (i64, i32) {
    if x.abs() < 9_007_199_254_740_992.0 && x.trunc() == x {
        return (x as i64, 0);
    }
    match notation {
        Notation::Binary => {
            let raw = x.to_bits();
            let field = ((raw >> 52) & 0x7FF) as i32;
            let fraction = (raw & ((1 << 52) - 1)) as i64;
            let (magnitude, exponent) = if field == 0 {
                (fraction, -1074)
            } else {
                (fraction | 1 << 52, field - 1075)
            };
            let zeros = magnitude.trailing_zeros();
            let magnitude = magnitude >> zeros;
            let exponent = exponent + zeros as i32;
            (if x < 0.0 { -magnitude } else { magnitude }, exponent)
        }
        Notation::Decimal => short_decimal(x).unwrap_or_else(|| printed_decimal(x)),
    }
}

/// The shortest decimal, with the digits that the reader compares to those of the file.
fn printed_decimal(x: f64) -> (i64, i32) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(x);
    let (mut mantissa, mut exponent, mut zeros, mut point) = (0i64, 0i32, 0i32, false);
    let mut bytes = text.bytes();
    for b in bytes.by_ref() {
        match b {
            b'.' => point = true,
            b'0' => {
                zeros += 1;
                exponent -= i32::from(point);
            }
            b'1'..=b'9' => {
                // Zeros count once a digit follows them.
                for _ in 0..=zeros {
                    mantissa *= 10;
                }
                zeros = 0;
                mantissa += i64::from(b - b'0');
                exponent -= i32::from(point);
            }
            b'e' | b'E' => break,
            _ => {} // a sign
        }
    }
    let rest = &text[text.len() - bytes.len()..];
    let power: i32 = rest.parse().unwrap_or(0);
    let mantissa = if x < 0.0 { -mantissa } else { mantissa };
    (mantissa, exponent + zeros + power)
}

/// The decimal of at most 15 digits that rounds to `x`, which is then the shortest one, if
/// there is such and it lies in the range where powers of ten are exact in binary64.
///
/// With k decimals such that x·10ᵏ has 15 digits, the product is off by less than a quarter,
/// so rounding it finds the digits if there are any; the quotient of whole numbers, which
/// rounds once, shows whether there are.
fn short_decimal(x: f64) -> Option<(i64, i32)> {
    const TENS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let size = x.abs();
    if !(1e-7..1e15).contains(&size) {
        return None;
    }
    let mut places = 15;
    if size >= 1.0 {
        while size >= TENS[15 - places + 1] {
            places -= 1;
        }
        places -= 1;
    } else {
        while size * TENS[places - 15] < 0.1 {
            places += 1;
        }
    }
    let mantissa = (x * TENS[places]).round();
    if mantissa / TENS[places] != x {
        return None;
    }
    let (mut mantissa, mut exponent) = (mantissa as i64, -(places as i32));
    for (power, zeros) in [(100_000_000, 8), (10_000, 4), (100, 2), (10, 1)] {
        if mantissa % power == 0 {
            mantissa /= power;
            exponent += zeros;
        }
    }
    Some((mantissa, exponent))
}

/// `value · 2^exponent` as a `f64`, within two units in the last place.
pub(crate) fn scaled_f64(value: &IBig, exponent: i64) -> f64 {
    let length = bits(value);
    let drop = length.saturating_sub(64);
    let top: IBig = value >> drop;
    let top = i128::try_from(&top).unwrap_or(0) as f64;
    let exponent = exponent + drop as i64;
    libm::scalbn(top, exponent.clamp(-5000, 5000) as i32)
}

/// The numbers as `f64` with one common power of two taken out, the largest about 1: for
/// search and for filters. Each is within two units in its last place.
pub(crate) fn approximate_all(values: &[IBig]) -> Vec<f64> {
    let longest = values.iter().map(bits).max().unwrap_or(0) as i64;
    values.iter().map(|v| scaled_f64(v, -longest)).collect()
}

/// Divides whole numbers by their greatest common divisor.
pub(crate) fn reduce(values: &mut [IBig]) {
    use dashu_base::Gcd;
    let mut common = dashu_int::UBig::ZERO;
    for v in values.iter().filter(|v| !v.is_zero()) {
        common = common.gcd(v.clone().into_parts().1);
        if common.is_one() {
            return;
        }
    }
    if !common.is_zero() {
        let common = IBig::from(common);
        values.iter_mut().for_each(|v| *v = &*v / &common);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(x: f64) -> (i64, i32) {
        parts(x, Notation::Decimal)
    }

    #[test]
    fn a_tenth_is_a_tenth() {
        assert_eq!(decimal(0.1), (1, -1));
        assert_eq!(decimal(-12.5), (-125, -1));
        assert_eq!(decimal(1e300), (1, 300));
        assert_eq!(decimal(5e-324), (5, -324));
        assert_eq!(decimal(-7.0), (-7, 0));
        assert_eq!(decimal(123_456_789.012_345), (123_456_789_012_345, -6));
        assert_eq!(decimal(f64::MAX), (17_976_931_348_623_157, 292));
    }

    /// By the standard library's digits.
    fn printed_by_std(x: f64) -> (i64, i32) {
        let text = format!("{x:e}");
        let (digits, exponent) = text.split_once('e').unwrap();
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa = [whole, fraction].concat().parse().unwrap();
        let exponent: i32 = exponent.parse().unwrap();
        (mantissa, exponent - fraction.len() as i32)
    }

    #[test]
    fn short_decimals_are_the_ones_that_print() {
        use rosenblatt_core::internal::random::{Random, Stream};
        let mut random = Random::new(1, Stream::Sample, 0);
        let mut short = 0;
        for case in 0..200_000 {
            let digits = 1 + case % 17;
            let whole = random.below(10u64.pow(digits)) as i64 - random.below(3) as i64;
            let power = random.below(26) as i32 - 23;
            let text = format!("{whole}e{power}");
            let x: f64 = text.parse().expect("a number");
            if x.trunc() == x {
                continue;
            }
            let nearby = f64::from_bits(x.to_bits() + random.below(3));
            for x in [x, -x, nearby] {
                // As short as the standard library's and as near; halfway between two such, the
                // even one, which is how Python prints.
                let ((a, e), (b, f)) = (printed_decimal(x), printed_by_std(x));
                assert_eq!(format!("{a}e{e}").parse(), Ok(x), "{x:e}");
                assert!(
                    e == f && (a == b || a % 2 == 0 && (a - b).abs() == 1),
                    "{x:e}"
                );
                if let Some(found) = short_decimal(x) {
                    assert_eq!(found, printed_by_std(x), "{x:e}");
                    short += 1;
                }
            }
            if digits <= 15 && (1e-7..1e15).contains(&x.abs()) {
                assert!(short_decimal(x).is_some(), "{text}");
            }
        }
        assert!(short > 100_000, "{short}");
    }

    #[test]
    fn bits_say_what_they_say() {
        assert_eq!(parts(0.5, Notation::Binary), (1, -1));
        assert_eq!(parts(-0.375, Notation::Binary), (-3, -3));
        assert_eq!(parts(5e-324, Notation::Binary), (1, -1074));
        assert_eq!(parts(2f64.powi(60), Notation::Binary), (1, 60));
    }

    #[test]
    fn long_texts_are_kept_whole() {
        let x = Exact::parse("0.10000000000000000001").expect("a number");
        assert_eq!(
            (x.mantissa.to_string(), x.exponent),
            ("10000000000000000001".into(), -20)
        );
        assert_eq!(
            Exact::parse("-1500e-3").expect("a number"),
            Exact::parse("-1.5").expect("a number")
        );
        for nines in [
            "999999999999999999",
            "9999999999999999999",
            "-99999999999999999999",
        ] {
            let x = Exact::parse(nines).expect("a number");
            assert_eq!((x.mantissa.to_string(), x.exponent), (nines.into(), 0));
        }
        assert_eq!(Exact::parse("0.000"), Some(Exact::integer(0)));
        for bad in ["", "-", ".", "1e", "abc", "1.2.3", "1e99999999999"] {
            assert_eq!(Exact::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn approximations_are_close_over_the_whole_range() {
        for x in [0.1, -3.7e-290, 1.7e308, 5e-324, 2.5, 1e22, -1e-5] {
            for notation in [Notation::Decimal, Notation::Binary] {
                let back = Exact::of(x, notation).approximate(notation.radix());
                assert!(
                    (back - x).abs() <= 4.0 * f64::EPSILON * x.abs(),
                    "{x} {back}"
                );
            }
        }
        let huge = Exact::parse("1e400").expect("a number");
        assert_eq!(huge.approximate(10), f64::INFINITY);
        assert_eq!(
            Exact::parse("1e-400").expect("a number").approximate(10),
            0.0
        );
    }

    #[test]
    fn common_factors_go() {
        let mut v = vec![IBig::from(-12), IBig::from(0), IBig::from(18)];
        reduce(&mut v);
        assert_eq!(v, [IBig::from(-2), IBig::from(0), IBig::from(3)]);
    }
}
