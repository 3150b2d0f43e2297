//! Fitting the maps of a calibration.

use super::{ClassScores, both_sides, line};

/// The unit in which no score is above 1.
fn unit(scores: impl Iterator<Item = f64>) -> f64 {
    let most = scores.fold(0.0, |most: f64, s| most.max(s.abs()));
    if most > 0.0 { most } else { 1.0 }
}

/// Slope and intercept of largest likelihood, with targets a little inside 0 and 1, by Newton's
/// method (Lin, Lin & Weng 2007).
pub(super) fn sigmoid_fit(rows: &[(f64, bool)]) -> [f64; 2] {
    let unit = unit(rows.iter().map(|(s, _)| *s));
    let up = rows.iter().filter(|(_, own)| *own).count() as f64;
    let down = rows.len() as f64 - up;
    let (high, low) = ((up + 1.0) / (up + 2.0), 1.0 / (down + 2.0));
    let target = |own: bool| if own { high } else { low };
    let loss = |at: [f64; 2]| -> f64 {
        let each = rows.iter().map(|&(s, own)| {
            let x = line(at, s / unit);
            // ln(1 + exp(x)) − t·x
            libm::log1p(libm::exp(-x.abs())) + x.max(0.0) - target(own) * x
        });
        each.sum()
    };
    let mut at = [0.0, libm::log((up + 1.0) / (down + 1.0))];
    let mut now = loss(at);
    for _ in 0..100 {
        let (mut g, mut h) = ([0.0; 2], [1e-12, 0.0, 1e-12]);
        for &(s, own) in rows {
            let s = s / unit;
            let [q, p] = both_sides(line(at, s));
            let (d, w) = (p - target(own), p * q);
            g = [g[0] + d * s, g[1] + d];
            h = [h[0] + w * s * s, h[1] + w * s, h[2] + w];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        let step = [
            -(h[2] * g[0] - h[1] * g[1]) / determinant,
            -(h[0] * g[1] - h[1] * g[0]) / determinant,
        ];
        let slope = g[0] * step[0] + g[1] * step[1];
        let better = (0..40).find_map(|i| {
            let t = 1.0 / (1u64 << i) as f64;
            let next = [at[0] + t * step[0], at[1] + t * step[1]];
            let there = loss(next);
            (there < now && there < now + 1e-4 * t * slope).then_some((next, there))
        });
        let Some((next, there)) = better else { break };
        let gained = now - there;
        (at, now) = (next, there);
        if gained <= 1e-14 * now.abs() {
            break;
        }
    }
    [at[0] / unit, at[1]]
}

/// The non-decreasing probabilities of largest likelihood: neighbours in the order of scores whose
/// shares fall are pooled (Ayer et al. 1955). Shares of 0 and 1 are kept inside by the rule of
/// succession, so that no row has an infinite loss.
pub(super) fn isotonic_fit(mut rows: Vec<(f64, bool)>) -> Vec<[f64; 2]> {
    struct Block {
        first: f64,
        last: f64,
        up: u64,
        all: u64,
    }
    let n = rows.len() as f64;
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut blocks: Vec<Block> = Vec::new();
    for tied in rows.chunk_by(|a, b| a.0 == b.0) {
        let mut block = Block {
            first: tied[0].0,
            last: tied[0].0,
            up: tied.iter().filter(|(_, own)| *own).count() as u64,
            all: tied.len() as u64,
        };
        let falls = |b: &Block, next: &Block| {
            u128::from(b.up) * u128::from(next.all) >= u128::from(next.up) * u128::from(b.all)
        };
        while let Some(before) = blocks.pop_if(|b| falls(b, &block)) {
            block.first = before.first;
            block.up += before.up;
            block.all += before.all;
        }
        blocks.push(block);
    }
    let (low, high) = (1.0 / (n + 2.0), (n + 1.0) / (n + 2.0));
    let mut curve = Vec::new();
    for block in blocks {
        let p = (block.up as f64 / block.all as f64).clamp(low, high);
        curve.push([block.first, p]);
        if block.last > block.first {
            curve.push([block.last, p]);
        }
    }
    curve
}

/// 1/T, T the temperature of least log loss, with targets a little inside 0 and 1, as if one row
/// more of each kind had been seen. The loss is convex in 1/T: Newton's method within a bracket.
pub(super) fn sharpness(rows: &ClassScores, labels: &[u32]) -> f64 {
    let k = rows.classes;
    let unit = unit(rows.scores.iter().copied());
    // One number is fitted to all rows, so the targets know how many there are, not how many of
    // each class: that would take a row's worth away for every wrong class.
    let missed = 1.0 / (labels.len() as f64 + 2.0);
    let elsewhere = missed / (k as f64 - 1.0);
    // The loss's first and second derivative.
    let mut p = vec![0.0; k];
    let mut derivatives = |sharpness: f64| {
        let (mut first, mut second) = (0.0, 0.0);
        for (scores, &label) in rows.rows().zip(labels) {
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max) / unit;
            let mut sum = 0.0;
            for (p, s) in p.iter_mut().zip(scores) {
                *p = libm::exp((s / unit - most) * sharpness);
                sum += *p;
            }
            let (mut mean, mut squares, mut aim) = (0.0, 0.0, 0.0);
            for (c, (p, s)) in p.iter().zip(scores).enumerate() {
                let (p, s) = (p / sum, s / unit);
                mean += p * s;
                squares += p * s * s;
                let own = c == label as usize;
                aim += s * if own { 1.0 - missed } else { elsewhere };
            }
            first += mean - aim;
            second += (squares - mean * mean).max(0.0);
        }
        (first, second)
    };
    let (mut low, mut high) = (1e-6, 1.0);
    while derivatives(high).0 < 0.0 && high < 1e12 {
        (low, high) = (high, high * 4.0);
    }
    let mut at = high / 2.0;
    for _ in 0..200 {
        let (first, second) = derivatives(at);
        match first > 0.0 {
            true => high = at,
            false => low = at,
        }
        let newton = at - first / second;
        let next = match low < newton && newton < high {
            true => newton,
            false => low + (high - low) / 2.0,
        };
        let moved = (next - at).abs();
        at = next;
        if moved <= 1e-12 * at {
            break;
        }
    }
    at / unit
}
