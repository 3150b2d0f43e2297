//! Running plain loops with the widest registers the machine has.
//!
//! Loops over fixed-size arrays vectorise well, but only as far as the compiler is told the
//! processor goes. Work given to [`dispatch`] is compiled once for each level and run at
//! the best one found. Levels differ in speed alone: nothing here reorders a sum, and a
//! fused multiply-add is only used where its product is exact.

#[cfg(target_arch = "x86_64")]
use crate::optimisations;

/// Nothing beyond the platform's baseline.
pub(crate) const BASE: u8 = 0;
/// AVX2, FMA and bit manipulation.
#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) const AVX2: u8 = 1;
/// AVX-512.
pub(crate) const AVX512: u8 = 2;
/// AVX-512 with moving of single bytes under masks (VBMI2), for text.
#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) const TEXT: u8 = 3;

/// Says that the processor has what work at the level of text is compiled for: there is no other
/// way to one than to look.
#[derive(Debug, Clone, Copy)]
#[cfg(target_arch = "x86_64")]
pub(crate) struct Text(());

#[cfg(target_arch = "x86_64")]
impl Text {
    /// For work at that level, where the processor has it.
    #[inline(always)]
    pub(crate) fn at<const LEVEL: u8>() -> Option<Self> {
        if LEVEL == TEXT { Self::detect() } else { None }
    }

    /// Looks whether the processor has it, and may use it.
    #[inline(always)]
    fn detect() -> Option<Self> {
        static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        let found = *FOUND.get_or_init(|| {
            at_most() >= TEXT
                && has_avx512()
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512ifma")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2")
        });
        found.then_some(Text(()))
    }
}

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
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn widest<W: Work>(work: W) -> W::Output {
        work.run::<AVX512>()
    }
    if has_avx512() {
        // SAFETY: every feature that `widest` is compiled for was just found.
        unsafe { widest(work) }
    } else {
        dispatch_avx2(work)
    }
}

/// Runs work on text at the best level. AVX-512 alone is not one: comparing bytes into its mask
/// registers only pays where bytes can be moved by them.
#[inline]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: text is read a third slower without it
pub(crate) fn dispatch_bytes<W: Work>(work: W) -> W::Output {
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2,avx2,fma,bmi1,bmi2,lzcnt,popcnt"
    )]
    fn text<W: Work>(work: W) -> W::Output {
        work.run::<TEXT>()
    }
    if allowed(TEXT) && Text::detect().is_some() {
        // SAFETY: every feature that `text` is compiled for was just found.
        unsafe { text(work) }
    } else if allowed(AVX2) {
        dispatch_avx2(work)
    } else {
        work.run::<BASE>()
    }
}

/// Runs `work` with AVX2 where the processor has it, else as plain code.
#[inline]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // For what the two above gain, where the processor has no AVX-512.
fn dispatch_avx2<W: Work>(work: W) -> W::Output {
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn wide<W: Work>(work: W) -> W::Output {
        work.run::<AVX2>()
    }
    if has_avx2() {
        // SAFETY: every feature that `wide` is compiled for was just found.
        unsafe { wide(work) }
    } else {
        work.run::<BASE>()
    }
}

/// The highest level that may be used: the environment variable `ROSENBLATT_CPU` (`avx2` or
/// `scalar`) forgoes what is above, so that one machine can be measured as another.
#[cfg(target_arch = "x86_64")]
fn at_most() -> u8 {
    static LEVEL: std::sync::OnceLock<u8> = std::sync::OnceLock::new();
    *LEVEL.get_or_init(|| match std::env::var("ROSENBLATT_CPU").as_deref() {
        Ok("scalar") => BASE,
        Ok("avx2") => AVX2,
        _ => TEXT,
    })
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    at_most() >= AVX2
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
pub(crate) fn dispatch_bytes<W: Work>(work: W) -> W::Output {
    work.run::<BASE>()
}

/// Runs `work` at the only level there is.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    work.run::<BASE>()
}

/// Whether work on text may run at this level: tests hold the levels against each other.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
fn allowed(level: u8) -> bool {
    #[cfg(test)]
    return level <= tests::HIGHEST.get();
    #[cfg(not(test))]
    return level <= TEXT;
}

/// Asks for these values to be brought near, because they will be read soon.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: rows in random order are met twice as fast
pub(crate) fn prefetch<T>(values: &[T]) {
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
pub(crate) fn prefetch<T>(_values: &[T]) {}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// The highest level at which this thread may work on text.
        pub(super) static HIGHEST: Cell<u8> = const { Cell::new(super::TEXT) };
    }

    /// What `work` gives at every level for text, the lowest first.
    pub(crate) fn at_every_level<T>(work: impl Fn() -> T) -> [T; 3] {
        let results = [super::BASE, super::AVX2, super::TEXT].map(|level| {
            HIGHEST.set(level);
            work()
        });
        HIGHEST.set(super::TEXT);
        results
    }
}
