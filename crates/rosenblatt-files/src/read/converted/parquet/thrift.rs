//! Thrift's compact protocol, as far as the headers of Parquet need it.

use super::damaged;
use rosenblatt_core::Result;

pub(super) const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Structures within structures, at most.
const DEEPEST: usize = 64;

/// A reader of structures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Thrift {
            bytes,
            at: 0,
            depth: 0,
        }
    }

    /// How many bytes were read.
    pub(super) fn read(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(|| damaged("a header ends early"))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damaged("a number in a header is too long"))
    }

    /// A whole number.
    pub(super) fn int(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A length or a count.
    pub(super) fn size(&mut self) -> Result<usize> {
        let value = self.int()?;
        usize::try_from(value).map_err(|_| damaged("a size in a header is negative"))
    }

    pub(super) fn binary(&mut self) -> Result<&'a [u8]> {
        let len = self.varint()? as usize;
        let found = self
            .at
            .checked_add(len)
            .and_then(|end| self.bytes.get(self.at..end));
        self.at = self.at.saturating_add(len);
        found.ok_or_else(|| damaged("a header ends early"))
    }

    pub(super) fn text(&mut self) -> Result<String> {
        let bytes = self.binary()?;
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("a name is not UTF-8"))?;
        Ok(text.to_owned())
    }

    /// Goes through the fields of a structure; `field` says whether it has read the one of this
    /// number and type, else it is passed over.
    pub(super) fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, i64, u8) -> Result<bool>,
    ) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(damaged("a header is nested too deeply"));
        }
        let mut id = 0;
        loop {
            let head = self.byte()?;
            let kind = head & 15;
            if kind == 0 {
                self.depth -= 1;
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.int()?,
                delta => id.saturating_add(i64::from(delta)),
            };
            if !field(self, id, kind)? {
                self.skip(kind)?;
            }
        }
    }

    /// Goes through a list.
    pub(super) fn list(&mut self, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let (count, _) = self.list_head()?;
        (0..count).try_for_each(|_| each(self))
    }

    fn list_head(&mut self) -> Result<(usize, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()? as usize,
            count => usize::from(count),
        };
        match count <= self.bytes.len().saturating_sub(self.at) {
            true => Ok((count, head & 15)),
            false => Err(damaged("a list in a header is longer than the header")),
        }
    }

    fn skip(&mut self, kind: u8) -> Result<()> {
        match kind {
            TRUE | FALSE => {}
            BYTE => self.at += 1,
            4..=6 => {
                self.varint()?;
            }
            DOUBLE => self.at += 8,
            BINARY => {
                self.binary()?;
            }
            LIST | SET => {
                let (count, kind) = self.list_head()?;
                for _ in 0..count {
                    self.skip_element(kind)?;
                }
            }
            MAP => {
                let count = self.varint()? as usize;
                if count > self.bytes.len() {
                    return Err(damaged("a map in a header is longer than the header"));
                }
                let kinds = if count > 0 { self.byte()? } else { 0 };
                for _ in 0..count {
                    self.skip_element(kinds >> 4)?;
                    self.skip_element(kinds & 15)?;
                }
            }
            STRUCT => self.fields(|_, _, _| Ok(false))?,
            _ => return Err(damaged("a header has a field of no known type")),
        }
        Ok(())
    }

    /// Passes over an element of a list, where a truth value takes a byte.
    fn skip_element(&mut self, kind: u8) -> Result<()> {
        match kind {
            TRUE | FALSE => self.byte().map(|_| ()),
            kind => self.skip(kind),
        }
    }
}
