//! Parquet: the label, the weight and each feature as columns of numbers or texts.
//!
//! Every value is there, so that a page is its values one behind the other, packed by Zstandard.
//! *Reference.* Apache Parquet, "File format" (parquet.apache.org/docs), whose headers are
//! structures of Thrift's compact protocol.

use std::io::Write;

use rosenblatt_core::data::{Dataset, Precision, Row};
use rosenblatt_core::{Error, Result};

use super::npy::Labels;
use super::{column_name, io_error};

const MAGIC: &[u8] = b"PAR1";

/// Values of a row group, at most: they are in memory together.
const MOST_VALUES: usize = 1 << 23;

/// Rows of a row group, at most.
const MOST_ROWS: usize = 1 << 18;

/// What the values of a column are, by the numbers of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Whole = 2,
    Single = 4,
    Double = 5,
    Text = 6,
}

/// Pages of a column that were written.
struct Chunk {
    start: u64,
    unpacked: u64,
    packed: u64,
}

/// Writes a table with the columns `label`, then `weight` if the examples have weights, then the
/// features by name: `.parquet`. Labels that are all numbers are written as such.
///
/// # Errors
/// If a feature has the name of another column, and those of `out`.
pub fn write_parquet(dataset: &Dataset, mut out: impl Write) -> Result<()> {
    let (rows, features) = (dataset.len(), dataset.features());
    let labels = Labels::of(dataset.classes.names());
    let values = match dataset.matrix.precision() {
        Precision::F32 => Type::Single,
        Precision::F64 => Type::Double,
    };
    let mut columns = vec![("label".to_owned(), type_of(&labels))];
    columns.extend(
        dataset
            .weights
            .as_ref()
            .map(|_| ("weight".to_owned(), Type::Double)),
    );
    for j in 0..features {
        let name = column_name(&dataset.names, j, dataset.weights.is_some())?;
        columns.push((name, values));
    }
    let each = (MOST_VALUES / features.max(1)).clamp(1, MOST_ROWS);
    let mut file = File {
        out: &mut out,
        at: 0,
    };
    file.write(MAGIC)?;
    let (mut groups, mut dense) = (Vec::new(), Vec::new());
    for first in (0..rows).step_by(each) {
        let places: Vec<usize> = (first..rows.min(first + each))
            .map(|number| dataset.position(number))
            .collect();
        let count = places.len();
        let mut chunks = Vec::with_capacity(columns.len());
        let mut page = Vec::new();
        for &i in &places {
            let class = dataset.labels[i] as usize;
            match &labels {
                Labels::Whole(numbers) => page.extend(numbers[class].to_le_bytes()),
                Labels::Real(numbers) => page.extend(numbers[class].to_le_bytes()),
                Labels::Text(_) => {
                    let name = &dataset.classes.names()[class];
                    page.extend((name.len() as u32).to_le_bytes());
                    page.extend(name.as_bytes());
                }
            }
        }
        chunks.push(file.page(&mut page, count)?);
        if let Some(weights) = &dataset.weights {
            places
                .iter()
                .for_each(|&i| page.extend(weights[i].to_le_bytes()));
            chunks.push(file.page(&mut page, count)?);
        }
        // Column by column.
        dense.clear();
        dense.resize(count * features, 0.0);
        for (k, &i) in places.iter().enumerate() {
            put(dataset.row(i), &mut dense[k..], count);
        }
        for column in dense.chunks_exact(count) {
            match values {
                Type::Single => column
                    .iter()
                    .for_each(|&x| page.extend((x as f32).to_le_bytes())),
                _ => column.iter().for_each(|x| page.extend(x.to_le_bytes())),
            }
            chunks.push(file.page(&mut page, count)?);
        }
        groups.push((count, chunks));
    }
    let footer = footer(&columns, rows, &groups);
    file.write(&footer)?;
    file.write(&(footer.len() as u32).to_le_bytes())?;
    file.write(MAGIC)?;
    out.flush().map_err(|e| io_error(&e))
}

/// Puts the values of a row into every `count`-th place.
fn put(row: Row<'_>, to: &mut [f64], count: usize) {
    row.for_each(|j, x| to[j * count] = x);
}

fn type_of(labels: &Labels) -> Type {
    match labels {
        Labels::Whole(_) => Type::Whole,
        Labels::Real(_) => Type::Double,
        Labels::Text(_) => Type::Text,
    }
}

/// A file, and how much of it was written.
struct File<W> {
    out: W,
    at: u64,
}

impl<W: Write> File<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|e| io_error(&e))
    }

    /// Writes these values, and clears them.
    fn page(&mut self, values: &mut Vec<u8>, count: usize) -> Result<Chunk> {
        let packed = zstd::bulk::compress(values, 1).map_err(|e| io_error(&e))?;
        let too_large = |_| {
            Error::data("a column of texts is too large for a page")
                .remedy("write CSV, or give the classes shorter names")
        };
        let size = i32::try_from(values.len()).map_err(too_large)?;
        let mut header = Thrift::default();
        header.int(1, 0); // a page of data
        header.int(2, i64::from(size));
        header.int(3, packed.len() as i64);
        header.begin(5);
        header.int(1, count as i64);
        header.int(2, 0); // plain
        header.int(3, RUNS);
        header.int(4, RUNS);
        header.end();
        header.end();
        let start = self.at;
        self.write(&header.bytes)?;
        self.write(&packed)?;
        let chunk = Chunk {
            start,
            unpacked: (header.bytes.len() + values.len()) as u64,
            packed: self.at - start,
        };
        values.clear();
        Ok(chunk)
    }
}

/// How levels would be encoded, if there were any.
const RUNS: i64 = 3;

/// What stands at the end: the columns, and where their pages are.
fn footer(columns: &[(String, Type)], rows: usize, groups: &[(usize, Vec<Chunk>)]) -> Vec<u8> {
    let mut t = Thrift::default();
    t.int(1, 2); // version
    t.list(2, STRUCT, columns.len() + 1);
    t.enter();
    t.text(4, "schema");
    t.int(5, columns.len() as i64);
    t.end();
    for (name, kind) in columns {
        t.enter();
        t.int(1, *kind as i64);
        t.int(3, 0); // every row has a value
        t.text(4, name);
        if *kind == Type::Text {
            t.int(6, 0); // UTF-8
            t.begin(10);
            t.begin(1); // the same, as newer readers want it
            t.end();
            t.end();
        }
        t.end();
    }
    t.long(3, rows as i64);
    t.list(4, STRUCT, groups.len());
    for (count, chunks) in groups {
        t.enter();
        t.list(1, STRUCT, chunks.len());
        for (chunk, (name, kind)) in chunks.iter().zip(columns) {
            t.enter();
            t.long(2, 0);
            t.begin(3);
            t.int(1, *kind as i64);
            t.list(2, INT, 1);
            t.number(0); // plain
            t.list(3, BINARY, 1);
            t.bytes_of(name);
            t.int(4, 6); // Zstandard
            t.long(5, *count as i64);
            t.long(6, chunk.unpacked as i64);
            t.long(7, chunk.packed as i64);
            t.long(9, chunk.start as i64);
            t.end();
            t.end();
        }
        t.long(2, chunks.iter().map(|c| c.unpacked as i64).sum());
        t.long(3, *count as i64);
        t.end();
    }
    t.text(6, concat!("rosenblatt version ", env!("CARGO_PKG_VERSION")));
    t.end();
    t.bytes
}

const INT: u8 = 5;
const LONG: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A writer of structures.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    /// The field written last, of the structure and of those around it.
    last: i64,
    outer: Vec<i64>,
}

impl Thrift {
    fn field(&mut self, id: i64, kind: u8) {
        // Fields ascend, by fifteen at most.
        self.bytes.push(((id - self.last) as u8) << 4 | kind);
        self.last = id;
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn number(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63) as u64);
    }

    fn int(&mut self, id: i64, value: i64) {
        self.field(id, INT);
        self.number(value);
    }

    fn long(&mut self, id: i64, value: i64) {
        self.field(id, LONG);
        self.number(value);
    }

    fn bytes_of(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, id: i64, text: &str) {
        self.field(id, BINARY);
        self.bytes_of(text);
    }

    /// Begins a structure.
    fn begin(&mut self, id: i64) {
        self.field(id, STRUCT);
        self.enter();
    }

    /// Begins a structure that is an element of a list.
    fn enter(&mut self) {
        self.outer.push(self.last);
        self.last = 0;
    }

    /// Ends a structure.
    fn end(&mut self) {
        self.bytes.push(0);
        self.last = self.outer.pop().unwrap_or(0);
    }

    /// Begins a list; its elements follow.
    fn list(&mut self, id: i64, kind: u8, len: usize) {
        self.field(id, LIST);
        match len {
            0..15 => self.bytes.push((len as u8) << 4 | kind),
            _ => {
                self.bytes.push(0xF0 | kind);
                self.varint(len as u64);
            }
        }
    }
}
