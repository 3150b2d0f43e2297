//! Verdicts and witnesses against an independent oracle, in exact arithmetic.

mod decisions;
mod oracle;
