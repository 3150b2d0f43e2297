//! A stream of bytes cut into large pieces at the ends of records.
//!
//! Pieces are parsed on their own, in any thread. Their size is fixed, whatever the number
//! of threads, and a piece never ends inside a quoted cell.

use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::{memchr, memrchr};

use super::delimited::{Delimiter, Dialect, next_record};
use super::source::Reader;
use crate::error::{Error, Result};

/// The usual size of a chunk: it stays in the second cache while it is read.
pub(crate) const CHUNK: usize = 1 << 20;

/// A record that is longer is refused: it is an unclosed quote or no text file.
pub(crate) const LONGEST_RECORD: usize = 64 << 20;

/// Zero bytes kept behind the data, so that a window may be taken anywhere.
const PADDING: usize = 2 * super::number::WINDOW;

/// What ends a record.
#[derive(Debug, Clone)]
pub(crate) enum Cut {
    /// Every newline.
    Lines,
    /// A newline outside the quotes of a table.
    Table(Dialect),
}

/// Whole records: the data end with a newline.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    buffer: Vec<u8>,
    len: usize,
    /// Its place among the chunks, from 0.
    pub(crate) index: usize,
    /// Whether a record was so long that it was cut off.
    pub(crate) overlong: bool,
    /// Whether no record of a table stands in a chunk before it.
    pub(crate) leading: bool,
}

impl Chunk {
    /// A chunk of its own, for samples and tests.
    pub(crate) fn from_bytes(data: &[u8]) -> Self {
        let mut chunk = Chunk {
            buffer: data.to_vec(),
            len: data.len(),
            ..Chunk::default()
        };
        chunk.close();
        chunk
    }

    /// The data and then some zeros.
    pub(crate) fn padded(&self) -> &[u8] {
        &self.buffer
    }

    /// The length of the data.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The data.
    pub(crate) fn data(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Ends the data with a newline and the padding.
    fn close(&mut self) {
        if self.len > 0 && self.buffer[self.len - 1] != b'\n' {
            self.buffer.truncate(self.len);
            self.buffer.push(b'\n');
            self.len += 1;
        }
        if self.buffer.len() < self.len + PADDING {
            self.buffer.resize(self.len + PADDING, 0);
        }
        self.buffer[self.len..self.len + PADDING].fill(0);
    }

    /// About how many numbers it holds if this byte comes once in so many, as its first part
    /// tells; never more than have room in it.
    pub(crate) fn about_numbers(&self, byte: u8, each: usize) -> usize {
        const LOOKED_AT: usize = 1 << 14;
        const SHORTEST: usize = 2;
        let part = &self.buffer[..self.len.min(LOOKED_AT)];
        let found = memchr::memchr_iter(byte, part).count() * self.len / part.len().max(1);
        found.saturating_mul(each).min(self.len / SHORTEST)
    }

    /// The line and column, from 1, of the byte at `at`.
    pub(crate) fn position(&self, at: usize) -> (u64, u64) {
        position(&self.buffer[..at.min(self.len)])
    }
}

/// The line and column, from 1, of what follows `before`.
pub(crate) fn position(before: &[u8]) -> (u64, u64) {
    let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
    let column = before.len() - memrchr(b'\n', before).map_or(0, |n| n + 1) + 1;
    (line, column as u64)
}

/// Cuts what a reader gives into chunks.
pub(crate) struct Chunker {
    reader: Reader,
    file: PathBuf,
    size: usize,
    cut: Cut,
    tail: Vec<u8>,
    index: usize,
    ended: bool,
    /// Whether a record of a table was met.
    begun: bool,
}

impl Chunker {
    pub(crate) fn new(reader: Reader, file: &Path, size: usize, cut: Cut) -> Self {
        Chunker {
            reader,
            file: file.to_path_buf(),
            size: size.max(1),
            cut,
            tail: Vec::new(),
            index: 0,
            ended: false,
            begun: false,
        }
    }

    /// Fills `chunk` with the next records; false when there are none left.
    pub(crate) fn next_into(&mut self, chunk: &mut Chunk) -> Result<bool> {
        let buffer = &mut chunk.buffer;
        chunk.len = self.tail.len();
        chunk.index = self.index;
        chunk.overlong = false;
        let needed = self.size.max(chunk.len) + PADDING;
        if buffer.is_empty() {
            // Zeros fresh from the system are not written, so a short file touches little memory.
            *buffer = vec![0; needed];
        } else if buffer.len() < needed {
            buffer.resize(needed, 0);
        }
        buffer[..chunk.len].copy_from_slice(&self.tail);
        self.tail.clear();
        loop {
            let room = buffer.len() - PADDING;
            while chunk.len < room && !self.ended {
                match self.reader.read(&mut buffer[chunk.len..room]) {
                    Ok(0) => self.ended = true,
                    Ok(n) => chunk.len += n,
                    Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(Error::io(&self.file, &e)),
                }
            }
            if self.ended {
                break;
            }
            if let Some(end) = self.cut.last_end(&buffer[..chunk.len]) {
                self.tail.extend_from_slice(&buffer[end..chunk.len]);
                chunk.len = end;
                break;
            }
            if chunk.len >= LONGEST_RECORD {
                chunk.overlong = true;
                self.ended = true;
                break;
            }
            buffer.resize((2 * chunk.len).min(LONGEST_RECORD) + PADDING, 0);
        }
        chunk.close();
        self.index += 1;
        chunk.leading = !self.begun;
        self.begun = self.begun || self.cut.holds_record(chunk.data());
        Ok(chunk.len > 0)
    }
}

impl Cut {
    /// Where the last whole record of `data` ends.
    pub(crate) fn last_end(&self, data: &[u8]) -> Option<usize> {
        match self {
            Cut::Lines => memrchr(b'\n', data).map(|n| n + 1),
            Cut::Table(dialect) if !dialect.quoting => Cut::Lines.last_end(data),
            Cut::Table(dialect) => last_unquoted_newline(data, dialect).map(|n| n + 1),
        }
    }

    /// Whether whole records of a table stand in `data`.
    fn holds_record(&self, data: &[u8]) -> bool {
        match self {
            Cut::Lines => true,
            Cut::Table(dialect) => next_record(data, 0, dialect).is_some(),
        }
    }
}

/// The last newline outside quotes in data that start with a record. Jumps from quote to
/// quote; a quote counts as opening only where a cell starts.
fn last_unquoted_newline(data: &[u8], dialect: &Dialect) -> Option<usize> {
    let mut last = None;
    let mut at = 0;
    while let Some(quote) = memchr(b'"', &data[at..]).map(|n| at + n) {
        if let Some(newline) = memrchr(b'\n', &data[at..quote]) {
            last = Some(at + newline);
        }
        if !opens(data, quote, last.map_or(0, |n| n + 1), dialect) {
            at = quote + 1;
            continue;
        }
        at = quote + 1;
        loop {
            match memchr(b'"', &data[at..]) {
                None => return last,
                Some(n) if data.get(at + n + 1) == Some(&b'"') => at += n + 2,
                Some(n) => {
                    at += n + 1;
                    break;
                }
            }
        }
    }
    memrchr(b'\n', &data[at..]).map(|n| at + n).or(last)
}

fn opens(data: &[u8], quote: usize, record: usize, dialect: &Dialect) -> bool {
    if let Some(comment) = &dialect.comment
        && data[record..].starts_with(comment)
    {
        return false;
    }
    quote == record
        || match dialect.delimiter {
            Delimiter::Byte(delimiter) => data[quote - 1] == delimiter,
            Delimiter::Blanks => matches!(data[quote - 1], b' ' | b'\t'),
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn csv() -> Dialect {
        Dialect {
            delimiter: Delimiter::Byte(b','),
            quoting: true,
            comment: Some(b"#".to_vec()),
        }
    }

    fn chunks(text: &str, size: usize, cut: Cut) -> Vec<String> {
        let reader = Box::new(Cursor::new(text.to_owned().into_bytes()));
        let mut chunker = Chunker::new(reader, Path::new("t"), size, cut);
        let mut chunk = Chunk::default();
        let mut all = Vec::new();
        while chunker.next_into(&mut chunk).unwrap() {
            all.push(String::from_utf8(chunk.data().to_vec()).unwrap());
            assert!(chunk.padded()[chunk.len()..][..8] == [0; 8]);
        }
        all
    }

    #[test]
    fn chunks_end_with_records_and_lose_nothing() {
        let text = "a b\nccc ddd eee\n\nf";
        for size in 1..20 {
            let parts = chunks(text, size, Cut::Lines);
            assert_eq!(parts.concat(), format!("{text}\n"));
            assert!(parts.iter().all(|p| p.ends_with('\n')));
        }
        assert_eq!(chunks("", 4, Cut::Lines), Vec::<String>::new());
    }

    #[test]
    fn quoted_newlines_do_not_cut() {
        let text = "a,\"x\ny\"\"\n\",z\n#,\"\nb,c\"\nd,\"\n\"\n";
        for size in 1..30 {
            let parts = chunks(text, size, Cut::Table(csv()));
            assert_eq!(parts.concat(), text);
            for p in &parts {
                assert!(
                    ["a,", "#,", "b,", "d,"].iter().any(|s| p.starts_with(s)),
                    "{size}: {parts:?}"
                );
            }
        }
    }

    #[test]
    fn positions_count_from_one() {
        let chunk = Chunk::from_bytes(b"ab\ncd");
        assert_eq!(chunk.position(0), (1, 1));
        assert_eq!(chunk.position(4), (2, 2));
        assert_eq!(chunk.data(), b"ab\ncd\n");
    }
}
