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
    by_fold(&fold_of, k)
}

/// For each of `k` folds, the rows outside and inside it.
fn by_fold(fold_of: &[usize], k: usize) -> Vec<Split> {
    (0..k)
        .map(|fold| {
            let (held_out, train) = (0..fold_of.len()).partition(|&row| fold_of[row] == fold);
            Split { train, held_out }
        })
        .collect()
}

/// The rows of each group, groups in an order drawn from the seed.
fn shuffled_groups(groups: &[u32], seed: u64) -> Vec<Vec<usize>> {
    let count = groups.iter().max().map_or(0, |&g| g as usize + 1);
    let mut rows = vec![Vec::new(); count];
    for (row, &group) in groups.iter().enumerate() {
        rows[group as usize].push(row);
    }
    rows.retain(|rows| !rows.is_empty());
    Random::new(seed, Stream::Split, 0).shuffle(&mut rows);
    rows
}

/// Holds out whole groups, about this fraction of the rows: at least one group, never all.
/// Nothing is held out of a single group.
pub fn hold_out_groups(groups: &[u32], fraction: f64, seed: u64) -> Split {
    let wanted = (groups.len() as f64 * fraction).round() as usize;
    let mut dealt = shuffled_groups(groups, seed);
    let last = dealt.pop().unwrap_or_default();
    let mut split = Split {
        train: Vec::new(),
        held_out: Vec::new(),
    };
    for rows in dealt {
        let fits = split.held_out.len() + rows.len() <= wanted;
        match fits || split.held_out.is_empty() && rows.len() <= 2 * wanted {
            true => split.held_out.extend(rows),
            false => split.train.extend(rows),
        }
    }
    match split.held_out.is_empty() && !split.train.is_empty() {
        true => split.held_out = last,
        false => split.train.extend(last),
    }
    split.train.sort_unstable();
    split.held_out.sort_unstable();
    split
}

/// Parts the examples into `k` folds of nearly equal size, each group in one of them.
pub fn group_folds(groups: &[u32], k: usize, seed: u64) -> Vec<Split> {
    let mut dealt = shuffled_groups(groups, seed);
    // The largest first, each to the smallest fold.
    dealt.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
    let mut folds = vec![Vec::new(); k];
    for rows in dealt {
        if let Some(smallest) = folds.iter_mut().min_by_key(|fold| fold.len()) {
            smallest.extend(rows);
        }
    }
    let mut fold_of = vec![0; groups.len()];
    for (fold, rows) in folds.iter().enumerate() {
        rows.iter().for_each(|&row| fold_of[row] = fold);
    }
    by_fold(&fold_of, k)
}

/// Holds out the last rows in the order of `time`, about this fraction; rows of one time stay
/// together, and never are all held out.
pub fn hold_out_last(time: &[f64], fraction: f64) -> Split {
    let mut order: Vec<usize> = (0..time.len()).collect();
    order.sort_by(|&a, &b| time[a].total_cmp(&time[b]));
    let wanted = (time.len() as f64 * fraction).round() as usize;
    let mut first = time.len() - wanted.min(time.len());
    // The first row that is held out is later than the last that is not.
    while first < order.len() && (first == 0 || time[order[first]] == time[order[first - 1]]) {
        first += 1;
    }
    let mut held_out = order.split_off(first);
    held_out.sort_unstable();
    order.sort_unstable();
    Split {
        train: order,
        held_out,
    }
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

    #[test]
    fn groups_are_never_parted() {
        let mut random = Random::new(2, Stream::Sample, 0);
        let groups: Vec<u32> = (0..1000).map(|_| random.below(60) as u32).collect();
        let parted = |split: &Split| {
            let of = |rows: &[usize]| -> std::collections::BTreeSet<u32> {
                rows.iter().map(|&r| groups[r]).collect()
            };
            assert_eq!(split.train.len() + split.held_out.len(), 1000);
            !of(&split.train).is_disjoint(&of(&split.held_out))
        };
        let split = hold_out_groups(&groups, 0.25, 1);
        assert!(!parted(&split));
        assert!((200..=250).contains(&split.held_out.len()));
        assert_ne!(split, hold_out_groups(&groups, 0.25, 2));
        assert!(parted(&hold_out(&vec![0; 1000], 0.25, 1)));
        let folds = group_folds(&groups, 5, 1);
        assert!(folds.iter().all(|fold| !parted(fold)));
        assert!(
            folds
                .iter()
                .all(|f| (190..=210).contains(&f.held_out.len()))
        );
        assert_eq!(folds.iter().map(|f| f.held_out.len()).sum::<usize>(), 1000);
    }

    #[test]
    fn of_few_groups_one_is_held_out() {
        let groups: Vec<u32> = (0..100).map(|i| i / 50).collect();
        for seed in 0..5 {
            let split = hold_out_groups(&groups, 0.1, seed);
            assert_eq!((split.train.len(), split.held_out.len()), (50, 50));
        }
        assert!(hold_out_groups(&[0; 9], 0.5, 1).held_out.is_empty());
    }

    #[test]
    fn the_last_rows_are_held_out_and_no_time_is_parted() {
        let time = [5.0, 1.0, 3.0, 3.0, 3.0, 2.0, 4.0, 0.0];
        let last = |fraction| hold_out_last(&time, fraction).held_out;
        assert_eq!(last(0.25), [0, 6]);
        // Three rows share a time: the cut moves behind them.
        assert_eq!(last(0.5), [0, 6]);
        assert_eq!(last(0.625), [0, 2, 3, 4, 6]);
        assert_eq!(last(1.0), [0, 1, 2, 3, 4, 5, 6]);
        assert!(hold_out_last(&[1.0; 4], 0.5).held_out.is_empty());
    }
}
