//! 32 rows side by side, and the ways to their kernel values with many others.

mod arithmetic;
mod finish;
mod inverted_index;

pub(crate) use arithmetic::Arithmetic;

use finish::{Elementwise, Finish};
use inverted_index::InvertedIndex;

use super::Kernel;
use super::support::{SupportRows, SupportStore};
use super::tile::{self, Products, Quad};
use crate::data::Row;
use crate::simd;

/// Rows that are worked on side by side.
pub(crate) const WIDTH: usize = 32;

/// Up to 32 rows prepared for products with the rows of a [`SupportRows`].
#[derive(Debug)]
pub(crate) struct PackedRows {
    /// ‖x‖² of each row.
    squared_norms: [f64; WIDTH],
    store: PackedStore,
}

#[derive(Debug)]
enum PackedStore {
    Bytes {
        panel: Vec<Quad>,
        /// Sums of each row's values, times 128.
        shifts: [i32; WIDTH],
    },
    Single(Vec<[f32; WIDTH]>),
    Double(Vec<[f64; WIDTH]>),
    Sparse(InvertedIndex),
    /// Rows of kernel values.
    Gram(Vec<Vec<f64>>),
}

impl PackedRows {
    /// Prepares the rows (at most 32) that `rows` yields.
    pub(crate) fn new<'r>(arithmetic: Arithmetic, rows: impl Iterator<Item = Row<'r>>) -> Self {
        let rows: Vec<Row<'r>> = rows.collect();
        let mut squared_norms = [0.0; WIDTH];
        if arithmetic != Arithmetic::Gram {
            let norms = squared_norms.iter_mut().zip(&rows);
            norms.for_each(|(norm, row)| *norm = row.squared_norm());
        }
        let lanes = rows.iter().enumerate();
        let store = match arithmetic {
            Arithmetic::Bytes { columns } => {
                let mut panel = vec![[[0u8; 4]; WIDTH]; columns.div_ceil(4)];
                let mut shifts = [0; WIDTH];
                for (lane, row) in lanes {
                    row.for_each(|j, x| {
                        panel[j / 4][lane][j % 4] = x as u8;
                        shifts[lane] += 128 * x as i32;
                    });
                }
                PackedStore::Bytes { panel, shifts }
            }
            Arithmetic::Single { columns, .. } => {
                let mut panel = vec![[0f32; WIDTH]; columns];
                for (lane, row) in lanes {
                    row.for_each(|j, x| panel[j][lane] = x as f32);
                }
                PackedStore::Single(panel)
            }
            Arithmetic::Double { columns, .. } => {
                let mut panel = vec![[0f64; WIDTH]; columns];
                for (lane, row) in lanes {
                    row.for_each(|j, x| panel[j][lane] = x);
                }
                PackedStore::Double(panel)
            }
            Arithmetic::Sparse { .. } => {
                let pairs = |row: &Row<'_>| {
                    let mut pairs = Vec::new();
                    row.for_each(|j, x| pairs.push((j as u32, x)));
                    pairs
                };
                PackedStore::Sparse(InvertedIndex::new(rows.iter().map(pairs).collect()))
            }
            Arithmetic::Gram => {
                PackedStore::Gram(rows.iter().map(|row| row.to_dense(row.width())).collect())
            }
        };
        PackedRows {
            squared_norms,
            store,
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        match &self.store {
            PackedStore::Bytes { panel, .. } => panel.len() * size_of::<Quad>(),
            PackedStore::Single(panel) => panel.len() * size_of::<[f32; WIDTH]>(),
            PackedStore::Double(panel) => panel.len() * size_of::<[f64; WIDTH]>(),
            PackedStore::Sparse(inverted) => inverted.bytes(),
            PackedStore::Gram(rows) => rows.iter().map(|r| r.len() * 8).sum(),
        }
    }

    /// Kernel values, plus `constant`, with the rows in `slots`.
    pub(crate) fn values(
        &self,
        kernel: &Kernel,
        constant: f64,
        support: &SupportRows,
        slots: &[u32],
        out: &mut [[f64; WIDTH]],
    ) {
        if kernel.is_of_products() {
            self.products(support, slots, out);
            for (&slot, out) in slots.iter().zip(out) {
                simd::dispatch(Finish {
                    kernel,
                    constant,
                    own: support.squared_norms[slot as usize],
                    squared_norms: &self.squared_norms,
                    out,
                });
            }
        } else {
            for (&slot, out) in slots.iter().zip(out) {
                self.values_with(kernel, support, slot, out);
                out.iter_mut().for_each(|k| *k += constant);
            }
        }
    }

    /// Inner products with the rows in `slots`.
    fn products(&self, support: &SupportRows, slots: &[u32], out: &mut [[f64; WIDTH]]) {
        match (&self.store, &support.store, support.arithmetic) {
            (PackedStore::Bytes { panel, shifts }, SupportStore::Bytes(words), arithmetic) => {
                let mut whole = [[0; WIDTH]; 12];
                for (slots, out) in slots.chunks(12).zip(out.chunks_mut(12)) {
                    let whole = &mut whole[..slots.len()];
                    tile::byte_products(words, arithmetic.stride(), slots, panel, whole);
                    for (out, whole) in out.iter_mut().zip(whole) {
                        for ((x, product), shift) in out.iter_mut().zip(whole).zip(shifts) {
                            *x = f64::from(*product + shift);
                        }
                    }
                }
            }
            (
                PackedStore::Single(panel),
                SupportStore::Single(table),
                Arithmetic::Single { chunk, columns },
            ) => {
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
            (
                PackedStore::Double(panel),
                SupportStore::Double(table),
                Arithmetic::Double { columns, exact },
            ) => tile::products(Products {
                table,
                stride: columns,
                from: 0,
                rows: slots,
                panel,
                fused: exact,
                out,
            }),
            (PackedStore::Sparse(inverted), SupportStore::Sparse(matrix), _) => {
                for (&slot, out) in slots.iter().zip(out) {
                    inverted.products(matrix.row(slot as usize), out);
                }
            }
            _ => unreachable!("packed rows and support are prepared for the same arithmetic"),
        }
    }

    /// Values of a kernel that is no function of products, with the row in `slot`.
    fn values_with(
        &self,
        kernel: &Kernel,
        support: &SupportRows,
        slot: u32,
        out: &mut [f64; WIDTH],
    ) {
        let slot = slot as usize;
        match (&self.store, &support.store) {
            (PackedStore::Double(panel), SupportStore::Double(table)) => {
                let columns = support.arithmetic.stride();
                simd::dispatch(Elementwise {
                    kernel,
                    row: &table[slot * columns..][..columns],
                    panel,
                    out,
                });
            }
            (PackedStore::Sparse(inverted), SupportStore::Sparse(matrix)) => {
                for (k, lane) in out.iter_mut().zip(&inverted.rows) {
                    let (indices, values): (Vec<u32>, Vec<f64>) = lane.iter().copied().unzip();
                    *k = kernel.value(Row::Sparse64(&indices, &values), matrix.row(slot));
                }
            }
            (PackedStore::Gram(rows), SupportStore::Gram(numbers)) => {
                let column = numbers[slot] as usize;
                for (k, row) in out.iter_mut().zip(rows) {
                    *k = row.get(column).copied().unwrap_or(0.0);
                }
            }
            _ => unreachable!("packed rows and support are prepared for the same arithmetic"),
        }
    }
}

#[cfg(test)]
mod tests;
