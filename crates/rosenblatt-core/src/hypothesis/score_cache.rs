//! The scores of all examples, kept up with the updates: the engine of the dual learners.
//!
//! Examples stand in panels of 32, eight panels to a block of the visiting order. Every
//! panel holds its scores and how many updates they include. Before an example is judged its
//! panel catches up: kernel values with the updated examples come from one matrix product,
//! and are added update by update in the order they were made. That order is the whole
//! definition of a score, so it has the same bits whether a panel catches up by one update
//! or by thousands, on one thread or many, from memory or afresh.
//!
//! Kernel values of a panel with the examples corrected so far are kept while the memory
//! budget lasts, so that an example corrected again costs no new products.

use crate::data::Dataset;
use crate::kernel::{Kernel, Lanes, Means, Support, WIDTH};
use crate::readout::LogEntry;
use crate::scheme::Scheme;
use crate::options::Order;
use crate::simd::{self, Work};
use crate::training::PassOrder;

/// New products found at a time: a multiple of every tile's height, small enough that the
/// values stay in the first cache.
const AT_ONCE: usize = 96;

/// Work below this many multiplications is not worth a second thread.
const WORTH_A_THREAD: usize = 2_000_000;

/// One update as the scores see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    /// Slot of the example in the support.
    slot: u32,
    raised: u32,
    lowered: u32,
    coefficient: f64,
    divisor: f64,
}

/// 32 examples and their scores.
#[derive(Debug)]
struct Panel {
    /// Moves that the scores include.
    seen: usize,
    scores: Vec<[f64; WIDTH]>,
    memory: Memory,
    lanes: Option<Lanes>,
}

/// Kernel values of a panel with the first slots of the support, slot after slot.
#[derive(Debug)]
enum Memory {
    /// Whole-number products, from which values follow in a few steps.
    Products(Shelf<i32>),
    Values(Shelf<f64>),
}

impl Memory {
    fn len(&self) -> usize {
        match self {
            Memory::Products(shelf) => shelf.len(),
            Memory::Values(shelf) => shelf.len(),
        }
    }
}

/// A list that grows without moving what it holds.
#[derive(Debug)]
struct Shelf<T> {
    boards: Vec<Vec<[T; WIDTH]>>,
}

const BOARD: usize = 128;

impl<T: Copy> Shelf<T> {
    fn len(&self) -> usize {
        match self.boards.split_last() {
            Some((last, full)) => full.len() * BOARD + last.len(),
            None => 0,
        }
    }

    fn push(&mut self, row: [T; WIDTH]) {
        match self.boards.last_mut() {
            Some(last) if last.len() < BOARD => last.push(row),
            _ => {
                let mut board = Vec::with_capacity(BOARD);
                board.push(row);
                self.boards.push(board);
            }
        }
    }

    #[inline(always)]
    fn get(&self, i: usize) -> &[T; WIDTH] {
        &self.boards[i / BOARD][i % BOARD]
    }
}

/// What every panel needs and none changes.
struct Shared<'a> {
    data: &'a Dataset,
    kernel: Kernel,
    constant: f64,
    means: Means,
    support: Support,
    moves: Vec<Move>,
    /// Slots below this are kept in memory.
    kept_slots: usize,
    scheme: Scheme,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
struct Scratch {
    fresh: Vec<u32>,
    products: Vec<[i32; WIDTH]>,
    values: Vec<[f64; WIDTH]>,
    /// Where a slot's fresh values are: a stamp of the round, and the place.
    places: Vec<(u32, u32)>,
    round: u32,
}

/// The scores of all examples.
pub(super) struct Scoreboard<'a> {
    shared: Shared<'a>,
    panels: Vec<Panel>,
    /// Examples by panel and lane; panels of a last, shorter block may have fewer.
    residents: Vec<Vec<u32>>,
    /// Panel and lane of each example.
    address: Vec<(u32, u8)>,
    /// The panels of each block of the visiting order.
    blocks: Vec<std::ops::Range<usize>>,
    block_of_panel: Vec<u32>,
    /// Slot of each example, or NONE.
    slots: Vec<u32>,
    scratch: Scratch,
    threads: usize,
    lane_bytes: usize,
    lane_budget: usize,
}

const NONE: u32 = u32::MAX;

/// Bytes a scoreboard may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub bytes: usize,
    pub threads: usize,
}

impl<'a> Scoreboard<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        kernel: Kernel,
        constant: f64,
        scheme: Scheme,
        order: Order,
        budget: Budget,
    ) -> Self {
        let means = Means::choose(&kernel, &[&data.matrix]);
        // The blocks of any pass are the blocks of the first, in another order.
        let order = match order {
            Order::ByClass | Order::Shuffled => order,
            _ => Order::Given,
        };
        let mut address = vec![(0, 0); data.len()];
        let (mut residents, mut blocks, mut block_of_panel) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(mut pass) = PassOrder::new(data, order, 0, 0) {
            while let Some(block) = pass.next_block() {
                let first = residents.len();
                for rows in block.chunks(WIDTH) {
                    for (lane, &i) in rows.iter().enumerate() {
                        address[i as usize] = (residents.len() as u32, lane as u8);
                    }
                    residents.push(rows.to_vec());
                    block_of_panel.push(blocks.len() as u32);
                }
                blocks.push(first..residents.len());
            }
        }
        let keeps_products = matches!(means, Means::Bytes { .. })
            && !matches!(kernel, Kernel::Rbf { .. } | Kernel::Sigmoid { .. });
        let element = if keeps_products { 4 } else { 8 };
        // The data themselves count too: the budget is for everything held at once.
        let fixed = data.matrix.bytes()
            + residents.len() * WIDTH * 8 * scheme.discriminators()
            + data.len() * 12;
        let free = budget.bytes.saturating_sub(fixed);
        let lane_budget = (free / 4).min(means.lane_bytes().max(64 * WIDTH * 48) * residents.len());
        let kept_slots = if means == Means::Gram {
            0
        } else {
            (free - lane_budget) / (residents.len() * WIDTH * element + means.row_bytes()).max(1)
        };
        let panels = residents
            .iter()
            .map(|_| Panel {
                seen: 0,
                scores: vec![[0.0; WIDTH]; scheme.discriminators()],
                memory: if keeps_products {
                    Memory::Products(Shelf { boards: Vec::new() })
                } else {
                    Memory::Values(Shelf { boards: Vec::new() })
                },
                lanes: None,
            })
            .collect();
        Scoreboard {
            shared: Shared {
                data,
                kernel,
                constant,
                means,
                support: Support::new(means),
                moves: Vec::new(),
                kept_slots,
                scheme,
            },
            panels,
            residents,
            address,
            blocks,
            block_of_panel,
            slots: vec![NONE; data.len()],
            scratch: Scratch::default(),
            threads: budget.threads,
            lane_bytes: 0,
            lane_budget,
        }
    }

    /// Notes an update on the example at `i`.
    pub(super) fn push(&mut self, i: usize, entry: &LogEntry) {
        if self.slots[i] == NONE {
            self.slots[i] = self.shared.support.len() as u32;
            self.shared
                .support
                .push(self.shared.data.row(i), self.shared.data.number(i) as u32);
        }
        self.shared.moves.push(Move {
            slot: self.slots[i],
            raised: entry.raised,
            lowered: entry.lowered,
            coefficient: entry.coefficient,
            divisor: entry.divisor,
        });
    }

    /// Forgets prepared rows of other blocks when they take more than their share.
    fn make_room(&mut self, block: usize) {
        if self.lane_bytes > self.lane_budget {
            for (p, panel) in self.panels.iter_mut().enumerate() {
                if !self.blocks[block].contains(&p) {
                    panel.lanes = None;
                }
            }
            self.lane_bytes = 0;
        }
    }

    /// Brings the whole block of example `i` up to date, on all threads where that pays.
    pub(super) fn look_ahead(&mut self, i: usize) {
        let panel = self.address[i].0 as usize;
        let block = self.block_of_panel[panel] as usize;
        self.make_room(block);
        let range = self.blocks[block].clone();
        let shared = &self.shared;
        let panels = &mut self.panels[range.clone()];
        let residents = &self.residents[range.clone()];
        let pending: usize = panels.iter().map(|p| shared.moves.len() - p.seen).sum();
        let each = shared.data.features().max(1) * WIDTH;
        let threads = if pending * each < WORTH_A_THREAD {
            1
        } else {
            self.threads.min(panels.len())
        };
        let share = panels.len().div_ceil(threads);
        let before: usize = panels
            .iter()
            .filter_map(|p| p.lanes.as_ref())
            .map(Lanes::bytes)
            .sum();
        if threads == 1 {
            for (panel, residents) in panels.iter_mut().zip(residents) {
                shared.catch_up(panel, residents, &mut self.scratch);
            }
        } else {
            std::thread::scope(|scope| {
                let mut runs = panels.chunks_mut(share).zip(residents.chunks(share));
                let own = runs.next();
                for (panels, residents) in runs {
                    scope.spawn(move || {
                        let mut scratch = Scratch::default();
                        for (panel, residents) in panels.iter_mut().zip(residents) {
                            shared.catch_up(panel, residents, &mut scratch);
                        }
                    });
                }
                if let Some((panels, residents)) = own {
                    for (panel, residents) in panels.iter_mut().zip(residents) {
                        shared.catch_up(panel, residents, &mut self.scratch);
                    }
                }
            });
        }
        let after: usize = self.panels[range]
            .iter()
            .filter_map(|p| p.lanes.as_ref())
            .map(Lanes::bytes)
            .sum();
        self.lane_bytes += after - before;
    }

    /// The scores of example `i` now.
    #[inline]
    pub(super) fn scores(&mut self, i: usize, out: &mut [f64]) {
        let (panel, lane) = self.address[i];
        let p = panel as usize;
        if self.panels[p].seen < self.shared.moves.len() {
            let had = self.panels[p].lanes.is_some();
            if !had {
                self.make_room(self.block_of_panel[p] as usize);
            }
            self.shared
                .catch_up(&mut self.panels[p], &self.residents[p], &mut self.scratch);
            if !had {
                self.lane_bytes += self.panels[p].lanes.as_ref().map_or(0, Lanes::bytes);
            }
        }
        for (out, scores) in out.iter_mut().zip(&self.panels[p].scores) {
            *out = scores[lane as usize];
        }
    }
}

impl Shared<'_> {
    /// Adds to a panel's scores the moves it has not seen.
    fn catch_up(&self, panel: &mut Panel, residents: &[u32], scratch: &mut Scratch) {
        if panel.seen == self.moves.len() {
            return;
        }
        let rows = residents.iter().map(|&i| self.data.row(i as usize));
        let lanes = panel
            .lanes
            .get_or_insert_with(|| Lanes::new(self.means, rows));
        scratch.places.resize(self.support.len(), (0, 0));
        while panel.seen < self.moves.len() {
            // As many moves as AT_ONCE new slots cover.
            scratch.round += 1;
            scratch.fresh.clear();
            let known = panel.memory.len();
            let mut end = panel.seen;
            while end < self.moves.len() {
                let slot = self.moves[end].slot as usize;
                if slot >= known && scratch.places[slot].0 != scratch.round {
                    if scratch.fresh.len() == AT_ONCE {
                        break;
                    }
                    scratch.places[slot] = (scratch.round, scratch.fresh.len() as u32);
                    scratch.fresh.push(slot as u32);
                }
                end += 1;
            }
            let n = scratch.fresh.len();
            match &mut panel.memory {
                Memory::Products(shelf) => {
                    scratch.products.resize(AT_ONCE, [0; WIDTH]);
                    lanes.whole_products(&self.support, &scratch.fresh, &mut scratch.products[..n]);
                    self.keep(shelf, &scratch.fresh, &scratch.products);
                }
                Memory::Values(shelf) => {
                    scratch.values.resize(AT_ONCE, [0.0; WIDTH]);
                    let out = &mut scratch.values[..n];
                    lanes.values(
                        &self.kernel,
                        self.constant,
                        &self.support,
                        &scratch.fresh,
                        out,
                    );
                    self.keep(shelf, &scratch.fresh, &scratch.values);
                }
            }
            simd::dispatch(Apply {
                shared: self,
                moves: &self.moves[panel.seen..end],
                lanes,
                memory: &panel.memory,
                known,
                scratch,
                scores: &mut panel.scores,
            });
            panel.seen = end;
        }
    }

    /// Slots are numbered as they come up, and every panel meets them in that order, so
    /// what a panel keeps is always the first few.
    fn keep<T: Copy>(&self, shelf: &mut Shelf<T>, fresh: &[u32], rows: &[[T; WIDTH]]) {
        let mut next = shelf.len();
        for (&slot, row) in fresh.iter().zip(rows) {
            if (slot as usize) < self.kept_slots && slot as usize == next {
                shelf.push(*row);
                next += 1;
            }
        }
    }
}

/// Adds moves to scores, in order.
struct Apply<'a> {
    shared: &'a Shared<'a>,
    moves: &'a [Move],
    lanes: &'a Lanes,
    memory: &'a Memory,
    /// Slots that were in memory before this round; later ones are among the fresh.
    known: usize,
    scratch: &'a Scratch,
    scores: &'a mut [[f64; WIDTH]],
}

impl Work for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const LEVEL: u8>(self) {
        let shared = self.shared;
        let mut values = [0.0; WIDTH];
        let mut held = NONE;
        for m in self.moves {
            if m.slot != held {
                held = m.slot;
                let slot = m.slot as usize;
                let fresh = (slot >= self.known).then(|| self.scratch.places[slot].1 as usize);
                match self.memory {
                    Memory::Products(shelf) => {
                        let products = match fresh {
                            Some(place) => &self.scratch.products[place],
                            None => shelf.get(slot),
                        };
                        self.lanes.values_of_whole(
                            &shared.kernel,
                            shared.constant,
                            &shared.support,
                            m.slot,
                            products,
                            &mut values,
                        );
                    }
                    Memory::Values(shelf) => {
                        values = match fresh {
                            Some(place) => self.scratch.values[place],
                            None => *shelf.get(slot),
                        };
                    }
                }
            }
            for (s, k) in self.scores[m.raised as usize].iter_mut().zip(&values) {
                *s += m.coefficient * k;
            }
            if m.lowered != LogEntry::NONE {
                for (s, k) in self.scores[m.lowered as usize].iter_mut().zip(&values) {
                    *s -= m.coefficient * k;
                }
            }
            if m.divisor != 1.0 {
                let group = shared.scheme.group(m.raised as usize);
                for d in shared.scheme.members(group) {
                    self.scores[d].iter_mut().for_each(|s| *s /= m.divisor);
                }
            }
        }
    }
}
