//! The table of Freund & Schapire (1999) on MNIST: K = (1 + x·z)^d on raw pixels, each digit
//! against the rest, beside the figures of the paper.
//!
//! ```text
//! ROSENBLATT_DATA=/path/to/data bench/freund-schapire [--quick] [--seeds N] [--degrees 1,2,…]
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::{Error, Read, Result};
use std::path::Path;
use std::time::Instant;

use rosenblatt::Options;
use rosenblatt::data::{Classes, Dataset, Matrix, Values};
use rosenblatt::kernel::Kernel;
use rosenblatt::model::{Decision, KernelModel, Scheme};
use rosenblatt::options::{AtZero, LearnerKind, Multiclass, Readout};
use rosenblatt::random::{Random, Stream};
use rosenblatt::train::Session;

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

fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let out = std::process::Command::new("gzip")
        .arg("-dc")
        .arg(path)
        .output()?;
    if out.status.success() {
        Ok(out.stdout)
    } else {
        Err(Error::other(
            String::from_utf8_lossy(&out.stderr).into_owned(),
        ))
    }
}

fn mnist(folder: &Path, part: &str) -> Result<Dataset> {
    let images = unpacked(&folder.join(format!("{part}-images-idx3-ubyte.gz")))?;
    let labels = unpacked(&folder.join(format!("{part}-labels-idx1-ubyte.gz")))?;
    let mut head = [0; 4];
    (&images[4..]).read_exact(&mut head)?;
    let rows = u32::from_be_bytes(head) as usize;
    let values: Vec<f32> = images[16..].iter().map(|&b| f32::from(b)).collect();
    let digits: Vec<String> = (0..10).map(|d| d.to_string()).collect();
    Dataset::new(
        Matrix::Dense {
            rows,
            columns: values.len() / rows,
            values: Values::F32(values),
        },
        labels[8..].iter().map(|&l| u32::from(l)).collect(),
        Classes::from_ordered(digits),
        None,
    )
    .map_err(Error::other)
}

fn error_percent(scores: &[f64], test: &Dataset, scheme: Scheme) -> f64 {
    let wrong = scores
        .chunks_exact(scheme.discriminators())
        .zip(&test.labels)
        .filter(|(s, l)| scheme.decide(s, AtZero::Positive) != **l)
        .count();
    100.0 * wrong as f64 / test.len() as f64
}

struct Args {
    quick: bool,
    seeds: u64,
    degrees: Vec<u32>,
}

fn args() -> Args {
    let mut args = Args {
        quick: false,
        seeds: 1,
        degrees: (1..=6).collect(),
    };
    let mut given = std::env::args().skip(1);
    while let Some(arg) = given.next() {
        match arg.as_str() {
            "--quick" => args.quick = true,
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
    let begun = Instant::now();
    for &degree in &args.degrees {
        let Some((paper_mistakes, paper_votes)) = PAPER.get(degree as usize - 1) else {
            continue;
        };
        let passes = match (args.quick, degree) {
            (true, _) => 1,
            (false, 1) => 10,
            _ => 30,
        };
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
    println!("\nall in {:.1} s", begun.elapsed().as_secs_f64());
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
        learner: LearnerKind::Kernel,
        kernel: Some(Kernel::Polynomial {
            degree,
            scale: 1.0,
            constant: 1.0,
        }),
        multiclass: Some(Multiclass::Ovr),
        readout: Some(Readout::Voted),
        epochs: Some(passes),
        seed,
        ..Options::default()
    };
    let begun = Instant::now();
    let fitted = Session::new(&options).train(train).map_err(Error::other)?;
    let trained = begun.elapsed().as_secs_f64();
    let scheme = fitted.model.scheme;
    let Decision::Kernel(model) = &fitted.model.decision else {
        return Err(Error::other("a kernel learner makes a kernel model"));
    };
    let pairs = train.len() as f64 * model.rows.len() as f64;
    eprintln!(
        "d = {degree}, seed {seed}: {passes} passes in {trained:.2} s, {} updates, {} corrected examples; at least {:.0} G multiply-adds a second",
        model.log.entries.len(),
        model.rows.len(),
        pairs * train.features() as f64 / trained / 1e9,
    );
    let begun = Instant::now();
    let classes = fitted
        .model
        .predict(&test.matrix, rosenblatt::threads::available());
    let right = classes
        .iter()
        .zip(&test.labels)
        .filter(|(a, b)| a == b)
        .count();
    eprintln!(
        "  voted prediction of {} images in {:.2} s, {right} right",
        test.len(),
        begun.elapsed().as_secs_f64()
    );
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
            return Err(Error::other("one-vs-rest counts every visit"));
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
                return Err(Error::other("a part of a log names the same examples"));
            };
            readings.push((t, row, model));
        }
    }
    let models: Vec<&KernelModel> = readings.iter().map(|r| &r.2).collect();
    let scores = KernelModel::scores_together(
        &models,
        scheme,
        AtZero::Positive,
        &test.matrix,
        rosenblatt::threads::available(),
    );
    for ((t, row, _), scores) in readings.iter().zip(&scores) {
        sums[*t][*row] += error_percent(scores, test, scheme);
    }
    Ok(())
}
