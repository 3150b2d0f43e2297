//! Tables of nothing but numbers, whose rows are scaled as they stand.

use super::cells::NumberForm;
use super::parse::TablePart;
use super::role::Role;
use crate::read::number::Stored;
use rosenblatt_core::data::{Matrix, Storage};
use rosenblatt_core::internal::simd::{self, Level, Work};

/// The centre and the scale of every column of a table that holds nothing but numbers.
#[derive(Debug, Default)]
pub(crate) struct NumericColumns {
    pub(super) centres: Vec<f64>,
    pub(super) scales: Vec<f64>,
}

impl NumericColumns {
    /// Those of a model's columns, if each of its features is a number.
    pub(crate) fn of(roles: &[&Role]) -> Option<Self> {
        let numbers = roles.iter().filter(|role| role.features() > 0);
        let each = numbers.map(|role| match role {
            Role::Number {
                centre,
                scale,
                indicator: false,
                form: NumberForm::Plain | NumberForm::Grouped,
                ..
            } => Some((*centre, *scale)),
            _ => None,
        });
        let (centres, scales) = each.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        Some(NumericColumns { centres, scales })
    }

    /// Rows of plain numbers, read of their texts; `None` where the rows of a file would not be
    /// these: a text is no number, one is too large, or so many are zero that rows are sparse.
    pub(crate) fn rows<'a, T: Stored>(
        &self,
        texts: impl ExactSizeIterator<Item = &'a str>,
    ) -> Option<Matrix> {
        let (n, width) = (texts.len(), self.centres.len());
        let (mut values, mut zeros) = (Vec::with_capacity(n), 0);
        let columns = self.centres.iter().zip(&self.scales).cycle();
        for (text, (centre, scale)) in texts.zip(columns) {
            let x = text.parse::<T>().ok()?.to_f64();
            let scaled = T::from_f64((x - centre) / scale);
            if !scaled.finite() {
                return None;
            }
            zeros += usize::from(*centre == 0.0 && x == 0.0);
            values.push(scaled);
        }
        let whole = !values.is_empty() && n.is_multiple_of(width);
        (whole && 2 * zeros <= n).then(|| {
            Matrix::from_storage(Storage::Dense {
                rows: n / width,
                columns: width,
                values: T::wrap(values),
            })
        })
    }
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
