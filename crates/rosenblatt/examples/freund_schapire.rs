//! The table of Freund & Schapire (1999) on MNIST: K = (1 + x·z)^d on raw pixels, each digit
//! against the rest, beside the figures of the paper.
//!
//! ```text
//! ROSENBLATT_DATA=/path/to/data bench/freund-schapire [--passes N] [--seeds N] [--degrees 1,2,…]
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::time::Instant;

use rosenblatt::Session;
use rosenblatt::data::{Dataset, Layout};
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::kernel::Kernel;
use rosenblatt::learner::KernelPerceptron;
use rosenblatt::model::{Decision, KernelModel};
use rosenblatt::options::{AtZero, Multiclass, Readout};
use rosenblatt::read::{Preparation, ReadOptions, read};
use rosenblatt::scheme::Scheme;
use rosenblatt::{Error, Options, Result};

/// Passes at which the paper measures.
const TIMES: [f64; 7] = [0.1, 1.0, 2.0, 3.0, 4.0, 10.0, 30.0];

/// The paper's mistakes at T = 1, 2, 3, 4, 10, 30 and its vote errors in percent.
const PAPER: [([u64; 6], [f64; 6]); 6] = [
    (
        [25461, 48431, 70915, 93090, 223657, 0],
        [8.5, 8.3, 8.2, 8.2, 8.1, 0.0],
    ),
    (
        [10201, 15290, 19093, 22100, 32451, 41614],
        [2.8, 2.4, 2.2, 2.1, 1.8, 1.8],
    ),
    (
        [8475, 11739, 13757, 15129, 18422, 19473],
        [2.3, 1.9, 1.8, 1.7, 1.6, 1.6],
    ),
    (
        [7977, 10543, 11933, 12780, 14375, 14538],
        [2.3, 1.9, 1.7, 1.7, 1.6, 1.6],
    ),
    (
        [8044, 10379, 11563, 12215, 13234, 13289],
        [2.3, 2.0, 1.8, 1.8, 1.7, 1.7],
    ),
    (
        [8351, 10764, 11892, 12472, 13108, 13118],
        [2.4, 2.0, 1.9, 1.9, 1.9, 1.9],
    ),
];

fn mnist(folder: &Path, part: &str) -> Result<Dataset> {
    let images = folder.join(format!("{part}-images-idx3-ubyte.gz"));
    let raw = read(images, &ReadOptions::default())?;
    let preparation = Preparation::fit(&raw, None, None)?;
    raw.into_dataset(&preparation, Layout::AsGiven)
}

fn error_percent(scores: &[f64], test: &Dataset, scheme: Scheme) -> f64 {
    let wrong = scores
        .chunks_exact(scheme.discriminators())
        .zip(&test.labels)
        .filter(|(s, l)| scheme.decide(s, AtZero::Positive) != **l)
        .count();
    100.0 * wrong as f64 / test.len() as f64
}

/// Processor seconds of this process so far, on all threads; 0 where that is unknown.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: f64 = after_name
        .split(' ')
        .skip(11)
        .take(2)
        .filter_map(|t| t.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

/// Wall-clock and processor time since a moment.
struct Clock(Instant, f64);

impl Clock {
    fn start() -> Self {
        Clock(Instant::now(), processor_seconds())
    }
}

impl std::fmt::Display for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:.2} s ({:.2} s of processor time)",
            self.0.elapsed().as_secs_f64(),
            processor_seconds() - self.1
        )
    }
}

struct Args {
    passes: Option<u64>,
    seeds: u64,
    degrees: Vec<u32>,
}

fn args() -> Args {
    let mut args = Args {
        passes: None,
        seeds: 1,
        degrees: (1..=6).collect(),
    };
    let mut given = std::env::args().skip(1);
    while let Some(arg) = given.next() {
        match arg.as_str() {
            "--passes" => args.passes = given.next().and_then(|n| n.parse().ok()),
            "--seeds" => args.seeds = given.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            "--degrees" => {
                if let Some(list) = given.next() {
                    args.degrees = list.split(',').filter_map(|d| d.parse().ok()).collect();
                }
            }
            other => eprintln!("ignored: {other}"),
        }
    }
    args
}

fn main() -> Result<()> {
    let Some(folder) = std::env::var_os("ROSENBLATT_DATA") else {
        println!("skipped: set ROSENBLATT_DATA to the folder that holds mnist/");
        return Ok(());
    };
    let args = args();
    let folder = Path::new(&folder).join("mnist");
    let train = mnist(&folder, "train")?;
    let test = mnist(&folder, "t10k")?;
    let clock = Clock::start();
    for &degree in &args.degrees {
        let Some((paper_mistakes, paper_votes)) = PAPER.get(degree as usize - 1) else {
            continue;
        };
        let passes = args.passes.unwrap_or(if degree == 1 { 10 } else { 30 });
        let mut sums = vec![[0.0; 6]; TIMES.len()];
        for seed in 0..args.seeds {
            measure(&train, &test, degree, passes, seed, &mut sums)?;
        }
        println!("\nd = {degree}, mean of {} seeds", args.seeds);
        println!(
            "{:>5} {:>6} {:>6} {:>6} {:>6} {:>7} {:>8} | {:>8} {:>7} {:>5}",
            "T", "vote", "avg", "last", "rand", "SupVec", "Mistake", "paper", "ratio", "vote"
        );
        for (t, (time, row)) in TIMES.iter().zip(&sums).enumerate() {
            if *time > passes as f64 {
                break;
            }
            let n = args.seeds as f64;
            print!(
                "{time:>5} {:>6.2} {:>6.2} {:>6.2} {:>6.2} {:>7.0} {:>8.0}",
                row[0] / n,
                row[1] / n,
                row[2] / n,
                row[3] / n,
                row[4] / n,
                row[5] / n
            );
            match t
                .checked_sub(1)
                .map(|t| (paper_mistakes[t], paper_votes[t]))
            {
                Some((mistakes, vote)) if mistakes > 0 => println!(
                    " | {mistakes:>8} {:>7.3} {vote:>5}",
                    row[5] / n / mistakes as f64
                ),
                _ => println!(" |"),
            }
        }
    }
    println!("\nall in {clock}");
    Ok(())
}

fn measure(
    train: &Dataset,
    test: &Dataset,
    degree: u32,
    passes: u64,
    seed: u64,
    sums: &mut [[f64; 6]],
) -> Result<()> {
    let options = Options {
        learner: KernelPerceptron {
            kernel: Some(Kernel::Polynomial {
                degree,
                scale: 1.0,
                constant: 1.0,
            }),
            ..KernelPerceptron::default()
        }
        .into(),
        multiclass: Some(Multiclass::Ovr),
        readout: Some(Readout::Voted),
        epochs: Some(passes),
        seed,
        ..Options::default()
    };
    let clock = Clock::start();
    let fitted = Session::new(&options).train(train)?;
    let trained = clock.to_string();
    let scheme = fitted.model.scheme;
    let Decision::Kernel(model) = &fitted.model.decision else {
        return Err(Error::model("a kernel learner makes a kernel model"));
    };
    eprintln!(
        "d = {degree}, seed {seed}: {passes} passes in {trained}, {} updates, {} corrected examples",
        model.log.entries.len(),
        model.rows.len(),
    );
    let clock = Clock::start();
    let classes = fitted
        .model
        .predict(&test.matrix, rosenblatt::internal::parallel::available())?;
    let right = classes
        .iter()
        .zip(&test.labels)
        .filter(|(a, b)| a == b)
        .count();
    eprintln!(
        "  voted prediction of {} images in {clock}, {right} right",
        test.len(),
    );
    let clock = Clock::start();
    let mut readings: Vec<(usize, usize, KernelModel)> = Vec::new();
    for (t, time) in TIMES
        .iter()
        .enumerate()
        .filter(|(_, t)| **t <= passes as f64)
    {
        let visits = (time * train.len() as f64) as u64;
        let (Some(log), Some(random)) = (
            model.log.after_visits(scheme, visits),
            model.log.after_visits(
                scheme,
                Random::new(seed, Stream::Readout, t as u64).below(visits) + 1,
            ),
        ) else {
            return Err(Error::model("one-vs-rest counts every visit"));
        };
        sums[t][4] += log.rows().len() as f64;
        sums[t][5] += log.entries.len() as f64;
        for (row, log, readout) in [
            (0, log.clone(), Readout::Voted),
            (1, log.clone(), Readout::Averaged),
            (2, log, Readout::Last),
            (3, random, Readout::Last),
        ] {
            let Some(model) = model.with(scheme, log, readout) else {
                return Err(Error::model("a part of a log names the same examples"));
            };
            readings.push((t, row, model));
        }
    }
    let threads = rosenblatt::internal::parallel::available();
    for (t, row, model) in &readings {
        let scores = model.scores(scheme, &Options::default(), &test.matrix, threads);
        sums[*t][*row] += error_percent(&scores, test, scheme);
    }
    eprintln!("  {} read-outs on them in {clock}", readings.len());
    Ok(())
}
