//! Everything needed to turn a raw file into a model's features.
//!
//! It is found from training rows alone, saved with the model, and applied to every file
//! that the model meets later.

mod columns;
pub mod partitions;
mod parts;
mod terms;

use std::ops::Range;

use columns::fit_table;

use super::delimited::Delimiter;
use super::format::Format;
use super::labels::LabelRules;
use super::options::ReadOptions;
use super::raw::{Content, Raw};
use super::report::{ColumnKind, ColumnReport, ColumnRole, ReadReport};
use super::scale::{Moments, RowDivisor, Scale, too_large_to_scale};
use super::sparse::Wanted;
use super::table::BUCKETS;
use super::table::cells::{DateOrder, NumberForm};
use super::table::role::{Aside, MISSING_LEVEL, Role};
use super::text::{TermWeights, TextCut};
use rosenblatt_core::Result;
use rosenblatt_core::data::{FeatureNames, Layout, Matrix, Precision, StringTable};

/// How raw files become the features of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    pub(crate) input: Input,
    pub(crate) scale: Scale,
    /// The length of the longest training row, where all are divided by it.
    pub(crate) radius: Option<f64>,
    pub(crate) precision: Precision,
    pub(crate) labels: LabelRules,
}

/// What sort of file the features come from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Input {
    Sparse {
        /// What indices count from.
        first: u32,
        width: usize,
        /// Empty unless columns are scaled.
        moments: Moments,
    },
    Images {
        width: usize,
        /// Height and width of an image.
        shape: Option<(u32, u32)>,
        moments: Moments,
    },
    Table {
        format: Format,
        delimiter: Delimiter,
        header: bool,
        columns: Vec<PlannedColumn>,
        text: TextRules,
    },
}

/// How texts are taken, whatever their column.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct TextRules {
    pub(crate) cut: TextCut,
    /// Whether it is 1 + ln of a count that counts.
    pub(crate) sublinear: bool,
}

/// A column of a table and what it becomes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlannedColumn {
    pub(crate) name: String,
    pub(crate) role: Role,
}

impl Preparation {
    /// What the training rows (or all) of `raw` ask for. Without `scale`: numeric columns of
    /// tables are standardised, texts get unit length, and everything else stays as it is.
    pub fn fit(raw: &Raw, rows: Option<&[usize]>, scale: Option<Scale>) -> Result<Self> {
        Ok(Self::fit_and_report(raw, rows, scale)?.0)
    }

    /// The same, with the report of the file and of what became of its columns.
    pub fn fit_and_report(
        raw: &Raw,
        rows: Option<&[usize]>,
        scale: Option<Scale>,
    ) -> Result<(Self, ReadReport)> {
        raw.require_rows(rows)?;
        let scale = scale.unwrap_or(match raw.content {
            Content::Table(_) => Scale::Standard,
            _ => Scale::None,
        });
        let moments = match &raw.content {
            Content::Sparse(sparse) if scale.by_column() => {
                sparse.moments(rows, scale, raw.threads())?
            }
            Content::Images(images) if scale.by_column() => {
                images.moments(rows, scale, raw.threads())?
            }
            _ => Moments::default(),
        };
        let mut report = raw.report().clone();
        let input = match &raw.content {
            Content::Sparse(sparse) => Input::Sparse {
                first: sparse.first,
                width: sparse.width,
                moments,
            },
            Content::Images(images) => Input::Images {
                width: images.width,
                shape: images.shape,
                moments,
            },
            Content::Table(table) => {
                let (input, told) = fit_table(table, rows, raw.labels(), scale, raw.threads())?;
                if let Input::Table { columns, .. } = &input {
                    say(columns, &told, &mut report);
                }
                input
            }
        };
        let mut preparation = Preparation {
            input,
            scale,
            radius: None,
            precision: raw.precision(),
            labels: raw.rules.clone(),
        };
        if scale == Scale::Radius {
            let data = raw.dataset(&preparation, rows, Layout::AsGiven)?;
            preparation.radius = Some(longest_row(&data.matrix)?);
        }
        Ok((preparation, report))
    }

    /// What takes files to the features of arrays that were given as they are: a table with a
    /// numeric column for each name and one for the label, or without names libsvm rows
    /// counted from 1.
    pub fn for_arrays(
        features: usize,
        names: Option<&StringTable>,
        label: &str,
        precision: Precision,
    ) -> Self {
        let number = |name: &str| PlannedColumn {
            name: name.to_owned(),
            role: Role::Number {
                centre: 0.0,
                scale: 1.0,
                indicator: false,
                form: NumberForm::Plain,
                strays: false,
            },
        };
        let input = match names {
            Some(names) => Input::Table {
                format: Format::Csv,
                delimiter: Delimiter::Byte(b','),
                header: true,
                columns: names
                    .iter()
                    .map(number)
                    .chain(
                        (!names.iter().any(|name| name == label)).then(|| PlannedColumn {
                            name: label.to_owned(),
                            role: Role::Label,
                        }),
                    )
                    .collect(),
                text: TextRules::default(),
            },
            None => Input::Sparse {
                first: 1,
                width: features,
                moments: Moments::default(),
            },
        };
        Preparation {
            input,
            scale: Scale::None,
            radius: None,
            precision,
            labels: LabelRules::default(),
        }
    }

    /// How features are scaled.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The length of the longest training row, where all are divided by it.
    pub fn radius(&self) -> Option<f64> {
        self.radius
    }

    pub(crate) fn divisor(&self) -> RowDivisor {
        match (self.scale, self.radius) {
            (Scale::UnitRows, _) => RowDivisor::Length,
            (_, Some(radius)) => RowDivisor::Common(radius),
            _ => RowDivisor::One,
        }
    }

    /// Whether terms of texts are weighed by how many training rows have them.
    pub fn weighs_terms(&self) -> bool {
        let weighed = |column: &PlannedColumn| matches!(&column.role, Role::Text { weights, .. } if weights.iter().any(|w| *w > 1.0));
        matches!(&self.input, Input::Table { columns, .. } if columns.iter().any(weighed))
    }

    /// Whether features are made of the words or characters of texts.
    pub fn has_texts(&self) -> bool {
        let text = |column: &PlannedColumn| matches!(&column.role, Role::Text { .. });
        matches!(&self.input, Input::Table { columns, .. } if columns.iter().any(text))
    }

    /// How many bits values keep.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The rules that made classes of labels.
    pub fn label_rules(&self) -> &LabelRules {
        &self.labels
    }

    /// What is wanted of rows of numbers; `None` for a table.
    pub(crate) fn wanted(&self) -> Option<Wanted<'_>> {
        let (first, width, moments) = match &self.input {
            Input::Sparse {
                first,
                width,
                moments,
            } => (*first, *width, moments),
            Input::Images { width, moments, .. } => (0, *width, moments),
            Input::Table { .. } => return None,
        };
        Some(Wanted {
            first,
            width,
            scale: self.scale,
            moments,
            divisor: self.divisor(),
        })
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        match &self.input {
            Input::Sparse { width, .. } | Input::Images { width, .. } => *width,
            Input::Table { columns, .. } => columns.iter().map(|c| c.role.features()).sum(),
        }
    }

    /// What the features are called.
    pub fn feature_names(&self) -> FeatureNames {
        match &self.input {
            Input::Sparse { first, .. } => FeatureNames::Numbered { first: *first },
            Input::Images {
                shape: Some((height, width)),
                ..
            } => FeatureNames::Pixels {
                height: *height,
                width: *width,
            },
            Input::Images { shape: None, .. } => FeatureNames::Numbered { first: 0 },
            Input::Table { columns, .. } => {
                let mut names = StringTable::new();
                for column in columns {
                    let name = &column.name;
                    match &column.role {
                        Role::Number { indicator, .. } => {
                            names.push(name);
                            if *indicator {
                                names.push(&format!("{name}={MISSING_LEVEL}"));
                            }
                        }
                        Role::Date(date) => {
                            (date.names().iter())
                                .for_each(|part| names.push(&format!("{name}{part}")));
                        }
                        Role::Category { levels } => {
                            levels
                                .iter()
                                .for_each(|l| names.push(&format!("{name}={l}")));
                        }
                        Role::Text { words, hashed, .. } => {
                            words
                                .iter()
                                .for_each(|w| names.push(&format!("{name}:{w}")));
                            if *hashed {
                                (0..BUCKETS).for_each(|b| names.push(&format!("{name}:#{b}")));
                            }
                        }
                        Role::Label | Role::Weight | Role::Ignored(_) => {}
                    }
                }
                FeatureNames::Listed(names)
            }
        }
    }

    /// The columns of a table that have features, each with these; of other files every feature by
    /// itself.
    pub fn feature_columns(&self) -> Vec<(String, Range<usize>)> {
        let Input::Table { columns, .. } = &self.input else {
            let names = self.feature_names();
            return (0..self.features())
                .map(|j| (names.get(j).into_owned(), j..j + 1))
                .collect();
        };
        let mut first = 0;
        let each = columns.iter().map(|column| {
            let from = first;
            first += column.role.features();
            (column.name.clone(), from..first)
        });
        each.filter(|(_, features)| !features.is_empty()).collect()
    }

    /// The columns of a table that were standardised, with the moments of the training rows.
    pub fn standardised(&self) -> Vec<StandardisedColumn> {
        let (Input::Table { columns, .. }, Scale::Standard) = (&self.input, self.scale) else {
            return Vec::new();
        };
        let mut first = 0;
        let each = columns.iter().filter_map(|column| {
            let feature = first;
            first += column.role.features();
            match column.role {
                Role::Number { centre, scale, .. } => Some(StandardisedColumn {
                    name: column.name.clone(),
                    feature,
                    mean: centre,
                    deviation: scale,
                }),
                _ => None,
            }
        });
        each.collect()
    }

    /// The feature of a numeric column (from 0) or of an index as written, for
    /// [`LongDecimal`](super::LongDecimal).
    pub fn feature_of(&self, column: u32) -> Option<usize> {
        match &self.input {
            Input::Sparse { first, width, .. } => {
                let feature = (column as usize).checked_sub(*first as usize)?;
                (feature < *width).then_some(feature)
            }
            Input::Images { width, .. } => ((column as usize) < *width).then_some(column as usize),
            Input::Table { columns, .. } => {
                let (before, here) = columns
                    .get(..column as usize)
                    .zip(columns.get(column as usize))?;
                matches!(here.role, Role::Number { .. })
                    .then(|| before.iter().map(|c| c.role.features()).sum())
            }
        }
    }

    /// The features that come from a category column and are its first level: what reference
    /// coding leaves out.
    pub fn reference_features(&self) -> Vec<usize> {
        let mut found = Vec::new();
        if let Input::Table { columns, .. } = &self.input {
            let mut first = 0;
            for column in columns {
                if matches!(&column.role, Role::Category { levels } if !levels.is_empty()) {
                    found.push(first);
                }
                first += column.role.features();
            }
        }
        found
    }

    /// Texts of a table's cells that stand for a value that is not there.
    pub const MISSING: &'static [&'static str] = &["", "?", "NA", "NaN", "nan"];

    /// Whether this text of a cell stands for a value that is not there.
    pub fn is_missing(text: &str) -> bool {
        Self::MISSING.contains(&text)
    }

    /// The names of a table's columns, in their order; none where it is no table.
    pub fn column_names(&self) -> Vec<&str> {
        match &self.input {
            Input::Table { columns, .. } => columns.iter().map(|c| c.name.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    /// What is taken from each feature and what it is then divided by, where features that
    /// are no columns of a table are scaled.
    pub fn scaling(&self) -> Option<(&[f64], &[f64])> {
        match &self.input {
            Input::Sparse { moments, .. } | Input::Images { moments, .. }
                if self.scale.by_column() =>
            {
                Some((&moments.centre, &moments.scale))
            }
            _ => None,
        }
    }

    /// For each feature what was taken from the numbers of the file and what they were then
    /// divided by, 0 and 1 where they are as they were; `None` where rows were divided by their
    /// length.
    pub fn units(&self) -> Option<Vec<(f64, f64)>> {
        if self.scale == Scale::UnitRows {
            return None;
        }
        if let Some((centre, scale)) = self.scaling() {
            return Some(centre.iter().copied().zip(scale.iter().copied()).collect());
        }
        if let Some(radius) = self.radius {
            return Some(vec![(0.0, radius); self.features()]);
        }
        let mut units = vec![(0.0, 1.0); self.features()];
        if let Input::Table { columns, .. } = &self.input {
            let mut first = 0;
            for column in columns {
                if let Role::Number { centre, scale, .. } = &column.role {
                    units[first] = (*centre, *scale);
                }
                first += column.role.features();
            }
        }
        Some(units)
    }

    /// For each feature whether it says that a cell has a certain text, or is missing.
    pub fn levels(&self) -> Vec<bool> {
        let Input::Table { columns, .. } = &self.input else {
            return vec![false; self.features()];
        };
        let each = columns.iter().flat_map(|column| {
            let number = matches!(column.role, Role::Number { .. });
            let word = matches!(column.role, Role::Text { .. });
            (0..column.role.features()).map(move |i| !(word || number && i == 0))
        });
        each.collect()
    }

    /// How cells become features, for those who want to do it themselves.
    pub fn coding(&self) -> Coding<'_> {
        match &self.input {
            Input::Sparse { first, .. } => Coding::Indexed { first: *first },
            Input::Images { .. } => Coding::Images,
            Input::Table { columns, text, .. } => Coding::Columns(
                columns
                    .iter()
                    .map(|column| match &column.role {
                        Role::Number {
                            centre,
                            scale,
                            indicator,
                            form,
                            strays,
                        } => ColumnCoding::Number {
                            indicator: *indicator,
                            centre: *centre,
                            scale: *scale,
                            plain: *form == NumberForm::Plain && !strays,
                        },
                        Role::Date(_) => ColumnCoding::Date,
                        Role::Category { levels } => ColumnCoding::Category(levels),
                        Role::Text {
                            words,
                            hashed,
                            weights,
                        } => ColumnCoding::Text {
                            words,
                            hashed: *hashed,
                            plain: weights.is_empty() && *text == TextRules::default(),
                        },
                        Role::Label => ColumnCoding::Label,
                        Role::Weight | Role::Ignored(_) => ColumnCoding::Ignored,
                    })
                    .collect(),
            ),
        }
    }

    /// Sets the options so that a file is read with these columns, kinds and labels.
    pub fn apply_to(&self, options: &mut ReadOptions) {
        options.precision = self.precision;
        options.label_map.extend(self.labels.map.iter().cloned());
        if options.positive.is_none() {
            options.positive.clone_from(&self.labels.positive);
        }
        if let Input::Table {
            columns, header, ..
        } = &self.input
        {
            options.header.get_or_insert(*header);
            options.columns.clear();
            options.ignore.clear();
            for column in columns {
                match column.role {
                    Role::Label => options.label = Some(column.name.clone()),
                    Role::Weight => options.weight_column = Some(column.name.clone()),
                    _ => {}
                }
            }
        }
        self.keep_columns(options);
    }

    /// Sets the kinds of a table's columns that the options say nothing of, and what terms of
    /// texts weigh: a run that goes on with a model takes them as the model has them.
    pub fn keep_columns(&self, options: &mut ReadOptions) {
        let Input::Table { columns, text, .. } = &self.input else {
            return;
        };
        options.text.cut = text.cut;
        options.text.weights = Some(match (text.sublinear, self.weighs_terms()) {
            (false, false) => TermWeights::Counts,
            (true, false) => TermWeights::Sublinear,
            (false, true) => TermWeights::TfIdf,
            (true, true) => TermWeights::SublinearTfIdf,
        });
        for column in columns {
            let kind = match &column.role {
                Role::Number { form, strays, .. } => match (form, strays) {
                    (NumberForm::Comma, _) => ColumnKind::DecimalComma,
                    (_, true) => ColumnKind::NumericOrMissing,
                    (_, false) => ColumnKind::Numeric,
                },
                Role::Date(date) => match date.order {
                    DateOrder::DayFirst => ColumnKind::DayFirst,
                    DateOrder::MonthFirst => ColumnKind::MonthFirst,
                },
                Role::Category { .. } => ColumnKind::Category,
                Role::Text { .. } => ColumnKind::Text,
                Role::Ignored(_) => ColumnKind::Ignore,
                Role::Label | Role::Weight => continue,
            };
            let name = &column.name;
            let said = options.columns.iter().any(|(n, _)| n == name);
            if !said && !options.ignore.contains(name) {
                options.columns.push((name.clone(), kind));
            }
        }
    }

    /// The same with the reasons why an earlier preparation set columns aside, for those that
    /// both leave out.
    #[must_use]
    pub fn with_reasons_of(mut self, earlier: &Preparation) -> Self {
        if let (Input::Table { columns, .. }, Input::Table { columns: known, .. }) =
            (&mut self.input, &earlier.input)
        {
            for (column, known) in columns.iter_mut().zip(known) {
                if let (Role::Ignored(why), Role::Ignored(reason)) = (&mut column.role, &known.role)
                {
                    *why = *reason;
                }
            }
        }
        self
    }
}

/// The length of the longest row, 1 where all are zero.
fn longest_row(matrix: &Matrix) -> Result<f64> {
    let mut most = 0.0f64;
    for i in 0..matrix.rows() {
        let mut squares = 0.0;
        matrix.row(i).for_each(|_, x| squares += x * x);
        most = most.max(squares);
    }
    match most.sqrt() {
        0.0 => Ok(1.0),
        length if length.is_finite() => Ok(length),
        _ => Err(too_large_to_scale("some row")),
    }
}

/// Says what became of columns: which are set aside, and which tell the label alone.
fn say(columns: &[PlannedColumn], told: &[Option<f64>], report: &mut ReadReport) {
    const NAMED: usize = 10;
    let mut constant = Vec::new();
    for ((column, told), said) in columns.iter().zip(told).zip(&mut report.columns) {
        let name = &column.name;
        let mut warn = |said: &mut ColumnReport, text: String| {
            report
                .warnings
                .push(format!("the column {name} {text}").into());
            said.warning = Some(text.into());
        };
        if let Role::Ignored(Some(why)) = column.role {
            let kind = match said.role {
                ColumnRole::Category => "category",
                ColumnRole::Text => "text",
                ColumnRole::Date => "date",
                _ => "numeric",
            };
            said.role = ColumnRole::Ignore;
            said.warning = None;
            match why {
                Aside::Empty => {
                    said.note = Some("it is empty".into());
                    report
                        .notes
                        .push(format!("the column {name} is left out: it is empty"));
                }
                Aside::Constant => {
                    said.note = Some("it is constant".into());
                    constant.push(name.as_str());
                }
                Aside::Index => warn(
                    said,
                    format!(
                        "is left out: it has no name and numbers the rows; pass ⟨column {name}={kind}⟩ to use it"
                    ),
                ),
                Aside::Identifier => warn(
                    said,
                    format!(
                        "is left out: it looks like an identifier; pass ⟨column {name}={kind}⟩ to use it"
                    ),
                ),
            }
            continue;
        }
        if let (Role::Text { words, .. }, Some(found)) = (&column.role, said.words)
            && words.len() < found
        {
            said.note = Some(format!("{} of them kept", words.len()));
        }
        if let Some(share) = told {
            warn(
                said,
                format!(
                    "gives the label away: alone it tells the class of {:.1} % of the rows; pass ⟨column {name}=ignore⟩ unless it is known before the label is",
                    (share * 1000.0).floor() / 10.0
                ),
            );
        }
    }
    if let Some(first) = constant.first() {
        let more = constant.len().saturating_sub(NAMED);
        let names = constant[..constant.len() - more].join(", ");
        let (are, them) = match constant.len() {
            1 => (format!("the column {names} is left out: it is"), "it"),
            n if more == 0 => (format!("{n} columns are left out: they are"), "one"),
            n => (format!("{n} columns are left out: they are"), "one"),
        };
        let list = match (constant.len(), more) {
            (1, _) => String::new(),
            (_, 0) => format!(" ({names})"),
            _ => format!(" ({names} and {more} more)"),
        };
        report.warnings.push(
            format!("{are} constant{list}; pass ⟨column {first}=numeric⟩ to use {them}").into(),
        );
    }
}

/// A column of numbers that became a feature of mean 0 and standard deviation 1.
#[derive(Debug, Clone, PartialEq)]
pub struct StandardisedColumn {
    /// What it is called.
    pub name: String,
    /// Its feature.
    pub feature: usize,
    /// The mean of the training rows.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
}

/// How the cells of a file become features.
#[derive(Debug, Clone, PartialEq)]
pub enum Coding<'a> {
    /// Indices, the first feature having this one.
    Indexed {
        /// The index of the first feature.
        first: u32,
    },
    /// Elements of an array, in their order.
    Images,
    /// Columns of a table, in their order.
    Columns(Vec<ColumnCoding<'a>>),
}

/// What a column of a table becomes.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnCoding<'a> {
    /// Its number, and whether a second feature says that it is missing.
    Number {
        /// Whether there is a feature for missing values.
        indicator: bool,
        /// What is taken from the number.
        centre: f64,
        /// What it is then divided by.
        scale: f64,
        /// Whether every cell is written as a plain number, or is missing.
        plain: bool,
    },
    /// Parts of a date, and the days that elapsed.
    Date,
    /// A feature for each level.
    Category(&'a StringTable),
    /// A feature for each word.
    Text {
        /// The words, in the order of their features.
        words: &'a StringTable,
        /// Whether other words share buckets.
        hashed: bool,
        /// Whether the features are counts of words in lower case, accents and all.
        plain: bool,
    },
    /// The class.
    Label,
    /// Nothing.
    Ignored,
}
