//! A file that a saved model meets: prepared a batch at a time, in file order.
//!
//! Columns are found by name where the file has a header, otherwise by place. Memory does
//! not grow with the file.

use std::path::Path;
use std::sync::Arc;

use super::chunk::{Chunk, Chunker, Cut};
use super::faults::{Faults, Tally};
use super::format::Format;
use super::idx;
use super::images::ImagesRaw;
use super::labels::{ABSENT, LabelRules, LabelSink};
use super::libsvm::{self, Rules};
use super::order::Order;
use super::pipeline::InOrder;
use super::prepare::{Input, PlannedColumn, Preparation};
use super::raw::refuse_not_finite;
use super::scale::{first_not_finite, overflows_scaled};
use super::source::Source;
use super::sparse::{SparseRaw, Wanted};
use super::table::encode::{Encoder, Lookup, Role, Unseen};
use super::table::parse::{Scheme, Take, label_codes, parse};
use super::table::shape::{self, find_column, header_names};
use super::{Opened, ReadOptions, open};
use crate::data::read::delimited::{Dialect, looks_like_header};
use crate::data::{Classes, Layout, Matrix, Precision};
use crate::error::{Error, Result};

/// Rows of images in a batch.
const IMAGE_ROWS: usize = 1024;

/// Some rows of a file, prepared.
#[derive(Debug)]
pub struct Batch {
    /// The number of its first row among the rows read, from 0.
    pub first_row: usize,
    /// Their features.
    pub matrix: Matrix,
    /// Their labels, if the file has any.
    pub labels: Option<Vec<LabelFound>>,
}

/// The label of a row, in the eyes of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelFound {
    /// One of its classes.
    Class(u32),
    /// A label it has not learnt.
    Unknown(String),
    /// The row has none.
    Absent,
}

/// What was met on the way.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct BatchesReport {
    /// Rows so far.
    pub rows: usize,
    /// Bytes so far, decompressed.
    pub bytes: u64,
    /// Rows left out because they could not be read.
    pub skipped: u64,
    /// Why the first of them could not.
    pub skipped_messages: Vec<String>,
    /// Values that the model has not seen.
    pub unseen: Unseen,
    /// Things worth knowing.
    pub notes: Vec<String>,
}

/// The rows of a file in batches, in order.
pub struct Batches {
    inner: Inner,
    tally: Tally,
    report: BatchesReport,
    ended: bool,
}

enum Inner {
    Text(InOrder<Result<Made>>),
    Images(Box<ImageBatches>),
}

/// A batch that a thread has made.
struct Made {
    matrix: Matrix,
    labels: Option<Vec<LabelFound>>,
    unseen: Unseen,
    faults: Faults,
    /// A row with a value that is not finite once scaled.
    overflowing: Option<usize>,
}

/// What every thread needs to make batches.
struct Model {
    preparation: Preparation,
    classes: Classes,
    rules: LabelRules,
}

impl Model {
    /// A row that scaling has made unusable. Nothing else can make one.
    fn overflowing(&self, matrix: &Matrix) -> Option<usize> {
        let scaled = self.preparation.scale.by_column();
        scaled.then(|| first_not_finite(matrix)).flatten()
    }

    /// What the labels mean to the model; `None` if no row has one.
    fn labels(&self, sink: &LabelSink, codes: &[u32]) -> Option<Vec<LabelFound>> {
        if codes.iter().all(|&c| c == ABSENT) && !codes.is_empty() {
            return None;
        }
        let mut finder = self.classes.finder();
        let found: Vec<LabelFound> = (0..sink.names.len() as u32)
            .map(|i| match self.rules.find(sink.names.text(i), &mut finder) {
                Ok(class) => LabelFound::Class(class),
                Err(text) => LabelFound::Unknown(text.into_owned()),
            })
            .collect();
        let of = |&c: &u32| found.get(c as usize).cloned().unwrap_or(LabelFound::Absent);
        Some(codes.iter().map(of).collect())
    }
}

impl Batches {
    /// Opens the file at `path` (`-` is standard input) for a model with this preparation
    /// and these classes.
    pub fn open(
        path: impl AsRef<Path>,
        preparation: &Preparation,
        classes: &Classes,
        options: &ReadOptions,
    ) -> Result<Self> {
        Self::from_source(&Source::new(path.as_ref())?, preparation, classes, options)
    }

    /// The same from any reader; messages call it `name`.
    pub fn from_reader(
        reader: impl std::io::Read + Send + 'static,
        name: impl AsRef<Path>,
        preparation: &Preparation,
        classes: &Classes,
        options: &ReadOptions,
    ) -> Result<Self> {
        let source = Source::stream(name.as_ref(), Box::new(reader));
        Self::from_source(&source, preparation, classes, options)
    }

    fn from_source(
        source: &Source,
        preparation: &Preparation,
        classes: &Classes,
        options: &ReadOptions,
    ) -> Result<Self> {
        let mut options = options.clone();
        options.precision = preparation.precision;
        if options.format.is_none() {
            options.format = Some(expected_format(source.name(), &preparation.input));
        }
        let mut rules = options.label_rules();
        rules.map.extend(preparation.labels.map.iter().cloned());
        if rules.positive.is_none() {
            rules.positive.clone_from(&preparation.labels.positive);
        }
        let model = Arc::new(Model {
            preparation: preparation.clone(),
            classes: classes.clone(),
            rules,
        });
        let opened = open(source, &options)?;
        let place = |e: Error| match e.position() {
            Some(position) if !position.file.as_os_str().is_empty() => e,
            _ => e.in_file(source.name()),
        };
        let mut report = BatchesReport::default();
        let inner = match (&preparation.input, opened.format) {
            (Input::Sparse { .. }, Format::Libsvm) => {
                sparse_batches(source, opened, model, &options)
            }
            (Input::Table { .. }, Format::Csv | Format::Tsv) => {
                table_batches(source, opened, model, &options, &mut report.notes).map_err(place)?
            }
            (Input::Images { .. }, Format::Idx) => {
                image_batches(source, opened, model, &options).map_err(place)?
            }
            (_, format) => {
                return Err(
                    Error::data(format!("the model did not learn from {format} files"))
                        .in_file(source.name())
                        .remedy("give a file in the format of the training file"),
                );
            }
        };
        Ok(Batches {
            inner,
            tally: Tally::new(source.name()),
            report,
            ended: false,
        })
    }

    /// What was met so far.
    pub fn report(&self) -> &BatchesReport {
        &self.report
    }

    fn take(&mut self, made: Made) -> Result<Batch> {
        let first_row = self.report.rows;
        // A fault that ends the reading lies behind every row that was made.
        if let Some(row) = made.overflowing {
            return Err(overflows_scaled(first_row + row).in_file(self.tally.file()));
        }
        self.tally.add(made.faults)?;
        self.report.rows += made.matrix.rows();
        self.report.bytes = self.tally.bytes;
        self.report.skipped = self.tally.skipped;
        self.report
            .skipped_messages
            .clone_from(&self.tally.messages);
        self.report.unseen += made.unseen;
        Ok(Batch {
            first_row,
            matrix: made.matrix,
            labels: made.labels,
        })
    }
}

impl Iterator for Batches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        while !self.ended {
            let made = match &mut self.inner {
                Inner::Text(chunks) => chunks.next().map(|made| made.and_then(|made| made)),
                Inner::Images(images) => {
                    let made = images.next().transpose();
                    self.tally.bytes = images.images.bytes;
                    made
                }
            };
            let batch = made.map(|made| made.and_then(|made| self.take(made)));
            match batch {
                Some(Ok(batch)) if batch.matrix.rows() == 0 => {}
                Some(Ok(batch)) => return Some(Ok(batch)),
                other => {
                    self.ended = true;
                    return other;
                }
            }
        }
        None
    }
}

/// The format that a model expects, unless the file's name says otherwise.
fn expected_format(path: &Path, input: &Input) -> Format {
    match input {
        Input::Sparse { .. } => match super::format::by_name(path) {
            Some(Ok(named @ (Format::Csv | Format::Tsv))) => named,
            _ => Format::Libsvm,
        },
        Input::Images { .. } => Format::Idx,
        Input::Table { format, .. } => match super::format::by_name(path) {
            Some(Ok(named @ (Format::Csv | Format::Tsv))) => named,
            _ => *format,
        },
    }
}

fn sparse_batches(
    source: &Source,
    opened: Opened,
    model: Arc<Model>,
    options: &ReadOptions,
) -> Inner {
    let chunker = Chunker::new(opened.all, source.name(), options.chunk_bytes, Cut::Lines);
    let on_error = options.on_error;
    Inner::Text(InOrder::new(chunker, options.threads, move |chunk| {
        make_sparse(chunk, &model, on_error)
    }))
}

fn make_sparse(chunk: &Chunk, model: &Model, on_error: super::OnError) -> Result<Made> {
    let Input::Sparse {
        first,
        width,
        moments,
    } = &model.preparation.input
    else {
        return Err(Error::model("this model has no sparse features"));
    };
    let rules = Rules {
        labels_required: false,
        from_one: *first == 1,
        on_error,
        keep_long_decimals: false,
    };
    let precision = model.preparation.precision;
    let mut part = match precision {
        Precision::F32 => libsvm::parse::<f32>(chunk, rules),
        Precision::F64 => libsvm::parse::<f64>(chunk, rules),
    };
    let want = Wanted {
        first: *first,
        width: *width,
        scale: model.preparation.scale,
        moments,
    };
    let faults = std::mem::take(&mut part.faults);
    let labels = model.labels(&part.labels, &part.labels.codes);
    let unseen = Unseen {
        features: (0..part.rows())
            .map(|i| (part.range(i).len() - want.kept(&part, part.range(i))) as u64)
            .sum(),
        ..Unseen::default()
    };
    let rows = part.rows();
    let raw = SparseRaw::new(vec![part], precision);
    let order = Order::new(rows, None, Layout::AsGiven, 1);
    let matrix = raw.matrix(&order, &want, 1)?;
    Ok(Made {
        overflowing: model.overflowing(&matrix),
        matrix,
        labels,
        unseen,
        faults,
    })
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

fn table_batches(
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
        ..
    } = &model.preparation.input
    else {
        return Err(Error::model("this model has no columns"));
    };
    let usual = Dialect {
        delimiter: options.delimiter.unwrap_or(*delimiter),
        quoting: opened.format != Format::Tsv,
        comment: options.comment_bytes().map(<[u8]>::to_vec),
    };
    let try_dialect = |dialect: &Dialect| {
        let records = shape::first_records(&opened.head, opened.whole, dialect);
        match_columns(&records, columns, *header, options)
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
        facts: false,
    };
    let lookup = Lookup::new(&columns.iter().map(|c| &c.role).collect::<Vec<_>>());
    let plan = plan_takes(columns);
    let has_label = matching.has_label;
    let chunker = Chunker::new(
        opened.all,
        source.name(),
        options.chunk_bytes,
        scheme.dialect.cut(),
    );
    Ok(Inner::Text(InOrder::new(
        chunker,
        options.threads,
        move |chunk| make_table(chunk, &model, &scheme, &lookup, &plan, has_label),
    )))
}

fn make_table(
    chunk: &Chunk,
    model: &Model,
    scheme: &Scheme,
    lookup: &Lookup,
    plan: &[Take],
    has_label: bool,
) -> Result<Made> {
    let Input::Table { columns, .. } = &model.preparation.input else {
        return Err(Error::model("this model has no columns"));
    };
    let precision = model.preparation.precision;
    let parsed = match precision {
        Precision::F32 => parse::<f32>(chunk, scheme),
        Precision::F64 => parse::<f64>(chunk, scheme),
    };
    let roles: Vec<&Role> = columns.iter().map(|c| &c.role).collect();
    let scale = model.preparation.scale;
    let encoder = Encoder::new(&roles, plan, lookup, &parsed.levels, &parsed.words, scale)?;
    let locate = |i: usize| (&parsed.part, i);
    let (matrix, unseen) = match precision {
        Precision::F32 => encoder.matrix::<f32>(parsed.part.rows, locate, 1),
        Precision::F64 => encoder.matrix::<f64>(parsed.part.rows, locate, 1),
    };
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
fn plan_takes(columns: &[PlannedColumn]) -> Vec<Take> {
    let (mut numbers, mut categories, mut texts) = (0, 0, 0);
    let next = |slot: &mut usize| {
        *slot += 1;
        *slot - 1
    };
    columns
        .iter()
        .map(|c| match c.role {
            // The file may lack it.
            _ if c.role.features() == 0 && c.role != Role::Label => Take::Skip,
            Role::Number { .. } => Take::Number {
                slot: next(&mut numbers),
                fixed: true,
            },
            Role::Category { .. } => Take::Category {
                slot: next(&mut categories),
            },
            Role::Text { .. } => Take::Text {
                slot: next(&mut texts),
            },
            Role::Label => Take::Label,
            Role::Weight | Role::Ignored => Take::Skip,
        })
        .collect()
}

fn match_columns(
    records: &[Vec<Vec<u8>>],
    columns: &[PlannedColumn],
    trained_with_header: bool,
    options: &ReadOptions,
) -> Result<Matching> {
    let plan = plan_takes(columns);
    let Some(first) = records.first() else {
        return Err(Error::data("the file holds no rows").remedy("give a file with data"));
    };
    let makes_features = |c: &PlannedColumn| c.role.features() > 0;
    let named = |cell: &Vec<u8>| {
        columns
            .iter()
            .any(|c| makes_features(c) && c.name.as_bytes() == cell.trim_ascii())
    };
    let header = options.header.unwrap_or_else(|| {
        if trained_with_header {
            // A file like the one trained on has a header; a first record with a number in
            // it is data.
            let number = |cell: &Vec<u8>| super::number::whole::<f64>(cell).is_some();
            first.iter().any(named) || !first.iter().any(number)
        } else {
            looks_like_header(records)
        }
    });
    let data = if header { &records[1..] } else { records };
    let mut widths: Vec<usize> = data.iter().map(Vec::len).collect();
    widths.sort_unstable();
    let width = widths.get(widths.len() / 2).copied().unwrap_or(first.len());
    let by_name = header && trained_with_header && first.len() == width && first.iter().any(named);
    let mut notes = Vec::new();
    let mut takes = vec![Take::Skip; width];
    let names: Vec<String>;
    if by_name {
        names = header_names(first)?;
        let mut used = vec![false; width];
        for (column, take) in columns.iter().zip(&plan) {
            match names.iter().position(|n| *n == column.name) {
                Some(i) => {
                    takes[i] = *take;
                    used[i] = true;
                }
                None if makes_features(column) => {
                    return Err(Error::data(format!(
                        "the file has no column {}, which the model needs",
                        column.name
                    ))
                    .at(1, 1)
                    .remedy("give a file with the columns of the training file"));
                }
                None => {}
            }
        }
        let extra: Vec<&str> = (0..width)
            .filter(|&i| !used[i])
            .take(10)
            .map(|i| names[i].as_str())
            .collect();
        if !extra.is_empty() {
            notes.push(format!(
                "columns that the model does not know are left out: {}",
                extra.join(", ")
            ));
        }
    } else {
        let label = columns.iter().position(|c| c.role == Role::Label);
        if width == columns.len() {
            takes.clone_from(&plan);
            names = columns.iter().map(|c| c.name.clone()).collect();
        } else if label.is_some() && width + 1 == columns.len() {
            let kept = || (0..columns.len()).filter(|&i| Some(i) != label);
            takes = kept().map(|i| plan[i]).collect();
            names = kept().map(|i| columns[i].name.clone()).collect();
        } else {
            let without = if label.is_some() {
                format!(", or {} without the label", columns.len() - 1)
            } else {
                String::new()
            };
            return Err(Error::data(format!(
                "the model needs {} columns{without}; this file has {width}",
                columns.len()
            ))
            .at(1, 1)
            .remedy("give a file with the columns of the training file, or one with a header"));
        }
    }
    if let Some(wanted) = &options.label {
        let i = find_column(&names, wanted, "--label")?;
        if !matches!(takes[i], Take::Skip | Take::Label) {
            return Err(Error::options(format!(
                "--label {wanted}: the model uses that column as a feature"
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

/// Images, a block of rows at a time.
struct ImageBatches {
    images: idx::Rows,
    labels: Option<idx::Labels>,
    model: Arc<Model>,
    done: bool,
}

fn image_batches(
    source: &Source,
    opened: Opened,
    model: Arc<Model>,
    options: &ReadOptions,
) -> Result<Inner> {
    let images = idx::Rows::start(opened.all, source.name())?;
    let Input::Images { width, .. } = &model.preparation.input else {
        return Err(Error::model("this model has no images"));
    };
    if images.width != *width {
        return Err(Error::data(format!(
            "the model needs rows of {width} elements, these have {}",
            images.width
        ))
        .remedy("give images of the same size"));
    }
    let beside = idx::labels_path(source.name()).filter(|p| p.exists());
    let labels = match options.labels.clone().or(beside) {
        Some(path) => {
            let labels = idx::Labels::open(&path)?;
            idx::same_rows(&images, &labels)?;
            Some(labels)
        }
        None => None,
    };
    Ok(Inner::Images(Box::new(ImageBatches {
        images,
        labels,
        model,
        done: false,
    })))
}

impl ImageBatches {
    fn next(&mut self) -> Result<Option<Made>> {
        let mut bytes = Vec::new();
        let rows = if self.done {
            0
        } else {
            self.images.read(IMAGE_ROWS, &mut bytes)?
        };
        if rows == 0 {
            self.done = true;
            return Ok(None);
        }
        let Input::Images { width, moments, .. } = &self.model.preparation.input else {
            return Err(Error::model("this model has no images"));
        };
        let raw = ImagesRaw {
            bytes,
            element: self.images.element,
            rows,
            width: *width,
            shape: self.images.shape,
        };
        refuse_not_finite(&raw, self.model.preparation.precision)?;
        let want = Wanted {
            first: 0,
            width: *width,
            scale: self.model.preparation.scale,
            moments,
        };
        let order = Order::new(rows, None, Layout::AsGiven, 1);
        let labels = match &mut self.labels {
            None => None,
            Some(labels) => {
                let mut sink = LabelSink::default();
                for label in labels.read(rows)? {
                    sink.push_text(label.as_bytes()).map_err(|(_, e)| e)?;
                }
                self.model.labels(&sink, &sink.codes)
            }
        };
        let precision = self.model.preparation.precision;
        let matrix = raw.matrix(&order, &want, precision, 1);
        Ok(Some(Made {
            overflowing: self.model.overflowing(&matrix),
            matrix,
            labels,
            unseen: Unseen::default(),
            faults: Faults::default(),
        }))
    }
}
