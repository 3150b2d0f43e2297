//! Hard linear margins: the point of a hull nearest to the origin.
//!
//! *Rule.* The plane of largest margin stands across the shortest way: from the origin to the
//! hull of the signed examples y_i·(1, x_i) or y_i·x_i, or, where the bias has no price, from
//! the hull of one class to that of the other, which is from the origin to the hull of the
//! differences x_i − x_j. Wolfe's method finds the nearest point of a working set; the
//! examples that its plane has nearest, or on the wrong side, join the set, until none is
//! nearer than the tolerance allows. Where differences are meant, the pair of lowest score
//! joins: there are too many to write down.
//!
//! *Cost.* A pass over the data a round, and O(working set × features) a step between.
//!
//! *Reference.* P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming
//! 11 (1976).

use std::collections::HashSet;

use super::limits::{PassCallback, SearchLimits, count_margin};
use super::linear::LinearProblem;
use super::plane::Solution;
use crate::error::Result;
use crate::geometry::nearest_point::{NearestPoint, Walk};
use crate::options::Bias;
use crate::progress::{Pass, Stop};

/// Beyond this many numbers in a corral, coordinate descent without bounds is the better way.
const MOST_NUMBERS: usize = 50_000_000;

/// A point of the hull: an example, or the difference from the first of two to the second.
type Vertex = (u32, Option<u32>);

/// Whether corrals stay small enough for this to be the way.
pub(super) fn is_worthwhile(problem: LinearProblem<'_>) -> bool {
    let LinearProblem { data, plane, .. } = problem;
    data.features() * data.features().min(plane.len()) <= MOST_NUMBERS
}

/// The plane of largest margin; `None` if no plane with a margin was found.
pub(super) fn solve(
    problem: LinearProblem<'_>,
    limits: &mut SearchLimits<'_>,
    on_pass: PassCallback<'_>,
) -> Result<Option<Solution>> {
    let dimension = problem.data.features() + usize::from(problem.bias == Bias::Lifted);
    Hull {
        problem,
        dimension,
        nearest: NearestPoint::new(dimension, Vec::new()),
        vertices: Vec::new(),
        known: HashSet::new(),
    }
    .go(limits, on_pass)
}

struct Hull<'a> {
    problem: LinearProblem<'a>,
    dimension: usize,
    nearest: NearestPoint,
    vertices: Vec<Vertex>,
    known: HashSet<Vertex>,
}

impl Hull<'_> {
    fn go(
        mut self,
        limits: &mut SearchLimits<'_>,
        on_pass: PassCallback<'_>,
    ) -> Result<Option<Solution>> {
        const STEPS: usize = 5000;
        let longest = self.longest();
        if longest == 0.0 {
            return Ok(None);
        }
        let mut passes: Vec<Pass> = Vec::new();
        let everything = (0..self.problem.plane.len()).map(|t| (t, 1.0));
        let (v, lean) = self.problem.combination(everything);
        let towards = self.problem.scores(&self.problem.plane.examples, &v);
        let mut joined = self.join(&towards, lean, longest);
        let mut alphas = Vec::new();
        let mut shortest = f64::INFINITY;
        let stop = loop {
            if let Some(stop) = limits.reached(passes.len(), passes.len() as u64, 1) {
                break stop;
            }
            let ratio = 1.0 - limits.settings.tolerance.max(1e-13) / 8.0;
            if self.nearest.walk(ratio, 1e-13, STEPS) == Walk::Origin {
                return Ok(None);
            }
            let length: f64 = self.nearest.nearest().iter().map(|x| x * x).sum();
            alphas = self.alphas();
            let places = alphas.iter().copied().enumerate();
            let (w, lean) = self.problem.combination(places);
            let scores = self.problem.scores(&self.problem.plane.examples, &w);
            let found = self.problem.measure(&alphas, &w, &scores);
            let pass = self.record(&scores, found.bias, joined, limits);
            on_pass(&pass)?;
            passes.push(pass);
            if found.objective.relative_gap() <= limits.settings.tolerance {
                break Stop::Converged;
            }
            if limits.updates_left == 0 {
                break Stop::UpdateLimit;
            }
            joined = self.join(&scores, lean, longest);
            if joined == 0 && length >= shortest * (1.0 - 1e-12) {
                if found.objective.primal.is_finite() {
                    break Stop::Stalled;
                }
                return Ok(None);
            }
            shortest = length;
        };
        if alphas.is_empty() {
            alphas = vec![0.0; self.problem.plane.len()];
        }
        Ok(Some(self.problem.solution(alphas, stop, passes)))
    }

    /// The length of the longest row.
    fn longest(&self) -> f64 {
        let lift = self.problem.bias.lift();
        let squares = self.problem.plane.examples.iter();
        squares
            .map(|&i| self.problem.data.row(i as usize).squared_norm() + lift)
            .fold(0.0, f64::max)
            .sqrt()
    }

    /// Takes the vertices of lowest score that are new into the working set; how many.
    fn join(&mut self, scores: &[f64], lean: f64, longest: f64) -> u64 {
        let batch = self.dimension.clamp(16, 128);
        let lift = if self.problem.bias == Bias::Lifted {
            lean
        } else {
            0.0
        };
        let lowest = |sign: Option<f64>| {
            let mut all: Vec<(f64, u32)> = (0..self.problem.plane.len())
                .filter(|&t| sign.is_none_or(|s| self.problem.plane.signs[t] == s))
                .map(|t| (self.problem.plane.signs[t] * (scores[t] + lift), t as u32))
                .collect();
            let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if all.len() > batch {
                all.select_nth_unstable_by(batch, order);
                all.truncate(batch);
            }
            all.sort_by(order);
            all.into_iter().map(|(_, t)| t)
        };
        let found: Vec<Vertex> = if self.problem.is_unlifted() {
            let pairs = lowest(Some(1.0)).zip(lowest(Some(-1.0)));
            pairs
                .map(|(example, other)| (example, Some(other)))
                .collect()
        } else {
            lowest(None).map(|example| (example, None)).collect()
        };
        let mut joined = 0;
        for vertex in found {
            if self.known.insert(vertex) {
                let at = self.point(vertex, longest);
                self.nearest.add(self.vertices.len(), at, false);
                self.vertices.push(vertex);
                joined += 1;
            }
        }
        joined
    }

    /// A vertex written out, in units of the longest row.
    fn point(&self, vertex: Vertex, longest: f64) -> Vec<f64> {
        let lift = usize::from(self.problem.bias == Bias::Lifted);
        let mut at = vec![0.0; self.dimension];
        for t in std::iter::once(vertex.0).chain(vertex.1) {
            let sign = self.problem.plane.signs[t as usize];
            let i = self.problem.plane.examples[t as usize] as usize;
            if lift == 1 {
                at[0] += sign / longest;
            }
            let row = self.problem.data.row(i);
            row.for_each(|j, x| at[j + lift] += sign * x / longest);
        }
        at
    }

    /// α in units that do not matter: convex weights of the vertices.
    fn alphas(&self) -> Vec<f64> {
        let mut alphas = vec![0.0; self.problem.plane.len()];
        for (k, weight) in self.nearest.convex() {
            let vertex = self.vertices[k];
            for t in std::iter::once(vertex.0).chain(vertex.1) {
                alphas[t as usize] += weight.max(0.0);
            }
        }
        alphas
    }

    fn record(
        &self,
        scores: &[f64],
        bias: f64,
        joined: u64,
        limits: &mut SearchLimits<'_>,
    ) -> Pass {
        let mut pass = Pass {
            visits: self.problem.plane.len() as u64,
            updates: joined,
            ..Pass::default()
        };
        limits.updates_left = limits.updates_left.saturating_sub(joined);
        for (score, sign) in scores.iter().zip(&self.problem.plane.signs) {
            count_margin(&mut pass, sign * (score + bias));
        }
        pass
    }
}
