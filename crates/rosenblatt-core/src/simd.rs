//! Running plain loops with the widest registers the machine has.
//!
//! Loops over fixed-size arrays vectorise well, but only as far as the compiler is told the
//! processor goes. Work given to [`dispatch`] is compiled once for each level and run at
//! the best one found. Levels differ in speed alone: nothing here reorders a sum, and a
//! fused multiply-add is only used where its product is exact.

#[cfg(target_arch = "x86_64")]
use crate::optimisations;

/// The number of the level that has AVX-512.
pub const AVX512: u8 = 2;

/// What a processor was found to have, by which work is compiled.
pub trait Level: Copy {
    /// How far it goes: each has what those below have.
    const NUMBER: u8;
    /// That it has AVX2, if it has.
    fn avx2(self) -> Option<Avx2>;
}

/// Nothing beyond the platform's baseline.
#[derive(Debug, Clone, Copy)]
pub struct Base;

/// AVX2, FMA and bit manipulation; a value is only had where they were found.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

/// AVX-512; a value is only had where it was found.
#[derive(Debug, Clone, Copy)]
#[cfg(target_arch = "x86_64")]
pub struct Avx512(());

impl Level for Base {
    const NUMBER: u8 = 0;

    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        None
    }
}

impl Level for Avx2 {
    const NUMBER: u8 = 1;

    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        Some(self)
    }
}

#[cfg(target_arch = "x86_64")]
impl Level for Avx512 {
    const NUMBER: u8 = AVX512;

    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        Some(Avx2(()))
    }
}

/// A piece of work; `run` must be `#[inline(always)]`, and so must all it calls in loops.
pub trait Work {
    /// What comes of it.
    type Output;
    /// Does it, compiled for this level.
    fn run<L: Level>(self, level: L) -> Self::Output;
}

/// Runs `work` at the best level.
#[inline]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: AVX-512 more than doubles the rate of matrix products
pub fn dispatch<W: Work>(work: W) -> W::Output {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn widest<W: Work>(work: W) -> W::Output {
        work.run(Avx512(()))
    }
    if has_avx512() {
        // SAFETY: every feature that `widest` is compiled for was just found.
        unsafe { widest(work) }
    } else {
        dispatch_avx2(work)
    }
}

/// Runs `work` with AVX2 at best: comparing bytes into the mask registers of AVX-512 takes
/// longer.
#[inline]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: text is read a third slower without it
pub fn dispatch_avx2<W: Work>(work: W) -> W::Output {
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn wide<W: Work>(work: W) -> W::Output {
        work.run(Avx2(()))
    }
    if has_avx2() {
        // SAFETY: every feature that `wide` is compiled for was just found.
        unsafe { wide(work) }
    } else {
        work.run(Base)
    }
}

/// The highest level that may be used: the environment variable `ROSENBLATT_CPU` (`avx2` or
/// `scalar`) forgoes what is above, so that one machine can be measured as another.
#[cfg(target_arch = "x86_64")]
fn at_most() -> u8 {
    static LEVEL: std::sync::OnceLock<u8> = std::sync::OnceLock::new();
    *LEVEL.get_or_init(|| match std::env::var("ROSENBLATT_CPU").as_deref() {
        Ok("scalar") => Base::NUMBER,
        Ok("avx2") => Avx2::NUMBER,
        _ => AVX512,
    })
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    at_most() >= Avx2::NUMBER
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx512() -> bool {
    has_avx2()
        && at_most() >= AVX512
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// Runs `work` at the only level there is.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub fn dispatch_avx2<W: Work>(work: W) -> W::Output {
    work.run(Base)
}

/// Runs `work` at the only level there is.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub fn dispatch<W: Work>(work: W) -> W::Output {
    work.run(Base)
}

/// Asks for these values to be brought near, because they will be read soon.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: rows in random order are met twice as fast
pub fn prefetch<T>(values: &[T]) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    const LINE: usize = 64;
    if !optimisations::enabled("prefetch") {
        return;
    }
    let start = values.as_ptr().cast::<i8>();
    // From the start of the first line, so that the last is not left out.
    let before = start.addr() % LINE;
    let first = start.wrapping_sub(before);
    for at in (0..before + size_of_val(values)).step_by(LINE) {
        // SAFETY: a hint, which cannot fail and reads nothing that the program sees; the
        // address lies in a line of memory that `values` has a part of, or begins in.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(first.wrapping_add(at)) }
    }
}

/// Does nothing: there is no way to ask.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
pub fn prefetch<T>(_values: &[T]) {}
