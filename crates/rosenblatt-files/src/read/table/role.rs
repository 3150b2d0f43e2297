//! What a column of a table becomes, and what of it training has not seen.

use super::BUCKETS;
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
    },
    /// Levels, sorted by bytes.
    Category {
        levels: StringTable,
    },
    Text {
        /// By first appearance.
        words: StringTable,
        /// Whether other words share buckets.
        hashed: bool,
    },
    Label,
    Weight,
    Ignored,
}

impl Role {
    /// The number of features it makes.
    pub(crate) fn features(&self) -> usize {
        match self {
            Role::Number { indicator, .. } => 1 + usize::from(*indicator),
            Role::Category { levels } => levels.len(),
            Role::Text { words, hashed } => {
                words.len() + if *hashed { BUCKETS as usize } else { 0 }
            }
            Role::Label | Role::Weight | Role::Ignored => 0,
        }
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
