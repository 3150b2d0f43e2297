//! Running plain loops with the widest registers the machine has.
//!
//! Loops over fixed-size arrays vectorise well, but only as far as the compiler is told the
//! processor goes. Work given to [`dispatch`] is compiled once for each level and run at
//! the best one found. Levels differ in speed alone: nothing here reorders a sum, and a
//! fused multiply-add is only used where its product is exact.

/// Nothing beyond the platform's baseline.
pub(crate) const BASE: u8 = 0;
/// AVX2 and FMA.
pub(crate) const AVX2: u8 = 1;
/// AVX-512.
pub(crate) const AVX512: u8 = 2;

/// A piece of work; `run` must be `#[inline(always)]`, and so must all it calls in loops.
pub(crate) trait Work {
    type Output;
    fn run<const LEVEL: u8>(self) -> Self::Output;
}

/// Runs `work` at the best level.
#[inline]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: AVX-512 more than doubles the rate of matrix products
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    fn widest<W: Work>(work: W) -> W::Output {
        work.run::<AVX512>()
    }
    #[target_feature(enable = "avx2,fma")]
    fn wide<W: Work>(work: W) -> W::Output {
        work.run::<AVX2>()
    }
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
    {
        // SAFETY: every feature that `widest` is compiled for was just found.
        unsafe { widest(work) }
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: every feature that `wide` is compiled for was just found.
        unsafe { wide(work) }
    } else {
        work.run::<BASE>()
    }
}

/// Runs `work` at the only level there is.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    work.run::<BASE>()
}
