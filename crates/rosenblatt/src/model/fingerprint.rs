//! Telling one data set from another in eight bytes.

use crate::data::Dataset;
use crate::threads;

/// What can be said of a data set in a few numbers: its size, and a hash of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint {
    /// Number of examples.
    pub examples: u64,
    /// Number of features.
    pub features: u64,
    /// Number of values that are not zero.
    pub non_zeros: u64,
    /// A hash of rows, labels and weights, the same however they are stored. It tells a
    /// mistake from a match; it is no defence against someone who wants to deceive.
    pub hash: u64,
}

fn mix(hash: u64, value: u64) -> u64 {
    (hash ^ value)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .rotate_left(29)
}

impl Fingerprint {
    /// The fingerprint of `data`.
    pub fn of(data: &Dataset, threads: usize) -> Self {
        // Two accumulators that take turns, so that the multiplications of neighbours overlap.
        let row_hash = |i: usize| {
            let (mut next, mut after) = (data.number(i) as u64, u64::from(data.labels[i]));
            if let Some(weights) = &data.weights {
                after = mix(after, weights[i].to_bits());
            }
            let mut non_zeros = 0u64;
            data.row(i).for_each(|j, x| {
                let mixed = mix(next, x.to_bits() ^ (j as u64).rotate_left(32));
                (next, after) = (after, mixed);
                non_zeros += 1;
            });
            if non_zeros % 2 == 1 {
                (next, after) = (after, next);
            }
            (mix(mix(next, after), non_zeros), non_zeros)
        };
        let mut rows = vec![(0, 0); data.len()];
        threads::fill(&mut rows, threads, || row_hash);
        let (hash, non_zeros) = rows.iter().fold((0u64, 0), |(hash, count), (h, n)| {
            (hash.wrapping_add(*h), count + n)
        });
        Fingerprint {
            examples: data.len() as u64,
            features: data.features() as u64,
            non_zeros,
            hash,
        }
    }
}
