//! Kernels whose values are rational, and those for which only equality of rows counts.
//!
//! With rows of integers over 10^scale, every kernel value for one row is a quotient with
//! the same positive denominator. A sign, or being zero, needs the numerators alone.

use crate::certificate::Sparse;
use crate::json::Json;
use crate::number::{self, power_of_ten};
use crate::outcome::Malformed;
use crate::read::Row;
use crate::vectors::Vectors;
use dashu_int::IBig;

const MAX_DEGREE: u64 = 64;

/// A kernel K(x, z).
pub(crate) enum Kernel {
    /// x·z.
    Linear,
    /// (a·x·z + c)^degree, with a and c as integers over `unit`.
    Polynomial {
        degree: usize,
        scale: IBig,
        constant: IBig,
        unit: IBig,
    },
    /// Σ (x·z)^k for k = 0..degree.
    Geometric { degree: usize },
    /// The unweighted monomials of degree at most `degree`: complete homogeneous sums.
    Monomial { degree: usize },
    /// Gaussian or Laplacian: images of distinct rows are linearly independent, whatever
    /// the width.
    StrictlyPositive,
}

impl Kernel {
    pub(crate) fn parse(json: &Json) -> Result<Kernel, Malformed> {
        let mut fields = json.fields()?;
        let degree = |json: &Json| match json.natural()? {
            degree @ 1..=MAX_DEGREE => Ok(degree as usize),
            _ => Err(Malformed::new(format!("expected 1 to {MAX_DEGREE}"))),
        };
        let parameter = |json: &Json| {
            let value = number::rational(json.text()?);
            let value = value.filter(|value| value.numerator >= IBig::ZERO);
            value.ok_or_else(|| Malformed::new("expected a rational that is not negative"))
        };
        let kernel = match fields.required("name", Json::text)? {
            "linear" => Kernel::Linear,
            "polynomial" => {
                let degree = fields.required("degree", degree)?;
                let scale = fields.required("scale", parameter)?;
                let constant = fields.required("constant", parameter)?;
                Kernel::Polynomial {
                    degree,
                    scale: scale.numerator * &constant.denominator,
                    constant: constant.numerator * &scale.denominator,
                    unit: (scale.denominator * constant.denominator).into(),
                }
            }
            "geometric" => Kernel::Geometric {
                degree: fields.required("degree", degree)?,
            },
            "monomial" => Kernel::Monomial {
                degree: fields.required("degree", degree)?,
            },
            "rbf" | "laplacian" => {
                // With a width of 0 every row would have the same image.
                if fields.required("gamma", parameter)?.numerator.is_zero() {
                    return Err(Malformed::new("expected more than 0").under("gamma"));
                }
                Kernel::StrictlyPositive
            }
            _ => return Err(Malformed::new("is not a known kernel").under("name")),
        };
        fields.finish()?;
        Ok(kernel)
    }
}

/// A kernel as it is written, for a reader.
pub(crate) fn described(json: &Json) -> Result<String, Malformed> {
    let fields = json.object()?;
    let name = fields.get("name").map(Json::text).transpose()?;
    let mut text = name.unwrap_or_default().to_owned();
    for (field, value) in fields.iter().filter(|(field, _)| *field != "name") {
        let value = match value {
            Json::Text(text) => text.clone(),
            other => other.natural()?.to_string(),
        };
        text += &format!(" {field}={value}");
    }
    Ok(text)
}

/// A function Σ c_j K(x_j, ·), with K + 1 in place of K where the constant is lifted.
pub(crate) struct Expansion<'k> {
    kernel: &'k Kernel,
    lifted: bool,
    coefficients: Vec<IBig>,
    /// The rows x_j as integers over one power of ten.
    rows: Vec<Sparse>,
    scale: usize,
    vectors: Vectors,
}

impl<'k> Expansion<'k> {
    pub(crate) fn new<'r>(
        kernel: &'k Kernel,
        lifted: bool,
        terms: impl Iterator<Item = (IBig, &'r Row)> + Clone,
    ) -> Self {
        let scale = terms.clone().map(|(_, row)| row.scale).max().unwrap_or(0);
        let rows = terms.clone().map(|(_, row)| {
            let factor = power_of_ten(scale - row.scale);
            let integers = row.integers();
            integers
                .map(|(feature, value)| (feature, value * &factor))
                .collect()
        });
        let rows: Vec<Sparse> = rows.collect();
        Expansion {
            kernel,
            lifted,
            coefficients: terms.map(|(coefficient, _)| coefficient).collect(),
            vectors: Vectors::new(&rows),
            rows,
            scale,
        }
    }

    /// The value at `row` times a positive number.
    pub(crate) fn score(&mut self, row: &Row) -> IBig {
        let one = power_of_ten(self.scale + row.scale);
        // Each arm gives numerators over a denominator that is what 1 becomes.
        let (values, denominator): (Vec<IBig>, IBig) = match self.kernel {
            Kernel::Linear => (self.vectors.products(row).to_vec(), one),
            Kernel::Polynomial {
                degree,
                scale,
                constant,
                unit,
            } => {
                let constant = constant * &one;
                let products = self.vectors.products(row).iter();
                let values = products.map(|t| (scale * t + &constant).pow(*degree));
                (values.collect(), (unit * one).pow(*degree))
            }
            Kernel::Geometric { degree } => {
                let products = self.vectors.products(row).iter();
                let values = products.map(|t| geometric(t, &one, *degree));
                (values.collect(), one.pow(*degree))
            }
            Kernel::Monomial { degree } => {
                let here: Sparse = row.integers().collect();
                let rows = self.rows.iter();
                let values = rows.map(|there| monomial(&here, there, &one, *degree));
                (values.collect(), one.pow(*degree))
            }
            Kernel::StrictlyPositive => return IBig::ZERO, // never asked: its rows are compared
        };
        let constant = if self.lifted { denominator } else { IBig::ZERO };
        let terms = self.coefficients.iter().zip(values);
        terms
            .map(|(coefficient, value)| coefficient * (value + &constant))
            .sum()
    }
}

/// Σ t^k · one^(degree − k): over one^degree it is Σ (t/one)^k.
fn geometric(t: &IBig, one: &IBig, degree: usize) -> IBig {
    let (mut sum, mut power) = (IBig::ONE, IBig::ONE);
    for _ in 0..degree {
        power *= t;
        sum = sum * one + &power;
    }
    sum
}

/// The complete homogeneous sum of degree `degree` in `one` and all products x_f·z_f.
fn monomial(x: &Sparse, z: &Sparse, one: &IBig, degree: usize) -> IBig {
    let mut sums = vec![IBig::ONE; degree + 1];
    for k in 1..=degree {
        sums[k] = &sums[k - 1] * one;
    }
    for (feature, value) in x {
        if let Ok(place) = z.binary_search_by_key(feature, |entry| entry.0) {
            let product = value * &z[place].1;
            for k in 1..=degree {
                let more = &sums[k - 1] * &product;
                sums[k] += more;
            }
        }
    }
    sums.pop().unwrap_or(IBig::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(text: &str) -> Kernel {
        Kernel::parse(&Json::parse(text.as_bytes()).unwrap()).unwrap_or_else(|e| panic!("{e}"))
    }

    /// x = (1/2, 3), z = (4, −1/10): x·z = 2 − 3/10 = 17/10, at 10^(1 + 1).
    #[test]
    fn values_are_those_of_the_formulas() {
        let x = Row::of(&[(1, "0.5"), (2, "3")]);
        let z = Row::of(&[(1, "4"), (2, "-0.1")]);
        let cases = [
            (r#"{"name": "linear"}"#, false, 170),
            (r#"{"name": "linear"}"#, true, 270),
            // (17/20 + 3)² = 77²/20²; denominator (2·100)².
            (
                r#"{"name": "polynomial", "degree": 2, "scale": "1/2", "constant": "3"}"#,
                false,
                770 * 770,
            ),
            // 1 + 1.7 + 2.89 = 5.59
            (r#"{"name": "geometric", "degree": 2}"#, false, 55_900),
            // 1 + 2 − 0.3 + 4 − 0.6 + 0.09 = 6.19
            (r#"{"name": "monomial", "degree": 2}"#, false, 61_900),
            (r#"{"name": "monomial", "degree": 2}"#, true, 71_900),
        ];
        for (text, lifted, expected) in cases {
            let kernel = kernel(text);
            let terms = [(IBig::from(3), &z)];
            let mut expansion = Expansion::new(&kernel, lifted, terms.into_iter());
            assert_eq!(expansion.score(&x), IBig::from(3 * expected), "{text}");
        }
    }

    #[test]
    fn parameters_that_spoil_a_kernel_are_refused() {
        for text in [
            r#"{"name": "rbf", "gamma": "0"}"#,
            r#"{"name": "rbf"}"#,
            r#"{"name": "polynomial", "degree": 2, "scale": "-1", "constant": "1"}"#,
            r#"{"name": "polynomial", "degree": 0, "scale": "1", "constant": "1"}"#,
            r#"{"name": "geometric", "degree": 65}"#,
            r#"{"name": "linear", "degree": 1}"#,
            r#"{"name": "sigmoid"}"#,
        ] {
            assert!(
                Kernel::parse(&Json::parse(text.as_bytes()).unwrap()).is_err(),
                "{text}"
            );
        }
    }
}
