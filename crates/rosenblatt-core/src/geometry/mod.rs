//! The plane geometry behind perceptrons: hyperplanes, combinations, hulls and margins.
//!
//! A linear classifier is a hyperplane, its confidence a distance, and what it can hope for
//! is a distance between two convex hulls. Reports and plots speak in these words, so the
//! words are defined once, here, each with its equation.
//!
//! Everything is plain `f64`. Lengths are computed so that neither 1e-300 nor 1e300 breaks
//! them; where rounding could change an answer the answer is a bracket, never a guess.

mod affine_hull;
mod combination;
mod hull;
mod hyperplane;
mod margin;
pub(crate) mod nearest_point;

pub use affine_hull::{AffineHull, in_affine_hull};
pub use combination::{affine_combination, convex_combination};
pub use hull::{HullDistance, hull_distance, in_hull};
pub use hyperplane::{HalfSpace, Hyperplane, Side};
pub use margin::{MarginKind, functional_margin, geometric_margin, radius, relative_margin};

use crate::error::{Error, Result};

/// a·b, in ascending order.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + x * y)
}

/// The k for which the largest magnitude among `values` lies in [2^k, 2^(k+1)); 0 if it is zero.
fn exponent<'a>(values: impl IntoIterator<Item = &'a f64>) -> i32 {
    let largest = values.into_iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest > 0.0 && largest.is_finite() {
        libm::ilogb(largest)
    } else {
        0
    }
}

/// v·2^−k, exact unless it underflows.
fn scaled_down(v: &[f64], k: i32) -> Vec<f64> {
    v.iter().map(|&x| libm::scalbn(x, -k)).collect()
}

/// ‖v‖ = √(v·v), without overflow or underflow on the way.
///
/// ```
/// use rosenblatt_core::geometry::norm;
/// assert_eq!(norm(&[3.0, 4.0]), 5.0);
/// assert_eq!(norm(&[3e300, 4e300]), 5e300);
/// ```
pub fn norm(v: &[f64]) -> f64 {
    let square = dot(v, v);
    if (1e-250..1e250).contains(&square) {
        return square.sqrt();
    }
    let k = exponent(v);
    let scaled = scaled_down(v, k);
    libm::scalbn(dot(&scaled, &scaled).sqrt(), k)
}

/// Refuses points that are not finite or not all of one dimension; returns the dimension.
fn dimension<P: AsRef<[f64]>>(points: &[P], what: &str) -> Result<usize> {
    let Some(first) = points.first() else {
        return Err(Error::data(format!("{what} has no points")));
    };
    let d = first.as_ref().len();
    for (i, point) in points.iter().enumerate() {
        let point = point.as_ref();
        if point.len() != d {
            return Err(Error::data(format!(
                "point {} of {what} has {} coordinates, the first has {d}",
                i + 1,
                point.len()
            )));
        }
        if let Some(x) = point.iter().find(|x| !x.is_finite()) {
            return Err(
                Error::data(format!("point {} of {what} has the coordinate {x}", i + 1))
                    .remedy("coordinates must be finite"),
            );
        }
    }
    Ok(d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_survive_extreme_scales() {
        assert_eq!(norm(&[]), 0.0);
        assert_eq!(norm(&[0.0, -0.0]), 0.0);
        for scale in [1e-305, 1e-200, 1.0, 1e200, 1e307] {
            let length = norm(&[-3.0 * scale, 0.0, 4.0 * scale]);
            assert!((length / scale - 5.0).abs() < 1e-14, "{length} at {scale}");
        }
        assert_eq!(norm(&[f64::MAX]), f64::MAX);
        assert!(norm(&[f64::NAN]).is_nan());
    }
}
