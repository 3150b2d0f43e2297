//! The arithmetic in which products are found, as the data decide.

use super::WIDTH;
use crate::data::{Matrix, Precision, Storage, Values};
use crate::kernel::{Kernel, tile};
use crate::optimisations;

/// The arithmetic in which products are found. All give the same bits; the data decide which is
/// fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
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

impl Arithmetic {
    /// The fastest arithmetic for kernel values between rows of these matrices.
    pub(crate) fn choose(kernel: &Kernel, matrices: &[&Matrix]) -> Self {
        if *kernel == Kernel::Precomputed {
            return Arithmetic::Gram;
        }
        let columns = matrices.iter().map(|m| m.columns()).max().unwrap_or(0);
        if !optimisations::enabled("kernel-tiles") {
            return Arithmetic::Sparse { columns };
        }
        // A dense product costs about a twentieth of a sparse one per value.
        let is_thin = |m: &&Matrix| {
            m.is_sparse() && (m.columns() > 1 << 16 || m.non_zeros() * 20 < m.rows() * m.columns())
        };
        if matrices.iter().any(is_thin) {
            return Arithmetic::Sparse { columns };
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
                return Arithmetic::Bytes { columns };
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
                        return Arithmetic::Single { columns, chunk };
                    }
                }
            }
        }
        let exact = matrices.iter().all(|m| m.precision() == Precision::F32);
        Arithmetic::Double { columns, exact }
    }

    /// Elements a prepared row takes.
    pub(crate) fn stride(self) -> usize {
        match self {
            Arithmetic::Bytes { columns } => columns.div_ceil(4),
            Arithmetic::Single { columns, .. } | Arithmetic::Double { columns, .. } => columns,
            Arithmetic::Sparse { .. } | Arithmetic::Gram => 0,
        }
    }

    /// Bytes that a row in the support takes, where that is known ahead.
    pub(crate) fn row_bytes(self) -> usize {
        self.packed_bytes() / WIDTH
    }

    /// Bytes that 32 packed rows take; sparse ones are counted when they are made.
    pub(crate) fn packed_bytes(self) -> usize {
        let element = match self {
            Arithmetic::Bytes { .. } | Arithmetic::Single { .. } => 4,
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
        let (Storage::Dense { values, .. } | Storage::Sparse { values, .. }) = matrix.storage();
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
