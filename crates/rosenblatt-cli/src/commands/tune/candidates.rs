//! What `tune` tries: for each learner its settings that matter, or those that `--grid` lists, and
//! ways to make features of texts.

use rosenblatt::data::Dataset;
use rosenblatt::learner::LearnerEntry;
use rosenblatt::mixing;
use rosenblatt::options::{DataSize, Metric};
use rosenblatt::scheme::Scheme;
use rosenblatt::{Error, Options, Result};

use crate::args::{DataArgs, LearnerArgs, TuneArgs};
use crate::commands::inspect::quoted;

/// Settings of one learner, every combination of which is tried.
type Axes<'a> = &'a [(&'a str, &'a [&'a str])];

/// The learners that are tried, quick ones first, and their settings.
const GRID: &[(&str, Axes<'_>)] = &[
    ("perceptron", &[("margin-demand", &["0", "1"])]),
    (
        "arow",
        &[("r", &["0.1", "1", "10"]), ("epochs", &["1", "10"])],
    ),
    (
        "passive-aggressive",
        &[("c", &["0.001", "0.01", "0.1", "1"]), ("epochs", &["10"])],
    ),
    ("logistic", &[("c", &["0.01", "0.1", "1", "10", "100"])]),
    ("max-margin", &[("c", &["0.001", "0.01", "0.1", "1", "10"])]),
];

/// Learners that end within a tolerance of an optimum, and the one at which they are compared.
const ROUGH: [&str; 2] = ["logistic", "max-margin"];
const TOLERANCE: &str = "0.001";

/// What is tried of texts.
const TEXT_GRID: Axes<'_> = &[("text", &["words", "words:1-2"])];

/// Options to try.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What differs from the options given.
    tried: Vec<(String, String)>,
    pub options: Options,
    /// The same to a tolerance at which its score can be told.
    rough: Options,
}

/// What the options of all candidates have in common.
#[derive(Clone, Copy)]
pub struct Common<'a> {
    pub learner: &'a LearnerArgs,
    pub source: &'a DataArgs,
    pub metric: Metric,
    /// Whether ways to make features of texts are tried, where the grid does not say.
    pub texts: bool,
}

impl Candidate {
    /// What is tried, as options of `train`.
    pub fn settings(&self) -> String {
        let one = |(name, value): &(String, String)| format!("--{name} {}", quoted(value));
        self.tried.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    /// What is tried of how the data are read.
    pub fn data_settings(&self) -> Vec<(String, String)> {
        let tried = self.tried.iter();
        tried
            .filter(|(name, _)| DataArgs::can_be_searched(name))
            .cloned()
            .collect()
    }

    /// Options of a run of which only the score is wanted.
    pub fn for_a_score(&self, train: &Dataset) -> Options {
        let mut options = self.rough.clone();
        // The average of the first passes becomes the model, and further ones would only tell
        // whether the rows can be separated. A run that may end before is left as it is.
        let scheme = Scheme::new(train.classes.len(), options.multiclass);
        let size = DataSize::of(&train.matrix, scheme.discriminators());
        if let Some(kept) = mixing::pass_to_keep(&options)
            && options.embed.is_none()
            && Options::free_passes(size) >= kept
        {
            options.epochs = Some(kept);
        }
        options
    }

    /// The arguments of the `train` that makes this model.
    pub fn command(&self, args: &TuneArgs, source: &DataArgs) -> String {
        let files = std::iter::once(&args.data).chain(&args.more);
        let mut words: Vec<String> = files.map(|f| quoted(&f.display().to_string())).collect();
        words.push(self.settings());
        // Without held-out rows there is nothing for a metric to choose.
        let learner = (args.learner.given.iter()).filter(|(name, _)| *name != "metric");
        let given = learner.map(|(name, value)| (*name, value));
        let source = source.given.iter();
        for (name, value) in given.chain(source.map(|(name, value)| (name.as_str(), value))) {
            words.push(format!("--{name} {}", quoted(value)));
        }
        if let Some(path) = &args.output {
            words.push(format!("-o {}", quoted(&path.display().to_string())));
        }
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}

/// Everything to try, in the order of the grid: what was given is fixed, and what a learner does
/// not take is not tried with it.
pub fn candidates(common: Common<'_>, grid: &[String]) -> Result<Vec<Candidate>> {
    let given = common.learner;
    let listed: Vec<(&str, Vec<&str>)> =
        grid.iter().map(|text| axis(text)).collect::<Result<_>>()?;
    let fixed = |name: &str| given.given.iter().any(|(n, _)| *n == name) || common.source.has(name);
    if let Some((name, _)) = listed.iter().find(|(name, _)| fixed(name)) {
        return Err(Error::options(format!("⟨{name}⟩ is given and in the grid"))
            .remedy("leave one of them out"));
    }
    let chosen = |name: &str| match given.given.iter().find(|(n, _)| *n == "learner") {
        Some((_, learner)) => learner == name,
        None => LearnerEntry::find(name).is_some(),
    };
    let mut learners: Vec<(&str, Axes<'_>)> = GRID.to_vec();
    if let Some((_, learner)) = given.given.iter().find(|(n, _)| *n == "learner")
        && !GRID.iter().any(|(name, _)| name == learner)
    {
        learners.push((learner, &[]));
    }
    let mut all: Vec<Candidate> = Vec::new();
    let mut refused = None;
    for (learner, axes) in learners.into_iter().filter(|(name, _)| chosen(name)) {
        let texts = if common.texts { TEXT_GRID } else { &[] };
        let owned: Vec<(&str, Vec<&str>)> = match listed.is_empty() {
            true => (axes.iter().chain(texts))
                .map(|&(name, values)| (name, values.to_vec()))
                .collect(),
            false => listed.clone(),
        };
        let free: Vec<_> = owned.into_iter().filter(|(name, _)| !fixed(name)).collect();
        for tried in product(&free) {
            let tried = (!fixed("learner"))
                .then(|| ("learner".to_owned(), learner.to_owned()))
                .into_iter()
                .chain(tried);
            match made(common, tried.collect()) {
                Ok(candidate) => all.push(candidate),
                Err(error) => refused = Some(error),
            }
        }
    }
    match (all.is_empty(), refused) {
        (true, Some(error)) => Err(error),
        (true, None) => Err(Error::options("there is no candidate to try")),
        _ => Ok(all),
    }
}

/// The options that were given and these, if they go together.
fn made(common: Common<'_>, tried: Vec<(String, String)>) -> Result<Candidate> {
    let mut options = Options::default();
    // Nothing is held out of a candidate's training, so there is nothing for a metric to choose.
    let given = (common.learner.given.iter())
        .filter(|(name, _)| *name != "metric")
        .map(|(name, text)| (*name, text.as_str()));
    let of_learner = tried
        .iter()
        .filter(|(name, _)| !DataArgs::can_be_searched(name))
        .map(|(name, text)| (name.as_str(), text.as_str()));
    options.set_all(given.chain(of_learner))?;
    options.validate()?;
    if common.metric == Metric::NegLogLoss && !options.gives_probabilities() {
        let learner = options.learner.name();
        return Err(Error::options(format!(
            "⟨metric neg-log-loss⟩: {learner} gives no probabilities"
        ))
        .remedy("use ⟨learner logistic⟩ or network, or another metric"));
    }
    let mut rough = options.clone();
    let named = |name: &str| common.learner.has(name) || tried.iter().any(|(n, _)| n == name);
    if ROUGH.contains(&options.learner.name()) && !named("tolerance") {
        rough.set_all([("tolerance", TOLERANCE)])?;
    }
    Ok(Candidate {
        tried,
        options,
        rough,
    })
}

/// `NAME=V1,V2,…`
fn axis(text: &str) -> Result<(&str, Vec<&str>)> {
    match text.split_once('=') {
        Some((name, values)) if !name.is_empty() && !values.is_empty() => {
            Ok((name, values.split(',').collect()))
        }
        _ => Err(Error::options(format!(
            "⟨grid⟩: found {text:?}, expected NAME=VALUE,VALUE,…"
        ))
        .remedy("for example ⟨grid c=0.1,1,10⟩")),
    }
}

/// Every combination of values, the last axis changing first.
fn product(axes: &[(&str, Vec<&str>)]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for (name, values) in axes {
        all = all
            .iter()
            .flat_map(|before: &Vec<(String, String)>| {
                values.iter().map(move |value| {
                    let mut with = before.clone();
                    with.push(((*name).to_owned(), (*value).to_owned()));
                    with
                })
            })
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&'static str, &str)]) -> LearnerArgs {
        let given = pairs.iter().map(|&(name, text)| (name, text.to_owned()));
        LearnerArgs {
            given: given.collect(),
        }
    }

    fn found(learner: &LearnerArgs, grid: &[&str]) -> Result<Vec<Candidate>> {
        found_with(learner, grid, Metric::Accuracy, false)
    }

    fn found_with(
        learner: &LearnerArgs,
        grid: &[&str],
        metric: Metric,
        texts: bool,
    ) -> Result<Vec<Candidate>> {
        let source = &DataArgs {
            given: vec![("case".into(), "keep".into())],
        };
        let grid: Vec<String> = grid.iter().map(|&text| text.to_owned()).collect();
        let common = Common {
            learner,
            source,
            metric,
            texts,
        };
        candidates(common, &grid)
    }

    fn settings(all: &[Candidate]) -> Vec<String> {
        all.iter().map(Candidate::settings).collect()
    }

    #[test]
    fn what_is_given_is_fixed() {
        let all = found(&given(&[("learner", "arow"), ("epochs", "3")]), &[]).unwrap();
        assert_eq!(settings(&all), ["--r 0.1", "--r 1", "--r 10"]);
        assert!(all.iter().all(|c| c.options.epochs == Some(3)));
    }

    #[test]
    fn a_grid_replaces_ours() {
        let grid = ["c=0.5,2", "epochs=1,2"];
        let all = found(&given(&[("learner", "passive-aggressive")]), &grid).unwrap();
        let expected = ["0.5", "2"].map(|c| [1, 2].map(|e| format!("--c {c} --epochs {e}")));
        assert_eq!(settings(&all), expected.concat());
    }

    #[test]
    fn a_learner_without_the_setting_is_not_tried() {
        let all = found(&given(&[]), &["r=1,2"]).unwrap();
        assert_eq!(
            settings(&all),
            ["--learner arow --r 1", "--learner arow --r 2"]
        );
    }

    #[test]
    fn grids_that_say_nothing_are_refused() {
        for text in ["c", "=1", "c="] {
            assert!(found(&given(&[]), &[text]).is_err(), "{text}");
        }
        for (learner, grid) in [(given(&[("c", "1")]), "c=1,2"), (given(&[]), "case=lower")] {
            let both = found(&learner, &[grid]);
            assert!(both.unwrap_err().to_string().contains("in the grid"));
        }
    }

    #[test]
    fn texts_are_tried_as_words_and_as_pairs() {
        let learner = given(&[("learner", "logistic"), ("c", "1")]);
        let all = found_with(&learner, &[], Metric::Accuracy, true).unwrap();
        assert_eq!(settings(&all), ["--text words", "--text words:1-2"]);
        assert_eq!(
            all[1].data_settings(),
            [("text".into(), "words:1-2".into())]
        );
        let listed = found_with(&learner, &["min-df=1,2"], Metric::Accuracy, true).unwrap();
        assert_eq!(settings(&listed), ["--min-df 1", "--min-df 2"]);
    }

    #[test]
    fn only_learners_with_probabilities_are_tried_for_their_log_loss() {
        let all = found_with(&given(&[]), &[], Metric::NegLogLoss, false).unwrap();
        assert!(settings(&all).iter().all(|s| s.contains("logistic")));
        let none = found_with(
            &given(&[("learner", "arow")]),
            &[],
            Metric::NegLogLoss,
            false,
        );
        assert!(none.unwrap_err().to_string().contains("no probabilities"));
    }
}
