//! What to do with rows that cannot be read, and where in the file they are.
//!
//! A chunk knows its faults by line numbers of its own; put in file order, the chunks before
//! it say how far down it lies.

use std::path::Path;

use super::chunk::{Chunk, LONGEST_RECORD};
use super::source::Source;
use rosenblatt_core::{Error, Result, Wording};

/// What to do with a row that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Stop at the first one.
    #[default]
    Fail,
    /// Leave it out, and count it.
    Skip,
}

/// Messages of skipped rows that are kept.
const KEPT: usize = 5;

/// The faults of one chunk.
#[derive(Debug, Default)]
pub(crate) struct RowErrors {
    lines: u64,
    bytes: u64,
    pub(crate) fatal: Option<Error>,
    skipped: u64,
    kept: Vec<Error>,
}

impl RowErrors {
    /// Notes a faulty row; false if reading must stop.
    #[cold]
    pub(crate) fn add(&mut self, error: Error, on_error: OnError) -> bool {
        if on_error == OnError::Fail {
            self.fatal = Some(error);
            return false;
        }
        self.skipped += 1;
        if self.kept.len() < KEPT {
            self.kept.push(error);
        }
        true
    }

    /// Notes how long the chunk was.
    pub(crate) fn measured(&mut self, lines: u64, chunk: &Chunk) {
        self.lines = lines;
        self.bytes = chunk.len() as u64;
    }
}

/// The error for a record that was cut off for its length.
pub(crate) fn overlong(line: u64) -> Error {
    Error::data(format!(
        "this record is longer than {} MiB",
        LONGEST_RECORD >> 20
    ))
    .at(line, 1)
    .remedy("check for an unclosed quote or missing line ends")
}

/// The faults of a file, chunk by chunk.
pub(crate) struct Tally {
    source: Source,
    lines: u64,
    pub(crate) bytes: u64,
    pub(crate) skipped: u64,
    pub(crate) messages: Vec<Wording>,
}

impl Tally {
    pub(crate) fn new(source: &Source) -> Self {
        Tally {
            source: source.clone(),
            lines: 0,
            bytes: 0,
            skipped: 0,
            messages: Vec::new(),
        }
    }

    /// The file, as the user named it.
    pub(crate) fn file(&self) -> &Path {
        self.source.name()
    }

    /// Adds the faults of the next chunk; fails if one of them is fatal.
    pub(crate) fn add(&mut self, faults: RowErrors) -> Result<()> {
        let place = |error: Error| self.source.locate(error.shifted(self.lines));
        if let Some(error) = faults.fatal {
            return Err(place(error));
        }
        for error in faults.kept {
            if self.messages.len() < KEPT {
                self.messages.push(place(error).wording());
            }
        }
        self.skipped += faults.skipped;
        self.lines += faults.lines;
        self.bytes += faults.bytes;
        Ok(())
    }
}

/// A short, printable form of bytes for a message.
pub(crate) fn quote(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.chars().count() <= 40 {
        format!("{text:?}")
    } else {
        format!("{:?}…", text.chars().take(40).collect::<String>())
    }
}

/// Refuses bytes that are no UTF-8 text, with the offset of the first bad one.
pub(crate) fn check_text(bytes: &[u8]) -> std::result::Result<&str, (usize, Error)> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let error = Error::data("this is not UTF-8 text")
            .remedy("convert the file, for instance with iconv -f LATIN1 -t UTF-8");
        (e.valid_up_to(), error)
    })?;
    match memchr::memchr(0, bytes) {
        None => Ok(text),
        Some(at) => Err((
            at,
            Error::data("there is a zero byte in the text")
                .remedy("if the file is UTF-16, convert it to UTF-8"),
        )),
    }
}
