//! Planes in the space of a kernel: sequential minimal optimisation.
//!
//! *Rule.* With G = Qα − 1 kept for every example, each step moves the fewest α that can
//! move: two where the bias is unlifted (Σ α_i y_i = 0 must stay), one where it is not. Of
//! two, the first violates optimality most, and the second lets the objective fall most
//! together with it; of one, the objective falls most outright. Examples that sit at a bound
//! and are pushed against it are left out until the rest has settled.
//!
//! Such steps are slow where the Gram matrix has a low rank and large entries, as those of
//! polynomials have. So where many were made, all α that no bound holds move together, by
//! conjugate gradients up to the first bound, as often as that gains more.
//!
//! *Guarantee.* A run ends when primal − dual ≤ tolerance·primal over all examples, computed
//! from G at no further cost in kernel values.
//!
//! *Cost.* O(examples) a step, and a row of the Gram matrix for each α that moves, unless it
//! is still kept.
//!
//! *Reference.* R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second
//! order information for training support vector machines", JMLR 6 (2005); I. Steinwart, D.
//! Hush and C. Scovel, "Training SVMs without offset", JMLR 12 (2011).

mod joint_step;

use super::kernel_rows::KernelRows;
use super::limits::{PassCallback, SearchLimits, count_margin};
use super::plane::{Objective, Plane, Solution, best_bias};
use crate::error::Result;
use crate::progress::{Pass, Stop};

/// Finds the plane. A hard margin that is not found within what floating point can tell from
/// none ends as [`Stop::Stalled`] with an infinite primal.
pub(super) fn solve(
    plane: &Plane,
    rows: &mut KernelRows<'_>,
    unlifted: bool,
    limits: &mut SearchLimits<'_>,
    on_pass: PassCallback<'_>,
) -> Result<Solution> {
    let own: Vec<f64> = plane
        .examples
        .iter()
        .map(|&i| rows.own(i as usize))
        .collect();
    Smo {
        plane,
        rows,
        unlifted,
        gradient: vec![-1.0; plane.len()],
        alphas: vec![0.0; plane.len()],
        active: (0..plane.len() as u32).collect(),
        own,
    }
    .go(limits, on_pass)
}

struct Smo<'a, 'k> {
    plane: &'a Plane,
    rows: &'a mut KernelRows<'k>,
    unlifted: bool,
    /// K(x, x) of each example.
    own: Vec<f64>,
    alphas: Vec<f64>,
    /// y·s − 1, the bias left out; of active examples only.
    gradient: Vec<f64>,
    active: Vec<u32>,
}

/// What to move, along which direction and how far optimality is away.
#[derive(Debug, Clone, Copy)]
struct Move {
    first: usize,
    /// Where the bias is unlifted, the example that moves against it.
    second: Option<usize>,
    violation: f64,
}

/// Where there is no curvature, a little is taken to be there.
const FLAT: f64 = 1e-12;

/// Steps after which what rounding has left in the gradients is cleared, and after which without
/// any gain it is rounding that has the last word.
const MANY: u64 = 50_000;

impl Smo<'_, '_> {
    fn go(mut self, limits: &mut SearchLimits<'_>, on_pass: PassCallback<'_>) -> Result<Solution> {
        let n = self.plane.len();
        let period = n.clamp(1, 1000) as u64;
        let mut passes: Vec<Pass> = Vec::new();
        let mut pass = Pass::default();
        let mut goal = 1e-2;
        let mut steps = 0u64;
        let mut visits = 0;
        let mut best: Option<(f64, u64)> = None;
        let mut cleared = 0;
        // Steps until all free α move together, since they last did, and what these gained.
        let (mut wait, mut waited, mut gained) = (20 * period.max(100), 0, 0.0);
        let stop = loop {
            if pass.visits >= n as u64 {
                on_pass(&pass)?;
                visits += pass.visits;
                passes.push(std::mem::take(&mut pass));
            }
            if steps.is_multiple_of(period) {
                if let Some(stop) = limits.reached(passes.len(), visits, self.plane.len()) {
                    break stop;
                }
                if steps > 0 {
                    self.shrink();
                }
            }
            steps += 1;
            let chosen = self.choose();
            if chosen.is_none_or(|c| c.violation <= goal) {
                if steps - cleared >= MANY {
                    self.active.clear();
                    cleared = steps;
                }
                self.unshrink();
                let objective = self.measure().0;
                let gap = objective.relative_gap();
                if gap <= limits.settings.tolerance {
                    break Stop::Converged;
                }
                if self.plane.is_hard() && self.is_hopeless(objective) {
                    break Stop::Stalled;
                }
                let violation = self.choose().map_or(0.0, |c| c.violation);
                // The dual objective never falls; the gap may rise for a while.
                let rises = |then: f64| objective.dual > then + 1e-13 * then.abs();
                if best.is_none_or(|(then, _)| rises(then)) {
                    best = Some((objective.dual, steps));
                }
                if violation <= 1e-14 || best.is_some_and(|(_, at)| at + MANY < steps) {
                    break Stop::Stalled;
                }
                let smaller = (0.5 * limits.settings.tolerance / gap).clamp(0.01, 0.5);
                goal = violation.min(goal) * smaller;
                continue;
            }
            let Some(chosen) = chosen else {
                continue;
            };
            gained += self.advance(chosen, &mut pass);
            limits.updates_left -= 1;
            waited += 1;
            if waited >= wait {
                let more = self.joint_step(&mut pass, limits);
                wait = if more > gained {
                    (wait / 2).max(period)
                } else {
                    (wait * 2).min(1000 * period)
                };
                (waited, gained) = (0, 0.0);
            }
            if limits.updates_left == 0 {
                break Stop::UpdateLimit;
            }
            if self.plane.is_hard() && steps.is_multiple_of(100 * period) {
                self.unshrink();
                if self.is_hopeless(self.measure().0) {
                    break Stop::Stalled;
                }
            }
        };
        if pass.visits > 0 {
            on_pass(&pass)?;
            passes.push(pass);
        }
        self.unshrink();
        Ok(self.finish(stop, passes))
    }

    /// Whether α may grow in the direction of +y, and in that of −y.
    fn may_move(&self, t: usize) -> (bool, bool) {
        let grow = self.alphas[t] < self.plane.prices[t];
        let fall = self.alphas[t] > 0.0;
        if self.plane.signs[t] > 0.0 {
            (grow, fall)
        } else {
            (fall, grow)
        }
    }

    fn choose(&mut self) -> Option<Move> {
        if self.unlifted {
            self.choose_two()
        } else {
            self.choose_one()
        }
    }

    fn choose_two(&mut self) -> Option<Move> {
        let mut highest = f64::NEG_INFINITY;
        let mut first = None;
        for &t in &self.active {
            let t = t as usize;
            let pull = -self.plane.signs[t] * self.gradient[t];
            if pull > highest && self.may_move(t).0 {
                (highest, first) = (pull, Some(t));
            }
        }
        let first = first?;
        let row = self.rows.row(self.plane.examples[first] as usize);
        let mut lowest = f64::INFINITY;
        let (mut most, mut second) = (0.0, None);
        for &t in &self.active {
            let t = t as usize;
            if !self.may_move(t).1 {
                continue;
            }
            let pull = -self.plane.signs[t] * self.gradient[t];
            lowest = lowest.min(pull);
            let difference = highest - pull;
            if difference > 0.0 {
                let between = row[self.plane.examples[t] as usize];
                let curvature = self.own[first] + self.own[t] - 2.0 * between;
                let gain = difference * difference / curvature.max(FLAT);
                if gain > most {
                    (most, second) = (gain, Some(t));
                }
            }
        }
        second.map(|t| Move {
            first,
            second: Some(t),
            violation: highest - lowest,
        })
    }

    fn choose_one(&self) -> Option<Move> {
        let (mut most, mut first, mut violation) = (0.0, None, 0.0f64);
        for &t in &self.active {
            let t = t as usize;
            let (alpha, gradient) = (self.alphas[t], self.gradient[t]);
            let curvature = self.own[t].max(FLAT);
            let step = (alpha - gradient / curvature).clamp(0.0, self.plane.prices[t]) - alpha;
            if step != 0.0 {
                violation = violation.max(gradient.abs());
                let gain = -step * (gradient + 0.5 * curvature * step);
                if gain > most {
                    (most, first) = (gain, Some(t));
                }
            }
        }
        first.map(|first| Move {
            first,
            second: None,
            violation,
        })
    }

    /// Moves what was chosen, and says by how much the dual objective rises.
    fn advance(&mut self, chosen: Move, pass: &mut Pass) -> f64 {
        let Move { first, second, .. } = chosen;
        let plane = self.plane;
        let place = |t: usize| plane.examples[t] as usize;
        let row = self.rows.row(place(first));
        let y = plane.signs[first];
        self.record(pass, first);
        let Some(second) = second else {
            let alpha = self.alphas[first];
            let curvature = self.own[first].max(FLAT);
            let moved = (alpha - self.gradient[first] / curvature).clamp(0.0, plane.prices[first]);
            self.alphas[first] = moved;
            let gain =
                -(moved - alpha) * (self.gradient[first] + 0.5 * curvature * (moved - alpha));
            let step = (moved - alpha) * y;
            for &t in &self.active {
                let t = t as usize;
                self.gradient[t] += plane.signs[t] * (step * row[place(t)]);
            }
            return gain;
        };
        self.record(pass, second);
        let other = self.rows.row(place(second));
        let z = plane.signs[second];
        let curvature = self.own[first] + self.own[second] - 2.0 * row[place(second)];
        let difference = z * self.gradient[second] - y * self.gradient[first];
        let room = |t: usize, up: bool| {
            if up == (plane.signs[t] > 0.0) {
                plane.prices[t] - self.alphas[t]
            } else {
                self.alphas[t]
            }
        };
        let step = (difference / curvature.max(FLAT))
            .min(room(first, true))
            .min(room(second, false));
        for (t, signed) in [(first, y * step), (second, -z * step)] {
            let moved = self.alphas[t] + signed;
            self.alphas[t] = moved.clamp(0.0, plane.prices[t]);
        }
        for &t in &self.active {
            let t = t as usize;
            self.gradient[t] += plane.signs[t] * (step * (row[place(t)] - other[place(t)]));
        }
        step * (difference - 0.5 * curvature * step)
    }

    /// An example's answer before its own step, without an unlifted bias.
    fn record(&self, pass: &mut Pass, t: usize) {
        pass.visits += 1;
        pass.updates += 1;
        count_margin(pass, self.gradient[t] + 1.0);
    }

    /// Leaves out examples that are pushed against their bound.
    fn shrink(&mut self) {
        let active = std::mem::take(&mut self.active);
        let kept = if self.unlifted {
            let pull = |t: u32| -self.plane.signs[t as usize] * self.gradient[t as usize];
            let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
            for &t in &active {
                let (up, down) = self.may_move(t as usize);
                highest = if up { highest.max(pull(t)) } else { highest };
                lowest = if down { lowest.min(pull(t)) } else { lowest };
            }
            let held = |t: u32| match self.may_move(t as usize) {
                (false, true) => pull(t) > highest,
                (true, false) => pull(t) < lowest,
                _ => false,
            };
            active.into_iter().filter(|&t| !held(t)).collect()
        } else {
            let violation = self.violation(&active);
            let held = |t: u32| {
                let t = t as usize;
                (self.alphas[t] <= 0.0 && self.gradient[t] > violation)
                    || (self.alphas[t] >= self.plane.prices[t] && self.gradient[t] < -violation)
            };
            active.into_iter().filter(|&t| !held(t)).collect()
        };
        self.active = kept;
    }

    /// The largest gradient among α that may follow it.
    fn violation(&self, places: &[u32]) -> f64 {
        let places = places.iter().map(|&t| t as usize);
        places.fold(0.0, |most: f64, t| {
            let (alpha, gradient) = (self.alphas[t], self.gradient[t]);
            let stays = (alpha <= 0.0 && gradient >= 0.0)
                || (alpha >= self.plane.prices[t] && gradient <= 0.0);
            if stays {
                most
            } else {
                most.max(gradient.abs())
            }
        })
    }

    /// Takes every example in again, with its gradient.
    fn unshrink(&mut self) {
        let n = self.plane.len();
        if self.active.len() == n {
            return;
        }
        let mut is_active = vec![false; n];
        self.active
            .iter()
            .for_each(|&t| is_active[t as usize] = true);
        let back: Vec<usize> = (0..n).filter(|&t| !is_active[t]).collect();
        let mut scores = vec![0.0; back.len()];
        for s in (0..n).filter(|&s| self.alphas[s] > 0.0) {
            let row = self.rows.row(self.plane.examples[s] as usize);
            let coefficient = self.alphas[s] * self.plane.signs[s];
            for (score, &t) in scores.iter_mut().zip(&back) {
                *score += coefficient * row[self.plane.examples[t] as usize];
            }
        }
        for (score, &t) in scores.iter().zip(&back) {
            self.gradient[t] = self.plane.signs[t] * score - 1.0;
        }
        self.active = (0..n as u32).collect();
    }

    /// The objectives, the bias they are measured at, ‖w‖² and the smallest margin.
    fn measure(&self) -> (Objective, f64, f64, f64) {
        let plane = self.plane;
        let margins = || self.gradient.iter().map(|g| g + 1.0);
        let total: f64 = self.alphas.iter().sum();
        let squared: f64 = self.alphas.iter().zip(margins()).map(|(a, m)| a * m).sum();
        // No square is negative, but where it is 0 rounding may make it so.
        let squared = squared.max(0.0);
        let bias = if self.unlifted {
            let scores: Vec<f64> = margins().zip(&plane.signs).map(|(m, y)| m * y).collect();
            best_bias(plane, &scores)
        } else {
            0.0
        };
        let with_bias = margins().zip(&plane.signs).map(|(m, y)| m + y * bias);
        let (objective, least) = Objective::of(plane, with_bias, squared, total, squared);
        (objective, bias, squared, least)
    }

    /// Whether a hard margin, if there is one, is below a ten-millionth of the radius.
    fn is_hopeless(&self, objective: Objective) -> bool {
        let radius = self.own.iter().copied().fold(0.0, f64::max);
        objective.dual * radius > 0.5e14 || objective.dual.is_nan()
    }

    fn finish(mut self, stop: Stop, passes: Vec<Pass>) -> Solution {
        let (objective, mut bias, mut squared_norm, least) = self.measure();
        if self.plane.is_hard() && objective.primal.is_finite() {
            // At the scale of the best dual bound w is within the gap of a margin of 1.
            let total: f64 = self.alphas.iter().sum();
            let scale = total / squared_norm;
            self.alphas.iter_mut().for_each(|a| *a *= scale);
            bias *= scale;
            squared_norm /= least * least;
        }
        Solution {
            alphas: self.alphas,
            weights: Vec::new(),
            bias,
            squared_norm,
            objective,
            stop,
            passes,
        }
    }
}
