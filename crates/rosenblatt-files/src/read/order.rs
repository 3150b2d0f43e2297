//! Which row stands where in memory.

use std::ops::Range;

use rosenblatt_core::data::{Layout, RowPermutation};
use rosenblatt_core::internal::parallel;

/// Rows that are worked out together.
const SOME: usize = 256;

/// The file rows of a data set, in the order they lie in memory.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    rows: Option<&'a [usize]>,
    /// Their places in the list of rows, listed because each is asked for several times.
    scattered: Option<Vec<u32>>,
    len: usize,
}

impl<'a> Order<'a> {
    /// These rows (or all `total` of them), laid out so.
    pub(crate) fn new(
        total: usize,
        rows: Option<&'a [usize]>,
        layout: Layout,
        threads: usize,
    ) -> Self {
        let len = rows.map_or(total, <[usize]>::len);
        let scattered = match layout {
            Layout::AsGiven => None,
            Layout::Permuted => {
                let permutation = RowPermutation::new(len);
                let mut scattered = vec![0; len];
                let threads = parallel::worth(threads, len);
                parallel::chunks(&mut scattered, SOME, threads, || {
                    |k: usize, rows: &mut [u32]| {
                        let all = rows.iter_mut().zip(k * SOME..);
                        all.for_each(|(row, place)| *row = permutation.row_at(place) as u32);
                    }
                });
                Some(scattered)
            }
        };
        Order {
            rows,
            scattered,
            len,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The file row at memory position `p`.
    #[inline]
    pub(crate) fn row_at(&self, p: usize) -> usize {
        let number = self.scattered.as_ref().map_or(p, |s| s[p] as usize);
        self.rows.map_or(number, |rows| rows[number])
    }

    /// The file rows in memory order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len).map(|p| self.row_at(p))
    }
}

/// Cuts `0..n` into about equal ranges, one for each thread; small work stays on one.
pub(crate) fn ranges(n: usize, threads: usize) -> Vec<Range<usize>> {
    cut(n, threads.clamp(1, n.div_ceil(1024).max(1)))
}

/// Cuts `0..n` into so many ranges of about the same length.
pub(crate) fn cut(n: usize, parts: usize) -> Vec<Range<usize>> {
    (0..parts)
        .map(|k| n * k / parts..n * (k + 1) / parts)
        .collect()
}

/// Rows of a file that are kept in parts: which part holds which row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Starts {
    /// The first row of each part, then the number of rows.
    first: Vec<usize>,
    /// The part that holds every `1 << STRIDE`-th row.
    coarse: Vec<u32>,
}

/// Few enough that parts seldom meet among them, where a processor would guess wrong which.
const STRIDE: u32 = 4;

impl Starts {
    /// Parts with so many rows each.
    pub(crate) fn new(rows: impl Iterator<Item = usize>) -> Self {
        let mut first = vec![0];
        let mut coarse = Vec::new();
        for (part, count) in rows.enumerate() {
            let end = first[part] + count;
            while coarse.len() << STRIDE < end {
                coarse.push(part as u32);
            }
            first.push(end);
        }
        Starts { first, coarse }
    }

    /// The number of rows in all.
    pub(crate) fn rows(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// The first row of a part.
    #[inline]
    pub(crate) fn first_row(&self, part: usize) -> usize {
        self.first[part]
    }

    /// The part that holds `row`.
    #[inline]
    pub(crate) fn find(&self, row: usize) -> usize {
        let mut part = self.coarse[row >> STRIDE] as usize;
        while self.first[part + 1] <= row {
            part += 1;
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_its_part() {
        for sizes in [vec![1], vec![0, 3, 0, 700, 1, 255, 0, 1000], vec![256, 256]] {
            let starts = Starts::new(sizes.iter().copied());
            let mut row = 0;
            for (part, &size) in sizes.iter().enumerate() {
                for _ in 0..size {
                    assert_eq!(starts.find(row), part);
                    assert!(starts.first_row(part) <= row);
                    row += 1;
                }
            }
            assert_eq!(starts.rows(), row);
        }
    }
}
