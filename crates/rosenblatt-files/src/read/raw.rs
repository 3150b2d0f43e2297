//! A file as read, before any decision that depends on which rows train.

use super::chunk::{Chunker, Cut};
use super::converted::{self, Typed};
use super::format::Format;
use super::idx;
use super::images::ImagesRaw;
use super::interner::Interner;
use super::labels::{LabelRules, LabelSink};
use super::libsvm::{self, Rules, SparsePart};
use super::open::Opened;
use super::options::{MemoryUse, ReadOptions};
use super::order::Order;
use super::pipeline::InOrder;
use super::prepare::{Input, Preparation};
use super::report::{LongDecimal, ReadReport};
use super::row_errors::Tally;
use super::scale::{first_not_finite, overflows_scaled};
use super::source::{Bytes, Reader, Source};
use super::sparse::SparseRaw;
use super::table;
use super::table::encode::{Encoder, Lookup};
use super::table::parse::Take;
use super::table::raw::TableRaw;
use super::table::role::Role;
use super::table::shape::shape;
use super::table::warn::refuse_measurement;
use rosenblatt_core::data::{Classes, Dataset, Layout, Matrix, Precision};
use rosenblatt_core::{Error, Result};

/// A file as read: its content by type, its labels, and a report.
#[derive(Debug)]
pub struct Raw {
    pub(crate) content: Content,
    labels: Vec<u32>,
    classes: Classes,
    label_texts: Vec<(String, u32)>,
    pub(crate) rules: LabelRules,
    weights: Option<Vec<f64>>,
    long: Vec<LongDecimal>,
    pub(super) report: ReadReport,
    threads: usize,
}

#[derive(Debug)]
pub(crate) enum Content {
    Sparse(SparseRaw),
    Images(ImagesRaw),
    Table(TableRaw),
}

/// An error that names no file is about this one.
pub(super) fn in_source(error: Error, source: &Source) -> Error {
    match error.position() {
        Some(position) if !position.file.as_os_str().is_empty() => error,
        _ => source.locate(error),
    }
}

pub(super) fn report(source: &Source, format: Format, options: &ReadOptions) -> ReadReport {
    ReadReport {
        file: source.name().display().to_string(),
        format,
        precision: options.precision,
        ..ReadReport::default()
    }
}

fn note_skipped(report: &mut ReadReport, tally: Tally) {
    report.bytes = tally.bytes;
    report.skipped = tally.skipped;
    report.skipped_messages = tally.messages;
    if report.skipped > 0 {
        report.notes.push(format!(
            "{} could not be read and {} left out",
            match report.skipped {
                1 => "1 row".to_owned(),
                many => format!("{many} rows"),
            },
            if report.skipped == 1 { "is" } else { "are" }
        ));
    }
}

/// Reads libsvm rows, or those of Vowpal Wabbit; `keep` takes each part to those before it.
pub(super) fn read_sparse(
    source: &Source,
    bytes: impl Into<Bytes>,
    format: Format,
    options: &ReadOptions,
    mut keep: impl FnMut(&mut Vec<SparsePart>, SparsePart),
) -> Result<Raw> {
    let chunker = Chunker::new(bytes, source.name(), options.chunk_bytes, Cut::Lines);
    let rules = Rules {
        labels_required: true,
        from_one: false,
        on_error: options.on_error,
        keep_long_decimals: options.keep_long_decimals,
    };
    let precision = options.precision;
    let chunks = InOrder::new(chunker, options.threads, move |chunk| {
        libsvm::parse_format(chunk, format, precision, rules)
    });
    let mut tally = Tally::new(source);
    let mut weights: Vec<f64> = Vec::new();
    let mut names = Interner::default();
    let (mut codes, mut long, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut qids, mut unsorted) = (0, 0);
    let mut memory = MemoryUse::new(options, source.name());
    for part in chunks {
        let (mut part, mut heavy) = part?;
        weights.append(&mut heavy);
        tally.add(std::mem::take(&mut part.faults))?;
        let new = names.merge(&part.labels.names);
        let before = codes.len() as u64;
        codes.extend(part.labels.codes.iter().map(|&c| new[c as usize]));
        long.extend(part.long.drain(..).map(|l| LongDecimal {
            row: l.row + before,
            ..l
        }));
        part.labels = LabelSink::default();
        qids += part.qids;
        unsorted += part.unsorted;
        let bytes = part.bytes();
        let kept = parts.len();
        keep(&mut parts, part);
        if parts.len() > kept {
            memory.add(bytes)?;
        }
    }
    if codes.is_empty() {
        return Err(Error::data("the file holds no rows").remedy("give a file with data"));
    }
    let mut report = report(source, format, options);
    note_skipped(&mut report, tally);
    if qids > 0 {
        report
            .notes
            .push(format!("{qids} query ids (qid:) are left out"));
    }
    if unsorted > 0 {
        report.notes.push(format!(
            "{unsorted} rows had unsorted indices and were sorted"
        ));
    }
    let sparse = SparseRaw::new(parts, precision);
    let mut raw = Raw::new(Content::Sparse(sparse), codes, &names, report, options)?;
    raw.long = long;
    if weights.iter().any(|w| *w != 1.0) {
        raw.weights = Some(weights);
    }
    Ok(raw)
}

/// Reads a table; where its file is `typed`, this is its text.
pub(super) fn read_table(
    source: &Source,
    opened: Opened,
    typed: Option<Typed>,
    options: &ReadOptions,
) -> Result<Raw> {
    let format = opened.format;
    let shape = shape(&opened.head, opened.whole, format, options)?;
    let mut report = report(source, format, options);
    report.header = Some(shape.header);
    report.delimiter = Some(shape.dialect.delimiter.name());
    let read = if source.rereadable() {
        let text = source.text(opened.all, options.mapped)?;
        table::raw::read(source, text, shape, typed, options)?
    } else {
        // The kinds of the columns may need a second reading.
        let memory = source.buffered(opened.all)?;
        let text = super::open::text(&memory, options)?;
        table::raw::read(&memory, text, shape, typed, options)?
    };
    let found = read.found;
    note_skipped(&mut report, found.tally);
    report.columns = read.reports;
    report.notes.extend(read.notes);
    report.warnings = read.warnings;
    let content = Content::Table(found.table);
    let mut raw = Raw::new(content, found.labels, &found.label_names, report, options)?;
    raw.weights = options.weight_column.is_some().then_some(found.weights);
    raw.long = found.long;
    Ok(raw)
}

/// Reads a table that is no text in cells, as the text that it would be.
pub(super) fn read_converted(
    source: &Source,
    opened: Opened,
    options: &ReadOptions,
) -> Result<Raw> {
    let format = opened.format;
    let source = source.kept(opened.all)?;
    let typed = Typed::open(&source, format, options)?;
    let (text, options) = converted::as_text(&source, format, options)?;
    let raw = super::open::open(&text, &options)
        .and_then(|opened| read_table(&text, opened, typed, &options));
    let mut raw = raw.map_err(|e| in_source(e, &text))?;
    raw.report.format = format;
    raw.report.delimiter = None;
    Ok(raw)
}

pub(super) fn read_images(source: &Source, reader: Reader, options: &ReadOptions) -> Result<Raw> {
    let mut images = idx::Rows::start(reader, source.name())?;
    let path = options
        .labels
        .clone()
        .or_else(|| idx::labels_path(source.name()));
    let path = path.ok_or_else(|| {
        Error::options("where are the labels of these images?")
            .remedy("name their file with ⟨labels⟩")
    })?;
    let mut labels = idx::Labels::open(&path)?;
    idx::same_rows(&images, &labels)?;
    if images.rows == 0 {
        return Err(Error::data("the file holds no rows").remedy("give a file with data"));
    }
    let mut memory = MemoryUse::new(options, source.name());
    let at_once = (64 << 20) / images.row_bytes().max(1) + 1;
    let mut raw = images.read(at_once)?;
    memory.add(raw.bytes.len())?;
    while raw.rows < images.rows {
        let more = images.read(at_once)?;
        memory.add(more.bytes.len())?;
        raw.bytes.extend(more.bytes);
        raw.rows += more.rows;
    }
    refuse_not_finite(&raw, options.precision)?;
    let sink = labels.read(raw.rows)?;
    let mut report = report(source, Format::Idx, options);
    report.bytes = images.bytes;
    Raw::new(
        Content::Images(raw),
        sink.codes,
        &sink.names,
        report,
        options,
    )
}

/// Refuses floating-point elements that are no usable numbers, or none of this precision.
pub(crate) fn refuse_not_finite(images: &ImagesRaw, precision: Precision) -> Result<()> {
    if !matches!(images.element, idx::Element::F32 | idx::Element::F64) {
        return Ok(());
    }
    let fits = |x: f64| match precision {
        Precision::F32 => (x as f32).is_finite(),
        Precision::F64 => x.is_finite(),
    };
    for row in 0..images.rows {
        if let Some(x) = images.row(row).find(|x| !fits(*x)) {
            return Err(if x.is_finite() {
                Error::data(format!("row {row} holds {x:e}, which is too large for f32"))
                    .remedy("rescale the column, or train with ⟨precision f64⟩")
            } else {
                Error::data(format!("row {row} holds the value {x}"))
                    .remedy("features must be finite")
            });
        }
    }
    Ok(())
}

impl Raw {
    pub(super) fn new(
        content: Content,
        mut labels: Vec<u32>,
        names: &Interner,
        mut report: ReadReport,
        options: &ReadOptions,
    ) -> Result<Self> {
        let rules = options.label_rules();
        if let Content::Sparse(_) = content {
            refuse_measurement(
                "the labels",
                &labels,
                names,
                "give each row the name or number of its class",
            )?;
        }
        let (class_of, classes) = rules.classes(names, &labels)?;
        for label in &mut labels {
            *label = class_of[*label as usize];
        }
        let label_texts = (0..names.len() as u32)
            .map(|i| (names.text(i).into_owned(), class_of[i as usize]))
            .collect();
        report.rows = labels.len();
        Ok(Raw {
            content,
            labels,
            classes,
            label_texts,
            rules,
            weights: None,
            long: Vec::new(),
            report,
            threads: options.threads,
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// How many threads it was told to use.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The classes, label map and positive class applied.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The labels as the file writes them, each with the class it became.
    pub fn label_texts(&self) -> &[(String, u32)] {
        &self.label_texts
    }

    /// The class of each row, in file order.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The weight of each row, in file order.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// What was found and decided.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    /// Decimals that `f64` cannot stand for, if they were asked for.
    pub fn long_decimals(&self) -> &[LongDecimal] {
        &self.long
    }

    /// How many bits values keep.
    pub fn precision(&self) -> Precision {
        self.report.precision
    }

    /// The examples of these rows (or of all), prepared and laid out.
    pub fn dataset(
        &self,
        preparation: &Preparation,
        rows: Option<&[usize]>,
        layout: Layout,
    ) -> Result<Dataset> {
        self.require_rows(rows)?;
        let order = Order::new(self.rows(), rows, layout, self.threads);
        let matrix = self.matrix(preparation, &order)?;
        if preparation.scale.by_column()
            && let Some(place) = first_not_finite(&matrix)
        {
            let file = self.report.file.as_str();
            return Err(overflows_scaled(order.row_at(place)).in_file(file));
        }
        let weights = self.weights.as_ref();
        Ok(Dataset {
            matrix,
            labels: order.iter().map(|r| self.labels[r]).collect(),
            classes: self.classes.clone(),
            weights: weights.map(|w| order.iter().map(|r| w[r]).collect()),
            names: preparation.feature_names(),
            layout,
        })
    }

    /// All examples, prepared and laid out; what was read is dropped.
    pub fn into_dataset(self, preparation: &Preparation, layout: Layout) -> Result<Dataset> {
        self.dataset(preparation, None, layout)
    }

    /// Refuses a row that is not there.
    pub(super) fn require_rows(&self, rows: Option<&[usize]>) -> Result<()> {
        match rows.unwrap_or_default().iter().find(|&&r| r >= self.rows()) {
            None => Ok(()),
            Some(bad) => Err(Error::options(format!(
                "there is no row {bad}, only {}",
                self.rows()
            ))),
        }
    }

    fn matrix(&self, preparation: &Preparation, order: &Order<'_>) -> Result<Matrix> {
        match (&self.content, &preparation.input, preparation.wanted()) {
            (Content::Sparse(sparse), Input::Sparse { .. }, Some(want)) => {
                if sparse.first < want.first {
                    return Err(Error::data(
                        "the file has an index 0, but the features count from 1",
                    )
                    .remedy("renumber the file's indices from 1"));
                }
                sparse.matrix(order, &want, self.threads)
            }
            (Content::Images(images), Input::Images { .. }, Some(want))
                if images.width == want.width =>
            {
                Ok(images.matrix(order, &want, self.precision(), self.threads))
            }
            (Content::Table(raw), Input::Table { columns, text, .. }, _)
                if raw.columns.len() == columns.len() =>
            {
                let roles: Vec<&Role> = columns.iter().map(|c| &c.role).collect();
                let takes: Vec<Take> = raw.columns.iter().map(|c| c.take).collect();
                let lookup = Lookup::new(&roles);
                let encoder = Encoder::new(
                    &roles,
                    &takes,
                    &lookup,
                    &raw.levels,
                    &raw.words,
                    (preparation.scale, preparation.divisor(), text.sublinear),
                )?;
                let locate = |p: usize| raw.locate(order.row_at(p));
                Ok(encoder
                    .matrix(self.precision(), order.len(), locate, self.threads)
                    .0)
            }
            _ => Err(Error::data(
                "this file is of another sort than the one the model learnt from",
            )
            .remedy("give a file with the same columns or features")),
        }
    }
}
