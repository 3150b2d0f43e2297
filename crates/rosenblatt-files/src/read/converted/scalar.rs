//! Values of typed columns as the cells of a table.

use super::npy::half;
use super::{push_number, push_text};
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
