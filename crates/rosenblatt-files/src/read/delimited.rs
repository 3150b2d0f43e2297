//! Records of cells: CSV as RFC 4180 has it, TSV, and their relatives.
//!
//! A quote opens a quoted cell only as the very first byte of a cell; inside, two quotes
//! stand for one. Blanks around an unquoted cell are not part of it. TSV has no quoting.

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use rosenblatt_core::Error;

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delimiter {
    /// One byte: a comma, a semicolon, a tab, a bar.
    Byte(u8),
    /// Any number of spaces and tabs.
    Blanks,
}

impl Delimiter {
    /// Whether it cannot be mistaken for a part of a number, a quote or a line end.
    pub(crate) fn is_usable(self) -> bool {
        match self {
            Delimiter::Blanks => true,
            Delimiter::Byte(b) => {
                b.is_ascii() && !b.is_ascii_alphanumeric() && !b"\"\r\n+-.\0".contains(&b)
            }
        }
    }

    /// Its name in reports.
    pub fn name(self) -> String {
        match self {
            Delimiter::Byte(b',') => "comma".into(),
            Delimiter::Byte(b';') => "semicolon".into(),
            Delimiter::Byte(b'\t') => "tab".into(),
            Delimiter::Byte(b'|') => "bar".into(),
            Delimiter::Byte(other) => char::from(other).to_string(),
            Delimiter::Blanks => "blanks".into(),
        }
    }
}

/// How records and cells are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: Delimiter,
    pub(crate) quoting: bool,
    /// Lines that start with this are skipped.
    pub(crate) comment: Option<Vec<u8>>,
}

/// A cell found in a chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) start: usize,
    pub(crate) end: usize,
    doubled: bool,
    /// Where the next cell, or the next record, starts.
    pub(crate) next: usize,
    /// Whether it is the last of its record.
    pub(crate) last: bool,
}

/// Why there is no cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellError {
    /// The quote at this place is never closed.
    Unclosed(usize),
    /// Text follows the closing quote, here.
    AfterQuote(usize),
}

impl CellError {
    /// Where the fault is, and what to do about it.
    pub(crate) fn told(self) -> (usize, Error) {
        match self {
            CellError::Unclosed(at) => (
                at,
                Error::data("the quote that opens here is never closed")
                    .remedy("close it, or pass ⟨format tsv⟩ if quotes are ordinary characters"),
            ),
            CellError::AfterQuote(at) => (
                at,
                Error::data("there is text behind the closing quote")
                    .remedy("write a quote inside quotes twice"),
            ),
        }
    }
}

impl Cell {
    /// What the cell says.
    pub(crate) fn bytes<'a>(&self, data: &'a [u8]) -> Cow<'a, [u8]> {
        let raw = &data[self.start..self.end];
        if !self.doubled {
            return raw.into();
        }
        let mut text = Vec::with_capacity(raw.len());
        let mut skip = false;
        for &b in raw {
            skip = b == b'"' && !skip;
            if !skip {
                text.push(b);
            }
        }
        // Every pair lost its first quote.
        text.into()
    }
}

fn is_blank(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

fn skip_blanks(data: &[u8], mut at: usize) -> usize {
    while data.get(at).is_some_and(|&b| is_blank(b)) {
        at += 1;
    }
    at
}

/// The start of the next record at or after `at`: behind blank lines and comments.
#[inline]
pub(crate) fn next_record(data: &[u8], mut at: usize, dialect: &Dialect) -> Option<usize> {
    loop {
        let first = *data.get(at)?;
        if let Some(comment) = &dialect.comment
            && data[at..].starts_with(comment)
        {
            at = memchr(b'\n', &data[at..]).map_or(data.len(), |n| at + n + 1);
            continue;
        }
        if first > b' ' {
            return Some(at);
        }
        // A line of nothing but blanks holds no record. A tab may delimit empty cells.
        let mut end = at;
        while data.get(end).is_some_and(|&b| {
            b == b' ' || b == b'\r' || (b == b'\t' && dialect.delimiter != Delimiter::Byte(b'\t'))
        }) {
            end += 1;
        }
        match data.get(end) {
            None => return None,
            Some(b'\n') => at = end + 1,
            Some(_) => return Some(at),
        }
    }
}

/// The cell that starts at `at` in data that end with a newline.
pub(crate) fn next_cell(data: &[u8], at: usize, dialect: &Dialect) -> Result<Cell, CellError> {
    let at = match dialect.delimiter {
        Delimiter::Blanks => skip_blanks(data, at),
        Delimiter::Byte(_) => at,
    };
    if dialect.quoting && data.get(at) == Some(&b'"') {
        return quoted_cell(data, at, dialect);
    }
    let stop = unquoted_end(data, at, dialect);
    let (mut start, mut end) = (at, stop);
    if data.get(stop) == Some(&b'\n') && end > start && data[end - 1] == b'\r' {
        end -= 1;
    }
    while start < end && is_blank(data[start]) {
        start += 1;
    }
    while end > start && is_blank(data[end - 1]) {
        end -= 1;
    }
    let (next, last) = behind(data, stop, dialect);
    Ok(Cell {
        start,
        end,
        doubled: false,
        next,
        last,
    })
}

/// Where the unquoted text at `at` ends: at a delimiter, a newline or the end of the data.
#[inline]
fn unquoted_end(data: &[u8], at: usize, dialect: &Dialect) -> usize {
    match dialect.delimiter {
        Delimiter::Byte(delimiter) => find(data, at, delimiter),
        Delimiter::Blanks => {
            let mut end = at;
            while data.get(end).is_some_and(|&b| !is_blank(b) && b != b'\n') {
                end += 1;
            }
            end
        }
    }
}

/// Where to go on behind the cell that the unquoted text at `at` belongs to, and whether it
/// was the last of its record.
pub(crate) fn cell_end(data: &[u8], at: usize, dialect: &Dialect) -> (usize, bool) {
    behind(data, unquoted_end(data, at, dialect), dialect)
}

/// The first delimiter or newline at or after `at`; the end of the data without one.
#[inline]
fn find(data: &[u8], at: usize, delimiter: u8) -> usize {
    // Cells are mostly short: a plain loop first, then the long-range search.
    let near = &data[at.min(data.len())..data.len().min(at + 24)];
    match near.iter().position(|&b| b == delimiter || b == b'\n') {
        Some(n) => at + n,
        None => {
            let from = at + near.len();
            memchr2(delimiter, b'\n', &data[from.min(data.len())..])
                .map_or(data.len(), |n| from + n)
        }
    }
}

/// Where to go on behind the delimiter or newline at `stop`, and whether it was a newline.
fn behind(data: &[u8], stop: usize, dialect: &Dialect) -> (usize, bool) {
    match (dialect.delimiter, data.get(stop)) {
        (_, None | Some(b'\n')) => (stop + 1, true),
        (Delimiter::Byte(_), _) => (stop + 1, false),
        (Delimiter::Blanks, _) => {
            let next = skip_blanks(data, stop);
            match data.get(next) {
                None | Some(b'\n') => (next + 1, true),
                Some(b'\r') if data.get(next + 1) == Some(&b'\n') => (next + 2, true),
                Some(_) => (next, false),
            }
        }
    }
}

fn quoted_cell(data: &[u8], open: usize, dialect: &Dialect) -> Result<Cell, CellError> {
    let mut at = open + 1;
    let mut doubled = false;
    let close = loop {
        match memchr(b'"', &data[at.min(data.len())..]) {
            None => return Err(CellError::Unclosed(open)),
            Some(n) if data.get(at + n + 1) == Some(&b'"') => {
                doubled = true;
                at += n + 2;
            }
            Some(n) => break at + n,
        }
    };
    let mut stop = close + 1;
    if let Delimiter::Byte(delimiter) = dialect.delimiter {
        while data
            .get(stop)
            .is_some_and(|&b| is_blank(b) && b != delimiter)
        {
            stop += 1;
        }
    }
    if data.get(stop) == Some(&b'\r') && data.get(stop + 1) == Some(&b'\n') {
        stop += 1;
    }
    let ends = match (dialect.delimiter, data.get(stop)) {
        (_, None | Some(b'\n')) => true,
        (Delimiter::Byte(delimiter), Some(&b)) => b == delimiter,
        (Delimiter::Blanks, Some(&b)) => is_blank(b),
    };
    if !ends {
        return Err(CellError::AfterQuote(stop));
    }
    let (next, last) = behind(data, stop, dialect);
    Ok(Cell {
        start: open + 1,
        end: close,
        doubled,
        next,
        last,
    })
}

/// The number of cells in the record at `at`, and where the next one starts. A faulty
/// quote ends the count.
pub(crate) fn count_cells(data: &[u8], mut at: usize, dialect: &Dialect) -> (usize, usize) {
    let mut count = 0;
    loop {
        count += 1;
        match next_cell(data, at, dialect) {
            Ok(cell) if !cell.last => at = cell.next,
            Ok(cell) => return (count, cell.next),
            Err(_) => return (count, data.len()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
