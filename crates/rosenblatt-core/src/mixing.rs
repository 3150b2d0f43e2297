//! Passes over parts of the examples, for a run that other programs spread over machines:
//! iterative parameter mixing.
//!
//! *Rule.* In each pass every part is learned once, all from the same weights; a weighted mean of
//! what came of them is what the next pass begins with. With one part that is the run of a
//! [`Session`](crate::Session), bit for bit.
//!
//! *Guarantee.* For the perceptron from zero on separable examples, Σ μ_s k_s over passes and
//! parts is at most (R/γ)², k_s the updates of part s in a pass and μ_s its share of the mean.
//!
//! *Cost.* That of a pass; a part is looked at by nothing else.
//!
//! *Reference.* R. McDonald, K. Hall and G. Mann, "Distributed training strategies for the
//! structured perceptron", NAACL (2010).

use std::time::Instant;

use crate::data::{Classes, Dataset, Matrix, Precision};
use crate::error::{Error, Result};
use crate::hypothesis::{FromStart, starting_weights};
use crate::learner::{self, LearnerEntry, Logistic, Penalty};
use crate::model::{Decision, Fingerprint, LinearState, Model};
use crate::options::{Bias, DataSize, Options, Readout, Start};
use crate::progress::{Limits, Pass, Progress, Stop};
use crate::scheme::Scheme;
use crate::session::{check_data, fits_memory, template};
use crate::training::{Fitted, NoCallback, Part, Recorder, Resources, SampleWeights, Training};

pub use crate::hypothesis::SweptMargin;

/// How far the whole run has come before a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Made {
    /// Passes.
    pub passes: u64,
    /// Updates.
    pub updates: u64,
}

/// What a pass over a part of the examples made of the weights it began with.
#[derive(Debug, Clone)]
pub struct Update {
    /// The weights now, and what the read-out keeps beside them.
    pub state: LinearState,
    /// What happened.
    pub pass: Pass,
    /// Σ over updates of the squared length of the step.
    pub squared_steps: f64,
    /// Whether the limit on updates ended the pass before its end.
    pub broken_off: bool,
}

/// What parts of the examples say of themselves; of all parts the largest of each.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured {
    /// R², the constant feature included where there is one.
    pub squared_radius: f64,
    /// R², without it.
    pub plain_squared_radius: f64,
    /// The largest weight of an example.
    pub largest_weight: f64,
}

/// How `classes` classes are learned.
pub fn scheme(options: &Options, classes: usize) -> Scheme {
    let default = options.learner.default_multiclass();
    let choice = match classes {
        0..=2 => options.multiclass,
        _ => Some(options.multiclass.unwrap_or(default)),
    };
    Scheme::new(classes, choice)
}

/// Refuses options of runs that need all examples in one place.
pub fn check(options: &Options) -> Result<()> {
    options.validate()?;
    options.learner.check_partial_fit(options)?;
    if !options.learner.is_mistake_driven() {
        return Err(Error::options(format!(
            "the learner {} has no updates to mix",
            options.learner.name()
        ))
        .remedy("use a mistake-driven learner"));
    }
    let refused = match options.embed {
        Some(_) => "embed",
        None if options
            .get("penalty")
            .is_some_and(|penalty| penalty != "none") =>
        {
            "penalty"
        }
        None if options.readout() == Readout::Random => "readout",
        None => return Ok(()),
    };
    let value = options.get(refused).unwrap_or_default();
    Err(Error::options(format!(
        "⟨{refused} {value}⟩ needs all examples in one place"
    ))
    .remedy("leave it out where examples lie in parts"))
}

/// The weights before the first pass, and what the read-out keeps beside them.
pub fn start(options: &Options, classes: Classes, features: usize) -> Result<LinearState> {
    check(options)?;
    let mut row = Matrix::empty_sparse(features, Precision::F64);
    row.push_sparse([]);
    let nothing = Dataset::new(row, vec![0], classes, None)?;
    let made = Made::default();
    Ok(run_part(options, &nothing, None, made, Part::Sweep)?.0)
}

/// What the read-out makes of a state.
pub fn decision(options: &Options, scheme: Scheme, state: &LinearState) -> Decision {
    Decision::Linear(state.read_out(scheme, options.readout()))
}

/// One pass over a part of the examples, from these weights, or from the start.
///
/// # Errors
/// For options that need all examples, and for weights that grow beyond all numbers.
pub fn one_pass(
    options: &Options,
    data: &Dataset,
    before: Option<LinearState>,
    made: Made,
) -> Result<Update> {
    check(options)?;
    let (state, progress) = run_part(options, data, before, made, Part::Pass)?;
    let broken_off = progress.current.visits > 0;
    let pass = match progress.passes.last() {
        Some(last) if !broken_off && progress.passes.len() as u64 > made.passes => *last,
        _ => progress.current,
    };
    Ok(Update {
        state,
        pass,
        squared_steps: progress.squared_steps,
        broken_off,
    })
}

/// What a look at every example of a part finds with these weights, which stay as they are: as
/// updates those that are called for.
pub fn sweep(options: &Options, data: &Dataset, state: LinearState) -> Result<Pass> {
    let made = Made::default();
    Ok(run_part(options, data, Some(state), made, Part::Sweep)?
        .1
        .current)
}

fn run_part(
    options: &Options,
    data: &Dataset,
    state: Option<LinearState>,
    made: Made,
    part: Part,
) -> Result<(LinearState, Progress)> {
    check_data(data)?;
    // These are limits of the whole run, for whoever counts its passes.
    let options = &Options {
        patience: None,
        time_limit: None,
        ..options.clone()
    };
    let scheme = scheme(options, data.classes.len());
    if made.passes == 0 {
        fits_memory(scheme, data.features())?;
    }
    let sample_weights = SampleWeights::new(data, &options.class_weight)?;
    if made.passes == 0 && !sample_weights.is_surely_finite() {
        sample_weights.require_finite(1)?;
    }
    let training = Training {
        data,
        sample_weights: &sample_weights,
        targets: None,
        scheme,
        options,
        limits: Limits {
            options,
            interrupt: None,
            started: Instant::now(),
            epochs: made.passes + 1,
            free_passes: None,
        },
        resources: Resources {
            memory: 0,
            threads: 1,
        },
        separability_test: None,
        resumed: None,
        state,
        finished: None,
        progress: Progress {
            passes: vec![Pass::default(); made.passes as usize],
            updates: made.updates,
            ..Progress::default()
        },
        recorder: Recorder {
            callback: &mut NoCallback,
            validation: None,
            template: template(options, data.classes.clone(), scheme, None),
            data,
            threads: 1,
            best: None,
            pass_to_keep: None,
        },
        part: Some(part),
    };
    let Model {
        state, progress, ..
    } = LearnerEntry::fit(training)?.model;
    let state = state.ok_or_else(|| Error::options("the learner keeps no weights"))?;
    Ok((state, progress))
}

/// What the weights of a logistic regression lose on a part of the examples, for each group of
/// discriminators learned together, and the slope of the losses downhill. Weights and slope stand
/// feature by feature, the biases last. Of all parts the sums count; half the squared length of the
/// difference between weights and slope is the duality gap with the L2 penalty.
pub fn log_losses(
    options: &Options,
    data: &Dataset,
    weights: &[f64],
) -> Result<(Vec<f64>, Vec<f64>)> {
    options.validate()?;
    let learner = match options.learner.settings::<Logistic>() {
        Some(learner) if learner.penalty == Penalty::L2 => learner,
        _ => {
            return Err(Error::options(
                "only the loss of logistic regression with the penalty l2 is summed over parts",
            )
            .remedy("use ⟨learner logistic⟩ with ⟨penalty l2⟩"));
        }
    };
    let scheme = scheme(options, data.classes.len());
    if weights.len() != (data.features() + 1) * scheme.discriminators() {
        return Err(Error::data("the weights do not fit the examples"));
    }
    let sample_weights = SampleWeights::new(data, &options.class_weight)?;
    let lifted = options.bias() == Bias::Lifted;
    let shape = (scheme, lifted);
    Ok(learner::log_losses(
        learner,
        data,
        &sample_weights,
        shape,
        weights,
    ))
}

/// What a part of the examples says of itself.
pub fn measure(options: &Options, data: &Dataset, threads: usize) -> Result<Measured> {
    let sample_weights = SampleWeights::new(data, &options.class_weight)?;
    sample_weights.measure(threads);
    Ok(Measured {
        squared_radius: sample_weights.squared_radius_with(constant(options)),
        plain_squared_radius: sample_weights.squared_radius(),
        largest_weight: sample_weights.largest(),
    })
}

/// What the constant feature contributes to an inner product.
fn constant(options: &Options) -> f64 {
    match options.bias() {
        Bias::Unlifted(Some(rho)) => rho * rho,
        bias => bias.lift(),
    }
}

/// What the examples of a part say of the margin of the running weights.
pub fn margin(
    options: &Options,
    data: &Dataset,
    state: &LinearState,
    threads: usize,
) -> Result<SweptMargin> {
    let sample_weights = SampleWeights::new(data, &options.class_weight)?;
    Ok(SweptMargin::of(
        data,
        &sample_weights,
        &state.weights,
        scheme(options, data.classes.len()),
        options.bias().lift(),
        threads,
    ))
}

/// Why a run over so many examples ends after the passes that were made, unless it goes on.
pub fn stop(options: &Options, size: DataSize, progress: &Progress) -> Option<Stop> {
    let epochs = options.epochs;
    let ends_without_gain = epochs.is_none() && options.ends_without_gain();
    let limits = Limits {
        options,
        interrupt: None,
        started: Instant::now(),
        epochs: epochs.unwrap_or_else(|| options.learner.default_epochs(size)),
        free_passes: ends_without_gain.then(|| Options::free_passes(size)),
    };
    limits
        .after_pass(progress)
        .or_else(|| limits.before_pass(progress))
}

/// The pass, from 1, whose average becomes the model where nothing is held out and the number of
/// passes is left open.
pub fn pass_to_keep(options: &Options) -> Option<u64> {
    options.pass_to_keep()
}

/// What is known of a whole run at its end.
#[derive(Debug)]
pub struct Finished {
    /// The classes.
    pub classes: Classes,
    /// The weights, and what the read-out keeps beside them.
    pub state: LinearState,
    /// The passes, and why they ended.
    pub progress: Progress,
    /// What the read-out kept after the pass that becomes the model, where it is not the last.
    pub kept: Option<LinearState>,
    /// Of all parts.
    pub measured: Measured,
    /// Of all parts, where the run ended `separated`.
    pub margin: Option<SweptMargin>,
    /// Σ μ_s k_s over passes and parts: the updates, each counted by its part's share of the mean.
    pub mixed_updates: f64,
    /// Of all examples.
    pub trained_on: Fingerprint,
}

/// The model of a run, and what it says about the margin: the bound is on
/// [`mixed_updates`](Finished::mixed_updates).
pub fn fitted(options: &Options, finished: Finished) -> Result<Fitted> {
    let Finished {
        classes,
        state,
        progress,
        measured,
        ..
    } = finished;
    let scheme = scheme(options, classes.len());
    let weights = &state.weights;
    if weights.discriminators() != scheme.discriminators() {
        return Err(Error::data("the weights do not fit the classes"));
    }
    if !weights.is_finite() {
        return Err(
            Error::options("the weights grew beyond what a number can hold")
                .remedy("use a smaller ⟨learning-rate⟩, or scale the data"),
        );
    }
    let radius = || measured.plain_squared_radius;
    let separates = progress.stop == Some(Stop::Separated);
    let found = finished
        .margin
        .filter(|_| separates && matches!(scheme, Scheme::Binary | Scheme::Argmax { .. }))
        .and_then(|swept| swept.separator(weights, scheme, options, radius));
    let (mut margin, mut updates_at_most) = (None, None);
    if let Some(found) = found {
        if options.learner.bounds_updates() {
            let start = starting_weights(scheme, weights.features(), options)?;
            let run = FromStart {
                weights,
                unit: state.unit,
                constant: constant(options),
                start: (options.start != Start::Zero).then_some(&start),
                updates: finished.mixed_updates,
                squared_radius: measured.squared_radius,
                largest_weight: measured.largest_weight,
            };
            let (bracket, most) = found.after(&run, options);
            (margin, updates_at_most) = (Some(bracket), most);
        } else {
            margin = Some(found.bracket(options.bias()));
        }
    }
    let model = template(options, classes, scheme, None);
    Ok(Fitted {
        model: Model {
            decision: decision(options, scheme, finished.kept.as_ref().unwrap_or(&state)),
            progress,
            trained_on: finished.trained_on,
            state: options.learner.is_mistake_driven().then_some(state),
            ..model
        },
        radius: measured.squared_radius.sqrt(),
        learning_rate: options.rate(),
        margin,
        updates_at_most,
        squared_loss_at_most: None,
        mistakes_at_most: None,
        spectrum: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};
    use crate::session::Session;

    fn clouds(n: usize, k: usize) -> Dataset {
        let mut random = Random::new(3, Stream::Sample, 0);
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                (0..4)
                    .map(|j| f64::from(u8::from(i % k == j)) * 2.0 + random.normal())
                    .collect()
            })
            .collect();
        Dataset::new(
            Matrix::dense_from_rows(4, &rows, Precision::F64),
            (0..n).map(|i| (i % k) as u32).collect(),
            Classes::from_ordered((0..k).map(|c| c.to_string()).collect()),
            None,
        )
        .unwrap()
    }

    /// A run of passes over one part.
    fn by_passes(options: &Options, data: &Dataset) -> Fitted {
        let size = DataSize::of(
            &data.matrix,
            scheme(options, data.classes.len()).discriminators(),
        );
        let mut progress = Progress::default();
        let (mut state, mut kept) = (None, None);
        let stop = loop {
            let made = Made {
                passes: progress.passes.len() as u64,
                updates: progress.updates,
            };
            let update = one_pass(options, data, state.take(), made).unwrap();
            state = Some(update.state);
            progress.count(&update.pass);
            progress.squared_steps += update.squared_steps;
            if update.broken_off {
                progress.current = update.pass;
                break Stop::UpdateLimit;
            }
            progress.passes.push(update.pass);
            if pass_to_keep(options) == Some(progress.epochs()) {
                progress.kept = pass_to_keep(options);
                kept.clone_from(&state);
            }
            if update.pass.updates == 0 {
                let found = sweep(options, data, state.clone().unwrap()).unwrap();
                assert_eq!((found.updates, found.mistakes), (0, 0));
                break match found.on_boundary {
                    0 => Stop::Separated,
                    at_zero => Stop::NoMistakes { at_zero },
                };
            }
            if let Some(stop) = stop(options, size, &progress) {
                break stop;
            }
        };
        progress.stop = Some(stop);
        let state = state.unwrap();
        let finished = Finished {
            classes: data.classes.clone(),
            margin: Some(margin(options, data, &state, 1).unwrap()),
            measured: measure(options, data, 1).unwrap(),
            mixed_updates: progress.updates as f64,
            trained_on: Fingerprint::of(data, 1),
            state,
            progress,
            kept,
        };
        fitted(options, finished).unwrap()
    }

    #[test]
    fn passes_over_one_part_are_the_run_of_a_session() {
        let pairs: [&[(&str, &str)]; 9] = [
            &[],
            &[
                ("learner", "perceptron"),
                ("readout", "last"),
                ("epochs", "30"),
            ],
            &[("readout", "averaged-normalised"), ("epochs", "7")],
            &[("max-updates", "30")],
            &[("order", "random"), ("seed", "4"), ("epochs", "9")],
            &[
                ("start", "random:2"),
                ("learning-rate", "0.3"),
                ("epochs", "9"),
            ],
            &[
                ("margin-demand", "0.5"),
                ("class-weight", "0=2"),
                ("epochs", "9"),
            ],
            &[("learner", "arow"), ("r", "0.5"), ("epochs", "9")],
            &[("learner", "passive-aggressive"), ("epochs", "3")],
        ];
        for (given, k) in pairs.iter().flat_map(|p| [(p, 2), (p, 3)]) {
            for n in [7, 1500] {
                let mut options = Options::default();
                options.set_all(given.iter().copied()).unwrap();
                let data = clouds(n, k);
                let whole = Session::new(&options).threads(1).train(&data).unwrap();
                let parts = by_passes(&options, &data);
                let told = format!("{given:?} {k} {n}");
                assert_eq!(parts.model.decision, whole.model.decision, "{told}");
                assert_eq!(parts.model.state, whole.model.state, "{told}");
                assert_eq!(
                    parts.model.progress.stop, whole.model.progress.stop,
                    "{told}"
                );
                assert_eq!(
                    parts.model.progress.mistakes_per_epoch(),
                    whole.model.progress.mistakes_per_epoch()
                );
                assert_eq!(parts.model.trained_on, whole.model.trained_on);
                assert_eq!(parts.margin, whole.margin, "{told}");
                assert_eq!(parts.updates_at_most, whole.updates_at_most, "{told}");
                assert_eq!(parts.radius, whole.radius);
            }
        }
    }

    #[test]
    fn log_losses_of_parts_sum_to_those_of_the_whole_and_vanish_at_its_minimum() {
        for (k, multiclass) in [(2, "auto"), (3, "argmax"), (3, "ovr")] {
            let mut options = Options::default();
            options
                .set_all([
                    ("learner", "logistic"),
                    ("tolerance", "1e-12"),
                    ("multiclass", multiclass),
                ])
                .unwrap();
            let data = clouds(90, k);
            let whole = Session::new(&options).threads(1).train(&data).unwrap();
            let weights = whole.model.weights().unwrap();
            let flat = [&weights.packed()[..], weights.biases()].concat();
            let (losses, slope) = log_losses(&options, &data, &flat).unwrap();
            let gap: f64 = flat
                .iter()
                .zip(&slope)
                .map(|(w, v)| 0.5 * (w - v) * (w - v))
                .sum();
            assert!((0.0..1e-9).contains(&gap), "{k} {gap}");
            let rows: Vec<usize> = (0..90).collect();
            let mut sums = vec![0.0; losses.len()];
            for part in rows.chunks(31) {
                let (part, _) = log_losses(&options, &data.select(part), &flat).unwrap();
                sums.iter_mut()
                    .zip(part)
                    .for_each(|(sum, loss)| *sum += loss);
            }
            for (sum, loss) in sums.iter().zip(&losses) {
                assert!(
                    (sum - loss).abs() < 1e-9 * loss && *loss > 1.0,
                    "{sum} {loss}"
                );
            }
        }
    }

    #[test]
    fn what_needs_all_examples_is_refused() {
        for given in [
            ("readout", "voted"),
            ("readout", "random"),
            ("readout", "pocket"),
            ("order", "worst"),
            ("learner", "max-margin"),
            ("embed", "squares"),
        ] {
            let mut options = Options::default();
            options.set_all([given]).unwrap();
            assert!(check(&options).is_err(), "{given:?}");
        }
    }
}
