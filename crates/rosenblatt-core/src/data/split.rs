//! Parting examples: held-out parts and folds, seeded and stratified by class.

use crate::random::{Random, Stream};

/// Row numbers to train on and to hold out, each ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// To train on.
    pub train: Vec<usize>,
    /// To hold out.
    pub held_out: Vec<usize>,
}

/// Row numbers of each class, in an order drawn from the seed.
fn shuffled_classes(labels: &[u32], seed: u64) -> Vec<Vec<usize>> {
    let classes = labels.iter().max().map_or(0, |&c| c as usize + 1);
    let mut rows = vec![Vec::new(); classes];
    for (row, &label) in labels.iter().enumerate() {
        rows[label as usize].push(row);
    }
    for (class, rows) in rows.iter_mut().enumerate() {
        Random::new(seed, Stream::Split, class as u64).shuffle(rows);
    }
    rows
}

/// Holds out this fraction of each class, rounded, but never a whole class.
pub fn hold_out(labels: &[u32], fraction: f64, seed: u64) -> Split {
    let mut split = Split {
        train: Vec::new(),
        held_out: Vec::new(),
    };
    for rows in shuffled_classes(labels, seed) {
        let count =
            ((rows.len() as f64 * fraction).round() as usize).min(rows.len().saturating_sub(1));
        split.held_out.extend_from_slice(&rows[..count]);
        split.train.extend_from_slice(&rows[count..]);
    }
    split.train.sort_unstable();
    split.held_out.sort_unstable();
    split
}

/// Parts the examples into `k` folds of nearly equal size and class shares; each split
/// holds out one of them.
pub fn folds(labels: &[u32], k: usize, seed: u64) -> Vec<Split> {
    let mut fold_of = vec![0; labels.len()];
    let dealt = shuffled_classes(labels, seed).into_iter().flatten();
    dealt.enumerate().for_each(|(i, row)| fold_of[row] = i % k);
    (0..k)
        .map(|fold| {
            let (held_out, train) = (0..labels.len()).partition(|&row| fold_of[row] == fold);
            Split { train, held_out }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Vec<u32> {
        (0..1000).map(|i| u32::from(i % 10 == 0)).collect()
    }

    #[test]
    fn holding_out_keeps_the_shares_of_classes() {
        let labels = labels();
        let split = hold_out(&labels, 0.25, 3);
        assert_eq!(split.held_out.len(), 250);
        assert_eq!(
            split.held_out.iter().filter(|&&r| labels[r] == 1).count(),
            25
        );
        let mut all: Vec<usize> = split.train.iter().chain(&split.held_out).copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
        assert_eq!(split, hold_out(&labels, 0.25, 3));
        assert_ne!(split, hold_out(&labels, 0.25, 4));
    }

    #[test]
    fn no_class_is_held_out_whole() {
        let split = hold_out(&[0, 0, 0, 1], 0.9, 1);
        assert!(split.train.contains(&3));
        assert!(split.train.iter().any(|&r| r < 3));
    }

    #[test]
    fn every_row_is_held_out_in_one_fold() {
        let labels = labels();
        let folds = folds(&labels, 7, 1);
        let mut seen = vec![0; labels.len()];
        for fold in &folds {
            assert!((142..=143).contains(&fold.held_out.len()));
            let positives = fold.held_out.iter().filter(|&&r| labels[r] == 1).count();
            assert!((14..=15).contains(&positives), "{positives}");
            fold.held_out.iter().for_each(|&r| seen[r] += 1);
            assert_eq!(fold.train.len() + fold.held_out.len(), labels.len());
        }
        assert!(seen.iter().all(|&times| times == 1));
    }
}
