//! From the data that `train` was given to examples: read, opened, or streamed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rosenblatt::cache::Cached;
use rosenblatt::model::Fingerprint;
use rosenblatt::read::{self, ReadReport, Streamed};
use rosenblatt::{Error, Options};

use super::cross_validation::cross_validate;
use super::preparing::{Prepared, prepare};
use crate::args::{DataArgs, DataOptions, TrainArgs};
use crate::commands::cached;
use crate::commands::context::Context;
use crate::output::{self, Failure};
use crate::summary::CrossValidation;

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
    /// The cache of this run alone, if there is one: dropped after the examples, which lie in it.
    pub(super) _temporary: Option<cached::TemporaryCache>,
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
    let cv = match args.cv {
        Some(folds) if !args.dry_run => {
            Some(cross_validate(context, &raw, data_options, options, folds)?)
        }
        _ => None,
    };
    let prepared = prepare(&raw, data_options, options)?;
    Ok(Loaded {
        report: prepared.report.clone(),
        prepared,
        cv,
        source,
        fingerprint: None,
        parse_seconds,
        _temporary: None,
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
    // Beside the model, or else the data, there is likely to be room for a file; a system's folder
    // for temporary files may lie in memory.
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
    let (found, temporary) = cached::stream(context, &args.data, &source, large, &folders)?;
    Ok(Loaded {
        parse_seconds: since.elapsed().as_secs_f64(),
        ..Loaded::from_cache(found, Some(temporary))
    })
}

impl Loaded {
    fn from_cache(found: Cached, temporary: Option<cached::TemporaryCache>) -> Self {
        Loaded {
            report: found.report.clone(),
            prepared: Prepared {
                preparation: found.preparation,
                report: found.report,
                train: found.data,
                held_out: None,
                parts: None,
            },
            cv: None,
            source: DataArgs {
                given: found.key.options,
            },
            fingerprint: Some(found.fingerprint),
            parse_seconds: 0.0,
            _temporary: temporary,
        }
    }
}
