//! Kernels: inner products in a feature space that is never written out.
//!
//! | spelling | K(x, z) |
//! | --- | --- |
//! | `linear` | x·z |
//! | `quadratic` | (x·z + 1)² |
//! | `polynomial:P[,A,C]` | (a·x·z + c)^p, a = c = 1 unless given |
//! | `geometric:P` | Σ_{k ≤ p} (x·z)^k |
//! | `monomial:P` | Σ over all monomials m of degree ≤ p of x^m z^m |
//! | `rbf:G` | exp(−γ‖x − z‖²) |
//! | `laplacian:G` | exp(−γ‖x − z‖₁) |
//! | `sigmoid:A,C` | tanh(a·x·z + c); not always a valid kernel |
//! | `precomputed` | the data are the Gram matrix itself |
//!
//! One definition serves every path: x·z is summed in ascending order of the features in one
//! `f64` accumulator, and whatever is done to it is done in `f64`. Blocks, threads, sparse
//! rows and integer arithmetic are other ways to the same bits.

mod packed;
mod spectrum;
mod support;
mod tile;
mod value;

pub use spectrum::Spectrum;

pub(crate) use packed::{Arithmetic, PackedRows, WIDTH};
pub(crate) use support::SupportRows;
pub(crate) use tile::{Products, products};

use std::fmt;
use std::str::FromStr;

use crate::data::Dataset;
use crate::error::{Error, Result};

/// A kernel and its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// x·z.
    Linear,
    /// (a·x·z + c)^p.
    Polynomial {
        /// p.
        degree: u32,
        /// a.
        scale: f64,
        /// c.
        constant: f64,
    },
    /// Σ_{k ≤ p} (x·z)^k.
    Geometric {
        /// p.
        degree: u32,
    },
    /// The inner product of all unweighted monomials of degree ≤ p.
    Monomial {
        /// p.
        degree: u32,
    },
    /// exp(−γ‖x − z‖²).
    Rbf {
        /// γ.
        gamma: f64,
    },
    /// exp(−γ‖x − z‖₁).
    Laplacian {
        /// γ.
        gamma: f64,
    },
    /// tanh(a·x·z + c).
    Sigmoid {
        /// a.
        scale: f64,
        /// c.
        constant: f64,
    },
    /// Row i of the data holds K(x_i, x_j) for every example j of the training file.
    Precomputed,
}

/// Degrees beyond this overflow on anything but toy data.
const HIGHEST_DEGREE: u32 = 64;

/// The spellings, for messages.
pub const SPELLINGS: &str = "linear, quadratic, polynomial:DEGREE[,SCALE,CONST], geometric:DEGREE, monomial:DEGREE, rbf:GAMMA, laplacian:GAMMA, sigmoid:A,C or precomputed";

impl Kernel {
    /// Whether it is known to be an inner product, K(x, z) = φ(x)·φ(z), whatever the data.
    pub fn is_inner_product(&self) -> bool {
        !matches!(self, Kernel::Sigmoid { .. } | Kernel::Precomputed)
    }

    /// (x·z + 1)².
    pub const QUADRATIC: Kernel = Kernel::Polynomial {
        degree: 2,
        scale: 1.0,
        constant: 1.0,
    };

    /// Refuses data that this kernel cannot take: a Gram matrix of the wrong shape or not
    /// symmetric, values that overflow.
    pub fn check(&self, data: &Dataset) -> Result<()> {
        if *self == Kernel::Precomputed {
            return check_gram(data);
        }
        // |K(x, z)| ≤ max K(x, x) for valid kernels; scores sum many of them.
        const LARGEST: f64 = 1e280;
        for i in 0..data.len() {
            let own = self.of_itself(data.row(i));
            if own.is_nan() || own.abs() > LARGEST {
                return Err(Error::data(format!(
                    "the kernel {self} overflows: K(x, x) of row {} is {own:e}",
                    data.number(i) + 1
                ))
                .remedy("scale the data (⟨scale unit-rows⟩, or a smaller SCALE in ⟨kernel⟩) or lower the degree"));
            }
        }
        Ok(())
    }

    /// Whether the Gram matrix of different rows is always positive definite, so that any
    /// labels without conflict can be separated.
    pub fn separates_all_distinct_rows(&self) -> bool {
        matches!(self, Kernel::Rbf { .. } | Kernel::Laplacian { .. })
    }
}

fn check_gram(data: &Dataset) -> Result<()> {
    let n = data.len();
    if data.features() != n {
        return Err(Error::data(format!(
            "a Gram matrix is square: found {n} rows of {} values",
            data.features()
        ))
        .remedy(
            "give one row for each example, holding its kernel values with every example in order",
        ));
    }
    let mut full = vec![0.0; n];
    for row in 0..n {
        full.fill(0.0);
        data.row(data.position(row)).for_each(|j, x| full[j] = x);
        for (other, &value) in full.iter().enumerate().take(row) {
            let mirrored = data.row(data.position(other)).get(row);
            if (value - mirrored).abs() > 1e-6 * value.abs().max(mirrored.abs()) {
                return Err(Error::data(format!(
                    "a Gram matrix is symmetric: found {value} in row {}, column {} but {mirrored} in row {}, column {}",
                    row + 1,
                    other + 1,
                    other + 1,
                    row + 1
                )));
            }
        }
    }
    Ok(())
}

fn numbers(text: &str) -> std::result::Result<Vec<f64>, String> {
    text.split(',')
        .map(|t| match t.trim().parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(format!("{t:?} is not a number")),
        })
        .collect()
}

fn degree(x: f64) -> std::result::Result<u32, String> {
    if x >= 1.0 && x <= f64::from(HIGHEST_DEGREE) && x.fract() == 0.0 {
        Ok(x as u32)
    } else {
        Err(format!(
            "the degree must be a whole number from 1 to {HIGHEST_DEGREE}"
        ))
    }
}

fn above_zero(x: f64) -> std::result::Result<f64, String> {
    if x > 0.0 {
        Ok(x)
    } else {
        Err("gamma must be above 0".into())
    }
}

fn from_zero(x: f64, what: &str) -> std::result::Result<f64, String> {
    if x >= 0.0 {
        Ok(x)
    } else {
        Err(format!(
            "{what} must be at least 0, or the kernel is not valid"
        ))
    }
}

impl FromStr for Kernel {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (
                name,
                numbers(rest).map_err(|e| format!("{e}; expected {SPELLINGS}"))?,
            ),
            None => (text, Vec::new()),
        };
        Ok(match (name, rest.as_slice()) {
            ("linear", []) => Kernel::Linear,
            ("quadratic", []) => Kernel::QUADRATIC,
            ("precomputed", []) => Kernel::Precomputed,
            ("polynomial", &[p]) => Kernel::Polynomial {
                degree: degree(p)?,
                scale: 1.0,
                constant: 1.0,
            },
            ("polynomial", &[p, a, c]) => Kernel::Polynomial {
                degree: degree(p)?,
                scale: from_zero(a, "the scale")?,
                constant: from_zero(c, "the constant")?,
            },
            ("geometric", &[p]) => Kernel::Geometric { degree: degree(p)? },
            ("monomial", &[p]) => Kernel::Monomial { degree: degree(p)? },
            ("rbf", &[g]) => Kernel::Rbf {
                gamma: above_zero(g)?,
            },
            ("laplacian", &[g]) => Kernel::Laplacian {
                gamma: above_zero(g)?,
            },
            ("sigmoid", &[a, c]) => Kernel::Sigmoid {
                scale: a,
                constant: c,
            },
            _ => return Err(format!("expected {SPELLINGS}")),
        })
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Kernel::Linear => f.write_str("linear"),
            Kernel::QUADRATIC => f.write_str("quadratic"),
            Kernel::Polynomial {
                degree,
                scale: 1.0,
                constant: 1.0,
            } => write!(f, "polynomial:{degree}"),
            Kernel::Polynomial {
                degree,
                scale,
                constant,
            } => write!(f, "polynomial:{degree},{scale},{constant}"),
            Kernel::Geometric { degree } => write!(f, "geometric:{degree}"),
            Kernel::Monomial { degree } => write!(f, "monomial:{degree}"),
            Kernel::Rbf { gamma } => write!(f, "rbf:{gamma}"),
            Kernel::Laplacian { gamma } => write!(f, "laplacian:{gamma}"),
            Kernel::Sigmoid { scale, constant } => write!(f, "sigmoid:{scale},{constant}"),
            Kernel::Precomputed => f.write_str("precomputed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_read_back_as_written() {
        for text in [
            "linear",
            "quadratic",
            "polynomial:4",
            "polynomial:3,0.5,0",
            "geometric:5",
            "monomial:2",
            "rbf:0.25",
            "laplacian:3",
            "sigmoid:0.1,-1",
            "precomputed",
        ] {
            assert_eq!(text.parse::<Kernel>().unwrap().to_string(), text);
        }
        assert_eq!("polynomial:2".parse(), Ok(Kernel::QUADRATIC));
        assert_eq!("polynomial:2,1,1".parse(), Ok(Kernel::QUADRATIC));
    }

    #[test]
    fn wrong_spellings_are_refused_with_the_reason() {
        for (text, says) in [
            ("gauss", "expected linear"),
            ("rbf", "expected linear"),
            ("rbf:0", "above 0"),
            ("rbf:-1", "above 0"),
            ("laplacian:0", "above 0"),
            ("rbf:nan", "not a number"),
            ("rbf:x", "not a number"),
            ("polynomial:0", "whole number"),
            ("polynomial:2.5", "whole number"),
            ("polynomial:99", "whole number"),
            ("polynomial:2,1", "expected linear"),
            ("polynomial:2,-1,1", "at least 0"),
            ("polynomial:2,1,-1", "at least 0"),
            ("sigmoid:1", "expected linear"),
            ("linear:1", "expected linear"),
        ] {
            let error = text.parse::<Kernel>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
