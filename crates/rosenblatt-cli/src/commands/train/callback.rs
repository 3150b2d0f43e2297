//! The callback of a training run: a progress bar, and checkpoints.

use std::path::Path;
use std::time::{Duration, Instant};

use rosenblatt::Options;
use rosenblatt::data::Dataset;
use rosenblatt::model::Model;
use rosenblatt::options::DataSize;
use rosenblatt::progress::Pass;
use rosenblatt::read::Preparation;
use rosenblatt::training::Callback;

use crate::args::TrainArgs;
use crate::commands::context::Context;
use crate::output;
use crate::render;

/// Shows progress and saves checkpoints.
pub(super) struct TrainCallback<'a> {
    bar: render::progress::Progress,
    output: Option<&'a Path>,
    quiet: bool,
    save_every: Duration,
    last_saved: Instant,
    preparation: &'a Preparation,
    pub(super) recipe: Vec<(String, String)>,
}

impl<'a> TrainCallback<'a> {
    pub(super) fn new(
        context: Context,
        args: &'a TrainArgs,
        options: &Options,
        data: &Dataset,
        preparation: &'a Preparation,
        recipe: Vec<(String, String)>,
    ) -> Self {
        let epochs = options.epochs.unwrap_or_else(|| {
            let k = if data.classes.len() > 2 {
                data.classes.len()
            } else {
                1
            };
            let size = DataSize::of(&data.matrix, k);
            match options.ends_without_gain() {
                true => Options::usual_passes(size),
                false => options.learner.default_epochs(size),
            }
        });
        TrainCallback {
            bar: render::progress::Progress::new(context.quiet, epochs, "training"),
            output: args.output.as_deref().filter(|p| !output::is_dash(p)),
            quiet: context.quiet,
            save_every: Duration::try_from_secs_f64(args.save_every).unwrap_or(Duration::MAX),
            last_saved: Instant::now(),
            preparation,
            recipe,
        }
    }
}

impl Callback for TrainCallback<'_> {
    fn pass(&mut self, epoch: u64, pass: &Pass) {
        self.bar.at(epoch, || {
            format!("{} mistakes", render::numbers::count(pass.mistakes))
        });
    }

    fn wants_checkpoint(&mut self) -> bool {
        // A pipe or a device would get one model behind the other.
        let saved = |path: &Path| std::fs::metadata(path).map_or(true, |found| found.is_file());
        self.output.is_some_and(saved) && self.last_saved.elapsed() >= self.save_every
    }

    fn checkpoint(&mut self, model: Model) -> rosenblatt::Result<()> {
        self.last_saved = Instant::now();
        let Some(path) = self.output else {
            return Ok(());
        };
        let saved = Model {
            preparation: Some(self.preparation.to_stored()),
            recipe: self.recipe.clone(),
            ..model
        }
        .save(path);
        // A disk that is full now may have room at the end.
        if let Err(error) = saved {
            let said = error.wording().as_command_line();
            output::say(
                self.quiet,
                &format!("warning: no checkpoint was saved, and the run goes on: {said}"),
            );
        }
        Ok(())
    }
}
