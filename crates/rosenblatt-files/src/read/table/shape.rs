//! The outer form of a table: delimiter, header, column names, label column.

use std::borrow::Cow;

use crate::read::chunk::Cut;
use memchr::memrchr;

use crate::read::delimited::{Delimiter, Dialect, next_cell, next_record};
use crate::read::format::Format;
use crate::read::number;
use crate::read::options::ReadOptions;
use crate::read::row_errors::OnError;
use crate::read::sniff::{
    Record, is_missing, looks_like_header, sample_records, sniff, usual_width,
};
use rosenblatt_core::{Error, Result};

/// Records looked at to tell a header from data.
const SAMPLE_RECORDS: usize = 1000;

/// The most columns of a table: each takes half a kilobyte before its first cell is read.
const MOST_COLUMNS: usize = 1 << 20;

/// The outer form of a table.
#[derive(Debug, Clone)]
pub(crate) struct Shape<'a> {
    pub(crate) dialect: Dialect,
    /// Whether the first record is not data.
    pub(crate) header: bool,
    /// The names of the columns; numbers from 0 where there are none.
    pub(crate) names: Vec<String>,
    /// Columns whose header cell is empty.
    pub(crate) unnamed: Vec<usize>,
    /// Names that the header gives to several columns.
    pub(crate) repeated: Vec<String>,
    /// The first data records.
    pub(crate) sample: Vec<Record<'a>>,
    pub(crate) notes: Vec<String>,
}

/// The dialect of a table that starts with `head`.
pub(crate) fn dialect(head: &[u8], whole: bool, format: Format, options: &ReadOptions) -> Dialect {
    let comment = options.comment_bytes();
    let cells = format.cells();
    let quoting = cells.is_none_or(|cells| cells.quoting);
    let delimiter = options.delimiter.unwrap_or_else(|| {
        if let Some(byte) = cells.and_then(|cells| cells.delimiter) {
            return Delimiter::Byte(byte);
        }
        let records = Cut::Lines.records(head, whole);
        sniff(records, quoting, comment).unwrap_or(Delimiter::Byte(b','))
    });
    Dialect {
        delimiter,
        quoting,
        comment: comment.map(<[u8]>::to_vec),
    }
}

/// The records at the beginning of a table.
pub(crate) fn first_records<'a>(head: &'a [u8], whole: bool, dialect: &Dialect) -> Vec<Record<'a>> {
    let records = dialect.cut().records(head, whole);
    sample_records(records, dialect, SAMPLE_RECORDS)
}

/// Refuses a table whose first two records have a quote too few.
fn refuse_faulty_quotes(text: &[u8], dialect: &Dialect) -> Result<()> {
    let mut at = 0;
    for _ in 0..2 {
        let Some(start) = next_record(text, at, dialect) else {
            break;
        };
        at = start;
        loop {
            let cell = next_cell(text, at, dialect).map_err(|fault| {
                let (place, error) = fault.told();
                let before = &text[..place];
                let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
                let column = place - memrchr(b'\n', before).map_or(0, |n| n + 1) + 1;
                error.at(line as u64, column as u64)
            })?;
            at = cell.next;
            if cell.last {
                break;
            }
        }
    }
    Ok(())
}

fn refuse_too_wide(columns: usize) -> Result<()> {
    if columns <= MOST_COLUMNS {
        return Ok(());
    }
    Err(Error::data(format!(
        "the table has {columns} columns, and {MOST_COLUMNS} are the most"
    ))
    .remedy("write so wide a table as libsvm, which leaves out what is zero"))
}

/// Whether there is one line, and that of names.
fn is_only_a_header(text: &[u8], records: &[Record<'_>]) -> bool {
    if text.trim_ascii().contains(&b'\n') {
        return false;
    }
    let name = |cell: &Cow<'_, [u8]>| !is_missing(cell) && number::whole::<f64>(cell).is_none();
    matches!(records, [only] if only.len() > 1 && only.iter().all(name))
}

/// The form of a table that starts with `head`.
pub(crate) fn shape<'a>(
    head: &'a [u8],
    whole: bool,
    format: Format,
    options: &ReadOptions,
) -> Result<Shape<'a>> {
    let dialect = dialect(head, whole, format, options);
    let mut sample = first_records(head, whole, &dialect);
    let mut notes = Vec::new();
    // Reading a file of a few lines would come to their faults too late to name them.
    if whole && sample.len() < 2 && options.on_error == OnError::Fail {
        refuse_faulty_quotes(head, &dialect)?;
    }
    if sample.is_empty() {
        return match next_record(head, 0, &dialect) {
            // The only record has a fault, which reading it will name.
            Some(_) => Ok(Shape {
                names: vec!["0".into()],
                unnamed: Vec::new(),
                repeated: Vec::new(),
                header: false,
                dialect,
                sample,
                notes,
            }),
            None => Err(Error::data("the file holds no rows").remedy("give a file with data")),
        };
    }
    // A label column named by the user says where names stand.
    let named = |cell: &Cow<'_, [u8]>| {
        options
            .label
            .as_ref()
            .is_some_and(|l| l.parse::<usize>().is_err() && l.as_bytes() == cell.trim_ascii())
    };
    let header = options.header.unwrap_or_else(|| {
        looks_like_header(&sample)
            || sample[0].iter().any(named)
            || (whole && is_only_a_header(head, &sample))
    });
    let first = sample[0].clone();
    let data = if header { &sample[1..] } else { &sample[..] };
    if data.is_empty() {
        return Err(Error::data("the file holds a header but no rows")
            .at(1, 1)
            .remedy("pass ⟨header no⟩ if line 1 is data"));
    }
    let width = usual_width(data).unwrap_or(first.len());
    refuse_too_wide(width.max(first.len()))?;
    let mut names: Vec<String> = (0..width).map(|i| i.to_string()).collect();
    let (mut unnamed, mut repeated) = (Vec::new(), Vec::new());
    if header {
        if first.len() == width {
            names = header_names(&first)?;
            repeated = repeated_names(&first);
            unnamed = (0..width).filter(|&i| first[i].is_empty()).collect();
        } else {
            notes.push(format!(
                "line 1 has {} cells and the rows have {width}: it is left out and names no columns",
                first.len()
            ));
        }
        sample.remove(0);
    }
    sample.retain(|r| r.len() == width);
    Ok(Shape {
        dialect,
        header,
        names,
        unnamed,
        repeated,
        sample,
        notes,
    })
}

/// The names that come more than once among these cells.
fn repeated_names(cells: &[Cow<'_, [u8]>]) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let names = cells.iter().map(|cell| cell.trim_ascii());
    let again = names.filter(|name| !name.is_empty() && !seen.insert(*name));
    again
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

/// The names in a header: columns without one go by their number, and a name that comes
/// again gets a number of its own.
pub(crate) fn header_names(cells: &[Cow<'_, [u8]>]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::with_capacity(cells.len());
    let mut seen = std::collections::HashSet::new();
    let mut copies = std::collections::HashMap::new();
    for (i, cell) in cells.iter().enumerate() {
        let text = match crate::read::row_errors::check_text(cell) {
            Ok(text) => text.trim(),
            Err((_, error)) => return Err(error.at(1, 0)),
        };
        let mut name = if text.is_empty() {
            i.to_string()
        } else {
            text.to_owned()
        };
        while !seen.insert(name.clone()) {
            let copy = copies.entry(text).or_insert(1);
            *copy += 1;
            name = format!("{text}.{copy}");
        }
        names.push(name);
    }
    Ok(names)
}

/// The column that an option names: by name first, then by number from 0.
pub(crate) fn find_column(names: &[String], wanted: &str, option: &str) -> Result<usize> {
    if let Some(i) = names.iter().position(|n| n == wanted) {
        return Ok(i);
    }
    if let Ok(i) = wanted.parse::<usize>()
        && i < names.len()
    {
        return Ok(i);
    }
    let mut near: Vec<(usize, &String)> = names.iter().map(|n| (distance(n, wanted), n)).collect();
    near.sort_by_key(|(d, _)| *d);
    let near: Vec<&str> = near.iter().take(5).map(|(_, n)| n.as_str()).collect();
    Err(
        Error::options(format!("⟨{option} {wanted}⟩: there is no such column"))
            .remedy(format!("the nearest names are {}", near.join(", "))),
    )
}

/// How many letters must change to make one name of the other (Levenshtein), case aside.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(64).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let cost = (diagonal + usize::from(x != y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}

/// The label column, and how it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LabelChoice {
    pub(crate) column: usize,
    how: Found,
    /// The column to look at next.
    runner_up: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Given,
    Named,
    Last,
}

impl LabelChoice {
    /// How it was guessed, and a warning if that may well be wrong.
    pub(crate) fn said(&self, names: &[String]) -> (String, Option<String>) {
        let name = &names[self.column];
        let next = self.runner_up.map(|i| names[i].as_str());
        match self.how {
            Found::Given => (String::new(), None),
            Found::Named => ("guessed by its name".to_owned(), None),
            Found::Last => {
                let or = next.map_or(String::new(), |next| {
                    format!(", or ⟨label {next}⟩ if it is that column")
                });
                let warning = format!(
                    "the label column is guessed: {name}, the last one; pass ⟨label {name}⟩ if that is right{or}"
                );
                ("guessed, the last column".to_owned(), Some(warning))
            }
        }
    }

    /// What to do if it cannot be right, where it was guessed.
    pub(crate) fn advice(&self, names: &[String]) -> Option<String> {
        let why = match self.how {
            Found::Given => return None,
            Found::Named => "for its name",
            Found::Last => "because it is the last",
        };
        let name = &names[self.column];
        let next = match self.runner_up {
            Some(i) => format!(", perhaps ⟨label {}⟩", names[i]),
            None => String::new(),
        };
        Some(format!(
            "the column {name} was guessed to be the label, {why}: pass ⟨label⟩ with the column that holds the classes{next}"
        ))
    }
}

impl Shape<'_> {
    /// Refuses a label that is the name of several columns.
    pub(crate) fn refuse_ambiguous_label(&self, wanted: Option<&str>) -> Result<()> {
        let Some(name) = wanted.filter(|name| self.repeated.iter().any(|r| r == name)) else {
            return Ok(());
        };
        let other = format!("{name}.");
        let columns = (0..).zip(&self.names);
        let columns = columns.filter(|(_, n)| *n == name || n.starts_with(&other));
        let columns: Vec<String> = columns.map(|(i, _): (usize, _)| i.to_string()).collect();
        Err(
            Error::options(format!("⟨label {name}⟩: several columns have that name")).remedy(
                format!(
                    "pass the number of the one that is meant: {}",
                    columns.join(" or ")
                ),
            ),
        )
    }

    /// The label column: as asked, else one that is called so, else the last with content.
    pub(crate) fn label_column(&self, wanted: Option<&str>) -> Result<LabelChoice> {
        if let Some(wanted) = wanted {
            return Ok(LabelChoice {
                column: find_column(&self.names, wanted, "label")?,
                how: Found::Given,
                runner_up: None,
            });
        }
        let filled = |i: &usize| self.sample.iter().any(|r| !is_missing(&r[*i]));
        let last = (0..self.names.len()).rev().find(filled);
        let last = last.unwrap_or(self.names.len() - 1);
        let usual = ["label", "class", "target", "y"].iter().find_map(|usual| {
            let mut names = self.names.iter();
            names.position(|n| n.eq_ignore_ascii_case(usual))
        });
        let (column, how) = match usual.filter(|_| self.header) {
            Some(named) => (named, Found::Named),
            None => (last, Found::Last),
        };
        Ok(LabelChoice {
            column,
            how,
            runner_up: self.runner_up(column, last),
        })
    }

    /// The column that would be the label if another is not: the last, else the one with the
    /// fewest values, of which each comes often, words before numbers.
    fn runner_up(&self, label: usize, last: usize) -> Option<usize> {
        if label != last {
            return Some(last);
        }
        let values = |i: usize| -> std::collections::HashSet<&[u8]> {
            self.sample.iter().map(|r| &*r[i]).collect()
        };
        let few = |i: &usize| {
            let distinct = values(*i).len();
            distinct > 1 && distinct * 4 <= self.sample.len()
        };
        let others = (0..self.names.len()).filter(|i| *i != label).filter(few);
        others.min_by_key(|&i| {
            let values = values(i);
            let numbers = values.iter().all(|v| number::whole::<f64>(v).is_some());
            (numbers, values.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(text: &'a str, options: &ReadOptions) -> Result<Shape<'a>> {
        shape(text.as_bytes(), true, Format::Csv, options)
    }

    #[test]
    fn names_come_from_the_header() {
        let shape = of(",a,a,class\n0,1,2,x\n1,2,3,y\n", &ReadOptions::default()).unwrap();
        assert_eq!(shape.names, ["0", "a", "a.2", "class"]);
        assert_eq!(shape.unnamed, [0]);
        assert_eq!(shape.label_column(None).unwrap().column, 3);
        assert_eq!(shape.label_column(Some("a")).unwrap().column, 1);
        let error = shape.label_column(Some("clas")).unwrap_err().to_string();
        assert!(error.contains("nearest names are class"), "{error}");
    }

    #[test]
    fn trailing_delimiters_do_not_hide_the_label() {
        let shape = of("1,x,\n2,y,\n", &ReadOptions::default()).unwrap();
        assert_eq!(shape.label_column(None).unwrap().column, 1);
        assert_eq!(shape.names, ["0", "1", "2"]);
    }

    #[test]
    fn a_header_of_another_width_names_nothing() {
        let text = "3,2,a,b\n1,2\n3,4\n5,6\n";
        let options = ReadOptions {
            header: Some(true),
            ..ReadOptions::default()
        };
        let shape = of(text, &options).unwrap();
        assert_eq!(shape.names, ["0", "1"]);
        assert_eq!(shape.notes.len(), 1);
        assert!(
            of("a,b\n", &options)
                .unwrap_err()
                .to_string()
                .contains("no rows")
        );
        assert!(
            of("\n \n", &options)
                .unwrap_err()
                .to_string()
                .contains("no rows")
        );
    }
}
