//! The perceptron.
//!
//! *Rule.* Visit examples; where example i calls for an update, w ← w + η c_i y_i x_i. With
//! several discriminators the judgement says which to raise and which to lower.
//!
//! *Guarantee.* On separable data, from zero and without a margin demand, at most (R/γ)²
//! updates at any rate and in any order, R = max c_i‖x_i‖ and γ the margin.
//!
//! *Cost.* O(non-zeros of the row) a visit, times the number of discriminators to score; an
//! update costs the same again, averaged read-outs included.
//!
//! *Reference.* F. Rosenblatt, "The perceptron: a probabilistic model for information
//! storage and organization in the brain", Psychological Review 65 (1958); A. Novikoff, "On
//! convergence proofs on perceptrons" (1962).

use super::Fit;
use super::settings::{self, MISTAKE_DRIVEN, starts_at_zero, unit_and_step};
use crate::error::Result;
use crate::hypothesis::{Linear, linear_margin};
use crate::options::{Declared, Learner, Options};
use crate::training::{Constant, Fitted, Hypothesis, Rule, Training};

/// Rosenblatt's perceptron with explicit weights. It has no parameters of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Perceptron;

impl Declared for Perceptron {
    const NAME: &'static str = "perceptron";
    const SUMMARY: &'static str =
        "Rosenblatt's perceptron: a first try, separable data, the largest files";
    const TAKES: &'static [&'static str] = MISTAKE_DRIVEN;
}

impl Learner for Perceptron {
    fn check(&self, options: &Options) -> Result<()> {
        settings::check_ties(options, starts_at_zero(options))
    }

    fn is_mistake_driven(&self) -> bool {
        true
    }

    fn bounds_updates(&self) -> bool {
        true
    }

    fn unfinished(&self) -> Option<&'static str> {
        Some("not separated")
    }
}

impl Fit for Perceptron {
    fn fit<'a>(&'a self, mut training: Training<'a>) -> Result<Fitted> {
        let options = training.options;
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
