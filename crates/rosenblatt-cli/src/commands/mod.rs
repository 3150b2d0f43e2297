//! The commands, one file each.

mod batches;
mod cached;
mod check;
mod context;
mod convert;
mod experiment;
mod explain;
mod export;
mod figure;
mod generate;
mod geometry;
mod inspect;
mod logistic;
mod pages;
mod predict;
mod serve;
mod studio;
mod test;
mod trace;
mod train;
mod tune;
mod verify;

use std::path::Path;

use rosenblatt::model::Model;
use rosenblatt::read::{self, Preparation};

use crate::args::{Cli, Command, DataArgs};
use crate::output::Outcome;
use context::Context;
pub(crate) use train::Expected;
pub(crate) use tune::Tuned;

/// Reads a model, with the preparation of the files it was trained with.
fn load_model(path: impl AsRef<Path>) -> rosenblatt::Result<(Model, Option<Preparation>)> {
    let path = path.as_ref();
    let (model, preparation) = read::load_model(path)?;
    DataArgs::refuse_unknown(&model.recipe).map_err(|e| e.in_file(path))?;
    Ok((model, preparation))
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
        Command::Explain(args) => explain::run(context, &args),
        Command::Tune(args) => tune::run(context, &args),
        Command::Test(args) => test::run(context, &args),
        Command::Check(args) => check::run(context, &args),
        Command::Logistic(args) => logistic::run(context, &args),
        Command::Verify(args) => verify::run(&args),
        Command::Trace(args) => trace::run(context, &args),
        Command::Studio(args) => studio::run(context, &args),
        Command::Generate(args) => generate::run(context, &args),
        Command::Experiment(args) => experiment::run(context, &args),
        Command::Figure(args) => figure::run(&args),
        Command::Inspect(args) => inspect::run(context, &args),
        Command::Convert(args) => convert::run(context, &args),
        Command::Export(args) => export::run(&args),
        Command::Serve(args) => serve::run(context, &args),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { folder } => pages::manual(&folder),
    }
}
