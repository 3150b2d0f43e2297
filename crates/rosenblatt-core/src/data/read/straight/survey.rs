//! Where the lines of a text are, how many values each has, and their labels.

use std::ops::Range;

use memchr::memchr;

use super::text::Text;
use crate::data::read::chunk::LONGEST_RECORD;
use crate::data::read::intern::Interner;
use crate::data::read::labels::LabelSink;
use crate::data::read::order::Starts;
use crate::data::read::stops::{BLOCK, Byte, Mark};
use crate::simd::{self, Work};
use crate::{large, parallel};

/// Bytes that are gone through together.
const RANGE: usize = 1 << 20;

/// How far ahead bytes are asked for.
const LATER: usize = 12 << 10;

/// A line that holds a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) start: usize,
    /// Its bytes, the newline included.
    pub(super) len: u32,
    /// How many colons it has, which is how many values unless it is an unusual line.
    pub(super) values: u32,
}

/// All lines, in the parts that were gone through together.
pub(super) struct Survey {
    parts: Vec<Part>,
    starts: Starts,
    /// How many values each has once more: these are wanted before the rest, and all in one place
    /// they are few enough to stay in a cache.
    pub(super) values: Vec<u32>,
    pub(super) names: Interner,
    /// What indices count from, if no line is out of order.
    pub(super) first: u32,
    /// One past the largest index, if each line ends with its largest.
    pub(super) width: u64,
}

/// The lines of a range.
#[derive(Default)]
struct Part {
    lines: Vec<Line>,
    labels: LabelSink,
    /// What the numbers of its labels are among all.
    numbers: Vec<u32>,
    /// Whether one begins with the index 0.
    from_zero: bool,
    /// One past the largest index that a line ends with.
    width: u64,
}

impl Survey {
    /// The lines of `text`; none if one of them does not begin with a label.
    pub(super) fn of(text: &Text, threads: usize) -> Option<Self> {
        let mut scans = Vec::new();
        for (start, len, bytes) in text.parts() {
            scans.extend((0..len).step_by(RANGE).map(|from| Scan {
                bytes,
                start,
                from,
                to: (from + RANGE).min(len),
            }));
        }
        let mut parts: Vec<Option<Part>> = Vec::new();
        parts.resize_with(scans.len(), || None);
        parallel::chunks(&mut parts, 1, threads, || {
            |k: usize, part: &mut [Option<Part>]| part[0] = simd::dispatch_bytes(scans[k])
        });
        let mut parts: Vec<Part> = parts.into_iter().collect::<Option<_>>()?;
        let mut names = Interner::default();
        for part in &mut parts {
            part.numbers = names.merge(&part.labels.names);
        }
        let starts = Starts::new(parts.iter().map(|part| part.lines.len()));
        let mut values = large::room(starts.rows());
        for part in &parts {
            values.extend(part.lines.iter().map(|line| line.values));
        }
        let survey = Survey {
            starts,
            values,
            names,
            first: u32::from(!parts.iter().any(|part| part.from_zero)),
            width: parts.iter().map(|part| part.width).max()?,
            parts,
        };
        (survey.rows() > 0).then_some(survey)
    }

    /// How many lines there are.
    pub(super) fn rows(&self) -> usize {
        self.starts.rows()
    }

    /// The line of a row.
    #[inline]
    pub(super) fn line(&self, row: usize) -> &Line {
        let part = self.starts.find(row);
        &self.parts[part].lines[row - self.starts.first_row(part)]
    }

    /// The label of each row, a number in `names`.
    pub(super) fn codes(&self) -> Vec<u32> {
        let mut codes = large::room(self.rows());
        for part in &self.parts {
            let own = part.labels.codes.iter();
            codes.extend(own.map(|&code| part.numbers[code as usize]));
        }
        codes
    }
}

/// Goes through the lines that begin in a range of bytes.
#[derive(Clone, Copy)]
struct Scan<'a> {
    bytes: &'a [u8],
    /// Where the bytes begin in the text.
    start: usize,
    from: usize,
    to: usize,
}

impl Work for Scan<'_> {
    type Output = Option<Part>;

    #[inline(always)]
    fn run<const LEVEL: u8>(self) -> Option<Part> {
        let mut part = Part::default();
        let mut line = match self.from {
            0 => 0,
            from => from + memchr(b'\n', &self.bytes[from - 1..])?,
        };
        // Blocks that do not lie across lines of the cache come sooner.
        let mut at = line - line % BLOCK;
        let (mut before, mut skip) = (0, line - at);
        // The last colon so far.
        let mut last = line;
        while line < self.to {
            let block: &[u8; BLOCK] = self.bytes.get(at..)?.first_chunk()?;
            if let Some(later) = self.bytes.get(at + LATER..at + LATER + 1) {
                simd::prefetch(later);
            }
            let here = u64::MAX << std::mem::take(&mut skip);
            let mut newlines = Byte(b'\n').find::<LEVEL>(block) & here;
            let mut colons = Byte(b':').find::<LEVEL>(block) & here;
            if newlines == 0 {
                before += colons.count_ones();
                last = last_of(colons, at).unwrap_or(last);
                at += BLOCK;
                continue;
            }
            while newlines != 0 && line < self.to {
                let end = newlines.trailing_zeros();
                let here = colons & ((1 << end) - 1);
                colons ^= here;
                newlines &= newlines - 1;
                let next = at + end as usize + 1;
                last = last_of(here, at).unwrap_or(last);
                part.add(self.bytes, line..next, before + here.count_ones(), last)?;
                part.lines.last_mut()?.start += self.start;
                (line, before) = (next, 0);
            }
            before += colons.count_ones();
            last = last_of(colons, at).unwrap_or(last);
            at += BLOCK;
        }
        Some(part)
    }
}

/// Where the last of the marks in a block that begins at `at` is.
#[inline(always)]
fn last_of(marks: u64, at: usize) -> Option<usize> {
    Some(at + marks.checked_ilog2()? as usize)
}

impl Part {
    /// Adds a line, if it begins with a label. It has so many values, and a colon last at `last`.
    #[inline(never)] // the loop around it keeps its numbers in registers
    fn add(&mut self, bytes: &[u8], line: Range<usize>, values: u32, last: usize) -> Option<()> {
        let Range { start, end: next } = line;
        let mut at = start;
        while bytes[at] > b' ' && bytes[at] != b':' && bytes[at] != b'#' {
            at += 1;
        }
        // Nor is a comment right behind the label of the usual sort: colons in it were counted.
        if at == start || matches!(bytes[at], b':' | b'#') || next - start > LONGEST_RECORD {
            return None;
        }
        self.labels.push(bytes, start, at).ok()?;
        while bytes[at] == b' ' {
            at += 1;
        }
        if bytes[at] == b'0' {
            while bytes[at] == b'0' {
                at += 1;
            }
            self.from_zero |= bytes[at] == b':';
        }
        if values > 0 {
            self.width = self.width.max(index_before(&bytes[start..last]) + 1);
        }
        self.lines.push(Line {
            start,
            len: (next - start) as u32,
            values,
        });
        Some(())
    }
}

/// The number at the end of `bytes`, of which the last ten digits count.
fn index_before(bytes: &[u8]) -> u64 {
    const DIGITS: usize = 10;
    let (mut index, mut unit) = (0, 1);
    for &b in bytes.iter().rev().take(DIGITS) {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        index += u64::from(digit) * unit;
        unit *= 10;
    }
    index
}
