//! Records of cells: CSV as RFC 4180 has it, TSV, and their relatives.
//!
//! A quote opens a quoted cell only as the very first byte of a cell; inside, two quotes
//! stand for one. Blanks around an unquoted cell are not part of it. TSV has no quoting.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::chunk::{Chunk, Cut};
use super::number;

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

impl Dialect {
    /// Where chunks may be cut.
    pub(crate) fn cut(&self) -> Cut {
        Cut::Table(self.clone())
    }
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

/// The records of a chunk's beginning as texts, at most `limit`; faulty quotes end the list.
pub(crate) fn sample_records(chunk: &Chunk, dialect: &Dialect, limit: usize) -> Vec<Vec<Vec<u8>>> {
    let data = chunk.data();
    let mut records = Vec::new();
    let mut at = 0;
    while let Some(start) = next_record(data, at, dialect) {
        at = start;
        let mut cells = Vec::new();
        loop {
            match next_cell(data, at, dialect) {
                Ok(cell) => {
                    cells.push(cell.bytes(data).into_owned());
                    at = cell.next;
                    if cell.last {
                        break;
                    }
                }
                Err(_) => return records,
            }
        }
        records.push(cells);
        if records.len() == limit {
            break;
        }
    }
    records
}

/// The delimiter that cuts most of the first records into the same number of cells.
pub(crate) fn sniff(chunk: &Chunk, quoting: bool, comment: Option<&[u8]>) -> Option<Delimiter> {
    let candidates = [
        Delimiter::Byte(b','),
        Delimiter::Byte(b'\t'),
        Delimiter::Byte(b';'),
        Delimiter::Byte(b'|'),
        Delimiter::Blanks,
    ];
    let mut best: Option<(f64, Delimiter)> = None;
    for delimiter in candidates {
        let dialect = Dialect {
            delimiter,
            quoting,
            comment: comment.map(<[u8]>::to_vec),
        };
        let mut widths = Vec::new();
        let mut at = 0;
        while let Some(start) = next_record(chunk.data(), at, &dialect) {
            let (width, next) = count_cells(chunk.data(), start, &dialect);
            widths.push(width);
            at = next;
            if widths.len() == 100 {
                break;
            }
        }
        let mut sorted = widths.clone();
        sorted.sort_unstable();
        let Some(&usual) = sorted.get(sorted.len() / 2) else {
            continue;
        };
        if usual < 2 {
            continue;
        }
        let agreeing = widths.iter().filter(|&&w| w == usual).count();
        let share = agreeing as f64 / widths.len() as f64;
        if best.is_none_or(|(other, _)| share > other) {
            best = Some((share, delimiter));
        }
    }
    best.filter(|(share, _)| *share > 0.5).map(|(_, d)| d)
}

/// Texts that stand for a value that is not there.
#[inline]
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    matches!(cell, b"" | b"?" | b"NA" | b"NaN" | b"nan")
}

/// Names that a label column goes by.
pub(crate) fn names_the_label(cell: &[u8]) -> bool {
    ["label", "class", "target", "y"]
        .iter()
        .any(|n| cell.eq_ignore_ascii_case(n.as_bytes()))
}

/// Whether the first of these records names the columns of the others.
pub(crate) fn looks_like_header(records: &[Vec<Vec<u8>>]) -> bool {
    let Some((first, rest)) = records.split_first() else {
        return false;
    };
    // A first line of another width is a preamble at best; only the user can say so.
    let mut widths: Vec<usize> = rest.iter().map(Vec::len).collect();
    widths.sort_unstable();
    if widths.get(widths.len() / 2) != Some(&first.len()) {
        return false;
    }
    let numeric = |cell: &[u8]| number::whole::<f64>(cell).is_some();
    let counts_from = |start: usize| {
        first
            .iter()
            .enumerate()
            .all(|(i, c)| *c == (i + start).to_string().as_bytes())
    };
    // The plain numbering that data frames write out when nobody named the columns.
    if first.len() >= 3 && counts_from(0) && rest.iter().any(|r| r != first) {
        return true;
    }
    if first.iter().any(|c| names_the_label(c)) {
        return true;
    }
    if stands_apart(first, rest) {
        return true;
    }
    first.iter().enumerate().any(|(i, cell)| {
        let mut below = rest
            .iter()
            .filter_map(|r| r.get(i))
            .filter(|c| !is_missing(c))
            .peekable();
        !numeric(cell) && !is_missing(cell) && below.peek().is_some() && below.all(|c| numeric(c))
    })
}

/// Whether no cell of the first record is a value of its column: every column whose values
/// repeat lacks it, and there is such a column.
fn stands_apart(first: &[Vec<u8>], rest: &[Vec<Vec<u8>>]) -> bool {
    const ENOUGH: usize = 8;
    let name = |cell: &Vec<u8>| number::whole::<f64>(cell).is_none() && !is_missing(cell);
    let distinct: std::collections::HashSet<&[u8]> = first.iter().map(Vec::as_slice).collect();
    if rest.len() < ENOUGH || distinct.len() < first.len() || !first.iter().all(name) {
        return false;
    }
    let mut repeating = 0;
    for (i, cell) in first.iter().enumerate() {
        let below: Vec<&[u8]> = rest
            .iter()
            .filter_map(|r| r.get(i))
            .map(Vec::as_slice)
            .collect();
        let values: std::collections::HashSet<&[u8]> = below.iter().copied().collect();
        if values.len() * 4 <= below.len() {
            if values.contains(cell.as_slice()) {
                return false;
            }
            repeating += 1;
        }
    }
    repeating > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_record_that_stands_apart_is_a_header() {
        let comma = dialect(Delimiter::Byte(b','));
        let header = |text: &str| {
            let chunk = Chunk::from_bytes(text.as_bytes());
            looks_like_header(&sample_records(&chunk, &comma, usize::MAX))
        };
        let reviews: String = (0..12)
            .map(|i| format!("words number {i},{}\n", ["good", "bad"][i % 2]))
            .collect();
        assert!(header(&format!("review,sentiment\n{reviews}")));
        assert!(!header(&format!("some other words,good\n{reviews}")));
        assert!(!header(&reviews));
    }

    pub(crate) fn dialect(delimiter: Delimiter) -> Dialect {
        Dialect {
            delimiter,
            quoting: true,
            comment: None,
        }
    }

    fn cells(text: &str, dialect: &Dialect) -> Vec<Vec<String>> {
        sample_records(&Chunk::from_bytes(text.as_bytes()), dialect, usize::MAX)
            .into_iter()
            .map(|r| {
                r.into_iter()
                    .map(|c| String::from_utf8(c).unwrap())
                    .collect()
            })
            .collect()
    }

    #[test]
    fn cells_are_what_rfc_4180_says() {
        let comma = dialect(Delimiter::Byte(b','));
        assert_eq!(
            cells(
                "a, b ,\"c, \"\"d\"\"\n e\"\r\n\r\n  \n,,\n5\" x,\"\",\"\"\"\"\n",
                &comma
            ),
            vec![
                vec!["a", "b", "c, \"d\"\n e"],
                vec!["", "", ""],
                vec!["5\" x", "", "\""]
            ]
        );
        let chunk = Chunk::from_bytes(b"a,\"b\nc");
        assert_eq!(
            next_cell(chunk.data(), 2, &comma).err(),
            Some(CellError::Unclosed(2))
        );
        let chunk = Chunk::from_bytes(b"\"b\"c,d");
        assert_eq!(
            next_cell(chunk.data(), 0, &comma).err(),
            Some(CellError::AfterQuote(3))
        );
    }

    #[test]
    fn blanks_and_tabs_delimit() {
        let blanks = dialect(Delimiter::Blanks);
        assert_eq!(
            cells("  1  2\t3 \r\n4 \"5 6\" 7\n", &blanks),
            vec![vec!["1", "2", "3"], vec!["4", "5 6", "7"]]
        );
        let tabs = Dialect {
            quoting: false,
            ..dialect(Delimiter::Byte(b'\t'))
        };
        assert_eq!(
            cells("a\t\"b\n\t\n", &tabs),
            vec![vec!["a", "\"b"], vec!["", ""]]
        );
        let comments = Dialect {
            comment: Some(b"|".to_vec()),
            ..dialect(Delimiter::Byte(b','))
        };
        assert_eq!(cells("|x,\"\na,b\n", &comments), vec![vec!["a", "b"]]);
    }

    #[test]
    fn the_delimiter_is_found() {
        let find = |t: &str| sniff(&Chunk::from_bytes(t.as_bytes()), true, None);
        assert_eq!(find("1,2\n3,4\n"), Some(Delimiter::Byte(b',')));
        assert_eq!(find("a;b, c\nd;e\n"), Some(Delimiter::Byte(b';')));
        assert_eq!(find("1 2  3\n 4 5 6\n"), Some(Delimiter::Blanks));
        assert_eq!(
            find("ham\tGo, now\nspam\tcall, now, or\n"),
            Some(Delimiter::Byte(b'\t'))
        );
        assert_eq!(find("a|b\nc|d\n"), Some(Delimiter::Byte(b'|')));
        assert_eq!(find("1\n2\n"), None);
    }

    #[test]
    fn headers_are_told_from_data() {
        let header = |t: &str| {
            looks_like_header(&sample_records(
                &Chunk::from_bytes(t.as_bytes()),
                &dialect(Delimiter::Byte(b',')),
                100,
            ))
        };
        assert!(header("a,b\n1,x\n2,y\n"));
        assert!(header("text,class\nfoo,bar\n"));
        assert!(header("0,1,2\n1,5,6\n"));
        assert!(header("150,4,setosa\n5.1,3.5,0\n"));
        assert!(!header("39,State-gov,<=50K\n50,Private,>50K\n"));
        assert!(!header("ham,hello there\nspam,win\n"));
        assert!(!header("1,2,3\n4,5,6\n"));
        assert!(!header("a,b\n"));
        assert!(!header("preamble\n1,2\n3,4\n"));
        assert!(!header("?,1\n2,3\n"));
    }
}
