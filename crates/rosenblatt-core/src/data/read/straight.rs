//! A libsvm file read straight to where training wants its rows.
//!
//! Where a row will stand in memory is known once the lines are counted, and where its values
//! begin once its colons are. So the text is gone through twice: first for its lines and labels,
//! at the speed of memory, then line by line in the order in which rows are wanted, each parsed to
//! its place. No number is held twice, which takes a fifth less time than parsing the text as it
//! comes and moving the rows afterwards, unless lines are short; and the first rows can be visited
//! while the last ones are parsed.
//!
//! That goes for files whose lines are all of the usual sort. Where one is not (it has a comment,
//! is out of order, cannot be read) nothing is made of it here: [`read`](super::read()) knows
//! what to do, and what to say.

mod fill;
mod survey;
mod text;

use std::path::Path;
use std::sync::Arc;

use memchr::memchr_iter;

use self::fill::Filling;
use self::survey::Survey;
use self::text::Text;
use super::order::Order;
use super::prepare::Preparation;
use super::raw::{Content, Raw, in_source, report};
use super::report::ReadReport;
use super::scale::Scale;
use super::source::{Source, Stamp};
use super::sparse::SparseRaw;
use super::{Format, Opened, ReadOptions, open};
use crate::data::{Dataset, Layout, Matrix};
use crate::error::Result;
use crate::parallel;

/// Bytes of a line for which finding it takes little of the time that parsing it does.
const LONG: usize = 640;

/// The examples of a file that is read at one go.
#[derive(Debug)]
pub struct Straight {
    /// What was read, without the rows; it never leaves this module.
    raw: Raw,
    preparation: Preparation,
    examples: Dataset,
}

impl Straight {
    /// The examples of the libsvm file at `path`, prepared and laid out: what
    /// [`read`](super::read()), [`Preparation::fit`] and [`Raw::dataset`] make of all its rows.
    /// None where they have to do it, or do it sooner: there is no such file, or it is of another
    /// format, compressed, a pipe, not to be mapped, or larger than memory, its lines are short or some of them not
    /// of the usual sort, its columns are to be scaled.
    ///
    /// # Errors
    /// If the file cannot be read, its labels are not what the options say, or it is written to.
    pub fn read(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        scale: Option<Scale>,
        layout: Layout,
    ) -> Result<Option<Self>> {
        let found = Self::begin(path, options, scale, layout)?;
        found.map_or(Ok(None), |found| found.finish(options.threads))
    }

    /// The same as soon as all but the rows is known. Each row is parsed when it is first asked
    /// for; a [`Session`](crate::Session) has threads do it that are free, and fails where
    /// [`read`](Self::read) finds none, which [`Dataset::arrived`] tells from other failures.
    ///
    /// # Errors
    /// If the file cannot be read or its labels are not what the options say.
    pub fn begin(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        scale: Option<Scale>,
        layout: Layout,
    ) -> Result<Option<Self>> {
        Self::of_lines(path.as_ref(), LONG, options, scale, layout)
    }

    /// The same if lines have so many bytes on average.
    fn of_lines(
        path: &Path,
        long: usize,
        options: &ReadOptions,
        scale: Option<Scale>,
        layout: Layout,
    ) -> Result<Option<Self>> {
        // A pipe must be opened by the one who reads it.
        let file = std::fs::metadata(path).is_ok_and(|facts| facts.is_file());
        let scale = scale.unwrap_or(Scale::None);
        if !(file && options.mapped) || scale.by_column() || options.keep_long_decimals {
            return Ok(None);
        }
        let source = Source::new(path)?;
        let Some((stamp, mapped)) = source.map()? else {
            return Ok(None);
        };
        let Opened { format, head, .. } = open(&source, options)?;
        let lines = memchr_iter(b'\n', &head).count();
        // Lines are met in any order, so all of them should stay in memory.
        if format != Format::Libsvm
            || head.len() < long * lines
            || stamp.bytes() > parallel::memory_to_use()
        {
            return Ok(None);
        }
        let text = Text::new(mapped);
        let found = examples(&source, stamp, text, options, scale, layout);
        found.map_err(|e| in_source(e, &source))
    }

    /// With all rows there, unless some are not of the usual sort.
    fn finish(self, threads: usize) -> Result<Option<Self>> {
        Ok(self.examples.arrived(threads)?.then_some(self))
    }

    /// What was found.
    pub fn report(&self) -> &ReadReport {
        self.raw.report()
    }

    /// The labels as the file writes them, each with the class it became.
    pub fn label_texts(&self) -> &[(String, u32)] {
        self.raw.label_texts()
    }

    /// How its rows became features, and the examples.
    pub fn into_parts(self) -> (Preparation, Dataset) {
        (self.preparation, self.examples)
    }
}

fn examples(
    source: &Source,
    stamp: Stamp,
    text: Text,
    options: &ReadOptions,
    scale: Scale,
    layout: Layout,
) -> Result<Option<Straight>> {
    let threads = options.threads;
    let Some(survey) = Survey::of(&text, threads) else {
        return Ok(None);
    };
    let bytes = text.len() as u64;
    let order = Arc::new(Order::new(survey.rows(), None, layout, threads));
    let survey = Arc::new(survey);
    let name = source.name().to_owned();
    let filling = Filling {
        survey: Arc::clone(&survey),
        order: Arc::clone(&order),
        scale,
    };
    let begin = || {
        let unchanged = move || stamp.require_same(&name);
        filling.begin(text, options.precision, Box::new(unchanged))
    };
    let label = || {
        let mut report = report(source, Format::Libsvm, options);
        report.bytes = bytes;
        let rows = SparseRaw::without_rows(survey.first, survey.width, options.precision);
        let content = Content::Sparse(rows);
        let raw = Raw::new(content, survey.codes(), &survey.names, report, options)?;
        let preparation = Preparation::fit(&raw, None, Some(scale))?;
        let labels = raw.labels_in(&order);
        Ok((raw, preparation, labels))
    };
    let (begun, labelled) = parallel::both(threads, begin, label);
    let Some((offsets, indices, values)) = begun else {
        return Ok(None);
    };
    let (raw, preparation, labels) = labelled?;
    let matrix = Matrix::Sparse {
        columns: preparation.features(),
        offsets: offsets.into(),
        indices,
        values,
    };
    let examples = raw.with_labels(matrix, labels, &order, &preparation, layout);
    Ok(Some(Straight {
        raw,
        preparation,
        examples,
    }))
}

#[cfg(test)]
mod tests;
