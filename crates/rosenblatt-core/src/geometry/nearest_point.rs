//! The point of a polytope nearest to the origin (Wolfe, 1976), in floating point.
//!
//! The convex hull of the signed rows holds the origin iff no plane separates them; if it
//! does not, its nearest point p is a separator of largest margin ‖p‖. Wolfe's method walks
//! over *corrals*, affinely independent points whose affine hull is nearest to the origin
//! inside their convex hull; the norm falls at every step, so it cannot cycle. Everything
//! happens orthogonally to a subspace L (the face already known to be balanced), which is
//! projected out of each point as it comes.
//!
//! The corral is kept as a QR factorisation of the points with a 1 in front, which keeps the
//! accuracy that normal equations would square away.

/// A working set of points and the corral among them.
#[derive(Debug, Clone, Default)]
pub struct NearestPoint {
    dimension: usize,
    /// An orthonormal basis of L.
    face: Vec<Vec<f64>>,
    points: Vec<Point>,
    corral: Vec<usize>,
    weights: Vec<f64>,
    /// Orthonormal columns, one longer than a point, and the triangle, column by column.
    q: Vec<Vec<f64>>,
    r: Vec<Vec<f64>>,
    nearest: Vec<f64>,
    accurate: bool,
}

#[derive(Debug, Clone)]
struct Point {
    row: usize,
    /// The point is the row times this, less its part in L.
    scale: f64,
    at: Vec<f64>,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// Every point of the working set is on the far side of the nearest point, as asked.
    Reached,
    /// The nearest point is the origin, as far as floating point can tell.
    Origin,
    /// Rounding stopped the walk.
    Stalled,
    /// The caller stopped it.
    Stopped,
}

#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (x, x_rest) = a.as_chunks::<8>();
    let (y, y_rest) = b.as_chunks::<8>();
    for (x, y) in x.iter().zip(y) {
        for l in 0..8 {
            lanes[l] += x[l] * y[l];
        }
    }
    let mut sum = 0.0;
    for (x, y) in x_rest.iter().zip(y_rest) {
        sum += x * y;
    }
    sum + lanes.iter().sum::<f64>()
}

fn axpy(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Takes the part along orthonormal `basis` out of `v`, twice for accuracy; returns the
/// coefficients.
fn project(basis: &[Vec<f64>], v: &mut [f64]) -> Vec<f64> {
    let mut coefficients = vec![0.0; basis.len()];
    for _ in 0..2 {
        for (c, q) in coefficients.iter_mut().zip(basis) {
            let along = dot(q, v);
            axpy(v, -along, q);
            *c += along;
        }
    }
    coefficients
}

/// Adds a vector's new direction to an orthonormal basis, if it has one within rounding;
/// returns how much of the vector was new.
pub fn add_direction(basis: &mut Vec<Vec<f64>>, mut vector: Vec<f64>) -> f64 {
    let before = dot(&vector, &vector).sqrt();
    project(basis, &mut vector);
    let norm = dot(&vector, &vector).sqrt();
    if norm > 1e-12 * before && norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
        basis.push(vector);
    }
    norm / before
}

/// What is left of a vector orthogonally to a basis, scaled to length 1.
pub fn unit_part_beside(basis: &[Vec<f64>], mut vector: Vec<f64>) -> Vec<f64> {
    project(basis, &mut vector);
    let norm = dot(&vector, &vector).sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

impl NearestPoint {
    /// An empty working set, orthogonal to the span of an orthonormal `face`.
    pub fn new(dimension: usize, face: Vec<Vec<f64>>) -> Self {
        NearestPoint {
            dimension,
            face,
            ..Self::default()
        }
    }

    /// An empty working set whose nearest point keeps an accurate direction even where it is
    /// next to the origin.
    pub fn with_accurate_direction(dimension: usize) -> Self {
        NearestPoint {
            dimension,
            accurate: true,
            ..Self::default()
        }
    }

    /// The number of points in the working set.
    pub fn working_set_len(&self) -> usize {
        self.points.len()
    }

    /// The rows of the working set.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.points.iter().map(|p| p.row)
    }

    /// Adds a row to the working set. With `unit`, the point is scaled to length 1, which
    /// changes the hull but not whether it holds the origin.
    pub fn add(&mut self, row: usize, mut at: Vec<f64>, unit: bool) {
        let before = dot(&at, &at).sqrt();
        project(&self.face, &mut at);
        let mut scale = 1.0;
        if unit {
            let norm = dot(&at, &at).sqrt();
            if norm > 1e-14 * before && norm > 0.0 {
                scale = 1.0 / norm;
                at.iter_mut().for_each(|x| *x *= scale);
            }
        }
        self.points.push(Point { row, scale, at });
    }

    /// Makes L larger by orthonormal directions that are orthogonal to it, drops the points of
    /// rows that `keep` refuses and scales the others to length 1. The next walk starts anew.
    pub fn extend_face(&mut self, more: &[Vec<f64>], keep: impl Fn(usize) -> bool) {
        self.points.retain(|point| keep(point.row));
        for point in &mut self.points {
            project(more, &mut point.at);
            let norm = dot(&point.at, &point.at).sqrt();
            if norm > 1e-14 {
                point.scale /= norm;
                point.at.iter_mut().for_each(|x| *x /= norm);
            }
        }
        self.face.extend_from_slice(more);
        self.corral.clear();
        self.weights.clear();
        self.q.clear();
        self.r.clear();
    }

    /// The nearest point found, orthogonal to L.
    pub fn nearest(&self) -> &[f64] {
        &self.nearest
    }

    /// The rows of the corral with their weights, for the rows as given to [`add`](Self::add).
    pub fn corral(&self) -> Vec<(usize, f64)> {
        self.corral
            .iter()
            .zip(&self.weights)
            .map(|(&c, &w)| (self.points[c].row, w * self.points[c].scale))
            .collect()
    }

    /// The corral's weights on the points themselves: a convex combination.
    pub fn convex(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.corral
            .iter()
            .zip(&self.weights)
            .map(|(&c, &w)| (self.points[c].row, w))
    }

    /// Drops all points but the corral and those for which `keep` holds of (row, p·point).
    pub fn shrink(&mut self, mut keep: impl FnMut(f64) -> bool) {
        let mut in_corral = vec![false; self.points.len()];
        self.corral.iter().for_each(|&c| in_corral[c] = true);
        let mut place = vec![usize::MAX; self.points.len()];
        let mut next = 0;
        let points = std::mem::take(&mut self.points);
        for (old, point) in points.into_iter().enumerate() {
            if in_corral[old] || keep(dot(&self.nearest, &point.at)) {
                place[old] = next;
                next += 1;
                self.points.push(point);
            }
        }
        self.corral.iter_mut().for_each(|c| *c = place[*c]);
    }

    /// Walks until every point has p·point ≥ `ratio`·‖p‖² (below 1), or ‖p‖ falls below
    /// `zero`.
    pub fn walk(&mut self, ratio: f64, zero: f64, steps: usize) -> Walk {
        self.walk_unless(&|| false, ratio, zero, steps)
    }

    /// The same, asking before each step whether to stop.
    pub fn walk_unless(
        &mut self,
        stop: &dyn Fn() -> bool,
        ratio: f64,
        zero: f64,
        mut steps: usize,
    ) -> Walk {
        if self.points.is_empty() {
            return Walk::Stalled;
        }
        if self.corral.is_empty() {
            let first = (0..self.points.len())
                .map(|i| (dot(&self.points[i].at, &self.points[i].at), i))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map_or(0, |(_, i)| i);
            if !self.push(first) {
                return Walk::Origin;
            }
            self.weights = vec![1.0];
        } else if !self.refactor(stop) {
            return Walk::Stopped;
        }
        self.place();
        let mut best = f64::INFINITY;
        let mut idle = 0;
        loop {
            if stop() {
                return Walk::Stopped;
            }
            let squared = dot(&self.nearest, &self.nearest);
            if squared.sqrt() <= zero {
                return Walk::Origin;
            }
            let (lowest, entering) = self
                .points
                .iter()
                .enumerate()
                .map(|(i, point)| (dot(&self.nearest, &point.at), i))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .unwrap_or((squared, 0));
            if lowest >= ratio * squared {
                return Walk::Reached;
            }
            idle = if squared < best * (1.0 - 1e-13) {
                0
            } else {
                idle + 1
            };
            best = best.min(squared);
            if idle > 3 || steps == 0 || self.corral.contains(&entering) || !self.push(entering) {
                return Walk::Stalled;
            }
            steps -= 1;
            self.weights.push(0.0);
            // Move towards the nearest point of the affine hull, dropping what turns negative.
            loop {
                let target = self.affine();
                if target.iter().all(|&t| t > 1e-14) {
                    self.weights = target;
                    break;
                }
                let mut step = 1.0f64;
                for (&w, &t) in self.weights.iter().zip(&target) {
                    if t <= 1e-14 && w - t > 0.0 {
                        step = step.min(w / (w - t));
                    }
                }
                for (w, t) in self.weights.iter_mut().zip(&target) {
                    *w += step * (t - *w);
                }
                let before = self.corral.len();
                let mut i = 0;
                while i < self.corral.len() {
                    if self.weights[i] <= 1e-14 && self.corral.len() > 1 {
                        self.remove(i);
                    } else {
                        i += 1;
                    }
                }
                if self.corral.len() == before {
                    // Nothing fell to zero within rounding: drop the smallest.
                    let smallest = (0..before)
                        .min_by(|&a, &b| self.weights[a].total_cmp(&self.weights[b]))
                        .unwrap_or(0);
                    if before == 1 {
                        self.weights = vec![1.0];
                        break;
                    }
                    self.remove(smallest);
                }
                let sum: f64 = self.weights.iter().sum();
                self.weights.iter_mut().for_each(|w| *w /= sum);
            }
            self.place();
        }
    }

    fn place(&mut self) {
        if self.accurate {
            self.nearest = self.normal();
            return;
        }
        let mut p = vec![0.0; self.dimension];
        for (&c, &w) in self.corral.iter().zip(&self.weights) {
            axpy(&mut p, w, &self.points[c].at);
        }
        self.nearest = p;
    }

    /// The nearest point of the corral's affine hull as its normal: what is left of e₁ beside the
    /// points under a row of ones is (ρ, v) with ρ + v·z = 0 for each, so p = −v·ρ/‖v‖². It does
    /// not lose its direction to cancellation, as the weighted sum of the points does.
    fn normal(&self) -> Vec<f64> {
        let mut rest = vec![0.0; self.dimension + 1];
        rest[0] = 1.0;
        project(&self.q, &mut rest);
        project(&self.q, &mut rest);
        let squared = dot(&rest[1..], &rest[1..]);
        let scale = if squared > 0.0 {
            -rest[0] / squared
        } else {
            0.0
        };
        rest[1..].iter().map(|x| scale * x).collect()
    }

    /// Barycentric coordinates of the affine hull's nearest point: with the points as
    /// columns under a row of ones, Â = QR, they are proportional to R⁻¹Qᵀe₁.
    fn affine(&self) -> Vec<f64> {
        let k = self.corral.len();
        let mut u: Vec<f64> = self.q.iter().map(|q| q[0]).collect();
        for i in (0..k).rev() {
            u[i] /= self.r[i][i];
            let value = u[i];
            for (earlier, r) in u[..i].iter_mut().zip(&self.r[i]) {
                *earlier -= r * value;
            }
        }
        let sum: f64 = u.iter().sum();
        u.iter_mut().for_each(|x| *x /= sum);
        u
    }

    fn column(&self, point: usize) -> Vec<f64> {
        let mut column = Vec::with_capacity(self.dimension + 1);
        column.push(1.0);
        column.extend_from_slice(&self.points[point].at);
        column
    }

    /// Appends a point to the corral; false if it is dependent within rounding.
    fn push(&mut self, point: usize) -> bool {
        let mut column = self.column(point);
        let before = dot(&column, &column).sqrt();
        let mut r = project(&self.q, &mut column);
        let norm = dot(&column, &column).sqrt();
        if norm.is_nan() || norm <= 1e-13 * before {
            return false;
        }
        column.iter_mut().for_each(|x| *x /= norm);
        r.push(norm);
        self.q.push(column);
        self.r.push(r);
        self.corral.push(point);
        true
    }

    /// Takes out the point at `place`: the triangle loses a column and is made triangular
    /// again by rotations.
    fn remove(&mut self, place: usize) {
        self.corral.remove(place);
        self.weights.remove(place);
        self.r.remove(place);
        let k = self.corral.len();
        for i in place..k {
            let (a, b) = (self.r[i][i], self.r[i][i + 1]);
            let h = libm::hypot(a, b);
            let (c, s) = if h > 0.0 { (a / h, b / h) } else { (1.0, 0.0) };
            for column in &mut self.r[i..k] {
                let (x, y) = (column[i], column[i + 1]);
                column[i] = c * x + s * y;
                column[i + 1] = c * y - s * x;
            }
            self.r[i].truncate(i + 1);
            let (left, right) = self.q.split_at_mut(i + 1);
            for (x, y) in left[i].iter_mut().zip(right[0].iter_mut()) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
        }
        self.q.truncate(k);
    }

    /// Factors the corral anew, so that rounding does not pile up; false if stopped, which leaves
    /// the working set of no further use.
    fn refactor(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let corral = std::mem::take(&mut self.corral);
        let weights = std::mem::take(&mut self.weights);
        self.q.clear();
        self.r.clear();
        for (c, w) in corral.into_iter().zip(weights) {
            if stop() {
                return false;
            }
            if self.push(c) {
                self.weights.push(w);
            }
        }
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|w| *w /= sum);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    #[test]
    fn the_nearest_point_of_a_segment_and_a_triangle() {
        let mut hull = NearestPoint::new(2, Vec::new());
        hull.add(0, vec![2.0, 0.0], false);
        hull.add(1, vec![0.0, 2.0], false);
        assert_eq!(hull.walk(1.0 - 1e-12, 1e-12, 100), Walk::Reached);
        assert!((hull.nearest()[0] - 1.0).abs() < 1e-12);
        assert!((hull.nearest()[1] - 1.0).abs() < 1e-12);
        hull.add(2, vec![-2.0, -3.0], false);
        assert_eq!(hull.walk(0.5, 1e-12, 100), Walk::Origin);
        let corral = hull.corral();
        assert_eq!(corral.len(), 3);
    }

    #[test]
    fn the_optimum_satisfies_its_conditions_on_random_sets() {
        let mut random = Random::new(11, Stream::Sample, 0);
        for case in 0..300 {
            let d = 1 + case % 7;
            let n = 1 + random.below(40) as usize;
            let shift = 3.0 * random.unit();
            let mut hull = NearestPoint::new(d, Vec::new());
            let rows: Vec<Vec<f64>> = (0..n)
                .map(|_| {
                    (0..d)
                        .map(|j| random.normal() + if j == 0 { shift } else { 0.0 })
                        .collect()
                })
                .collect();
            for (i, row) in rows.iter().enumerate() {
                hull.add(i, row.clone(), false);
            }
            match hull.walk(1.0 - 1e-10, 1e-10, 10_000) {
                Walk::Reached => {
                    let p = hull.nearest();
                    let squared = dot(p, p);
                    assert!(rows.iter().all(|z| dot(p, z) >= squared * (1.0 - 1e-9)));
                }
                Walk::Origin => {
                    assert!(hull.corral().len() <= d + 1);
                    let sum: f64 = hull.convex().map(|(_, w)| w).sum();
                    assert!((sum - 1.0).abs() < 1e-9);
                }
                ended => panic!("{ended:?} on an easy set"),
            }
        }
    }

    #[test]
    fn a_face_is_projected_out() {
        let mut face = Vec::new();
        add_direction(&mut face, vec![0.0, 0.0, 5.0]);
        add_direction(&mut face, vec![0.0, 0.0, -1.0]);
        assert_eq!(face.len(), 1);
        let mut hull = NearestPoint::new(3, face);
        hull.add(0, vec![1.0, 1.0, 9.0], true);
        hull.add(1, vec![1.0, -1.0, -9.0], true);
        assert_eq!(hull.walk(0.9, 1e-12, 100), Walk::Reached);
        assert!(hull.nearest()[2].abs() < 1e-14 && hull.nearest()[0] > 0.5);
        // In what is left beside the second axis, one point remains of the two.
        hull.extend_face(&[vec![0.0, 1.0, 0.0]], |row| row == 1);
        assert_eq!(hull.rows().collect::<Vec<_>>(), [1]);
        assert_eq!(hull.walk(0.9, 1e-12, 100), Walk::Reached);
        let away = [1.0, 0.0, 0.0].iter().zip(hull.nearest());
        assert!(away.map(|(a, b)| (a - b).abs()).sum::<f64>() < 1e-12);
        // The weights are those of the rows as they were given.
        assert!(
            (hull.corral()[0].1 - 1.0).abs() < 1e-12,
            "{:?}",
            hull.corral()
        );
    }
}
