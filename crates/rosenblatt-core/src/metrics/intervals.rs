//! Confidence intervals, and a test of two models on the same rows.

use super::Interval;
use crate::random::Random;

/// Wilson's 95 % confidence interval of a share (Wilson 1927).
pub fn wilson(hits: u64, all: u64) -> Interval {
    const Z: f64 = 1.959_963_984_540_054;
    let (n, p) = (all as f64, hits as f64 / all as f64);
    let centre = p + Z * Z / (2.0 * n);
    let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let shrink = 1.0 + Z * Z / n;
    [
        ((centre - reach) / shrink).max(0.0),
        ((centre + reach) / shrink).min(1.0),
    ]
}

/// The two-sided p-value of McNemar's exact test (McNemar 1947): `a` rows are right by one model
/// alone, `b` by the other alone, and either is as likely if both are as good.
pub fn mcnemar(a: u64, b: u64) -> f64 {
    let n = a + b;
    let half = libm::log(0.5) * n as f64;
    // ln of C(n, i)/2ⁿ, from one i to the next.
    let (mut term, mut tail) = (half, 0.0);
    for i in 0..=a.min(b) {
        tail += libm::exp(term);
        term += libm::log((n - i) as f64 / (i + 1) as f64);
    }
    (2.0 * tail).min(1.0)
}

/// Resamples of a bootstrap, fewer where that many would take long.
pub(super) fn resamples(cells: usize) -> usize {
    (20_000_000 / cells.max(1)).clamp(100, 1000)
}

/// The interval between the 2.5th and the 97.5th percentile.
pub(super) fn percentiles(mut values: Vec<f64>) -> Interval {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    [at(0.025), at(0.975)]
}

/// How often something with this mean happens, after Poisson. A bootstrap of many examples draws
/// how often each is taken so (Hanley & MacGibbon 2006).
pub(super) fn poisson(random: &mut Random, mean: f64) -> f64 {
    if mean > 30.0 {
        return (mean + mean.sqrt() * random.normal()).round().max(0.0);
    }
    let (limit, mut product, mut count) = (libm::exp(-mean), 1.0, -1.0);
    while product >= limit {
        product *= random.positive_unit();
        count += 1.0;
    }
    count
}
