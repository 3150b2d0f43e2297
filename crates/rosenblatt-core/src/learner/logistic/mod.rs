//! Logistic regression.
//!
//! *Rule.* Minimise the penalty of w plus Σ C_i log(1 + exp(−y_i s_i)), C_i = C·c_i: ½‖w‖² (`l2`)
//! or ‖w‖₁ (`l1`), which leaves most weights at 0. A lifted bias counts in the penalty. Several
//! classes: a plane for each against the rest, for each pair, or (`argmax`, with `l2`) all at once
//! with the loss C log Σ_k exp(s_k − s_y). Newton's method: each step minimises the penalty plus a
//! quadratic that agrees with the loss in slope and curvature, then goes so far along the way there
//! that the objective falls enough.
//!
//! *Guarantee.* The objective is convex, with `l2` strictly. With α_i = C_i/(1 + exp(y_i s_i)) a
//! bound from below is at hand (for `l2` it is less than the objective by exactly half the square
//! of the gradient); a run ends when the two differ by no more than the tolerance. The scores are
//! log-odds, so the model gives probabilities; of several planes they are divided by their sum.
//!
//! *Cost.* A step makes a pass over the examples for its slope and a dozen for its direction, or,
//! with few features, one that sums the matrix of curvatures. About ten steps reach a gap of a
//! millionth.
//!
//! *Reference.* C.-J. Lin, R. C. Weng and S. S. Keerthi, "Trust region Newton method for
//! large-scale logistic regression", JMLR 9 (2008); G.-X. Yuan, C.-H. Ho and C.-J. Lin, "An
//! improved GLMNET for L1-regularized logistic regression", JMLR 13 (2012).

mod lasso;
mod newton;
mod one_plane;
mod softmax;

use super::max_margin::{Plane, record};
use super::{Fit, Penalty};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::Decision;
use crate::options::{
    Bias, DataSize, Declared, Learner, Multiclass, Options, Parameter, Readout, choice_name,
    not_negative, parse_choice, positive,
};
use crate::parallel;
use crate::progress::{Pass, Stop};
use crate::scheme::Scheme;
use crate::training::{Fitted, SampleWeights, Snapshot, Training};
use crate::weights::Weights;
use newton::{Found, Loss, minimise};
use one_plane::OnePlane;
use softmax::Softmax;

/// What these weights cost, by `l2` or `l1`.
fn cost(penalty: Penalty, w: &[f64]) -> f64 {
    match penalty {
        Penalty::L1 => w.iter().map(|w| w.abs()).sum(),
        _ => 0.5 * newton::dot(w, w),
    }
}

/// Logistic regression.
#[derive(Debug, Clone, PartialEq)]
pub struct Logistic {
    /// What large weights cost: `l2` or `l1`.
    pub penalty: Penalty,
    /// What a unit of loss costs.
    pub c: f64,
    /// It stops when primal − dual ≤ tolerance·primal.
    pub tolerance: f64,
}

impl Default for Logistic {
    fn default() -> Self {
        Logistic {
            penalty: Penalty::L2,
            c: 1.0,
            tolerance: 1e-6,
        }
    }
}

impl Declared for Logistic {
    const NAME: &'static str = "logistic";
    const SUMMARY: &'static str = "logistic regression, L2 or L1: probabilities, tables";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter {
            name: "penalty",
            value: "PENALTY",
            help: "l2 (½‖w‖²) or l1 (‖w‖₁, which leaves most weights at 0)",
            get: |l| choice_name(l.penalty).into(),
            set: |l, t| match parse_choice(t) {
                Ok(v @ (Penalty::L2 | Penalty::L1)) => {
                    l.penalty = v;
                    Ok(())
                }
                _ => Err("expected l2 or l1".into()),
            },
        },
        Parameter {
            name: "c",
            value: "C",
            help: "cost of the loss relative to the penalty, multiplied by the weight of an example",
            get: |l| l.c.to_string(),
            set: |l, t| positive(t).map(|v| l.c = v),
        },
        Parameter {
            name: "tolerance",
            value: "TOL",
            help: "stop when the duality gap is at most TOL times the objective",
            get: |l| l.tolerance.to_string(),
            set: |l, t| not_negative(t).map(|v| l.tolerance = v),
        },
    ];
    /// The solution does not depend on how it is found.
    const TAKES: &'static [&'static str] = &["epochs", "bias", "time-limit"];
}

impl Learner for Logistic {
    fn check(&self, options: &Options) -> Result<()> {
        if !matches!(self.penalty, Penalty::L2 | Penalty::L1) {
            return Err(
                Error::options("logistic regression has the penalty l2 or l1")
                    .remedy("use ⟨penalty l2⟩ with a large ⟨c⟩ for hardly any"),
            );
        }
        if options.multiclass == Some(Multiclass::Argmax) && self.penalty == Penalty::L1 {
            return Err(Error::options(
                "with the penalty l1 the planes of several classes are found one by one",
            )
            .remedy("use ⟨multiclass ovr⟩ or ovo"));
        }
        if matches!(options.bias(), Bias::Unlifted(_)) {
            return Err(
                Error::options("logistic regression has a lifted bias or none")
                    .remedy("use ⟨bias lifted⟩ or ⟨bias none⟩"),
            );
        }
        Ok(())
    }

    fn default_multiclass(&self) -> Multiclass {
        match self.penalty {
            Penalty::L1 => Multiclass::Ovr,
            _ => Multiclass::Argmax,
        }
    }

    /// Steps, of which a dozen are the rule.
    fn default_epochs(&self, _: DataSize) -> u64 {
        1000
    }

    fn gives_probabilities(&self) -> bool {
        true
    }

    fn cannot_resume(&self) -> Option<Error> {
        Some(
            Error::options(
                "logistic regression cannot be resumed: its answer is the same from any start",
            )
            .remedy("train afresh with larger limits or another ⟨tolerance⟩"),
        )
    }

    fn unfinished(&self) -> Option<&'static str> {
        Some("the duality gap is not yet within the tolerance")
    }

    fn converged(&self) -> &'static str {
        "the duality gap is within the tolerance"
    }
}

impl Fit for Logistic {
    fn fit<'a>(&'a self, mut training: Training<'a>) -> Result<Fitted> {
        let (data, scheme, limits) = (training.data, training.scheme, training.limits);
        let sample_weights = training.sample_weights;
        let lifted = training.options.bias() == Bias::Lifted;
        let solve = |d: usize, on_pass: &mut dyn FnMut(&Pass)| {
            let plane = Plane::new(data, sample_weights, scheme, d, Some(self.c));
            let (penalty, tolerance) = (self.penalty, self.tolerance);
            match scheme {
                Scheme::Argmax { .. } => {
                    let loss = Softmax::new(data, &plane, lifted);
                    minimise(loss, penalty, tolerance, limits, on_pass)
                }
                _ => {
                    let loss = OnePlane::new(data, &plane, lifted, penalty);
                    minimise(loss, penalty, tolerance, limits, on_pass)
                }
            }
        };
        let mut planes: Vec<Option<Found>> = vec![None; scheme.groups()];
        let (progress, recorder) = (&mut training.progress, &mut training.recorder);
        if planes.len() > 1 && training.resources.threads > 1 {
            parallel::chunks(&mut planes, 1, training.resources.threads, || {
                |d: usize, out: &mut [Option<Found>]| {
                    out[0] = Some(solve(d, &mut |_| ()));
                }
            });
            let passes = planes.iter().flatten().map(|found| found.passes.iter());
            passes.for_each(|each| {
                (each.enumerate()).for_each(|(epoch, pass)| record(progress, epoch, pass));
            });
        } else {
            for (d, found) in planes.iter_mut().enumerate() {
                let mut epoch = 0;
                *found = Some(solve(d, &mut |pass| {
                    record(progress, epoch, pass);
                    epoch += 1;
                    recorder.report_pass(progress);
                }));
            }
        }
        let mut planes = Planes {
            discriminators: scheme.discriminators(),
            found: planes.into_iter().flatten().collect(),
        };
        let mut stops = planes.found.iter().map(|found| found.stop);
        let stop = stops.find(|stop| *stop != Stop::Converged);
        training.progress.stop = Some(stop.unwrap_or(Stop::Converged));
        training.fitted(&mut planes)
    }
}

/// What these weights lose on a part of the examples, for each group of discriminators learned
/// together, and along what they are pulled: the loss's slope downhill. Weights and pulls stand
/// feature by feature, the biases last.
pub(crate) fn losses(
    learner: &Logistic,
    data: &Dataset,
    sample_weights: &SampleWeights<'_>,
    (scheme, lifted): (Scheme, bool),
    weights: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let k = scheme.discriminators();
    let mut pulls = vec![0.0; weights.len()];
    let together = scheme.members(0).len();
    let unknowns = data.features() + usize::from(lifted);
    let losses = (0..scheme.groups()).map(|group| {
        let here = |j: usize| j * k + group * together..j * k + (group + 1) * together;
        let w: Vec<f64> = (0..unknowns)
            .flat_map(|j| &weights[here(j)])
            .copied()
            .collect();
        let plane = Plane::new(data, sample_weights, scheme, group, Some(learner.c));
        let slope = match scheme {
            Scheme::Argmax { .. } => {
                let loss = Softmax::new(data, &plane, lifted);
                loss.slope(&loss.scores(&w))
            }
            _ => {
                let loss = OnePlane::new(data, &plane, lifted, Penalty::L2);
                loss.slope(&loss.scores(&w))
            }
        };
        for (j, pull) in slope.pull.chunks_exact(together).enumerate() {
            pulls[here(j)].copy_from_slice(pull);
        }
        slope.loss
    });
    (losses.collect(), pulls)
}

/// What was found: a plane after the other, or all at once.
struct Planes {
    discriminators: usize,
    found: Vec<Found>,
}

impl Snapshot for Planes {
    fn decision(&mut self, data: &Dataset, _: Readout) -> Decision {
        let mut weights = Weights::zero(self.discriminators, data.features());
        let at_once = self.discriminators / self.found.len().max(1);
        for (group, found) in self.found.iter().enumerate() {
            for (j, each) in found.w.chunks_exact(at_once).enumerate() {
                for (k, &w) in each.iter().enumerate() {
                    let feature = Some(j).filter(|&j| j < data.features());
                    *weights.at(group * at_once + k, feature) = w;
                }
            }
        }
        Decision::Linear(weights)
    }
}
