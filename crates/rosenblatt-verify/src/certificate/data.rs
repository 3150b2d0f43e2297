//! How the certificate says the file is read: format, columns and what they become.

use super::{Result, choice};
use crate::json::{Fields, Json};
use crate::outcome::Malformed;
use std::collections::HashMap;

/// The most features a certificate may speak of; an index fits 32 bits.
const MAX_FEATURES: u64 = 4_000_000_000;

pub(crate) enum Format {
    Libsvm { first_index: u64 },
    Table(Table),
}

pub(crate) struct Table {
    /// A blank stands for any run of blanks.
    pub(crate) delimiter: u8,
    pub(crate) quoting: bool,
    pub(crate) header: bool,
    /// Each column with the index of its first feature; features count from 1.
    pub(crate) columns: Vec<(Column, u32)>,
}

/// Distinct texts, each with its place in the certificate's list.
type Places = HashMap<Vec<u8>, u32>;

pub(crate) enum Column {
    Label,
    Ignore,
    Numeric { or_missing: bool },
    Category { levels: Places },
    Text { words: Places, or_missing: bool },
}

/// A file that holds rows.
pub(crate) struct File {
    /// What it was called; none where the certificate is about one file.
    pub(crate) name: Option<String>,
    pub(crate) sha256: String,
}

pub(super) struct Data {
    pub(super) format: Format,
    pub(super) comment: Vec<u8>,
    /// One or more, in the order of their rows.
    pub(super) files: Vec<File>,
    pub(super) rows: u64,
    pub(super) features: u64,
}

impl Data {
    pub(super) fn parse(json: &Json) -> Result<Data> {
        let mut fields = json.fields()?;
        let files = match fields.optional("files", |json| json.each(File::parse))? {
            Some(files) if files.is_empty() => {
                return Err(Malformed::new("names no file").under("files"));
            }
            Some(files) => files,
            None => vec![File {
                name: None,
                sha256: fields.required("sha256", sha256)?,
            }],
        };
        let rows = fields.required("rows", Json::natural)?;
        let features = fields.required("features", |json| match json.natural()? {
            count if count <= MAX_FEATURES => Ok(count),
            _ => Err(Malformed::new(format!("more than {MAX_FEATURES}"))),
        })?;
        let comment = fields.optional("comment", |json| match json.text()? {
            text if text.is_empty() || text.contains(['\r', '\n']) => {
                Err(Malformed::new("expected a non-empty text within one line"))
            }
            text => Ok(text.as_bytes().to_vec()),
        })?;
        let format = match fields.required("format", Json::text)? {
            "libsvm" => Format::Libsvm {
                first_index: fields.required("first_index", |json| match json.natural()? {
                    first @ (0 | 1) => Ok(first),
                    _ => Err(Malformed::new("expected 0 or 1")),
                })?,
            },
            "csv" => Format::Table(Table::parse(&mut fields, features)?),
            "exact-binary" => {
                let what = "exact-binary is reserved for a later version";
                return Err(Malformed::new(what).under("format"));
            }
            _ => return Err(Malformed::new("expected libsvm or csv").under("format")),
        };
        fields.finish()?;
        Ok(Data {
            format,
            comment: comment.unwrap_or_default(),
            files,
            rows,
            features,
        })
    }
}

impl File {
    fn parse(json: &Json) -> Result<File> {
        let mut fields = json.fields()?;
        let name = fields.required("name", |json| Ok(json.text()?.to_owned()))?;
        let sha256 = fields.required("sha256", sha256)?;
        fields.finish()?;
        Ok(File {
            name: Some(name),
            sha256,
        })
    }
}

fn sha256(json: &Json) -> Result<String> {
    let text = json.text()?;
    let hexadecimal = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() == 64 && text.bytes().all(hexadecimal) {
        return Ok(text.to_owned());
    }
    let what = "expected 64 hexadecimal digits in lower case";
    Err(Malformed::new(what))
}

impl Table {
    fn parse(fields: &mut Fields<'_>, features: u64) -> Result<Table> {
        let delimiter = fields.required("delimiter", |json| match *json.text()?.as_bytes() {
            [byte] if byte.is_ascii() && !is_reserved(byte) => Ok(byte),
            _ => Err(Malformed::new(
                "expected one ASCII character that no number, quote or line end has",
            )),
        })?;
        let quoting = fields.required("quoting", Json::flag)?;
        if quoting && delimiter == b' ' {
            return Err(Malformed::new("does not go with blanks between cells").under("quoting"));
        }
        let header = fields.required("header", Json::flag)?;
        let columns = fields.required("columns", |json| {
            let mut next = 1;
            let mut placed = Vec::new();
            for column in json.each(Column::parse)? {
                let width = column.width();
                placed.push((column, next));
                next += width;
            }
            let labels = placed.iter().filter(|(c, _)| matches!(c, Column::Label));
            if labels.count() != 1 {
                return Err(Malformed::new("exactly one column is the label"));
            }
            if u64::from(next - 1) != features {
                let what = format!("these give {} features, not {features}", next - 1);
                return Err(Malformed::new(what));
            }
            Ok(placed)
        })?;
        Ok(Table {
            delimiter,
            quoting,
            header,
            columns,
        })
    }
}

impl Column {
    fn parse(json: &Json) -> Result<Column> {
        if let Json::Text(_) = json {
            let plain = ["label", "ignore", "numeric", "numeric-or-missing"];
            return Ok(match choice(json, &plain.map(|name| (name, name)))? {
                "label" => Column::Label,
                "ignore" => Column::Ignore,
                name => Column::Numeric {
                    or_missing: name != "numeric",
                },
            });
        }
        let mut fields = json.fields()?;
        let category = fields.optional("category", places)?;
        let text = fields.optional("text", places)?;
        let text_or_missing = fields.optional("text-or-missing", places)?;
        fields.finish()?;
        match (category, text, text_or_missing) {
            (Some(levels), None, None) if !levels.is_empty() => Ok(Column::Category { levels }),
            (None, Some(words), None) => Ok(Column::Text {
                words,
                or_missing: false,
            }),
            (None, None, Some(words)) => Ok(Column::Text {
                words,
                or_missing: true,
            }),
            _ => Err(Malformed::new(
                "expected one of category (with a level or more), text, text-or-missing",
            )),
        }
    }

    /// What it is used as, in a word.
    pub(super) fn used_as(&self) -> &'static str {
        match self {
            Column::Label => "label",
            Column::Ignore => "ignore",
            Column::Numeric { .. } => "numeric",
            Column::Category { .. } => "category",
            Column::Text { .. } => "text",
        }
    }

    /// The number of features. Each takes more than one byte to list, so that 32 bits hold
    /// the sum over all columns.
    fn width(&self) -> u32 {
        match self {
            Column::Label | Column::Ignore => 0,
            Column::Numeric { or_missing } => 1 + u32::from(*or_missing),
            Column::Category { levels } => levels.len() as u32 - 1,
            Column::Text { words, or_missing } => words.len() as u32 + u32::from(*or_missing),
        }
    }
}

fn is_reserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'"' | b'\r' | b'\n')
}

fn places(json: &Json) -> Result<Places> {
    let mut places = Places::new();
    for name in json.each(|item| Ok(item.text()?.as_bytes().to_vec()))? {
        let place = places.len() as u32;
        if places.insert(name, place).is_some() {
            return Err(Malformed::new("a text is listed twice"));
        }
    }
    Ok(places)
}
