//! The affine hull of points: all Σ λ_i p_i with Σ λ_i = 1, of any signs.

use super::{dimension, dot, norm};
use crate::error::{Error, Result};

/// Directions shorter than this, relative to the longest, are taken for rounding.
const FLAT: f64 = 1e-12;

/// The smallest flat that holds some points: a point, a line, a plane, and so on.
///
/// ```
/// use rosenblatt_core::geometry::AffineHull;
/// let line = AffineHull::of(&[[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]])?;
/// assert_eq!(line.dimension(), 1);
/// assert_eq!(line.foot(&[2.0, 0.0])?, [1.0, 1.0]);
/// assert!(line.contains(&[-5.0, -5.0])?); // beyond the convex hull
/// assert!(!line.contains(&[2.0, 0.0])?);
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AffineHull {
    origin: Vec<f64>,
    /// Orthonormal directions.
    basis: Vec<Vec<f64>>,
    /// The longest difference from the origin.
    extent: f64,
}

impl AffineHull {
    /// The affine hull of `points`.
    ///
    /// Directions in which the points differ by less than 1e-12 of their extent do not count.
    pub fn of<P: AsRef<[f64]>>(points: &[P]) -> Result<Self> {
        dimension(points, "the affine hull")?;
        let origin = points[0].as_ref().to_vec();
        let mut rest: Vec<Vec<f64>> = points.iter().map(|p| less(p.as_ref(), &origin)).collect();
        let longest = |rest: &[Vec<f64>]| {
            let lengths = rest.iter().map(|v| norm(v)).enumerate();
            lengths.fold(
                (0, 0.0),
                |best, next| if next.1 > best.1 { next } else { best },
            )
        };
        let extent = longest(&rest).1;
        let mut basis: Vec<Vec<f64>> = Vec::new();
        // The longest of what is left becomes a direction, and is taken out of the others.
        while basis.len() < origin.len() {
            let (next, length) = longest(&rest);
            if length <= FLAT * extent {
                break;
            }
            let mut direction = rest[next].clone();
            // Once more, against what rounding left of the directions before.
            basis.iter().for_each(|b| take_out(&mut direction, b));
            let length = norm(&direction);
            direction.iter_mut().for_each(|x| *x /= length);
            rest.iter_mut().for_each(|v| take_out(v, &direction));
            basis.push(direction);
        }
        Ok(AffineHull {
            origin,
            basis,
            extent,
        })
    }

    /// Its dimension: 0 for a point, 1 for a line, 2 for a plane.
    pub fn dimension(&self) -> usize {
        self.basis.len()
    }

    /// The nearest of its points.
    pub fn foot(&self, point: &[f64]) -> Result<Vec<f64>> {
        let beside = self.beside(point)?;
        Ok(less(point, &beside))
    }

    /// How far away a point is.
    pub fn distance(&self, point: &[f64]) -> Result<f64> {
        Ok(norm(&self.beside(point)?))
    }

    /// Whether it holds a point, as far as `f64` can tell: up to 1e-12 of the extent of the
    /// points, or of the point's distance from the first of them.
    pub fn contains(&self, point: &[f64]) -> Result<bool> {
        let reach = self.extent.max(norm(&less(point, &self.origin)));
        Ok(self.distance(point)? <= FLAT * reach)
    }

    /// What leads from the foot to the point.
    fn beside(&self, point: &[f64]) -> Result<Vec<f64>> {
        if dimension(&[point], "the point")? != self.origin.len() {
            return Err(Error::data(format!(
                "the point has {} coordinates, the affine hull lies in {}",
                point.len(),
                self.origin.len()
            )));
        }
        let mut rest = less(point, &self.origin);
        for _ in 0..2 {
            self.basis.iter().for_each(|b| take_out(&mut rest, b));
        }
        Ok(rest)
    }
}

/// Whether `point` is an affine combination of `points`.
pub fn in_affine_hull<P: AsRef<[f64]>>(point: &[f64], points: &[P]) -> Result<bool> {
    AffineHull::of(points)?.contains(point)
}

fn less(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

/// v less its part along a unit vector.
fn take_out(v: &mut [f64], direction: &[f64]) {
    let along = dot(v, direction);
    for (x, d) in v.iter_mut().zip(direction) {
        *x -= along * d;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{affine_combination, in_hull};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_holds_affine_combinations_and_nothing_beside(
            points in prop::collection::vec(prop::array::uniform3(-5.0..5.0f64), 1..4),
            weights in prop::collection::vec(-2.0..2.0f64, 3),
            away in 0.1..3.0f64,
        ) {
            let hull = AffineHull::of(&points).unwrap();
            prop_assert!(hull.dimension() < points.len());
            let mut weights = weights[..points.len()].to_vec();
            weights[0] += 1.0 - weights.iter().sum::<f64>();
            let inside = affine_combination(&points, &weights).unwrap();
            prop_assert!(hull.distance(&inside).unwrap() < 1e-9);
            // A step at right angles to every direction leaves it by its length.
            let foot = hull.foot(&[9.0, -7.0, 8.0]).unwrap();
            let normal = less(&[9.0, -7.0, 8.0], &foot);
            let length = norm(&normal);
            prop_assume!(length > 0.1);
            let beside: Vec<f64> = (inside.iter().zip(&normal))
                .map(|(x, n)| x + away * n / length)
                .collect();
            prop_assert!(!hull.contains(&beside).unwrap());
            prop_assert!((hull.distance(&beside).unwrap() - away).abs() < 1e-9);
        }
    }

    #[test]
    fn dimensions_are_those_of_the_directions() {
        assert_eq!(AffineHull::of(&[[1.0, 2.0]]).unwrap().dimension(), 0);
        assert_eq!(
            AffineHull::of(&[[1.0, 2.0], [1.0, 2.0]])
                .unwrap()
                .dimension(),
            0
        );
        let square = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        assert_eq!(AffineHull::of(&square).unwrap().dimension(), 2);
        assert!(in_affine_hull(&[40.0, -3.0], &square).unwrap());
        assert!(!in_hull(&[40.0, -3.0], &square).unwrap());
        assert!(in_affine_hull(&[1.0], &square).is_err());
        assert!(AffineHull::of::<[f64; 2]>(&[]).is_err());
    }
}
