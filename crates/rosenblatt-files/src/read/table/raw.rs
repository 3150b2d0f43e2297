//! A whole table: read with guessed kinds, decided on all its cells, read again if need be.

use std::collections::HashSet;
use std::path::Path;

use super::parse::{MISSING, Parsed, Scheme, Slots, TablePart, Take, parse, takes};
use super::shape::{Shape, find_column};
use super::words::count_words;
use super::{Facts, MOST_LEVELS, decide, warn};
use crate::read::chunk::Chunker;
use crate::read::delimited::Delimiter;
use crate::read::format::Format;
use crate::read::interner::Interner;
use crate::read::number;
use crate::read::options::ReadOptions;
use crate::read::order::Starts;
use crate::read::pipeline::InOrder;
use crate::read::report::{ColumnKind, ColumnReport, ColumnRole, LongDecimal};
use crate::read::row_errors::Tally;
use crate::read::sniff::{Record, is_missing};
use crate::read::source::{Bytes, Source};
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
    /// The words of each text column.
    pub(crate) words: Vec<Interner>,
}

/// A column as it was read.
#[derive(Debug)]
pub(crate) struct RawColumn {
    pub(crate) name: String,
    pub(crate) take: Take,
    /// Whether it makes no features although it was read.
    pub(crate) ignored: bool,
    pub(crate) missing: u64,
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

    /// The numbers of a numeric column, in file order.
    pub(crate) fn numbers_of(&self, slot: usize) -> impl Iterator<Item = f64> + '_ {
        self.parts
            .iter()
            .flat_map(move |p| (0..p.rows).map(move |i| p.numbers.get(i * self.numbers + slot)))
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
    role: ColumnRole,
    given: bool,
}

/// What one pass over the file finds.
pub(crate) struct Pass {
    pub(crate) table: TableRaw,
    pub(crate) labels: Vec<u32>,
    pub(crate) label_names: Interner,
    pub(crate) weights: Vec<f64>,
    not_numeric: Vec<bool>,
    distinct: Vec<HashSet<u64>>,
    word_counts: Vec<u64>,
    pub(crate) long: Vec<LongDecimal>,
    pub(crate) tally: Tally,
}

/// Reads a table whose beginning has this shape.
pub(crate) fn read(
    source: &Source,
    mut bytes: Bytes,
    shape: Shape<'_>,
    options: &ReadOptions,
) -> Result<TableRead> {
    let label = shape.label_column(options.label.as_deref())?;
    let mut columns = plan(&shape, label, options)?;
    // Two passes settle everything; the third is for a column that seemed numeric at first.
    for _ in 0..4 {
        let scheme = scheme(&shape, &columns, options);
        let pass = run(bytes, source.name(), &scheme, options)?;
        let decided = decide_all(&pass, &columns);
        if decided.iter().zip(&columns).all(|(d, c)| d.role == c.role) {
            return finish(pass, shape, label, &columns);
        }
        columns = decided;
        bytes = crate::read::open::text(source, options)?;
    }
    Err(Error::data(
        "the kinds of the columns cannot be settled: the file changes while it is read",
    )
    .in_file(source.name())
    .remedy("read a copy of the file"))
}

fn plan(shape: &Shape<'_>, label: usize, options: &ReadOptions) -> Result<Vec<Planned>> {
    let names = &shape.names;
    let mut columns: Vec<Planned> = (0..names.len())
        .map(|i| Planned {
            role: guess(shape, i).into(),
            given: false,
        })
        .collect();
    for (name, kind) in &options.columns {
        let i = find_column(names, name, "column")?;
        columns[i] = Planned {
            role: (*kind).into(),
            given: true,
        };
    }
    for name in &options.ignore {
        let i = find_column(names, name, "ignore")?;
        columns[i] = Planned {
            role: ColumnRole::Ignore,
            given: true,
        };
    }
    columns[label] = Planned {
        role: ColumnRole::Label,
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
        columns[i] = Planned {
            role: ColumnRole::Weight,
            given: true,
        };
    }
    if let Some((by, name)) = &options.split_column {
        let i = find_column(names, name, by.option())?;
        if matches!(columns[i].role, ColumnRole::Label | ColumnRole::Weight) {
            return Err(Error::options(format!(
                "⟨{} {name}⟩: the column is the label or the weight",
                by.option()
            ))
            .remedy("name another column"));
        }
        columns[i] = Planned {
            role: by.role(),
            given: true,
        };
    }
    Ok(columns)
}

/// Whether nine in ten cells of a column are numbers, as far as the sample tells.
fn holds_numbers(sample: &[Record<'_>], column: usize) -> bool {
    let filled = || {
        let cells = sample.iter().filter_map(|record| record.get(column));
        cells.filter(|cell| !is_missing(cell))
    };
    let numbers = filled().filter(|cell| number::whole::<f64>(cell).is_some());
    let numbers = numbers.count();
    numbers > 0 && numbers * 10 >= filled().count() * 9
}

/// The kind that the sample suggests.
fn guess(shape: &Shape<'_>, column: usize) -> ColumnKind {
    let cells = || {
        shape
            .sample
            .iter()
            .map(|r| &r[column])
            .filter(|c| !is_missing(c))
    };
    let filled = cells().count() as u64;
    if cells().all(|c| number::whole::<f64>(c).is_some()) {
        return ColumnKind::Numeric; // also when there is nothing to go by
    }
    let facts = Facts {
        rows: shape.sample.len() as u64,
        missing: shape.sample.len() as u64 - filled,
        numeric: false,
        distinct: cells().collect::<HashSet<_>>().len(),
        words: cells()
            .map(|c| count_words(&String::from_utf8_lossy(c)))
            .sum(),
    };
    decide(&facts)
}

fn scheme(shape: &Shape<'_>, columns: &[Planned], options: &ReadOptions) -> Scheme {
    Scheme {
        dialect: shape.dialect.clone(),
        header: shape.header,
        names: shape.names.clone(),
        takes: takes(columns.iter().map(|c| (c.role, c.given))),
        // Against the rest, a row without a label is one of the rest.
        labels_required: options.positive.is_none()
            && !options.label_map.iter().any(|(old, _)| old.is_empty()),
        on_error: options.on_error,
        keep_long_decimals: options.keep_long_decimals,
        facts: true,
    }
}

fn run(bytes: Bytes, file: &Path, scheme: &Scheme, options: &ReadOptions) -> Result<Pass> {
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
            columns: (0..columns)
                .map(|i| RawColumn {
                    name: scheme.names[i].clone(),
                    take: scheme.takes[i],
                    ignored: scheme.takes[i] == Take::Skip,
                    missing: 0,
                })
                .collect(),
            parts: Vec::new(),
            starts: Starts::default(),
            rows: 0,
            numbers: slots.numbers,
            categories: slots.categories,
            levels: vec![Interner::default(); slots.categories],
            words: vec![Interner::default(); slots.texts],
        },
        labels: Vec::new(),
        label_names: Interner::default(),
        weights: Vec::new(),
        not_numeric: vec![false; columns],
        distinct: vec![HashSet::new(); slots.texts],
        word_counts: vec![0; slots.texts],
        long: Vec::new(),
        tally: Tally::new(file),
    };
    for parsed in chunks {
        pass.add(parsed?)?;
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
        for (i, column) in table.columns.iter_mut().enumerate() {
            column.missing += parsed.missing[i];
            self.not_numeric[i] |= parsed.not_numeric[i];
        }
        let before = table.rows as u64;
        self.long.extend(parsed.long.drain(..).map(|l| LongDecimal {
            row: l.row + before,
            ..l
        }));
        table.rows += parsed.part.rows;
        table.parts.push(parsed.part);
        Ok(())
    }

    /// What is known about a column after reading it this way.
    fn facts(&self, column: usize) -> Facts {
        let raw = &self.table.columns[column];
        let mut facts = Facts {
            rows: self.table.rows as u64,
            missing: raw.missing,
            numeric: false,
            distinct: 0,
            words: 0,
        };
        match raw.take {
            Take::Category { slot } => {
                let levels = &self.table.levels[slot];
                let mut counts = vec![0u64; levels.len()];
                for code in self.table.codes_of(slot).filter(|&c| c != MISSING) {
                    counts[code as usize] += 1;
                }
                let used = || (0..levels.len() as u32).filter(|&c| counts[c as usize] > 0);
                facts.numeric = used().all(|c| number::whole::<f64>(levels.get(c)).is_some());
                facts.distinct = used().count();
                facts.words = used()
                    .map(|c| counts[c as usize] * count_words(&levels.text(c)))
                    .sum();
            }
            Take::Text { slot } => {
                facts.distinct = self.distinct[slot].len();
                facts.words = self.word_counts[slot];
            }
            _ => facts.numeric = !self.not_numeric[column],
        }
        facts
    }
}

/// The roles that all cells together ask for.
fn decide_all(pass: &Pass, columns: &[Planned]) -> Vec<Planned> {
    columns
        .iter()
        .enumerate()
        .map(|(i, &column)| {
            let role = match column.role {
                _ if column.given => column.role,
                ColumnRole::Numeric if pass.not_numeric[i] => ColumnRole::Category,
                ColumnRole::Category | ColumnRole::Text => match decide(&pass.facts(i)) {
                    ColumnKind::Ignore => column.role, // nothing to read again for
                    kind => kind.into(),
                },
                role => role,
            };
            Planned { role, ..column }
        })
        .collect()
}

fn finish(
    mut found: Pass,
    shape: Shape<'_>,
    label: usize,
    columns: &[Planned],
) -> Result<TableRead> {
    let (table, labels) = (&mut found.table, &found.labels);
    warn::refuse_measurement(&shape.names[label], labels, &found.label_names)?;
    let mut reports = Vec::with_capacity(columns.len());
    let mut notes = shape.notes;
    let mut warnings = Vec::new();
    for (i, planned) in columns.iter().enumerate() {
        let name = shape.names[i].clone();
        let take = table.columns[i].take;
        let missing = table.columns[i].missing;
        let parts_rows = matches!(planned.role, ColumnRole::Groups | ColumnRole::Time);
        table.columns[i].ignored |= parts_rows;
        let feature = !parts_rows && !matches!(take, Take::Skip | Take::Label | Take::Weight);
        let mut report = ColumnReport {
            name: name.clone(),
            role: planned.role,
            given: planned.given,
            levels: None,
            words: None,
            missing,
            note: None,
            warning: None,
        };
        match take {
            Take::Category { slot } => {
                let counted: HashSet<u32> = table.codes_of(slot).collect();
                report.levels = Some(counted.len());
            }
            Take::Text { slot } => report.words = Some(table.words[slot].len()),
            _ => {}
        }
        let counting = |slot| warn::counts_rows(table.numbers_of(slot));
        if feature && missing == table.rows as u64 {
            report.note = Some("it is empty".into());
        } else if let Take::Number { slot, .. } = take
            && i == 0
            && shape.unnamed.contains(&0)
            && !planned.given
            && counting(slot)
        {
            report.note = Some("it has no name and just counts the rows".into());
        }
        if let Some(note) = &report.note {
            table.columns[i].ignored = true;
            report.role = ColumnRole::Ignore;
            notes.push(format!("the column {name} is left out: {note}"));
        } else if feature {
            let of_numbers = matches!(take, Take::Category { .. } | Take::Text { .. })
                && !planned.given
                && holds_numbers(&shape.sample, i);
            let warning = match of_numbers {
                true => Some(format!(
                    "holds numbers, but not in every cell, so it is not taken as numeric; ⟨column {name}=numeric⟩ names the first that is none"
                )),
                false => warn::look_at(table, take, missing, labels),
            };
            if let Some(warning) = warning {
                warnings.push(format!("the column {name} {warning}").into());
                report.warning = Some(warning.into());
            }
        }
        reports.push(report);
    }
    Ok(TableRead {
        found,
        reports,
        notes,
        warnings,
    })
}
