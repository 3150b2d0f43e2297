//! A study's pictures as files, and all studies as one page.

use std::path::Path;

use rosenblatt::Result;
use rosenblatt_plot::html::{self, Page};

use super::runner::Finished;
use super::study::{Conclusion, Study, Table};
use crate::output::write_bytes;
use crate::render::picture;

/// Writes every picture of a study as SVG, and as PNG where this build draws it; gives how many there are.
pub fn write_figures(study: &Study, conclusion: &Conclusion, folder: &Path) -> Result<usize> {
    for (name, figure) in &conclusion.figures {
        let stem = format!("{}-{name}", study.name);
        let svg = folder.join(format!("{stem}.svg"));
        write_bytes(&svg, figure.svg().as_bytes())?;
        if rosenblatt_plot::PNG {
            let png = folder.join(format!("{stem}.png"));
            write_bytes(&png, &picture::png(&png, figure)?)?;
        }
    }
    Ok(conclusion.figures.len())
}

/// One page with every study: its question, its pictures, what they show, and the command that
/// makes them again, which `command` gives for names of studies.
pub fn page(studies: &[Finished], command: impl Fn(&str) -> String) -> String {
    let title = match studies {
        [one] => one.study.title.to_owned(),
        _ => "How perceptrons learn".to_owned(),
    };
    let mut page = Page::new(title);
    if studies.len() > 1 {
        page = page.contents();
    }
    for finished in studies {
        let (study, conclusion) = (finished.study, &finished.conclusion);
        if studies.len() > 1 {
            page = page.heading(study.title);
        }
        page = page
            .paragraph(study.question)
            .note(conclusion.sentences.join(" "));
        for (_, figure) in &conclusion.figures {
            page = page.figure(figure);
        }
        if !conclusion.checks.is_empty() {
            page = page.list(conclusion.checks.iter().map(|check| {
                let verdict = if check.holds {
                    "holds"
                } else {
                    "DOES NOT HOLD"
                };
                format!("{verdict}: {}.", check.statement)
            }));
        }
        page = page.table(&html_table(&conclusion.table, finished.runs));
        if studies.len() > 1 {
            page = page.command(command(study.name));
        }
    }
    let names: Vec<&str> = studies.iter().map(|f| f.study.name).collect();
    page.heading("Reproduce")
        .command(command(&names.join(" ")))
        .html()
}

fn html_table(table: &Table, runs: usize) -> html::Table {
    html::Table::new(table.header.clone())
        .rows(table.rows.clone())
        .caption(format!(
            "{runs} runs; numbers in brackets are the quartiles"
        ))
}
