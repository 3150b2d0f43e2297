//! libsvm (svmlight) text: `label index:value …`, a row on each line.
//!
//! Indices may count from 0 or from 1; an index 0 anywhere means from 0. They are kept as
//! written until the whole file is known. Zeros are not stored but count for the width.
//! Rows may be unsorted (they are sorted) but no index may come twice.

pub(super) mod batch;

use memchr::memchr;

use self::batch::Batch;
use super::chunk::{Chunk, position};
use super::dispatch::dispatch;
use super::format::Format;
use super::labels::{ABSENT, LabelSink};
use super::number::{self, Stored, load, up_to_seven_digits, value_width};
use super::report::LongDecimal;
use super::row_errors::{OnError, RowErrors, overlong, quote};
use super::vw;
use rosenblatt_core::data::{Precision, Values};
use rosenblatt_core::internal::simd::{Level, Work};
use rosenblatt_core::{Error, Result};

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
    /// The end of each row in the next two.
    pub(crate) ends: Vec<u32>,
    /// As written in the file, ascending within a row.
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Values,
    pub(crate) labels: LabelSink,
    /// 0 if that index occurs, else 1.
    pub(crate) smallest: u32,
    /// One past the largest index.
    pub(crate) width: u64,
    pub(crate) qids: u64,
    pub(crate) unsorted: u64,
    pub(crate) long: Vec<LongDecimal>,
    pub(crate) faults: RowErrors,
}

impl SparsePart {
    /// No rows yet.
    pub(super) fn new<T: Stored>() -> Self {
        SparsePart {
            ends: Vec::new(),
            indices: Vec::new(),
            values: T::wrap(Vec::new()),
            labels: LabelSink::default(),
            smallest: 1,
            width: 0,
            qids: 0,
            unsorted: 0,
            long: Vec::new(),
            faults: RowErrors::default(),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Bytes that its rows take.
    pub(crate) fn bytes(&self) -> usize {
        let each = size_of::<u32>() + value_width(self.values.precision()) as usize;
        self.indices.len() * each + self.ends.len() * 2 * size_of::<u32>()
    }

    /// The place of row `i` in the arrays.
    #[inline]
    pub(crate) fn range(&self, i: usize) -> std::ops::Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        start..self.ends[i] as usize
    }

    /// The index and the value at `k`.
    pub(crate) fn get(&self, k: usize) -> (u32, f64) {
        (self.indices[k], self.values.get(k))
    }
}

/// The fault of an index 0 where a model counts from 1.
pub(super) fn found_index_zero() -> Error {
    Error::data("found the index 0, but the model's features count from 1")
        .remedy("renumber the file's indices from 1")
}

struct Parser<'a, T> {
    /// Lines, then bytes that may be looked at without being theirs.
    bytes: &'a [u8],
    /// The length of the lines, the last newline included.
    len: usize,
    rules: Rules,
    indices: Vec<u32>,
    values: Vec<T>,
    /// What was read, these two aside.
    part: SparsePart,
}

/// Reads the rows of a chunk of such text or of Vowpal Wabbit's, with their weights where they
/// have any.
pub(crate) fn parse_format(
    chunk: &Chunk,
    format: Format,
    precision: Precision,
    rules: Rules,
) -> (SparsePart, Vec<f64>) {
    match (format, precision) {
        (Format::Vw, Precision::F32) => vw::parse::<f32>(chunk, rules),
        (Format::Vw, Precision::F64) => vw::parse::<f64>(chunk, rules),
        (_, Precision::F32) => (parse::<f32>(chunk, rules), Vec::new()),
        (_, Precision::F64) => (parse::<f64>(chunk, rules), Vec::new()),
    }
}

/// Reads the rows of a chunk.
pub(crate) fn parse<T: Stored>(chunk: &Chunk, rules: Rules) -> SparsePart {
    let mut parser = Parser::<T>::new(chunk, rules);
    dispatch(Run(&mut parser, chunk));
    SparsePart {
        indices: parser.indices,
        values: T::wrap(parser.values),
        ..parser.part
    }
}

/// Reads all lines, with the best instructions for shifting that there are.
struct Run<'a, 'b, T>(&'a mut Parser<'b, T>, &'b Chunk);

impl<T: Stored> Work for Run<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L) {
        self.0.run(level, self.1);
    }
}

#[inline(always)]
fn is_blank(b: u8) -> bool {
    b == b' ' || b == b'\t' || b == b'\r'
}

impl<'a, T: Stored> Parser<'a, T> {
    /// A parser at the start of a chunk.
    fn new(chunk: &'a Chunk, rules: Rules) -> Self {
        let values = chunk.about_numbers(b':', 1);
        Parser {
            bytes: chunk.padded(),
            len: chunk.len(),
            rules,
            indices: Vec::with_capacity(values),
            values: Vec::with_capacity(values),
            part: SparsePart::new::<T>(),
        }
    }

    /// Reads the lines of a chunk.
    #[inline(always)]
    fn run(&mut self, level: impl Level, chunk: &Chunk) {
        if chunk.overlong {
            let fault = overlong(1);
            self.part.faults.add(fault, OnError::Fail);
            return;
        }
        let mut batch = Batch::new();
        let (mut at, mut lines) = (0, 0);
        while at < self.len {
            lines += 1;
            let kept = (
                self.indices.len(),
                self.part.labels.codes.len(),
                self.part.qids,
                self.part.unsorted,
                self.part.long.len(),
                self.part.smallest,
            );
            match self.line(level, &mut batch, at) {
                Ok(next) => at = next,
                Err(error) => {
                    if !self.part.faults.add(error, self.rules.on_error) {
                        return;
                    }
                    self.indices.truncate(kept.0);
                    self.values.truncate(kept.0);
                    self.part.labels.codes.truncate(kept.1);
                    (self.part.qids, self.part.unsorted) = (kept.2, kept.3);
                    self.part.long.truncate(kept.4);
                    self.part.smallest = kept.5;
                    at = self.line_end(at) + 1;
                }
            }
        }
        self.part.faults.measured(lines, chunk);
    }

    fn line_end(&self, at: usize) -> usize {
        memchr(b'\n', &self.bytes[at..self.len]).map_or(self.len, |n| at + n)
    }

    fn fault(&self, at: usize, error: Error) -> Error {
        let (line, column) = position(&self.bytes[..at.min(self.len)]);
        error.at(line, column)
    }

    /// Reads the line at `at`; gives the start of the next one.
    #[inline(always)]
    fn line(&mut self, level: impl Level, batch: &mut Batch<T>, mut at: usize) -> Result<usize> {
        let bytes = self.bytes;
        while is_blank(bytes[at]) {
            at += 1;
        }
        match bytes[at] {
            b'\n' => return Ok(at + 1),
            b'#' => return Ok(self.line_end(at) + 1),
            _ => {}
        }
        let line = at;
        at = self.label(at)?;
        at += usize::from(bytes[at] == b' ');
        let start = self.indices.len();
        let floor = u64::from(self.part.smallest);
        let mut least = floor; // the smallest index that keeps the row in order
        let mut disorder = false; // whether an index was smaller
        let mut uncommon = 0; // where common tokens are next looked for
        loop {
            if let Some(level) = level.avx2()
                && at >= uncommon
            {
                let tokens = batch.read(level, bytes, at);
                (at, uncommon) = (tokens.next, tokens.uncommon);
                if let (Some(&first), Some(&last)) = (tokens.indices.first(), tokens.indices.last())
                {
                    let pairs = tokens.indices.iter().zip(&tokens.indices[1..]);
                    let sorted = pairs.fold(u64::from(first) >= least, |all, (a, b)| all & (a < b));
                    disorder |= !sorted;
                    least = u64::from(last) + 1;
                    self.push_all(tokens.indices, tokens.values);
                    if at >= uncommon {
                        continue;
                    }
                }
            }
            match bytes[at] {
                b' ' | b'\t' | b'\r' => at += 1,
                b'\n' => {
                    at += 1;
                    break;
                }
                b'#' => {
                    at = self.line_end(at) + 1;
                    break;
                }
                _ => {
                    let (next, index) = self.general_token(at)?;
                    at = next;
                    if let Some(index) = index {
                        disorder |= index < least;
                        least = index + 1;
                    }
                }
            }
        }
        if disorder {
            least = self.tidy_row(line, start)?;
        } else if least == floor {
            least = 0; // no feature at all
        }
        self.part.width = self.part.width.max(least);
        self.part.ends.push(self.indices.len() as u32);
        Ok(at)
    }

    /// Appends those values that are not zero.
    #[inline(always)]
    fn push_all(&mut self, indices: &[u32], values: &[T]) {
        if values.iter().fold(true, |all, &x| all & (x != T::ZERO)) {
            self.indices.extend_from_slice(indices);
            self.values.extend_from_slice(values);
        } else {
            for (&index, &value) in indices.iter().zip(values) {
                self.push(u64::from(index), value);
            }
        }
    }

    /// Appends a value unless it is zero.
    #[inline(always)]
    fn push(&mut self, index: u64, value: T) {
        if value != T::ZERO {
            self.indices.push(index as u32);
            self.values.push(value);
        }
    }

    /// Reads the token at `at`; gives where the text goes on, and its index, if it has one.
    #[inline(never)]
    fn general_token(&mut self, at: usize) -> Result<(usize, Option<u64>)> {
        let bytes = self.bytes;
        let (index, digits) = up_to_seven_digits(load(bytes, at));
        let colon = at + digits as usize;
        let (index, value) = if digits > 0 && bytes[colon] == b':' {
            (index, colon + 1)
        } else {
            match self.odd_token(at)? {
                Odd::Index(number, colon) => (number, colon + 1),
                Odd::Query(end) => return Ok((end, None)),
            }
        };
        let read = match number::read::<T>(bytes, value) {
            Some(read) if read.stop <= b' ' || read.stop == b'#' => read,
            _ => return Err(self.bad_value(at, value)),
        };
        // Usual numbers are never as long as that.
        if self.rules.keep_long_decimals && number::is_long(bytes, value) {
            self.keep_long(index, value, read.end);
        }
        self.push(index, read.value);
        let next = read.end + usize::from(read.stop == b' ');
        Ok((next, Some(index)))
    }

    #[cold]
    fn keep_long(&mut self, index: u64, start: usize, end: usize) {
        self.part.long.push(LongDecimal {
            row: self.part.ends.len() as u64,
            column: index as u32,
            text: String::from_utf8_lossy(&self.bytes[start..end]).into_owned(),
        });
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
            self.part.labels.codes.push(ABSENT);
            return Ok(at);
        }
        match self.part.labels.push(bytes, at, end) {
            Ok(()) => Ok(end),
            Err((place, error)) => Err(self.fault(place, error)),
        }
    }

    /// A token that does not start with up to seven digits and a colon.
    #[cold]
    fn odd_token(&mut self, token: usize) -> Result<Odd> {
        let bytes = self.bytes;
        let mut end = token;
        while !bytes[end].is_ascii_whitespace() && end < self.len {
            end += 1;
        }
        let text = &bytes[token..end];
        let Some(colon) = memchr(b':', text) else {
            let error = Error::data(format!("expected index:value, found {}", quote(text)));
            return Err(self.fault(
                token,
                error.remedy("check that this is a libsvm file, or pass ⟨format⟩"),
            ));
        };
        let index = &text[..colon];
        if index == b"qid" {
            self.part.qids += 1;
            // As behind a value, a comment may begin at once.
            return Ok(Odd::Query(memchr(b'#', text).map_or(end, |n| token + n)));
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
        if let Some(error) = number::too_large_at::<T>(bytes, value) {
            return self.fault(value, error);
        }
        let mut end = value;
        while !bytes[end].is_ascii_whitespace() && end < self.len {
            end += 1;
        }
        let index = String::from_utf8_lossy(&bytes[token..value - 1]).into_owned();
        let error = Error::data(format!(
            "expected a number for feature {index}, found {}",
            quote(&bytes[value..end])
        ));
        self.fault(value, error.remedy("values are decimals such as -1.5e-3"))
    }

    /// Looks again, zeros included, at a line whose indices are not in order or start below
    /// the smallest so far; gives one past the largest. No index may come twice.
    #[cold]
    fn tidy_row(&mut self, start: usize, first: usize) -> Result<u64> {
        let line = &self.bytes[start..self.line_end(start)];
        let line = &line[..memchr(b'#', line).unwrap_or(line.len())];
        let mut places: Vec<(u64, usize)> = Vec::new();
        let mut at = start;
        for token in line.split(u8::is_ascii_whitespace) {
            let digits = &token[..memchr(b':', token).unwrap_or(0)];
            if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
                let index = digits.iter().fold(0, |v, &b| 10 * v + u64::from(b - b'0'));
                places.push((index, at));
            }
            at += token.len() + 1;
        }
        let sorted = places.is_sorted();
        places.sort_unstable();
        if let Some(twice) = places.windows(2).find(|w| w[0].0 == w[1].0) {
            let error = Error::data(format!("the index {} comes twice in this row", twice[1].0));
            return Err(self.fault(twice[1].1, error.remedy("give each feature one value")));
        }
        if let Some(&(0, token)) = places.first() {
            self.part.smallest = 0;
            if self.rules.from_one {
                return Err(self.fault(token, found_index_zero()));
            }
        }
        if !sorted {
            self.part.unsorted += 1;
            let places = self.indices[first..].iter().copied();
            let mut row: Vec<_> = places.zip(self.values[first..].iter().copied()).collect();
            row.sort_by_key(|pair| pair.0);
            for (k, (index, value)) in row.into_iter().enumerate() {
                (self.indices[first + k], self.values[first + k]) = (index, value);
            }
        }
        Ok(places.last().map_or(0, |p| p.0 + 1))
    }
}

enum Odd {
    /// An index written in full and the place of its colon.
    Index(u64, usize),
    /// A query id that ends here.
    Query(usize),
}

#[cfg(test)]
mod tests;
