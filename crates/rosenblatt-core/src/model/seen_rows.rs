//! Which rows a model was trained on, in eight bytes each.

use super::fingerprint::hash_row;
use crate::data::{Dataset, Row};

/// Hashes of the rows, labels included, that a model was trained on: of all rows where they are
/// few, else the smallest hashes, which are those of a random sample of the rows.
///
/// A row that is not among them is taken for one of them with a chance of rows/2⁶⁴.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRows {
    /// In ascending order, each once.
    hashes: Vec<u64>,
    /// Whether no row's hash is missing.
    all: bool,
}

/// Hashes that are kept.
const MOST: usize = 8192;

/// Bytes of rows from which on none are kept: looking at all would take longer than it is worth.
const LARGEST: usize = 1 << 28;

impl SeenRows {
    /// Whether the rows that a model is trained on are kept: not where they are very many.
    pub(crate) fn are_kept(data: &Dataset) -> bool {
        data.matrix.bytes() <= LARGEST
    }

    /// Those of rows with these hashes.
    pub(crate) fn of(mut hashes: Vec<u64>) -> Self {
        if hashes.len() > 2 * MOST {
            // Equal rows are one, so some more than are kept.
            hashes.select_nth_unstable(2 * MOST);
        }
        let looked_at = hashes.len().min(2 * MOST);
        let complete = looked_at == hashes.len();
        hashes.truncate(looked_at);
        hashes.sort_unstable();
        hashes.dedup();
        let all = complete && hashes.len() <= MOST;
        hashes.truncate(MOST);
        SeenRows { hashes, all }
    }

    /// Whether the model was trained on this row with this class; `None` where its hash would not
    /// have been kept.
    pub fn contains(&self, row: Row<'_>, class: u32) -> Option<bool> {
        let hash = hash_row(row, class);
        let kept = self.all || self.hashes.last().is_some_and(|&last| hash <= last);
        kept.then(|| self.hashes.binary_search(&hash).is_ok())
    }

    /// The hashes, and whether no row's is missing.
    pub(super) fn parts(&self) -> (&[u64], bool) {
        (&self.hashes, self.all)
    }

    /// From the hashes of a file; `None` if they are out of order.
    pub(super) fn from_parts(hashes: Vec<u64>, all: bool) -> Option<Self> {
        let ascending = hashes.is_sorted_by(|a, b| a < b);
        ascending.then_some(SeenRows { hashes, all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Matrix, Precision};
    use crate::model::RowScan;
    use crate::random::{Random, Stream};

    fn data(rows: &[Vec<f64>]) -> Dataset {
        let labels = (0..rows.len() as u32).map(|i| i % 2).collect();
        let classes = Classes::from_labels(["a", "b"]);
        let matrix = Matrix::dense_from_rows(3, rows, Precision::F32);
        Dataset::new(matrix, labels, classes, None).unwrap()
    }

    fn rows(n: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Random::new(seed, Stream::Start, 0);
        (0..n)
            .map(|_| (0..3).map(|_| random.normal()).collect())
            .collect()
    }

    #[test]
    fn few_rows_are_all_known() {
        let (own, other) = (data(&rows(500, 1)), data(&rows(500, 2)));
        let seen = SeenRows::of(RowScan::of(&own, 2).hashes);
        assert_eq!(seen, SeenRows::of(RowScan::of(&own, 1).hashes));
        for i in 0..500 {
            let class = own.labels[i];
            assert_eq!(seen.contains(own.row(i), class), Some(true));
            assert_eq!(seen.contains(own.row(i), 1 - class), Some(false));
            assert_eq!(seen.contains(other.row(i), class), Some(false));
        }
        let (hashes, all) = seen.parts();
        let again = SeenRows::from_parts(hashes.to_vec(), all);
        assert_eq!(again.as_ref(), Some(&seen));
        assert_eq!(SeenRows::from_parts(vec![2, 1], true), None);
    }

    #[test]
    fn of_many_rows_a_sample_is_known() {
        let (n, own, other) = (40_000, data(&rows(40_000, 1)), data(&rows(40_000, 2)));
        let seen = SeenRows::of(RowScan::of(&own, 2).hashes);
        let answers = |data: &Dataset| -> Vec<bool> {
            let each = (0..n).filter_map(|i| seen.contains(data.row(i), data.labels[i]));
            each.collect()
        };
        assert_eq!(answers(&own), vec![true; MOST]);
        let others = answers(&other);
        assert!(others.iter().all(|known| !known));
        assert!((7_700..8_700).contains(&others.len()), "{}", others.len());
    }
}
