//! Where cells end, found ahead.
//!
//! If the next cell could only be begun once the digits of this one were understood, the
//! processor would work on one cell at a time. So the bytes that end cells are found first,
//! 64 at a time and a few thousand ahead, and the cells between them can be read side by side.
//! (In libsvm text, where a cell takes longer to read, that gained nothing.)

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Blocks that are looked at ahead.
const AHEAD: usize = 32;

/// Ends that are listed without asking whether a block has so many.
const AT_ONCE: usize = 8;

/// The ends of cells in some text, one after the other.
#[derive(Debug)]
pub(crate) struct Stops<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    ends: Box<[u32; BLOCK * AHEAD + AT_ONCE]>,
    next: usize,
    count: usize,
    /// Up to where ends are listed.
    scanned: usize,
}

impl<'a> Stops<'a> {
    /// The ends in `bytes`, which are fewer than 2³².
    pub(crate) fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        Stops {
            bytes,
            delimiter,
            ends: Box::new([0; BLOCK * AHEAD + AT_ONCE]),
            next: 0,
            count: 0,
            scanned: 0,
        }
    }

    /// The next end; beyond all bytes where none is left or fewer than 64 bytes are.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> usize {
        if self.next == self.count {
            self.list();
        }
        self.ends[self.next] as usize
    }

    /// Goes on behind the next end.
    #[inline(always)]
    pub(crate) fn pass(&mut self) {
        self.next += usize::from(self.next < self.count);
    }

    /// Leaves out ends before `at`.
    #[inline(always)]
    pub(crate) fn go_to(&mut self, at: usize) {
        while self.next < self.count && (self.ends[self.next] as usize) < at {
            self.next += 1;
        }
        if self.next == self.count {
            self.scanned = self.scanned.max(at);
        }
    }

    /// Lists the ends of the next blocks that have any.
    #[inline(always)] // compiled for the processor that its caller was compiled for
    fn list(&mut self) {
        (self.next, self.count) = (0, 0);
        while self.count == 0 {
            let rest = self.bytes.get(self.scanned..).unwrap_or_default();
            let blocks = rest.as_chunks::<BLOCK>().0;
            if blocks.is_empty() {
                self.ends[0] = u32::MAX;
                return;
            }
            for block in blocks.iter().take(AHEAD) {
                let mut bits = equal(block, self.delimiter);
                let found = bits.count_ones() as usize;
                let start = self.scanned as u32;
                let mut listed = 0;
                // Most blocks are done after one turn, which is no surprise for the processor.
                loop {
                    let from = self.count + listed;
                    for end in &mut self.ends[from..from + AT_ONCE] {
                        *end = start + bits.trailing_zeros();
                        bits &= bits.wrapping_sub(1);
                    }
                    listed += AT_ONCE;
                    if listed >= found {
                        break;
                    }
                }
                self.count += found;
                self.scanned += BLOCK;
            }
        }
    }
}

/// A bit for each byte that is this one, the first lowest.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: tables are read a tenth slower without it
fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
    let mut bits = 0;
    for (k, part) in block.as_chunks::<16>().0.iter().enumerate() {
        let both = u128::from_le_bytes(*part);
        // SAFETY: these are SSE2, which every x86-64 processor has.
        let found = unsafe {
            let bytes = _mm_set_epi64x((both >> 64) as i64, both as i64);
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8)))
        };
        bits |= u64::from(found as u16) << (16 * k);
    }
    bits
}

/// A bit for each byte that is this one, the first lowest.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
fn equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    block
        .iter()
        .rev()
        .fold(0, |bits, b| bits << 1 | u64::from(*b == byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    #[test]
    fn every_end_is_listed_once_and_in_order() {
        let mut random = Random::new(3, Stream::Start, 0);
        for (length, one_in) in [
            (0, 2),
            (63, 2),
            (64, 1),
            (3000, 1),
            (9000, 3),
            (20_000, 500),
        ] {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    if random.below(one_in) == 0 {
                        [b',', b' ', b'\n', b'\t'][random.below(4) as usize]
                    } else {
                        [b'0', b'9', b'-', 0x80, 0xFF, b'!'][random.below(6) as usize]
                    }
                })
                .collect();
            let whole = length / BLOCK * BLOCK;
            for stop in [b' ', b',', 0xFF] {
                let ends = |b: u8| b == stop;
                let mut stops = Stops::new(&bytes, stop);
                for at in (0..whole).filter(|&at| ends(bytes[at])) {
                    assert_eq!(stops.peek(), at);
                    stops.pass();
                }
                assert!(stops.peek() >= length);
                // Jumping ahead loses nothing behind the place.
                let mut stops = Stops::new(&bytes, stop);
                let mut at = 0;
                while at < whole {
                    stops.go_to(at);
                    // Blocks begin anew where a jump went beyond what was listed.
                    let next = (at..length).find(|&n| ends(bytes[n])).unwrap_or(usize::MAX);
                    let found = stops.peek();
                    assert!(found == next || found >= length, "{at} {found} {next}");
                    at += 1 + random.below(5000) as usize;
                }
            }
        }
    }
}
