//! The perceptron.
//!
//! *Rule.* Visit examples; where example i calls for an update, w ← w + η c_i y_i x_i. With
//! several discriminators the judgement says which to raise and which to lower.
//!
//! With a penalty every visit also shrinks all weights, but no bias: `l2` takes the share ηα of
//! each, `l1` ηα of its length, `elasticnet` a part of both.
//!
//! *Guarantee.* Without a penalty: on separable data, from zero and without a margin demand, at most (R/γ)²
//! updates at any rate and in any order, R = max c_i‖x_i‖ and γ the margin.
//!
//! *Cost.* O(non-zeros of the row) a visit, times the number of discriminators to score; an
//! update costs the same again, averaged read-outs included.
//!
//! *Reference.* F. Rosenblatt, "The perceptron: a probabilistic model for information
//! storage and organization in the brain", Psychological Review 65 (1958); A. Novikoff, "On
//! convergence proofs on perceptrons" (1962).

use super::Fit;
use super::penalty::{self, Penalty};
use super::settings::{self, MISTAKE_DRIVEN, starts_at_zero, unit_and_step};
use crate::error::{Error, Result};
use crate::hypothesis::{Linear, Penalised, Shrinkage, linear_margin};
use crate::options::{
    Declared, Learner, Options, Parameter, choice_name, not_negative, parse_choice,
};
use crate::training::{Constant, Fitted, Hypothesis, Rule, Training};

/// Rosenblatt's perceptron with explicit weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Perceptron {
    /// What large weights cost.
    pub penalty: Penalty,
    /// α, the strength of the penalty.
    pub alpha: f64,
    /// The share of `l1` in `elasticnet`.
    pub l1_ratio: f64,
}

impl Default for Perceptron {
    fn default() -> Self {
        Perceptron {
            penalty: Penalty::None,
            alpha: 1e-4,
            l1_ratio: 0.15,
        }
    }
}

impl Perceptron {
    /// What a visit takes from the weights at this rate.
    fn shrinkage(&self, rate: f64) -> Shrinkage {
        let l1 = match self.penalty {
            Penalty::None | Penalty::L2 => 0.0,
            Penalty::L1 => 1.0,
            Penalty::ElasticNet => self.l1_ratio,
        };
        Shrinkage {
            keep: (1.0 - (1.0 - l1) * rate * self.alpha).max(0.0),
            cut: l1 * rate * self.alpha,
        }
    }
}

impl Declared for Perceptron {
    const NAME: &'static str = "perceptron";
    const SUMMARY: &'static str =
        "Rosenblatt's perceptron: a first try, separable data, the largest files";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter {
            name: "penalty",
            value: "PENALTY",
            help: "what shrinks the weights at every visit: none, l2 (by a share), l1 (by an amount, which leaves many at 0) or elasticnet (both)",
            get: |l| choice_name(l.penalty).into(),
            set: |l, t| parse_choice(t).map(|v| l.penalty = v),
        },
        Parameter {
            name: "alpha",
            value: "ALPHA",
            help: "strength of the penalty: a visit takes η·α",
            get: |l| l.alpha.to_string(),
            set: |l, t| not_negative(t).map(|v| l.alpha = v),
        },
        Parameter {
            name: "l1-ratio",
            value: "SHARE",
            help: "share of l1 in elasticnet, from 0 (l2) to 1 (l1)",
            get: |l| l.l1_ratio.to_string(),
            set: |l, t| penalty::share(t).map(|v| l.l1_ratio = v),
        },
    ];
    const TAKES: &'static [&'static str] = MISTAKE_DRIVEN;
}

impl Learner for Perceptron {
    fn check(&self, options: &Options) -> Result<()> {
        let defaults = Perceptron::default();
        if self.penalty == Penalty::None && self.alpha != defaults.alpha {
            return Err(Error::options(
                "⟨alpha⟩ is the strength of a ⟨penalty⟩, and there is none",
            )
            .remedy("add ⟨penalty l2⟩, or leave out ⟨alpha⟩"));
        }
        if self.penalty != Penalty::ElasticNet && self.l1_ratio != defaults.l1_ratio {
            return Err(
                Error::options("⟨l1-ratio⟩ mixes the two parts of ⟨penalty elasticnet⟩")
                    .remedy("add ⟨penalty elasticnet⟩, or leave out ⟨l1-ratio⟩"),
            );
        }
        if self.penalty != Penalty::None {
            penalty::check_options(options)?;
        }
        settings::check_ties(options, starts_at_zero(options))
    }

    fn is_mistake_driven(&self) -> bool {
        true
    }

    fn bounds_updates(&self) -> bool {
        true
    }

    fn unfinished(&self) -> Option<&'static str> {
        (self.penalty == Penalty::None).then_some("not separated")
    }
}

impl Fit for Perceptron {
    fn fit<'a>(&'a self, mut training: Training<'a>) -> Result<Fitted> {
        let options = training.options;
        if self.penalty != Penalty::None {
            let mut penalised = Penalised::new(&mut training, self.shrinkage(options.rate()))?;
            let rule = Rule::new(options, penalised.unit());
            training.run(&mut penalised, rule, Constant(options.rate()))?;
            return training.fitted(&mut penalised);
        }
        let (unit, step) = unit_and_step(options, starts_at_zero(options));
        let mut linear = Linear::new(&mut training, unit)?;
        let rule = Rule::new(options, linear.unit());
        training.run(&mut linear, rule, Constant(step))?;
        let found = linear_margin(&training, &linear);
        Ok(Fitted {
            margin: found.map(|(margin, _)| margin),
            updates_at_most: found.and_then(|(_, updates)| updates),
            ..training.fitted(&mut linear)?
        })
    }
}
