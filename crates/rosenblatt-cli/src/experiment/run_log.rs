//! The log of a study: a CSV file with a row for every finished run.
//!
//! Rows are appended as runs end, so a study cut short keeps what it has; the next start reads
//! them back and runs only what is missing. At the end the file is written anew in the order of
//! the plan, so that it does not depend on which run ended first.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rosenblatt::write::write_atomic;
use rosenblatt::{Error, Result};

use super::study::{Case, Study};

/// The version that made a row: rows of another one are run again.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The log of one study.
pub struct RunLog {
    study: &'static Study,
    path: PathBuf,
    file: File,
    /// Finished runs by their settings.
    found: HashMap<Case, Vec<f64>>,
}

impl RunLog {
    /// Opens the log in `folder`, with the runs it holds unless `fresh`.
    pub fn open(study: &'static Study, folder: &Path, fresh: bool) -> Result<Self> {
        let path = folder.join(format!("{}.csv", study.name));
        let failed = |e: std::io::Error| Error::io(&path, &e);
        let text = if !fresh && path.exists() {
            std::fs::read_to_string(&path).map_err(failed)?
        } else {
            String::new()
        };
        // A line without its end was cut short.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = whole.lines();
        let ours = lines.next() == Some(header(study).as_str());
        let found: HashMap<Case, Vec<f64>> = lines
            .filter(|_| ours)
            .filter_map(|line| parse(study, line))
            .collect();
        let mut start = header(study) + "\n";
        for (case, measures) in &found {
            start.push_str(&line(case, measures));
        }
        write_atomic(&path, |out| out.write_all(start.as_bytes()).map_err(failed))?;
        let file = OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(failed)?;
        Ok(RunLog {
            study,
            path,
            file,
            found,
        })
    }

    /// What the run of this case measured, if it is there.
    pub fn get(&self, case: &Case) -> Option<&Vec<f64>> {
        self.found.get(case)
    }

    /// Notes a finished run, at once and whole.
    pub fn append(&mut self, case: Case, measures: Vec<f64>) -> Result<()> {
        self.file
            .write_all(line(&case, &measures).as_bytes())
            .map_err(|e| Error::io(&self.path, &e))?;
        self.found.insert(case, measures);
        Ok(())
    }

    /// Writes the runs of the plan, in its order, and nothing else.
    pub fn rewrite(&self, plan: &[Case]) -> Result<()> {
        let mut text = header(self.study) + "\n";
        for case in plan {
            if let Some(measures) = self.found.get(case) {
                text.push_str(&line(case, measures));
            }
        }
        write_atomic(&self.path, |out| {
            out.write_all(text.as_bytes())
                .map_err(|e| Error::io(&self.path, &e))
        })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn header(study: &Study) -> String {
    let names: Vec<&str> = (study.settings.iter())
        .chain(study.measures)
        .copied()
        .chain(["version"])
        .collect();
    names.join(",")
}

/// A row; numbers are written so that they read back to the last bit, missing ones as nothing.
fn line(case: &Case, measures: &[f64]) -> String {
    let mut text = case.join(",");
    for x in measures {
        text.push(',');
        if !x.is_nan() {
            let _ = write!(text, "{x}");
        }
    }
    text + "," + VERSION + "\n"
}

fn parse(study: &Study, line: &str) -> Option<(Case, Vec<f64>)> {
    let cells: Vec<&str> = line.split(',').collect();
    let (settings, rest) = cells.split_at_checked(study.settings.len())?;
    let (measures, version) = rest.split_at_checked(study.measures.len())?;
    if version != [VERSION] {
        return None;
    }
    let measures = measures
        .iter()
        .map(|m| match *m {
            "" => Some(f64::NAN),
            text => text.parse().ok(),
        })
        .collect::<Option<Vec<f64>>>()?;
    Some((settings.iter().map(ToString::to_string).collect(), measures))
}
