//! Rows of the Gram matrix, found when they are asked for and kept while memory lasts.

use std::sync::Arc;

use crate::data::Dataset;
use crate::kernel::{Arithmetic, Kernel, PackedRows, SupportRows, WIDTH};
use crate::training::Resources;

/// K(x_i, ·) + constant for the rows of a data set. Values do not depend on what is kept.
pub(super) struct KernelRows<'a> {
    data: &'a Dataset,
    kernel: Kernel,
    constant: f64,
    /// All rows, 32 side by side, in memory order.
    panels: Vec<PackedRows>,
    /// The rows asked for, prepared to be multiplied, and where they stand.
    support: SupportRows,
    slots: Vec<Option<u32>>,
    kept: Vec<Option<Arc<[f64]>>>,
    /// When each row was last asked for.
    asked: Vec<u64>,
    clock: u64,
    count: usize,
    room: usize,
    threads: usize,
}

/// Fewer multiplications than this do not pay for starting threads.
const WORTH_THREADS: usize = 2_000_000;

impl<'a> KernelRows<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        kernel: Kernel,
        constant: f64,
        resources: Resources,
    ) -> Self {
        let n = data.len();
        let how = Arithmetic::choose(&kernel, &[&data.matrix]);
        let starts = (0..n).step_by(WIDTH);
        let panels = starts
            .map(|start| PackedRows::new(how, (start..(start + WIDTH).min(n)).map(|i| data.row(i))))
            .collect();
        KernelRows {
            data,
            kernel,
            constant,
            panels,
            support: SupportRows::new(how),
            slots: vec![None; n],
            kept: vec![None; n],
            asked: vec![0; n],
            clock: 0,
            count: 0,
            room: (resources.memory / (8 * n.max(1))).max(2),
            threads: if n * data.features() >= WORTH_THREADS {
                resources.threads
            } else {
                1
            },
        }
    }

    /// K(x_i, x_i) + constant.
    pub(super) fn own(&self, i: usize) -> f64 {
        self.constant + self.kernel.of_example(self.data, i)
    }

    /// K(x_i, x_j) + constant for every j, in memory order; a little longer than the data.
    pub(super) fn row(&mut self, i: usize) -> Arc<[f64]> {
        self.clock += 1;
        self.asked[i] = self.clock;
        if let Some(row) = &self.kept[i] {
            return row.clone();
        }
        let row = self.compute(i);
        if self.count == self.room {
            let oldest = (0..self.kept.len())
                .filter(|&k| self.kept[k].is_some())
                .min_by_key(|&k| self.asked[k]);
            if let Some(oldest) = oldest {
                self.kept[oldest] = None;
                self.count -= 1;
            }
        }
        self.count += 1;
        self.kept[i] = Some(row.clone());
        row
    }

    fn compute(&mut self, i: usize) -> Arc<[f64]> {
        let slot = match self.slots[i] {
            Some(slot) => slot,
            None => {
                let slot = self.support.len() as u32;
                self.support
                    .push(self.data.row(i), self.data.number(i) as u32);
                self.slots[i] = Some(slot);
                slot
            }
        };
        let mut row = vec![0.0; self.panels.len() * WIDTH];
        let (panels, support) = (&self.panels, &self.support);
        let (kernel, constant) = (&self.kernel, self.constant);
        crate::parallel::chunks(&mut row, WIDTH, self.threads, || {
            move |p: usize, out: &mut [f64]| {
                let mut values = [[0.0; WIDTH]];
                panels[p].values(kernel, constant, support, &[slot], &mut values);
                out.copy_from_slice(&values[0]);
            }
        });
        row.into()
    }
}
