//! The scores of all examples, kept up with the updates: the engine of the dual learners.
//!
//! Examples stand in panels of 32, eight panels to a block of the visiting order. Every
//! panel holds its scores and how many updates they include. Before an example is judged its
//! panel catches up: kernel values with the updated examples come from one matrix product,
//! and are added update by update in the order they were made. That order is the whole
//! definition of a score, so it has the same bits whether a panel catches up by one update
//! or by thousands, on one thread or many, from memory or afresh.
//!
//! Kernel values of a panel with the examples corrected so far are stored while the memory
//! budget lasts, so that an example corrected again costs no new products.

use std::ops::Range;

use crate::data::Dataset;
use crate::kernel::{Arithmetic, Kernel, PackedRows, SupportRows, WIDTH};
use crate::options::Order;
use crate::parallel;
use crate::readout::LogEntry;
use crate::scheme::Scheme;
use crate::simd::{self, Level, Work};
use crate::training::{PassOrder, Resources};

/// New products found at a time: a multiple of every tile's height, small enough that the
/// values stay in the first cache.
const AT_ONCE: usize = 96;

/// Work below this many multiplications is not worth a second thread.
const WORTH_A_THREAD: usize = 2_000_000;

/// Stored kernel values grow by so many slots at a time: doubling would overrun the budget.
const GROWTH: usize = 128;

/// Up to 32 examples and their scores.
#[derive(Debug)]
struct ScorePanel {
    examples: Vec<u32>,
    /// Updates that the scores include.
    seen: usize,
    scores: Vec<[f64; WIDTH]>,
    /// Kernel values with the first slots of the support.
    values: Vec<[f64; WIDTH]>,
    packed: Option<PackedRows>,
}

/// What every panel needs and none changes.
struct Updates<'a> {
    data: &'a Dataset,
    kernel: Kernel,
    constant: f64,
    scheme: Scheme,
    arithmetic: Arithmetic,
    support: SupportRows,
    /// Each with the slot of its example in the support.
    all: Vec<(u32, LogEntry)>,
    /// Values with slots below this are stored.
    stored_slots: usize,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
struct Scratch {
    fresh: Vec<u32>,
    values: Vec<[f64; WIDTH]>,
    /// Where a slot's fresh values are: a stamp of the round, and the place.
    places: Vec<(u32, u32)>,
    round: u32,
}

/// The scores of all examples.
pub(super) struct ScoreCache<'a> {
    updates: Updates<'a>,
    panels: Vec<ScorePanel>,
    /// Panel and lane of each example.
    address: Vec<(u32, u8)>,
    /// The panels that stand in one block of the visiting order with each panel.
    block_of_panel: Vec<Range<usize>>,
    /// Slot of each example, or NONE.
    slots: Vec<u32>,
    scratch: Scratch,
    threads: usize,
    /// Bytes that packed rows may take.
    packed_budget: usize,
}

const NONE: u32 = u32::MAX;

impl<'a> ScoreCache<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        kernel: Kernel,
        constant: f64,
        scheme: Scheme,
        order: Order,
        resources: Resources,
    ) -> Self {
        let arithmetic = Arithmetic::choose(&kernel, &[&data.matrix]);
        let order = order.blocks();
        let mut address = vec![(0, 0); data.len()];
        let (mut panels, mut block_of_panel) = (Vec::new(), Vec::new());
        if let Some(mut pass) = PassOrder::new(data, order, 0, 0) {
            while let Some(block) = pass.next_block() {
                let first = panels.len();
                for examples in block.chunks(WIDTH) {
                    for (lane, &i) in examples.iter().enumerate() {
                        address[i as usize] = (panels.len() as u32, lane as u8);
                    }
                    panels.push(ScorePanel {
                        examples: examples.to_vec(),
                        seen: 0,
                        scores: vec![[0.0; WIDTH]; scheme.discriminators()],
                        values: Vec::new(),
                        packed: None,
                    });
                }
                block_of_panel.resize(panels.len(), first..panels.len());
            }
        }
        // The data themselves count too: the budget is for everything held at once.
        let fixed = data.matrix.bytes()
            + panels.len() * WIDTH * 8 * scheme.discriminators()
            + data.len() * 12;
        let free = resources.memory.saturating_sub(fixed);
        let all_packed = arithmetic.packed_bytes().max(64 * WIDTH * 48) * panels.len();
        let packed_budget = (free / 4).min(all_packed);
        let slot_bytes = panels.len() * WIDTH * 8 + arithmetic.row_bytes();
        let stored_slots = match arithmetic {
            Arithmetic::Gram => 0,
            _ => (free - packed_budget) / slot_bytes.max(1),
        };
        ScoreCache {
            updates: Updates {
                data,
                kernel,
                constant,
                scheme,
                arithmetic,
                support: SupportRows::new(arithmetic),
                all: Vec::new(),
                stored_slots,
            },
            panels,
            address,
            block_of_panel,
            slots: vec![NONE; data.len()],
            scratch: Scratch::default(),
            threads: resources.threads,
            packed_budget,
        }
    }

    /// Notes an update on the example at `i`.
    pub(super) fn push(&mut self, i: usize, entry: &LogEntry) {
        let Updates { data, support, .. } = &mut self.updates;
        if self.slots[i] == NONE {
            self.slots[i] = support.len() as u32;
            support.push(data.row(i), data.number(i) as u32);
        }
        self.updates.all.push((self.slots[i], *entry));
    }

    /// Forgets packed rows of other blocks than this when they take more than their share.
    fn make_room(&mut self, block: &Range<usize>) {
        let packed = self.panels.iter().filter_map(|panel| panel.packed.as_ref());
        if packed.map(PackedRows::bytes).sum::<usize>() > self.packed_budget {
            let (before, others) = self.panels.split_at_mut(block.start);
            let after = &mut others[block.len()..];
            (before.iter_mut().chain(after)).for_each(|panel| panel.packed = None);
        }
    }

    /// Brings the whole block of example `i` up to date, on all threads where that pays.
    pub(super) fn look_ahead(&mut self, i: usize) {
        let block = self.block_of_panel[self.address[i].0 as usize].clone();
        self.make_room(&block);
        let updates = &self.updates;
        let panels = &mut self.panels[block];
        let pending: usize = panels.iter().map(|p| updates.all.len() - p.seen).sum();
        let work = pending * updates.data.features().max(1) * WIDTH;
        let threads = match work < WORTH_A_THREAD {
            true => 1,
            false => self.threads,
        };
        parallel::chunks(panels, 1, threads, || {
            let mut scratch = Scratch::default();
            move |_, panel: &mut [ScorePanel]| updates.catch_up(&mut panel[0], &mut scratch)
        });
    }

    /// The scores of example `i` now.
    #[inline]
    pub(super) fn scores(&mut self, i: usize, out: &mut [f64]) {
        let (panel, lane) = self.address[i];
        let p = panel as usize;
        if self.panels[p].seen < self.updates.all.len() {
            if self.panels[p].packed.is_none() {
                self.make_room(&self.block_of_panel[p].clone());
            }
            (self.updates).catch_up(&mut self.panels[p], &mut self.scratch);
        }
        for (out, scores) in out.iter_mut().zip(&self.panels[p].scores) {
            *out = scores[lane as usize];
        }
    }
}

impl Updates<'_> {
    /// Adds to a panel's scores the updates it has not seen.
    fn catch_up(&self, panel: &mut ScorePanel, scratch: &mut Scratch) {
        if panel.seen == self.all.len() {
            return;
        }
        let rows = panel.examples.iter().map(|&i| self.data.row(i as usize));
        let packed = panel
            .packed
            .get_or_insert_with(|| PackedRows::new(self.arithmetic, rows));
        scratch.places.resize(self.support.len(), (0, 0));
        while panel.seen < self.all.len() {
            let stored = panel.values.len();
            let end = self.next_round(panel.seen, stored, scratch);
            let fresh = &scratch.fresh;
            scratch.values.resize(fresh.len(), [0.0; WIDTH]);
            packed.values(
                &self.kernel,
                self.constant,
                &self.support,
                fresh,
                &mut scratch.values,
            );
            simd::dispatch(Apply {
                scheme: self.scheme,
                updates: &self.all[panel.seen..end],
                stored: &panel.values,
                scratch,
                scores: &mut panel.scores,
            });
            // Slots are numbered as they come up, and every panel meets them in that order, so
            // what a panel stores is always the first few.
            for (&slot, values) in fresh.iter().zip(&scratch.values) {
                if (slot as usize) < self.stored_slots && slot as usize == panel.values.len() {
                    if panel.values.len() == panel.values.capacity() {
                        panel.values.reserve_exact(GROWTH);
                    }
                    panel.values.push(*values);
                }
            }
            panel.seen = end;
        }
    }

    /// Lists the slots whose values are not stored among the updates from `first` on, as many as
    /// are found at once; gives where these updates end.
    fn next_round(&self, first: usize, stored: usize, scratch: &mut Scratch) -> usize {
        scratch.round += 1;
        scratch.fresh.clear();
        for (at, &(number, _)) in self.all.iter().enumerate().skip(first) {
            let slot = number as usize;
            if slot >= stored && scratch.places[slot].0 != scratch.round {
                if scratch.fresh.len() == AT_ONCE {
                    return at;
                }
                scratch.places[slot] = (scratch.round, scratch.fresh.len() as u32);
                scratch.fresh.push(number);
            }
        }
        self.all.len()
    }
}

/// Adds updates to scores, in order.
struct Apply<'a> {
    scheme: Scheme,
    updates: &'a [(u32, LogEntry)],
    /// Values with the first slots; those with later ones are among the fresh.
    stored: &'a [[f64; WIDTH]],
    scratch: &'a Scratch,
    scores: &'a mut [[f64; WIDTH]],
}

impl Work for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        for (slot, update) in self.updates {
            let slot = *slot as usize;
            let values = match self.stored.get(slot) {
                Some(values) => values,
                None => &self.scratch.values[self.scratch.places[slot].1 as usize],
            };
            update.apply(self.scheme, values, self.scores);
        }
    }
}
