//! Primal and dual runs side by side on real files: the same visits, the same updates, the same
//! weights, for all ties, orders and starts.
//!
//! ```text
//! bench/primal-dual FILE…
//! ```
//!
//! On whole numbers every score must agree to the bit. Elsewhere a score near zero may round to
//! another side; the first visit where the two part is then reported with both scores.

#![allow(clippy::print_stdout)]

use rosenblatt::data::read::{Preparation, ReadOptions, Scale, read};
use rosenblatt::data::{Dataset, Layout, Precision};
use rosenblatt::kernel::Kernel;
use rosenblatt::options::{Bias, Choice, LearnerKind, Order, Readout, Start, Ties};
use rosenblatt::train::{Observer, Session, Step};
use rosenblatt::{Options, Result};

/// Rows beyond which orders that look at all rows before each visit take too long.
const FEW: usize = 400;

#[derive(Default)]
struct Steps(Vec<Step>);

impl Observer for Steps {
    fn wants_steps(&self) -> bool {
        true
    }

    fn step(&mut self, step: Step) {
        // The weights of a dual run are its coefficients; only the scores are compared.
        self.0.push(Step {
            weights: Vec::new(),
            weights_after: Vec::new(),
            ..step
        });
    }
}

fn steps(data: &Dataset, options: &Options) -> Result<Vec<Step>> {
    let mut steps = Steps::default();
    Session::new(options).train_observed(data, &mut steps)?;
    Ok(steps.0)
}

/// What came of one pair of runs.
enum Outcome {
    Same,
    /// The visit at which they part, and the two scores there.
    Parted(u64, f64, f64),
}

fn compare(data: &Dataset, alpha: Option<&[f64]>, common: &Options) -> Result<Outcome> {
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
        learner: LearnerKind::Kernel,
        kernel: Some(Kernel::Linear),
        start_dual: alpha.map(<[f64]>::to_vec),
        ..common.clone()
    };
    let (primal, dual) = (steps(data, &primal)?, steps(data, &dual)?);
    for (a, b) in primal.iter().zip(&dual) {
        if (a.row, a.correct) != (b.row, b.correct) {
            return Ok(Outcome::Parted(a.step, a.scores[0], b.scores[0]));
        }
    }
    Ok(if primal.len() == dual.len() {
        Outcome::Same
    } else {
        Outcome::Parted(primal.len().min(dual.len()) as u64, f64::NAN, f64::NAN)
    })
}

fn whole_numbers(data: &Dataset) -> bool {
    (0..data.len()).all(|i| {
        let mut whole = true;
        data.row(i)
            .for_each(|_, x| whole &= x.fract() == 0.0 && x.abs() < 1e6);
        whole
    })
}

fn main() -> Result<()> {
    let mut failed = false;
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
        let data = raw.into_dataset(&preparation, Layout::Scattered)?;
        let whole = whole_numbers(&data);
        let binary = data.classes.len() == 2;
        let n = data.len();
        let given: Vec<f64> = (0..n).map(|i| [0.0, 1.0, -1.0][i % 3]).collect();
        let starts: &[Option<&[f64]>] = if binary {
            &[None, Some(&given)]
        } else {
            &[None]
        };
        let (mut runs, mut parted) = (0, Vec::new());
        for &alpha in starts {
            for &(ties, _) in Ties::ALL {
                for &(order, _) in Order::ALL {
                    let slow = matches!(order, Order::Worst | Order::Mistakes | Order::Restart);
                    if (ties == Ties::Correct && alpha.is_none()) || (slow && n > FEW) {
                        continue;
                    }
                    for bias in [Bias::Lifted, Bias::None] {
                        let common = Options {
                            ties,
                            order,
                            bias: Some(bias),
                            epochs: Some(2),
                            max_updates: Some(2000),
                            readout: Some(Readout::Last),
                            ..Options::default()
                        };
                        runs += 1;
                        if let Outcome::Parted(step, a, b) = compare(&data, alpha, &common)? {
                            parted.push(format!(
                                "  {ties:?} {order:?} {bias:?}: at visit {step}, scores {a:e} and {b:e}"
                            ));
                        }
                    }
                }
            }
        }
        failed |= whole && !parted.is_empty();
        println!(
            "{file}: {n} rows, {} numbers, {runs} pairs of runs, {} the same",
            if whole { "whole" } else { "real" },
            runs - parted.len()
        );
        parted.iter().for_each(|line| println!("{line}"));
    }
    if failed {
        println!("whole numbers parted");
        std::process::exit(1);
    }
    Ok(())
}
