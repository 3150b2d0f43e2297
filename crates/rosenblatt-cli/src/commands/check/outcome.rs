//! What a verdict means for a logistic regression, in the words of the field.

use rosenblatt::proof::Estimate;

use super::examined::Examined;
use crate::render::table::clipped;

/// Where a maximum likelihood estimate goes.
pub(in crate::commands) fn toward(estimate: Estimate) -> &'static str {
    match estimate {
        Estimate::PlusInfinity => "to +∞",
        Estimate::MinusInfinity => "to −∞",
        Estimate::Either => "no unique limit: finite or infinite, either sign",
        Estimate::NotIdentified => "not identified",
        Estimate::Finite => "finite",
    }
}

/// The same as R's packages code it: what to add to a finite estimate.
pub(in crate::commands) fn r_name(estimate: Estimate) -> &'static str {
    match estimate {
        Estimate::PlusInfinity => "Inf",
        Estimate::MinusInfinity => "-Inf",
        Estimate::Either => "either",
        Estimate::NotIdentified => "NA",
        Estimate::Finite => "0",
    }
}

/// The class whose probability is modelled, and the levels that have no coefficient.
pub(in crate::commands) fn outcome_text(examined: &Examined) -> String {
    let classes = &examined.data.classes;
    if classes.len() != 2 {
        return String::new();
    }
    let mut text = format!(
        "outcome: {} against {}",
        clipped(classes.name(1), 40),
        clipped(classes.name(0), 40)
    );
    if !examined.references.is_empty() {
        let levels: Vec<String> = examined.references.iter().map(|l| clipped(l, 40)).collect();
        text.push_str(&format!("; reference levels: {}", levels.join(", ")));
    }
    text.push('\n');
    text
}

/// What to do where estimates do not exist.
pub(in crate::commands) fn next_step() -> &'static str {
    "what to do: drop or merge the levels concerned, estimate with Firth's penalty (rosenblatt logistic --firth), or use exact logistic regression\n"
}
