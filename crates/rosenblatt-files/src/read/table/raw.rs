//! A whole table: read with guessed kinds, decided on all its cells, read again if need be.

use std::collections::HashSet;

use super::cells::{self, CellTally, DATE_SLOTS, DateOrder, NumberForm, few_strays};
use super::parse::{MISSING, Parsed, Scheme, Slots, TablePart, Take, Use, parse, takes};
use super::shape::{LabelChoice, Shape, find_column};
use super::words::count_words;
use super::{Facts, MOST_LEVELS, decide, warn};
use crate::read::chunk::Chunker;
use crate::read::converted::{Block, Typed};
use crate::read::delimited::Delimiter;
use crate::read::format::Format;
use crate::read::interner::Interner;
use crate::read::number::{self, Stored, value_width};
use crate::read::options::{MemoryUse, ReadOptions};
use crate::read::order::Starts;
use crate::read::pipeline::InOrder;
use crate::read::report::{ColumnKind, ColumnReport, ColumnRole, LongDecimal};
use crate::read::row_errors::{OnError, Tally};
use crate::read::sniff::{Record, is_missing};
use crate::read::source::{Bytes, Source};
use crate::read::text::TextOptions;
use rosenblatt_core::data::Precision;
use rosenblatt_core::internal::{optimisations, parallel};
use rosenblatt_core::{Error, Result, Wording};

/// Typed columns of a whole file.
#[derive(Debug)]
pub(crate) struct TableRaw {
    pub(crate) format: Format,
    pub(crate) delimiter: Delimiter,
    pub(crate) header: bool,
    /// In the order of the file.
    pub(crate) columns: Vec<RawColumn>,
    pub(crate) parts: Vec<TablePart>,
    starts: Starts,
    pub(crate) rows: usize,
    /// Numeric columns stored.
    pub(crate) numbers: usize,
    /// Category columns stored.
    pub(crate) categories: usize,
    /// The values of each category column.
    pub(crate) levels: Vec<Interner>,
    /// The terms of each text column.
    pub(crate) words: Vec<Interner>,
    /// How texts become features.
    pub(crate) text: TextOptions,
}

/// A column as it was read.
#[derive(Debug)]
pub(crate) struct RawColumn {
    pub(crate) name: String,
    pub(crate) take: Take,
    /// Whether the user said what it is.
    pub(crate) given: bool,
    /// Whether its header cell is empty.
    pub(crate) unnamed: bool,
    /// Whether rows are held out by it, so that it is no feature.
    pub(crate) splits_rows: bool,
    /// Empty cells.
    pub(crate) missing: u64,
    /// Cells that are no plain numbers but should be, or dates.
    pub(crate) cells: CellTally,
}

impl RawColumn {
    /// A column of which nothing was read yet.
    fn new(scheme: &Scheme, column: usize) -> Self {
        RawColumn {
            name: scheme.names[column].clone(),
            take: scheme.takes[column],
            given: false,
            unnamed: false,
            splits_rows: false,
            missing: 0,
            cells: CellTally::default(),
        }
    }

    /// How many of its cells are neither empty nor what the column holds.
    pub(crate) fn strays(&self, rows: usize) -> u64 {
        match self.take {
            Take::Number { form, .. } => self.cells.not_numbers(form),
            Take::Date { .. } => rows as u64 - self.missing - self.cells.dates(),
            _ => 0,
        }
    }

    /// How its numbers are written.
    pub(crate) fn form(&self) -> NumberForm {
        match self.take {
            Take::Number {
                form: NumberForm::Comma,
                ..
            } => NumberForm::Comma,
            _ if self.cells.has_groups() => NumberForm::Grouped,
            _ => NumberForm::Plain,
        }
    }
}

/// A table and what is to be said of it.
pub(crate) struct TableRead {
    pub(crate) found: Pass,
    pub(crate) reports: Vec<ColumnReport>,
    pub(crate) notes: Vec<String>,
    pub(crate) warnings: Vec<Wording>,
}

impl TableRaw {
    /// The part that holds `row`, and its number there.
    #[inline]
    pub(crate) fn locate(&self, row: usize) -> (&TablePart, usize) {
        let k = self.starts.find(row);
        (&self.parts[k], row - self.starts.first_row(k))
    }

    /// The codes of a category column, in file order.
    pub(crate) fn codes_of(&self, slot: usize) -> impl Iterator<Item = u32> + '_ {
        self.parts
            .iter()
            .flat_map(move |p| p.codes.iter().skip(slot).step_by(self.categories).copied())
    }
}

/// A column before it is read.
#[derive(Debug, Clone, Copy)]
struct Planned {
    used: Use,
    given: bool,
}

/// What one pass over the file finds.
pub(crate) struct Pass {
    pub(crate) table: TableRaw,
    pub(crate) labels: Vec<u32>,
    pub(crate) label_names: Interner,
    pub(crate) weights: Vec<f64>,
    distinct: Vec<HashSet<u64>>,
    word_counts: Vec<u64>,
    pub(crate) long: Vec<LongDecimal>,
    pub(crate) tally: Tally,
}

/// Reads a table whose beginning has this shape; where its file is `typed`, this is its text.
pub(crate) fn read(
    source: &Source,
    bytes: Bytes,
    shape: Shape<'_>,
    typed: Option<Typed>,
    options: &ReadOptions,
) -> Result<TableRead> {
    shape.refuse_ambiguous_label(options.label.as_deref())?;
    let label = shape.label_column(options.label.as_deref())?;
    let columns = plan(&shape, label.column, options)?;
    let typed = typed.and_then(|file| Beside::of(file, &shape, &columns, options));
    let settled = typed.and_then(|beside| {
        let scheme = |columns: &[Planned]| scheme(&shape, columns, &label, source, options);
        let run = |columns: &[Planned]| beside.run(scheme(columns), source, options);
        // Whatever is odd is read as text, which finds the place and the words for it.
        settle(columns.clone(), source, run).ok()
    });
    let (pass, columns) = match settled {
        Some(settled) => settled,
        None => {
            let mut first = Some(bytes);
            settle(columns, source, |columns| {
                let scheme = scheme(&shape, columns, &label, source, options);
                let again = || crate::read::open::text(source, options);
                let bytes = first.take().map_or_else(again, Ok)?;
                run(bytes, source, &scheme, options)
            })?
        }
    };
    finish(pass, shape, &label, &columns)
}

/// Reads a table with these columns, and again until they are what all their cells ask for.
fn settle(
    mut columns: Vec<Planned>,
    source: &Source,
    mut run: impl FnMut(&[Planned]) -> Result<Pass>,
) -> Result<(Pass, Vec<Planned>)> {
    // Two passes settle most files; others are for columns that seemed numeric, or to have decimal
    // points, at first.
    for _ in 0..6 {
        let pass = run(&columns)?;
        let decided = decide_all(&pass, &columns);
        if decided.iter().zip(&columns).all(|(d, c)| d.used == c.used) {
            return Ok((pass, columns));
        }
        columns = decided;
    }
    Err(Error::data(
        "the kinds of the columns cannot be settled: the file changes while it is read",
    )
    .in_file(source.name())
    .remedy("read a copy of the file"))
}

/// Columns of plain numbers that are read as such, and not from the text of their file.
struct Beside {
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

impl Beside {
    /// Reads those columns that are taken as numbers and can be read so, if there are any.
    fn of(
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
        Some(Beside {
            file,
            columns,
            blocks,
        })
    }

    /// One pass over the file: the other columns as text, with the numbers put beside them.
    fn run(&self, wide: Scheme, source: &Source, options: &ReadOptions) -> Result<Pass> {
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

fn plan(shape: &Shape<'_>, label: usize, options: &ReadOptions) -> Result<Vec<Planned>> {
    let names = &shape.names;
    let mut columns: Vec<Planned> = (0..names.len())
        .map(|i| Planned {
            used: guess(shape, i),
            given: false,
        })
        .collect();
    let given = |used| Planned { used, given: true };
    for (name, kind) in &options.columns {
        let i = find_column(names, name, "column")?;
        let guessed = as_sampled(shape, i);
        let mut used = Use {
            role: (*kind).into(),
            fixed: !matches!(
                kind,
                ColumnKind::NumericOrMissing | ColumnKind::DecimalComma
            ),
            ..guessed
        };
        match kind {
            ColumnKind::DecimalComma => used.form = NumberForm::Comma,
            ColumnKind::DayFirst => used.order = DateOrder::DayFirst,
            ColumnKind::MonthFirst => used.order = DateOrder::MonthFirst,
            _ => {}
        }
        columns[i] = given(used);
    }
    for name in &options.ignore {
        let i = find_column(names, name, "ignore")?;
        columns[i] = given(Use::plain(ColumnRole::Ignore));
    }
    columns[label] = Planned {
        used: Use::plain(ColumnRole::Label),
        given: options.label.is_some(),
    };
    if let Some(name) = &options.weight_column {
        let i = find_column(names, name, "weight-column")?;
        if i == label {
            return Err(
                Error::options(format!("the column {name} is both label and weight"))
                    .remedy("pass ⟨label⟩ with the label's column"),
            );
        }
        columns[i] = given(Use::plain(ColumnRole::Weight));
    }
    if let Some((by, name)) = &options.split_column {
        let i = find_column(names, name, by.option())?;
        if matches!(columns[i].used.role, ColumnRole::Label | ColumnRole::Weight) {
            return Err(Error::options(format!(
                "⟨{} {name}⟩: the column is the label or the weight",
                by.option()
            ))
            .remedy("name another column"));
        }
        columns[i] = given(Use::plain(by.role()));
    }
    Ok(columns)
}

/// Whether three in four cells of a column are numbers, as far as the sample tells.
fn holds_numbers(sample: &[Record<'_>], column: usize) -> bool {
    let filled = || {
        let cells = sample.iter().filter_map(|record| record.get(column));
        cells.filter(|cell| !is_missing(cell))
    };
    let numbers = filled().filter(|cell| cells::is_number(cell)).count();
    numbers > 0 && numbers * 4 >= filled().count() * 3
}

/// The cells of a column that are there, as far as the sample goes.
fn sampled<'a>(
    shape: &'a Shape<'_>,
    column: usize,
) -> impl Iterator<Item = (&'a [u8], u64)> + Clone {
    let cells = shape.sample.iter().map(move |record| &*record[column]);
    cells.filter(|cell| !is_missing(cell)).map(|cell| (cell, 1))
}

/// The same column of numbers, or of dates, written as the sample says.
fn as_sampled(shape: &Shape<'_>, column: usize) -> Use {
    let cells = Cells::of(sampled(shape, column));
    Use {
        form: cells
            .tally
            .form(shape.dialect.delimiter == Delimiter::Byte(b';')),
        order: cells.order(),
        ..Use::plain(ColumnRole::Numeric)
    }
}

/// The use that the sample suggests.
fn guess(shape: &Shape<'_>, column: usize) -> Use {
    let found = as_sampled(shape, column);
    let cells = || sampled(shape, column);
    let looked_at = Cells::of(cells());
    if looked_at.filled == 0 {
        return found; // numeric: there is nothing to go by
    }
    let facts = Facts {
        rows: shape.sample.len() as u64,
        missing: shape.sample.len() as u64 - looked_at.filled,
        numeric: looked_at.are_numbers(found.form),
        dates: looked_at.are_dates(),
        distinct: cells().collect::<HashSet<_>>().len(),
        words: cells()
            .map(|(c, _)| count_words(&String::from_utf8_lossy(c)))
            .sum(),
    };
    Use {
        role: decide(&facts).into(),
        ..found
    }
}

/// What the cells of a column could be.
struct Cells {
    tally: CellTally,
    filled: u64,
    /// Plain numbers, and how many of them are none where commas are decimal signs.
    plain: u64,
    plain_only: u64,
    slashes: bool,
}

impl Cells {
    /// Looks at cells, each of which comes so often.
    fn of<'a>(cells: impl Iterator<Item = (&'a [u8], u64)>) -> Self {
        let mut found = Cells {
            tally: CellTally::default(),
            filled: 0,
            plain: 0,
            plain_only: 0,
            slashes: false,
        };
        for (cell, times) in cells {
            found.filled += times;
            if number::whole::<f64>(cell).is_some() {
                found.plain += times;
                let either = cells::as_plain(cell, NumberForm::Comma).is_some();
                found.plain_only += if either { 0 } else { times };
            } else {
                found.tally.count(cell, times, true);
                found.slashes |= cell.contains(&b'/');
            }
        }
        found
    }

    fn order(&self) -> DateOrder {
        self.tally.order(self.slashes)
    }

    fn are_numbers(&self, form: NumberForm) -> bool {
        let plain_only = if form == NumberForm::Comma {
            self.plain_only
        } else {
            0
        };
        let bad = self.tally.not_numbers(form) + plain_only;
        bad < self.filled && few_strays(self.filled, bad, self.tally.marks())
    }

    fn are_dates(&self) -> bool {
        let bad = self.filled - self.tally.dates();
        bad < self.filled && few_strays(self.filled, bad, self.tally.marks())
    }
}

fn scheme(
    shape: &Shape<'_>,
    columns: &[Planned],
    label: &LabelChoice,
    source: &Source,
    options: &ReadOptions,
) -> Scheme {
    Scheme {
        dialect: shape.dialect.clone(),
        header: shape.header,
        names: shape.names.clone(),
        takes: takes(columns.iter().map(|c| Use {
            fixed: c.given && c.used.fixed,
            ..c.used
        })),
        cut: options.text.cut,
        label_guess: label.advice(&shape.names),
        // Against the rest, a row without a label is one of the rest.
        labels_required: options.positive.is_none()
            && !options.label_map.iter().any(|(old, _)| old.is_empty()),
        on_error: options.on_error,
        keep_long_decimals: options.keep_long_decimals,
        cells_in_front: source.cells_in_front(),
        facts: true,
    }
}

fn run(bytes: Bytes, source: &Source, scheme: &Scheme, options: &ReadOptions) -> Result<Pass> {
    let file = source.name();
    let chunker = Chunker::new(bytes, file, options.chunk_bytes, scheme.dialect.cut());
    let shared = scheme.clone();
    let precision = options.precision;
    let chunks = InOrder::new(chunker, options.threads, move |chunk| match precision {
        Precision::F32 => parse::<f32>(chunk, &shared),
        Precision::F64 => parse::<f64>(chunk, &shared),
    });
    let (columns, slots) = (scheme.takes.len(), Slots::of(&scheme.takes));
    let mut pass = Pass {
        table: TableRaw {
            format: if scheme.dialect.quoting {
                Format::Csv
            } else {
                Format::Tsv
            },
            delimiter: scheme.dialect.delimiter,
            header: scheme.header,
            columns: (0..columns).map(|i| RawColumn::new(scheme, i)).collect(),
            parts: Vec::new(),
            starts: Starts::default(),
            rows: 0,
            numbers: slots.numbers,
            categories: slots.categories,
            levels: vec![Interner::default(); slots.categories],
            words: vec![Interner::default(); slots.texts],
            text: options.text.clone(),
        },
        labels: Vec::new(),
        label_names: Interner::default(),
        weights: Vec::new(),
        distinct: vec![HashSet::new(); slots.texts],
        word_counts: vec![0; slots.texts],
        long: Vec::new(),
        tally: Tally::new(source),
    };
    let mut memory = MemoryUse::new(options, file);
    for parsed in chunks {
        pass.add(parsed?)?;
        memory.add(pass.table.parts.last().map_or(0, TablePart::bytes))?;
    }
    pass.table.starts = Starts::new(pass.table.parts.iter().map(|p| p.rows));
    if pass.table.rows == 0 {
        return Err(Error::data("the file holds no rows that can be read")
            .in_file(file)
            .remedy("give a file with data"));
    }
    Ok(pass)
}

impl Pass {
    fn add(&mut self, mut parsed: Parsed) -> Result<()> {
        self.tally.add(parsed.faults)?;
        let table = &mut self.table;
        for (slot, levels) in parsed.levels.iter().enumerate() {
            let new = table.levels[slot].merge(levels);
            for code in parsed
                .part
                .codes
                .iter_mut()
                .skip(slot)
                .step_by(table.categories)
            {
                if *code != MISSING {
                    *code = new[*code as usize];
                }
            }
        }
        for (slot, words) in parsed.words.iter().enumerate() {
            let new = table.words[slot].merge(words);
            for word in &mut parsed.part.texts[slot].words {
                *word = new[*word as usize];
            }
            self.word_counts[slot] += parsed.word_counts[slot];
            if self.distinct[slot].len() <= MOST_LEVELS {
                self.distinct[slot].extend(&parsed.distinct[slot]);
            }
        }
        let new = self.label_names.merge(&parsed.labels.names);
        self.labels
            .extend(parsed.labels.codes.iter().map(|&c| new[c as usize]));
        self.weights.append(&mut parsed.weights);
        let before = table.rows as u64;
        for ((column, missing), cells) in table
            .columns
            .iter_mut()
            .zip(parsed.missing)
            .zip(parsed.cells)
        {
            column.missing += missing;
            column.cells.merge(cells, before);
        }
        self.long.extend(parsed.long.drain(..).map(|l| LongDecimal {
            row: l.row + before,
            ..l
        }));
        table.rows += parsed.part.rows;
        table.parts.push(parsed.part);
        Ok(())
    }

    /// What the column is, after reading it this way.
    fn decide(&self, column: usize, used: Use) -> Use {
        let raw = &self.table.columns[column];
        let rows = self.table.rows as u64;
        let filled = rows - raw.missing;
        let mut facts = Facts {
            rows,
            missing: raw.missing,
            numeric: false,
            dates: false,
            distinct: 0,
            words: 0,
        };
        match raw.take {
            Take::Number { form, .. } => {
                let semicolons = self.table.delimiter == Delimiter::Byte(b';');
                let wanted = match form {
                    NumberForm::Comma => form,
                    _ => raw.cells.form(semicolons),
                };
                let bad = raw.cells.not_numbers(wanted);
                let role = match few_strays(filled, bad, raw.cells.marks()) {
                    true => ColumnRole::Numeric,
                    false => ColumnRole::Category,
                };
                Use {
                    role,
                    form: wanted,
                    ..used
                }
            }
            Take::Date { .. } => {
                let bad = filled - raw.cells.dates();
                let role = match few_strays(filled, bad, raw.cells.marks()) {
                    true => ColumnRole::Date,
                    false => ColumnRole::Category,
                };
                // Where both orders do, the sample has chosen one.
                let order = match raw.cells.is_order_ambiguous() {
                    true => used.order,
                    false => raw.cells.order(false),
                };
                Use {
                    role,
                    order,
                    ..used
                }
            }
            Take::Category { slot } => {
                let levels = &self.table.levels[slot];
                let mut counts = vec![0u64; levels.len()];
                for code in self.table.codes_of(slot).filter(|&c| c != MISSING) {
                    counts[code as usize] += 1;
                }
                let times = |c: &u32| counts[*c as usize];
                let levels_used = || (0..levels.len() as u32).filter(|c| times(c) > 0);
                let cells = Cells::of(levels_used().map(|c| (levels.get(c), times(&c))));
                let form = cells
                    .tally
                    .form(self.table.delimiter == Delimiter::Byte(b';'));
                facts.numeric = cells.are_numbers(form);
                facts.dates = cells.are_dates();
                facts.distinct = levels_used().count();
                facts.words = levels_used()
                    .map(|c| times(&c) * count_words(&levels.text(c)))
                    .sum();
                self.as_decided(
                    &facts,
                    Use {
                        form,
                        order: cells.order(),
                        ..used
                    },
                )
            }
            Take::Text { slot } => {
                facts.distinct = self.distinct[slot].len();
                facts.words = self.word_counts[slot];
                self.as_decided(&facts, used)
            }
            _ => used,
        }
    }

    fn as_decided(&self, facts: &Facts, used: Use) -> Use {
        match decide(facts) {
            ColumnKind::Ignore => used, // nothing to read again for
            kind => Use {
                role: kind.into(),
                ..used
            },
        }
    }
}

/// The uses that all cells together ask for.
fn decide_all(pass: &Pass, columns: &[Planned]) -> Vec<Planned> {
    let decided = columns.iter().enumerate().map(|(i, &column)| Planned {
        used: match column.given {
            true => column.used,
            false => pass.decide(i, column.used),
        },
        ..column
    });
    decided.collect()
}

fn finish(
    mut found: Pass,
    shape: Shape<'_>,
    label: &LabelChoice,
    columns: &[Planned],
) -> Result<TableRead> {
    let (table, labels) = (&mut found.table, &found.labels);
    let advice = label.advice(&shape.names);
    let name = &shape.names[label.column];
    warn::refuse_measurement(
        &format!("the labels in the column {name}"),
        labels,
        &found.label_names,
        advice
            .as_deref()
            .unwrap_or("pass ⟨label⟩ with the name or number of the column that holds the classes"),
    )?;
    let mut reports = Vec::with_capacity(columns.len());
    let mut warnings: Vec<Wording> = Vec::new();
    for (i, planned) in columns.iter().enumerate() {
        let name = shape.names[i].clone();
        let (rows, column) = (table.rows, &mut table.columns[i]);
        column.given = planned.given;
        column.unnamed = shape.unnamed.contains(&i);
        let strays = column.strays(rows);
        column.splits_rows = matches!(planned.used.role, ColumnRole::Groups | ColumnRole::Time);
        let mut report = ColumnReport {
            name: name.clone(),
            role: planned.used.role,
            given: planned.given,
            levels: None,
            words: None,
            missing: column.missing + strays,
            note: None,
            warning: None,
        };
        let mut warning = |text: String| {
            warnings.push(format!("the column {name} {text}").into());
            report.warning.get_or_insert(text.into());
        };
        if let (1.., Some((row, cell))) = (strays, &column.cells.first) {
            let (kind, cells) = match planned.used.role {
                ColumnRole::Date => ("dates", "dates"),
                _ => ("numbers", "numbers"),
            };
            let is = if strays == 1 {
                "cell that is none, taken"
            } else {
                "cells that are none, taken"
            };
            let pass = match planned.given {
                true => String::new(),
                false => format!("; pass ⟨column {name}=category⟩ if these are not {cells}"),
            };
            warning(format!(
                "holds {kind} but for {strays} {is} as missing, the first {cell:?} in row {}{pass}",
                row + 1
            ));
        }
        match column.take {
            Take::Category { .. } | Take::Text { .. }
                if !planned.given && holds_numbers(&shape.sample, i) =>
            {
                warning(format!(
                    "holds numbers, but more than one cell in twenty is none, so it is not taken as numeric; pass ⟨column {name}=numeric-or-missing⟩ to take it so"
                ));
            }
            Take::Number { .. } if column.cells.is_ambiguous() && !planned.given => {
                let (read, other) = match planned.used.form {
                    NumberForm::Comma => ("a decimal sign", "numeric-or-missing"),
                    _ => ("a separator of thousands", "decimal-comma"),
                };
                warning(format!(
                    "has commas that are taken as {read}; pass ⟨column {name}={other}⟩ if they are not"
                ));
            }
            Take::Date { order, .. } if column.cells.is_order_ambiguous() && !planned.given => {
                let (read, other) = match order {
                    DateOrder::DayFirst => ("day", "date-month-first"),
                    DateOrder::MonthFirst => ("month", "date-day-first"),
                };
                warning(format!(
                    "has dates that are read with the {read} first; pass ⟨column {name}={other}⟩ if they are not"
                ));
            }
            _ => {}
        }
        if planned.used.role == ColumnRole::Numeric && planned.used.form == NumberForm::Comma {
            report.note = Some("with decimal commas".into());
        }
        match table.columns[i].take {
            Take::Category { slot } => {
                let counted: HashSet<u32> = table.codes_of(slot).collect();
                report.levels = Some(counted.len());
            }
            Take::Text { slot } => report.words = Some(table.words[slot].len()),
            Take::Label if !planned.given => {
                let (note, warning) = label.said(&shape.names);
                warnings.extend(warning.map(Wording::from));
                report.note = Some(note);
            }
            _ => {}
        }
        reports.push(report);
    }
    Ok(TableRead {
        found,
        reports,
        notes: shape.notes,
        warnings,
    })
}
