//! Work on text, compiled for the processor.

use rosenblatt_core::internal::optimisations;
use rosenblatt_core::internal::simd::{self, Work};

/// Runs `work` with the best instructions there are for text.
#[inline]
pub(crate) fn dispatch<W: Work>(work: W) -> W::Output {
    #[cfg(test)]
    if tests::SCALAR.get() {
        return work.run(simd::Base);
    }
    match optimisations::enabled("simd-parse") {
        true => simd::dispatch_avx2(work),
        false => work.run(simd::Base),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// Whether this thread forgoes what not every processor has.
        pub(super) static SCALAR: Cell<bool> = const { Cell::new(false) };
    }

    /// What `work` gives without and with the instructions that not every processor has.
    pub(crate) fn at_every_level<T>(work: impl Fn() -> T) -> [T; 2] {
        [true, false].map(|scalar| {
            SCALAR.set(scalar);
            let result = work();
            SCALAR.set(false);
            result
        })
    }
}
