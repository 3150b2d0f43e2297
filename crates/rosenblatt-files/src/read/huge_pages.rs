//! Memory for large arrays.
//!
//! Memory is handed out page by page, each when it is first written to. With pages of 4 KiB that
//! takes longer than filling them, so large arrays ask for pages of 2 MiB, and those of arrays
//! that are about to be filled all at once.

#[cfg(target_os = "linux")]
use rosenblatt_core::internal::optimisations;

/// An empty list with room for a little more than `n` values, which are about to be written.
pub(crate) fn with_capacity<T>(n: usize) -> Vec<T> {
    let list: Vec<T> = Vec::with_capacity(n + n / 16 + 64);
    advise(list.as_ptr().addr(), n * size_of::<T>(), Advice::Populate);
    list
}

/// A list of `n` zeros on huge pages where there are such.
pub(crate) fn zeros<T: Copy + Default>(n: usize) -> Vec<T> {
    let list = vec![T::default(); n];
    advise(list.as_ptr().addr(), size_of_val(&list[..]), Advice::Huge);
    list
}

#[derive(Clone, Copy, PartialEq)]
enum Advice {
    /// Make the pages present.
    Populate,
    /// Make them huge once they are written to.
    Huge,
}

/// Tells the system about the whole pages of an allocation, given by its address and bytes.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // measured: text is read a tenth faster
fn advise(start: usize, bytes: usize, advice: Advice) {
    const PAGE: usize = 4096;
    let (least, advice) = match advice {
        Advice::Populate => (1 << 16, libc::MADV_POPULATE_WRITE),
        Advice::Huge => (1 << 21, libc::MADV_HUGEPAGE),
    };
    let (first, last) = (start.next_multiple_of(PAGE), (start + bytes) / PAGE * PAGE);
    if last < first + least || !optimisations::enabled("huge-pages") {
        return;
    }
    // SAFETY: the pages lie inside the allocation; the advice changes no value, and where it is
    // refused nothing happens.
    unsafe {
        libc::madvise(first as *mut libc::c_void, last - first, advice);
    }
}

/// Does nothing: there is no way to ask.
#[cfg(not(target_os = "linux"))]
fn advise(_: usize, _: usize, _: Advice) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_changes_no_number() {
        for n in [0, 1, 1000, 3 << 20] {
            assert_eq!(zeros::<usize>(n), vec![0; n]);
            let mut list = with_capacity(n);
            list.extend(0..n);
            assert!(list.iter().copied().eq(0..n));
        }
    }
}
