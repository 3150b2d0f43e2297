//! Sums over the pieces of a file, by which damage is noticed.
//!
//! Every piece has a CRC-32 of its own, so that threads can share the work; it takes little
//! longer than touching the bytes.

use rosenblatt_core::internal::parallel;

/// Bytes that one sum is for.
const PIECE: usize = 1 << 20;

/// Bytes that a sum takes.
const WIDTH: usize = 4;

/// Sums of bytes as they are written.
#[derive(Debug, Default)]
pub(super) struct Checksums {
    list: Vec<u8>,
    piece: crc32fast::Hasher,
    /// Bytes of the piece so far.
    filled: usize,
}

impl Checksums {
    /// Takes in the next bytes.
    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(PIECE - self.filled));
            self.piece.update(now);
            self.filled += now.len();
            if self.filled == PIECE {
                self.close();
            }
            bytes = rest;
        }
    }

    fn close(&mut self) {
        let sum = std::mem::take(&mut self.piece).finalize();
        self.list.extend_from_slice(&sum.to_le_bytes());
        self.filled = 0;
    }

    /// The sums of all pieces.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.filled > 0 {
            self.close();
        }
        self.list
    }
}

/// The length of the list of sums for so many bytes.
pub(super) fn length(bytes: usize) -> usize {
    bytes.div_ceil(PIECE) * WIDTH
}

/// Whether the sums of `bytes` are those listed; `tell` hears of the bytes that were read.
pub(super) fn holds(
    bytes: &[u8],
    checksums: &[u8],
    threads: usize,
    tell: impl Fn(usize) + Sync,
) -> bool {
    let mut right = vec![false; bytes.len().div_ceil(PIECE)];
    if checksums.len() != length(bytes.len()) {
        return false;
    }
    parallel::chunks(&mut right, 1, threads, || {
        |k: usize, right: &mut [bool]| {
            let piece = &bytes[k * PIECE..bytes.len().min((k + 1) * PIECE)];
            let sum = crc32fast::hash(piece).to_le_bytes();
            right.fill(checksums[k * WIDTH..(k + 1) * WIDTH] == sum);
            tell(piece.len());
        }
    });
    right.into_iter().all(|right| right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_breaks_a_checksum() {
        for n in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
            let mut bytes: Vec<u8> = (0..n).map(|i| (i * i % 251) as u8).collect();
            let mut checksums = Checksums::default();
            for some in bytes.chunks(70_001) {
                checksums.add(some);
            }
            let mut checksums = checksums.finish();
            assert_eq!(checksums.len(), length(n));
            for threads in [1, 2, 5] {
                assert!(holds(&bytes, &checksums, threads, |_| ()));
            }
            for at in [0, n / 2, n.saturating_sub(1)] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 4;
                    assert!(!holds(&bytes, &checksums, 2, |_| ()));
                    bytes[at] ^= 4;
                }
            }
            checksums.push(0);
            assert!(!holds(&bytes, &checksums, 2, |_| ()));
        }
    }
}
