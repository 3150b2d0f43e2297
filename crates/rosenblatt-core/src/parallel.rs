//! Work on several threads whose results do not depend on how many there are.

use std::num::NonZero;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Fewer items than this do not pay for another thread.
const WORTH_A_THREAD: usize = 64;

/// Shares that each thread takes, about.
const SHARES: usize = 16;

/// The number of threads to use when nothing is said. The system is asked once: the answer lies in
/// files of its own, and takes longer than reading a few rows.
pub fn available() -> usize {
    static FOUND: OnceLock<usize> = OnceLock::new();
    *FOUND.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}

/// Bytes of memory to use when nothing is said: half of what is free now, or of what a container
/// may have.
pub fn memory_to_use() -> u64 {
    const WHERE_UNKNOWN: u64 = 2 << 30;
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let text = |path: &str| std::fs::read_to_string(path).ok();
    let free = text("/proc/meminfo").and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
        number(line.split_whitespace().nth(1)?).map(|kib| kib << 10)
    });
    // It says "max" where there is no limit.
    let limit = text("/sys/fs/cgroup/memory.max").and_then(|text| number(&text));
    let least = free.into_iter().chain(limit).min();
    least.map_or(WHERE_UNKNOWN, |bytes| bytes / 2)
}

/// Whether so many bytes can be allocated.
pub fn can_allocate(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// How many of `threads` threads so many items pay for.
pub fn worth(threads: usize, items: usize) -> usize {
    threads.clamp(1, items.div_ceil(WORTH_A_THREAD).max(1))
}

/// Calls `f(p, part)` for every part of `out` of `size` items (the last may be shorter);
/// each thread makes its own `f`, buffers included. Neighbouring parts are taken together, and
/// who is done sooner takes more: a processor may have other things to do.
pub fn chunks<T, F, M>(out: &mut [T], size: usize, threads: usize, make: M)
where
    T: Send,
    F: FnMut(usize, &mut [T]),
    M: Fn() -> F + Sync,
{
    let parts = out.len().div_ceil(size);
    let threads = threads.clamp(1, parts.max(1));
    let share = (parts / (threads * SHARES)).max(1);
    let shares = out.chunks_mut(share * size).zip((0..).step_by(share));
    each(shares, threads, || {
        let mut f = make();
        move |(share, first): (&mut [T], usize)| {
            for (part, p) in share.chunks_mut(size).zip(first..) {
                f(p, part);
            }
        }
    });
}

/// Calls `f` for every item; each thread makes its own `f`, and takes the next item when it is
/// done with one.
pub fn each<T, F>(
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    make: impl Fn() -> F + Sync,
) where
    F: FnMut(T),
{
    let items = Mutex::new(items);
    let next = || {
        let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
        items.next()
    };
    let work = || {
        let mut f = make();
        while let Some(item) = next() {
            f(item);
        }
    };
    std::thread::scope(|scope| {
        // Where the system has no more threads, those that there are do the work.
        let started = |_| {
            std::thread::Builder::new()
                .spawn_scoped(scope, work)
                .is_ok()
        };
        let _ = (1..threads).all(started);
        work();
    });
}

/// What `work` makes of each item, in their order, on a thread for each.
pub fn on_threads<I: Send, O: Send>(
    items: impl Iterator<Item = I>,
    work: impl Fn(I) -> O + Sync,
) -> Vec<O> {
    let items: Vec<I> = items.collect();
    let threads = items.len();
    let mut made: Vec<Option<O>> = items.iter().map(|_| None).collect();
    each(items.into_iter().zip(&mut made), threads, || {
        |(item, place): (I, &mut Option<O>)| *place = Some(work(item))
    });
    made.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_part_is_worked_on_once() {
        for n in [0, 1, 9, 10, 95] {
            for threads in [1, 2, 7] {
                let mut out = vec![0; n];
                super::chunks(&mut out, 10, threads, || {
                    |p: usize, part: &mut [usize]| {
                        part.iter_mut()
                            .enumerate()
                            .for_each(|(k, x)| *x += p * 10 + k + 1);
                    }
                });
                assert_eq!(out, (1..=n).collect::<Vec<_>>());
            }
        }
    }
}
