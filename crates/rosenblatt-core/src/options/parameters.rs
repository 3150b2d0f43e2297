//! The table of parameters.

use super::Options;
use super::choices::{
    choice_name, count, list_text, not_negative, number_list, parse_choice, positive,
    positive_or_infinite,
};

/// One parameter: its name as users write it, its meaning, and how its value is read.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The name, in the spelling of the command line.
    pub name: &'static str,
    /// What stands for the value in help texts; empty for a switch.
    pub value: &'static str,
    /// What it means, in one sentence.
    pub help: &'static str,
    pub(super) get: fn(&Options) -> String,
    pub(super) set: fn(&mut Options, &str) -> std::result::Result<(), String>,
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
        help: "step size η above 0; auto: 1 for perceptrons, derived from the data for the linear unit, 0.001 for the network (0.01 below 1000 examples)",
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
