//! A whole table: read with guessed kinds, decided on all its cells, read again if need be.

use std::collections::HashSet;

use super::cells::{CellTally, DateOrder, NumberForm};
use super::kinds::{Planned, decide_all, holds_numbers, plan};
use super::parse::{MISSING, Parsed, Scheme, Slots, TablePart, Take, Use, parse, takes};
use super::role::Aside;
use super::shape::{LabelChoice, Shape};
use super::typed_columns::TypedColumns;
use super::{MOST_LEVELS, warn};
use crate::read::chunk::Chunker;
use crate::read::converted::Typed;
use crate::read::delimited::Delimiter;
use crate::read::format::Format;
use crate::read::interner::Interner;
use crate::read::options::{MemoryUse, ReadOptions};
use crate::read::order::Starts;
use crate::read::pipeline::InOrder;
use crate::read::report::{ColumnReport, ColumnRole, LongDecimal};
use crate::read::row_errors::Tally;
use crate::read::source::{Bytes, Source};
use crate::read::text::TextOptions;
use rosenblatt_core::data::Precision;
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
    pub(super) fn new(scheme: &Scheme, column: usize) -> Self {
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

    /// Why it is set aside where it tells the rows apart and nothing else.
    pub(super) fn identifier(&self) -> Aside {
        match self.unnamed {
            true => Aside::Index,
            false => Aside::Identifier,
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

/// What one pass over the file finds.
pub(crate) struct Pass {
    pub(crate) table: TableRaw,
    pub(crate) labels: Vec<u32>,
    pub(crate) label_names: Interner,
    pub(crate) weights: Vec<f64>,
    pub(super) distinct: Vec<HashSet<u64>>,
    pub(super) word_counts: Vec<u64>,
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
    let typed = typed.and_then(|file| TypedColumns::of(file, &shape, &columns, options));
    let settled = typed.and_then(|typed| {
        let scheme = |columns: &[Planned]| scheme(&shape, columns, &label, source, options);
        let run = |columns: &[Planned]| typed.run(scheme(columns), source, options);
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

/// One pass over the text of a file.
pub(super) fn run(
    bytes: Bytes,
    source: &Source,
    scheme: &Scheme,
    options: &ReadOptions,
) -> Result<Pass> {
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
