//! Typed columns to rows of features.
//!
//! Columns keep their order, and so do their features: a numeric column makes one feature
//! and, if training rows missed it, another that says so; a category one for each level; a
//! text one for each word. Values that training has not seen make nothing, and are counted.

use super::BUCKETS;
use super::cells::DATE_SLOTS;
use super::numeric::{NumericColumns, NumericRows};
use super::parse::{MISSING, Slots, TablePart, Take};
use super::role::{DateParts, MISSING_LEVEL, Role, Unseen};
use crate::read::assemble;
use crate::read::interner::{Interner, hash};
use crate::read::number::Stored;
use crate::read::scale::{RowDivisor, Scale};
use rosenblatt_core::data::{Matrix, Precision};
use rosenblatt_core::internal::simd;
use rosenblatt_core::{Error, Result};

const NONE: u32 = u32::MAX;

enum Step {
    Number {
        slot: usize,
        feature: u32,
        centre: f64,
        scale: f64,
        indicator: bool,
    },
    Date {
        slot: usize,
        feature: u32,
        date: DateParts,
    },
    Category {
        slot: usize,
        features: Vec<u32>,
        missing: u32,
    },
    Text {
        slot: usize,
        features: Vec<u32>,
        /// The number of the first feature, and what each weighs; nothing if all weigh 1.
        first: u32,
        weights: Vec<f64>,
    },
}

/// The levels and words of a plan, ready to be looked up.
#[derive(Debug)]
pub(crate) struct Lookup {
    known: Vec<Option<Interner>>,
}

impl Lookup {
    pub(crate) fn new(roles: &[&Role]) -> Self {
        let known = roles
            .iter()
            .map(|role| match role {
                Role::Category { levels } => Some(levels.iter().collect()),
                Role::Text { words, .. } => Some(words.iter().collect()),
                _ => None,
            })
            .collect();
        Lookup { known }
    }
}

/// Makes feature rows of typed columns.
pub(crate) struct Encoder {
    steps: Vec<Step>,
    numbers: usize,
    categories: usize,
    features: usize,
    divisor: RowDivisor,
    unit_texts: bool,
    sublinear: bool,
}

impl Encoder {
    /// An encoder for columns stored as `takes` says, with these dictionaries.
    pub(crate) fn new(
        roles: &[&Role],
        takes: &[Take],
        lookup: &Lookup,
        levels: &[Interner],
        words: &[Interner],
        (scale, divisor, sublinear): (Scale, RowDivisor, bool),
    ) -> Result<Self> {
        let mut steps = Vec::new();
        let mut feature = 0usize;
        for (i, (role, take)) in roles.iter().zip(takes).enumerate() {
            let first = feature as u32;
            match (role, take, &lookup.known[i]) {
                (
                    Role::Number {
                        centre,
                        scale,
                        indicator,
                        ..
                    },
                    Take::Number { slot, .. },
                    _,
                ) => {
                    steps.push(Step::Number {
                        slot: *slot,
                        feature: first,
                        centre: *centre,
                        scale: *scale,
                        indicator: *indicator,
                    });
                }
                (Role::Date(date), Take::Date { slot, .. }, _) => steps.push(Step::Date {
                    slot: *slot,
                    feature: first,
                    date: date.clone(),
                }),
                (Role::Category { .. }, Take::Category { slot }, Some(known)) => {
                    let find = |text: &[u8]| known.find(text).map_or(NONE, |n| first + n);
                    let all = &levels[*slot];
                    steps.push(Step::Category {
                        slot: *slot,
                        features: (0..all.len() as u32).map(|c| find(all.get(c))).collect(),
                        missing: find(MISSING_LEVEL.as_bytes()),
                    });
                }
                (
                    Role::Text {
                        hashed, weights, ..
                    },
                    Take::Text { slot },
                    Some(known),
                ) => {
                    let all = &words[*slot];
                    let find = |word: &[u8]| match known.find(word) {
                        Some(n) => first + n,
                        None if *hashed => first + known.len() as u32 + bucket(word),
                        None => NONE,
                    };
                    steps.push(Step::Text {
                        slot: *slot,
                        features: (0..all.len() as u32).map(|w| find(all.get(w))).collect(),
                        first,
                        weights: weights.clone(),
                    });
                }
                (Role::Label | Role::Weight | Role::Ignored(_), _, _) => {}
                (role, Take::Skip, _) if role.features() == 0 => {}
                _ => {
                    return Err(Error::data(format!(
                        "column {i} was read as another kind than the model's"
                    ))
                    .remedy("read the file with the model's own column kinds"));
                }
            }
            feature += role.features();
        }
        let slots = Slots::of(takes);
        Ok(Encoder {
            steps,
            numbers: slots.numbers,
            categories: slots.categories,
            features: feature,
            divisor,
            unit_texts: scale.by_column(),
            sublinear,
        })
    }

    /// The features of row `i` of `part`, ascending, zeros left out.
    fn row(&self, part: &TablePart, i: usize, out: &mut Vec<(u32, f64)>, unseen: &mut Unseen) {
        out.clear();
        for step in &self.steps {
            match step {
                Step::Number {
                    slot,
                    feature,
                    centre,
                    scale,
                    indicator,
                } => {
                    let x = part.numbers.get(i * self.numbers + slot);
                    if x.is_nan() {
                        if *indicator {
                            out.push((feature + 1, 1.0));
                        } else {
                            unseen.levels += 1;
                        }
                    } else {
                        let x = (x - centre) / scale;
                        if x != 0.0 {
                            out.push((*feature, x));
                        }
                    }
                }
                Step::Date {
                    slot,
                    feature,
                    date,
                } => {
                    let place = i * self.numbers + slot;
                    let parts = std::array::from_fn(|k| part.numbers.get(place + k));
                    date_features(parts, *feature, date, out, unseen);
                }
                Step::Category {
                    slot,
                    features,
                    missing,
                } => {
                    let code = part.codes[i * self.categories + slot];
                    let feature = if code == MISSING {
                        *missing
                    } else {
                        features[code as usize]
                    };
                    if feature == NONE {
                        unseen.levels += 1;
                    } else {
                        out.push((feature, 1.0));
                    }
                }
                Step::Text {
                    slot,
                    features,
                    first,
                    weights,
                } => {
                    let text = &part.texts[*slot];
                    let start = out.len();
                    for k in text.range(i) {
                        let feature = features[text.words[k] as usize];
                        if feature == NONE {
                            unseen.words += u64::from(text.counts[k]);
                        } else {
                            let count = f64::from(text.counts[k]);
                            let times = match self.sublinear {
                                true => 1.0 + libm::log(count),
                                false => count,
                            };
                            let weight = weights.get((feature - first) as usize);
                            let x = times * weight.unwrap_or(&1.0);
                            if x != 0.0 {
                                out.push((feature, x));
                            }
                        }
                    }
                    out[start..].sort_unstable_by_key(|f| f.0);
                    add_repeats(out, start);
                    if self.unit_texts {
                        divide_by_length(&mut out[start..]);
                    }
                }
            }
        }
        match self.divisor {
            RowDivisor::One => {}
            RowDivisor::Length => divide_by_length(out),
            RowDivisor::Common(divisor) => out.iter_mut().for_each(|(_, x)| *x /= divisor),
        }
    }

    /// Centre and scale of each column, if every feature is a number in its place.
    fn numeric_columns(&self) -> Option<NumericColumns> {
        let of = |(place, step): (usize, &Step)| match step {
            Step::Number {
                slot,
                centre,
                scale,
                indicator: false,
                ..
            } if *slot == place => Some((*centre, *scale)),
            _ => None,
        };
        if self.divisor != RowDivisor::One || self.numbers != self.steps.len() {
            return None;
        }
        let columns: Option<Vec<_>> = self.steps.iter().enumerate().map(of).collect();
        let (centres, scales) = columns?.into_iter().unzip();
        Some(NumericColumns { centres, scales })
    }

    /// How many values of these rows are not zero, about: whether scaled numbers happen to
    /// be zero is not looked at.
    fn expected_non_zeros<'a>(&self, rows: impl Iterator<Item = (&'a TablePart, usize)>) -> usize {
        let mut total = 0;
        let plain: Vec<(usize, bool)> = self
            .steps
            .iter()
            .filter_map(|s| match s {
                Step::Number { slot, centre, .. } => Some((*slot, *centre == 0.0)),
                _ => None,
            })
            .collect();
        let texts: Vec<usize> = self
            .steps
            .iter()
            .filter_map(|s| match s {
                Step::Text { slot, .. } => Some(*slot),
                _ => None,
            })
            .collect();
        let others = self.steps.len() - plain.len() - texts.len();
        for (part, i) in rows {
            total += others;
            for &(slot, zero_stays) in &plain {
                let x = part.numbers.get(i * self.numbers + slot);
                total += usize::from(!(zero_stays && x == 0.0));
            }
            for &slot in &texts {
                total += part.texts[slot].range(i).len();
            }
        }
        total
    }

    /// The rows that `locate` finds for `0..n`, dense or sparse by their density.
    pub(crate) fn matrix<'a>(
        &self,
        precision: Precision,
        n: usize,
        locate: impl Fn(usize) -> (&'a TablePart, usize) + Sync,
        threads: usize,
    ) -> (Matrix, Unseen) {
        let sampled = (0..n).step_by((n / 10_000).max(1));
        let looked_at = sampled.len().max(1);
        let per_row = self.expected_non_zeros(sampled.map(&locate)) as f64 / looked_at as f64;
        let dense = per_row * 2.0 >= self.features as f64;
        let (matrix, found) = match (dense, precision) {
            (true, Precision::F32) => self.dense::<f32>(n, &locate, threads),
            (true, Precision::F64) => self.dense::<f64>(n, &locate, threads),
            (false, Precision::F32) => self.sparse::<f32>(n, &locate, threads),
            (false, Precision::F64) => self.sparse::<f64>(n, &locate, threads),
        };
        let mut unseen = Unseen::default();
        found.into_iter().for_each(|here| unseen += here);
        (matrix, unseen)
    }

    fn dense<'a, T: Stored>(
        &self,
        n: usize,
        locate: &(impl Fn(usize) -> (&'a TablePart, usize) + Sync),
        threads: usize,
    ) -> (Matrix, Vec<Unseen>) {
        let width = self.features;
        let numeric = self.numeric_columns();
        assemble::dense(n, width, threads, |range, out: &mut [T]| {
            let mut unseen = Unseen::default();
            if let Some(columns) = &numeric {
                unseen.levels = simd::dispatch(NumericRows {
                    columns,
                    locate,
                    range,
                    out,
                });
                return unseen;
            }
            let mut row = Vec::new();
            for (p, full) in range.zip(out.chunks_exact_mut(width.max(1))) {
                let (part, i) = locate(p);
                self.row(part, i, &mut row, &mut unseen);
                for &(j, x) in &row {
                    full[j as usize] = T::from_f64(x);
                }
            }
            unseen
        })
    }

    /// The same as sparse rows, whatever their density; and what each thread has not known.
    pub(crate) fn sparse<'a, T: Stored>(
        &self,
        n: usize,
        locate: &(impl Fn(usize) -> (&'a TablePart, usize) + Sync),
        threads: usize,
    ) -> (Matrix, Vec<Unseen>) {
        assemble::sparse(n, self.features, threads, |range, rows| {
            let mut unseen = Unseen::default();
            let mut row = Vec::new();
            for p in range {
                let (part, i) = locate(p);
                self.row(part, i, &mut row, &mut unseen);
                rows.push(row.iter().map(|&(j, x)| (j, T::from_f64(x))));
            }
            unseen
        })
    }
}

/// Appends the features of a date, kept as these numbers.
fn date_features(
    numbers: [f64; DATE_SLOTS],
    first: u32,
    date: &DateParts,
    out: &mut Vec<(u32, f64)>,
    unseen: &mut Unseen,
) {
    let [days, year, parts @ ..] = numbers;
    if days.is_nan() {
        match date.indicator {
            true => out.push((first + date.features() as u32 - 1, 1.0)),
            false => unseen.levels += 1,
        }
        return;
    }
    let mut feature = first;
    let mut number = |feature: u32, x: f64, (centre, scale): (f64, f64)| {
        let x = (x - centre) / scale;
        if x != 0.0 {
            out.push((feature, x));
        }
    };
    number(feature, days, date.days);
    feature += 1;
    if let Some(moments) = date.years {
        number(feature, year, moments);
        feature += 1;
    }
    for (value, bits) in parts.into_iter().zip(date.parts) {
        let bit = value as u32 & 31;
        if bits >> bit & 1 == 1 {
            let before = bits & ((1 << bit) - 1);
            out.push((feature + before.count_ones(), 1.0));
        } else if bits != 0 {
            unseen.levels += 1;
        }
        feature += bits.count_ones();
    }
}

/// Adds up neighbours with the same feature, from `start` on.
fn add_repeats(row: &mut Vec<(u32, f64)>, start: usize) {
    let mut kept = start;
    for k in start..row.len() {
        if kept > start && row[kept - 1].0 == row[k].0 {
            row[kept - 1].1 += row[k].1;
        } else {
            row[kept] = row[k];
            kept += 1;
        }
    }
    row.truncate(kept);
}

fn divide_by_length(row: &mut [(u32, f64)]) {
    let mut squares = 0.0;
    row.iter().for_each(|(_, x)| squares += x * x);
    let length = squares.sqrt();
    if length > 0.0 && length.is_finite() {
        row.iter_mut().for_each(|(_, x)| *x /= length);
    }
}

/// The bucket of a word without a feature of its own; part of the model file's promise.
pub(crate) fn bucket(word: &[u8]) -> u32 {
    hash(word, 0) as u32 % BUCKETS
}
