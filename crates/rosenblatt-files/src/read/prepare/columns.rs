//! What each column of a table becomes, found from the training rows.

use std::collections::HashSet;
use std::ops::Range;

use super::super::scale::{Numbers, Scale, moments, too_large_to_scale};
use super::super::table::BUCKETS;
use super::super::table::encode::bucket;
use super::super::table::parse::{MISSING, Take};
use super::super::table::raw::{RawColumn, TableRaw};
use super::super::table::role::{DateParts, MISSING_LEVEL, Role};
use super::super::table::warn::{self, Rows};
use super::super::text::TermWeights;
use super::{Input, PlannedColumn, TextRules};
use rosenblatt_core::Result;
use rosenblatt_core::data::Values;

/// What the columns become, and of each that gives the label away the share of rows it tells.
pub(super) fn fit_table(
    table: &TableRaw,
    rows: Option<&[usize]>,
    labels: &[u32],
    scale: Scale,
    threads: usize,
) -> Result<(Input, Vec<Option<f64>>)> {
    let all: Vec<usize>;
    let rows = match rows {
        Some(rows) => rows,
        None => {
            all = (0..table.rows).collect();
            &all
        }
    };
    let (numbers, missing) = moments(table.numbers, rows.iter().copied(), table, scale, threads)
        .map_err(|number| {
            let here =
                |c: &&RawColumn| matches!(c.take, Take::Number { slot, .. } if slot == number);
            let name = table.columns.iter().find(here).map_or("", |c| &c.name);
            too_large_to_scale(format_args!("the column {name}"))
        })?;
    let weights = table.text.weights.unwrap_or(match scale.by_column() {
        true => TermWeights::SublinearTfIdf,
        false => TermWeights::Counts,
    });
    let training = Rows { table, rows };
    let columns: Vec<PlannedColumn> = table
        .columns
        .iter()
        .map(|column| {
            let role = match column.take {
                Take::Label => Role::Label,
                Take::Weight => Role::Weight,
                Take::Skip => Role::Ignored(None),
                _ if column.splits_rows => Role::Ignored(None),
                _ if !column.given
                    && let Some(why) = warn::aside(training, column, scale.by_column()) =>
                {
                    Role::Ignored(Some(why))
                }
                Take::Number { slot, .. } => Role::Number {
                    centre: numbers.centre[slot],
                    scale: numbers.scale[slot],
                    indicator: missing[slot] > 0,
                    form: column.form(),
                    strays: column.strays(table.rows) > 0,
                },
                Take::Date { slot, order, .. } => {
                    let moments = |slot| (numbers.centre[slot], numbers.scale[slot]);
                    Role::Date(DateParts {
                        order,
                        strays: column.strays(table.rows) > 0,
                        indicator: missing[slot] > 0,
                        days: moments(slot),
                        years: training.differ(slot + 1).then(|| moments(slot + 1)),
                        parts: [2, 3, 4].map(|part| training.parts(slot + part)),
                    })
                }
                Take::Category { slot } => fit_category(table, slot, rows),
                Take::Text { slot } => fit_text(table, slot, rows, weights.by_idf()),
            };
            PlannedColumn {
                name: column.name.clone(),
                role,
            }
        })
        .collect();
    let told = (table.columns.iter().zip(&columns)).map(|(raw, planned)| {
        let used = planned.role.features() > 0;
        used.then(|| warn::gives_away(training, raw, labels))
            .flatten()
    });
    let told = told.collect();
    let input = Input::Table {
        format: table.format,
        delimiter: table.delimiter,
        header: table.header,
        columns,
        text: TextRules {
            cut: table.text.cut,
            sublinear: weights.sublinear(),
        },
    };
    Ok((input, told))
}

impl Numbers for TableRaw {
    #[inline(always)]
    fn write(&self, row: usize, columns: Range<usize>, out: &mut [f64]) {
        let (part, i) = self.locate(row);
        let start = i * self.numbers;
        let here = start + columns.start..start + columns.end;
        match &part.numbers {
            Values::F32(numbers) => {
                let row = out.iter_mut().zip(&numbers[here]);
                row.for_each(|(x, &number)| *x = f64::from(number));
            }
            Values::F64(numbers) => out.copy_from_slice(&numbers[here]),
        }
    }
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

fn fit_text(table: &TableRaw, slot: usize, rows: &[usize], by_idf: bool) -> Role {
    let known = &table.words[slot];
    let options = &table.text;
    let terms = |row: usize| {
        let (part, i) = table.locate(row);
        let text = &part.texts[slot];
        &text.words[text.range(i)]
    };
    // How many rows have each term, and the terms by first appearance.
    let mut frequency = vec![0u32; known.len()];
    let mut seen = Vec::new();
    for &row in rows {
        for &term in terms(row) {
            frequency[term as usize] += 1;
            if frequency[term as usize] == 1 {
                seen.push(term);
            }
        }
    }
    let rows_with = |term: &u32| f64::from(frequency[*term as usize]);
    let least = options.min_df.of(rows.len());
    let most = options.max_df.of(rows.len());
    let mut kept: Vec<u32> = (seen.iter().copied())
        .filter(|term| (least..=most).contains(&rows_with(term)))
        .collect();
    let hashed = kept.len() > options.vocabulary;
    if hashed {
        // The most frequent, by first appearance among the same.
        kept.sort_by_key(|&term| std::cmp::Reverse(frequency[term as usize]));
        let last: HashSet<u32> = kept.drain(..options.vocabulary).collect();
        // What comes in too many rows must not end up among the others.
        let all = seen
            .iter()
            .copied()
            .filter(|term| last.contains(term) || rows_with(term) > most);
        kept = all.collect();
    }
    let n = rows.len() as f64;
    let weight = |frequency: f64| match () {
        () if frequency > most => 0.0,
        () if by_idf => libm::log((1.0 + n) / (1.0 + frequency)) + 1.0,
        () => 1.0,
    };
    let mut weights = Vec::new();
    if by_idf || (hashed && kept.iter().any(|term| rows_with(term) > most)) {
        weights.extend(kept.iter().map(|term| weight(rows_with(term))));
        if hashed {
            let alone: HashSet<u32> = kept.iter().copied().collect();
            let mut frequency = vec![0u32; BUCKETS as usize];
            let mut here = Vec::new();
            for &row in rows {
                let others = terms(row).iter().filter(|term| !alone.contains(term));
                here.clear();
                here.extend(others.map(|&term| bucket(known.get(term))));
                here.sort_unstable();
                here.dedup();
                here.iter()
                    .for_each(|&bucket| frequency[bucket as usize] += 1);
            }
            weights.extend(frequency.iter().map(|&f| weight(f64::from(f).min(most))));
        }
    }
    Role::Text {
        words: kept.iter().map(|&term| known.text(term)).collect(),
        hashed,
        weights,
    }
}
