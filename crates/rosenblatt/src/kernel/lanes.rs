//! 32 rows side by side, and the ways to their kernel values with many others.

use super::support::{Store, Support};
use super::tile::{self, Products, Quad};
use super::value::Facts;
use super::{HIGHEST_DEGREE, Kernel};
use crate::data::{Matrix, Precision, Row, Values};
use crate::simd::{self, Work};

/// Rows that are worked on side by side.
pub(crate) const WIDTH: usize = 32;

/// By what means products are found. All give the same bits; the data decide which is
/// fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// Whole numbers from 0 to 255, multiplied as bytes.
    Bytes { columns: usize },
    /// Whole numbers whose sums over `chunk` columns stay exact in `f32`.
    Single { columns: usize, chunk: usize },
    /// Anything dense, in `f64`; `exact` if a product of two values never rounds.
    Double { columns: usize, exact: bool },
    /// Few non-zeros.
    Sparse { columns: usize },
    /// The values are given.
    Gram,
}

/// Whole numbers up to this are exact in `f32`.
const EXACT_SINGLE: f64 = 16_777_216.0;

impl Means {
    /// The fastest means for kernel values between rows of these matrices.
    pub(crate) fn choose(kernel: &Kernel, matrices: &[&Matrix]) -> Self {
        if *kernel == Kernel::Precomputed {
            return Means::Gram;
        }
        let columns = matrices.iter().map(|m| m.columns()).max().unwrap_or(0);
        // A dense product costs about a twentieth of a sparse one per value.
        let is_thin = |m: &&Matrix| {
            matches!(m, Matrix::Sparse { .. })
                && (m.columns() > 1 << 16 || m.non_zeros() * 20 < m.rows() * m.columns())
        };
        if matrices.iter().any(is_thin) {
            return Means::Sparse { columns };
        }
        if kernel.is_of_products() {
            let mut range = Range::default();
            matrices.iter().for_each(|m| range.add(m));
            if range.whole
                && range.low >= 0.0
                && range.high <= 255.0
                && columns < 1 << 16
                && tile::multiplies_bytes()
            {
                return Means::Bytes { columns };
            }
            if range.whole {
                // Sums over any columns are at most the product of the norms (Cauchy and
                // Schwarz), so equal chunks are tried until the norms fit.
                for parts in [1, 2, 4, 8] {
                    let chunk = columns.div_ceil(parts).max(1);
                    if matrices
                        .iter()
                        .all(|m| largest_square(m, chunk) <= EXACT_SINGLE)
                    {
                        return Means::Single { columns, chunk };
                    }
                }
            }
        }
        let exact = matrices.iter().all(|m| m.precision() == Precision::F32);
        Means::Double { columns, exact }
    }

    /// Elements a prepared row takes.
    pub(super) fn stride(self) -> usize {
        match self {
            Means::Bytes { columns } => columns.div_ceil(4),
            Means::Single { columns, .. } | Means::Double { columns, .. } => columns,
            Means::Sparse { .. } | Means::Gram => 0,
        }
    }

    /// Bytes that a row in the support takes, where that is known ahead.
    pub(crate) fn row_bytes(self) -> usize {
        self.lane_bytes() / WIDTH
    }

    /// Bytes that 32 prepared rows take; sparse ones are counted when they are made.
    pub(crate) fn lane_bytes(self) -> usize {
        let element = match self {
            Means::Bytes { .. } | Means::Single { .. } => 4,
            _ => 8,
        };
        self.stride() * WIDTH * element
    }
}

/// What is known of all values.
#[derive(Debug)]
struct Range {
    whole: bool,
    low: f64,
    high: f64,
}

impl Default for Range {
    fn default() -> Self {
        Range {
            whole: true,
            low: 0.0,
            high: 0.0,
        }
    }
}

impl Range {
    fn add(&mut self, matrix: &Matrix) {
        let (Matrix::Dense { values, .. } | Matrix::Sparse { values, .. }) = matrix;
        let mut see = |x: f64| {
            self.whole &= x == x.trunc();
            self.low = self.low.min(x);
            self.high = self.high.max(x);
        };
        match values {
            Values::F32(v) => v.iter().for_each(|&x| see(f64::from(x))),
            Values::F64(v) => v.iter().for_each(|&x| see(x)),
        }
    }
}

/// The largest squared norm of a row within any one chunk of columns.
fn largest_square(matrix: &Matrix, chunk: usize) -> f64 {
    let mut largest: f64 = 0.0;
    let mut squares = vec![0.0; matrix.columns().div_ceil(chunk)];
    for i in 0..matrix.rows() {
        squares.fill(0.0);
        matrix.row(i).for_each(|j, x| squares[j / chunk] += x * x);
        largest = squares.iter().fold(largest, |l, &s| l.max(s));
    }
    largest
}

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

/// Sparse rows by feature: who has it, and how much.
#[derive(Debug)]
struct Inverted {
    features: Vec<u32>,
    starts: Vec<u32>,
    entries: Vec<(u32, f64)>,
    /// Open addressing: 1 + index into `features`, 0 where empty.
    table: Vec<u32>,
    rows: Vec<Vec<(u32, f64)>>,
}

fn slot_of(feature: u32, mask: usize) -> usize {
    (u64::from(feature).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask
}

impl Inverted {
    fn new(rows: Vec<Vec<(u32, f64)>>) -> Self {
        let mut all: Vec<(u32, u32, f64)> = rows
            .iter()
            .enumerate()
            .flat_map(|(lane, row)| row.iter().map(move |&(j, x)| (j, lane as u32, x)))
            .collect();
        all.sort_unstable_by_key(|&(j, lane, _)| (j, lane));
        let mut features = Vec::new();
        let mut starts = Vec::new();
        let mut entries = Vec::with_capacity(all.len());
        for (j, lane, x) in all {
            if features.last() != Some(&j) {
                features.push(j);
                starts.push(entries.len() as u32);
            }
            entries.push((lane, x));
        }
        starts.push(entries.len() as u32);
        let size = (features.len() * 2).next_power_of_two().max(2);
        let mut table = vec![0u32; size];
        for (k, &j) in features.iter().enumerate() {
            let mut at = slot_of(j, size - 1);
            while table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            table[at] = k as u32 + 1;
        }
        Inverted {
            features,
            starts,
            entries,
            table,
            rows,
        }
    }

    #[inline]
    fn find(&self, feature: u32) -> &[(u32, f64)] {
        let mask = self.table.len() - 1;
        let mut at = slot_of(feature, mask);
        loop {
            match self.table[at] {
                0 => return &[],
                k if self.features[k as usize - 1] == feature => {
                    let k = k as usize - 1;
                    return &self.entries[self.starts[k] as usize..self.starts[k + 1] as usize];
                }
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn products(&self, row: Row<'_>, out: &mut [f64; WIDTH]) {
        out.fill(0.0);
        row.for_each(|j, a| {
            for &(lane, x) in self.find(j as u32) {
                out[lane as usize] += a * x;
            }
        });
    }

    fn bytes(&self) -> usize {
        self.entries.len() * 32 + self.table.len() * 4 + self.features.len() * 8
    }
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

/// Products become kernel values, 32 at a time.
struct Finish<'a> {
    kernel: &'a Kernel,
    constant: f64,
    own: f64,
    facts: &'a [f64; WIDTH],
    /// The products, where they are whole numbers and not yet in `out`.
    whole: Option<&'a [i32; WIDTH]>,
    out: &'a mut [f64; WIDTH],
}

impl Work for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const LEVEL: u8>(self) {
        let out = self.out;
        if let Some(whole) = self.whole {
            for (x, &product) in out.iter_mut().zip(whole) {
                *x = f64::from(product);
            }
        }
        match *self.kernel {
            Kernel::Polynomial {
                degree,
                scale,
                constant,
            } => {
                for x in out.iter_mut() {
                    *x = scale * *x + constant;
                }
                powers(out, degree);
            }
            Kernel::Geometric { degree } => {
                let t = *out;
                out.fill(1.0);
                for _ in 0..degree {
                    for (x, t) in out.iter_mut().zip(&t) {
                        *x = *x * t + 1.0;
                    }
                }
            }
            Kernel::Linear => {}
            kernel => {
                for (x, &z) in out.iter_mut().zip(self.facts) {
                    *x = kernel.of_product(*x, self.own, z);
                }
            }
        }
        for x in out.iter_mut() {
            *x += self.constant;
        }
    }
}

/// The steps of [`power`](super::value::power), 32 at a time.
#[inline(always)]
fn powers(x: &mut [f64; WIDTH], degree: u32) {
    let multiply = |a: &mut [f64; WIDTH], b: &[f64; WIDTH]| {
        for (a, b) in a.iter_mut().zip(b) {
            *a *= b;
        }
    };
    let mut square = *x;
    let mut left = degree;
    while left & 1 == 0 {
        let same = square;
        multiply(&mut square, &same);
        left >>= 1;
    }
    *x = square;
    left >>= 1;
    while left > 0 {
        let same = square;
        multiply(&mut square, &same);
        if left & 1 == 1 {
            multiply(x, &square);
        }
        left >>= 1;
    }
}

/// Kernels that are no function of products, one feature at a time.
struct Elementwise<'a> {
    kernel: &'a Kernel,
    row: &'a [f64],
    panel: &'a [[f64; WIDTH]],
    out: &'a mut [f64; WIDTH],
}

impl Work for Elementwise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const LEVEL: u8>(self) {
        let out = self.out;
        match *self.kernel {
            Kernel::Laplacian { gamma } => {
                let mut distances = [0.0; WIDTH];
                for (&a, lanes) in self.row.iter().zip(self.panel) {
                    for (d, &x) in distances.iter_mut().zip(lanes) {
                        *d += (a - x).abs();
                    }
                }
                for (k, d) in out.iter_mut().zip(distances) {
                    *k = libm::exp(-gamma * d);
                }
            }
            Kernel::Monomial { degree } => {
                let mut sums = [[0.0; WIDTH]; HIGHEST_DEGREE as usize + 1];
                let sums = &mut sums[..=degree as usize];
                sums[0] = [1.0; WIDTH];
                for (&a, lanes) in self.row.iter().zip(self.panel) {
                    if a == 0.0 {
                        continue;
                    }
                    for k in 1..sums.len() {
                        let (lower, higher) = sums.split_at_mut(k);
                        for c in 0..WIDTH {
                            higher[0][c] += a * lanes[c] * lower[k - 1][c];
                        }
                    }
                }
                *out = [0.0; WIDTH];
                for h in sums.iter() {
                    for (k, h) in out.iter_mut().zip(h) {
                        *k += h;
                    }
                }
            }
            _ => unreachable!("other kernels are functions of products"),
        }
    }
}

#[cfg(test)]
mod tests;
