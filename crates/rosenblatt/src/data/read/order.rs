//! Which row stands where in memory.

use crate::data::{Layout, Scatter};

/// The file rows of a data set, in the order they lie in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    rows: Option<&'a [usize]>,
    scatter: Option<Scatter>,
    len: usize,
}

impl<'a> Order<'a> {
    /// These rows (or all `total` of them), laid out so.
    pub(crate) fn new(total: usize, rows: Option<&'a [usize]>, layout: Layout) -> Self {
        let len = rows.map_or(total, <[usize]>::len);
        let scatter = match layout {
            Layout::AsGiven => None,
            Layout::Scattered => Some(Scatter::new(len)),
        };
        Order { rows, scatter, len }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The file row at memory position `p`.
    #[inline]
    pub(crate) fn row_at(&self, p: usize) -> usize {
        let number = self.scatter.map_or(p, |s| s.row_at(p));
        self.rows.map_or(number, |rows| rows[number])
    }

    /// The file rows in memory order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len).map(|p| self.row_at(p))
    }
}

/// Cuts `0..n` into about equal ranges, one for each thread; small work stays on one.
pub(crate) fn ranges(n: usize, threads: usize) -> Vec<std::ops::Range<usize>> {
    let parts = threads.clamp(1, n.div_ceil(1024).max(1));
    (0..parts)
        .map(|k| n * k / parts..n * (k + 1) / parts)
        .collect()
}
