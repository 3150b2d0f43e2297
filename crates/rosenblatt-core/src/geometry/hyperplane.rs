//! Hyperplanes and half-spaces.

use super::{dot, exponent, scaled_down};
use crate::error::{Error, Result};

/// Where a point lies relative to a hyperplane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// a·u < b.
    Negative,
    /// a·u = b.
    On,
    /// a·u > b.
    Positive,
}

/// The hyperplane {v : a·v = b}, with normal a ≠ 0 and offset b.
///
/// ```
/// use rosenblatt_core::geometry::Hyperplane;
/// let plane = Hyperplane::new(vec![3.0, 4.0], 25.0)?;
/// assert_eq!(plane.signed_distance(&[6.0, 8.0]), 5.0); // (18 + 32 − 25)/5
/// assert_eq!(plane.foot(&[6.0, 8.0]), [3.0, 4.0]);
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperplane {
    normal: Vec<f64>,
    offset: f64,
    // The same plane with a normal near length 1: both sides times a power of two.
    near_unit: Vec<f64>,
    near_offset: f64,
}

impl Hyperplane {
    /// The hyperplane {v : `normal`·v = `offset`}; the normal must not be zero.
    pub fn new(normal: Vec<f64>, offset: f64) -> Result<Self> {
        if !offset.is_finite() || normal.iter().any(|x| !x.is_finite()) {
            return Err(Error::data("a hyperplane needs finite numbers"));
        }
        if normal.iter().all(|&x| x == 0.0) {
            return Err(Error::data("a hyperplane needs a normal that is not zero"));
        }
        let k = exponent(&normal);
        Ok(Hyperplane {
            near_unit: scaled_down(&normal, k),
            near_offset: libm::scalbn(offset, -k),
            normal,
            offset,
        })
    }

    /// The normal a.
    pub fn normal(&self) -> &[f64] {
        &self.normal
    }

    /// The offset b.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// (a·u − b)/‖a‖: positive on the side the normal points to.
    pub fn signed_distance(&self, u: &[f64]) -> f64 {
        let a = &self.near_unit;
        (dot(a, u) - self.near_offset) / dot(a, a).sqrt()
    }

    /// |a·u − b|/‖a‖.
    pub fn distance(&self, u: &[f64]) -> f64 {
        self.signed_distance(u).abs()
    }

    /// The nearest point of the plane: u − ((a·u − b)/‖a‖²)a.
    pub fn foot(&self, u: &[f64]) -> Vec<f64> {
        let a = &self.near_unit;
        let step = (dot(a, u) - self.near_offset) / dot(a, a);
        u.iter().zip(a).map(|(x, a)| x - step * a).collect()
    }

    /// Which side u lies on, by the sign of the computed a·u − b.
    pub fn side(&self, u: &[f64]) -> Side {
        let excess = dot(&self.near_unit, u) - self.near_offset;
        if excess > 0.0 {
            Side::Positive
        } else if excess < 0.0 {
            Side::Negative
        } else {
            Side::On
        }
    }
}

/// One side of a hyperplane: {v : a·v ≥ b}, or {v : a·v > b} without the boundary.
///
/// ```
/// use rosenblatt_core::geometry::{HalfSpace, Hyperplane};
/// let right = HalfSpace::closed(Hyperplane::new(vec![1.0, 0.0], 2.0)?);
/// assert!(right.contains(&[2.0, 7.0]));
/// assert!(!right.complement().contains(&[2.0, 7.0]));
/// assert!(right.complement().contains(&[1.9, 7.0]));
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HalfSpace {
    boundary: Hyperplane,
    inward: Side,
    closed: bool,
}

impl HalfSpace {
    /// {v : a·v ≥ b}.
    pub fn closed(boundary: Hyperplane) -> Self {
        HalfSpace {
            boundary,
            inward: Side::Positive,
            closed: true,
        }
    }

    /// {v : a·v > b}.
    pub fn open(boundary: Hyperplane) -> Self {
        HalfSpace {
            closed: false,
            ..Self::closed(boundary)
        }
    }

    /// The plane that bounds it.
    pub fn boundary(&self) -> &Hyperplane {
        &self.boundary
    }

    /// All points that are not in this half-space: open if this one is closed.
    #[must_use]
    pub fn complement(&self) -> HalfSpace {
        HalfSpace {
            boundary: self.boundary.clone(),
            inward: match self.inward {
                Side::Positive => Side::Negative,
                _ => Side::Positive,
            },
            closed: !self.closed,
        }
    }

    /// Whether u lies in it.
    pub fn contains(&self, u: &[f64]) -> bool {
        match self.boundary.side(u) {
            Side::On => self.closed,
            side => side == self.inward,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::norm;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_plane_needs_a_direction() {
        assert!(Hyperplane::new(vec![0.0, -0.0], 1.0).is_err());
        assert!(Hyperplane::new(vec![], 1.0).is_err());
        assert!(Hyperplane::new(vec![1.0], f64::NAN).is_err());
        assert!(Hyperplane::new(vec![f64::INFINITY], 0.0).is_err());
    }

    #[test]
    fn distances_survive_extreme_normals() {
        for scale in [1e-300, 1.0, 1e300] {
            let plane = Hyperplane::new(vec![3.0 * scale, 4.0 * scale], 5.0 * scale).unwrap();
            assert!((plane.signed_distance(&[3.0, 4.0]) - 4.0).abs() < 1e-14);
            assert!((plane.foot(&[3.0, 4.0])[0] - 0.6).abs() < 1e-14);
        }
    }

    #[test]
    fn a_classifier_has_the_threshold_minus_bias() {
        let plane = Hyperplane::new(vec![1.0, 1.0], 1.5).unwrap();
        assert_eq!(plane.offset(), 1.5);
        assert_eq!(plane.side(&[1.0, 1.0]), Side::Positive);
        assert_eq!(plane.side(&[1.0, 0.5]), Side::On);
        assert_eq!(plane.side(&[1.0, 0.0]), Side::Negative);
    }

    proptest! {
        #[test]
        fn the_foot_lies_on_the_plane_at_the_distance_and_no_point_is_nearer(
            (a, u, v) in (1usize..6).prop_flat_map(|d| {
                let vector = || prop::collection::vec(-10.0f64..10.0, d);
                (vector(), vector(), vector())
            }),
            b in -10.0f64..10.0,
        ) {
            prop_assume!(norm(&a) > 0.1);
            let plane = Hyperplane::new(a.clone(), b).unwrap();
            let foot = plane.foot(&u);
            prop_assert!(plane.distance(&foot) < 1e-12);
            let step: Vec<f64> = u.iter().zip(&foot).map(|(x, y)| x - y).collect();
            prop_assert!((norm(&step) - plane.distance(&u)).abs() < 1e-12);
            // The step points along the normal exactly when the distance is positive.
            prop_assert!((dot(&step, &a) / norm(&a) - plane.signed_distance(&u)).abs() < 1e-12);
            let other = plane.foot(&v);
            let away: Vec<f64> = u.iter().zip(&other).map(|(x, y)| x - y).collect();
            prop_assert!(norm(&away) >= plane.distance(&u) - 1e-12);
        }

        #[test]
        fn every_point_is_in_a_half_space_or_in_its_complement(
            a in prop::collection::vec(-3i32..4, 2),
            u in prop::collection::vec(-3i32..4, 2),
            b in -3i32..4,
        ) {
            prop_assume!(a.iter().any(|&x| x != 0));
            let real = |v: &[i32]| v.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
            let plane = Hyperplane::new(real(&a), f64::from(b)).unwrap();
            let excess = a[0] * u[0] + a[1] * u[1] - b;
            let closed = HalfSpace::closed(plane.clone());
            let open = HalfSpace::open(plane);
            prop_assert_eq!(closed.contains(&real(&u)), excess >= 0);
            prop_assert_eq!(open.contains(&real(&u)), excess > 0);
            prop_assert_eq!(closed.complement().contains(&real(&u)), excess < 0);
            prop_assert_eq!(open.complement().contains(&real(&u)), excess <= 0);
            prop_assert_eq!(open.complement().complement(), open);
        }
    }
}
