//! The independent checker: does a certificate prove what it says about a data file?
//!
//! A *certificate* (`FORMAT.md`) claims that the rows of a file are separable,
//! quasi-separable, overlapping or at least not separable by a hyperplane, by a kernel
//! machine, or by several classes jointly, and carries a witness. This crate reads the file
//! itself, keeps every decimal as the rational it spells, and checks the witness without
//! rounding. It shares no code with the search that finds witnesses: whoever trusts these
//! few files need not trust the rest of the program.
//!
//! ```
//! use rosenblatt_verify::{Outcome, Verdict, verify};
//!
//! let data = b"0,0,no\n0,1,no\n1,0,no\n1,1,yes\n";
//! let certificate = br#"{
//!   "rosenblatt-certificate": 1,
//!   "data": {
//!     "format": "csv", "delimiter": ",", "quoting": true, "header": false,
//!     "columns": ["numeric", "numeric", "label"],
//!     "rows": 4, "features": 2,
//!     "sha256": "1341962e21b2733da70b4c5712c2f046e8261b941db7b8b205ea0422e928b303"
//!   },
//!   "labels": {"positive": ["yes"], "negative": ["no"]},
//!   "bias": "lifted",
//!   "verdict": "separable",
//!   "witness": {"w": {"0": "-3/2", "1": "1", "2": "1"}}
//! }"#;
//! match verify(certificate, data) {
//!     Outcome::Holds(claim) => assert_eq!(claim.verdict, Verdict::Separable),
//!     other => panic!("{other}"),
//! }
//! ```
//!
//! Where to read first: `check.rs` holds the conditions of a proof, `rank.rs`, `kernel.rs`
//! and `vectors.rs` the arithmetic behind them, `certificate.rs` what a certificate may say,
//! and `read/` how a file becomes rows.
#![forbid(unsafe_code)]

mod budget;
mod certificate;
mod check;
mod json;
mod kernel;
mod number;
mod outcome;
mod rank;
mod read;
mod vectors;

use budget::Budget;
pub use budget::MAX_CERTIFICATE_BYTES;
pub use certificate::Verdict;
pub use outcome::{Claim, Flaw, Malformed, Outcome, Question};

use std::io::{self, Read};
use std::time::Duration;

/// Checks `certificate` against `data`, the decompressed bytes of the file it speaks of.
///
/// Never panics and never rounds; any bytes may be given for either.
pub fn verify(certificate: &[u8], data: &[u8]) -> Outcome {
    match verify_stream(certificate, || Ok(data)) {
        Ok(outcome) => outcome,
        // Reading from memory does not fail; said as a flaw rather than by a panic.
        Err(error) => Outcome::unreadable(&error),
    }
}

/// Checks `certificate` against data that need not fit in memory.
///
/// `open` starts the decompressed data from the beginning; it is called once, or twice for
/// a kernel certificate with dual coefficients, and not at all for a malformed certificate.
/// Errors are those of `open` and of reading.
pub fn verify_stream<R: Read>(
    certificate: &[u8],
    open: impl FnMut() -> io::Result<R>,
) -> io::Result<Outcome> {
    verify_within(certificate, Duration::MAX, open)
}

/// The same within so much time, counted from now.
///
/// # Errors
/// Those of `open` and of reading; of kind `TimedOut` where the time was not enough, and of kind
/// `OutOfMemory` where the proof of a rank takes more than 2 GiB. Neither says that the
/// certificate does not hold.
pub fn verify_within<R: Read>(
    certificate: &[u8],
    time: Duration,
    mut open: impl FnMut() -> io::Result<R>,
) -> io::Result<Outcome> {
    verify_files(certificate, time, 1, |_| open())
}

/// The same for a certificate about several files: there are so many, and `open` starts one by
/// its place in the certificate's list.
///
/// # Errors
/// Those of [`verify_within`].
pub fn verify_files<R: Read>(
    certificate: &[u8],
    time: Duration,
    files: usize,
    open: impl FnMut(usize) -> io::Result<R>,
) -> io::Result<Outcome> {
    match certificate::Certificate::parse(certificate) {
        Err(malformed) => Ok(Outcome::Malformed(malformed)),
        Ok(certificate) => check::check(&certificate, Budget::new(time), files, open),
    }
}
