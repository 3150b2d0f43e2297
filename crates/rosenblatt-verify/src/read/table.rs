//! Delimited tables: CSV (RFC 4180), the same without quotes, or cells between blanks.

use super::lines::Lines;
use super::{Row, Stop, is_blank, shown};
use crate::certificate::{Certificate, Column, Table};
use crate::number::{self, Decimal};
use crate::outcome::Flaw;
use std::io::{self, Read};
use std::ops::Range;

const ONE: Decimal = Decimal::Small {
    mantissa: 1,
    exponent: 0,
};

pub(super) fn read<R: Read>(
    certificate: &Certificate,
    table: &Table,
    lines: &mut Lines<'_, R>,
    names: &mut Option<Vec<String>>,
    row: &mut Row,
    visit: &mut impl FnMut(&Row) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut record = Record::default();
    if table.header && record.start(lines)? {
        let mut found = Vec::new();
        while let Some(cell) = record.next(table, lines)?.map_err(Flaw::new)? {
            found.push(String::from_utf8_lossy(record.text(cell)).into_owned());
        }
        match names {
            Some(first) if !first.is_empty() && *first != found => {
                let file = row.file.unwrap_or(1);
                let reason = format!("the header of file {file} is another than that of the first");
                return Err(Flaw::new(reason).into());
            }
            _ => *names = Some(found),
        }
    }
    while record.start(lines)? {
        row.start(certificate, lines.number);
        for (place, (column, first)) in table.columns.iter().enumerate() {
            // The usual case first: a number, and the cell is over.
            if let Column::Numeric { .. } = column
                && let Some(value) = record.number(table)
            {
                row.push(*first, value);
                continue;
            }
            let cell = record.next(table, lines)?.map_err(|what| row.flaw(what))?;
            let Some(cell) = cell else {
                let columns = table.columns.len();
                return Err(row.flaw(format!("{place} cells, not {columns}")).into());
            };
            if let Column::Label = column {
                row.label(certificate, record.text(cell))?;
            } else if let Err(what) = code(column, *first, record.text(cell), row) {
                return Err(row.flaw(format!("column {place}: {what}")).into());
            }
        }
        if record
            .next(table, lines)?
            .map_err(|what| row.flaw(what))?
            .is_some()
        {
            let columns = table.columns.len();
            return Err(row.flaw(format!("more than {columns} cells")).into());
        }
        row.finish(true);
        visit(row)?;
    }
    Ok(())
}

/// A cell without a value.
fn is_missing(cell: &[u8]) -> bool {
    matches!(cell, b"" | b"?" | b"NA" | b"NaN" | b"nan")
}

/// The words of a text cell.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Adds the features that `cell` becomes; `first` is the column's first feature.
fn code(column: &Column, first: u32, cell: &[u8], row: &mut Row) -> Result<(), String> {
    match column {
        Column::Label | Column::Ignore => {}
        Column::Numeric { or_missing } => match number::decimal(cell) {
            Some(value) => row.push(first, value),
            None if *or_missing && is_missing(cell) => row.push(first + 1, ONE),
            None => return Err(format!("{} is not a number", shown(cell))),
        },
        Column::Category { levels } => {
            let level: &[u8] = if is_missing(cell) { b"?" } else { cell };
            match levels.get(level) {
                Some(0) => {} // the reference level
                Some(place) => row.push(first + place - 1, ONE),
                None => return Err(format!("{} is not a listed level", shown(level))),
            }
        }
        Column::Text {
            words: places,
            or_missing,
        } => {
            if is_missing(cell) {
                if *or_missing {
                    row.push(first + places.len() as u32, ONE);
                }
                return Ok(());
            }
            let text = std::str::from_utf8(cell).map_err(|_| "a text that is not UTF-8")?;
            let found = words(text).filter_map(|word| places.get(word.as_bytes()).copied());
            let mut found: Vec<u32> = found.collect();
            found.sort_unstable();
            for run in found.chunk_by(|a, b| a == b) {
                let mantissa = run.len() as i64;
                row.push(
                    first + run[0],
                    Decimal::Small {
                        mantissa,
                        exponent: 0,
                    },
                );
            }
        }
    }
    Ok(())
}

/// A record, given out cell by cell.
#[derive(Default)]
struct Record {
    /// The lines of the record; more than one where a quoted cell holds a line end.
    line: Vec<u8>,
    /// Where the next cell starts; none behind the last.
    at: Option<usize>,
    /// The cell without its quotes, if it had them.
    unquoted: Vec<u8>,
}

enum Cell {
    Plain(Range<usize>),
    Unquoted,
}

impl Record {
    /// Goes to the next record.
    fn start<R: Read>(&mut self, lines: &mut Lines<'_, R>) -> io::Result<bool> {
        self.at = Some(0);
        lines.next(&mut self.line)
    }

    fn text(&self, cell: Cell) -> &[u8] {
        match cell {
            Cell::Plain(range) => &self.line[range],
            Cell::Unquoted => &self.unquoted,
        }
    }

    /// Takes the next cell if it is a number and nothing else.
    fn number(&mut self, table: &Table) -> Option<Decimal> {
        let start = self.at?;
        let (value, length) = number::leading_decimal(&self.line[start..])?;
        let end = start + length;
        if self.line.get(end) != Some(&table.delimiter) {
            return None;
        }
        self.at = Some(end + 1);
        Some(value)
    }

    /// Takes the next cell; none behind the last.
    fn next<R: Read>(
        &mut self,
        table: &Table,
        lines: &mut Lines<'_, R>,
    ) -> io::Result<Result<Option<Cell>, &'static str>> {
        let Some(start) = self.at else {
            return Ok(Ok(None));
        };
        if table.delimiter == b' ' {
            return Ok(Ok(self.between_blanks(start)));
        }
        let (cell, end) = if table.quoting && self.line.get(start) == Some(&b'"') {
            match self.quoted(start + 1, lines)? {
                Some(end) => (Cell::Unquoted, end),
                None => return Ok(Err("a quote is not closed")),
            }
        } else {
            self.plain(start, table.delimiter)
        };
        self.at = match self.line[end..] {
            [byte, ..] if byte == table.delimiter => Some(end + 1),
            [] | [b'\n'] | [b'\r'] | [b'\r', b'\n'] => None,
            _ => return Ok(Err("text follows a closing quote")),
        };
        Ok(Ok(Some(cell)))
    }

    /// A cell without quotes goes up to the delimiter or the end; blanks around it are not
    /// part of it.
    fn plain(&self, start: usize, delimiter: u8) -> (Cell, usize) {
        let mut rest = self.line[start..].iter();
        let length = rest.position(|&byte| byte == delimiter || byte == b'\n');
        let end = length.map_or(self.line.len(), |length| start + length);
        let (mut first, mut last) = (start, end);
        while first < last && is_blank(self.line[first]) {
            first += 1;
        }
        while first < last && is_blank(self.line[last - 1]) {
            last -= 1;
        }
        (Cell::Plain(first..last), end)
    }

    /// A quoted cell, from behind its opening quote; gives the place behind the closing one.
    fn quoted<R: Read>(
        &mut self,
        mut at: usize,
        lines: &mut Lines<'_, R>,
    ) -> io::Result<Option<usize>> {
        self.unquoted.clear();
        loop {
            let rest = &self.line[at..];
            let length = rest.iter().position(|&byte| byte == b'"');
            let held = &rest[..length.unwrap_or(rest.len())];
            self.unquoted.extend_from_slice(held);
            match length {
                None => {
                    at = self.line.len();
                    if !lines.append(&mut self.line)? {
                        return Ok(None);
                    }
                }
                Some(length) if rest.get(length + 1) == Some(&b'"') => {
                    self.unquoted.push(b'"');
                    at += length + 2;
                }
                Some(length) => return Ok(Some(at + length + 1)),
            }
        }
    }

    fn between_blanks(&mut self, start: usize) -> Option<Cell> {
        let outside = |byte: &u8| is_blank(*byte) || *byte == b'\n';
        let mut rest = self.line[start..].iter();
        let skipped = rest.position(|byte| !outside(byte));
        let first = start + skipped?;
        let length = self.line[first..].iter().position(outside);
        let end = length.map_or(self.line.len(), |length| first + length);
        self.at = Some(end);
        Some(Cell::Plain(first..end))
    }
}
