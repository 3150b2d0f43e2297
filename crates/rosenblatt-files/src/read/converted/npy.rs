//! NPY and NPZ, the formats of NumPy.
//!
//! An array of two dimensions is a table without names whose last column is the label; the labels
//! may instead stand in an array of their own, in the same NPZ archive or in the file that
//! `labels` names. Sizes that a header promises are checked against the bytes that are there.

use std::io::Read;
use std::sync::Arc;

use super::scalar::Kind;
use super::{
    Block, PIECE, Rows, Table, all_bytes, beside, end_row, push_number, push_text,
    refuse_no_columns,
};
use crate::read::number::Stored;
use crate::read::options::ReadOptions;
use crate::read::source::{Source, zip};
use rosenblatt_core::{Error, Result};

/// What the file of an array begins with.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The type of an element: a kind as NumPy has it and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Element {
    kind: u8,
    size: usize,
    big_endian: bool,
}

/// An array in memory.
struct Array {
    element: Element,
    rows: usize,
    columns: usize,
    dimensions: usize,
    /// Whether columns, not rows, lie together.
    by_column: bool,
    bytes: Vec<u8>,
    start: usize,
}

fn bad(why: impl std::fmt::Display) -> Error {
    Error::data(format!("this is no array that can be read: {why}"))
        .remedy("save it with numpy.save, as numbers, booleans or texts")
}

impl Array {
    /// The array in the bytes of an NPY file.
    fn of(bytes: Vec<u8>) -> Result<Self> {
        let cut_off = || bad("the file ends inside its header");
        let version = *bytes.get(MAGIC.len()).ok_or_else(cut_off)?;
        if !bytes.starts_with(MAGIC) {
            return Err(bad("it does not begin with the letters NUMPY"));
        }
        let long = version >= 2;
        let at = MAGIC.len() + 2;
        let field = bytes
            .get(at..at + if long { 4 } else { 2 })
            .ok_or_else(cut_off)?;
        let length = field.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
        let start = at + field.len() + length;
        let header = bytes.get(at + field.len()..start).ok_or_else(cut_off)?;
        let header = String::from_utf8_lossy(header);
        let descr = member(&header, "descr").ok_or_else(|| bad("its header has no descr"))?;
        let element = Element::of(descr.trim_matches(['\'', '"']))?;
        let by_column = member(&header, "fortran_order") == Some("True");
        let shape = member(&header, "shape").ok_or_else(|| bad("its header has no shape"))?;
        let sizes = shape.trim_matches(['(', ')']).split(',');
        let sizes: Vec<usize> = sizes
            .map(str::trim)
            .filter(|size| !size.is_empty())
            .map(|size| {
                size.parse()
                    .map_err(|_| bad(format!("its shape is {shape}")))
            })
            .collect::<Result<_>>()?;
        let (rows, columns) = match sizes[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                return Err(bad(format!(
                    "its shape is {shape}, expected one or two dimensions"
                ))
                .remedy("make rows of it, for instance with X.reshape(len(X), -1)"));
            }
        };
        let promised = (rows as u128) * (columns as u128) * (element.size as u128);
        let there = bytes.len() - start;
        if promised != there as u128 {
            return Err(Error::data(format!(
                "the header promises {rows} × {columns} elements of {} bytes, and there are {there} bytes",
                element.size
            ))
            .remedy("the file is cut off or damaged; save it again"));
        }
        Ok(Array {
            element,
            rows,
            columns,
            dimensions: sizes.len(),
            by_column,
            bytes,
            start,
        })
    }

    fn push(&self, text: &mut Vec<u8>, row: usize, column: usize) -> Result<()> {
        let place = match self.by_column {
            true => column * self.rows + row,
            false => row * self.columns + column,
        };
        let size = self.element.size;
        let at = self.start + place * size;
        self.element.push(text, &self.bytes[at..at + size])
    }
}

/// The value of a member of the header, which is a dictionary as Python writes it.
fn member<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let quoted = [format!("'{name}'"), format!("\"{name}\"")];
    let (_, rest) = quoted
        .iter()
        .find_map(|name| header.split_once(name.as_str()))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = match rest.as_bytes().first()? {
        b'(' => rest.find(')')? + 1,
        b'[' => rest.find(']')? + 1,
        &quote @ (b'\'' | b'"') => rest[1..].find(quote as char)? + 2,
        _ => rest.find([',', '}'])?,
    };
    Some(rest[..end].trim())
}

impl Element {
    fn of(descr: &str) -> Result<Self> {
        let refused = || bad(format!("its elements have the type {descr}"));
        if descr.starts_with('[') {
            return Err(
                refused().remedy("save the fields of a structured array as columns of one type")
            );
        }
        let (order, rest) = descr.split_at_checked(1).ok_or_else(refused)?;
        let (order, rest) = match order {
            "<" | ">" | "|" | "=" => (order, rest),
            _ => ("|", descr),
        };
        let (kind, size) = rest.split_at_checked(1).ok_or_else(refused)?;
        let kind = kind.as_bytes()[0];
        let count: usize = match kind {
            b'?' | b'O' => 1,
            _ => size.parse().map_err(|_| refused())?,
        };
        let known = matches!(
            (kind, count),
            (b'f', 2 | 4 | 8) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'b', 1) | (b'?', 1)
        ) || (matches!(kind, b'U' | b'S' | b'a') && count < 1 << 20);
        if !known {
            let error = refused();
            return Err(match kind {
                b'O' => error.remedy("objects are pickled, which could run any program; save numbers or texts with astype"),
                _ => error,
            });
        }
        Ok(Element {
            kind,
            size: if kind == b'U' { 4 * count } else { count },
            big_endian: order == ">",
        })
    }

    /// What plain numbers these are, if they are such, as most machines have them.
    fn plain(self) -> Option<Kind> {
        let kind = match self.kind {
            b'f' if self.size == 8 => Kind::Double,
            b'f' if self.size == 4 => Kind::Float,
            b'f' => Kind::Half,
            b'i' => Kind::Int,
            b'u' => Kind::Unsigned,
            _ => return None,
        };
        (!self.big_endian && kind.is_number(self.size)).then_some(kind)
    }

    /// Appends a value as it would stand in a cell.
    fn push(self, text: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
        let number = |bytes: &[u8]| {
            let (n, mut eight) = (bytes.len(), [0; 8]);
            match self.big_endian {
                true => bytes
                    .iter()
                    .rev()
                    .zip(&mut eight)
                    .for_each(|(&b, to)| *to = b),
                false => eight[..n].copy_from_slice(bytes),
            }
            u64::from_le_bytes(eight)
        };
        match self.kind {
            b'f' => {
                let bits = number(bytes);
                push_number(
                    text,
                    match self.size {
                        8 => f64::from_bits(bits),
                        4 => f64::from(f32::from_bits(bits as u32)),
                        _ => half(bits as u16),
                    },
                );
            }
            b'i' => {
                let unused = 64 - 8 * self.size as u32;
                let value = (number(bytes) << unused) as i64 >> unused;
                text.extend_from_slice(value.to_string().as_bytes());
            }
            b'u' => text.extend_from_slice(number(bytes).to_string().as_bytes()),
            b'b' | b'?' => {
                let word: &[u8] = if bytes[0] == 0 { b"false" } else { b"true" };
                text.extend_from_slice(word);
            }
            b'U' => {
                let letters = bytes.chunks_exact(4).map(|four| match self.big_endian {
                    true => u32::from_be_bytes([four[0], four[1], four[2], four[3]]),
                    false => u32::from_le_bytes([four[0], four[1], four[2], four[3]]),
                });
                let letters = letters.take_while(|&c| c != 0).map(char::from_u32);
                let word: Option<String> = letters.collect();
                let word = word.ok_or_else(|| bad("a text has a code that is no character"))?;
                if !word.is_empty() {
                    push_text(text, &word);
                }
            }
            _ => {
                let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
                let word =
                    std::str::from_utf8(&bytes[..end]).map_err(|_| bad("a text is not UTF-8"))?;
                if !word.is_empty() {
                    push_text(text, word);
                }
            }
        }
        Ok(())
    }
}

/// The value of a number of 16 bits.
pub(super) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
    sign * match exponent {
        0 => fraction * power(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * power(exponent - 15),
    }
}

/// A table, and its labels where they stand in an array of their own.
pub(crate) struct Arrays {
    table: Arc<Array>,
    labels: Option<Arc<Array>>,
}

pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Table> {
    let arrays = Arrays::open(source, options)?;
    let mut names: Vec<String> = (0..arrays.table.columns).map(|j| j.to_string()).collect();
    names.extend(arrays.labels.as_ref().map(|_| "label".to_owned()));
    Ok(Table {
        names,
        categories: Vec::new(),
        shift: 0,
        rows: arrays.rows(&[]),
    })
}

impl Arrays {
    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        self.table.rows
    }

    /// Whether each column holds plain numbers.
    pub(super) fn numeric(&self) -> Vec<bool> {
        let is_number = self.table.element.plain().is_some();
        let mut numeric = vec![is_number; self.table.columns];
        numeric.extend(self.labels.as_ref().map(|_| false));
        numeric
    }

    /// The rows as text, without these columns.
    pub(super) fn rows(&self, without: &[usize]) -> Rows {
        let left = |j: &usize| without.binary_search(j).is_err();
        let columns: Vec<usize> = (0..self.table.columns).filter(left).collect();
        let (table, labels) = (self.table.clone(), self.labels.clone());
        let mut row = 0;
        Box::new(move |text: &mut Vec<u8>| -> Result<bool> {
            let first = row;
            while row < table.rows && text.len() < PIECE {
                let begun = text.len();
                for (place, &j) in columns.iter().enumerate() {
                    if place > 0 {
                        text.push(b',');
                    }
                    table.push(text, row, j)?;
                }
                if let Some(labels) = &labels {
                    if !columns.is_empty() {
                        text.push(b',');
                    }
                    labels.push(text, row, 0)?;
                }
                end_row(text, begun);
                row += 1;
            }
            Ok(row > first)
        })
    }

    /// The values of these columns of plain numbers.
    pub(super) fn numbers<T: Stored>(&self, columns: &[usize]) -> Result<Vec<Block<T>>> {
        let table = &self.table;
        let kind = table.element.plain();
        let kind = kind.ok_or_else(|| bad("its elements are no plain numbers"))?;
        let (size, bytes) = (table.element.size, &table.bytes[table.start..]);
        let of = |&j: &usize| -> Result<Vec<T>> {
            let mut found = Vec::with_capacity(table.rows);
            if table.by_column {
                let column = &bytes[j * table.rows * size..][..table.rows * size];
                kind.numbers(column, size, &mut found)?;
                return Ok(found);
            }
            for row in bytes.chunks_exact(table.columns * size) {
                kind.numbers(&row[j * size..][..size], size, &mut found)?;
            }
            Ok(found)
        };
        Ok(vec![Block {
            rows: table.rows,
            columns: columns.iter().map(of).collect::<Result<_>>()?,
        }])
    }

    pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Self> {
        let bytes = all_bytes(source)?;
        let (table, labels) = match zip::is_archive(&bytes) {
            true => of_archive(&bytes)?,
            false => (Array::of(bytes)?, None),
        };
        let labels = match &options.labels {
            Some(path) => {
                let found = beside(path).and_then(Array::of);
                Some(found.map_err(|e| e.in_file(path))?)
            }
            None => labels,
        };
        if let Some(labels) = &labels
            && (labels.columns != 1 || labels.rows != table.rows)
        {
            return Err(Error::data(format!(
                "{} × {} labels for {} rows",
                labels.rows, labels.columns, table.rows
            ))
            .remedy("give one label for each row"));
        }
        refuse_no_columns(table.columns)?;
        Ok(Arrays {
            table: Arc::new(table),
            labels: labels.map(Arc::new),
        })
    }
}

/// The rows in an NPZ archive, and the labels where it has an array of them.
fn of_archive(bytes: &[u8]) -> Result<(Array, Option<Array>)> {
    let (mut tables, mut lists, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for entry in zip::entries(bytes)? {
        let Some(name) = entry.name.strip_suffix(".npy") else {
            continue;
        };
        let name = name.to_owned();
        let mut found = Vec::new();
        let read = zip::open(bytes, &entry)?.read_to_end(&mut found);
        read.map_err(|e| bad(format!("the array {name}: {e}")))?;
        names.push(name.clone());
        // An array beside those that are wanted may be of any type.
        match Array::of(found) {
            Ok(array) if array.dimensions == 2 => tables.push(array),
            Ok(array) => lists.push(array),
            Err(error) if names.len() < 2 || name == "X" || name == "y" => {
                return Err(error);
            }
            Err(_) => {}
        }
    }
    if let [table] = &tables[..] {
        lists.retain(|list| list.rows == table.rows);
    }
    match (tables.len(), lists.len()) {
        (1, 0 | 1) => Ok((tables.remove(0), lists.pop())),
        _ => Err(Error::data(format!(
            "the archive holds the arrays {}: which are the rows and which the labels?",
            names.join(", ")
        ))
        .remedy(
            "save one of two dimensions and one of labels: numpy.savez(\"data.npz\", X=X, y=y)",
        )),
    }
}
