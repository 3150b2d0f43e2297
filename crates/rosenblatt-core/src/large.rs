//! Arrays on large pages.
//!
//! Memory is handed out page by page, each when it is first written to. With pages of 4 KiB that
//! takes longer than filling them, so the pages of large arrays are asked for together, and as
//! pages of 2 MiB, where the system has them at hand.
//!
//! It may not. A virtual machine that gives back what it does not use has to get large pages from
//! outside, and then they come four times slower than small ones, not twice as fast. Some do even
//! where most are at hand. So they are timed, and given up once they cost more than they saved.
//!
//! What is said about the pages of an array is said once, before threads ask for them: whoever
//! says it waits until no page of the program is being cleared, and said of each page in turn it
//! made two threads as slow as one.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::time::Instant;

/// Bytes of a page, at least.
#[cfg(target_os = "linux")]
const PAGE: usize = 4096;

/// Bytes of a large page.
const LARGE: usize = 2 << 20;

/// Bytes of small pages that are asked for at a time.
const SOME: usize = 1 << 18;

/// Microseconds that as many bytes of small pages take, taking them back included.
const AS_SMALL: u64 = 800;

/// Microseconds that large pages may take beyond that, less those that they saved: for one that is
/// slow, which the first often is, not for more.
const AT_MOST: u64 = 3000;

/// From how many bytes on a look at all of them is worth a thread of its own.
pub const MANY: usize = 4 << 20;

/// Whether the system would lend so many bytes.
pub fn can_be_had(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// An empty list with room for a little more than `n`, which are about to be written. Their
/// pages are asked for together, which costs a third less than one by one.
pub fn room<T>(n: usize) -> Vec<T> {
    let list: Vec<T> = Vec::with_capacity(n + n / 16 + 64);
    fetch(list.as_ptr().addr(), n * size_of::<T>());
    list
}

/// Asks on all threads for the pages of arrays that are zero and about to be read and written in
/// any order. Large pages are worth waiting for there: with small ones, passes over rows of a
/// million features took a fifth longer.
pub fn bring<T: Sync>(arrays: &[&[T]], threads: usize) {
    for array in arrays {
        let wanted = Wanted::of(array);
        wanted.say(true);
    }
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
    // A thread cannot be made while a page is being cleared, so they wait for each other.
    let threads = threads.clamp(1, pieces.len().max(1));
    let all_there = Barrier::new(threads);
    // Some come faster than others, so nobody is given a share beforehand.
    let next = AtomicUsize::new(0);
    let work = || {
        all_there.wait();
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            fetch(piece.as_ptr().addr(), size_of_val(*piece));
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
}

/// Microseconds that large pages may still take beyond [`AS_SMALL`].
static PATIENCE: AtomicU64 = AtomicU64::new(AT_MOST);

fn too_slow() -> bool {
    PATIENCE.load(Ordering::Relaxed) == 0
}

/// An array that is zero, and is to lie on large pages as long as they come fast.
struct Wanted {
    start: usize,
    end: usize,
    /// Whether that is what the system was told last.
    large: AtomicBool,
}

impl Wanted {
    fn of<T>(array: &[T]) -> Self {
        let start = array.as_ptr().addr();
        let wanted = Wanted {
            start,
            end: start + size_of_val(array),
            large: AtomicBool::new(false),
        };
        wanted.say(!too_slow());
        wanted
    }

    /// Says how it is to lie, if that is news.
    fn say(&self, large: bool) {
        if self.large.swap(large, Ordering::Relaxed) != large {
            advise(self.start, self.end - self.start, large);
        }
    }

    /// Asks for the large page at `at`, if that is inside and they come fast.
    fn fetch_large(&self, at: usize) -> bool {
        if at < self.start || at + LARGE > self.end {
            return false;
        }
        if too_slow() {
            self.say(false);
            return false;
        }
        let before = Instant::now();
        fetch(at, LARGE);
        let took = before.elapsed().as_micros() as u64;
        let left = |patience: u64| match patience {
            // It does not come back.
            0 => None,
            _ => Some((patience + AS_SMALL).saturating_sub(took).min(AT_MOST)),
        };
        let relaxed = Ordering::Relaxed;
        let _ = PATIENCE.fetch_update(relaxed, relaxed, left);
        true
    }

    /// Asks for the small pages from `at` to `to`, as far as they are inside.
    fn fetch_small(&self, at: usize, to: usize) {
        let (from, to) = (at.max(self.start), to.min(self.end));
        fetch(from, to - from);
    }
}

/// The pages of an array that is zero and written from its start to its end, each asked for
/// shortly before.
pub struct Pages {
    array: Wanted,
    at: usize,
}

impl Pages {
    pub fn of<T>(array: &[T]) -> Self {
        let array = Wanted::of(array);
        Pages {
            at: array.start,
            array,
        }
    }

    /// `place` of the array is written next.
    #[inline]
    pub fn reach<T>(&mut self, place: &[T]) {
        let end = place.as_ptr().addr() + size_of_val(place);
        while self.at < end {
            self.more();
        }
    }

    #[cold]
    fn more(&mut self) {
        if self.at.is_multiple_of(LARGE) && self.array.fetch_large(self.at) {
            self.at += LARGE;
        } else {
            let next = (self.at / SOME + 1) * SOME;
            self.array.fetch_small(self.at, next);
            self.at = next;
        }
    }
}

/// The pages of an array that is zero and written in any order by several threads, each asked for
/// with its neighbours when one of them is first written to. Who comes second waits: otherwise he
/// would clear them once more.
pub struct Windows {
    array: Wanted,
    /// Pages that are asked for together, when they are there.
    windows: Vec<OnceLock<()>>,
    /// Whether these came as one large page.
    large: Vec<OnceLock<bool>>,
}

impl Windows {
    pub fn of<T>(array: &[T]) -> Self {
        let array = Wanted::of(array);
        let count = |size: usize| array.end.div_ceil(size) - array.start / size;
        Windows {
            windows: vec![OnceLock::new(); count(SOME)],
            large: vec![OnceLock::new(); count(LARGE)],
            array,
        }
    }

    /// `place` of the array is written next.
    #[inline]
    pub fn reach<T>(&self, place: &[T]) {
        let start = place.as_ptr().addr();
        let end = start + size_of_val(place);
        let first = self.array.start / SOME;
        for window in start / SOME..end.div_ceil(SOME) {
            self.windows[window - first].get_or_init(|| self.ask(window * SOME));
        }
    }

    #[cold]
    fn ask(&self, at: usize) {
        let large = &self.large[at / LARGE - self.array.start / LARGE];
        if !large.get_or_init(|| self.array.fetch_large(at / LARGE * LARGE)) {
            self.array.fetch_small(at, at + SOME);
        }
    }
}

/// A copy of `values`.
pub fn copy<T: Copy + Default>(values: &[T]) -> Vec<T> {
    let mut copy = vec![T::default(); values.len()];
    let mut pages = Pages::of(&copy);
    for (to, from) in copy.chunks_mut(SOME).zip(values.chunks(SOME)) {
        pages.reach(to);
        to.copy_from_slice(from);
    }
    copy
}

/// Gives up `value` without waiting for the system to take its pages back, which for many of
/// them takes as long as a pass over what they held.
pub fn discard<T: Send + 'static>(value: T) {
    // Where no thread can be had, the closure is given up here, and the value with it.
    let aside = std::thread::Builder::new().spawn(move || drop(value));
    drop(aside);
}

/// Asks for an array, given by its address and bytes, to lie on large pages, or on small ones.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // measured: where large pages are at hand, arrays come twice as fast
fn advise(start: usize, bytes: usize, large: bool) {
    let first = start.next_multiple_of(PAGE);
    let end = start + bytes;
    if end < first + LARGE {
        return;
    }
    let advice = match large {
        true => libc::MADV_HUGEPAGE,
        false => libc::MADV_NOHUGEPAGE,
    };
    // SAFETY: a hint about pages inside the array's own memory; it changes no value, and where it
    // is refused nothing happens.
    unsafe {
        libc::madvise(first as *mut libc::c_void, end - first, advice);
    }
}

/// Does nothing: there is no way to ask.
#[cfg(not(target_os = "linux"))]
fn advise(_: usize, _: usize, _: bool) {}

/// Asks for the pages of an allocation, given by its address and bytes.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // measured: text is read a tenth faster
fn fetch(start: usize, bytes: usize) {
    const FEW: usize = 1 << 16;
    let (first, last) = (start.next_multiple_of(PAGE), (start + bytes) / PAGE * PAGE);
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
fn fetch(_: usize, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_for_pages_changes_no_number() {
        for n in [0, 1, 1000, 3 << 20] {
            let numbers: Vec<usize> = (0..n).collect();
            assert_eq!(copy(&numbers), numbers);
            for threads in 0..4 {
                bring(&[&numbers[..], &numbers[n / 3..]], threads);
                assert_eq!(copy(&numbers), numbers);
            }
            let windows = Windows::of(&numbers);
            for at in [n / 2, n / 3, 0, n.saturating_sub(1)] {
                windows.reach(&numbers[at..n.min(at + n / 5)]);
            }
            assert_eq!(copy(&numbers), numbers);
        }
    }
}
