//! A chunk of a table to typed columns.
//!
//! Numbers are read where they stand; only what is not plainly a number and a delimiter is
//! first cut out as a cell. A row that has a fault leaves no trace.

mod errors;
mod numbers;
mod typed;

use std::borrow::Cow;

use self::numbers::{in_place, numbers_ahead};
pub(crate) use self::typed::{
    MISSING, Parsed, Scheme, Slots, TablePart, Take, TextPart, Use, takes,
};
use super::cells::{self, NumberForm};
use super::words::Cutter;
use crate::read::chunk::Chunk;
use crate::read::delimited::{
    Cell, CellError, Delimiter, cell_end, count_cells, next_cell, next_record,
};
use crate::read::delimiter_index::DelimiterIndex;
use crate::read::dispatch::dispatch;
use crate::read::interner::hash;
use crate::read::labels::ABSENT;
use crate::read::number::{self, Stored};
use crate::read::report::LongDecimal;
use crate::read::row_errors::{OnError, check_text, overlong, quote};
use crate::read::sniff::is_missing;
use rosenblatt_core::internal::simd::{self, Level, Work};
use rosenblatt_core::{Error, Result};

struct Parser<'a, T> {
    chunk: &'a Chunk,
    scheme: &'a Scheme,
    bytes: &'a [u8],
    data: &'a [u8],
    delimiter: u8,
    /// Whether cells must be looked at singly.
    one_by_one: bool,
    delimiters: DelimiterIndex<'a>,
    /// What was read, the numbers aside.
    read: Parsed,
    /// For each column: how many from it on are numbers.
    numbers_ahead: Vec<usize>,
    /// Of the records read, and then those of some to come, before any is read.
    numbers: Vec<T>,
    /// How many a record has.
    number_slots: usize,
    /// Lines gone through.
    lines: usize,
    code_slots: usize,
    /// Counts the records tried, faulty ones included.
    tried: u32,
    /// For each word of a text column: the last record it came in and its place there.
    stamps: Vec<Vec<(u32, u32)>>,
    missing_now: Vec<usize>,
    /// Cells to be counted with their column: which, whether they may be dates, whether they were
    /// not taken.
    cells_now: Vec<(usize, Vec<u8>, bool, bool)>,
    texts_now: Vec<(usize, u64, u64)>,
    cutter: Cutter,
}

/// Records whose numbers are made room for together.
const AT_ONCE: usize = 64;

fn line_ends(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Reads the rows of a chunk.
pub(crate) fn parse<T: Stored>(chunk: &Chunk, scheme: &Scheme) -> Parsed {
    let slots = Slots::of(&scheme.takes);
    let (delimiter, one_by_one) = match scheme.dialect.delimiter {
        Delimiter::Byte(b) => (b, scheme.keep_long_decimals),
        Delimiter::Blanks => (b' ', true),
    };
    let mut parser = Parser::<T> {
        chunk,
        scheme,
        bytes: chunk.padded(),
        data: chunk.data(),
        delimiter,
        one_by_one,
        delimiters: DelimiterIndex::new(chunk.padded(), delimiter),
        read: Parsed::new(scheme, T::wrap(Vec::new())),
        numbers_ahead: numbers_ahead(&scheme.takes),
        numbers: Vec::with_capacity(chunk.about_numbers(b'\n', slots.numbers)),
        number_slots: slots.numbers,
        lines: 0,
        code_slots: slots.categories,
        tried: 0,
        stamps: vec![Vec::new(); slots.texts],
        missing_now: Vec::new(),
        cells_now: Vec::new(),
        texts_now: Vec::new(),
        cutter: Cutter::new(scheme.cut),
    };
    dispatch(Run(&mut parser));
    let mut read = parser.read;
    parser.numbers.truncate(read.part.rows * slots.numbers);
    if parser.numbers.len() < parser.numbers.capacity() / 2 {
        parser.numbers.shrink_to_fit();
    }
    read.part.numbers = T::wrap(parser.numbers);
    read
}

/// Reads all records, with the best instructions for shifting that there are.
struct Run<'a, 'b, T>(&'a mut Parser<'b, T>);

impl<T: Stored> Work for Run<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L) {
        self.0.run(level);
    }
}

impl<T: Stored> Parser<'_, T> {
    #[inline(always)]
    fn run(&mut self, level: impl Level) {
        let dialect = &self.scheme.dialect;
        let mut at = 0;
        let mut header = self.scheme.header && self.chunk.leading;
        while let Some(start) = next_record(self.data, at, dialect) {
            self.lines += line_ends(&self.data[at..start]);
            if header {
                header = false;
                at = count_cells(self.data, start, dialect).1;
                self.lines += line_ends(&self.data[start..at.min(self.data.len())]);
                continue;
            }
            if self.chunk.overlong {
                // The record may go on behind the chunk; only an open quote is worth more words.
                let fault = match self.cut_off(start) {
                    Err(error) if error.message().contains("quote") => error,
                    _ => overlong(self.chunk.position(start).0),
                };
                self.read.faults.add(fault, OnError::Fail);
                return;
            }
            match self.record(level, start) {
                Ok(next) => {
                    self.commit();
                    at = next;
                }
                Err(error) => {
                    if !self.read.faults.add(error, self.scheme.on_error) {
                        return;
                    }
                    self.roll_back();
                    at = self.record_end(start);
                    self.lines += line_ends(&self.data[start..at.min(self.data.len())]);
                }
            }
        }
        self.lines += line_ends(self.data.get(at..).unwrap_or_default());
        self.read.faults.measured(self.lines as u64, self.chunk);
    }

    /// What is wrong with a record that may go on behind the chunk.
    #[cold]
    #[inline(never)]
    fn cut_off(&mut self, start: usize) -> Result<usize> {
        self.record(simd::Base, start)
    }

    /// Where a faulty record ends. Text behind a closing quote belongs to its cell, as it
    /// does where chunks are cut; a quote that is never closed ends with its line.
    fn record_end(&self, start: usize) -> usize {
        let dialect = &self.scheme.dialect;
        let mut at = start;
        loop {
            match next_cell(self.data, at, dialect) {
                Ok(cell) if cell.last => return cell.next,
                Ok(cell) => at = cell.next,
                Err(CellError::AfterQuote(place)) => {
                    let (next, last) = cell_end(self.data, place, dialect);
                    if last {
                        return next;
                    }
                    at = next;
                }
                Err(CellError::Unclosed(place)) => {
                    return memchr::memchr(b'\n', &self.data[place..])
                        .map_or(self.data.len(), |n| place + n + 1);
                }
            }
        }
    }

    fn commit(&mut self) {
        self.read.part.rows += 1;
        for column in self.missing_now.drain(..) {
            self.read.missing[column] += 1;
        }
        for (column, text, date, refused) in self.cells_now.drain(..) {
            let cells = &mut self.read.cells[column];
            cells.count(&text, 1, date);
            if refused {
                cells.note(self.read.part.rows as u64 - 1, &text);
            }
        }
        for (slot, words, cell) in self.texts_now.drain(..) {
            self.read.word_counts[slot] += words;
            if self.scheme.facts && self.read.distinct[slot].len() <= super::MOST_LEVELS {
                self.read.distinct[slot].insert(cell);
            }
        }
    }

    fn roll_back(&mut self) {
        let first = self.read.part.rows * self.number_slots;
        self.numbers[first..first + self.number_slots].fill(T::MISSING);
        self.read
            .part
            .codes
            .truncate(self.read.part.rows * self.code_slots);
        self.read.labels.codes.truncate(self.read.part.rows);
        self.read.weights.truncate(self.read.part.rows);
        for text in &mut self.read.part.texts {
            text.ends.truncate(self.read.part.rows);
            let kept = text.ends.last().map_or(0, |&e| e as usize);
            text.words.truncate(kept);
            text.counts.truncate(kept);
        }
        while self
            .read
            .long
            .last()
            .is_some_and(|l| l.row == self.read.part.rows as u64)
        {
            self.read.long.pop();
        }
        self.missing_now.clear();
        self.cells_now.clear();
        self.texts_now.clear();
    }

    fn fault(&self, at: usize, error: Error) -> Error {
        let (line, column) = self.chunk.position(at);
        error.at(line, column)
    }

    /// Reads the record at `at`; gives the place behind it.
    #[inline(always)]
    fn record(&mut self, level: impl Level, mut at: usize) -> Result<usize> {
        let scheme = self.scheme;
        let start = at;
        self.tried += 1;
        let base = self.read.part.rows * self.number_slots;
        if base == self.numbers.len() {
            // For several records, since there is little to fill for one.
            let end = base + AT_ONCE * self.number_slots;
            self.numbers.resize(end, T::MISSING);
        }
        let mut lines = 0;
        let first_code = self.read.part.codes.len();
        self.read
            .part
            .codes
            .resize(first_code + self.code_slots, MISSING);
        let columns = scheme.takes.len();
        let mut column = 0;
        while column < columns {
            let take = scheme.takes[column];
            let last = column + 1 == columns;
            if let Some(slot) = in_place(take) {
                let ahead = self.numbers_ahead[column];
                let ends = column + ahead == columns;
                let (read, behind) = self.run_of_numbers(level, at, base + slot, ahead, ends);
                if read > 0 {
                    (column, at) = (column + read, behind);
                    lines += usize::from(column == columns);
                    continue;
                }
                if last && let Some(behind) = self.last_number(at, base + slot) {
                    at = behind;
                    lines += 1;
                    break;
                }
            }
            if take == Take::Label
                && !last
                && let Some(behind) = self.known_label(at)
            {
                (column, at) = (column + 1, behind);
                continue;
            }
            let cell = match next_cell(self.data, at, &scheme.dialect) {
                Ok(cell) => cell,
                Err(error) => return Err(self.bad_quote(error)),
            };
            if cell.last != last {
                return Err(self.ragged(start, column, &cell));
            }
            self.cell(column, take, &cell, base, first_code)?;
            lines += line_ends(&self.data[at..cell.next.min(self.data.len())]);
            at = cell.next;
            column += 1;
        }
        self.lines += lines;
        Ok(at)
    }

    /// Reads a label that was met before and is followed by the delimiter; gives where the next
    /// cell starts.
    #[inline(always)]
    fn known_label(&mut self, at: usize) -> Option<usize> {
        if self.one_by_one {
            return None;
        }
        self.delimiters.go_to(at);
        let end = self.delimiters.peek();
        let delimited = self.data.get(end) == Some(&self.delimiter);
        (delimited && self.read.labels.push_known(self.bytes, at, end)).then_some(end + 1)
    }

    fn cell(
        &mut self,
        column: usize,
        take: Take,
        cell: &Cell,
        base: usize,
        first_code: usize,
    ) -> Result<()> {
        let text = match take {
            Take::Skip => return Ok(()),
            _ => cell.bytes(self.data),
        };
        match take {
            Take::Skip => {}
            Take::Number { slot, fixed, form } => {
                if is_missing(&text) {
                    self.missing_now.push(column);
                } else if let Some(plain) = cells::as_plain(&text, form) {
                    let value = number::whole::<T>(&plain).unwrap_or(T::MISSING);
                    if !value.finite() {
                        return Err(self.too_large(cell.start, &text));
                    }
                    self.numbers[base + slot] = value;
                    if self.scheme.keep_long_decimals && number::is_long(&plain, 0) {
                        self.keep_long(column, &plain);
                    }
                    if form == NumberForm::Grouped && matches!(plain, Cow::Owned(_)) {
                        self.cells_now.push((column, text.to_vec(), false, false));
                    }
                } else if fixed {
                    return Err(self.not_a_number(column, cell, &text));
                } else {
                    self.cells_now.push((column, text.to_vec(), false, true));
                }
            }
            Take::Date { slot, fixed, order } => {
                let date = cells::date(&text, order);
                if is_missing(&text) {
                    self.missing_now.push(column);
                } else if let Some(date) = date {
                    let numbers = date.numbers().map(T::from_f64);
                    self.numbers[base + slot..][..numbers.len()].copy_from_slice(&numbers);
                } else if fixed {
                    return Err(self.not_a_date(column, cell, &text));
                }
                if self.scheme.facts && !is_missing(&text) {
                    let refused = date.is_none();
                    self.cells_now.push((column, text.to_vec(), true, refused));
                }
            }
            Take::Category { slot } => {
                let code = if is_missing(&text) {
                    self.missing_now.push(column);
                    MISSING
                } else {
                    match self.read.levels[slot].find(&text) {
                        Some(code) => code,
                        None => {
                            check_text(&text).map_err(|(n, e)| self.fault(cell.start + n, e))?;
                            self.read.levels[slot].intern(&text).0
                        }
                    }
                };
                self.read.part.codes[first_code + slot] = code;
            }
            Take::Text { slot } => {
                if is_missing(&text) {
                    self.missing_now.push(column);
                    let end = self.read.part.texts[slot].words.len() as u32;
                    self.read.part.texts[slot].ends.push(end);
                } else {
                    let text = check_text(&text).map_err(|(n, e)| self.fault(cell.start + n, e))?;
                    self.text(slot, text);
                }
            }
            Take::Label => {
                if text.is_empty() && self.scheme.labels_required {
                    let error = Error::data(format!(
                        "this row has no label in the column {}",
                        self.scheme.names[column]
                    ));
                    let other = "pass ⟨label⟩ if it is another column";
                    let guess = self.scheme.label_guess.as_deref().unwrap_or(other);
                    return Err(self.fault(
                        cell.start,
                        error.remedy(format!(
                            "{guess}, ⟨label-map =NAME⟩ to name such rows, or ⟨on-error skip⟩"
                        )),
                    ));
                }
                let pushed = match text {
                    Cow::Borrowed(_) => self.read.labels.push(self.bytes, cell.start, cell.end),
                    Cow::Owned(text) => {
                        let pushed = self.read.labels.push_text(&text);
                        pushed.map_err(|(n, e)| (cell.start + n, e))
                    }
                };
                pushed.map_err(|(at, error)| {
                    let error = match &self.scheme.label_guess {
                        Some(guess) if error.message().contains("line end") => {
                            error.remedy(guess.clone())
                        }
                        _ => error,
                    };
                    self.fault(at, error)
                })?;
            }
            Take::Weight => {
                let weight = number::whole::<f64>(&text).filter(|w| *w > 0.0 && w.is_finite());
                let Some(weight) = weight else {
                    let error = Error::data(format!(
                        "the weight {} is not a positive number",
                        quote(&text)
                    ));
                    return Err(self.fault(
                        cell.start,
                        error.remedy("weights must be positive and finite"),
                    ));
                };
                self.read.weights.push(weight);
            }
        }
        Ok(())
    }

    fn text(&mut self, slot: usize, text: &str) {
        let (part, words, stamps) = (
            &mut self.read.part.texts[slot],
            &mut self.read.words[slot],
            &mut self.stamps[slot],
        );
        let count = part.push(text, self.tried, &mut self.cutter, words, stamps);
        self.texts_now.push((slot, count, hash(text.as_bytes(), 0)));
    }

    #[cold]
    fn too_large(&self, at: usize, text: &[u8]) -> Error {
        self.fault(at, number::too_large::<T>(&String::from_utf8_lossy(text)))
    }

    #[cold]
    fn keep_long(&mut self, column: usize, text: &[u8]) {
        self.read.long.push(LongDecimal {
            row: self.read.part.rows as u64,
            column: column as u32,
            text: String::from_utf8_lossy(text).into_owned(),
        });
    }
}

/// The label codes of a chunk, one for each row, even if the file has no label column.
pub(crate) fn label_codes(parsed: &Parsed) -> Vec<u32> {
    if parsed.labels.codes.len() == parsed.part.rows {
        parsed.labels.codes.clone()
    } else {
        vec![ABSENT; parsed.part.rows]
    }
}
