//! Arrow's format for files and streams (IPC), version 2 of Feather: batches of columns.
//!
//! A file is read as the stream it contains. Dictionaries are categories. Columns of lists,
//! structures and unions are refused, unless they are left out. *Reference.* Apache Arrow, "Arrow
//! columnar format" (arrow.apache.org/docs/format/Columnar.html).

mod batch;
mod flat;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use self::batch::{Column, Dictionaries, columns_of};
use self::flat::Flat;
use super::scalar::{Kind, Unit};
use super::{
    Block, Held, PIECE, Rows, Table, end_row, held, is_ignored, nested, refuse_no_columns,
};
use crate::read::number::Stored;
use crate::read::options::ReadOptions;
use crate::read::source::Source;
use rosenblatt_core::internal::parallel;
use rosenblatt_core::{Error, Result};

/// What a file begins with; a stream begins with its first message.
pub(crate) const MAGIC: &[u8] = b"ARROW1\0\0";
const STREAM: [u8; 4] = [0xFF; 4];

/// Types within types, at most.
const DEEPEST: usize = 32;

/// Whether a file begins as one of Arrow's does.
pub(crate) fn begins(head: &[u8]) -> bool {
    // The message of a schema is no longer than this.
    let is_length = |four: [u8; 4]| (8..1 << 26).contains(&u32::from_le_bytes(four));
    head.starts_with(MAGIC)
        || matches!(head, [a, b, c, d, e, f, g, h, ..]
            if [*a, *b, *c, *d] == STREAM && is_length([*e, *f, *g, *h]))
}

fn damaged(why: &str) -> Error {
    Error::data(format!("this Arrow file cannot be read: {why}"))
        .remedy("the file is damaged or cut off; write or fetch it again")
}

/// How the values of a column lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    None,
    Bits,
    Fixed(usize),
    /// Texts, whose ends are numbers of so many bytes.
    Texts(usize),
    Views,
    /// Numbers of entries of a dictionary, of so many bytes.
    Entries {
        size: usize,
        id: i64,
    },
}

/// A column as the schema has it.
#[derive(Debug, Clone)]
struct Field {
    name: String,
    /// `None` where it is left out.
    layout: Option<Layout>,
    kind: Kind,
    /// How many lists and buffers it takes in a batch.
    passed: Passed,
}

/// What a column that is left out takes in a batch.
#[derive(Debug, Clone, Copy, Default)]
struct Passed {
    nodes: usize,
    buffers: usize,
    views: usize,
}

/// A file whose schema was read.
pub(crate) struct File {
    bytes: Arc<Held>,
    fields: Vec<Field>,
    /// What the entries of dictionaries are.
    values: HashMap<i64, (Layout, Kind)>,
}

pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Table> {
    let file = File::open(source, options)?;
    let of_dictionary = |f: &&Field| matches!(f.layout, Some(Layout::Entries { .. }));
    let categories = file.fields.iter().filter(of_dictionary);
    Ok(Table {
        names: file.fields.iter().map(|f| f.name.clone()).collect(),
        categories: categories.map(|f| f.name.clone()).collect(),
        shift: 0,
        rows: file.rows(&[])?,
    })
}

impl File {
    pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Self> {
        let bytes = held(source)?;
        let (schema, _) = begin(&bytes)?;
        if schema.short(0, 0)? != 0 {
            return Err(Error::data("the numbers of this Arrow file are big-endian")
                .remedy("write it on a usual machine"));
        }
        let mut fields = Vec::new();
        let mut values: HashMap<i64, (Layout, Kind)> = HashMap::new();
        for flat in schema.tables(1)? {
            let name = flat.text(0)?;
            let ignored = is_ignored(options, &name);
            let passed = passed(&flat, 0)?;
            let mut typed_as = (None, Kind::Null);
            if !ignored {
                let (layout, kind) = typed(&flat, &name)?;
                typed_as = (Some(layout), kind);
                if let Some(dictionary) = flat.table(4)? {
                    let id = dictionary.long(0)?;
                    let size = match dictionary.table(1)? {
                        Some(int) => int.int(0, 0)? / 8,
                        None => 4,
                    };
                    if !matches!(size, 1 | 2 | 4 | 8) {
                        return Err(damaged("the numbers of a dictionary have no usual size"));
                    }
                    values.insert(id, (layout, kind));
                    typed_as.0 = Some(Layout::Entries {
                        size: size as usize,
                        id,
                    });
                }
            }
            fields.push(Field {
                name,
                layout: typed_as.0,
                kind: typed_as.1,
                passed,
            });
        }
        refuse_no_columns(fields.len())?;
        if fields
            .iter()
            .all(|f| matches!(f.layout, None | Some(Layout::None)))
        {
            return Err(Error::data("no column holds values").remedy("leave out fewer columns"));
        }
        Ok(File {
            bytes,
            fields,
            values,
        })
    }

    /// Whether each column holds plain numbers.
    pub(super) fn numeric(&self) -> Vec<bool> {
        let is_number = |f: &Field| match f.layout {
            Some(Layout::Fixed(size)) => f.kind.is_number(size),
            _ => false,
        };
        self.fields.iter().map(is_number).collect()
    }

    /// How many rows it says it has.
    pub(super) fn count(&self) -> Result<usize> {
        let (_, mut messages) = begin(&self.bytes)?;
        let mut rows = 0usize;
        while let Some(message) = messages.next(&self.bytes)? {
            let root = Flat::root(&self.bytes[message.head])?;
            if let (3, Some(batch)) = (root.byte(1, 0)?, root.table(2)?) {
                rows = rows.saturating_add(usize::try_from(batch.long(0)?).unwrap_or(usize::MAX));
            }
        }
        Ok(rows)
    }

    /// The fields, those in these places left out or all others.
    fn fields(&self, places: &[usize], left_out: bool) -> Vec<Field> {
        let mut fields = self.fields.clone();
        for (j, field) in fields.iter_mut().enumerate() {
            if places.binary_search(&j).is_ok() == left_out {
                field.layout = None;
            }
        }
        fields
    }

    /// The rows as text, without these columns.
    pub(super) fn rows(&self, without: &[usize]) -> Result<Rows> {
        let (_, mut messages) = begin(&self.bytes)?;
        let (bytes, fields) = (self.bytes.clone(), self.fields(without, true));
        let without = without.to_vec();
        let mut dictionaries = Dictionaries::new(self.values.clone());
        let (mut columns, mut row, mut count): (Vec<Column>, usize, usize) = (Vec::new(), 0, 0);
        Ok(Box::new(move |text: &mut Vec<u8>| -> Result<bool> {
            while row == count {
                let Some(message) = messages.next(&bytes)? else {
                    return Ok(false);
                };
                let root = Flat::root(&bytes[message.head])?;
                let body = &bytes[message.body];
                match (root.byte(1, 0)?, root.table(2)?) {
                    (2, Some(batch)) => dictionaries.add(&batch, body)?,
                    (3, Some(batch)) => {
                        (columns, count) = columns_of(&fields, &batch, body)?;
                        let mut j = 0..;
                        columns.retain(|_| {
                            j.next().is_some_and(|j| without.binary_search(&j).is_err())
                        });
                        row = 0;
                    }
                    _ => {}
                }
            }
            while row < count && text.len() < PIECE {
                let begun = text.len();
                for (j, column) in columns.iter().enumerate() {
                    if j > 0 {
                        text.push(b',');
                    }
                    column.push(text, row, &dictionaries)?;
                }
                end_row(text, begun);
                row += 1;
            }
            Ok(true)
        }))
    }

    /// The values of these columns of plain numbers, a block for each batch.
    pub(super) fn numbers<T: Stored>(
        &self,
        columns: &[usize],
        threads: usize,
    ) -> Result<Vec<Block<T>>> {
        let (_, mut messages) = begin(&self.bytes)?;
        let mut batches = Vec::new();
        while let Some(message) = messages.next(&self.bytes)? {
            if Flat::root(&self.bytes[message.head.clone()])?.byte(1, 0)? == 3 {
                batches.push((message, Ok(None)));
            }
        }
        let fields = self.fields(columns, false);
        let block = |message: &Message| -> Result<Option<Block<T>>> {
            let Some(batch) = Flat::root(&self.bytes[message.head.clone()])?.table(2)? else {
                return Ok(None);
            };
            let body = &self.bytes[message.body.clone()];
            let (found, rows) = columns_of(&fields, &batch, body)?;
            let found = columns.iter().map(|&j| found[j].numbers(rows));
            Ok(Some(Block {
                rows,
                columns: found.collect::<Result<_>>()?,
            }))
        };
        parallel::each(batches.iter_mut(), threads, || {
            |(message, place): &mut (Message, Result<Option<Block<T>>>)| *place = block(message)
        });
        let blocks = batches.into_iter().map(|(_, block)| block);
        blocks.filter_map(Result::transpose).collect()
    }
}

/// Where a message lies.
struct Message {
    head: Range<usize>,
    body: Range<usize>,
}

/// The messages behind the schema.
enum Messages {
    /// Of a file, whose footer lists them.
    Listed(std::vec::IntoIter<Message>),
    /// Of a stream, from this place on.
    Streamed(usize),
}

/// The schema of a file or stream, and the messages behind it.
fn begin(bytes: &[u8]) -> Result<(Flat<'_>, Messages)> {
    if !bytes.starts_with(MAGIC) {
        let no_schema = || damaged("it does not begin with a schema");
        let first = message(bytes, 0)?.ok_or_else(no_schema)?;
        let root = Flat::root(&bytes[first.head])?;
        let schema = root.table(2)?.filter(|_| root.byte(1, 0).ok() == Some(1));
        let messages = Messages::Streamed(first.body.end);
        return Ok((schema.ok_or_else(no_schema)?, messages));
    }
    let tail = bytes.strip_suffix(&MAGIC[..6]);
    let tail = tail.and_then(|rest| rest.split_last_chunk::<4>());
    let (rest, len) = tail.ok_or_else(|| damaged("it does not end with ARROW1"))?;
    let start = rest.len().checked_sub(u32::from_le_bytes(*len) as usize);
    let start = start.ok_or_else(|| damaged("its footer is longer than it"))?;
    let footer = Flat::root(&rest[start..])?;
    let schema = footer.table(1)?;
    let mut listed = Vec::new();
    for list in [footer.longs(2, 3)?, footer.longs(3, 3)?] {
        for block in list.chunks_exact(3) {
            let place = usize::try_from(block[0]).ok();
            let found = place.map(|at| message(&rest[..start], at)).transpose()?;
            let found = found.flatten();
            listed.push(found.ok_or_else(|| damaged("a batch is not where its footer says"))?);
        }
    }
    let schema = schema.ok_or_else(|| damaged("it has no schema"))?;
    Ok((schema, Messages::Listed(listed.into_iter())))
}

/// The message at a place of a stream; `None` at its end.
fn message(bytes: &[u8], mut at: usize) -> Result<Option<Message>> {
    let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    if word(at) == Some(&STREAM) {
        at += 4;
    }
    let len = match word(at) {
        // A stream may end where it likes.
        None if at >= bytes.len() => return Ok(None),
        None => return Err(damaged("it ends inside a message")),
        Some(len) => u32::from_le_bytes(*len) as usize,
    };
    if len == 0 {
        return Ok(None);
    }
    at += 4;
    let end = at.checked_add(len).filter(|&end| end <= bytes.len());
    let head = at..end.ok_or_else(|| damaged("it ends inside a message"))?;
    let body = usize::try_from(Flat::root(&bytes[head.clone()])?.long(3)?).ok();
    let end = body.and_then(|body| head.end.checked_add(body));
    let end = end.filter(|&end| end <= bytes.len());
    let body = head.end..end.ok_or_else(|| damaged("it ends inside a batch"))?;
    Ok(Some(Message { head, body }))
}

impl Messages {
    fn next(&mut self, bytes: &[u8]) -> Result<Option<Message>> {
        match self {
            Messages::Listed(left) => Ok(left.next()),
            Messages::Streamed(at) => {
                let found = message(bytes, *at)?;
                *at = found.as_ref().map_or(*at, |found| found.body.end);
                Ok(found)
            }
        }
    }
}

/// How the values of a column lie, and what they are.
fn typed(field: &Flat<'_>, name: &str) -> Result<(Layout, Kind)> {
    let kind = field.byte(2, 0)?;
    let about = field.table(3)?;
    let about = about.ok_or_else(|| damaged("a column has no type"))?;
    let time_unit = |unit: i16| match unit {
        0 => Unit::Second,
        1 => Unit::Milli,
        2 => Unit::Micro,
        _ => Unit::Nano,
    };
    let fixed = |bits: i32| match bits {
        8 | 16 | 32 | 64 | 128 => Ok(Layout::Fixed(bits as usize / 8)),
        _ => Err(nested(name, &format!("numbers of {bits} bits"))),
    };
    Ok(match kind {
        1 => (Layout::None, Kind::Null),
        2 if about.byte(1, 0)? == 0 => (fixed(about.int(0, 0)?)?, Kind::Unsigned),
        2 => (fixed(about.int(0, 0)?)?, Kind::Int),
        3 => match about.short(0, 0)? {
            0 => (Layout::Fixed(2), Kind::Half),
            1 => (Layout::Fixed(4), Kind::Float),
            _ => (Layout::Fixed(8), Kind::Double),
        },
        4 | 5 => (Layout::Texts(4), Kind::Text),
        19 | 20 => (Layout::Texts(8), Kind::Text),
        23 | 24 => (Layout::Views, Kind::Text),
        6 => (Layout::Bits, Kind::Bool),
        7 => {
            let scale = i64::from(about.int(1, 0)?);
            (fixed(about.int(2, 128)?)?, Kind::Decimal { scale })
        }
        8 if about.short(0, 1)? == 0 => (Layout::Fixed(4), Kind::Date),
        8 => (Layout::Fixed(8), Kind::Timestamp(Unit::Milli)),
        9 => {
            let unit = time_unit(about.short(0, 1)?);
            (fixed(about.int(1, 32)?)?, Kind::Time(unit))
        }
        10 => (
            Layout::Fixed(8),
            Kind::Timestamp(time_unit(about.short(0, 0)?)),
        ),
        18 => (Layout::Fixed(8), Kind::Int),
        other => {
            return Err(nested(
                name,
                match other {
                    12 | 16 | 21 | 25 | 26 => "lists",
                    13 => "structures",
                    14 => "unions",
                    17 => "maps",
                    15 => "bytes of no known type",
                    _ => "values of a type that is not known here",
                },
            ));
        }
    })
}

/// What a column takes in a batch.
fn passed(field: &Flat<'_>, depth: usize) -> Result<Passed> {
    if depth > DEEPEST {
        return Err(damaged("its types are nested too deeply"));
    }
    if field.table(4)?.is_some() {
        return Ok(Passed {
            nodes: 1,
            buffers: 2,
            views: 0,
        });
    }
    let kind = field.byte(2, 0)?;
    let buffers = match kind {
        1 | 22 => 0,
        13 | 16 => 1,
        14 => match field.table(3)? {
            // The types, and where values are dense their places.
            Some(union) => 1 + union.short(0, 0)? as usize % 2,
            None => 1,
        },
        4 | 5 | 19 | 20 | 25 | 26 => 3,
        _ => 2,
    };
    let mut found = Passed {
        nodes: 1,
        buffers,
        views: usize::from(matches!(kind, 23 | 24)),
    };
    for child in field.tables(5)? {
        let child = passed(&child, depth + 1)?;
        found.nodes += child.nodes;
        found.buffers += child.buffers;
        found.views += child.views;
    }
    Ok(found)
}
