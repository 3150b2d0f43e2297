//! The commands, one file each.

mod cached;
mod check;
mod check_jointly;
mod check_kernel;
mod convert;
mod experiment;
mod export;
mod figure;
mod generate;
mod inspect;
mod pages;
mod predict;
mod test;
mod trace;
mod train;
mod verify;

pub use train::TrainOutcome;
use train::{in_data, interrupt_flag};

use std::path::Path;

use rosenblatt::Error;
use rosenblatt::read::{Batches, BatchesReport, Coding, Format, Preparation};
use rosenblatt::model::Model;

use crate::args::{Cli, Command, DataArgs};
use crate::output::{self, Outcome};
use crate::render::numbers::{count, counted};

/// What every command knows.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    pub quiet: bool,
    pub threads: usize,
}

/// Runs the command asked for.
pub fn run(cli: Cli) -> Outcome {
    let context = Context {
        quiet: cli.quiet,
        threads: cli.threads(),
    };
    match cli.command {
        Command::Train(args) => train::run(context, &args),
        Command::Predict(args) => predict::run(context, &args),
        Command::Test(args) => test::run(context, &args),
        Command::Check(args) => check::run(context, &args),
        Command::Verify(args) => verify::run(&args),
        Command::Trace(args) => trace::run(context, &args),
        Command::Generate(args) => generate::run(context, &args),
        Command::Experiment(args) => experiment::run(context, &args),
        Command::Figure(args) => figure::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Convert(args) => convert::run(context, &args),
        Command::Export(args) => export::run(&args),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { folder } => pages::manual(&folder),
    }
}

/// Those of `all` that are named, in their own order; the name `all` means every one.
fn chosen<T>(
    all: &'static [T],
    name: fn(&T) -> &'static str,
    what: &str,
    names: &[String],
) -> rosenblatt::Result<Vec<&'static T>> {
    let known = |asked: &String| asked == "all" || all.iter().any(|one| name(one) == asked);
    if let Some(asked) = names.iter().find(|n| !known(n)) {
        let names: Vec<&str> = all.iter().map(name).collect();
        return Err(
            Error::options(format!("there is no {what} called {asked:?}"))
                .remedy(format!("choose among {}, or all", names.join(", "))),
        );
    }
    let meant = |one: &&T| names.iter().any(|n| n == "all" || n == name(one));
    Ok(all.iter().filter(meant).collect())
}

/// Opens a file for a saved model: its own options, with what is said now beside them.
fn open_batches(
    context: Context,
    model: &Model,
    preparation: Option<&Preparation>,
    path: &Path,
    args: &DataArgs,
) -> rosenblatt::Result<Batches> {
    args.refuse_settled()?;
    let preparation = preparation.ok_or_else(|| {
        Error::model("this model does not say how files become its features")
            .remedy("it was trained on arrays; use it from where it was made")
    })?;
    if let Coding::Indexed { .. } = preparation.coding() {
        args.refuse_foreign_to(Format::Libsvm)?;
    }
    let options = args.recalled_look(&model.recipe).options(context.threads)?;
    Batches::open(path, preparation, &model.classes, &options.read)
}

/// Says what was met while reading.
fn report_batches(context: Context, report: &BatchesReport) {
    for note in &report.notes {
        output::say(context.quiet, &format!("note: {note}"));
    }
    if report.skipped > 0 {
        output::say(
            context.quiet,
            &format!(
                "warning: {} left out",
                counted(
                    report.skipped,
                    "row that could not be read",
                    "rows that could not be read"
                )
            ),
        );
        for message in &report.skipped_messages {
            output::say(context.quiet, &format!("  {message}"));
        }
    }
    let unseen = &report.unseen;
    let met: Vec<String> = [
        ("levels", unseen.levels),
        ("words", unseen.words),
        ("features", unseen.features),
    ]
    .iter()
    .filter(|(_, n)| *n > 0)
    .map(|(what, n)| format!("{} unseen {what}", count(*n)))
    .collect();
    if !met.is_empty() {
        output::say(
            context.quiet,
            &format!(
                "note: ignored {}: the model has not learnt them",
                met.join(", ")
            ),
        );
    }
}
