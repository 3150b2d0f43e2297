//! The linear unit (Adaline): least squares by gradient descent.
//!
//! *Rule.* The output is o = w·x, the target ±1 (or a number: a regression), the error E = ½ Σ (y − o)². Batch descent
//! steps w ← w + η Σ (y − o) x; stochastic descent steps w ← w + η_t (y − o) x at each visit,
//! η_t = η/(1 + κt).
//!
//! *Guarantee.* Batch descent converges to least squares for 0 < η < 2/λ_max(XᵀX, lifted);
//! where the solution is not unique, the null-space part of the start stays. Stochastic
//! descent needs η < 2/max‖x‖² and ends near least squares at a constant rate, at it with a
//! decaying one. Least squares does not minimise misclassifications, and may misclassify
//! separable data.
//!
//! *Cost.* O(non-zeros · outputs) a pass, and as much again for the gradient's norm.
//!
//! *Reference.* B. Widrow and M. E. Hoff, "Adaptive switching circuits", IRE WESCON (1960).

use super::Fit;
use super::settings;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::hypothesis::starting_weights;
use crate::model::{Decision, LinearState};
use crate::options::{
    Bias, Declared, Learner, Multiclass, Options, Parameter, Readout,
    check_mistake_driven_partial_fit, choice_name, choices, needs_all_examples, not_negative,
    parse_choice,
};
use crate::progress::{Pass, Progress, Stop};
use crate::random::{Random, Stream};
use crate::scheme::Scheme;
use crate::training::{
    Callback, Fitted, Judgement, PassOrder, Rule, SampleWeights, Snapshot, Step, Training,
};
use crate::weights::Weights;

choices! {
    /// How the linear unit descends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Gradient {
        /// Along the gradient over all examples.
        #[default]
        Batch = "batch",
        /// Along one example's gradient at a time.
        Stochastic = "stochastic",
    }
}

/// The linear unit (Adaline).
#[derive(Debug, Clone, PartialEq)]
pub struct LinearUnit {
    /// How it descends.
    pub gradient: Gradient,
    /// κ in the rate η/(1 + κt) of stochastic descent, t counted in visits.
    pub decay: f64,
    /// It stops when ‖∇E‖ ≤ tolerance·(1 + ‖Xᵀy‖).
    pub tolerance: f64,
}

impl Default for LinearUnit {
    fn default() -> Self {
        LinearUnit {
            gradient: Gradient::default(),
            decay: 0.0,
            tolerance: 1e-6,
        }
    }
}

impl Declared for LinearUnit {
    const NAME: &'static str = "linear-unit";
    const SUMMARY: &'static str = "least squares by gradient descent: to study the squared loss";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter {
            name: "gradient",
            value: "KIND",
            help: "batch or stochastic gradient descent",
            get: |l| choice_name(l.gradient).into(),
            set: |l, t| parse_choice(t).map(|v| l.gradient = v),
        },
        Parameter {
            name: "decay",
            value: "KAPPA",
            help: "stochastic: the rate at visit t is η/(1 + κt)",
            get: |l| l.decay.to_string(),
            set: |l, t| not_negative(t).map(|v| l.decay = v),
        },
        Parameter {
            name: "tolerance",
            value: "TOL",
            help: "stop when the gradient's norm is at most TOL·(1 + ‖Xᵀy‖)",
            get: |l| l.tolerance.to_string(),
            set: |l, t| not_negative(t).map(|v| l.tolerance = v),
        },
    ];
    const TAKES: &'static [&'static str] = &[
        "epochs",
        "learning-rate",
        "bias",
        "order",
        "start",
        "time-limit",
        "patience",
        "metric",
    ];
}

impl Learner for LinearUnit {
    fn check(&self, options: &Options) -> Result<()> {
        if matches!(options.multiclass, Some(m) if m != Multiclass::Ovr) {
            return Err(Error::options(
                "the linear unit learns several classes one against the rest",
            )
            .remedy("use ⟨multiclass ovr⟩"));
        }
        settings::check_order(options, "a linear unit")?;
        if matches!(options.bias(), Bias::Unlifted(_)) {
            return Err(Error::options("the linear unit has a lifted bias or none")
                .remedy("use ⟨bias lifted⟩ or ⟨bias none⟩"));
        }
        Ok(())
    }

    fn default_multiclass(&self) -> Multiclass {
        Multiclass::Ovr
    }

    fn check_partial_fit(&self, options: &Options) -> Result<()> {
        if self.gradient == Gradient::Batch || options.learning_rate.is_none() {
            return Err(needs_all_examples(
                "the learner linear-unit",
                "use the perceptron, or the linear unit with stochastic descent and a given rate",
            ));
        }
        check_mistake_driven_partial_fit(options)
    }

    fn unfinished(&self) -> Option<&'static str> {
        Some("the gradient is not yet within the tolerance")
    }
}

impl Fit for LinearUnit {
    fn fit<'a>(&'a self, mut training: Training<'a>) -> Result<Fitted> {
        let mut descent = Descent::new(self, &mut training)?;
        let stop = match training.finished {
            Some(stop) => stop,
            None => descent.go(&mut training)?,
        };
        training.progress.stop = Some(stop);
        Ok(Fitted {
            learning_rate: descent.rate,
            ..training.fitted(&mut descent)?
        })
    }
}

impl Snapshot for Descent<'_> {
    fn decision(&mut self, _: &Dataset, _: Readout) -> Decision {
        Decision::Linear(self.state.weights.clone())
    }

    fn state(&mut self) -> Option<LinearState> {
        Some(self.state.clone())
    }
}

/// Gradient descent on a data set.
struct Descent<'a> {
    settings: &'a LinearUnit,
    data: &'a Dataset,
    sample_weights: &'a SampleWeights<'a>,
    /// What outputs are to be, in place of ±1.
    targets: Option<&'a [f64]>,
    options: &'a Options,
    scheme: Scheme,
    state: LinearState,
    constant: f64,
    rate: f64,
}

/// An error this many times the starting one will not come down again.
const BLOWN_UP: f64 = 1e6;

impl<'a> Descent<'a> {
    fn new(settings: &'a LinearUnit, training: &mut Training<'a>) -> Result<Self> {
        let (data, scheme, options) = (training.data, training.scheme, training.options);
        let (weights, before) = match training.state.take() {
            Some(state) => (state.weights, state.kept),
            None => (starting_weights(scheme, data.features(), options)?, None),
        };
        let kept = (settings.gradient == Gradient::Batch)
            .then(|| before.unwrap_or_else(|| weights.clone()));
        let mut descent = Descent {
            settings,
            data,
            sample_weights: training.sample_weights,
            targets: training.targets,
            options,
            scheme,
            state: LinearState {
                kept,
                ..LinearState::of(weights)
            },
            constant: training.lift(),
            rate: 0.0,
        };
        descent.rate = match options.learning_rate {
            Some(rate) => rate,
            // Half the rate at which descent would no longer converge.
            None => 0.5 * descent.safe_rate(20),
        };
        Ok(descent)
    }

    /// The rate below which descent converges: 2/λ_max for batch, 2/max‖x‖² for stochastic.
    fn safe_rate(&self, iterations: usize) -> f64 {
        let limit = match self.settings.gradient {
            Gradient::Batch => self.largest_eigenvalue(iterations),
            Gradient::Stochastic => self.largest_square(),
        };
        if limit > 0.0 { 2.0 / limit } else { 1.0 }
    }

    fn largest_square(&self) -> f64 {
        (0..self.data.len()).fold(0.0, |most: f64, i| {
            let c = self.sample_weights.of(i, self.data.labels[i]);
            most.max(c * (self.sample_weights.squared_norm(i) + self.constant))
        })
    }

    /// λ_max of Σ c x xᵀ (lifted) by power iteration, from below.
    fn largest_eigenvalue(&self, iterations: usize) -> f64 {
        let mut random = Random::new(self.options.seed, Stream::Sample, 0);
        let features = self.data.features();
        let mut v = Weights::zero(1, features);
        (0..features).for_each(|j| v.set(0, j, random.normal()));
        if self.constant > 0.0 {
            v.set_bias(0, random.normal());
        }
        let mut eigenvalue = 0.0;
        for _ in 0..iterations {
            let norm = v.squared_norm(0, true).sqrt();
            if norm == 0.0 || !norm.is_finite() {
                return eigenvalue;
            }
            v.map(0, |x| x / norm);
            let mut next = Weights::zero(1, features);
            for number in 0..self.data.len() {
                let i = self.data.position(number);
                let row = self.data.row(i);
                let s = v.score(0, row) * self.sample_weights.of(i, self.data.labels[i]);
                next.add(0, row, s, s * self.constant);
            }
            eigenvalue = next.squared_norm(0, true).sqrt();
            v = next;
        }
        eigenvalue
    }

    fn target(&self, i: usize, d: usize) -> f64 {
        match self.targets {
            Some(targets) => targets[i],
            None if self.scheme.sides(d).1 == self.data.labels[i] => 1.0,
            None => -1.0,
        }
    }

    fn outputs<'s>(&self, scores: &'s [f64]) -> impl Iterator<Item = (usize, f64)> + use<'s> {
        scores[..self.scheme.discriminators()]
            .iter()
            .copied()
            .enumerate()
    }

    /// Σ c (y − o) x over all examples at `weights`, and what the pass found on the way.
    fn residual_sum(&self, weights: &Weights) -> (Weights, Pass) {
        let rule = Rule::new(self.options, 1.0);
        let mut judgement = Default::default();
        let mut sum = Weights::zero(self.scheme.discriminators(), self.data.features());
        let mut pass = Pass::default();
        let mut scores = weights.score_buffer();
        for number in 0..self.data.len() {
            let i = self.data.position(number);
            let (row, label) = (self.data.row(i), self.data.labels[i]);
            weights.scores(row, &mut scores);
            rule.judge(self.scheme, label, &scores, &mut judgement);
            let c = self.sample_weights.of(i, label);
            self.record(&mut pass, i, c, &scores, &judgement);
            for (d, output) in self.outputs(&scores) {
                let residual = c * (self.target(i, d) - output);
                sum.add(d, row, residual, residual * self.constant);
            }
        }
        (sum, pass)
    }

    fn record(
        &self,
        pass: &mut Pass,
        i: usize,
        weight: f64,
        scores: &[f64],
        judgement: &Judgement,
    ) {
        if self.targets.is_some() {
            pass.visits += 1;
        } else {
            let predicted = self.scheme.decide(scores, self.options.at_zero);
            judgement.count_in(pass, u64::from(predicted != self.data.labels[i]));
        }
        for (d, output) in self.outputs(scores) {
            let residual = self.target(i, d) - output;
            pass.squared_error += weight * residual * residual;
        }
    }

    fn norm(&self, weights: &Weights) -> f64 {
        (0..self.scheme.discriminators())
            .map(|d| weights.squared_norm(d, true))
            .sum::<f64>()
            .sqrt()
    }

    /// Descends until something stops it.
    fn go(&mut self, training: &mut Training<'_>) -> Result<Stop> {
        let limits = training.limits;
        let (progress, recorder) = (&mut training.progress, &mut training.recorder);
        let zero = Weights::zero(self.scheme.discriminators(), self.data.features());
        let (towards, at_zero) = self.residual_sum(&zero);
        let small_enough = self.settings.tolerance * (1.0 + self.norm(&towards));
        let start_error = at_zero.squared_error.max(f64::MIN_POSITIVE);
        // A resumed run may have ended so before.
        if let Some(stop) = limits.after_pass(progress) {
            return Ok(stop);
        }
        loop {
            if let Some(stop) = limits.before_pass(progress).or_else(|| limits.now()) {
                return Ok(stop);
            }
            let mut before_pass = None;
            let (gradient, mut pass) = match self.settings.gradient {
                Gradient::Batch => self.residual_sum(&self.state.weights),
                Gradient::Stochastic => {
                    before_pass = Some(self.state.weights.clone());
                    let pass = self.stochastic_pass(progress, recorder.callback);
                    (self.residual_sum(&self.state.weights).0, pass)
                }
            };
            let before = progress.passes.last().map(|p| p.squared_error);
            let grew = match self.settings.gradient {
                // With a safe rate the error never grows, but for rounding: of the error
                // itself, or of the targets where next to nothing of it is left.
                Gradient::Batch => before
                    .is_some_and(|e| pass.squared_error > e * (1.0 + 1e-9) + start_error * 1e-12),
                Gradient::Stochastic => pass.squared_error > start_error * BLOWN_UP,
            };
            let norm = self.norm(&gradient);
            if grew || !pass.squared_error.is_finite() || !norm.is_finite() {
                if let Some(weights) = before_pass.or_else(|| self.state.kept.clone()) {
                    self.state.weights = weights;
                }
                return Ok(Stop::Diverged {
                    safe_rate: self.safe_rate(200),
                });
            }
            let converged = norm <= small_enough;
            if self.settings.gradient == Gradient::Batch {
                let before = self.state.weights.clone();
                if !converged {
                    let rate = self.rate;
                    self.state.weights = before.combined(&gradient, |_, w, g| w + rate * g);
                    pass.updates = 1;
                }
                if recorder.callback.wants_steps() {
                    self.report_pass(progress, &before, recorder.callback);
                }
                if !converged {
                    self.state.kept = Some(before);
                }
            }
            progress.count(&pass);
            recorder.validate(self, &mut pass, progress)?;
            progress.passes.push(pass);
            recorder.pass_done(self, progress)?;
            if converged {
                return Ok(Stop::Converged);
            }
            if let Some(stop) = limits.after_pass(progress) {
                return Ok(stop);
            }
        }
    }

    fn stochastic_pass(&mut self, progress: &Progress, callback: &mut dyn Callback) -> Pass {
        let reports = callback.wants_steps();
        let rule = Rule::new(self.options, 1.0);
        let mut judgement = Default::default();
        let mut pass = Pass::default();
        let mut scores = self.state.weights.score_buffer();
        let epoch = progress.passes.len() as u64;
        let Some(mut order) =
            PassOrder::new(self.data, self.options.order, self.options.seed, epoch)
        else {
            unreachable!("options are validated: the linear unit has orders known ahead")
        };
        while let Some(block) = order.next_block() {
            for &i in block {
                let i = i as usize;
                let (row, label) = (self.data.row(i), self.data.labels[i]);
                self.state.weights.scores(row, &mut scores);
                rule.judge(self.scheme, label, &scores, &mut judgement);
                let c = self.sample_weights.of(i, label);
                self.record(&mut pass, i, c, &scores, &judgement);
                let visit = (progress.visits + pass.visits - 1) as f64;
                let rate = self.rate / (1.0 + self.settings.decay * visit) * c;
                let before = reports.then(|| self.state.weights.clone());
                for (d, output) in self.outputs(&scores) {
                    let step = rate * (self.target(i, d) - output);
                    self.state.weights.add(d, row, step, step * self.constant);
                }
                pass.updates += 1;
                if let Some(before) = before {
                    let visit = progress.visits + pass.visits;
                    let weights = (&before, &self.state.weights);
                    callback.step(self.step((visit, epoch + 1), i, &scores, weights));
                }
            }
        }
        pass
    }

    /// Reports the visits of a pass whose step was made at its end.
    fn report_pass(&self, progress: &Progress, before: &Weights, callback: &mut dyn Callback) {
        let epoch = progress.passes.len() as u64 + 1;
        let mut scores = before.score_buffer();
        for number in 0..self.data.len() {
            let i = self.data.position(number);
            before.scores(self.data.row(i), &mut scores);
            let after = match number + 1 == self.data.len() {
                true => &self.state.weights,
                false => before,
            };
            let visit = progress.visits + number as u64 + 1;
            callback.step(self.step((visit, epoch), i, &scores, (before, after)));
        }
    }

    /// A visit, as a callback is told of it; the weights are those before and after.
    fn step(
        &self,
        (step, epoch): (u64, u64),
        i: usize,
        scores: &[f64],
        (before, after): (&Weights, &Weights),
    ) -> Step {
        let label = self.data.labels[i];
        let outputs = self.outputs(scores);
        let squares = outputs.map(|(d, output)| {
            let residual = self.target(i, d) - output;
            residual * residual
        });
        let error = 0.5 * self.sample_weights.of(i, label) * squares.sum::<f64>();
        Step {
            step,
            epoch,
            row: self.data.number(i) as u64 + 1,
            label,
            weights: self.vector(before),
            scores: self.outputs(scores).map(|(_, output)| output).collect(),
            correct: self.scheme.decide(scores, self.options.at_zero) == label,
            weights_after: self.vector(after),
            squared_error: Some(error),
        }
    }

    /// The weights of each output, the bias first where there is one.
    fn vector(&self, weights: &Weights) -> Vec<f64> {
        let with_bias = self.options.bias() != Bias::None;
        let planes = (0..self.scheme.discriminators()).map(|d| {
            let bias = with_bias.then(|| weights.bias(d));
            bias.into_iter().chain(weights.column(d))
        });
        planes.flatten().collect()
    }
}
