//! Passive-aggressive learning.
//!
//! *Rule.* The loss of an example is ℓ = max(0, 1 − y·s). Where it is 0 nothing changes; else
//! w ← w + τ y x, the smallest change that mends the example: τ = ℓ/‖x‖² (PA), at most C of it
//! (PA-I), or ℓ/(‖x‖² + 1/(2C)) (PA-II). Several classes: ℓ over the strongest wrong class, whose
//! weights are lowered as those of the right one are raised, so ‖x‖² counts twice. The weight of
//! an example multiplies its C; a row of zeros changes nothing.
//!
//! *Guarantee.* For any u with margin γ on examples of length at most R: the squared losses of
//! PA sum to at most (R/γ)², those of PA-II to at most (R² + 1/(2C))/γ², and PA-I makes at most
//! max(R², 1/C)/γ² mistakes. These are bounds on losses and mistakes, not on updates.
//!
//! *Cost.* That of the perceptron, with an update wherever the margin is below 1.
//!
//! *Reference.* K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, "Online
//! passive-aggressive algorithms", Journal of Machine Learning Research 7 (2006).

use super::Fit;
use super::settings;
use crate::bounds;
use crate::error::Result;
use crate::hypothesis::{Linear, separator_margin};
use crate::options::{
    Bias, Declared, Lack, Learner, Parameter, choice_name, choices, parse_choice, positive,
};
use crate::scheme::Scheme;
use crate::training::{Fitted, Rule, StepSize, Training};

choices! {
    /// How much of a loss one update may mend.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum PaVariant {
        /// All of it.
        Pa = "pa",
        /// All of it, by a step of at most C.
        #[default]
        Pa1 = "pa-1",
        /// A part of it, the larger the larger C.
        Pa2 = "pa-2",
    }
}

/// Passive-aggressive learning.
#[derive(Debug, Clone, PartialEq)]
pub struct PassiveAggressive {
    /// How much of a loss one update may mend.
    pub variant: PaVariant,
    /// C of PA-I and PA-II.
    pub c: f64,
}

impl Default for PassiveAggressive {
    fn default() -> Self {
        PassiveAggressive {
            variant: PaVariant::default(),
            c: 1.0,
        }
    }
}

impl StepSize for &PassiveAggressive {
    #[inline]
    fn size(self, margin: f64, weight: f64, squared_length: impl FnOnce() -> f64) -> Option<f64> {
        let (loss, length, c) = (1.0 - margin, squared_length(), self.c * weight);
        let size = match self.variant {
            PaVariant::Pa => loss / length,
            PaVariant::Pa1 => (loss / length).min(c),
            PaVariant::Pa2 => loss / (length + 1.0 / (2.0 * c)),
        };
        (length > 0.0).then_some(size)
    }
}

impl Declared for PassiveAggressive {
    const NAME: &'static str = "passive-aggressive";
    const SUMMARY: &'static str =
        "smallest update that gives the example a margin of 1: streams, no rate to tune";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter {
            name: "pa",
            value: "VARIANT",
            help: "length of an update: pa (removes the whole loss), pa-1 (at most C) or pa-2 (damped by 1/(2C))",
            get: |l| choice_name(l.variant).into(),
            set: |l, t| parse_choice(t).map(|v| l.variant = v),
        },
        Parameter {
            name: "c",
            value: "C",
            help: "aggressiveness of pa-1 and pa-2, multiplied by the weight of an example",
            get: |l| l.c.to_string(),
            set: |l, t| positive(t).map(|v| l.c = v),
        },
    ];
    const TAKES: &'static [&'static str] = settings::HINGE_DRIVEN;
    const LACKS: &'static [Lack] = {
        const WHY: &str = "its step is the smallest that mends an example, and weights that shrink between steps would void its bounds";
        const REMEDY: &str = "use ⟨c⟩, which limits the steps, or ⟨learner perceptron⟩";
        &[
            ("penalty", WHY, REMEDY),
            ("alpha", WHY, REMEDY),
            ("l1-ratio", WHY, REMEDY),
        ]
    };
}

impl Learner for PassiveAggressive {
    fn is_mistake_driven(&self) -> bool {
        true
    }

    fn unfinished(&self) -> Option<&'static str> {
        Some("not every margin is 1")
    }
}

impl Fit for PassiveAggressive {
    fn fit<'a>(&'a self, mut training: Training<'a>) -> Result<Fitted> {
        let options = training.options;
        let mut linear = Linear::new(&mut training, 1.0)?;
        training.run(&mut linear, Rule::hinge(options), self)?;
        let found = separator_margin(&training, &linear);
        let fitted = training.fitted(&mut linear)?;
        let (mut losses, mut mistakes) = (None, None);
        // The theorems speak of examples that all count alike, and of a bias that is lifted or none.
        let covered = training.counts_all_alike() && !matches!(options.bias(), Bias::Unlifted(_));
        if let Some(found) = found.as_ref().filter(|_| covered) {
            let both = matches!(training.scheme, Scheme::Argmax { .. });
            let squared_radius = fitted.radius * fitted.radius * if both { 2.0 } else { 1.0 };
            let allowed = |reach: f64| reach / (found.lower * found.lower);
            match self.variant {
                PaVariant::Pa => losses = Some(allowed(squared_radius)),
                PaVariant::Pa1 => {
                    mistakes = bounds::count(allowed(squared_radius.max(1.0 / self.c)));
                }
                PaVariant::Pa2 => losses = Some(allowed(squared_radius + 0.5 / self.c)),
            }
        }
        Ok(Fitted {
            margin: found.map(|found| found.bracket(options.bias())),
            squared_loss_at_most: losses,
            mistakes_at_most: mistakes,
            ..fitted
        })
    }
}
