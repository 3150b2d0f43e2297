//! A stream of bytes cut into large pieces at the ends of records.
//!
//! Pieces are parsed on their own, in any thread. Their size is fixed, whatever the number
//! of threads, and a piece never ends inside a quoted cell.

use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::{memchr, memrchr};
use memmap2::Mmap;

use super::delimited::{Delimiter, Dialect, next_record};
use super::source::{Bytes, Shared};
use rosenblatt_core::{Error, Result};

/// The usual size of a chunk: it stays in the second cache while it is read.
pub(crate) const CHUNK: usize = 1 << 20;

/// A record that is longer is refused: it is an unclosed quote or no text file.
pub(crate) const LONGEST_RECORD: usize = 64 << 20;

/// Bytes kept behind the data, so that a window may be taken anywhere.
const PADDING: usize = 2 * super::number::WINDOW;

/// What ends a record.
#[derive(Debug, Clone)]
pub(crate) enum Cut {
    /// Every newline.
    Lines,
    /// A newline outside the quotes of a table.
    Table(Dialect),
}

impl Dialect {
    /// Where chunks may be cut.
    pub(crate) fn cut(&self) -> Cut {
        Cut::Table(self.clone())
    }
}

/// Whole records: the data end with a newline.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// A copy of the data and then some zeros.
    buffer: Vec<u8>,
    /// Where else the data lie, if they are not copied: in a file, from this place on.
    mapped: Option<(Shared<Mmap>, usize)>,
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

    /// The data and then some bytes that mean nothing.
    pub(crate) fn padded(&self) -> &[u8] {
        match &self.mapped {
            Some((file, start)) => &file.as_ref()[*start..start + self.len + PADDING],
            None => &self.buffer,
        }
    }

    /// The length of the data.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The data.
    pub(crate) fn data(&self) -> &[u8] {
        &self.padded()[..self.len]
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
        let part = &self.padded()[..self.len.min(LOOKED_AT)];
        let found = memchr::memchr_iter(byte, part).count() * self.len / part.len().max(1);
        found.saturating_mul(each).min(self.len / SHORTEST)
    }

    /// The line and column, from 1, of the byte at `at`.
    pub(crate) fn position(&self, at: usize) -> (u64, u64) {
        position(&self.data()[..at.min(self.len)])
    }
}

/// The line and column, from 1, of what follows `before`.
pub(crate) fn position(before: &[u8]) -> (u64, u64) {
    let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
    let column = before.len() - memrchr(b'\n', before).map_or(0, |n| n + 1) + 1;
    (line, column as u64)
}

/// Cuts a text into chunks.
pub(crate) struct Chunker {
    bytes: Bytes,
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
    pub(crate) fn new(bytes: impl Into<Bytes>, file: &Path, size: usize, cut: Cut) -> Self {
        Chunker {
            bytes: bytes.into(),
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
        chunk.index = self.index;
        self.index += 1;
        chunk.overlong = false;
        if !self.lend(chunk) {
            self.copy_into(chunk)?;
        }
        chunk.leading = !self.begun;
        self.begun = self.begun || self.cut.holds_record(chunk.data());
        Ok(chunk.len > 0)
    }

    /// Gives `chunk` the next records where they lie. False if it must copy them: they come from
    /// elsewhere, the file ends soon behind them, or one is too long.
    fn lend(&mut self, chunk: &mut Chunk) -> bool {
        chunk.mapped = None;
        let Bytes::Mapped(rest) = &mut self.bytes else {
            return false;
        };
        let start = rest.position() as usize;
        let bytes = &rest.get_ref().as_ref()[start..];
        let mut size = self.size;
        while self.tail.is_empty() && size < LONGEST_RECORD && size + PADDING <= bytes.len() {
            if let Some(end) = self.cut.last_end(&bytes[..size]) {
                chunk.len = end;
                chunk.mapped = Some((rest.get_ref().clone(), start));
                rest.set_position((start + end) as u64);
                return true;
            }
            size *= 2;
        }
        false
    }

    /// Copies the next records to `chunk`.
    fn copy_into(&mut self, chunk: &mut Chunk) -> Result<()> {
        let buffer = &mut chunk.buffer;
        chunk.len = self.tail.len();
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
                match self.bytes.read(&mut buffer[chunk.len..room]) {
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
        Ok(())
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

    /// The whole records at the beginning of a file that is perhaps not `whole`.
    pub(crate) fn records<'a>(&self, head: &'a [u8], whole: bool) -> &'a [u8] {
        let end = if whole { None } else { self.last_end(head) };
        &head[..end.unwrap_or(head.len())]
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
    use super::super::source::tests::Passing;
    use super::super::source::{Reader, Source};
    use super::*;
    use std::io::Cursor;

    fn csv() -> Dialect {
        Dialect {
            delimiter: Delimiter::Byte(b','),
            quoting: true,
            comment: Some(b"#".to_vec()),
        }
    }

    fn chunks_of(bytes: Bytes, size: usize, cut: Cut) -> Vec<(String, usize, bool, bool)> {
        let mut chunker = Chunker::new(bytes, Path::new("t"), size, cut);
        let mut chunk = Chunk::default();
        let mut all = Vec::new();
        while chunker.next_into(&mut chunk).unwrap() {
            let text = String::from_utf8(chunk.data().to_vec()).unwrap();
            all.push((text, chunk.index, chunk.leading, chunk.mapped.is_some()));
            assert!(chunk.padded().len() >= chunk.len() + PADDING);
        }
        all
    }

    fn chunks(text: &str, size: usize, cut: Cut) -> Vec<String> {
        let reader: Reader = Box::new(Cursor::new(text.to_owned().into_bytes()));
        let all = chunks_of(reader.into(), size, cut);
        all.into_iter().map(|(text, ..)| text).collect()
    }

    #[test]
    fn chunks_lie_in_a_file_as_they_are_copied() {
        let line = "a,\"x\ny\"\"\n\",z\n#,\"\n";
        let long = format!("b,\"{}\"\n", "c\n".repeat(60));
        let text = format!("#\n{}{long}{}d", line.repeat(40), line.repeat(40));
        let file = Passing::new(format!("\u{FEFF}{text}").as_bytes());
        let nothing = || Box::new(std::io::empty()) as Reader;
        for cut in [Cut::Lines, Cut::Table(csv())] {
            for size in [1, 2, 7, 50, 150, 1000, 5000] {
                let source = Source::new(&file.0).unwrap();
                let lent = chunks_of(source.text(nothing(), true).unwrap(), size, cut.clone());
                let reader: Reader = Box::new(Cursor::new(text.clone().into_bytes()));
                let copied = chunks_of(reader.into(), size, cut.clone());
                for (k, (part, index, leading, _)) in lent.iter().enumerate() {
                    assert!(part.ends_with('\n') && *index == k, "{size}");
                    let table = matches!(cut, Cut::Table(_));
                    let only_comments = table && lent[..k].iter().all(|c| c.0 == "#\n");
                    assert_eq!(*leading, k == 0 || only_comments, "{size}");
                    assert!(!table || "#abd".contains(&part[..1]), "{size}: {part}");
                }
                let whole = |all: &[(String, usize, bool, bool)]| -> String {
                    all.iter().map(|c| c.0.as_str()).collect()
                };
                assert!(whole(&lent) == whole(&copied), "{size}");
                let in_place = lent.iter().filter(|c| c.3).count();
                assert_eq!(in_place > 0, size < 1000 + PADDING, "{size}");
                assert!(in_place < lent.len(), "{size}");
                assert!(copied.iter().all(|c| !c.3));
            }
        }
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
