//! A fixed permutation of the rows, computed rather than stored.
//!
//! Files are often sorted by label, and the block-wise shuffle of each pass only mixes rows
//! that lie near each other. So rows are first put in an order that depends on their number
//! alone. It is a four-round Feistel network (Luby & Rackoff, 1988) over the
//! next even number of bits, walked until it lands below n (Black & Rogaway, 2002): O(1)
//! in both directions and no memory.

/// The permutation of `n` rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPermutation {
    n: u64,
    half_bits: u32,
}

const ROUNDS: u32 = 4;

impl RowPermutation {
    /// The permutation for `n` rows.
    pub fn new(n: usize) -> Self {
        let n = n as u64;
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        RowPermutation {
            n,
            half_bits: bits.div_ceil(2).max(1),
        }
    }

    #[inline(always)]
    fn mask(self) -> u64 {
        (1 << self.half_bits) - 1
    }

    #[inline(always)]
    fn round(self, half: u64, round: u32) -> u64 {
        let mut z = (half + 1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(u64::from(round) << 32)
            .wrapping_add(self.n);
        z = (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (z >> 32) & self.mask()
    }

    #[inline(always)]
    fn forward(self, x: u64) -> u64 {
        let (mut left, mut right) = (x >> self.half_bits, x & self.mask());
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ self.round(right, round));
        }
        left << self.half_bits | right
    }

    fn backward(self, x: u64) -> u64 {
        let (mut left, mut right) = (x >> self.half_bits, x & self.mask());
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ self.round(left, round), left);
        }
        left << self.half_bits | right
    }

    /// The row that stands at `position` once permuted.
    pub fn row_at(self, position: usize) -> usize {
        debug_assert!((position as u64) < self.n);
        let mut x = self.forward(position as u64);
        while x >= self.n {
            x = self.forward(x);
        }
        x as usize
    }

    /// Where `row` stands once permuted: the inverse of [`row_at`](Self::row_at).
    pub fn position_of(self, row: usize) -> usize {
        debug_assert!((row as u64) < self.n);
        let mut x = self.backward(row as u64);
        while x >= self.n {
            x = self.backward(x);
        }
        x as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_permutation_with_its_inverse() {
        for n in (1..70).chain([255, 256, 257, 1000, 4096, 10_007]) {
            let permutation = RowPermutation::new(n);
            let mut seen = vec![false; n];
            for position in 0..n {
                let row = permutation.row_at(position);
                assert!(!std::mem::replace(&mut seen[row], true), "n = {n}");
                assert_eq!(permutation.position_of(row), position);
            }
        }
    }

    #[test]
    fn sorted_labels_end_up_mixed() {
        let n = 51_200;
        let permutation = RowPermutation::new(n);
        for block in 0..n / 256 {
            let ones = (0..256)
                .filter(|i| permutation.row_at(block * 256 + i) >= n / 2)
                .count();
            // 128 expected, standard deviation 8.
            assert!(
                (80..=176).contains(&ones),
                "block {block} has {ones} of the second half"
            );
        }
    }
}
