//! Verdicts, witnesses, margins and coefficients against an independent oracle, in exact
//! arithmetic.

mod decisions;
mod estimates;
mod margins;
mod oracle;
mod spaces;
