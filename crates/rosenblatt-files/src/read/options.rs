//! How a file is to be read.

use std::path::{Path, PathBuf};

use rosenblatt_core::data::Precision;
use rosenblatt_core::internal::parallel;
use rosenblatt_core::{Error, Result};

use super::chunk;
use super::delimited::Delimiter;
use super::format::Format;
use super::labels::LabelRules;
use super::report::ColumnKind;
use super::row_errors::OnError;
use super::split_column::SplitBy;
use super::text::TextOptions;

/// How a file is to be read. The default guesses everything.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The format, if not to be guessed.
    pub format: Option<Format>,
    /// Further files of the same data set, behind the one that is named.
    pub also: Vec<PathBuf>,
    /// The labels file of IDX images or of a NumPy array.
    pub labels: Option<PathBuf>,
    /// The label column of a table: a name, else a number from 0.
    pub label: Option<String>,
    /// Whether a table's first record is a header, if not to be detected.
    pub header: Option<bool>,
    /// Whether a model takes the columns of a table by their places, whatever their names.
    pub by_position: bool,
    /// What stands between cells, if not to be found out.
    pub delimiter: Option<Delimiter>,
    /// Lines of a table that start with this are skipped.
    pub comment: Option<String>,
    /// The class that stands against all others.
    pub positive: Option<String>,
    /// Labels to be replaced, and by what.
    pub label_map: Vec<(String, String)>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Columns whose kind is not to be decided by their cells.
    pub columns: Vec<(String, ColumnKind)>,
    /// How texts become features.
    pub text: TextOptions,
    /// What to do with rows that cannot be read.
    pub on_error: OnError,
    /// The column with the weights of the rows.
    pub weight_column: Option<String>,
    /// A column that rows are parted by, and which is no feature.
    pub split_column: Option<(SplitBy, String)>,
    /// How many bits values keep.
    pub precision: Precision,
    /// The number of threads.
    pub threads: usize,
    /// Whether decimals that `f64` cannot stand for are kept as texts.
    pub keep_long_decimals: bool,
    /// Whether files that are not compressed are read where they lie. That is faster, but their
    /// text then counts as memory of the program. Results do not depend on it.
    pub mapped: bool,
    /// How many bytes the rows may take in memory until they are laid out for training; a file that
    /// needs more is an error. Without it there is no limit.
    pub memory: Option<u64>,
    /// The size of a chunk; results do not depend on it. Public for fuzzing, which needs small
    /// files that are cut in many places, and so that other fields can be set beside
    /// `..ReadOptions::default()`.
    #[doc(hidden)]
    pub chunk_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            also: Vec::new(),
            labels: None,
            label: None,
            header: None,
            by_position: false,
            delimiter: None,
            comment: None,
            positive: None,
            label_map: Vec::new(),
            ignore: Vec::new(),
            columns: Vec::new(),
            text: TextOptions::default(),
            on_error: OnError::Fail,
            weight_column: None,
            split_column: None,
            precision: Precision::F32,
            threads: parallel::available(),
            keep_long_decimals: false,
            mapped: false,
            memory: None,
            chunk_bytes: chunk::CHUNK,
        }
    }
}

/// Keeps count of the bytes that rows take while they are read.
pub(crate) struct MemoryUse<'a> {
    limit: Option<u64>,
    file: &'a Path,
    bytes: u64,
}

impl<'a> MemoryUse<'a> {
    pub(crate) fn new(options: &ReadOptions, file: &'a Path) -> Self {
        MemoryUse {
            limit: options.memory,
            file,
            bytes: 0,
        }
    }

    /// Counts what was kept of the file.
    ///
    /// # Errors
    /// If that is more than the limit. What is read is held twice until it lies where training
    /// wants it.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes as u64;
        match self.limit {
            Some(limit) if 2 * self.bytes > limit => Err(Error::data(format!(
                "the rows take more than {} MiB of memory",
                limit >> 20
            ))
            .in_file(self.file)
            .remedy(
                "read fewer rows or columns, or raise the limit (⟨memory⟩ of train and check)",
            )),
            _ => Ok(()),
        }
    }
}

impl ReadOptions {
    pub(crate) fn label_rules(&self) -> LabelRules {
        LabelRules {
            map: self.label_map.clone(),
            positive: self.positive.clone(),
        }
    }

    pub(crate) fn comment_bytes(&self) -> Option<&[u8]> {
        self.comment
            .as_deref()
            .filter(|c| !c.is_empty())
            .map(str::as_bytes)
    }
}
