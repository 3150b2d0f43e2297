//! Separability, certificates and exact margins: everything of `rosenblatt-proof`, and how the
//! file that a certificate speaks of is described.

pub use rosenblatt_proof::*;

use crate::data::read::{Coding, ColumnCoding, Format, Preparation, ReadReport};
use crate::{Error, Result};

/// How a certificate describes the file that was read: `comment` begins the lines that were
/// skipped, `labels` are its labels as written, each with its class, and `sha256` is that of the
/// decompressed bytes, in hexadecimal.
pub fn source_file<'a>(
    report: &'a ReadReport,
    preparation: &'a Preparation,
    comment: Option<&'a str>,
    labels: &'a [(String, u32)],
    sha256: &'a str,
) -> Result<SourceFile<'a>> {
    if report.skipped > 0 {
        return Err(
            refuse("rows were left out because they could not be read").remedy("correct them")
        );
    }
    let format = match (report.format, preparation.coding()) {
        (Format::Libsvm, Coding::Indexed { first }) => SourceFormat::Libsvm { first_index: first },
        (Format::Csv | Format::Tsv, Coding::Columns(columns)) => {
            let delimiter = match report.delimiter.as_deref() {
                Some("comma") | None => ",",
                Some("semicolon") => ";",
                Some("tab") => "\t",
                Some("bar") => "|",
                Some("blanks") => " ",
                Some(other) => other,
            };
            SourceFormat::Csv {
                delimiter,
                quoting: report.format == Format::Csv && delimiter != " ",
                header: report.header.unwrap_or(false),
                columns: columns.into_iter().map(column).collect::<Result<_>>()?,
            }
        }
        _ => {
            return Err(refuse("the format of certificates speaks of text files")
                .remedy("convert the file to CSV or libsvm first"));
        }
    };
    Ok(SourceFile {
        format,
        comment,
        labels,
        sha256,
    })
}

fn column(coding: ColumnCoding<'_>) -> Result<SourceColumn<'_>> {
    Ok(match coding {
        ColumnCoding::Number { indicator, .. } => SourceColumn::Number {
            or_missing: indicator,
        },
        ColumnCoding::Category(levels) => SourceColumn::Category(levels.iter().collect()),
        ColumnCoding::Text {
            words,
            hashed: false,
        } => SourceColumn::Text(words.iter().collect()),
        ColumnCoding::Text { hashed: true, .. } => {
            return Err(refuse("a text column has too many words to list")
                .remedy("leave it out with --ignore"));
        }
        ColumnCoding::Label => SourceColumn::Label,
        ColumnCoding::Ignored => SourceColumn::Ignored,
    })
}

fn refuse(why: &str) -> Error {
    Error::options(format!("no certificate can be written: {why}"))
}
