//! How wide the gap is: a bracket [lower, upper] around the margin, rounded outward.
//!
//! Any w gives a lower end, the smallest z_i·w/‖w‖; any convex λ gives an upper end,
//! ‖Σ λ_i z_i‖; at the nearest point of the hull they meet. *Lifted* counts the bias as a
//! weight among others. *Plain* does not: it is half the distance between the convex hulls
//! of the two sides, ½‖Σλ⁺x − Σλ⁻x‖, sought here as a lifted margin with a constant so large
//! that the bias costs nothing, and evaluated without it.

use super::bracket::{Bracket, SearchBudget};
use super::limits::Limits;
use super::number::Exact;
use super::passes::{Scales, keep_worst};
use super::rows::{BiasTerm, SignedRows, TwoSides};
use rosenblatt_core::geometry::MarginKind;
use rosenblatt_core::internal::random::{Random, Stream};
use rosenblatt_core::internal::{NearestPoint, Walk};

/// R = max ‖x‖ over the rows, lifted if there is a bias, rounded up.
pub fn radius(rows: &dyn SignedRows, threads: usize) -> f64 {
    let dimension = rows.dimension();
    let scales = Scales::with_shift(rows, threads, vec![0; dimension], vec![1.0; dimension]);
    upward(&scales)
}

/// The largest length, rounded up.
fn upward(scales: &Scales) -> f64 {
    let top = scales.norm.iter().copied().fold(0.0, f64::max);
    top * (1.0 + (scales.terms as f64 + 8.0) * f64::EPSILON)
}

/// Brackets the margin of separable rows. `separator` (from a [`ProvedVerdict`](super::Decision))
/// gives a lower end to start from; without one, and on rows that are not separable, the
/// lower end may be 0.
pub fn margin(
    rows: &TwoSides<'_>,
    kind: MarginKind,
    separator: Option<&[dashu_int::IBig]>,
    budget: SearchBudget,
    threads: usize,
) -> Bracket {
    margin_within(&Limits::default(), rows, kind, separator, budget, threads)
}

/// The same as far as the limits allow: a bracket is true however early its search ends.
pub fn margin_within(
    limits: &Limits<'_>,
    rows: &TwoSides<'_>,
    kind: MarginKind,
    separator: Option<&[dashu_int::IBig]>,
    budget: SearchBudget,
    threads: usize,
) -> Bracket {
    let both = sides_present(rows);
    if kind == MarginKind::Plain && !both {
        return Bracket {
            lower: f64::INFINITY,
            upper: f64::INFINITY,
            kind,
        };
    }
    // Without a bias there is nothing to leave out.
    let plain = kind == MarginKind::Plain && rows.bias() == BiasTerm::Lifted;
    let mut narrowing = Narrowing::new(rows, plain, threads, limits);
    let (lower, upper) = narrowing.run(separator, budget);
    Bracket { lower, upper, kind }
}

fn sides_present(rows: &TwoSides<'_>) -> bool {
    let mut present = [false; 2];
    rows.each_row(&mut |row| present[usize::from(rows.is_positive(row))] = true);
    present == [true; 2]
}

/// Passes of the descent.
const MOST_PASSES: u32 = 20_000;

/// From here on, descent comes before the walk.
const MANY_DIMENSIONS: usize = 256;

/// The search for the nearest point of the rows' convex hull.
pub(super) struct Narrowing<'a> {
    rows: &'a dyn SignedRows,
    plain: bool,
    scales: Scales,
    /// A power of two that brings the longest row near 1, so that squares stay in range.
    unit: f64,
    /// The longest row, in that unit.
    longest: f64,
    limits: &'a Limits<'a>,
}

/// The lowest scores of one side: (z·w, row), and the lowest with its error taken off.
struct Lowest {
    bound: f64,
    worst: Vec<(f64, usize)>,
}

impl Default for Lowest {
    fn default() -> Self {
        Lowest {
            bound: f64::INFINITY,
            worst: Vec::new(),
        }
    }
}

impl<'a> Narrowing<'a> {
    pub(super) fn new(
        rows: &'a dyn SignedRows,
        plain: bool,
        threads: usize,
        limits: &'a Limits<'a>,
    ) -> Self {
        let dimension = rows.dimension();
        let mut ones = vec![1.0; dimension];
        if plain {
            // The constant is no part of a length that the bias does not enter.
            ones[0] = 0.0;
        }
        let lengths = Scales::with_shift(rows, threads, vec![0; dimension], ones);
        let long = upward(&lengths);
        let (_, exponent) = libm::frexp(if long.is_finite() { long } else { f64::MAX });
        let unit = libm::scalbn(1.0, (-exponent).clamp(-1000, 1000));
        let mut factor = vec![unit; dimension];
        if plain {
            // The constant that stands for "no cost": the tilt it leaves is about 1e-7, and a
            // larger one would cost digits.
            factor[0] = 2e3;
        }
        let scales = Scales::with_shift(rows, threads, vec![0; dimension], factor);
        Narrowing {
            rows,
            plain,
            scales,
            unit,
            longest: long * unit,
            limits,
        }
    }

    /// The features' part of a vector, where the bias does not count.
    fn counted<'v>(&self, v: &'v [f64]) -> &'v [f64] {
        if self.plain { &v[1..] } else { v }
    }

    pub(super) fn run(
        &mut self,
        separator: Option<&[dashu_int::IBig]>,
        budget: SearchBudget,
    ) -> (f64, f64) {
        let dimension = self.rows.dimension();
        let batch = dimension.clamp(32, 256);
        let pass = self.rows.groups() as f64 * self.scales.terms as f64;
        let mut left = budget.multiplications;
        let (mut lower, mut upper) = (0.0f64, f64::INFINITY);
        let mut hull = NearestPoint::new(dimension, Vec::new());
        let mut known = vec![false; self.rows.limit()];
        let mut add = |hull: &mut NearestPoint, row: usize| {
            let new = !std::mem::replace(&mut known[row], true);
            if new {
                hull.add(row, self.scales.dense(self.rows, row), false);
            }
            new
        };
        let first = match separator {
            Some(w) => {
                // In this search's coordinates a weight is divided by its column's factor.
                let near = super::number::approximate_all(w);
                let v: Vec<f64> = near
                    .iter()
                    .zip(&self.scales.factor)
                    .map(|(x, f)| x / f * self.unit)
                    .collect();
                let ends = self.ends(&v, batch);
                lower = lower.max(self.lower(&v, &ends));
                if lower == 0.0 {
                    lower = self.exact_lower(w);
                }
                ends
            }
            None => {
                let mut v = vec![0.0; dimension];
                self.rows.each_row(&mut |row| {
                    self.rows
                        .each(row, &mut |j, z| v[j] += z * self.scales.factor[j]);
                });
                self.ends(&v, batch)
            }
        };
        left -= 3.0 * pass;
        // The descent goes by groups of one row.
        if self.rows.has_single_rows() && dimension >= MANY_DIMENSIONS {
            let descent = self.descend(budget, &mut left, &mut lower, &mut upper);
            let carried = descent.len() as f64;
            // To build a corral of so many rows costs this much; is it affordable?
            let closed = upper - lower <= budget.relative_gap * upper;
            let dear = 4.0 * carried * carried * dimension as f64 > left;
            if closed || dear || self.limits.over() {
                return self.outward(lower, upper);
            }
            for (row, _) in descent {
                add(&mut hull, row);
            }
        }
        for (_, row) in first.iter().flat_map(|side| &side.worst) {
            add(&mut hull, *row);
        }
        loop {
            let size = (hull.working_set_len() + 2 * dimension.min(hull.working_set_len())) as f64
                * dimension as f64;
            let steps = (left / size.max(1.0)).clamp(0.0, 1e6) as usize;
            let over = || self.limits.over();
            let ratio = 1.0 - budget.relative_gap / 8.0;
            let walk = hull.walk_unless(&over, ratio, 1e-300, steps);
            if walk == Walk::Stopped {
                break;
            }
            left -= size * (hull.convex().count() as f64);
            if walk == Walk::Origin || hull.nearest().is_empty() {
                break;
            }
            upper = upper.min(self.upper(hull.convex()));
            let p = hull.nearest().to_vec();
            let ends = self.ends(&p, batch);
            lower = lower.max(self.lower(&p, &ends));
            left -= pass;
            if upper - lower <= budget.relative_gap * upper || left <= 0.0 || self.limits.over() {
                break;
            }
            let squared: f64 = p.iter().map(|x| x * x).sum();
            if hull.working_set_len() > 60 * batch {
                hull.shrink(|score| score < 2.0 * squared);
            }
            let mut added = 0;
            for (_, row) in ends.iter().flat_map(|side| &side.worst) {
                added += usize::from(add(&mut hull, *row));
            }
            if added == 0 {
                break;
            }
        }
        self.outward(lower, upper)
    }

    /// Outward once more for the unit, which is a power of two, and the last division.
    fn outward(&self, lower: f64, upper: f64) -> (f64, f64) {
        (
            (lower / self.unit * (1.0 - 4.0 * f64::EPSILON)).max(0.0),
            upper / self.unit * (1.0 + 4.0 * f64::EPSILON),
        )
    }

    /// Dual coordinate descent on ½‖v‖² subject to v·z ≥ 1 (Hsieh et al., 2008): in many
    /// dimensions a pass over sparse rows costs less than one step of the walk. Narrows the
    /// ends with at most half of what is left, and returns the rows with weights. For the
    /// plain margin the constant is a few times the longest row, which tilts the plane a
    /// little; the ends are evaluated without it.
    fn descend(
        &self,
        budget: SearchBudget,
        left: &mut f64,
        lower: &mut f64,
        upper: &mut f64,
    ) -> Vec<(usize, f64)> {
        let groups = self.rows.groups();
        let mut factor = self.scales.factor.clone();
        if self.plain {
            factor[0] = 8.0;
        }
        let squares: Vec<f64> = factor.iter().map(|f| f * f).collect();
        let mut lengths = vec![0.0f64; groups];
        let mut entries = 0usize;
        for (group, length) in lengths.iter_mut().enumerate() {
            self.rows.members(group, &mut |row| {
                self.rows.each(row, &mut |j, z| {
                    *length += z * z * squares[j];
                    entries += 1;
                });
            });
        }
        let each = 2.0 * entries as f64 / groups as f64;
        let stop = *left / 2.0;
        let mut random = Random::new(0, Stream::Sample, 2);
        let mut w = vec![0.0; self.rows.dimension()];
        let mut alpha = vec![0.0f64; self.rows.limit()];
        let mut active: Vec<usize> = (0..groups).collect();
        let mut pass = 0u32;
        loop {
            random.shuffle(&mut active);
            let mut kept = Vec::with_capacity(active.len());
            for &group in &active {
                let mut found = (0.0, 0);
                self.rows
                    .score(group, &w, &mut |row, score| found = (score, row));
                let (score, row) = found;
                let old = alpha[row];
                let new = (old + (1.0 - score) / lengths[group].max(1e-300)).max(0.0);
                if new != old {
                    alpha[row] = new;
                    self.rows
                        .each(row, &mut |j, z| w[j] += (new - old) * squares[j] * z);
                }
                if new > 0.0 || score < 1.5 {
                    kept.push(group);
                }
            }
            *left -= each * active.len() as f64;
            active = kept;
            pass += 1;
            // Back to all rows now and then, to see where the ends are.
            let over = self.limits.over();
            if pass.is_multiple_of(16) || *left <= stop || pass == MOST_PASSES || over {
                let v = self.scales.scale(&w);
                let weighted = || {
                    let rows = alpha.iter().enumerate().filter(|(_, a)| **a > 0.0);
                    rows.map(|(row, a)| (row, *a))
                };
                *lower = lower.max(self.lower(&v, &self.ends(&v, 1)));
                *upper = upper.min(self.upper(weighted()));
                let closed = *upper - *lower <= budget.relative_gap * *upper;
                if closed || *left <= stop || pass == MOST_PASSES || over {
                    return weighted().collect();
                }
                active = (0..groups).collect();
            }
        }
    }

    /// The lowest scores of each side under v, the bias left out where it does not count.
    fn ends(&self, v: &[f64], most: usize) -> [Lowest; 2] {
        let mut w = self.scales.unscale(v);
        if self.plain {
            w[0] = 0.0;
        }
        let size = self.counted(v).iter().map(|x| x * x).sum::<f64>().sqrt();
        let relative = (self.scales.terms as f64 + 8.0) * 4.0 * f64::EPSILON * size;
        let found = self.scales.pieces(self.rows, 1, |range| {
            let mut sides: [Lowest; 2] = Default::default();
            let mut cut = [f64::INFINITY; 2];
            for group in range {
                // The plain margin's constant is no part of the length that matters.
                let norm = if self.plain {
                    self.longest
                } else {
                    self.scales.norm[group]
                };
                self.rows.score(group, &w, &mut |row, score| {
                    let s = usize::from(self.rows.is_positive(row));
                    let side = &mut sides[s];
                    side.bound = side.bound.min(score - relative * norm);
                    if score.is_nan() {
                        side.bound = f64::NEG_INFINITY;
                    }
                    if score < cut[s] {
                        side.worst.push((score, row));
                        if side.worst.len() >= 8 * most {
                            keep_worst(&mut side.worst, most);
                            cut[s] = side.worst.iter().fold(f64::MIN, |m, x| m.max(x.0));
                        }
                    }
                });
            }
            sides
        });
        let mut sides: [Lowest; 2] = Default::default();
        for (into, from) in found
            .into_iter()
            .flat_map(|part| [0, 1].into_iter().zip(part))
        {
            sides[into].bound = sides[into].bound.min(from.bound);
            sides[into].worst.extend(from.worst);
        }
        for side in &mut sides {
            keep_worst(&mut side.worst, most);
        }
        sides
    }

    fn lower(&self, v: &[f64], ends: &[Lowest; 2]) -> f64 {
        let size = self.counted(v).iter().map(|x| x * x).sum::<f64>().sqrt();
        let least = if self.plain {
            0.5 * (ends[0].bound + ends[1].bound)
        } else {
            ends[0].bound.min(ends[1].bound)
        };
        let error = 1.0 - (v.len() as f64 + 8.0) * f64::EPSILON;
        if size > 0.0 && least > 0.0 {
            least / size * error
        } else {
            0.0
        }
    }

    /// A lower end from a separator too fine for `f64` scores: scores in whole numbers.
    fn exact_lower(&self, w: &[dashu_int::IBig]) -> f64 {
        let radix = self.rows.notation().radix();
        let mut least: [Option<Exact>; 2] = [None, None];
        self.rows.each_row(&mut |row| {
            let mut sum = Exact::integer(0);
            self.rows.each_exact(row, &mut |j, mut term| {
                if self.plain && j == 0 {
                    return;
                }
                term.mantissa *= &w[j];
                sum = sum.add(&term, radix);
            });
            let side = &mut least[usize::from(self.rows.is_positive(row))];
            if side.as_ref().is_none_or(|old| sum.is_below(old, radix)) {
                *side = Some(sum);
            }
        });
        let value = match (&least, self.plain) {
            ([Some(a), Some(b)], true) => a.add(b, radix).approximate(radix) / 2.0,
            (sides, _) => sides
                .iter()
                .flatten()
                .map(|side| side.approximate(radix))
                .fold(f64::INFINITY, f64::min),
        };
        let near: Vec<f64> = w
            .iter()
            .skip(usize::from(self.plain))
            .map(|x| super::number::scaled_f64(x, 0))
            .collect();
        let top = near.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let size = top
            * near
                .iter()
                .map(|x| (x / top) * (x / top))
                .sum::<f64>()
                .sqrt();
        let lower = value / size * (1.0 - (w.len() as f64 + 16.0) * f64::EPSILON) * self.unit;
        if lower.is_finite() && lower > 0.0 {
            lower
        } else {
            0.0
        }
    }

    /// ‖Σ λ z‖ for weights of rows, made convex (by side for the plain margin).
    fn upper(&self, weights: impl Iterator<Item = (usize, f64)>) -> f64 {
        let weights: Vec<(usize, f64)> = weights.map(|(r, w)| (r, w.max(0.0))).collect();
        let mut total = [0.0f64; 2];
        for &(row, weight) in &weights {
            total[usize::from(self.rows.is_positive(row))] += weight;
        }
        if self.plain && (total[0] <= 0.0 || total[1] <= 0.0) {
            return f64::INFINITY;
        }
        let whole = total[0] + total[1];
        if whole <= 0.0 {
            return f64::INFINITY;
        }
        let mut p = vec![0.0; self.rows.dimension()];
        for &(row, weight) in &weights {
            let share = if self.plain {
                0.5 * weight / total[usize::from(self.rows.is_positive(row))]
            } else {
                weight / whole
            };
            self.rows
                .each(row, &mut |j, z| p[j] += share * (z * self.scales.factor[j]));
        }
        let norm = self.counted(&p).iter().map(|x| x * x).sum::<f64>().sqrt();
        let count = weights.len() as f64 + p.len() as f64 + 8.0;
        (norm + 4.0 * count * f64::EPSILON * self.longest) * (1.0 + count * f64::EPSILON)
    }
}
