//! Weights as parts, and back.
//!
//! Where features are many and updates were few, most weights are zero. Then only those of
//! features that have any are kept, in the order of the features, and a bit for each feature
//! (the first of a byte lowest) says whether it is one of them.

use super::file::bad;
use super::parts::Parts;
use crate::error::Result;
use crate::scheme::Scheme;
use crate::weights::Weights;

/// Features from which on zeros are left out.
const MANY: usize = 1 << 12;

/// How many times fewer bytes are worth it, and how many times more a file may ask for.
const WORTH: usize = 2;
const AT_MOST: usize = 64;

/// Puts weights among the parts.
pub(super) fn put_weights<'a>(parts: &mut Parts<'a>, prefix: &str, weights: &'a Weights) {
    let name = format!("{prefix}weights");
    let discriminators = weights.discriminators();
    let packed = weights.packed();
    if let Some((bits, kept)) = without_zeros(&packed, discriminators) {
        parts.put_fact(&format!("{name}.features"), weights.features());
        parts.put(&format!("{name}.present"), bits);
        parts.put_table(&name, discriminators, kept.into());
    } else {
        parts.put_table(&name, discriminators, packed);
    }
    parts.put(&format!("{prefix}bias"), weights.biases().to_vec());
}

/// Whether any of the parts are weights without their zeros.
pub(super) fn leaves_out_zeros(parts: &Parts<'_>) -> bool {
    parts.names().any(|name| name.ends_with("weights.present"))
}

/// A bit for each feature with a weight that is not zero, and the weights of these, where it pays
/// to keep only those.
fn without_zeros(packed: &[f64], discriminators: usize) -> Option<(Vec<u8>, Vec<f64>)> {
    let features = packed.len() / discriminators;
    if features < MANY {
        return None;
    }
    // A negative zero counts, for it must come back as one.
    let is_kept = |weights: &[f64]| weights.iter().any(|w| w.to_bits() != 0);
    let (mut bits, mut kept) = (vec![0u8; features.div_ceil(8)], Vec::new());
    for (j, weights) in packed.chunks_exact(discriminators).enumerate() {
        if is_kept(weights) {
            bits[j / 8] |= 1 << (j % 8);
            kept.extend_from_slice(weights);
        }
    }
    let mut shape = KeptShape {
        discriminators,
        features,
        kept: kept.len() / discriminators,
    };
    // Where very few are left, some zeros are kept with them, from the first feature on.
    if !shape.is_bounded() {
        for byte in &mut bits {
            while *byte != u8::MAX && !shape.is_bounded() {
                *byte |= *byte + 1;
                shape.kept += 1;
            }
        }
        kept.clear();
        for j in set_places(&bits) {
            kept.extend_from_slice(&packed[j * discriminators..(j + 1) * discriminators]);
        }
    }
    shape.pays().then_some((bits, kept))
}

/// How many bits are set.
fn count(bits: &[u8]) -> usize {
    bits.iter().map(|b| b.count_ones() as usize).sum()
}

/// The places of the bits that are set, ascending.
fn set_places(bits: &[u8]) -> impl Iterator<Item = usize> + '_ {
    (0..8 * bits.len()).filter(|j| bits[j / 8] >> (j % 8) & 1 == 1)
}

/// Weights of which some are kept.
struct KeptShape {
    discriminators: usize,
    features: usize,
    kept: usize,
}

impl KeptShape {
    /// Bytes of the kept weights and the bits.
    fn bytes(&self) -> usize {
        let weights = self.kept.saturating_mul(8 * self.discriminators);
        weights.saturating_add(self.features.div_ceil(8))
    }

    /// Bytes of all weights.
    fn all_bytes(&self) -> usize {
        self.features.saturating_mul(8 * self.discriminators)
    }

    fn pays(&self) -> bool {
        self.bytes().saturating_mul(WORTH) <= self.all_bytes()
    }

    /// Whether a small file cannot ask for much memory.
    fn is_bounded(&self) -> bool {
        self.all_bytes() <= self.bytes().saturating_mul(AT_MOST)
    }
}

/// Takes weights out again.
pub(super) fn take_weights(parts: &mut Parts<'_>, prefix: &str, scheme: Scheme) -> Result<Weights> {
    let name = format!("{prefix}weights");
    let discriminators = scheme.discriminators();
    let values: Vec<f64> = parts.take(&name)?;
    let bias: Vec<f64> = parts.take_len(&format!("{prefix}bias"), discriminators)?;
    let (rows, rest) = (values.len() / discriminators, values.len() % discriminators);
    if rest != 0 {
        return Err(bad(format_args!("{name} has {} values", values.len())));
    }
    let weights = if parts.has(&format!("{name}.present")) {
        let features: usize = parts.take_fact(&format!("{name}.features"))?;
        let bits: Vec<u8> = parts.take_len(&format!("{name}.present"), features.div_ceil(8))?;
        let shape = KeptShape {
            discriminators,
            features,
            kept: rows,
        };
        let beyond = bits
            .last()
            .map_or(0, |last| last >> ((features - 1) % 8) >> 1);
        if count(&bits) != rows || beyond != 0 || !shape.is_bounded() {
            return Err(bad(format_args!("the bits of {name} do not fit it")));
        }
        let mut weights = Weights::zero(discriminators, features);
        for (d, &x) in bias.iter().enumerate() {
            weights.set_bias(d, x);
        }
        for (j, of_one) in set_places(&bits).zip(values.chunks_exact(discriminators)) {
            (of_one.iter().enumerate()).for_each(|(d, &x)| weights.set(d, j, x));
        }
        weights
    } else {
        Weights::from_parts(discriminators, &values, &bias)
    };
    if weights.is_finite() {
        Ok(weights)
    } else {
        Err(bad(format_args!("{name} are not all finite")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    fn some(scheme: Scheme, features: usize, share: f64) -> Weights {
        let mut random = Random::new(5, Stream::Start, 0);
        let mut weights = Weights::zero(scheme.discriminators(), features);
        let all = 0..scheme.discriminators();
        (all.clone()).for_each(|d| weights.set_bias(d, random.normal()));
        for j in (0..features)
            .filter(|_| random.unit() < share)
            .collect::<Vec<_>>()
        {
            (all.clone()).for_each(|d| weights.set(d, j, random.normal()));
        }
        weights.set(0, features - 1, -0.0);
        weights
    }

    const SCHEMES: [Scheme; 3] = [
        Scheme::Binary,
        Scheme::Argmax { classes: 3 },
        Scheme::Argmax { classes: 21 },
    ];

    #[test]
    fn weights_come_back_bit_by_bit_however_few_there_are() {
        for scheme in SCHEMES {
            for (features, share, in_fewer_bytes) in [
                (MANY - 1, 0.0, false),
                (MANY, 0.01, true),
                (3 * MANY + 5, 0.05, true),
                (MANY + 1, 0.0, true),
                (MANY + 3, 0.9, false),
            ] {
                let weights = some(scheme, features, share);
                let mut parts = Parts::new();
                put_weights(&mut parts, "x.", &weights);
                let few = parts.has("x.weights.present");
                assert_eq!(few, in_fewer_bytes, "{scheme:?} {features} {share}");
                let bytes = parts.to_bytes().unwrap();
                let half = size_of_val(&*weights.packed()) / WORTH;
                assert_eq!(bytes.len() < half, few);
                let mut parts = Parts::from_bytes(&bytes).unwrap();
                let back = take_weights(&mut parts, "x.", scheme).unwrap();
                assert_eq!(back.biases(), weights.biases());
                let bits = |w: &Weights| w.packed().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&back), bits(&weights));
            }
        }
    }

    #[test]
    fn bits_that_do_not_fit_are_refused() {
        for scheme in SCHEMES {
            let weights = some(scheme, MANY + 3, 0.01);
            let mut whole = Parts::new();
            put_weights(&mut whole, "", &weights);
            let bits: Vec<u8> = whole.clone().take("weights.present").unwrap();
            type Spoil<'a> = &'a dyn Fn(&mut Parts<'_>);
            let spoilers: [Spoil<'_>; 6] = [
                &|p| p.put_fact("weights.features", MANY),
                &|p| p.put_fact("weights.features", usize::MAX),
                &|p| p.put_fact("weights.features", -1),
                &|p| p.put("weights.present", vec![0_u8; bits.len()]),
                &|p| p.put("weights.present", bits[1..].to_vec()),
                &|p| {
                    // One more than there are features, in place of the last.
                    let mut beyond = bits.clone();
                    *beyond.last_mut().unwrap() = 1 << 3;
                    p.put("weights.present", beyond);
                },
            ];
            for (k, spoil) in spoilers.iter().enumerate() {
                let mut parts = whole.clone();
                spoil(&mut parts);
                assert!(take_weights(&mut parts, "", scheme).is_err(), "{k}");
            }
            assert!(take_weights(&mut whole, "", scheme).is_ok());
        }
        // Few bytes that ask for many.
        let scheme = Scheme::Argmax { classes: 1000 };
        let mut parts = Parts::new();
        parts.put_table("weights", 1000, Vec::<f64>::new().into());
        parts.put("bias", vec![0.0; 1000]);
        parts.put_fact("weights.features", 8000);
        parts.put("weights.present", vec![0_u8; 1000]);
        assert!(take_weights(&mut parts, "", scheme).is_err());
    }
}
