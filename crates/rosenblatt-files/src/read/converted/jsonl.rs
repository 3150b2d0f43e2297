//! JSON lines: an object on each line, whose members are the cells of a row.
//!
//! The columns are all names that occur, in the order in which they first do. A member that is
//! missing or null is a missing value. Numbers are taken as they are written.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Lines, PIECE, Table, end_row, is_ignored, nested, push_text, refuse_no_columns};
use crate::read::options::ReadOptions;
use crate::read::source::Source;
use rosenblatt_core::{Error, Result};

/// The members of an object, each value as it is written.
struct Members<'a>(Vec<(Name<'a>, &'a RawValue)>);

/// A name, lent where it has no escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Deserialize<'a> for Members<'a> {
    fn deserialize<D: Deserializer<'a>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Object;
        impl<'a> Visitor<'a> for Object {
            type Value = Members<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object {\"name\": value, …}")
            }

            fn visit_map<A: MapAccess<'a>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut found: Vec<(Name<'a>, &RawValue)> = Vec::new();
                while let Some(member) = map.next_entry()? {
                    found.push(member);
                }
                let mut names: Vec<&str> = found.iter().map(|(name, _)| &*name.0).collect();
                names.sort_unstable();
                if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
                    let name = twice[0];
                    return Err(de::Error::custom(format!("the name {name:?} comes twice")));
                }
                Ok(Members(found))
            }
        }
        from.deserialize_map(Object)
    }
}

/// The members of the object on the line that was read last.
fn members<'l>(line: &'l [u8]) -> std::result::Result<Members<'l>, (usize, Error)> {
    serde_json::from_slice(line).map_err(|e| {
        let text = e.to_string();
        let text = text
            .rsplit_once(" at line ")
            .map_or(&*text, |(text, _)| text);
        let error = Error::data(format!("this is no JSON object: {text}"));
        let remedy = match line.trim_ascii_start().first() {
            Some(b'[') => "write one object on each line, for instance with jq -c '.[]'",
            _ => "each line is an object such as {\"age\": 31, \"label\": \"yes\"}",
        };
        (e.column().saturating_sub(1), error.remedy(remedy))
    })
}

pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Table> {
    let (names, numbers) = columns(source)?;
    let ignored: Vec<bool> = names.iter().map(|n| is_ignored(options, n)).collect();
    let mut lines = Lines::of(source)?;
    let mut row: Vec<Option<(usize, usize)>> = vec![None; names.len()];
    let own_names = names.clone();
    let rows = move |text: &mut Vec<u8>| -> Result<bool> {
        let mut any = false;
        while text.len() < PIECE {
            let Some(line) = lines.next()? else { break };
            any = true;
            if line.trim_ascii().is_empty() {
                text.push(b'\n');
                continue;
            }
            let line = line.to_vec();
            row.fill(None);
            let found = members(&line).map_err(|(at, e)| lines.fault(at, e))?;
            let start = line.as_ptr() as usize;
            for (name, value) in &found.0 {
                let Some(&column) = numbers.get(&*name.0) else {
                    let error = Error::data("the file was changed while it was read");
                    return Err(lines.fault(0, error.remedy("read a copy of the file")));
                };
                let value = value.get();
                let at = value.as_ptr() as usize - start;
                if matches!(value.as_bytes()[0], b'{' | b'[') && !ignored[column] {
                    let what = match value.as_bytes()[0] {
                        b'{' => "an object",
                        _ => "a list",
                    };
                    return Err(lines.fault(at, nested(&own_names[column], what)));
                }
                row[column] = Some((at, value.len()));
            }
            let begun = text.len();
            for (j, cell) in row.iter().enumerate() {
                if j > 0 {
                    text.push(b',');
                }
                if let Some((at, len)) = *cell
                    && !ignored[j]
                {
                    push_value(text, &line[at..at + len]);
                }
            }
            end_row(text, begun);
        }
        Ok(any)
    };
    Ok(Table {
        names,
        categories: Vec::new(),
        shift: 0,
        rows: Box::new(rows),
    })
}

/// All names of the file, and the number of each.
fn columns(source: &Source) -> Result<(Vec<String>, HashMap<String, usize>)> {
    let mut lines = Lines::of(source)?;
    let (mut names, mut numbers) = (Vec::new(), HashMap::new());
    loop {
        let Some(line) = lines.next()? else { break };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let found = match members(line) {
            Ok(found) => found,
            Err((at, error)) => return Err(lines.fault(at, error)),
        };
        for (name, _) in found.0 {
            if !numbers.contains_key(&*name.0) {
                numbers.insert(name.0.to_string(), names.len());
                names.push(name.0.into_owned());
            }
        }
    }
    refuse_no_columns(names.len())?;
    Ok((names, numbers))
}

/// Appends a value as it would stand in a cell.
fn push_value(text: &mut Vec<u8>, value: &[u8]) {
    match value.first() {
        Some(b'"') => {
            if let Ok(string) = serde_json::from_slice::<Cow<'_, str>>(value)
                && !string.is_empty()
            {
                push_text(text, &string);
            }
        }
        Some(b'n') | None => {}
        // Numbers, true and false.
        Some(_) => text.extend_from_slice(value),
    }
}
