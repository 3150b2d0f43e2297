//! Weights to begin with.

use crate::error::{Error, Result};
use crate::options::{Bias, Options, Start};
use crate::random::{Random, Stream};
use crate::scheme::Scheme;
use crate::weights::Weights;

/// Zero, random of a given norm, or as given.
pub(crate) fn starting_weights(
    scheme: Scheme,
    features: usize,
    options: &Options,
) -> Result<Weights> {
    let discriminators = scheme.discriminators();
    let mut weights = Weights::zero(discriminators, features);
    let has_bias = options.bias() != Bias::None;
    match &options.start {
        Start::Zero => {}
        Start::Random(norm) => {
            let mut random = Random::new(options.seed, Stream::Start, 0);
            for d in 0..discriminators {
                let draws: Vec<f64> = (0..features + usize::from(has_bias))
                    .map(|_| random.normal())
                    .collect();
                let length = draws.iter().fold(0.0, |s, x| s + x * x).sqrt();
                if length > 0.0 {
                    let scaled: Vec<f64> = draws.iter().map(|x| x / length * norm).collect();
                    set_vector(&mut weights, d, &scaled, has_bias);
                }
            }
        }
        Start::Given(vector) => {
            let expected = features + usize::from(has_bias);
            if scheme != Scheme::Binary {
                return Err(Error::options(
                    "⟨start⟩ with numbers is for two classes learned by one plane",
                )
                .remedy("use ⟨start zero⟩ or ⟨start random:NORM⟩"));
            }
            if vector.len() != expected {
                let parts = if has_bias {
                    format!("the bias and {features} features")
                } else {
                    format!("{features} features")
                };
                return Err(Error::options(format!(
                    "⟨start⟩: found {} numbers, expected {expected} ({parts})",
                    vector.len()
                )));
            }
            set_vector(&mut weights, 0, vector, has_bias);
        }
    }
    Ok(weights)
}

fn set_vector(weights: &mut Weights, d: usize, vector: &[f64], has_bias: bool) {
    let skip = usize::from(has_bias);
    if has_bias {
        weights.set_bias(d, vector[0]);
    }
    vector[skip..]
        .iter()
        .enumerate()
        .for_each(|(j, &w)| weights.set(d, j, w));
}
