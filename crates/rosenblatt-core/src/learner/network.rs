//! A network with hidden layers, trained by [back-propagation](super::backpropagation).

use super::Fit;
use super::backpropagation::Backpropagation;
use super::settings;
use crate::error::{Error, Result};
use crate::model::Activation;
use crate::options::{
    Declared, Learner, Multiclass, Options, Parameter, choice_name, choices, count, list_text,
    parse_choice,
};
use crate::training::{Fitted, Training};

choices! {
    /// What a network minimises.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Loss {
        /// Cross-entropy of the softmax of the outputs (for two classes: logistic loss).
        #[default]
        Softmax = "softmax",
        /// Half the squared distance of the outputs from ±1.
        Squared = "squared",
    }
}

/// A network with hidden layers.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkLearner {
    /// Units in each hidden layer, from the input on.
    pub hidden: Vec<u64>,
    /// What the hidden units do with their sum.
    pub activation: Activation,
    /// What is minimised.
    pub loss: Loss,
    /// Examples in each step.
    pub batch_size: u64,
    /// Starts that may be tried when it gets stuck.
    pub restarts: u64,
}

impl Default for NetworkLearner {
    fn default() -> Self {
        NetworkLearner {
            hidden: vec![128],
            activation: Activation::default(),
            loss: Loss::default(),
            batch_size: 64,
            restarts: 10,
        }
    }
}

impl Declared for NetworkLearner {
    const NAME: &'static str = "network";
    const SUMMARY: &'static str = "hidden layers trained by back-propagation";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter {
            name: "hidden",
            value: "N,N",
            help: "units of each hidden layer, first layer first",
            get: |l| list_text(&l.hidden),
            set: |l, t| {
                t.split(',')
                    .map(|n| count(n.trim()))
                    .collect::<std::result::Result<_, _>>()
                    .map(|v| l.hidden = v)
            },
        },
        Parameter {
            name: "activation",
            value: "FUNCTION",
            help: "activation of the hidden units: relu or tanh",
            get: |l| choice_name(l.activation).into(),
            set: |l, t| parse_choice(t).map(|v| l.activation = v),
        },
        Parameter {
            name: "loss",
            value: "LOSS",
            help: "loss: softmax (cross-entropy) or squared",
            get: |l| choice_name(l.loss).into(),
            set: |l, t| parse_choice(t).map(|v| l.loss = v),
        },
        Parameter {
            name: "batch-size",
            value: "N",
            help: "examples per step",
            get: |l| l.batch_size.to_string(),
            set: |l, t| count(t).map(|v| l.batch_size = v),
        },
        Parameter {
            name: "restarts",
            value: "N",
            help: "number of initialisations to try when training gets stuck",
            get: |l| l.restarts.to_string(),
            set: |l, t| count(t).map(|v| l.restarts = v),
        },
    ];
    const TAKES: &'static [&'static str] = &[
        "epochs",
        "learning-rate",
        "order",
        "time-limit",
        "patience",
        "metric",
    ];
}

impl Learner for NetworkLearner {
    fn check(&self, options: &Options) -> Result<()> {
        if matches!(options.multiclass, Some(m) if m != Multiclass::Argmax) {
            return Err(Error::options(
                "a network has one output a class, and the largest decides",
            )
            .remedy("use ⟨multiclass argmax⟩"));
        }
        settings::check_order(options, "a network")
    }

    fn keeps_weights(&self) -> bool {
        false
    }

    fn cannot_resume(&self) -> Option<Error> {
        Some(
            Error::options("the training of a network cannot be resumed")
                .remedy("train it afresh with more ⟨epochs⟩"),
        )
    }
}

impl Fit for NetworkLearner {
    fn fit<'a>(&'a self, mut training: Training<'a>) -> Result<Fitted> {
        let mut run = Backpropagation::new(self, &training)?;
        training.progress.stop = Some(run.go(&mut training)?);
        Ok(Fitted {
            learning_rate: run.rate(),
            ..training.fitted(&mut run)?
        })
    }
}
