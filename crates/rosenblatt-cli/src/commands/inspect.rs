//! `inspect`: what a model is and how it came about.

use std::fmt::Write;

use rosenblatt::Options;
use rosenblatt::data::FeatureNames;
use rosenblatt::model::{Decision, Model};
use rosenblatt::options::choice_name;
use rosenblatt::report::{self, Discriminator, largest_weights};
use serde_json::{Map, Value, json};

use super::context::Context;
use super::explain::Named;
use super::geometry;
use crate::args::{InspectArgs, is_read};
use crate::output::{self, Done, Outcome};
use crate::render;
use crate::render::decision::Decided;
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
    let units = Named::of(&model, preparation.as_ref());
    let names = preparation.map_or_else(FeatureNames::default, |p| p.feature_names());
    let discriminators = largest_weights(&model, &names, args.weights);
    let original = in_original_units(args, &model, &units);
    match args.json {
        true => {
            let mut found = json(args, &model, &discriminators);
            found["discriminators_in_original_units"] = original
                .iter()
                .zip(&discriminators)
                .map(|((bias, weights), d)| {
                    let names = d.largest.iter().map(|(name, _)| name);
                    let weights: Vec<_> = names.zip(weights).collect();
                    json!({"name": d.name, "bias": bias, "weights": weights})
                })
                .collect();
            output::print_json(&found)?;
        }
        false => output::print(&text(args, &model, &discriminators, &original))?,
    }
    Ok(Done::Finished)
}

fn json(args: &InspectArgs, model: &Model, discriminators: &[Discriminator]) -> Value {
    let progress = &model.progress;
    let decided = Decided::of(model);
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
        "calibration": decided.calibration,
        "threshold": decided.threshold,
        "support_vectors": report::support_vectors(model),
        "command": command(model),
    })
}

/// Where columns were scaled: the bias of each discriminator over the numbers of the file, and
/// its largest weights in the order in which they are shown.
fn in_original_units(args: &InspectArgs, model: &Model, units: &Named) -> Vec<(f64, Vec<f64>)> {
    let Some(weights) = model.weights() else {
        return Vec::new();
    };
    let shown = weights
        .largest_of_each(args.weights)
        .into_iter()
        .enumerate();
    let of_one = |(d, shown): (usize, Vec<(usize, f64)>)| {
        let (bias, all) = units.original_weights(model, d)?;
        Some((bias, shown.iter().map(|&(j, _)| all[j]).collect()))
    };
    shown.map_while(of_one).collect()
}

fn text(
    args: &InspectArgs,
    model: &Model,
    discriminators: &[Discriminator],
    original: &[(f64, Vec<f64>)],
) -> String {
    let mut text = origin(model);
    let _ = writeln!(text, "\noptions");
    let recipe = model.recipe.iter();
    let options: Vec<Vec<String>> = (model.options.values().into_iter())
        .map(|(name, value)| vec![name.to_owned(), value])
        .chain(recipe.map(|(name, value)| vec![name.clone(), value.clone()]))
        .collect();
    text.push_str(&columns(&options, &[Align::Left, Align::Left], 2));
    for (name, line) in Decided::of(model).lines() {
        let _ = writeln!(text, "\n{name} {line}");
    }
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
    for (i, d) in discriminators.iter().enumerate() {
        let _ = writeln!(
            text,
            "\n{}: bias {}, threshold θ = {}",
            clipped(&d.name, 40),
            short(d.bias),
            short(d.threshold)
        );
        let weights = d.largest.iter();
        let mut rows: Vec<Vec<String>> = weights
            .map(|(name, w)| vec![clipped(name, 50), short(*w)])
            .collect();
        if let Some((bias, weights)) = original.get(i) {
            let _ = writeln!(
                text,
                "  in the third column per unit of the file, with bias {}",
                short(*bias)
            );
            let each = rows.iter_mut().zip(weights);
            each.for_each(|(row, w)| row.push(short(*w)));
        }
        let align = [Align::Left, Align::Right, Align::Right];
        let width = rows.first().map_or(0, Vec::len);
        text.push_str(&columns(&rows, &align[..width], 2));
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
    let recipe = model.recipe.iter().filter(|(name, _)| is_read(name));
    for (name, value) in learner.chain(recipe.cloned()) {
        let switch = parameters
            .iter()
            .any(|p| p.name == name && p.value.is_empty());
        words.push(if switch {
            format!("--{name}")
        } else {
            format!("--{name}={}", quoted(&value))
        });
    }
    if let Some(calibration) = &model.calibration {
        words.push(format!("--calibrate={}", choice_name(calibration.method())));
    }
    if let Some(threshold) = &model.threshold {
        words.push(format!("--threshold={}", threshold.rule));
    }
    words.join(" ")
}

/// A word as a shell reads it back.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:=+/%@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
