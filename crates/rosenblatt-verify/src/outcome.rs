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
}

/// Why a certificate does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flaw {
    /// The condition that fails, in words.
    pub reason: String,
    /// The row that breaks it, counted from 1 in data order.
    pub row: Option<u64>,
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
            line: None,
        }
    }

    pub(crate) fn at_row(reason: impl Into<String>, row: u64, line: u64) -> Self {
        Flaw {
            row: Some(row),
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
                    claim.verdict
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
            (Some(row), Some(line)) => write!(f, "row {row} (line {line}): {}", self.reason),
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
