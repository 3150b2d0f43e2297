//! The dual perceptron: a hypothesis kept as coefficients over a kernel.
//!
//! *Rule.* w = w0 + η Σ a_i c_i y_i φ(x_i), where a_i counts how often example i was
//! corrected. The score is Σ_j α_j K(x_j, x) with α_j = a_j c_j y_j, besides signed start
//! coefficients; an update adds 1 to a_i, or with several discriminators moves those that
//! the judgement names. There is no bias unless asked for: `lifted` means K + 1.
//!
//! *Guarantee.* With the linear kernel, the same updates in the same order as the primal
//! perceptron, and the same weights. In general the bounds of the primal hold in the space
//! of the kernel, R² = max c_i²K(x_i, x_i).
//!
//! *Cost.* Each pair of an example and an update is added once; each pair of an example and
//! a corrected example is multiplied once while memory lasts. See
//! [`scoreboard`](super::scoreboard).
//!
//! *Reference.* M. Aizerman, E. Braverman and L. Rozonoer, "Theoretical foundations of the
//! potential function method in pattern recognition learning", Automation and Remote Control
//! 25 (1964); Y. Freund and R. E. Schapire, "Large margin classification using the
//! perceptron algorithm", Machine Learning 37 (1999).

use super::scoreboard::{Budget, Scoreboard};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::{DualLog, KernelModel, LogEntry, Scheme};
use crate::options::{Bias, Options, Readout, Start};
use crate::train::{Block, Hypothesis, Importance};

/// The dual perceptron at work on a data set.
pub(crate) struct Dual<'a> {
    data: &'a Dataset,
    importance: &'a Importance<'a>,
    scheme: Scheme,
    kernel: Kernel,
    readout: Readout,
    /// What the bias adds to every kernel value.
    constant: f64,
    /// η, or 1 where the log's unit holds it.
    step: f64,
    normalise_weights: bool,
    log: DualLog,
    board: Scoreboard<'a>,
    scores: Vec<f64>,
}

/// How much memory and how many threads a dual learner may use; its results depend on
/// neither.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means {
    pub memory: usize,
    pub threads: usize,
}

impl<'a> Dual<'a> {
    /// A dual perceptron at its start, or going on from a log.
    pub(crate) fn new(
        data: &'a Dataset,
        importance: &'a Importance<'a>,
        scheme: Scheme,
        options: &Options,
        means: Means,
        resume: Option<DualLog>,
    ) -> Result<Self> {
        let kernel = options.kernel();
        kernel.check(data)?;
        let own = |i: usize| own_value(&kernel, data, i);
        let squared_radius = (0..data.len()).fold(0.0, |r: f64, i| {
            let c = importance.of(i, data.labels[i]);
            r.max(c * c * own(i))
        });
        let constant = match options.bias() {
            Bias::Lifted => 1.0,
            Bias::None => 0.0,
            Bias::Unlifted(rho) => rho.map_or(squared_radius, |rho| rho * rho),
        };
        let start = starting_coefficients(data, scheme, options)?;
        let scales_only =
            start.is_empty() && options.margin_demand == 0.0 && !options.normalise_weights;
        let fresh = resume.is_none();
        let log = resume.unwrap_or_else(|| {
            let unit = if scales_only { options.rate() } else { 1.0 };
            let mut log = DualLog::new(scheme, start, unit);
            if options.readout() == Readout::AveragedNormalised || options.normalise_weights {
                log.norms = Some(vec![0.0; scheme.groups()]);
            }
            if matches!(options.readout(), Readout::Random | Readout::Pocket) {
                log.kept = Some(0);
            }
            log
        });
        let board = Scoreboard::new(
            data,
            kernel,
            constant,
            scheme,
            options.order,
            Budget {
                bytes: means.memory,
                threads: means.threads,
            },
        );
        let mut dual = Dual {
            data,
            importance,
            scheme,
            kernel,
            readout: options.readout(),
            constant,
            step: if scales_only { 1.0 } else { options.rate() },
            normalise_weights: options.normalise_weights,
            scores: vec![0.0; scheme.discriminators()],
            log,
            board,
        };
        dual.replay();
        if fresh {
            dual.measure_start();
        }
        Ok(dual)
    }

    /// Hands the scoreboard what the log already holds.
    fn replay(&mut self) {
        for &(row, coefficient) in &self.log.start {
            let entry = LogEntry {
                row,
                raised: 0,
                lowered: LogEntry::NONE,
                coefficient,
                divisor: 1.0,
                survived: 0,
            };
            self.board.push(self.data.position(row as usize), &entry);
        }
        for entry in &self.log.entries {
            self.board
                .push(self.data.position(entry.row as usize), entry);
        }
    }

    /// ‖w0‖² = Σ_j α0_j s(x_j).
    fn measure_start(&mut self) {
        let Some(mut norms) = self.log.norms.take() else {
            return;
        };
        let mut squared = 0.0;
        for k in 0..self.log.start.len() {
            let (row, coefficient) = self.log.start[k];
            self.board
                .scores(self.data.position(row as usize), &mut self.scores);
            squared += coefficient * self.scores[0];
        }
        norms[0] = squared.max(0.0);
        if self.readout == Readout::AveragedNormalised {
            self.log.shares = Some(norms.iter().map(|&n| inverse_root(n)).collect());
        }
        self.log.norms = Some(norms);
    }

    /// R² = max c²(K(x, x) + what the bias adds, where it is lifted).
    pub(crate) fn squared_radius(&self, lift: f64) -> f64 {
        (0..self.data.len()).fold(0.0, |r: f64, i| {
            let c = self.importance.of(i, self.data.labels[i]);
            r.max(c * c * (own_value(&self.kernel, self.data, i) + lift))
        })
    }

    /// ‖φ(x)‖ of an example, what the bias adds included.
    pub(crate) fn length(&self, i: usize) -> f64 {
        (own_value(&self.kernel, self.data, i) + self.constant).sqrt()
    }

    /// The corrections so far: the example and its signed coefficient.
    pub(crate) fn corrections(&self) -> Vec<(usize, f64)> {
        let position = |entry: &LogEntry| self.data.position(entry.row as usize);
        let entries = self.log.entries.iter();
        entries.map(|e| (position(e), e.coefficient)).collect()
    }

    /// The model of the run so far.
    pub(crate) fn model(&self) -> KernelModel {
        KernelModel::new(
            self.data,
            self.scheme,
            self.kernel,
            self.constant,
            self.log.clone(),
            self.readout,
        )
    }

    fn push(&mut self, i: usize, entry: LogEntry) {
        let group = self.scheme.group(entry.raised as usize);
        let share = self
            .log
            .norms
            .as_ref()
            .map_or(0.0, |n| inverse_root(n[group]));
        self.board.push(i, &entry);
        self.log.push(self.scheme, entry, share);
    }

    /// What the weights of `group` are divided by after this update.
    fn divisor(&mut self, group: usize) -> f64 {
        match &mut self.log.norms {
            Some(norms) if self.normalise_weights && norms[group] > 0.0 => {
                let norm = norms[group].sqrt();
                norms[group] = 1.0;
                norm
            }
            _ => 1.0,
        }
    }
}

fn own_value(kernel: &Kernel, data: &Dataset, i: usize) -> f64 {
    match kernel {
        Kernel::Precomputed => data.row(i).get(data.number(i)),
        _ => kernel.of_itself(data.row(i)),
    }
}

fn inverse_root(square: f64) -> f64 {
    if square > 0.0 {
        1.0 / square.sqrt()
    } else {
        0.0
    }
}

/// The signed start coefficients that are not 0.
fn starting_coefficients(
    data: &Dataset,
    scheme: Scheme,
    options: &Options,
) -> Result<Vec<(u32, f64)>> {
    if options.start != Start::Zero {
        return Err(
            Error::options("a kernel learner has no weights to start from")
                .remedy("give --start-dual a1,a2,… with one signed coefficient an example"),
        );
    }
    let Some(start) = &options.start_dual else {
        return Ok(Vec::new());
    };
    if scheme != Scheme::Binary {
        return Err(Error::options(
            "--start-dual is for two classes learned by one plane",
        ));
    }
    if start.len() != data.len() {
        return Err(Error::options(format!(
            "--start-dual: found {} coefficients for {} examples",
            start.len(),
            data.len()
        )));
    }
    Ok(start
        .iter()
        .enumerate()
        .filter(|(_, a)| **a != 0.0)
        .map(|(row, &a)| (row as u32, a))
        .collect())
}

impl Hypothesis for Dual<'_> {
    fn scheme(&self) -> Scheme {
        self.scheme
    }

    fn width(&self) -> usize {
        self.scores.len()
    }

    fn unit(&self) -> f64 {
        self.log.unit
    }

    fn look_ahead(&mut self, block: &[u32], _: &Block) {
        if let Some(&first) = block.first() {
            self.board.look_ahead(first as usize);
        }
    }

    #[inline]
    fn scores(&mut self, i: usize) -> &[f64] {
        self.board.scores(i, &mut self.scores);
        &self.scores
    }

    fn update(&mut self, i: usize, scores: &[f64], changes: &[(u32, f64)]) -> f64 {
        let weight = self.importance.of(i, self.data.labels[i]);
        let amount = self.step * weight;
        let own = own_value(&self.kernel, self.data, i) + self.constant;
        if let Some(norms) = &mut self.log.norms {
            for &(d, sign) in changes {
                let a = amount * sign;
                norms[self.scheme.group(d as usize)] += 2.0 * a * scores[d as usize] + a * a * own;
            }
        }
        let row = self.data.number(i) as u32;
        match (self.scheme, changes) {
            (Scheme::Argmax { .. }, &[(raised, _), (lowered, _)]) => {
                let divisor = self.divisor(0);
                self.push(
                    i,
                    LogEntry {
                        row,
                        raised,
                        lowered,
                        coefficient: amount,
                        divisor,
                        survived: 0,
                    },
                );
            }
            _ => {
                for &(raised, sign) in changes {
                    let divisor = self.divisor(self.scheme.group(raised as usize));
                    self.push(
                        i,
                        LogEntry {
                            row,
                            raised,
                            lowered: LogEntry::NONE,
                            coefficient: amount * sign,
                            divisor,
                            survived: 0,
                        },
                    );
                }
            }
        }
        weight * weight * own
    }

    #[inline]
    fn settle(&mut self, label: u32) {
        match self.scheme {
            Scheme::Binary | Scheme::Argmax { .. } => self.log.count(0),
            Scheme::OneVsRest { classes } => (0..classes as usize).for_each(|g| self.log.count(g)),
            Scheme::OneVsOne { classes } => {
                let own = label as usize;
                for other in (0..classes as usize).filter(|&c| c != own) {
                    self.log
                        .count(self.scheme.pair(own.min(other), own.max(other)));
                }
            }
        }
    }

    fn keep(&mut self) {
        self.log.kept = Some(self.log.entries.len() as u64);
    }

    /// The signed coefficient of every example, in the order of the file.
    fn vector(&self) -> Vec<f64> {
        let all: Vec<u32> = (0..self.data.len() as u32).collect();
        let by_row = self.log.coefficients(self.scheme, Readout::Last, &all);
        let k = self.scheme.discriminators();
        (0..k)
            .flat_map(|d| by_row.iter().skip(d).step_by(k).copied())
            .collect()
    }
}
