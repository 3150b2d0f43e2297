//! Steps of Newton's method where the penalty is ‖w‖₁.
//!
//! *Rule.* The quadratic model g·d + ½ dᵀHd + ‖w + d‖₁, H = Σ h x xᵀ, is minimised one coordinate
//! after the other: the best d_j given the rest sets w_j + d_j where the slope is −1 or 1, or to 0
//! where it lies between. Coordinates at 0 that the slope holds there are left out. With few
//! features H is summed beforehand, with many a column of x is read instead.

use crate::data::{Dataset, Rows};
use crate::learner::max_margin::{DenseSystem, Plane};
use crate::progress::Limits;
use crate::random::{Random, Stream};

/// Coordinates are visited until the slopes are this part of what they were away from where the
/// penalty holds them.
const ENOUGH: f64 = 0.1;

/// The same where a round costs little beside the sum of H.
const ENOUGH_SMALL: f64 = 1e-4;

/// Rounds over the coordinates in a step.
const ROUNDS: usize = 1000;

/// Added to the diagonal of H, so that no coordinate is without curvature.
const LEAST: f64 = 1e-12;

/// Whether the matrix of curvatures is cheap beside a few dozen passes over the examples.
pub(super) fn is_small(data: &Dataset, plane: &Plane, lifted: bool) -> bool {
    let unknowns = (data.features() + usize::from(lifted)) as f64;
    if unknowns > 2048.0 {
        return false;
    }
    // As if zeros were not stored: what is found does not depend on the storage.
    let values = data.matrix.non_zeros() as f64;
    let each = values / data.len().max(1) as f64;
    let products = 0.5 * each * each * plane.len() as f64;
    products + unknowns * unknowns * unknowns / 12.0 <= 60.0 * values
}

/// The loss's curvature about the plane, in the form in which it is cheap to have.
pub(super) struct Curvature<'a> {
    data: &'a Dataset,
    plane: &'a Plane,
    lifted: bool,
    is_small: bool,
    columns: Option<Columns>,
}

impl<'a> Curvature<'a> {
    pub(super) fn new(data: &'a Dataset, plane: &'a Plane, lifted: bool) -> Self {
        Curvature {
            data,
            plane,
            lifted,
            is_small: is_small(data, plane, lifted),
            columns: None,
        }
    }

    /// Σ h x xᵀ, added to what `begin` makes for so many features, with or without a bias; `None`
    /// where it would be costly.
    pub(super) fn summed(
        &self,
        begin: impl Fn(usize, bool) -> DenseSystem,
        curvatures: &[f64],
    ) -> Option<DenseSystem> {
        if !self.is_small {
            return None;
        }
        let mut system = begin(self.data.features(), self.lifted);
        let rows = Rows::of(&self.data.matrix);
        for (&i, &curvature) in self.plane.examples.iter().zip(curvatures) {
            system.add_product(rows.row(i as usize), curvature);
        }
        Some(system)
    }

    /// The way from `w` to about where the quadratic model is least; `pull` is minus the slope of
    /// the loss, `curvatures` is h.
    pub(super) fn lasso_direction(
        &mut self,
        w: &[f64],
        pull: &[f64],
        curvatures: &[f64],
        limits: &Limits<'_>,
    ) -> Vec<f64> {
        if let Some(system) = self.summed(DenseSystem::zero, curvatures) {
            descend(&mut Summed::new(system), w, pull, ENOUGH_SMALL, limits)
        } else {
            let columns = self
                .columns
                .get_or_insert_with(|| Columns::of(self.data, self.plane, self.lifted));
            columns.begin(curvatures);
            descend(columns, w, pull, ENOUGH, limits)
        }
    }
}

/// Minimises the quadratic model one coordinate after the other.
fn descend(
    model: &mut impl Quadratic,
    w: &[f64],
    pull: &[f64],
    enough: f64,
    limits: &Limits<'_>,
) -> Vec<f64> {
    let mut step = vec![0.0; w.len()];
    let mut random = Random::new(0, Stream::Order, 0);
    let slopes: Vec<f64> = pull.iter().map(|v| -v).collect();
    let away: f64 = slopes.iter().zip(w).map(|(g, w)| violation(*g, *w)).sum();
    // Those that the slope holds at 0 with something to spare come back in a later step.
    let spare = away / w.len() as f64;
    let held = |slope: f64, weight: f64| weight == 0.0 && slope.abs() < 1.0 - spare;
    let mut active: Vec<usize> = (0..w.len()).filter(|&j| !held(slopes[j], w[j])).collect();
    for _ in 0..ROUNDS {
        random.shuffle(&mut active);
        let mut left = 0.0;
        active.retain(|&j| {
            let curvature = model.curvature(j) + LEAST;
            let slope = slopes[j] + model.slope(j) + LEAST * step[j];
            let weight = w[j] + step[j];
            if held(slope, weight) {
                return false;
            }
            left += violation(slope, weight);
            let change = if slope + 1.0 < curvature * weight {
                -(slope + 1.0) / curvature
            } else if slope - 1.0 > curvature * weight {
                -(slope - 1.0) / curvature
            } else {
                -weight
            };
            if change != 0.0 {
                step[j] += change;
                model.moved(j, change);
            }
            true
        });
        if left <= enough * away || limits.now().is_some() {
            break;
        }
    }
    step
}

/// How far the slope of the loss is from what the penalty asks of it at this weight.
fn violation(slope: f64, weight: f64) -> f64 {
    if weight == 0.0 {
        (slope.abs() - 1.0).max(0.0)
    } else {
        (slope + weight.signum()).abs()
    }
}

/// ½ dᵀHd for a d that changes one coordinate at a time.
trait Quadratic {
    /// H_jj.
    fn curvature(&self, j: usize) -> f64;
    /// (Hd)_j.
    fn slope(&self, j: usize) -> f64;
    /// d_j has grown by this.
    fn moved(&mut self, j: usize, by: f64);
}

/// H in full, and Hd.
struct Summed {
    full: Vec<f64>,
    slopes: Vec<f64>,
}

impl Summed {
    fn new(system: DenseSystem) -> Self {
        let (full, size) = system.into_full();
        Summed {
            full,
            slopes: vec![0.0; size],
        }
    }
}

impl Quadratic for Summed {
    fn curvature(&self, j: usize) -> f64 {
        self.full[j * self.slopes.len() + j]
    }

    fn slope(&self, j: usize) -> f64 {
        self.slopes[j]
    }

    fn moved(&mut self, j: usize, by: f64) {
        let size = self.slopes.len();
        let column = &self.full[j * size..(j + 1) * size];
        for (slope, h) in self.slopes.iter_mut().zip(column) {
            *slope += by * h;
        }
    }
}

/// The examples feature by feature, the bias last, and h(x·d) of each.
struct Columns {
    starts: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
    diagonal: Vec<f64>,
    curvatures: Vec<f64>,
    /// h(x·d) by example.
    bent: Vec<f64>,
}

impl Columns {
    fn of(data: &Dataset, plane: &Plane, lifted: bool) -> Self {
        let unknowns = data.features() + usize::from(lifted);
        let rows = Rows::of(&data.matrix);
        let each = |f: &mut dyn FnMut(usize, usize, f64)| {
            for (t, &i) in plane.examples.iter().enumerate() {
                rows.row(i as usize).for_each(|j, x| f(t, j, x));
                if lifted {
                    f(t, data.features(), 1.0);
                }
            }
        };
        let mut ends = vec![0; unknowns];
        each(&mut |_, j, _| ends[j] += 1);
        let mut starts = Vec::with_capacity(unknowns + 1);
        let mut sum = 0;
        for end in &mut ends {
            starts.push(sum);
            sum += *end;
            // From here on where the next value of the column goes.
            *end = sum - *end;
        }
        starts.push(sum);
        let (mut places, mut values) = (vec![0; sum], vec![0.0; sum]);
        each(&mut |t, j, x| {
            (places[ends[j]], values[ends[j]]) = (t as u32, x);
            ends[j] += 1;
        });
        Columns {
            starts,
            places,
            values,
            diagonal: vec![0.0; unknowns],
            curvatures: Vec::new(),
            bent: Vec::new(),
        }
    }

    /// d = 0 with these h.
    fn begin(&mut self, curvatures: &[f64]) {
        self.curvatures = curvatures.to_vec();
        self.bent = vec![0.0; curvatures.len()];
        for j in 0..self.diagonal.len() {
            let column = self.column(j);
            self.diagonal[j] = column.fold(0.0, |sum, (t, x)| sum + curvatures[t] * x * x);
        }
    }

    fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[j]..self.starts[j + 1];
        let places = self.places[range.clone()].iter().map(|&t| t as usize);
        places.zip(self.values[range].iter().copied())
    }
}

impl Quadratic for Columns {
    fn curvature(&self, j: usize) -> f64 {
        self.diagonal[j]
    }

    fn slope(&self, j: usize) -> f64 {
        self.column(j)
            .fold(0.0, |sum, (t, x)| sum + x * self.bent[t])
    }

    fn moved(&mut self, j: usize, by: f64) {
        let range = self.starts[j]..self.starts[j + 1];
        for (&t, x) in self.places[range.clone()].iter().zip(&self.values[range]) {
            let t = t as usize;
            self.bent[t] += self.curvatures[t] * (by * x);
        }
    }
}
