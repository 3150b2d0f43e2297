//! Which choices do not go together.

use super::{
    Bias, ClassWeight, Gradient, LearnerKind, Multiclass, Options, Order, Readout, Start, Ties,
    choice_name,
};
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// The largest C of a soft margin.
const LARGEST_C: f64 = 1e12;

impl Options {
    /// Refuses combinations that make no sense, with the reason.
    pub fn validate(&self) -> Result<()> {
        if self.kernel == Some(Kernel::Precomputed) && self.embed.is_some() {
            return Err(
                Error::options("a Gram matrix has no features to make others of")
                    .remedy("leave out --embed, or give rows of features and a --kernel"),
            );
        }
        if self.learner == LearnerKind::MaxMargin {
            return self.validate_max_margin();
        }
        if self.c.is_some() {
            return Err(Error::options("--c belongs to the maximum-margin learner")
                .remedy("add --learner max-margin"));
        }
        let from_zero = matches!(self.start, Start::Zero)
            && self
                .start_dual
                .as_ref()
                .is_none_or(|a| a.iter().all(|&x| x == 0.0));
        if self.learner != LearnerKind::Kernel {
            for (name, set) in [
                ("kernel", self.kernel.is_some()),
                ("start-dual", self.start_dual.is_some()),
            ] {
                if set {
                    return Err(
                        Error::options(format!("--{name} belongs to the kernel learner"))
                            .remedy("add --learner kernel"),
                    );
                }
            }
        }
        if self.learner != LearnerKind::Network {
            let defaults = Options::default();
            for (name, set) in [
                ("hidden", self.hidden != defaults.hidden),
                ("activation", self.activation != defaults.activation),
                ("loss", self.loss != defaults.loss),
                ("batch-size", self.batch_size != defaults.batch_size),
                ("restarts", self.restarts != defaults.restarts),
            ] {
                if set {
                    return Err(Error::options(format!("--{name} belongs to the network"))
                        .remedy("add --learner network"));
                }
            }
        }
        if self.learner != LearnerKind::LinearUnit {
            for (name, set) in [
                ("gradient", self.gradient != Gradient::default()),
                ("decay", self.decay != 0.0),
            ] {
                if set {
                    return Err(
                        Error::options(format!("--{name} belongs to the linear unit"))
                            .remedy("add --learner linear-unit"),
                    );
                }
            }
        }
        if matches!(self.learner, LearnerKind::Perceptron | LearnerKind::Kernel) {
            if self.ties == Ties::Correct && from_zero && self.margin_demand == 0.0 {
                return Err(Error::options(
                    "ties = correct never updates from zero weights: every score is 0, and 0 counts as right",
                )
                .remedy("use --ties mistake, a --margin-demand above 0, or another --start"));
            }
        } else {
            let defaults = Options::default();
            for (name, set) in [
                ("readout", self.readout() != Readout::Last),
                ("ties", self.ties != defaults.ties),
                ("margin-demand", self.margin_demand != 0.0),
                ("normalise-weights", self.normalise_weights),
                ("max-updates", self.max_updates.is_some()),
                (
                    "multiclass",
                    match self.learner {
                        LearnerKind::Network => {
                            matches!(self.multiclass, Some(Multiclass::Ovo | Multiclass::Ovr))
                        }
                        _ => matches!(self.multiclass, Some(Multiclass::Ovo | Multiclass::Argmax)),
                    },
                ),
                (
                    "start",
                    self.learner == LearnerKind::Network && self.start != defaults.start,
                ),
                (
                    "order",
                    matches!(self.order, Order::Mistakes | Order::Worst | Order::Restart),
                ),
            ] {
                if set {
                    return Err(Error::options(format!(
                        "--{name} with this value belongs to the perceptron"
                    ))
                    .remedy(format!(
                        "leave it out for --learner {}",
                        choice_name(self.learner)
                    )));
                }
            }
            if self.learner == LearnerKind::Network && self.bias.is_some() {
                return Err(
                    Error::options("every unit of a network has a bias of its own")
                        .remedy("leave out --bias"),
                );
            }
            if matches!(self.bias(), Bias::Unlifted(_)) {
                return Err(Error::options("the linear unit has a lifted bias or none")
                    .remedy("use --bias lifted or --bias none"));
            }
        }
        if self.patience.is_some() && self.readout() == Readout::Voted {
            return Err(Error::options("--patience needs the validation accuracy after each pass, which the voted read-out makes too costly")
                .remedy("use --readout averaged"));
        }
        Ok(())
    }

    /// The solution of a maximum-margin problem is unique: most of what shapes a perceptron's
    /// run has nothing to say about it.
    fn validate_max_margin(&self) -> Result<()> {
        const SPEAKS_OF_IT: [&str; 13] = [
            "learner",
            "epochs",
            "bias",
            "kernel",
            "embed",
            "c",
            "multiclass",
            "class-weight",
            "at-zero",
            "time-limit",
            "max-updates",
            "tolerance",
            "seed",
        ];
        let refuse = |name: &str, value: &str, why: &str| {
            Err(Error::options(format!(
                "--{name} {value} does not go with --learner max-margin: {why}"
            ))
            .remedy(format!("leave out --{name}")))
        };
        for (name, value) in self.changed() {
            let last = name == "readout" && self.readout() == Readout::Last;
            if !SPEAKS_OF_IT.contains(&name) && !last {
                return refuse(
                    name,
                    &value,
                    "it has no bearing on the plane of largest margin",
                );
            }
        }
        if self.multiclass == Some(Multiclass::Argmax) {
            return refuse(
                "multiclass",
                "argmax",
                "its planes are found one by one (ovr, ovo)",
            );
        }
        if let Some(bias @ Bias::Unlifted(Some(_))) = self.bias {
            let why = "an unlifted bias is not penalised, whatever ρ";
            return refuse("bias", &bias.to_string(), why);
        }
        if let Some(c) = self.c.filter(|&c| c > LARGEST_C) {
            return Err(Error::options(format!(
                "--c {c:e}: the steps beside a C above {LARGEST_C:e} are lost in rounding"
            ))
            .remedy("leave --c out for a hard margin, or use a smaller one"));
        }
        if self.c.is_none() && self.class_weight != ClassWeight::One {
            let why = "class weights multiply C, and without --c the margin is hard";
            return refuse("class-weight", &self.class_weight.to_string(), why);
        }
        Ok(())
    }
}
