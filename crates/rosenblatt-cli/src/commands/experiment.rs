//! `experiment`: studies of how perceptrons behave, with a log, pictures and a page.

use std::time::Instant;

use rosenblatt::{Error, ErrorKind};

use super::context::{Context, chosen, interrupt_flag};
use crate::args::ExperimentArgs;
use crate::experiment::{self, Effort, Finished};
use crate::output::{self, Done, Outcome};
use crate::render::numbers::{count, seconds};
use crate::render::progress::Progress;
use crate::render::table::{Align, columns};

pub fn run(context: Context, args: &ExperimentArgs) -> Outcome {
    let studies = chosen(experiment::STUDIES, |s| s.name, "study", &args.studies)?;
    let effort = Effort {
        quick: args.quick,
        seeds: args.seeds.map(u64::from),
    };
    let folder = &args.output;
    std::fs::create_dir_all(folder).map_err(|e| {
        Error::io(folder, &e).remedy("name a folder that can be made and written with -o")
    })?;
    let mut finished = Vec::new();
    for study in studies {
        let started = Instant::now();
        let mut bar: Option<Progress> = None;
        let one = experiment::run(
            study,
            &effort,
            folder,
            args.fresh,
            context.threads,
            interrupt_flag(),
            |done, all| {
                bar.get_or_insert_with(|| Progress::new(context.quiet, all as u64, study.name))
                    .at(done as u64, || format!("{} {done} of {all}", study.name));
            },
        )?;
        drop(bar);
        experiment::write_figures(study, &one.conclusion, folder)?;
        let found = match one.found {
            0 => String::new(),
            found => format!(", {} of them found in the folder", count(found as u64)),
        };
        output::say(
            context.quiet,
            &format!(
                "{}: {} runs{found}, {}",
                study.name,
                count(one.runs as u64),
                seconds(started.elapsed().as_secs_f64())
            ),
        );
        output::print(&summary(&one))?;
        finished.push(one);
    }
    let page = folder.join("index.html");
    let html = experiment::page(&finished, |names| command(names, args));
    output::write_bytes(&page, html.as_bytes())?;
    output::say(context.quiet, &format!("page: {}", page.display()));
    let broken: Vec<&str> = finished
        .iter()
        .flat_map(|f| &f.conclusion.checks)
        .filter(|check| !check.holds)
        .map(|check| check.statement.as_str())
        .collect();
    if !broken.is_empty() {
        return Err(Error::new(
            ErrorKind::Data,
            format!("the runs contradict theory: {}", broken.join("; ")),
        )
        .remedy("report this as a bug, with the folder")
        .into());
    }
    Ok(Done::Finished)
}

/// The command that runs these studies as they were run.
fn command(names: &str, args: &ExperimentArgs) -> String {
    let mut text = format!("rosenblatt experiment {names}");
    if args.quick {
        text.push_str(" --quick");
    }
    if let Some(seeds) = args.seeds {
        text.push_str(&format!(" --seeds {seeds}"));
    }
    text
}

/// What a study found, as text.
fn summary(finished: &Finished) -> String {
    let conclusion = &finished.conclusion;
    let mut text = format!("{}\n\n", finished.study.title);
    let mut rows = vec![conclusion.table.header.clone()];
    rows.extend(conclusion.table.rows.iter().cloned());
    let mut align = vec![Align::Right; conclusion.table.header.len()];
    align[0] = Align::Left;
    text.push_str(&columns(&rows, &align, 0));
    text.push('\n');
    for sentence in &conclusion.sentences {
        text.push_str(&format!("{sentence}\n"));
    }
    for check in &conclusion.checks {
        let verdict = if check.holds {
            "holds"
        } else {
            "DOES NOT HOLD"
        };
        text.push_str(&format!("{verdict}: {}\n", check.statement));
    }
    text.push('\n');
    text
}
