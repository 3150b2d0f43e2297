//! How a table is to be read, and what a chunk of it becomes.

use std::collections::HashSet;

use super::super::cells::{CellTally, DATE_SLOTS, DateOrder, NumberForm};
use super::super::words::{Cutter, TextCut};
use crate::read::delimited::Dialect;
use crate::read::interner::Interner;
use crate::read::labels::LabelSink;
use crate::read::number::value_width;
use crate::read::report::{ColumnRole, LongDecimal};
use crate::read::row_errors::{OnError, RowErrors};
use rosenblatt_core::data::Values;

/// The code of a missing category.
pub(crate) const MISSING: u32 = u32::MAX;

/// What to do with the cells of a column. A slot is its place among its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take {
    /// A number; if `fixed`, anything else is a fault.
    Number {
        slot: usize,
        fixed: bool,
        form: NumberForm,
    },
    /// A date, which takes [`DATE_SLOTS`] numbers; if `fixed`, anything else is a fault.
    Date {
        slot: usize,
        fixed: bool,
        order: DateOrder,
    },
    Category {
        slot: usize,
    },
    Text {
        slot: usize,
    },
    Label,
    Weight,
    Skip,
}

/// How to read every row.
#[derive(Debug, Clone)]
pub(crate) struct Scheme {
    pub(crate) dialect: Dialect,
    pub(crate) header: bool,
    pub(crate) names: Vec<String>,
    pub(crate) takes: Vec<Take>,
    pub(crate) labels_required: bool,
    pub(crate) on_error: OnError,
    pub(crate) keep_long_decimals: bool,
    /// Cells in front of each row that its file does not have.
    pub(crate) cells_in_front: usize,
    /// How texts are cut.
    pub(crate) cut: TextCut,
    /// What to say of a label that cannot be one, where its column was guessed.
    pub(crate) label_guess: Option<String>,
    /// Whether facts are gathered to check the kinds of text columns.
    pub(crate) facts: bool,
}

/// How many columns of each kind are stored.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slots {
    pub(crate) numbers: usize,
    pub(crate) categories: usize,
    pub(crate) texts: usize,
}

impl Slots {
    pub(crate) fn of(takes: &[Take]) -> Self {
        let mut slots = Slots::default();
        for take in takes {
            match take {
                Take::Number { slot, .. } => slots.numbers = slots.numbers.max(slot + 1),
                Take::Date { slot, .. } => slots.numbers = slots.numbers.max(slot + DATE_SLOTS),
                Take::Category { slot } => slots.categories = slots.categories.max(slot + 1),
                Take::Text { slot } => slots.texts = slots.texts.max(slot + 1),
                Take::Label | Take::Weight | Take::Skip => {}
            }
        }
        slots
    }
}

/// What a column is used as, and how its cells are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) role: ColumnRole,
    /// Whether a cell that is no number, or no date, is a fault.
    pub(crate) fixed: bool,
    pub(crate) form: NumberForm,
    pub(crate) order: DateOrder,
}

impl Use {
    pub(crate) fn plain(role: ColumnRole) -> Self {
        Use {
            role,
            fixed: false,
            form: NumberForm::Grouped,
            order: DateOrder::DayFirst,
        }
    }
}

/// What to do with columns that are used so.
pub(crate) fn takes(columns: impl Iterator<Item = Use>) -> Vec<Take> {
    let mut slots = Slots::default();
    let next = |slot: &mut usize| {
        *slot += 1;
        *slot - 1
    };
    columns
        .map(|column| match column.role {
            ColumnRole::Numeric => Take::Number {
                slot: next(&mut slots.numbers),
                fixed: column.fixed,
                form: column.form,
            },
            ColumnRole::Date => {
                slots.numbers += DATE_SLOTS;
                Take::Date {
                    slot: slots.numbers - DATE_SLOTS,
                    fixed: column.fixed,
                    order: column.order,
                }
            }
            ColumnRole::Category | ColumnRole::Groups | ColumnRole::Time => Take::Category {
                slot: next(&mut slots.categories),
            },
            ColumnRole::Text => Take::Text {
                slot: next(&mut slots.texts),
            },
            ColumnRole::Label => Take::Label,
            ColumnRole::Weight => Take::Weight,
            ColumnRole::Ignore => Take::Skip,
        })
        .collect()
}

/// The words of a text column, row by row.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextPart {
    pub(crate) ends: Vec<u32>,
    /// Words of each row by number, in order of first appearance in it.
    pub(crate) words: Vec<u32>,
    /// How often each comes.
    pub(crate) counts: Vec<u32>,
}

impl TextPart {
    /// Appends the terms of a text; gives the number of its words. `row` is another number for
    /// each text, above 0; `stamps` holds for each word the last of them that it came in, and its
    /// place there.
    pub(crate) fn push(
        &mut self,
        text: &str,
        row: u32,
        cutter: &mut Cutter,
        words: &mut Interner,
        stamps: &mut Vec<(u32, u32)>,
    ) -> u64 {
        let count = cutter.for_each_term(text, |word| {
            let (number, new) = words.intern(word.as_bytes());
            if new {
                stamps.push((0, 0));
            }
            let stamp = &mut stamps[number as usize];
            if stamp.0 == row {
                self.counts[stamp.1 as usize] += 1;
            } else {
                *stamp = (row, self.words.len() as u32);
                self.words.push(number);
                self.counts.push(1);
            }
        });
        self.ends.push(self.words.len() as u32);
        count
    }

    pub(crate) fn range(&self, i: usize) -> std::ops::Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        start..self.ends[i] as usize
    }
}

/// Typed columns of some rows.
#[derive(Debug)]
pub(crate) struct TablePart {
    pub(crate) rows: usize,
    /// Row by row; NaN is missing.
    pub(crate) numbers: Values,
    /// Row by row.
    pub(crate) codes: Vec<u32>,
    pub(crate) texts: Vec<TextPart>,
}

impl TablePart {
    /// Bytes that its rows take.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = self.numbers.len() * value_width(self.numbers.precision()) as usize;
        let texts = self.texts.iter().map(|text| text.words.len() * 8);
        numbers + self.codes.len() * size_of::<u32>() + texts.sum::<usize>()
    }
}

/// A chunk, read.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) part: TablePart,
    pub(crate) levels: Vec<Interner>,
    pub(crate) words: Vec<Interner>,
    /// Hashes of the distinct values of each text column, exact up to a limit.
    pub(crate) distinct: Vec<HashSet<u64>>,
    pub(crate) word_counts: Vec<u64>,
    pub(crate) labels: LabelSink,
    pub(crate) weights: Vec<f64>,
    /// Empty cells of each column.
    pub(crate) missing: Vec<u64>,
    /// The cells of each column that are no plain numbers but should be, or dates.
    pub(crate) cells: Vec<CellTally>,
    pub(crate) long: Vec<LongDecimal>,
    pub(crate) faults: RowErrors,
}

impl Parsed {
    /// Nothing yet.
    pub(super) fn new(scheme: &Scheme, numbers: Values) -> Self {
        let (columns, slots) = (scheme.takes.len(), Slots::of(&scheme.takes));
        Parsed {
            part: TablePart {
                rows: 0,
                numbers,
                codes: Vec::new(),
                texts: vec![TextPart::default(); slots.texts],
            },
            levels: vec![Interner::default(); slots.categories],
            words: vec![Interner::default(); slots.texts],
            distinct: vec![HashSet::new(); slots.texts],
            word_counts: vec![0; slots.texts],
            labels: LabelSink::default(),
            weights: Vec::new(),
            missing: vec![0; columns],
            cells: vec![CellTally::default(); columns],
            long: Vec::new(),
            faults: RowErrors::default(),
        }
    }
}
