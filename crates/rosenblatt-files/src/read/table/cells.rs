//! Numbers as people write them, dates and times, and what stands where one of them is missing.

use std::borrow::Cow;

use crate::read::number;

/// How the numbers of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NumberForm {
    /// `1200.50`
    #[default]
    Plain,
    /// `1,200.50`, with plain numbers among them.
    Grouped,
    /// `1.200,50`
    Comma,
}

/// What comes first in a date with slashes, points or hyphens that does not begin with a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DateOrder {
    #[default]
    DayFirst,
    MonthFirst,
}

/// What a cell that is no plain number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A number with a decimal point and thousands separators.
    Point,
    /// A number with a decimal comma.
    Comma,
    /// `1,200`: either.
    Either,
    /// A usual sign for a value that is missing.
    Mark,
    Stray,
}

/// Texts that stand for a missing number or date, but may be a value of another column.
fn is_mark(text: &[u8]) -> bool {
    const MARKS: [&str; 13] = [
        "-", "--", "---", ".", "..", "*", "n/a", "#n/a", "<na>", "null", "none", "n.a.", "missing",
    ];
    MARKS
        .iter()
        .any(|m| text.eq_ignore_ascii_case(m.as_bytes()))
}

/// Without blanks around it. Quotes keep them.
fn trimmed(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii();
    while let Some(rest) = text.strip_suffix("\u{a0}".as_bytes()) {
        text = rest.trim_ascii();
    }
    text
}

/// What a cell is that is no plain number.
pub(crate) fn classify(text: &[u8]) -> Class {
    let text = trimmed(text);
    if text.is_empty() || is_mark(text) {
        return Class::Mark;
    }
    match (plain(text, b'.'), plain(text, b',')) {
        (Some(_), Some(_)) => Class::Either,
        (Some(_), None) => Class::Point,
        (None, Some(_)) => Class::Comma,
        (None, None) => Class::Stray,
    }
}

/// Whether the cell is a number in one of the forms.
pub(crate) fn is_number(text: &[u8]) -> bool {
    number::whole::<f64>(text).is_some()
        || matches!(classify(text), Class::Point | Class::Comma | Class::Either)
}

/// The number with this decimal sign as a plain one: without separators, with a point.
fn plain(text: &[u8], sign: u8) -> Option<Cow<'_, [u8]>> {
    let other = if sign == b'.' { b',' } else { b'.' };
    let text = std::str::from_utf8(text).ok()?;
    let mut made = Vec::with_capacity(text.len());
    let (mut run, mut groups, mut behind, mut separator) = (0, 0, false, None);
    let mut chars = text.char_indices().peekable();
    if let Some(&(_, c @ ('+' | '-'))) = chars.peek() {
        made.push(c as u8);
        chars.next();
    }
    for (at, c) in chars {
        match c {
            '0'..='9' => {
                made.push(c as u8);
                run += 1;
            }
            _ if c == char::from(sign) && !behind => {
                if groups > 0 && run != 3 {
                    return None;
                }
                made.push(b'.');
                behind = true;
            }
            'e' | 'E' if !made.is_empty() => {
                made.extend_from_slice(&text.as_bytes()[at..]);
                break;
            }
            ' ' | '\u{a0}' | '\u{202f}' | '\'' | ',' | '.' if !behind => {
                let separates = c == char::from(other) || !matches!(c, ',' | '.');
                let right = if groups == 0 {
                    (1..=3).contains(&run)
                } else {
                    run == 3
                };
                if !separates || !right || separator.is_some_and(|s| s != c) {
                    return None;
                }
                separator = Some(c);
                groups += 1;
                run = 0;
            }
            _ => return None,
        }
    }
    if groups > 0 && !behind && run != 3 {
        return None;
    }
    number::whole::<f64>(&made)?;
    Some(made.into())
}

/// The cell as a plain number, if it is one in this form.
pub(crate) fn as_plain(text: &[u8], form: NumberForm) -> Option<Cow<'_, [u8]>> {
    let as_it_is = |text| number::whole::<f64>(text).map(|_| Cow::Borrowed(text));
    match form {
        NumberForm::Plain => as_it_is(text),
        NumberForm::Grouped => as_it_is(text).or_else(|| plain(trimmed(text), b'.')),
        NumberForm::Comma => plain(trimmed(text), b','),
    }
}

/// A moment as features see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    /// From 1 January 1970.
    pub(crate) days: i32,
    pub(crate) year: i32,
    /// From 1.
    pub(crate) month: u32,
    /// From 0, Monday.
    pub(crate) weekday: u32,
    pub(crate) hour: u32,
}

/// Numbers that a date is kept as.
pub(crate) const DATE_SLOTS: usize = 5;

impl Moment {
    pub(crate) fn numbers(self) -> [f64; DATE_SLOTS] {
        [
            f64::from(self.days),
            f64::from(self.year),
            f64::from(self.month),
            f64::from(self.weekday),
            f64::from(self.hour),
        ]
    }
}

/// Reads a date, perhaps with a time behind it.
pub(crate) fn date(text: &[u8], order: DateOrder) -> Option<Moment> {
    let text = std::str::from_utf8(trimmed(text)).ok()?;
    if text.len() < 6 || text.len() > 40 || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let (date, time) = match text.find([':']) {
        // The hour stands behind the last blank or T before the colon.
        Some(colon) => {
            let at = text[..colon].rfind([' ', 'T', 't', ','])?;
            (
                text[..at].trim_end_matches([' ', ',']),
                Some(&text[at + 1..]),
            )
        }
        None => (text, None),
    };
    let hour = time.map_or(Some(0), hour)?;
    let (year, month, day) = day(date, order)?;
    let days = days_from_civil(year, month, day)?;
    Some(Moment {
        days,
        year,
        month,
        weekday: (days + 3).rem_euclid(7) as u32,
        hour,
    })
}

/// Some digits, and how many.
fn digits(text: &str) -> Option<(u32, usize)> {
    let fits = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok().map(|n| (n, text.len())))?
}

/// Year, month and day.
fn day(text: &str, order: DateOrder) -> Option<(i32, u32, u32)> {
    let parts: Vec<&str> = (text.split(['-', '/', '.', ' ', ',']))
        .filter(|part| !part.is_empty())
        .collect();
    let [a, b, c] = parts[..] else { return None };
    if let (Some((a, long)), Some((b, _)), Some((c, behind))) = (digits(a), digits(b), digits(c)) {
        return match (long, behind) {
            (4, 1..=2) => Some((a as i32, b, c)),
            (1..=2, 2 | 4) => {
                let year = full_year(c, behind);
                match order {
                    DateOrder::DayFirst => Some((year, b, a)),
                    DateOrder::MonthFirst => Some((year, a, b)),
                }
            }
            _ => None,
        };
    }
    // A month by name: 5 January 2024, January 5, 2024.
    let (month, day) = match (named_month(a), named_month(b)) {
        (Some(month), None) => (month, digits(b)?),
        (None, Some(month)) => (month, digits(a)?),
        _ => return None,
    };
    let (year, length) = digits(c)?;
    (day.1 <= 2 && (length == 2 || length == 4)).then(|| (full_year(year, length), month, day.0))
}

fn full_year(year: u32, digits: usize) -> i32 {
    match (digits, year) {
        (2, ..70) => year as i32 + 2000,
        (2, _) => year as i32 + 1900,
        _ => year as i32,
    }
}

fn named_month(text: &str) -> Option<u32> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let text = text.to_ascii_lowercase();
    let is = |name: &&str| text.len() >= 3 && name.starts_with(&text);
    NAMES.iter().position(is).map(|i| i as u32 + 1)
}

/// The hour of a time such as `13:45:10.5`, `1:45 pm`, `13:45Z` or `13:45+02:00`.
fn hour(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let (clock, afternoon) = match lower.strip_suffix("pm").or(lower.strip_suffix("am")) {
        Some(clock) => (clock.trim_end(), Some(lower.ends_with("pm"))),
        None => (lower.as_str(), None),
    };
    let clock = clock.trim_end_matches('z');
    let clock = clock.split(['+', '-']).next()?.trim_end();
    let mut parts = clock.split(':');
    let (hour, minute) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let second = parts.next().map_or(Some(0.0), |s| s.parse::<f64>().ok())?;
    let fits =
        parts.next().is_none() && hour.0 < 24 && minute.0 < 60 && (0.0..61.0).contains(&second);
    match (fits, afternoon) {
        (true, None) => Some(hour.0),
        (true, Some(afternoon)) if (1..=12).contains(&hour.0) => {
            Some(hour.0 % 12 + if afternoon { 12 } else { 0 })
        }
        _ => None,
    }
}

/// Days from 1 January 1970 in the Gregorian calendar (Hinnant, "chrono-compatible low-level
/// date algorithms", 2013); none if there is no such day.
fn days_from_civil(year: i32, month: u32, day: u32) -> Option<i32> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month as i32 + 9) % 12) + 2) / 5 + day as i32 - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The cells of a column that are no plain numbers, or the dates of one, counted.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct CellTally {
    point: u64,
    comma: u64,
    either: u64,
    marks: u64,
    strays: u64,
    day_first: u64,
    month_first: u64,
    /// Dates that are another day in the other order.
    turned: u64,
    /// The first cell that was not taken, and its row from 0.
    pub(crate) first: Option<(u64, String)>,
}

impl CellTally {
    /// Counts a cell that is no plain number, or is in a column of dates.
    pub(crate) fn count(&mut self, text: &[u8], times: u64, dates: bool) {
        if dates {
            let day_first = date(text, DateOrder::DayFirst);
            let month_first = date(text, DateOrder::MonthFirst);
            self.day_first += u64::from(day_first.is_some()) * times;
            self.month_first += u64::from(month_first.is_some()) * times;
            self.turned += u64::from(day_first != month_first) * times;
        }
        match classify(text) {
            Class::Point => self.point += times,
            Class::Comma => self.comma += times,
            Class::Either => self.either += times,
            Class::Mark => self.marks += times,
            Class::Stray => self.strays += times,
        }
    }

    /// Notes a cell that was not taken.
    pub(crate) fn note(&mut self, row: u64, text: &[u8]) {
        if self.first.is_none() {
            let text = String::from_utf8_lossy(text).chars().take(40).collect();
            self.first = Some((row, text));
        }
    }

    /// Adds what a later chunk found, whose rows follow so many others.
    pub(crate) fn merge(&mut self, other: CellTally, rows_before: u64) {
        self.point += other.point;
        self.comma += other.comma;
        self.either += other.either;
        self.marks += other.marks;
        self.strays += other.strays;
        self.day_first += other.day_first;
        self.month_first += other.month_first;
        self.turned += other.turned;
        let first = other.first.map(|(row, text)| (row + rows_before, text));
        self.first = self.first.take().or(first);
    }

    /// The form that the cells ask for, most of which may be plain numbers.
    pub(crate) fn form(&self, semicolons: bool) -> NumberForm {
        if self.comma > self.point {
            NumberForm::Comma
        } else if self.point > 0 || self.either == 0 {
            NumberForm::Grouped
        } else if semicolons {
            NumberForm::Comma // where a semicolon delimits, a comma is the decimal sign
        } else {
            NumberForm::Grouped
        }
    }

    /// Whether all cells with commas could be read another way.
    pub(crate) fn is_ambiguous(&self) -> bool {
        self.either > 0 && self.point == 0 && self.comma == 0
    }

    /// Whether there are separators of thousands.
    pub(crate) fn has_groups(&self) -> bool {
        self.point + self.either > 0
    }

    /// What the dates begin with, if not with the year.
    pub(crate) fn order(&self, slashes: bool) -> DateOrder {
        match self.day_first.cmp(&self.month_first) {
            std::cmp::Ordering::Greater => DateOrder::DayFirst,
            std::cmp::Ordering::Less => DateOrder::MonthFirst,
            std::cmp::Ordering::Equal if slashes => DateOrder::MonthFirst,
            std::cmp::Ordering::Equal => DateOrder::DayFirst,
        }
    }

    /// Whether the dates do not say what they begin with.
    pub(crate) fn is_order_ambiguous(&self) -> bool {
        self.turned > 0 && self.day_first == self.month_first
    }

    /// How many of the cells looked at are dates.
    pub(crate) fn dates(&self) -> u64 {
        self.day_first.max(self.month_first)
    }

    /// How many of them are signs for what is missing.
    pub(crate) fn marks(&self) -> u64 {
        self.marks
    }

    /// How many of them are no numbers in this form, plain numbers aside.
    pub(crate) fn not_numbers(&self, form: NumberForm) -> u64 {
        self.marks
            + self.strays
            + match form {
                NumberForm::Plain => self.point + self.comma + self.either,
                NumberForm::Grouped => self.comma,
                NumberForm::Comma => self.point,
            }
    }
}

/// Whether so many cells, of which some are `bad`, and some of these mere marks for what is
/// missing, are a column of values with a few strays: at most one in twenty, marks aside, and
/// at least half of all.
pub(crate) fn few_strays(filled: u64, bad: u64, marks: u64) -> bool {
    let strays = bad - marks.min(bad);
    bad * 2 <= filled && strays * 20 <= filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        let read = |text: &str, form| {
            as_plain(text.as_bytes(), form).and_then(|text| number::whole::<f64>(&text))
        };
        use NumberForm::{Comma, Grouped, Plain};
        assert_eq!(read("1,200.50", Grouped), Some(1200.5));
        assert_eq!(read("-1,234,567", Grouped), Some(-1_234_567.0));
        assert_eq!(read("1200.50", Grouped), Some(1200.5));
        assert_eq!(read(" 1,200 ", Grouped), Some(1200.0));
        assert_eq!(read("1'200.5", Grouped), Some(1200.5));
        assert_eq!(read("1.200,50", Comma), Some(1200.5));
        assert_eq!(read("1 200,50", Comma), Some(1200.5));
        assert_eq!(read("1\u{202f}200", Comma), Some(1200.0));
        assert_eq!(read("2,25", Comma), Some(2.25));
        assert_eq!(read("1,5E3", Comma), Some(1500.0));
        assert_eq!(read("1.200", Comma), Some(1200.0));
        assert_eq!(read("12", Comma), Some(12.0));
        assert_eq!(read(",5", Comma), Some(0.5));
        for (text, form) in [
            ("3.14", Comma),
            ("1,20", Grouped),
            ("1,2000", Grouped),
            ("1,200", Plain),
            ("12,345,67", Grouped),
            ("1.200.5", Comma),
            ("1,2,3", Comma),
            ("1 2", Grouped),
            ("1,200 300", Grouped),
            ("-", Grouped),
            ("", Comma),
            ("x", Comma),
        ] {
            assert_eq!(read(text, form), None, "{text} {form:?}");
        }
        assert_eq!(classify(b"1,200"), Class::Either);
        assert_eq!(classify(b"1,200.5"), Class::Point);
        assert_eq!(classify(b"0,5"), Class::Comma);
        assert_eq!(classify(b"N/A"), Class::Mark);
        assert_eq!(classify(b"abc"), Class::Stray);
    }

    #[test]
    fn dates_and_times() {
        let date = |text: &str, order| date(text.as_bytes(), order);
        use DateOrder::{DayFirst, MonthFirst};
        let first = Moment {
            days: 0,
            year: 1970,
            month: 1,
            weekday: 3,
            hour: 0,
        };
        assert_eq!(date("1970-01-01", DayFirst), Some(first));
        let leap = Moment {
            days: 19782,
            year: 2024,
            month: 2,
            weekday: 3,
            hour: 13,
        };
        for text in [
            "2024-02-29T13:45:10Z",
            "2024-02-29 13:45",
            "2024/02/29 1:45 PM",
            "29.02.2024 13:45",
            "29/2/24 13:45:10.25",
            "29 February 2024, 13:45",
            "Feb 29, 2024 13:45+02:00",
            "29-Feb-2024 13:45",
        ] {
            assert_eq!(date(text, DayFirst), Some(leap), "{text}");
        }
        assert_eq!(date("2/29/2024 13:00", MonthFirst), Some(leap));
        assert_eq!(date("2/29/2024", DayFirst), None);
        assert_eq!(date("31/12/1969", DayFirst).map(|d| d.days), Some(-1));
        for text in [
            "2023-02-29",
            "2024-13-01",
            "1.2.3",
            "12345678",
            "10.0.0.1",
            "a-b-c",
            "2024-01-01 25:00",
            "1,200.50",
            "555-123-4567",
            "v1.2.2024x",
        ] {
            assert_eq!(date(text, DayFirst), None, "{text}");
        }
    }

    #[test]
    fn a_few_strays_are_no_kind_of_their_own() {
        assert!(few_strays(100, 5, 0));
        assert!(!few_strays(100, 6, 0));
        assert!(few_strays(100, 50, 45));
        assert!(!few_strays(100, 51, 51));
    }
}
