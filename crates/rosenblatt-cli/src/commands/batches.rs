//! Files that a saved model meets: opened with its own options, read batch by batch.

use std::path::Path;

use rosenblatt::Error;
use rosenblatt::model::Model;
use rosenblatt::read::{Batches, BatchesReport, Coding, Format, Preparation};

use super::context::Context;
use crate::args::ModelDataArgs;
use crate::output;
use crate::render::numbers::{count, counted};

/// Opens a file for a saved model: its own options, with what is said now beside them.
pub fn open(
    context: Context,
    model: &Model,
    preparation: Option<&Preparation>,
    path: &Path,
    args: &ModelDataArgs,
) -> rosenblatt::Result<Batches> {
    args.refuse_settled()?;
    let preparation = preparation.ok_or_else(|| {
        Error::model("this model does not say how files become its features")
            .remedy("it was trained on arrays; use it from where it was made")
    })?;
    if let Coding::Indexed { .. } = preparation.coding() {
        args.refuse_foreign_to(Format::Libsvm)?;
    }
    let mut options = args.recalled_look(&model.recipe).options(context.threads)?;
    options.read.by_position = args.by_position;
    Batches::open(path, preparation, &model.classes, &options.read)
}

/// Says what was met while reading.
pub fn report(context: Context, report: &BatchesReport) {
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
            output::say(context.quiet, &format!("  {}", message.as_command_line()));
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
                "note: ignored {}: they did not occur in training",
                met.join(", ")
            ),
        );
    }
}
