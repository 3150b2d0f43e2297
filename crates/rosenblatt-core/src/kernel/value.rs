//! What a kernel's value is: one pair of rows at a time, and by what every faster path is
//! measured.

use super::Kernel;
use crate::data::{Dataset, Row};

/// x^p by squaring; the order of the multiplications is part of the definition.
#[inline(always)]
pub(super) fn power(x: f64, degree: u32) -> f64 {
    let mut square = x;
    let mut left = degree;
    while left & 1 == 0 {
        square *= square;
        left >>= 1;
    }
    let mut result = square;
    left >>= 1;
    while left > 0 {
        square *= square;
        if left & 1 == 1 {
            result *= square;
        }
        left >>= 1;
    }
    result
}

/// Σ_{k ≤ p} t^k by Horner's rule; the closed form cancels near t = 1.
#[inline(always)]
pub(super) fn geometric(t: f64, degree: u32) -> f64 {
    let mut sum = 1.0;
    for _ in 0..degree {
        sum = sum * t + 1.0;
    }
    sum
}

impl Kernel {
    /// The kernel's value from x·z and the rows' squared norms, for kernels that need no more.
    #[inline(always)]
    pub(super) fn of_product(&self, product: f64, x: f64, z: f64) -> f64 {
        match *self {
            Kernel::Polynomial {
                degree,
                scale,
                constant,
            } => power(scale * product + constant, degree),
            Kernel::Geometric { degree } => geometric(product, degree),
            Kernel::Rbf { gamma } => {
                // Rounding may leave a little less than nothing between two rows.
                let distance = ((x + z) - 2.0 * product).max(0.0);
                libm::exp(-gamma * distance)
            }
            Kernel::Sigmoid { scale, constant } => libm::tanh(scale * product + constant),
            _ => product,
        }
    }

    /// Whether x·z and the rows' squared norms suffice.
    pub(super) fn is_of_products(&self) -> bool {
        !matches!(
            self,
            Kernel::Monomial { .. } | Kernel::Laplacian { .. } | Kernel::Precomputed
        )
    }

    /// K(x, z). Precomputed kernels have no rows to speak of; theirs is x·z.
    pub fn value(&self, x: Row<'_>, z: Row<'_>) -> f64 {
        match *self {
            Kernel::Laplacian { gamma } => {
                let mut distance = 0.0;
                x.for_each_pair(z, |a, b| distance += (a - b).abs());
                libm::exp(-gamma * distance)
            }
            Kernel::Monomial { degree } => {
                // Complete homogeneous sums h_k of the t_j = x_j·z_j, one feature at a time.
                let mut sums = [0.0; super::HIGHEST_DEGREE as usize + 1];
                let sums = &mut sums[..=degree as usize];
                sums[0] = 1.0;
                x.for_each_pair(z, |a, b| {
                    let t = a * b;
                    for k in 1..sums.len() {
                        sums[k] += t * sums[k - 1];
                    }
                });
                sums.iter().fold(0.0, |s, h| s + h)
            }
            _ => {
                let mut product = 0.0;
                x.for_each_pair(z, |a, b| product += a * b);
                self.of_product(product, x.squared_norm(), z.squared_norm())
            }
        }
    }

    /// K(x, x) of the example at memory position `i`.
    pub(crate) fn of_example(&self, data: &Dataset, i: usize) -> f64 {
        match self {
            Kernel::Precomputed => data.row(i).get(data.number(i)),
            _ => self.of_itself(data.row(i)),
        }
    }

    /// K(x, x).
    pub fn of_itself(&self, x: Row<'_>) -> f64 {
        match self {
            Kernel::Rbf { .. } | Kernel::Laplacian { .. } => 1.0,
            Kernel::Monomial { .. } => self.value(x, x),
            _ => {
                let square = x.squared_norm();
                self.of_product(square, square, square)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn powers_are_products() {
        for p in 1..=64 {
            assert_eq!(power(2.0, p), 2f64.powi(p as i32), "{p}");
            assert_eq!(power(-1.0, p), if p % 2 == 0 { 1.0 } else { -1.0 });
        }
        assert_eq!(geometric(1.0, 5), 6.0);
        assert_eq!(geometric(2.0, 3), 15.0);
    }

    /// All exponents of `d` variables of total degree at most `p`.
    fn exponents(d: usize, p: u32) -> Vec<Vec<u32>> {
        if d == 0 {
            return vec![vec![]];
        }
        (0..=p)
            .flat_map(|first| {
                exponents(d - 1, p - first)
                    .into_iter()
                    .map(move |mut rest| {
                        rest.insert(0, first);
                        rest
                    })
            })
            .collect()
    }

    fn factorial(n: u32) -> f64 {
        (1..=n).map(f64::from).product()
    }

    proptest! {
        #[test]
        fn kernels_are_inner_products_of_their_features(
            x in prop::collection::vec(-2.0f64..2.0, 3),
            z in prop::collection::vec(-2.0f64..2.0, 3),
            p in 1u32..5,
            a in 0.0f64..2.0,
            c in 0.0f64..2.0,
        ) {
            let (rx, rz) = (Row::Dense64(&x), Row::Dense64(&z));
            let at = |v: &[f64], m: &[u32]| -> f64 {
                v.iter().zip(m).map(|(x, &e)| x.powi(e as i32)).product()
            };
            let sum = |weight: &dyn Fn(&[u32]) -> f64| -> f64 {
                exponents(3, p).iter().map(|m| weight(m) * at(&x, m) * at(&z, m)).sum()
            };
            let m_factorial = |m: &[u32]| -> f64 { m.iter().map(|&e| factorial(e)).product() };
            let total = |m: &[u32]| m.iter().sum::<u32>();
            let polynomial = sum(&|m| {
                let constant = p - total(m);
                factorial(p) / (m_factorial(m) * factorial(constant))
                    * a.powi(total(m) as i32) * c.powi(constant as i32)
            });
            let geometric = sum(&|m| factorial(total(m)) / m_factorial(m));
            let monomial = sum(&|_| 1.0);
            for (kernel, explicit) in [
                (Kernel::Polynomial { degree: p, scale: a, constant: c }, polynomial),
                (Kernel::Geometric { degree: p }, geometric),
                (Kernel::Monomial { degree: p }, monomial),
            ] {
                let value = kernel.value(rx, rz);
                prop_assert!((value - explicit).abs() <= 1e-9 * (1.0 + explicit.abs() + value.abs()), "{kernel}: {value} {explicit}");
                prop_assert_eq!(value.to_bits(), kernel.value(rz, rx).to_bits());
            }
            let square: f64 = x.iter().zip(&z).map(|(a, b)| (a - b) * (a - b)).sum();
            let rbf = Kernel::Rbf { gamma: a + 0.1 };
            prop_assert!((rbf.value(rx, rz) - (-(a + 0.1) * square).exp()).abs() < 1e-12);
            prop_assert_eq!(rbf.value(rx, rx), 1.0);
        }
    }
}
