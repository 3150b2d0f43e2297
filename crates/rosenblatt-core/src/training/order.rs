//! The order in which examples are visited.
//!
//! `shuffled` never mixes more than it must: rows are permuted once (see
//! [`RowPermutation`]), then each pass permutes blocks of 256 rows and the rows inside them. That depends on the number of rows, the seed and the pass alone, stays near
//! the speed of sequential memory, and still mixes files sorted by label. `worst`,
//! `mistakes` and `restart` depend on what happens; the loop asks for each visit.

use crate::data::{Dataset, Layout, RowPermutation};
use crate::options::{Choice, Order};
use crate::random::{Random, Stream};

/// How the visits of a pass are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderKind {
    /// Known ahead, see [`PassOrder`].
    Ahead,
    /// One by one, each [chosen](choose) among the examples that call for an update now.
    Chosen,
    /// By scanning from the first example again after each update.
    Scan,
}

impl Order {
    pub(crate) fn kind(self) -> OrderKind {
        match self {
            Order::Mistakes | Order::Worst => OrderKind::Chosen,
            Order::Restart => OrderKind::Scan,
            Order::Given | Order::ByClass | Order::Shuffled | Order::Random => OrderKind::Ahead,
        }
    }

    /// Whether the visits of a pass are known before it begins.
    pub(crate) fn is_known_ahead(self) -> bool {
        self.kind() == OrderKind::Ahead
    }

    /// What to use instead of an order that depends on outcomes.
    pub(crate) fn known_ahead_remedy() -> String {
        let ahead = Order::ALL
            .iter()
            .filter(|(order, _)| order.is_known_ahead());
        let names: Vec<&str> = ahead.map(|&(_, name)| name).collect();
        match names.as_slice() {
            [first, others @ .., last] => {
                let others: String = others.iter().map(|name| format!(", {name}")).collect();
                format!("use ⟨order {first}⟩{others} or {last}")
            }
            _ => String::new(),
        }
    }

    /// The order in which the blocks of a first pass hold the same rows as those of any pass in
    /// this order, so that what is kept for a block serves in all passes.
    pub(crate) fn blocks(self) -> Order {
        match self {
            Order::ByClass | Order::Shuffled => self,
            _ => Order::Given,
        }
    }

    /// Whether a pass without an update has seen every example.
    pub(crate) fn visits_all(self) -> bool {
        self != Order::Random
    }
}

/// What a look at all examples found.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// Examples that call for an update, in file order.
    pub calling: Vec<u32>,
    /// Examples with a margin of exactly 0.
    pub on_boundary: u64,
    /// The one with the smallest margin among those that call for an update.
    pub worst: Option<usize>,
}

/// The example to visit next, in an order that chooses among those that call for an update; `None`
/// if none does.
pub(crate) fn choose(order: Order, sweep: &Sweep, seed: u64, visit: u64) -> Option<usize> {
    match order {
        Order::Worst => sweep.worst,
        _ if sweep.calling.is_empty() => None,
        _ => {
            let nth = Random::new(seed, Stream::Order, visit).below(sweep.calling.len() as u64);
            Some(sweep.calling[nth as usize] as usize)
        }
    }
}

/// Rows per block of the visiting order.
pub const BLOCK: usize = 256;

/// The visits of one pass, block by block, as memory positions.
#[derive(Debug)]
pub(crate) struct PassOrder<'a> {
    data: &'a Dataset,
    kind: PassKind,
    /// Blocks made so far.
    made: usize,
    /// Memory positions in the order of the visits.
    block: Vec<u32>,
    /// The block after it.
    coming: Vec<u32>,
}

#[derive(Debug)]
enum PassKind {
    Given,
    Listed(Vec<u32>),
    Shuffled {
        blocks: Vec<u32>,
        random: Random,
        permutation: RowPermutation,
    },
    Drawn(Random),
}

impl<'a> PassOrder<'a> {
    /// The visits of pass `epoch` (from 0); `None` for orders that depend on outcomes.
    pub(crate) fn new(data: &'a Dataset, order: Order, seed: u64, epoch: u64) -> Option<Self> {
        let n = data.len();
        let kind = match order {
            Order::Given => PassKind::Given,
            Order::ByClass => {
                let mut positions: Vec<u32> = (0..n).map(|r| data.position(r) as u32).collect();
                positions.sort_by_key(|&p| std::cmp::Reverse(data.labels[p as usize])); // stable
                PassKind::Listed(positions)
            }
            Order::Shuffled => {
                let mut random = Random::new(seed, Stream::Order, epoch);
                let mut blocks: Vec<u32> = (0..n.div_ceil(BLOCK) as u32).collect();
                random.shuffle(&mut blocks);
                PassKind::Shuffled {
                    blocks,
                    random,
                    permutation: RowPermutation::new(n),
                }
            }
            Order::Random => PassKind::Drawn(Random::new(seed, Stream::Order, epoch)),
            Order::Mistakes | Order::Worst | Order::Restart => return None,
        };
        let mut order = PassOrder {
            data,
            kind,
            made: 0,
            block: Vec::new(),
            coming: Vec::new(),
        };
        order.make_block();
        Some(order)
    }

    /// The next block of visits; `None` at the end of the pass.
    pub(crate) fn next_block(&mut self) -> Option<&[u32]> {
        self.next_two_blocks().map(|(block, _)| block)
    }

    /// The next block of visits and a look at the one after it, empty where there is none.
    pub(crate) fn next_two_blocks(&mut self) -> Option<(&[u32], &[u32])> {
        std::mem::swap(&mut self.block, &mut self.coming);
        self.make_block();
        (!self.block.is_empty()).then_some((&self.block, &self.coming))
    }

    fn make_block(&mut self) {
        let n = self.data.len();
        let start = (self.made * BLOCK).min(n);
        let end = (start + BLOCK).min(n);
        let block = &mut self.coming;
        block.clear();
        if start == end {
            return;
        }
        match &mut self.kind {
            PassKind::Given => block.extend((start..end).map(|r| self.data.position(r) as u32)),
            PassKind::Listed(positions) => block.extend_from_slice(&positions[start..end]),
            PassKind::Shuffled {
                blocks,
                random,
                permutation,
            } => {
                let first = blocks[self.made] as usize * BLOCK;
                let places = first..(first + BLOCK).min(n);
                match self.data.layout {
                    Layout::Permuted => block.extend(places.map(|p| p as u32)),
                    Layout::AsGiven => block.extend(places.map(|p| permutation.row_at(p) as u32)),
                }
                random.shuffle(block);
            }
            PassKind::Drawn(random) => {
                // Drawn as row numbers, so that the layout does not matter.
                block.extend(
                    (start..end)
                        .map(|_| self.data.position(random.below(n as u64) as usize) as u32),
                );
            }
        }
        self.made += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Matrix, Precision};

    fn data(n: usize) -> Dataset {
        let rows: Vec<Vec<f64>> = (0..n).map(|i| vec![i as f64]).collect();
        Dataset::new(
            Matrix::dense_from_rows(1, &rows, Precision::F32),
            (0..n).map(|i| (i % 3 == 0) as u32).collect(),
            Classes::from_labels(["a", "b"]),
            None,
        )
        .unwrap()
    }

    fn numbers(data: &Dataset, order: Order, seed: u64, epoch: u64) -> Vec<usize> {
        let mut pass = PassOrder::new(data, order, seed, epoch).unwrap();
        let mut out = Vec::new();
        while let Some(block) = pass.next_block() {
            assert!(block.len() <= BLOCK);
            out.extend(block.iter().map(|&p| data.number(p as usize)));
        }
        out
    }

    #[test]
    fn a_pass_visits_every_row_once_whatever_the_layout() {
        for n in [1, 5, 256, 257, 1000] {
            let given = data(n);
            let permuted = data(n).permuted();
            for order in [Order::Given, Order::ByClass, Order::Shuffled, Order::Random] {
                let visits = numbers(&given, order, 7, 3);
                assert_eq!(visits, numbers(&permuted, order, 7, 3), "{order:?} {n}");
                assert_eq!(visits.len(), n);
                if order != Order::Random {
                    let mut sorted = visits;
                    sorted.sort_unstable();
                    assert_eq!(sorted, (0..n).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn shuffles_depend_on_seed_and_pass_alone() {
        let d = data(1000);
        let base = numbers(&d, Order::Shuffled, 1, 0);
        assert_eq!(base, numbers(&d, Order::Shuffled, 1, 0));
        assert_ne!(base, numbers(&d, Order::Shuffled, 2, 0));
        assert_ne!(base, numbers(&d, Order::Shuffled, 1, 1));
    }

    #[test]
    fn by_class_puts_the_positive_class_first() {
        let d = data(10);
        assert_eq!(
            numbers(&d, Order::ByClass, 0, 0),
            [0, 3, 6, 9, 1, 2, 4, 5, 7, 8]
        );
    }
}
