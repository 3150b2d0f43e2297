//! What was read and what was decided about it, as data for any front end to print.

use super::format::Format;
use rosenblatt_core::data::Precision;
use rosenblatt_core::{Error, Result, Wording};

/// What was found in a file.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct ReadReport {
    /// The file as the user named it.
    pub file: String,
    /// Its format, as said or guessed.
    pub format: Format,
    /// The number of rows read.
    pub rows: usize,
    /// The number of bytes read, decompressed.
    pub bytes: u64,
    /// How many bits each value keeps.
    pub precision: Precision,
    /// Whether the first record names the columns; tables only.
    pub header: Option<bool>,
    /// What stands between the cells; tables only.
    pub delimiter: Option<String>,
    /// The columns of a table and what became of each.
    pub columns: Vec<ColumnReport>,
    /// The columns that stand in the names of folders, as `year=2024`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folder_columns: Vec<String>,
    /// The number of rows left out because they could not be read.
    pub skipped: u64,
    /// Why the first of them could not.
    pub skipped_messages: Vec<Wording>,
    /// Things worth knowing.
    pub notes: Vec<String>,
    /// Things worth worrying about.
    pub warnings: Vec<Wording>,
}

/// A column of a table and what became of it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct ColumnReport {
    /// Its name in the header, else its number from 0.
    pub name: String,
    /// What it is used as.
    pub role: ColumnRole,
    /// Whether the user said so.
    pub given: bool,
    /// The number of distinct values of a category.
    pub levels: Option<usize>,
    /// The number of distinct words of a text.
    pub words: Option<usize>,
    /// The number of empty cells, and of strays in a column of numbers or dates.
    pub missing: u64,
    /// Why it was treated so, when that needs saying.
    pub note: Option<String>,
    /// What may be wrong with it.
    pub warning: Option<Wording>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Numbers: one feature.
    Numeric,
    /// One of a few values: a feature for each.
    Category,
    /// Words: a feature for each.
    Text,
    /// Dates, perhaps with times: features for their parts and for the days that elapsed. Whether
    /// the day or the month comes first, the cells tell.
    Date,
    /// Dates that begin with the day.
    #[serde(rename = "date-day-first")]
    DayFirst,
    /// Dates that begin with the month.
    #[serde(rename = "date-month-first")]
    MonthFirst,
    /// Numbers; any other cell is a missing value.
    #[serde(rename = "numeric-or-missing")]
    NumericOrMissing,
    /// Numbers with a decimal comma; any other cell is a missing value.
    #[serde(rename = "decimal-comma")]
    DecimalComma,
    /// Nothing of use.
    Ignore,
}

impl ColumnKind {
    /// The names of all kinds.
    pub const NAMES: &'static str = "numeric, numeric-or-missing, decimal-comma, date, date-day-first, date-month-first, category, text, ignore";

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Numeric => "numeric",
            ColumnKind::Category => "category",
            ColumnKind::Text => "text",
            ColumnKind::Date => "date",
            ColumnKind::DayFirst => "date-day-first",
            ColumnKind::MonthFirst => "date-month-first",
            ColumnKind::NumericOrMissing => "numeric-or-missing",
            ColumnKind::DecimalComma => "decimal-comma",
            ColumnKind::Ignore => "ignore",
        }
    }
}

impl std::str::FromStr for ColumnKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "numeric" => ColumnKind::Numeric,
            "category" => ColumnKind::Category,
            "text" => ColumnKind::Text,
            "date" => ColumnKind::Date,
            "date-day-first" => ColumnKind::DayFirst,
            "date-month-first" => ColumnKind::MonthFirst,
            "numeric-or-missing" => ColumnKind::NumericOrMissing,
            "decimal-comma" => ColumnKind::DecimalComma,
            "ignore" => ColumnKind::Ignore,
            _ => {
                return Err(Error::options(format!("there is no column kind {name:?}"))
                    .remedy(format!("use one of {}", ColumnKind::NAMES)));
            }
        })
    }
}

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnRole {
    /// A feature for the number.
    Numeric,
    /// A feature for each level.
    Category,
    /// A feature for each word.
    Text,
    /// Features for the parts of a date, and for the days that elapsed.
    Date,
    /// Nothing.
    Ignore,
    /// The class.
    Label,
    /// The weight of the row.
    Weight,
    /// The group of the row, by which rows are held out together.
    Groups,
    /// The time of the row, by which the last rows are held out.
    Time,
}

impl From<ColumnKind> for ColumnRole {
    fn from(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Numeric | ColumnKind::NumericOrMissing | ColumnKind::DecimalComma => {
                ColumnRole::Numeric
            }
            ColumnKind::Date | ColumnKind::DayFirst | ColumnKind::MonthFirst => ColumnRole::Date,
            ColumnKind::Category => ColumnRole::Category,
            ColumnKind::Text => ColumnRole::Text,
            ColumnKind::Ignore => ColumnRole::Ignore,
        }
    }
}

/// A decimal that its `f64` does not tell: more than 15 significant digits that are not those
/// with which the `f64` prints, or outside 10⁻²⁹⁰..10²⁹⁰.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongDecimal {
    /// The row, from 0.
    pub row: u64,
    /// The index as written (libsvm) or the column from 0 (tables).
    pub column: u32,
    /// The decimal as written.
    pub text: String,
}
