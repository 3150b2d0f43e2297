//! What a learner can be told, declared once.
//!
//! Every parameter stands in [`PARAMETERS`] with its name, meaning and default; the command
//! line, the model file and other front ends read and write options through that table, so
//! a name, a default or a check exists in one place only.

mod choices;

pub use choices::{
    Activation, AtZero, Bias, Choice, ClassWeight, Gradient, LearnerKind, Loss, Multiclass, Order,
    Readout, Start, Ties, choice_name, parse_choice,
};

use crate::embedding::Embed;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use choices::{count, list_text, not_negative, number_list, positive, positive_or_infinite};

/// Everything a learner can be told. See [`PARAMETERS`] for the meaning of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Which learner.
    pub learner: LearnerKind,
    /// Which hypothesis becomes the model; `None`: averaged, but the last one for the
    /// linear unit.
    pub readout: Option<Readout>,
    /// At most this many passes; `None`: bounded work, see [`Options::default_epochs`].
    pub epochs: Option<u64>,
    /// What a tie means.
    pub ties: Ties,
    /// Step size η; `None`: 1 for perceptrons, derived from the data for the linear unit.
    pub learning_rate: Option<f64>,
    /// Margin demand β.
    pub margin_demand: f64,
    /// Where the bias comes from; `None`: lifted, but none for kernels and for embeddings
    /// that contain the constant.
    pub bias: Option<Bias>,
    /// Order of visits.
    pub order: Order,
    /// Divide the weights by their norm after each update.
    pub normalise_weights: bool,
    /// Where the weights begin.
    pub start: Start,
    /// Where the coefficients of a kernel learner begin: one signed number an example.
    pub start_dual: Option<Vec<f64>>,
    /// The kernel of a kernel learner.
    pub kernel: Option<Kernel>,
    /// Features made of features before learning.
    pub embed: Option<Embed>,
    /// What a unit of margin violation costs a maximum-margin learner; `None`: no price is
    /// too high, the margin is hard.
    pub c: Option<f64>,
    /// Units in each hidden layer of a network, from the input on.
    pub hidden: Vec<u64>,
    /// What the hidden units of a network do with their sum.
    pub activation: Activation,
    /// What a network minimises.
    pub loss: Loss,
    /// Examples in each step of a network.
    pub batch_size: u64,
    /// Starts that a network may try when it gets stuck.
    pub restarts: u64,
    /// How several classes are learned; `None`: one plane for two, argmax for more.
    pub multiclass: Option<Multiclass>,
    /// Weights of classes.
    pub class_weight: ClassWeight,
    /// What a score of exactly 0 predicts.
    pub at_zero: AtZero,
    /// Seconds after which to stop.
    pub time_limit: Option<f64>,
    /// Updates after which to stop.
    pub max_updates: Option<u64>,
    /// Passes without better validation accuracy after which to stop.
    pub patience: Option<u64>,
    /// How the linear unit descends.
    pub gradient: Gradient,
    /// κ in the rate η/(1 + κt) of stochastic descent, t counted in visits.
    pub decay: f64,
    /// The linear unit stops when ‖∇E‖ ≤ tolerance·(1 + ‖Xᵀy‖), a maximum-margin learner
    /// when primal − dual ≤ tolerance·primal.
    pub tolerance: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            learner: LearnerKind::default(),
            readout: None,
            epochs: None,
            ties: Ties::default(),
            learning_rate: None,
            margin_demand: 0.0,
            bias: None,
            order: Order::default(),
            normalise_weights: false,
            start: Start::default(),
            start_dual: None,
            kernel: None,
            embed: None,
            c: None,
            hidden: vec![128],
            activation: Activation::default(),
            loss: Loss::default(),
            batch_size: 64,
            restarts: 10,
            multiclass: None,
            class_weight: ClassWeight::default(),
            at_zero: AtZero::default(),
            time_limit: None,
            max_updates: None,
            patience: None,
            gradient: Gradient::default(),
            decay: 0.0,
            tolerance: 1e-6,
            seed: 0,
        }
    }
}

/// One parameter: its name as users write it, its meaning, and how its value is read.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The name, in the spelling of the command line.
    pub name: &'static str,
    /// What stands for the value in help texts; empty for a switch.
    pub value: &'static str,
    /// What it means, in one sentence.
    pub help: &'static str,
    get: fn(&Options) -> String,
    set: fn(&mut Options, &str) -> std::result::Result<(), String>,
}

impl std::fmt::Debug for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parameter")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Parameter {
    /// The value in `options`, as text.
    pub fn get(&self, options: &Options) -> String {
        (self.get)(options)
    }

    /// The value it has when nothing is said.
    pub fn default(&self) -> String {
        (self.get)(&Options::default())
    }
}

fn optional<T: ToString>(value: &Option<T>, otherwise: &str) -> String {
    value
        .as_ref()
        .map_or_else(|| otherwise.to_owned(), T::to_string)
}

fn auto<T>(
    text: &str,
    word: &str,
    read: fn(&str) -> std::result::Result<T, String>,
) -> std::result::Result<Option<T>, String> {
    if text == word {
        Ok(None)
    } else {
        read(text).map(Some).map_err(|e| format!("{e}, or {word}"))
    }
}

/// Every parameter, in the order help lists them.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "learner",
        value: "LEARNER",
        help: "which learner: perceptron, kernel (the perceptron over a kernel), linear-unit, network or max-margin",
        get: |o| choice_name(o.learner).into(),
        set: |o, t| parse_choice(t).map(|v| o.learner = v),
    },
    Parameter {
        name: "readout",
        value: "READOUT",
        help: "which weights of the run become the model: last, averaged, averaged-normalised, voted, random or pocket; auto: averaged, but last for the linear unit, the network and max-margin",
        get: |o| o.readout.map_or("auto", choice_name).into(),
        set: |o, t| auto(t, "auto", parse_choice).map(|v| o.readout = v),
    },
    Parameter {
        name: "epochs",
        value: "N",
        help: "stop after N passes; auto: about 3e8 visited numbers, at least 5 and at most 10000 passes; ten times that for max-margin",
        get: |o| optional(&o.epochs, "auto"),
        set: |o, t| auto(t, "auto", count).map(|v| o.epochs = v),
    },
    Parameter {
        name: "ties",
        value: "RULE",
        help: "when a score calls for an update: mistake (y·s ≤ β), positive (a zero score predicts the positive class) or correct (y·s < β)",
        get: |o| choice_name(o.ties).into(),
        set: |o, t| parse_choice(t).map(|v| o.ties = v),
    },
    Parameter {
        name: "learning-rate",
        value: "RATE",
        help: "step size η above 0; auto: 1 for perceptrons, derived from the data for the linear unit, 0.001 for the network",
        get: |o| optional(&o.learning_rate, "auto"),
        set: |o, t| auto(t, "auto", positive).map(|v| o.learning_rate = v),
    },
    Parameter {
        name: "margin-demand",
        value: "BETA",
        help: "update also right answers whose margin is not above β",
        get: |o| o.margin_demand.to_string(),
        set: |o, t| not_negative(t).map(|v| o.margin_demand = v),
    },
    Parameter {
        name: "bias",
        value: "BIAS",
        help: "lifted (a constant feature 1), none (a plane through the origin) or unlifted[:RHO] (its own rate ηρ²; ρ is the radius unless given; max-margin: a bias that ½‖w‖² leaves out); auto: lifted, but none for kernels (where lifted means K + 1) and for embeddings that contain the constant",
        get: |o| optional(&o.bias, "auto"),
        set: |o, t| auto(t, "auto", str::parse).map(|v| o.bias = v),
    },
    Parameter {
        name: "order",
        value: "ORDER",
        help: "order of visits: given, by-class, shuffled, random (with replacement), mistakes, worst or restart",
        get: |o| choice_name(o.order).into(),
        set: |o, t| parse_choice(t).map(|v| o.order = v),
    },
    Parameter {
        name: "normalise-weights",
        value: "",
        help: "divide the weights by their norm after each update",
        get: |o| o.normalise_weights.to_string(),
        set: |o, t| {
            t.parse()
                .map(|v| o.normalise_weights = v)
                .map_err(|_| "expected true or false".into())
        },
    },
    Parameter {
        name: "start",
        value: "START",
        help: "first weights: zero, random:NORM, or v1,v2,… with the bias first",
        get: |o| o.start.to_string(),
        set: |o, t| t.parse().map(|v| o.start = v),
    },
    Parameter {
        name: "start-dual",
        value: "A1,A2,…",
        help: "kernel learner: first coefficients, one signed number an example",
        get: |o| o.start_dual.as_deref().map_or("none".into(), list_text),
        set: |o, t| auto(t, "none", number_list).map(|v| o.start_dual = v),
    },
    Parameter {
        name: "kernel",
        value: "KERNEL",
        help: "kernel learner and max-margin: linear, quadratic, polynomial:DEGREE[,SCALE,CONST], geometric:DEGREE, monomial:DEGREE, rbf:GAMMA, laplacian:GAMMA, sigmoid:A,C or precomputed",
        get: |o| optional(&o.kernel, "none"),
        set: |o, t| auto(t, "none", str::parse).map(|v| o.kernel = v),
    },
    Parameter {
        name: "embed",
        value: "EMBEDDING",
        help: "features made of features: monomials:DEGREE, circle, squares, fourier:N,GAMMA or nystrom:N,GAMMA",
        get: |o| optional(&o.embed, "none"),
        set: |o, t| auto(t, "none", str::parse).map(|v| o.embed = v),
    },
    Parameter {
        name: "c",
        value: "C",
        help: "max-margin: what a unit of margin violation costs, against ½‖w‖²; none or inf: the margin is hard, for separable data",
        get: |o| optional(&o.c, "none"),
        set: |o, t| positive_or_infinite(t).map(|v| o.c = v),
    },
    Parameter {
        name: "hidden",
        value: "N,N",
        help: "network: units in each hidden layer, from the input on",
        get: |o| list_text(&o.hidden),
        set: |o, t| {
            t.split(',')
                .map(|n| count(n.trim()))
                .collect::<std::result::Result<_, _>>()
                .map(|v| o.hidden = v)
        },
    },
    Parameter {
        name: "activation",
        value: "FUNCTION",
        help: "network: what hidden units do with their sum: relu or tanh",
        get: |o| choice_name(o.activation).into(),
        set: |o, t| parse_choice(t).map(|v| o.activation = v),
    },
    Parameter {
        name: "loss",
        value: "LOSS",
        help: "network: what is minimised: softmax (cross-entropy) or squared",
        get: |o| choice_name(o.loss).into(),
        set: |o, t| parse_choice(t).map(|v| o.loss = v),
    },
    Parameter {
        name: "batch-size",
        value: "N",
        help: "network: examples in each step",
        get: |o| o.batch_size.to_string(),
        set: |o, t| count(t).map(|v| o.batch_size = v),
    },
    Parameter {
        name: "restarts",
        value: "N",
        help: "network: starts to try when it gets stuck",
        get: |o| o.restarts.to_string(),
        set: |o, t| count(t).map(|v| o.restarts = v),
    },
    Parameter {
        name: "multiclass",
        value: "SCHEME",
        help: "argmax, ovr (one against the rest) or ovo (each pair); auto: one plane for two classes, argmax for more, ovr for the linear unit and max-margin",
        get: |o| o.multiclass.map_or("auto", choice_name).into(),
        set: |o, t| auto(t, "auto", parse_choice).map(|v| o.multiclass = v),
    },
    Parameter {
        name: "class-weight",
        value: "WEIGHTS",
        help: "none, balanced, or CLASS=WEIGHT,…: multiplies the updates of a class, or its C",
        get: |o| o.class_weight.to_string(),
        set: |o, t| t.parse().map(|v| o.class_weight = v),
    },
    Parameter {
        name: "at-zero",
        value: "CLASS",
        help: "what a score of exactly 0 predicts: positive or negative",
        get: |o| choice_name(o.at_zero).into(),
        set: |o, t| parse_choice(t).map(|v| o.at_zero = v),
    },
    Parameter {
        name: "time-limit",
        value: "SECONDS",
        help: "stop after this time",
        get: |o| optional(&o.time_limit, "none"),
        set: |o, t| auto(t, "none", positive).map(|v| o.time_limit = v),
    },
    Parameter {
        name: "max-updates",
        value: "N",
        help: "stop after N updates",
        get: |o| optional(&o.max_updates, "none"),
        set: |o, t| auto(t, "none", count).map(|v| o.max_updates = v),
    },
    Parameter {
        name: "patience",
        value: "N",
        help: "stop after N passes without better validation accuracy (needs --validate)",
        get: |o| optional(&o.patience, "none"),
        set: |o, t| auto(t, "none", count).map(|v| o.patience = v),
    },
    Parameter {
        name: "gradient",
        value: "KIND",
        help: "linear unit: batch or stochastic descent",
        get: |o| choice_name(o.gradient).into(),
        set: |o, t| parse_choice(t).map(|v| o.gradient = v),
    },
    Parameter {
        name: "decay",
        value: "KAPPA",
        help: "linear unit, stochastic: the rate at visit t is η/(1 + κt)",
        get: |o| o.decay.to_string(),
        set: |o, t| not_negative(t).map(|v| o.decay = v),
    },
    Parameter {
        name: "tolerance",
        value: "TOL",
        help: "linear unit: stop when the gradient's norm is at most TOL·(1 + ‖Xᵀy‖); max-margin: when the duality gap is at most TOL times the objective",
        get: |o| o.tolerance.to_string(),
        set: |o, t| not_negative(t).map(|v| o.tolerance = v),
    },
    Parameter {
        name: "seed",
        value: "N",
        help: "seed of everything random",
        get: |o| o.seed.to_string(),
        set: |o, t| {
            t.parse()
                .map(|v| o.seed = v)
                .map_err(|_| "expected a whole number of at least 0".into())
        },
    },
];

impl Options {
    /// Sets the parameter called `name` from text.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let parameter = PARAMETERS
            .iter()
            .find(|p| p.name == name)
            .ok_or_else(|| Error::options(format!("there is no option {name:?}")))?;
        (parameter.set)(self, text)
            .map_err(|expected| Error::options(format!("--{name}: found {text:?}, {expected}")))
    }

    /// The parameters that differ from their defaults, as (name, value) texts.
    pub fn changed(&self) -> Vec<(&'static str, String)> {
        PARAMETERS
            .iter()
            .map(|p| (p.name, p.get(self), p.default()))
            .filter(|(_, value, default)| value != default)
            .map(|(name, value, _)| (name, value))
            .collect()
    }

    /// Which hypothesis becomes the model.
    pub fn readout(&self) -> Readout {
        self.readout.unwrap_or(match self.learner {
            LearnerKind::Perceptron | LearnerKind::Kernel => Readout::Averaged,
            LearnerKind::LinearUnit | LearnerKind::Network | LearnerKind::MaxMargin => {
                Readout::Last
            }
        })
    }

    /// Where the bias comes from.
    pub fn bias(&self) -> Bias {
        self.bias.unwrap_or(match self.learner {
            LearnerKind::Kernel => Bias::None,
            LearnerKind::MaxMargin if self.kernel.is_some() => Bias::None,
            _ if self.embed.is_some_and(|e| e.contains_constant()) => Bias::None,
            _ => Bias::Lifted,
        })
    }

    /// The kernel of a kernel learner.
    pub fn kernel(&self) -> Kernel {
        self.kernel.unwrap_or(Kernel::Linear)
    }

    /// η for perceptrons.
    pub fn rate(&self) -> f64 {
        self.learning_rate.unwrap_or(1.0)
    }

    /// How many passes bounded work allows over this many non-zero numbers: about 3·10⁸
    /// numbers visited, fewer where each serves more than ten discriminators.
    pub fn default_epochs(non_zeros: usize, discriminators: usize) -> u64 {
        const VISITED_NUMBERS: f64 = 3e8;
        let work = (non_zeros as f64).max(1.0) * (discriminators as f64 / 10.0).max(1.0);
        ((VISITED_NUMBERS / work) as u64).clamp(5, 10_000)
    }

    /// The same for kernel learners, whose work grows with the square of the examples; late
    /// passes make few updates and cost little.
    pub fn default_kernel_epochs(non_zeros: usize, examples: usize) -> u64 {
        const MULTIPLICATIONS: f64 = 3e12;
        let pass = (non_zeros as f64).max(1.0) * (examples as f64).max(1.0);
        ((MULTIPLICATIONS / pass) as u64).clamp(10, 10_000)
    }

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
        if self.c.is_none() && self.class_weight != ClassWeight::One {
            let why = "class weights multiply C, and without --c the margin is hard";
            return refuse("class-weight", &self.class_weight.to_string(), why);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
