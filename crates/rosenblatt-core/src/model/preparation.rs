//! How raw files become features, as a model carries it.

use std::collections::BTreeMap;

use super::Parts;
use crate::data::StringTable;
use crate::error::Result;

/// The preparation of raw files that a model was trained with, as its file stores it. What it
/// says is known to the crate that reads files; a model only carries it along.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredPreparation {
    /// Small facts, as JSON.
    pub json: String,
    /// Named lists of strings.
    pub strings: BTreeMap<String, StringTable>,
    /// Named lists of numbers.
    pub numbers: BTreeMap<String, Vec<f64>>,
}

const FACT: &str = "preparation";
const PREFIX: &str = "preparation.";

impl StoredPreparation {
    /// Adds it to the parts of a file.
    pub fn put(&self, parts: &mut Parts<'_>) {
        parts.put_fact(FACT, &self.json);
        for (name, strings) in &self.strings {
            parts.put_strings(&format!("{PREFIX}{name}"), strings);
        }
        for (name, numbers) in &self.numbers {
            parts.put(&format!("{PREFIX}{name}"), numbers.clone());
        }
    }

    /// Takes it out of the parts of a file. Lists that cannot be read are left out: whoever
    /// needs them misses them.
    pub fn take(parts: &mut Parts<'_>) -> Result<Option<Self>> {
        if !parts.has_fact(FACT) {
            return Ok(None);
        }
        let mut stored = StoredPreparation {
            json: parts.take_fact(FACT)?,
            ..StoredPreparation::default()
        };
        let names = parts.names().filter_map(|name| name.strip_prefix(PREFIX));
        for name in names.map(str::to_owned).collect::<Vec<_>>() {
            if let Some(name) = name.strip_suffix(".bytes") {
                if let Ok(strings) = parts.take_strings(&format!("{PREFIX}{name}")) {
                    stored.strings.insert(name.to_owned(), strings);
                }
            } else if let Ok(numbers) = parts.take(&format!("{PREFIX}{name}")) {
                stored.numbers.insert(name, numbers);
            }
        }
        Ok(Some(stored))
    }
}
