//! What a training run has to say for itself: one struct, many renderers.

use serde::Serialize;

use crate::data::{Dataset, FeatureNames};
use crate::error::{Result, Wording};
use crate::kernel::Spectrum;
use crate::learner::LinearUnit;
use crate::metrics::{Evaluation, Metrics};
use crate::model::{Attempt, Decision, Model};
use crate::options::{Bias, Options, Readout, choice_name};
use crate::progress::{Pass, Stop};
use crate::scheme::Scheme;
use crate::session::Session;
use crate::training::{Fitted, MarginBracket};

/// The outcome of a training run, for people and programs.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TrainReport {
    /// Which learner.
    pub learner: &'static str,
    /// Which hypothesis was saved.
    pub readout: &'static str,
    /// Training examples.
    pub examples: u64,
    /// Features.
    pub features: u64,
    /// Values that are not zero.
    pub non_zeros: u64,
    /// Names of the classes, in their order.
    pub classes: Vec<String>,
    /// Training examples of each class.
    pub class_counts: Vec<u64>,
    /// Passes begun.
    pub epochs: u64,
    /// Wrong answers over the run.
    pub mistakes: u64,
    /// Updates over the run.
    pub updates: u64,
    /// Wrong answers in each pass.
    pub mistakes_per_epoch: Vec<u64>,
    /// Examples visited in each pass; maximum margin leaves out those that it expects to change
    /// nothing.
    pub visits_per_epoch: Vec<u64>,
    /// Mean perceptron loss per visit in each pass.
    pub perceptron_loss_per_epoch: Vec<f64>,
    /// Mean hinge loss per visit in each pass.
    pub hinge_loss_per_epoch: Vec<f64>,
    /// Mean squared error per visit in each pass, for the linear unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub squared_error_per_epoch: Option<Vec<f64>>,
    /// Accuracy on held-out examples after each pass, where measured.
    pub validation_accuracy_per_epoch: Vec<Option<f64>>,
    /// Why the run stopped, by its short name.
    pub stop: &'static str,
    /// Why the run stopped, in words.
    pub stop_reason: String,
    /// Accuracy of the saved read-out on the training examples; `None` where it would cost
    /// more than the training did.
    pub train_accuracy: Option<f64>,
    /// Accuracy of the saved read-out on held-out examples.
    pub validation: Option<Held>,
    /// More figures of the same.
    pub metrics: Option<Metrics>,
    /// The pass, from 1, that is best by the metric on the held-out examples, where it was kept.
    pub best_epoch: Option<u64>,
    /// The pass whose average was kept without held-out examples, where the run went on to separate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_epoch: Option<u64>,
    /// What tells which pass is best.
    pub metric: &'static str,
    /// What always answering the commonest class would score.
    pub majority_accuracy: f64,
    /// R = max c_i‖x_i‖, lifted where the learner lifts.
    pub radius: f64,
    /// The margin, where the run's own weights prove something about it.
    pub margin: Option<MarginBracket>,
    /// The theorem's bound on updates, from the margin's lower end.
    pub updates_at_most: Option<u64>,
    /// η as used.
    pub learning_rate: f64,
    /// The seed.
    pub seed: u64,
    /// Options that differ from their defaults.
    pub options: Vec<(&'static str, String)>,
    /// The largest weights of each discriminator, by feature name.
    pub largest_weights: Vec<Discriminator>,
    /// Maximum margin: how good each plane is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub planes: Vec<PlaneReport>,
    /// Maximum margin: row numbers from 1 with their largest α, the hardest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub support_vectors: Vec<(u64, f64)>,
    /// Kernel learners: examples that were corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_examples: Option<u64>,
    /// Kernel learners: the examples corrected most often, by row number from 1, and how often.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hardest: Vec<(u64, u64)>,
    /// Kernel learners: the ends of the spectrum of a sample's Gram matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<Spectrum>,
    /// Networks: the starts that were tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Attempt>,
    /// What a reader should know beside the numbers.
    pub notes: Vec<Wording>,
    /// Wall-clock seconds; filled in by whoever held the clock.
    pub seconds: Seconds,
}

/// Accuracy on held-out examples.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct Held {
    /// The share predicted right.
    pub accuracy: f64,
    /// How many there are.
    pub examples: u64,
}

/// Wall-clock seconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Seconds {
    /// Reading and preparing the data, until training can begin.
    pub read: f64,
    /// Of that, turning text into numbers; none from a cache.
    pub parse: f64,
    /// Training, and the parsing of rows that were still on their way when it began.
    pub train: f64,
}

/// A discriminator and the features that move it most.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Discriminator {
    /// What a positive score speaks for.
    pub name: String,
    /// Its bias.
    pub bias: f64,
    /// The score of the features alone at which it turns: θ = −bias.
    pub threshold: f64,
    /// The largest weights in absolute value, largest first.
    pub largest: Vec<(String, f64)>,
}

/// How near a plane of largest margin is to the best.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlaneReport {
    /// What a positive score speaks for.
    pub name: String,
    /// ½‖w‖² + Σ C_i max(0, 1 − y_i s_i).
    pub primal: f64,
    /// No plane has less than this.
    pub dual: f64,
    /// (primal − dual)/primal.
    pub relative_gap: f64,
    /// 1/‖w‖.
    pub margin: f64,
    /// Examples that hold it up.
    pub support_vectors: u64,
}

/// How good the planes of a maximum-margin model are.
pub fn planes(model: &Model) -> Vec<PlaneReport> {
    let Some(support) = &model.support else {
        return Vec::new();
    };
    let optima = support.optima.iter().enumerate();
    optima
        .map(|(d, optimum)| PlaneReport {
            name: discriminator_name(model, d),
            primal: optimum.primal,
            dual: optimum.dual,
            relative_gap: optimum.relative_gap(),
            margin: optimum.margin,
            support_vectors: support.count(d) as u64,
        })
        .collect()
}

/// The support vectors of a maximum-margin model: row numbers from 1 and their largest α,
/// the hardest first.
pub fn support_vectors(model: &Model) -> Vec<(u64, f64)> {
    model
        .support
        .as_ref()
        .map_or_else(Vec::new, |support| support.hardest())
}

/// The same, those of one α in the order of their margins, the smallest first: at the cap C all are
/// equal.
fn hardest_first(model: &Model, data: &Dataset, threads: usize) -> Result<Vec<(u64, f64)>> {
    let mut support = support_vectors(model);
    let tied = support.windows(2).any(|pair| pair[0].1 == pair[1].1);
    if !tied || matches!(model.scheme, Scheme::OneVsOne { .. }) {
        return Ok(support);
    }
    let place = |row: u64| data.position(row as usize - 1);
    let rows: Vec<usize> = support.iter().map(|&(row, _)| place(row)).collect();
    let matrix = data.matrix.select(rows.iter().copied());
    let scores = model.scores(&matrix, threads)?;
    let of_rows = scores.chunks_exact(model.scheme.discriminators());
    let mut margins = std::collections::HashMap::new();
    for ((&(row, _), &i), scores) in support.iter().zip(&rows).zip(of_rows) {
        let truth = data.labels[i] as usize;
        let margin = match scores {
            [score] if truth == 1 => *score,
            [score] => -score,
            _ => {
                let others = (scores.iter().enumerate()).filter(|(c, _)| *c != truth);
                scores[truth] - others.map(|(_, s)| *s).fold(f64::NEG_INFINITY, f64::max)
            }
        };
        margins.insert(row, margin);
    }
    support.sort_by(|a, b| {
        let by_margin = margins[&a.0].total_cmp(&margins[&b.0]);
        b.1.total_cmp(&a.1).then(by_margin).then(a.0.cmp(&b.0))
    });
    Ok(support)
}

/// The examples that a kernel learner corrected most often: row numbers from 1 and how
/// often, the hardest first.
pub fn hardest(model: &Model, most: usize) -> Vec<(u64, u64)> {
    let (Decision::Kernel(kernel), None) = (&model.decision, &model.support) else {
        return Vec::new();
    };
    let mut hardest = kernel.log.hardest();
    hardest.truncate(most);
    hardest
        .into_iter()
        .map(|(row, times)| (u64::from(row) + 1, times))
        .collect()
}

/// The largest weights of a model's discriminators, `most` each.
pub fn largest_weights(model: &Model, names: &FeatureNames, most: usize) -> Vec<Discriminator> {
    let (Decision::Linear(weights), None) = (&model.decision, &model.embedding) else {
        return Vec::new();
    };
    let largest = weights.largest_of_each(most).into_iter().enumerate();
    largest
        .map(|(d, ranked)| Discriminator {
            name: discriminator_name(model, d),
            bias: weights.bias(d),
            threshold: 0.0 - weights.bias(d),
            largest: ranked
                .into_iter()
                .map(|(j, w)| (names.get(j).into_owned(), w))
                .collect(),
        })
        .collect()
}

/// What a positive score of discriminator `d` speaks for.
pub fn discriminator_name(model: &Model, d: usize) -> String {
    let name = |class: u32| model.classes.name(class);
    match model.scheme.sides(d) {
        (None, class) => name(class).to_owned(),
        (Some(low), high) => format!("{} against {}", name(high), name(low)),
    }
}

impl TrainReport {
    /// The report of a run on `data`, with held-out examples where there are any.
    pub fn new(
        fitted: &Fitted,
        data: &Dataset,
        validation: Option<&Dataset>,
        threads: usize,
    ) -> Result<Self> {
        let model = &fitted.model;
        let (options, progress) = (&model.options, &model.progress);
        let readout = options.readout();
        let class_counts: Vec<u64> = data.class_counts().iter().map(|&c| c as u64).collect();
        let most = class_counts.iter().copied().max().unwrap_or(0);
        let passes: Vec<Pass> = progress
            .passes
            .iter()
            .copied()
            .chain((progress.current.visits > 0).then_some(progress.current))
            .collect();
        let stop = progress.stop.unwrap_or(Stop::Interrupted);
        let train_accuracy = match worth_scoring(model, data) {
            true => Some(model.accuracy(data, threads)?),
            false => None,
        };
        let held_out = match validation {
            Some(held) => Evaluation::of(model, held, threads)?.metrics(options.seed),
            None => None,
        };
        let best_pass = progress.best.filter(|_| options.keeps_best_pass());
        let mut report = TrainReport {
            learner: options.learner.name(),
            readout: choice_name(readout),
            examples: data.len() as u64,
            features: data.features() as u64,
            non_zeros: model.trained_on.non_zeros,
            classes: data.classes.names().to_vec(),
            class_counts,
            epochs: progress.epochs(),
            mistakes: progress.mistakes,
            updates: progress.updates,
            mistakes_per_epoch: progress.mistakes_per_epoch(),
            visits_per_epoch: passes.iter().map(|p| p.visits).collect(),
            perceptron_loss_per_epoch: passes.iter().map(|p| p.mean(p.perceptron_loss)).collect(),
            hinge_loss_per_epoch: passes.iter().map(|p| p.mean(p.hinge_loss)).collect(),
            squared_error_per_epoch: options
                .learner
                .is::<LinearUnit>()
                .then(|| passes.iter().map(|p| p.mean(p.squared_error)).collect()),
            validation_accuracy_per_epoch: passes.iter().map(|p| p.validation_accuracy).collect(),
            stop: stop.name(),
            stop_reason: reason(stop, options),
            train_accuracy,
            validation: validation
                .zip(held_out.as_ref())
                .map(|(held, metrics)| Held {
                    accuracy: metrics.accuracy,
                    examples: held.len() as u64,
                }),
            metrics: held_out,
            best_epoch: best_pass.map(|best| best.pass),
            kept_epoch: progress.kept.filter(|&pass| pass < progress.epochs()),
            metric: choice_name(options.metric),
            majority_accuracy: most as f64 / data.len().max(1) as f64,
            radius: fitted.radius,
            margin: fitted.margin,
            updates_at_most: fitted.updates_at_most,
            learning_rate: fitted.learning_rate,
            seed: options.seed,
            options: options.changed(),
            largest_weights: largest_weights(model, &data.names, 10),
            planes: planes(model),
            support_vectors: hardest_first(model, data, threads)?,
            corrected_examples: match (&model.decision, &model.support) {
                (Decision::Kernel(kernel), None) => Some(kernel.rows.len() as u64),
                _ => None,
            },
            hardest: hardest(model, 10),
            spectrum: fitted.spectrum,
            starts: match &model.decision {
                Decision::Network(network) => network.attempts.clone(),
                _ => Vec::new(),
            },
            notes: Vec::new(),
            seconds: Seconds::default(),
        };
        report.add_notes(stop, options, data);
        if let Some(embedding) = &model.embedding {
            report.notes.push(embedding.describe().into());
        }
        Ok(report)
    }

    fn add_notes(&mut self, stop: Stop, options: &Options, data: &Dataset) {
        let mut notes: Vec<String> = Vec::new();
        let errors = self
            .train_accuracy
            .map(|a| ((1.0 - a) * self.examples as f64).round() as u64);
        if stop == Stop::Separated
            && self.readout != "last"
            && let Some(errors) = errors.filter(|&e| e > 0)
        {
            let errors = match errors {
                1 => "makes 1 error".to_owned(),
                errors => format!("makes {errors} errors"),
            };
            notes.push(match self.best_epoch.filter(|&best| best < self.epochs) {
                Some(best) => format!(
                    "the running weights separate the training data; the saved {} hypothesis is that of pass {best}, the best on the held-out examples, and {errors}; ⟨keep last⟩ saves the last",
                    self.readout
                ),
                None if self.kept_epoch.is_some() => format!(
                    "the running weights separate the training data; the saved {} hypothesis is that of the first {} passes and {errors}; ⟨keep last⟩ saves the last",
                    self.readout,
                    self.kept_epoch.unwrap_or(0)
                ),
                None => format!(
                    "the running weights separate the training data, but the saved {} hypothesis {errors}; ⟨readout last⟩ saves the weights that separate",
                    self.readout
                ),
            });
        }
        if stop == Stop::EpochLimit
            && errors == Some(0)
            && options.learner.is_mistake_driven()
            && options.learner.keeps_weights()
        {
            notes.push(format!(
                "the running weights still made mistakes, but the saved {} hypothesis classifies every training example correctly",
                self.readout
            ));
        }
        if self.train_accuracy.is_none() {
            notes.push(
                "training accuracy was not computed: it would cost more than training did".into(),
            );
        }
        if let Some(spectrum) = self.spectrum.filter(Spectrum::is_clearly_negative) {
            notes.push(format!(
                "the kernel is not valid on these data: the Gram matrix of {} examples has the eigenvalue {:.3e}, so no theorem applies to this run",
                spectrum.examples, spectrum.smallest
            ));
        }
        let stuck = self.starts.iter().filter(|s| s.stuck).count();
        if stuck > 0 {
            notes.push(format!(
                "{stuck} of {} initialisations of the network got stuck; the best one is saved",
                self.starts.len()
            ));
        }
        if options.normalise_weights && stop == Stop::EpochLimit {
            notes.push(
                "with renormalised weights even separable data may cycle forever; a smaller ⟨learning-rate⟩ has a bound".into(),
            );
        }
        if options.learner.is::<LinearUnit>()
            && errors.is_some_and(|e| e > 0)
            && matches!(stop, Stop::Converged | Stop::EpochLimit)
            && perceptron_separates(data, options)
        {
            notes.push(format!(
                "the data are separable (a perceptron has just separated them), but least squares misclassifies {}: it does not minimise misclassifications",
                errors.unwrap_or(0)
            ));
        }
        self.notes.extend(notes.into_iter().map(Wording::from));
    }
}

/// Whether scoring all examples costs less than the training did.
fn worth_scoring(model: &Model, data: &Dataset) -> bool {
    match &model.decision {
        Decision::Linear(_) | Decision::Network(_) => true,
        Decision::Kernel(kernel) => {
            let pairs = kernel.rows.len() as f64 * data.len() as f64;
            pairs * (kernel.features() as f64) <= 1e10 || model.progress.epochs() > 1
        }
        Decision::Voted(voted) => {
            let replay =
                (voted.support.non_zeros() + voted.log.entries.len()) as f64 * data.len() as f64;
            let training = model.trained_on.non_zeros as f64 * model.progress.epochs() as f64;
            replay <= training || replay <= 1e8
        }
    }
}

/// Why a run with these options ended, in words.
pub fn reason(stop: Stop, options: &Options) -> String {
    match options.learner.unfinished() {
        Some(missing) if stop.is_limit() => format!("{stop}, {missing}"),
        _ if stop == Stop::Converged => format!("converged: {}", options.learner.converged()),
        _ => stop.to_string(),
    }
}

/// A perceptron's short try at separating the data: enough to contradict least squares on
/// small sets, never a proof that they cannot be separated.
fn perceptron_separates(data: &Dataset, options: &Options) -> bool {
    const WORK: usize = 30_000_000;
    let epochs = (WORK / data.matrix.non_zeros().max(1)).clamp(1, 1000) as u64;
    let bias = Some(if options.bias() == Bias::None {
        Bias::None
    } else {
        Bias::Lifted
    });
    let quick = Options {
        epochs: Some(epochs),
        bias,
        readout: Some(Readout::Last),
        ..Options::default()
    };
    Session::new(&quick)
        .threads(1)
        .train(data)
        .is_ok_and(|fitted| fitted.model.progress.stop == Some(Stop::Separated))
}
