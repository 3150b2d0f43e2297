//! Values of typed columns as the cells of a table.

use super::npy::half;
use super::{push_number, push_text};
use crate::read::number::{self, Stored};
use crate::write;
use rosenblatt_core::data::Precision;
use rosenblatt_core::{Error, Result};

/// What the bytes of a value mean; numbers are little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    Int,
    Unsigned,
    Half,
    Float,
    Double,
    Text,
    /// A whole number without so many digits behind the point.
    Decimal {
        scale: i64,
    },
    /// The same, big-endian, of any length up to 16 bytes.
    BigDecimal {
        scale: i64,
    },
    /// Days since 1970.
    Date,
    /// Time since midnight.
    Time(Unit),
    /// Time since 1970.
    Timestamp(Unit),
    /// Nanoseconds of a day, and its Julian number.
    Julian,
}

/// What a time is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Milli,
    Micro,
    Nano,
}

impl Unit {
    fn in_second(self) -> i64 {
        match self {
            Unit::Second => 1,
            Unit::Milli => 1_000,
            Unit::Micro => 1_000_000,
            Unit::Nano => 1_000_000_000,
        }
    }
}

const DAY: i64 = 86_400;

impl Kind {
    /// Appends a value as it would stand in a cell.
    #[inline]
    pub(super) fn push(self, text: &mut Vec<u8>, value: &[u8]) -> Result<()> {
        match self {
            Kind::Null => {}
            Kind::Bool => {
                let word: &[u8] = if value[0] == 0 { b"false" } else { b"true" };
                text.extend_from_slice(word);
            }
            Kind::Int => whole(text, signed(value)),
            Kind::Unsigned => whole(text, unsigned(value) as i128),
            Kind::Half => push_number(text, half(unsigned(value) as u16)),
            Kind::Float => push_number(text, f64::from(f32::from_bits(unsigned(value) as u32))),
            Kind::Double => push_number(text, f64::from_bits(unsigned(value) as u64)),
            Kind::Text => {
                let word = std::str::from_utf8(value).map_err(|_| {
                    Error::data("a text is not UTF-8")
                        .remedy("write texts as UTF-8, or leave the column out with ⟨ignore⟩")
                })?;
                if !word.is_empty() {
                    push_text(text, word);
                }
            }
            Kind::Decimal { scale } => decimal(text, signed(value), scale),
            Kind::BigDecimal { scale } => {
                let turned: Vec<u8> = value.iter().rev().copied().collect();
                if turned.len() > 16 {
                    return Err(Error::data("a decimal has more than 38 digits")
                        .remedy("write the column as double"));
                }
                decimal(text, signed(&turned), scale);
            }
            Kind::Date => date(text, signed(value) as i64),
            Kind::Time(unit) => time(text, (signed(value) as i64).div_euclid(unit.in_second())),
            Kind::Timestamp(unit) => {
                moment(text, (signed(value) as i64).div_euclid(unit.in_second()));
            }
            Kind::Julian => {
                const OF_1970: i64 = 2_440_588;
                let (nanos, day) = value.split_at(8);
                let days = unsigned(day) as i64 - OF_1970;
                moment(
                    text,
                    days * DAY + (unsigned(nanos) as i64).div_euclid(1_000_000_000),
                );
            }
        }
        Ok(())
    }
}

impl Kind {
    /// Whether values of so many bytes are plain numbers.
    pub(super) fn is_number(self, size: usize) -> bool {
        match self {
            Kind::Int | Kind::Unsigned => matches!(size, 1 | 2 | 4 | 8),
            Kind::Half => size == 2,
            Kind::Float => size == 4,
            Kind::Double => size == 8,
            _ => false,
        }
    }

    /// Appends the plain numbers of `size` bytes each that stand here one behind the other, as
    /// they would be read where they stand in cells.
    ///
    /// # Errors
    /// If one is infinite, or too large for this type.
    pub(super) fn numbers<T: Stored>(
        self,
        bytes: &[u8],
        size: usize,
        to: &mut Vec<T>,
    ) -> Result<()> {
        let start = to.len();
        match (self, size) {
            (Kind::Double, 8) => to.extend(each(bytes, |b| as_written::<T>(f64::from_le_bytes(b)))),
            (Kind::Float, 4) => {
                to.extend(each(bytes, |b| T::from_f64(f32::from_le_bytes(b).into())));
            }
            (Kind::Half, 2) => {
                to.extend(each(bytes, |b| T::from_f64(half(u16::from_le_bytes(b)))));
            }
            (Kind::Int, 8) => {
                to.extend(each(bytes, |b| of_whole::<T>(i64::from_le_bytes(b).into())))
            }
            (Kind::Int, 4) => {
                to.extend(each(bytes, |b| T::from_f64(i32::from_le_bytes(b).into())));
            }
            (Kind::Int, 2) => {
                to.extend(each(bytes, |b| T::from_f64(i16::from_le_bytes(b).into())));
            }
            (Kind::Int, 1) => {
                to.extend(each(bytes, |b| T::from_f64(i8::from_le_bytes(b).into())));
            }
            (Kind::Unsigned, _) => {
                let values = bytes.chunks_exact(size.max(1));
                to.extend(values.map(|value| of_whole::<T>(unsigned(value) as i128)));
            }
            _ => return Err(Error::data("these values are no plain numbers")),
        }
        match to[start..].iter().any(|x| x.to_f64().is_infinite()) {
            true => Err(Error::data("a number is too large")),
            false => Ok(()),
        }
    }
}

fn each<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> impl Iterator<Item = T> {
    bytes
        .as_chunks::<N>()
        .0
        .iter()
        .map(move |value| read(*value))
}

/// A double as its decimal is read.
///
/// Halfway between two numbers of 32 bits, that decimal may lie on either side; and below the
/// normal ones halfway lies elsewhere.
#[inline]
fn as_written<T: Stored>(x: f64) -> T {
    let halfway = x.to_bits() & 0x1FFF_FFFF == 0x1000_0000;
    let tiny = x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE);
    if T::PRECISION == Precision::F32 && (halfway || tiny) {
        let mut text = Vec::new();
        write::decimal(&mut text, x, Precision::F64);
        return number::whole(&text).unwrap_or(T::MISSING);
    }
    T::from_f64(x)
}

/// A whole number, rounded once.
#[inline]
fn of_whole<T: Stored>(value: i128) -> T {
    match value.unsigned_abs() < 1 << 53 {
        true => T::from_f64(value as f64),
        false => number::whole(value.to_string().as_bytes()).unwrap_or(T::MISSING),
    }
}

fn unsigned(value: &[u8]) -> u128 {
    value.iter().rev().fold(0, |v, &b| v << 8 | u128::from(b))
}

fn signed(value: &[u8]) -> i128 {
    let unused = 128 - 8 * value.len().clamp(1, 16) as u32;
    (unsigned(value) << unused) as i128 >> unused
}

fn whole(text: &mut Vec<u8>, value: i128) {
    match u64::try_from(value.unsigned_abs()) {
        Ok(small) => {
            if value < 0 {
                text.push(b'-');
            }
            crate::write::whole(text, small);
        }
        Err(_) => text.extend_from_slice(value.to_string().as_bytes()),
    }
}

fn decimal(text: &mut Vec<u8>, value: i128, scale: i64) {
    let digits = value.unsigned_abs().to_string();
    if value < 0 {
        text.push(b'-');
    }
    match usize::try_from(scale) {
        Ok(0) => text.extend_from_slice(digits.as_bytes()),
        Ok(scale) if scale <= 64 => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (before, behind) = digits.split_at(digits.len() - scale);
            text.extend_from_slice(format!("{before}.{behind}").as_bytes());
        }
        _ => text.extend_from_slice(format!("{digits}e{}", -scale).as_bytes()),
    }
}

/// Appends a date, in the calendar of today for all times (H. Hinnant, "chrono-compatible
/// low-level date algorithms").
fn date(text: &mut Vec<u8>, days: i64) {
    let days = i128::from(days) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (
        day - (153 * month + 2) / 5 + 1,
        if month < 10 { month + 3 } else { month - 9 },
    );
    let year = year + 400 * era + i128::from(month <= 2);
    text.extend_from_slice(format!("{year:04}-{month:02}-{day:02}").as_bytes());
}

fn time(text: &mut Vec<u8>, seconds: i64) {
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    text.extend_from_slice(format!("{hour:02}:{minute:02}:{second:02}").as_bytes());
}

fn moment(text: &mut Vec<u8>, seconds: i64) {
    date(text, seconds.div_euclid(DAY));
    text.push(b' ');
    time(text, seconds.rem_euclid(DAY));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(kind: Kind, value: &[u8]) -> String {
        let mut text = Vec::new();
        kind.push(&mut text, value).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// What a number becomes, and what its cell does.
    fn check_number<T: Stored + std::fmt::Debug>(kind: Kind, value: &[u8]) {
        let mut found: Vec<T> = Vec::new();
        kind.numbers(value, value.len(), &mut found).unwrap();
        let text = cell(kind, value);
        let expected: T = number::whole(text.as_bytes()).unwrap_or(T::MISSING);
        let bits = |x: T| x.to_f64().to_bits();
        assert_eq!(found.len(), 1);
        assert_eq!(bits(found[0]), bits(expected), "{kind:?} {text}");
    }

    #[test]
    fn numbers_are_what_their_cells_are_read_as() {
        let tiny = f64::from(f32::MIN_POSITIVE);
        let mut doubles = vec![
            0.0,
            -0.0,
            0.1,
            1e30,
            -1.5e-9,
            f64::NAN,
            tiny / 3.0,
            1e-45,
            5e-324,
        ];
        // Halfway between two numbers of 32 bits, and beside that.
        for x in [1.0f32, 0.1, 3.3e-12, 7.7e20, 1.234_57e-40] {
            let next = f32::from_bits(x.to_bits() + 1);
            let between = (f64::from(x) + f64::from(next)) / 2.0;
            doubles.extend([between, between.next_up(), between.next_down(), -between]);
        }
        for x in doubles {
            check_number::<f32>(Kind::Double, &x.to_le_bytes());
            check_number::<f64>(Kind::Double, &x.to_le_bytes());
        }
        for x in [0.1f32, -0.0, f32::MAX, 1e-44, f32::NAN] {
            check_number::<f32>(Kind::Float, &x.to_le_bytes());
            check_number::<f64>(Kind::Float, &x.to_le_bytes());
        }
        let large = (1i64 << 53) + 1;
        // Rounded to 53 bits first, this one would come out as another number of 32.
        let twice = (1i64 << 62) + (1 << 38) + 1;
        for x in [0, -1, large, -large, twice, i64::MIN, i64::MAX, 16_777_217] {
            check_number::<f32>(Kind::Int, &x.to_le_bytes());
            check_number::<f64>(Kind::Int, &x.to_le_bytes());
            check_number::<f32>(Kind::Unsigned, &x.to_le_bytes());
            check_number::<f64>(Kind::Unsigned, &x.to_le_bytes());
        }
        for kind in [Kind::Int, Kind::Unsigned] {
            check_number::<f64>(kind, &(-2i8).to_le_bytes());
            check_number::<f64>(kind, &(-300i16).to_le_bytes());
            check_number::<f32>(kind, &(-70_000i32).to_le_bytes());
        }
        check_number::<f32>(Kind::Half, &0x3555u16.to_le_bytes());
        for too_large in [f64::INFINITY, 1e39] {
            let bytes = too_large.to_le_bytes();
            assert!(
                Kind::Double
                    .numbers::<f32>(&bytes, 8, &mut Vec::new())
                    .is_err()
            );
        }
    }

    #[test]
    fn values_are_written_as_cells() {
        let seconds = |n: i64| cell(Kind::Timestamp(Unit::Milli), &(1000 * n - 1).to_le_bytes());
        assert_eq!(seconds(0), "1969-12-31 23:59:59");
        assert_eq!(seconds(1_709_164_801), "2024-02-29 00:00:00");
        for (days, expected) in [
            (0, "1970-01-01"),
            (-719_528, "0000-01-01"),
            (19_782, "2024-02-29"),
            (11_017, "2000-03-01"),
            (i32::MAX, "5881580-07-11"),
        ] {
            assert_eq!(cell(Kind::Date, &days.to_le_bytes()), expected);
        }
        assert_eq!(
            cell(Kind::Decimal { scale: 2 }, &(-5i32).to_le_bytes()),
            "-0.05"
        );
        assert_eq!(cell(Kind::BigDecimal { scale: 1 }, &[0x01, 0x00]), "25.6");
        assert_eq!(
            cell(Kind::Decimal { scale: -3 }, &7i32.to_le_bytes()),
            "7e3"
        );
        assert_eq!(
            cell(Kind::Int, &i64::MIN.to_le_bytes()),
            "-9223372036854775808"
        );
        assert_eq!(
            cell(Kind::Unsigned, &u64::MAX.to_le_bytes()),
            "18446744073709551615"
        );
        assert_eq!(
            cell(Kind::Float, &0.1f32.to_le_bytes()),
            "0.10000000149011612"
        );
        assert_eq!(cell(Kind::Double, &f64::NAN.to_le_bytes()), "");
        assert_eq!(cell(Kind::Text, b"a, b"), "\"a, b\"");
        let julian = [
            &1_500_000_000i64.to_le_bytes()[..],
            &2_440_589u32.to_le_bytes(),
        ]
        .concat();
        assert_eq!(cell(Kind::Julian, &julian), "1970-01-02 00:00:01");
    }
}
