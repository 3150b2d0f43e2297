//! Columns that are likely a mistake, told from training rows: constants, identifiers, and
//! columns that give the label away.

use std::collections::{HashMap, HashSet};

use super::parse::{MISSING, Take};
use super::raw::{RawColumn, TableRaw};
use super::role::Aside;
use crate::read::interner::{Interner, hash};
use crate::read::labels::occurring;
use rosenblatt_core::{Error, Result};

/// Rows below which nothing is concluded.
pub(crate) const ENOUGH_ROWS: usize = 20;

/// Rows that each value must have on average before its agreeing with the label means much.
const ROWS_PER_VALUE: usize = 10;

/// Rows that are looked at for what shows in a few.
const LOOKED_AT: usize = 4096;

/// Whole numbers from here on are not told apart in `f64`.
const F64_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Numbers from which `f32` skips whole numbers, so that neighbours may look equal.
const F32_WHOLE: f64 = 16_777_216.0;

/// The training rows of a table.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) table: &'a TableRaw,
    pub(crate) rows: &'a [usize],
}

impl<'a> Rows<'a> {
    /// The numbers in this slot, NaN where one is missing.
    fn numbers(self, slot: usize) -> impl Iterator<Item = f64> + 'a {
        self.rows.iter().map(move |&row| {
            let (part, i) = self.table.locate(row);
            part.numbers.get(i * self.table.numbers + slot)
        })
    }

    /// Whether the numbers in this slot are not all the same.
    pub(crate) fn differ(self, slot: usize) -> bool {
        let mut there = self.numbers(slot).filter(|x| !x.is_nan());
        there.next().is_some_and(|first| there.any(|x| x != first))
    }

    /// A bit for each small whole number that occurs, if there are several.
    pub(crate) fn parts(self, slot: usize) -> u32 {
        let there = self.numbers(slot).filter(|x| !x.is_nan());
        let bits = there.fold(0, |bits, x| bits | 1 << (x as u32 & 31));
        if u32::count_ones(bits) > 1 { bits } else { 0 }
    }

    fn codes(self, slot: usize) -> impl Iterator<Item = u32> + 'a {
        self.rows.iter().map(move |&row| {
            let (part, i) = self.table.locate(row);
            part.codes[i * self.table.categories + slot]
        })
    }

    /// The words of each row's text.
    fn texts(self, slot: usize) -> impl Iterator<Item = &'a [u32]> + 'a {
        self.rows.iter().map(move |&row| {
            let (part, i) = self.table.locate(row);
            let text = &part.texts[slot];
            &text.words[text.range(i)]
        })
    }
}

/// Why a column that nobody spoke of is to be set aside; `constant` says whether one value for all
/// rows is a reason.
pub(crate) fn aside(all: Rows<'_>, column: &RawColumn, constant: bool) -> Option<Aside> {
    let identifier = |is: bool| is.then_some(column.identifier());
    match column.take {
        Take::Number { slot, .. } => {
            let mut there = all.numbers(slot).filter(|x| !x.is_nan());
            let Some(first) = there.next() else {
                return Some(Aside::Empty);
            };
            let same = all.numbers(slot).all(|x| x == first);
            if same {
                return constant_aside(all.rows.len(), constant);
            }
            identifier(are_identifiers(all, slot, column))
        }
        Take::Date { slot, .. } => {
            let empty = all.numbers(slot).all(f64::is_nan);
            empty.then_some(Aside::Empty)
        }
        Take::Category { slot } => {
            let used: HashSet<u32> = all.codes(slot).collect();
            let filled = all.codes(slot).filter(|&c| c != MISSING).count();
            let levels = used.iter().filter(|&&code| code != MISSING);
            let levels: Vec<&[u8]> = levels
                .map(|&code| all.table.levels[slot].get(code))
                .collect();
            let counts = (filled, all.rows.len());
            category_aside(&column.name, column.identifier(), counts, &levels, constant)
        }
        Take::Text { slot } => {
            let filled = all.texts(slot).filter(|words| !words.is_empty()).count();
            let distinct = || all.texts(slot).collect::<HashSet<&[u32]>>().len();
            let codes = || are_codes(all, slot, filled);
            text_aside(&column.name, column.identifier(), filled, distinct, codes)
        }
        Take::Label | Take::Weight | Take::Skip => None,
    }
}

/// Whether so many rows with one value are set aside.
fn constant_aside(rows: usize, constant: bool) -> Option<Aside> {
    (constant && rows >= ENOUGH_ROWS).then_some(Aside::Constant)
}

/// Why numbers of this range, of which so many of so many rows are missing, are to be set aside;
/// whether they are identifiers takes all of them.
pub(crate) fn numbers_aside(
    (low, high): (f64, f64),
    rows: u64,
    missing: u64,
    constant: bool,
) -> Option<Aside> {
    match missing {
        _ if missing == rows => Some(Aside::Empty),
        0 if low == high => constant_aside(rows as usize, constant),
        _ => None,
    }
}

/// Whether this is at least 19 in 20.
pub(crate) fn nearly_all(n: usize, of: usize) -> bool {
    n * 20 >= of * 19
}

/// Why a category is to be set aside of which so many of so many rows are filled, with these
/// levels; `constant` says whether one value for all rows is a reason.
pub(crate) fn category_aside(
    name: &str,
    identifier: Aside,
    (filled, rows): (usize, usize),
    levels: &[&[u8]],
    constant: bool,
) -> Option<Aside> {
    let distinct = levels.len();
    if distinct == 0 {
        return Some(Aside::Empty);
    }
    if rows < ENOUGH_ROWS {
        return None;
    }
    if distinct == 1 && filled == rows {
        return constant.then_some(Aside::Constant);
    }
    if filled < ENOUGH_ROWS || !nearly_all(distinct, filled) {
        return None;
    }
    let token = |value: &&&[u8]| !value.trim_ascii().contains(&b' ');
    let tokens = levels.iter().filter(token).count();
    (nearly_all(tokens, distinct) || is_named_so(name)).then_some(identifier)
}

/// Why a column of texts is to be set aside of which so many have words: how many different ones
/// there are, and whether they are codes, is asked where it matters.
pub(crate) fn text_aside(
    name: &str,
    identifier: Aside,
    filled: usize,
    distinct: impl FnOnce() -> usize,
    are_codes: impl FnOnce() -> bool,
) -> Option<Aside> {
    if filled == 0 {
        return Some(Aside::Empty);
    }
    let is = filled >= ENOUGH_ROWS
        && match is_named_so(name) {
            true => nearly_all(distinct(), filled),
            false => are_codes(),
        };
    is.then_some(identifier)
}

/// Whether texts hold a word of their own each, beside few that they share: C-00012.
fn are_codes(all: Rows<'_>, slot: usize, filled: usize) -> bool {
    let words: usize = all.texts(slot).map(<[u32]>::len).sum();
    if !short_enough_for_codes(words, filled) {
        return false;
    }
    let known = &all.table.words[slot];
    let mut rows_with = vec![0u32; known.len()];
    for word in all.texts(slot).flatten() {
        rows_with[*word as usize] += 1;
    }
    let mut codes = Codes::default();
    all.texts(slot)
        .for_each(|text| codes.add(text, &rows_with, known));
    codes.are_codes(filled)
}

/// Whether so many texts have so few words in all that they may be codes.
pub(crate) fn short_enough_for_codes(words: usize, filled: usize) -> bool {
    /// Words that a code has at most.
    const SHORT: usize = 6;
    words <= filled * SHORT
}

/// What tells whether short texts are codes.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Codes {
    /// Texts with a word that no other has.
    alone: usize,
    /// Hashes of what they have beside such words.
    others: HashSet<u64>,
}

impl Codes {
    /// Counts a text in; `rows_with` says how many texts have each word.
    pub(crate) fn add(&mut self, text: &[u32], rows_with: &[u32], known: &Interner) {
        if text.is_empty() {
            return;
        }
        let mut shared = (0, 0);
        for &word in text.iter().filter(|&&word| rows_with[word as usize] > 1) {
            shared = (shared.0 + 1, hash(known.get(word), shared.1));
        }
        self.alone += usize::from(shared.0 < text.len());
        self.others.insert(shared.1);
    }

    /// Adds those of other texts.
    pub(crate) fn merge(&mut self, other: Codes) {
        self.alone += other.alone;
        self.others.extend(other.others);
    }

    /// Whether so many texts are codes.
    pub(crate) fn are_codes(&self, filled: usize) -> bool {
        nearly_all(self.alone, filled) && self.others.len() * 20 <= filled
    }
}

/// Whether whole numbers tell the rows apart and nothing else.
fn are_identifiers(all: Rows<'_>, slot: usize, column: &RawColumn) -> bool {
    let there = || all.numbers(slot).filter(|x| !x.is_nan());
    let named = is_named_so(&column.name);
    // Most columns repeat a value, or have one that is not whole, soon.
    let mut seen = HashSet::new();
    let (mut looked_at, mut repeats) = (0, 0);
    for x in there().take(LOOKED_AT) {
        if x.fract() != 0.0 || x.abs() > F64_WHOLE {
            return false;
        }
        looked_at += 1;
        repeats += usize::from(x.abs() < F32_WHOLE && !seen.insert(x.to_bits()));
    }
    if looked_at < ENOUGH_ROWS {
        return column.unnamed && looked_at == all.rows.len() && counts_rows(there());
    }
    let few = named && repeats * 20 <= looked_at;
    if (repeats > 0 && !few) || there().any(|x| x.fract() != 0.0) {
        return false;
    }
    let filled = there().count();
    if go_one_way(there()) {
        return true;
    }
    let distinct: HashSet<u64> = there().map(f64::to_bits).collect();
    if named {
        return distinct.len() * 20 >= filled * 19;
    }
    let (low, high) = there().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
        (l.min(x), h.max(x))
    });
    // Of n numbers drawn from fewer than n²/10, two would be the same but for one case in a
    // hundred: they were given out, not measured.
    let n = filled as f64;
    distinct.len() == filled && (column.unnamed || (high - low + 1.0) * 10.0 <= n * n)
}

/// Whether a column goes by a name that identifiers have: `id`, `uuid`, `customer_id`, `rowId`.
pub(crate) fn is_named_so(name: &str) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words
                .last_mut()
                .into_iter()
                .for_each(|w| w.extend(c.to_lowercase()));
        }
        lower = c.is_lowercase();
    }
    words.retain(|w| !w.is_empty());
    let is = |word: &String| {
        [
            "id", "ids", "uuid", "guid", "index", "idx", "rowid", "rownum", "key",
        ]
        .contains(&word.as_str())
    };
    words.last().is_some_and(is) || words.first().is_some_and(|w| w == "id")
}

/// Whether these numbers go up or down one by one.
fn counts_rows(mut numbers: impl Iterator<Item = f64>) -> bool {
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

/// Whether these numbers go strictly up or strictly down.
fn go_one_way(numbers: impl Iterator<Item = f64>) -> bool {
    let mut last: Option<f64> = None;
    let mut up: Option<bool> = None;
    for x in numbers {
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

/// The share of training rows whose class a column alone tells, if that is nearly all of them and
/// far more than the largest class.
pub(crate) fn gives_away(all: Rows<'_>, column: &RawColumn, labels: &[u32]) -> Option<f64> {
    let step = all.rows.len().div_ceil(LOOKED_AT).max(1);
    let rows: Vec<usize> = all.rows.iter().copied().step_by(step).collect();
    if rows.len() < ENOUGH_ROWS {
        return None;
    }
    let some = Rows { rows: &rows, ..all };
    let labels = || rows.iter().map(|&row| labels[row]);
    match column.take {
        Take::Number { slot, .. } | Take::Date { slot, .. } => {
            // Values that are missing come together, last.
            let key = |x: f64| if x.is_nan() { f64::INFINITY } else { x + 0.0 };
            let mut pairs: Vec<(f64, u32)> = some.numbers(slot).map(key).zip(labels()).collect();
            pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let groups = pairs.chunk_by(|a, b| a.0 == b.0);
            told(
                groups.map(|group| group.iter().map(|(_, label)| *label)),
                labels(),
                true,
            )
        }
        Take::Category { slot } => {
            let mut pairs: Vec<(u32, u32)> = some.codes(slot).zip(labels()).collect();
            pairs.sort_unstable();
            let groups = pairs.chunk_by(|a, b| a.0 == b.0);
            told(
                groups.map(|group| group.iter().map(|(_, label)| *label)),
                labels(),
                false,
            )
        }
        _ => None,
    }
}

/// How many rows in all are told by groups of rows with the same value: either few groups, each
/// of one class, or if they are `ordered` a class that changes hardly more often along them than
/// there are classes.
fn told<L: Iterator<Item = u32>>(
    groups: impl Iterator<Item = L>,
    labels: impl Iterator<Item = u32>,
    ordered: bool,
) -> Option<f64> {
    let mut of_class: HashMap<u32, usize> = HashMap::new();
    labels.for_each(|label| *of_class.entry(label).or_default() += 1);
    let rows: usize = of_class.values().sum();
    let others = rows - of_class.values().max()?;
    // At most one row in 200 amiss, and a tenth of what the largest class would leave.
    let most = (rows / 200).min(others / 10);
    if others < ROWS_PER_VALUE {
        return None;
    }
    let (mut count, mut amiss, mut changes, mut last) = (0, 0, 0, None);
    for group in groups {
        let mut here: Vec<(u32, usize)> = Vec::new();
        let mut size = 0;
        for label in group {
            size += 1;
            match here.last_mut() {
                Some((known, n)) if *known == label => *n += 1,
                _ => here.push((label, 1)),
            }
        }
        // Labels come sorted; the first of the largest.
        let &(label, n) = here.iter().rev().max_by_key(|(_, n)| *n)?;
        count += 1;
        amiss += size - n;
        changes += usize::from(last.is_some_and(|last| last != label));
        last = Some(label);
        if amiss > most {
            return None;
        }
    }
    let few = count > 1 && count * ROWS_PER_VALUE <= rows;
    let extra = changes.saturating_sub(of_class.len() - 1).div_ceil(2);
    let in_order = ordered && changes > 0 && amiss + extra <= most;
    let amiss = if few { amiss } else { amiss + extra };
    (few || in_order).then(|| 1.0 - amiss as f64 / rows as f64)
}

/// Refuses labels that are a measurement; `guess` says what to do.
pub(crate) fn refuse_measurement(
    what: &str,
    labels: &[u32],
    names: &Interner,
    guess: &str,
) -> Result<()> {
    let used = occurring(labels, names.len());
    let distinct = used.iter().filter(|u| **u).count();
    if labels.len() > 50 && distinct * 2 > labels.len() {
        return Err(Error::data(format!(
            "{what} have {distinct} different values in {} rows: this looks like a measurement",
            labels.len()
        ))
        .remedy(guess.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_go_one_way() {
        assert!(go_one_way([1.0, 2.0, 5.0].into_iter()));
        assert!(go_one_way([9.0, 7.0].into_iter()));
        assert!(go_one_way([1e9, 1e9, 2e9].into_iter()));
        assert!(!go_one_way([1.0, 1.0, 2.0].into_iter()));
        assert!(!go_one_way([1.0, 3.0, 2.0].into_iter()));
        assert!(counts_rows([0.0, 1.0, 2.0].into_iter()));
        assert!(!counts_rows([0.0, 2.0, 4.0].into_iter()));
    }

    #[test]
    fn names_of_identifiers() {
        for name in [
            "id",
            "ID",
            "customer_id",
            "PassengerId",
            "customerID",
            "Row.Id",
            "uuid",
            "id_client",
            "index",
        ] {
            assert!(is_named_so(name), "{name}");
        }
        for name in [
            "acid",
            "paid",
            "width",
            "valid",
            "identity",
            "idle",
            "keys_pressed",
            "x",
            "",
        ] {
            assert!(!is_named_so(name), "{name}");
        }
    }

    #[test]
    fn a_column_may_decide_the_label() {
        let told_by = |values: &[f64], labels: &[u32], ordered| {
            let mut pairs: Vec<(f64, u32)> =
                values.iter().copied().zip(labels.iter().copied()).collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let groups = pairs.chunk_by(|a, b| a.0 == b.0);
            let groups = groups.map(|g| g.iter().map(|(_, l)| *l));
            told(groups, labels.iter().copied(), ordered)
        };
        let labels: Vec<u32> = (0..400).map(|i| i % 2).collect();
        let same: Vec<f64> = labels.iter().map(|&l| f64::from(l)).collect();
        assert_eq!(told_by(&same, &labels, false), Some(1.0));
        let mut almost = same.clone();
        almost[7] = 0.0;
        assert_eq!(told_by(&almost, &labels, false), Some(1.0 - 1.0 / 400.0));
        almost[9] = 0.0;
        almost[11] = 0.0;
        assert_eq!(told_by(&almost, &labels, false), None);
        // A score from which the class follows.
        let score = |i: usize| f64::from(labels[i]) * 500.0 + i as f64;
        let scores: Vec<f64> = (0..400).map(score).collect();
        assert_eq!(told_by(&scores, &labels, true), Some(1.0));
        assert_eq!(told_by(&scores, &labels, false), None);
        let any: Vec<f64> = (0..400).map(f64::from).collect();
        assert_eq!(told_by(&any, &labels, true), None);
        assert_eq!(told_by(&vec![1.0; 400], &labels, true), None);
        // Hardly better than the largest class.
        let rare: Vec<u32> = (0..400).map(|i| u32::from(i >= 395)).collect();
        assert_eq!(told_by(&any, &rare, true), None);
    }
}
