//! A preparation as parts of a model file, and back.

use serde::{Deserialize, Serialize};

use super::super::delimited::Delimiter;
use super::super::format::Format;
use super::super::labels::LabelRules;
use super::super::scale::{Moments, Scale};
use super::super::table::BUCKETS;
use super::super::table::cells::{DateOrder, NumberForm};
use super::super::table::role::{Aside, DateParts, Role};
use super::super::text::TextCut;
use super::{Input, PlannedColumn, Preparation, TextRules};
use rosenblatt_core::data::{Precision, StringTable};
use rosenblatt_core::model::{Model, StoredPreparation};
use rosenblatt_core::{Error, Result};

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    input: String,
    scale: Scale,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    radius: Option<f64>,
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
    /// A letter for each column: n(umber), m(issing possible), d(ate), c(ategory), t(ext),
    /// h(ashed text), l(abel), w(eight), i(gnored); set aside as e(mpty), k (constant), r(ow
    /// index), u(nique to each row).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<String>,
    /// The number of levels of each category column, of words of each text column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<u64>,
    /// How the numbers of each numeric column are written, if not all are plain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    numbers: Vec<Written>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dates: Vec<Dates>,
    /// How texts are cut, if not into words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<TextCut>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sublinear: bool,
}

/// How the numbers of a column are written.
#[derive(Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    form: NumberForm,
    strays: bool,
}

/// A column of dates; centre and scale of days and years stand with those of numbers.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dates {
    order: DateOrder,
    strays: bool,
    indicator: bool,
    years: bool,
    parts: [u32; 3],
}

impl Preparation {
    /// The preparation of the files that a model was trained with.
    ///
    /// # Errors
    /// If what the model carries is damaged.
    pub fn of_model(model: &Model) -> Result<Option<Self>> {
        let Some(stored) = &model.preparation else {
            return Ok(None);
        };
        let preparation = Self::from_stored(stored)?;
        if preparation.features() != model.features() {
            return Err(Error::model(
                "the model file is not valid: its weights and its preparation differ in features",
            )
            .remedy("take it from its source again, or train it anew"));
        }
        Ok(Some(preparation))
    }

    /// Lets a model carry it.
    pub fn store_in(&self, model: &mut Model) {
        model.preparation = Some(self.to_stored());
    }

    /// What a model file stores.
    pub fn to_stored(&self) -> StoredPreparation {
        let mut facts = Facts {
            scale: self.scale,
            radius: self.radius,
            precision: self.precision,
            labels: self.labels.clone(),
            ..Facts::default()
        };
        let mut names = StringTable::new();
        let (mut all_levels, mut all_words) = (StringTable::new(), StringTable::new());
        let mut found = Moments::default();
        let mut term_weights = Vec::new();
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
                text,
            } => {
                let weighed = |c: &PlannedColumn| matches!(&c.role, Role::Text { weights, .. } if !weights.is_empty());
                let any_weighed = columns.iter().any(weighed);
                facts.text = Some(text.cut).filter(|cut| *cut != TextCut::default());
                facts.sublinear = text.sublinear;
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
                            form,
                            strays,
                        } => {
                            found.centre.push(*centre);
                            found.scale.push(*scale);
                            facts.numbers.push(Written {
                                form: *form,
                                strays: *strays,
                            });
                            if *indicator { 'm' } else { 'n' }
                        }
                        Role::Date(date) => {
                            for (centre, scale) in
                                [Some(date.days), date.years].into_iter().flatten()
                            {
                                found.centre.push(centre);
                                found.scale.push(scale);
                            }
                            facts.dates.push(Dates {
                                order: date.order,
                                strays: date.strays,
                                indicator: date.indicator,
                                years: date.years.is_some(),
                                parts: date.parts,
                            });
                            'd'
                        }
                        Role::Category { levels } => {
                            facts.counts.push(levels.len() as u64);
                            levels.iter().for_each(|l| all_levels.push(l));
                            'c'
                        }
                        Role::Text {
                            words,
                            hashed,
                            weights,
                        } => {
                            term_weights.extend_from_slice(weights);
                            if any_weighed && weights.is_empty() {
                                // All columns of texts have weights, or none has.
                                term_weights
                                    .resize(term_weights.len() + column.role.features(), 1.0);
                            }
                            facts.counts.push(words.len() as u64);
                            words.iter().for_each(|w| all_words.push(w));
                            if *hashed { 'h' } else { 't' }
                        }
                        Role::Label => 'l',
                        Role::Weight => 'w',
                        Role::Ignored(None) => 'i',
                        Role::Ignored(Some(Aside::Empty)) => 'e',
                        Role::Ignored(Some(Aside::Constant)) => 'k',
                        Role::Ignored(Some(Aside::Index)) => 'r',
                        Role::Ignored(Some(Aside::Identifier)) => 'u',
                    });
                }
                if facts.numbers.iter().all(|n| *n == Written::default()) {
                    facts.numbers.clear();
                }
                facts.columns = Some(letters);
            }
        }
        let strings = [
            ("column_names", names),
            ("levels", all_levels),
            ("words", all_words),
        ];
        let numbers = [
            ("centre", found.centre),
            ("scale", found.scale),
            ("term_weights", term_weights),
        ];
        StoredPreparation {
            json: serde_json::to_string(&facts).unwrap_or_default(),
            strings: (strings.into_iter().filter(|(_, list)| !list.is_empty()))
                .map(|(name, list)| (name.to_owned(), list))
                .collect(),
            numbers: (numbers.into_iter().filter(|(_, list)| !list.is_empty()))
                .map(|(name, list)| (name.to_owned(), list))
                .collect(),
        }
    }

    /// Puts together what [`to_stored`](Self::to_stored) gave; lists that are absent are
    /// empty. Nothing in them is believed.
    pub fn from_stored(stored: &StoredPreparation) -> Result<Self> {
        let bad = |what: &str| Error::model(format!("the model's preparation is damaged: {what}"));
        let facts: Facts = serde_json::from_str(&stored.json).map_err(|e| bad(&e.to_string()))?;
        let found = Moments {
            centre: stored.numbers.get("centre").cloned().unwrap_or_default(),
            scale: stored.numbers.get("scale").cloned().unwrap_or_default(),
        };
        if !found.centre.iter().all(|c| c.is_finite())
            || !found.scale.iter().all(|s| s.is_finite() && *s > 0.0)
        {
            return Err(bad("a centre or scale is not a usable number"));
        }
        let usable = |radius: f64| radius.is_finite() && radius > 0.0;
        if (facts.scale == Scale::Radius) != facts.radius.is_some_and(usable) {
            return Err(bad("the largest length of a row does not fit the scaling"));
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
            "table" => table_from_stored(&facts, &found, stored)
                .ok_or_else(|| bad("its columns do not fit together"))?,
            other => return Err(bad(&format!("unknown input {other:?}"))),
        };
        let made = Preparation {
            input,
            scale: facts.scale,
            radius: facts.radius,
            precision: facts.precision,
            labels: facts.labels,
        };
        if made.features() > u32::MAX as usize {
            return Err(bad("too many features"));
        }
        Ok(made)
    }
}

fn table_from_stored(facts: &Facts, found: &Moments, stored: &StoredPreparation) -> Option<Input> {
    let table = |name: &str| stored.strings.get(name).cloned().unwrap_or_default();
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
    let (mut level, mut word) = (0, 0);
    let (mut written, mut dates) = (facts.numbers.iter(), facts.dates.iter());
    let no_weights = Vec::new();
    let term_weights = stored.numbers.get("term_weights").unwrap_or(&no_weights);
    if term_weights.iter().any(|w| !w.is_finite() || *w < 0.0) {
        return None;
    }
    let mut weights = term_weights.iter().copied();
    let mut moments = found
        .centre
        .iter()
        .copied()
        .zip(found.scale.iter().copied());
    let mut next_moments = || moments.next();
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
                let (centre, scale) = next_moments()?;
                let written = match facts.numbers.is_empty() {
                    true => Written::default(),
                    false => *written.next()?,
                };
                Role::Number {
                    centre,
                    scale,
                    indicator: letter == 'm',
                    form: written.form,
                    strays: written.strays,
                }
            }
            'd' => {
                let date = dates.next()?;
                let fits = [0x1FFE_u32, 0x7F, 0xFF_FFFF].iter().zip(date.parts);
                if fits.into_iter().any(|(all, bits)| bits & !all != 0) {
                    return None;
                }
                Role::Date(DateParts {
                    order: date.order,
                    strays: date.strays,
                    indicator: date.indicator,
                    days: next_moments()?,
                    years: match date.years {
                        true => Some(next_moments()?),
                        false => None,
                    },
                    parts: date.parts,
                })
            }
            'c' => Role::Category {
                levels: slice(&all_levels, &mut level)?,
            },
            't' | 'h' => {
                let words = slice(&all_words, &mut word)?;
                let hashed = letter == 'h';
                let features = words.len() + if hashed { BUCKETS as usize } else { 0 };
                Role::Text {
                    words,
                    hashed,
                    weights: match term_weights.is_empty() {
                        true => Vec::new(),
                        false => weights.by_ref().take(features).collect(),
                    },
                }
            }
            'l' => Role::Label,
            'w' => Role::Weight,
            'i' => Role::Ignored(None),
            'e' => Role::Ignored(Some(Aside::Empty)),
            'k' => Role::Ignored(Some(Aside::Constant)),
            'r' => Role::Ignored(Some(Aside::Index)),
            'u' => Role::Ignored(Some(Aside::Identifier)),
            _ => return None,
        };
        columns.push(PlannedColumn {
            name: name.to_owned(),
            role,
        });
    }
    let whole = |c: &PlannedColumn| match &c.role {
        Role::Text { weights, .. } => weights.is_empty() || weights.len() == c.role.features(),
        _ => true,
    };
    let used_up = next_moments().is_none()
        && weights.next().is_none()
        && columns.iter().all(whole)
        && written.next().is_none()
        && dates.next().is_none()
        && level == all_levels.len()
        && word == all_words.len();
    let labels = columns.iter().filter(|c| c.role == Role::Label).count();
    let weights = columns.iter().filter(|c| c.role == Role::Weight).count();
    let fits = used_up && counts.next().is_none() && labels <= 1 && weights <= 1;
    let format = facts.format.filter(|f| f.is_table())?;
    fits.then_some(Input::Table {
        format,
        delimiter: facts.delimiter.filter(|d| d.is_usable())?,
        header: facts.header?,
        columns,
        text: TextRules {
            cut: facts.text.unwrap_or_default(),
            sublinear: facts.sublinear,
        },
    })
}
