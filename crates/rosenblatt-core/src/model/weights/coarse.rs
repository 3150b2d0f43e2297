//! Decisions by rounded weights, on processors with AVX-512.
//!
//! On which side of a plane a row lies is most often plain from weights of 16 bits, the upper half
//! of a number of 32: four take the room of one, so more of them are near, and their sum may be
//! made in any order. How far it may be from the score is known, and where that leaves the side
//! open the score itself is found. What is decided is what the score decides, always.

use std::arch::x86_64::*;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Weights;
use crate::data::{Lists, Rows};
use crate::simd::{self, Widest, Work};
use crate::threads;

/// Values that are multiplied at a time.
const LANES: usize = 16;

/// Values a weight from which on it pays to round the weights, and the fewest that do.
const OFTEN: usize = 4;
const MANY: usize = 1 << 20;

/// Weights that are rounded together.
const TOGETHER: usize = 1 << 14;

/// How far rounding moves a weight, in parts of what it becomes: half of the last of eight bits,
/// and twice that to be sure.
const DOUBT: f64 = 1.0 / 256.0;

/// Weights of one discriminator, rounded.
pub(crate) struct Coarse<'a> {
    weights: &'a Weights,
    /// The upper halves, behind one that belongs to none: two are read at a time, of which the
    /// second is meant.
    halves: Vec<u16>,
}

impl<'a> Coarse<'a> {
    /// The weights rounded, where that pays for `rows`.
    pub(crate) fn of(weights: &'a Weights, rows: Rows<'_>, threads: usize) -> Option<Self> {
        let stored = match rows {
            Rows::Sparse32(lists) => lists.stored(),
            Rows::Narrow32(lists) => lists.stored(),
            _ => 0,
        };
        let pays = stored >= MANY.max(OFTEN * weights.values.len());
        pays.then(|| Self::rounded(weights, threads)).flatten()
    }

    /// The weights rounded, where they are of one discriminator and each is zero or far from where
    /// numbers of 32 bits begin and end, and the processor can work with them.
    fn rounded(weights: &'a Weights, threads: usize) -> Option<Self> {
        Widest::found()?;
        if weights.stride != 1 || weights.values.len() >= i32::MAX as usize {
            return None;
        }
        let mut halves = vec![0; 1 + weights.values.len()];
        let usual = AtomicBool::new(true);
        let threads = threads.clamp(1, halves.len() / super::WORTH_A_THREAD + 1);
        threads::chunks(&mut halves[1..], TOGETHER, threads, || {
            |c: usize, halves: &mut [u16]| {
                if !round(&weights.values[c * TOGETHER..], halves) {
                    usual.store(false, Ordering::Relaxed);
                }
            }
        });
        usual.into_inner().then_some(Coarse { weights, halves })
    }

    /// For each of these rows its score, or a number that is on the same side of zero.
    #[inline]
    pub(crate) fn decide(&self, rows: Rows<'_>, examples: Range<usize>, scores: &mut [f64]) {
        let all = (examples.clone(), &mut *scores);
        match rows {
            Rows::Sparse32(lists) => simd::dispatch(Decide(self, lists, all)),
            Rows::Narrow32(lists) => simd::dispatch(Decide(self, lists, all)),
            _ => scores.fill(0.0),
        }
        for (i, score) in examples.zip(scores) {
            if *score == 0.0 {
                *score = self.weights.score(0, rows.row(i));
            }
        }
    }
}

/// Rounds weights; says whether all are of a usual size.
fn round(weights: &[f64], halves: &mut [u16]) -> bool {
    const USUAL: Range<f64> = 1e-30..1e30;
    let mut usual = true;
    for (w, half) in weights.iter().zip(halves) {
        usual &= *w == 0.0 || USUAL.contains(&w.abs());
        *half = (((*w as f32).to_bits() + (1 << 15)) >> 16) as u16;
    }
    usual
}

/// How far `bias` and a sum of n products may be from the score, if the products without their
/// signs add up to `size`.
///
/// Rounding moved each product by less than [`DOUBT`] of it. Sums of numbers of 24 bits, made in
/// lanes, are off by no more than (n/lanes + lanes)·2⁻²⁴ of the size; the score, of 53 bits, by
/// less than a millionth of a thousandth. A size so small that products may have lost digits at
/// the end of the range leaves everything open, as does one that is no number.
#[inline(always)]
fn doubt(n: usize, bias: f64, size: f64) -> f64 {
    const MOST: usize = 1 << 20;
    const SMALLEST: f64 = 1e-25;
    if n > MOST || size.is_nan() || size < SMALLEST {
        return f64::INFINITY;
    }
    let summing = (n / LANES + LANES) as f64 * f64::from(f32::EPSILON);
    1.01 * size * (DOUBT + summing) + 1e-9 * (bias.abs() + size)
}

/// Finds numbers on the same side of zero as the scores of some rows; zero where that is open.
struct Decide<'a, I>(
    &'a Coarse<'a>,
    Lists<'a, I, f32>,
    (Range<usize>, &'a mut [f64]),
);

impl<I: Column> Work for Decide<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<const LEVEL: u8>(self) {
        let Decide(coarse, lists, (examples, scores)) = self;
        let Some(widest) = Widest::at::<LEVEL>() else {
            return scores.fill(0.0);
        };
        let bias = coarse.weights.bias[0];
        for (i, score) in examples.zip(scores) {
            let (indices, values) = lists.row(i);
            let (sum, size) = widest.sum_and_size(indices, values, &coarse.halves);
            let found = bias + sum;
            let open = found.abs() <= doubt(indices.len(), bias, size) || found.is_nan();
            *score = if open { 0.0 } else { found };
        }
    }
}

/// Column numbers, as they are stored.
trait Column: Copy {
    /// Those of the sixteen at `at` that `lanes` has a bit for, widened; zeros for the others.
    ///
    /// # Safety
    /// AVX-512 is there, and so are the numbers.
    unsafe fn load(at: *const Self, lanes: u16) -> __m512i;
}

impl Column for u16 {
    #[inline(always)]
    unsafe fn load(at: *const u16, lanes: u16) -> __m512i {
        // SAFETY: the caller's; lanes without a bit are not read.
        unsafe { _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, at.cast())) }
    }
}

impl Column for u32 {
    #[inline(always)]
    unsafe fn load(at: *const u32, lanes: u16) -> __m512i {
        // SAFETY: the caller's; lanes without a bit are not read.
        unsafe { _mm512_maskz_loadu_epi32(lanes, at.cast()) }
    }
}

impl Widest {
    /// Σ w_j·x_j and Σ |w_j·x_j| of rounded weights, about.
    #[inline(always)]
    fn sum_and_size<I: Column>(self, indices: &[I], values: &[f32], halves: &[u16]) -> (f64, f64) {
        let (all, last) = indices.as_chunks::<LANES>();
        let (all_values, last_values) = values[..indices.len()].as_chunks::<LANES>();
        // SAFETY: `self` says that the processor can do it; there are as many indices and values
        // as lanes.
        unsafe {
            let (mut sum, mut size) = (_mm512_setzero_ps(), _mm512_setzero_ps());
            let mut add = |products| {
                sum = _mm512_add_ps(sum, products);
                size = _mm512_add_ps(size, _mm512_abs_ps(products));
            };
            for (indices, values) in all.iter().zip(all_values) {
                add(products(
                    indices.as_ptr(),
                    values.as_ptr(),
                    u16::MAX,
                    halves,
                ));
            }
            if !last.is_empty() {
                let lanes = u16::MAX >> (LANES - last.len());
                add(products(last.as_ptr(), last_values.as_ptr(), lanes, halves));
            }
            let (sum, size) = (_mm512_reduce_add_ps(sum), _mm512_reduce_add_ps(size));
            (f64::from(sum), f64::from(size))
        }
    }
}

/// The products of rounded weights and values, zeros beside them.
///
/// # Safety
/// AVX-512 is there, and so are an index and a value for each of `lanes`.
#[inline(always)]
unsafe fn products<I: Column>(
    indices: *const I,
    values: *const f32,
    lanes: u16,
    halves: &[u16],
) -> __m512 {
    // SAFETY: the caller's; weights are only looked up for lanes that have one, with the half
    // before it.
    unsafe {
        let indices = I::load(indices, lanes);
        let known = _mm512_set1_epi32(halves.len() as i32 - 1);
        let lanes_with_one = _mm512_mask_cmplt_epu32_mask(lanes, indices, known);
        assert_eq!(lanes_with_one, lanes, "a feature is beyond the weights");
        let none = _mm512_setzero_si512();
        let both = _mm512_mask_i32gather_epi32::<2>(none, lanes, indices, halves.as_ptr().cast());
        let meant = _mm512_and_si512(both, _mm512_set1_epi32(!0xffff));
        _mm512_mul_ps(
            _mm512_castsi512_ps(meant),
            _mm512_maskz_loadu_ps(lanes, values),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Indices, Matrix, NARROW, Values};
    use crate::random::{Random, Stream};

    /// Sparse rows with column numbers of either width, and weights of which half are zero.
    fn some(columns: usize, least: i32) -> (Matrix, Weights) {
        let mut random = Random::new(3, Stream::Start, 0);
        let mut weights = Weights::zero(1, columns);
        weights.set_bias(0, 0.01);
        for j in 0..columns {
            if random.below(2) == 0 {
                let size = 10_f64.powi(-(random.below((1 - least) as u64) as i32));
                weights.set(0, j, size * random.normal());
            }
        }
        let mut offsets = vec![0];
        let (mut indices, mut values) = (Vec::<u32>::new(), Vec::<f32>::new());
        for row in 0..2000 {
            let step = 1 + columns as u64 / (1 + row % 90);
            let mut j = random.below(step) as usize;
            while j < columns {
                indices.push(j as u32);
                values.push(random.normal() as f32);
                j += 1 + random.below(2 * step) as usize;
            }
            offsets.push(indices.len());
        }
        let narrow = || indices.iter().map(|&j| j as u16).collect::<Vec<u16>>();
        let matrix = Matrix::Sparse {
            columns,
            offsets: offsets.into(),
            indices: match columns <= NARROW {
                true => narrow().into(),
                false => Indices::Wide(indices.into()),
            },
            values: Values::F32(values.into()),
        };
        (matrix, weights)
    }

    #[test]
    fn rounded_weights_decide_as_the_weights_do() {
        for (columns, least) in [(300, 0), (300, -6), (90_000, -3)] {
            let (matrix, weights) = some(columns, least);
            let Some(coarse) = Coarse::rounded(&weights, 2) else {
                assert!(Widest::found().is_none());
                continue;
            };
            let rows = Rows::of(&matrix);
            let mut found = vec![0.0; matrix.rows()];
            coarse.decide(rows, 0..matrix.rows(), &mut found);
            let mut exactly = 0;
            for (i, found) in found.into_iter().enumerate() {
                let score = weights.score(0, matrix.row(i));
                assert_eq!(found > 0.0, score > 0.0, "{i}: {found} {score}");
                assert_eq!(found < 0.0, score < 0.0, "{i}: {found} {score}");
                exactly += usize::from(found == score);
            }
            // Most sides are plain, some are not.
            assert!((1..300).contains(&exactly), "{exactly}");
        }
    }

    #[test]
    fn a_sum_is_no_further_from_the_score_than_is_said() {
        let (matrix, weights) = some(90_000, -3);
        let (Some(coarse), Some(widest)) = (Coarse::rounded(&weights, 1), Widest::found()) else {
            return;
        };
        let Rows::Sparse32(lists) = Rows::of(&matrix) else {
            unreachable!("as many columns as that")
        };
        let mut furthest: f64 = 0.0;
        for i in 0..matrix.rows() {
            let (indices, values) = lists.row(i);
            let (sum, size) = widest.sum_and_size(indices, values, &coarse.halves);
            let off = (0.01 + sum - weights.score(0, matrix.row(i))).abs();
            if size > 0.0 {
                furthest = furthest.max(off / doubt(indices.len(), 0.01, size));
            }
        }
        assert!((0.05..=1.0).contains(&furthest), "{furthest}");
    }

    #[test]
    fn weights_of_an_unusual_size_are_not_rounded() {
        for unusual in [1e-40, -1e35, f64::INFINITY, f64::NAN] {
            let (_, mut weights) = some(300, 0);
            weights.set(0, 299, unusual);
            assert!(Coarse::rounded(&weights, 1).is_none());
        }
        assert!(Coarse::rounded(&Weights::zero(3, 300), 1).is_none());
    }

    #[test]
    fn products_that_are_no_numbers_leave_the_side_open() {
        for size in [f64::NAN, f64::INFINITY, 1e-30, 0.0] {
            assert_eq!(doubt(10, 1.0, size), f64::INFINITY);
        }
        assert_eq!(doubt(usize::MAX, 1.0, 1.0), f64::INFINITY);
    }
}
