//! Bytes that are compressed.
//!
//! Compression is known by the first bytes, not by the name. One of several threads decompresses
//! while the others parse what came before.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::GzDecoder;

use super::{Reader, zip};

/// The most memory that an xz file may ask for; `xz -9` asks for a tenth of it.
const XZ_MEMORY: u64 = 768 << 20;

/// How bytes that start so are compressed, if they are.
pub(super) fn compression(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x1F, 0x8B, ..] => Some("gzip"),
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some("zstd"),
        // The digits of π open a block, those of its root close an empty stream.
        [b'B', b'Z', b'h', b'1'..=b'9', digits @ ..]
            if digits.starts_with(b"\x31\x41\x59\x26\x53\x59")
                || digits.starts_with(b"\x17\x72\x45\x38\x50\x90") =>
        {
            Some("bzip2")
        }
        [b'P', b'K', 3, 4, ..] => Some("zip"),
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        _ => None,
    }
}

/// The bytes behind `raw`, which may be compressed.
pub(super) fn decompressed(mut raw: Reader) -> io::Result<Reader> {
    let mut magic = Vec::new();
    (&mut raw).take(10).read_to_end(&mut magic)?;
    let compression = compression(&magic);
    let mut whole = Cursor::new(magic).chain(raw);
    Ok(match compression {
        None => Box::new(whole),
        Some("zip") => {
            let mut bytes = Vec::new();
            whole.read_to_end(&mut bytes)?;
            zip::only_file(bytes).map_err(io::Error::other)?
        }
        Some(name @ "gzip") => named(name, GzipMembers::new(BufReader::new(whole))),
        Some(name @ "zstd") => named(name, zstd::stream::read::Decoder::new(whole)?),
        Some(name @ "bzip2") => named(name, bzip2::read::MultiBzDecoder::new(whole)),
        Some(name) => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, flags)?;
            named(name, liblzma::read::XzDecoder::new_stream(whole, stream))
        }
    })
}

fn named(name: &'static str, decoder: impl Read + Send + 'static) -> Reader {
    Box::new(Decoded { name, decoder })
}

/// The members of a gzip file one after the other. What tapes and some archivers put behind them,
/// zeros up to the end of a block, is passed over, as `gzip` does.
struct GzipMembers<R>(Option<GzDecoder<R>>);

impl<R: BufRead> GzipMembers<R> {
    fn new(compressed: R) -> Self {
        GzipMembers(Some(GzDecoder::new(compressed)))
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(mut member) = self.0.take() {
            let read = member.read(out)?;
            if read > 0 || out.is_empty() {
                self.0 = Some(member);
                return Ok(read);
            }
            let mut rest = member.into_inner();
            if !skip_zeros(&mut rest)? {
                self.0 = Some(GzDecoder::new(rest));
            }
        }
        Ok(0)
    }
}

/// Goes past zeros; whether they lead to the end.
fn skip_zeros(rest: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = rest.fill_buf()?;
        let zeros = bytes.iter().take_while(|&&b| b == 0).count();
        if zeros < bytes.len() || bytes.is_empty() {
            let ended = bytes.is_empty();
            rest.consume(zeros);
            return Ok(ended);
        }
        rest.consume(zeros);
    }
}

/// What a decoder makes of data that are compressed so.
struct Decoded<R> {
    name: &'static str,
    decoder: R,
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(out).map_err(|e| {
            let name = self.name;
            let message = format!("the {name} data are damaged or end early ({e})");
            io::Error::new(e.kind(), message)
        })
    }
}
