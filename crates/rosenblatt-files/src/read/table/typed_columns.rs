//! Columns of plain numbers in files that hold them as such, read without their text.

use super::cells::DATE_SLOTS;
use super::kinds::Planned;
use super::parse::{Scheme, Slots, Take, Use};
use super::raw::{Pass, RawColumn, TableRaw, run};
use super::shape::Shape;
use crate::read::converted::{Block, Typed};
use crate::read::number::{Stored, value_width};
use crate::read::options::ReadOptions;
use crate::read::order::Starts;
use crate::read::report::ColumnRole;
use crate::read::row_errors::OnError;
use crate::read::source::Source;
use rosenblatt_core::data::Precision;
use rosenblatt_core::internal::{optimisations, parallel};
use rosenblatt_core::{Error, Result};

/// Columns of plain numbers that are read as such, and not from the text of their file.
pub(super) struct TypedColumns {
    file: Typed,
    /// Which columns, ascending.
    columns: Vec<usize>,
    blocks: Blocks,
}

/// Their values.
enum Blocks {
    F32(Vec<Block<f32>>),
    F64(Vec<Block<f64>>),
}

impl TypedColumns {
    /// Reads those columns that are taken as numbers and can be read so, if there are any.
    pub(super) fn of(
        file: Typed,
        shape: &Shape<'_>,
        columns: &[Planned],
        options: &ReadOptions,
    ) -> Option<Self> {
        let numeric = file.numeric();
        let plain = optimisations::enabled("typed-columns")
            && options.on_error == OnError::Fail
            && !options.keep_long_decimals
            && shape.header
            && numeric.len() == columns.len();
        let taken = |&j: &usize| {
            let Planned { used, given } = columns[j];
            numeric[j] && !given && used == Use::plain(ColumnRole::Numeric)
        };
        let columns: Vec<usize> = (0..columns.len()).filter(|_| plain).filter(taken).collect();
        if columns.is_empty() {
            return None;
        }
        // They are held once by column and twice by row.
        let values = (file.rows().ok()? as u64).saturating_mul(columns.len() as u64);
        let bytes = values.saturating_mul(value_width(options.precision));
        if options.memory.is_some_and(|limit| bytes > limit / 3) {
            return None;
        }
        let threads = options.threads;
        let blocks = match options.precision {
            Precision::F32 => Blocks::F32(file.numbers(&columns, threads).ok()?),
            Precision::F64 => Blocks::F64(file.numbers(&columns, threads).ok()?),
        };
        Some(TypedColumns {
            file,
            columns,
            blocks,
        })
    }

    /// One pass over the file: the other columns as text, with the numbers put beside them.
    pub(super) fn run(&self, wide: Scheme, source: &Source, options: &ReadOptions) -> Result<Pass> {
        let is_beside = |j: usize| self.columns.binary_search(&j).is_ok();
        let others: Vec<usize> = (0..wide.takes.len()).filter(|&j| !is_beside(j)).collect();
        // Where the numbers of the text go.
        let (mut moved, mut numbers) = (Vec::new(), 0);
        let mut narrow = Scheme {
            header: false,
            names: others.iter().map(|&j| wide.names[j].clone()).collect(),
            takes: others.iter().map(|&j| wide.takes[j]).collect(),
            ..wide.clone()
        };
        for take in &mut narrow.takes {
            let (slot, size) = match take {
                Take::Number { slot, .. } => (slot, 1),
                Take::Date { slot, .. } => (slot, DATE_SLOTS),
                _ => continue,
            };
            moved.extend(*slot..*slot + size);
            *slot = numbers;
            numbers += size;
        }
        let text = self.file.text_without(&self.columns)?;
        let mut pass = run(text.into(), source, &narrow, options)?;
        let table = &mut pass.table;
        (table.header, table.numbers) = (wide.header, Slots::of(&wide.takes).numbers);
        let mut from_text = std::mem::take(&mut table.columns).into_iter();
        let raw = |(j, take): (usize, &Take)| match is_beside(j) {
            true => Some(RawColumn::new(&wide, j)),
            false => from_text.next().map(|column| RawColumn {
                take: *take,
                ..column
            }),
        };
        table.columns = wide.takes.iter().enumerate().filter_map(raw).collect();
        let missing = match &self.blocks {
            Blocks::F32(blocks) => self.put(table, blocks, &moved, options.threads)?,
            Blocks::F64(blocks) => self.put(table, blocks, &moved, options.threads)?,
        };
        for (&j, missing) in self.columns.iter().zip(missing) {
            table.columns[j].missing = missing;
        }
        Ok(pass)
    }

    /// Puts the numbers into their rows, and those of the text where they are `moved` to; gives
    /// how many of each column are missing.
    fn put<T: Stored>(
        &self,
        table: &mut TableRaw,
        blocks: &[Block<T>],
        moved: &[usize],
        threads: usize,
    ) -> Result<Vec<u64>> {
        let starts = Starts::new(blocks.iter().map(|block| block.rows));
        if blocks.iter().map(|block| block.rows).sum::<usize>() != table.rows {
            return Err(Error::data("the columns have different lengths"));
        }
        let slot_of = |&j: &usize| match table.columns[j].take {
            Take::Number { slot, .. } => Ok(slot),
            _ => Err(Error::data("a column of numbers is taken otherwise")),
        };
        let slots: Vec<usize> = self.columns.iter().map(slot_of).collect::<Result<_>>()?;
        let width = table.numbers;
        let mut first = 0;
        for part in &mut table.parts {
            let text = T::slice(&part.numbers, 0..part.numbers.len());
            let mut numbers = vec![T::MISSING; part.rows * width];
            parallel::chunks(&mut numbers, ROWS_AT_ONCE * width, threads, || {
                |p: usize, rows: &mut [T]| {
                    let (begin, n) = (p * ROWS_AT_ONCE, rows.len() / width);
                    let mut done = 0;
                    if !moved.is_empty() {
                        let text = text[begin * moved.len()..].chunks_exact(moved.len());
                        for (row, text) in rows.chunks_exact_mut(width).zip(text) {
                            moved.iter().zip(text).for_each(|(&slot, &x)| row[slot] = x);
                        }
                    }
                    while done < n {
                        let k = starts.find(first + begin + done);
                        let at = first + begin + done - starts.first_row(k);
                        let here = (blocks[k].rows - at).min(n - done);
                        for (column, &slot) in blocks[k].columns.iter().zip(&slots) {
                            let to = rows[done * width + slot..].iter_mut().step_by(width);
                            to.zip(&column[at..at + here]).for_each(|(to, &x)| *to = x);
                        }
                        done += here;
                    }
                }
            });
            first += part.rows;
            part.numbers = T::wrap(numbers);
        }
        let missing = |k: usize| {
            let columns = blocks.iter().map(|block| &block.columns[k]);
            let missing = columns.flatten().filter(|x| x.to_f64().is_nan());
            missing.count() as u64
        };
        Ok((0..self.columns.len()).map(missing).collect())
    }
}

/// Rows whose numbers are put together, so that they stay near.
const ROWS_AT_ONCE: usize = 256;
