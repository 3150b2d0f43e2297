//! Linear planes: dual coordinate descent, with conjugate gradients on the free face.
//!
//! *Rule.* The dual is to minimise ½αᵀQα − Σα over 0 ≤ α_i ≤ C_i, Q_ij = y_i y_j(x_i·x_j + κ),
//! with w = Σ α_i y_i x_i always at hand. A visit sets α_i to its best value given the rest,
//! α_i ← clip(α_i − G_i/Q_ii), G_i = y_i s_i − 1. Examples that sit at a bound and are pushed
//! against it are left out of the following passes (shrinking); one that merely had nothing
//! to do sits out 1, 3, 7, then 15 passes, so that visits go where α still moves (after
//! Glasmachers & Dogan, 2013).
//!
//! Coordinate descent soon knows which α lie at a bound and is then slow to settle the
//! others. So passes take turns with steps on the face of the free ones: conjugate gradients
//! as on an unbounded quadratic, then back along the path's projection into the box until
//! the objective has fallen enough (Moré & Toraldo, 1991). Whichever has lately gained more
//! for each row visited goes next.
//!
//! A lifted bias is κ = 1, none is κ = 0. A bias that ½‖w‖² leaves out is found by proximal
//! steps: with b held near a centre b₀ at a price of (b − b₀)²/2κ, which is coordinate
//! descent as before with b = b₀ + κ Σ α_i y_i, and then with the centre moved to b. At rest
//! Σ α_i y_i = 0, as the problem without that price asks.
//!
//! *Guarantee.* A run ends when primal − dual ≤ tolerance·primal, both computed from what is
//! saved.
//!
//! *Reference.* C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A
//! dual coordinate descent method for large-scale linear SVM", ICML (2008); T. Glasmachers and
//! Ü. Dogan, "Accelerated coordinate descent with adaptive coordinate frequencies", ACML (2013);
//! J. J. Moré and G. Toraldo, "On the solution of large quadratic programming problems with
//! bound constraints", SIAM J. Optimization 1 (1991).

use super::conjugate_gradients::{QuadraticStep, conjugate_gradients};
use super::limits::{PassCallback, SearchLimits, count_margin};
use super::linear::LinearProblem;
use super::newton::NewtonEnd;
use super::plane::{Objective, Solution};
use super::skip::SkipCount;
use crate::data::{Row, Rows};
use crate::error::Result;
use crate::progress::{Pass, Stop};
use crate::random::{Random, Stream};
use crate::training::{BLOCK, SampleWeights};

/// How many visits ahead rows are asked for.
const AHEAD: usize = 4;

/// Data of at most so many bytes need not be asked for: the first cache holds them.
const NEAR: usize = 1 << 16;

/// Curvature, for a unit of length, that cannot be told from none.
const FLAT: f64 = 1e-14;

/// A linear plane on its way.
pub(super) struct Descent<'a> {
    problem: LinearProblem<'a>,
    rows: Rows<'a>,
    /// Whether rows are fetched before they are needed.
    prefetches: bool,
    /// What the bias adds to every product.
    kappa: f64,
    /// b₀: where an unlifted bias is held near.
    center: f64,
    /// Q_ii.
    squares: Vec<f64>,
    /// 1/Q_ii.
    inverses: Vec<f64>,
    alphas: Vec<f64>,
    w: Vec<f64>,
    /// Σ α_i y_i.
    lean: f64,
    b: f64,
    /// The examples that take part in passes, ascending.
    active: Vec<u32>,
    /// How many passes each of them sits out.
    skips: Vec<SkipCount>,
    /// The largest and smallest projected gradient of the last pass: beyond them an example
    /// at its bound is left out.
    high: f64,
    low: f64,
    /// What was done before.
    passes: Vec<Pass>,
}

/// What a step cost and brought.
#[derive(Debug, Clone, Copy, Default)]
struct StepGain {
    /// By how much the dual objective fell.
    gain: f64,
    /// Rows visited.
    rows: f64,
}

impl StepGain {
    fn rate(self) -> f64 {
        self.gain / self.rows.max(1.0)
    }
}

impl<'a> Descent<'a> {
    pub(super) fn new(problem: LinearProblem<'a>, sample_weights: &SampleWeights<'_>) -> Self {
        let LinearProblem { data, plane, .. } = problem;
        let examples = plane.examples.iter();
        let mut squares: Vec<f64> = examples
            .map(|&i| sample_weights.squared_norm(i as usize))
            .collect();
        let kappa = problem.kappa(sample_weights);
        squares.iter_mut().for_each(|s| *s += kappa);
        Descent {
            problem,
            rows: problem.rows(),
            prefetches: data.matrix.bytes() > NEAR,
            kappa,
            center: 0.0,
            inverses: squares.iter().map(|s| 1.0 / s).collect(),
            squares,
            alphas: vec![0.0; plane.len()],
            w: vec![0.0; data.features()],
            lean: 0.0,
            b: 0.0,
            active: (0..plane.len() as u32).collect(),
            skips: vec![SkipCount::default(); plane.len()],
            high: f64::INFINITY,
            low: f64::NEG_INFINITY,
            passes: Vec::new(),
        }
    }

    /// Goes on from where another method ended.
    pub(super) fn begin_at(&mut self, ended: NewtonEnd) {
        (self.alphas, self.passes) = (ended.alphas, ended.passes);
        let places = self.alphas.iter().copied().enumerate();
        (self.w, self.lean) = self.problem.combination(places);
        self.b = self.kappa * self.lean;
    }

    /// Descends until the gap is closed or something else stops it.
    pub(super) fn go(
        mut self,
        limits: &mut SearchLimits<'_>,
        on_pass: PassCallback<'_>,
    ) -> Result<Solution> {
        let mut passes = std::mem::take(&mut self.passes);
        let mut visits = passes.iter().map(|p| p.visits.max(1)).sum();
        let mut face = StepGain::default();
        let (mut wait, mut waited) = (12, 0);
        // What passes are to bring the largest violation below before the gap is measured.
        let mut goal = 0.1;
        let all = self.problem.plane.len() as f64;
        let mut visited = 0.0;
        // Rows visited since the gap was measured, and after how many it is measured again.
        let (mut unmeasured, mut enough) = (0.0, 8.0 * all);
        let (mut last, mut smallest, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
        let unlifted = self.problem.is_unlifted();
        let stop = loop {
            if let Some(stop) = limits.reached(passes.len(), visits, self.problem.plane.len()) {
                break stop;
            }
            let (mut pass, descent) = self.pass(limits, passes.len() as u64);
            unmeasured += descent.rows.max(1.0);
            visited += descent.rows;
            let violation = self.violation();
            if unlifted && violation <= (self.kappa * self.lean).abs() {
                self.recentre();
            }
            waited += 1;
            let mut due = violation > 0.0 && (waited >= wait || face.rate() > descent.rate());
            let mut turns = 0;
            while due {
                face = self.on_the_face(&mut pass, limits);
                unmeasured += face.rows;
                turns += 1;
                due = turns < 20 && face.gain > 0.0 && face.rate() > descent.rate();
                wait = if due { 2 } else { (wait * 2).min(64) };
                waited = 0;
            }
            on_pass(&pass)?;
            visits += pass.visits.max(1);
            passes.push(pass);
            if limits.updates_left == 0 {
                break Stop::UpdateLimit;
            }
            if violation <= goal || unmeasured > enough {
                let (gap, tolerance) = (self.sweep().relative_gap(), limits.settings.tolerance);
                if gap <= tolerance
                    && self
                        .problem
                        .is_within_tolerance(&mut self.alphas, tolerance)
                {
                    break Stop::Converged;
                }
                // When it would be closed if it went on shrinking at this pace, but not too soon,
                // for measuring costs a visit to every row, and not too late.
                let at_this_pace = unmeasured * libm::log(gap / tolerance) / libm::log(last / gap);
                let most = 8.0 * all + 0.25 * visited;
                enough = if gap < last {
                    at_this_pace.clamp(2.0 * all, most)
                } else {
                    most
                };
                (last, unmeasured) = (gap, 0.0);
                if violation <= goal {
                    goal = violation * (0.5 * tolerance / gap).clamp(0.01, 0.5);
                }
                // Where nothing moves and nothing gets better, rounding has the last word.
                let leaning = unlifted && (self.kappa * self.lean).abs() > 1e-12;
                let moving = gap < smallest || violation > 1e-12 || leaning;
                idle = if moving { 0 } else { idle + 1 };
                smallest = smallest.min(gap);
                if idle > 20 {
                    break Stop::Stalled;
                }
            }
        };
        Ok(self.problem.solution(self.alphas, stop, passes))
    }

    /// How far the last pass found an example from its optimum.
    fn violation(&self) -> f64 {
        if self.high.is_finite() || self.low.is_finite() {
            self.high.max(0.0).max(-self.low)
        } else {
            0.0
        }
    }

    /// One visit to every active example, in a new order.
    fn pass(&mut self, limits: &mut SearchLimits<'_>, epoch: u64) -> (Pass, StepGain) {
        let mut pass = Pass::default();
        let mut gain = 0.0;
        let bounds = (
            if self.low < 0.0 {
                self.low
            } else {
                f64::NEG_INFINITY
            },
            if self.high > 0.0 {
                self.high
            } else {
                f64::INFINITY
            },
        );
        (self.high, self.low) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut left_out = 0;
        let mut order = std::mem::take(&mut self.active);
        let mut random = Random::new(limits.limits.options.seed, Stream::Order, epoch);
        let blocks = order.len().div_ceil(BLOCK);
        let mut sequence: Vec<u32> = (0..blocks as u32).collect();
        random.shuffle(&mut sequence);
        let mut visits = [0; BLOCK];
        'blocks: for block in sequence {
            let range = block as usize * BLOCK..(block as usize * BLOCK + BLOCK).min(order.len());
            let mut due = 0;
            for place in range {
                visits[due] = place as u32;
                due += usize::from(self.skips[order[place] as usize].is_over());
            }
            let visits = &mut visits[..due];
            mix(&mut random, visits);
            for (k, &place) in visits.iter().enumerate() {
                if self.prefetches
                    && let Some(&next) = visits.get(k + AHEAD)
                {
                    self.row(order[next as usize] as usize).prefetch();
                }
                let t = order[place as usize] as usize;
                let row = self.row(t);
                // The bias last: it is the last to be known.
                let margin = self.problem.plane.signs[t] * (row.dot(&self.w, 0.0) + self.b);
                let Some(projected) = self.projected_gradient(t, margin - 1.0, bounds) else {
                    order[place as usize] = u32::MAX;
                    left_out += 1;
                    continue;
                };
                pass.visits += 1;
                count_margin(&mut pass, margin);
                self.high = self.high.max(projected);
                self.low = self.low.min(projected);
                if projected == 0.0 {
                    self.skips[t].lengthen();
                    continue;
                }
                self.skips[t].shorten();
                let Some(by) = self.step(t, row, margin - 1.0) else {
                    continue;
                };
                gain += by;
                pass.updates += 1;
                limits.updates_left -= 1;
                if limits.updates_left == 0 {
                    break 'blocks;
                }
            }
        }
        let rows = (pass.visits + left_out) as f64;
        if left_out > 0 {
            order.retain(|&t| t != u32::MAX);
        }
        self.active = order;
        (pass, StepGain { gain, rows })
    }

    /// How far α may follow this gradient within its bounds; `None` if it sits at one and is
    /// pushed against it by more than the last pass found anywhere.
    #[inline(always)]
    fn projected_gradient(&self, t: usize, gradient: f64, (low, high): (f64, f64)) -> Option<f64> {
        let (alpha, price) = (self.alphas[t], self.problem.plane.prices[t]);
        if (alpha <= 0.0 && gradient > high) || (alpha > 0.0 && alpha >= price && gradient < low) {
            None
        } else if alpha <= 0.0 {
            Some(gradient.min(0.0))
        } else if alpha >= price {
            Some(gradient.max(0.0))
        } else {
            Some(gradient)
        }
    }

    /// Sets α of example `t` to its best value given the rest; what is gained, if it moves.
    #[inline(always)]
    fn step(&mut self, t: usize, row: Row<'_>, gradient: f64) -> Option<f64> {
        let alpha = self.alphas[t];
        let best = (alpha - gradient * self.inverses[t]).clamp(0.0, self.problem.plane.prices[t]);
        let step = best - alpha;
        if step == 0.0 {
            return None;
        }
        self.alphas[t] = best;
        let signed = step * self.problem.plane.signs[t];
        row.add_to(&mut self.w, signed);
        self.lean += signed;
        self.b += self.kappa * step * self.problem.plane.signs[t];
        Some(-(step * (gradient + 0.5 * self.squares[t] * step)))
    }

    /// Moves the centre of an unlifted bias to where the bias is.
    fn recentre(&mut self) {
        self.center = self.b;
        self.b = self.center + self.kappa * self.lean;
    }

    /// Conjugate gradients on the free variables, projected into the box.
    fn on_the_face(&mut self, pass: &mut Pass, limits: &mut SearchLimits<'_>) -> StepGain {
        let free: Vec<usize> = self
            .active
            .iter()
            .map(|&t| t as usize)
            .filter(|&t| self.alphas[t] > 0.0 && self.alphas[t] < self.problem.plane.prices[t])
            .collect();
        if free.is_empty() || free.len() as u64 >= limits.updates_left {
            return StepGain::default();
        }
        let gradient: Vec<f64> = free
            .iter()
            .map(|&t| self.margin(t, &self.w, self.b) - 1.0)
            .collect();
        let mut rows = free.len() as f64;
        let QuadraticStep { step, .. } = conjugate_gradients(
            gradient.iter().map(|g| -g).collect(),
            FLAT,
            |direction| {
                let (v, tilt, curvature) = self.combine(&free, direction);
                rows += 2.0 * free.len() as f64;
                let image = free.iter().map(|&t| self.margin(t, &v, tilt));
                (image.collect(), curvature)
            },
            |step| {
                free.iter().zip(step).any(|(&t, step)| {
                    let at = self.alphas[t] + step;
                    at < 0.0 || at > self.problem.plane.prices[t]
                })
            },
        );
        let mut length = 1.0;
        for _ in 0..8 {
            let change: Vec<f64> = free
                .iter()
                .zip(&step)
                .map(|(&t, s)| {
                    let alpha = self.alphas[t];
                    (alpha + length * s).clamp(0.0, self.problem.plane.prices[t]) - alpha
                })
                .collect();
            let (v, tilt, curvature) = self.combine(&free, &change);
            rows += free.len() as f64;
            let slope: f64 = gradient.iter().zip(&change).map(|(g, c)| g * c).sum();
            let gain = -(slope + 0.5 * curvature);
            if slope < 0.0 && gain >= -1e-2 * slope {
                for (&t, change) in free.iter().zip(&change) {
                    let price = self.problem.plane.prices[t];
                    self.alphas[t] = (self.alphas[t] + change).clamp(0.0, price);
                    self.lean += change * self.problem.plane.signs[t];
                }
                for (w, v) in self.w.iter_mut().zip(&v) {
                    *w += v;
                }
                self.b += tilt;
                pass.updates += free.len() as u64;
                limits.updates_left -= free.len() as u64;
                return StepGain { gain, rows };
            }
            length *= 0.5;
        }
        StepGain { gain: 0.0, rows }
    }

    /// The features of example `t`.
    #[inline(always)]
    fn row(&self, t: usize) -> Row<'a> {
        self.rows.row(self.problem.plane.examples[t] as usize)
    }

    /// y·(x·w + b) of example `t` by weights w and bias b.
    fn margin(&self, t: usize, w: &[f64], b: f64) -> f64 {
        self.problem.plane.signs[t] * self.row(t).dot(w, b)
    }

    /// v = Σ a_t y_t x_t, what it adds to the bias, and aᵀQa.
    fn combine(&self, examples: &[usize], a: &[f64]) -> (Vec<f64>, f64, f64) {
        let places = examples.iter().copied().zip(a.iter().copied());
        let (v, lean) = self.problem.combination(places);
        let squared = v.iter().fold(self.kappa * lean * lean, |s, x| s + x * x);
        (v, self.kappa * lean, squared)
    }

    /// Measures the objectives and looks at every example anew: those that are held at a
    /// bound by more than the last violation stay out of the passes to come.
    fn sweep(&mut self) -> Objective {
        let violation = self.violation();
        let scores = self.problem.scores(&self.problem.plane.examples, &self.w);
        self.active.clear();
        self.skips.fill(SkipCount::default());
        for (t, score) in scores.iter().enumerate() {
            let gradient = self.problem.plane.signs[t] * (score + self.b) - 1.0;
            let held = (self.alphas[t] <= 0.0 && gradient > violation)
                || (self.alphas[t] >= self.problem.plane.prices[t] && gradient < -violation);
            if !held {
                self.active.push(t as u32);
            }
        }
        (self.high, self.low) = (f64::INFINITY, f64::NEG_INFINITY);
        let problem = self.problem;
        problem.measure(&self.alphas, &self.w, &scores).objective
    }
}

/// A new order of a block of visits (Fisher and Yates), two draws from each 64 bits.
fn mix(random: &mut Random, visits: &mut [u32]) {
    let mut bits = random.bits();
    for i in (1..visits.len()).rev() {
        bits = if i & 1 == 1 {
            random.bits()
        } else {
            bits >> 32
        };
        let j = ((bits & 0xFFFF_FFFF) * (i as u64 + 1)) >> 32;
        visits.swap(i, j as usize);
    }
}
