//! A file whose beginning was looked at.

use std::io::Read;
use std::path::Path;

use rosenblatt_core::{Error, Result};

use super::format::{self, Format};
use super::options::ReadOptions;
use super::source::{BYTE_ORDER_MARK, Bytes, Peeked, Reader, Source};
use super::{chunk, row_errors};

/// How much of a file is looked at to guess its format and its columns, at least.
pub(crate) const SAMPLE: usize = 256 << 10;

/// How many lines of a text are looked at for that, at least.
const SAMPLE_LINES: usize = 8;

/// A file whose beginning is known.
pub(crate) struct Opened {
    /// The first bytes, byte order mark left out.
    pub(crate) head: Vec<u8>,
    /// Whether they are the whole file.
    pub(crate) whole: bool,
    /// All bytes, these included.
    pub(crate) all: Reader,
    pub(crate) format: Format,
}

/// What to say of a cache where it cannot be used.
pub(crate) fn only_for_training() -> Error {
    Error::options("a cache holds examples made ready for training, and only train reads it")
        .remedy("give the file it was made from")
}

/// Opens a source and finds out its format.
pub(crate) fn open(source: &Source, options: &ReadOptions) -> Result<Opened> {
    let file = source.name();
    let peeked = source.peek(SAMPLE, holds_enough)?;
    let (mut head, whole, mut all) = (peeked.head, peeked.whole, peeked.all);
    if head.is_empty() {
        return Err(Error::data("the file is empty")
            .in_file(file)
            .remedy("give a file with data"));
    }
    if format::is_cache(&head) {
        return Err(only_for_training().in_file(file));
    }
    let ends = memchr::memchr2(b'\n', 0, &head).is_some();
    if !whole && !ends {
        let other = refuse_other_encodings(&head);
        return Err(other.err().unwrap_or(row_errors::overlong(1)).in_file(file));
    }
    if let Some(delimiter) = options.delimiter.filter(|d| !d.is_usable()) {
        let name = delimiter.name();
        return Err(
            Error::options(format!("cells cannot be delimited by {name:?}"))
                .remedy("use a comma, a semicolon, a bar, tab or blanks"),
        );
    }
    let format = match options.format {
        // A model expects a table; these bytes say which sort of one.
        Some(format) if format.is_table() => format::converted(&head).unwrap_or(format),
        Some(format) => format,
        None => format::guess(file, &head, whole, options.comment_bytes())?,
    };
    if format.is_text() {
        refuse_other_encodings(&head).map_err(|e| e.in_file(file))?;
        if head.starts_with(BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
            skip_mark(&mut all, file)?;
        }
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
pub(crate) fn text(source: &Source, options: &ReadOptions) -> Result<Bytes> {
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
                "if the file is UTF-16, convert it to UTF-8; if it is no text, pass ⟨format⟩",
            ));
    }
    if memchr::memchr(b'\n', head).is_none() && head.iter().filter(|&&b| b == b'\r').count() > 1 {
        return Err(Error::data("lines end with a carriage return alone")
            .at(1, 1)
            .remedy("convert the line ends, for instance with tr '\\r' '\\n'"));
    }
    Ok(())
}
