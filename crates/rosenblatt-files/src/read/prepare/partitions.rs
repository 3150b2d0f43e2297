//! Tables whose rows lie in partitions, perhaps on several machines: what each partition says of
//! its columns of texts, united in the order of the partitions; the preparation that follows, that
//! of one file with all rows; and the rows of each partition.
//!
//! 1. [`CellFacts`] of each column of texts tell its kind;
//! 2. [`TermCounts`] of each column of the kind `text` tell its [`Vocabulary`], and whether it is
//!    [set aside](TermCounts::aside), for which [`Codes`] may be asked;
//! 3. where terms beyond the vocabulary share features that are weighed, each partition counts
//!    [its rows with them](Vocabulary::rows_with_buckets);
//! 4. [`prepare`] puts all columns together, and [`Preparation::partition`] makes rows.
//!
//! All that travels can be written and read as text.

use std::collections::{BTreeMap, HashSet};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::assemble;
use super::super::batches::plan_takes;
use super::super::delimited::Delimiter;
use super::super::format::Format;
use super::super::interner::{Interner, hash};
use super::super::labels::LabelRules;
use super::super::number::{self, too_large};
use super::super::report::{ColumnKind, ColumnReport, ColumnRole, ReadReport};
use super::super::row_errors::quote;
use super::super::scale::Scale;
use super::super::sniff::is_missing;
use super::super::table::cells::{self, NumberForm};
use super::super::table::encode::{Encoder, Lookup};
use super::super::table::kinds::Cells;
use super::super::table::parse::{MISSING, Slots, TablePart, Take, TextPart};
use super::super::table::role::{Aside, Role};
use super::super::table::warn;
use super::super::table::words::{Cutter, count_words};
use super::super::table::{BUCKETS, Facts, MOST_LEVELS, decide};
use super::super::text::{TermWeights, TextCut, TextOptions};
use super::columns::category;
use super::terms::{Kept, RowsWith, Weighing, rows_with_buckets};
use super::{Input, PlannedColumn, Preparation, TextRules, say};
use rosenblatt_core::data::{Matrix, Precision, StringTable, Values};
use rosenblatt_core::model::StoredPreparation;
use rosenblatt_core::{Error, Result, Wording};

/// Bytes of text, or terms, whose rows are made at a time.
const AT_ONCE: usize = 16 << 20;

/// A cell of a column of texts, if it is there.
pub type Cell<'a> = Option<&'a str>;

/// The cell, unless its text stands for a value that is not there.
fn filled(cell: Cell<'_>) -> Cell<'_> {
    cell.filter(|text| !is_missing(text.as_bytes()))
}

/// What is written as text, to be read on another machine.
pub trait Travels: Serialize + DeserializeOwned {
    /// The text.
    fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What the text stands for.
    ///
    /// # Errors
    /// If [`to_text`](Self::to_text) did not write it.
    fn of_text(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|e| Error::data(format!("this is damaged: {e}")))
    }
}

impl Travels for CellFacts {}
impl Travels for TermCounts {}
impl Travels for Codes {}
impl Travels for Vocabulary {}
impl Travels for Aside {}

/// What the cells of a column of texts say of its kind.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CellFacts {
    rows: u64,
    /// Words in all cells.
    words: u64,
    /// What the cells could be that are there.
    cells: Cells,
    /// The values, each with how often it comes; none if they are more than a category has.
    values: Option<BTreeMap<String, u64>>,
    /// Whether values are kept however many there are.
    all_values: bool,
}

impl CellFacts {
    /// Those of a partition; `all_values` if the column is to be a category, however many values
    /// it has.
    pub fn of<'a>(column: impl Iterator<Item = Cell<'a>>, all_values: bool) -> Self {
        let mut found = CellFacts {
            values: Some(BTreeMap::new()),
            all_values,
            ..CellFacts::default()
        };
        let mut counts: Vec<u64> = Vec::new();
        let mut known = Some(Interner::default());
        for cell in column {
            found.rows += 1;
            let Some(text) = filled(cell) else { continue };
            let Some(values) = &mut known else {
                found.count(text, 1);
                continue;
            };
            let (number, new) = values.intern(text.as_bytes());
            if new {
                counts.push(0);
            }
            counts[number as usize] += 1;
            if values.len() > MOST_LEVELS && !all_values {
                for (i, times) in (0..).zip(counts.drain(..)) {
                    found.count(&values.text(i), times);
                }
                (known, found.values) = (None, None);
            }
        }
        let kept = known.unwrap_or_default();
        for (i, times) in (0..).zip(counts) {
            found.count(&kept.text(i), times);
            if let Some(values) = &mut found.values {
                values.insert(kept.text(i).into_owned(), times);
            }
        }
        found
    }

    fn count(&mut self, text: &str, times: u64) {
        self.cells.count(text.as_bytes(), times);
        self.words += times * count_words(text);
    }

    /// Adds those of another partition.
    pub fn merge(&mut self, other: CellFacts) {
        self.rows += other.rows;
        self.words += other.words;
        self.cells.merge(other.cells);
        self.all_values |= other.all_values;
        self.values = match (self.values.take(), other.values) {
            (Some(mut values), Some(others)) => {
                for (value, times) in others {
                    *values.entry(value).or_default() += times;
                }
                (values.len() <= MOST_LEVELS || self.all_values).then_some(values)
            }
            _ => None,
        };
    }

    /// What the column is, by the rule for columns of files.
    pub fn kind(&self) -> ColumnKind {
        decide(&Facts {
            rows: self.rows,
            missing: self.rows - self.cells.filled,
            numeric: self.cells.are_numbers(self.form()),
            dates: self.cells.are_dates(),
            distinct: self.values.as_ref().map_or(MOST_LEVELS + 1, BTreeMap::len),
            words: self.words,
        })
    }

    /// How its numbers are written.
    fn form(&self) -> NumberForm {
        self.cells.tally.form(false)
    }

    /// Whether its numbers have decimal commas.
    pub fn has_decimal_commas(&self) -> bool {
        self.form() == NumberForm::Comma
    }

    fn aside(&self, name: &str, constant: bool) -> Option<Aside> {
        let values = self.values.iter().flatten();
        let levels: Vec<&[u8]> = values.map(|(value, _)| value.as_bytes()).collect();
        let counts = (self.cells.filled as usize, self.rows as usize);
        warn::category_aside(name, identifier(name), counts, &levels, constant)
    }
}

/// Why a column is set aside that tells the rows apart and nothing else.
fn identifier(name: &str) -> Aside {
    match name.is_empty() {
        true => Aside::Index,
        false => Aside::Identifier,
    }
}

/// The numbers that cells are written as, NaN where one is missing; `commas` says whether these are
/// decimal signs.
///
/// # Errors
/// If `fixed` and a cell is no number; if one is too large.
pub fn numbers<'a>(
    name: &str,
    column: impl Iterator<Item = Cell<'a>>,
    commas: bool,
    fixed: bool,
) -> Result<Vec<f64>> {
    let form = text_form(commas);
    column
        .map(|cell| number_of(name, cell, form, fixed))
        .collect()
}

/// How numbers may be written where commas are decimal signs, or not.
fn text_form(commas: bool) -> NumberForm {
    match commas {
        true => NumberForm::Comma,
        false => NumberForm::Grouped,
    }
}

fn number_of(name: &str, cell: Cell<'_>, form: NumberForm, fixed: bool) -> Result<f64> {
    let Some(text) = filled(cell) else {
        return Ok(f64::NAN);
    };
    let plain = cells::as_plain(text.as_bytes(), form);
    match plain.and_then(|plain| number::whole::<f64>(&plain)) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(too_large::<f64>(text)),
        None if fixed => Err(Error::data(format!(
            "expected a number in the column {name}, found {}",
            quote(text.as_bytes())
        ))
        .remedy(format!(
            "correct the cell, empty it, or pass ⟨column {name}=numeric-or-missing⟩"
        ))),
        None => Ok(f64::NAN),
    }
}

/// How many rows have each term of a column.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TermCounts {
    rows: usize,
    /// Rows with a term.
    filled: usize,
    /// Terms of all rows, each once for a row.
    terms: usize,
    /// By first appearance.
    #[serde(with = "strings")]
    known: Interner,
    rows_with: Vec<u32>,
    /// Hashes of the different texts, where the name of the column is one of identifiers.
    distinct: Option<HashSet<u64>>,
}

/// Texts of a column, cut into terms one after the other.
struct Texts {
    cutter: Cutter,
    known: Interner,
    stamps: Vec<(u32, u32)>,
    part: TextPart,
    /// How many texts were cut.
    row: u32,
}

impl Texts {
    fn new(cut: TextCut) -> Self {
        Texts {
            cutter: Cutter::new(cut),
            known: Interner::default(),
            stamps: Vec::new(),
            part: TextPart::default(),
            row: 0,
        }
    }

    /// Cuts the next text.
    fn push(&mut self, cell: Cell<'_>) {
        self.row += 1;
        match filled(cell) {
            Some(text) => {
                let (known, stamps) = (&mut self.known, &mut self.stamps);
                self.part
                    .push(text, self.row, &mut self.cutter, known, stamps);
            }
            None => self.part.ends.push(self.part.words.len() as u32),
        }
    }

    /// The distinct terms of the next text, by first appearance in it; those before it are
    /// forgotten.
    fn next(&mut self, cell: Cell<'_>) -> &[u32] {
        self.part.ends.clear();
        self.part.words.clear();
        self.part.counts.clear();
        self.push(cell);
        &self.part.words
    }
}

impl TermCounts {
    /// Those of a partition of the column called `name`.
    pub fn of<'a>(name: &str, column: impl Iterator<Item = Cell<'a>>, cut: TextCut) -> Self {
        let mut texts = Texts::new(cut);
        let mut found = TermCounts {
            distinct: warn::is_named_so(name).then(HashSet::new),
            ..TermCounts::default()
        };
        for cell in column {
            found.rows += 1;
            let terms = texts.next(cell);
            found.filled += usize::from(!terms.is_empty());
            found.terms += terms.len();
            for &term in terms {
                match found.rows_with.get_mut(term as usize) {
                    Some(rows) => *rows += 1,
                    // Terms are numbered as they come.
                    None => found.rows_with.push(1),
                }
            }
            if let Some(distinct) = &mut found.distinct {
                let (terms, known) = (&texts.part.words, &texts.known);
                distinct.insert(
                    terms
                        .iter()
                        .fold(0, |key, &term| hash(known.get(term), key)),
                );
            }
        }
        found.known = texts.known;
        found
    }

    /// Adds those of the partition behind it.
    ///
    /// # Errors
    /// If there are too many terms or rows to be counted.
    pub fn merge(&mut self, later: &TermCounts) -> Result<()> {
        self.rows += later.rows;
        self.filled += later.filled;
        self.terms += later.terms;
        if self.rows > u32::MAX as usize || self.known.len() + later.known.len() > MOST_TERMS {
            return Err(Error::data(format!(
                "a column of texts has too many rows or different terms: {} rows, {} terms",
                self.rows,
                self.known.len()
            ))
            .remedy("use shorter terms (⟨text words⟩), or fewer rows"));
        }
        let new = self.known.merge(&later.known);
        self.rows_with.resize(self.known.len(), 0);
        for (term, rows) in new.into_iter().zip(&later.rows_with) {
            self.rows_with[term as usize] += rows;
        }
        if let (Some(distinct), Some(others)) = (&mut self.distinct, &later.distinct) {
            distinct.extend(others);
        }
        Ok(())
    }

    /// Whether [`Codes`] must be known to say whether the column is set aside.
    pub fn asks_for_codes(&self) -> bool {
        let alone = self.rows_with.iter().filter(|&&rows| rows == 1).count();
        self.distinct.is_none()
            && self.filled >= warn::ENOUGH_ROWS
            && warn::short_enough_for_codes(self.terms, self.filled)
            && warn::nearly_all(alone, self.filled)
    }

    /// Why the column is to be set aside, if it is.
    pub fn aside(&self, name: &str, codes: Option<&Codes>) -> Option<Aside> {
        let distinct = || self.distinct.as_ref().map_or(0, HashSet::len);
        let codes = || codes.is_some_and(|codes| codes.0.are_codes(self.filled));
        warn::text_aside(name, identifier(name), self.filled, distinct, codes)
    }

    /// The terms that get a feature of their own.
    pub fn vocabulary(&self, options: &TextOptions, scale: Scale) -> Vocabulary {
        let seen: Vec<u32> = (0..self.known.len() as u32).collect();
        let all = RowsWith {
            known: &self.known,
            seen: &seen,
            frequency: &self.rows_with,
            rows: self.rows,
        };
        let weights = TermWeights::chosen(options.weights, scale);
        let kept = Kept::new(&all, options, weights.by_idf());
        Vocabulary {
            weighing: kept.weighing(),
            words: kept.words.iter().collect(),
            hashed: kept.hashed,
            weights: kept.weights,
        }
    }
}

/// Terms that can be told apart.
const MOST_TERMS: usize = u32::MAX as usize / 2;

/// What tells whether the texts of a column are codes, which tell the rows apart and nothing else.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Codes(warn::Codes);

impl Codes {
    /// That of a partition, given the terms of all.
    pub fn of<'a>(column: impl Iterator<Item = Cell<'a>>, cut: TextCut, all: &TermCounts) -> Self {
        let mut texts = Texts::new(cut);
        let mut rows_with = Vec::new();
        let mut found = Codes::default();
        for cell in column {
            texts.next(cell);
            for term in rows_with.len()..texts.known.len() {
                let place = all.known.find(texts.known.get(term as u32));
                rows_with.push(place.map_or(0, |place| all.rows_with[place as usize]));
            }
            found.0.add(&texts.part.words, &rows_with, &texts.known);
        }
        found
    }

    /// Adds that of another partition.
    pub fn merge(&mut self, other: Codes) {
        self.0.merge(other.0);
    }
}

/// The terms of a column with a feature of their own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Vocabulary {
    #[serde(with = "strings")]
    words: Interner,
    hashed: bool,
    weights: Vec<f64>,
    weighing: Weighing,
}

impl Vocabulary {
    fn kept(&self) -> Kept {
        let words = self.words.strings();
        Kept::from_parts(words, self.hashed, self.weights.clone(), self.weighing)
    }

    /// Whether it must be known how many rows have each of the features that other terms share.
    pub fn weighs_buckets(&self) -> bool {
        self.kept().weighs_buckets()
    }

    /// How many rows of a partition have each of the features that other terms share.
    pub fn rows_with_buckets<'a>(
        &self,
        column: impl Iterator<Item = Cell<'a>>,
        cut: TextCut,
    ) -> Vec<u32> {
        self.rows_with_buckets_in_batches(column, cut, AT_ONCE)
    }

    /// The same, about so many terms at a time.
    pub(crate) fn rows_with_buckets_in_batches<'a>(
        &self,
        column: impl Iterator<Item = Cell<'a>>,
        cut: TextCut,
        at_once: usize,
    ) -> Vec<u32> {
        let kept = self.kept();
        let mut texts = Texts::new(cut);
        let mut found = vec![0; BUCKETS as usize];
        for cell in column {
            texts.push(cell);
            if texts.part.words.len() >= at_once {
                texts.count_buckets(&kept, &mut found);
            }
        }
        texts.count_buckets(&kept, &mut found);
        found
    }
}

impl Texts {
    /// Counts the rows so far that have each bucket, and forgets them.
    fn count_buckets(&mut self, kept: &Kept, found: &mut [u32]) {
        let part = std::mem::take(&mut self.part);
        let texts = (0..part.ends.len()).map(|i| &part.words[part.range(i)]);
        let here = rows_with_buckets(texts, &kept.buckets(&self.known));
        found.iter_mut().zip(here).for_each(|(all, n)| *all += n);
    }
}

/// What all partitions say of a column.
#[derive(Debug, Clone)]
pub enum Found {
    /// Numbers.
    Numbers {
        /// What is taken from each.
        centre: f64,
        /// What it is then divided by.
        scale: f64,
        /// How many are missing.
        missing: u64,
        /// The smallest and the largest.
        range: (f64, f64),
        /// Where they are written as texts: what their cells say, and whether commas are decimal
        /// signs.
        written: Option<(CellFacts, bool)>,
    },
    /// Values of a category.
    Category(CellFacts),
    /// Texts, and where it is asked for the number of rows with each of the features that terms
    /// share.
    Text(Vocabulary, Option<Vec<u32>>),
    /// Of this kind, but no feature: nothing of use, or set aside.
    Aside(ColumnKind, Option<Aside>),
}

/// A column of a table in partitions.
#[derive(Debug, Clone)]
pub struct Column {
    /// What it is called.
    pub name: String,
    /// Whether the user said what it is, so that it is not set aside.
    pub given: bool,
    /// What all partitions say of it.
    pub found: Found,
}

/// The preparation for these columns of `rows` rows, and what is to be warned of. `label` is the
/// place and the name of the column of labels in files, where they have one.
///
/// # Errors
/// If two columns have one name, or there are too many features.
pub fn prepare(
    columns: Vec<Column>,
    label: Option<(usize, String)>,
    rows: u64,
    scale: Scale,
    text: &TextOptions,
) -> Result<(Preparation, Vec<Wording>)> {
    let mut report = ReadReport::default();
    let mut planned = Vec::with_capacity(columns.len() + 1);
    let mut names = HashSet::new();
    for column in columns {
        if !names.insert(column.name.clone()) {
            return Err(
                Error::data(format!("two columns are called {}", column.name))
                    .remedy("give each column a name of its own"),
            );
        }
        let (kind, role) = column.role(rows, scale.by_column());
        report.columns.push(ColumnReport {
            name: column.name.clone(),
            role: kind,
            given: column.given,
            levels: None,
            words: None,
            missing: 0,
            note: None,
            warning: None,
        });
        planned.push(PlannedColumn {
            name: column.name,
            role,
        });
    }
    say(&planned, &vec![None; planned.len()], &mut report);
    if let Some((place, name)) = label {
        if names.contains(&name) {
            return Err(
                Error::data(format!("the column {name} is called like the labels"))
                    .remedy("give it another name, or leave it out"),
            );
        }
        let role = Role::Label;
        planned.insert(place.min(planned.len()), PlannedColumn { name, role });
    }
    let weights = TermWeights::chosen(text.weights, scale);
    let preparation = Preparation {
        input: Input::Table {
            format: Format::Csv,
            delimiter: Delimiter::Byte(b','),
            header: true,
            columns: planned,
            text: TextRules {
                cut: text.cut,
                sublinear: weights.sublinear(),
            },
        },
        scale,
        radius: None,
        precision: Precision::F64,
        labels: LabelRules::default(),
    };
    if preparation.features() > u32::MAX as usize {
        return Err(Error::data("the columns have too many features").remedy("leave some out"));
    }
    Ok((preparation, report.warnings))
}

impl Column {
    /// What it is, and what it becomes; `constant` says whether one value for all rows is a reason
    /// to set it aside.
    fn role(&self, rows: u64, constant: bool) -> (ColumnRole, Role) {
        let aside = |why: Option<Aside>| why.filter(|_| !self.given);
        match &self.found {
            Found::Numbers {
                centre,
                scale,
                missing,
                range,
                written,
            } => {
                let form = match written {
                    Some((_, true)) => NumberForm::Comma,
                    Some((facts, _)) if facts.cells.tally.has_groups() => NumberForm::Grouped,
                    _ => NumberForm::Plain,
                };
                let strays = written
                    .as_ref()
                    .is_some_and(|(facts, commas)| facts.cells.not_numbers(text_form(*commas)) > 0);
                let why = warn::numbers_aside(*range, rows, *missing, constant);
                let role = match aside(why) {
                    Some(why) => Role::Ignored(Some(why)),
                    None => Role::Number {
                        centre: *centre,
                        scale: *scale,
                        indicator: *missing > 0,
                        form,
                        strays,
                    },
                };
                (ColumnRole::Numeric, role)
            }
            Found::Category(facts) => {
                let role = match aside(facts.aside(&self.name, constant)) {
                    Some(why) => Role::Ignored(Some(why)),
                    None => {
                        let values = facts.values.iter().flatten();
                        let levels = values.map(|(value, _)| value.as_bytes());
                        category(levels, facts.cells.filled < facts.rows)
                    }
                };
                (ColumnRole::Category, role)
            }
            Found::Text(vocabulary, buckets) => {
                let role = vocabulary.kept().role(buckets.as_deref());
                (ColumnRole::Text, role)
            }
            Found::Aside(kind, why) => ((*kind).into(), Role::Ignored(*why)),
        }
    }
}

/// Cells of a column of a partition, where they are asked for.
#[derive(Debug, Clone)]
pub enum ColumnCells<'a> {
    /// Numbers, NaN where one is missing.
    Numbers(&'a [f64]),
    /// Texts.
    Texts(Vec<Cell<'a>>),
    /// Nothing: the column makes no features.
    None,
}

impl Preparation {
    /// The sparse rows of a partition of a table with so many rows and these columns, the label's
    /// left out.
    ///
    /// # Errors
    /// If they are not the columns of this preparation, or cells hold what they must not.
    pub fn partition(&self, rows: usize, cells: &[ColumnCells<'_>]) -> Result<Matrix> {
        self.partition_in_batches(rows, cells, AT_ONCE)
    }

    /// The same, so many bytes of text at a time.
    pub(crate) fn partition_in_batches(
        &self,
        rows: usize,
        cells: &[ColumnCells<'_>],
        at_once: usize,
    ) -> Result<Matrix> {
        let bad = |what: &str| {
            Error::data(format!(
                "these are not the columns that were fitted: {what}"
            ))
            .remedy("give the same columns in the same order")
        };
        let Input::Table { columns, text, .. } = &self.input else {
            return Err(bad("there were none"));
        };
        let takes = plan_takes(columns);
        let features = columns.iter().zip(&takes);
        let mut here: Vec<(&PlannedColumn, Take, &ColumnCells<'_>)> = Vec::new();
        let mut given = cells.iter();
        for (column, take) in features.filter(|(column, _)| column.role != Role::Label) {
            let cells = given.next().ok_or_else(|| bad("some are missing"))?;
            let fits = match (take, cells) {
                (Take::Skip, _) => true,
                (Take::Number { .. }, ColumnCells::Numbers(all)) => all.len() == rows,
                (_, ColumnCells::Texts(all)) => all.len() == rows,
                _ => false,
            };
            if !fits {
                return Err(bad(&format!("{} is of another kind", column.name)));
            }
            here.push((column, *take, cells));
        }
        if given.next().is_some() {
            return Err(bad("there are more"));
        }
        let roles: Vec<&Role> = columns.iter().map(|c| &c.role).collect();
        let lookup = Lookup::new(&roles);
        let mut made = Vec::new();
        let mut first = 0;
        while first < rows || made.is_empty() {
            let end = end_of_batch(&here, first..rows, at_once);
            let (part, levels, words) = typed(&here, &takes, first..end, text.cut)?;
            let how = (self.scale, self.divisor(), text.sublinear);
            let encoder = Encoder::new(&roles, &takes, &lookup, &levels, &words, how)?;
            let locate = |i: usize| (&part, i);
            made.push(encoder.sparse::<f64>(part.rows, &locate, 1).0);
            first = end;
        }
        Ok(assemble::stacked::<f64>(made, self.features()))
    }
}

/// Where to end a batch that begins with the first of these rows.
fn end_of_batch(
    columns: &[(&PlannedColumn, Take, &ColumnCells<'_>)],
    rows: std::ops::Range<usize>,
    at_once: usize,
) -> usize {
    let bytes = |row: usize| -> usize {
        let each = columns.iter().map(|(_, take, cells)| match (take, cells) {
            (Take::Text { .. }, ColumnCells::Texts(all)) => all[row].map_or(0, str::len),
            _ => 0,
        });
        each.sum()
    };
    let mut size = 0;
    let within = |row: &usize| {
        size += bytes(*row);
        size <= at_once
    };
    let more = rows.clone().take_while(within).count();
    (rows.start + more.max(1)).min(rows.end)
}

/// Some rows as typed columns, with the values of categories and the terms of texts.
fn typed(
    columns: &[(&PlannedColumn, Take, &ColumnCells<'_>)],
    takes: &[Take],
    range: std::ops::Range<usize>,
    cut: TextCut,
) -> Result<(TablePart, Vec<Interner>, Vec<Interner>)> {
    let (n, slots) = (range.len(), Slots::of(takes));
    let mut numbers = vec![f64::NAN; n * slots.numbers];
    let mut codes = vec![MISSING; n * slots.categories];
    let mut levels = vec![Interner::default(); slots.categories];
    let (mut words, mut texts) = (Vec::new(), Vec::new());
    for (column, take, cells) in columns {
        match (take, cells) {
            (Take::Number { slot, .. }, ColumnCells::Numbers(all)) => {
                let places = numbers.iter_mut().skip(*slot).step_by(slots.numbers);
                (places.zip(&all[range.clone()])).for_each(|(place, x)| *place = *x);
            }
            (Take::Number { slot, fixed, form }, ColumnCells::Texts(all)) => {
                let places = numbers.iter_mut().skip(*slot).step_by(slots.numbers);
                for (place, cell) in places.zip(&all[range.clone()]) {
                    *place = number_of(&column.name, *cell, *form, *fixed)?;
                }
            }
            (Take::Category { slot }, ColumnCells::Texts(all)) => {
                let places = codes.iter_mut().skip(*slot).step_by(slots.categories);
                for (place, cell) in places.zip(&all[range.clone()]) {
                    if let Some(text) = filled(*cell) {
                        *place = levels[*slot].intern(text.as_bytes()).0;
                    }
                }
            }
            // Slots of texts are in the order of the columns.
            (Take::Text { .. }, ColumnCells::Texts(all)) => {
                let mut found = Texts::new(cut);
                all[range.clone()].iter().for_each(|cell| found.push(*cell));
                words.push(found.known);
                texts.push(found.part);
            }
            _ => {}
        }
    }
    let part = TablePart {
        rows: n,
        numbers: Values::F64(numbers.into()),
        codes,
        texts,
    };
    Ok((part, levels, words))
}

/// Strings of an interner, and texts of a preparation, as other machines get them.
mod strings {
    use super::{Interner, StringTable};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(super) fn serialize<S: Serializer>(all: &Interner, to: S) -> Result<S::Ok, S::Error> {
        let table = all.strings();
        (table.bytes(), table.ends()).serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Interner, D::Error> {
        let (bytes, ends) = Deserialize::deserialize(from)?;
        let table = StringTable::from_parts(bytes, ends);
        let table = table.ok_or_else(|| de::Error::custom("strings do not fit together"))?;
        Ok(table.iter().collect())
    }
}

/// A preparation as text.
#[derive(Serialize, Deserialize)]
struct Stored {
    json: String,
    strings: BTreeMap<String, (String, Vec<u64>)>,
    numbers: BTreeMap<String, Vec<f64>>,
}

impl Preparation {
    /// A text that [`of_text`](Self::of_text) takes.
    pub fn to_text(&self) -> String {
        let stored = self.to_stored();
        let strings = stored.strings.into_iter().map(|(name, table)| {
            let parts = (table.bytes().to_owned(), table.ends().to_vec());
            (name, parts)
        });
        let stored = Stored {
            json: stored.json,
            strings: strings.collect(),
            numbers: stored.numbers,
        };
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// The preparation that this text stands for.
    ///
    /// # Errors
    /// If [`to_text`](Self::to_text) did not write it.
    pub fn of_text(text: &str) -> Result<Self> {
        let bad = |what: String| Error::data(format!("the preparation is damaged: {what}"));
        let stored: Stored = serde_json::from_str(text).map_err(|e| bad(e.to_string()))?;
        let strings = stored.strings.into_iter().map(|(name, (bytes, ends))| {
            let table = StringTable::from_parts(bytes, ends);
            table.map(|table| (name, table))
        });
        let strings: Option<BTreeMap<String, StringTable>> = strings.collect();
        Self::from_stored(&StoredPreparation {
            json: stored.json,
            strings: strings.ok_or_else(|| bad("strings do not fit together".into()))?,
            numbers: stored.numbers,
        })
    }
}
