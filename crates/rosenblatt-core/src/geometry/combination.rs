//! Affine and convex combinations of points.

use super::dimension;
use crate::error::{Error, Result};

/// How far weights may sum from 1, relative to the sum of their magnitudes: enough for
/// weights that were rounded, not for weights that were meant otherwise.
const SUM_TOLERANCE: f64 = 1e-9;

/// Σ_i λ_i p_i over the n points, where Σ_i λ_i = 1.
///
/// ```
/// use rosenblatt_core::geometry::affine_combination;
/// let beyond = affine_combination(&[[0.0, 0.0], [2.0, 4.0]], &[-0.5, 1.5])?;
/// assert_eq!(beyond, [3.0, 6.0]);
/// assert!(affine_combination(&[[0.0, 0.0], [2.0, 4.0]], &[0.5, 1.5]).is_err());
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
pub fn affine_combination<P: AsRef<[f64]>>(points: &[P], weights: &[f64]) -> Result<Vec<f64>> {
    let d = dimension(points, "a combination")?;
    if weights.len() != points.len() {
        return Err(Error::data(format!(
            "{} weights for {} points",
            weights.len(),
            points.len()
        )));
    }
    let sum: f64 = weights.iter().sum();
    let size: f64 = weights.iter().map(|w| w.abs()).sum();
    if !size.is_finite() || (sum - 1.0).abs() > SUM_TOLERANCE * size {
        return Err(Error::data(format!(
            "the weights of a combination sum to {sum}, not to 1"
        )));
    }
    let mut result = vec![0.0; d];
    for (point, &weight) in points.iter().zip(weights) {
        for (r, x) in result.iter_mut().zip(point.as_ref()) {
            *r += weight * x;
        }
    }
    Ok(result)
}

/// Σ_i λ_i p_i, where Σ_i λ_i = 1 and every λ_i ≥ 0: a point of the convex hull.
///
/// ```
/// use rosenblatt_core::geometry::convex_combination;
/// assert_eq!(convex_combination(&[[0.0], [8.0]], &[0.25, 0.75])?, [6.0]);
/// assert!(convex_combination(&[[0.0], [8.0]], &[-0.5, 1.5]).is_err());
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
pub fn convex_combination<P: AsRef<[f64]>>(points: &[P], weights: &[f64]) -> Result<Vec<f64>> {
    if let Some(i) = weights.iter().position(|&w| w < 0.0) {
        return Err(Error::data(format!(
            "weight {} of a convex combination is {}, below 0",
            i + 1,
            weights[i]
        )));
    }
    affine_combination(points, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_checked() {
        let points = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
        assert!(convex_combination(&points, &[1.0 / 3.0; 3]).is_ok());
        assert!(convex_combination(&points, &[0.333; 3]).is_err());
        assert!(convex_combination(&points, &[0.5, 0.5]).is_err());
        assert!(convex_combination(&points, &[f64::NAN, 0.5, 0.5]).is_err());
        assert!(affine_combination(&points, &[f64::INFINITY, 0.0, 0.0]).is_err());
        assert!(affine_combination::<[f64; 2]>(&[], &[]).is_err());
        assert!(affine_combination(&[vec![1.0], vec![1.0, 2.0]], &[0.5, 0.5]).is_err());
        assert!(affine_combination(&[[f64::NAN]], &[1.0]).is_err());
    }
}
