//! LZ4 (Y. Collet), as Parquet and Arrow have it: blocks, and frames of them.
//!
//! Nothing is allocated by what a header says; no more comes out than the caller allows.

/// What is wrong with packed bytes.
pub(super) type Fault = &'static str;

const SHORT: Fault = "compressed data end early";

/// Appends `len` bytes from `back` bytes before the end.
pub(super) fn copy(out: &mut Vec<u8>, back: usize, len: usize, limit: usize) -> Result<(), Fault> {
    if back == 0 || back > out.len() || out.len() + len > limit {
        return Err("compressed data refer to bytes that are not there");
    }
    let from = out.len() - back;
    if back >= len {
        out.extend_from_within(from..from + len);
    } else {
        (0..len).for_each(|k| out.push(out[from + k]));
    }
    Ok(())
}

/// Appends the next `len` bytes of `packed`.
pub(super) fn literal(
    out: &mut Vec<u8>,
    packed: &[u8],
    at: &mut usize,
    len: usize,
    limit: usize,
) -> Result<(), Fault> {
    let bytes = at.checked_add(len).and_then(|end| packed.get(*at..end));
    let bytes = bytes.ok_or(SHORT)?;
    if out.len() + len > limit {
        return Err("compressed data are longer than promised");
    }
    out.extend_from_slice(bytes);
    *at += len;
    Ok(())
}

/// Appends what a block holds, up to `limit` bytes in all.
pub(super) fn block(out: &mut Vec<u8>, packed: &[u8], limit: usize) -> Result<(), Fault> {
    let mut at = 0;
    let length = |start: u8, at: &mut usize| -> Result<usize, Fault> {
        let mut len = usize::from(start);
        if start == 15 {
            loop {
                let more = *packed.get(*at).ok_or(SHORT)?;
                *at += 1;
                len += usize::from(more);
                if more < 255 {
                    break;
                }
            }
        }
        Ok(len)
    };
    while at < packed.len() {
        let token = packed[at];
        at += 1;
        let len = length(token >> 4, &mut at)?;
        literal(out, packed, &mut at, len, limit)?;
        if at == packed.len() {
            break;
        }
        let back = packed.get(at..at + 2).ok_or(SHORT)?;
        let back = usize::from(back[0]) | usize::from(back[1]) << 8;
        at += 2;
        let len = length(token & 15, &mut at)? + 4;
        copy(out, back, len, limit)?;
    }
    Ok(())
}

/// What a frame holds, which is to be at most so many bytes.
pub(super) fn frame(packed: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    let word = |at: usize| -> Result<usize, Fault> {
        let four = packed.get(at..at + 4).ok_or(SHORT)?;
        Ok(four.iter().rev().fold(0, |v, &b| v << 8 | usize::from(b)))
    };
    if word(0)? != 0x184D_2204 {
        return Err("compressed data are no LZ4 frame");
    }
    let flags = *packed.get(4).ok_or(SHORT)?;
    let (block_sums, content_size, dictionary) = (flags & 16, flags & 8, flags & 1);
    let mut at = 7 + usize::from(content_size) + 4 * usize::from(dictionary);
    let mut out = Vec::new();
    loop {
        let size = word(at)?;
        at += 4;
        if size == 0 {
            return Ok(out);
        }
        let len = size & 0x7FFF_FFFF;
        let bytes = at.checked_add(len).and_then(|end| packed.get(at..end));
        let bytes = bytes.ok_or(SHORT)?;
        if size == len {
            block(&mut out, bytes, limit)?;
        } else {
            literal(&mut out, bytes, &mut 0, len, limit)?;
        }
        at += len + 4 * usize::from(block_sums > 0);
    }
}
