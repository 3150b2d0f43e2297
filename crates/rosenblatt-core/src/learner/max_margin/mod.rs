//! The plane of largest margin: support vector machines, hard and soft.
//!
//! *Rule.* Soft margin: minimise ½‖w‖² + Σ C_i max(0, 1 − y_i s_i), C_i = C·c_i. Hard margin
//! (no C): minimise ½‖w‖² subject to y_i s_i ≥ 1, which is the plane farthest from the
//! examples. A lifted bias counts in ‖w‖, an unlifted one does not. The dual is to maximise
//! Σα_i − ½Σ α_i α_j y_i y_j K_ij over 0 ≤ α_i ≤ C_i, with Σ α_i y_i = 0 where the bias is
//! unlifted; w = Σ α_i y_i φ(x_i). Examples with α_i > 0 are the support vectors.
//!
//! *Guarantee.* w is unique. Any α bounds the optimum from below and any w from above; a run
//! ends when the two differ by no more than the tolerance, and both are reported. A hard
//! margin exists iff the examples are separable; a session that was given a test of that
//! refuses examples that are not, with the reason.
//!
//! *Cost.* Linear: O(non-zeros) a pass over the examples that still move; with few features
//! Newton's steps, of which a few dozen suffice. Kernels: a row of
//! the Gram matrix for each support vector while memory lasts, O(examples) a step. Hard
//! linear margins: Wolfe's method on a growing working set.
//!
//! *Reference.* B. E. Boser, I. M. Guyon and V. N. Vapnik, "A training algorithm for optimal
//! margin classifiers", COLT (1992); C. Cortes and V. Vapnik, "Support-vector networks",
//! Machine Learning 20 (1995). Each solver names its own.

mod cholesky;
mod conjugate_gradients;
mod descent;
mod equal_rows;
mod hull;
mod kernel_rows;
mod learner;
mod limits;
mod linear;
mod newton;
mod plane;
mod skip;
mod smo;

pub use self::learner::MaxMargin;

pub(super) use self::cholesky::{DenseSystem, Factors};
pub(super) use self::limits::count_margin;
pub(super) use self::linear::LinearProblem;
pub(super) use self::plane::Plane;

use self::descent::Descent;
use self::equal_rows::Merged;
use self::kernel_rows::KernelRows;
use self::limits::{PassCallback, SearchLimits};
use self::newton::Newton;
use self::plane::{Objective, Solution};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::{Decision, DualLog, KernelModel, Optimum, SupportVectors};
use crate::options::{Bias, Options, Readout};
use crate::progress::{Limits, Pass, Progress, Stop};
use crate::readout::LogEntry;
use crate::scheme::Scheme;
use crate::training::{
    MarginBracket, Resources, SampleWeights, Separability, SeparabilityQuestion, SeparabilityTest,
    Snapshot,
};
use crate::weights::Weights;

/// The planes of largest margin of a data set.
pub(crate) struct MarginSearch<'a> {
    data: &'a Dataset,
    sample_weights: &'a SampleWeights<'a>,
    scheme: Scheme,
    settings: &'a MaxMargin,
    options: &'a Options,
    resources: Resources,
    separability_test: Option<SeparabilityTest>,
    planes: Vec<(Plane, Solution)>,
}

impl<'a> MarginSearch<'a> {
    /// Finds the planes one after the other, or several at once where nobody has to be told.
    pub(crate) fn go(
        &mut self,
        limits: Limits<'_>,
        progress: &mut Progress,
        mut tell: impl FnMut(&Progress),
    ) -> Result<Stop> {
        let k = self.scheme.discriminators();
        let mut limits = SearchLimits {
            settings: self.settings,
            limits,
            updates_left: self.options.max_updates.unwrap_or(u64::MAX),
        };
        let mut kernel_rows = self.settings.kernel.map(|kernel| {
            let constant = self.options.bias().lift();
            KernelRows::new(self.data, kernel, constant, self.resources)
        });
        let together = k > 1 && kernel_rows.is_none() && self.options.max_updates.is_none();
        if together && self.resources.threads > 1 {
            let mut found: Vec<Option<Result<(Plane, Solution)>>> = (0..k).map(|_| None).collect();
            let this = &*self;
            crate::parallel::chunks(&mut found, 1, this.resources.threads, || {
                |d: usize, out: &mut [Option<_>]| {
                    let mut limits = limits;
                    out[0] = Some(this.solve(d, &mut limits, None, &mut |_| Ok(())));
                }
            });
            for plane in found.into_iter().flatten() {
                let plane = plane?;
                plane.1.passes.iter().enumerate().for_each(|(epoch, pass)| {
                    record(progress, epoch, pass);
                });
                self.planes.push(plane);
            }
        } else {
            for d in 0..k {
                let mut epoch = 0;
                let plane = self.solve(d, &mut limits, kernel_rows.as_mut(), &mut |pass| {
                    record(progress, epoch, pass);
                    epoch += 1;
                    tell(progress);
                    Ok(())
                })?;
                self.planes.push(plane);
            }
        }
        let stops = self.planes.iter().map(|(_, solution)| solution.stop);
        Ok(stops
            .into_iter()
            .find(|stop| *stop != Stop::Converged)
            .unwrap_or(Stop::Converged))
    }

    fn solve(
        &self,
        d: usize,
        limits: &mut SearchLimits<'_>,
        kernel_rows: Option<&mut KernelRows<'_>>,
        on_pass: PassCallback<'_>,
    ) -> Result<(Plane, Solution)> {
        let (data, settings, options) = (self.data, self.settings, self.options);
        let whole = Plane::new(data, self.sample_weights, self.scheme, d, settings.c);
        let distinct = Merged::of(data, settings.kernel, &whole);
        let plane = &distinct.plane;
        let problem = LinearProblem {
            data,
            plane,
            bias: options.bias(),
        };
        let unlifted = problem.is_unlifted();
        // Limits that somebody set are for them to judge.
        let found_none = |solution: &Solution| {
            let spent = solution.stop == Stop::EpochLimit && options.epochs.is_none();
            let gave_up = solution.stop == Stop::Stalled || spent;
            gave_up && !solution.objective.primal.is_finite()
        };
        let mut solution = if plane.len() == 0 || (unlifted && !plane.has_two_sides()) {
            on_one_side(plane, data.features())
        } else if let Some(rows) = kernel_rows {
            if plane.is_hard() {
                self.require_separable(d)?;
            }
            let solution = smo::solve(plane, rows, unlifted, limits, on_pass)?;
            if found_none(&solution) {
                return Err(self.no_kernel_margin(d));
            }
            solution
        } else if plane.is_hard() && hull::is_worthwhile(problem) {
            hull::solve(problem, limits, on_pass)?.ok_or_else(|| self.no_linear_margin(d))?
        } else {
            let unknown = plane.is_hard() && self.require_separable(d)? == Separability::Unknown;
            let solution = self.solve_linear(problem, limits, on_pass)?;
            if unknown && found_none(&solution) {
                return Err(self.no_linear_margin(d));
            }
            solution
        };
        solution.alphas = distinct.spread(&whole, solution.alphas);
        Ok((whole, solution))
    }

    /// By Newton's steps where they are cheap, and by coordinate descent otherwise or from
    /// where they ended.
    fn solve_linear(
        &self,
        problem: LinearProblem<'_>,
        limits: &mut SearchLimits<'_>,
        on_pass: PassCallback<'_>,
    ) -> Result<Solution> {
        let mut descent = Descent::new(problem, self.sample_weights);
        if newton::is_worthwhile(problem, limits) {
            let ended = Newton::new(problem, self.sample_weights).go(limits, on_pass)?;
            if let Some(stop) = ended.stop {
                return Ok(problem.solution(ended.alphas, stop, ended.passes));
            }
            descent.begin_at(ended);
        }
        descent.go(limits, on_pass)
    }

    /// Which planes these are, for messages.
    fn plane_name(&self, d: usize) -> String {
        let name = |class: u32| self.data.classes.name(class);
        match (self.scheme, self.scheme.sides(d)) {
            (Scheme::Binary, _) => "the classes".into(),
            (_, (Some(low), high)) => format!("{} and {}", name(high), name(low)),
            (_, (None, class)) => format!("{} and the rest", name(class)),
        }
    }

    fn not_separable(&self, d: usize, verdict: &str) -> Error {
        Error::data(format!(
            "{} are not separable ({verdict}), so no plane has a hard margin",
            self.plane_name(d)
        ))
        .remedy("allow violations at a price: ⟨c 1⟩")
    }

    /// Whether there is a plane with a margin at all; refuses if there is none.
    fn require_separable(&self, d: usize) -> Result<Separability> {
        let Some(test) = self.separability_test else {
            return Ok(Separability::Unknown);
        };
        let (negative, positive) = self.scheme.sides(d);
        let answer = test(&SeparabilityQuestion {
            data: self.data,
            positive,
            negative,
            has_bias: self.options.bias() != Bias::None,
            kernel: self.settings.kernel,
            threads: self.resources.threads,
        })?;
        match answer {
            Separability::NotSeparable(why) => Err(self.not_separable(d, &why)),
            answer => Ok(answer),
        }
    }

    /// Why no plane with a margin was found.
    fn no_linear_margin(&self, d: usize) -> Error {
        let planes = self.plane_name(d);
        let what = match self.require_separable(d) {
            Err(error) => return error,
            Ok(Separability::Unknown) => format!(
                "no hard margin was found between {planes}: it is too thin for floating point to find, or there is none"
            ),
            Ok(_) => format!("{planes} have a margin too thin for floating point to find"),
        };
        Error::data(what)
            .remedy("scale the features (⟨scale standard⟩), or allow violations at a price: ⟨c 1⟩")
    }

    fn no_kernel_margin(&self, d: usize) -> Error {
        Error::data(format!(
            "no hard margin was found between {}: in the space of this kernel it is less than a ten-millionth of the radius, or there is none",
            self.plane_name(d)
        ))
        .remedy("allow violations at a price: ⟨c 1⟩; a check of separability with the same ⟨kernel⟩ decides whether there is one")
    }

    /// The planes as weights.
    fn weights(&self) -> Weights {
        let k = self.scheme.discriminators();
        let mut weights = Weights::zero(k, self.data.features());
        for (d, (_, solution)) in self.planes.iter().enumerate() {
            weights.set_bias(d, solution.bias);
            for (j, &w) in solution.weights.iter().enumerate() {
                weights.set(d, j, w);
            }
        }
        weights
    }

    /// The planes as coefficients over the kernel.
    fn kernel_model(&self, kernel: Kernel) -> KernelModel {
        let mut log = DualLog::new(self.scheme, Vec::new(), 1.0);
        for (d, (plane, solution)) in self.planes.iter().enumerate() {
            let mut entries: Vec<LogEntry> = support_of(plane, solution)
                .map(|t| {
                    let row = self.data.number(plane.examples[t] as usize) as u32;
                    let coefficient = solution.alphas[t] * plane.signs[t];
                    LogEntry::new(row, d as u32, LogEntry::NONE, coefficient)
                })
                .collect();
            entries.sort_unstable_by_key(|e| e.row);
            for entry in entries {
                log.push(self.scheme, entry, 0.0);
            }
        }
        let bias = self.planes.iter().map(|(_, s)| s.bias).collect();
        let constant = self.options.bias().lift();
        KernelModel::new(self.data, self.scheme, kernel, constant, log, Readout::Last)
            .with_bias(bias)
            .unwrap_or_else(|| unreachable!("one finite bias a discriminator"))
    }

    /// Between what the margin of two separable classes lies, from a hard margin's plane.
    pub(crate) fn margin(&self) -> Option<MarginBracket> {
        let [(plane, solution)] = self.planes.as_slice() else {
            return None;
        };
        let Objective { primal, dual } = solution.objective;
        if !(plane.is_hard() && plane.has_two_sides() && dual > 0.0 && primal.is_finite()) {
            return None;
        }
        // Outward by what sums of this length may have lost.
        let terms = (self.data.features() + plane.len() + 16) as f64;
        let slack = 8.0 * terms * f64::EPSILON;
        Some(MarginBracket::new(
            (1.0 - slack) / (2.0 * primal).sqrt(),
            (1.0 + slack) / (2.0 * dual).sqrt(),
            self.options.bias(),
        ))
    }
}

impl Snapshot for MarginSearch<'_> {
    fn decision(&mut self, _: &Dataset, _: Readout) -> Decision {
        match self.settings.kernel {
            Some(kernel) => Decision::Kernel(Box::new(self.kernel_model(kernel))),
            None => Decision::Linear(self.weights()),
        }
    }

    fn support(&self) -> Option<SupportVectors> {
        let k = self.scheme.discriminators();
        let mut by_row = std::collections::BTreeMap::new();
        for (d, (plane, solution)) in self.planes.iter().enumerate() {
            for t in support_of(plane, solution) {
                let row = self.data.number(plane.examples[t] as usize) as u32;
                by_row.entry(row).or_insert_with(|| vec![0.0; k])[d] = solution.alphas[t];
            }
        }
        let optima = self
            .planes
            .iter()
            .map(|(_, solution)| Optimum {
                primal: solution.objective.primal,
                dual: solution.objective.dual,
                margin: 1.0 / solution.squared_norm.sqrt(),
            })
            .collect();
        Some(SupportVectors {
            rows: by_row.keys().copied().collect(),
            alphas: by_row.into_values().flatten().collect(),
            optima,
        })
    }
}

/// Adds a plane's pass to those of the planes before it.
pub(super) fn record(progress: &mut Progress, epoch: usize, pass: &Pass) {
    if progress.passes.len() <= epoch {
        progress.passes.resize(epoch + 1, Pass::default());
    }
    let sum = &mut progress.passes[epoch];
    sum.visits += pass.visits;
    sum.mistakes += pass.mistakes;
    sum.updates += pass.updates;
    sum.perceptron_loss += pass.perceptron_loss;
    sum.hinge_loss += pass.hinge_loss;
    sum.on_boundary += pass.on_boundary;
    progress.count(pass);
}

/// The places of a plane's support vectors.
fn support_of<'s>(plane: &'s Plane, solution: &'s Solution) -> impl Iterator<Item = usize> + 's {
    (0..plane.len()).filter(|&t| solution.alphas[t] > 0.0)
}

/// Without an opponent an unlifted bias alone says all there is to say.
fn on_one_side(plane: &Plane, features: usize) -> Solution {
    Solution {
        alphas: vec![0.0; plane.len()],
        weights: vec![0.0; features],
        bias: plane.signs.first().copied().unwrap_or(0.0),
        squared_norm: 0.0,
        objective: Objective {
            primal: 0.0,
            dual: 0.0,
        },
        stop: Stop::Converged,
        passes: Vec::new(),
    }
}
