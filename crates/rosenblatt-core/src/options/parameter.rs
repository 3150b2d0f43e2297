//! A parameter is declared once: its name, its meaning, and how its value is read and written.
//!
//! Everything else derives from the declaration: the command line, the model file, reports,
//! other front ends and the checks of values.

use std::fmt;

/// What was expected instead of a text, or nothing.
pub type Parsed<T> = std::result::Result<T, String>;

/// One parameter of `T`, the options shared by all learners or a learner's own settings.
pub struct Parameter<T> {
    /// The name, in the spelling of the command line.
    pub name: &'static str,
    /// What stands for the value in help texts; empty for a switch.
    pub value: &'static str,
    /// What it means, in one sentence.
    pub help: &'static str,
    /// The value as text.
    pub get: fn(&T) -> String,
    /// Sets the value from text, or says what was expected.
    pub set: fn(&mut T, &str) -> Parsed<()>,
}

/// A parameter as front ends see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterInfo {
    /// The name, in the spelling of the command line.
    pub name: &'static str,
    /// What stands for the value in help texts; empty for a switch.
    pub value: &'static str,
    /// What it means.
    pub help: String,
    /// The value it has when nothing is said.
    pub default: String,
}

impl<T> fmt::Debug for Parameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<T> Parameter<T> {
    /// The parameter called `name`.
    pub(crate) fn find<'p>(all: &'p [Self], name: &str) -> Option<&'p Self> {
        all.iter().find(|p| p.name == name)
    }

    /// Name, value and meaning, with the value in `defaults`.
    pub(crate) fn describe(&self, defaults: &T) -> ParameterInfo {
        ParameterInfo {
            name: self.name,
            value: self.value,
            help: self.help.to_owned(),
            default: (self.get)(defaults),
        }
    }
}

/// A value that may be left to the learner, as text.
pub(crate) fn optional<V: ToString>(value: &Option<V>, otherwise: &str) -> String {
    value
        .as_ref()
        .map_or_else(|| otherwise.to_owned(), V::to_string)
}

/// A value, or `None` where the text is `word`.
pub(crate) fn auto<V>(text: &str, word: &str, read: fn(&str) -> Parsed<V>) -> Parsed<Option<V>> {
    if text == word {
        Ok(None)
    } else {
        read(text).map(Some).map_err(|e| format!("{e}, or {word}"))
    }
}

/// A finite number.
pub(crate) fn number(text: &str) -> Parsed<f64> {
    let value: f64 = text
        .trim()
        .parse()
        .map_err(|_| "expected a number".to_owned())?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err("expected a finite number".into())
    }
}

/// Numbers separated by commas.
pub(crate) fn number_list(text: &str) -> Parsed<Vec<f64>> {
    text.split(',')
        .map(number)
        .collect::<Result<_, _>>()
        .map_err(|_| "expected numbers separated by commas".into())
}

/// Numbers separated by commas, as text.
pub(crate) fn list_text<V: ToString>(values: &[V]) -> String {
    let texts: Vec<String> = values.iter().map(V::to_string).collect();
    texts.join(",")
}

/// A finite number above 0.
pub(crate) fn positive(text: &str) -> Parsed<f64> {
    match number(text)? {
        v if v > 0.0 => Ok(v),
        _ => Err("expected a number above 0".into()),
    }
}

/// A finite number above 0, or infinity as nothing.
pub(crate) fn positive_or_infinite(text: &str) -> Parsed<Option<f64>> {
    match text.trim() {
        "none" | "inf" => Ok(None),
        text => positive(text)
            .map(Some)
            .map_err(|e| format!("{e}, or none")),
    }
}

/// A finite number from 0 on.
pub(crate) fn not_negative(text: &str) -> Parsed<f64> {
    match number(text)? {
        v if v >= 0.0 => Ok(v),
        _ => Err("expected a number of at least 0".into()),
    }
}

/// A whole number from 1 on.
pub(crate) fn count(text: &str) -> Parsed<u64> {
    match text.parse::<u64>() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a whole number of at least 1".into()),
    }
}
