//! What a learner can be told, each parameter declared once.
//!
//! The parameters that learners share stand in [`SHARED_PARAMETERS`]; those of one learner alone
//! stand in its own file ([`Declared::PARAMETERS`]). The command line, the model file and other
//! front ends read and write options through these tables, so a name, a default or a check
//! exists in one place only.

mod choices;
mod learner;
mod parameter;
mod parameters;

pub(crate) use choices::choices;
pub use choices::{
    AtZero, Bias, Choice, ClassWeight, Keep, Metric, Multiclass, Order, Readout, Start, Ties,
    Until, Votes, choice_name, parse_choice,
};
pub use learner::{DataSize, Declared, DynLearner, Lack, Learner, LearnerChoice};
pub(crate) use learner::{check_mistake_driven_partial_fit, needs_all_examples};
pub use parameter::{Parameter, ParameterInfo, Parsed};
pub(crate) use parameter::{
    auto, count, list_text, not_negative, number, number_list, optional, positive,
    positive_or_infinite,
};
pub use parameters::SHARED_PARAMETERS;
pub(crate) use parameters::{COMMON_PARAMETERS, STOP_PARAMETERS};

use crate::embedding::Embed;

/// Everything a learner can be told. See [`SHARED_PARAMETERS`] and [`Declared::PARAMETERS`] for
/// the meaning of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Which learner, with its own settings.
    pub learner: LearnerChoice,
    /// Which hypothesis becomes the model; `None`: averaged, but the last one for the
    /// linear unit.
    pub readout: Option<Readout>,
    /// How often a weight vector votes in the voted read-out.
    pub votes: Votes,
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
    /// Features made of features before learning.
    pub embed: Option<Embed>,
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
    /// How long a run goes on where no number of passes is given.
    pub until: Until,
    /// Which pass becomes the model where there are held-out examples.
    pub keep: Keep,
    /// What tells which pass is best.
    pub metric: Metric,
    /// Seed of everything random.
    pub seed: u64,
}

/// Passes after which most runs gain nothing.
const USUAL_PASSES: u64 = 10;

impl Options {
    /// The options of a learner with everything else at its default.
    pub fn of(learner: LearnerChoice) -> Self {
        Options {
            learner,
            ..Options::default()
        }
    }

    /// Which hypothesis becomes the model.
    pub fn readout(&self) -> Readout {
        self.readout.unwrap_or(self.learner.default_readout())
    }

    /// Where the bias comes from.
    pub fn bias(&self) -> Bias {
        self.bias
            .unwrap_or_else(|| match self.embed.is_some_and(|e| e.contains_constant()) {
                true => Bias::None,
                false => self.learner.default_bias(),
            })
    }

    /// Whether the pass that is best by held-out examples becomes the model.
    pub fn keeps_best_pass(&self) -> bool {
        self.keep == Keep::Best && self.learner.keeps_best_pass()
    }

    /// Whether its models give probabilities without calibration.
    pub fn gives_probabilities(&self) -> bool {
        self.learner.gives_probabilities() && self.multiclass != Some(Multiclass::Ovo)
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

    /// Whether a run ends where passes gain nothing, without a number of them.
    pub fn ends_without_gain(&self) -> bool {
        self.until == Until::NoGain
            && self.learner.is_mistake_driven()
            && self.learner.keeps_weights()
    }

    /// The pass whose average becomes the model where the end is left open and nothing is held out:
    /// further passes may separate the examples, but make the average no better on others, which
    /// `bench/accuracy` is the experiment for.
    pub(crate) fn pass_to_keep(&self) -> Option<u64> {
        let averaged = matches!(
            self.readout(),
            Readout::Averaged | Readout::AveragedNormalised
        );
        let open = self.epochs.is_none() && self.ends_without_gain();
        (open && averaged && self.keeps_best_pass()).then_some(USUAL_PASSES)
    }

    /// How many passes a run that ends where they gain nothing makes, as a rule.
    pub fn usual_passes(size: DataSize) -> u64 {
        Self::free_passes(size).max(USUAL_PASSES)
    }

    /// How many passes take about three hundredths of a second, so that no run is ended before
    /// them for want of gain.
    pub fn free_passes(size: DataSize) -> u64 {
        const WORK: f64 = 1.5e7;
        (WORK / size.pass_work()) as u64
    }

    /// [`default_epochs`](Self::default_epochs) of kernel learners, whose work grows with the
    /// square of the examples; late passes make few updates and cost little.
    pub fn default_kernel_epochs(non_zeros: usize, examples: usize) -> u64 {
        const MULTIPLICATIONS: f64 = 3e12;
        let pass = (non_zeros as f64).max(1.0) * (examples as f64).max(1.0);
        ((MULTIPLICATIONS / pass) as u64).clamp(10, 10_000)
    }
}

#[cfg(test)]
mod tests;
