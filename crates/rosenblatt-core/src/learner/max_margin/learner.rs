//! Maximum margin as a learner: its parameters, what it refuses, and how it is fitted.

use super::MarginSearch;
use crate::error::{Error, Result};
use crate::kernel::{self, Kernel, Spectrum};
use crate::learner::Fit;
use crate::options::{
    Bias, ClassWeight, DataSize, Declared, Learner, Multiclass, Options, Parameter, auto,
    not_negative, optional, positive_or_infinite,
};
use crate::training::{Fitted, Training};

/// The largest C of a soft margin.
const LARGEST_C: f64 = 1e12;

/// The plane of largest margin, hard or soft, with or without a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct MaxMargin {
    /// What a unit of margin violation costs; `None`: no price is too high, the margin is hard.
    pub c: Option<f64>,
    /// The kernel, if any.
    pub kernel: Option<Kernel>,
    /// It stops when primal − dual ≤ tolerance·primal.
    pub tolerance: f64,
}

impl Default for MaxMargin {
    fn default() -> Self {
        MaxMargin {
            c: None,
            kernel: None,
            tolerance: 1e-6,
        }
    }
}

impl Declared for MaxMargin {
    const NAME: &'static str = "max-margin";
    const SUMMARY: &'static str = "hyperplane of largest margin, hard or soft";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter {
            name: "c",
            value: "C",
            help: "cost of margin violations relative to ½‖w‖²; none or inf: hard margin, for separable data",
            get: |l| optional(&l.c, "none"),
            set: |l, t| positive_or_infinite(t).map(|v| l.c = v),
        },
        Parameter {
            name: "kernel",
            value: "KERNEL",
            help: kernel::SPELLINGS,
            get: |l| optional(&l.kernel, "none"),
            set: |l, t| auto(t, "none", str::parse).map(|v| l.kernel = v),
        },
        Parameter {
            name: "tolerance",
            value: "TOL",
            help: "stop when the duality gap is at most TOL times the objective",
            get: |l| l.tolerance.to_string(),
            set: |l, t| not_negative(t).map(|v| l.tolerance = v),
        },
    ];
    /// The solution is unique: most of what shapes a perceptron's run has no bearing on it.
    const TAKES: &'static [&'static str] = &["epochs", "bias", "time-limit", "max-updates"];
}

impl Learner for MaxMargin {
    fn check(&self, options: &Options) -> Result<()> {
        let refuse = |name: &str, value: &str, why: &str| {
            Err(Error::options(format!(
                "⟨{name} {value}⟩ does not go with ⟨learner max-margin⟩: {why}"
            ))
            .remedy(format!("leave out ⟨{name}⟩")))
        };
        if options.multiclass == Some(Multiclass::Argmax) {
            let why = "its planes are found one by one (ovr, ovo)";
            return refuse("multiclass", "argmax", why);
        }
        if let Some(bias @ Bias::Unlifted(Some(_))) = options.bias {
            let why = "an unlifted bias is not penalised, whatever ρ";
            return refuse("bias", &bias.to_string(), why);
        }
        if let Some(c) = self.c.filter(|&c| c > LARGEST_C) {
            return Err(Error::options(format!(
                "⟨c {c:e}⟩: the steps beside a C above {LARGEST_C:e} are lost in rounding"
            ))
            .remedy("leave ⟨c⟩ out for a hard margin, or use a smaller one"));
        }
        if self.c.is_none() && options.class_weight != ClassWeight::One {
            let why = "class weights multiply C, and without ⟨c⟩ the margin is hard";
            return refuse("class-weight", &options.class_weight.to_string(), why);
        }
        Ok(())
    }

    fn default_bias(&self) -> Bias {
        match self.kernel {
            Some(_) => Bias::None,
            None => Bias::Lifted,
        }
    }

    fn default_multiclass(&self) -> Multiclass {
        Multiclass::Ovr
    }

    /// Passes leave most examples out before long, so there may be more of them.
    fn default_epochs(&self, size: DataSize) -> u64 {
        10 * Options::default_epochs(size.non_zeros, size.discriminators)
    }

    fn kernel(&self) -> Option<Kernel> {
        self.kernel
    }

    fn keeps_weights(&self) -> bool {
        self.kernel.is_none()
    }

    fn cannot_resume(&self) -> Option<Error> {
        Some(Error::options(
            "the search for the largest margin cannot be resumed: its answer is the same from any start",
        )
        .remedy("train afresh with larger limits or another ⟨tolerance⟩"))
    }

    fn unfinished(&self) -> Option<&'static str> {
        Some("the duality gap is not yet within the tolerance")
    }

    fn converged(&self) -> &'static str {
        "the duality gap is within the tolerance"
    }
}

impl Fit for MaxMargin {
    fn fit<'a>(&'a self, mut training: Training<'a>) -> Result<Fitted> {
        if let Some(kernel) = &self.kernel {
            kernel.check(training.data)?;
        }
        if self.c.is_none() && training.data.weights.is_some() {
            return Err(Error::options(
                "weights of examples multiply C, and without ⟨c⟩ the margin is hard",
            )
            .remedy("add ⟨c 1⟩, or leave out ⟨weight-column⟩"));
        }
        let mut search = MarginSearch {
            data: training.data,
            sample_weights: training.sample_weights,
            scheme: training.scheme,
            settings: self,
            options: training.options,
            resources: training.resources,
            separability_test: training.separability_test,
            planes: Vec::new(),
        };
        let recorder = &mut training.recorder;
        let stop = search.go(training.limits, &mut training.progress, |progress| {
            recorder.report_pass(progress);
        })?;
        training.progress.stop = Some(stop);
        let seed = training.options.seed;
        let spectrum = |kernel| Spectrum::of(&kernel, training.data, seed);
        Ok(Fitted {
            margin: search.margin(),
            spectrum: self.kernel.map(spectrum),
            ..training.fitted(&mut search)?
        })
    }
}
