//! Whether a run may be resumed where it stopped, or continue with other examples.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Fingerprint, Model};
use crate::options::{Options, STOP_PARAMETERS};
use crate::scheme::Scheme;

/// Refuses options or data that are not the model's.
pub(super) fn check_same(
    model: &Model,
    options: &Options,
    data: &Dataset,
    scheme: Scheme,
) -> Result<()> {
    for (name, now) in options.values() {
        let then = model.options.get(name);
        if !STOP_PARAMETERS.contains(&name) && then.as_ref() != Some(&now) {
            let then = then.unwrap_or_default();
            return Err(
                Error::options(format!("⟨{name} {now}⟩ differs from the model's {then}"))
                    .remedy("a resumed run keeps its options; only limits may change"),
            );
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
