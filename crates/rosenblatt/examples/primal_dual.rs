//! Primal and dual runs side by side on real files: the same visits, the same updates, the same
//! weights, for all ties, orders and starts.
//!
//! ```text
//! bench/primal-dual FILE…
//! ```
//!
//! On whole numbers every score and every final weight must agree to the bit. On other numbers
//! two rows may tie for the next visit, or a score be 0, and rounding then chooses; the first
//! visit where the two part is reported with both scores. Decimals of few digits are therefore
//! run a second time as whole numbers, multiplied by a power of ten.

#![allow(clippy::print_stdout)]

use rosenblatt::Session;
use rosenblatt::data::{Dataset, Layout, Matrix, Precision};
use rosenblatt::kernel::Kernel;
use rosenblatt::learner::KernelPerceptron;
use rosenblatt::model::{Decision, Model};
use rosenblatt::options::{Bias, Choice, Order, Readout, Start, Ties};
use rosenblatt::read::{Preparation, ReadOptions, Scale, read};
use rosenblatt::training::{Callback, Step};
use rosenblatt::{Options, Result};

/// Updates after which a run ends.
const UPDATES: u64 = 2000;

#[derive(Default)]
struct Steps(Vec<Step>);

impl Callback for Steps {
    fn wants_steps(&self) -> bool {
        true
    }

    /// Those of a dual run are its coefficients: nothing to compare step by step.
    fn wants_weights(&self) -> bool {
        false
    }

    fn step(&mut self, step: Step) {
        self.0.push(step);
    }
}

fn run(data: &Dataset, options: &Options) -> Result<(Vec<Step>, Model)> {
    let mut steps = Steps::default();
    let fitted = Session::new(options).train_with(data, &mut steps)?;
    Ok((steps.0, fitted.model))
}

/// What came of one pair of runs.
enum Outcome {
    Same,
    /// The visit at which they part, and the two scores there.
    Parted(u64, f64, f64),
    /// The same visits, but not the same weights: the two furthest apart.
    Weights(f64, f64),
}

fn compare(
    data: &Dataset,
    exact: bool,
    alpha: Option<&[f64]>,
    common: &Options,
) -> Result<Outcome> {
    let lifted = common.bias == Some(Bias::Lifted);
    // w0 = Σ α0_j x_j, the constant feature included.
    let start = alpha.map_or(Start::Zero, |alpha| {
        let mut w = vec![0.0; data.features() + usize::from(lifted)];
        for (number, a) in alpha.iter().enumerate() {
            if lifted {
                w[0] += a;
            }
            let row = data.row(data.position(number));
            row.for_each(|j, x| w[j + usize::from(lifted)] += a * x);
        }
        Start::Given(w)
    });
    let primal = Options {
        start,
        ..common.clone()
    };
    let dual = Options {
        learner: KernelPerceptron {
            kernel: Some(Kernel::Linear),
            start: alpha.map(<[f64]>::to_vec),
        }
        .into(),
        ..common.clone()
    };
    let ((steps, primal), (others, dual)) = (run(data, &primal)?, run(data, &dual)?);
    let differ = |a: f64, b: f64| exact && a != b;
    for (a, b) in steps.iter().zip(&others) {
        let scores = a.scores.iter().zip(&b.scores);
        let other_scores = scores.clone().find(|&(&a, &b)| differ(a, b));
        if (a.row, a.correct) != (b.row, b.correct) || other_scores.is_some() {
            let (&a_score, &b_score) = other_scores.unwrap_or((&a.scores[0], &b.scores[0]));
            return Ok(Outcome::Parted(a.step, a_score, b_score));
        }
    }
    if steps.len() != others.len() {
        let last = steps.len().min(others.len()) as u64;
        return Ok(Outcome::Parted(last, f64::NAN, f64::NAN));
    }
    let (weights, others) = (planes(&primal), planes(&dual));
    let size = weights.iter().fold(0.0_f64, |m, w| m.max(w.abs()));
    let pairs = weights.iter().zip(&others);
    let furthest = pairs.max_by(|(a, b), (c, d)| (*a - *b).abs().total_cmp(&(*c - *d).abs()));
    let (&a, &b) = furthest.unwrap_or((&0.0, &0.0));
    Ok(if differ(a, b) || (a - b).abs() > 1e-9 * size {
        Outcome::Weights(a, b)
    } else {
        Outcome::Same
    })
}

/// The final weights, discriminator by discriminator, bias first: w = Σ α_j x_j in the dual.
fn planes(model: &Model) -> Vec<f64> {
    match &model.decision {
        Decision::Kernel(dual) => {
            let k = dual.bias().len();
            let columns = dual.features() + 1;
            let mut planes = vec![0.0; k * columns];
            for (row, alphas) in dual.coefficients().chunks(k).enumerate() {
                for (plane, alpha) in planes.chunks_mut(columns).zip(alphas) {
                    plane[0] += alpha * dual.constant;
                    let row = dual.support.row(row);
                    row.for_each(|j, x| plane[j + 1] += alpha * x);
                }
            }
            planes
        }
        _ => model.weights().map_or_else(Vec::new, |w| {
            let plane =
                |d| std::iter::once(w.bias(d)).chain((0..w.features()).map(move |j| w.get(d, j)));
            (0..w.discriminators()).flat_map(plane).collect()
        }),
    }
}

/// Whether every sum of a run is a whole number that f64 holds exactly.
fn whole_numbers(data: &Dataset) -> bool {
    let (mut whole, mut largest) = (true, 0.0_f64);
    for i in 0..data.len() {
        let mut squared = 1.0;
        data.row(i).for_each(|_, x| {
            whole &= x.fract() == 0.0;
            squared += x * x;
        });
        largest = largest.max(squared);
    }
    let sums = (UPDATES + data.len() as u64) as f64;
    whole && largest * sums < 2_f64.powi(53)
}

/// The same decimals times the least power of ten that makes them whole, and that power.
fn as_whole_numbers(data: &Dataset) -> Result<Option<(u32, Dataset)>> {
    for digits in 1..=6 {
        let power = 10_f64.powi(digits);
        let (mut close, mut rows) = (true, Vec::new());
        for number in 0..data.len() {
            let mut row = vec![0.0; data.features()];
            data.row(data.position(number)).for_each(|j, x| {
                row[j] = (x * power).round();
                close &= (row[j] - x * power).abs() <= 1e-12 * (x * power).abs();
            });
            rows.push(row);
        }
        if close {
            let matrix = Matrix::dense_from_rows(data.features(), &rows, Precision::F64);
            let labels = (0..data.len()).map(|n| data.labels[data.position(n)]);
            let data = Dataset::new(matrix, labels.collect(), data.classes.clone(), None)?;
            let data = data.permuted();
            return Ok(whole_numbers(&data).then_some((digits as u32, data)));
        }
    }
    Ok(None)
}

/// All ties, orders and starts on one set; whether it was as it must be.
fn compare_all(name: &str, data: &Dataset) -> Result<bool> {
    let exact = whole_numbers(data);
    let given: Vec<f64> = (0..data.len()).map(|i| [0.0, 1.0, -1.0][i % 3]).collect();
    let starts: &[Option<&[f64]>] = match data.classes.len() {
        2 => &[None, Some(&given)],
        _ => &[None],
    };
    let (mut runs, mut parted) = (0, Vec::new());
    for &alpha in starts {
        for &(ties, _) in Ties::ALL {
            // From zero weights every score is 0, and nothing would ever move.
            if ties == Ties::Correct && alpha.is_none() {
                continue;
            }
            for &(order, _) in Order::ALL {
                for bias in [Bias::Lifted, Bias::None] {
                    let common = Options {
                        ties,
                        order,
                        bias: Some(bias),
                        epochs: Some(2),
                        max_updates: Some(UPDATES),
                        readout: Some(Readout::Last),
                        ..Options::default()
                    };
                    runs += 1;
                    let what = match compare(data, exact, alpha, &common)? {
                        Outcome::Same => continue,
                        Outcome::Parted(visit, a, b) => {
                            format!("at visit {visit}, scores {a:e} and {b:e}")
                        }
                        Outcome::Weights(a, b) => format!("final weights {a:e} and {b:e}"),
                    };
                    let start = if alpha.is_some() { "given" } else { "zero" };
                    parted.push(format!("  {ties:?} {order:?} {bias:?} {start}: {what}"));
                }
            }
        }
    }
    println!(
        "{name}: {} rows, {} numbers, {runs} pairs of runs, {} the same",
        data.len(),
        if exact { "whole" } else { "real" },
        runs - parted.len()
    );
    parted.iter().for_each(|line| println!("{line}"));
    Ok(!exact || parted.is_empty())
}

fn main() -> Result<()> {
    let mut as_it_must = true;
    for file in std::env::args().skip(1) {
        let mut reading = ReadOptions {
            precision: Precision::F64,
            ..ReadOptions::default()
        };
        if file.contains("svmguide") {
            reading.label = Some("0".into());
        }
        // A preamble on the first line is skipped like a header.
        let raw = read(&file, &reading).or_else(|_| {
            reading.header = Some(true);
            read(&file, &reading)
        })?;
        let preparation = Preparation::fit(&raw, None, Some(Scale::None))?;
        let data = raw.into_dataset(&preparation, Layout::Permuted)?;
        as_it_must &= compare_all(&file, &data)?;
        if !whole_numbers(&data)
            && let Some((digits, whole)) = as_whole_numbers(&data)?
        {
            as_it_must &= compare_all(&format!("{file} × 10^{digits}"), &whole)?;
        }
    }
    if !as_it_must {
        println!("whole numbers parted");
        std::process::exit(1);
    }
    Ok(())
}
