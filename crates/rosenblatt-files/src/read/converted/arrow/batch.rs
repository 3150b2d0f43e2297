//! The columns of a batch.

use std::collections::HashMap;
use std::io::Read;

use super::super::lz4;
use super::super::scalar::Kind;
use super::flat::Flat;
use super::{Field, Layout, damaged};
use crate::read::number::Stored;
use rosenblatt_core::Result;

/// A column of a batch, its buffers unpacked.
pub(super) struct Column {
    layout: Option<Layout>,
    kind: Kind,
    /// A bit for each value that is there; all are where it is empty.
    valid: Vec<u8>,
    data: Vec<u8>,
    /// What texts consist of.
    bytes: Vec<Vec<u8>>,
}

/// The entries of dictionaries, as they stand in cells.
pub(super) struct Dictionaries {
    types: HashMap<i64, (Layout, Kind)>,
    entries: HashMap<i64, Vec<Vec<u8>>>,
}

/// The buffers of a batch, taken one after the other.
struct Buffers<'a> {
    body: &'a [u8],
    places: std::vec::IntoIter<i64>,
    nodes: std::vec::IntoIter<i64>,
    views: std::vec::IntoIter<i64>,
    /// How they are compressed.
    codec: Option<u8>,
}

impl<'a> Buffers<'a> {
    fn of(batch: &Flat<'_>, body: &'a [u8]) -> Result<Self> {
        let compression = batch.table(3)?;
        Ok(Buffers {
            body,
            nodes: batch.longs(1, 2)?.into_iter(),
            places: batch.longs(2, 2)?.into_iter(),
            views: batch.longs(4, 1)?.into_iter(),
            codec: compression.map(|c| c.byte(0, 0)).transpose()?,
        })
    }

    fn pass(&mut self, nodes: usize, buffers: usize, views: usize) {
        self.nodes.by_ref().take(2 * nodes).for_each(|_| ());
        let more: i64 = self.views.by_ref().take(views).sum();
        let buffers = buffers.saturating_add(usize::try_from(more).unwrap_or(0));
        let numbers = buffers.saturating_mul(2);
        self.places.by_ref().take(numbers).for_each(|_| ());
    }

    fn next(&mut self) -> Result<Vec<u8>> {
        let (Some(start), Some(len)) = (self.places.next(), self.places.next()) else {
            return Err(damaged("a batch lacks a buffer"));
        };
        let place = usize::try_from(start).ok().zip(usize::try_from(len).ok());
        let bytes = place.and_then(|(start, len)| self.body.get(start..start.checked_add(len)?));
        let bytes = bytes.ok_or_else(|| damaged("a buffer lies behind its batch"))?;
        let Some(codec) = self.codec.filter(|_| !bytes.is_empty()) else {
            return Ok(bytes.to_vec());
        };
        let short = || damaged("a compressed buffer ends early");
        let (promised, packed) = bytes.split_first_chunk::<8>().ok_or_else(short)?;
        let promised = i64::from_le_bytes(*promised);
        if promised == -1 {
            return Ok(packed.to_vec());
        }
        let len = usize::try_from(promised).map_err(|_| short())?;
        let found = match codec {
            0 => lz4::frame(packed, len).map_err(damaged)?,
            1 => {
                let broken =
                    |e: std::io::Error| damaged(&format!("compressed data are broken ({e})"));
                let decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(broken)?;
                let mut found = Vec::new();
                // One more, to tell that there are more.
                let limit = (len as u64).saturating_add(1);
                decoder
                    .take(limit)
                    .read_to_end(&mut found)
                    .map_err(broken)?;
                found
            }
            _ => return Err(damaged("its buffers are compressed in a way not known")),
        };
        match found.len() == len {
            true => Ok(found),
            false => Err(damaged(
                "a compressed buffer has another length than promised",
            )),
        }
    }

    /// A column of `rows` values, its buffers long enough for them.
    fn column(&mut self, layout: Layout, kind: Kind, rows: usize) -> Result<Column> {
        let (len, _nulls) = (self.nodes.next(), self.nodes.next());
        if len != i64::try_from(rows).ok() {
            return Err(damaged("a column has another length than its batch"));
        }
        let mut column = Column {
            layout: Some(layout),
            kind,
            valid: Vec::new(),
            data: Vec::new(),
            bytes: Vec::new(),
        };
        if layout == Layout::None {
            return Ok(column);
        }
        column.valid = self.next()?;
        column.data = self.next()?;
        match layout {
            Layout::Texts(_) => column.bytes = vec![self.next()?],
            Layout::Views => {
                let count = self.views.next().unwrap_or(0);
                column.bytes = (0..count).map(|_| self.next()).collect::<Result<_>>()?;
            }
            _ => {}
        }
        let needed = match layout {
            Layout::None => Some(0),
            Layout::Bits => Some(rows.div_ceil(8)),
            Layout::Fixed(size) | Layout::Entries { size, .. } => rows.checked_mul(size),
            Layout::Texts(_) if rows == 0 => Some(0),
            Layout::Texts(size) => rows.checked_add(1).and_then(|n| n.checked_mul(size)),
            Layout::Views => rows.checked_mul(16),
        };
        let long_enough = needed.is_some_and(|needed| needed <= column.data.len());
        let valid = column.valid.is_empty() || column.valid.len() >= rows.div_ceil(8);
        match long_enough && valid {
            true => Ok(column),
            false => Err(damaged("a buffer is shorter than its column")),
        }
    }
}

/// The columns of a batch, and how many rows it has.
pub(super) fn columns_of(
    fields: &[Field],
    batch: &Flat<'_>,
    body: &[u8],
) -> Result<(Vec<Column>, usize)> {
    let rows = batch.long(0)?;
    let rows = usize::try_from(rows).map_err(|_| damaged("a batch has a negative length"))?;
    let mut buffers = Buffers::of(batch, body)?;
    let mut columns = Vec::with_capacity(fields.len());
    for field in fields {
        columns.push(match field.layout {
            Some(layout) => buffers.column(layout, field.kind, rows)?,
            None => {
                let passed = field.passed;
                buffers.pass(passed.nodes, passed.buffers, passed.views);
                Column {
                    layout: None,
                    kind: Kind::Null,
                    valid: Vec::new(),
                    data: Vec::new(),
                    bytes: Vec::new(),
                }
            }
        });
    }
    Ok((columns, rows))
}

impl Column {
    /// Appends a value, nothing where it is missing.
    #[inline]
    pub(super) fn push(
        &self,
        text: &mut Vec<u8>,
        row: usize,
        dictionaries: &Dictionaries,
    ) -> Result<()> {
        let Some(layout) = self.layout else {
            return Ok(());
        };
        if !self.valid.is_empty() && self.valid[row / 8] >> (row % 8) & 1 == 0 {
            return Ok(());
        }
        match layout {
            Layout::None => Ok(()),
            Layout::Bits => {
                let bit = self.data[row / 8] >> (row % 8) & 1;
                self.kind.push(text, &[bit])
            }
            Layout::Fixed(size) => {
                let value = &self.data[row * size..(row + 1) * size];
                self.kind.push(text, value)
            }
            Layout::Texts(size) => {
                let (start, end) = (self.number(row, size), self.number(row + 1, size));
                let found = self.bytes[0].get(start..end);
                let found = found.ok_or_else(|| damaged("a text lies behind its buffer"))?;
                self.kind.push(text, found)
            }
            Layout::Views => {
                let view = &self.data[16 * row..16 * (row + 1)];
                let word = |k: usize| number(&view[4 * k..4 * (k + 1)]);
                let len = word(0);
                let found = match len {
                    0..=12 => Some(&view[4..4 + len]),
                    _ => {
                        let start = word(3);
                        let bytes = self.bytes.get(word(2));
                        bytes.and_then(|bytes| bytes.get(start..start.checked_add(len)?))
                    }
                };
                let found = found.ok_or_else(|| damaged("a text lies behind its buffer"))?;
                self.kind.push(text, found)
            }
            Layout::Entries { size, id } => {
                let entries = dictionaries.entries.get(&id);
                let entry = entries.and_then(|all| all.get(self.number(row, size)));
                let entry = entry.ok_or_else(|| damaged("a value is not in its dictionary"))?;
                text.extend_from_slice(entry);
                Ok(())
            }
        }
    }

    /// The values of a column of plain numbers.
    pub(super) fn numbers<T: Stored>(&self, rows: usize) -> Result<Vec<T>> {
        let Some(Layout::Fixed(size)) = self.layout else {
            return Err(damaged("a column has another type than it said"));
        };
        let mut found = Vec::with_capacity(rows);
        self.kind
            .numbers(&self.data[..rows * size], size, &mut found)?;
        let is_missing = |row: usize| self.valid[row / 8] >> (row % 8) & 1 == 0;
        for (row, x) in found.iter_mut().enumerate() {
            if !self.valid.is_empty() && is_missing(row) {
                *x = T::MISSING;
            }
        }
        Ok(found)
    }

    fn number(&self, place: usize, size: usize) -> usize {
        number(&self.data[place * size..(place + 1) * size])
    }
}

fn number(bytes: &[u8]) -> usize {
    let value = bytes.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b));
    usize::try_from(value).unwrap_or(usize::MAX)
}

impl Dictionaries {
    pub(super) fn new(types: HashMap<i64, (Layout, Kind)>) -> Self {
        Dictionaries {
            types,
            entries: HashMap::new(),
        }
    }

    /// Takes a batch of entries, in place of those before or behind them.
    pub(super) fn add(&mut self, batch: &Flat<'_>, body: &[u8]) -> Result<()> {
        let id = batch.long(0)?;
        // A column that is left out may have one, too.
        let Some(&(layout, kind)) = self.types.get(&id) else {
            return Ok(());
        };
        let data = batch.table(1)?;
        let data = data.ok_or_else(|| damaged("a dictionary has no entries"))?;
        let rows = usize::try_from(data.long(0)?).unwrap_or(usize::MAX);
        if layout == Layout::None && rows > 1 {
            return Err(damaged("a dictionary has no entries"));
        }
        let column = Buffers::of(&data, body)?.column(layout, kind, rows)?;
        let mut cells = match batch.byte(2, 0)? {
            0 => Vec::new(),
            _ => self.entries.remove(&id).unwrap_or_default(),
        };
        for row in 0..rows {
            let mut cell = Vec::new();
            column.push(&mut cell, row, self)?;
            cells.push(cell);
        }
        self.entries.insert(id, cells);
        Ok(())
    }
}
