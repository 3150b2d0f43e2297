//! Rows that are still on their way from a file.
//!
//! Training wants its first rows long before the last ones are parsed. So a matrix may be made as
//! soon as it is known where each row will lie, and its rows are parsed when somebody asks for
//! them, or ahead of that by whoever has time: in the order in which they are wanted, some at a
//! time, each by one thread. Who asks for all of them waits until all are there.

use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::large::Windows;

/// Nobody has begun with these rows, somebody has, they lie where they belong.
const AWAITED: u8 = 0;
const BEGUN: u8 = 1;
const THERE: u8 = 2;

/// Brings the rows of a range to their places, unless they cannot be read.
type Bring = dyn Fn(Range<usize>) -> bool + Send + Sync;

/// Whether everything went well, asked when the last row is there.
type Check = dyn Fn() -> Result<bool> + Send + Sync;

/// The rows of a matrix on their way.
pub(crate) struct Arrival {
    rows: usize,
    /// Rows that are brought together, as a power of two.
    shift: u32,
    /// How far each such group has come.
    groups: Vec<AtomicU8>,
    /// The groups in the order in which they are wanted, and how many of them were looked at.
    order: OnceLock<Vec<u32>>,
    next: AtomicUsize,
    /// Groups that are not there yet, and those of them that are not all but there.
    left: AtomicUsize,
    unfinished: AtomicUsize,
    /// Whether a row could not be read; what was not brought by then is zero.
    failed: AtomicBool,
    error: OnceLock<Error>,
    bring: Box<Bring>,
    check: Box<Check>,
}

impl Arrival {
    /// So many rows that `bring` brings, `size` at a time, which is a power of two; when the last
    /// is there, `check` says whether all went well.
    pub(crate) fn new(rows: usize, size: usize, bring: Box<Bring>, check: Box<Check>) -> Self {
        let groups: Vec<_> = (0..rows.div_ceil(size))
            .map(|_| AtomicU8::new(AWAITED))
            .collect();
        Arrival {
            rows,
            shift: size.ilog2(),
            order: OnceLock::new(),
            next: AtomicUsize::new(0),
            left: AtomicUsize::new(groups.len()),
            unfinished: AtomicUsize::new(groups.len()),
            groups,
            failed: AtomicBool::new(false),
            error: OnceLock::new(),
            bring,
            check,
        }
    }

    /// The rows are visited in this order of blocks of `block` rows, so they should be brought in
    /// it. Said once, and before anybody asks for a row.
    pub(crate) fn want(&self, blocks: &[u32], block: usize) {
        let groups = blocks.iter().flat_map(|&b| {
            let rows = b as usize * block..((b as usize + 1) * block).min(self.rows);
            self.groups_of(rows)
        });
        // A group that lies in two blocks comes with the first of them.
        let _ = self.order.set(groups.map(|group| group as u32).collect());
    }

    /// The groups that these rows, of which there is one at least, are in.
    #[inline]
    fn groups_of(&self, rows: Range<usize>) -> Range<usize> {
        rows.start >> self.shift..((rows.end - 1) >> self.shift) + 1
    }

    /// Whether all rows are there.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Sees to it that these rows are there.
    #[inline(never)] // loops over rows ask before each, and most over rows that are all there
    pub(crate) fn need(&self, rows: Range<usize>) {
        if rows.is_empty() || self.is_over() {
            return;
        }
        for group in self.groups_of(rows) {
            if self.groups[group].load(Ordering::Acquire) != THERE {
                self.wait_for(group);
            }
        }
    }

    /// Brings rows until somebody has begun with each.
    pub(crate) fn help(&self) {
        while self.bring_next() {}
    }

    /// Sees to it that all rows are there, on so many threads.
    pub(crate) fn finish(&self, threads: usize) {
        if self.is_over() {
            return;
        }
        let left = self.left.load(Ordering::Acquire);
        // Where nobody wants some before others, threads keep away from each other: two that ask
        // for memory in neighbouring places want the same pages, and wait for each other.
        let apart = || lanes(self.groups.len(), threads);
        self.order.get_or_init(apart);
        std::thread::scope(|scope| {
            (1..threads.min(left)).for_each(|_| drop(scope.spawn(|| self.help())));
            self.help();
        });
        self.need(0..self.rows);
    }

    /// Whether rows could be read, as far as they are there.
    ///
    /// # Errors
    /// If something is wrong with where they come from.
    pub(crate) fn is_well(&self) -> Result<bool> {
        match self.error.get() {
            Some(error) => Err(error.clone()),
            None => Ok(!self.failed.load(Ordering::Acquire)),
        }
    }

    /// Fails if one of the rows that are there could not be read.
    pub(crate) fn require_well(&self) -> Result<()> {
        match self.is_well()? {
            true => Ok(()),
            false => Err(Error::data("a line is not of the usual sort")
                .remedy("read the file before training")),
        }
    }

    #[cold]
    fn wait_for(&self, group: usize) {
        self.try_bring(group);
        while self.groups[group].load(Ordering::Acquire) != THERE {
            // Somebody else is at it: others will be needed, too.
            if !self.bring_next() {
                std::thread::yield_now();
            }
        }
    }

    /// Brings the group that is wanted next; false if somebody has begun with each.
    fn bring_next(&self) -> bool {
        loop {
            let k = self.next.load(Ordering::Relaxed);
            let group = match self.order.get() {
                Some(order) if k < order.len() => order[k] as usize,
                None if k < self.groups.len() => k,
                _ => return false,
            };
            // Who comes second only finds the next.
            let relaxed = Ordering::Relaxed;
            let _ = self.next.compare_exchange(k, k + 1, relaxed, relaxed);
            if self.try_bring(group) {
                return true;
            }
        }
    }

    /// Brings a group if nobody has begun with it.
    fn try_bring(&self, group: usize) -> bool {
        let state = &self.groups[group];
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        if state.load(relaxed) != AWAITED
            || state
                .compare_exchange(AWAITED, BEGUN, acquire, relaxed)
                .is_err()
        {
            return false;
        }
        let mut brought = Brought {
            arrival: self,
            group,
            well: false,
        };
        let rows = group << self.shift..((group + 1) << self.shift).min(self.rows);
        // Where one cannot be read, the others are of no use.
        brought.well = !self.failed.load(Ordering::Relaxed) && (self.bring)(rows);
        true
    }
}

/// The numbers below `n` in so many ranges of equal length, in turns from each.
fn lanes(n: usize, lanes: usize) -> Vec<u32> {
    let len = n.div_ceil(lanes.max(1));
    let turns = (0..len).flat_map(|k| (k..n).step_by(len));
    turns.map(|group| group as u32).collect()
}

impl std::fmt::Debug for Arrival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let left = self.left.load(Ordering::Relaxed);
        write!(
            f,
            "{left} of {} groups of rows on their way",
            self.groups.len()
        )
    }
}

/// Says that a group is there when it goes: even should bringing it panic, nobody may wait for
/// ever, and what was not written is zero.
struct Brought<'a> {
    arrival: &'a Arrival,
    group: usize,
    well: bool,
}

impl Drop for Brought<'_> {
    fn drop(&mut self) {
        let arrival = self.arrival;
        if !self.well {
            arrival.failed.store(true, Ordering::Release);
        }
        // The last one asks, and before anybody can think that all are there.
        if arrival.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            match (arrival.check)() {
                Ok(true) => {}
                Ok(false) => arrival.failed.store(true, Ordering::Release),
                Err(error) => drop(arrival.error.set(error)),
            }
        }
        arrival.groups[self.group].store(THERE, Ordering::Release);
        arrival.left.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The place of a number that may still have to be written.
#[repr(transparent)]
pub(crate) struct Slot<T>(UnsafeCell<T>);

// SAFETY: numbers are reached by the functions below alone, whose callers promise that nobody reads
// what is written, and nobody else writes it, at the same time.
#[allow(unsafe_code)] // measured: from file to model, a tenth less time than with all rows read first
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T> std::fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number's place")
    }
}

impl<T> Slot<T> {
    /// The places of numbers that are there.
    #[inline(always)]
    #[allow(unsafe_code)] // as above
    pub(crate) fn of(numbers: &[T]) -> &[Slot<T>] {
        // SAFETY: a slot lies in memory as its number does, and nobody may write to one that he
        // only has by reference without a promise.
        unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) }
    }

    /// The numbers in these places.
    ///
    /// # Safety
    /// They must be there: nobody may write to them as long as they are held.
    #[inline(always)]
    #[allow(unsafe_code)] // as above
    pub(crate) unsafe fn filled(slots: &[Slot<T>]) -> &[T] {
        // SAFETY: a slot lies in memory as its number does; nobody writes to it, as promised.
        unsafe { std::slice::from_raw_parts(slots.as_ptr().cast(), slots.len()) }
    }
}

/// Memory that numbers arrive in. It is zero before they do.
pub(crate) struct Room<T> {
    slots: Box<[Slot<T>]>,
    windows: Windows,
}

impl<T: Copy + Default> Room<T> {
    /// Room for so many.
    #[allow(unsafe_code)] // as above
    pub(crate) fn new(len: usize) -> Self {
        let zeros = Box::into_raw(vec![T::default(); len].into_boxed_slice());
        // SAFETY: a slot lies in memory as its number does, and the box is given up.
        let slots = unsafe { Box::from_raw(zeros as *mut [Slot<T>]) };
        let windows = Windows::of(&slots);
        Room { slots, windows }
    }
}

impl<T> Room<T> {
    pub(crate) fn slots(&self) -> &[Slot<T>] {
        &self.slots
    }

    /// The numbers in a range, to be written; their pages were asked for.
    ///
    /// # Safety
    /// Nobody else may hold any of them.
    ///
    /// # Panics
    /// If there are fewer.
    #[allow(unsafe_code, clippy::mut_from_ref)] // as above; slots are there to be written to
    pub(crate) unsafe fn for_writing(&self, range: Range<usize>) -> &mut [T] {
        let slots = &self.slots[range];
        self.windows.reach(slots);
        // SAFETY: the slots lie together and are ours; nobody else holds them, as promised.
        unsafe {
            std::slice::from_raw_parts_mut(UnsafeCell::raw_get(slots.as_ptr().cast()), slots.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    const ROWS: usize = 1000;
    const SIZE: usize = 64;

    /// Rows of one number each, its own and one; `bring` is told which come, and says whether
    /// they can be read.
    #[allow(unsafe_code)] // the only way to write to a room
    fn rows(
        bring: impl Fn(usize) -> bool + Send + Sync + 'static,
        check: fn() -> Result<bool>,
    ) -> (Arc<Room<u32>>, Arrival) {
        let room = Arc::new(Room::new(ROWS));
        let places = Arc::clone(&room);
        let bring = move |rows: Range<usize>| {
            // SAFETY: each group is brought once, and nobody looks at it before.
            let numbers = unsafe { places.for_writing(rows.clone()) };
            let counted = numbers.iter_mut().zip(rows.start as u32 + 1..);
            counted.for_each(|(to, number)| *to = number);
            bring(rows.start / SIZE)
        };
        (
            room,
            Arrival::new(ROWS, SIZE, Box::new(bring), Box::new(check)),
        )
    }

    /// A list of groups, and what adds one to it that can be read.
    fn noted() -> (Arc<Mutex<Vec<usize>>>, impl Fn(usize) -> bool + Send + Sync) {
        let list = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&list);
        let note = move |group| {
            noted.lock().unwrap().push(group);
            true
        };
        (list, note)
    }

    /// The numbers of these rows, when they are there.
    #[allow(unsafe_code)] // the only way to see them
    fn seen(room: &Room<u32>, arrival: &Arrival, rows: Range<usize>) -> Vec<u32> {
        arrival.need(rows.clone());
        // SAFETY: these rows are there.
        unsafe { Slot::filled(&room.slots()[rows]) }.to_vec()
    }

    #[test]
    fn every_row_comes_once_whoever_asks_and_in_whatever_order() {
        for (threads, helpers) in [(1, 0), (1, 1), (3, 0), (2, 2)] {
            let (brought, note) = noted();
            let (room, arrival) = rows(note, || Ok(true));
            assert!(!arrival.is_over());
            std::thread::scope(|scope| {
                (0..helpers).for_each(|_| drop(scope.spawn(|| arrival.help())));
                for t in 0..threads {
                    let (room, arrival) = (&room, &arrival);
                    scope.spawn(move || {
                        for k in 0..ROWS {
                            let row = (k * 379 + t * 100) % ROWS;
                            let some = row..(row + 70).min(ROWS);
                            let expected: Vec<u32> = some.clone().map(|i| i as u32 + 1).collect();
                            assert_eq!(seen(room, arrival, some), expected);
                        }
                    });
                }
            });
            assert!(arrival.is_over() && arrival.is_well().unwrap());
            let mut brought = brought.lock().unwrap().clone();
            brought.sort_unstable();
            assert_eq!(brought, (0..ROWS.div_ceil(SIZE)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn rows_come_in_the_order_in_which_they_are_wanted() {
        let (brought, note) = noted();
        let (_, arrival) = rows(note, || Ok(true));
        // Blocks of two groups, the last of which has fewer.
        arrival.want(&[3, 7, 0, 1, 2, 6, 5, 4], 2 * SIZE);
        arrival.need(130..131);
        arrival.finish(1);
        let expected = [2, 6, 7, 14, 15, 0, 1, 3, 4, 5, 12, 13, 10, 11, 8, 9];
        assert_eq!(*brought.lock().unwrap(), expected);
    }

    #[test]
    fn lanes_take_turns_and_leave_nobody_out() {
        assert_eq!(lanes(7, 2), [0, 4, 1, 5, 2, 6, 3]);
        assert_eq!(lanes(3, 1), [0, 1, 2]);
        for (n, threads) in [(0, 2), (1, 3), (5, 4), (5, 9), (100, 7)] {
            let mut all = lanes(n, threads);
            all.sort_unstable();
            assert_eq!(all, (0..n as u32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nobody_waits_for_rows_that_cannot_be_read() {
        for threads in 1..4 {
            let (room, arrival) = rows(|group| group != 5, || Ok(true));
            assert!(arrival.is_well().unwrap());
            arrival.finish(threads);
            assert!(!arrival.is_well().unwrap());
            assert_eq!(seen(&room, &arrival, 0..ROWS).len(), ROWS);
        }
        let (room, arrival) = rows(|group| group != 5 || panic!("a fault"), || Ok(true));
        std::thread::scope(|scope| {
            let helper = scope.spawn(|| arrival.help());
            assert!(helper.join().is_err());
        });
        assert!(!arrival.is_well().unwrap());
        assert_eq!(seen(&room, &arrival, 0..ROWS).len(), ROWS);
    }

    #[test]
    fn what_is_found_at_the_end_counts_for_all() {
        let (_, arrival) = rows(|_| true, || Ok(false));
        arrival.need(0..ROWS / SIZE * SIZE);
        assert!(arrival.is_well().unwrap() && !arrival.is_over());
        arrival.finish(2);
        assert!(!arrival.is_well().unwrap());
        let (_, arrival) = rows(|_| true, || Err(Error::data("another file")));
        arrival.finish(2);
        assert_eq!(arrival.is_well().unwrap_err().message(), "another file");
    }
}
