//! Newton's method for a smooth loss and a penalty.

use super::{Penalty, cost};
use crate::progress::{Limits, Pass, Stop};

/// Of the fall that the slope promises, so much must come true.
const ENOUGH: f64 = 0.01;

/// A fall of this part of the objective may be lost in rounding, though slopes still improve.
const ROUNDING: f64 = 1e-13;

/// So many steps in a row whose falls are lost lead nowhere.
const LOST: usize = 10;

/// Conjugate gradients leave this part of the residual, or less where little is left to do.
const LOOSEST: f64 = 0.3;

/// What Newton's method asks of a loss, a convex function of scores that are linear in w.
pub(super) trait Loss {
    /// How many numbers w is.
    fn unknowns(&self) -> usize;

    /// The scores of all examples by `v`.
    fn scores(&self, v: &[f64]) -> Vec<f64>;

    /// The loss at these scores.
    fn value(&self, scores: &[f64]) -> f64;

    /// The same, and how it changes there.
    fn slope(&self, scores: &[f64]) -> Slope;

    /// Minus the conjugate of the loss at its own slope times `scale`, at most 1.
    fn bound(&self, slope: &Slope, scale: f64) -> f64;

    /// The way from `w` to about where the penalty and the quadratic that agrees with the loss are
    /// least together; to this part of the residual, where it is found step by step.
    fn direction(&mut self, w: &[f64], slope: &Slope, enough: f64, limits: &Limits<'_>)
    -> Vec<f64>;

    /// What the examples were met with.
    fn pass(&self, scores: &[f64]) -> Pass;
}

/// A loss where w is.
pub(super) struct Slope {
    pub loss: f64,
    /// By how much it falls with each score, or what says that.
    pub shares: Vec<f64>,
    /// Its curvature, where that is not in the shares.
    pub curvatures: Vec<f64>,
    /// Minus its gradient.
    pub pull: Vec<f64>,
}

/// The weights found, and how.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub w: Vec<f64>,
    pub stop: Stop,
    pub passes: Vec<Pass>,
}

/// Minimises the penalty plus the loss, from w = 0, until the gap is closed or something else stops
/// it.
pub(super) fn minimise(
    mut loss: impl Loss,
    penalty: Penalty,
    tolerance: f64,
    limits: Limits<'_>,
    on_pass: &mut dyn FnMut(&Pass),
) -> Found {
    let mut w = vec![0.0; loss.unknowns()];
    let mut scores = loss.scores(&w);
    // Scores that were added up step by step have rounded more often than those that the model
    // will give.
    let mut summed_anew = true;
    let mut passes: Vec<Pass> = Vec::new();
    let mut lost = 0;
    let stop = loop {
        if let Some(stop) = limits.now() {
            break stop;
        }
        if passes.len() as u64 >= limits.epochs {
            break Stop::EpochLimit;
        }
        let slope = loss.slope(&scores);
        let primal = cost(penalty, &w) + slope.loss;
        let gap = match penalty {
            // A slope above 1 bounds nothing, so all are made smaller by as much.
            Penalty::L1 => {
                let steepest = slope.pull.iter().fold(1.0, |a: f64, v| a.max(v.abs()));
                primal - loss.bound(&slope, 1.0 / steepest)
            }
            // Half the square of the gradient.
            _ => {
                let each = w.iter().zip(&slope.pull);
                0.5 * each.fold(0.0, |sum, (w, v)| sum + (w - v) * (w - v))
            }
        };
        let converged = gap <= tolerance * primal;
        if converged && !summed_anew {
            scores = loss.scores(&w);
            summed_anew = true;
            continue;
        }
        let mut pass = loss.pass(&scores);
        if converged {
            on_pass(&pass);
            passes.push(pass);
            break Stop::Converged;
        }
        let enough = LOOSEST.min((gap / primal).sqrt().sqrt());
        let direction = loss.direction(&w, &slope, enough, &limits);
        let fall = step(&loss, penalty, &direction, &slope, &mut w, &mut scores);
        summed_anew = false;
        pass.updates = u64::from(fall.is_some());
        on_pass(&pass);
        passes.push(pass);
        lost = match fall {
            Some(fall) if fall > ROUNDING * primal => 0,
            _ => lost + 1,
        };
        if fall.is_none() || lost == LOST {
            // An interrupt may have come before there was a direction.
            break limits.now().unwrap_or(Stop::Stalled);
        }
    };
    Found { w, stop, passes }
}

/// Goes along `direction` until the objective has fallen enough; gives the fall that the slope
/// promised, or nothing where there is none.
fn step(
    loss: &impl Loss,
    penalty: Penalty,
    direction: &[f64],
    slope: &Slope,
    w: &mut Vec<f64>,
    scores: &mut Vec<f64>,
) -> Option<f64> {
    let sum = |a: &[f64], b: &[f64], length: f64| -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| a + length * b).collect()
    };
    let size = cost(penalty, w);
    let of_penalty = match penalty {
        Penalty::L1 => cost(penalty, &sum(w, direction, 1.0)) - size,
        _ => dot(direction, w),
    };
    let promised = of_penalty - dot(direction, &slope.pull);
    let before = size + slope.loss;
    if promised.is_nan() || promised > ROUNDING * before {
        return None;
    }
    let along = loss.scores(direction);
    let mut length = 1.0;
    for _ in 0..60 {
        let (to, there) = (sum(w, direction, length), sum(scores, &along, length));
        let after = cost(penalty, &to) + loss.value(&there);
        if after - before <= ENOUGH * length * promised + ROUNDING * before {
            (*w, *scores) = (to, there);
            return Some(-promised);
        }
        length *= 0.5;
    }
    None
}

/// Solves (I + H) d = r by conjugate gradients (Hestenes & Stiefel, 1952), to this part of r;
/// `curved` gives (I + H)v, and `precondition` about the v of which it is that. Gives d and the
/// number of steps.
pub(super) fn conjugate_gradients(
    mut residual: Vec<f64>,
    precondition: impl Fn(&[f64]) -> Vec<f64>,
    enough: f64,
    limits: &Limits<'_>,
    curved: impl Fn(&[f64]) -> Vec<f64>,
) -> (Vec<f64>, usize) {
    let mut step = vec![0.0; residual.len()];
    let mut preconditioned = precondition(&residual);
    let mut direction = preconditioned.clone();
    let mut squared = dot(&residual, &preconditioned);
    let goal = squared * enough * enough;
    let mut steps = 0;
    while steps < residual.len().max(10) {
        if squared <= goal || squared == 0.0 || limits.now().is_some() {
            break;
        }
        steps += 1;
        let image = curved(&direction);
        let amount = squared / dot(&direction, &image);
        for (k, image) in image.iter().enumerate() {
            step[k] += amount * direction[k];
            residual[k] -= amount * image;
        }
        preconditioned = precondition(&residual);
        let next = dot(&residual, &preconditioned);
        let ratio = next / squared;
        for (p, z) in direction.iter_mut().zip(&preconditioned) {
            *p = z + ratio * *p;
        }
        squared = next;
    }
    (step, steps)
}

/// Divides by a mean of 1 and the diagonal of H (Hsia, Chiang & Lin, 2018).
pub(super) fn by_diagonal(diagonal: &[f64]) -> impl Fn(&[f64]) -> Vec<f64> {
    const SHARE: f64 = 0.01;
    move |r| {
        let each = r.iter().zip(diagonal);
        each.map(|(r, h)| r / (1.0 + SHARE * h)).collect()
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + x * y)
}
