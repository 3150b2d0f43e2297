//! The text of a file, with bytes to look at behind every line.

use memchr::memrchr;
use memmap2::Mmap;

use crate::data::read::BYTE_ORDER_MARK;

/// Bytes behind a line that may be looked at while it is read.
pub(super) const BEHIND: usize = 128;

/// Bytes at the end of the file that are copied, at least.
const TAIL: usize = 4096;

/// Text in a mapped file. Nothing may be looked at behind its end, so the last lines are a copy.
pub(super) struct Text {
    mapped: Mmap,
    /// Where the text begins in the file, behind a byte order mark.
    start: usize,
    /// Where its copied part begins.
    cut: usize,
    /// Whole lines, the last with a newline, then zeros.
    tail: Vec<u8>,
    tail_len: usize,
}

impl Text {
    pub(super) fn new(mapped: Mmap) -> Self {
        let start = match mapped.starts_with(BYTE_ORDER_MARK) {
            true => BYTE_ORDER_MARK.len(),
            false => 0,
        };
        let text = &mapped[start..];
        let before = &text[..text.len().saturating_sub(TAIL)];
        let cut = memrchr(b'\n', before).map_or(0, |n| n + 1);
        let mut tail = Vec::with_capacity(text.len() - cut + 1 + BEHIND);
        tail.extend_from_slice(&text[cut..]);
        if tail.last().is_some_and(|&b| b != b'\n') {
            tail.push(b'\n');
        }
        let tail_len = tail.len();
        tail.resize(tail_len + BEHIND, 0);
        Text {
            mapped,
            start,
            cut,
            tail,
            tail_len,
        }
    }

    /// Its length, newline at its end included.
    pub(super) fn len(&self) -> usize {
        self.cut + self.tail_len
    }

    /// The part that is not copied and the one that is: where it begins in the text, the length
    /// of its lines, and these with bytes behind them.
    pub(super) fn parts(&self) -> [(usize, usize, &[u8]); 2] {
        let mapped = &self.mapped[self.start..];
        [(0, self.cut, mapped), (self.cut, self.tail_len, &self.tail)]
    }

    /// The line of `len` bytes that begins at `start`, and bytes behind it.
    #[inline(always)]
    pub(super) fn line(&self, start: usize, len: usize) -> &[u8] {
        let (bytes, start) = match start < self.cut {
            true => (&self.mapped[self.start..], start),
            false => (&self.tail[..], start - self.cut),
        };
        &bytes[start..start + len + BEHIND]
    }
}
