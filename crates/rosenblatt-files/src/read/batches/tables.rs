//! Batches of a table: its columns are matched with those of the model.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::chunk::{Chunk, Chunker};
use super::super::delimited::{Delimiter, Dialect};
use super::super::number;
use super::super::open::Opened;
use super::super::options::ReadOptions;
use super::super::pipeline::InOrder;
use super::super::prepare::{Input, PlannedColumn};
use super::super::report::ColumnRole;
use super::super::row_errors::OnError;
use super::super::scale::RowDivisor;
use super::super::sniff::{Record, looks_like_header, usual_width};
use super::super::source::Source;
use super::super::table::encode::{Encoder, Lookup};
use super::super::table::numeric::NumericColumns;
use super::super::table::parse::{Scheme, Take, Use, label_codes, parse, takes};
use super::super::table::role::Role;
use super::super::table::shape::{self, find_column, header_names};
use super::{Inner, Made, Model};
use rosenblatt_core::data::{Matrix, Precision};
use rosenblatt_core::{Error, Result};

/// Columns that a note names at most.
const MOST_NAMED: usize = 10;

/// What follows from the columns of a model, whatever the file.
pub(crate) struct Columns {
    lookup: Lookup,
    /// Where each column is kept while a batch is made.
    plan: Vec<Take>,
    /// How records of all columns in the model's order are read, between commas.
    in_order: Scheme,
    has_label: bool,
    /// If the features are numbers, scaled one by one.
    numeric: Option<NumericColumns>,
}

impl Model {
    /// What follows from its columns.
    fn columns(&self) -> Result<&Columns> {
        let Input::Table { columns, text, .. } = &self.preparation.input else {
            return Err(Error::model("this model has no columns"));
        };
        Ok(self.columns.get_or_init(|| {
            let roles: Vec<&Role> = columns.iter().map(|c| &c.role).collect();
            let plan = plan_takes(columns);
            Columns {
                lookup: Lookup::new(&roles),
                in_order: Scheme {
                    dialect: Dialect {
                        delimiter: Delimiter::Byte(b','),
                        quoting: true,
                        comment: None,
                    },
                    header: false,
                    names: columns.iter().map(|c| c.name.clone()).collect(),
                    takes: plan.clone(),
                    labels_required: false,
                    on_error: OnError::Fail,
                    keep_long_decimals: false,
                    cells_in_front: 0,
                    cut: text.cut,
                    label_guess: None,
                    facts: false,
                },
                has_label: plan.contains(&Take::Label),
                numeric: NumericColumns::of(&roles)
                    .filter(|_| self.preparation.divisor() == RowDivisor::One),
                plan,
            }
        }))
    }
}

/// Records of all columns in the model's order, between commas, without a header.
pub(crate) fn records_in_order(chunk: &Chunk, model: &Model) -> Result<Made> {
    let known = model.columns()?;
    make_table(chunk, model, &known.in_order, known.has_label)
}

/// Rows of plain numbers, a text for each feature; `None` unless they can be had so.
pub(crate) fn numbers_in_order<'a>(
    model: &Model,
    texts: impl ExactSizeIterator<Item = &'a str>,
) -> Option<Matrix> {
    let numeric = model.columns().ok()?.numeric.as_ref()?;
    match model.preparation.precision {
        Precision::F32 => numeric.rows::<f32>(texts),
        Precision::F64 => numeric.rows::<f64>(texts),
    }
}

/// How the columns of a file answer to those of the model.
#[derive(Debug)]
struct Matching {
    /// For each column of the file.
    takes: Vec<Take>,
    names: Vec<String>,
    header: bool,
    has_label: bool,
    notes: Vec<String>,
}

pub(crate) fn table_batches(
    source: &Source,
    opened: Opened,
    model: Arc<Model>,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Inner> {
    let Input::Table {
        delimiter,
        header,
        columns,
        text,
        ..
    } = &model.preparation.input
    else {
        return Err(Error::model("this model has no columns"));
    };
    let usual = Dialect {
        delimiter: options.delimiter.unwrap_or(*delimiter),
        quoting: opened.format.cells().is_none_or(|cells| cells.quoting),
        comment: options.comment_bytes().map(<[u8]>::to_vec),
    };
    let try_dialect = |dialect: &Dialect| {
        let records = shape::first_records(&opened.head, opened.whole, dialect);
        match_columns(&records, opened.whole, columns, *header, options)
    };
    let (dialect, matching) = match try_dialect(&usual) {
        Ok(matching) => (usual, matching),
        Err(error) => {
            // Perhaps this file is written another way.
            let other = shape::dialect(&opened.head, opened.whole, opened.format, options);
            match try_dialect(&other) {
                Ok(matching) => (other, matching),
                Err(_) => return Err(error),
            }
        }
    };
    notes.extend(matching.notes);
    let scheme = Scheme {
        dialect,
        header: matching.header,
        names: matching.names,
        takes: matching.takes,
        labels_required: false,
        on_error: options.on_error,
        keep_long_decimals: false,
        cells_in_front: source.cells_in_front(),
        cut: text.cut,
        label_guess: None,
        facts: false,
    };
    let has_label = matching.has_label;
    let chunker = Chunker::new(
        opened.all,
        source.name(),
        options.chunk_bytes,
        scheme.dialect.cut(),
    );
    let made = InOrder::new(chunker, options.threads, move |chunk| {
        make_table(chunk, &model, &scheme, has_label)
    });
    Ok(Inner::Text(Box::new(made)))
}

fn make_table(chunk: &Chunk, model: &Model, scheme: &Scheme, has_label: bool) -> Result<Made> {
    let Input::Table { columns, text, .. } = &model.preparation.input else {
        return Err(Error::model("this model has no columns"));
    };
    let prepared = &model.preparation;
    let precision = prepared.precision;
    let parsed = match precision {
        Precision::F32 => parse::<f32>(chunk, scheme),
        Precision::F64 => parse::<f64>(chunk, scheme),
    };
    let roles: Vec<&Role> = columns.iter().map(|c| &c.role).collect();
    let known = model.columns()?;
    let encoder = Encoder::new(
        &roles,
        &known.plan,
        &known.lookup,
        &parsed.levels,
        &parsed.words,
        (prepared.scale, prepared.divisor(), text.sublinear),
    )?;
    let locate = |i: usize| (&parsed.part, i);
    let (matrix, unseen) = encoder.matrix(precision, parsed.part.rows, locate, 1);
    let labels = has_label
        .then(|| model.labels(&parsed.labels, &label_codes(&parsed)))
        .flatten();
    Ok(Made {
        overflowing: model.overflowing(&matrix),
        matrix,
        labels,
        unseen,
        faults: parsed.faults,
    })
}

/// Where each column of the model is kept while a batch is made.
pub(crate) fn plan_takes(columns: &[PlannedColumn]) -> Vec<Take> {
    let used_as = |column: &PlannedColumn| match &column.role {
        Role::Label => Use::plain(ColumnRole::Label),
        // The file may lack it.
        role if role.features() == 0 => Use::plain(ColumnRole::Ignore),
        Role::Number { form, strays, .. } => Use {
            fixed: !strays,
            form: *form,
            ..Use::plain(ColumnRole::Numeric)
        },
        Role::Date(date) => Use {
            fixed: !date.strays,
            order: date.order,
            ..Use::plain(ColumnRole::Date)
        },
        Role::Category { .. } => Use::plain(ColumnRole::Category),
        Role::Text { .. } => Use::plain(ColumnRole::Text),
        Role::Weight | Role::Ignored(_) => Use::plain(ColumnRole::Ignore),
    };
    takes(columns.iter().map(used_as))
}

fn match_columns(
    records: &[Record<'_>],
    whole: bool,
    columns: &[PlannedColumn],
    trained_with_header: bool,
    options: &ReadOptions,
) -> Result<Matching> {
    let Some(first) = records.first() else {
        return Err(Error::data("the file holds no rows").remedy("give a file with data"));
    };
    let named = |cell: &Cow<'_, [u8]>| {
        columns
            .iter()
            .any(|c| c.role.features() > 0 && c.name.as_bytes() == cell.trim_ascii())
    };
    let header = options.header.unwrap_or_else(|| {
        if trained_with_header {
            // A file like the one trained on has a header; a first record with a number in
            // it is data.
            let number = |cell: &Cow<'_, [u8]>| number::whole::<f64>(cell).is_some();
            first.iter().any(named) || !first.iter().any(number)
        } else {
            looks_like_header(records)
        }
    });
    let data = if header { &records[1..] } else { records };
    if whole && data.is_empty() {
        return Err(Error::data("the file holds a header and no rows")
            .remedy("give a file with rows, or ⟨header no⟩ where the first line is one"));
    }
    let width = usual_width(data).unwrap_or(first.len());
    // A header of another width than the rows names no columns, as it did in training.
    let numbered = || {
        (0..)
            .zip(columns)
            .all(|(i, c): (usize, _)| c.name == i.to_string())
    };
    let nameless = first.len() != width && numbered();
    let by_name = header && trained_with_header && !options.by_position && !nameless;
    let mut notes = Vec::new();
    let (names, mut takes) = if by_name {
        match_names(header_names(first)?, columns, options.header, &mut notes)?
    } else {
        match_places(width, columns)?
    };
    if let Some(wanted) = &options.label {
        let i = find_column(&names, wanted, "label")?;
        if !matches!(takes[i], Take::Skip | Take::Label) {
            return Err(Error::options(format!(
                "⟨label {wanted}⟩: the model uses that column as a feature"
            ))
            .remedy("name another column"));
        }
        takes
            .iter_mut()
            .filter(|t| **t == Take::Label)
            .for_each(|t| *t = Take::Skip);
        takes[i] = Take::Label;
    }
    let has_label = takes.contains(&Take::Label);
    Ok(Matching {
        takes,
        names,
        header,
        has_label,
        notes,
    })
}

/// The names in a header, and what to take of each column: what the model's column of that name
/// is.
fn match_names(
    names: Vec<String>,
    columns: &[PlannedColumn],
    header: Option<bool>,
    notes: &mut Vec<String>,
) -> Result<(Vec<String>, Vec<Take>)> {
    let mut takes = vec![None; names.len()];
    for (column, take) in columns.iter().zip(plan_takes(columns)) {
        match names.iter().position(|n| *n == column.name) {
            Some(i) => takes[i] = Some(take),
            None if column.role.features() > 0 => {
                return Err(Error::data(format!(
                    "the file has no column {}, which the model needs",
                    column.name
                ))
                .at(1, 1)
                .remedy(match header {
                    Some(_) => {
                        "give a file with the columns of the training file, or ⟨by-position⟩ where only the names differ"
                    }
                    None => {
                        "give a file with the columns of the training file, or ⟨by-position⟩ where only the names differ, or ⟨header no⟩ where the first line is data"
                    }
                }));
            }
            None => {}
        }
    }
    let unknown = names.iter().zip(&takes).filter(|(_, take)| take.is_none());
    let extra: Vec<&str> = unknown.map(|(name, _)| name.as_str()).collect();
    if !extra.is_empty() {
        let more = match extra.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        notes.push(format!(
            "{} that the model does not know {} left out: {}{more}",
            match extra.len() {
                1 => "1 column".to_owned(),
                n => format!("{n} columns"),
            },
            if extra.len() == 1 { "is" } else { "are" },
            extra[..extra.len().min(MOST_NAMED)].join(", ")
        ));
    }
    let takes = takes
        .iter()
        .map(|take| take.unwrap_or(Take::Skip))
        .collect();
    Ok((names, takes))
}

/// The same by place, for so many columns: those of the model, perhaps without the label.
fn match_places(width: usize, columns: &[PlannedColumn]) -> Result<(Vec<String>, Vec<Take>)> {
    let is_label = |c: &PlannedColumn| c.role == Role::Label;
    let has_label = columns.iter().any(is_label);
    let without_label = width + 1 == columns.len() && has_label;
    if width != columns.len() && !without_label {
        let without = match has_label {
            true => format!(", or {} without the label", columns.len() - 1),
            false => String::new(),
        };
        return Err(Error::data(format!(
            "the model needs {} columns{without}; this file has {width}",
            columns.len()
        ))
        .at(1, 1)
        .remedy("give a file with the columns of the training file, or one with a header"));
    }
    let kept = columns.iter().zip(plan_takes(columns));
    let kept = kept.filter(|(column, _)| !without_label || !is_label(column));
    Ok(kept
        .map(|(column, take)| (column.name.clone(), take))
        .unzip())
}
