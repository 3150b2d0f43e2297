//! Lines parsed to the places of their rows, in any order of the rows.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::survey::{Line, Survey};
use super::text::Text;
use crate::data::read::libsvm::Lines;
use crate::data::read::number::Stored;
use crate::data::read::order::Order;
use crate::data::read::scale::Scale;
use crate::data::read::sparse::{renumber, unit};
use crate::data::{Arrival, Buffer, Index, Indices, Precision, Room, Values};
use crate::error::Result;
use crate::large;
use crate::simd::{self, Work};

/// How many rows ahead of being parsed a line is asked for, and the pages that it is on.
const NEAR: usize = 4;
const FAR: usize = 8;

/// Rows whose pages are asked for together. Whoever asks for something on a page that was not in
/// use waits until the page is found, and several are found at once.
const PAGES: usize = 8;

/// Rows that are copied to their places together: one copy of many values is faster than many.
const FEW: usize = 8;

/// Rows that are parsed together, at most, and about how many values they have, at most.
const ROWS: usize = 256;
const VALUES: usize = 1 << 15;

/// Lines of the usual sort, and the order of their rows in memory.
pub(super) struct Filling {
    pub(super) survey: Arc<Survey>,
    pub(super) order: Arc<Order<'static>>,
    pub(super) scale: Scale,
}

/// Whether the file is still what it was when it was opened.
pub(super) type Unchanged = Box<dyn Fn() -> Result<()> + Send + Sync>;

impl Filling {
    /// Where the values of each row begin, and where those of the last one end.
    fn offsets(&self) -> Vec<usize> {
        let mut offsets = large::room(self.order.len() + 1);
        let mut end = 0;
        offsets.push(end);
        offsets.extend(self.order.iter().map(|row| {
            end += self.survey.values[row] as usize;
            end
        }));
        offsets
    }

    /// The lines of these rows.
    fn lines(&self, rows: Range<usize>) -> Vec<Line> {
        // Most are in another processor's cache, so they are all asked for first.
        let found: Vec<&Line> = rows
            .map(|p| {
                let line = self.survey.line(self.order.row_at(p));
                simd::prefetch(std::slice::from_ref(line));
                line
            })
            .collect();
        found.into_iter().copied().collect()
    }

    /// The rows, on their way from `text`, and where the values of each begin; none if they are
    /// too wide, or just so wide that others have to decide how to store them.
    pub(super) fn begin(
        self,
        text: Text,
        precision: Precision,
        unchanged: Unchanged,
    ) -> Option<(Vec<usize>, Indices, Values)> {
        let Survey { width, first, .. } = *self.survey;
        let narrow = width <= u16::LIMIT;
        // One that only just does not fit as written does so once counted from 0.
        let columns = (width as usize).saturating_sub(first as usize);
        if width > u32::LIMIT || narrow != Indices::fit_narrow(columns) {
            return None;
        }
        Some(match (narrow, precision) {
            (true, Precision::F32) => self.rows::<u16, f32>(text, unchanged),
            (true, Precision::F64) => self.rows::<u16, f64>(text, unchanged),
            (false, Precision::F32) => self.rows::<u32, f32>(text, unchanged),
            (false, Precision::F64) => self.rows::<u32, f64>(text, unchanged),
        })
    }

    #[allow(unsafe_code)] // as for the room that numbers arrive in
    fn rows<I: Index, T: Stored>(
        self,
        text: Text,
        unchanged: Unchanged,
    ) -> (Vec<usize>, Indices, Values) {
        let offsets = self.offsets();
        let (rows, all) = (self.order.len(), offsets.last().copied().unwrap_or(0));
        let (indices, values) = (Arc::new(Room::<I>::new(all)), Arc::new(Room::<T>::new(all)));
        let mut size = ROWS;
        while size > 1 && all / rows.max(1) * size > VALUES {
            size /= 2;
        }
        let parser = Arc::new(Parsing {
            starts: offsets.iter().copied().step_by(size).collect(),
            size,
            filling: self,
            text: Mutex::new(Some(Arc::new(text))),
            indices: Arc::downgrade(&indices),
            values: Arc::downgrade(&values),
            found: AtomicU64::new(0),
        });
        let parsing = Arc::clone(&parser);
        let bring = move |rows: Range<usize>| parsing.bring(rows).is_some();
        let check = move || {
            let well = parser.end();
            unchanged()?;
            Ok(well)
        };
        let arrival = Arc::new(Arrival::new(rows, size, Box::new(bring), Box::new(check)));
        // SAFETY: a row is parsed to its own numbers, which no other row has.
        let (indices, values) = unsafe {
            (
                Buffer::arriving(indices, Arc::clone(&arrival)),
                Buffer::arriving(values, arrival),
            )
        };
        (offsets, I::wrap(indices), T::wrap(values))
    }
}

/// Lines on their way to their rows.
struct Parsing<I, T> {
    filling: Filling,
    /// Rows that are parsed together, and where the values of each such group begin.
    size: usize,
    starts: Vec<usize>,
    /// Until the last line is parsed.
    text: Mutex<Option<Arc<Text>>>,
    indices: Weak<Room<I>>,
    values: Weak<Room<T>>,
    /// One past the largest index that was found.
    found: AtomicU64,
}

impl<I: Index, T: Stored> Parsing<I, T> {
    fn text(&self) -> std::sync::MutexGuard<'_, Option<Arc<Text>>> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parses the rows of a group; none if a line is not of the usual sort.
    #[allow(unsafe_code)] // as for the room that numbers arrive in
    fn bring(&self, rows: Range<usize>) -> Option<()> {
        let text = self.text().clone()?;
        let (indices, values) = (self.indices.upgrade()?, self.values.upgrade()?);
        let start = self.starts[rows.start / self.size];
        let lines = self.filling.lines(rows);
        let len: usize = lines.iter().map(|line| line.values as usize).sum();
        // SAFETY: a group is parsed once, and nobody looks at it before.
        let (indices, values) = unsafe {
            (
                indices.for_writing(start..start + len),
                values.for_writing(start..start + len),
            )
        };
        let width = simd::dispatch_bytes(Fill {
            text: &text,
            lines: &lines,
            first: self.filling.survey.first,
            scale: self.filling.scale,
            indices,
            values,
        })?;
        self.found.fetch_max(width, Ordering::Relaxed);
        Some(())
    }

    /// Gives up the text; says whether the largest index is the one that was foreseen.
    fn end(&self) -> bool {
        self.text().take().into_iter().for_each(large::discard);
        self.found.load(Ordering::Relaxed) == self.filling.survey.width
    }
}

/// Makes the rows of a group; the largest index that was met, and one.
struct Fill<'a, I, T> {
    text: &'a Text,
    lines: &'a [Line],
    first: u32,
    scale: Scale,
    indices: &'a mut [I],
    values: &'a mut [T],
}

impl<'a, I, T> Fill<'a, I, T> {
    /// Asks for the pages of these lines.
    #[inline(always)]
    fn look_at(&self, lines: Range<usize>) {
        let all = self.lines.len();
        for line in &self.lines[lines.start.min(all)..lines.end.min(all)] {
            let bytes = &self.bytes(line)[..line.len as usize];
            simd::prefetch(&bytes[..1]);
            simd::prefetch(&bytes[bytes.len() - 1..]);
        }
    }

    /// Copies the rows that were kept to their places, the last of which ends at `end`.
    #[inline(always)]
    fn deliver(&mut self, parsed: &mut Lines<'_, I, T>, end: usize)
    where
        I: Index,
        T: Stored,
    {
        let (indices, values) = parsed.pairs();
        let place = end - values.len()..end;
        renumber(&mut self.indices[place.clone()], indices, self.first);
        self.values[place].copy_from_slice(values);
        parsed.forget();
    }

    /// The bytes of a line, and some behind them.
    #[inline(always)]
    fn bytes(&self, line: &Line) -> &'a [u8] {
        self.text.line(line.start, line.len as usize)
    }
}

impl<I: Index, T: Stored> Work for Fill<'_, I, T> {
    type Output = Option<u64>;

    #[inline(always)]
    fn run<const LEVEL: u8>(mut self) -> Option<u64> {
        let mut parsed = Lines::<I, T>::new(self.first);
        // Where the next row begins, and rows before it that are not in their places yet.
        let (mut start, mut kept) = (0, 0);
        self.look_at(0..FAR);
        for (p, line) in self.lines.iter().enumerate() {
            if p.is_multiple_of(PAGES) {
                self.look_at(p + FAR..p + FAR + PAGES);
            }
            let coming = self.lines.get(p + NEAR);
            let coming = coming.map_or(&[][..], |line| self.bytes(line));
            let text = (self.bytes(line), line.len as usize);
            let count = line.values as usize;
            let place = (&mut self.indices[start..], &mut self.values[start..]);
            let in_place = parsed.read::<LEVEL>(text, count, coming, place)?;
            if in_place && kept > 0 {
                self.deliver(&mut parsed, start);
                kept = 0;
            }
            start += count;
            kept += usize::from(!in_place);
            if kept == FEW {
                self.deliver(&mut parsed, start);
                kept = 0;
            }
        }
        self.deliver(&mut parsed, start);
        if self.scale == Scale::UnitRows {
            let mut rest = self.values;
            for line in self.lines {
                let (row, behind) = rest.split_at_mut(line.values as usize);
                unit(row);
                rest = behind;
            }
        }
        Some(parsed.width())
    }
}
