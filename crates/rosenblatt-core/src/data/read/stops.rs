//! Bytes that end cells or tokens, found ahead.
//!
//! If the next cell could only be begun once the digits of this one were understood, the
//! processor would work on one cell at a time. So the bytes that end cells are found first,
//! 64 at a time and a few thousand ahead, and the cells between them can be read side by side.

#[cfg(target_arch = "x86_64")]
use crate::simd;

/// Bytes that are looked at together.
pub(crate) const BLOCK: usize = 64;

/// Blocks that are looked at ahead.
const AHEAD: usize = 32;

/// Ends that are listed without asking whether a block has so many.
const AT_ONCE: usize = 16;

/// Ends that may be asked for at once.
const MOST: usize = 16;

/// What to find.
pub(crate) trait Mark: Copy {
    /// A bit for each byte that is one, the first lowest.
    fn find<const LEVEL: u8>(self, block: &[u8; BLOCK]) -> u64;
}

/// This byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Byte(pub(crate) u8);

/// This byte or a newline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrNewline(pub(crate) u8);

/// A colon, or a blank or any byte below, as newlines and tabs are.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // elsewhere tokens are read one by one
pub(crate) struct ColonOrBlank;

/// The marks in some text, one after the other.
#[derive(Debug)]
pub(crate) struct Stops<'a, M> {
    bytes: &'a [u8],
    mark: M,
    ends: Box<[u32; MOST + BLOCK * AHEAD + AT_ONCE]>,
    next: usize,
    count: usize,
    /// Up to where marks are listed.
    scanned: usize,
}

impl<'a, M: Mark> Stops<'a, M> {
    /// The marks in `bytes`, which are fewer than 2³².
    pub(crate) fn new(bytes: &'a [u8], mark: M) -> Self {
        Stops {
            bytes,
            mark,
            ends: Box::new([0; MOST + BLOCK * AHEAD + AT_ONCE]),
            next: 0,
            count: 0,
            scanned: 0,
        }
    }

    /// Goes on with other text.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // see above
    #[inline(always)]
    pub(crate) fn restart(&mut self, bytes: &'a [u8]) {
        self.bytes = bytes;
        (self.next, self.count, self.scanned) = (0, 0, 0);
    }

    /// The next mark; beyond all bytes where none is left or fewer than 64 bytes are.
    #[inline(always)]
    pub(crate) fn peek<const LEVEL: u8>(&mut self) -> usize {
        if self.next == self.count {
            self.list::<LEVEL>(1);
        }
        self.ends[self.next] as usize
    }

    /// The next few of them, up to sixteen.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // see above
    #[inline(always)]
    pub(crate) fn few<const FEW: usize, const LEVEL: u8>(&mut self) -> &[u32; FEW] {
        const { assert!(FEW <= MOST) };
        if self.next + FEW > self.count {
            self.list::<LEVEL>(FEW);
        }
        let ends = self.ends[self.next..].first_chunk();
        ends.unwrap_or(&[u32::MAX; FEW])
    }

    /// The last of the next `count`, which are listed.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // see above
    #[inline(always)]
    pub(crate) fn last_of(&self, count: usize) -> usize {
        self.ends[self.next + count - 1] as usize
    }

    /// Goes on behind the next `count` of them.
    #[inline(always)]
    pub(crate) fn pass(&mut self, count: usize) {
        self.next = (self.next + count).min(self.count);
    }

    /// Leaves out marks before `at`.
    #[inline(always)]
    pub(crate) fn go_to(&mut self, at: usize) {
        while self.next < self.count && (self.ends[self.next] as usize) < at {
            self.next += 1;
        }
        if self.next == self.count {
            self.scanned = self.scanned.max(at);
        }
    }

    /// Lists the marks of the next blocks until there are so many, or no blocks are left.
    #[inline(always)] // compiled for the processor that its caller was compiled for
    fn list<const LEVEL: u8>(&mut self, least: usize) {
        if self.next < self.count {
            self.ends.copy_within(self.next..self.count, 0);
        }
        (self.next, self.count) = (0, self.count - self.next);
        // What changes with every block stays in registers.
        let (mut count, mut scanned) = (self.count, self.scanned);
        while count < least {
            let rest = self.bytes.get(scanned..).unwrap_or_default();
            let blocks = rest.as_chunks::<BLOCK>().0;
            if blocks.is_empty() {
                self.ends[count..count + MOST].fill(u32::MAX);
                break;
            }
            for block in blocks.iter().take(AHEAD) {
                let bits = self.mark.find::<LEVEL>(block);
                note::<LEVEL>(bits, scanned as u32, &mut self.ends[count..]);
                count += bits.count_ones() as usize;
                scanned += BLOCK;
            }
        }
        (self.count, self.scanned) = (count, scanned);
    }
}

/// Lists the marks of the block at `start`.
#[inline(always)]
fn note<const LEVEL: u8>(mut bits: u64, start: u32, mut ends: &mut [u32]) {
    // Most blocks are done after one turn, which is no surprise for the processor.
    while let Some((places, rest)) = ends.split_first_chunk_mut() {
        bits = first_places::<LEVEL>(bits, start, places);
        if bits == 0 {
            break;
        }
        ends = rest;
    }
}

/// Writes where the first bits of `bits` are, counted from `start`; gives the others.
#[inline(always)]
fn first_places<const LEVEL: u8>(bits: u64, start: u32, places: &mut [u32; AT_ONCE]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(text) = simd::Text::at::<LEVEL>() {
        return text.first_places(bits, start, places);
    }
    let mut bits = bits;
    for place in places {
        *place = start + bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
    }
    bits
}

impl Mark for Byte {
    #[inline(always)]
    fn find<const LEVEL: u8>(self, block: &[u8; BLOCK]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(text) = simd::Text::at::<LEVEL>() {
            return text.equal(block, self.0);
        }
        equal(block, self.0)
    }
}

impl Mark for OrNewline {
    #[inline(always)]
    fn find<const LEVEL: u8>(self, block: &[u8; BLOCK]) -> u64 {
        Byte(self.0).find::<LEVEL>(block) | Byte(b'\n').find::<LEVEL>(block)
    }
}

impl Mark for ColonOrBlank {
    #[inline(always)]
    fn find<const LEVEL: u8>(self, block: &[u8; BLOCK]) -> u64 {
        let colons = Byte(b':').find::<LEVEL>(block);
        #[cfg(target_arch = "x86_64")]
        if let Some(text) = simd::Text::at::<LEVEL>() {
            return colons | text.up_to(block, b' ');
        }
        colons | plain(block, |b| b <= b' ')
    }
}

#[inline(always)]
fn plain(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
    block
        .iter()
        .rev()
        .fold(0, |bits, b| bits << 1 | u64::from(is(*b)))
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // measured: with `Text::numbers`, text is read twice as fast
mod wide {
    use super::{AT_ONCE, BLOCK};
    use crate::simd::Text;
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask,
        _mm512_cmple_epu8_mask, _mm512_cvtepu8_epi32, _mm512_loadu_si512,
        _mm512_maskz_compress_epi8, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_storeu_si512,
    };

    static COUNTED: [u8; BLOCK] = {
        let mut bytes = [0; BLOCK];
        let mut k = 0;
        while k < BLOCK {
            bytes[k] = k as u8;
            k += 1;
        }
        bytes
    };

    #[inline(always)]
    fn load(block: &[u8; BLOCK]) -> __m512i {
        // SAFETY: the whole block is read; the callers hold a `Text`.
        unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
    }

    // SAFETY of all below: a `Text` says that the processor has every feature that is used.
    impl Text {
        #[inline(always)]
        pub(super) fn equal(self, block: &[u8; BLOCK], byte: u8) -> u64 {
            // SAFETY: see above.
            unsafe { _mm512_cmpeq_epi8_mask(load(block), _mm512_set1_epi8(byte as i8)) }
        }

        #[inline(always)]
        pub(super) fn up_to(self, block: &[u8; BLOCK], byte: u8) -> u64 {
            // SAFETY: see above.
            unsafe { _mm512_cmple_epu8_mask(load(block), _mm512_set1_epi8(byte as i8)) }
        }

        #[inline(always)]
        pub(super) fn first_places(
            self,
            bits: u64,
            start: u32,
            places: &mut [u32; AT_ONCE],
        ) -> u64 {
            // SAFETY: see above; as many numbers are written as there are.
            unsafe {
                let all = _mm512_maskz_compress_epi8(bits, load(&COUNTED));
                let first = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(all));
                let first = _mm512_add_epi32(first, _mm512_set1_epi32(start as i32));
                _mm512_storeu_si512(places.as_mut_ptr().cast(), first);
            }
            if bits.count_ones() as usize <= AT_ONCE {
                return 0;
            }
            (0..AT_ONCE).fold(bits, |bits, _| bits & bits.wrapping_sub(1))
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
    plain(block, |b| b == byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};
    use crate::simd::BASE;

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
                let mut stops = Stops::new(&bytes, Byte(stop));
                for at in (0..whole).filter(|&at| ends(bytes[at])) {
                    assert_eq!(stops.peek::<BASE>(), at);
                    stops.pass(1);
                }
                assert!(stops.peek::<BASE>() >= length);
                // Jumping ahead loses nothing behind the place.
                let mut stops = Stops::new(&bytes, Byte(stop));
                let mut at = 0;
                while at < whole {
                    stops.go_to(at);
                    // Blocks begin anew where a jump went beyond what was listed.
                    let next = (at..length).find(|&n| ends(bytes[n])).unwrap_or(usize::MAX);
                    let found = stops.peek::<BASE>();
                    assert!(found == next || found >= length, "{at} {found} {next}");
                    at += 1 + random.below(5000) as usize;
                }
            }
        }
    }
}
