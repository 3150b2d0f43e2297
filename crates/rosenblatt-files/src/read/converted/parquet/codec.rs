//! How pages are compressed.
//!
//! A page's header says how long its bytes are; nothing is allocated by that, and bytes that come
//! out longer or shorter are refused.

use std::io::Read;

use super::super::lz4::{self, copy, literal};
use super::damaged;
use rosenblatt_core::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Snappy,
    Gzip,
    Zstd,
    Lz4,
    /// LZ4 with lengths before each block, as older writers have it.
    FramedLz4,
}

impl Codec {
    pub(super) fn of(number: i64) -> Result<Self> {
        Ok(match number {
            0 => Codec::None,
            1 => Codec::Snappy,
            2 => Codec::Gzip,
            5 => Codec::FramedLz4,
            6 => Codec::Zstd,
            7 => Codec::Lz4,
            other => {
                let name = match other {
                    3 => "LZO".to_owned(),
                    4 => "Brotli".to_owned(),
                    _ => format!("method {other}"),
                };
                return Err(Error::data(format!("the columns are compressed by {name}"))
                    .remedy("write the file with compression snappy, zstd, gzip or lz4"));
            }
        })
    }

    /// The bytes, which are to be so many.
    pub(super) fn unpack(self, packed: &[u8], len: usize) -> Result<Vec<u8>> {
        let room = packed.len().saturating_mul(8);
        let found = match self {
            Codec::None => packed.to_vec(),
            Codec::Snappy => snappy(packed, len)?,
            Codec::Gzip => read(flate2::read::MultiGzDecoder::new(packed), len, room)?,
            Codec::Zstd if len <= room => match zstd::bulk::decompress(packed, len) {
                Ok(found) => found,
                Err(e) => return Err(broken(&e)),
            },
            Codec::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(packed);
                read(decoder.map_err(|e| broken(&e))?, len, room)?
            }
            Codec::Lz4 => unpack_lz4(packed, len)?,
            Codec::FramedLz4 => framed_lz4(packed, len).or_else(|_| unpack_lz4(packed, len))?,
        };
        match found.len() == len {
            true => Ok(found),
            false => Err(damaged(&format!(
                "a page has {} bytes, and its header promises {len}",
                found.len()
            ))),
        }
    }
}

fn broken(error: &std::io::Error) -> Error {
    damaged(&format!("compressed data are broken ({error})"))
}

/// Reads `len` bytes, with `room` made at first for so many.
fn read(reader: impl Read, len: usize, room: usize) -> Result<Vec<u8>> {
    // One more, to tell that there are more.
    let limit = len as u64 + 1;
    let mut bytes = Vec::with_capacity(len.min(room));
    reader
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|e| broken(&e))?;
    Ok(bytes)
}

fn short() -> Error {
    damaged("compressed data end early")
}

/// Snappy's raw format.
fn snappy(packed: &[u8], limit: usize) -> Result<Vec<u8>> {
    let mut at = 0;
    // The length, which the header of the page says too.
    while *packed.get(at).ok_or_else(short)? >= 0x80 {
        at += 1;
    }
    at += 1;
    let mut out = Vec::new();
    while at < packed.len() {
        let tag = packed[at];
        at += 1;
        let bytes = |at: usize, n: usize| -> Result<usize> {
            let field = packed.get(at..at + n).ok_or_else(short)?;
            Ok(field.iter().rev().fold(0, |v, &b| v << 8 | usize::from(b)))
        };
        match tag & 3 {
            0 => {
                let mut len = usize::from(tag >> 2);
                if len >= 60 {
                    let n = len - 59;
                    len = bytes(at, n)?;
                    at += n;
                }
                literal(&mut out, packed, &mut at, len + 1, limit).map_err(damaged)?;
            }
            1 => {
                let back = usize::from(tag >> 5) << 8 | bytes(at, 1)?;
                at += 1;
                let len = 4 + usize::from(tag >> 2 & 7);
                copy(&mut out, back, len, limit).map_err(damaged)?;
            }
            kind => {
                let n = if kind == 2 { 2 } else { 4 };
                let back = bytes(at, n)?;
                at += n;
                let len = 1 + usize::from(tag >> 2);
                copy(&mut out, back, len, limit).map_err(damaged)?;
            }
        }
    }
    Ok(out)
}

/// A block of LZ4.
fn unpack_lz4(packed: &[u8], limit: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    lz4::block(&mut out, packed, limit).map_err(damaged)?;
    Ok(out)
}

/// Blocks of LZ4, each behind its length and that of its packed bytes (big-endian).
fn framed_lz4(packed: &[u8], limit: usize) -> Result<Vec<u8>> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < packed.len() {
        let field = |at: usize| -> Result<usize> {
            let four = packed.get(at..at + 4).ok_or_else(short)?;
            Ok(four.iter().fold(0, |v, &b| v << 8 | usize::from(b)))
        };
        let (len, size) = (field(at)?, field(at + 4)?);
        at += 8;
        let block = at.checked_add(size).and_then(|end| packed.get(at..end));
        let left = limit - out.len().min(limit);
        out.extend(unpack_lz4(block.ok_or_else(short)?, len.min(left))?);
        at += size;
    }
    Ok(out)
}
