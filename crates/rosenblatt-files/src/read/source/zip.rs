//! ZIP archives: of one file, which is read in their place, and of arrays (NPZ).
//!
//! What an archive says of sizes is not believed: nothing is allocated by it, and a file whose
//! checksum is another is refused.

use std::io::{self, Cursor, Read};

use rosenblatt_core::{Error, Result};

/// A file in an archive.
pub(crate) struct Entry {
    pub(crate) name: String,
    method: u16,
    flags: u16,
    checksum: u32,
    packed: u64,
    offset: u64,
}

/// Whether bytes begin as an archive does.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

fn damaged(why: &str) -> Error {
    Error::data(format!("the ZIP archive is damaged: {why}"))
        .remedy("fetch it again, or unpack it and name the file in it")
}

/// The number of so many bytes at a place.
fn number(bytes: &[u8], at: usize, size: usize) -> Result<u64> {
    let field = at.checked_add(size).and_then(|end| bytes.get(at..end));
    let field = field.ok_or_else(|| damaged("it ends early"))?;
    Ok(field.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
}

/// The files of an archive, folders and what systems add left out.
pub(crate) fn entries(bytes: &[u8]) -> Result<Vec<Entry>> {
    const END: usize = 22;
    let last = bytes.len().saturating_sub(END);
    let first = last.saturating_sub(usize::from(u16::MAX));
    let end = (first..=last)
        .rev()
        .find(|&at| bytes[at..].starts_with(b"PK\x05\x06"));
    let end = end.ok_or_else(|| damaged("its directory is missing"))?;
    let count = number(bytes, end + 10, 2)?;
    let mut at = number(bytes, end + 16, 4)? as usize;
    let mut found = Vec::new();
    for _ in 0..count {
        if !bytes
            .get(at..)
            .is_some_and(|rest| rest.starts_with(b"PK\x01\x02"))
        {
            return Err(damaged(
                "an entry of its directory is not where it should be",
            ));
        }
        let short = |offset| number(bytes, at + offset, 2);
        let (name, extra, comment) = (
            short(28)? as usize,
            short(30)? as usize,
            short(32)? as usize,
        );
        let text = |from: usize, len: usize| {
            bytes
                .get(from..from + len)
                .ok_or_else(|| damaged("it ends early"))
        };
        let (name_text, extra_text) = (text(at + 46, name)?, text(at + 46 + name, extra)?);
        let mut wide = wide_numbers(extra_text);
        let mut long = |offset| -> Result<u64> {
            match number(bytes, at + offset, 4)? {
                0xFFFF_FFFF => wide.next().ok_or_else(|| damaged("a size is missing")),
                n => Ok(n),
            }
        };
        let _unpacked = long(24)?;
        let entry = Entry {
            name: String::from_utf8_lossy(name_text).into_owned(),
            flags: short(8)? as u16,
            method: short(10)? as u16,
            checksum: number(bytes, at + 16, 4)? as u32,
            packed: long(20)?,
            offset: long(42)?,
        };
        let hidden = entry.name.starts_with("__MACOSX/") || entry.name.ends_with(".DS_Store");
        if !entry.name.ends_with('/') && !hidden {
            found.push(entry);
        }
        at += 46 + name + extra + comment;
    }
    Ok(found)
}

/// The numbers of 64 bits in the extra field of an entry.
fn wide_numbers(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut found = Vec::new();
    while let [a, b, c, d, rest @ ..] = extra {
        let (id, len) = (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
        let (field, after) = rest.split_at(rest.len().min(usize::from(len)));
        if id == 1 {
            let (eights, _) = field.as_chunks::<8>();
            found.extend(eights.iter().map(|eight| u64::from_le_bytes(*eight)));
        }
        extra = after;
    }
    found.into_iter()
}

/// The bytes of a file in an archive.
pub(crate) fn open(bytes: &[u8], entry: &Entry) -> Result<Box<dyn Read + Send>> {
    if entry.flags & 1 == 1 {
        return Err(
            Error::data(format!("{} is encrypted in its archive", entry.name))
                .remedy("unpack it with its password"),
        );
    }
    let at = usize::try_from(entry.offset).unwrap_or(usize::MAX);
    if !bytes.get(at..).is_some_and(is_archive) {
        return Err(damaged("a file is not where its directory says"));
    }
    let start = at + 30 + number(bytes, at + 26, 2)? as usize + number(bytes, at + 28, 2)? as usize;
    let end = start.checked_add(usize::try_from(entry.packed).unwrap_or(usize::MAX));
    let packed = end.and_then(|end| bytes.get(start..end));
    let packed = Cursor::new(packed.ok_or_else(|| damaged("it ends early"))?.to_vec());
    let reader: Box<dyn Read + Send> = match entry.method {
        0 => Box::new(packed),
        8 => Box::new(flate2::read::DeflateDecoder::new(packed)),
        other => {
            return Err(
                Error::data(format!("a file is packed by ZIP's method {other}"))
                    .remedy("pack it with the usual method, or unpack it"),
            );
        }
    };
    Ok(Box::new(Checked {
        reader,
        sum: crc32fast::Hasher::new(),
        expected: entry.checksum,
    }))
}

/// The only file of an archive; arrays are read by a format of their own, from all its bytes.
pub(super) fn only_file(bytes: Vec<u8>) -> Result<Box<dyn Read + Send>> {
    let found = entries(&bytes)?;
    if found.iter().any(|entry| entry.name.ends_with(".npy")) {
        return Ok(Box::new(Cursor::new(bytes)));
    }
    match &found[..] {
        [only] => open(&bytes, only),
        _ => {
            let names: Vec<&str> = found.iter().take(3).map(|e| e.name.as_str()).collect();
            let more = if found.len() > 3 { ", …" } else { "" };
            Err(Error::data(format!(
                "the ZIP archive holds {} files, expected one: {}{more}",
                found.len(),
                names.join(", ")
            ))
            .remedy("unpack it and name the file, or the folder where all are one data set"))
        }
    }
}

/// Bytes whose checksum is looked at behind the last.
struct Checked {
    reader: Box<dyn Read + Send>,
    sum: crc32fast::Hasher,
    expected: u32,
}

impl Read for Checked {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(to).map_err(|e| {
            let why = format!("the zip data are damaged or end early ({e})");
            io::Error::new(e.kind(), why)
        })?;
        self.sum.update(&to[..n]);
        if n == 0 && !to.is_empty() && self.sum.clone().finalize() != self.expected {
            return Err(io::Error::other(damaged(
                "the checksum of its file is another",
            )));
        }
        Ok(n)
    }
}
