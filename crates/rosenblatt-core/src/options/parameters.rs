//! The parameters that are not one learner's own.

use super::choices::{choice_name, parse_choice};
use super::parameter::{Parameter, auto, count, not_negative, optional, positive};
use super::{Options, Order};

/// The parameters that say when a run stops. Every mistake-driven learner takes them, and they may
/// change when a run is resumed.
pub(crate) const STOP_PARAMETERS: &[&str] = &[
    "epochs",
    "until",
    "time-limit",
    "max-updates",
    "patience",
    "keep",
    "metric",
];

/// The shared parameters that every learner takes.
pub(crate) const COMMON_PARAMETERS: &[&str] =
    &["embed", "multiclass", "class-weight", "at-zero", "seed"];

/// The parameters that learners share, in the order help lists them. Which of them a learner
/// takes, it says itself.
pub const SHARED_PARAMETERS: &[Parameter<Options>] = &[
    Parameter {
        name: "readout",
        value: "READOUT",
        help: "which weights of the run become the model: last, averaged, averaged-normalised, voted, random or pocket; auto: averaged, but last for the linear unit, the network and max-margin",
        get: |o| o.readout.map_or("auto", choice_name).into(),
        set: |o, t| auto(t, "auto", parse_choice).map(|v| o.readout = v),
    },
    Parameter {
        name: "votes",
        value: "VOTES",
        help: "how often a weight vector votes in the voted readout: visits (as many as it survived, with the one that made it) or correct (the visits that it answered without being changed)",
        get: |o| choice_name(o.votes).into(),
        set: |o, t| parse_choice(t).map(|v| o.votes = v),
    },
    Parameter {
        name: "epochs",
        value: "N",
        help: "stop after N passes; auto: until nothing is gained (see until), at most as many as visit about 3e8 non-zero values, between 5 and 10000; ten times that for max-margin",
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
        help: "update on every example whose margin is at most β, even if it is classified correctly",
        get: |o| o.margin_demand.to_string(),
        set: |o, t| not_negative(t).map(|v| o.margin_demand = v),
    },
    Parameter {
        name: "bias",
        value: "BIAS",
        help: "lifted (a constant feature 1), none (a hyperplane through the origin) or unlifted[:RHO] (with a rate of its own, ηρ²; ρ is the radius unless given; max-margin: a bias that is not regularised); auto: lifted, but none for kernels (where lifted means K + 1) and for embeddings that contain the constant",
        get: |o| optional(&o.bias, "auto"),
        set: |o, t| auto(t, "auto", str::parse).map(|v| o.bias = v),
    },
    Parameter {
        name: "order",
        value: "ORDER",
        help: Order::HELP,
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
        help: "initial weights: zero, random:NORM, or v1,v2,… with the bias first",
        get: |o| o.start.to_string(),
        set: |o, t| t.parse().map(|v| o.start = v),
    },
    Parameter {
        name: "embed",
        value: "EMBEDDING",
        help: "feature map: monomials:DEGREE, circle, squares, fourier:N,GAMMA or nystrom:N,GAMMA",
        get: |o| optional(&o.embed, "none"),
        set: |o, t| auto(t, "none", str::parse).map(|v| o.embed = v),
    },
    Parameter {
        name: "multiclass",
        value: "SCHEME",
        help: "argmax, ovr (one against the rest) or ovo (one against one); auto: one hyperplane for two classes, argmax for more, ovr for the linear unit and max-margin",
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
        help: "class predicted for a score of exactly 0: positive or negative",
        get: |o| choice_name(o.at_zero).into(),
        set: |o, t| parse_choice(t).map(|v| o.at_zero = v),
    },
    Parameter {
        name: "time-limit",
        value: "SECONDS",
        help: "stop after this many seconds",
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
        help: "stop after N passes without a better metric on the held-out examples (needs such)",
        get: |o| optional(&o.patience, "none"),
        set: |o, t| auto(t, "none", count).map(|v| o.patience = v),
    },
    Parameter {
        name: "until",
        value: "WHEN",
        help: "without a number of passes: no-gain (separated, or further passes gain nothing; the page on performance has the rule) or separated (run on)",
        get: |o| choice_name(o.until).into(),
        set: |o, t| parse_choice(t).map(|v| o.until = v),
    },
    Parameter {
        name: "keep",
        value: "PASS",
        help: "which pass becomes the model: best (by the metric on held-out examples; without any, the average of the first 10 passes where their number is left open) or last",
        get: |o| choice_name(o.keep).into(),
        set: |o, t| parse_choice(t).map(|v| o.keep = v),
    },
    Parameter {
        name: "metric",
        value: "METRIC",
        help: "which pass is best on the held-out examples: by accuracy, balanced-accuracy, macro-f1, weighted-f1, auc, average-precision, mcc (Matthews correlation) or neg-log-loss (minus the log loss, of learners that give probabilities)",
        get: |o| choice_name(o.metric).into(),
        set: |o, t| parse_choice(t).map(|v| o.metric = v),
    },
    Parameter {
        name: "seed",
        value: "N",
        help: "random seed",
        get: |o| o.seed.to_string(),
        set: |o, t| {
            t.parse()
                .map(|v| o.seed = v)
                .map_err(|_| "expected a whole number of at least 0".into())
        },
    },
];
