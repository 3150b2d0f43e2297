//! A file that a saved model meets: prepared a batch at a time, in file order.
//!
//! Columns are found by name where the file has a header, otherwise by place. Memory does
//! not grow with the file.

mod tables;

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub(super) use tables::{numbers_in_order, plan_takes, records_in_order, table_batches};

use super::chunk::{Chunk, Chunker, Cut};
use super::format::Format;
use super::idx;
use super::labels::{ABSENT, LabelRules, LabelSink};
use super::libsvm::{self, Rules};
use super::open::Opened;
use super::options::ReadOptions;
use super::order::Order;
use super::pipeline::InOrder;
use super::prepare::{Input, Preparation};
use super::raw::refuse_not_finite;
use super::row_errors::{OnError, RowErrors, Tally};
use super::scale::{first_not_finite, overflows_scaled};
use super::source::Source;
use super::sparse::SparseRaw;
use super::table::role::Unseen;
use rosenblatt_core::data::{ClassFinder, Classes, Layout, Matrix};
use rosenblatt_core::{Error, Result, Wording};

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
    pub skipped_messages: Vec<Wording>,
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

pub(crate) enum Inner {
    Text(Box<InOrder<Result<Made>>>),
    Images(Box<ImageBatches>),
}

impl Made {
    /// The batch, if nothing is wrong with its rows.
    pub(super) fn alone(self) -> Result<Batch> {
        if let Some(row) = self.overflowing {
            return Err(overflows_scaled(row));
        }
        if let Some(fault) = self.faults.fatal {
            return Err(fault);
        }
        Ok(Batch {
            first_row: 0,
            matrix: self.matrix,
            labels: self.labels,
        })
    }
}

/// A batch that a thread has made.
pub(crate) struct Made {
    matrix: Matrix,
    labels: Option<Vec<LabelFound>>,
    unseen: Unseen,
    faults: RowErrors,
    /// A row with a value that is not finite once scaled.
    overflowing: Option<usize>,
}

/// What every thread needs to make batches.
pub(crate) struct Model {
    preparation: Preparation,
    classes: Classes,
    rules: LabelRules,
    /// Whether a libsvm row without a label is a fault, as it is in training.
    labels_required: bool,
    /// What a table needs besides.
    columns: OnceLock<tables::Columns>,
}

impl Model {
    /// What a model with this preparation and these classes asks of a file, read with these
    /// options; they are completed by what the preparation says.
    pub(super) fn new(
        name: &Path,
        preparation: &Preparation,
        classes: &Classes,
        options: &mut ReadOptions,
        labels_required: bool,
    ) -> Self {
        options.precision = preparation.precision;
        if options.format.is_none() {
            options.format = Some(expected_format(name, &preparation.input));
        }
        let mut rules = options.label_rules();
        rules.map.extend(preparation.labels.map.iter().cloned());
        if rules.positive.is_none() {
            rules.positive.clone_from(&preparation.labels.positive);
        }
        Model {
            preparation: preparation.clone(),
            classes: classes.clone(),
            rules,
            labels_required,
            columns: OnceLock::new(),
        }
    }

    /// How files become its features.
    pub(super) fn input(&self) -> &Input {
        &self.preparation.input
    }

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
            .map(|i| self.found(sink.names.text(i), &mut finder))
            .collect();
        let of = |&c: &u32| found.get(c as usize).cloned().unwrap_or(LabelFound::Absent);
        Some(codes.iter().map(of).collect())
    }

    fn found(&self, label: Cow<'_, str>, finder: &mut ClassFinder<'_>) -> LabelFound {
        match self.rules.find(label, finder) {
            Ok(class) => LabelFound::Class(class),
            Err(text) => LabelFound::Unknown(text.into_owned()),
        }
    }

    /// What a label means to the model.
    pub(super) fn label(&self, text: &str) -> LabelFound {
        self.found(text.into(), &mut self.classes.finder())
    }
}

impl Batches {
    /// Batches that are made so.
    pub(super) fn new(inner: Inner, source: &Source, notes: Vec<String>) -> Self {
        Batches {
            inner,
            tally: Tally::new(source),
            report: BatchesReport {
                notes,
                ..BatchesReport::default()
            },
            ended: false,
        }
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
            Some(named) if named.is_table() || named == Format::Vw => named,
            _ => Format::Libsvm,
        },
        Input::Images { .. } => Format::Idx,
        Input::Table { format, .. } => match super::format::by_name(path) {
            Some(named) if named.is_table() => named,
            _ => *format,
        },
    }
}

pub(super) fn sparse_batches(
    source: &Source,
    opened: Opened,
    model: Arc<Model>,
    options: &ReadOptions,
) -> Inner {
    let chunker = Chunker::new(opened.all, source.name(), options.chunk_bytes, Cut::Lines);
    let (on_error, format) = (options.on_error, opened.format);
    let made = InOrder::new(chunker, options.threads, move |chunk| {
        make_sparse(chunk, &model, format, on_error)
    });
    Inner::Text(Box::new(made))
}

pub(super) fn make_sparse(
    chunk: &Chunk,
    model: &Model,
    format: Format,
    on_error: OnError,
) -> Result<Made> {
    let Some(want) = model.preparation.wanted() else {
        return Err(Error::model("this model has no sparse features"));
    };
    let rules = Rules {
        labels_required: model.labels_required,
        from_one: want.first == 1,
        on_error,
        keep_long_decimals: false,
    };
    let precision = model.preparation.precision;
    let mut part = libsvm::parse_format(chunk, format, precision, rules).0;
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

/// Images, a block of rows at a time.
pub(crate) struct ImageBatches {
    images: idx::Rows,
    labels: Option<idx::Labels>,
    model: Arc<Model>,
}

pub(super) fn image_batches(
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
    })))
}

impl ImageBatches {
    fn next(&mut self) -> Result<Option<Made>> {
        let raw = self.images.read(IMAGE_ROWS)?;
        let rows = raw.rows;
        if rows == 0 {
            return Ok(None);
        }
        let Some(want) = self.model.preparation.wanted() else {
            return Err(Error::model("this model has no images"));
        };
        refuse_not_finite(&raw, self.model.preparation.precision)?;
        let order = Order::new(rows, None, Layout::AsGiven, 1);
        let labels = match &mut self.labels {
            None => None,
            Some(labels) => {
                let sink = labels.read(rows)?;
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
            faults: RowErrors::default(),
        }))
    }
}
