//! Formats that hold a table otherwise than as text in cells.
//!
//! Each is read as the CSV text that its rows would be, made as it is wanted: so all that is known
//! of tables (labels, kinds of columns, missing values, batches) holds for them, and the same rows
//! give the same numbers from any of them. A number is written as the shortest decimal that is
//! read back as it. Where a format has columns of numbers, a single file of it is [`Typed`]: they
//! are read without text, as the numbers that their cells would be read as.

mod arff;
pub(crate) mod arrow;
pub(crate) mod folders;
pub(crate) mod joined;
mod jsonl;
mod lz4;
pub(crate) mod npy;
pub(crate) mod parquet;
mod scalar;

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::Mmap;

use super::delimited::Delimiter;
use super::format::Format;
use super::number::Stored;
use super::options::ReadOptions;
use super::report::ColumnKind;
use super::source::{Reader, Source};
use crate::write;
use rosenblatt_core::data::Precision;
use rosenblatt_core::{Error, Result};

/// Appends some further rows to a text; false if there are none.
type Rows = Box<dyn FnMut(&mut Vec<u8>) -> Result<bool> + Send>;

/// A table before its rows are read.
pub(crate) struct Table {
    pub(super) names: Vec<String>,
    /// Columns whose values are said to be categories.
    pub(super) categories: Vec<String>,
    /// What to add to the number of a row, from 1, for its line in the file.
    pub(super) shift: i64,
    pub(super) rows: Rows,
}

/// A table of which columns of plain numbers can be read as such, and the others as text.
pub(crate) enum Typed {
    Array(npy::Arrays),
    Arrow(arrow::File),
    Parquet(parquet::File),
}

/// Some rows of columns of plain numbers.
pub(crate) struct Block<T> {
    pub(crate) rows: usize,
    /// What is missing is no number.
    pub(crate) columns: Vec<Vec<T>>,
}

impl Typed {
    /// Opens a table if it is of such a format.
    pub(super) fn open(
        source: &Source,
        format: Format,
        options: &ReadOptions,
    ) -> Result<Option<Self>> {
        Ok(Some(match format {
            Format::Npy => Typed::Array(npy::Arrays::open(source, options)?),
            Format::Arrow => Typed::Arrow(arrow::File::open(source, options)?),
            Format::Parquet => Typed::Parquet(parquet::File::open(source, options)?),
            _ => return Ok(None),
        }))
    }

    /// Whether each column holds plain numbers.
    pub(crate) fn numeric(&self) -> Vec<bool> {
        match self {
            Typed::Array(file) => file.numeric(),
            Typed::Arrow(file) => file.numeric(),
            Typed::Parquet(file) => file.numeric(),
        }
    }

    /// How many rows the file says it has.
    pub(crate) fn rows(&self) -> Result<usize> {
        match self {
            Typed::Array(file) => Ok(file.count()),
            Typed::Arrow(file) => file.count(),
            Typed::Parquet(file) => Ok(file.count()),
        }
    }

    /// The values of these columns of plain numbers: those that their cells would be read as.
    ///
    /// # Errors
    /// If they cannot be had so. Reading the text tells why, if they cannot be read at all.
    pub(crate) fn numbers<T: Stored>(
        &self,
        columns: &[usize],
        threads: usize,
    ) -> Result<Vec<Block<T>>> {
        match self {
            Typed::Array(file) => file.numbers(columns),
            Typed::Arrow(file) => file.numbers(columns, threads),
            Typed::Parquet(file) => file.numbers(columns, threads),
        }
    }

    /// The rows as text without these columns, which ascend, and without a header.
    pub(crate) fn text_without(&self, columns: &[usize]) -> Result<Reader> {
        let rows = match self {
            Typed::Array(file) => file.rows(columns),
            Typed::Arrow(file) => file.rows(columns)?,
            Typed::Parquet(file) => file.rows(columns),
        };
        let part = Part {
            file: PathBuf::new(),
            header: Vec::new(),
            shift: 0,
            before: None,
            rows,
        };
        let begin: Begin = Box::new(|| Ok(part));
        Ok(Box::new(Text::new(
            VecDeque::from([begin]),
            Places::default(),
        )))
    }
}

/// Opens a table of some format.
pub(super) fn open(source: &Source, format: Format, options: &ReadOptions) -> Result<Table> {
    match format {
        Format::JsonLines => jsonl::open(source, options),
        Format::Arff => arff::open(source),
        Format::Npy => npy::open(source, options),
        Format::Arrow => arrow::open(source, options),
        Format::Parquet => parquet::open(source, options),
        _ => Err(Error::options(format!("{format} files are no tables"))),
    }
}

/// The text of a table, and how it is to be read.
pub(super) fn as_text(
    source: &Source,
    format: Format,
    options: &ReadOptions,
) -> Result<(Source, ReadOptions)> {
    let found = open(source, format, options)?;
    let mut told = told_of_csv(options);
    told.columns
        .splice(..0, as_category(found.categories, options));
    let (source, options) = (source.clone(), options.clone());
    let (name, places) = (source.name().to_owned(), Places::default());
    let shared = places.clone();
    let made = move || -> Result<Reader> {
        shared.clear();
        let (source, options) = (source.clone(), options.clone());
        let begin = move || open(&source, format, &options).map(|t| Part::of(source.name(), t));
        let parts: VecDeque<Begin> = VecDeque::from([Box::new(begin) as Begin]);
        Ok(Box::new(Text::new(parts, shared.clone())))
    };
    Ok((Source::made(&name, Arc::new(made), places), told))
}

/// How the text of converted tables is to be read.
fn told_of_csv(options: &ReadOptions) -> ReadOptions {
    ReadOptions {
        format: Some(Format::Csv),
        header: Some(true),
        delimiter: Some(Delimiter::Byte(b',')),
        comment: None,
        ..options.clone()
    }
}

/// These columns as categories, unless the user says what they are.
fn as_category(names: Vec<String>, options: &ReadOptions) -> Vec<(String, ColumnKind)> {
    let given = |name: &String| options.columns.iter().any(|(known, _)| known == name);
    let names = names.into_iter().filter(|name| !given(name));
    names.map(|name| (name, ColumnKind::Category)).collect()
}

/// Which lines of a text came from where.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    list: Arc<Mutex<Vec<Place>>>,
    /// Cells in front of each row that the file does not have: its folders name them.
    pub(crate) cells: usize,
}

#[derive(Debug, Clone)]
struct Place {
    /// The first line of the text, from 1, that is of the file.
    first: u64,
    file: PathBuf,
    /// What to add to the number of a line.
    shift: i64,
    before: Option<Before>,
}

/// How far the lines of a text stand to the right of where they stand in their file.
#[derive(Debug, Clone, Default)]
struct Before {
    bytes: usize,
    /// Whether there is a line that nothing was put in front of: a record may have several.
    uneven: Arc<AtomicBool>,
}

impl Before {
    /// The column in the file, 0 if it is not sure.
    fn column(&self, column: u64) -> u64 {
        let bytes = self.bytes as u64;
        match bytes > 0 && self.uneven.load(Ordering::Relaxed) {
            true => 0,
            false => column.saturating_sub(bytes),
        }
    }
}

impl Places {
    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Place>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clear(&self) {
        self.list().clear();
    }

    /// The file, line and column of a place in the text; a column of 0 is not known.
    pub(crate) fn find(&self, line: u64, column: u64) -> Option<(PathBuf, u64, u64)> {
        let list = self.list();
        let place = list.iter().rev().find(|place| place.first <= line)?;
        let line = line.checked_add_signed(place.shift).unwrap_or(0);
        let column = place.before.as_ref().map_or(0, |b| b.column(column));
        Some((place.file.clone(), line, column))
    }
}

/// The text of a file.
struct Part {
    file: PathBuf,
    /// Its header, where the text is to have it.
    header: Vec<u8>,
    /// What to add to the number of a line behind the header, from 1, for its line in the file.
    shift: i64,
    /// Where lines of the file stand in the text; nothing if the text was made of something else.
    before: Option<Before>,
    rows: Rows,
}

impl Part {
    fn of(file: &Path, table: Table) -> Self {
        let mut header = Vec::new();
        push_line(&mut header, table.names.iter().map(String::as_str));
        Part {
            file: file.to_owned(),
            header,
            shift: table.shift,
            before: None,
            rows: table.rows,
        }
    }
}

/// Opens a part when its turn has come.
type Begin = Box<dyn FnOnce() -> Result<Part> + Send>;

/// The text of parts, one below the other.
struct Text {
    left: VecDeque<Begin>,
    current: Option<Part>,
    places: Places,
    buffer: Vec<u8>,
    at: usize,
    /// Lines that were made.
    lines: u64,
}

impl Text {
    fn new(left: VecDeque<Begin>, places: Places) -> Self {
        Text {
            left,
            current: None,
            places,
            buffer: Vec::new(),
            at: 0,
            lines: 0,
        }
    }

    /// Makes more text; false if there is none.
    fn fill(&mut self) -> Result<bool> {
        self.buffer.clear();
        self.at = 0;
        while self.buffer.is_empty() {
            if let Some(part) = &mut self.current {
                let more = (part.rows)(&mut self.buffer).map_err(|e| match e.position() {
                    Some(position) if !position.file.as_os_str().is_empty() => e,
                    _ => e.in_file(&part.file),
                })?;
                if !more {
                    self.current = None;
                }
                continue;
            }
            let Some(begin) = self.left.pop_front() else {
                return Ok(false);
            };
            let part = begin()?;
            self.buffer.extend_from_slice(&part.header);
            let header = memchr::memchr_iter(b'\n', &self.buffer).count() as u64;
            self.places.list().push(Place {
                first: self.lines + u64::from(self.lines > 0),
                file: part.file.clone(),
                shift: part.shift - (self.lines + header) as i64,
                before: part.before.clone(),
            });
            self.current = Some(part);
        }
        self.lines += memchr::memchr_iter(b'\n', &self.buffer).count() as u64;
        Ok(true)
    }
}

impl Read for Text {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buffer.len() && !self.fill().map_err(io::Error::other)? {
            return Ok(0);
        }
        let n = to.len().min(self.buffer.len() - self.at);
        to[..n].copy_from_slice(&self.buffer[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// Appends a line of texts.
fn push_line<'t>(line: &mut Vec<u8>, cells: impl Iterator<Item = &'t str>) {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            line.push(b',');
        }
        push_text(line, cell);
    }
    line.push(b'\n');
}

/// Appends a text, quoted where it must be.
fn push_text(line: &mut Vec<u8>, text: &str) {
    let plain = text.trim() == text && !text.contains([',', '"', '\n', '\r']);
    if plain && !text.is_empty() {
        line.extend_from_slice(text.as_bytes());
        return;
    }
    line.push(b'"');
    for &b in text.as_bytes() {
        if b == b'"' {
            line.push(b);
        }
        line.push(b);
    }
    line.push(b'"');
}

/// Appends a number; what is none is missing.
fn push_number(line: &mut Vec<u8>, x: f64) {
    if x.is_nan() {
        return;
    }
    write::decimal(line, x, Precision::F64);
}

/// Ends a row that began at `start`: one that is empty would not be seen.
fn end_row(line: &mut Vec<u8>, start: usize) {
    if line.len() == start {
        line.extend_from_slice(b"\"\"");
    }
    line.push(b'\n');
}

/// Names of columns as a header has them: those without one go by their number.
fn refuse_no_columns(columns: usize) -> Result<()> {
    match columns {
        0 => Err(Error::data("the file has no columns").remedy("give a file with data")),
        n if n > MOST_COLUMNS => Err(Error::data(format!(
            "the file has {n} columns, more than {MOST_COLUMNS}"
        ))
        .remedy("write rows with so many features as libsvm text, which leaves zeros out")),
        _ => Ok(()),
    }
}

/// Columns of a table, at most: their names are kept in memory.
const MOST_COLUMNS: usize = 1 << 24;

/// The error for a column that holds no plain values.
fn nested(name: &str, what: &str) -> Error {
    Error::data(format!(
        "the column {name} holds {what}, expected plain values"
    ))
    .remedy(format!(
        "make columns of its parts, or leave it out with ⟨ignore {name}⟩"
    ))
}

/// Whether the user leaves this column out.
fn is_ignored(options: &ReadOptions, name: &str) -> bool {
    let as_kind =
        |(known, kind): &(String, ColumnKind)| known == name && *kind == ColumnKind::Ignore;
    options.ignore.iter().any(|known| known == name) || options.columns.iter().any(as_kind)
}

/// All bytes of a source, as many as there are.
fn all_bytes(source: &Source) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut reader = source.open()?;
    reader
        .read_to_end(&mut bytes)
        .map_err(|e| Error::io(source.name(), &e))?;
    Ok(bytes)
}

/// The bytes of a file that is gone through in no order: where they lie, or in memory.
pub(super) enum Held {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Held::Mapped(bytes) => bytes,
            Held::Owned(bytes) => bytes,
        }
    }
}

fn held(source: &Source) -> Result<Arc<Held>> {
    Ok(Arc::new(match source.map()? {
        Some(mapped) => Held::Mapped(mapped),
        None => Held::Owned(all_bytes(source)?),
    }))
}

/// The lines of a text, one at a time, with how many have been read.
struct Lines {
    reader: io::BufReader<Reader>,
    file: PathBuf,
    line: Vec<u8>,
    read: u64,
}

impl Lines {
    fn of(source: &Source) -> Result<Self> {
        Ok(Lines {
            reader: io::BufReader::with_capacity(1 << 16, source.open()?),
            file: source.name().to_owned(),
            line: Vec::new(),
            read: 0,
        })
    }

    /// The next line without its end; `None` behind the last.
    fn next(&mut self) -> Result<Option<&[u8]>> {
        use std::io::BufRead;
        let longest = super::chunk::LONGEST_RECORD as u64;
        self.line.clear();
        let n = (&mut self.reader)
            .take(longest)
            .read_until(b'\n', &mut self.line)
            .map_err(|e| Error::io(&self.file, &e))?;
        if n == 0 {
            return Ok(None);
        }
        self.read += 1;
        if n as u64 == longest {
            return Err(super::row_errors::overlong(self.read).in_file(&self.file));
        }
        let mut line = self.line.as_slice();
        if self.read == 1 {
            line = line
                .strip_prefix(super::source::BYTE_ORDER_MARK)
                .unwrap_or(line);
        }
        Ok(Some(line.trim_ascii_end()))
    }

    /// An error in the line that was read last.
    fn fault(&self, column: usize, error: Error) -> Error {
        error.at(self.read, column as u64 + 1).in_file(&self.file)
    }
}

/// Bytes of text that are made at a time.
const PIECE: usize = 1 << 16;

/// The file beside another.
fn beside(path: &Path) -> Result<Vec<u8>> {
    all_bytes(&Source::new(path)?)
}
