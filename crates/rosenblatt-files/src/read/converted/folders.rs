//! Columns that stand in the names of folders: `year=2024/region=eu/part-1.csv`, as Hive and
//! Spark write them.

use std::path::{Component, Path};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Rows;
use crate::read::delimited::{Delimiter, Dialect};
use rosenblatt_core::{Error, Result};

/// What such folders are called where a value is missing.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns that the folders between `root` and a file name, each with its value.
pub(super) fn cells_of(root: &Path, file: &Path) -> Vec<(String, String)> {
    let below = file.strip_prefix(root).ok().and_then(Path::parent);
    let folders = below.into_iter().flat_map(Path::components);
    let named = folders.filter_map(|folder| match folder {
        Component::Normal(name) => {
            let name = name.to_string_lossy();
            let (key, value) = name.split_once('=')?;
            Some((decoded(key), decoded(value)))
        }
        _ => None,
    });
    named
        .map(|(key, value)| match value == MISSING {
            true => (key, String::new()),
            false => (key, value),
        })
        .collect()
}

/// A text without `%2F` and the like, in which writers hide what a folder cannot be called.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hidden = text
            .get(at + 1..at + 3)
            .filter(|hex| bytes[at] == b'%' && hex.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        found.push(hidden.unwrap_or(bytes[at]));
        at += if hidden.is_some() { 3 } else { 1 };
    }
    String::from_utf8(found).unwrap_or_else(|_| text.to_owned())
}

/// Cells as the beginning of a record, with the delimiter behind each.
pub(super) fn beginning<'t>(
    cells: impl Iterator<Item = &'t str>,
    dialect: &Dialect,
) -> Result<Vec<u8>> {
    let delimiter = match dialect.delimiter {
        Delimiter::Byte(byte) => byte,
        Delimiter::Blanks => b' ',
    };
    let mut text = Vec::new();
    for cell in cells {
        let blanks = dialect.delimiter == Delimiter::Blanks;
        let odd = |b: u8| b == delimiter || b == b'"' || b.is_ascii_control();
        let comment = dialect.comment.as_ref();
        let mistaken = comment.is_some_and(|c| text.is_empty() && cell.as_bytes().starts_with(c));
        let quoted = mistaken || cell.bytes().any(odd) || blanks && cell.is_empty();
        if quoted && (!dialect.quoting || cell.contains(['\n', '\r'])) {
            return Err(Error::data(format!(
                "{cell:?} in the name of a folder cannot be a cell of these files"
            ))
            .remedy("name the folder otherwise"));
        }
        if !quoted && (!dialect.quoting || cell.trim() == cell) {
            text.extend_from_slice(cell.as_bytes());
        } else {
            text.push(b'"');
            text.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
            text.push(b'"');
        }
        text.push(delimiter);
    }
    Ok(text)
}

/// The same rows with `beginning` in front of each; `uneven` says whether one has further lines.
pub(super) fn in_front(
    mut rows: Rows,
    beginning: Vec<u8>,
    dialect: Dialect,
    uneven: Arc<AtomicBool>,
) -> Rows {
    // Text whose last line is not yet whole, and whether that line began within quotes.
    let (mut held, mut quoted) = (Vec::new(), false);
    let mut ended = false;
    Box::new(move |text: &mut Vec<u8>| {
        if ended {
            return Ok(false);
        }
        ended = !rows(&mut held)?;
        let whole = match ended {
            true => held.len(),
            false => memchr::memrchr(b'\n', &held).map_or(0, |last| last + 1),
        };
        for line in held[..whole].split_inclusive(|&b| b == b'\n') {
            if quoted {
                uneven.store(true, Ordering::Relaxed);
            } else if !is_passed_over(line, &dialect) {
                text.extend_from_slice(&beginning);
            }
            text.extend_from_slice(line);
            quoted = ends_quoted(line, quoted, &dialect);
        }
        held.drain(..whole);
        Ok(true)
    })
}

/// Whether a line that begins no record within quotes is none: blank, or a comment.
fn is_passed_over(line: &[u8], dialect: &Dialect) -> bool {
    let tabs = dialect.delimiter == Delimiter::Byte(b'\t');
    let blank = |&b: &u8| matches!(b, b' ' | b'\r' | b'\n') || (b == b'\t' && !tabs);
    let comment = dialect.comment.as_ref();
    line.iter().all(blank) || comment.is_some_and(|start| line.starts_with(start))
}

/// Whether a line ends within a quoted cell.
fn ends_quoted(line: &[u8], mut quoted: bool, dialect: &Dialect) -> bool {
    if !dialect.quoting {
        return false;
    }
    // A quote opens a cell only where the cell begins.
    let mut begins = !quoted;
    let mut bytes = line.iter().peekable();
    while let Some(&byte) = bytes.next() {
        if quoted {
            if byte == b'"' && bytes.next_if(|next| **next == b'"').is_none() {
                quoted = false;
            }
            continue;
        }
        quoted = begins && byte == b'"';
        begins = match dialect.delimiter {
            Delimiter::Byte(delimiter) => byte == delimiter,
            Delimiter::Blanks => matches!(byte, b' ' | b'\t'),
        };
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv() -> Dialect {
        Dialect {
            delimiter: Delimiter::Byte(b','),
            quoting: true,
            comment: Some(b"#".to_vec()),
        }
    }

    /// The rows of a text that comes in pieces of so many bytes.
    fn put(text: &'static str, size: usize, dialect: Dialect) -> String {
        let mut pieces = text.as_bytes().chunks(size);
        let rows: Rows = Box::new(move |to: &mut Vec<u8>| {
            let piece = pieces.next();
            to.extend_from_slice(piece.unwrap_or_default());
            Ok(piece.is_some())
        });
        let mut rows = in_front(rows, b"7,".to_vec(), dialect, Arc::default());
        let mut found = Vec::new();
        while rows(&mut found).expect("rows") {}
        String::from_utf8(found).expect("text")
    }

    #[test]
    fn each_record_gets_the_cells_once() {
        let text = "a,b\n\n# note\n\"x\ny\",\"q\"\"\n\"\"\n\",1\n5\" pipe,2\nlast,3";
        let expected = "7,a,b\n\n# note\n7,\"x\ny\",\"q\"\"\n\"\"\n\",1\n7,5\" pipe,2\n7,last,3";
        for size in 1..=text.len() {
            assert_eq!(put(text, size, csv()), expected, "{size}");
        }
        let tabs = Dialect {
            delimiter: Delimiter::Byte(b'\t'),
            quoting: false,
            comment: None,
        };
        assert_eq!(put("\"a\t1\n\t\n\n", 3, tabs), "7,\"a\t1\n7,\t\n\n");
    }

    #[test]
    fn folders_name_cells() {
        let root = Path::new("data");
        let file = Path::new(
            "data/year=2024/plain/city=S%C3%A3o%20Paulo/x=__HIVE_DEFAULT_PARTITION__/a.csv",
        );
        let found = cells_of(root, file);
        let found: Vec<(&str, &str)> = found.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(found, [("year", "2024"), ("city", "São Paulo"), ("x", "")]);
        assert_eq!(decoded("100%"), "100%");
        let cells = ["2024", "a,b", "", "#1"].into_iter();
        assert_eq!(
            beginning(cells, &csv()).expect("cells"),
            b"2024,\"a,b\",,#1,"
        );
        assert_eq!(
            beginning(["#1"].into_iter(), &csv()).expect("cells"),
            b"\"#1\","
        );
        assert!(beginning(["a\nb"].into_iter(), &csv()).is_err());
    }
}
