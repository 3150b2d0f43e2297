//! What a training run found: the library's report, with what the program adds to it.

use rosenblatt::metrics::Metrics;
use rosenblatt::read::ReadReport;
use rosenblatt::report::TrainReport;
use serde::Serialize;

use crate::render::decision::Decided;

/// Everything `train` found out: the library's report and what belongs to the front end.
#[derive(Debug, Serialize)]
pub struct TrainSummary {
    #[serde(flatten)]
    pub report: TrainReport,
    /// Accuracies of cross-validation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv: Option<CrossValidation>,
    /// How features were scaled, where they were; weights and margins speak of scaled ones.
    pub scaling: Option<&'static str>,
    /// How scores become probabilities and classes, where that was decided after training.
    #[serde(flatten)]
    pub decided: Decided,
    /// What was read.
    pub data: ReadReport,
    /// Where the rows trained on and those held out went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<[String; 2]>,
    /// Where the model went.
    pub model: Option<String>,
}

/// What cross-validation found.
#[derive(Debug, Clone, Serialize)]
pub struct CrossValidation {
    /// Accuracy on each held-out fold.
    pub accuracies: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub standard_deviation: f64,
    /// Figures of all folds' predictions together; areas under curves are means over the folds,
    /// since the scores of different models rank nothing together.
    pub metrics: Option<Metrics>,
    /// How long it took.
    pub seconds: f64,
}
