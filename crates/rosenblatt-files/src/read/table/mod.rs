//! Tables: typed columns, and how they become features.
//!
//! A column is numeric, a category, a text, or ignored. Which, is a function of all its
//! cells: kinds are guessed from the beginning of the file, the file is read with them, and
//! read again in the rare case that the rest of it says otherwise.
//!
//! * `shape` – the delimiter, the header, the names and the label column;
//! * `parse` – a chunk of text to typed columns;
//! * `raw` – the whole file: the passes, the warnings;
//! * `kinds` – what a column is, by the sample and by all its cells;
//! * `typed_columns` – columns that a file holds as numbers;
//! * `encode` – typed columns to rows of features;
//! * `cells` – numbers and dates as people write them;
//! * `words` – what a word is.

pub(crate) mod cells;
pub(crate) mod encode;
pub(crate) mod kinds;
pub(crate) mod numeric;
pub(crate) mod parse;
pub(crate) mod raw;
pub(crate) mod role;
pub(crate) mod shape;
mod typed_columns;
pub(crate) mod warn;
pub(crate) mod words;

use crate::read::report::ColumnKind;

/// More distinct values than this make a text of a category.
pub(crate) const MOST_LEVELS: usize = 1000;

/// Words a value of a category has on average, at most, if values hardly repeat.
const SHORT: u64 = 4;

/// Words of a text column that get a feature of their own.
pub(crate) const MOST_WORDS: usize = 1 << 20;

/// Features that the words beyond those share.
pub(crate) const BUCKETS: u32 = 1 << 18;

/// What decides the kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) rows: u64,
    pub(crate) missing: u64,
    /// Whether the cells that are not missing are numbers, a few strays aside.
    pub(crate) numeric: bool,
    /// Whether they are dates, a few strays aside.
    pub(crate) dates: bool,
    /// Distinct values, exact up to [`MOST_LEVELS`].
    pub(crate) distinct: usize,
    /// Words in all cells together.
    pub(crate) words: u64,
}

/// The kind of a column with these facts.
pub(crate) fn decide(facts: &Facts) -> ColumnKind {
    let filled = facts.rows - facts.missing;
    if filled == 0 {
        return ColumnKind::Ignore;
    }
    if facts.numeric {
        return ColumnKind::Numeric;
    }
    if facts.dates {
        return ColumnKind::Date;
    }
    let few = facts.distinct <= MOST_LEVELS;
    let short = facts.words < SHORT * filled;
    let repeating = facts.distinct as u64 * 2 <= facts.rows;
    if few && (short || repeating) {
        ColumnKind::Category
    } else {
        ColumnKind::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_from_facts() {
        let facts = Facts {
            rows: 100,
            missing: 10,
            numeric: false,
            dates: false,
            distinct: 80,
            words: 300,
        };
        assert_eq!(
            decide(&Facts {
                numeric: true,
                ..facts
            }),
            ColumnKind::Numeric
        );
        assert_eq!(
            decide(&Facts {
                missing: 100,
                ..facts
            }),
            ColumnKind::Ignore
        );
        assert_eq!(decide(&facts), ColumnKind::Category);
        assert_eq!(
            decide(&Facts {
                words: 900,
                ..facts
            }),
            ColumnKind::Text
        );
        assert_eq!(
            decide(&Facts {
                words: 900,
                distinct: 50,
                ..facts
            }),
            ColumnKind::Category
        );
        assert_eq!(
            decide(&Facts {
                distinct: 1001,
                rows: 5000,
                ..facts
            }),
            ColumnKind::Text
        );
    }
}
