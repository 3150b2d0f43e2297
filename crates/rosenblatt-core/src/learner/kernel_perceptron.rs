//! The perceptron in its dual form, over a kernel.
//!
//! *Rule.* w = w0 + η Σ a_i c_i y_i φ(x_i), where a_i counts how often example i was
//! corrected; an update adds 1 to a_i, or with several discriminators moves those that the
//! judgement names.
//!
//! *Guarantee.* With the linear kernel, the same updates in the same order as the primal
//! perceptron, and the same weights. In general the bounds of the primal hold in the space
//! of the kernel, R² = max c_i²K(x_i, x_i).
//!
//! *Cost.* Each pair of an example and an update is added once; each pair of an example and
//! a corrected example is multiplied once while memory lasts.
//!
//! *Reference.* M. Aizerman, E. Braverman and L. Rozonoer, "Theoretical foundations of the
//! potential function method in pattern recognition learning", Automation and Remote Control
//! 25 (1964); Y. Freund and R. E. Schapire, "Large margin classification using the
//! perceptron algorithm", Machine Learning 37 (1999).

use super::Fit;
use super::settings::{self, MISTAKE_DRIVEN, starts_at_zero, unit_and_step};
use crate::error::{Error, Result};
use crate::hypothesis::{Dual, dual_margin, squared_radius};
use crate::kernel::{self, Kernel, Spectrum};
use crate::options::{
    Bias, DataSize, Declared, Learner, Options, Parameter, auto, list_text, number_list, optional,
};
use crate::training::{Constant, Fitted, Hypothesis, Rule, Training};

/// The perceptron over a kernel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KernelPerceptron {
    /// The kernel; `None`: linear.
    pub kernel: Option<Kernel>,
    /// Where the coefficients begin: one signed number an example.
    pub start: Option<Vec<f64>>,
}

impl KernelPerceptron {
    /// The kernel as used.
    pub fn kernel(&self) -> Kernel {
        self.kernel.unwrap_or(Kernel::Linear)
    }

    fn starts_at_zero(&self) -> bool {
        let start = self.start.as_ref();
        start.is_none_or(|start| start.iter().all(|&a| a == 0.0))
    }
}

impl Declared for KernelPerceptron {
    const NAME: &'static str = "kernel";
    const SUMMARY: &'static str = "perceptron over a kernel";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter {
            name: "kernel",
            value: "KERNEL",
            help: kernel::SPELLINGS,
            get: |l| optional(&l.kernel, "none"),
            set: |l, t| auto(t, "none", str::parse).map(|v| l.kernel = v),
        },
        Parameter {
            name: "start-dual",
            value: "A1,A2,…",
            help: "initial coefficients, one signed number per example",
            get: |l| l.start.as_deref().map_or("none".into(), list_text),
            set: |l, t| auto(t, "none", number_list).map(|v| l.start = v),
        },
    ];
    const TAKES: &'static [&'static str] = MISTAKE_DRIVEN;
}

impl Learner for KernelPerceptron {
    fn check(&self, options: &Options) -> Result<()> {
        if !starts_at_zero(options) {
            return Err(
                Error::options("a kernel learner has no weights to start from")
                    .remedy("give ⟨start-dual a1,a2,…⟩ with one signed coefficient an example"),
            );
        }
        settings::check_ties(options, self.starts_at_zero())
    }

    fn default_bias(&self) -> Bias {
        Bias::None
    }

    fn default_epochs(&self, size: DataSize) -> u64 {
        Options::default_kernel_epochs(size.non_zeros, size.examples)
    }

    fn kernel(&self) -> Option<Kernel> {
        Some(self.kernel())
    }

    fn keeps_weights(&self) -> bool {
        false
    }

    fn is_mistake_driven(&self) -> bool {
        true
    }

    fn unfinished(&self) -> Option<&'static str> {
        Some("not separated")
    }
}

impl Fit for KernelPerceptron {
    fn fit<'a>(&'a self, mut training: Training<'a>) -> Result<Fitted> {
        let (options, kernel) = (training.options, self.kernel());
        let (unit, step) = unit_and_step(options, self.starts_at_zero());
        let start = self.start.as_deref().unwrap_or_default();
        let mut dual = Dual::new(&training, kernel, start, unit)?;
        let rule = Rule::new(options, dual.unit());
        training.run(&mut dual, rule, Constant(step))?;
        let found = dual_margin(&training, &mut dual);
        Ok(Fitted {
            radius: squared_radius(&training, kernel, training.lift()).sqrt(),
            margin: found.map(|(margin, _)| margin),
            updates_at_most: found.and_then(|(_, updates)| updates),
            spectrum: Some(Spectrum::of(&kernel, training.data, options.seed)),
            ..training.fitted(&mut dual)?
        })
    }
}
