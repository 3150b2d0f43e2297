//! AROW: adaptive regularisation of weights, with a diagonal confidence.
//!
//! *Rule.* Beside the weights stands a confidence Σ, a diagonal, I at first. If y·s < 1: with
//! v = xᵀΣx, β = 1/(v + r) and α = β(1 − y·s), w ← w + α y Σx and Σ_jj ← Σ_jj − β(Σ_jj x_j)², all
//! from the values before. So a feature that was seen often moves little, and one that is rare
//! moves far. Several classes: each has its Σ, and v sums over the two classes that move. The
//! weight c of an example divides its r, as if it were c examples' worth of loss; a row of zeros
//! changes nothing.
//!
//! *Guarantee.* The paper bounds mistakes with a full matrix Σ; with a diagonal one its proof
//! does not apply, so no bound is stated. The number of updates is not bounded either way.
//!
//! *Cost.* That of the perceptron where nothing changes; an update reads and writes a second
//! number for each feature.
//!
//! *Reference.* K. Crammer, A. Kulesza and M. Dredze, "Adaptive regularization of weight
//! vectors", NIPS (2009).

use super::Fit;
use super::settings;
use crate::error::{Error, Result};
use crate::hypothesis::{Linear, separator_margin};
use crate::options::{Bias, Declared, Lack, Learner, Options, Parameter, Readout, positive};
use crate::training::{Fitted, Rule, StepSize, Training};

/// AROW with a diagonal confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Arow {
    /// The regularisation r: the larger, the more slowly confidence grows.
    pub r: f64,
}

impl Default for Arow {
    fn default() -> Self {
        Arow { r: 1.0 }
    }
}

impl StepSize for &Arow {
    #[inline]
    fn size(self, margin: f64, weight: f64, squared_length: impl FnOnce() -> f64) -> Option<f64> {
        let variance = squared_length();
        (variance > 0.0).then(|| (1.0 - margin) / (variance + self.r / weight))
    }
}

impl Declared for Arow {
    const NAME: &'static str = "arow";
    const SUMMARY: &'static str =
        "a confidence for each weight: text, unscaled columns, a single pass";
    const PARAMETERS: &'static [Parameter<Self>] = &[Parameter {
        name: "r",
        value: "R",
        help: "regularisation above 0: the larger, the more slowly confidence grows",
        get: |l| l.r.to_string(),
        set: |l, t| positive(t).map(|v| l.r = v),
    }];
    const TAKES: &'static [&'static str] = settings::HINGE_DRIVEN;
    const LACKS: &'static [Lack] = {
        const WHY: &str = "its confidence is in weights that updates alone have moved, and those that shrink at every visit are others";
        const REMEDY: &str = "use ⟨r⟩, its regularisation, or ⟨learner perceptron⟩";
        &[
            ("penalty", WHY, REMEDY),
            ("alpha", WHY, REMEDY),
            ("l1-ratio", WHY, REMEDY),
            (
                "c",
                "its regularisation is ⟨r⟩, and a larger r makes smaller steps",
                "use ⟨r⟩",
            ),
        ]
    };
}

impl Learner for Arow {
    fn check(&self, options: &Options) -> Result<()> {
        if matches!(
            options.readout(),
            Readout::Voted | Readout::AveragedNormalised
        ) {
            return Err(Error::options(
                "each update of AROW goes along another confidence, so its hypotheses cannot vote or be normalised from a log of updates",
            )
            .remedy("use ⟨readout averaged⟩, last, random or pocket"));
        }
        if matches!(options.bias(), Bias::Unlifted(_)) {
            return Err(Error::options(
                "AROW has a lifted bias or none, whose confidence is learned",
            )
            .remedy("use ⟨bias lifted⟩ or ⟨bias none⟩"));
        }
        Ok(())
    }

    fn is_mistake_driven(&self) -> bool {
        true
    }

    fn unfinished(&self) -> Option<&'static str> {
        Some("not every margin is 1")
    }
}

impl Fit for Arow {
    fn fit<'a>(&'a self, mut training: Training<'a>) -> Result<Fitted> {
        let options = training.options;
        let mut linear = Linear::with_confidence(&mut training, self.r)?;
        training.run(&mut linear, Rule::hinge(options), self)?;
        let found = separator_margin(&training, &linear);
        Ok(Fitted {
            margin: found.map(|found| found.bracket(options.bias())),
            ..training.fitted(&mut linear)?
        })
    }
}
