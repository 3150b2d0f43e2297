//! Lines parsed in the order of the rows in memory, each to its place.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::survey::{Line, Survey};
use super::text::Text;
use crate::data::read::libsvm::{Lines, Trouble};
use crate::data::read::number::Stored;
use crate::data::read::order::Order;
use crate::data::read::scale::Scale;
use crate::data::read::sparse::{renumber, unit};
use crate::data::{Index, Indices, Values};
use crate::large::{self, Pages};
use crate::simd::{self, Work};
use crate::threads;

/// How many rows ahead of being parsed a line is asked for, and the pages that it is on.
const NEAR: usize = 4;
const FAR: usize = 8;

/// Rows whose pages are asked for together. Whoever asks for something on a page that was not in
/// use waits until the page is found, and several are found at once.
const PAGES: usize = 8;

/// Rows that are looked up together.
const TOGETHER: usize = 256;

/// Values of the rows that a thread takes at a time, about.
const SOME: usize = 1 << 20;

/// Lines and the places of their rows.
pub(super) struct Filling<'a> {
    text: &'a Text,
    /// In the order of the rows in memory.
    lines: Vec<Line>,
    /// Where the values of each row begin, and where those of the last one end.
    offsets: Vec<usize>,
    /// What indices count from.
    first: u32,
    scale: Scale,
    threads: usize,
}

/// The values of all rows.
pub(super) struct Filled {
    pub(super) indices: Indices,
    pub(super) values: Values,
    /// One past the largest index as written.
    pub(super) width: u64,
}

impl<'a> Filling<'a> {
    pub(super) fn new(
        text: &'a Text,
        survey: &Survey,
        order: &Order<'_>,
        scale: Scale,
        threads: usize,
    ) -> Self {
        let mut lines = vec![Line::default(); order.len()];
        let enough = threads::worth(threads, order.len());
        threads::chunks(&mut lines, TOGETHER, enough, || {
            |k: usize, lines: &mut [Line]| {
                for (p, line) in (k * TOGETHER..).zip(lines) {
                    *line = survey.lines[order.row_at(p)];
                }
            }
        });
        let mut offsets = large::room(order.len() + 1);
        let mut end = 0;
        offsets.push(end);
        offsets.extend(lines.iter().map(|line| {
            end += line.values as usize;
            end
        }));
        Filling {
            text,
            lines,
            offsets,
            first: survey.first,
            scale,
            threads,
        }
    }

    pub(super) fn into_offsets(self) -> Vec<usize> {
        self.offsets
    }

    /// The values of all rows, unless a line is unusual.
    pub(super) fn rows<T: Stored>(&self) -> Option<Filled> {
        match self.rows_as::<u16, T>() {
            Err(Trouble::TooWide) => self.rows_as::<u32, T>().ok(),
            filled => filled.ok(),
        }
    }

    fn rows_as<I: Index, T: Stored>(&self) -> Result<Filled, Trouble> {
        let all = self.offsets.last().copied().unwrap_or(0);
        let (mut indices, mut values) = (vec![I::default(); all], vec![T::default(); all]);
        let jobs = Mutex::new(self.jobs(&mut indices, &mut values).into_iter());
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        let (stop, width) = (AtomicBool::new(false), Mutex::new(Ok(0)));
        let work = || {
            let mut lines = Lines::new(self.first);
            let mut found = Ok(());
            while let Some(job) = next()
                && !stop.load(Ordering::Relaxed)
                && found.is_ok()
            {
                found = simd::dispatch_bytes(Fill(self, job, &mut lines));
            }
            stop.fetch_or(found.is_err(), Ordering::Relaxed);
            let mut width = width.lock().unwrap_or_else(PoisonError::into_inner);
            // An unusual line is one at any width.
            *width = match (*width, found) {
                (Err(Trouble::Unusual), _) | (_, Err(Trouble::Unusual)) => Err(Trouble::Unusual),
                (Err(trouble), _) | (_, Err(trouble)) => Err(trouble),
                (Ok(width), Ok(())) => Ok(lines.width().max(width)),
            };
        };
        std::thread::scope(|scope| {
            (1..self.threads).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        let width = width.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        drop(jobs);
        // One that only just does not fit as written does so once counted from 0.
        let fits = Indices::fit_narrow((width as usize).saturating_sub(self.first as usize));
        if fits && I::LIMIT > u16::LIMIT {
            return Err(Trouble::Unusual);
        }
        Ok(Filled {
            indices: I::wrap(indices),
            values: T::wrap(values),
            width,
        })
    }

    /// Neighbouring rows that together have a good number of values.
    fn jobs<'b, I, T>(
        &self,
        mut indices: &'b mut [I],
        mut values: &'b mut [T],
    ) -> Vec<Job<'b, I, T>> {
        let mut jobs = Vec::new();
        let mut start = 0;
        while start < self.lines.len() {
            let full = self.offsets[start] + SOME;
            let end = self
                .offsets
                .partition_point(|&offset| offset < full)
                .max(start + 1);
            let rows = start..end.min(self.lines.len());
            let len = self.offsets[rows.end] - self.offsets[start];
            let (indices_here, values_here);
            (indices_here, indices) = indices.split_at_mut(len);
            (values_here, values) = values.split_at_mut(len);
            start = rows.end;
            jobs.push(Job {
                rows,
                indices: indices_here,
                values: values_here,
            });
        }
        jobs
    }

    /// Asks for the pages of lines that are parsed soon after position `p`, and before `end`.
    #[inline(always)]
    fn look_forward(&self, p: usize, end: usize) {
        for line in &self.lines[(p + FAR).min(end)..(p + FAR + PAGES).min(end)] {
            let bytes = &self.bytes(line)[..line.len as usize];
            simd::prefetch(&bytes[..1]);
            simd::prefetch(&bytes[bytes.len() - 1..]);
        }
    }

    /// The bytes of a line, and some behind them.
    #[inline(always)]
    fn bytes(&self, line: &Line) -> &'a [u8] {
        self.text.line(line.start, line.len as usize)
    }
}

/// Rows to be made, and their places.
struct Job<'b, I, T> {
    rows: Range<usize>,
    indices: &'b mut [I],
    values: &'b mut [T],
}

/// Makes the rows of a job.
struct Fill<'a, 'b, 'c, I, T>(&'c Filling<'a>, Job<'b, I, T>, &'c mut Lines<'a, I, T>);

impl<I: Index, T: Stored> Work for Fill<'_, '_, '_, I, T> {
    type Output = Result<(), Trouble>;

    #[inline(always)]
    fn run<const LEVEL: u8>(self) -> Result<(), Trouble> {
        let Fill(filling, job, lines) = self;
        let mut pages = (Pages::of(job.indices), Pages::of(job.values));
        let start = filling.offsets[job.rows.start];
        for p in job.rows.clone() {
            if (p - job.rows.start).is_multiple_of(PAGES) {
                filling.look_forward(p, job.rows.end);
            }
            let mut coming: &[u8] = &[];
            if p + NEAR < job.rows.end {
                coming = filling.bytes(&filling.lines[p + NEAR]);
            }
            let line = &filling.lines[p];
            let text = (filling.bytes(line), line.len as usize);
            let (from, values) = lines.read::<LEVEL>(text, line.values as usize, coming)?;
            let place = filling.offsets[p] - start..filling.offsets[p + 1] - start;
            let to = &mut job.indices[place.clone()];
            pages.0.reach(to);
            renumber(to, from, filling.first);
            let to = &mut job.values[place];
            pages.1.reach(to);
            to.copy_from_slice(values);
            if filling.scale == Scale::UnitRows {
                unit(to);
            }
        }
        Ok(())
    }
}
