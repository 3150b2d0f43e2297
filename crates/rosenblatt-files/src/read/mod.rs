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

mod batches;
mod certificate;
mod chunk;
mod delimited;
mod delimiter_index;
mod dispatch;
mod faults;
mod format;
mod huge_pages;
mod idx;
mod images;
mod intern;
mod labels;
mod libsvm;
mod model;
mod number;
mod order;
mod pipeline;
mod prepare;
mod raw;
mod report;
mod scale;
mod sniff;
mod source;
mod sparse;
mod streamed;
mod table;
#[cfg(test)]
mod tests;

pub use batches::{Batch, Batches, BatchesReport, LabelFound};
pub use certificate::certificate_fields;
pub use delimited::Delimiter;
pub use faults::OnError;
pub use format::Format;
pub use labels::LabelRules;
pub use model::load_model;
pub use prepare::{Coding, ColumnCoding, Preparation};
pub use raw::{Raw, decompressed, read, read_from};
pub use report::{ColumnReport, ColumnRole, LongDecimal, ReadReport};
pub use scale::Scale;
pub use streamed::Streamed;
pub use table::ColumnKind;
pub use table::role::Unseen;

use std::io::Read;
use std::path::{Path, PathBuf};

use rosenblatt_core::data::Precision;
use rosenblatt_core::{Error, Result};
use source::{Bytes, Peeked, Reader, Source};

/// How a file is to be read. The default guesses everything.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The format, if not to be guessed.
    pub format: Option<Format>,
    /// The labels file of IDX images.
    pub labels: Option<PathBuf>,
    /// The label column of a table: a name, else a number from 0.
    pub label: Option<String>,
    /// Whether a table's first record is a header, if not to be detected.
    pub header: Option<bool>,
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
    /// What to do with rows that cannot be read.
    pub on_error: OnError,
    /// The column with the weights of the rows.
    pub weight_column: Option<String>,
    /// How many bits values keep.
    pub precision: Precision,
    /// The number of threads.
    pub threads: usize,
    /// Whether decimals that `f64` cannot stand for are kept as texts.
    pub keep_long_decimals: bool,
    /// Whether files that are not compressed are read where they lie. That is faster, but their
    /// text then counts as memory of the program. Results do not depend on it.
    pub mapped: bool,
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
            labels: None,
            label: None,
            header: None,
            delimiter: None,
            comment: None,
            positive: None,
            label_map: Vec::new(),
            ignore: Vec::new(),
            columns: Vec::new(),
            on_error: OnError::Fail,
            weight_column: None,
            precision: Precision::F32,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            keep_long_decimals: false,
            mapped: false,
            chunk_bytes: chunk::CHUNK,
        }
    }
}

impl ReadOptions {
    fn label_rules(&self) -> LabelRules {
        LabelRules {
            map: self.label_map.clone(),
            positive: self.positive.clone(),
        }
    }

    fn comment_bytes(&self) -> Option<&[u8]> {
        self.comment
            .as_deref()
            .filter(|c| !c.is_empty())
            .map(str::as_bytes)
    }
}

/// How much of a file is looked at to guess its format and its columns, at least.
const SAMPLE: usize = 256 << 10;

/// How many lines of a text are looked at for that, at least.
const SAMPLE_LINES: usize = 8;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A file whose beginning is known.
struct Opened {
    /// The first bytes, byte order mark left out.
    head: Vec<u8>,
    /// Whether they are the whole file.
    whole: bool,
    /// All bytes, these included.
    all: Reader,
    format: Format,
}

/// What to say of a cache where it cannot be used.
fn only_for_training() -> Error {
    Error::options("a cache holds examples made ready for training, and only train reads it")
        .remedy("give the file it was made from")
}

/// Opens a source and finds out its format.
fn open(source: &Source, options: &ReadOptions) -> Result<Opened> {
    let file = source.name();
    let peeked = source.peek(SAMPLE, holds_enough)?;
    let (mut head, whole, mut all) = (peeked.head, peeked.whole, peeked.all);
    if head.is_empty() {
        return Err(Error::data("the file is empty")
            .in_file(file)
            .remedy("give a file with data"));
    }
    if crate::cache::is_cache(&head) {
        return Err(only_for_training().in_file(file));
    }
    let ends = memchr::memchr2(b'\n', 0, &head).is_some();
    if !whole && !ends {
        let other = refuse_other_encodings(&head);
        return Err(other.err().unwrap_or(faults::overlong(1)).in_file(file));
    }
    if let Some(delimiter) = options.delimiter.filter(|d| !d.is_usable()) {
        let name = delimiter.name();
        return Err(
            Error::options(format!("cells cannot be delimited by {name:?}"))
                .remedy("use a comma, a semicolon, a bar, tab or blanks"),
        );
    }
    let format = match options.format {
        Some(format) => format,
        None => format::guess(file, &head, whole, options.comment_bytes())?,
    };
    match format {
        Format::Libsvm | Format::Csv | Format::Tsv => {
            refuse_other_encodings(&head).map_err(|e| e.in_file(file))?
        }
        Format::Idx | Format::Cache => {}
    }
    if head.starts_with(BYTE_ORDER_MARK) && !matches!(format, Format::Idx | Format::Cache) {
        head.drain(..BYTE_ORDER_MARK.len());
        skip_mark(&mut all, file)?;
    }
    Ok(Opened {
        head,
        whole,
        all,
        format,
    })
}

/// Whether the first bytes of a file tell what its columns are: some lines, or two long ones,
/// unless it is no text or its lines are longer than any that is read.
fn holds_enough(head: &[u8]) -> bool {
    const MUCH: usize = 4 << 20;
    let lines = if head.len() < MUCH { SAMPLE_LINES } else { 2 };
    head.len() >= chunk::LONGEST_RECORD
        || memchr::memchr(0, head).is_some()
        || memchr::memchr_iter(b'\n', head).take(lines).count() == lines
}

fn skip_mark(all: &mut Reader, file: &Path) -> Result<()> {
    let mut mark = [0; BYTE_ORDER_MARK.len()];
    all.read_exact(&mut mark).map_err(|e| Error::io(file, &e))
}

/// The text of a source, byte order mark left out, once more.
fn text(source: &Source, options: &ReadOptions) -> Result<Bytes> {
    let Peeked { head, mut all, .. } = source.peek(BYTE_ORDER_MARK.len(), |_| true)?;
    if head == BYTE_ORDER_MARK {
        skip_mark(&mut all, source.name())?;
    }
    source.text(all, options.mapped)
}

fn refuse_other_encodings(head: &[u8]) -> Result<()> {
    let wide = head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF");
    if wide {
        return Err(Error::data("this is UTF-16 text, expected UTF-8")
            .at(1, 1)
            .remedy("convert the file, for instance with iconv -f UTF-16 -t UTF-8"));
    }
    if let Some(at) = memchr::memchr(0, head) {
        let (line, column) = chunk::Chunk::from_bytes(head).position(at);
        return Err(Error::data("there is a zero byte in the text")
            .at(line, column)
            .remedy(
                "if the file is UTF-16, convert it to UTF-8; if it is no text, pass --format",
            ));
    }
    if memchr::memchr(b'\n', head).is_none() && head.iter().filter(|&&b| b == b'\r').count() > 1 {
        return Err(Error::data("lines end with a carriage return alone")
            .at(1, 1)
            .remedy("convert the line ends, for instance with tr '\\r' '\\n'"));
    }
    Ok(())
}
