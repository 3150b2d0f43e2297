//! The linear unit (Adaline): least squares by gradient descent.
//!
//! *Rule.* The output is o = w·x, the target ±1, the error E = ½ Σ (y − o)². Batch descent
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

use super::start::starting_weights;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::{LinearState, Scheme, Weights};
use crate::options::{Bias, Gradient, Options};
use crate::random::{Random, Stream};
use crate::train::{
    Control, Importance, Pass, PassOrder, Progress, Rule, Stop, Watch, asked_to_stop,
    out_of_patience,
};

/// The linear unit at work on a data set.
pub(crate) struct LinearUnit<'a> {
    data: &'a Dataset,
    importance: &'a Importance<'a>,
    options: &'a Options,
    scheme: Scheme,
    state: LinearState,
    constant: f64,
    rate: f64,
}

/// An error this many times the starting one will not come down again.
const BLOWN_UP: f64 = 1e6;

impl<'a> LinearUnit<'a> {
    pub(crate) fn new(
        data: &'a Dataset,
        importance: &'a Importance<'a>,
        scheme: Scheme,
        options: &'a Options,
        resume: Option<LinearState>,
    ) -> Result<Self> {
        let (weights, before) = match resume {
            Some(state) => (state.weights, state.kept),
            None => (starting_weights(scheme, data.features(), options)?, None),
        };
        let constant = if options.bias() == Bias::None {
            0.0
        } else {
            1.0
        };
        let mut unit = LinearUnit {
            data,
            importance,
            options,
            scheme,
            state: LinearState {
                unit: 1.0,
                norms: None,
                average: None,
                kept: (options.gradient == Gradient::Batch)
                    .then(|| before.unwrap_or_else(|| weights.clone())),
                weights,
                log: None,
            },
            constant,
            rate: 0.0,
        };
        unit.rate = match options.learning_rate {
            Some(rate) => rate,
            // Half the rate at which descent would no longer converge.
            None => 0.5 * unit.safe_rate(20),
        };
        Ok(unit)
    }

    pub(crate) fn state(&self) -> &LinearState {
        &self.state
    }

    pub(crate) fn weights(&self) -> &Weights {
        &self.state.weights
    }

    /// η as used.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate below which descent converges: 2/λ_max for batch, 2/max‖x‖² for stochastic.
    fn safe_rate(&self, iterations: usize) -> f64 {
        let limit = match self.options.gradient {
            Gradient::Batch => self.largest_eigenvalue(iterations),
            Gradient::Stochastic => self.largest_square(),
        };
        if limit > 0.0 { 2.0 / limit } else { 1.0 }
    }

    fn largest_square(&self) -> f64 {
        (0..self.data.len()).fold(0.0, |most: f64, i| {
            let c = self.importance.of(i, self.data.labels[i]);
            most.max(c * (self.importance.squared_norm(i) + self.constant))
        })
    }

    /// λ_max of Σ c x xᵀ (lifted) by power iteration, from below.
    fn largest_eigenvalue(&self, iterations: usize) -> f64 {
        let mut random = Random::new(self.options.seed, Stream::Sample, 0);
        let features = self.data.features();
        let mut v = Weights::zero(1, features);
        (0..features).for_each(|j| v.set(0, j, random.normal()));
        v.set_bias(
            0,
            if self.constant > 0.0 {
                random.normal()
            } else {
                0.0
            },
        );
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
                let s = v.score(0, row) * self.importance.of(i, self.data.labels[i]);
                next.add(0, row, s, s * self.constant);
            }
            eigenvalue = next.squared_norm(0, true).sqrt();
            v = next;
        }
        eigenvalue
    }

    fn target(&self, label: u32, d: usize) -> f64 {
        let positive = match self.scheme {
            Scheme::Binary => label == 1,
            _ => label as usize == d,
        };
        if positive { 1.0 } else { -1.0 }
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
            let c = self.importance.of(i, label);
            self.record(&mut pass, label, c, &scores, &judgement);
            for (d, output) in self.outputs(&scores) {
                let residual = c * (self.target(label, d) - output);
                sum.add(d, row, residual, residual * self.constant);
            }
        }
        (sum, pass)
    }

    fn record(
        &self,
        pass: &mut Pass,
        label: u32,
        weight: f64,
        scores: &[f64],
        judgement: &crate::train::Judgement,
    ) {
        pass.visits += 1;
        let predicted = self.scheme.decide(scores, self.options.at_zero);
        pass.mistakes += u64::from(predicted != label);
        pass.perceptron_loss += judgement.perceptron_loss;
        pass.hinge_loss += judgement.hinge_loss;
        pass.on_boundary += u64::from(judgement.margin == 0.0);
        for (d, output) in self.outputs(scores) {
            let residual = self.target(label, d) - output;
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
    pub(crate) fn go<W: Watch<Self>>(
        &mut self,
        control: Control<'_>,
        progress: &mut Progress,
        watch: &mut W,
    ) -> Result<Stop> {
        let zero = Weights::zero(self.scheme.discriminators(), self.data.features());
        let (towards, at_zero) = self.residual_sum(&zero);
        let small_enough = self.options.tolerance * (1.0 + self.norm(&towards));
        let start_error = at_zero.squared_error.max(f64::MIN_POSITIVE);
        // A run that goes on may have ended so before.
        if out_of_patience(self.options, progress) {
            return Ok(Stop::NoImprovement);
        }
        loop {
            if progress.passes.len() as u64 >= control.epochs {
                return Ok(Stop::EpochLimit);
            }
            if let Some(stop) = asked_to_stop(self.options, control) {
                return Ok(stop);
            }
            let mut before_pass = None;
            let (gradient, mut pass) = match self.options.gradient {
                Gradient::Batch => self.residual_sum(&self.state.weights),
                Gradient::Stochastic => {
                    before_pass = Some(self.state.weights.clone());
                    let pass = self.stochastic_pass(progress);
                    (self.residual_sum(&self.state.weights).0, pass)
                }
            };
            let before = progress.passes.last().map(|p| p.squared_error);
            let grew = match self.options.gradient {
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
            if self.options.gradient == Gradient::Batch && !converged {
                let rate = self.rate;
                self.state.kept = Some(self.state.weights.clone());
                (0..self.scheme.discriminators()).for_each(|d| {
                    self.state
                        .weights
                        .combine(d, &gradient, |w, g| w + rate * g)
                });
                pass.updates = 1;
            }
            progress.visits += pass.visits;
            progress.mistakes += pass.mistakes;
            progress.updates += pass.updates;
            pass.validation_accuracy = watch.pass(self, progress)?;
            progress.passes.push(pass);
            watch.recorded(self, progress)?;
            if converged {
                return Ok(Stop::Converged);
            }
            if out_of_patience(self.options, progress) {
                return Ok(Stop::NoImprovement);
            }
        }
    }

    fn stochastic_pass(&mut self, progress: &Progress) -> Pass {
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
                let c = self.importance.of(i, label);
                self.record(&mut pass, label, c, &scores, &judgement);
                let visit = (progress.visits + pass.visits - 1) as f64;
                let rate = self.rate / (1.0 + self.options.decay * visit) * c;
                for (d, output) in self.outputs(&scores) {
                    let step = rate * (self.target(label, d) - output);
                    self.state.weights.add(d, row, step, step * self.constant);
                }
                pass.updates += 1;
            }
        }
        pass
    }
}
