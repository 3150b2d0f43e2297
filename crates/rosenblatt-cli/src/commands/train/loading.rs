//! From the data that `train` was given to examples: read, opened, or streamed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rosenblatt::cache::Cached;
use rosenblatt::data::read::{self, Preparation, Raw, ReadReport, Streamed};
use rosenblatt::data::{Dataset, Layout, split};
use rosenblatt::model::Fingerprint;
use rosenblatt::options::Order;
use rosenblatt::progress::Stop;
use rosenblatt::{Error, Options};

use super::{CrossValidation, in_data, interrupt_flag};
use crate::args::{DataArgs, DataOptions, TrainArgs};
use crate::commands::{Context, cached};
use crate::output::{self, Failure};
use crate::render;

/// Examples ready for training.
pub(super) struct Prepared {
    pub(super) preparation: Preparation,
    pub(super) train: Dataset,
    pub(super) held_out: Option<Dataset>,
    /// Which rows of the file are which, where some are held out.
    pub(super) parts: Option<split::Split>,
    /// What was read, which is no longer needed.
    pub(super) read: Option<Raw>,
}

/// The data of a run.
pub(super) struct Loaded {
    pub(super) report: ReadReport,
    pub(super) prepared: Prepared,
    pub(super) cv: Option<CrossValidation>,
    /// The options they were read with.
    pub(super) source: DataArgs,
    /// What a cache was found to hold.
    pub(super) fingerprint: Option<Fingerprint>,
    /// How long it took to turn text into numbers.
    pub(super) parse_seconds: f64,
    /// The cache of this run alone, if there is one.
    pub(super) passing: Option<cached::Passing>,
}

pub(super) fn load(
    context: Context,
    args: &TrainArgs,
    source: DataArgs,
    data_options: &DataOptions,
    options: &Options,
) -> Result<Loaded, Failure> {
    let parsing = Instant::now();
    let raw = read::read(&args.data, &data_options.read)?;
    let parse_seconds = parsing.elapsed().as_secs_f64();
    source.refuse_foreign(raw.report(), raw.label_texts())?;
    let report = raw.report().clone();
    let cv = match args.cv {
        Some(folds) if !args.dry_run => {
            Some(cross_validate(context, &raw, data_options, options, folds)?)
        }
        _ => None,
    };
    Ok(Loaded {
        report,
        prepared: prepare(raw, data_options, options)?,
        cv,
        source,
        fingerprint: None,
        parse_seconds,
        passing: None,
    })
}

pub(super) fn load_cached(
    context: Context,
    args: &TrainArgs,
    source: DataArgs,
    data_options: &DataOptions,
) -> Result<Loaded, Failure> {
    if args.cv.is_some() || data_options.validate.is_some() {
        return Err(Error::options(
            "a cache holds all examples, prepared together, so none can be held out",
        )
        .remedy("leave out --cv and --validate, or train from the file itself")
        .into());
    }
    let found = if cached::is_cache(&args.data, data_options) {
        cached::open_named(context, &args.data, &args.source, args.memory)?
    } else {
        cached::open_or_make(context, &args.data, &source, data_options, args.memory)?
    };
    Ok(Loaded::from_cache(found, None))
}

/// Text that would take more than this much memory.
pub(super) fn load_streamed(
    context: Context,
    args: &TrainArgs,
    source: DataArgs,
    large: (&Streamed, u64),
    since: Instant,
) -> Result<Loaded, Failure> {
    // Beside the model, or else the data, there is likely to be room for a file; what a system
    // keeps for passing ones may be memory itself.
    let model = args.output.as_deref().filter(|path| !output::is_dash(path));
    let model = model.filter(|path| path.metadata().map_or(true, |facts| facts.is_file()));
    let beside = model.into_iter().chain([args.data.as_path()]);
    let mut folders: Vec<PathBuf> = beside
        .filter_map(Path::parent)
        .map(|folder| match folder.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => folder.to_owned(),
        })
        .collect();
    folders.push(std::env::temp_dir());
    folders.dedup();
    let (found, passing) = cached::stream(context, &args.data, &source, large, &folders)?;
    Ok(Loaded {
        parse_seconds: since.elapsed().as_secs_f64(),
        ..Loaded::from_cache(found, Some(passing))
    })
}

impl Loaded {
    fn from_cache(found: Cached, passing: Option<cached::Passing>) -> Self {
        Loaded {
            report: found.report,
            prepared: Prepared {
                preparation: found.preparation,
                train: found.data,
                held_out: None,
                parts: None,
                read: None,
            },
            cv: None,
            source: DataArgs {
                given: found.key.options,
            },
            fingerprint: Some(found.fingerprint),
            parse_seconds: 0.0,
            passing,
        }
    }
}

fn layout(options: &Options) -> Layout {
    if options.order == Order::Shuffled {
        Layout::Scattered
    } else {
        Layout::AsGiven
    }
}

fn prepare(raw: Raw, data: &DataOptions, options: &Options) -> rosenblatt::Result<Prepared> {
    let Some(fraction) = data.validate else {
        let preparation = Preparation::fit(&raw, None, data.scale)?;
        let train = raw.dataset(&preparation, None, layout(options))?;
        return Ok(Prepared {
            preparation,
            train,
            held_out: None,
            parts: None,
            read: Some(raw),
        });
    };
    let parts = split::hold_out(raw.labels(), fraction, options.seed);
    if parts.held_out.is_empty() {
        return Err(Error::options(format!(
            "--validate {fraction} holds out no example of {}",
            raw.rows()
        ))
        .remedy("use a larger fraction"));
    }
    let prepared = prepare_split(&raw, &parts, data, options)?;
    Ok(Prepared {
        parts: Some(parts),
        read: Some(raw),
        ..prepared
    })
}

fn prepare_split(
    raw: &Raw,
    parts: &split::Split,
    data: &DataOptions,
    options: &Options,
) -> rosenblatt::Result<Prepared> {
    let preparation = Preparation::fit(raw, Some(&parts.train), data.scale)?;
    let train = raw.dataset(&preparation, Some(&parts.train), layout(options))?;
    let held_out = raw.dataset(&preparation, Some(&parts.held_out), Layout::AsGiven)?;
    Ok(Prepared {
        preparation,
        train,
        held_out: Some(held_out),
        parts: None,
        read: None,
    })
}

fn cross_validate(
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
