//! Bytes that are compressed.
//!
//! Compression is known by the first bytes, not by the name. Decompression runs in a thread
//! of its own, so that it overlaps the parsing of what came before.

use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use super::Reader;

/// Decompressed data move between the threads in blocks of this size.
const BLOCK: usize = 1 << 20;

/// The most memory that an xz file may ask for; `xz -9` asks for a tenth of it.
const XZ_MEMORY: u64 = 768 << 20;

/// Blocks under way at most.
const BLOCKS: usize = 4;

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
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        _ => None,
    }
}

/// The bytes behind `raw`, which may be compressed.
pub(super) fn decompressed(mut raw: Reader) -> io::Result<Reader> {
    let mut magic = Vec::new();
    (&mut raw).take(10).read_to_end(&mut magic)?;
    let compression = compression(&magic);
    let whole = Cursor::new(magic).chain(raw);
    Ok(match compression {
        None => Box::new(whole),
        Some(name @ "gzip") => ahead(name, flate2::read::MultiGzDecoder::new(whole)),
        Some(name @ "zstd") => ahead(name, zstd::stream::read::Decoder::new(whole)?),
        Some(name @ "bzip2") => ahead(name, bzip2::read::MultiBzDecoder::new(whole)),
        Some(name) => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, flags)?;
            ahead(name, liblzma::read::XzDecoder::new_stream(whole, stream))
        }
    })
}

/// Reads `decoder` in a thread of its own, a few blocks ahead.
fn ahead(name: &'static str, decoder: impl Read + Send + 'static) -> Reader {
    let (full, blocks) = sync_channel(BLOCKS);
    let (give_back, empty) = channel();
    std::thread::spawn(move || fill_blocks(name, decoder, &full, &empty));
    Box::new(Ahead {
        blocks,
        give_back,
        block: Vec::new(),
        at: 0,
    })
}

fn fill_blocks(
    name: &str,
    mut decoder: impl Read,
    full: &SyncSender<io::Result<Vec<u8>>>,
    empty: &Receiver<Vec<u8>>,
) {
    loop {
        let mut block = empty.try_recv().unwrap_or_default();
        block.resize(BLOCK, 0);
        let mut len = 0;
        while len < BLOCK {
            match decoder.read(&mut block[len..]) {
                Ok(0) => break,
                Ok(n) => len += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    let message = format!("the {name} data are damaged or end early ({e})");
                    let _ = full.send(Err(io::Error::new(e.kind(), message)));
                    return;
                }
            }
        }
        block.truncate(len);
        // An error here means that nobody reads on.
        if len == 0 || full.send(Ok(block)).is_err() {
            return;
        }
    }
}

struct Ahead {
    blocks: Receiver<io::Result<Vec<u8>>>,
    give_back: Sender<Vec<u8>>,
    block: Vec<u8>,
    at: usize,
}

impl Read for Ahead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            match self.blocks.recv() {
                Err(_) => return Ok(0), // the end
                Ok(Err(e)) => return Err(e),
                Ok(Ok(block)) => {
                    let used = std::mem::replace(&mut self.block, block);
                    let _ = self.give_back.send(used);
                    self.at = 0;
                }
            }
        }
        let n = out.len().min(self.block.len() - self.at);
        out[..n].copy_from_slice(&self.block[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}
