//! `train`: read, train, report, save.

mod follower;
mod loading;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use rosenblatt::data::read::{Raw, ReadReport, Scale};
use rosenblatt::data::{Dataset, split};
use rosenblatt::kernel::Kernel;
use rosenblatt::model::Model;
use rosenblatt::report::{Seconds, TrainReport};
use rosenblatt::progress::Stop;
use rosenblatt::{Error, Options};
use serde::Serialize;

use self::follower::Follower;
use self::loading::{Loaded, Prepared, load, load_cached, load_streamed};
use super::{Context, cached};
use crate::args::{DataArgs, DataOptions, TrainArgs};
use crate::output::{self, Done, Failure, Outcome};
use crate::render;

/// Everything `train` found out: the library's report and what belongs to the front end.
#[derive(Debug, Serialize)]
pub struct TrainOutcome {
    #[serde(flatten)]
    pub report: TrainReport,
    /// Accuracies of cross-validation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv: Option<CrossValidation>,
    /// How features were scaled, where they were; weights and margins speak of scaled ones.
    pub scaling: Option<&'static str>,
    /// What was read.
    pub data: ReadReport,
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
}

pub fn run(context: Context, args: &TrainArgs) -> Outcome {
    let resume = args.resume.as_ref().map(Model::load).transpose()?;
    let options = match &resume {
        Some(model) => args.learner.options(model.options.clone())?,
        None => args.learner.options(Options::default())?,
    };
    options.validate()?;
    if let Some(model) = &resume {
        let done = model.progress.passes.len() as u64;
        let open = model.progress.stop.is_none_or(|stop| !stop.is_final());
        let given = args.learner.given.iter().any(|(name, _)| *name == "epochs");
        if let Some(epochs) = options.epochs.filter(|&e| given && open && e <= done) {
            return Err(Error::options(format!(
                "--epochs {epochs}: the model has made {done} passes already"
            ))
            .remedy("give a larger limit")
            .into());
        }
    }
    let source = match &resume {
        Some(model) => args.source.recalled(&model.recipe),
        None => args.source.clone(),
    };
    let mut data_options = source.options(context.threads)?;
    // The text of the file would count for what is used.
    data_options.read.mapped = args.memory.is_none();
    if options.learner.kernel() == Some(Kernel::Precomputed) {
        leave_kernel_values(&mut data_options)?;
    }
    if options.patience.is_some() && data_options.validate.is_none() {
        return Err(Error::options("--patience needs held-out examples")
            .remedy("add --validate 0.1")
            .into());
    }
    if let Some(path) = args.output.as_deref().filter(|p| !output::is_dash(p)) {
        output::writable(path)?;
        output::refuse_overwriting(&args.data, path)?;
    }
    if let Some(path) = &args.report {
        output::check_page(path, &[&args.data])?;
    }
    let cache = args.cache.then(|| cached::beside(&args.data));
    let outputs = [args.output.as_ref(), args.report.as_ref(), cache.as_ref()];
    let outputs: Vec<&PathBuf> = outputs.into_iter().flatten().collect();
    for (i, one) in outputs.iter().enumerate() {
        outputs[i + 1..]
            .iter()
            .try_for_each(|other| output::refuse_same(one, other))?;
    }
    if args.json && args.output.as_deref().is_some_and(output::is_dash) {
        return Err(
            Error::options("the model and the JSON text cannot both go to stdout")
                .remedy("name a file for the model")
                .into(),
        );
    }

    let job = Job {
        context,
        args,
        options: &options,
        resume: resume.as_ref(),
        source: &source,
        data: &data_options,
    };
    job.run()
}

/// What `train` is asked for.
struct Job<'a> {
    context: Context,
    args: &'a TrainArgs,
    options: &'a Options,
    resume: Option<&'a Model>,
    source: &'a DataArgs,
    data: &'a DataOptions,
}

impl Job<'_> {
    /// Does it.
    fn run(&self) -> Result<Done, Failure> {
        let &Job {
            context,
            args,
            options,
            resume,
            source,
            data: data_options,
        } = self;
        let source = source.clone();
        let reading = Instant::now();
        let makes_cache = args.cache && !args.dry_run;
        let from_cache = cached::is_cache(&args.data, data_options) || makes_cache;
        // Examples that are held out are chosen among all, so all must be there.
        let held_whole = args.dry_run || args.cv.is_some() || data_options.validate.is_some();
        let large = match args.memory.filter(|_| !from_cache && !held_whole) {
            Some(memory) => cached::too_large(&args.data, data_options, Some(memory))?,
            None => None,
        };
        // Dropped after the examples, which lie in it.
        let passing;
        let Loaded {
            report: read_report,
            prepared:
                Prepared {
                    preparation,
                    train,
                    held_out,
                    parts,
                    read,
                },
            cv,
            source,
            fingerprint,
            parse_seconds,
            passing: of_this_run,
        } = if from_cache {
            load_cached(context, args, source, data_options)?
        } else if let Some((large, memory)) = large {
            load_streamed(context, args, source, (&large, memory), reading)?
        } else {
            load(context, args, source, data_options, options)?
        };
        passing = of_this_run;
        let read_seconds = reading.elapsed().as_secs_f64();
        for warning in &read_report.warnings {
            output::say(context.quiet, &format!("warning: {warning}"));
        }
        let kernel = options.learner.kernel().is_some();
        let in_memory = !(from_cache || passing.is_some() || kernel || args.dry_run);
        if let Some(memory) = args.memory.filter(|_| in_memory) {
            // What is read is held twice until it lies where training wants it.
            let both = [Some(&train), held_out.as_ref()].into_iter().flatten();
            let held = 2 * both.map(|data| data.matrix.bytes() as u64).sum::<u64>();
            if held > memory.max(cached::LITTLE) {
                let held = render::numbers::bytes(held);
                output::say(
                    context.quiet,
                    &format!(
                        "warning: these examples were held in memory whole, in about {held}: --memory bounds those of a cache, and of a libsvm file of which none is held out and no column scaled"
                    ),
                );
            }
        }
        if args.dry_run {
            let took = Seconds {
                read: read_seconds,
                parse: parse_seconds,
                train: 0.0,
            };
            let held_out = held_out.as_ref();
            let done =
                render::dry_run::dry_run(&read_report, &train, held_out, options, took, args.json);
            return done;
        }

        let training = Instant::now();
        let mut follower = Follower::new(
            context,
            args,
            options,
            &train,
            &preparation,
            source.remembered(),
        );
        let fitted = rosenblatt::session(options)
            .validate_on(held_out.as_ref())
            .resume(resume)
            .interrupt(interrupt_flag())
            .threads(context.threads)
            .memory(args.memory)
            .fingerprint(fingerprint)
            .train_with(&train, &mut follower);
        let mut fitted = fitted.map_err(|e| in_data(e, &args.data))?;
        let train_seconds = training.elapsed().as_secs_f64();
        let recipe = std::mem::take(&mut follower.recipe);
        drop(follower);
        let scaling = render::train::describe_scaling(&preparation);
        (fitted.model.preparation, fitted.model.recipe) = (Some(preparation), recipe);

        let interrupted = fitted.model.progress.stop == Some(Stop::Interrupted);
        let model = save(args.output.as_deref(), &fitted.model)?;
        let done = match interrupted {
            true => Done::Interrupted,
            false => Done::Finished,
        };
        if !(interrupted || self.is_heard()) {
            return Ok(done);
        }
        let mut report = TrainReport::new(&fitted, &train, held_out.as_ref(), context.threads)?;
        report.seconds.read = read_seconds;
        report.seconds.parse = parse_seconds;
        report.seconds.train = train_seconds;
        let outcome = TrainOutcome {
            report,
            cv,
            scaling,
            data: read_report,
            model,
        };
        if let Some(path) = &args.report {
            let held_out = held_out.as_ref();
            write_report(
                path,
                &outcome,
                &fitted.model,
                &train,
                held_out,
                parts.as_ref(),
                context,
            )?;
        }
        let to_stdout = args.output.as_deref().is_some_and(output::is_dash);
        let text = render::train::text(&outcome, output::colour() && !to_stdout);
        if to_stdout {
            output::say(context.quiet, text.trim_end());
        } else if args.json {
            output::print_json(&outcome)?;
        } else {
            output::print(&text)?;
        }
        Ok(done)
    }

    /// Whether the report of a run that ends by itself is for anyone. A model that is saved
    /// quietly is the whole result, unless more was asked for.
    fn is_heard(&self) -> bool {
        let args = self.args;
        let asked = args.json || args.report.is_some() || args.cv.is_some();
        let judged = self.data.validate.is_some();
        !self.context.quiet || args.output.is_none() || asked || judged
    }
}

/// Writes the page that shows the run.
fn write_report(
    path: &Path,
    outcome: &TrainOutcome,
    model: &Model,
    train: &Dataset,
    held_out: Option<&Dataset>,
    parts: Option<&split::Split>,
    context: Context,
) -> rosenblatt::Result<()> {
    use render::report::{Judged, train_page};
    // Asking about the training examples is left out where it would cost more than training.
    let training = outcome.report.train_accuracy.map(|_| {
        let number = |i: usize| parts.map_or(i, |p| p.train[i]);
        Judged::of(model, train, number, context.threads)
    });
    let training = training.transpose()?;
    let held_out = held_out.map(|data| {
        let number = |i: usize| parts.map_or(i, |p| p.held_out[i]);
        Judged::of(model, data, number, context.threads)
    });
    let held_out = held_out.transpose()?;
    let judged = [training.as_ref(), held_out.as_ref()];
    let page = train_page(outcome, model, &train.names, judged);
    output::write_bytes(path, page.as_bytes())
}

/// An error about the data names their file.
pub fn in_data(error: Error, file: impl AsRef<Path>) -> Error {
    let about_data = error.kind() == rosenblatt::ErrorKind::Data && error.position().is_none();
    if about_data {
        error.in_file(file)
    } else {
        error
    }
}

/// Sees to it that values of a kernel are taken as they are: columns of a Gram matrix that are
/// shifted and scaled make another matrix, most often none that is symmetric.
fn leave_kernel_values(data: &mut DataOptions) -> Result<(), Failure> {
    if data.scale.is_some_and(|scale| scale != Scale::None) {
        return Err(Error::options("values of a kernel cannot be scaled")
            .remedy("leave --scale out")
            .into());
    }
    data.scale = Some(Scale::None);
    Ok(())
}

/// Writes the model where it was asked for; says where that is.
fn save(path: Option<&Path>, model: &Model) -> Result<Option<String>, Failure> {
    let Some(path) = path else { return Ok(None) };
    if output::is_dash(path) {
        use std::io::Write;
        let bytes = model.to_bytes()?;
        let mut out = std::io::stdout().lock();
        out.write_all(&bytes)
            .and_then(|()| out.flush())
            .map_err(|e| output::stdout_failed(&e))?;
    } else {
        model.save(path)?;
    }
    Ok(Some(path.display().to_string()))
}

/// Becomes true at the first Ctrl-C; a second one ends the program at once.
pub fn interrupt_flag() -> &'static AtomicBool {
    static FLAG: AtomicBool = AtomicBool::new(false);
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        // Without a handler Ctrl-C just ends the program: no reason to fail here.
        let _ = ctrlc::set_handler(|| {
            if FLAG.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
    &FLAG
}
