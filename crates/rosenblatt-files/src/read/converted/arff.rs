//! ARFF, the format of Weka: attributes with their types, then rows, all cells or only those that
//! are not 0.
//!
//! Nominal attributes are categories. In a sparse row `{3 0.5, 7 yes}` an attribute that is left
//! out is 0, or the first of its values.

use std::borrow::Cow;

use super::{Lines, PIECE, Table, end_row, push_text, refuse_no_columns};
use crate::read::source::Source;
use rosenblatt_core::{Error, Result};

struct Attribute {
    name: String,
    kind: Kind,
}

enum Kind {
    Number,
    Text,
    /// One of these values.
    Nominal(Vec<String>),
}

pub(super) fn open(source: &Source) -> Result<Table> {
    let mut lines = Lines::of(source)?;
    let attributes = header(&mut lines)?;
    let names: Vec<String> = attributes.iter().map(|a| a.name.clone()).collect();
    refuse_no_columns(names.len())?;
    let nominal = attributes
        .iter()
        .filter(|a| matches!(a.kind, Kind::Nominal(_)));
    let categories = nominal.map(|a| a.name.clone()).collect();
    let shift = lines.read as i64;
    let rows = move |text: &mut Vec<u8>| -> Result<bool> {
        let mut any = false;
        while text.len() < PIECE {
            let Some(line) = lines.next()? else { break };
            any = true;
            let begun = text.len();
            match row(line, &attributes, text) {
                Ok(()) => {}
                Err((at, error)) => {
                    text.truncate(begun);
                    return Err(lines.fault(at, error));
                }
            }
        }
        Ok(any)
    };
    Ok(Table {
        names,
        categories,
        shift,
        rows: Box::new(rows),
    })
}

/// The attributes, up to the line `@data`.
fn header(lines: &mut Lines) -> Result<Vec<Attribute>> {
    let mut found = Vec::new();
    loop {
        let Some(line) = lines.next()? else {
            return Err(Error::data("the file ends before its line @data")
                .remedy("check that this is a whole ARFF file"));
        };
        let line = line.to_vec();
        let text = std::str::from_utf8(&line).map_err(|_| {
            let error = Error::data("this is not UTF-8 text");
            lines.fault(
                0,
                error.remedy("convert the file, for instance with iconv -f LATIN1 -t UTF-8"),
            )
        })?;
        let text = text.trim();
        let (word, rest) = text
            .split_once(|c: char| c.is_ascii_whitespace())
            .unwrap_or((text, ""));
        match word.to_ascii_lowercase().as_str() {
            "" | "@relation" => {}
            comment if comment.starts_with('%') => {}
            "@attribute" => {
                let attribute = attribute(rest.trim()).map_err(|e| lines.fault(0, e))?;
                found.push(attribute);
            }
            "@data" => return Ok(found),
            _ => {
                let error = Error::data(format!("expected @attribute or @data, found {word:?}"));
                return Err(lines.fault(0, error.remedy("check that this is an ARFF file")));
            }
        }
    }
}

/// What stands behind `@attribute`.
fn attribute(text: &str) -> Result<Attribute> {
    let (name, rest) = token(text).map_err(|(_, e)| e)?;
    let rest = rest.trim();
    let kind = match rest.strip_prefix('{') {
        Some(list) => {
            let list = list.trim_end();
            let list = list.strip_suffix('}').ok_or_else(|| {
                Error::data("the values of an attribute end without }")
                    .remedy("list them in the one line of the attribute")
            })?;
            Kind::Nominal(values(list)?)
        }
        None => {
            let word = rest.split_ascii_whitespace().next().unwrap_or_default();
            match word.to_ascii_lowercase().as_str() {
                "numeric" | "real" | "integer" => Kind::Number,
                "string" | "date" => Kind::Text,
                _ => {
                    return Err(Error::data(format!(
                        "the attribute {name} has the type {word:?}, expected numeric, string, date or {{values}}"
                    ))
                    .remedy("make columns of relational attributes"));
                }
            }
        }
    };
    Ok(Attribute {
        name: name.into_owned(),
        kind,
    })
}

fn values(mut list: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    while !list.trim_start().is_empty() {
        let (value, rest) = token(list).map_err(|(_, e)| e)?;
        found.push(value.into_owned());
        let rest = rest.trim_start();
        list = match rest.strip_prefix(',') {
            Some(rest) => rest,
            None if rest.is_empty() => rest,
            None => {
                return Err(Error::data(format!("expected a comma, found {rest:?}"))
                    .remedy("put values with spaces or braces in quotes"));
            }
        };
    }
    Ok(found)
}

/// A word, perhaps in quotes with escapes, and what stands behind it.
fn token(text: &str) -> std::result::Result<(Cow<'_, str>, &str), (usize, Error)> {
    let start = text.trim_start();
    let quote = match start.as_bytes().first() {
        Some(&quote @ (b'\'' | b'"')) => quote,
        _ => {
            let end =
                start.find(|c: char| c == ',' || c == '}' || c == '{' || c.is_ascii_whitespace());
            let (word, rest) = start.split_at(end.unwrap_or(start.len()));
            return Ok((word.into(), rest));
        }
    };
    let mut word = Vec::new();
    let mut bytes = start.bytes().enumerate().skip(1);
    while let Some((at, b)) = bytes.next() {
        match b {
            b'\\' => match bytes.next() {
                Some((_, b'n')) => word.push(b'\n'),
                Some((_, b't')) => word.push(b'\t'),
                Some((_, b'r')) => word.push(b'\r'),
                Some((_, other)) => word.push(other),
                None => break,
            },
            b if b == quote => {
                // What was taken out is ASCII, so the rest is text as before.
                let word = String::from_utf8_lossy(&word).into_owned();
                return Ok((word.into(), &start[at + 1..]));
            }
            b => word.push(b),
        }
    }
    let error = Error::data("a quote is not closed in this line");
    Err((
        text.len() - start.len(),
        error.remedy("close it, or write \\' for a quote in a value"),
    ))
}

/// Appends a row as CSV; a line without one as an empty line, so that lines keep their numbers.
fn row(
    line: &[u8],
    attributes: &[Attribute],
    text: &mut Vec<u8>,
) -> std::result::Result<(), (usize, Error)> {
    let whole = crate::read::row_errors::check_text(line)?;
    let line = whole.trim();
    if line.is_empty() || line.starts_with('%') {
        text.push(b'\n');
        return Ok(());
    }
    let at = |rest: &str| whole.len().saturating_sub(rest.len());
    let begun = text.len();
    if let Some(pairs) = line.strip_prefix('{') {
        let mut rest = pairs.trim_start();
        let mut next = 0;
        while !rest.starts_with('}') {
            let (index, after) = token(rest).map_err(|(_, e)| (at(rest), e))?;
            let column = index
                .parse::<usize>()
                .ok()
                .filter(|&i| i < attributes.len());
            let Some(column) = column.filter(|&i| i >= next) else {
                let error = Error::data(format!(
                    "expected the number of an attribute, from {next} to {}, found {index:?}",
                    attributes.len().saturating_sub(1)
                ));
                return Err((
                    at(rest),
                    error.remedy("sparse rows are {index value, …}, in ascending order from 0"),
                ));
            };
            left_out(text, attributes, next..column);
            let (value, after) = token(after).map_err(|(_, e)| (at(after), e))?;
            cell(text, column, &attributes[column], &value).map_err(|e| (at(rest), e))?;
            next = column + 1;
            let after = after.trim_start();
            rest = match after.strip_prefix(',') {
                Some(rest) => rest.trim_start(),
                None if after.starts_with('}') => after,
                None => {
                    let error = Error::data("a sparse row ends without }");
                    return Err((at(after), error.remedy("the line is cut off")));
                }
            };
        }
        refuse_weight(&rest[1..]).map_err(|e| (at(rest), e))?;
        left_out(text, attributes, next..attributes.len());
    } else {
        let mut rest = line;
        for (j, attribute) in attributes.iter().enumerate() {
            let (value, after) = token(rest).map_err(|(_, e)| (at(rest), e))?;
            cell(text, j, attribute, &value).map_err(|e| (at(rest), e))?;
            let after = after.trim_start();
            rest = match after.strip_prefix(',') {
                Some(rest) if j + 1 < attributes.len() => rest,
                None if j + 1 == attributes.len() => after,
                None => {
                    let error = Error::data(format!(
                        "the row has {} values, expected {}",
                        j + 1,
                        attributes.len()
                    ));
                    return Err((at(after), error.remedy("write ? for missing values")));
                }
                Some(rest) => {
                    refuse_weight(rest).map_err(|e| (at(rest), e))?;
                    let n = attributes.len();
                    let error = Error::data(format!("the row has more than {n} values"));
                    return Err((at(rest), error.remedy("put values with commas in quotes")));
                }
            };
        }
        if !rest.trim().is_empty() {
            let error = Error::data(format!("expected a comma, found {:?}", rest.trim()));
            return Err((at(rest), error.remedy("put values with spaces in quotes")));
        }
    }
    end_row(text, begun);
    Ok(())
}

/// Weka writes the weight of a row in braces behind it.
fn refuse_weight(rest: &str) -> Result<()> {
    let rest = rest.trim();
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim();
    match rest.strip_prefix('{') {
        Some(_) => Err(Error::data("the row has a weight in braces")
            .remedy("make a column of the weights and name it with ⟨weight-column⟩")),
        None => Ok(()),
    }
}

/// Appends the cells of attributes that a sparse row leaves out.
fn left_out(text: &mut Vec<u8>, attributes: &[Attribute], which: std::ops::Range<usize>) {
    for j in which {
        if j > 0 {
            text.push(b',');
        }
        match &attributes[j].kind {
            Kind::Number => text.push(b'0'),
            Kind::Text => {}
            Kind::Nominal(values) => {
                if let Some(first) = values.first() {
                    push_text(text, first);
                }
            }
        }
    }
}

fn cell(text: &mut Vec<u8>, column: usize, attribute: &Attribute, value: &str) -> Result<()> {
    if column > 0 {
        text.push(b',');
    }
    if value == "?" {
        return Ok(());
    }
    match &attribute.kind {
        Kind::Number if crate::read::number::whole::<f64>(value.as_bytes()).is_none() => {
            return Err(Error::data(format!(
                "expected a number for {}, found {value:?}",
                attribute.name
            ))
            .remedy("write ? for a missing value"));
        }
        Kind::Nominal(values) if !values.iter().any(|known| known == value) => {
            return Err(Error::data(format!(
                "{value:?} is none of the values of {}",
                attribute.name
            ))
            .remedy("list it in the line @attribute"));
        }
        _ => push_text(text, value),
    }
    Ok(())
}
