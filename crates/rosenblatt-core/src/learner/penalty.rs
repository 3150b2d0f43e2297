//! What large weights cost.

use crate::error::{Error, Result};
use crate::options::{Options, Order, Parsed, Readout, Until, choices, number};

choices! {
    /// What large weights cost.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Penalty {
        /// Nothing.
        #[default]
        None = "none",
        /// ½‖w‖².
        L2 = "l2",
        /// ‖w‖₁: the sum of their absolute values.
        L1 = "l1",
        /// A mixture of both.
        ElasticNet = "elasticnet",
    }
}

/// A share from 0 to 1.
pub(super) fn share(text: &str) -> Parsed<f64> {
    match number(text)? {
        v if (0.0..=1.0).contains(&v) => Ok(v),
        _ => Err("expected a number from 0 to 1".into()),
    }
}

/// Refuses what has no meaning for weights that shrink at every visit.
pub(super) fn check_options(options: &Options) -> Result<()> {
    if options.normalise_weights {
        return Err(Error::options(
            "⟨normalise-weights⟩ would undo what a ⟨penalty⟩ takes from the weights",
        )
        .remedy("leave out one of the two"));
    }
    if matches!(
        options.readout(),
        Readout::Voted | Readout::AveragedNormalised
    ) {
        return Err(Error::options(
            "with a ⟨penalty⟩ weights move at every visit, so they cannot vote or be normalised from a log of updates",
        )
        .remedy("use ⟨readout averaged⟩, last, random or pocket"));
    }
    if !options.order.is_known_ahead() {
        return Err(Error::options(
            "with a ⟨penalty⟩ weights move at every visit, so an order cannot follow the mistakes",
        )
        .remedy(Order::known_ahead_remedy()));
    }
    if options.until == Until::Separated {
        return Err(Error::options(
            "with a ⟨penalty⟩ weights move on when the examples are separated",
        )
        .remedy("say how many passes: ⟨epochs 20⟩"));
    }
    Ok(())
}
