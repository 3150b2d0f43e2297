//! Sums that lag behind their products, on processors with AVX-512.
//!
//! Weights that are many lie far away, and a product that waits for its weight holds up whatever
//! the processor could begin behind it. So eight weights are asked for at a time, which is few
//! instructions, and their products go through a ring; the sum in ascending order, in which each
//! addition waits for the one before, is made of products that were asked for a while ago. The
//! bits are those of [`Row::dot`](crate::data::Row::dot).

use std::arch::x86_64::*;

use crate::simd::{self, Widest, Work};

/// Values that are multiplied at a time.
const EIGHT: usize = 8;

/// Eights by which sums lag behind.
const LAG: usize = 8;

/// Values that weights are multiplied by, as they are stored.
pub(crate) trait Factor: Copy + Into<f64> {
    /// Those of the eight at `at` that `lanes` has a bit for, widened; zeros for the others.
    ///
    /// # Safety
    /// AVX-512 is there, and so are the values.
    unsafe fn load(at: *const Self, lanes: u8) -> __m512d;
}

impl Factor for f32 {
    #[inline(always)]
    unsafe fn load(at: *const f32, lanes: u8) -> __m512d {
        // SAFETY: the caller's; lanes without a bit are not read.
        unsafe { _mm512_cvtps_pd(_mm256_maskz_loadu_ps(lanes, at)) }
    }
}

impl Factor for f64 {
    #[inline(always)]
    unsafe fn load(at: *const f64, lanes: u8) -> __m512d {
        // SAFETY: the caller's; lanes without a bit are not read.
        unsafe { _mm512_maskz_loadu_pd(lanes, at) }
    }
}

/// `start + Σ_j weights[j]·x[j]` for each of four rows, where the processor can do it.
///
/// # Panics
/// If a row has a feature beyond `weights`.
#[inline]
pub(super) fn dots<T: Factor>(
    rows: [(&[u32], &[T]); 4],
    weights: &[f64],
    start: f64,
) -> Option<[f64; 4]> {
    simd::dispatch(Four {
        rows,
        weights,
        start,
    })
}

struct Four<'a, T> {
    rows: [(&'a [u32], &'a [T]); 4],
    weights: &'a [f64],
    start: f64,
}

impl<T: Factor> Work for Four<'_, T> {
    type Output = Option<[f64; 4]>;

    #[inline(always)]
    fn run<const LEVEL: u8>(self) -> Self::Output {
        let widest = Widest::at::<LEVEL>()?;
        (self.weights.len() <= i32::MAX as usize).then(|| self.sums(widest))
    }
}

impl<T: Factor> Four<'_, T> {
    #[inline(always)]
    fn sums(&self, widest: Widest) -> [f64; 4] {
        let mut ring = [[0.0; EIGHT]; LAG];
        let mut sums = Sums::new(self.rows.map(|row| row.0.len()), self.start);
        // Eights that were multiplied.
        let mut made = 0;
        for (indices, values) in self.rows {
            let (eights, last) = indices.as_chunks::<EIGHT>();
            let (values, last_values) = values[..indices.len()].as_chunks::<EIGHT>();
            let mut eights = eights.iter().zip(values);
            while eights.len() > 0 {
                if made < LAG {
                    for (indices, values) in eights.by_ref().take(LAG - made) {
                        ring[made] = widest.products(indices, values, self.weights);
                        made += 1;
                    }
                    continue;
                }
                for (indices, values) in eights.by_ref().take(sums.left_of_row(made - LAG)) {
                    sums.add(ring[made % LAG]);
                    ring[made % LAG] = widest.products(indices, values, self.weights);
                    made += 1;
                }
            }
            if !last.is_empty() {
                if made >= LAG {
                    sums.left_of_row(made - LAG);
                    sums.add(ring[made % LAG]);
                }
                ring[made % LAG] = widest.last_products(last, last_values, self.weights);
                made += 1;
            }
        }
        for eight in made.saturating_sub(LAG)..made {
            sums.left_of_row(eight);
            sums.add(ring[eight % LAG]);
        }
        sums.left_of_row(made);
        sums.of_rows
    }
}

/// The sums of four rows, whose products come one row's after the other's.
struct Sums {
    start: f64,
    of_rows: [f64; 4],
    /// The sum of this row so far, and which row it is.
    sum: f64,
    row: usize,
    /// Eights up to the end of each row.
    ends: [usize; 4],
}

impl Sums {
    #[inline(always)]
    fn new(lengths: [usize; 4], start: f64) -> Self {
        let mut end = 0;
        let ends = lengths.map(|length| {
            end += length.div_ceil(EIGHT);
            end
        });
        Sums {
            start,
            of_rows: [start; 4],
            sum: start,
            row: 0,
            ends,
        }
    }

    /// How many eights are left of the row of the eight that comes next.
    #[inline(always)]
    fn left_of_row(&mut self, next: usize) -> usize {
        while self.row < 4 && self.ends[self.row] <= next {
            self.of_rows[self.row] = self.sum;
            self.sum = self.start;
            self.row += 1;
        }
        self.ends.get(self.row).map_or(0, |end| end - next)
    }

    #[inline(always)]
    fn add(&mut self, products: [f64; EIGHT]) {
        for product in products {
            self.sum += product;
        }
    }
}

impl Widest {
    /// The products of eight weights and values.
    #[inline(always)]
    fn products<T: Factor>(
        self,
        indices: &[u32; EIGHT],
        values: &[T; EIGHT],
        weights: &[f64],
    ) -> [f64; EIGHT] {
        // SAFETY: there are eight of each.
        unsafe { self.some_products(indices.as_ptr(), values.as_ptr(), 0xff, weights) }
    }

    /// Those of fewer than eight, and numbers that change no sum.
    #[inline(always)]
    fn last_products<T: Factor>(
        self,
        indices: &[u32],
        values: &[T],
        weights: &[f64],
    ) -> [f64; EIGHT] {
        let count = indices.len().min(values.len()).min(EIGHT);
        let lanes = 0xffu8.checked_shr((EIGHT - count) as u32).unwrap_or(0);
        // SAFETY: there are as many of each as lanes.
        unsafe { self.some_products(indices.as_ptr(), values.as_ptr(), lanes, weights) }
    }

    /// # Safety
    /// There is an index and a value for each of `lanes`.
    #[inline(always)]
    unsafe fn some_products<T: Factor>(
        self,
        indices: *const u32,
        values: *const T,
        lanes: u8,
        weights: &[f64],
    ) -> [f64; EIGHT] {
        // SAFETY: `self` says that the processor can do it; what is read is the caller's, and a
        // weight is only looked up where there is one.
        unsafe {
            let indices = _mm256_maskz_loadu_epi32(lanes, indices.cast());
            let known = _mm256_set1_epi32(weights.len() as i32);
            let inside = _mm256_cmplt_epu32_mask(indices, known) & lanes;
            if inside != lanes {
                beyond(indices, weights.len());
            }
            let none = _mm512_set1_pd(-0.0);
            let found = _mm512_mask_i32gather_pd::<8>(none, lanes, indices, weights.as_ptr());
            let products = _mm512_mask_mul_pd(none, lanes, found, T::load(values, lanes));
            let mut all = [0.0; EIGHT];
            _mm512_storeu_pd(all.as_mut_ptr(), products);
            all
        }
    }
}

/// Says which index has no weight.
#[cold]
#[inline(never)]
fn beyond(indices: __m256i, known: usize) -> ! {
    let mut all = [0u32; EIGHT];
    // SAFETY: eight numbers of 32 bits are written.
    unsafe { _mm256_storeu_si256(all.as_mut_ptr().cast(), indices) }
    let index = all.into_iter().max().unwrap_or_default();
    panic!("index out of bounds: the len is {known} but the index is {index}")
}
