//! From products to kernel values.

use super::WIDTH;
use crate::kernel::{HIGHEST_DEGREE, Kernel};
use crate::simd::{Level, Work};

/// Products become kernel values, 32 at a time.
pub(super) struct Finish<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) constant: f64,
    pub(super) own: f64,
    pub(super) squared_norms: &'a [f64; WIDTH],
    pub(super) out: &'a mut [f64; WIDTH],
}

impl Work for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let out = self.out;
        match *self.kernel {
            Kernel::Polynomial {
                degree,
                scale,
                constant,
            } => {
                for x in out.iter_mut() {
                    *x = scale * *x + constant;
                }
                powers(out, degree);
            }
            Kernel::Geometric { degree } => {
                let t = *out;
                out.fill(1.0);
                for _ in 0..degree {
                    for (x, t) in out.iter_mut().zip(&t) {
                        *x = *x * t + 1.0;
                    }
                }
            }
            Kernel::Linear => {}
            kernel => {
                for (x, &z) in out.iter_mut().zip(self.squared_norms) {
                    *x = kernel.of_product(*x, self.own, z);
                }
            }
        }
        for x in out.iter_mut() {
            *x += self.constant;
        }
    }
}

/// The steps of [`power`](super::value::power), 32 at a time.
#[inline(always)]
fn powers(x: &mut [f64; WIDTH], degree: u32) {
    let multiply = |a: &mut [f64; WIDTH], b: &[f64; WIDTH]| {
        for (a, b) in a.iter_mut().zip(b) {
            *a *= b;
        }
    };
    let mut square = *x;
    let mut left = degree;
    while left & 1 == 0 {
        let same = square;
        multiply(&mut square, &same);
        left >>= 1;
    }
    *x = square;
    left >>= 1;
    while left > 0 {
        let same = square;
        multiply(&mut square, &same);
        if left & 1 == 1 {
            multiply(x, &square);
        }
        left >>= 1;
    }
}

/// Kernels that are no function of products, one feature at a time.
pub(super) struct Elementwise<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) row: &'a [f64],
    pub(super) panel: &'a [[f64; WIDTH]],
    pub(super) out: &'a mut [f64; WIDTH],
}

impl Work for Elementwise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let out = self.out;
        match *self.kernel {
            Kernel::Laplacian { gamma } => {
                let mut distances = [0.0; WIDTH];
                for (&a, lanes) in self.row.iter().zip(self.panel) {
                    for (d, &x) in distances.iter_mut().zip(lanes) {
                        *d += (a - x).abs();
                    }
                }
                for (k, d) in out.iter_mut().zip(distances) {
                    *k = libm::exp(-gamma * d);
                }
            }
            Kernel::Monomial { degree } => {
                let mut sums = [[0.0; WIDTH]; HIGHEST_DEGREE as usize + 1];
                let sums = &mut sums[..=degree as usize];
                sums[0] = [1.0; WIDTH];
                for (&a, lanes) in self.row.iter().zip(self.panel) {
                    if a == 0.0 {
                        continue;
                    }
                    for k in 1..sums.len() {
                        let (lower, higher) = sums.split_at_mut(k);
                        for c in 0..WIDTH {
                            higher[0][c] += a * lanes[c] * lower[k - 1][c];
                        }
                    }
                }
                *out = [0.0; WIDTH];
                for h in sums.iter() {
                    for (k, h) in out.iter_mut().zip(h) {
                        *k += h;
                    }
                }
            }
            _ => unreachable!("other kernels are functions of products"),
        }
    }
}
