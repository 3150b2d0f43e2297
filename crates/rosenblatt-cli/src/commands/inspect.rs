//! `inspect`: what a model is and how it came about.

use std::fmt::Write;

use rosenblatt::Options;
use rosenblatt::data::FeatureNames;
use rosenblatt::model::{Decision, Model};
use rosenblatt::report::{self, Discriminator, largest_weights};
use serde_json::{Map, Value, json};

use super::context::Context;
use super::geometry;
use crate::args::InspectArgs;
use crate::output::{self, Done, Outcome};
use crate::render;
use crate::render::numbers::{count, counted, short};
use crate::render::table::{Align, clipped, columns};

pub fn run(context: Context, args: &InspectArgs) -> Outcome {
    let (model, preparation) = super::load_model(&args.model)?;
    if args.command {
        output::print(&format!("{}\n", command(&model)))?;
        return Ok(Done::Finished);
    }
    if let Some(data) = &args.geometry {
        return geometry::run(context, &model, preparation.as_ref(), data, args.json);
    }
    let names = preparation.map_or_else(FeatureNames::default, |p| p.feature_names());
    let discriminators = largest_weights(&model, &names, args.weights);
    match args.json {
        true => output::print_json(&json(args, &model, &discriminators))?,
        false => output::print(&text(args, &model, &discriminators))?,
    }
    Ok(Done::Finished)
}

fn json(args: &InspectArgs, model: &Model, discriminators: &[Discriminator]) -> Value {
    let progress = &model.progress;
    let options: Map<String, Value> = model
        .options
        .values()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    json!({
        "classes": model.classes.names(),
        "features": model.features(),
        "scheme": model.scheme,
        "options": options,
        "data_options": model.recipe,
        "epochs": progress.epochs(),
        "mistakes": progress.mistakes,
        "updates": progress.updates,
        "stop": progress.stop.map(|s| s.name()),
        "trained_on": model.trained_on,
        "discriminators": discriminators,
        "hardest": report::hardest(model, args.weights),
        "planes": report::planes(model),
        "support_vectors": report::support_vectors(model),
        "command": command(model),
    })
}

fn text(args: &InspectArgs, model: &Model, discriminators: &[Discriminator]) -> String {
    let mut text = origin(model);
    let _ = writeln!(text, "\noptions");
    let recipe = model.recipe.iter();
    let options: Vec<Vec<String>> = (model.options.values().into_iter())
        .map(|(name, value)| vec![name.to_owned(), value])
        .chain(recipe.map(|(name, value)| vec![name.clone(), value.clone()]))
        .collect();
    text.push_str(&columns(&options, &[Align::Left, Align::Left], 2));
    if let Decision::Voted(voted) = &model.decision {
        let _ = writeln!(
            text,
            "\nvotes of {} on {}",
            counted(
                voted.log.entries.len() as u64 + 1,
                "hypothesis",
                "hypotheses"
            ),
            counted(
                voted.rows.len() as u64,
                "corrected example",
                "corrected examples"
            )
        );
    }
    let hardest = report::hardest(model, args.weights);
    if !hardest.is_empty() {
        let _ = writeln!(text, "\nhardest examples (row, times corrected)");
        let rows: Vec<Vec<String>> = hardest
            .iter()
            .map(|(row, times)| vec![count(*row), count(*times)])
            .collect();
        text.push_str(&columns(&rows, &[Align::Right, Align::Right], 2));
    }
    if model.support.is_some() {
        let planes = render::train::planes(&report::planes(model));
        let support = render::train::support_vectors(&report::support_vectors(model), None);
        let _ = write!(text, "\nplanes\n{planes}{support}\n");
    }
    for d in discriminators {
        let _ = writeln!(
            text,
            "\n{}: bias {}, threshold θ = {}",
            clipped(&d.name, 40),
            short(d.bias),
            short(d.threshold)
        );
        let rows: Vec<Vec<String>> = d
            .largest
            .iter()
            .map(|(name, w)| vec![clipped(name, 50), short(*w)])
            .collect();
        text.push_str(&columns(&rows, &[Align::Left, Align::Right], 2));
    }
    text
}

/// What the model is and what it was trained on.
fn origin(model: &Model) -> String {
    let progress = &model.progress;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} of {} over {}, trained on {} ({} numbers not zero, fingerprint {:016x})",
        model.options.learner.name(),
        model
            .classes
            .names()
            .iter()
            .map(|n| clipped(n, 30))
            .collect::<Vec<_>>()
            .join(" | "),
        counted(model.features() as u64, "feature", "features"),
        counted(model.trained_on.examples, "example", "examples"),
        count(model.trained_on.non_zeros),
        model.trained_on.hash,
    );
    let _ = writeln!(
        text,
        "{}, {}, {}; {}",
        counted(progress.epochs(), "pass", "passes"),
        counted(progress.mistakes, "mistake", "mistakes"),
        counted(progress.updates, "update", "updates"),
        progress.stop.map_or_else(
            || "the run is unfinished: resume it with train --resume".to_owned(),
            |stop| rosenblatt::report::reason(stop, &model.options)
        ),
    );
    text
}

/// The command that trains such a model, with the data and the model left to name.
fn command(model: &Model) -> String {
    let learner = model
        .options
        .changed()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    let parameters = Options::parameters();
    let mut words = vec!["rosenblatt train DATA -o MODEL".to_owned()];
    for (name, value) in learner.chain(model.recipe.iter().cloned()) {
        let switch = parameters
            .iter()
            .any(|p| p.name == name && p.value.is_empty());
        words.push(if switch {
            format!("--{name}")
        } else {
            format!("--{name}={}", quoted(&value))
        });
    }
    words.join(" ")
}

/// A word as a shell reads it back.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:=+/%@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
