//! Models together with how they read files.

use std::path::Path;

use rosenblatt_core::Result;
use rosenblatt_core::model::Model;

use super::prepare::Preparation;

/// Reads a model from a file, with the preparation of the files it was trained with.
///
/// # Errors
/// If the file cannot be read, or the model or its preparation is damaged.
pub fn load_model(path: impl AsRef<Path>) -> Result<(Model, Option<Preparation>)> {
    let path = path.as_ref();
    let model = Model::load(path)?;
    let preparation = Preparation::of_model(&model).map_err(|e| e.in_file(path))?;
    Ok((model, preparation))
}
