//! Tables of nothing but numbers, whose rows are scaled as they stand.

use super::parse::TablePart;
use crate::read::number::Stored;
use rosenblatt_core::internal::simd::{self, Level, Work};

/// The centre and the scale of every column of a table that holds nothing but numbers.
#[derive(Debug, Default)]
pub(super) struct NumericColumns {
    pub(super) centres: Vec<f64>,
    pub(super) scales: Vec<f64>,
}

/// Scales rows of plain numbers; gives the number of missing ones.
pub(super) struct NumericRows<'a, T, L> {
    pub(super) columns: &'a NumericColumns,
    pub(super) locate: &'a L,
    pub(super) range: std::ops::Range<usize>,
    pub(super) out: &'a mut [T],
}

impl<'p, T: Stored, L: Fn(usize) -> (&'p TablePart, usize)> Work for NumericRows<'_, T, L> {
    type Output = u64;

    #[inline(always)]
    fn run<A: Level>(self, _: A) -> u64 {
        // Rows lie anywhere, so they are asked for in good time.
        const NEAR: usize = 8;
        let width = self.columns.centres.len();
        let row = |p: usize| {
            let (part, i) = (self.locate)(p);
            T::slice(&part.numbers, i * width..(i + 1) * width)
        };
        let mut missing = 0;
        for (p, out) in self
            .range
            .clone()
            .zip(self.out.chunks_exact_mut(width.max(1)))
        {
            if p + NEAR < self.range.end {
                simd::prefetch(row(p + NEAR));
            }
            let columns = self.columns.centres.iter().zip(&self.columns.scales);
            for ((&x, (centre, scale)), out) in row(p).iter().zip(columns).zip(out) {
                let x = x.to_f64();
                let scaled = (x - centre) / scale;
                missing += u64::from(x.is_nan());
                *out = T::from_f64(if x.is_nan() { 0.0 } else { scaled });
            }
        }
        missing
    }
}
