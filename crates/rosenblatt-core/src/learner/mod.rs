//! The learners, one file each: its rule, its guarantee, its cost, its parameters, what it refuses,
//! and how it is fitted. [`LEARNERS`] lists them; nothing else names them one by one.

mod adam;
mod arow;
mod backpropagation;
mod fit;
mod kernel_perceptron;
mod linear_unit;
mod logistic;
mod max_margin;
mod network;
mod passive_aggressive;
mod penalty;
mod perceptron;
mod settings;

pub use arow::Arow;
pub(crate) use fit::Fit;
pub use fit::LearnerEntry;
pub use kernel_perceptron::KernelPerceptron;
pub use linear_unit::{Gradient, LinearUnit};
pub use logistic::Logistic;
pub(crate) use logistic::losses as log_losses;
pub use max_margin::MaxMargin;
pub use network::{Loss, NetworkLearner};
pub use passive_aggressive::{PaVariant, PassiveAggressive};
pub use penalty::Penalty;
pub use perceptron::Perceptron;

/// Every learner there is, in the order help lists them; the first is the default.
pub static LEARNERS: [LearnerEntry; 8] = [
    LearnerEntry::of::<Perceptron>(),
    LearnerEntry::of::<KernelPerceptron>(),
    LearnerEntry::of::<LinearUnit>(),
    LearnerEntry::of::<NetworkLearner>(),
    LearnerEntry::of::<MaxMargin>(),
    LearnerEntry::of::<PassiveAggressive>(),
    LearnerEntry::of::<Arow>(),
    LearnerEntry::of::<Logistic>(),
];
