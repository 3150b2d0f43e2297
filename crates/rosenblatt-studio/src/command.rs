//! Command lines that do what a page does.

use rosenblatt::Options;
use rosenblatt::options::{Order, Readout};

use crate::data::Data;

/// A command line under construction, quoted for a shell.
#[derive(Debug)]
pub struct Words(String);

impl Words {
    /// A command of the program.
    pub fn new(command: &str) -> Self {
        Words(format!("rosenblatt {command}"))
    }

    /// Adds a word.
    pub fn word(&mut self, word: &str) {
        self.0.push(' ');
        self.0.push_str(&quoted(word));
    }

    /// Adds an option with its value, one word where the value could be taken for an option.
    pub fn option(&mut self, name: &str, value: &str) {
        match value.starts_with('-') {
            true => self.word(&format!("--{name}={value}")),
            false => {
                self.word(&format!("--{name}"));
                self.word(value);
            }
        }
    }

    /// The line.
    pub fn text(self) -> String {
        self.0
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:=/+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Where the options of a page begin: as in `trace` for what it shows, else as in `train`.
pub fn base(learner_is_traced: bool) -> Options {
    match learner_is_traced {
        true => Options {
            order: Order::Given,
            readout: Some(Readout::Last),
            ..Options::default()
        },
        false => Options::default(),
    }
}

/// The options that differ from `base`, as (name, value) texts.
fn differences(options: &Options, mut base: Options) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for (name, value) in options.values() {
        if base.get(name).as_ref() != Some(&value) {
            if name == "learner" {
                // Its own parameters are compared with its own defaults.
                if let Some(entry) = rosenblatt::learner::LearnerEntry::find(&value) {
                    base.learner = entry.default_settings();
                }
            }
            found.push((name, value));
        }
    }
    found
}

fn with_options(words: &mut Words, options: &Options, base: Options) {
    for (name, value) in differences(options, base) {
        match value.as_str() {
            // A switch.
            "true" if name == "normalise-weights" => words.word("--normalise-weights"),
            _ => words.option(name, &value),
        }
    }
}

/// The command that shows the same visits.
pub fn trace(data: &Data, options: &Options) -> String {
    let mut words = Words::new("trace");
    words.word(&data.file.name);
    with_options(&mut words, options, base(true));
    for (name, value) in data.reading.given() {
        words.option(name, &value);
    }
    words.text()
}

/// How the data are read for `train`, in the order in which the program lists its options.
pub fn recipe(data: &Data) -> Vec<(String, String)> {
    let mut all = data.reading.given();
    if data.reading.scale.is_none() {
        all.push(("scale", "none".into()));
    }
    all.push(("precision", "f64".into()));
    let owned = all.into_iter().map(|(name, value)| (name.into(), value));
    owned.collect()
}

/// The command that saves the same model.
pub fn train(data: &Data, options: &Options) -> String {
    let mut words = Words::new("train");
    words.word(&data.file.name);
    with_options(&mut words, options, Options::default());
    for (name, value) in recipe(data) {
        words.option(&name, &value);
    }
    words.word("-o");
    words.word("model.rbm");
    words.text()
}

/// The command that decides whether the classes can be separated.
pub fn check(data: &Data) -> String {
    let mut words = Words::new("check");
    words.word(&data.file.name);
    for (name, value) in data.reading.given() {
        if name != "scale" {
            words.option(name, &value);
        }
    }
    words.option("certificate", "proof.json");
    words.text()
}
