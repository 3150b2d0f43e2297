//! What a column of a table becomes, and what of it training has not seen.

use super::BUCKETS;
use super::cells::{DateOrder, NumberForm};
use rosenblatt_core::data::StringTable;

/// The name of the level that missing values have.
pub(crate) const MISSING_LEVEL: &str = "?";

/// What a column of a table becomes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Role {
    Number {
        centre: f64,
        scale: f64,
        /// Whether missing values have a feature.
        indicator: bool,
        form: NumberForm,
        /// Whether a cell that is no number is a missing value rather than a fault.
        strays: bool,
    },
    Date(DateParts),
    /// Levels, sorted by bytes.
    Category {
        levels: StringTable,
    },
    Text {
        /// By first appearance.
        words: StringTable,
        /// Whether other words share buckets.
        hashed: bool,
        /// What each of its features weighs; nothing if all weigh 1.
        weights: Vec<f64>,
    },
    Label,
    Weight,
    Ignored(Option<Aside>),
}

impl Role {
    /// The number of features it makes.
    pub(crate) fn features(&self) -> usize {
        match self {
            Role::Number { indicator, .. } => 1 + usize::from(*indicator),
            Role::Date(date) => date.features(),
            Role::Category { levels } => levels.len(),
            Role::Text { words, hashed, .. } => {
                words.len() + if *hashed { BUCKETS as usize } else { 0 }
            }
            Role::Label | Role::Weight | Role::Ignored(_) => 0,
        }
    }
}

/// Why a column is set aside that nobody asked to ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aside {
    /// Its cells are empty.
    Empty,
    /// Its cells say the same.
    Constant,
    /// It has no name and counts the rows, in some order.
    Index,
    /// Its cells tell the rows apart and nothing else.
    Identifier,
}

/// What dates become: numbers for the days that elapsed and, if they differ, the years; a feature
/// for each month, each day of the week and each hour that training has seen, where it has seen
/// several.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct DateParts {
    pub(crate) order: DateOrder,
    pub(crate) strays: bool,
    /// Whether missing dates have a feature.
    pub(crate) indicator: bool,
    /// Centre and scale of the days, from 1 January 1970.
    pub(crate) days: (f64, f64),
    /// The same of the years, if they have a feature.
    pub(crate) years: Option<(f64, f64)>,
    /// A bit for each month (from 1), day of the week (from 0, Monday) and hour that has a
    /// feature.
    pub(crate) parts: [u32; 3],
}

/// What parts of a date are called.
pub(crate) const PARTS: [&str; 3] = ["month", "weekday", "hour"];

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

impl DateParts {
    pub(crate) fn features(&self) -> usize {
        let parts: u32 = self.parts.iter().map(|bits| bits.count_ones()).sum();
        1 + usize::from(self.years.is_some()) + parts as usize + usize::from(self.indicator)
    }

    /// The names of the features, behind that of the column.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = vec![":days".to_owned()];
        names.extend(self.years.map(|_| ":year".to_owned()));
        for ((part, bits), what) in self.parts.iter().enumerate().zip(PARTS) {
            for bit in (0..32).filter(|bit| bits >> bit & 1 == 1) {
                names.push(match part {
                    1 => format!(":{what}={}", WEEKDAYS[bit % 7]),
                    _ => format!(":{what}={bit}"),
                });
            }
        }
        if self.indicator {
            names.push(format!("={MISSING_LEVEL}"));
        }
        names
    }
}

/// Values that training has not seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Unseen {
    /// Category values, missing numbers included, without a feature.
    pub levels: u64,
    /// Words without a feature.
    pub words: u64,
    /// Sparse features beyond the model's.
    pub features: u64,
}

impl std::ops::AddAssign for Unseen {
    fn add_assign(&mut self, other: Unseen) {
        self.levels += other.levels;
        self.words += other.words;
        self.features += other.features;
    }
}
