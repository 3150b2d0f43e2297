//! What a column is: guessed from the sample, decided on all its cells.

use std::collections::HashSet;

use super::cells::{self, CellTally, DateOrder, NumberForm, few_strays};
use super::parse::{MISSING, Take, Use};
use super::raw::Pass;
use super::shape::{Shape, find_column};
use super::words::count_words;
use super::{Facts, decide};
use crate::read::delimited::Delimiter;
use crate::read::number;
use crate::read::options::ReadOptions;
use crate::read::report::{ColumnKind, ColumnRole};
use crate::read::sniff::{Record, is_missing};
use rosenblatt_core::{Error, Result};

/// A column before it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    pub(super) used: Use,
    pub(super) given: bool,
}

/// The columns as the options and the sample say.
pub(super) fn plan(shape: &Shape<'_>, label: usize, options: &ReadOptions) -> Result<Vec<Planned>> {
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
pub(super) fn holds_numbers(sample: &[Record<'_>], column: usize) -> bool {
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
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Cells {
    pub(crate) tally: CellTally,
    pub(crate) filled: u64,
    /// Plain numbers, and how many of them are none where commas are decimal signs.
    plain: u64,
    plain_only: u64,
    slashes: bool,
}

impl Cells {
    /// Looks at cells, each of which comes so often.
    fn of<'a>(cells: impl Iterator<Item = (&'a [u8], u64)>) -> Self {
        let mut found = Cells::default();
        cells.for_each(|(cell, times)| found.count(cell, times));
        found
    }

    /// Counts a cell that is there and comes so often.
    pub(crate) fn count(&mut self, cell: &[u8], times: u64) {
        self.filled += times;
        if number::whole::<f64>(cell).is_some() {
            self.plain += times;
            let either = cells::as_plain(cell, NumberForm::Comma).is_some();
            self.plain_only += if either { 0 } else { times };
        } else {
            self.tally.count(cell, times, true);
            self.slashes |= cell.contains(&b'/');
        }
    }

    /// Adds what was counted of other cells.
    pub(crate) fn merge(&mut self, other: Cells) {
        self.filled += other.filled;
        self.plain += other.plain;
        self.plain_only += other.plain_only;
        self.slashes |= other.slashes;
        self.tally.merge(other.tally, 0);
    }

    fn order(&self) -> DateOrder {
        self.tally.order(self.slashes)
    }

    /// How many are no numbers in this form.
    pub(crate) fn not_numbers(&self, form: NumberForm) -> u64 {
        let plain_only = match form {
            NumberForm::Comma => self.plain_only,
            _ => 0,
        };
        self.tally.not_numbers(form) + plain_only
    }

    pub(crate) fn are_numbers(&self, form: NumberForm) -> bool {
        let bad = self.not_numbers(form);
        bad < self.filled && few_strays(self.filled, bad, self.tally.marks())
    }

    pub(crate) fn are_dates(&self) -> bool {
        let bad = self.filled - self.tally.dates();
        bad < self.filled && few_strays(self.filled, bad, self.tally.marks())
    }
}

/// The uses that all cells together ask for.
pub(super) fn decide_all(pass: &Pass, columns: &[Planned]) -> Vec<Planned> {
    let decided = columns.iter().enumerate().map(|(i, &column)| Planned {
        used: match column.given {
            true => column.used,
            false => pass.decide(i, column.used),
        },
        ..column
    });
    decided.collect()
}

impl Pass {
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
