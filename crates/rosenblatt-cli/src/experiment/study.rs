//! What a study is, what its runs look like, and what it concludes.

use std::fmt::Display;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use rosenblatt::Result;
use rosenblatt_plot::Figure;

/// A study: a question, runs that bear on it, and the answer they give.
pub struct Study {
    /// How a command names it.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// What a case is set to; together these name it. The last is the seed.
    pub settings: &'static [&'static str],
    /// What a run measures; a value that is no number says that there was nothing to measure.
    pub measures: &'static [&'static str],
    /// The cases to run.
    pub plan: fn(&Effort) -> Vec<Case>,
    /// Runs one case.
    pub run: fn(&Row<'_>, &AtomicBool) -> Result<Vec<f64>>,
    /// What the runs show.
    pub conclude: fn(&[Row<'_>]) -> Result<Conclusion>,
}

/// How much work to put into a study.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Smaller cases and fewer seeds.
    pub quick: bool,
    /// Seeds for each case, where the study's own number is not wanted.
    pub seeds: Option<u64>,
}

impl Effort {
    /// The seeds to use: `quick` or `full` many, unless told.
    pub fn seeds(&self, quick: u64, full: u64) -> Range<u64> {
        0..self.seeds.unwrap_or(self.choose(quick, full))
    }

    /// One of two.
    pub fn choose<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }
}

/// The settings of a run, in the order the study lists them.
pub type Case = Vec<String>;

/// A case made of anything that can be written.
pub fn case(settings: &[&dyn Display]) -> Case {
    settings.iter().map(ToString::to_string).collect()
}

/// A case with what its run measured.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The study it belongs to.
    pub study: &'static Study,
    /// The settings.
    pub settings: &'a [String],
    /// The measures; empty before the run.
    pub measures: &'a [f64],
}

impl<'a> Row<'a> {
    /// A setting as text; the study must list it.
    pub fn text(&self, name: &str) -> &'a str {
        let at = self.study.settings.iter().position(|s| *s == name);
        at.map_or("", |i| &self.settings[i])
    }

    /// A setting or a measure as a number; NaN where it is none.
    pub fn number(&self, name: &str) -> f64 {
        match self.study.measures.iter().position(|m| *m == name) {
            Some(i) => self.measures.get(i).copied().unwrap_or(f64::NAN),
            None => self.text(name).parse().unwrap_or(f64::NAN),
        }
    }

    /// A setting that counts something.
    pub fn count(&self, name: &str) -> usize {
        self.text(name).parse().unwrap_or(0)
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.settings
            .last()
            .and_then(|s| s.parse().ok())
            .unwrap_or(0)
    }
}

/// The rows whose setting `name` reads `value`.
pub fn having<'a>(rows: &[Row<'a>], name: &str, value: &str) -> Vec<Row<'a>> {
    let those = rows.iter().filter(|r| r.text(name) == value);
    those.copied().collect()
}

/// The values of a setting, in the order of the plan.
pub fn values_of<'a>(rows: &[Row<'a>], name: &str) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for row in rows {
        let value = row.text(name);
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// A measure of every row, where there was something to measure.
pub fn measured(rows: &[Row<'_>], name: &str) -> Vec<f64> {
    let all = rows.iter().map(|r| r.number(name));
    all.filter(|x| !x.is_nan()).collect()
}

/// The samples of `y` at each `x`, in the order of the plan.
pub fn samples(rows: &[Row<'_>], x: &str, y: &str) -> Vec<(f64, Vec<f64>)> {
    values_of(rows, x)
        .into_iter()
        .filter_map(|value| {
            let at: f64 = value.parse().ok()?;
            Some((at, measured(&having(rows, x, value), y)))
        })
        .collect()
}

/// What the runs of a study show.
pub struct Conclusion {
    /// What they show, in sentences made of their numbers.
    pub sentences: Vec<String>,
    /// Theorems that every run was held against.
    pub checks: Vec<Check>,
    /// The numbers behind the sentences.
    pub table: Table,
    /// The pictures, with names for their files.
    pub figures: Vec<(String, Figure)>,
}

/// A statement that theory makes about every run.
pub struct Check {
    /// The statement, with the numbers found.
    pub statement: String,
    /// Whether the runs bear it out.
    pub holds: bool,
}

/// That every run stays within its bound.
pub fn within_bounds(rows: &[Row<'_>], what: &str) -> Check {
    let bounded: Vec<&Row<'_>> = rows.iter().filter(|r| r.number("bound") > 0.0).collect();
    let over = bounded
        .iter()
        .filter(|r| r.number("updates") > r.number("bound"))
        .count();
    let closest = bounded
        .iter()
        .map(|r| r.number("updates") / r.number("bound"))
        .fold(0.0, f64::max);
    Check {
        statement: format!(
            "{} of {} runs lie at or below {what}; the closest uses {:.1} % of it",
            bounded.len() - over,
            bounded.len(),
            100.0 * closest
        ),
        holds: over == 0 && !bounded.is_empty(),
    }
}

/// A small table of results.
pub struct Table {
    /// The names of the columns; the first holds names, the others numbers.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(header: &[&str]) -> Self {
        Table {
            header: header.iter().map(ToString::to_string).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}
