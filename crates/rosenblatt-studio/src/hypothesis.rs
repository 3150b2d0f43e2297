//! What a run believed after a visit: scores of any rows, classes, boundaries.

use rosenblatt::data::{Dataset, Matrix};
use rosenblatt::kernel::Kernel;
use rosenblatt::model::{Decision, Model};
use rosenblatt::options::Bias;
use rosenblatt::scheme::Scheme;
use rosenblatt::weights::Weights;
use rosenblatt::{Error, Result};

use crate::run::Run;

/// What a run believed.
pub enum Hypothesis<'a> {
    /// A model of the library.
    Model(Box<Model>),
    /// Coefficients over a kernel: by discriminator, a number for each example.
    Kernel {
        run: &'a Run,
        kernel: Kernel,
        constant: f64,
        coefficients: Vec<f64>,
    },
}

impl<'a> Hypothesis<'a> {
    /// After visit (or kept pass) `k` of a run.
    pub fn after(run: &'a Run, k: usize) -> Result<Self> {
        if !run.is_traced() {
            let passes = run.passes();
            let found = k.checked_sub(1).and_then(|at| passes.models.get(at));
            let found = found.ok_or_else(|| Error::data("no pass is over yet"))?;
            return Ok(Hypothesis::Model(Box::new(run.model(found.1.clone()))));
        }
        let weights = run.log().weights(k);
        Ok(match run.options.learner.kernel() {
            Some(kernel) => Hypothesis::Kernel {
                run,
                kernel,
                constant: constant(run, &kernel),
                coefficients: weights,
            },
            None => {
                let decision = Decision::Linear(linear(run, &weights));
                Hypothesis::Model(Box::new(run.model(decision)))
            }
        })
    }

    /// The read-out: of the last pass that was over by then, or of the run at its end; with the
    /// number of the pass.
    pub fn read_out(run: &'a Run, k: usize) -> Option<(Self, usize)> {
        let (pass, over) = {
            let log = run.log();
            let pass = log.pass(k);
            (pass, k == log.visits() && run.ended().is_some())
        };
        if over && let Ok(fitted) = run.fitted() {
            return Some((Hypothesis::Model(Box::new(fitted.model.clone())), pass));
        }
        let whole = pass.checked_sub(1)?;
        let passes = run.passes();
        let at = passes
            .models
            .partition_point(|(number, _)| *number <= whole);
        let (number, decision) = passes.models.get(at.checked_sub(1)?)?;
        let model = run.model(decision.clone());
        Some((Hypothesis::Model(Box::new(model)), *number))
    }

    /// The scores of every row, row by row.
    pub fn scores(&self, matrix: &Matrix) -> Result<Vec<f64>> {
        match self {
            Hypothesis::Model(model) => model.scores(matrix, 1),
            Hypothesis::Kernel {
                run,
                kernel,
                constant,
                coefficients,
            } => Ok(kernel_scores(run, kernel, *constant, coefficients, matrix)),
        }
    }

    /// The class for these scores.
    pub fn decide(&self, run: &Run, scores: &[f64]) -> u32 {
        match self {
            Hypothesis::Model(model) => model.decide(scores),
            Hypothesis::Kernel { .. } => run.scheme.decide(scores, run.options.at_zero),
        }
    }

    /// The weights, where boundaries in the features of the data are planes.
    pub fn weights(&self) -> Option<&Weights> {
        match self {
            Hypothesis::Model(model) if model.embedding.is_none() => model.weights(),
            _ => None,
        }
    }
}

/// What the bias adds to every kernel value.
fn constant(run: &Run, kernel: &Kernel) -> f64 {
    match run.options.bias() {
        Bias::Lifted => 1.0,
        Bias::None => 0.0,
        Bias::Unlifted(Some(rho)) => rho * rho,
        Bias::Unlifted(None) => {
            if let Ok(fitted) = run.fitted()
                && let Decision::Kernel(model) = &fitted.model.decision
            {
                return model.constant;
            }
            let examples = &run.data.examples;
            let all = (0..examples.len()).map(|i| kernel.of_itself(examples.row(i)));
            all.fold(0.0, f64::max)
        }
    }
}

/// A weight vector as reported, discriminator by discriminator with the bias first, as weights.
pub fn linear(run: &Run, vector: &[f64]) -> Weights {
    let planes = run.scheme.discriminators();
    let each = vector.len() / planes;
    let lift = usize::from(run.options.bias() != Bias::None);
    let features = each - lift;
    let mut weights = Weights::zero(planes, features);
    for (d, own) in vector.chunks_exact(each).enumerate() {
        if lift == 1 {
            weights.set_bias(d, own[0]);
        }
        for (j, &w) in own[lift..].iter().enumerate() {
            weights.set(d, j, w);
        }
    }
    weights
}

/// The kernel value of an example of the run and another row.
pub fn kernel_value(
    kernel: &Kernel,
    examples: &Dataset,
    i: usize,
    row: rosenblatt::data::Row<'_>,
) -> f64 {
    match kernel {
        Kernel::Precomputed => row.get(i),
        _ => kernel.value(examples.row(i), row),
    }
}

fn kernel_scores(
    run: &Run,
    kernel: &Kernel,
    constant: f64,
    coefficients: &[f64],
    matrix: &Matrix,
) -> Vec<f64> {
    let examples = &run.data.examples;
    let n = examples.len();
    let planes = run.scheme.discriminators();
    let used = |i: usize| (0..planes).any(|d| coefficients[d * n + i] != 0.0);
    let support: Vec<usize> = (0..n).filter(|&i| used(i)).collect();
    let mut scores = vec![0.0; matrix.rows() * planes];
    for (r, out) in scores.chunks_exact_mut(planes).enumerate() {
        let row = matrix.row(r);
        for &i in &support {
            let value = kernel_value(kernel, examples, i, row) + constant;
            for (d, score) in out.iter_mut().enumerate() {
                *score += coefficients[d * n + i] * value;
            }
        }
    }
    scores
}

/// The names of a run's discriminators.
pub fn plane_names(run: &Run) -> Vec<String> {
    let planes = run.scheme.discriminators();
    let model = run.model(Decision::Linear(Weights::zero(planes, 0)));
    (0..planes)
        .map(|d| match run.scheme {
            Scheme::Binary => String::new(),
            _ => rosenblatt::report::discriminator_name(&model, d),
        })
        .collect()
}
