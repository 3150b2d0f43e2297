//! The places of delimiters in text, found ahead of the cells between them.
//!
//! If the next cell could only be begun once the digits of this one were understood, the
//! processor would work on one cell at a time. So the bytes that end cells are found first,
//! 64 at a time and a few thousand ahead, and the cells between them can be read side by side.

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Blocks that are looked at ahead.
const AHEAD: usize = 32;

/// Places that are listed without asking whether a block has so many.
const AT_ONCE: usize = 16;

/// The places of a delimiter and of newlines in some text, one after the other.
#[derive(Debug)]
pub(crate) struct DelimiterIndex<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    places: Box<[u32; BLOCK * AHEAD + AT_ONCE]>,
    next: usize,
    count: usize,
    /// Up to where places are listed.
    scanned: usize,
}

impl<'a> DelimiterIndex<'a> {
    /// The places in `bytes`, which are fewer than 2³².
    pub(crate) fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        DelimiterIndex {
            bytes,
            delimiter,
            places: Box::new([0; BLOCK * AHEAD + AT_ONCE]),
            next: 0,
            count: 0,
            scanned: 0,
        }
    }

    /// The next place; beyond all bytes where none is left or fewer than 64 bytes are.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> usize {
        if self.next == self.count {
            self.list();
        }
        self.places[self.next] as usize
    }

    /// Goes on behind the next place.
    #[inline(always)]
    pub(crate) fn pass(&mut self) {
        self.next = (self.next + 1).min(self.count);
    }

    /// Leaves out places before `at`.
    #[inline(always)]
    pub(crate) fn go_to(&mut self, at: usize) {
        while self.next < self.count && (self.places[self.next] as usize) < at {
            self.next += 1;
        }
        if self.next == self.count {
            self.scanned = self.scanned.max(at);
        }
    }

    /// Lists the places in the next blocks until there is one, or no blocks are left.
    #[inline(always)] // compiled for the processor that its caller was compiled for
    fn list(&mut self) {
        (self.next, self.count) = (0, 0);
        while self.count == 0 {
            let rest = self.bytes.get(self.scanned..).unwrap_or_default();
            let blocks = rest.as_chunks::<BLOCK>().0;
            if blocks.is_empty() {
                self.places[0] = u32::MAX;
                break;
            }
            for block in blocks.iter().take(AHEAD) {
                let bits = equal(block, self.delimiter) | equal(block, b'\n');
                note(bits, self.scanned as u32, &mut self.places[self.count..]);
                self.count += bits.count_ones() as usize;
                self.scanned += BLOCK;
            }
        }
    }
}

/// Lists the places of the bits of a block that starts at `start`.
#[inline(always)]
fn note(mut bits: u64, start: u32, mut places: &mut [u32]) {
    // Most blocks are done after one turn, which is no surprise for the processor.
    while let Some((some, rest)) = places.split_first_chunk_mut::<AT_ONCE>() {
        for place in some {
            *place = start + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        }
        if bits == 0 {
            break;
        }
        places = rest;
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
    scalar_equal(block, byte)
}

/// The same, byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn scalar_equal(block: &[u8; BLOCK], byte: u8) -> u64 {
    let bytes = block.iter().rev();
    bytes.fold(0, |bits, &b| bits << 1 | u64::from(b == byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::internal::random::{Random, Stream};

    #[test]
    fn bytes_are_compared_as_one_by_one() {
        let all: Vec<u8> = (0..=255).chain(0..=255).collect();
        for start in 0..256 {
            let block = all[start..].first_chunk().unwrap();
            for byte in [b',', b'\n', 0, 255] {
                assert_eq!(equal(block, byte), scalar_equal(block, byte));
            }
        }
    }

    #[test]
    fn every_delimiter_is_listed_once_and_in_order() {
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
                let ends = |b: u8| b == stop || b == b'\n';
                let mut stops = DelimiterIndex::new(&bytes, stop);
                for at in (0..whole).filter(|&at| ends(bytes[at])) {
                    assert_eq!(stops.peek(), at);
                    stops.pass();
                }
                assert!(stops.peek() >= length);
                // Jumping ahead loses nothing behind the place.
                let mut stops = DelimiterIndex::new(&bytes, stop);
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
