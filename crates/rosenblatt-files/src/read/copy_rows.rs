//! Rows of a text file copied to other files as they stand, byte for byte.

use std::path::Path;

use super::chunk::{Chunker, Cut};
use super::delimited::{Dialect, count_cells, next_record};
use super::format::Format;
use super::open::{open, text};
use super::options::ReadOptions;
use super::source::Source;
use super::table::shape::shape;
use rosenblatt_core::internal::write_atomic;
use rosenblatt_core::{Error, Result};

/// Some rows of a file, by their numbers from 0 in ascending order, and the file they go to.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// Where they go.
    pub path: &'a Path,
    /// Which they are.
    pub rows: &'a [usize],
}

/// How rows stand in a file.
enum Look {
    Lines,
    Table { dialect: Dialect, header: bool },
}

impl Look {
    fn cut(&self) -> Cut {
        match self {
            Look::Lines => Cut::Lines,
            Look::Table { dialect, .. } => dialect.cut(),
        }
    }

    /// Where the next row at or after `at` begins and ends.
    fn next(&self, data: &[u8], mut at: usize) -> Option<(usize, usize)> {
        match self {
            Look::Table { dialect, .. } => {
                let start = next_record(data, at, dialect)?;
                Some((start, count_cells(data, start, dialect).1.min(data.len())))
            }
            Look::Lines => loop {
                let line = data.get(at..).filter(|rest| !rest.is_empty())?;
                let end = memchr::memchr(b'\n', line).map_or(line.len(), |n| n + 1);
                let first = line[..end].iter().find(|b| !b.is_ascii_whitespace());
                if first.is_some_and(|&b| b != b'#') {
                    return Some((at, at + end));
                }
                at += end;
            },
        }
    }
}

/// Copies rows of the file at `path`, which was read with these options and had `rows` rows, to
/// other files, each with the header if there is one. All are written, or the first that cannot be
/// is named.
pub fn copy_rows(
    path: &Path,
    options: &ReadOptions,
    rows: usize,
    parts: &[Part<'_>],
) -> Result<()> {
    if path.is_dir() || !options.also.is_empty() {
        return Err(Error::options("rows can only be copied from one file")
            .remedy("put the files together in one first"));
    }
    let source = Source::new(path)?;
    if !source.rereadable() {
        return Err(Error::options("rows can only be copied from a file")
            .remedy("save standard input to a file first"));
    }
    let opened = open(&source, options)?;
    let look = match opened.format {
        Format::Libsvm => Look::Lines,
        Format::Csv | Format::Tsv => {
            let shape = shape(&opened.head, opened.whole, opened.format, options)?;
            Look::Table {
                dialect: shape.dialect,
                header: shape.header,
            }
        }
        format => {
            return Err(Error::options(format!(
                "rows of a {format} file cannot be copied one by one"
            ))
            .remedy("convert the file to CSV or libsvm first"));
        }
    };
    drop(opened.all);
    let mut copies = vec![Vec::new(); parts.len()];
    let mut waiting: Vec<_> = parts.iter().map(|p| p.rows.iter().peekable()).collect();
    let bytes = text(&source, options)?;
    let mut chunker = Chunker::new(bytes, source.name(), options.chunk_bytes, look.cut());
    let (mut chunk, mut row) = (Default::default(), 0);
    let mut header = matches!(look, Look::Table { header: true, .. });
    while chunker.next_into(&mut chunk)? {
        let (data, mut at) = (chunk.data(), 0);
        while let Some((start, end)) = look.next(data, at) {
            at = end;
            if std::mem::take(&mut header) {
                copies.iter_mut().for_each(|c| c.extend(&data[start..end]));
                continue;
            }
            for (copy, waiting) in copies.iter_mut().zip(&mut waiting) {
                if waiting.next_if_eq(&&row).is_some() {
                    copy.extend(&data[start..end]);
                }
            }
            row += 1;
        }
    }
    if row != rows {
        return Err(Error::data(format!(
            "{row} rows were found where {rows} had been read before"
        ))
        .in_file(path)
        .remedy(
            "mend or remove the rows that cannot be read, and leave the file as it is meanwhile",
        ));
    }
    for (part, copy) in parts.iter().zip(copies) {
        write_atomic(part.path, |file| {
            (file.write_all(&copy)).map_err(|e| Error::io(part.path, &e))
        })?;
    }
    Ok(())
}
