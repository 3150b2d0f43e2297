//! How long the library trains on a file's rows, reading left out: what the Python package is
//! held against. `fit_time FILE PASSES` prints the least of several runs, in seconds.
#![allow(clippy::print_stdout)] // It is there to print.

use std::time::Instant;

use rosenblatt::data::read::{self, Preparation, ReadOptions, Scale};
use rosenblatt::data::{Dataset, Layout, Precision};
use rosenblatt::train::Session;
use rosenblatt::{Error, Options, Result};

/// Runs to take the least of.
const RUNS: usize = 5;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, passes] = &arguments[..] else {
        return Err(Error::options("expected FILE PASSES"));
    };
    let reading = ReadOptions {
        precision: Precision::F64,
        ..ReadOptions::default()
    };
    let raw = read::read(file, &reading)?;
    let preparation = Preparation::fit(&raw, None, Some(Scale::None))?;
    let data = raw.into_dataset(&preparation, Layout::AsGiven)?;
    let mut options = Options::default();
    options.set("epochs", passes)?;
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let matrix = data.matrix.clone();
        let (labels, classes) = (data.labels.clone(), data.classes.clone());
        let began = Instant::now();
        // As a caller with arrays begins: by having them checked.
        let checked = Dataset::new(matrix, labels, classes, None)?;
        Session::new(&options).train(&checked)?;
        least = least.min(began.elapsed().as_secs_f64());
    }
    println!("{least}");
    Ok(())
}
