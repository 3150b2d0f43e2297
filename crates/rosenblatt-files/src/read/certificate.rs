//! How a file is read, as a certificate about it says.

use serde_json::{Map, Value, json};

use super::format::Format;
use super::prepare::{Coding, ColumnCoding, Preparation};
use super::report::ReadReport;
use rosenblatt_core::{Error, Result};

fn refuse(why: &str) -> Error {
    Error::options(format!("no certificate can be written: {why}"))
}

/// The fields of a certificate that tell a checker how to read the file.
///
/// # Errors
/// If the format of certificates has no words for it.
pub fn certificate_fields(
    report: &ReadReport,
    preparation: &Preparation,
    comment: Option<&str>,
) -> Result<Map<String, Value>> {
    if report.skipped > 0 {
        return Err(
            refuse("rows were left out because they could not be read").remedy("correct them")
        );
    }
    if let Some(name) = report.folder_columns.first() {
        return Err(refuse(&format!(
            "the column {name} stands in the names of folders, and a certificate speaks of files"
        ))
        .remedy("write the column into the files"));
    }
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    if let Some(comment) = comment {
        add("comment", comment.into());
    }
    match (report.format, preparation.coding()) {
        (Format::Libsvm, Coding::Indexed { first }) => {
            add("format", "libsvm".into());
            add("first_index", first.into());
        }
        (format, Coding::Columns(columns)) if format.cells().is_some() => {
            let delimiter = match report.delimiter.as_deref() {
                Some("comma") | None => ",",
                Some("semicolon") => ";",
                Some("tab") => "\t",
                Some("bar") => "|",
                Some("blanks") => " ",
                Some(other) => other,
            };
            add("format", "csv".into());
            add("delimiter", delimiter.into());
            let quoting = format.cells().is_some_and(|cells| cells.quoting) && delimiter != " ";
            add("quoting", quoting.into());
            add("header", report.header.unwrap_or(false).into());
            let columns = columns.iter().map(column).collect::<Result<Vec<_>>>()?;
            add("columns", columns.into());
        }
        _ => {
            return Err(refuse("the format of certificates speaks of text files")
                .remedy("convert the file to CSV or libsvm first"));
        }
    }
    Ok(fields)
}

fn column(coding: &ColumnCoding<'_>) -> Result<Value> {
    Ok(match coding {
        ColumnCoding::Number { plain: false, .. } | ColumnCoding::Date => {
            return Err(refuse(
                "it speaks of plain numbers, and a column holds dates, decimal commas, thousands separators or strays",
            )
            .remedy("write plain numbers, or leave the column out with ⟨ignore⟩"));
        }
        ColumnCoding::Number {
            indicator: false, ..
        } => "numeric".into(),
        ColumnCoding::Number {
            indicator: true, ..
        } => "numeric-or-missing".into(),
        ColumnCoding::Category(levels) => json!({"category": levels.iter().collect::<Vec<_>>()}),
        ColumnCoding::Text {
            words,
            hashed: false,
            plain: true,
        } => {
            json!({"text": words.iter().collect::<Vec<_>>()})
        }
        ColumnCoding::Text { plain: false, .. } => {
            return Err(refuse(
                "it speaks of counts of words, and a text column becomes something else",
            )
            .remedy("leave the options of texts out"));
        }
        ColumnCoding::Text { hashed: true, .. } => {
            return Err(refuse("a text column has too many words to list")
                .remedy("leave it out with ⟨ignore⟩"));
        }
        ColumnCoding::Label => "label".into(),
        ColumnCoding::Ignored => "ignore".into(),
    })
}
