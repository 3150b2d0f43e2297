//! Parquet: columns in row groups, each in pages that are encoded and compressed.
//!
//! The footer says where the pages are; every size in it and in their headers is checked against
//! the bytes that are there. Columns of lists and structures are refused, unless they are left
//! out. *Reference.* Apache Parquet, "File format" and "Encodings" (parquet.apache.org/docs).

mod codec;
mod thrift;
mod values;

use std::sync::Arc;

use self::codec::Codec;
use self::thrift::{TRUE, Thrift};
use self::values::{Hybrid, Physical, Values};
use super::scalar::{Kind, Unit};
use super::{
    Block, Held, PIECE, Rows, Table, end_row, held, is_ignored, nested, refuse_no_columns,
};
use crate::read::number::Stored;
use crate::read::options::ReadOptions;
use crate::read::source::Source;
use rosenblatt_core::internal::parallel;
use rosenblatt_core::{Error, Result};

/// What a file begins and ends with.
pub(crate) const MAGIC: &[u8] = b"PAR1";

fn damaged(why: &str) -> Error {
    Error::data(format!("this Parquet file cannot be read: {why}"))
        .remedy("the file is damaged or cut off; write or fetch it again")
}

/// What the footer says of the file.
#[derive(Default)]
struct Footer {
    schema: Vec<Node>,
    groups: Vec<Group>,
}

/// A column, or a structure of columns.
#[derive(Default)]
struct Node {
    name: String,
    physical: Option<i64>,
    length: usize,
    repetition: i64,
    children: usize,
    converted: Option<i64>,
    scale: i64,
    logical: Option<Kind>,
}

#[derive(Default, Clone)]
struct Group {
    columns: Vec<Chunk>,
    rows: usize,
}

/// The pages of a column in a row group.
#[derive(Default, Clone)]
struct Chunk {
    codec: i64,
    start: usize,
    dictionary: Option<usize>,
    len: usize,
    elsewhere: bool,
}

/// A column that is read.
#[derive(Clone)]
struct Column {
    name: String,
    /// Its place among the columns of a row group; `None` if it is left out.
    chunk: Option<usize>,
    physical: Physical,
    kind: Kind,
    optional: bool,
}

/// A file whose footer was read.
pub(crate) struct File {
    bytes: Arc<Held>,
    groups: Vec<Group>,
    columns: Vec<Column>,
}

pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Table> {
    let file = File::open(source, options)?;
    Ok(Table {
        names: file.names(),
        categories: Vec::new(),
        shift: 0,
        rows: file.rows(&[]),
    })
}

impl File {
    pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Self> {
        let bytes = held(source)?;
        let footer = footer(&bytes)?;
        let file = File {
            columns: columns(&footer.schema, options)?,
            groups: footer.groups,
            bytes,
        };
        refuse_no_columns(file.columns.len())?;
        if file.columns.iter().all(|c| c.chunk.is_none()) {
            return Err(Error::data("every column is left out").remedy("leave out fewer columns"));
        }
        Ok(file)
    }

    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|c| c.name.clone()).collect()
    }

    /// How many rows it says it has.
    pub(super) fn count(&self) -> usize {
        let rows = self.groups.iter().map(|group| group.rows);
        rows.fold(0, usize::saturating_add)
    }

    /// Whether each column holds plain numbers.
    pub(super) fn numeric(&self) -> Vec<bool> {
        let is_number = |c: &Column| match c.physical {
            Physical::Fixed(size) => c.chunk.is_some() && c.kind.is_number(size),
            _ => false,
        };
        self.columns.iter().map(is_number).collect()
    }

    /// The rows as text, without these columns.
    pub(super) fn rows(&self, without: &[usize]) -> Rows {
        let left = |j: &usize| without.binary_search(j).is_err();
        let columns = (0..self.columns.len()).filter(left);
        let columns: Vec<Column> = columns.map(|j| self.columns[j].clone()).collect();
        let (bytes, groups) = (self.bytes.clone(), self.groups.clone());
        let mut groups = groups.into_iter();
        let (mut cursors, mut left): (Vec<Option<Cursor>>, usize) = (Vec::new(), 0);
        Box::new(move |text: &mut Vec<u8>| -> Result<bool> {
            while left == 0 {
                let Some(group) = groups.next() else {
                    return Ok(false);
                };
                left = group.rows;
                cursors = (columns.iter())
                    .map(|column| Cursor::new(&bytes, column, &group))
                    .collect::<Result<_>>()?;
            }
            while left > 0 && text.len() < PIECE {
                let begun = text.len();
                for (j, cursor) in cursors.iter_mut().enumerate() {
                    if j > 0 {
                        text.push(b',');
                    }
                    if let Some(cursor) = cursor {
                        cursor.push(text)?;
                    }
                }
                end_row(text, begun);
                left -= 1;
            }
            Ok(true)
        })
    }

    /// The values of these columns of plain numbers, a block for each row group.
    pub(super) fn numbers<T: Stored>(
        &self,
        columns: &[usize],
        threads: usize,
    ) -> Result<Vec<Block<T>>> {
        // A few bytes may stand for any number of values.
        let most = (1 << 20) + self.bytes.len().saturating_mul(MOST_PER_BYTE);
        if self.count().saturating_mul(columns.len()) > most {
            return Err(Error::data("the columns hold far more values than bytes"));
        }
        let of = |group| columns.iter().map(move |&j| (group, &self.columns[j]));
        let wanted: Vec<(&Group, &Column)> = self.groups.iter().flat_map(of).collect();
        let mut found: Vec<Result<Vec<T>>> = wanted.iter().map(|_| Ok(Vec::new())).collect();
        parallel::each(wanted.into_iter().zip(&mut found), threads, || {
            |((group, column), place): ((&Group, &Column), &mut Result<Vec<T>>)| {
                let cursor = Cursor::new(&self.bytes, column, group);
                *place = cursor.and_then(|cursor| match cursor {
                    Some(cursor) => cursor.numbers(group.rows),
                    None => Ok(Vec::new()),
                });
            }
        });
        let mut found = found.into_iter();
        let of = |group: &Group| -> Result<Block<T>> {
            Ok(Block {
                rows: group.rows,
                columns: (found.by_ref().take(columns.len())).collect::<Result<_>>()?,
            })
        };
        self.groups.iter().map(of).collect()
    }
}

/// Numbers that a byte of the file may stand for, at most, if columns are to be read as such.
const MOST_PER_BYTE: usize = 64;

fn footer(bytes: &[u8]) -> Result<Footer> {
    let ends = bytes.len() >= 12 && bytes.ends_with(MAGIC);
    if bytes.ends_with(b"PARE") {
        return Err(
            Error::data("this Parquet file is encrypted").remedy("write it without encryption")
        );
    }
    if !ends || !bytes.starts_with(MAGIC) {
        return Err(damaged("it does not begin and end with PAR1"));
    }
    let (rest, tail) = bytes.split_at(bytes.len() - 8);
    let len = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]) as usize;
    let start = rest.len().checked_sub(len);
    let text = start.map(|start| &rest[start..]);
    let mut thrift = Thrift::new(text.ok_or_else(|| damaged("its footer is longer than it"))?);
    let mut footer = Footer::default();
    thrift.fields(|t, id, _| {
        match id {
            2 => t.list(|t| {
                footer.schema.push(node(t)?);
                Ok(())
            })?,
            4 => t.list(|t| {
                footer.groups.push(group(t)?);
                Ok(())
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(footer)
}

fn node(t: &mut Thrift<'_>) -> Result<Node> {
    let mut node = Node::default();
    t.fields(|t, id, _| {
        match id {
            1 => node.physical = Some(t.int()?),
            2 => node.length = t.size()?,
            3 => node.repetition = t.int()?,
            4 => node.name = t.text()?,
            5 => node.children = t.size()?,
            6 => node.converted = Some(t.int()?),
            7 => node.scale = t.int()?,
            10 => node.logical = logical(t)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(node)
}

/// The logical type, where it is one that its physical type does not tell.
fn logical(t: &mut Thrift<'_>) -> Result<Option<Kind>> {
    let mut found = None;
    t.fields(|t, id, _| {
        let (mut scale, mut unit, mut signed) = (0, Unit::Second, true);
        t.fields(|t, field, kind| {
            match (id, field) {
                (5, 1) => scale = t.int()?,
                (7 | 8, 2) => t.fields(|_, which, _| {
                    unit = match which {
                        1 => Unit::Milli,
                        2 => Unit::Micro,
                        _ => Unit::Nano,
                    };
                    Ok(false)
                })?,
                (10, 2) => signed = kind == TRUE,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        found = match id {
            1 | 4 | 12 => Some(Kind::Text),
            5 => Some(Kind::Decimal { scale }),
            6 => Some(Kind::Date),
            7 => Some(Kind::Time(unit)),
            8 => Some(Kind::Timestamp(unit)),
            10 if !signed => Some(Kind::Unsigned),
            11 => Some(Kind::Null),
            15 => Some(Kind::Half),
            _ => None,
        };
        Ok(true)
    })?;
    Ok(found)
}

fn group(t: &mut Thrift<'_>) -> Result<Group> {
    let mut group = Group::default();
    t.fields(|t, id, _| {
        match id {
            1 => t.list(|t| {
                group.columns.push(chunk(t)?);
                Ok(())
            })?,
            3 => group.rows = t.size()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(group)
}

fn chunk(t: &mut Thrift<'_>) -> Result<Chunk> {
    let mut chunk = Chunk::default();
    t.fields(|t, id, _| {
        match id {
            1 => {
                t.binary()?;
                chunk.elsewhere = true;
            }
            3 => t.fields(|t, id, _| {
                match id {
                    4 => chunk.codec = t.int()?,
                    7 => chunk.len = t.size()?,
                    9 => chunk.start = t.size()?,
                    11 => chunk.dictionary = Some(t.size()?),
                    _ => return Ok(false),
                }
                Ok(true)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(chunk)
}

/// The columns below the root, each with its place in the row groups.
fn columns(schema: &[Node], options: &ReadOptions) -> Result<Vec<Column>> {
    let root = schema.first().ok_or_else(|| damaged("it has no schema"))?;
    let (mut found, mut at, mut leaf) = (Vec::new(), 1, 0);
    for _ in 0..root.children {
        let node = schema
            .get(at)
            .ok_or_else(|| damaged("its schema ends early"))?;
        let (next, leaves) = passed(schema, at)?;
        let ignored = is_ignored(options, &node.name);
        let is_nested = node.children > 0 || node.repetition == 2;
        if is_nested && !ignored {
            let lists = schema[at..next].iter().any(|node| node.repetition == 2);
            let what = if lists { "lists" } else { "structures" };
            return Err(nested(&node.name, what));
        }
        let typed = (!ignored).then(|| typed(node)).transpose()?;
        found.push(Column {
            name: node.name.clone(),
            chunk: (!ignored).then_some(leaf),
            physical: typed.map_or(Physical::Bool, |(physical, _)| physical),
            kind: typed.map_or(Kind::Null, |(_, kind)| kind),
            optional: node.repetition == 1,
        });
        (at, leaf) = (next, leaf + leaves);
    }
    Ok(found)
}

/// The place behind a node and all below it, and how many of those are columns.
fn passed(schema: &[Node], at: usize) -> Result<(usize, usize)> {
    let (mut wanted, mut next, mut leaves) = (1usize, at, 0);
    while wanted > 0 {
        let node = schema
            .get(next)
            .ok_or_else(|| damaged("its schema ends early"))?;
        leaves += usize::from(node.children == 0);
        wanted = wanted.saturating_add(node.children) - 1;
        next += 1;
    }
    Ok((next, leaves))
}

/// What the values of a column are.
fn typed(node: &Node) -> Result<(Physical, Kind)> {
    let refused = |what: &str| Err(nested(&node.name, what));
    let kind = node.logical.or_else(|| {
        Some(match node.converted? {
            0 | 4 | 19 => Kind::Text,
            5 => Kind::Decimal { scale: node.scale },
            6 => Kind::Date,
            7 => Kind::Time(Unit::Milli),
            8 => Kind::Time(Unit::Micro),
            9 => Kind::Timestamp(Unit::Milli),
            10 => Kind::Timestamp(Unit::Micro),
            11..=14 => Kind::Unsigned,
            _ => return None,
        })
    });
    let whole = matches!(
        kind,
        Some(
            Kind::Decimal { .. }
                | Kind::Date
                | Kind::Time(_)
                | Kind::Timestamp(_)
                | Kind::Unsigned
                | Kind::Null
        )
    );
    let or = |usual: Kind| kind.filter(|_| whole).unwrap_or(usual);
    Ok(match (node.physical, kind) {
        (Some(0), _) => (Physical::Bool, Kind::Bool),
        (Some(1), _) => (Physical::Fixed(4), or(Kind::Int)),
        (Some(2), _) => (Physical::Fixed(8), or(Kind::Int)),
        (Some(3), _) => (Physical::Fixed(12), Kind::Julian),
        (Some(4), _) => (Physical::Fixed(4), Kind::Float),
        (Some(5), _) => (Physical::Fixed(8), Kind::Double),
        (Some(6), Some(Kind::Decimal { scale })) => (Physical::Bytes, Kind::BigDecimal { scale }),
        (Some(6), _) => (Physical::Bytes, Kind::Text),
        (Some(7), Some(Kind::Decimal { scale })) if (1..=16).contains(&node.length) => {
            (Physical::Fixed(node.length), Kind::BigDecimal { scale })
        }
        (Some(7), Some(Kind::Half)) if node.length == 2 => (Physical::Fixed(2), Kind::Half),
        (Some(7), _) => return refused("bytes of no known type"),
        _ => return Err(damaged("a column has no type")),
    })
}

/// Goes through the values of a column in a row group.
struct Cursor {
    bytes: Arc<Held>,
    column: Column,
    codec: Codec,
    at: usize,
    end: usize,
    /// Values left in the page.
    left: usize,
    /// Which of them are there.
    levels: Option<Hybrid>,
    values: Values,
    /// The bytes of the dictionary, and how many entries they are said to hold.
    dictionary: (Vec<u8>, usize),
    /// Its entries as they stand in cells: those of a fixed size once they are wanted, for of many
    /// a number the most may never be.
    cells: Option<Vec<Vec<u8>>>,
}

/// The header of a page.
#[derive(Default)]
struct Page {
    kind: i64,
    unpacked: usize,
    packed: usize,
    count: usize,
    encoding: i64,
    level_encoding: i64,
    /// Bytes of levels in front, of the second sort of page.
    levels: [usize; 2],
    is_packed: bool,
}

impl Cursor {
    fn new(bytes: &Arc<Held>, column: &Column, group: &Group) -> Result<Option<Self>> {
        let Some(number) = column.chunk else {
            return Ok(None);
        };
        let chunk = group.columns.get(number);
        let chunk = chunk.ok_or_else(|| damaged("a row group lacks a column"))?;
        if chunk.elsewhere {
            return Err(Error::data("the columns stand in other files")
                .remedy("name those files, or their folder"));
        }
        // Some writers say 0 where there is no dictionary.
        let dictionary = chunk.dictionary.filter(|&at| at > 0 && at < chunk.start);
        let at = dictionary.unwrap_or(chunk.start);
        let end = at.checked_add(chunk.len).filter(|&end| end <= bytes.len());
        Ok(Some(Cursor {
            bytes: bytes.clone(),
            column: column.clone(),
            codec: Codec::of(chunk.codec)?,
            at,
            end: end.ok_or_else(|| damaged("a column lies behind the end of the file"))?,
            left: 0,
            levels: None,
            values: Values::Plain {
                bytes: Vec::new(),
                at: 0,
            },
            dictionary: (Vec::new(), 0),
            cells: None,
        }))
    }

    /// Appends the next value, nothing where it is missing.
    fn push(&mut self, text: &mut Vec<u8>) -> Result<()> {
        while self.left == 0 {
            self.next_page()?;
            if self.cells.is_none() {
                self.cells = Some(self.entries()?);
            }
        }
        self.left -= 1;
        if let Some(levels) = &mut self.levels
            && levels.next()? == 0
        {
            return Ok(());
        }
        let (kind, physical) = (self.column.kind, self.column.physical);
        let Values::Entries(numbers) = &mut self.values else {
            return self.values.next(physical, |value| kind.push(text, value));
        };
        let entry = numbers.next()? as usize;
        let cells = self.cells.as_deref_mut().unwrap_or_default();
        let cell = cells.get_mut(entry).ok_or_else(values::no_entry)?;
        if let (true, Physical::Fixed(size)) = (cell.is_empty(), physical) {
            kind.push(cell, &self.dictionary.0[entry * size..][..size])?;
        }
        text.extend_from_slice(cell);
        Ok(())
    }

    fn next_page(&mut self) -> Result<()> {
        if self.at >= self.end {
            return Err(damaged(&format!(
                "the column {} has fewer values than there are rows",
                self.column.name
            )));
        }
        let mut thrift = Thrift::new(&self.bytes[self.at..self.end]);
        let page = page(&mut thrift)?;
        let start = self.at + thrift.read();
        let end = start
            .checked_add(page.packed)
            .filter(|&end| end <= self.end);
        let end = end.ok_or_else(|| damaged("a page is longer than its column"))?;
        self.at = end;
        let bytes = self.bytes.clone();
        let packed = &bytes[start..end];
        match page.kind {
            0 => {
                let unpacked = self.codec.unpack(packed, page.unpacked)?;
                self.levels = None;
                let mut start = 0;
                if self.column.optional {
                    if page.level_encoding != 3 {
                        return Err(damaged("its levels are encoded in a way no longer used"));
                    }
                    let short = || damaged("the levels of a page end early");
                    let len = unpacked.first_chunk::<4>().ok_or_else(short)?;
                    let behind = 4 + u32::from_le_bytes(*len) as usize;
                    let levels = unpacked.get(4..behind).ok_or_else(short)?.to_vec();
                    self.levels = Some(Hybrid::new(levels, 1)?);
                    start = behind;
                }
                self.begin(page.count, page.encoding, unpacked, start)
            }
            3 => {
                let [repeated, defined] = page.levels;
                let levels = repeated.checked_add(defined).filter(|&n| n <= packed.len());
                let behind = levels.ok_or_else(|| damaged("the levels of a page end early"))?;
                let values = &packed[behind..];
                let unpacked = match page.is_packed && !values.is_empty() {
                    true => {
                        let len = page.unpacked.saturating_sub(behind);
                        self.codec.unpack(values, len)?
                    }
                    false => values.to_vec(),
                };
                let levels = packed[repeated..behind].to_vec();
                self.levels = match self.column.optional {
                    true => Some(Hybrid::new(levels, 1)?),
                    false => None,
                };
                self.begin(page.count, page.encoding, unpacked, 0)
            }
            2 => {
                self.dictionary = (self.codec.unpack(packed, page.unpacked)?, page.count);
                self.cells = None;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Begins a page whose values stand in these bytes from `start` on.
    fn begin(&mut self, count: usize, encoding: i64, bytes: Vec<u8>, start: usize) -> Result<()> {
        self.left = count;
        // Where all values are missing there may be nothing.
        let encoding = if bytes.len() == start { 0 } else { encoding };
        self.values = Values::new(encoding, self.column.physical, bytes, start)?;
        Ok(())
    }

    /// The entries of the dictionary as they stand in cells.
    fn entries(&mut self) -> Result<Vec<Vec<u8>>> {
        let (kind, physical) = (self.column.kind, self.column.physical);
        let (bytes, count) = &mut self.dictionary;
        if let Physical::Fixed(size) = physical {
            return match count.checked_mul(size).is_some_and(|n| n <= bytes.len()) {
                true => Ok(vec![Vec::new(); *count]),
                false => Err(values::short()),
            };
        }
        let bytes = std::mem::take(bytes);
        let mut plain = Values::Plain { bytes, at: 0 };
        let mut cells = Vec::new();
        for _ in 0..*count {
            let mut cell = Vec::new();
            plain.next(physical, |value| kind.push(&mut cell, value))?;
            cells.push(cell);
        }
        Ok(cells)
    }

    /// All values of a column of plain numbers, of which there are so many.
    fn numbers<T: Stored>(mut self, rows: usize) -> Result<Vec<T>> {
        let Physical::Fixed(size) = self.column.physical else {
            return Err(damaged("a column has another type than it said"));
        };
        let typed = (self.column.kind, size);
        let (mut entries, mut found): (Vec<T>, Vec<T>) = (Vec::new(), Vec::new());
        while found.len() < rows {
            while self.left == 0 {
                self.next_page()?;
                let (bytes, count) = std::mem::take(&mut self.dictionary);
                if count > 0 {
                    entries.clear();
                    let mut plain = Values::Plain { bytes, at: 0 };
                    plain.numbers(typed, &[], count, &mut entries)?;
                }
            }
            let mut left = self.left.min(rows - found.len());
            self.left -= left;
            let Some(levels) = &mut self.levels else {
                self.values.numbers(typed, &entries, left, &mut found)?;
                continue;
            };
            // Values that are there are taken together.
            let mut there = 0;
            while left > 0 {
                let (level, times) = levels.run(left)?;
                left -= times;
                if level == 0 {
                    self.values.numbers(typed, &entries, there, &mut found)?;
                    found.resize(found.len() + times, T::MISSING);
                    there = 0;
                } else {
                    there += times;
                }
            }
            self.values.numbers(typed, &entries, there, &mut found)?;
        }
        Ok(found)
    }
}

fn page(t: &mut Thrift<'_>) -> Result<Page> {
    let mut page = Page {
        is_packed: true,
        level_encoding: 3,
        ..Page::default()
    };
    t.fields(|t, id, _| {
        match id {
            1 => page.kind = t.int()?,
            2 => page.unpacked = t.size()?,
            3 => page.packed = t.size()?,
            5 | 7 => t.fields(|t, field, _| {
                match field {
                    1 => page.count = t.size()?,
                    2 => page.encoding = t.int()?,
                    3 if id == 5 => page.level_encoding = t.int()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?,
            8 => t.fields(|t, field, kind| {
                match field {
                    1 => page.count = t.size()?,
                    4 => page.encoding = t.int()?,
                    5 => page.levels[1] = t.size()?,
                    6 => page.levels[0] = t.size()?,
                    7 => page.is_packed = kind == TRUE,
                    _ => return Ok(false),
                }
                Ok(true)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(page)
}
