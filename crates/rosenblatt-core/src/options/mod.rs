//! What a learner can be told, declared once.
//!
//! Every parameter stands in [`PARAMETERS`] with its name, meaning and default; the command
//! line, the model file and other front ends read and write options through that table, so
//! a name, a default or a check exists in one place only.

mod choices;
mod parameters;
mod validate;

pub use choices::{
    Activation, AtZero, Bias, Choice, ClassWeight, Gradient, LearnerKind, Loss, Multiclass, Order,
    Readout, Start, Ties, choice_name, parse_choice,
};

pub use parameters::{PARAMETERS, Parameter};

use crate::embedding::Embed;
use crate::error::{Error, Result};
use crate::kernel::Kernel;

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
}

#[cfg(test)]
mod tests;
