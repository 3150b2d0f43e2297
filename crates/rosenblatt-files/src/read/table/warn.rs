//! Columns that are likely a mistake: identifiers, and columns that give the label away.

use std::collections::HashMap;

use super::parse::Take;
use super::raw::TableRaw;
use crate::read::interner::Interner;
use crate::read::labels::occurring;
use rosenblatt_core::{Error, Result};

/// Rows below which nothing is concluded.
const ENOUGH_ROWS: usize = 20;

/// Rows that each value must have on average before its agreeing with the label means much.
const ROWS_PER_VALUE: usize = 10;

/// Numbers from which `f32` skips whole numbers, so that neighbours may look equal.
const F32_WHOLE: f64 = 16_777_216.0;

/// Whether these numbers go up or down one by one.
pub(crate) fn counts_rows(mut numbers: impl Iterator<Item = f64>) -> bool {
    let (Some(first), Some(second)) = (numbers.next(), numbers.next()) else {
        return false;
    };
    let step = second - first;
    let mut last = second;
    step.abs() == 1.0
        && numbers.all(|x| {
            let goes_on = x - last == step;
            last = x;
            goes_on
        })
}

/// Whether these numbers are whole and go strictly up or strictly down.
fn are_identifiers(numbers: impl Iterator<Item = f64>) -> bool {
    let mut last: Option<f64> = None;
    let mut up: Option<bool> = None;
    for x in numbers {
        if x.fract() != 0.0 || x.is_nan() {
            return false;
        }
        if let Some(last) = last {
            if x == last && x.abs() >= F32_WHOLE {
                continue;
            }
            let rises = x > last;
            if x == last || up.is_some_and(|up| up != rises) {
                return false;
            }
            up = Some(rises);
        }
        last = Some(x);
    }
    up.is_some()
}

/// What may be wrong with a column.
pub(crate) fn look_at(
    table: &TableRaw,
    take: Take,
    missing: u64,
    labels: &[u32],
) -> Option<String> {
    if table.rows < ENOUGH_ROWS {
        return None;
    }
    let filled = table.rows - missing as usize;
    let identifier = match take {
        Take::Number { slot, .. } => are_identifiers(table.numbers_of(slot)),
        Take::Category { slot } => {
            filled >= ENOUGH_ROWS && table.levels[slot].len() * 20 >= filled * 19 && {
                let words: u64 = (0..table.levels[slot].len() as u32)
                    .map(|i| super::words::count_words(&table.levels[slot].text(i)))
                    .sum();
                words * 2 <= table.levels[slot].len() as u64 * 3
            }
        }
        Take::Text { slot } => {
            let words: usize = table.parts.iter().map(|p| p.texts[slot].words.len()).sum();
            filled >= ENOUGH_ROWS
                && words * 2 <= filled * 3
                && table.words[slot].len() * 20 >= filled * 19
        }
        _ => false,
    };
    if identifier {
        return Some("looks like an identifier; pass ⟨ignore⟩ with its name if it is one".into());
    }
    let gives_away = match take {
        Take::Number { slot, .. } => decides_label(
            table
                .numbers_of(slot)
                .map(|x| (x.fract() == 0.0 && x.abs() <= 1000.0).then_some(x as i64)),
            labels,
        ),
        Take::Category { slot } => {
            decides_label(table.codes_of(slot).map(|c| Some(i64::from(c))), labels)
        }
        _ => false,
    };
    gives_away.then(|| {
        "gives the label away: each of its values comes with one class only; \
         pass ⟨ignore⟩ with its name unless it is known before the label is"
            .into()
    })
}

/// Whether every value comes with one label only, too often for an accident.
fn decides_label(values: impl Iterator<Item = Option<i64>>, labels: &[u32]) -> bool {
    let mut label_of: HashMap<i64, u32> = HashMap::new();
    for (value, &label) in values.zip(labels) {
        let Some(value) = value else { return false };
        if *label_of.entry(value).or_insert(label) != label {
            return false;
        }
    }
    let classes: std::collections::HashSet<&u32> = label_of.values().collect();
    classes.len() > 1 && label_of.len() * ROWS_PER_VALUE <= labels.len()
}

/// Refuses a label column that holds a measurement.
pub(crate) fn refuse_measurement(name: &str, labels: &[u32], names: &Interner) -> Result<()> {
    let used = occurring(labels, names.len());
    let distinct = used.iter().filter(|u| **u).count();
    if labels.len() > 50 && distinct * 2 > labels.len() {
        return Err(Error::data(format!(
            "the label column {name} has {distinct} different values in {} rows: it looks like a measurement",
            labels.len()
        ))
        .remedy("pass ⟨label⟩ with the name or number of the column that holds the classes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_go_one_way() {
        assert!(are_identifiers([1.0, 2.0, 5.0].into_iter()));
        assert!(are_identifiers([9.0, 7.0].into_iter()));
        assert!(are_identifiers([1e9, 1e9, 2e9].into_iter()));
        assert!(!are_identifiers([1.0, 1.0, 2.0].into_iter()));
        assert!(!are_identifiers([1.0, 2.5].into_iter()));
        assert!(!are_identifiers([1.0, 3.0, 2.0].into_iter()));
        assert!(counts_rows([0.0, 1.0, 2.0].into_iter()));
        assert!(!counts_rows([0.0, 2.0, 4.0].into_iter()));
    }

    #[test]
    fn a_column_may_decide_the_label() {
        let labels: Vec<u32> = (0..40).map(|i| i % 2).collect();
        let same = |i: &u32| Some(i64::from(*i));
        assert!(decides_label(labels.iter().map(same), &labels));
        assert!(!decides_label((0..40).map(Some), &labels));
        assert!(!decides_label(labels.iter().map(|_| Some(1)), &labels));
    }
}
