//! How texts become features: which terms, and what each weighs.

use std::str::FromStr;

use super::scale::Scale;
use super::table::MOST_WORDS;
pub use super::table::words::{Terms, TextCut};
use rosenblatt_core::{Error, Result};

/// How texts become features.
#[derive(Debug, Clone, PartialEq)]
pub struct TextOptions {
    /// How they are cut into terms.
    pub cut: TextCut,
    /// What terms weigh; if not said, by sublinear tf-idf where columns are scaled, else their
    /// counts.
    pub weights: Option<TermWeights>,
    /// Terms in fewer training rows are left out.
    pub min_df: DocumentFrequency,
    /// Terms in more training rows are left out.
    pub max_df: DocumentFrequency,
    /// Terms that get a feature of their own, those in most rows first; others share features by
    /// a hash.
    pub vocabulary: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions {
            cut: TextCut::default(),
            weights: None,
            min_df: DocumentFrequency::Rows(1),
            max_df: DocumentFrequency::Share(1.0),
            vocabulary: MOST_WORDS,
        }
    }
}

/// What a term of a text weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermWeights {
    /// How often it comes.
    Counts,
    /// 1 + ln of that.
    Sublinear,
    /// How often it comes, times ln((1 + n)/(1 + d)) + 1 for d of n training rows that have it.
    TfIdf,
    /// 1 + ln of how often it comes, times the same.
    SublinearTfIdf,
}

impl TermWeights {
    /// The names of all.
    pub const NAMES: &'static str = "counts, sublinear, tf-idf, sublinear-tf-idf";

    /// Those asked for, or what the scaling suggests.
    pub(crate) fn chosen(asked: Option<TermWeights>, scale: Scale) -> Self {
        asked.unwrap_or(match scale.by_column() {
            true => TermWeights::SublinearTfIdf,
            false => TermWeights::Counts,
        })
    }

    pub(crate) fn sublinear(self) -> bool {
        matches!(self, TermWeights::Sublinear | TermWeights::SublinearTfIdf)
    }

    pub(crate) fn by_idf(self) -> bool {
        matches!(self, TermWeights::TfIdf | TermWeights::SublinearTfIdf)
    }
}

impl FromStr for TermWeights {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "counts" => TermWeights::Counts,
            "sublinear" => TermWeights::Sublinear,
            "tf-idf" => TermWeights::TfIdf,
            "sublinear-tf-idf" => TermWeights::SublinearTfIdf,
            _ => {
                return Err(
                    Error::options(format!("there are no term weights {name:?}"))
                        .remedy(format!("use one of {}", TermWeights::NAMES)),
                );
            }
        })
    }
}

/// A number of rows, or a share of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DocumentFrequency {
    /// So many.
    Rows(usize),
    /// This share, from 0 to 1.
    Share(f64),
}

impl DocumentFrequency {
    /// As a number of rows, which need not be whole.
    pub(crate) fn of(self, rows: usize) -> f64 {
        match self {
            DocumentFrequency::Rows(n) => n as f64,
            DocumentFrequency::Share(share) => share * rows as f64,
        }
    }
}

impl FromStr for DocumentFrequency {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(rows) = text.parse::<usize>() {
            return Ok(DocumentFrequency::Rows(rows));
        }
        match text.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(DocumentFrequency::Share(share)),
            _ => Err(
                Error::options(format!("found the document frequency {text:?}"))
                    .remedy("give a number of rows, such as 2, or a share, such as 0.5"),
            ),
        }
    }
}
