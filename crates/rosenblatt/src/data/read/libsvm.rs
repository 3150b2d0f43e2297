//! libsvm (svmlight) text: `label index:value …`, a row on each line.
//!
//! Indices may count from 0 or from 1; an index 0 anywhere means from 0. They are kept as
//! written until the whole file is known. Zeros are not stored but count for the width.
//! Rows may be unsorted (they are sorted) but no index may come twice.

use memchr::memchr;

use super::chunk::Chunk;
use super::faults::{Faults, OnError, overlong, quote};
use super::labels::{ABSENT, LabelSink};
use super::number::{self, Stored, leading_digits, load};
use super::report::LongDecimal;
use crate::data::Values;
use crate::error::{Error, Result};

/// What is asked of the rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    /// Whether a row without a label is a fault.
    pub(crate) labels_required: bool,
    /// Whether an index 0 is a fault, because a model counts from 1.
    pub(crate) from_one: bool,
    pub(crate) on_error: OnError,
    pub(crate) keep_long_decimals: bool,
}

/// The rows of a chunk.
#[derive(Debug)]
pub(crate) struct SparsePart {
    /// The end of each row in `indices` and `values`.
    pub(crate) ends: Vec<u32>,
    /// As written in the file, ascending within a row.
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Values,
    pub(crate) labels: LabelSink,
    pub(crate) smallest: u32,
    /// One past the largest index.
    pub(crate) width: u64,
    pub(crate) qids: u64,
    pub(crate) unsorted: u64,
    pub(crate) long: Vec<LongDecimal>,
    pub(crate) faults: Faults,
}

impl SparsePart {
    pub(crate) fn rows(&self) -> usize {
        self.ends.len()
    }

    /// The place of row `i` in the arrays.
    #[inline]
    pub(crate) fn range(&self, i: usize) -> std::ops::Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        start..self.ends[i] as usize
    }
}

struct Parser<'a, T> {
    chunk: &'a Chunk,
    bytes: &'a [u8],
    rules: Rules,
    ends: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<T>,
    labels: LabelSink,
    smallest: u32,
    width: u64,
    qids: u64,
    unsorted: u64,
    long: Vec<LongDecimal>,
    faults: Faults,
}

/// Reads the rows of a chunk.
pub(crate) fn parse<T: Stored>(chunk: &Chunk, rules: Rules) -> SparsePart {
    let mut parser = Parser::<T> {
        chunk,
        bytes: chunk.padded(),
        rules,
        ends: Vec::new(),
        indices: Vec::with_capacity(chunk.len() / 8),
        values: Vec::with_capacity(chunk.len() / 8),
        labels: LabelSink::default(),
        smallest: u32::MAX,
        width: 0,
        qids: 0,
        unsorted: 0,
        long: Vec::new(),
        faults: Faults::default(),
    };
    parser.faults.measure(chunk);
    parser.run();
    parser.indices.shrink_to_fit();
    parser.values.shrink_to_fit();
    SparsePart {
        ends: parser.ends,
        indices: parser.indices,
        values: T::wrap(parser.values),
        labels: parser.labels,
        smallest: parser.smallest,
        width: parser.width,
        qids: parser.qids,
        unsorted: parser.unsorted,
        long: parser.long,
        faults: parser.faults,
    }
}

#[inline(always)]
fn is_blank(b: u8) -> bool {
    b == b' ' || b == b'\t' || b == b'\r'
}

impl<T: Stored> Parser<'_, T> {
    fn run(&mut self) {
        if self.chunk.overlong {
            let fault = overlong(1);
            self.faults.add(fault, OnError::Fail);
            return;
        }
        let mut at = 0;
        while at < self.chunk.len() {
            let kept = (
                self.indices.len(),
                self.labels.codes.len(),
                self.qids,
                self.unsorted,
                self.long.len(),
                self.smallest,
            );
            match self.line(at) {
                Ok(next) => at = next,
                Err(error) => {
                    if !self.faults.add(error, self.rules.on_error) {
                        return;
                    }
                    self.indices.truncate(kept.0);
                    self.values.truncate(kept.0);
                    self.labels.codes.truncate(kept.1);
                    (self.qids, self.unsorted) = (kept.2, kept.3);
                    self.long.truncate(kept.4);
                    self.smallest = kept.5;
                    at = self.line_end(at) + 1;
                }
            }
        }
    }

    fn line_end(&self, at: usize) -> usize {
        memchr(b'\n', &self.bytes[at..self.chunk.len()]).map_or(self.chunk.len(), |n| at + n)
    }

    fn fault(&self, at: usize, error: Error) -> Error {
        let (line, column) = self.chunk.position(at);
        error.at(line, column)
    }

    /// Reads the line at `at`; gives the start of the next one.
    #[inline]
    fn line(&mut self, mut at: usize) -> Result<usize> {
        let bytes = self.bytes;
        while is_blank(bytes[at]) {
            at += 1;
        }
        match bytes[at] {
            b'\n' => return Ok(at + 1),
            b'#' => return Ok(self.line_end(at) + 1),
            _ => {}
        }
        at = self.label(at)?;
        let start = self.indices.len();
        let mut least = 0u64; // the smallest index that keeps the row ascending
        let mut ascending = true;
        let mut highest = 0u64;
        loop {
            while is_blank(bytes[at]) {
                at += 1;
            }
            let (mut index, digits) = leading_digits(load(bytes, at));
            let token = at;
            at += digits as usize;
            if bytes[at] != b':' || digits == 0 {
                match bytes[token] {
                    b'\n' => {
                        at = token + 1;
                        break;
                    }
                    b'#' => {
                        at = self.line_end(token) + 1;
                        break;
                    }
                    _ => match self.odd_token(token)? {
                        Odd::Index(value, colon) => (index, at) = (value, colon),
                        Odd::Query(end) => {
                            at = end;
                            continue;
                        }
                    },
                }
            }
            let Some(decimal) = number::scan(bytes, at + 1) else {
                return Err(self.bad_value(token, at + 1));
            };
            at = decimal.end;
            if bytes[at] > b' ' && bytes[at] != b'#' || bytes[at] == 0 {
                return Err(self.bad_value(token, decimal_start(token, bytes)));
            }
            let value = T::from_decimal(&decimal, bytes);
            if !value.finite() {
                let error = number::too_large::<T>(decimal.text(bytes));
                return Err(self.fault(decimal_start(token, bytes), error));
            }
            ascending &= index >= least;
            least = index + 1;
            highest = highest.max(least);
            if index == 0 {
                self.index_zero(token)?;
            }
            if self.rules.keep_long_decimals && decimal.is_long(bytes) {
                self.long.push(LongDecimal {
                    row: self.ends.len() as u64,
                    column: index as u32,
                    text: decimal.text(bytes).to_owned(),
                });
            }
            if value != T::ZERO {
                self.indices.push(index as u32);
                self.values.push(value);
            } else {
                // Zeros count for the smallest index and for order, but are not kept.
                self.smallest = self.smallest.min(index as u32);
            }
        }
        if !ascending {
            self.sort_row(start, at)?;
        }
        if let Some(&first) = self.indices[start..].first() {
            self.smallest = self.smallest.min(first);
        }
        self.width = self.width.max(highest);
        self.ends.push(self.indices.len() as u32);
        Ok(at)
    }

    /// Reads the label at `at`, if there is one.
    #[inline]
    fn label(&mut self, at: usize) -> Result<usize> {
        let bytes = self.bytes;
        let mut end = at;
        while bytes[end] > b' ' && bytes[end] != b':' && bytes[end] != b'#' {
            end += 1;
        }
        if bytes[end] == b':' {
            if self.rules.labels_required {
                let token = &bytes[at..end];
                let error = Error::data(format!(
                    "expected a label, found {}…",
                    quote(&bytes[at..=end])
                ));
                let known = token == b"qid" || token.iter().all(u8::is_ascii_digit);
                return Err(self.fault(
                    at,
                    error.remedy(if known {
                        "every row starts with its label"
                    } else {
                        "a label must not contain a colon"
                    }),
                ));
            }
            self.labels.codes.push(ABSENT);
            return Ok(at);
        }
        match self.labels.push(bytes, at, end) {
            Ok(()) => Ok(end),
            Err((place, error)) => Err(self.fault(place, error)),
        }
    }

    #[cold]
    fn index_zero(&self, token: usize) -> Result<()> {
        if !self.rules.from_one {
            return Ok(());
        }
        let error = Error::data("found the index 0, but the model's features count from 1");
        Err(self.fault(token, error.remedy("renumber the file's indices from 1")))
    }

    /// A token that does not start with up to eight digits and a colon.
    #[cold]
    fn odd_token(&mut self, token: usize) -> Result<Odd> {
        let bytes = self.bytes;
        let mut end = token;
        while !bytes[end].is_ascii_whitespace() && end < self.chunk.len() {
            end += 1;
        }
        let text = &bytes[token..end];
        let Some(colon) = memchr(b':', text) else {
            let error = Error::data(format!("expected index:value, found {}", quote(text)));
            return Err(self.fault(
                token,
                error.remedy("check that this is a libsvm file, or pass --format"),
            ));
        };
        let index = &text[..colon];
        if index == b"qid" {
            self.qids += 1;
            return Ok(Odd::Query(end));
        }
        if index.is_empty() || !index.iter().all(u8::is_ascii_digit) {
            let error = Error::data(format!("expected index:value, found {}", quote(text)));
            return Err(self.fault(token, error.remedy("indices are whole numbers from 0 or 1")));
        }
        let value = std::str::from_utf8(index)
            .ok()
            .and_then(|t| t.parse::<u64>().ok());
        match value {
            Some(value) if value < u64::from(u32::MAX) => Ok(Odd::Index(value, token + colon)),
            _ => {
                let error = Error::data(format!("the index {} is too large", quote(index)));
                Err(self.fault(
                    token,
                    error.remedy(format!("indices go up to {}", u32::MAX - 1)),
                ))
            }
        }
    }

    #[cold]
    fn bad_value(&self, token: usize, value: usize) -> Error {
        let bytes = self.bytes;
        let mut end = value;
        while !bytes[end].is_ascii_whitespace() && end < self.chunk.len() {
            end += 1;
        }
        let index = String::from_utf8_lossy(&bytes[token..value - 1]).into_owned();
        let error = Error::data(format!(
            "expected a number for feature {index}, found {}",
            quote(&bytes[value..end])
        ));
        self.fault(value, error.remedy("values are decimals such as -1.5e-3"))
    }

    #[cold]
    fn sort_row(&mut self, start: usize, line_end: usize) -> Result<()> {
        let mut pairs: Vec<(u32, T)> = self.indices[start..]
            .iter()
            .copied()
            .zip(self.values[start..].iter().copied())
            .collect();
        pairs.sort_by_key(|p| p.0);
        self.unsorted += 1;
        for (k, (index, value)) in pairs.into_iter().enumerate() {
            self.indices[start + k] = index;
            self.values[start + k] = value;
        }
        self.refuse_repeats(line_end)
    }

    /// Looks at an unsorted line again, zeros included, for an index that comes twice.
    fn refuse_repeats(&self, line_end: usize) -> Result<()> {
        let start = memchr::memrchr(b'\n', &self.bytes[..line_end - 1]).map_or(0, |n| n + 1);
        let line = &self.bytes[start..line_end];
        let line = &line[..memchr(b'#', line).unwrap_or(line.len())];
        let mut seen = std::collections::HashSet::new();
        let mut at = 0;
        for token in line.split(u8::is_ascii_whitespace) {
            if let Some(colon) = memchr(b':', token) {
                let (index, _) = leading_digits_of(&token[..colon]);
                if token[..colon].iter().all(u8::is_ascii_digit) && !seen.insert(index) {
                    let error = Error::data(format!("the index {index} comes twice in this row"));
                    return Err(self.fault(start + at, error.remedy("give each feature one value")));
                }
            }
            at += token.len() + 1;
        }
        Ok(())
    }
}

fn leading_digits_of(text: &[u8]) -> (u64, usize) {
    let value = text.iter().fold(0u64, |v, &b| {
        v.wrapping_mul(10)
            .wrapping_add(u64::from(b.wrapping_sub(b'0')))
    });
    (value, text.len())
}

fn decimal_start(token: usize, bytes: &[u8]) -> usize {
    memchr(b':', &bytes[token..]).map_or(token, |n| token + n + 1)
}

enum Odd {
    /// An index written in full and the place of its colon.
    Index(u64, usize),
    /// A query id that ends here.
    Query(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> SparsePart {
        let rules = Rules {
            labels_required: true,
            ..Rules::default()
        };
        parse::<f32>(&Chunk::from_bytes(text.as_bytes()), rules)
    }

    fn row(part: &SparsePart, i: usize) -> Vec<(u32, f64)> {
        part.range(i)
            .map(|k| (part.indices[k], part.values.get(k)))
            .collect()
    }

    #[test]
    fn rows_are_read_as_written() {
        let part = read(
            "+1 1:0.5 3:-2e1\t10:7 # tail 5:5\r\n\n  # only\n-1\n0 qid:7 2:1 9:0\nx 123456789:1",
        );
        let mut tally = super::super::faults::Tally::new(std::path::Path::new("f"));
        assert_eq!(part.rows(), 4);
        assert_eq!(row(&part, 0), [(1, 0.5), (3, -20.0), (10, 7.0)]);
        assert_eq!(row(&part, 1), []);
        assert_eq!(row(&part, 2), [(2, 1.0)]);
        assert_eq!(row(&part, 3), [(123_456_789, 1.0)]);
        assert_eq!((part.smallest, part.width, part.qids), (1, 123_456_790, 1));
        assert_eq!(part.labels.names.text(2), "0");
        tally.add(part.faults).unwrap();
    }

    #[test]
    fn unsorted_rows_are_sorted_and_zeros_count() {
        let part = read("1 5:5 2:2 0:0\n1 9:0\n");
        assert_eq!(row(&part, 0), [(2, 2.0), (5, 5.0)]);
        assert_eq!((part.unsorted, part.smallest, part.width), (1, 0, 10));
    }

    #[test]
    fn skipped_rows_leave_no_trace() {
        let rules = Rules {
            labels_required: true,
            on_error: OnError::Skip,
            ..Rules::default()
        };
        let text = b"1 1:1 2:x\n2 1:1\n1 3:3 3:4\n3 2:2 1:1\n";
        let part = parse::<f64>(&Chunk::from_bytes(text), rules);
        assert_eq!(part.rows(), 2);
        assert_eq!(part.labels.codes.len(), 2);
        assert_eq!(row(&part, 1), [(1, 1.0), (2, 2.0)]);
        let mut tally = super::super::faults::Tally::new(std::path::Path::new("f"));
        tally.add(part.faults).unwrap();
        assert_eq!(tally.skipped, 2);
        assert!(tally.messages[0].starts_with("f:1:9: expected a number for feature 2"));
        assert!(tally.messages[1].starts_with("f:3:7: the index 3 comes twice"));
    }
}
