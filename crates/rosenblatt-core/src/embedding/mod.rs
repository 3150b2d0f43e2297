//! Explicit embeddings: features made of features, for learners that keep weights.
//!
//! | spelling | features |
//! | --- | --- |
//! | `monomials:P` | all monomials of degree ≤ p, unweighted; C(d + p, p) of them |
//! | `circle` | x1, …, xd, ‖x‖²: a sphere becomes a plane |
//! | `squares` | x1², …, xd², 1 |
//! | `fourier:N,G` | N random cosines whose inner products approach exp(−γ‖x − z‖²) |
//! | `nystrom:N,G` | projections onto N examples in the space of that kernel |
//!
//! An embedding is fitted to the training rows, applied wherever rows come in, and saved
//! with the model. Embeddings that contain the constant need no other bias.

mod fourier;
mod monomials;
mod nystrom;

use std::fmt;
use std::str::FromStr;

use fourier::Fourier;
use nystrom::Nystrom;

use crate::data::{Dataset, Matrix, Precision, Row, Storage};
use crate::error::{Error, Result};

/// Which embedding.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Embed {
    /// All monomials up to a degree.
    Monomials {
        /// The highest degree.
        degree: u32,
    },
    /// The features and their squared norm.
    Circle,
    /// The squares of the features, and 1.
    Squares,
    /// Random Fourier features of the Gaussian kernel (Rahimi & Recht, 2007).
    Fourier {
        /// How many.
        features: u32,
        /// γ of the kernel.
        gamma: f64,
    },
    /// Nyström features of the Gaussian kernel (Williams & Seeger, 2001).
    Nystrom {
        /// How many examples to project on.
        landmarks: u32,
        /// γ of the kernel.
        gamma: f64,
    },
}

/// More features than this are refused.
const MOST_FEATURES: u128 = 1 << 26;
/// More random directions than this (1 GiB of them) are refused.
const MOST_DIRECTIONS: u128 = 1 << 27;
/// More bytes of embedded rows than this are refused.
const MOST_BYTES: u128 = 1 << 34;
/// Rows embedded at a time when predicting.
const AT_ONCE: usize = 4096;

impl Embed {
    /// Whether one of the features is always 1, so that no other bias is needed.
    pub fn contains_constant(&self) -> bool {
        matches!(self, Embed::Monomials { .. } | Embed::Squares)
    }

    /// How many features it makes of `inputs`; `None` beyond counting.
    pub fn features(&self, inputs: usize) -> Option<u128> {
        let d = inputs as u128;
        match *self {
            Embed::Monomials { degree } => monomials::choose(d + u128::from(degree), degree),
            Embed::Circle | Embed::Squares => Some(d + 1),
            Embed::Fourier { features: n, .. } | Embed::Nystrom { landmarks: n, .. } => {
                Some(u128::from(n))
            }
        }
    }
}

impl FromStr for Embed {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected = || {
            "expected monomials:DEGREE, circle, squares, fourier:N,GAMMA or nystrom:N,GAMMA"
                .to_owned()
        };
        let whole = |t: &str| {
            t.parse::<u32>()
                .ok()
                .filter(|&n| n > 0)
                .ok_or_else(expected)
        };
        let pair = |t: &str| -> std::result::Result<(u32, f64), String> {
            let (n, gamma) = t.split_once(',').ok_or_else(expected)?;
            match gamma.parse::<f64>() {
                Ok(g) if g.is_finite() && g > 0.0 => Ok((whole(n)?, g)),
                _ => Err("gamma must be a number above 0".into()),
            }
        };
        match text.split_once(':') {
            None if text == "circle" => Ok(Embed::Circle),
            None if text == "squares" => Ok(Embed::Squares),
            Some(("monomials", p)) => Ok(Embed::Monomials { degree: whole(p)? }),
            Some(("fourier", rest)) => {
                pair(rest).map(|(features, gamma)| Embed::Fourier { features, gamma })
            }
            Some(("nystrom", rest)) => {
                pair(rest).map(|(landmarks, gamma)| Embed::Nystrom { landmarks, gamma })
            }
            _ => Err(expected()),
        }
    }
}

impl fmt::Display for Embed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Embed::Monomials { degree } => write!(f, "monomials:{degree}"),
            Embed::Circle => f.write_str("circle"),
            Embed::Squares => f.write_str("squares"),
            Embed::Fourier { features, gamma } => write!(f, "fourier:{features},{gamma}"),
            Embed::Nystrom { landmarks, gamma } => write!(f, "nystrom:{landmarks},{gamma}"),
        }
    }
}

/// An embedding fitted to training rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    embed: Embed,
    inputs: usize,
    fitted: Fitted,
}

#[derive(Debug, Clone, PartialEq)]
enum Fitted {
    Nothing,
    Fourier(Fourier),
    Nystrom(Nystrom),
}

impl Embedding {
    /// Fits `embed` to `data`; refuses what could not be held.
    pub fn fit(embed: Embed, data: &Dataset, seed: u64) -> Result<Self> {
        let landmarks = match embed {
            Embed::Nystrom { landmarks, .. } => {
                Some(nystrom::draw_landmarks(data, landmarks as usize, seed))
            }
            _ => None,
        };
        let embedding = Self::from_parts(embed, data.features(), seed, landmarks)?;
        let bytes = match (data.matrix.is_sparse(), embed) {
            (true, Embed::Monomials { degree }) => (0..data.len())
                .map(|i| {
                    monomials::choose(data.row(i).non_zeros() as u128 + u128::from(degree), degree)
                })
                .try_fold(0u128, |sum, n| sum.checked_add(n?.checked_mul(12)?)),
            _ => (embedding.features() as u128 * 8).checked_mul(data.len() as u128),
        };
        match bytes {
            Some(bytes) if bytes <= MOST_BYTES => Ok(embedding),
            _ => Err(Error::options(format!(
                "⟨embed {embed}⟩ makes {} features of {} for {} rows, more than {} GiB",
                embedding.features(),
                data.features(),
                data.len(),
                MOST_BYTES >> 30
            ))
            .remedy(advice(embed))),
        }
    }

    /// An embedding from what a model file holds: the seed, and landmarks where there are any.
    pub fn from_parts(
        embed: Embed,
        inputs: usize,
        seed: u64,
        landmarks: Option<Matrix>,
    ) -> Result<Self> {
        match embed.features(inputs) {
            Some(n) if n <= MOST_FEATURES => {}
            counted => {
                let count = counted.map_or("more than 10³⁸".into(), |n| n.to_string());
                return Err(Error::options(format!(
                    "⟨embed {embed}⟩ makes {count} features of {inputs}"
                ))
                .remedy(advice(embed)));
            }
        }
        let fitted = match (embed, landmarks) {
            (Embed::Fourier { features, .. }, _)
                if u128::from(features) * inputs as u128 > MOST_DIRECTIONS =>
            {
                return Err(Error::options(format!(
                    "⟨embed {embed}⟩ needs {features} × {inputs} random numbers"
                ))
                .remedy(advice(embed)));
            }
            (Embed::Nystrom { .. }, Some(landmarks)) if landmarks.columns() != inputs => {
                return Err(Error::model(format!(
                    "the landmarks of a Nyström embedding have {} features, expected {inputs}",
                    landmarks.columns()
                )));
            }
            (Embed::Fourier { features, gamma }, _) => {
                Fitted::Fourier(Fourier::new(inputs, features as usize, gamma, seed))
            }
            (Embed::Nystrom { gamma, .. }, Some(landmarks)) => {
                Fitted::Nystrom(Nystrom::new(landmarks, gamma))
            }
            (Embed::Nystrom { .. }, None) => {
                return Err(Error::model("a Nyström embedding without its landmarks"));
            }
            _ => Fitted::Nothing,
        };
        Ok(Embedding {
            embed,
            inputs,
            fitted,
        })
    }

    /// Which embedding it is.
    pub fn embed(&self) -> Embed {
        self.embed
    }

    /// The number of features it takes.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of features it makes.
    pub fn features(&self) -> usize {
        match &self.fitted {
            Fitted::Nystrom(nystrom) => nystrom.features(),
            _ => self
                .embed
                .features(self.inputs)
                .and_then(|n| n.try_into().ok())
                .unwrap_or(usize::MAX),
        }
    }

    /// The examples that Nyström features project on.
    pub fn landmarks(&self) -> Option<&Matrix> {
        match &self.fitted {
            Fitted::Nystrom(nystrom) => Some(nystrom.landmarks()),
            _ => None,
        }
    }

    /// What it does, for people: the count and where it comes from.
    pub fn describe(&self) -> String {
        let (d, n) = (self.inputs, self.features());
        match self.embed {
            Embed::Monomials { degree } => format!(
                "{n} monomials of degree at most {degree} in {d} features: C({}, {degree}) = {n}",
                d + degree as usize
            ),
            _ => format!("{} makes {n} features of {d}", self.embed),
        }
    }

    /// The embedded rows.
    pub fn apply(&self, matrix: &Matrix, threads: usize) -> Matrix {
        if let (true, Embed::Monomials { degree }) = (matrix.is_sparse(), self.embed) {
            let mut out = Matrix::empty_sparse(self.features(), Precision::F64);
            let mut pairs = Vec::new();
            for i in 0..matrix.rows() {
                pairs.clear();
                monomials::of(matrix.row(i), self.inputs, degree, |j, x| {
                    pairs.push((j as u32, x))
                });
                out.push_sparse(pairs.iter().copied());
            }
            return out;
        }
        let columns = self.features();
        let mut values = vec![0.0; matrix.rows() * columns];
        if let Fitted::Nystrom(nystrom) = &self.fitted {
            nystrom.apply(matrix, threads, &mut values);
        } else {
            crate::parallel::chunks(&mut values, columns.max(1), threads, || {
                |i: usize, out: &mut [f64]| self.row_into(matrix.row(i), out)
            });
        }
        Matrix::from_storage(Storage::Dense {
            rows: matrix.rows(),
            columns,
            values: values.into(),
        })
    }

    /// One embedded row, written out in full; the same bits as [`apply`](Self::apply) gives.
    pub fn apply_to_row(&self, row: Row<'_>, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.features(), 0.0);
        self.row_into(row, out);
    }

    fn row_into(&self, row: Row<'_>, out: &mut [f64]) {
        match (self.embed, &self.fitted) {
            (_, Fitted::Fourier(fourier)) => fourier.apply(row, out),
            (_, Fitted::Nystrom(nystrom)) => nystrom.apply_to_row(row, out),
            (Embed::Monomials { degree }, _) => {
                monomials::of(row, self.inputs, degree, |j, x| out[j] = x);
            }
            (Embed::Circle, _) => {
                row.for_each(|j, x| out[j] = x);
                out[self.inputs] = row.squared_norm();
            }
            _ => {
                row.for_each(|j, x| out[j] = x * x);
                out[self.inputs] = 1.0;
            }
        }
    }

    /// Calls `f` with the embedded rows of part after part of `matrix`, so that no more than
    /// a part is held at a time.
    pub fn in_parts(&self, matrix: &Matrix, threads: usize, mut f: impl FnMut(&Matrix)) {
        for start in (0..matrix.rows()).step_by(AT_ONCE) {
            let rows = start..(start + AT_ONCE).min(matrix.rows());
            f(&self.apply(&matrix.select(rows), threads));
        }
    }
}

fn advice(embed: Embed) -> String {
    match embed {
        Embed::Monomials { degree } => format!(
            "use ⟨learner kernel⟩ with ⟨kernel monomial:{degree}⟩, which never writes them out, or a lower degree"
        ),
        _ => "ask for fewer features".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;
    use crate::kernel::Kernel;
    use proptest::prelude::*;

    fn data(rows: &[Vec<f64>]) -> Dataset {
        let n = rows.len();
        Dataset::new(
            Matrix::dense_from_rows(rows[0].len(), rows, Precision::F64),
            (0..n).map(|i| (i % 2) as u32).collect(),
            Classes::from_labels(["a", "b"]),
            None,
        )
        .unwrap()
    }

    #[test]
    fn hostile_parts_are_refused() {
        let fourier: Embed = "fourier:64,1".parse().unwrap();
        for inputs in [1 << 22, usize::MAX / 8, usize::MAX] {
            assert!(Embedding::from_parts(fourier, inputs, 0, None).is_err());
        }
        let nystrom: Embed = "nystrom:1,1".parse().unwrap();
        let landmarks = Matrix::dense_from_rows(3, &[vec![1.0; 3]], Precision::F64);
        assert!(Embedding::from_parts(nystrom, 3, 0, Some(landmarks.clone())).is_ok());
        assert!(Embedding::from_parts(nystrom, 2, 0, Some(landmarks)).is_err());
    }

    #[test]
    fn embeddings_read_back_as_written() {
        for text in [
            "monomials:3",
            "circle",
            "squares",
            "fourier:100,0.5",
            "nystrom:10,2",
        ] {
            assert_eq!(text.parse::<Embed>().unwrap().to_string(), text);
        }
        for text in [
            "monomials",
            "monomials:0",
            "circle:1",
            "fourier:10",
            "fourier:0,1",
            "nystrom:10,0",
            "nystrom:10,-1",
            "x",
        ] {
            assert!(text.parse::<Embed>().is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_binomial_and_absurd_ones_refused() {
        assert_eq!(Embed::Monomials { degree: 3 }.features(2), Some(10));
        assert_eq!(Embed::Monomials { degree: 2 }.features(3), Some(10));
        let wide = data(&[vec![1.0; 784], vec![0.0; 784]]);
        let error = Embedding::fit(Embed::Monomials { degree: 4 }, &wide, 0).unwrap_err();
        assert!(error.to_string().contains("15943435565"), "{error}");
        assert!(error.to_string().contains("kernel = monomial:4"), "{error}");
        let few = Embedding::fit(Embed::Monomials { degree: 2 }, &wide, 0).unwrap();
        assert!(
            few.describe().contains("C(786, 2) = 308505"),
            "{}",
            few.describe()
        );
        assert!(Embedding::fit(Embed::Monomials { degree: 60 }, &wide, 0).is_err());
    }

    proptest! {
        #[test]
        fn monomials_have_the_inner_product_of_their_kernel(
            rows in prop::collection::vec(prop::collection::vec(-2.0f64..2.0, 4), 2..5),
            p in 1u32..5,
            zero in 0usize..4,
        ) {
            let mut rows = rows;
            rows.iter_mut().for_each(|r| r[zero] = 0.0);
            rows[0][zero] = 1.5;
            let data = data(&rows);
            let embedding = Embedding::fit(Embed::Monomials { degree: p }, &data, 0).unwrap();
            let dense = embedding.apply(&data.matrix, 2);
            let mut thin = Matrix::empty_sparse(4, Precision::F64);
            rows.iter().for_each(|r| thin.push_sparse(r.iter().enumerate().map(|(j, &x)| (j as u32, x))));
            let thin = embedding.apply(&thin, 1);
            let kernel = Kernel::Monomial { degree: p };
            for i in 0..rows.len() {
                prop_assert_eq!(dense.row(i).to_dense(dense.columns()), thin.row(i).to_dense(dense.columns()));
                for j in 0..rows.len() {
                    let explicit = Kernel::Linear.value(dense.row(i), dense.row(j));
                    let implicit = kernel.value(data.row(i), data.row(j));
                    prop_assert!((explicit - implicit).abs() <= 1e-9 * (1.0 + explicit.abs() + implicit.abs()));
                }
            }
        }
    }

    #[test]
    fn monomials_stand_in_their_order() {
        let data = data(&[vec![2.0, 3.0], vec![1.0, 1.0]]);
        let embedding = Embedding::fit(Embed::Monomials { degree: 3 }, &data, 0).unwrap();
        let mut row = Vec::new();
        embedding.apply_to_row(data.row(0), &mut row);
        assert_eq!(row, [1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 8.0, 12.0, 18.0, 27.0]);
        for (embed, expected) in [
            (Embed::Circle, [2.0, 3.0, 13.0]),
            (Embed::Squares, [4.0, 9.0, 1.0]),
        ] {
            Embedding::fit(embed, &data, 0)
                .unwrap()
                .apply_to_row(data.row(0), &mut row);
            assert_eq!(row, expected);
        }
    }

    #[test]
    fn random_features_approach_the_gaussian_kernel() {
        let mut random = crate::random::Random::new(3, crate::random::Stream::Sample, 0);
        let rows: Vec<Vec<f64>> = (0..60)
            .map(|_| (0..3).map(|_| random.normal()).collect())
            .collect();
        let data = data(&rows);
        let kernel = Kernel::Rbf { gamma: 0.3 };
        for (text, tolerance) in [
            ("fourier:4000,0.3", 0.08),
            ("nystrom:60,0.3", 1e-6),
            ("nystrom:100,0.3", 1e-6),
            ("nystrom:45,0.3", 0.01),
        ] {
            let embedding = Embedding::fit(text.parse().unwrap(), &data, 1).unwrap();
            let embedded = embedding.apply(&data.matrix, 2);
            let mut row = Vec::new();
            let (mut worst, mut sum): (f64, f64) = (0.0, 0.0);
            for i in 0..60 {
                embedding.apply_to_row(data.row(i), &mut row);
                assert_eq!(embedded.row(i).to_dense(embedded.columns()), row);
                for j in 0..60 {
                    let approximate = Kernel::Linear.value(embedded.row(i), embedded.row(j));
                    let error = (approximate - kernel.value(data.row(i), data.row(j))).abs();
                    worst = worst.max(error);
                    sum += error;
                }
            }
            // Far from all landmarks a projection may miss much of one row.
            let error = if text == "nystrom:45,0.3" {
                sum / 3600.0
            } else {
                worst
            };
            assert!(error <= tolerance, "{text}: {error}");
        }
    }
}
