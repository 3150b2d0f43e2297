//! `train --cv`: the accuracy on each fold of a model trained without it.

use rosenblatt::data::split;
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
    let mut accuracies = Vec::new();
    let mut bar =
        render::progress::Progress::new(context.quiet, u64::from(folds), "cross-validation");
    for (i, fold) in split::folds(raw.labels(), folds as usize, options.seed)
        .iter()
        .enumerate()
    {
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
            accuracies.push(fitted.model.accuracy(&held, context.threads)?);
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
    })
}
