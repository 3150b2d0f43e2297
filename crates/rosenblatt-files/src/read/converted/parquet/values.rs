//! The values of a page, one after the other, however they are encoded.

use super::super::scalar::Kind;
use super::damaged;
use crate::read::number::Stored;
use rosenblatt_core::{Error, Result};

pub(super) fn short() -> Error {
    damaged("the values of a page end early")
}

pub(super) fn no_entry() -> Error {
    damaged("a page refers to no entry of its dictionary")
}

/// Numbers of a few bits, in runs of one value and packed ones.
#[derive(Debug)]
pub(super) struct Hybrid {
    bytes: Vec<u8>,
    at: usize,
    width: u32,
    /// Values left of the run, and what they are if they are all the same.
    left: u64,
    same: Option<u32>,
    /// The next bit of packed values.
    bit: usize,
}

impl Hybrid {
    pub(super) fn new(bytes: Vec<u8>, width: u32) -> Result<Self> {
        if width > 32 {
            return Err(damaged("the numbers of a page have more than 32 bits"));
        }
        Ok(Hybrid {
            bytes,
            at: 0,
            width,
            left: 0,
            same: None,
            bit: 0,
        })
    }

    pub(super) fn next(&mut self) -> Result<u32> {
        while self.left == 0 {
            self.begin_run()?;
        }
        self.left -= 1;
        if let Some(value) = self.same {
            return Ok(value);
        }
        let (first, shift) = (self.bit / 8, self.bit % 8);
        self.bit += self.width as usize;
        let eight = self.bytes.get(first..).and_then(|b| b.first_chunk());
        let value = match eight {
            Some(eight) => u64::from_le_bytes(*eight),
            None => {
                let end = self.bit.div_ceil(8);
                let bytes = self.bytes.get(first..end).ok_or_else(short)?;
                bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
            }
        };
        Ok((value >> shift & ((1u64 << self.width) - 1)) as u32)
    }

    /// The next value, and how many times it comes at least, up to `most`.
    pub(super) fn run(&mut self, most: usize) -> Result<(u32, usize)> {
        while self.left == 0 {
            self.begin_run()?;
        }
        let (value, times) = match (self.same, self.width) {
            (Some(value), _) => (value, self.left),
            (None, 1) => match self.same_bits() {
                Some(found) => found,
                None => return Ok((self.next()?, 1)),
            },
            _ => return Ok((self.next()?, 1)),
        };
        let n = self.left.min(most as u64).min(times);
        self.left -= n;
        if self.same.is_none() {
            self.bit += n as usize;
        }
        Ok((value, n as usize))
    }

    /// The next bit, and how many like it follow one another; nothing near the end.
    fn same_bits(&self) -> Option<(u32, u64)> {
        let (first, shift) = (self.bit / 8, self.bit % 8);
        let eight = self.bytes.get(first..)?.first_chunk()?;
        let bits = u64::from_le_bytes(*eight) >> shift;
        let (value, times) = match bits & 1 {
            1 => (1, bits.trailing_ones()),
            _ => (0, bits.trailing_zeros()),
        };
        // Those shifted in are none.
        Some((value, u64::from(times.min(64 - shift as u32))))
    }

    fn begin_run(&mut self) -> Result<()> {
        let head = varint(&self.bytes, &mut self.at)?;
        if head & 1 == 0 {
            let n = self.width.div_ceil(8) as usize;
            let bytes = self.bytes.get(self.at..self.at + n).ok_or_else(short)?;
            self.same = Some(bytes.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b)));
            self.at += n;
            self.left = head >> 1;
        } else {
            let groups = head >> 1;
            self.same = None;
            self.bit = 8 * self.at;
            let bytes = groups.saturating_mul(u64::from(self.width));
            // The last group may be cut short.
            self.at = self.at.saturating_add(bytes as usize).min(self.bytes.len());
            self.left = groups.saturating_mul(8);
        }
        Ok(())
    }
}

fn varint(bytes: &[u8], at: &mut usize) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or_else(short)?;
        *at += 1;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(damaged("a number in a page is too long"))
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Whole numbers as packed differences (DELTA_BINARY_PACKED).
#[derive(Debug)]
pub(super) struct Delta {
    bytes: std::sync::Arc<Vec<u8>>,
    at: usize,
    /// Values of a block of differences, and of each of its parts.
    block: u64,
    part: u64,
    count: u64,
    given: u64,
    last: i64,
    least: i64,
    /// The widths of the parts of the block, and which part is next.
    widths: usize,
    next_part: u64,
    width: u32,
    left_in_part: u64,
    left_in_block: u64,
    bit: usize,
}

impl Delta {
    pub(super) fn new(bytes: std::sync::Arc<Vec<u8>>, mut at: usize) -> Result<Self> {
        let block = varint(&bytes, &mut at)?;
        let parts = varint(&bytes, &mut at)?;
        let count = varint(&bytes, &mut at)?;
        let last = zigzag(varint(&bytes, &mut at)?);
        let part = block.checked_div(parts).unwrap_or(0);
        if part == 0 || part % 8 != 0 || block > 1 << 20 || parts > 1 << 10 {
            return Err(damaged("the blocks of a page have an impossible size"));
        }
        Ok(Delta {
            bytes,
            at,
            block,
            part,
            count,
            given: 0,
            last,
            least: 0,
            widths: 0,
            next_part: 0,
            width: 0,
            left_in_part: 0,
            left_in_block: 0,
            bit: 0,
        })
    }

    pub(super) fn next(&mut self) -> Result<i64> {
        if self.given == self.count {
            return Err(short());
        }
        self.given += 1;
        if self.given == 1 {
            return Ok(self.last);
        }
        if self.left_in_block == 0 {
            self.least = zigzag(varint(&self.bytes, &mut self.at)?);
            self.widths = self.at;
            self.at += (self.block / self.part) as usize;
            (self.left_in_block, self.next_part, self.left_in_part) = (self.block, 0, 0);
        }
        if self.left_in_part == 0 {
            let width = self.bytes.get(self.widths + self.next_part as usize);
            self.width = u32::from(*width.ok_or_else(short)?);
            if self.width > 64 {
                return Err(damaged("the numbers of a page have more than 64 bits"));
            }
            self.next_part += 1;
            self.left_in_part = self.part;
            self.bit = 8 * self.at;
            self.at += (self.part * u64::from(self.width) / 8) as usize;
        }
        let (first, shift) = (self.bit / 8, self.bit % 8);
        self.bit += self.width as usize;
        let bytes = self
            .bytes
            .get(first..self.bit.div_ceil(8))
            .ok_or_else(short)?;
        let value = bytes
            .iter()
            .rev()
            .fold(0u128, |v, &b| v << 8 | u128::from(b));
        let value = (value >> shift & ((1u128 << self.width) - 1)) as i64;
        self.last = self.last.wrapping_add(self.least).wrapping_add(value);
        self.left_in_part -= 1;
        self.left_in_block -= 1;
        Ok(self.last)
    }

    /// Where the bytes behind the last value begin.
    pub(super) fn end(mut self) -> Result<usize> {
        while self.given < self.count {
            self.next()?;
        }
        Ok(self.at.min(self.bytes.len()))
    }
}

/// Texts, their lengths as differences before them (DELTA_LENGTH_BYTE_ARRAY).
#[derive(Debug)]
pub(super) struct Lengths {
    lengths: Delta,
    bytes: std::sync::Arc<Vec<u8>>,
    at: usize,
}

impl Lengths {
    pub(super) fn new(bytes: std::sync::Arc<Vec<u8>>, at: usize) -> Result<Self> {
        let start = Delta::new(bytes.clone(), at)?.end()?;
        Ok(Lengths {
            lengths: Delta::new(bytes.clone(), at)?,
            bytes,
            at: start,
        })
    }

    pub(super) fn next(&mut self) -> Result<&[u8]> {
        let len = usize::try_from(self.lengths.next()?).map_err(|_| short())?;
        let end = self.at.checked_add(len).ok_or_else(short)?;
        let found = self.bytes.get(self.at..end).ok_or_else(short)?;
        self.at = end;
        Ok(found)
    }
}

/// The values of a page, as their physical type has them.
#[derive(Debug)]
pub(super) enum Values {
    /// One behind the other; texts behind their lengths.
    Plain {
        bytes: Vec<u8>,
        at: usize,
    },
    /// Truth values, a bit each.
    Bits {
        bytes: Vec<u8>,
        at: usize,
    },
    /// Truth values in runs.
    Runs(Hybrid),
    /// Numbers of entries in the dictionary.
    Entries(Hybrid),
    Delta(Delta),
    Lengths(Lengths),
    /// Texts, each as how much it shares with the one before and the rest of it.
    Shared {
        shared: Delta,
        rest: Lengths,
        last: Vec<u8>,
    },
    /// The first bytes of all numbers, then the second, and so on.
    Split {
        bytes: Vec<u8>,
        next: usize,
        value: Vec<u8>,
    },
}

/// The physical type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Physical {
    Bool,
    /// Bytes of a fixed number: numbers, and others.
    Fixed(usize),
    /// Texts.
    Bytes,
}

impl Values {
    /// The values that stand in these bytes from `at` on.
    pub(super) fn new(
        encoding: i64,
        physical: Physical,
        mut bytes: Vec<u8>,
        mut at: usize,
    ) -> Result<Self> {
        if encoding != 0 {
            bytes.drain(..at);
            at = 0;
        }
        let unknown = || {
            Error::data(format!(
                "a page has the encoding {encoding}, which is not known here"
            ))
            .remedy("write the file anew, for instance with pyarrow or polars")
        };
        let shared = |bytes: Vec<u8>| std::sync::Arc::new(bytes);
        Ok(match (encoding, physical) {
            (0, Physical::Bool) => Values::Bits { bytes, at: 8 * at },
            (0, _) => Values::Plain { bytes, at },
            (2 | 8, _) => {
                let (&width, rest) = bytes.split_first().ok_or_else(short)?;
                Values::Entries(Hybrid::new(rest.to_vec(), u32::from(width))?)
            }
            (3, Physical::Bool) => {
                let bytes = bytes.get(4..).ok_or_else(short)?;
                Values::Runs(Hybrid::new(bytes.to_vec(), 1)?)
            }
            (5, Physical::Fixed(4 | 8)) => Values::Delta(Delta::new(shared(bytes), 0)?),
            (6, Physical::Bytes) => Values::Lengths(Lengths::new(shared(bytes), 0)?),
            (7, Physical::Bytes | Physical::Fixed(_)) => {
                let bytes = shared(bytes);
                let rest = Delta::new(bytes.clone(), 0)?.end()?;
                Values::Shared {
                    shared: Delta::new(bytes.clone(), 0)?,
                    rest: Lengths::new(bytes, rest)?,
                    last: Vec::new(),
                }
            }
            (9, Physical::Fixed(_)) => Values::Split {
                bytes,
                next: 0,
                value: Vec::new(),
            },
            _ => return Err(unknown()),
        })
    }

    /// Appends the next `n` values, which are plain numbers of `size` bytes each; `entries` are
    /// those of the dictionary.
    pub(super) fn numbers<T: Stored>(
        &mut self,
        (kind, size): (Kind, usize),
        entries: &[T],
        n: usize,
        to: &mut Vec<T>,
    ) -> Result<()> {
        match self {
            Values::Plain { bytes, at } => {
                let end = n.checked_mul(size).and_then(|len| at.checked_add(len));
                let end = end.ok_or_else(short)?;
                kind.numbers(bytes.get(*at..end).ok_or_else(short)?, size, to)?;
                *at = end;
            }
            Values::Entries(numbers) => {
                let mut left = n;
                while left > 0 {
                    let (entry, times) = numbers.run(left)?;
                    let value = entries.get(entry as usize).ok_or_else(no_entry)?;
                    match times {
                        1 => to.push(*value),
                        _ => to.resize(to.len() + times, *value),
                    }
                    left -= times;
                }
            }
            _ => {
                for _ in 0..n {
                    self.next(Physical::Fixed(size), |value| kind.numbers(value, size, to))?;
                }
            }
        }
        Ok(())
    }

    /// Gives the bytes of the next value to `take`, unless it stands in a dictionary; truth values as one byte, numbers
    /// little-endian.
    pub(super) fn next<T>(
        &mut self,
        physical: Physical,
        take: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        match self {
            Values::Plain { bytes, at } => {
                let size = match physical {
                    Physical::Bytes => {
                        let field = bytes.get(*at..*at + 4).ok_or_else(short)?;
                        *at += 4;
                        field.iter().rev().fold(0, |v, &b| v << 8 | usize::from(b))
                    }
                    Physical::Fixed(size) => size,
                    Physical::Bool => 1,
                };
                let end = at.checked_add(size).ok_or_else(short)?;
                let value = bytes.get(*at..end).ok_or_else(short)?;
                *at = end;
                take(value)
            }
            Values::Bits { bytes, at } => {
                let byte = *bytes.get(*at / 8).ok_or_else(short)?;
                let value = byte >> (*at % 8) & 1;
                *at += 1;
                take(&[value])
            }
            Values::Runs(runs) => take(&[runs.next()? as u8]),
            Values::Entries(_) => Err(no_entry()),
            Values::Delta(delta) => {
                let bytes = delta.next()?.to_le_bytes();
                take(match physical {
                    Physical::Fixed(4) => &bytes[..4],
                    _ => &bytes,
                })
            }
            Values::Lengths(texts) => take(texts.next()?),
            Values::Shared { shared, rest, last } => {
                let keep = usize::try_from(shared.next()?).unwrap_or(usize::MAX);
                if keep > last.len() {
                    return Err(damaged("a text shares more than there is"));
                }
                last.truncate(keep);
                last.extend_from_slice(rest.next()?);
                match physical {
                    Physical::Fixed(size) if last.len() != size => {
                        Err(damaged("a value has another length than its type"))
                    }
                    _ => take(last),
                }
            }
            Values::Split { bytes, next, value } => {
                let Physical::Fixed(size) = physical else {
                    return Err(short());
                };
                let count = bytes.len().checked_div(size).unwrap_or(0);
                if *next >= count {
                    return Err(short());
                }
                value.clear();
                value.extend((0..size).map(|k| bytes[k * count + *next]));
                *next += 1;
                take(value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_values_one_by_one() {
        // Twelve groups of packed bits, with long runs in them, and a run of one value.
        let mut bytes = vec![12 << 1 | 1];
        bytes.extend([
            0xFF, 0xFF, 0x0F, 0, 0, 0x80, 0xA5, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F,
        ]);
        bytes.extend([20 << 1, 1]);
        for most in [1, 3, 7, 1000] {
            let mut single = Hybrid::new(bytes.clone(), 1).unwrap();
            let mut runs = Hybrid::new(bytes.clone(), 1).unwrap();
            let mut left = 12 * 8 + 20;
            while left > 0 {
                let (value, times) = runs.run(most.min(left)).unwrap();
                assert!(times > 0 && times <= most.min(left));
                (0..times).for_each(|_| assert_eq!(single.next().unwrap(), value));
                left -= times;
            }
            assert!(runs.run(1).is_err() && single.next().is_err());
        }
    }
}
