//! A model as parts, and back.
//!
//! Promise: a model written by this version is read by every later 0.x and 1.x version, and
//! predicts the same. Parts that a reader does not know are ignored; a change that would
//! make that wrong raises [`FORMAT`], and older programs then refuse the file by name.

use std::collections::BTreeMap;
use std::path::Path;

use super::parts::Parts;
use super::weights_file::{leaves_out_zeros, put_weights, take_weights};
use super::{
    Decision, Fingerprint, LinearState, Model, SeenRows, StoredPreparation, SupportVectors, Voted,
    state_file,
};
use crate::calibration::Calibration;
use crate::data::{Classes, Precision};
use crate::embedding::Embedding;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::progress::{Pass, Progress};
use crate::scheme::Scheme;
use crate::threshold::Threshold;

/// The number of the newest file format. Files of all formats up to it are read. In format 2,
/// weights that are mostly zero are kept in fewer bytes; in format 3 a threshold decides between
/// two classes. A file without either is of format 1.
pub const FORMAT: u64 = 3;

pub(super) fn bad(what: impl std::fmt::Display) -> Error {
    Error::model(format!("the model file is not valid: {what}"))
        .remedy("take it from its source again, or train it anew")
}

impl Model {
    /// The file's bytes; the same model gives the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.to_parts().to_bytes()
    }

    fn to_parts(&self) -> Parts<'_> {
        let mut parts = Parts::new();
        parts.put_fact("scheme", self.scheme);
        parts.put_fact("trained_on", self.trained_on);
        if let Some(rows) = &self.seen_rows {
            let (hashes, all) = rows.parts();
            parts.put("seen_rows", hashes.to_vec());
            parts.put_fact("seen_rows.all", all);
        }
        if let Some(calibration) = &self.calibration {
            calibration.put(&mut parts);
        }
        if let Some(threshold) = &self.threshold {
            threshold.put(&mut parts);
        }
        if let Some(rows) = &self.chosen_on {
            parts.put_fact("chosen_on", rows);
        }
        let options: serde_json::Map<String, serde_json::Value> = self
            .options
            .values()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        parts.put_fact("options", options);
        parts.put_strings("classes", &self.classes.names().iter().collect());
        put_progress(&mut parts, &self.progress);
        match &self.decision {
            Decision::Linear(weights) => put_weights(&mut parts, "", weights),
            Decision::Voted(voted) => put_voted(&mut parts, voted),
            Decision::Kernel(kernel) => super::kernel_file::put(&mut parts, kernel),
            Decision::Network(network) => super::network_file::put(&mut parts, network),
        }
        if let Some(embedding) = &self.embedding {
            put_embedding(&mut parts, embedding);
        }
        if let Some(state) = &self.state {
            state_file::put(&mut parts, state);
        }
        if let Some(support) = &self.support {
            support.put(&mut parts);
        }
        parts.put_fact("recipe", &self.recipe);
        if let Some(preparation) = &self.preparation {
            preparation.put(&mut parts);
        }
        let format = match &self.threshold {
            Some(_) => FORMAT,
            None if leaves_out_zeros(&parts) => 2,
            None => 1,
        };
        parts.put_fact("format", format);
        parts
    }

    /// Reads a file's bytes back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut parts = Parts::from_bytes(bytes)?;
        let format: u64 = parts.take_fact("format")?;
        if format > FORMAT {
            return Err(Error::model(format!(
                "the model file has format {format}, and this program reads formats up to {FORMAT}"
            ))
            .remedy("use a newer version of Rosenblatt"));
        }
        let scheme: Scheme = parts.take_fact("scheme")?;
        let calibration = Calibration::take(&mut parts, scheme)?;
        let threshold = Threshold::take(&mut parts)?;
        let chosen_on = match parts.has_fact("chosen_on") {
            true => Some(parts.take_fact("chosen_on")?),
            false => None,
        };
        let trained_on: Fingerprint = parts.take_fact("trained_on")?;
        let seen_rows = take_seen_rows(&mut parts)?;
        let values: BTreeMap<String, String> = parts.take_fact("options")?;
        let options = Options::from_values(&values).map_err(bad)?;
        let names = parts.take_strings("classes")?;
        let classes = Classes::from_stored(names.iter().map(str::to_owned).collect())
            .map_err(|e| bad(e.message()))?;
        if classes.len() < 2 || classes.len() != scheme.classes() {
            return Err(bad(format_args!(
                "{} classes for the scheme {scheme:?}",
                classes.len()
            )));
        }
        let progress = take_progress(&mut parts)?;
        let state = state_file::take(&mut parts, scheme)?;
        let decision = if parts.has_fact("voted.constant") {
            Decision::Voted(Box::new(take_voted(&mut parts, scheme, state.as_ref())?))
        } else if parts.has_fact("kernel.constant") {
            Decision::Kernel(Box::new(super::kernel_file::take(
                &mut parts, scheme, &options,
            )?))
        } else if parts.has_fact("network.scale") {
            Decision::Network(Box::new(super::network_file::take(
                &mut parts, scheme, &options,
            )?))
        } else {
            Decision::Linear(take_weights(&mut parts, "", scheme)?)
        };
        let embedding = take_embedding(&mut parts, &options)?;
        let support = SupportVectors::take(&mut parts, scheme)?;
        let recipe = parts.take_fact("recipe")?;
        let preparation = StoredPreparation::take(&mut parts)?;
        let model = Model {
            classes,
            scheme,
            decision,
            options,
            progress,
            state,
            support,
            trained_on,
            seen_rows,
            calibration,
            threshold,
            chosen_on,
            embedding,
            preparation,
            recipe,
        };
        if model.threshold.is_some() {
            model.require_two_classes_for_threshold().map_err(bad)?;
        }
        if model
            .state
            .as_ref()
            .is_some_and(|s| s.weights.features() != model.inner_features())
        {
            return Err(bad("its weights and its state differ in features"));
        }
        if model
            .embedding
            .as_ref()
            .is_some_and(|e| e.features() != model.inner_features())
        {
            return Err(bad("its weights and its embedding differ in features"));
        }
        Ok(model)
    }

    /// Writes the model to a file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let bytes = self.to_bytes()?;
        crate::file::write_atomic(path, |file| {
            let failed = |e: std::io::Error| Error::new(ErrorKind::Io, e.to_string());
            file.write_all(&bytes).map_err(failed)
        })
    }

    /// Reads a model from a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = read(path).map_err(|e| Error::io(path, &e))?;
        Self::from_bytes(&bytes).map_err(|e| e.in_file(path))
    }
}

/// Which rows the model was trained on; older files do not say.
fn take_seen_rows(parts: &mut Parts<'_>) -> Result<Option<SeenRows>> {
    let Some(hashes) = parts.take_optional("seen_rows")? else {
        return Ok(None);
    };
    let rows = SeenRows::from_parts(hashes, parts.take_fact("seen_rows.all")?);
    let rows = rows.ok_or_else(|| bad("the hashes of the rows are out of order"))?;
    Ok(Some(rows))
}

/// The bytes of a file; of one that begins like no model, perhaps without end, only those.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    // The length of the head, and its first character.
    const START: u64 = 9;
    let mut file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(START).read_to_end(&mut bytes)?;
    if bytes.ends_with(b"{") {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// What the options and the seed do not already say.
fn put_embedding(parts: &mut Parts<'_>, embedding: &Embedding) {
    parts.put_fact("embedding.inputs", embedding.inputs() as u64);
    if let Some(landmarks) = embedding.landmarks() {
        parts.put_fact("embedding.precision", landmarks.precision());
        parts.put_matrix("embedding.landmarks", landmarks);
    }
}

fn take_embedding(parts: &mut Parts<'_>, options: &Options) -> Result<Option<Embedding>> {
    let Some(embed) = options.embed else {
        return Ok(None);
    };
    let inputs: u64 = parts.take_fact("embedding.inputs")?;
    let inputs = usize::try_from(inputs).map_err(bad)?;
    let landmarks = if parts.has_fact("embedding.precision") {
        let precision: Precision = parts.take_fact("embedding.precision")?;
        Some(parts.take_matrix("embedding.landmarks", precision)?)
    } else {
        None
    };
    Embedding::from_parts(embed, inputs, options.seed, landmarks)
        .map(Some)
        .map_err(bad)
}

fn put_progress(parts: &mut Parts<'_>, progress: &Progress) {
    // Passes can be many, so they are a table of numbers rather than text.
    let columns = Pass::default().to_numbers().len();
    parts.put_table(
        "passes",
        columns,
        progress
            .passes
            .iter()
            .flat_map(|p| p.to_numbers())
            .collect(),
    );
    parts.put_fact(
        "progress",
        Progress {
            passes: Vec::new(),
            ..progress.clone()
        },
    );
}

fn take_progress(parts: &mut Parts<'_>) -> Result<Progress> {
    let numbers: Vec<f64> = parts.take("passes")?;
    let (passes, rest) = numbers.as_chunks();
    if !rest.is_empty() {
        return Err(bad("the table of passes is not whole"));
    }
    let progress: Progress = parts.take_fact("progress")?;
    Ok(Progress {
        passes: passes.iter().map(Pass::from_numbers).collect(),
        ..progress
    })
}

fn put_voted<'a>(parts: &mut Parts<'a>, voted: &'a Voted) {
    // The log itself is part of the state.
    parts.put_fact("voted.constant", voted.constant);
    parts.put_fact("voted.precision", voted.support.precision());
    parts.put_matrix("voted.support", &voted.support);
    parts.put("voted.rows", voted.rows.clone());
}

fn take_voted(parts: &mut Parts<'_>, scheme: Scheme, state: Option<&LinearState>) -> Result<Voted> {
    let constant: f64 = parts.take_fact("voted.constant")?;
    let precision: Precision = parts.take_fact("voted.precision")?;
    let support = parts.take_matrix("voted.support", precision)?;
    let rows: Vec<u32> = parts.take("voted.rows")?;
    let log = state
        .and_then(|s| s.log.clone())
        .ok_or_else(|| bad("a voted model without its log"))?;
    if log.start.features() != support.columns()
        || log.start.discriminators() != scheme.discriminators()
    {
        return Err(bad("the examples of a voted model do not fit its log"));
    }
    Voted::from_parts(support, rows, log, constant)
        .ok_or_else(|| bad("the log of a voted model names examples it does not have"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Matrix};
    use crate::options::{Multiclass, Readout};
    use crate::session::Session;

    fn data(k: usize) -> Dataset {
        let rows: Vec<Vec<f64>> = (0..40)
            .map(|i| vec![(i * 7 % 11) as f64, (i * 5 % 13) as f64 - 4.0, 0.0])
            .collect();
        let names = ["a", "b", "été"];
        Dataset::new(
            Matrix::dense_from_rows(3, &rows, Precision::F32),
            (0..40).map(|i| (i * i % k) as u32 % k as u32).collect(),
            Classes::from_ordered(names[..k].iter().map(|&n| n.to_owned()).collect()),
            None,
        )
        .unwrap()
    }

    #[test]
    fn every_kind_of_model_reads_back_as_written() {
        for k in [2, 3] {
            for multiclass in [
                None,
                Some(Multiclass::Argmax),
                Some(Multiclass::Ovr),
                Some(Multiclass::Ovo),
            ] {
                for (_, name) in <Readout as crate::options::Choice>::ALL {
                    let mut options = Options {
                        multiclass,
                        epochs: Some(3),
                        ..Options::default()
                    };
                    options.set("readout", name).unwrap();
                    let data = data(k);
                    let model = Session::new(&options).train(&data).unwrap().model;
                    let bytes = model.to_bytes().unwrap();
                    let again = Model::from_bytes(&bytes).unwrap();
                    assert_eq!(
                        again.to_bytes().unwrap(),
                        bytes,
                        "{k} {multiclass:?} {name}"
                    );
                    assert_eq!(again.decision, model.decision);
                    assert_eq!(again.state, model.state);
                    assert_eq!(again.options, model.options);
                    assert_eq!(
                        again.predict(&data.matrix, 2).unwrap(),
                        model.predict(&data.matrix, 1).unwrap()
                    );
                }
            }
        }
    }

    #[test]
    fn a_state_of_unusable_numbers_is_refused() {
        let options = Options {
            epochs: Some(3),
            readout: Some(Readout::Voted),
            normalise_weights: true,
            ..Options::default()
        };
        let model = Session::new(&options).train(&data(2)).unwrap().model;
        let bytes = model.to_bytes().unwrap();
        let n = model.state.unwrap().log.unwrap().entries.len();
        let spoilt = |name: &str, value: f64, n: usize| {
            let mut parts = Parts::from_bytes(&bytes).unwrap();
            let mut list: Vec<f64> = parts.take_len(name, n).unwrap();
            list[0] = value;
            parts.put(name, list);
            Model::from_bytes(&parts.to_bytes().unwrap())
        };
        assert!(spoilt("log.coefficient", 0.5, n).is_ok());
        for (name, value, n) in [
            ("log.coefficient", f64::NAN, n),
            ("log.coefficient", f64::INFINITY, n),
            ("log.divisor", 0.0, n),
            ("log.divisor", f64::NAN, n),
            ("state.norms", f64::INFINITY, 1),
        ] {
            let error = spoilt(name, value, n).unwrap_err().to_string();
            assert!(error.contains("not valid"), "{name}: {error}");
        }
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let options = Options {
            epochs: Some(1),
            ..Options::default()
        };
        let bytes = Session::new(&options)
            .train(&data(2))
            .unwrap()
            .model
            .to_bytes()
            .unwrap();
        let mut parts = Parts::from_bytes(&bytes).unwrap();
        parts.put_fact("format", FORMAT + 1);
        let error = Model::from_bytes(&parts.to_bytes().unwrap()).unwrap_err();
        assert!(error.to_string().contains("newer version"), "{error}");
        // Few features are kept as they always were.
        let format: u64 = Parts::from_bytes(&bytes)
            .unwrap()
            .take_fact("format")
            .unwrap();
        assert_eq!(format, 1);
    }
}
