//! The record of a run: every visit, and the weights as checkpoints with what each update changed.
//!
//! A visit costs its row, two counts and its scores; an update the weights it changed. The weights
//! after any visit are those of the last checkpoint with the changes since put in, so they are the
//! very numbers that the run had.

use rosenblatt::training::Step;

/// Visits between two sums of the counts.
const SUMMED: usize = 1024;

/// The record of a run.
#[derive(Debug, Default)]
pub struct Log {
    /// Scores of a visit.
    planes: usize,
    /// The weights before the first visit.
    start: Vec<f64>,
    rows: Vec<u32>,
    mistakes: Vec<u8>,
    updates: Vec<u8>,
    scores: Vec<f64>,
    /// The first visit (from 0) of each pass.
    passes: Vec<u32>,
    /// Mistakes and updates before every so many visits, and now.
    sums: Vec<(u64, u64)>,
    total: (u64, u64),
    /// The visit (from 1) of each update, and where its changes begin.
    updated: Vec<u32>,
    begins: Vec<u64>,
    places: Vec<u32>,
    values: Vec<f64>,
    checkpoints: Vec<Checkpoint>,
}

/// The weights after so many updates.
#[derive(Debug)]
struct Checkpoint {
    updates: usize,
    weights: Vec<f64>,
}

/// How one visit fared.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// Wrong answers.
    pub mistakes: u64,
    /// Updates made.
    pub updates: u64,
}

impl Log {
    /// Adds a visit.
    pub fn push(&mut self, step: Step, counted: Counted) {
        if self.rows.is_empty() {
            self.planes = step.scores.len();
            self.start.clone_from(&step.weights);
        }
        if self.rows.len().is_multiple_of(SUMMED) {
            self.sums.push(self.total);
        }
        if step.epoch as usize > self.passes.len() {
            self.passes.push(self.rows.len() as u32);
        }
        self.rows.push(step.row as u32);
        self.scores.extend_from_slice(&step.scores);
        let byte = |count: u64| count.min(255) as u8;
        self.mistakes.push(byte(counted.mistakes));
        self.updates.push(byte(counted.updates));
        self.total.0 += counted.mistakes.min(255);
        self.total.1 += counted.updates.min(255);
        if !step.correct {
            self.push_update(&step);
        }
    }

    fn push_update(&mut self, step: &Step) {
        self.updated.push(self.rows.len() as u32);
        self.begins.push(self.values.len() as u64);
        let pairs = step.weights.iter().zip(&step.weights_after).enumerate();
        for (place, (before, after)) in pairs {
            if before.to_bits() != after.to_bits() {
                self.places.push(place as u32);
                self.values.push(*after);
            }
        }
        let last = self.checkpoints.last().map_or(0, |c| c.updates);
        let since = self.values.len() - self.begins.get(last).map_or(0, |&at| at as usize);
        if since > step.weights_after.len().max(SUMMED) {
            self.checkpoints.push(Checkpoint {
                updates: self.updated.len(),
                weights: step.weights_after.clone(),
            });
        }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let width = self.start.len();
        self.rows.len() * (6 + 8 * self.planes)
            + self.updated.len() * 12
            + self.values.len() * 12
            + self.checkpoints.len() * (width * 8 + 32)
    }

    /// The number of visits.
    pub fn visits(&self) -> usize {
        self.rows.len()
    }

    /// How many numbers the weights are.
    pub fn width(&self) -> usize {
        self.start.len()
    }

    /// The row (from 1) of visit `k`, from 1.
    pub fn row(&self, k: usize) -> u32 {
        self.rows[k - 1]
    }

    /// The scores found at visit `k`, from 1.
    pub fn scores(&self, k: usize) -> &[f64] {
        &self.scores[(k - 1) * self.planes..k * self.planes]
    }

    /// Whether visit `k` called for no update.
    pub fn correct(&self, k: usize) -> bool {
        self.updated.binary_search(&(k as u32)).is_err()
    }

    /// Mistakes and updates of visit `k` alone.
    pub fn counted(&self, k: usize) -> Counted {
        Counted {
            mistakes: u64::from(self.mistakes[k - 1]),
            updates: u64::from(self.updates[k - 1]),
        }
    }

    /// The pass (from 1) of visit `k`, from 1; 0 before the first.
    pub fn pass(&self, k: usize) -> usize {
        self.passes.partition_point(|&first| (first as usize) < k)
    }

    /// Mistakes and updates of the first `k` visits.
    pub fn totals(&self, k: usize) -> (u64, u64) {
        if k == 0 {
            return (0, 0);
        }
        let block = (k - 1) / SUMMED;
        let (mut mistakes, mut updates) = self.sums[block];
        for visit in block * SUMMED..k {
            mistakes += u64::from(self.mistakes[visit]);
            updates += u64::from(self.updates[visit]);
        }
        (mistakes, updates)
    }

    /// The weights after visit `k`; before any visit with `k` = 0.
    pub fn weights(&self, k: usize) -> Vec<f64> {
        let updates = self.updated.partition_point(|&visit| visit as usize <= k);
        let next = self.checkpoints.partition_point(|c| c.updates <= updates);
        let (made, mut weights) = match next.checked_sub(1) {
            Some(at) => {
                let found = &self.checkpoints[at];
                (found.updates, found.weights.clone())
            }
            None => (0, self.start.clone()),
        };
        let begin = |update: usize| self.begins.get(update).map(|&at| at as usize);
        let from = begin(made).unwrap_or(self.values.len());
        let to = begin(updates).unwrap_or(self.values.len());
        for (place, value) in self.places[from..to].iter().zip(&self.values[from..to]) {
            weights[*place as usize] = *value;
        }
        weights
    }

    /// The first visit with an update behind visit `k`.
    pub fn next_update(&self, k: usize) -> Option<usize> {
        let at = self.updated.partition_point(|&visit| visit as usize <= k);
        self.updated.get(at).map(|&visit| visit as usize)
    }

    /// The last visit with an update before visit `k`.
    pub fn update_before(&self, k: usize) -> Option<usize> {
        let at = self.updated.partition_point(|&visit| (visit as usize) < k);
        Some(self.updated[at.checked_sub(1)?] as usize)
    }

    /// The last visit of the pass that visit `k` + 1 belongs to.
    pub fn pass_end(&self, k: usize) -> usize {
        let next = self.passes.partition_point(|&first| first as usize <= k);
        self.passes
            .get(next)
            .map_or(self.visits(), |&first| first as usize)
    }

    /// The number of visits before the pass that visit `k` belongs to.
    pub fn pass_begin(&self, k: usize) -> usize {
        let next = self.passes.partition_point(|&first| (first as usize) < k);
        next.checked_sub(1).map_or(0, |at| self.passes[at] as usize)
    }

    /// The visits (from 1) with an update.
    pub fn updated(&self) -> &[u32] {
        &self.updated
    }

    /// The number of passes begun.
    pub fn passes(&self) -> usize {
        self.passes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt::Options;
    use rosenblatt::data::{Classes, Dataset, Matrix};
    use rosenblatt::options::Order;
    use rosenblatt::training::Callback;

    struct Both {
        log: Log,
        steps: Vec<Step>,
    }

    impl Callback for Both {
        fn wants_steps(&self) -> bool {
            true
        }
        fn step(&mut self, step: Step) {
            let made = u64::from(!step.correct);
            let counted = Counted {
                mistakes: made,
                updates: made,
            };
            self.log.push(step.clone(), counted);
            self.steps.push(step);
        }
    }

    #[test]
    fn any_visit_is_as_the_run_had_it() {
        // Labels that no plane follows, so that updates go on and checkpoints are made.
        let rows: Vec<f64> = (0..300).map(|i| f64::from(i * 7919 % 101) / 10.0).collect();
        let labels = (0..100).map(|i| u32::from(i * 31 % 7 < 3)).collect();
        let matrix = Matrix::dense(100, 3, rows).unwrap();
        let data = Dataset::new(matrix, labels, Classes::from_labels(["a", "b"]), None).unwrap();
        let options = Options {
            epochs: Some(20),
            order: Order::Random,
            learning_rate: Some(0.3),
            ..Options::default()
        };
        let mut both = Both {
            log: Log::default(),
            steps: Vec::new(),
        };
        let session = rosenblatt::session(&options);
        let fitted = session.train_with(&data, &mut both).unwrap();
        let (log, steps) = (both.log, both.steps);
        assert_eq!(log.visits(), 2000);
        assert!(log.checkpoints.len() > 1, "{}", log.checkpoints.len());
        assert_eq!(log.weights(0), steps[0].weights);
        let (mut mistakes, mut pass) = (0, 0);
        for (k, step) in (1..).zip(&steps) {
            mistakes += u64::from(!step.correct);
            assert_eq!(log.weights(k), step.weights_after, "visit {k}");
            assert_eq!(log.weights(k - 1), step.weights, "visit {k}");
            assert_eq!(log.scores(k), step.scores);
            assert_eq!(u64::from(log.row(k)), step.row);
            assert_eq!(log.correct(k), step.correct);
            assert_eq!(log.pass(k) as u64, step.epoch);
            assert_eq!(log.totals(k), (mistakes, mistakes));
            if step.epoch > pass {
                pass = step.epoch;
                assert_eq!(log.pass_begin(k), k - 1);
                assert_eq!(log.pass_end(k - 1), k - 1 + 100);
            }
        }
        assert_eq!(mistakes, fitted.model.progress.mistakes);
        assert_eq!(log.next_update(0), Some(1));
        let second = steps.iter().skip(1).position(|s| !s.correct).unwrap() + 2;
        assert_eq!(log.next_update(1), Some(second));
        assert_eq!(log.update_before(second), Some(1));
        assert_eq!(log.update_before(1), None);
        assert_eq!(log.next_update(2000), None);
    }
}
