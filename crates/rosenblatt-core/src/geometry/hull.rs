//! The distance between two convex hulls, with the points that attain it.
//!
//! dist(conv A, conv B) = min ‖Σ λ_i a_i − Σ μ_j b_j‖ over convex weights λ and μ. That is the
//! point of least norm in conv{a_i − b_j}, found by Wolfe's active-set method (P. Wolfe,
//! "Finding the nearest point in a polytope", 1976): keep a few affinely independent
//! differences, move to the nearest point of their hull, and bring in the difference that
//! lies furthest back along that point, until none lies further back. Differences are looked
//! for as the lowest a and the highest b, so n + m points cost n + m products a round.
//!
//! Two things keep it honest in `f64`. The nearest point of a flat is computed by repeated
//! orthogonalisation, so its *direction* is right to the last bits even where hulls almost
//! touch; and the result is a bracket: any direction x proves
//! min_i x·a_i − max_j x·b_j ≤ ‖x‖·dist, any weights prove dist ≤ ‖Σ λ_i a_i − Σ μ_j b_j‖,
//! both widened by what rounding may have taken.

use super::{dimension, dot, exponent};
use crate::error::{Error, Result};

/// The search stops when the bracket is this narrow, relative to its upper end.
const GAP: f64 = 1e-13;

/// A difference this close to the flat of the others, relative to its length, is on it.
const FLAT: f64 = 1e-14;

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

    let mut search = Search::new(&near_a, &near_b, extent);
    search.run();

    let left_weights = search.weights(a.len(), |v| v.i);
    let right_weights = search.weights(b.len(), |v| v.j);
    let up = |x: f64| libm::scalbn(x, k);
    Ok(HullDistance {
        lower: up(search.lower),
        upper: up(search.upper),
        rounding: up(search.rounding),
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

/// A difference a_i − b_j in use, with its convex weight.
#[derive(Clone)]
struct Vertex {
    i: usize,
    j: usize,
    point: Vec<f64>,
    weight: f64,
}

struct Search<'a> {
    a: &'a [Vec<f64>],
    b: &'a [Vec<f64>],
    active: Vec<Vertex>,
    /// The nearest point so far; its direction is more accurate than the weighted sum.
    x: Vec<f64>,
    best: Vec<Vertex>,
    lower: f64,
    upper: f64,
    rounding: f64,
}

impl<'a> Search<'a> {
    fn new(a: &'a [Vec<f64>], b: &'a [Vec<f64>], extent: f64) -> Self {
        let point: Vec<f64> = a[0].iter().zip(&b[0]).map(|(x, y)| x - y).collect();
        let first = Vertex {
            i: 0,
            j: 0,
            point: point.clone(),
            weight: 1.0,
        };
        let d = point.len() as f64;
        // Sums of d products, sums over at most d + 1 differences, and the shift: each term
        // errs by an epsilon of the extent.
        let rounding = (4.0 * d + 8.0) * f64::EPSILON * extent;
        let mut search = Search {
            a,
            b,
            active: vec![first],
            x: point,
            best: Vec::new(),
            lower: 0.0,
            upper: f64::INFINITY,
            rounding,
        };
        search.keep_if_better();
        search
    }

    fn run(&mut self) {
        let rounds = 1000 + 20 * self.x.len();
        for _ in 0..rounds {
            let length = dot(&self.x, &self.x).sqrt();
            if length <= self.rounding {
                return;
            }
            let (i, low) = lowest(self.a.iter().map(|p| dot(&self.x, p)));
            let (j, high) = lowest(self.b.iter().map(|p| -dot(&self.x, p)));
            let reach = (low + high) / length;
            self.lower = self.lower.max(reach - self.rounding);
            let known = self.active.iter().any(|v| v.i == i && v.j == j);
            if known || length - reach <= GAP * length {
                return;
            }
            let point = (self.a[i].iter().zip(&self.b[j]))
                .map(|(x, y)| x - y)
                .collect();
            self.active.push(Vertex {
                i,
                j,
                point,
                weight: 0.0,
            });
            if !self.settle() || !self.keep_if_better() {
                return;
            }
        }
    }

    /// Moves to the nearest point of the hull of the active differences and drops those that
    /// point does not need. False when the newest difference adds no direction.
    fn settle(&mut self) -> bool {
        loop {
            let Some((target, x)) = nearest_in_flat(&self.active) else {
                self.active.pop();
                return false;
            };
            if target.iter().all(|&c| c > 0.0) {
                for (v, c) in self.active.iter_mut().zip(target) {
                    v.weight = c;
                }
                self.x = x;
                return true;
            }
            // Go towards the target as far as the hull reaches; a weight becomes zero there.
            let (mut step, mut leaving) = (f64::INFINITY, 0);
            for (k, (v, &c)) in self.active.iter().zip(&target).enumerate() {
                if c <= 0.0 {
                    let reach = if v.weight > 0.0 {
                        v.weight / (v.weight - c)
                    } else {
                        0.0
                    };
                    if reach < step {
                        (step, leaving) = (reach, k);
                    }
                }
            }
            for (v, c) in self.active.iter_mut().zip(target) {
                v.weight = (v.weight + step * (c - v.weight)).max(0.0);
            }
            self.active.remove(leaving);
        }
    }

    /// Records the active weights if their point is nearer than any before.
    fn keep_if_better(&mut self) -> bool {
        let total: f64 = self.active.iter().map(|v| v.weight).sum();
        let mut sum = vec![0.0; self.x.len()];
        for v in &mut self.active {
            v.weight /= total;
            for (s, x) in sum.iter_mut().zip(&v.point) {
                *s += v.weight * x;
            }
        }
        let upper = dot(&sum, &sum).sqrt() + self.rounding;
        if upper < self.upper {
            self.upper = upper;
            self.best.clone_from(&self.active);
            true
        } else {
            // Equal to the last bit happens where rounding hides progress; one look more may
            // still raise the lower end, so only a worse point ends the search.
            upper == self.upper
        }
    }

    fn weights(&self, n: usize, which: impl Fn(&Vertex) -> usize) -> Vec<f64> {
        let mut weights = vec![0.0; n];
        for v in &self.best {
            weights[which(v)] += v.weight;
        }
        weights
    }
}

fn lowest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    values.enumerate().fold(
        (0, f64::INFINITY),
        |best, (i, v)| {
            if v < best.1 { (i, v) } else { best }
        },
    )
}

/// The point of least norm in the flat through the active differences: its affine weights
/// and the point itself. `None` if they are not affinely independent.
///
/// With p_0 the shortest and D the other differences less p_0, orthogonalise D = QR; the
/// point is (I − QQᵀ)p_0 and the weights solve Rc = −Qᵀp_0. Every projection is repeated
/// until it changes nothing any more.
fn nearest_in_flat(active: &[Vertex]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (base, _) = lowest(active.iter().map(|v| dot(&v.point, &v.point)));
    let origin = &active[base].point;
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(active.len());
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(active.len());
    for (k, v) in active.iter().enumerate() {
        if k == base {
            continue;
        }
        let mut rest: Vec<f64> = v.point.iter().zip(origin).map(|(x, o)| x - o).collect();
        let before = dot(&rest, &rest).sqrt();
        let mut column = project_out(&basis, &mut rest);
        let left = dot(&rest, &rest).sqrt();
        if left <= FLAT * before {
            return None;
        }
        rest.iter_mut().for_each(|x| *x /= left);
        column.push(left);
        basis.push(rest);
        columns.push(column);
    }
    let mut x = origin.clone();
    let mut right = project_out(&basis, &mut x);
    let mut rest_weights = vec![0.0; basis.len()];
    for k in (0..basis.len()).rev() {
        let c = -right[k] / columns[k][k];
        rest_weights[k] = c;
        for (r, q) in right[..k].iter_mut().zip(&columns[k]) {
            *r += c * q;
        }
    }
    let own = 1.0 - rest_weights.iter().sum::<f64>();
    rest_weights.insert(base, own);
    Some((rest_weights, x))
}

/// Takes from `v` its components along the orthonormal `basis`, and returns them.
fn project_out(basis: &[Vec<f64>], v: &mut [f64]) -> Vec<f64> {
    let mut components = vec![0.0; basis.len()];
    for _ in 0..3 {
        for (component, q) in components.iter_mut().zip(basis) {
            let along = dot(q, v);
            *component += along;
            for (x, q) in v.iter_mut().zip(q) {
                *x -= along * q;
            }
        }
    }
    components
}

#[cfg(test)]
mod tests;
