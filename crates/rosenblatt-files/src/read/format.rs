//! What sort of file it is: said by the user, by its name, or by its content.

use std::path::Path;

use super::chunk::Cut;
use super::converted::{arrow, npy, parquet};
use super::delimited::Delimiter;
use super::number;
use super::sniff::sniff;
use super::source::zip;
use rosenblatt_core::{Error, Result};

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `label index:value …`, also known as svmlight.
    Libsvm,
    /// Cells between commas, semicolons, bars or blanks, quoted as in RFC 4180.
    #[default]
    Csv,
    /// Cells between tabs, no quoting.
    Tsv,
    /// Images or other arrays as MNIST has them.
    Idx,
    /// The binary cache.
    Cache,
    /// An object on each line.
    #[serde(rename = "jsonl")]
    JsonLines,
    /// The format of Weka.
    Arff,
    /// Arrays of NumPy, one or several.
    Npy,
    /// Text of Vowpal Wabbit.
    Vw,
    /// Columns in row groups.
    Parquet,
    /// Arrow's format for files and streams, which Feather is.
    Arrow,
}

/// What a format is known by. A new one is a variant of [`Format`], an entry here, and the
/// function that reads it, called in `mod.rs`.
struct Known {
    format: Format,
    /// What users call it, its own name first.
    names: &'static [&'static str],
    /// What its files end in.
    extensions: &'static [&'static str],
    /// What else the name of a file may hold.
    in_name: &'static [&'static str],
    /// Whether a file begins as its files do.
    begins: fn(&[u8]) -> bool,
    holds: Holds,
}

/// What the files of a format hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Text that is no table.
    Text,
    /// Text in cells.
    Table(Cells),
    /// Rows of a table in another form, which is text or not.
    Rows { text: bool },
    /// Bytes that are no text.
    Bytes,
}

/// How the files of a format separate their cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cells {
    /// Always by this byte; guessed where there is none.
    pub(crate) delimiter: Option<u8>,
    /// Whether a cell may stand in quotes.
    pub(crate) quoting: bool,
}

/// All formats that can be read.
const FORMATS: &[Known] = &[
    Known {
        format: Format::Libsvm,
        names: &["libsvm", "svmlight"],
        extensions: &["svm", "libsvm", "svmlight"],
        in_name: &[],
        begins: |_| false,
        holds: Holds::Text,
    },
    Known {
        format: Format::Csv,
        names: &["csv"],
        extensions: &["csv"],
        in_name: &[],
        begins: |_| false,
        holds: Holds::Table(Cells {
            delimiter: None,
            quoting: true,
        }),
    },
    Known {
        format: Format::Tsv,
        names: &["tsv"],
        extensions: &["tsv", "tab"],
        in_name: &[],
        begins: |_| false,
        holds: Holds::Table(Cells {
            delimiter: Some(b'\t'),
            quoting: false,
        }),
    },
    Known {
        format: Format::Idx,
        names: &["idx"],
        extensions: &["idx"],
        in_name: &["-idx1-", "-idx2-", "-idx3-"],
        begins: |head| matches!(head, [0, 0, 0x08 | 0x09 | 0x0B..=0x0E, 1..=8, ..]),
        holds: Holds::Bytes,
    },
    Known {
        format: Format::Cache,
        names: &["cache"],
        extensions: &["rbc"],
        in_name: &[],
        begins: is_cache,
        holds: Holds::Bytes,
    },
    Known {
        format: Format::JsonLines,
        names: &["jsonl", "ndjson"],
        extensions: &["jsonl", "ndjson"],
        in_name: &[],
        begins: |_| false,
        holds: Holds::Rows { text: true },
    },
    Known {
        format: Format::Arff,
        names: &["arff"],
        extensions: &["arff"],
        in_name: &[],
        begins: |_| false,
        holds: Holds::Rows { text: true },
    },
    Known {
        format: Format::Npy,
        names: &["npy", "npz"],
        extensions: &["npy", "npz"],
        in_name: &[],
        // An archive that is left packed holds arrays.
        begins: |head| head.starts_with(npy::MAGIC) || zip::is_archive(head),
        holds: Holds::Rows { text: false },
    },
    Known {
        format: Format::Parquet,
        names: &["parquet"],
        extensions: &["parquet", "pq"],
        in_name: &[],
        begins: |head| head.starts_with(parquet::MAGIC) && head.get(4).is_some_and(|b| *b < b' '),
        holds: Holds::Rows { text: false },
    },
    Known {
        format: Format::Arrow,
        names: &["arrow", "feather"],
        extensions: &["arrow", "arrows", "feather", "ipc"],
        in_name: &[],
        begins: arrow::begins,
        holds: Holds::Rows { text: false },
    },
    Known {
        format: Format::Vw,
        names: &["vw"],
        extensions: &["vw"],
        in_name: &[],
        begins: |_| false,
        holds: Holds::Text,
    },
];

/// What the file of a cache begins with, of whatever version.
pub(crate) const CACHE_NAME: &[u8] = b"RBCACHE";

/// Whether the first bytes of a file are those of a cache, of whatever version. Text may begin
/// with the same letters, but not go on with the number of a version.
pub(crate) fn is_cache(head: &[u8]) -> bool {
    matches!(head.strip_prefix(CACHE_NAME), Some([1..=8, ..]))
}

/// The format of a table that is no text, by its first bytes.
pub(crate) fn converted(head: &[u8]) -> Option<Format> {
    let known = FORMATS.iter().find(|known| (known.begins)(head))?;
    known.format.is_converted().then_some(known.format)
}

impl Format {
    fn known(self) -> Option<&'static Known> {
        FORMATS.iter().find(|known| known.format == self)
    }

    /// Whether its files are text.
    pub fn is_text(self) -> bool {
        let holds = self.known().map(|known| known.holds);
        !matches!(
            holds,
            None | Some(Holds::Bytes | Holds::Rows { text: false })
        )
    }

    /// Whether its files are tables that are no text in cells, and are read as if they were.
    pub(crate) fn is_converted(self) -> bool {
        let holds = self.known().map(|known| known.holds);
        matches!(holds, Some(Holds::Rows { .. }))
    }

    /// Whether its files are tables.
    pub fn is_table(self) -> bool {
        self.cells().is_some() || self.is_converted()
    }

    /// How its tables separate cells.
    pub(crate) fn cells(self) -> Option<Cells> {
        match self.known()?.holds {
            Holds::Table(cells) => Some(cells),
            Holds::Text | Holds::Rows { .. } | Holds::Bytes => None,
        }
    }

    /// What help says of the formats.
    pub const HELP: &str = "libsvm, csv, tsv, idx, jsonl, arff, npy (or npz), parquet, arrow (or feather), vw, or cache, which only train reads [default: guessed from name and content]";

    /// The names of all formats, as a sentence has them.
    pub fn names() -> String {
        let mut names: Vec<&str> = FORMATS.iter().map(|known| known.names[0]).collect();
        let last = names.pop().unwrap_or_default();
        format!("{} or {last}", names.join(", "))
    }
}

impl std::str::FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        if let Some(known) = FORMATS.iter().find(|known| known.names.contains(&name)) {
            return Ok(known.format);
        }
        Err(Error::options(format!("there is no format {name:?}"))
            .remedy(format!("use {}", Self::names())))
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.known().map_or("", |known| known.names[0]))
    }
}

/// The format of a file that starts with `head` (not cut inside a record).
pub(crate) fn guess(
    path: &Path,
    head: &[u8],
    whole: bool,
    comment: Option<&[u8]>,
) -> Result<Format> {
    by_magic(head)
        .or_else(|| by_name(path))
        .map_or_else(|| by_content(head, whole, comment), Ok)
        .map_err(|e| e.in_file(path))
}

fn by_magic(head: &[u8]) -> Option<Format> {
    let known = FORMATS.iter().find(|known| (known.begins)(head))?;
    Some(known.format)
}

pub(crate) fn by_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let mut name = name.as_str();
    for end in [".gz", ".zst", ".bz2", ".xz", ".zip"] {
        name = name.strip_suffix(end).unwrap_or(name);
    }
    let held = |known: &&Known| known.in_name.iter().any(|part| name.contains(part));
    if let Some(known) = FORMATS.iter().find(held) {
        return Some(known.format);
    }
    let extension = name.rsplit_once('.')?.1;
    let known = FORMATS
        .iter()
        .find(|known| known.extensions.contains(&extension));
    known.map(|known| known.format)
}

pub(crate) fn by_content(head: &[u8], whole: bool, comment: Option<&[u8]>) -> Result<Format> {
    let head = Cut::Lines.records(head, whole);
    let lines = || {
        head.split(|&b| b == b'\n')
            .filter(|l| comment.is_none_or(|c| !l.starts_with(c)))
            .map(<[u8]>::trim_ascii)
            .filter(|l| !l.is_empty() && !l.starts_with(b"#"))
            .take(1000)
    };
    if lines().any(|l| l.to_ascii_lowercase().starts_with(b"@relation")) {
        return Ok(Format::Arff);
    }
    let object = |l: &[u8]| l.starts_with(b"{") && l.ends_with(b"}") && l.contains(&b':');
    if lines().next().is_some() && lines().all(object) {
        return Ok(Format::JsonLines);
    }
    let unsure = |what: &str| {
        Error::data(format!("cannot tell the format: {what}"))
            .remedy(format!("pass ⟨format {}⟩", Format::names()))
    };
    let rows = lines().count();
    if rows == 0 {
        return Err(Error::data("the file holds no rows").remedy("give a file with data"));
    }
    let libsvm = lines().filter(|l| libsvm_line(l) == Some(true)).count();
    let neutral = lines().filter(|l| libsvm_line(l) == Some(false)).count();
    if libsvm > 0 && libsvm + neutral == rows {
        return Ok(Format::Libsvm);
    }
    match sniff(head, true, comment) {
        _ if neutral == rows => Err(unsure("every line is one value")),
        // Without quoting tabs must still agree, else the tab is not what separates cells.
        Some(Delimiter::Byte(b'\t')) => Ok(Format::Tsv),
        Some(_) if libsvm * 2 > rows => {
            Err(unsure("most lines look like libsvm, but not all of them"))
        }
        Some(_) => Ok(Format::Csv),
        None if sniff(head, false, comment) == Some(Delimiter::Byte(b'\t')) => Ok(Format::Tsv),
        None => Err(unsure(
            "no delimiter cuts its lines into the same number of cells",
        )),
    }
}

/// Whether a line reads as a libsvm row: with features (true), just a label (false), or not.
fn libsvm_line(line: &[u8]) -> Option<bool> {
    let line = line.split(|&b| b == b'#').next()?;
    let mut tokens = line
        .split(u8::is_ascii_whitespace)
        .filter(|t| !t.is_empty());
    let first = tokens.next()?;
    let is_pair = |token: &[u8]| {
        let colon = token.iter().position(|&b| b == b':')?;
        let (index, value) = (&token[..colon], &token[colon + 1..]);
        let index_fits =
            index == b"qid" || (!index.is_empty() && index.iter().all(u8::is_ascii_digit));
        (index_fits && number::whole::<f64>(value).is_some()).then_some(())
    };
    let mut any = is_pair(first).is_some();
    for token in tokens {
        is_pair(token)?;
        any = true;
    }
    // Labels may be "1,2" in multi-label files, but then pairs must follow.
    let many = first.iter().any(|b| b":,;|".contains(b));
    (any || !many).then_some(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> std::result::Result<Format, String> {
        guess(Path::new("data"), text.as_bytes(), true, None).map_err(|e| e.to_string())
    }

    #[test]
    fn names_and_magic_bytes_decide_first() {
        let by = |name: &str| guess(Path::new(name), b"1 2:3\n", true, None);
        assert_eq!(by("a.csv.gz").unwrap(), Format::Csv);
        assert_eq!(by("a.TSV").unwrap(), Format::Tsv);
        assert_eq!(by("a.svm.xz").unwrap(), Format::Libsvm);
        assert_eq!(by("a.rbc").unwrap(), Format::Cache);
        assert_eq!(by("train").unwrap(), Format::Libsvm);
        assert_eq!(by("a.jsonl.zip").unwrap(), Format::JsonLines);
        assert_eq!(by("a.vw").unwrap(), Format::Vw);
        assert_eq!(
            guess(Path::new("x"), &[0, 0, 8, 3, 0], true, None).unwrap(),
            Format::Idx
        );
        assert_eq!("npz".parse::<Format>().unwrap(), Format::Npy);
        assert!("foo".parse::<Format>().is_err());
    }

    #[test]
    fn help_names_every_format() {
        for known in FORMATS {
            assert!(Format::HELP.contains(known.names[0]), "{}", known.names[0]);
        }
    }

    #[test]
    fn content_decides_otherwise() {
        assert_eq!(content("-1 3:1 11:0.5 # x\n\n+1\n"), Ok(Format::Libsvm));
        assert_eq!(content("2.0  1:3\n"), Ok(Format::Libsvm));
        assert_eq!(content("3 qid:1 1:3\n"), Ok(Format::Libsvm));
        assert_eq!(content("1:2 3:4\n"), Ok(Format::Libsvm));
        assert_eq!(
            content("ham\tGo on, \"now\nspam\tit's 5:30\n"),
            Ok(Format::Tsv)
        );
        assert_eq!(content("1,2,a\n3,4,b\n"), Ok(Format::Csv));
        assert_eq!(content("1 2 a\n3 4 b\n"), Ok(Format::Csv));
        assert!(content("1\n2\n3\n").unwrap_err().contains("cannot tell"));
        assert!(
            content("hello there\nyou\nand you and them\n")
                .unwrap_err()
                .contains("format")
        );
        assert!(content("\n\n").unwrap_err().contains("no rows"));
        assert!(content("1 1:2\n2 1:3\n1 1:2,3\n").is_err());
    }
}
