//! Work on several threads whose results do not depend on how many there are.

use std::num::NonZero;

/// Fewer items than this do not pay for another thread.
const WORTH_A_THREAD: usize = 64;

/// The number of threads to use when nothing is said.
pub fn available() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Bytes of memory to use when nothing is said: half of what is free now.
pub(crate) fn memory_to_use() -> u64 {
    const WHERE_UNKNOWN: u64 = 2 << 30;
    let free = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
    free.map_or(WHERE_UNKNOWN, |kib| kib * 512)
}

/// How many of `threads` threads so many items pay for.
pub(crate) fn worth(threads: usize, items: usize) -> usize {
    threads.clamp(1, items.div_ceil(WORTH_A_THREAD).max(1))
}

/// The texts that `f` appends for every i below `n`, in order, in one piece a thread.
pub fn map<F, M>(n: usize, threads: usize, make: M) -> Vec<String>
where
    F: FnMut(usize, &mut String),
    M: Fn() -> F + Sync,
{
    let mut parts = vec![String::new(); worth(threads, n)];
    let share = n.div_ceil(parts.len());
    let work = |t: usize, part: &mut String| {
        let mut f = make();
        (t * share..((t + 1) * share).min(n)).for_each(|i| f(i, part));
    };
    std::thread::scope(|scope| {
        let mut each = parts.iter_mut().enumerate();
        let own = each.next();
        for (t, part) in each {
            let work = &work;
            scope.spawn(move || work(t, part));
        }
        if let Some((t, part)) = own {
            work(t, part);
        }
    });
    parts
}

/// Calls `f(p, part)` for every part of `out` of `size` items (the last may be shorter);
/// each thread makes its own `f`, buffers included, and takes a run of neighbouring parts.
pub(crate) fn chunks<T, F, M>(out: &mut [T], size: usize, threads: usize, make: M)
where
    T: Send,
    F: FnMut(usize, &mut [T]),
    M: Fn() -> F + Sync,
{
    let parts = out.len().div_ceil(size);
    let share = parts.div_ceil(threads.clamp(1, parts.max(1))).max(1);
    let work = |first: usize, run: &mut [T], mut f: F| {
        for (k, part) in run.chunks_mut(size).enumerate() {
            f(first + k, part);
        }
    };
    std::thread::scope(|scope| {
        let mut runs = out.chunks_mut(share * size).enumerate();
        let own = runs.next();
        for (t, run) in runs {
            let (make, work) = (&make, &work);
            scope.spawn(move || work(t * share, run, make()));
        }
        if let Some((_, run)) = own {
            work(0, run, make());
        }
    });
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

    #[test]
    fn texts_come_in_order_on_any_number_of_threads() {
        let expected: String = (0..1000).map(|i| format!("{i}\n")).collect();
        for threads in [1, 2, 7] {
            let parts = super::map(1000, threads, || {
                |i, text: &mut String| text.push_str(&format!("{i}\n"))
            });
            assert_eq!(parts.concat(), expected);
        }
        assert_eq!(super::map(0, 2, || |_, _: &mut String| ()).concat(), "");
    }
}
