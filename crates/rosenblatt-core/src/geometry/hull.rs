//! The distance between two convex hulls, with the points that attain it.
//!
//! dist(conv A, conv B) = min ‖Σ λ_i a_i − Σ μ_j b_j‖ over convex weights λ and μ. That is the
//! point of least norm in conv{a_i − b_j}, found by Wolfe's method ([`nearest_point`]) on a
//! growing set of differences: the one that lies furthest back along the nearest point so far
//! joins, until none lies further back. It is looked for as the lowest a and the highest b, so
//! n + m points cost n + m products a round.
//!
//! Two things keep it honest in `f64`. The nearest point's *direction* is right to the last bits
//! even where hulls almost touch; and the result is a bracket: any direction x proves
//! min_i x·a_i − max_j x·b_j ≤ ‖x‖·dist, any weights prove dist ≤ ‖Σ λ_i a_i − Σ μ_j b_j‖,
//! both widened by what rounding may have taken.
//!
//! [`nearest_point`]: super::nearest_point

use super::nearest_point::{NearestPoint, Walk};
use super::{dimension, dot, exponent, norm};
use crate::error::{Error, Result};

/// The search stops when the bracket is this narrow, relative to its upper end.
const GAP: f64 = 1e-13;

/// The distance between two convex hulls.
#[derive(Debug, Clone, PartialEq)]
pub struct HullDistance {
    /// The distance is at least this; 0 when the hulls meet or cannot be told apart.
    pub lower: f64,
    /// The distance is at most this.
    pub upper: f64,
    /// The closest point of the first hull.
    pub left: Vec<f64>,
    /// The closest point of the second hull.
    pub right: Vec<f64>,
    /// The convex weights that make `left` from the first points.
    pub left_weights: Vec<f64>,
    /// The convex weights that make `right` from the second points.
    pub right_weights: Vec<f64>,
    /// Rounding alone may account for this much of `upper`.
    rounding: f64,
}

impl HullDistance {
    /// Whether the hulls are proved to lie apart.
    pub fn apart(&self) -> bool {
        self.lower > 0.0
    }

    /// Whether the hulls meet, as far as `f64` can tell: `Some(false)` when proved apart,
    /// `Some(true)` when the closest points differ by no more than rounding explains, `None`
    /// in the sliver between.
    pub fn meet(&self) -> Option<bool> {
        if self.apart() {
            Some(false)
        } else if self.upper <= 64.0 * self.rounding {
            Some(true)
        } else {
            None
        }
    }
}

/// The distance between the convex hulls of `a` and `b`.
///
/// *Guarantee*: `lower` ≤ distance ≤ `upper`; the gap is about 1e-13 of the distance or, for
/// hulls that almost touch, d·1e-15 of their extent in d dimensions. *Cost*: a round is one pass over all
/// points; rounds number a small multiple of the dimension.
///
/// ```
/// use rosenblatt_core::geometry::hull_distance;
/// let square = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let edge = [[3.0, -5.0], [3.0, 5.0]];
/// let distance = hull_distance(&square, &edge)?;
/// assert!((distance.lower - 2.0).abs() < 1e-12 && (distance.upper - 2.0).abs() < 1e-12);
/// assert_eq!((distance.left[0], distance.right[0]), (1.0, 3.0));
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
pub fn hull_distance<P: AsRef<[f64]>, Q: AsRef<[f64]>>(a: &[P], b: &[Q]) -> Result<HullDistance> {
    let d = dimension(a, "the first hull")?;
    let other = dimension(b, "the second hull")?;
    if d != other {
        return Err(Error::data(format!(
            "the hulls lie in {d} and {other} dimensions"
        )));
    }
    // Work near the origin and near 1: shift by a point, scale by a power of two.
    let (all_a, all_b) = (a.iter().map(P::as_ref), b.iter().map(Q::as_ref));
    let k = 1 + exponent(all_a.chain(all_b).flatten());
    let down = |x: f64| libm::scalbn(x, -k);
    let origin: Vec<f64> = b[0].as_ref().iter().map(|&x| down(x)).collect();
    let near =
        |p: &[f64]| -> Vec<f64> { p.iter().zip(&origin).map(|(&x, &o)| down(x) - o).collect() };
    let near_a: Vec<Vec<f64>> = a.iter().map(|p| near(p.as_ref())).collect();
    let near_b: Vec<Vec<f64>> = b.iter().map(|p| near(p.as_ref())).collect();
    let extent = near_a
        .iter()
        .chain(&near_b)
        .map(|p| dot(p, p))
        .fold(0.0, f64::max)
        .sqrt();

    let found = closest_differences(&near_a, &near_b, extent);
    let (mut left_weights, mut right_weights) = (vec![0.0; a.len()], vec![0.0; b.len()]);
    for &((i, j), weight) in &found.weights {
        left_weights[i] += weight;
        right_weights[j] += weight;
    }
    let up = |x: f64| libm::scalbn(x, k);
    Ok(HullDistance {
        lower: up(found.lower),
        upper: up(found.upper),
        rounding: up(found.rounding),
        left: weighted(a, &left_weights, d),
        right: weighted(b, &right_weights, d),
        left_weights,
        right_weights,
    })
}

/// Whether `point` lies in the convex hull of `hull`.
///
/// A point nearer to the hull than rounding can resolve (some d·1e-15 of the extent) counts as
/// in it; in the sliver where `f64` can neither prove it out nor place it in, an error says so.
///
/// ```
/// use rosenblatt_core::geometry::in_hull;
/// let triangle = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]];
/// assert!(in_hull(&[2.0, 2.0], &triangle)?);
/// assert!(!in_hull(&[2.0, 2.0001], &triangle)?);
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
pub fn in_hull<P: AsRef<[f64]>>(point: &[f64], hull: &[P]) -> Result<bool> {
    let distance = hull_distance(&[point], hull)?;
    distance.meet().ok_or_else(|| {
        Error::data(format!(
            "the point is within {:e} of the hull, too near to decide in binary64",
            distance.upper
        ))
    })
}

fn weighted<P: AsRef<[f64]>>(points: &[P], weights: &[f64], d: usize) -> Vec<f64> {
    let mut sum = vec![0.0; d];
    for (point, &weight) in points.iter().zip(weights) {
        if weight > 0.0 {
            for (s, x) in sum.iter_mut().zip(point.as_ref()) {
                *s += weight * x;
            }
        }
    }
    sum
}

/// A bracket of the distance, with the differences a_i − b_j and their convex weights that
/// prove its upper end.
struct Closest {
    lower: f64,
    upper: f64,
    rounding: f64,
    weights: Vec<((usize, usize), f64)>,
}

fn closest_differences(a: &[Vec<f64>], b: &[Vec<f64>], extent: f64) -> Closest {
    let d = a[0].len();
    let difference = |(i, j): (usize, usize)| -> Vec<f64> {
        a[i].iter().zip(&b[j]).map(|(x, y)| x - y).collect()
    };
    // Sums of d products, sums over at most d + 1 differences, and the shift: each term errs by
    // an epsilon of the extent.
    let rounding = (4.0 * d as f64 + 8.0) * f64::EPSILON * extent;
    let mut found = Closest {
        lower: 0.0,
        upper: f64::INFINITY,
        rounding,
        weights: Vec::new(),
    };
    let mut hull = NearestPoint::with_accurate_direction(d);
    let mut pairs = vec![(0, 0)];
    hull.add(0, difference((0, 0)), false);
    for _ in 0..1000 + 20 * d {
        let walk = hull.walk(1.0 - GAP, rounding, 1000);
        let mut sum = vec![0.0; d];
        for (k, weight) in hull.convex() {
            for (s, x) in sum.iter_mut().zip(difference(pairs[k])) {
                *s += weight * x;
            }
        }
        let upper = norm(&sum) + rounding;
        if upper < found.upper {
            found.upper = upper;
            found.weights = hull
                .convex()
                .map(|(k, weight)| (pairs[k], weight))
                .collect();
        }
        let x = hull.nearest();
        let length = norm(x);
        if walk == Walk::Origin || length <= rounding {
            break;
        }
        let (i, low) = lowest(a.iter().map(|p| dot(x, p)));
        let (j, high) = lowest(b.iter().map(|p| -dot(x, p)));
        let reach = (low + high) / length;
        found.lower = found.lower.max(reach - rounding);
        if pairs.contains(&(i, j)) || length - reach <= GAP * length {
            break;
        }
        hull.add(pairs.len(), difference((i, j)), false);
        pairs.push((i, j));
    }
    found
}

fn lowest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    values.enumerate().fold(
        (0, f64::INFINITY),
        |best, (i, v)| {
            if v < best.1 { (i, v) } else { best }
        },
    )
}

#[cfg(test)]
mod tests;
