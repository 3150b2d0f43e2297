//! A column by which rows are parted, and which is no feature: groups that stay together, or times.

use super::raw::{Content, Raw};
use super::report::ColumnRole;
use super::table::parse::{MISSING, Take};
use rosenblatt_core::{Error, Result};

/// What a column that rows are parted by holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitBy {
    /// Names of groups, whose rows stay together.
    Groups,
    /// Times, of which the last are held out.
    Time,
}

impl SplitBy {
    /// The option that names the column.
    pub(crate) fn option(self) -> &'static str {
        match self {
            SplitBy::Groups => "groups",
            SplitBy::Time => "time",
        }
    }

    /// What the column is in reports.
    pub(crate) fn role(self) -> ColumnRole {
        match self {
            SplitBy::Groups => ColumnRole::Groups,
            SplitBy::Time => ColumnRole::Time,
        }
    }
}

/// The column that rows are parted by.
struct SplitColumn {
    name: String,
    /// The code of each row, and what each code stands for.
    codes: Vec<u32>,
    texts: Vec<String>,
}

impl Raw {
    /// The group of each row, in file order, where a column of groups was asked for.
    pub fn groups(&self) -> Result<Option<Vec<u32>>> {
        let found = self.split_column(SplitBy::Groups)?;
        Ok(found.map(|column| column.codes))
    }

    /// The time of each row, in file order, where a column of times was asked for: numbers as they
    /// are, dates as days.
    pub fn times(&self) -> Result<Option<Vec<f64>>> {
        let Some(SplitColumn { name, codes, texts }) = self.split_column(SplitBy::Time)? else {
            return Ok(None);
        };
        let read = |parse: fn(&str) -> Option<f64>| -> std::result::Result<Vec<f64>, usize> {
            let each = texts.iter().enumerate();
            each.map(|(code, text)| parse(text).ok_or(code)).collect()
        };
        let number = |text: &str| text.parse().ok().filter(|x: &f64| x.is_finite());
        let values = read(number).or_else(|_| read(days)).map_err(|code| {
            let row = codes.iter().position(|&c| c as usize == code);
            Error::data(format!(
                "row {} of the column {name} holds {:?}, expected numbers throughout, or dates like 2026-11-18 or 2026-11-18T09:30",
                row.unwrap_or(0) + 1,
                texts[code]
            ))
            .remedy("write the dates so, with the year first")
        })?;
        Ok(Some(codes.iter().map(|&c| values[c as usize]).collect()))
    }

    /// The column that rows are parted by.
    fn split_column(&self, by: SplitBy) -> Result<Option<SplitColumn>> {
        let columns = &self.report().columns;
        let (Content::Table(table), Some(i)) = (
            &self.content,
            columns.iter().position(|c| c.role == by.role()),
        ) else {
            return Ok(None);
        };
        let Take::Category { slot } = table.columns[i].take else {
            return Ok(None);
        };
        let name = &columns[i].name;
        let codes: Vec<u32> = table.codes_of(slot).collect();
        if let Some(row) = codes.iter().position(|&c| c == MISSING) {
            return Err(Error::data(format!(
                "row {} has no value in the column {name}, by which rows are parted",
                row + 1
            ))
            .remedy("fill the cell, or remove the row"));
        }
        let levels = &table.levels[slot];
        let texts = (0..levels.len() as u32).map(|c| levels.text(c).into_owned());
        Ok(Some(SplitColumn {
            name: name.clone(),
            codes,
            texts: texts.collect(),
        }))
    }
}

/// Days since 1970 of a date like 2026-11-18, perhaps with a time of day behind it.
fn days(text: &str) -> Option<f64> {
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, time.trim_end_matches('Z')),
        None => (text, "0:0"),
    };
    let mut parts = date.split(['-', '/']);
    let year = parts.next().filter(|y| y.len() == 4)?;
    let mut whole = || parts.next()?.parse::<i64>().ok();
    let (year, month, day) = (year.parse::<i64>().ok()?, whole()?, whole()?);
    let mut clock = time.split(':');
    let mut next = || clock.next().map_or(Some(0.0), |t| t.parse::<f64>().ok());
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    let fits = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0.0..25.0).contains(&hours)
        && (0.0..60.0).contains(&minutes)
        && (0.0..61.0).contains(&seconds);
    if !fits || parts.next().is_some() || clock.next().is_some() {
        return None;
    }
    // The year begins in March, so that a leap day is its last.
    let year = year - i64::from(month <= 2);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let whole = 365 * year + leaps + of_year - 719_468;
    Some(whole as f64 + (hours + (minutes + seconds / 60.0) / 60.0) / 24.0)
}

#[cfg(test)]
mod tests {
    use super::days;

    #[test]
    fn dates_become_days() {
        assert_eq!(days("1970-01-01"), Some(0.0));
        assert_eq!(days("2000/03/01"), Some(11017.0));
        assert_eq!(days("2024-02-29"), Some(19782.0));
        assert_eq!(days("2024-03-01T12:00:00Z"), Some(19783.5));
        assert_eq!(days("1969-12-31 18:00"), Some(-0.25));
        for bad in [
            "18.11.2026",
            "2026-13-01",
            "2026-11",
            "26-11-18",
            "x",
            "2026-11-18-1",
        ] {
            assert_eq!(days(bad), None, "{bad}");
        }
    }
}
