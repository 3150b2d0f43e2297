//! From files to examples.
//!
//! ```text
//! file ─► source ─► chunk ─► libsvm | table | idx ─► Raw ─► Preparation ─► Dataset
//!         decompress  cut     parse, all threads      typed   from training  features
//!                                                             rows alone
//! ```
//!
//! * [`read`] gives a [`Raw`] file: typed columns or sparse rows, labels, and a
//!   [`ReadReport`] of what was found;
//! * [`Preparation::fit`] decides the features from training rows;
//! * [`Raw::dataset`] makes them;
//! * [`Batches`] does the same for a file that a saved model meets, a part at a time;
//! * [`Streamed`] is a file whose rows are not held, but read again when they are wanted.
//!
//! Nothing depends on the number of threads, the size of the chunks or the compression.

mod assemble;
mod batches;
mod certificate;
mod chunk;
pub(crate) mod converted;
mod copy_rows;
mod delimited;
mod delimiter_index;
mod dispatch;
mod format;
mod idx;
mod images;
mod interner;
mod labels;
mod libsvm;
mod model;
mod number;
mod open;
mod options;
mod order;
mod pipeline;
mod prepare;
mod raw;
mod report;
mod row_errors;
mod scale;
mod sniff;
mod source;
mod sparse;
mod split_column;
mod streamed;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod vw;

pub use batches::{Batch, Batches, BatchesReport, LabelFound};
pub use certificate::certificate_fields;
pub use copy_rows::{Part, copy_rows};
pub use delimited::Delimiter;
pub(crate) use format::CACHE_NAME;
pub use format::Format;
pub use labels::LabelRules;
pub use model::load_model;
#[doc(hidden)]
pub use number::number_by_each_way;
pub(crate) use number::{INDEX_WIDTH, value_width};
pub use options::ReadOptions;
pub use prepare::partitions;
pub use prepare::{Coding, ColumnCoding, Preparation, StandardisedColumn};
pub use raw::Raw;
pub use report::{ColumnKind, ColumnReport, ColumnRole, LongDecimal, ReadReport};
pub use row_errors::OnError;
pub use scale::Scale;
pub use split_column::SplitBy;
pub use streamed::Streamed;
pub use table::role::{Aside, Unseen};
pub use text::{DocumentFrequency, TermWeights, Terms, TextCut, TextOptions};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use batches::{
    Inner, Model, image_batches, make_sparse, numbers_in_order, records_in_order, sparse_batches,
    table_batches,
};
use chunk::Chunk;
use converted::joined::File;
use open::{Opened, only_for_training, open};
use prepare::Input;
use raw::{in_source, read_converted, read_images, read_sparse, read_table};
use rosenblatt_core::data::{Classes, Matrix};
use rosenblatt_core::{Error, Result};
use source::Source;

/// Reads a labelled file; `-` is standard input.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Raw> {
    match joined(path.as_ref(), options)? {
        Some((source, options, keys)) => {
            let mut raw = read_source(&source, &options)?;
            raw.report.folder_columns = keys;
            Ok(raw)
        }
        None => read_source(&Source::new(path.as_ref())?, options),
    }
}

/// The files that paths stand for: themselves, those in a folder, or those that fit a pattern.
///
/// # Errors
/// If a folder or a pattern stands for none, or cannot be looked at.
pub fn files<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        match converted::joined::files_of(path)? {
            Some(mut found) => files.append(&mut found),
            None => files.push(path.to_owned()),
        }
    }
    Ok(files)
}

/// Several files as one, where the path and the options stand for such, with the columns that
/// folders name.
fn joined(
    path: &Path,
    options: &ReadOptions,
) -> Result<Option<(Source, ReadOptions, Vec<String>)>> {
    let mut found = Vec::new();
    for root in std::iter::once(path).chain(options.also.iter().map(|p| p.as_path())) {
        let below = |path| match root.is_dir() {
            true => File::below(root, path),
            false => File {
                path,
                cells: Vec::new(),
            },
        };
        found.extend(files([root])?.into_iter().map(below));
    }
    match &found[..] {
        [file] if file.path == path => Ok(None),
        _ => {
            let keys = found.iter().flat_map(|file| &file.cells);
            let mut keys: Vec<String> = keys.map(|(key, _)| key.clone()).collect();
            keys.sort();
            keys.dedup();
            let (source, told) = converted::joined::join(found, options)?;
            Ok(Some((source, told, keys)))
        }
    }
}

/// Reads labelled data from anywhere; messages call it `name`.
pub fn read_from(
    reader: impl std::io::Read + Send + 'static,
    name: impl AsRef<Path>,
    options: &ReadOptions,
) -> Result<Raw> {
    read_source(&Source::stream(name.as_ref(), Box::new(reader)), options)
}

/// The bytes of the file at `path`, decompressed.
pub fn decompressed(path: impl AsRef<Path>) -> Result<Box<dyn std::io::Read + Send>> {
    Source::new(path.as_ref())?.open()
}

/// The bytes that a reader of a file called `name` gives, decompressed.
pub fn decompressed_from(
    reader: impl std::io::Read + Send + 'static,
    name: impl AsRef<Path>,
) -> Result<Box<dyn std::io::Read + Send>> {
    Source::stream(name.as_ref(), Box::new(reader)).open()
}

/// Reads a whole file in its format.
fn read_source(source: &Source, options: &ReadOptions) -> Result<Raw> {
    options.label_rules().check()?;
    let opened = open(source, options)?;
    let raw = match opened.format {
        format @ (Format::Libsvm | Format::Vw) => source
            .text(opened.all, options.mapped)
            .and_then(|text| read_sparse(source, text, format, options, Vec::push)),
        Format::Idx => read_images(source, opened.all, options),
        Format::Cache => Err(only_for_training()),
        format if format.is_converted() => read_converted(source, opened, options),
        // Every table.
        _ => read_table(source, opened, None, options),
    };
    raw.map_err(|e| in_source(e, source))
}

impl Batches {
    /// Opens the file at `path` (`-` is standard input) for a model with this preparation
    /// and these classes.
    pub fn open(
        path: impl AsRef<Path>,
        preparation: &Preparation,
        classes: &Classes,
        options: &ReadOptions,
    ) -> Result<Self> {
        match joined(path.as_ref(), options)? {
            Some((source, told, _)) => {
                Self::from_source(&source, preparation, classes, &told, false)
            }
            None => {
                let source = Source::new(path.as_ref())?;
                Self::from_source(&source, preparation, classes, options, false)
            }
        }
    }

    /// The same from any reader; messages call it `name`.
    pub fn from_reader(
        reader: impl std::io::Read + Send + 'static,
        name: impl AsRef<Path>,
        preparation: &Preparation,
        classes: &Classes,
        options: &ReadOptions,
    ) -> Result<Self> {
        let source = Source::stream(name.as_ref(), Box::new(reader));
        Self::from_source(&source, preparation, classes, options, false)
    }

    /// Reads a file in its format, a batch at a time.
    fn from_source(
        source: &Source,
        preparation: &Preparation,
        classes: &Classes,
        options: &ReadOptions,
        labels_required: bool,
    ) -> Result<Self> {
        let mut options = options.clone();
        let guessed = options.format.is_none();
        let name = source.name();
        let model = Model::new(name, preparation, classes, &mut options, labels_required);
        Self::for_model(source, Arc::new(model), &options, guessed)
    }

    /// Reads a file for a model; where its format was `guessed`, one of another kind is refused.
    fn for_model(
        source: &Source,
        model: Arc<Model>,
        options: &ReadOptions,
        guessed: bool,
    ) -> Result<Self> {
        let opened = open(source, options)?;
        if guessed {
            refuse_other_kind(model.input(), &opened, options).map_err(|e| in_source(e, source))?;
        }
        let mut notes = Vec::new();
        let inner = match (model.input(), opened.format) {
            (Input::Sparse { .. }, Format::Libsvm | Format::Vw) => {
                Ok(sparse_batches(source, opened, model, options))
            }
            (Input::Table { .. }, format) if format.is_converted() => {
                let kept = source.kept(opened.all)?;
                let (text, told) =
                    converted::as_text(&kept, format, options).map_err(|e| in_source(e, source))?;
                let opened = open(&text, &told)?;
                let inner = table_batches(&text, opened, model, &told, &mut notes)
                    .map_err(|e| in_source(e, &text))?;
                return Ok(Batches::new(inner, &text, notes));
            }
            (Input::Table { .. }, format) if format.is_table() => {
                table_batches(source, opened, model, options, &mut notes)
            }
            (Input::Images { .. }, Format::Idx) => image_batches(source, opened, model, options),
            (_, format) => Err(foreign(format)),
        };
        let inner: Inner = inner.map_err(|e| in_source(e, source))?;
        Ok(Batches::new(inner, source, notes))
    }
}

/// Reads texts in memory for one model: what the model asks of them is worked out once.
pub struct ModelReader {
    model: Arc<Model>,
    options: ReadOptions,
}

impl ModelReader {
    /// A reader for a model with this preparation and these classes.
    pub fn new(preparation: &Preparation, classes: &Classes, options: &ReadOptions) -> Self {
        let mut options = ReadOptions {
            threads: 1,
            ..options.clone()
        };
        let model = Model::new(Path::new(""), preparation, classes, &mut options, false);
        ModelReader {
            model: Arc::new(model),
            options,
        }
    }

    /// The rows of a text that was written for this model: all columns of its table in their order
    /// (nothing where one has no value), between commas and without a header, or libsvm rows.
    pub fn rows(&self, text: &[u8]) -> Result<Batch> {
        let chunk = Chunk::from_bytes(text);
        let made = match self.model.input() {
            Input::Table { .. } => records_in_order(&chunk, &self.model)?,
            Input::Sparse { .. } => {
                make_sparse(&chunk, &self.model, Format::Libsvm, OnError::Fail)?
            }
            Input::Images { .. } => return Err(foreign(Format::Csv)),
        };
        made.alone()
    }

    /// The rows that [`rows`](Self::rows) would make of plain numbers, sooner: the text of one for
    /// each feature, row by row. `None` where they need a closer look, as a number that is too
    /// large does, or the model's features are not all numbers.
    pub fn numbers<'a>(&self, texts: impl ExactSizeIterator<Item = &'a str>) -> Option<Matrix> {
        numbers_in_order(&self.model, texts)
    }

    /// What the label of a row means to the model.
    pub fn label(&self, text: &str) -> LabelFound {
        self.model.label(text)
    }

    /// The rows of a text in this format, as it is (nothing is decompressed), read with the
    /// options that `adjust` leaves; messages call it `name`.
    pub fn read(
        &self,
        text: Vec<u8>,
        name: &str,
        format: Format,
        adjust: impl FnOnce(&mut ReadOptions),
    ) -> Result<Batches> {
        let mut options = ReadOptions {
            format: Some(format),
            chunk_bytes: self.options.chunk_bytes.min(text.len() + 1),
            ..self.options.clone()
        };
        adjust(&mut options);
        let source = Source::memory(Path::new(name), text);
        Batches::for_model(&source, self.model.clone(), &options, false)
    }
}

fn foreign(format: Format) -> Error {
    Error::data(format!("the model did not learn from {format} files"))
        .remedy("give a file in the format of the training file, or pass ⟨format⟩")
}

/// Refuses a table for a model of libsvm rows, which could take every cell for a label, and
/// libsvm rows for a model of a table.
fn refuse_other_kind(input: &Input, opened: &Opened, options: &ReadOptions) -> Result<()> {
    let looks = format::by_content(&opened.head, opened.whole, options.comment_bytes());
    let Ok(looks) = looks else { return Ok(()) };
    let other = match input {
        Input::Sparse { .. } => looks.is_table() && !opened.head.contains(&b':'),
        Input::Table { .. } => looks == Format::Libsvm,
        Input::Images { .. } => false,
    };
    let surely = opened.format == Format::Vw || opened.format.is_converted();
    match other && opened.format.is_text() && !surely {
        true => Err(foreign(looks)),
        false => Ok(()),
    }
}
