//! What each column of a table becomes, found from the training rows.

use std::ops::Range;

use super::super::scale::{Numbers, Scale, moments, too_large_to_scale};
use super::super::table::parse::{MISSING, Take};
use super::super::table::raw::{RawColumn, TableRaw};
use super::super::table::role::{DateParts, MISSING_LEVEL, Role};
use super::super::table::warn::{self, Rows};
use super::super::text::TermWeights;
use super::terms::{Kept, RowsWith, rows_with_buckets};
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
    let weights = TermWeights::chosen(table.text.weights, scale);
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
    let used = (0..known.len() as u32).filter(|&c| used[c as usize]);
    category(used.map(|c| known.get(c)), missing)
}

/// A category with these levels, and one for missing values if there are some.
pub(super) fn category<'a>(levels: impl Iterator<Item = &'a [u8]>, missing: bool) -> Role {
    let missing = missing.then_some(MISSING_LEVEL.as_bytes());
    let mut levels: Vec<&[u8]> = levels.chain(missing).collect();
    levels.sort_unstable();
    Role::Category {
        levels: levels.into_iter().map(String::from_utf8_lossy).collect(),
    }
}

fn fit_text(table: &TableRaw, slot: usize, rows: &[usize], by_idf: bool) -> Role {
    let known = &table.words[slot];
    let terms = |row: &usize| {
        let (part, i) = table.locate(*row);
        let text = &part.texts[slot];
        &text.words[text.range(i)]
    };
    // How many rows have each term, and the terms by first appearance.
    let mut frequency = vec![0u32; known.len()];
    let mut seen = Vec::new();
    for &term in rows.iter().flat_map(terms) {
        frequency[term as usize] += 1;
        if frequency[term as usize] == 1 {
            seen.push(term);
        }
    }
    let all = RowsWith {
        known,
        seen: &seen,
        frequency: &frequency,
        rows: rows.len(),
    };
    let kept = Kept::new(&all, &table.text, by_idf);
    let buckets = kept
        .weighs_buckets()
        .then(|| rows_with_buckets(rows.iter().map(terms), &kept.buckets(known)));
    kept.role(buckets.as_deref())
}
