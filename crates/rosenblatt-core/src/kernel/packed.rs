//! 32 rows side by side, and the ways to their kernel values with many others.

mod finish;
mod inverted;
mod means;

pub(crate) use means::Means;

use finish::{Elementwise, Finish};
use inverted::Inverted;

use super::Kernel;
use super::support::{Store, Support};
use super::tile::{self, Products, Quad};
use super::value::Facts;
use crate::data::Row;
use crate::simd;

/// Rows that are worked on side by side.
pub(crate) const WIDTH: usize = 32;

/// Up to 32 rows prepared for products with the rows of a [`Support`].
#[derive(Debug)]
pub(crate) struct Lanes {
    facts: [f64; WIDTH],
    store: LaneStore,
}

#[derive(Debug)]
enum LaneStore {
    Bytes {
        panel: Vec<Quad>,
        /// Sums of each row's values, times 128.
        shifts: [i32; WIDTH],
    },
    Single(Vec<[f32; WIDTH]>),
    Double(Vec<[f64; WIDTH]>),
    Sparse(Inverted),
    /// Rows of kernel values.
    Gram(Vec<Vec<f64>>),
}

impl Lanes {
    /// Prepares the rows (at most 32) that `rows` yields.
    pub(crate) fn new<'r>(means: Means, rows: impl Iterator<Item = Row<'r>>) -> Self {
        let mut facts = [0.0; WIDTH];
        let store = match means {
            Means::Bytes { columns } => {
                let mut panel = vec![[[0u8; 4]; WIDTH]; columns.div_ceil(4)];
                let mut shifts = [0; WIDTH];
                for (lane, row) in rows.enumerate() {
                    facts[lane] = Facts::of(row).squared_norm;
                    row.for_each(|j, x| {
                        panel[j / 4][lane][j % 4] = x as u8;
                        shifts[lane] += 128 * x as i32;
                    });
                }
                LaneStore::Bytes { panel, shifts }
            }
            Means::Single { columns, .. } => {
                let mut panel = vec![[0f32; WIDTH]; columns];
                for (lane, row) in rows.enumerate() {
                    facts[lane] = Facts::of(row).squared_norm;
                    row.for_each(|j, x| panel[j][lane] = x as f32);
                }
                LaneStore::Single(panel)
            }
            Means::Double { columns, .. } => {
                let mut panel = vec![[0f64; WIDTH]; columns];
                for (lane, row) in rows.enumerate() {
                    facts[lane] = Facts::of(row).squared_norm;
                    row.for_each(|j, x| panel[j][lane] = x);
                }
                LaneStore::Double(panel)
            }
            Means::Sparse { .. } => {
                let mut sparse = Vec::new();
                for (lane, row) in rows.enumerate() {
                    facts[lane] = Facts::of(row).squared_norm;
                    let mut pairs = Vec::new();
                    row.for_each(|j, x| pairs.push((j as u32, x)));
                    sparse.push(pairs);
                }
                LaneStore::Sparse(Inverted::new(sparse))
            }
            Means::Gram => LaneStore::Gram(rows.map(|row| row.to_dense(row.width())).collect()),
        };
        Lanes { facts, store }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        match &self.store {
            LaneStore::Bytes { panel, .. } => panel.len() * size_of::<Quad>(),
            LaneStore::Single(panel) => panel.len() * size_of::<[f32; WIDTH]>(),
            LaneStore::Double(panel) => panel.len() * size_of::<[f64; WIDTH]>(),
            LaneStore::Sparse(inverted) => inverted.bytes(),
            LaneStore::Gram(rows) => rows.iter().map(|r| r.len() * 8).sum(),
        }
    }

    /// Whole-number products with the rows in `slots`; only for [`Means::Bytes`].
    pub(crate) fn whole_products(
        &self,
        support: &Support,
        slots: &[u32],
        out: &mut [[i32; WIDTH]],
    ) {
        let (LaneStore::Bytes { panel, shifts }, Store::Bytes(words)) =
            (&self.store, &support.store)
        else {
            unreachable!("whole products are asked of bytes")
        };
        tile::byte_products(words, support.means.stride(), slots, panel, out);
        for out in out {
            for (x, shift) in out.iter_mut().zip(shifts) {
                *x += shift;
            }
        }
    }

    /// Kernel values, plus `constant`, from whole products with the row in `slot`.
    #[inline]
    pub(crate) fn values_of_whole(
        &self,
        kernel: &Kernel,
        constant: f64,
        support: &Support,
        slot: u32,
        products: &[i32; WIDTH],
        out: &mut [f64; WIDTH],
    ) {
        simd::dispatch(Finish {
            kernel,
            constant,
            own: support.facts[slot as usize].squared_norm,
            facts: &self.facts,
            whole: Some(products),
            out,
        });
    }

    fn finish(
        &self,
        kernel: &Kernel,
        constant: f64,
        support: &Support,
        slot: u32,
        out: &mut [f64; WIDTH],
    ) {
        simd::dispatch(Finish {
            kernel,
            constant,
            own: support.facts[slot as usize].squared_norm,
            facts: &self.facts,
            whole: None,
            out,
        });
    }

    /// Kernel values, plus `constant`, with the rows in `slots`.
    pub(crate) fn values(
        &self,
        kernel: &Kernel,
        constant: f64,
        support: &Support,
        slots: &[u32],
        out: &mut [[f64; WIDTH]],
    ) {
        match (&self.store, &support.store) {
            (LaneStore::Bytes { .. }, _) => {
                let mut whole = [[0; WIDTH]; 12];
                for (slots, out) in slots.chunks(12).zip(out.chunks_mut(12)) {
                    self.whole_products(support, slots, &mut whole[..slots.len()]);
                    for ((&slot, whole), out) in slots.iter().zip(&whole).zip(out) {
                        self.values_of_whole(kernel, constant, support, slot, whole, out);
                    }
                }
                return;
            }
            (LaneStore::Single(panel), Store::Single(table)) => {
                let Means::Single { chunk, columns } = support.means else {
                    unreachable!("stores follow their means")
                };
                let mut part = [[0f32; WIDTH]; 12];
                for (slots, out) in slots.chunks(12).zip(out.chunks_mut(12)) {
                    out.fill([0.0; WIDTH]);
                    for (from, panel) in (0..columns).step_by(chunk).zip(panel.chunks(chunk)) {
                        tile::products(Products {
                            table,
                            stride: columns,
                            from,
                            rows: slots,
                            panel,
                            fused: true,
                            out: &mut part[..slots.len()],
                        });
                        for (sum, part) in out.iter_mut().zip(&part) {
                            for (sum, &x) in sum.iter_mut().zip(part) {
                                *sum += f64::from(x);
                            }
                        }
                    }
                }
            }
            (LaneStore::Double(panel), Store::Double(table)) => {
                let Means::Double { columns, exact } = support.means else {
                    unreachable!("stores follow their means")
                };
                if !kernel.is_of_products() {
                    for (&slot, out) in slots.iter().zip(out) {
                        simd::dispatch(Elementwise {
                            kernel,
                            row: &table[slot as usize * columns..][..columns],
                            panel,
                            out,
                        });
                        out.iter_mut().for_each(|k| *k += constant);
                    }
                    return;
                }
                tile::products(Products {
                    table,
                    stride: columns,
                    from: 0,
                    rows: slots,
                    panel,
                    fused: exact,
                    out,
                });
            }
            (LaneStore::Sparse(inverted), Store::Sparse(matrix)) => {
                for (&slot, out) in slots.iter().zip(out.iter_mut()) {
                    let row = matrix.row(slot as usize);
                    if kernel.is_of_products() {
                        inverted.products(row, out);
                    } else {
                        for (k, lane) in out.iter_mut().zip(&inverted.rows) {
                            let (indices, values): (Vec<u32>, Vec<f64>) =
                                lane.iter().copied().unzip();
                            *k = kernel.value(Row::Sparse64(&indices, &values), row) + constant;
                        }
                    }
                }
                if !kernel.is_of_products() {
                    return;
                }
            }
            (LaneStore::Gram(rows), Store::Gram(numbers)) => {
                for (&slot, out) in slots.iter().zip(out) {
                    let column = numbers[slot as usize] as usize;
                    for (k, row) in out.iter_mut().zip(rows) {
                        *k = row.get(column).copied().unwrap_or(0.0) + constant;
                    }
                }
                return;
            }
            _ => unreachable!("lanes and support are prepared by the same means"),
        }
        for (&slot, out) in slots.iter().zip(out) {
            self.finish(kernel, constant, support, slot, out);
        }
    }
}

#[cfg(test)]
mod tests;
