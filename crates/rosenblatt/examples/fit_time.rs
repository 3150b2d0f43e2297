//! How long the library trains on a file's rows, reading left out: what the Python package and
//! other libraries are held against.
//!
//! ```text
//! fit_time FILE [OPTION=VALUE…]
//! ```
//!
//! prints the least of several runs, in seconds, and for each plane of largest margin the
//! objectives of the primal and the dual. Options are those of `rosenblatt train`.
#![allow(clippy::print_stdout)] // It is there to print.

use std::time::Instant;

use rosenblatt::Session;
use rosenblatt::data::{Dataset, Layout, Precision};
use rosenblatt::read::{self, Preparation, ReadOptions, Scale};
use rosenblatt::{Error, Options, Result};

/// Runs to take the least of: the first also pays for touching memory and code.
const RUNS: usize = 3;

/// Short runs go on for as many seconds: the machine may be busy for a while.
const SECONDS: f64 = 0.1;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let expected = || Error::options("expected FILE [OPTION=VALUE…]");
    let file = &arguments.next().ok_or_else(expected)?;
    let mut options = Options::default();
    for argument in arguments {
        let (name, value) = argument.split_once('=').ok_or_else(expected)?;
        options.set(name, value)?;
    }
    let reading = ReadOptions {
        precision: Precision::F64,
        ..ReadOptions::default()
    };
    let raw = read::read(file, &reading)?;
    let preparation = Preparation::fit(&raw, None, Some(Scale::None))?;
    let data = raw.into_dataset(&preparation, Layout::AsGiven)?;
    let (mut least, mut optima) = (f64::INFINITY, Vec::new());
    let (mut runs, mut spent) = (0, 0.0);
    while runs < RUNS || spent < SECONDS {
        let matrix = data.matrix.clone();
        let (labels, classes) = (data.labels.clone(), data.classes.clone());
        let began = Instant::now();
        // As a caller with arrays begins: by having them checked.
        let checked = Dataset::new(matrix, labels, classes, None)?;
        let fitted = Session::new(&options).train(&checked)?;
        let seconds = began.elapsed().as_secs_f64();
        (runs, spent, least) = (runs + 1, spent + seconds, least.min(seconds));
        optima = fitted.model.support.map_or_else(Vec::new, |s| s.optima);
    }
    println!("{least}");
    for optimum in optima {
        println!("{} {}", optimum.primal, optimum.dual);
    }
    Ok(())
}
