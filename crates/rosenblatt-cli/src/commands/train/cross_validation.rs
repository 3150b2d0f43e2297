//! `train --cv`: the accuracy on each fold of a model trained without it.

use std::time::Instant;

use rosenblatt::data::split;
use rosenblatt::metrics::Evaluation;
use rosenblatt::options::Metric;
use rosenblatt::progress::Stop;
use rosenblatt::read::Raw;
use rosenblatt::{Error, Options};

use super::preparing::{Prepared, prepare_split};
use crate::args::DataOptions;
use crate::commands::context::{Context, in_data, interrupt_flag};
use crate::output::Failure;
use crate::render;
use crate::summary::CrossValidation;

pub(super) fn cross_validate(
    context: Context,
    raw: &Raw,
    data: &DataOptions,
    options: &Options,
    folds: u32,
) -> Result<CrossValidation, Failure> {
    if folds as usize > raw.rows() {
        return Err(
            Error::options(format!("--cv {folds} for {} examples", raw.rows()))
                .remedy("use at most as many folds as there are examples")
                .into(),
        );
    }
    let started = Instant::now();
    let mut accuracies = Vec::new();
    let mut all = Evaluation::new(raw.classes());
    let (mut aucs, mut precisions) = (Vec::new(), Vec::new());
    let mut bar =
        render::progress::Progress::new(context.quiet, u64::from(folds), "cross-validation");
    let parts = match raw.groups()? {
        Some(groups) => split::group_folds(&groups, folds as usize, options.seed),
        None => split::folds(raw.labels(), folds as usize, options.seed),
    };
    if parts.iter().any(|fold| fold.held_out.is_empty()) {
        return Err(Error::options(format!("--cv {folds} for fewer groups"))
            .remedy("use at most as many folds as there are groups")
            .into());
    }
    for (i, fold) in parts.iter().enumerate() {
        let Prepared {
            train, held_out, ..
        } = prepare_split(raw, fold, data, options)?;
        let fitted = rosenblatt::session(options)
            .interrupt(interrupt_flag())
            .threads(context.threads)
            .train(&train)
            .map_err(|e| in_data(e, &raw.report().file))?;
        if fitted.model.progress.stop == Some(Stop::Interrupted) {
            return Err(Error::new(
                rosenblatt::ErrorKind::Interrupted,
                "interrupted during cross-validation; no model was trained",
            )
            .into());
        }
        if let Some(held) = held_out {
            let found = Evaluation::of(&fitted.model, &held, context.threads)?;
            accuracies.extend(found.accuracy());
            aucs.extend(found.score(Metric::Auc));
            precisions.extend(found.score(Metric::AveragePrecision));
            all.add_counts(&found);
        }
        bar.at(i as u64 + 1, || format!("fold {} of {folds}", i + 1));
    }
    let n = accuracies.len() as f64;
    let mean = accuracies.iter().sum::<f64>() / n;
    let squares: f64 = accuracies.iter().map(|a| (a - mean) * (a - mean)).sum();
    Ok(CrossValidation {
        standard_deviation: (squares / (n - 1.0).max(1.0)).sqrt(),
        mean,
        accuracies,
        metrics: all.metrics(options.seed).map(|mut metrics| {
            metrics.auc = average(&aucs);
            metrics.average_precision = average(&precisions);
            metrics
        }),
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// The mean; `None` of nothing.
fn average(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (!values.is_empty()).then_some(mean)
}
