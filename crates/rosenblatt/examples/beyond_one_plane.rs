//! Large runs beyond one hyperplane, with their times.
//!
//! ```text
//! bench/beyond-one-plane network           a hidden layer of 128 on MNIST
//! bench/beyond-one-plane sparse [ROWS [PASSES [NOISE]]]     sparse text-like rows under a Gaussian kernel, 2 GiB
//! ```

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use rosenblatt::Session;
use rosenblatt::data::{Dataset, Layout};
use rosenblatt::internal::parallel;
use rosenblatt::kernel::Kernel;
use rosenblatt::learner::{KernelPerceptron, NetworkLearner};
use rosenblatt::model::Decision;
use rosenblatt::options::Readout;
use rosenblatt::read::{Preparation, ReadOptions, read};
use rosenblatt::synthetic;
use rosenblatt::{Options, Result};

fn mnist(folder: &Path, part: &str) -> Result<Dataset> {
    let images = folder.join(format!("{part}-images-idx3-ubyte.gz"));
    let raw = read(images, &ReadOptions::default())?;
    let preparation = Preparation::fit(&raw, None, None)?;
    raw.into_dataset(&preparation, Layout::AsGiven)
}

fn network(given: &[String]) -> Result<()> {
    let Some(folder) = std::env::var_os("ROSENBLATT_DATA") else {
        println!("skipped: set ROSENBLATT_DATA to the folder that holds mnist/");
        return Ok(());
    };
    let folder = Path::new(&folder).join("mnist");
    let (train, test) = (mnist(&folder, "train")?, mnist(&folder, "t10k")?);
    let mut options = Options {
        learner: NetworkLearner::default().into(),
        ..Options::default()
    };
    for pair in given.chunks_exact(2) {
        options.set(&pair[0], &pair[1])?;
    }
    let begun = Instant::now();
    let model = Session::new(&options).train(&train)?.model;
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{} passes in {seconds:.1} s, mistakes {:?}, test accuracy {:.4}",
        model.progress.passes.len(),
        model.progress.mistakes_per_epoch(),
        model.accuracy(&test, parallel::available())?
    );
    Ok(())
}

fn sparse(given: &[String]) -> Result<()> {
    let rows = given
        .first()
        .and_then(|n| n.parse().ok())
        .unwrap_or(200_000);
    let made = synthetic::generate(&synthetic::Options {
        examples: Some(rows),
        // Wrong labels make many corrected examples, which is the hard case.
        noise: given.get(2).and_then(|n| n.parse().ok()).unwrap_or(0.05),
        ..synthetic::Options::new(synthetic::Kind::find("sparse")?)
    })?;
    let data = made.dataset;
    println!(
        "{} rows, {} features, {:.0} non-zeros a row",
        data.len(),
        data.features(),
        data.matrix.non_zeros() as f64 / data.len() as f64
    );
    let options = Options {
        learner: KernelPerceptron {
            kernel: Some(Kernel::Rbf { gamma: 1.0 }),
            ..KernelPerceptron::default()
        }
        .into(),
        readout: Some(Readout::Last),
        epochs: Some(given.get(1).and_then(|n| n.parse().ok()).unwrap_or(3)),
        ..Options::default()
    };
    let begun = Instant::now();
    let model = Session::new(&options)
        .memory(Some(2 << 30))
        .train(&data)?
        .model;
    let seconds = begun.elapsed().as_secs_f64();
    if let Decision::Kernel(kernel) = &model.decision {
        println!(
            "{} passes in {seconds:.1} s, mistakes {:?}, {} corrected examples",
            model.progress.passes.len(),
            model.progress.mistakes_per_epoch(),
            kernel.rows.len()
        );
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        for line in status.lines().filter(|l| l.starts_with("VmHWM")) {
            println!("peak memory: {}", line.trim_start_matches("VmHWM:").trim());
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    match given.first().map(String::as_str) {
        Some("network") => network(&given[1..]),
        Some("sparse") => sparse(&given[1..]),
        _ => {
            println!(
                "usage: beyond-one-plane network [OPTION VALUE]… | sparse [ROWS [PASSES [NOISE]]]"
            );
            Ok(())
        }
    }
}
