//! Whether a run may go on: from where it stopped, or with other examples.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Fingerprint, Model, Scheme};
use crate::options::{
    Bias, ClassWeight, Gradient, LearnerKind, Options, Order, PARAMETERS, Readout, choice_name,
};

/// The parameters that a run may change when it goes on.
const LIMITS: [&str; 4] = ["epochs", "time-limit", "max-updates", "patience"];

/// Refuses options or data that are not the model's.
pub(super) fn check_same(
    model: &Model,
    options: &Options,
    data: &Dataset,
    scheme: Scheme,
) -> Result<()> {
    for parameter in PARAMETERS.iter().filter(|p| !LIMITS.contains(&p.name)) {
        let (now, then) = (parameter.get(options), parameter.get(&model.options));
        if now != then {
            return Err(Error::options(format!(
                "--{} {now} differs from the model's {then}",
                parameter.name
            ))
            .remedy("a resumed run keeps its options; only limits may change"));
        }
    }
    if model.classes != data.classes
        || model.scheme != scheme
        || model.features() != data.features()
    {
        return Err(Error::data(
            "the data do not fit the model to go on from: its classes or features differ",
        )
        .remedy("resume with the data and the options the model was trained with"));
    }
    Ok(())
}

/// Refuses examples other than those the model was trained on.
pub(super) fn check_resumable(model: &Model, found: Fingerprint) -> Result<()> {
    if model.trained_on != found {
        return Err(Error::data(
            "the data are not those the model was trained on, so its run cannot go on exactly",
        )
        .remedy("resume with the same file, or train afresh"));
    }
    Ok(())
}

/// Refuses options under which old weights cannot go on with other examples.
pub(super) fn check_carries_on(options: &Options) -> Result<()> {
    let stochastic = options.learner == LearnerKind::LinearUnit
        && options.gradient == Gradient::Stochastic
        && options.learning_rate.is_some();
    let (found, remedy) = if !stochastic && options.learner != LearnerKind::Perceptron {
        (
            format!("the learner {}", choice_name(options.learner)),
            "use the perceptron, or the linear unit with stochastic descent and a given rate",
        )
    } else if matches!(options.readout(), Readout::Voted | Readout::Pocket) {
        (
            format!("the read-out {}", choice_name(options.readout())),
            "use averaged, averaged-normalised, last or random",
        )
    } else if options.bias() == Bias::Unlifted(None) {
        (
            "an unlifted bias whose rate comes from the data".into(),
            "give its rate: unlifted:RHO",
        )
    } else if options.class_weight == ClassWeight::Balanced {
        (
            "balanced class weights".into(),
            "give the weights of the classes",
        )
    } else if matches!(
        options.order,
        Order::Mistakes | Order::Worst | Order::Restart
    ) {
        (
            format!("the order {}", choice_name(options.order)),
            "use given, by-class, shuffled or random",
        )
    } else {
        return Ok(());
    };
    Err(Error::options(format!(
        "{found} needs all examples at once, so a run cannot go on with others"
    ))
    .remedy(remedy))
}
