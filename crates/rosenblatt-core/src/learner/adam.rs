//! Adam's rule: every weight moves by the running mean of its gradient over the root of the
//! running mean of its square.
//!
//! *Reference.* D. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR (2015).

use crate::kernel::WIDTH;
use crate::simd::{Level, Work};

/// Adam's rule at one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Adam {
    rate: f64,
    /// 1/√(1 − β₂^t).
    root: f64,
}

const MEAN: f64 = 0.9;
const SQUARE: f64 = 0.999;

impl Adam {
    pub(super) fn at(rate: f64, step: u64) -> Self {
        let t = step as f64;
        Adam {
            rate: rate / (1.0 - libm::pow(MEAN, t)),
            root: 1.0 / (1.0 - libm::pow(SQUARE, t)).sqrt(),
        }
    }
}

/// One step of a table of weights.
pub(super) struct AdamStep<'a> {
    pub(super) adam: Adam,
    pub(super) weights: &'a mut [[f64; WIDTH]],
    pub(super) means: &'a mut [[f64; WIDTH]],
    pub(super) squares: &'a mut [[f64; WIDTH]],
    pub(super) gradient: &'a [[f64; WIDTH]],
}

impl Work for AdamStep<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let Adam { rate, root } = self.adam;
        for (((w, m), v), g) in self
            .weights
            .iter_mut()
            .zip(self.means)
            .zip(self.squares)
            .zip(self.gradient)
        {
            for c in 0..WIDTH {
                m[c] = MEAN * m[c] + (1.0 - MEAN) * g[c];
                v[c] = SQUARE * v[c] + (1.0 - SQUARE) * g[c] * g[c];
                w[c] -= rate * m[c] / (v[c].sqrt() * root + 1e-8);
            }
        }
    }
}
