//! What a check ends in.

use crate::certificate::Verdict;
use std::{fmt, io};

/// The result of checking a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The certificate proves its claim about these data.
    Holds(Claim),
    /// The certificate is well formed, but it does not prove its claim about these data.
    DoesNotHold(Claim, Flaw),
    /// The certificate is not one: this is settled without looking at the data.
    Malformed(Malformed),
}

/// What the certificate claims, and what the check found beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The verdict claimed.
    pub verdict: Verdict,
    /// Rows of the data.
    pub rows: u64,
    /// Features of the data, without the lifted constant.
    pub features: u64,
    /// Rows strictly on their own side of the witness; none where no side was computed.
    pub separated: Option<u64>,
    /// Quasi-separable only: proved that no other direction separates further rows.
    pub complete: bool,
    /// What was asked about the file.
    pub question: Question,
}

/// The question that a certificate answers: how it has the file read, and in which space.
/// Another reading of the same file may have another answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Question {
    /// How lines become cells.
    pub format: String,
    /// What the lines start with that are no rows.
    pub comment: Option<String>,
    /// How many such lines there are; none before the file was read to its end.
    pub skipped: Option<u64>,
    /// The first line, which is not used as a row, where that is said of it.
    pub header: Option<Vec<String>>,
    /// What each column of a table is used as; nothing for libsvm.
    pub columns: Vec<&'static str>,
    /// The labels of each class; of two classes the second is the positive one.
    pub labels: Vec<Vec<String>>,
    /// Whether hyperplanes have a bias.
    pub lifted: bool,
    /// The kernel in whose space it is asked; none for the columns themselves.
    pub kernel: Option<String>,
}

impl Question {
    /// The columns, by number from 0 and by name where there are names, that pass `wanted`.
    fn named(&self, wanted: impl Fn(&str) -> bool) -> String {
        let name = |i: usize| {
            let name = self.header.as_ref().and_then(|names| names.get(i));
            name.map_or_else(|| format!("column {i}"), |name| shown(name))
        };
        let uses = self.columns.iter().enumerate();
        let wanted = uses.filter(|(_, column)| wanted(column));
        let listed: Vec<String> = wanted.map(|(i, _)| name(i)).collect();
        match listed.len() {
            0 => "none".into(),
            n if n <= 20 => listed.join(", "),
            n => format!("{} and {} more", listed[..20].join(", "), n - 20),
        }
    }
}

/// A text of a file, on one line and between quotes where it is not plain.
fn shown(text: &str) -> String {
    match text
        .chars()
        .all(|c| c.is_alphanumeric() || "_.+-".contains(c))
        && !text.is_empty()
    {
        true => text.to_owned(),
        false => format!("{text:?}"),
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "format: {}", self.format)?;
        let header = match self.header {
            Some(_) => "; the first line is a header, not a row",
            None => "",
        };
        match (&self.comment, self.skipped) {
            (None, _) => writeln!(f, "rows: all lines{header}")?,
            (Some(start), None) => {
                writeln!(f, "rows: lines that do not start with {start:?}{header}")?;
            }
            (Some(start), Some(n)) => writeln!(
                f,
                "rows: {n} {} left out, starting with {start:?}{header}",
                if n == 1 { "line" } else { "lines" }
            )?,
        }
        if !self.columns.is_empty() {
            let label = self.named(|column| column == "label");
            let out = self.named(|column| column == "ignore");
            let used = self.named(|column| !matches!(column, "label" | "ignore"));
            writeln!(f, "columns: {used}; label: {label}; left out: {out}")?;
        }
        let class = |labels: &Vec<String>| match labels.is_empty() {
            true => "(no label)".to_owned(),
            false => labels
                .iter()
                .map(|l| shown(l))
                .collect::<Vec<_>>()
                .join(", "),
        };
        match self.labels.as_slice() {
            [negative, positive] => {
                writeln!(f, "labels: {} against {}", class(positive), class(negative))?;
            }
            classes => {
                let classes: Vec<String> = classes.iter().map(class).collect();
                writeln!(f, "labels: {}", classes.join(" | "))?;
            }
        }
        let bias = match (self.lifted, &self.kernel) {
            (true, None) => "lifted: a constant 1 is one more feature",
            (true, Some(_)) => "lifted: K + 1 in place of K",
            (false, _) => "none: hyperplanes through the origin",
        };
        writeln!(f, "bias: {bias}")?;
        match &self.kernel {
            None => write!(f, "kernel: none"),
            Some(kernel) => write!(
                f,
                "kernel: {kernel}; nothing is said about hyperplanes in the columns themselves"
            ),
        }
    }
}

impl Claim {
    /// The verdict in words that tell a kernel's space from that of the columns.
    pub fn verdict_in_words(&self) -> String {
        match &self.question.kernel {
            None => self.verdict.to_string(),
            Some(kernel) => format!("{} in the space of the kernel {kernel}", self.verdict),
        }
    }
}

/// Why a certificate does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flaw {
    /// The condition that fails, in words.
    pub reason: String,
    /// The row that breaks it, counted from 1 in data order.
    pub row: Option<u64>,
    /// The file in which that row is, counted from 1, where there are several.
    pub file: Option<u64>,
    /// The line of the file on which that row starts, counted from 1.
    pub line: Option<u64>,
}

/// Why a text is not a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Malformed {
    /// What is wrong.
    pub what: String,
    /// Where: a path such as `witness.lambda[3]`, or empty for the document as a whole.
    pub at: String,
}

impl Outcome {
    /// The exit status of `rosenblatt verify`: 0 holds, 1 malformed, 3 does not hold.
    pub fn exit_status(&self) -> u8 {
        match self {
            Outcome::Holds(_) => 0,
            Outcome::Malformed(_) => 1,
            Outcome::DoesNotHold(..) => 3,
        }
    }

    pub(crate) fn unreadable(error: &io::Error) -> Outcome {
        Outcome::Malformed(Malformed::new(format!("the data cannot be read: {error}")))
    }
}

impl Flaw {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Flaw {
            reason: reason.into(),
            row: None,
            file: None,
            line: None,
        }
    }

    pub(crate) fn at_row(
        reason: impl Into<String>,
        row: u64,
        file: Option<u64>,
        line: u64,
    ) -> Self {
        Flaw {
            row: Some(row),
            file,
            line: Some(line),
            ..Flaw::new(reason)
        }
    }
}

impl Malformed {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Malformed {
            what: what.into(),
            at: String::new(),
        }
    }

    /// The same complaint seen from one level further out.
    pub(crate) fn under(mut self, step: &str) -> Self {
        let joint = if self.at.is_empty() || self.at.starts_with('[') {
            ""
        } else {
            "."
        };
        self.at = format!("{step}{joint}{}", self.at);
        self
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Holds(claim) => {
                let Claim { rows, features, .. } = claim;
                write!(
                    f,
                    "holds: {rows} rows, {features} features, {}",
                    claim.verdict_in_words()
                )?;
                match (claim.verdict, claim.separated) {
                    (Verdict::QuasiSeparable, Some(count)) if claim.complete => {
                        write!(f, "; {count} rows separated, and no others can be")
                    }
                    (Verdict::QuasiSeparable, Some(count)) => {
                        write!(f, "; {count} rows separated")
                    }
                    _ => Ok(()),
                }
            }
            Outcome::DoesNotHold(_, flaw) => write!(f, "does not hold: {flaw}"),
            Outcome::Malformed(malformed) => write!(f, "malformed certificate: {malformed}"),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.row, self.line) {
            (Some(row), Some(line)) => {
                let file = self.file.map(|file| format!("file {file}, "));
                let file = file.unwrap_or_default();
                write!(f, "row {row} ({file}line {line}): {}", self.reason)
            }
            _ => f.write_str(&self.reason),
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "{}: {}", self.at, self.what)
        }
    }
}
