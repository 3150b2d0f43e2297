//! Flatbuffers, as far as the messages of Arrow need them. Every offset is checked.

use super::damaged;
use rosenblatt_core::Result;

/// A table: fields by number, each of which may be missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flat<'a> {
    bytes: &'a [u8],
    at: usize,
    fields: usize,
    count: usize,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found
        .copied()
        .ok_or_else(|| damaged("a message ends early"))
}

fn offset(bytes: &[u8], at: usize) -> Result<usize> {
    let distance = u32::from_le_bytes(number(bytes, at)?) as usize;
    Ok(at.saturating_add(distance))
}

impl<'a> Flat<'a> {
    /// The table that these bytes are about.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Self> {
        Self::at(bytes, offset(bytes, 0)?)
    }

    fn at(bytes: &'a [u8], at: usize) -> Result<Self> {
        let back = i64::from(i32::from_le_bytes(number(bytes, at)?));
        let fields = usize::try_from(at as i64 - back);
        let fields = fields.map_err(|_| damaged("a message refers to what is not there"))?;
        let size = usize::from(u16::from_le_bytes(number(bytes, fields)?));
        Ok(Flat {
            bytes,
            at,
            fields,
            count: size.saturating_sub(4) / 2,
        })
    }

    /// Where a field is.
    fn field(&self, id: usize) -> Result<Option<usize>> {
        if id >= self.count {
            return Ok(None);
        }
        let at = u16::from_le_bytes(number(self.bytes, self.fields + 4 + 2 * id)?);
        Ok((at > 0).then(|| self.at + usize::from(at)))
    }

    pub(super) fn byte(&self, id: usize, otherwise: u8) -> Result<u8> {
        let Some(at) = self.field(id)? else {
            return Ok(otherwise);
        };
        Ok(number::<1>(self.bytes, at)?[0])
    }

    pub(super) fn short(&self, id: usize, otherwise: i16) -> Result<i16> {
        let Some(at) = self.field(id)? else {
            return Ok(otherwise);
        };
        Ok(i16::from_le_bytes(number(self.bytes, at)?))
    }

    pub(super) fn int(&self, id: usize, otherwise: i32) -> Result<i32> {
        let Some(at) = self.field(id)? else {
            return Ok(otherwise);
        };
        Ok(i32::from_le_bytes(number(self.bytes, at)?))
    }

    pub(super) fn long(&self, id: usize) -> Result<i64> {
        let Some(at) = self.field(id)? else {
            return Ok(0);
        };
        Ok(i64::from_le_bytes(number(self.bytes, at)?))
    }

    pub(super) fn table(&self, id: usize) -> Result<Option<Flat<'a>>> {
        let at = self.field(id)?;
        at.map(|at| Self::at(self.bytes, offset(self.bytes, at)?))
            .transpose()
    }

    /// The elements of a list, `size` bytes each.
    fn list(&self, id: usize, size: usize) -> Result<Option<(usize, &'a [u8])>> {
        let Some(at) = self.field(id)? else {
            return Ok(None);
        };
        let at = offset(self.bytes, at)?;
        let count = u32::from_le_bytes(number(self.bytes, at)?) as usize;
        let end = count.checked_mul(size).and_then(|n| n.checked_add(at + 4));
        let found = end.and_then(|end| self.bytes.get(at + 4..end));
        let found = found.ok_or_else(|| damaged("a list in a message is longer than it"))?;
        Ok(Some((at + 4, found)))
    }

    pub(super) fn text(&self, id: usize) -> Result<String> {
        let bytes = self.list(id, 1)?.map_or(&[][..], |(_, bytes)| bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("a name is not UTF-8"))?;
        Ok(text.to_owned())
    }

    pub(super) fn tables(&self, id: usize) -> Result<Vec<Flat<'a>>> {
        let Some((start, list)) = self.list(id, 4)? else {
            return Ok(Vec::new());
        };
        let places = (0..list.len() / 4).map(|k| start + 4 * k);
        places
            .map(|at| Self::at(self.bytes, offset(self.bytes, at)?))
            .collect()
    }

    /// Numbers of 64 bits, or structures of several.
    pub(super) fn longs(&self, id: usize, each: usize) -> Result<Vec<i64>> {
        let list = self.list(id, 8 * each)?.map_or(&[][..], |(_, list)| list);
        let (eights, _) = list.as_chunks::<8>();
        Ok(eights
            .iter()
            .map(|eight| i64::from_le_bytes(*eight))
            .collect())
    }
}
