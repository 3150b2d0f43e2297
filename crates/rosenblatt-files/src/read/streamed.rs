//! A libsvm file that is not held in memory.
//!
//! It is gone through once for all that has to be known before the first row can be used: how
//! many rows there are and how long each is, the number of features, the classes. Whenever rows
//! are wanted it is gone through again, a part at a time: text is read fast enough for that. What
//! stays in memory is a few numbers for each row.

use std::path::{Path, PathBuf};

use super::batches::Batches;
use super::format::Format;
use super::libsvm::SparsePart;
use super::number::{INDEX_WIDTH, value_width};
use super::open::open;
use super::options::ReadOptions;
use super::prepare::Preparation;
use super::raw::{Raw, in_source, read_sparse};
use super::report::ReadReport;
use super::scale::Scale;
use super::source::{Source, Stamp};
use rosenblatt_core::data::{Classes, Values};
use rosenblatt_core::{Error, Result};

/// Bytes that a row takes beside its values.
const ROW: u64 = 32;

/// A libsvm file whose rows are read again when they are wanted.
#[derive(Debug)]
pub struct Streamed {
    path: PathBuf,
    /// Taken before anything was read.
    stamp: Stamp,
    options: ReadOptions,
    /// What was read, without the rows; it never leaves this module.
    raw: Raw,
    preparation: Preparation,
    lengths: Vec<u32>,
}

impl Streamed {
    /// Goes through the file at `path` once, in a small part of this much memory. None where rows
    /// cannot be had a part at a time: the file is a table or images, its columns are to be
    /// scaled, or it cannot be read twice.
    ///
    /// # Errors
    /// As [`read`](super::read).
    pub fn open(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        scale: Option<Scale>,
        memory: u64,
    ) -> Result<Option<Self>> {
        /// Several parts for each thread are on their way at a time, as text and as numbers.
        const PARTS: u64 = 128;
        const SMALLEST: u64 = 1 << 16;
        let parts = PARTS * options.threads.max(1) as u64;
        let share = (memory / parts).max(SMALLEST).try_into();
        let options = ReadOptions {
            chunk_bytes: options.chunk_bytes.min(share.unwrap_or(usize::MAX)),
            ..options.clone()
        };
        let path = path.as_ref();
        if !path.is_file() || !options.also.is_empty() {
            return Ok(None);
        }
        let source = Source::new(path)?;
        if !source.rereadable() || scale.is_some_and(Scale::needs_all_rows) {
            return Ok(None);
        }
        let stamp = Stamp::of(path)?;
        let opened = open(&source, &options)?;
        if opened.format != Format::Libsvm {
            return Ok(None);
        }
        let mut lengths = Vec::new();
        let raw = read_sparse(
            &source,
            opened.all,
            Format::Libsvm,
            &options,
            |parts, part| {
                lengths.extend((0..part.rows()).map(|i| part.range(i).len() as u32));
                // What indices there are is known from one part that stands for all.
                match parts.first_mut() {
                    Some(all) => {
                        all.smallest = all.smallest.min(part.smallest);
                        all.width = all.width.max(part.width);
                    }
                    None => parts.push(SparsePart {
                        ends: Vec::new(),
                        indices: Vec::new(),
                        values: Values::F32(Vec::new().into()),
                        ..part
                    }),
                }
            },
        );
        let raw = raw.map_err(|e| in_source(e, &source))?;
        let preparation = Preparation::fit(&raw, None, scale)?;
        Ok(Some(Streamed {
            path: path.to_owned(),
            stamp,
            options: ReadOptions {
                format: Some(Format::Libsvm),
                ..options
            },
            raw,
            preparation,
            lengths,
        }))
    }

    /// What was found.
    pub fn report(&self) -> &ReadReport {
        self.raw.report()
    }

    /// The labels as the file writes them, each with the class it became.
    pub fn label_texts(&self) -> &[(String, u32)] {
        self.raw.label_texts()
    }

    /// The classes, label map and positive class applied.
    pub fn classes(&self) -> &Classes {
        self.raw.classes()
    }

    /// The class of each row, in file order.
    pub fn labels(&self) -> &[u32] {
        self.raw.labels()
    }

    /// How its rows become features.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// How many values each row has that are not zero, in file order.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// About how much memory reading the file whole takes: what is read is held twice until it
    /// lies where training wants it.
    pub fn bytes_needed(&self) -> u64 {
        let value = value_width(self.preparation.precision);
        let values: u64 = self.lengths.iter().map(|&n| u64::from(n)).sum();
        2 * (values * (value + INDEX_WIDTH) + self.lengths.len() as u64 * ROW)
    }

    /// The rows once more, a part at a time.
    pub(crate) fn batches(&self) -> Result<Batches> {
        let source = Source::new(&self.path)?;
        let (preparation, classes) = (&self.preparation, self.classes());
        Batches::from_source(&source, preparation, classes, &self.options, true)
    }

    /// Fails if the file is not what it was when it was opened.
    pub(crate) fn require_unchanged(&self) -> Result<()> {
        self.stamp.require_same(&self.path)
    }

    /// What to say if rows are not those of the first time.
    pub(crate) fn changed(&self) -> Error {
        Stamp::changed(&self.path)
    }
}
