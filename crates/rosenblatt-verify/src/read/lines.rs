//! Lines of the data, hashed as they are read.

use super::is_blank;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{self, BufRead, BufReader, Read};

const BUFFER: usize = 1 << 16;

pub(super) struct Lines<'c, R> {
    source: BufReader<Hashed<R>>,
    comment: &'c [u8],
    /// Lines read so far.
    pub(super) number: u64,
    /// Those of them that were comments.
    pub(super) comments: u64,
}

impl<'c, R: Read> Lines<'c, R> {
    pub(super) fn new(data: R, comment: &'c [u8]) -> Self {
        let hash = Sha256::new();
        Lines {
            source: BufReader::with_capacity(BUFFER, Hashed { data, hash }),
            comment,
            number: 0,
            comments: 0,
        }
    }

    /// Appends the next line with its end; false when there is none.
    pub(super) fn append(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let start = line.len();
        if self.source.read_until(b'\n', line)? == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.number == 1 && line[start..].starts_with(b"\xef\xbb\xbf") {
            line.drain(start..start + 3); // a byte order mark
        }
        Ok(true)
    }

    /// The next line that is neither blank nor a comment.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            line.clear();
            if !self.append(line)? {
                return Ok(false);
            }
            let comment = !self.comment.is_empty() && line.starts_with(self.comment);
            let blank = || line.iter().all(|&byte| is_blank(byte) || byte == b'\n');
            if !comment && !blank() {
                return Ok(true);
            }
            self.comments += u64::from(comment);
        }
    }

    /// Reads what is left and gives the hash of everything, in hexadecimal.
    pub(super) fn sha256(mut self) -> io::Result<String> {
        io::copy(&mut self.source, &mut io::sink())?;
        let mut text = String::with_capacity(64);
        for byte in self.source.into_inner().hash.finalize() {
            // Writing to a String does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(text)
    }
}

struct Hashed<R> {
    data: R,
    hash: Sha256,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.data.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}
