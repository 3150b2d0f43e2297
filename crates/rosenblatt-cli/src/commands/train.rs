//! `train`: read, train, report, save.

mod callback;
mod cross_validation;
mod loading;
pub(super) mod preparing;
mod trial;

use std::path::{Path, PathBuf};
use std::time::Instant;

use rosenblatt::data::{Dataset, split};
use rosenblatt::kernel::Kernel;
use rosenblatt::model::Model;
use rosenblatt::progress::Stop;
use rosenblatt::read::{Format, Part, Preparation, Scale, SplitBy, copy_rows};
use rosenblatt::report::{Seconds, TrainReport};
use rosenblatt::threshold::ThresholdRule;
use rosenblatt::training::Fitted;
use rosenblatt::{Error, Options};

use self::callback::TrainCallback;
use self::loading::{Loaded, load, load_cached, load_streamed};
use self::preparing::held_out_file;
pub(crate) use self::trial::Expected;
use super::cached;
use super::context::{Context, end_at_interrupt, in_data, interrupt_flag};
use crate::args::{DataArgs, DataOptions, TrainArgs};
use crate::output::{self, Done, Failure, Outcome};
use crate::render;
use crate::render::decision::Decided;
use crate::render::numbers::counted;
use crate::summary::TrainSummary;

pub fn run(context: Context, args: &TrainArgs) -> Outcome {
    let resume = args.resume.as_ref().map(super::load_model).transpose()?;
    let resume = resume.map(|(model, _)| model);
    let options = match &resume {
        Some(model) => args.learner.options(model.options.clone())?,
        None => args.learner.options(Options::default())?,
    };
    options.validate()?;
    if let Some(model) = &resume {
        refuse_reached_limit(args, &options, model)?;
    }
    let source = match &resume {
        Some(model) => args.source.recalled(&model.recipe),
        None => args.source.clone(),
    };
    let mut data_options = source.options(context.threads)?;
    data_options.read.also.clone_from(&args.more);
    // The text of the file would count for what is used.
    data_options.read.mapped = args.memory.is_none();
    // Of a kernel machine it limits the values of the kernel that are kept.
    if options.learner.kernel().is_none()
        && !args.dry_run
        && let Some(memory) = args.memory
    {
        data_options.read.memory = Some(memory.max(cached::LITTLE));
    }
    let known = resume
        .as_ref()
        .map(Preparation::of_model)
        .transpose()?
        .flatten();
    if let Some(known) = &known {
        known.keep_columns(&mut data_options.read);
    }
    if options.learner.kernel() == Some(Kernel::Precomputed) {
        leave_kernel_values(&mut data_options)?;
    }
    check_held_out(args, &options, &data_options)?;
    check_outputs(args)?;
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

/// Refuses options about held-out examples that contradict each other or have none to work on.
fn check_held_out(args: &TrainArgs, options: &Options, data: &DataOptions) -> Result<(), Failure> {
    let refuse = |what: String, remedy: &str| Err(Error::options(what).remedy(remedy).into());
    let (file, fraction) = (data.validate_file.is_some(), data.validate.is_some());
    let needs = [
        ("patience", options.patience.is_some()),
        ("metric", args.learner.has("metric")),
    ];
    if !(file || fraction)
        && let Some((name, _)) = needs.iter().find(|(_, asked)| *asked)
    {
        let what = format!("--{name} needs held-out examples");
        return refuse(what, "add --validate 0.1");
    }
    let decides = args.calibrate.is_some() || args.threshold.is_some_and(|t| t.needs_rows());
    if decides && data.read.split_column.is_some() && !fraction {
        let what = "without --validate, --calibrate and --threshold deal rows to parts whatever their group";
        return refuse(what.into(), "add --validate 0.25");
    }
    if let (Some(_), Some(ThresholdRule::Value(value))) = (args.calibrate, args.threshold)
        && !(0.0..=1.0).contains(&value)
    {
        let what = format!("--threshold {value} is of the probability, from 0 to 1");
        return refuse(what, "give a probability, or leave out --calibrate");
    }
    if args.save_split.is_some() && !fraction {
        let what = "--save-split saves the two parts that --validate makes";
        return refuse(what.into(), "add --validate 0.25");
    }
    if file && (fraction || args.cv.is_some()) {
        let what = "--validate-file says which rows are held out, so none of the data are";
        return refuse(
            what.into(),
            "leave out --validate and --cv, or --validate-file",
        );
    }
    match &data.read.split_column {
        Some((SplitBy::Time, _)) if args.cv.is_some() => refuse(
            "--cv trains on rows that are later than those held out, which --time forbids".into(),
            "use --validate with --time",
        ),
        Some(_) if !fraction && args.cv.is_none() => refuse(
            "--groups and --time say which rows are held out together".into(),
            "add --validate 0.25, or --cv 5 with --groups",
        ),
        _ => Ok(()),
    }
}

/// Refuses to resume a run up to a number of passes that it has made already.
fn refuse_reached_limit(args: &TrainArgs, options: &Options, model: &Model) -> Result<(), Failure> {
    let done = model.progress.passes.len() as u64;
    let open = model.progress.stop.is_none_or(|stop| !stop.is_final());
    let given = args.learner.has("epochs");
    match options.epochs.filter(|&e| given && open && e <= done) {
        Some(epochs) => Err(Error::options(format!(
            "--epochs {epochs}: the model has made {done} passes already"
        ))
        .remedy("give a larger limit")
        .into()),
        None => Ok(()),
    }
}

/// Refuses outputs that cannot be written, or would replace an input or each other.
fn check_outputs(args: &TrainArgs) -> Result<(), Failure> {
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
    Ok(())
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
        let args = self.args;
        let reading = Instant::now();
        let loaded = self.load(reading)?;
        let read_seconds = reading.elapsed().as_secs_f64();
        for warning in &loaded.report.warnings {
            output::say(
                self.context.quiet,
                &format!("warning: {}", warning.as_command_line()),
            );
        }
        let prepared = &loaded.prepared;
        let (train, held_out) = (&prepared.train, prepared.held_out.as_ref());
        self.warn_of_missing_classes(train, held_out);
        if self.threshold().is_some() && train.classes.len() > 2 {
            let classes = train.classes.len();
            return Err(Error::options(format!(
                "--threshold decides between two classes, and these are {classes}"
            ))
            .remedy("name the class to tell from all others with --positive")
            .into());
        }
        if args.dry_run {
            let took = Seconds {
                read: read_seconds,
                parse: loaded.parse_seconds,
                train: 0.0,
            };
            let options = self.options;
            return render::dry_run::dry_run(
                &loaded.report,
                train,
                held_out,
                options,
                trial::expect(train, options, self.context.threads),
                took,
                args.json,
            );
        }

        let split = self.save_split(&loaded)?;
        let training = Instant::now();
        let fitted = self.train(&loaded)?;
        let train_seconds = training.elapsed().as_secs_f64();
        if args
            .output
            .as_deref()
            .is_some_and(|path| path.exists() && !path.is_file())
        {
            end_at_interrupt();
        }
        // What was found out is told even where it cannot be saved.
        let (model, mut failed) = match save(args.output.as_deref(), &fitted.model) {
            Ok(model) => (model, None),
            Err(Failure::PipeClosed) => return Err(Failure::PipeClosed),
            Err(failure) => (None, Some(failure)),
        };
        end_at_interrupt();
        let interrupted = fitted.model.progress.stop == Some(Stop::Interrupted);
        let done = match interrupted {
            true => Done::Interrupted,
            false => Done::Finished,
        };
        if failed.is_none() && !(interrupted || self.is_reported()) {
            return Ok(done);
        }
        let mut report = TrainReport::new(&fitted, train, held_out, self.context.threads)?;
        let cv_seconds = loaded.cv.as_ref().map_or(0.0, |cv| cv.seconds);
        report.seconds.read = read_seconds - cv_seconds;
        report.seconds.parse = loaded.parse_seconds;
        report.seconds.train = train_seconds;
        let summary = TrainSummary {
            report,
            decided: Decided::of(&fitted.model),
            scaling: render::train::describe_scaling(&prepared.preparation),
            cv: loaded.cv.clone(),
            data: loaded.report.clone(),
            split,
            model,
        };
        if let Some(path) = &args.report {
            let parts = prepared.parts.as_ref();
            let threads = self.context.threads;
            let written = write_page(
                path,
                &summary,
                &fitted.model,
                train,
                held_out,
                parts,
                threads,
            );
            if let Err(error) = written {
                failed.get_or_insert(error.into());
            }
        }
        self.print(&summary)?;
        failed.map_or(Ok(done), Err)
    }

    /// The examples, and those of the file that holds the held-out ones.
    fn load(&self, since: Instant) -> Result<Loaded, Failure> {
        let mut loaded = self.load_data(since)?;
        if let Some(path) = &self.data.validate_file {
            let prepared = &mut loaded.prepared;
            let (held_out, unknown) =
                held_out_file(path, &prepared.preparation, &prepared.train, self.data)?;
            prepared.held_out = Some(held_out);
            for (label, rows) in unknown {
                let rows = counted(rows, "row", "rows");
                output::say(
                    self.context.quiet,
                    &format!(
                        "warning: {rows} of {} left out: no training row has the label {label:?}",
                        path.display()
                    ),
                );
            }
        }
        Ok(loaded)
    }

    /// Says so where a class has no examples to train on, or none held out.
    fn warn_of_missing_classes(&self, train: &Dataset, held_out: Option<&Dataset>) {
        let Some(held_out) = held_out else { return };
        let parts = [("training", train), ("held-out", held_out)];
        for (name, part) in parts {
            let counts = part.class_counts();
            let missing = (0..).zip(counts).filter(|(_, n)| *n == 0);
            let missing: Vec<&str> = missing.map(|(c, _)| part.classes.name(c)).collect();
            if !missing.is_empty() {
                output::say(
                    self.context.quiet,
                    &format!(
                        "warning: no {name} example has the class {}",
                        missing.join(", ")
                    ),
                );
            }
        }
    }

    /// Saves the rows trained on and those held out as files of their own, where that is asked
    /// for; says where.
    fn save_split(&self, loaded: &Loaded) -> Result<Option<[String; 2]>, Failure> {
        let args = self.args;
        let (Some(prefix), Some(parts)) = (&args.save_split, &loaded.prepared.parts) else {
            return Ok(None);
        };
        let extension = match loaded.report.format {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            _ => "svm",
        };
        let named = |part: &str| {
            let mut name = prefix.clone().into_os_string();
            name.push(format!(".{part}.{extension}"));
            PathBuf::from(name)
        };
        let paths = [named("train"), named("test")];
        for path in &paths {
            output::refuse_overwriting(&args.data, path)?;
            let others = [args.output.as_ref(), args.report.as_ref()];
            (others.into_iter().flatten())
                .try_for_each(|other| output::refuse_same(path, other))?;
        }
        let parts = [(&paths[0], &parts.train), (&paths[1], &parts.held_out)];
        let parts = parts.map(|(path, rows)| Part { path, rows });
        copy_rows(&args.data, &self.data.read, loaded.report.rows, &parts)?;
        Ok(Some(paths.map(|path| path.display().to_string())))
    }

    /// The examples: from a cache, streamed, or read whole.
    fn load_data(&self, since: Instant) -> Result<Loaded, Failure> {
        let (context, args, data) = (self.context, self.args, self.data);
        let source = self.source.clone();
        if cached::is_cache(&args.data, data) || (args.cache && !args.dry_run) {
            return load_cached(context, args, source, data);
        }
        // Examples that are held out are chosen among all, so all must be there.
        let held_whole = args.dry_run || args.cv.is_some() || data.validate.is_some();
        if let Some(memory) = args.memory.filter(|_| !held_whole)
            && let Some((large, memory)) = cached::too_large(&args.data, data, Some(memory))?
        {
            return load_streamed(context, args, source, (&large, memory), since);
        }
        load(context, args, source, data, self.options)
    }

    /// Trains, and gives the model what it needs to meet other files.
    fn train(&self, loaded: &Loaded) -> Result<Fitted, Failure> {
        let prepared = &loaded.prepared;
        let recipe = loaded.source.remembered();
        let mut callback = TrainCallback::new(
            self.context,
            self.args,
            self.options,
            &prepared.train,
            &prepared.preparation,
            recipe.clone(),
        );
        let mut fitted = rosenblatt::session(self.options)
            .validate_on(prepared.held_out.as_ref())
            .resume(self.resume)
            .interrupt(interrupt_flag())
            .threads(self.context.threads)
            .memory(self.args.memory)
            .fingerprint(loaded.fingerprint)
            .train_with(&prepared.train, &mut callback)
            .map_err(|e| in_data(e, &self.args.data))?;
        let preparation = &prepared.preparation;
        match self
            .resume
            .map(Preparation::of_model)
            .transpose()?
            .flatten()
        {
            Some(known) => preparation
                .clone()
                .with_reasons_of(&known)
                .store_in(&mut fitted.model),
            None => preparation.store_in(&mut fitted.model),
        }
        fitted.model.recipe = recipe;
        self.decide(&mut fitted.model, loaded)?;
        Ok(fitted)
    }

    /// The threshold asked for: now, or of the run that is resumed.
    fn threshold(&self) -> Option<ThresholdRule> {
        let before = || self.resume?.threshold.as_ref().map(|t| t.rule);
        self.args.threshold.or_else(before)
    }

    /// Calibrates a model whose run has ended and sets its threshold, where that is asked for.
    fn decide(&self, model: &mut Model, loaded: &Loaded) -> Result<(), Failure> {
        let before = || Some(Some(self.resume?.calibration.as_ref()?.method()));
        let calibrate = self.args.calibrate.or_else(before);
        let threshold = self.threshold();
        let wanted = calibrate.is_some() || threshold.is_some();
        if !wanted || model.progress.stop == Some(Stop::Interrupted) {
            return Ok(());
        }
        let prepared = &loaded.prepared;
        let needs_rows = calibrate.is_some() || threshold.is_some_and(|t| t.needs_rows());
        let unseen = match &prepared.held_out {
            _ if !needs_rows => None,
            Some(rows) => Some(model.held_out_scores(rows, self.context.threads)?),
            None => Some(
                rosenblatt::session(self.options)
                    .interrupt(interrupt_flag())
                    .threads(self.context.threads)
                    .memory(self.args.memory)
                    .cross_fitted_scores(&prepared.train)
                    .map_err(|e| in_data(e, &self.args.data))?,
            ),
        };
        if let (Some(method), Some(unseen)) = (calibrate, &unseen) {
            model.calibrate(method, unseen)?;
        }
        if let Some(rule) = threshold {
            model.set_threshold(rule, unseen.as_ref())?;
        }
        Ok(())
    }

    /// Whether anyone reads the report of a run that ends by itself. A model that is saved
    /// quietly is the whole result, unless more was asked for.
    fn is_reported(&self) -> bool {
        let args = self.args;
        let asked = args.json || args.report.is_some() || args.cv.is_some();
        !self.context.quiet || args.output.is_none() || asked
    }

    fn print(&self, summary: &TrainSummary) -> Result<(), Failure> {
        let to_stdout = self.args.output.as_deref().is_some_and(output::is_dash);
        let text = render::train::text(summary, output::colour() && !to_stdout);
        if to_stdout {
            output::say(self.context.quiet, text.trim_end());
            Ok(())
        } else if self.args.json {
            output::print_json(summary)
        } else {
            output::print(&text)
        }
    }
}

/// Writes the page that shows the run.
fn write_page(
    path: &Path,
    summary: &TrainSummary,
    model: &Model,
    train: &Dataset,
    held_out: Option<&Dataset>,
    parts: Option<&split::Split>,
    threads: usize,
) -> rosenblatt::Result<()> {
    use render::report::{Diagnostics, train_page};
    // Asking about the training examples is left out where it would cost more than training.
    let training = summary.report.train_accuracy.map(|_| {
        let number = |i: usize| parts.map_or(i, |p| p.train[i]);
        Diagnostics::of(model, train, number, threads)
    });
    let training = training.transpose()?;
    let held_out = held_out.map(|data| {
        let number = |i: usize| parts.map_or(i, |p| p.held_out[i]);
        Diagnostics::of(model, data, number, threads)
    });
    let held_out = held_out.transpose()?;
    let diagnostics = [training.as_ref(), held_out.as_ref()];
    let page = train_page(summary, model, &train.names, diagnostics);
    output::write_bytes(path, page.as_bytes())
}

/// Sees to it that values of a kernel are taken as they are: columns of a Gram matrix that are
/// shifted and scaled make another matrix, most often none that is symmetric.
fn leave_kernel_values(data: &mut DataOptions) -> Result<(), Failure> {
    if data.scale.is_some_and(|scale| scale != Scale::None) {
        return Err(Error::options("kernel values cannot be scaled")
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
