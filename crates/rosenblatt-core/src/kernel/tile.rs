//! Products of many rows with 32 rows at once: the matrix multiplication at the heart of
//! everything here.
//!
//! The 32 rows stand side by side (feature by feature, 32 values each), so that registers
//! run across them and each product is summed in ascending order of the features, exactly
//! as one pair alone would be.

use super::packed::WIDTH;
use crate::simd::{self, Level, Work};

/// A number that products are summed in.
pub(crate) trait Real: Copy + Default + Send + Sync {
    fn plus_product(self, a: Self, b: Self) -> Self;
    fn plus_product_fused(self, a: Self, b: Self) -> Self;
}

macro_rules! real {
    ($t:ty) => {
        impl Real for $t {
            #[inline(always)]
            fn plus_product(self, a: $t, b: $t) -> $t {
                self + a * b
            }
            #[inline(always)]
            fn plus_product_fused(self, a: $t, b: $t) -> $t {
                a.mul_add(b, self)
            }
        }
    };
}
real!(f32);
real!(f64);

#[inline(always)]
fn tile<T: Real, const ROWS: usize, const FUSED: bool>(
    rows: [&[T]; ROWS],
    panel: &[[T; WIDTH]],
) -> [[T; WIDTH]; ROWS] {
    let mut sums = [[T::default(); WIDTH]; ROWS];
    let rows: [&[T]; ROWS] = std::array::from_fn(|r| &rows[r][..panel.len()]);
    for (j, lanes) in panel.iter().enumerate() {
        for r in 0..ROWS {
            let a = rows[r][j];
            for c in 0..WIDTH {
                sums[r][c] = if FUSED {
                    sums[r][c].plus_product_fused(a, lanes[c])
                } else {
                    sums[r][c].plus_product(a, lanes[c])
                };
            }
        }
    }
    sums
}

/// Products of chosen rows of a row-major table with a panel.
pub(crate) struct Products<'a, T> {
    /// Row-major table.
    pub table: &'a [T],
    /// Values a row.
    pub stride: usize,
    /// First column of the products.
    pub from: usize,
    /// Which rows.
    pub rows: &'a [u32],
    /// The other side, from the same column on.
    pub panel: &'a [[T; WIDTH]],
    /// Whether multiplying and adding may be one step: where products are exact.
    pub fused: bool,
    /// Where sums go, one entry a row.
    pub out: &'a mut [[T; WIDTH]],
}

impl<T: Real> Products<'_, T> {
    #[inline(always)]
    fn group<const ROWS: usize>(&mut self, level: impl Level, at: usize) {
        let rows: [&[T]; ROWS] = std::array::from_fn(|r| {
            let start = self.rows[at + r] as usize * self.stride + self.from;
            &self.table[start..start + self.panel.len()]
        });
        // A fused step without hardware for it would be a slow library call.
        let sums = if self.fused && level.avx2().is_some() {
            tile::<T, ROWS, true>(rows, self.panel)
        } else {
            tile::<T, ROWS, false>(rows, self.panel)
        };
        self.out[at..at + ROWS].copy_from_slice(&sums);
    }

    #[inline(always)]
    fn all<const MOST: usize>(&mut self, level: impl Level) {
        let mut at = 0;
        let n = self.rows.len();
        while at + MOST <= n {
            self.group::<MOST>(level, at);
            at += MOST;
        }
        while at + 3 <= n {
            self.group::<3>(level, at);
            at += 3;
        }
        while at < n {
            self.group::<1>(level, at);
            at += 1;
        }
    }
}

impl<T: Real> Work for Products<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<L: Level>(mut self, level: L) {
        // As many sums as the registers hold: 24 of 512 bits, or 12 of 256.
        match (L::NUMBER, size_of::<T>()) {
            (simd::AVX512, 4) => self.all::<12>(level),
            (simd::AVX512, _) => self.all::<6>(level),
            _ => self.all::<3>(level),
        }
    }
}

/// Fills `out` with the products.
pub(crate) fn products<T: Real>(work: Products<'_, T>) {
    simd::dispatch(work);
}

/// Four neighbouring features of 32 rows, a byte each.
pub(crate) type Quad = [[u8; 4]; WIDTH];

/// Whether the processor multiplies bytes four at a time.
pub(crate) fn multiplies_bytes() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        crate::simd::has_avx512() && is_x86_feature_detected!("avx512vnni")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Products of rows of signed bytes (four to a word) with 32 rows of unsigned bytes; exact.
/// Only where [`multiplies_bytes`].
pub(crate) fn byte_products(
    table: &[i32],
    stride: usize,
    rows: &[u32],
    panel: &[Quad],
    out: &mut [[i32; WIDTH]],
) {
    #[cfg(target_arch = "x86_64")]
    if multiplies_bytes() {
        vnni::products(table, stride, rows, panel, out);
        return;
    }
    // The same sums in plain arithmetic.
    for (&row, out) in rows.iter().zip(out) {
        out.fill(0);
        let words = &table[row as usize * stride..][..panel.len()];
        for (word, quad) in words.iter().zip(panel) {
            let a = word.to_le_bytes();
            for (sum, lane) in out.iter_mut().zip(quad) {
                for q in 0..4 {
                    *sum += i32::from(a[q] as i8) * i32::from(lane[q]);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: more than three times the rate of f32 products
mod vnni {
    use super::{Quad, WIDTH};
    use std::arch::x86_64::{
        __m512i, _mm512_dpbusd_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
    };

    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn tile<const ROWS: usize>(rows: [&[i32]; ROWS], panel: &[Quad], out: &mut [[i32; WIDTH]]) {
        let rows: [&[i32]; ROWS] = std::array::from_fn(|r| &rows[r][..panel.len()]);
        let mut sums = [[_mm512_setzero_si512(); 2]; ROWS];
        for (j, quad) in panel.iter().enumerate() {
            let lanes: [__m512i; 2] = bytemuck::cast(*quad);
            for r in 0..ROWS {
                let a = _mm512_set1_epi32(rows[r][j]);
                sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], lanes[0], a);
                sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], lanes[1], a);
            }
        }
        for (sums, out) in sums.into_iter().zip(out) {
            *out = bytemuck::cast(sums);
        }
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn all(table: &[i32], stride: usize, rows: &[u32], panel: &[Quad], out: &mut [[i32; WIDTH]]) {
        let row = |r: u32| &table[r as usize * stride..][..panel.len()];
        let (twelves, rest) = rows.as_chunks::<12>();
        let (out_twelves, out_rest) = out.split_at_mut(twelves.len() * 12);
        for (rows, out) in twelves.iter().zip(out_twelves.chunks_exact_mut(12)) {
            tile::<12>(rows.map(row), panel, out);
        }
        let (fours, ones) = rest.as_chunks::<4>();
        let (out_fours, out_ones) = out_rest.split_at_mut(fours.len() * 4);
        for (rows, out) in fours.iter().zip(out_fours.chunks_exact_mut(4)) {
            tile::<4>(rows.map(row), panel, out);
        }
        for (&r, out) in ones.iter().zip(out_ones.chunks_exact_mut(1)) {
            tile::<1>([row(r)], panel, out);
        }
    }

    pub(super) fn products(
        table: &[i32],
        stride: usize,
        rows: &[u32],
        panel: &[Quad],
        out: &mut [[i32; WIDTH]],
    ) {
        assert!(super::multiplies_bytes());
        // SAFETY: the features were just asserted.
        unsafe { all(table, stride, rows, panel, out) }
    }
}
