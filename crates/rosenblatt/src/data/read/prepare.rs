//! Everything needed to turn a raw file into a model's features.
//!
//! It is found from training rows alone, saved with the model, and applied to every file
//! that the model meets later.

use serde::{Deserialize, Serialize};

use super::delimited::Delimiter;
use super::labels::LabelRules;
use super::raw::{Content, Raw};
use super::scale::{Moments, Scale, moments, too_large_to_scale};
use super::table::encode::{MISSING_LEVEL, Role, overflows};
use super::table::parse::{MISSING, Take};
use super::table::raw::{RawColumn, TableRaw};
use super::table::{BUCKETS, ColumnKind, MOST_WORDS};
use super::{Format, ReadOptions};
use crate::data::{FeatureNames, Precision, StringTable};
use crate::error::{Error, Result};

/// How raw files become the features of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    pub(crate) input: Input,
    pub(crate) scale: Scale,
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
    },
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
        if let Some(bad) = rows.unwrap_or_default().iter().find(|&&r| r >= raw.rows()) {
            return Err(Error::options(format!(
                "there is no row {bad}, only {}",
                raw.rows()
            )));
        }
        let scale = scale.unwrap_or(match raw.content {
            Content::Table(_) => Scale::Standard,
            _ => Scale::None,
        });
        let input = match &raw.content {
            Content::Sparse(sparse) => Input::Sparse {
                first: sparse.first,
                width: sparse.width,
                moments: if scale.by_column() {
                    sparse.moments(rows, scale)?
                } else {
                    Moments::default()
                },
            },
            Content::Images(images) => Input::Images {
                width: images.width,
                shape: images.shape,
                moments: if scale.by_column() {
                    images.moments(rows, scale)?
                } else {
                    Moments::default()
                },
            },
            Content::Table(table) => fit_table(table, rows, scale)?,
        };
        Ok(Preparation {
            input,
            scale,
            precision: raw.precision(),
            labels: raw.rules.clone(),
        })
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
            precision,
            labels: LabelRules::default(),
        }
    }

    /// How features are scaled.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// How many bits values keep.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The rules that made classes of labels.
    pub fn label_rules(&self) -> &LabelRules {
        &self.labels
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
                        Role::Category { levels } => {
                            levels
                                .iter()
                                .for_each(|l| names.push(&format!("{name}={l}")));
                        }
                        Role::Text { words, hashed } => {
                            words
                                .iter()
                                .for_each(|w| names.push(&format!("{name}:{w}")));
                            if *hashed {
                                (0..BUCKETS).for_each(|b| names.push(&format!("{name}:#{b}")));
                            }
                        }
                        Role::Label | Role::Weight | Role::Ignored => {}
                    }
                }
                FeatureNames::Listed(names)
            }
        }
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

    /// How cells become features, for those who want to do it themselves.
    pub fn coding(&self) -> Coding<'_> {
        match &self.input {
            Input::Sparse { first, .. } => Coding::Indexed { first: *first },
            Input::Images { .. } => Coding::Images,
            Input::Table { columns, .. } => Coding::Columns(
                columns
                    .iter()
                    .map(|column| match &column.role {
                        Role::Number {
                            centre,
                            scale,
                            indicator,
                        } => ColumnCoding::Number {
                            indicator: *indicator,
                            centre: *centre,
                            scale: *scale,
                        },
                        Role::Category { levels } => ColumnCoding::Category(levels),
                        Role::Text { words, hashed } => ColumnCoding::Text {
                            words,
                            hashed: *hashed,
                        },
                        Role::Label => ColumnCoding::Label,
                        Role::Weight | Role::Ignored => ColumnCoding::Ignored,
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
                let kind = match column.role {
                    Role::Number { .. } => ColumnKind::Numeric,
                    Role::Category { .. } => ColumnKind::Category,
                    Role::Text { .. } => ColumnKind::Text,
                    Role::Ignored => ColumnKind::Ignore,
                    Role::Label => {
                        options.label = Some(column.name.clone());
                        continue;
                    }
                    Role::Weight => {
                        options.weight_column = Some(column.name.clone());
                        continue;
                    }
                };
                options.columns.push((column.name.clone(), kind));
            }
        }
    }
}

fn fit_table(table: &TableRaw, rows: Option<&[usize]>, scale: Scale) -> Result<Input> {
    let all: Vec<usize>;
    let rows = match rows {
        Some(rows) => rows,
        None => {
            all = (0..table.rows).collect();
            &all
        }
    };
    let fill = |row: usize, out: &mut [f64]| {
        let (part, i) = table.locate(row);
        for (slot, x) in out.iter_mut().enumerate() {
            *x = part.numbers.get(i * table.numbers + slot);
        }
    };
    let (numbers, missing) =
        moments(table.numbers, rows.iter().copied(), fill, scale).map_err(|number| {
            let here =
                |c: &&RawColumn| matches!(c.take, Take::Number { slot, .. } if slot == number);
            let name = table.columns.iter().find(here).map_or("", |c| &c.name);
            too_large_to_scale(format_args!("the column {name}"))
        })?;
    let columns = table
        .columns
        .iter()
        .map(|column| {
            let role = match column.take {
                Take::Label => Role::Label,
                Take::Weight => Role::Weight,
                _ if column.ignored => Role::Ignored,
                Take::Skip => Role::Ignored,
                Take::Number { slot, .. } => Role::Number {
                    centre: numbers.centre[slot],
                    scale: numbers.scale[slot],
                    indicator: missing[slot] > 0,
                },
                Take::Category { slot } => fit_category(table, slot, rows),
                Take::Text { slot } => fit_text(table, slot, rows),
            };
            PlannedColumn {
                name: column.name.clone(),
                role,
            }
        })
        .collect();
    Ok(Input::Table {
        format: table.format,
        delimiter: table.delimiter,
        header: table.header,
        columns,
    })
}

fn fit_category(table: &TableRaw, slot: usize, rows: &[usize]) -> Role {
    let known = &table.levels[slot];
    let mut used = vec![false; known.len()];
    let mut missing = false;
    for &row in rows {
        let (part, i) = table.locate(row);
        match part.codes[i * table.categories + slot] {
            MISSING => missing = true,
            code => used[code as usize] = true,
        }
    }
    let mut levels: Vec<&[u8]> = (0..known.len() as u32)
        .filter(|&c| used[c as usize])
        .map(|c| known.get(c))
        .collect();
    if missing {
        levels.push(MISSING_LEVEL.as_bytes());
    }
    levels.sort_unstable();
    Role::Category {
        levels: levels.into_iter().map(String::from_utf8_lossy).collect(),
    }
}

fn fit_text(table: &TableRaw, slot: usize, rows: &[usize]) -> Role {
    let known = &table.words[slot];
    let mut used = vec![false; known.len()];
    let mut words = StringTable::new();
    let mut distinct = 0;
    for &row in rows {
        let (part, i) = table.locate(row);
        let text = &part.texts[slot];
        for &word in &text.words[text.range(i)] {
            if !std::mem::replace(&mut used[word as usize], true) {
                distinct += 1;
                if distinct <= MOST_WORDS {
                    words.push(&known.text(word));
                }
            }
        }
    }
    Role::Text {
        words,
        hashed: overflows(distinct),
    }
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
    },
    /// A feature for each level.
    Category(&'a StringTable),
    /// A feature for each word.
    Text {
        /// The words, in the order of their features.
        words: &'a StringTable,
        /// Whether other words share buckets.
        hashed: bool,
    },
    /// The class.
    Label,
    /// Nothing.
    Ignored,
}

/// A preparation taken apart for a model file.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// Small facts, as JSON.
    pub json: String,
    /// Named lists of texts: `column_names`, `levels`, `words`.
    pub texts: Vec<(&'static str, StringTable)>,
    /// Named lists of numbers: `centre`, `scale`.
    pub numbers: Vec<(&'static str, Vec<f64>)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    input: String,
    scale: Scale,
    precision: Precision,
    labels: LabelRules,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_index: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    width: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delimiter: Option<Delimiter>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<bool>,
    /// A letter for each column: n(umber), m(issing possible), c(ategory), t(ext),
    /// h(ashed text), l(abel), w(eight), i(gnored).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<String>,
    /// The number of levels of each category column, of words of each text column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<u64>,
}

impl Preparation {
    /// Takes it apart for a model file.
    pub fn to_parts(&self) -> Parts {
        let mut facts = Facts {
            input: String::new(),
            scale: self.scale,
            precision: self.precision,
            labels: self.labels.clone(),
            first_index: None,
            width: None,
            shape: None,
            format: None,
            delimiter: None,
            header: None,
            columns: None,
            counts: Vec::new(),
        };
        let mut names = StringTable::new();
        let (mut all_levels, mut all_words) = (StringTable::new(), StringTable::new());
        let mut found = Moments::default();
        match &self.input {
            Input::Sparse {
                first,
                width,
                moments,
            } => {
                facts.input = "sparse".into();
                facts.first_index = Some(*first);
                facts.width = Some(*width as u64);
                found = moments.clone();
            }
            Input::Images {
                width,
                shape,
                moments,
            } => {
                facts.input = "images".into();
                facts.width = Some(*width as u64);
                facts.shape = *shape;
                found = moments.clone();
            }
            Input::Table {
                format,
                delimiter,
                header,
                columns,
            } => {
                facts.format = Some(*format);
                facts.delimiter = Some(*delimiter);
                facts.input = "table".into();
                facts.header = Some(*header);
                let mut letters = String::new();
                for column in columns {
                    names.push(&column.name);
                    letters.push(match &column.role {
                        Role::Number {
                            centre,
                            scale,
                            indicator,
                        } => {
                            found.centre.push(*centre);
                            found.scale.push(*scale);
                            if *indicator { 'm' } else { 'n' }
                        }
                        Role::Category { levels } => {
                            facts.counts.push(levels.len() as u64);
                            levels.iter().for_each(|l| all_levels.push(l));
                            'c'
                        }
                        Role::Text { words, hashed } => {
                            facts.counts.push(words.len() as u64);
                            words.iter().for_each(|w| all_words.push(w));
                            if *hashed { 'h' } else { 't' }
                        }
                        Role::Label => 'l',
                        Role::Weight => 'w',
                        Role::Ignored => 'i',
                    });
                }
                facts.columns = Some(letters);
            }
        }
        let texts = [
            ("column_names", names),
            ("levels", all_levels),
            ("words", all_words),
        ];
        let numbers = [("centre", found.centre), ("scale", found.scale)];
        Parts {
            json: serde_json::to_string(&facts).unwrap_or_default(),
            texts: texts.into_iter().filter(|(_, t)| !t.is_empty()).collect(),
            numbers: numbers.into_iter().filter(|(_, n)| !n.is_empty()).collect(),
        }
    }

    /// Puts together what [`to_parts`](Self::to_parts) took apart; lists that are absent are
    /// empty. Nothing in them is believed.
    pub fn from_parts(
        json: &str,
        mut texts: impl FnMut(&str) -> Option<StringTable>,
        mut numbers: impl FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<Self> {
        let bad = |what: &str| Error::model(format!("the model's preparation is damaged: {what}"));
        let facts: Facts = serde_json::from_str(json).map_err(|e| bad(&e.to_string()))?;
        let found = Moments {
            centre: numbers("centre").unwrap_or_default(),
            scale: numbers("scale").unwrap_or_default(),
        };
        if !found.centre.iter().all(|c| c.is_finite())
            || !found.scale.iter().all(|s| s.is_finite() && *s > 0.0)
        {
            return Err(bad("a centre or scale is not a usable number"));
        }
        let scaled = |width: usize| {
            let wanted = if facts.scale.by_column() { width } else { 0 };
            if found.centre.len() == wanted && found.scale.len() == wanted {
                Ok(())
            } else {
                Err(bad("centre and scale do not fit the features"))
            }
        };
        let width = || match facts.width {
            Some(width) if width <= u64::from(u32::MAX) => Ok(width as usize),
            _ => Err(bad("the number of features is missing or too large")),
        };
        let input = match facts.input.as_str() {
            "sparse" => {
                scaled(width()?)?;
                let first = facts
                    .first_index
                    .filter(|&f| f <= 1)
                    .ok_or_else(|| bad("first index"))?;
                Input::Sparse {
                    first,
                    width: width()?,
                    moments: found,
                }
            }
            "images" => {
                scaled(width()?)?;
                if let Some((height, across)) = facts.shape
                    && u64::from(height) * u64::from(across) != width()? as u64
                {
                    return Err(bad("the shape of the images does not fit the features"));
                }
                Input::Images {
                    width: width()?,
                    shape: facts.shape,
                    moments: found,
                }
            }
            "table" => table_from_parts(&facts, &found, &mut texts)
                .ok_or_else(|| bad("its columns do not fit together"))?,
            other => return Err(bad(&format!("unknown input {other:?}"))),
        };
        let made = Preparation {
            input,
            scale: facts.scale,
            precision: facts.precision,
            labels: facts.labels,
        };
        if made.features() > u32::MAX as usize {
            return Err(bad("too many features"));
        }
        Ok(made)
    }
}

fn table_from_parts(
    facts: &Facts,
    found: &Moments,
    texts: &mut impl FnMut(&str) -> Option<StringTable>,
) -> Option<Input> {
    let mut table = |name: &str| texts(name).unwrap_or_default();
    let (names, all_levels, all_words) = (table("column_names"), table("levels"), table("words"));
    let letters = facts.columns.as_deref()?;
    if !letters.is_ascii()
        || letters.len() != names.len()
        || found.centre.len() != found.scale.len()
    {
        return None;
    }
    let mut seen = std::collections::HashSet::new();
    if !names.iter().all(|n| seen.insert(n)) {
        return None;
    }
    let mut counts = facts.counts.iter();
    let (mut number, mut level, mut word) = (0, 0, 0);
    let mut columns = Vec::with_capacity(names.len());
    // The next strings of a list, all different.
    let mut slice = |from: &StringTable, at: &mut usize| -> Option<StringTable> {
        let count = usize::try_from(*counts.next()?).ok()?;
        let end = at.checked_add(count).filter(|&e| e <= from.len())?;
        let list: StringTable = (*at..end).map(|i| from.get(i)).collect();
        *at = end;
        let distinct: std::collections::HashSet<&str> = list.iter().collect();
        (distinct.len() == count).then_some(list)
    };
    for (letter, name) in letters.chars().zip(names.iter()) {
        let role = match letter {
            'n' | 'm' => {
                let role = Role::Number {
                    centre: *found.centre.get(number)?,
                    scale: *found.scale.get(number)?,
                    indicator: letter == 'm',
                };
                number += 1;
                role
            }
            'c' => Role::Category {
                levels: slice(&all_levels, &mut level)?,
            },
            't' | 'h' => Role::Text {
                words: slice(&all_words, &mut word)?,
                hashed: letter == 'h',
            },
            'l' => Role::Label,
            'w' => Role::Weight,
            'i' => Role::Ignored,
            _ => return None,
        };
        columns.push(PlannedColumn {
            name: name.to_owned(),
            role,
        });
    }
    let used_up =
        number == found.centre.len() && level == all_levels.len() && word == all_words.len();
    let labels = columns.iter().filter(|c| c.role == Role::Label).count();
    let weights = columns.iter().filter(|c| c.role == Role::Weight).count();
    let fits = used_up && counts.next().is_none() && labels <= 1 && weights <= 1;
    let format = facts
        .format
        .filter(|f| matches!(f, Format::Csv | Format::Tsv))?;
    fits.then_some(Input::Table {
        format,
        delimiter: facts.delimiter.filter(|d| d.is_usable())?,
        header: facts.header?,
        columns,
    })
}
