//! All α that no bound holds, moved together.

use super::super::conjugate_gradients::{QuadraticStep, conjugate_gradients};
use super::super::limits::SearchLimits;
use super::Smo;
use crate::progress::Pass;

/// Curvature for a unit of length, against that of the longest example, that cannot be told from
/// none.
const NO_CURVATURE: f64 = 1e-13;

/// Examples that move together, at most: each pair's product is held.
const TOGETHER: usize = 1000;

impl Smo<'_, '_> {
    /// Moves all α that no bound holds, up to the first bound, as often as that gains something;
    /// says by how much the dual objective rises.
    pub(super) fn joint_step(&mut self, pass: &mut Pass, limits: &mut SearchLimits<'_>) -> f64 {
        const TURNS: usize = 50;
        let mut gained = 0.0;
        for _ in 0..TURNS {
            let prices = &self.plane.prices;
            let free: Vec<usize> = (self.active.iter().map(|&t| t as usize))
                .filter(|&t| self.alphas[t] > 0.0 && self.alphas[t] < prices[t])
                .collect();
            let (f, moves) = (free.len(), 2 * free.len() as u64);
            if !(2..=TOGETHER).contains(&f) || moves >= limits.updates_left {
                break;
            }
            let Some(gain) = self.step_of_free(&free) else {
                break;
            };
            gained += gain;
            pass.updates += f as u64;
            limits.updates_left -= f as u64;
        }
        gained
    }

    /// One such move of these; none where nothing is gained.
    fn step_of_free(&mut self, free: &[usize]) -> Option<f64> {
        let plane = self.plane;
        let f = free.len();
        let place = |t: usize| plane.examples[t] as usize;
        let rows: Vec<_> = free.iter().map(|&t| self.rows.row(place(t))).collect();
        let signs: Vec<f64> = free.iter().map(|&t| plane.signs[t]).collect();
        let products: Vec<f64> = (rows.iter().zip(&signs))
            .flat_map(|(row, y)| {
                free.iter()
                    .zip(&signs)
                    .map(move |(&t, z)| y * z * row[place(t)])
            })
            .collect();
        // Where Σ α_i y_i must stay, what would change it is taken out of every direction.
        let unlifted = self.unlifted;
        let allowed = |mut direction: Vec<f64>| {
            if unlifted {
                let lean: f64 = direction.iter().zip(&signs).map(|(p, y)| p * y).sum();
                let each = lean / f as f64;
                (direction.iter_mut().zip(&signs)).for_each(|(p, y)| *p -= each * y);
            }
            direction
        };
        let image = |direction: &[f64]| -> Vec<f64> {
            let dot = |row: &[f64]| row.iter().zip(direction).map(|(q, p)| q * p).sum();
            products.chunks_exact(f).map(dot).collect()
        };
        let inner = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        // How far α may go, in units of a step.
        let room = |alphas: &[f64], step: &[f64]| {
            (free.iter().zip(alphas).zip(step)).fold(f64::INFINITY, |least, ((&t, alpha), step)| {
                let room = match *step > 0.0 {
                    true => plane.prices[t] - alpha,
                    false => *alpha,
                };
                if *step == 0.0 {
                    least
                } else {
                    least.min(room / step.abs())
                }
            })
        };
        let gradient: Vec<f64> = free.iter().map(|&t| self.gradient[t]).collect();
        let alphas: Vec<f64> = free.iter().map(|&t| self.alphas[t]).collect();
        let longest = self.own.iter().copied().fold(0.0, f64::max);
        let QuadraticStep { step, flat } = conjugate_gradients(
            allowed(gradient.iter().map(|g| -g).collect()),
            NO_CURVATURE * longest,
            |direction| {
                let image = image(direction);
                let curvature = inner(direction, &image);
                (allowed(image), curvature)
            },
            |step| room(&alphas, step) < 1.0,
        );
        let length = room(&alphas, &step).min(1.0);
        let mut change: Vec<f64> = step.iter().map(|s| length * s).collect();
        if let Some(flat) = flat.filter(|_| length == 1.0) {
            let at: Vec<f64> = alphas.iter().zip(&change).map(|(a, c)| a + c).collect();
            let length = Some(room(&at, &flat)).filter(|length| length.is_finite())?;
            (change.iter_mut().zip(&flat)).for_each(|(c, p)| *c += length * p);
        }
        let image = image(&change);
        let gain = -(inner(&gradient, &change) + 0.5 * inner(&change, &image));
        let total: f64 = self.alphas.iter().sum();
        if gain.is_nan() || gain <= 1e-15 * total {
            return None;
        }
        for ((&t, change), row) in free.iter().zip(&change).zip(&rows) {
            let moved = snapped_to_bound(self.alphas[t], *change, plane.prices[t]);
            let step = (moved - self.alphas[t]) * plane.signs[t];
            self.alphas[t] = moved;
            for &t in &self.active {
                let t = t as usize;
                self.gradient[t] += plane.signs[t] * (step * row[place(t)]);
            }
        }
        Some(gain)
    }
}

/// α and a change of it, at a bound that it comes as near to as rounding lets it.
fn snapped_to_bound(alpha: f64, change: f64, price: f64) -> f64 {
    const NEAR: f64 = 1e-14;
    let moved = alpha + change;
    if change < 0.0 && moved <= NEAR * alpha {
        0.0
    } else if change > 0.0 && price - moved <= NEAR * price.min(f64::MAX) {
        price
    } else {
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::snapped_to_bound;

    #[test]
    fn what_is_next_to_a_bound_is_at_it() {
        assert_eq!(snapped_to_bound(0.3, -0.3 + 1e-17, 1.0), 0.0);
        assert_eq!(snapped_to_bound(0.3, 0.7 - 1e-16, 1.0), 1.0);
        assert_eq!(snapped_to_bound(0.3, 0.9, 1.0), 1.0);
        assert_eq!(snapped_to_bound(0.5, 0.25, 1.0), 0.75);
        assert_eq!(snapped_to_bound(0.5, 0.25, f64::INFINITY), 0.75);
    }
}
