//! Data and runs that several studies share.

use std::sync::atomic::AtomicBool;

use rosenblatt::data::{Dataset, Precision};
use rosenblatt::options::{Bias, Readout};
use rosenblatt::progress::Stop;
use rosenblatt::synthetic::{self, Kind};
use rosenblatt::training::{Callback, Fitted};
use rosenblatt::{Error, ErrorKind, Options, Result};

/// Two classes on the unit sphere with their separator u, a unit vector, and its margin.
pub struct Known {
    pub data: Dataset,
    pub separator: Vec<f64>,
    pub margin: f64,
}

impl Known {
    /// n points in d dimensions at margin g, to the last bit of binary64.
    pub fn separable(n: usize, d: usize, margin: f64, seed: u64) -> Result<Self> {
        let made = synthetic::generate(&synthetic::Options {
            examples: Some(n),
            features: Some(d),
            margin: Some(margin),
            precision: Precision::F64,
            seed,
            ..synthetic::Options::new(Kind::Separable)
        })?;
        let separator = made.separator.map(|s| s.weights.concat());
        Ok(Known {
            separator: separator.unwrap_or_default(),
            margin: made.margin.unwrap_or(0.0),
            data: made.dataset,
        })
    }
}

/// A plain perceptron without bias that runs until it separates.
pub fn plain(seed: u64) -> Options {
    Options {
        bias: Some(Bias::None),
        readout: Some(Readout::Last),
        // Separable data end long before; a bound says when.
        epochs: Some(10_000_000),
        seed,
        ..Options::default()
    }
}

/// Trains on one thread; an interruption is an error here, for half a run measures nothing.
pub fn train(options: &Options, data: &Dataset, interrupt: &AtomicBool) -> Result<Fitted> {
    train_with(options, data, interrupt, &mut Nobody)
}

/// The same, watched.
pub fn train_with(
    options: &Options,
    data: &Dataset,
    interrupt: &AtomicBool,
    observer: &mut dyn Callback,
) -> Result<Fitted> {
    let fitted = rosenblatt::session(options)
        .threads(1)
        .interrupt(interrupt)
        .train_with(data, observer)?;
    if fitted.model.progress.stop == Some(Stop::Interrupted) {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
    }
    Ok(fitted)
}

struct Nobody;

impl Callback for Nobody {}

/// The weights of a model with one plane.
pub fn weights(fitted: &Fitted) -> Vec<f64> {
    fitted
        .model
        .weights()
        .map_or_else(Vec::new, |w| w.column(0))
}

/// Whether the run ended with every row on its right side.
pub fn separated(fitted: &Fitted) -> bool {
    fitted.model.progress.stop == Some(Stop::Separated)
}

/// The angle between w and the unit vector u in degrees, exact for small angles too.
pub fn degrees_between(w: &[f64], u: &[f64]) -> f64 {
    let along: f64 = w.iter().zip(u).map(|(a, b)| a * b).sum();
    let across: f64 = (w.iter().zip(u))
        .map(|(a, b)| (a - along * b) * (a - along * b))
        .sum();
    across.sqrt().atan2(along).to_degrees()
}

#[cfg(test)]
mod tests {
    use super::degrees_between;

    #[test]
    fn angles_are_right_from_end_to_end() {
        let u = [1.0, 0.0];
        for degrees in [0.0, 1e-9, 30.0, 90.0, 179.0] {
            let (sin, cos) = f64::to_radians(degrees).sin_cos();
            let found = degrees_between(&[5.0 * cos, 5.0 * sin], &u);
            assert!((found - degrees).abs() <= 1e-12 * (1.0 + degrees));
        }
    }
}
