//! Rows in JSON: plain numbers are taken at once, all else is written as a text for the reader.
//! Values go over as they are written, so that they mean what they would mean in a file.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::model::{Column, Kind, Served};
use crate::problem::{Answer, Problem};
use crate::rows::{Cells, Rows, of_cells, too_many};

/// A row as JSON has it: values by name, or in order.
#[derive(Debug)]
enum Row<'a> {
    Named(Vec<(Cow<'a, str>, &'a RawValue)>),
    Listed(Vec<&'a RawValue>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Row<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Rows;
        impl<'de> Visitor<'de> for Rows {
            type Value = Row<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row: an object of values by name, or an array of values")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut values = Vec::new();
                while let Some((Name(name), value)) = map.next_entry()? {
                    values.push((name, value));
                }
                Ok(Row::Named(values))
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Row::Listed(values))
            }
        }
        from.deserialize_any(Rows)
    }
}

/// A name, borrowed where it is written plainly.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        from.deserialize_str(Names)
    }
}

/// What is wrong with a JSON text.
pub fn malformed(error: &serde_json::Error) -> Problem {
    Problem::malformed(format!("the JSON cannot be read: {error}"))
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> serde_json::Result<T> {
    match std::str::from_utf8(body) {
        // It is not asked again of each of its texts whether it is one.
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(body),
    }
}

/// The rows of an array, or one row.
///
/// # Errors
/// If they are none, or lack what the model needs.
pub fn rows(served: &Served, body: &[u8], most: usize) -> Answer<Rows> {
    let first = body.trim_ascii_start();
    let parsed: Result<Vec<Row<'_>>, _> = match first.first() {
        Some(b'{') => read(body).map(|row| vec![row]),
        Some(b'[') => {
            let inner = first[1..].trim_ascii_start().first();
            match inner {
                Some(b'[' | b'{' | b']') => read(body),
                // Values, not rows.
                _ => read(body).map(|row| vec![row]),
            }
        }
        _ => read(body),
    };
    let parsed = parsed.map_err(|e| malformed(&e))?;
    if parsed.len() > most {
        return Err(too_many(most));
    }
    if let Some(rows) = numbers(served, &parsed) {
        return Ok(rows);
    }
    let mut cells = Cells::default();
    for row in &parsed {
        add(served, row, &mut cells)?;
    }
    of_cells(served, cells, most)
}

/// Rows of nothing but plain numbers, all or none of them with a plain label, without the way over
/// a text: a single one then takes half the time.
fn numbers(served: &Served, rows: &[Row<'_>]) -> Option<Rows> {
    let mut texts = Vec::with_capacity(rows.len() * served.columns.len());
    let mut labels = Vec::new();
    for row in rows {
        let mut values = Values::new(row);
        for column in &served.columns {
            match (values.of(column), column.is_feature) {
                (Some(value), true) => texts.push(value.get()),
                (Some(value), false) if column.is_label => {
                    labels.push(served.reader.label(plain_label(value.get())?));
                }
                (None, false) => {}
                _ => return None,
            }
        }
        if values.are_more() {
            return None;
        }
    }
    let labels = match labels.len() {
        0 => None,
        n if n == rows.len() => Some(labels),
        _ => return None,
    };
    if texts.iter().any(|text| check_size(text).is_err()) {
        return None;
    }
    let matrix = served.reader.numbers(texts.into_iter())?;
    Some(Rows { matrix, labels })
}

/// A label of letters and digits, or a short whole number.
fn plain_label(raw: &str) -> Option<&str> {
    match raw.strip_prefix('"') {
        Some(quoted) => {
            let text = quoted.strip_suffix('"')?;
            let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
            (!text.is_empty() && text.bytes().all(plain)).then_some(text)
        }
        None => (raw.len() <= 15 && raw.bytes().all(|b| b.is_ascii_digit())).then_some(raw),
    }
}

/// The values of a row, asked for column by column.
struct Values<'a> {
    row: &'a Row<'a>,
    asked: usize,
    listed: usize,
}

impl<'a> Values<'a> {
    fn new(row: &'a Row<'a>) -> Self {
        Values {
            row,
            asked: 0,
            listed: 0,
        }
    }

    /// That of the next column.
    fn of(&mut self, column: &Column) -> Option<&'a RawValue> {
        let place = self.asked;
        self.asked += 1;
        match self.row {
            Row::Named(values) => {
                // Rows usually name the columns in their order.
                let near = values.get(place).filter(|(name, _)| *name == column.name);
                near.or_else(|| values.iter().find(|(name, _)| *name == column.name))
                    .map(|(_, value)| *value)
            }
            Row::Listed(values) if column.is_feature => {
                self.listed += 1;
                values.get(self.listed - 1).copied()
            }
            Row::Listed(_) => None,
        }
    }

    /// Whether a list has more values than were asked for.
    fn are_more(&self) -> bool {
        matches!(self.row, Row::Listed(values) if values.len() > self.listed)
    }
}

/// A row on each line; blank lines are none.
///
/// # Errors
/// If one is no row, or lacks what the model needs.
pub fn lines(served: &Served, body: &[u8], most: usize) -> Answer<Cells> {
    let mut cells = Cells::default();
    let lines = body.split(|&b| b == b'\n').enumerate();
    for (i, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
        let row =
            read(line).map_err(|e| Problem::malformed(format!("line {}: no row: {e}", i + 1)))?;
        add(served, &row, &mut cells)?;
        if cells.lines.len() > most {
            return Err(too_many(most));
        }
    }
    Ok(cells)
}

/// Adds a row to the text for the reader.
fn add(served: &Served, row: &Row<'_>, cells: &mut Cells) -> Answer<()> {
    let number = cells.lines.len() as u64 + 1;
    let start = cells.text.len();
    cells.lines.push(cells.newlines + 1);
    let done = match served.kind {
        Kind::Table => add_table(served, row, &mut cells.text),
        Kind::Sparse { first } => add_sparse(first, served, row, &mut cells.text),
        Kind::Images => Err("images cannot be sent as rows; use infer with a tensor".into()),
    };
    cells.newlines += cells.text[start..].iter().filter(|&&b| b == b'\n').count() as u64;
    done.map_err(|what| Problem::unfit(format!("row {number}: {what}")).at_row(number))
}

fn add_table(served: &Served, row: &Row<'_>, to: &mut Vec<u8>) -> Result<(), String> {
    let columns = &served.columns;
    if let Row::Listed(values) = row {
        let features = columns.iter().filter(|c| c.is_feature).count();
        if values.len() != features {
            return Err(format!("{} values, expected {features}", values.len()));
        }
    }
    let mut values = Values::new(row);
    for (i, column) in columns.iter().enumerate() {
        if i > 0 {
            to.push(b',');
        }
        match values.of(column) {
            Some(value) if column.is_number && value.get().starts_with('"') => {
                return Err(format!(
                    "expected a number in the column {}, found {}",
                    column.name,
                    value.get()
                ));
            }
            Some(value) => add_value(value.get(), to)
                .map_err(|what| format!("the column {}: {what}", column.name))?,
            None if column.is_feature => {
                return Err(format!(
                    "there is no value for the column {}; send null where it is missing",
                    column.name
                ));
            }
            None => {}
        }
    }
    to.push(b'\n');
    Ok(())
}

/// Numbers in JSON and tensors go up to here: models scale them, and sums of them stay finite.
pub const LARGEST: f64 = 1e30;

/// Refuses a number that is too large. One without an exponent is so only if it is long.
fn check_size(raw: &str) -> Result<(), String> {
    const SHORT: usize = 30;
    let small = raw.len() <= SHORT && !raw.contains(['e', 'E']);
    match !small && raw.parse::<f64>().is_ok_and(|x| x.abs() > LARGEST) {
        true => Err(format!("expected a number up to {LARGEST:e}, found {raw}")),
        false => Ok(()),
    }
}

fn add_value(raw: &str, to: &mut Vec<u8>) -> Result<(), String> {
    match raw.as_bytes().first() {
        Some(b'n') => {}
        Some(b'"') => {
            let text: Cow<'_, str> = match raw.contains('\\') {
                false => Cow::Borrowed(&raw[1..raw.len() - 1]),
                true => Cow::Owned(serde_json::from_str(raw).map_err(|e| e.to_string())?),
            };
            if text.contains('\0') {
                return Err("there is a zero byte in the text".into());
            }
            add_text(&text, to);
        }
        Some(b'[' | b'{') => return Err("expected a number or a text, found a list".into()),
        _ => {
            check_size(raw)?;
            to.extend(raw.as_bytes());
        }
    }
    Ok(())
}

/// A text as a cell.
pub fn add_text(text: &str, to: &mut Vec<u8>) {
    to.push(b'"');
    match text.contains('"') {
        false => to.extend(text.as_bytes()),
        true => to.extend(text.replace('"', "\"\"").as_bytes()),
    }
    to.push(b'"');
}

/// `label index:value …`, with the indices of the file that the model was trained on.
fn add_sparse(first: u32, served: &Served, row: &Row<'_>, to: &mut Vec<u8>) -> Result<(), String> {
    let mut label = None;
    let mut values: Vec<(u64, &str)> = Vec::new();
    match row {
        Row::Named(named) => {
            for (name, value) in named {
                if name == "label" {
                    label = Some(value.get());
                    continue;
                }
                let index: u64 = name.parse().map_err(|_| {
                    format!("expected \"label\" or the index of a feature, found {name:?}")
                })?;
                values.push((index, value.get()));
            }
        }
        Row::Listed(all) => {
            let width = served.features;
            if all.len() != width {
                return Err(format!("{} values, expected {width}", all.len()));
            }
            let numbered = (u64::from(first)..).zip(all.iter().map(|v| v.get()));
            values.extend(numbered);
        }
    }
    values.sort_by_key(|&(index, _)| index);
    if let Some(pair) = values.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(format!("the feature {} is named twice", pair[0].0));
    }
    let start = to.len();
    if let Some(label) = label {
        let text: String = match label.starts_with('"') {
            true => serde_json::from_str(label).map_err(|e| e.to_string())?,
            false => label.to_owned(),
        };
        if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == ':') {
            return Err(format!("{text:?} cannot be the label of a sparse row"));
        }
        to.extend(text.as_bytes());
    }
    for (index, value) in values {
        let number = value.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        if !number {
            return Err(format!(
                "the feature {index}: expected a number, found {value}"
            ));
        }
        check_size(value)?;
        if to.len() > start {
            to.push(b' ');
        }
        to.extend(index.to_string().as_bytes());
        to.push(b':');
        to.extend(value.as_bytes());
    }
    if to.len() == start {
        // A line without anything would be no row.
        to.extend(format!("{first}:0").as_bytes());
    }
    to.push(b'\n');
    Ok(())
}
