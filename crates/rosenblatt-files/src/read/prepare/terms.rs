//! Which terms of a column of texts get a feature of their own, and what features of texts weigh.

use std::collections::HashSet;

use super::super::interner::Interner;
use super::super::table::BUCKETS;
use super::super::table::encode::bucket;
use super::super::table::role::Role;
use super::super::text::TextOptions;
use rosenblatt_core::data::StringTable;

/// The bucket of a term with a feature of its own.
const NONE: u32 = u32::MAX;

/// How many training rows have each term of a column.
pub(crate) struct RowsWith<'a> {
    pub(crate) known: &'a Interner,
    /// Terms that training rows have, by first appearance.
    pub(crate) seen: &'a [u32],
    /// For each known term how many rows have it.
    pub(crate) frequency: &'a [u32],
    /// The number of rows.
    pub(crate) rows: usize,
}

/// The terms that get a feature of their own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    /// By first appearance.
    pub(crate) words: StringTable,
    /// Whether other terms share buckets.
    pub(crate) hashed: bool,
    /// What each of the terms weighs; nothing if all weigh 1.
    pub(crate) weights: Vec<f64>,
    weighing: Weighing,
}

/// What follows from the number of rows that have a term.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Weighing {
    rows: usize,
    /// Terms in more rows weigh nothing.
    most: f64,
    by_idf: bool,
}

impl Weighing {
    fn weight(self, frequency: f64) -> f64 {
        match () {
            () if frequency > self.most => 0.0,
            () if self.by_idf => libm::log((1.0 + self.rows as f64) / (1.0 + frequency)) + 1.0,
            () => 1.0,
        }
    }
}

impl Kept {
    pub(crate) fn new(all: &RowsWith<'_>, options: &TextOptions, by_idf: bool) -> Self {
        let rows_with = |term: &u32| f64::from(all.frequency[*term as usize]);
        let least = options.min_df.of(all.rows);
        let most = options.max_df.of(all.rows);
        let mut kept: Vec<u32> = (all.seen.iter().copied())
            .filter(|term| (least..=most).contains(&rows_with(term)))
            .collect();
        let hashed = kept.len() > options.vocabulary;
        if hashed {
            // The most frequent, by first appearance among the same.
            kept.sort_by_key(|&term| std::cmp::Reverse(all.frequency[term as usize]));
            let last: HashSet<u32> = kept.drain(..options.vocabulary).collect();
            // What comes in too many rows must not end up among the others.
            let all = all.seen.iter().copied();
            kept = all
                .filter(|term| last.contains(term) || rows_with(term) > most)
                .collect();
        }
        let weighing = Weighing {
            rows: all.rows,
            most,
            by_idf,
        };
        let mut weights = Vec::new();
        if by_idf || (hashed && kept.iter().any(|term| rows_with(term) > most)) {
            weights.extend(kept.iter().map(|term| weighing.weight(rows_with(term))));
        }
        Kept {
            words: kept.iter().map(|&term| all.known.text(term)).collect(),
            hashed,
            weights,
            weighing,
        }
    }

    /// The same from what was stored.
    pub(crate) fn from_parts(
        words: StringTable,
        hashed: bool,
        weights: Vec<f64>,
        weighing: Weighing,
    ) -> Self {
        Kept {
            words,
            hashed,
            weights,
            weighing,
        }
    }

    pub(crate) fn weighing(&self) -> Weighing {
        self.weighing
    }

    /// Whether it must be known how many rows have each of the buckets.
    pub(crate) fn weighs_buckets(&self) -> bool {
        self.hashed && !self.weights.is_empty()
    }

    /// For each of these terms its bucket, or [`NONE`].
    pub(crate) fn buckets(&self, terms: &Interner) -> Vec<u32> {
        let alone: Interner = self.words.iter().collect();
        let of = |term| {
            let text = terms.get(term);
            alone.find(text).map_or_else(|| bucket(text), |_| NONE)
        };
        (0..terms.len() as u32).map(of).collect()
    }

    /// What the column becomes, given how many rows have each bucket where that is asked for.
    pub(crate) fn role(self, rows_with_bucket: Option<&[u32]>) -> Role {
        let mut weights = self.weights;
        let weight = |&f: &u32| self.weighing.weight(f64::from(f).min(self.weighing.most));
        weights.extend(rows_with_bucket.unwrap_or_default().iter().map(weight));
        Role::Text {
            words: self.words,
            hashed: self.hashed,
            weights,
        }
    }
}

/// How many rows have each bucket; `bucket_of` is what [`Kept::buckets`] gave for the terms.
pub(crate) fn rows_with_buckets<'a>(
    texts: impl Iterator<Item = &'a [u32]>,
    bucket_of: &[u32],
) -> Vec<u32> {
    let mut frequency = vec![0u32; BUCKETS as usize];
    let mut here = Vec::new();
    for terms in texts {
        let others = terms.iter().map(|&term| bucket_of[term as usize]);
        here.clear();
        here.extend(others.filter(|&bucket| bucket != NONE));
        here.sort_unstable();
        here.dedup();
        here.iter()
            .for_each(|&bucket| frequency[bucket as usize] += 1);
    }
    frequency
}
