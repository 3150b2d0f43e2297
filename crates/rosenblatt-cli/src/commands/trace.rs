//! `trace`: the steps of a run as a table.

use rosenblatt::Options;
use rosenblatt::data::{Dataset, Layout, Precision};
use rosenblatt::model::Model;
use rosenblatt::options::{Bias, Order, Readout};
use rosenblatt::progress::Stop;
use rosenblatt::read::{self, Preparation, Scale};
use rosenblatt::scheme::Scheme;
use rosenblatt::training::{Callback, Step};
use rosenblatt::{Error, report};
use serde_json::{Value, json};

use super::context::{Context, in_data, interrupt_flag};
use crate::args::TraceArgs;
use crate::output::{self, Done, Outcome};
use crate::render;
use crate::render::numbers::{count, counted};
use crate::render::table::{Align, clipped, columns};

pub fn run(context: Context, args: &TraceArgs) -> Outcome {
    if let Some(path) = &args.plot {
        render::picture::check(path)?;
    }
    let base = Options {
        order: Order::Given,
        ..Options::default()
    };
    let mut options = args.learner.options(base)?;
    if options.learner.is_mistake_driven() {
        options.readout.get_or_insert(Readout::Last);
    } else if options.learner.name() != "linear-unit" {
        return Err(Error::options(format!(
            "trace shows the steps of mistake-driven learners and of the linear unit, not of {}",
            options.learner.name()
        ))
        .remedy("leave --learner out")
        .into());
    }
    // Those of networks were refused with their learner.
    let needs_held_out = ["patience", "keep", "metric"];
    if let Some(name) = needs_held_out.iter().find(|name| args.learner.has(name)) {
        return Err(Error::options(format!(
            "--{name} is about held-out examples, and trace holds none out"
        ))
        .remedy("leave it out")
        .into());
    }
    options.validate()?;
    let mut data_options = args.source.options(context.threads)?;
    args.source.refuse_held_out()?;
    // A trace is held against hand calculation: the numbers as they are.
    data_options.scale.get_or_insert(Scale::None);
    if !args.source.has("precision") {
        data_options.read.precision = Precision::F64;
    }
    let raw = read::read(&args.data, &data_options.read)?;
    args.source
        .refuse_foreign(raw.report(), raw.label_texts())?;
    let (preparation, report) = Preparation::fit_and_report(&raw, None, data_options.scale)?;
    for warning in &report.warnings {
        output::say(
            context.quiet,
            &format!("warning: {}", warning.as_command_line()),
        );
    }
    let data = raw.into_dataset(&preparation, Layout::AsGiven)?;
    let mut steps = Steps {
        steps: Vec::new(),
        held: 0,
    };
    let width = data.features() + 1;
    let session = rosenblatt::session(&options)
        .interrupt(interrupt_flag())
        .threads(context.threads);
    let fitted = session
        .train_with(&data, &mut steps)
        .map_err(|e| in_data(e, &args.data))?;
    if steps.held > LIMIT {
        return Err(Error::options(format!(
            "a trace of more than {} steps of {width} weights is too long to be read",
            count(steps.steps.len() as u64)
        ))
        .remedy("limit it with --epochs or --max-updates")
        .into());
    }
    if let Some(path) = &args.plot {
        let most = render::boundary::draw(path, &data, &steps.steps, options.bias() != Bias::None)?;
        let of = |class| data.labels.iter().filter(|&&label| label == class).count();
        if of(0).max(of(1)) > most {
            let most = count(most as u64);
            let said = format!("plot: a sample of at most {most} points of each class is drawn");
            output::say(context.quiet, &said);
        }
    }
    let stop = fitted.model.progress.stop.unwrap_or(Stop::Interrupted);
    match args.json {
        true => output::print_json(&json(&fitted.model, &options, &data, &steps.steps, stop))?,
        false => output::print(&text(&fitted.model, &data, &steps.steps, stop))?,
    }
    Ok(if stop == Stop::Interrupted {
        Done::Interrupted
    } else {
        Done::Finished
    })
}

fn json(model: &Model, options: &Options, data: &Dataset, steps: &[Step], stop: Stop) -> Value {
    let binary = model.scheme == Scheme::Binary;
    let listed: Vec<Value> = steps.iter().map(|s| step_json(s, data, binary)).collect();
    let features = (0..data.features()).map(|j| data.names.get(j).into_owned());
    let discriminators = 0..model.scheme.discriminators();
    let progress = &model.progress;
    json!({
        "steps": listed,
        "features": features.collect::<Vec<_>>(),
        "classes": data.classes.names(),
        "discriminators": discriminators.map(|d| report::discriminator_name(model, d)).collect::<Vec<_>>(),
        "bias": options.bias().to_string(),
        "epochs": progress.epochs(),
        "mistakes": progress.mistakes,
        "updates": progress.updates,
        "mistakes_per_epoch": progress.mistakes_per_epoch(),
        "squared_error_per_epoch": squared_errors(steps),
        "stop": stop.name(),
        "weights": steps.last().map(|s| &s.weights_after),
        "options": options.changed(),
    })
}

fn text(model: &Model, data: &Dataset, steps: &[Step], stop: Stop) -> String {
    let progress = &model.progress;
    let mut text = table(steps, data);
    text.push_str(&format!(
        "{}, {}, {}\n{stop}\n",
        counted(progress.epochs(), "pass", "passes"),
        counted(progress.mistakes, "mistake", "mistakes"),
        counted(progress.updates, "update", "updates")
    ));
    if let Some(errors) = squared_errors(steps) {
        const SHOWN: usize = 10;
        let mut shown: Vec<String> = errors.iter().take(SHOWN).map(|&e| exact(e)).collect();
        if let Some(last) = errors.get(SHOWN..).and_then(<[f64]>::last) {
            shown.push(format!("… {}", exact(*last)));
        }
        text.push_str(&format!("E = ½ Σ (y − o)² by pass: {}\n", shown.join(", ")));
    }
    if let Some(last) = steps.last() {
        text.push_str(&format!(
            "final weights {}\n",
            vectors(&last.weights_after, last.scores.len())
        ));
    }
    text
}

/// The error of a linear unit over each pass, ½ Σ (y − o)².
fn squared_errors(steps: &[Step]) -> Option<Vec<f64>> {
    let passes = steps.chunk_by(|a, b| a.epoch == b.epoch);
    let sums = passes.map(|pass| pass.iter().map(|s| s.squared_error).sum::<Option<f64>>());
    sums.collect::<Option<Vec<f64>>>()
        .filter(|sums| !sums.is_empty())
}

/// Numbers that a trace may hold.
const LIMIT: usize = 50_000_000;

struct Steps {
    steps: Vec<Step>,
    held: usize,
}

impl Callback for Steps {
    fn wants_steps(&self) -> bool {
        self.held <= LIMIT
    }

    fn step(&mut self, step: Step) {
        self.held += 2 * step.weights.len();
        if self.held <= LIMIT {
            self.steps.push(step);
        } else {
            interrupt_flag().store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

fn step_json(step: &Step, data: &Dataset, binary: bool) -> Value {
    let mut said = json!({
        "step": step.step,
        "epoch": step.epoch,
        "row": step.row,
        "weights": step.weights,
        "score": if binary { json!(step.scores[0]) } else { json!(step.scores) },
        "label": data.classes.name(step.label),
        "correct": step.correct,
        "weights_after": step.weights_after,
    });
    if let Some(error) = step.squared_error {
        said["squared_error"] = json!(error);
    }
    said
}

/// The number itself, in as few digits as tell it from all others; no sign for zero.
pub(super) fn exact(x: f64) -> String {
    let plain = x == 0.0 || (1e-5..1e16).contains(&x.abs()) || !x.is_finite();
    match plain {
        true => (x + 0.0).to_string(),
        false => format!("{x:e}"),
    }
}

/// The weights of each discriminator in brackets of their own.
fn vectors(values: &[f64], discriminators: usize) -> String {
    let each = values.chunks((values.len() / discriminators).max(1));
    each.map(vector).collect::<Vec<_>>().join(" ")
}

pub(super) fn vector(values: &[f64]) -> String {
    const SHOWN: usize = 12;
    let mut texts: Vec<String> = values.iter().take(SHOWN).map(|&v| exact(v)).collect();
    if values.len() > SHOWN {
        texts.push(format!("… {} more", values.len() - SHOWN));
    }
    format!("({})", texts.join(", "))
}

/// Whether the weights were to change.
fn moved(step: &Step) -> bool {
    match step.squared_error {
        Some(_) => step.weights != step.weights_after,
        None => !step.correct,
    }
}

fn table(steps: &[Step], data: &Dataset) -> String {
    let mut rows = vec![
        [
            "step",
            "pass",
            "row",
            "weights",
            "score",
            "label",
            "correct?",
            "new weights",
        ]
        .map(String::from)
        .to_vec(),
    ];
    for step in steps {
        let scores: Vec<String> = step.scores.iter().map(|&s| exact(s)).collect();
        rows.push(vec![
            step.step.to_string(),
            step.epoch.to_string(),
            step.row.to_string(),
            vectors(&step.weights, step.scores.len()),
            scores.join(", "),
            clipped(data.classes.name(step.label), 20),
            if step.correct { "yes" } else { "no" }.into(),
            if !moved(step) {
                String::new()
            } else {
                vectors(&step.weights_after, step.scores.len())
            },
        ]);
    }
    use Align::{Left, Right};
    columns(
        &rows,
        &[Right, Right, Right, Left, Right, Right, Left, Left],
        0,
    )
}
