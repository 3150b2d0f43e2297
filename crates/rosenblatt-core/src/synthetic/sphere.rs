//! Points on the unit sphere at a known margin.

use super::separator::gap;
use super::{Draft, Separator, Settings, numbered, plus_minus};
use crate::error::{Error, Result};
use crate::geometry::norm;
use crate::random::Random;
use crate::scheme::leader;

/// A uniformly random point of the unit sphere.
pub(super) fn direction(random: &mut Random, d: usize) -> Vec<f64> {
    loop {
        let v: Vec<f64> = (0..d).map(|_| random.normal()).collect();
        let length = norm(&v);
        if length > 1e-6 {
            return v.into_iter().map(|x| x / length).collect();
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Points of the unit sphere at least g from the plane u·x = 0, one of them at g.
///
/// A uniform point x has the component t = u·x along u. Its size is carried from [0, 1] to
/// [g, 1] by |t| ↦ g + (1 − g)|t|, the rest of x shrinks to keep the length 1, and the label
/// is the sign of t.
pub(super) struct Slab {
    pub(super) u: Vec<f64>,
    /// The row that lies at exactly g.
    nearest: usize,
    margin: f64,
}

impl Slab {
    pub(super) fn new(settings: &Settings) -> Result<Self> {
        if settings.margin > 1.0 {
            return Err(Error::options(format!(
                "no point of the unit sphere lies {} from a plane through its centre",
                settings.margin
            ))
            .remedy("ask for a margin of at most 1"));
        }
        let mut random = settings.global();
        let u = direction(&mut random, settings.d);
        let nearest = random.below(settings.n as u64) as usize;
        Ok(Slab {
            u,
            nearest,
            margin: settings.margin,
        })
    }

    /// Row `i` and its label; the first two rows are of different classes.
    pub(super) fn row(&self, settings: &Settings, i: usize) -> (Vec<f64>, u32) {
        let mut random = settings.for_row(i);
        loop {
            let x = direction(&mut random, settings.d);
            let along = dot(&self.u, &x);
            let across: Vec<f64> = x.iter().zip(&self.u).map(|(x, u)| x - along * u).collect();
            let width = norm(&across);
            if width < 1e-6 || along == 0.0 {
                continue;
            }
            let size = if i == self.nearest {
                self.margin
            } else {
                self.margin + (1.0 - self.margin) * along.abs()
            };
            let label = if i < 2 {
                i as u32
            } else {
                u32::from(along > 0.0)
            };
            let t = if label == 1 { size } else { -size };
            let rest = ((1.0 - t) * (1.0 + t)).max(0.0).sqrt() / width;
            let row = (across.iter().zip(&self.u))
                .map(|(a, u)| t * u + rest * a)
                .collect();
            return (row, label);
        }
    }
}

pub(super) fn separable(settings: &Settings) -> Result<Draft> {
    let slab = Slab::new(settings)?;
    let mut draft = Draft::new(settings.d, settings.n, settings.precision, plus_minus());
    for i in 0..settings.n {
        let (row, label) = slab.row(settings, i);
        draft.push(&row, label);
    }
    draft.separator = Some(Separator::binary(slab.u, 0.0));
    Ok(draft)
}

/// Points of the unit sphere in k classes by the largest u_c·x, every gap to the runner-up at
/// least g and one of them g.
///
/// The u_c have length 1/√k, so that Σ‖u_c‖² = 1 and u_c itself points into class c. A point
/// too near a border moves towards u_c. Along that path the gap is a concave function divided
/// by a convex one, so the part of the path at gap ≥ g is one interval, and bisection finds
/// where it begins.
pub(super) fn classes(settings: &Settings) -> Result<Draft> {
    let (n, d, k) = (settings.n, settings.d, settings.k);
    let mut random = settings.global();
    let units = spread_directions(&mut random, d, k);
    let scale = 1.0 / (k as f64).sqrt();
    let scores = |x: &[f64]| -> Vec<f64> { units.iter().map(|u| scale * dot(u, x)).collect() };
    let widest = (0..k)
        .map(|c| gap(&scores(&units[c]), c))
        .fold(f64::INFINITY, f64::min);
    let g = settings.margin;
    if g > 0.999 * widest {
        return Err(Error::options(format!(
            "{k} classes in {d} dimensions leave no room for the margin {g}"
        ))
        .remedy(format!("ask for a margin below {:.6}", 0.999 * widest)));
    }
    let nearest = random.below(n as u64) as usize;

    let mut draft = Draft::new(d, n, settings.precision, numbered(k));
    for i in 0..n {
        let mut random = settings.for_row(i);
        let x = direction(&mut random, d);
        let s = scores(&x);
        // The first k rows show every class; the others fall where they fall.
        let class = if i < k { i } else { leader(&s, None) as usize };
        let found = gap(&s, class);
        let row = if found < g {
            let path = |t: f64| between(&x, &units[class], t);
            let enter = bisect(|t| gap(&scores(&path(t)), class) >= g);
            if i == nearest {
                path(enter)
            } else {
                path(enter + (1.0 - enter) * random.unit())
            }
        } else if i == nearest {
            let rival = leader(&s, Some(class as u32)) as usize;
            let path = |t: f64| between(&x, &units[rival], t);
            path(bisect(|t| gap(&scores(&path(t)), class) <= g))
        } else {
            x
        };
        draft.push(&row, class as u32);
    }
    let weights = units
        .into_iter()
        .map(|u| u.into_iter().map(|x| scale * x).collect())
        .collect();
    draft.separator = Some(Separator::multiclass(weights));
    Ok(draft)
}

/// k unit vectors well apart: orthonormal where they fit, else each the best of 32 draws.
fn spread_directions(random: &mut Random, d: usize, k: usize) -> Vec<Vec<f64>> {
    let mut chosen: Vec<Vec<f64>> = Vec::with_capacity(k);
    while chosen.len() < k {
        if k <= d {
            let mut v = direction(random, d);
            for _ in 0..2 {
                for u in &chosen {
                    let along = dot(u, &v);
                    v.iter_mut().zip(u).for_each(|(x, u)| *x -= along * u);
                }
            }
            let length = norm(&v);
            if length > 1e-3 {
                chosen.push(v.into_iter().map(|x| x / length).collect());
            }
        } else {
            let closest = |v: &[f64]| chosen.iter().map(|u| dot(u, v)).fold(-1.0, f64::max);
            let best = best_of_draws(|| direction(random, d), |v| -closest(v));
            chosen.push(best);
        }
    }
    chosen
}

/// The best of 32 draws, the first among equals.
pub(super) fn best_of_draws(
    mut draw: impl FnMut() -> Vec<f64>,
    worth: impl Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let first = draw();
    let start = (worth(&first), first);
    let best = (1..32).fold(start, |best, _| {
        let v = draw();
        let found = worth(&v);
        if found > best.0 { (found, v) } else { best }
    });
    best.1
}

/// The point a share t of the way from x to y, put back on the sphere.
fn between(x: &[f64], y: &[f64], t: f64) -> Vec<f64> {
    let v: Vec<f64> = (x.iter().zip(y))
        .map(|(x, y)| (1.0 - t) * x + t * y)
        .collect();
    let length = norm(&v);
    v.into_iter().map(|x| x / length).collect()
}

/// The least t in [0, 1] from which on `holds`, to the last bit.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}
