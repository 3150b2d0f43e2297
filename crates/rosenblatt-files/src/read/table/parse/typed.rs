//! How a table is to be read, and what a chunk of it becomes.

use std::collections::HashSet;

use crate::read::delimited::Dialect;
use crate::read::interner::Interner;
use crate::read::labels::LabelSink;
use crate::read::report::LongDecimal;
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
    /// Whether facts are gathered to check the kinds of text columns.
    pub(crate) facts: bool,
}

impl Scheme {
    fn slots(&self, of: impl Fn(&Take) -> Option<usize>) -> usize {
        self.takes
            .iter()
            .filter_map(of)
            .map(|s| s + 1)
            .max()
            .unwrap_or(0)
    }

    pub(crate) fn numbers(&self) -> usize {
        self.slots(|take| match take {
            Take::Number { slot, .. } => Some(*slot),
            _ => None,
        })
    }

    pub(crate) fn categories(&self) -> usize {
        self.slots(|take| match take {
            Take::Category { slot } => Some(*slot),
            _ => None,
        })
    }

    pub(crate) fn texts(&self) -> usize {
        self.slots(|take| match take {
            Take::Text { slot } => Some(*slot),
            _ => None,
        })
    }
}

/// The words of a text column, row by row.
#[derive(Debug, Default)]
pub(crate) struct TextPart {
    pub(crate) ends: Vec<u32>,
    /// Words of each row by number, in order of first appearance in it.
    pub(crate) words: Vec<u32>,
    /// How often each comes.
    pub(crate) counts: Vec<u32>,
}

impl TextPart {
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

/// Distinct values of a column, exact up to a limit.
#[derive(Debug, Default, Clone)]
pub(crate) struct Distinct(pub(crate) HashSet<u64>);

/// A chunk, read.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) part: TablePart,
    pub(crate) levels: Vec<Interner>,
    pub(crate) words: Vec<Interner>,
    pub(crate) distinct: Vec<Distinct>,
    pub(crate) word_counts: Vec<u64>,
    pub(crate) labels: LabelSink,
    pub(crate) weights: Vec<f64>,
    /// Missing cells of each column.
    pub(crate) missing: Vec<u64>,
    /// Columns with a cell that should be a number and is not.
    pub(crate) not_numeric: Vec<bool>,
    pub(crate) long: Vec<LongDecimal>,
    pub(crate) faults: RowErrors,
}
