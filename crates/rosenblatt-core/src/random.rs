//! Seeded random numbers whose sequence is part of the product's promise.
//!
//! A model must come out the same on every machine and in every later version, so the
//! generator and everything drawn from it are fixed here rather than taken from a crate
//! that may change its algorithms. The generator is xoshiro256++ (Blackman & Vigna, 2021),
//! seeded through SplitMix64 (Steele, Lea & Flood, 2014).

/// A generator for one purpose: a seed, a stream (what the numbers are for) and an index
/// (a pass, say) name it, so that a run can be resumed anywhere without saved state.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

/// What a stream of random numbers is for; different purposes never share numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stream {
    /// The visiting order of a pass.
    Order = 1,
    /// Starting weights.
    Start = 2,
    /// Held-out rows and folds.
    Split = 3,
    /// The visit that the `random` read-out keeps.
    Readout = 4,
    /// Synthetic data.
    Synthetic = 5,
    /// Random features and landmarks of an embedding.
    Embedding = 6,
    /// Samples taken to estimate something.
    Sample = 7,
    /// Resamples that tell how far an estimate may be off.
    Bootstrap = 8,
    /// Rows that lend others their values.
    Importance = 9,
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// The generator named by seed, stream and index.
    pub fn new(seed: u64, stream: Stream, index: u64) -> Self {
        let mut s = seed;
        let mut key = split_mix(&mut s) ^ (stream as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        key = split_mix(&mut key) ^ index.wrapping_mul(0xA076_1D64_78BD_642F);
        let state = std::array::from_fn(|_| split_mix(&mut key));
        Random { state }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A whole number below `n`, all equally likely (Lemire's multiplication with rejection).
    /// `n` must not be 0.
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        loop {
            let wide = u128::from(self.bits()) * u128::from(n);
            // What is left of a division by n is below n, so it is seldom asked for.
            let low = wide as u64;
            if low >= n || low >= n.wrapping_neg() % n {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A number in [0, 1) on a grid of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number in (0, 1].
    pub fn positive_unit(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// A standard normal number (Marsaglia's polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let u = 2.0 * self.unit() - 1.0;
            let v = 2.0 * self.unit() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                // libm, not the system's logarithm: the last bit must not depend on the machine.
                return u * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }

    /// Puts `items` into a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i as u64 + 1) as usize;
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_never_changes() {
        let mut r = Random::new(1, Stream::Order, 0);
        let first: Vec<u64> = (0..3).map(|_| r.bits()).collect();
        let mut again = Random::new(1, Stream::Order, 0);
        assert_eq!(first, (0..3).map(|_| again.bits()).collect::<Vec<_>>());
        assert_ne!(Random::new(2, Stream::Order, 0).bits(), first[0]);
        assert_ne!(Random::new(1, Stream::Start, 0).bits(), first[0]);
        assert_ne!(Random::new(1, Stream::Order, 1).bits(), first[0]);
    }

    #[test]
    fn draws_are_spread_as_they_should_be() {
        let mut r = Random::new(7, Stream::Sample, 0);
        let mut counts = [0u32; 6];
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..60_000 {
            counts[r.below(6) as usize] += 1;
            let z = r.normal();
            sum += z;
            squares += z * z;
        }
        for c in counts {
            assert!((9_500..10_500).contains(&c), "{counts:?}");
        }
        assert!((sum / 60_000.0).abs() < 0.02);
        assert!((squares / 60_000.0 - 1.0).abs() < 0.03);
    }
}
