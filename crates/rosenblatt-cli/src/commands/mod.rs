//! The commands, one file each.

mod check;
mod convert;
mod experiment;
mod export;
mod generate;
mod inspect;
mod pages;
mod predict;
mod test;
mod trace;
mod train;
mod verify;

pub use train::TrainOutcome;
use train::{in_data, interrupt_flag, writable};

use std::path::Path;

use rosenblatt::Error;
use rosenblatt::data::read::{Batches, BatchesReport};
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
        Command::Inspect(args) => inspect::run(&args),
        Command::Convert(args) => convert::run(context, &args),
        Command::Export(args) => export::run(&args),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { folder } => pages::manual(&folder),
    }
}

/// Opens a file for a saved model: its own options, with what is said now beside them.
fn open_batches(
    context: Context,
    model: &Model,
    path: &Path,
    args: &DataArgs,
) -> rosenblatt::Result<Batches> {
    args.refuse_settled()?;
    let preparation = model.preparation.as_ref().ok_or_else(|| {
        Error::model("this model does not say how files become its features")
            .remedy("it was trained on arrays; use it from where it was made")
    })?;
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
