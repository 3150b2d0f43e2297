//! A kernel model: the examples that were corrected, and the log of corrections.
//!
//! Scores are Σ_j α_j K(x_j, x) over the corrected examples, found for 32 rows at a time by
//! matrix products; a vote replays the log on the same kernel values.

use super::dual_log::DualLog;
use super::voted::Vote;
use crate::data::{Dataset, Matrix, Precision, Row};
use crate::kernel::{Arithmetic, Kernel, PackedRows, SupportRows, WIDTH};
use crate::options::{Options, Readout};
use crate::scheme::Scheme;
use crate::simd::{self, Level, Work};

/// What a kernel learner leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelModel {
    /// The kernel.
    pub kernel: Kernel,
    /// What the bias adds to every kernel value: 1 lifted, ρ² unlifted, 0 without a bias.
    pub constant: f64,
    /// The corrected examples, ascending by row number; none for a precomputed kernel, whose
    /// rows are columns of what it is given.
    pub support: Matrix,
    /// Their row numbers in the training file, from 0.
    pub rows: Vec<u32>,
    /// The corrections.
    pub log: DualLog,
    /// The read-out.
    pub readout: Readout,
    /// What every score begins with, one a discriminator; votes know no bias beside the
    /// kernel's constant.
    bias: Vec<f64>,
    /// Coefficients of the read-out, corrected example by corrected example.
    coefficients: Vec<f64>,
    /// For each correction, which corrected example it names.
    index: Vec<u32>,
}

impl KernelModel {
    /// The model of a run on `data`.
    pub fn new(
        data: &Dataset,
        scheme: Scheme,
        kernel: Kernel,
        constant: f64,
        log: DualLog,
        readout: Readout,
    ) -> Self {
        let rows = log.rows();
        let support = if kernel == Kernel::Precomputed {
            Matrix::empty_sparse(data.features(), Precision::F64)
        } else {
            data.matrix
                .select(rows.iter().map(|&r| data.position(r as usize)))
        };
        Self::from_parts(scheme, kernel, constant, support, rows, log, readout)
            .unwrap_or_else(|| unreachable!("every logged row is in the support"))
    }

    /// A model from its parts; `None` if they do not fit each other.
    pub fn from_parts(
        scheme: Scheme,
        kernel: Kernel,
        constant: f64,
        support: Matrix,
        rows: Vec<u32>,
        log: DualLog,
        readout: Readout,
    ) -> Option<Self> {
        let held = if kernel == Kernel::Precomputed {
            rows.iter().all(|&r| (r as usize) < support.columns())
        } else {
            rows.len() == support.rows()
        };
        if !held || !rows.is_sorted_by(|a, b| a < b) || !constant.is_finite() {
            return None;
        }
        let place = |row: u32| rows.binary_search(&row).ok().map(|k| k as u32);
        let index = log
            .entries
            .iter()
            .map(|e| place(e.row))
            .collect::<Option<Vec<u32>>>()?;
        if !log
            .start
            .iter()
            .all(|s| place(s.0).is_some() && s.1.is_finite())
        {
            return None;
        }
        let coefficients = log.coefficients(scheme, readout, &rows);
        Some(KernelModel {
            kernel,
            constant,
            support,
            rows,
            log,
            readout,
            bias: vec![0.0; scheme.discriminators()],
            coefficients,
            index,
        })
    }

    /// The same with a bias of its own for each discriminator; `None` if they are not as
    /// many, or not finite.
    pub fn with_bias(mut self, bias: Vec<f64>) -> Option<Self> {
        let fits = bias.len() == self.bias.len() && bias.iter().all(|b| b.is_finite());
        self.bias = bias;
        fits.then_some(self)
    }

    /// What every score begins with, one a discriminator.
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// The number of features a row must have.
    pub fn features(&self) -> usize {
        self.support.columns()
    }

    /// The coefficients of the read-out, `rows × discriminators`, row by row.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The kernel's value of corrected example `k` and a row, with what the bias adds.
    pub(super) fn value_with(&self, k: usize, row: Row<'_>) -> f64 {
        self.constant
            + match self.kernel {
                Kernel::Precomputed => row.get(self.rows[k] as usize),
                _ => self.kernel.value(self.support.row(k), row),
            }
    }

    fn prepared(&self, arithmetic: Arithmetic) -> SupportRows {
        let mut support = SupportRows::new(arithmetic);
        for (k, &number) in self.rows.iter().enumerate() {
            if self.kernel == Kernel::Precomputed {
                support.push(Row::Sparse64(&[], &[]), number);
            } else {
                support.push(self.support.row(k), number);
            }
        }
        support
    }

    /// The same examples and kernel with another log and read-out: another moment of the
    /// run, say. `None` if the log names examples that are not there.
    pub fn with(&self, scheme: Scheme, log: DualLog, readout: Readout) -> Option<Self> {
        Self::from_parts(
            scheme,
            self.kernel,
            self.constant,
            self.support.clone(),
            self.rows.clone(),
            log,
            readout,
        )?
        .with_bias(self.bias.clone())
    }

    /// The scores of every row of `matrix`, `rows × discriminators`, row by row.
    pub fn scores(
        &self,
        scheme: Scheme,
        options: &Options,
        matrix: &Matrix,
        threads: usize,
    ) -> Vec<f64> {
        let width = scheme.discriminators();
        let arithmetic = Arithmetic::choose(&self.kernel, &[&self.support, matrix]);
        let support = self.prepared(arithmetic);
        let slots: Vec<u32> = (0..support.len() as u32).collect();
        let mut all = vec![0.0; matrix.rows() * width];
        crate::parallel::chunks(&mut all, WIDTH * width, threads, || {
            let mut board = vec![[0.0; WIDTH]; width];
            let mut values = vec![[0.0; WIDTH]; slots.len()];
            let (support, slots) = (&support, &slots);
            move |p: usize, out: &mut [f64]| {
                let rows = p * WIDTH..p * WIDTH + out.len() / width;
                let packed = PackedRows::new(arithmetic, rows.map(|i| matrix.row(i)));
                packed.values(&self.kernel, self.constant, support, slots, &mut values);
                self.read(scheme, options, &values, &mut board);
                for (lane, out) in out.chunks_exact_mut(width).enumerate() {
                    for (out, scores) in out.iter_mut().zip(&board) {
                        *out = scores[lane];
                    }
                }
            }
        });
        all
    }

    /// The read-out's scores from kernel values with every corrected example.
    fn read(
        &self,
        scheme: Scheme,
        options: &Options,
        values: &[[f64; WIDTH]],
        board: &mut [[f64; WIDTH]],
    ) {
        if self.readout == Readout::Voted {
            let mut scores = vec![[0.0; WIDTH]; scheme.discriminators()];
            for &(row, c) in &self.log.start {
                if let Ok(k) = self.rows.binary_search(&row) {
                    for (s, v) in scores[0].iter_mut().zip(&values[k]) {
                        *s += c * v;
                    }
                }
            }
            simd::dispatch(Vote {
                log: &self.log.updates,
                index: &self.index,
                scheme,
                at_zero: options.at_zero,
                counted: options.votes,
                values,
                scores: &mut scores,
                votes: board,
            });
        } else {
            simd::dispatch(Weigh {
                bias: &self.bias,
                coefficients: &self.coefficients,
                values,
                board,
            });
        }
    }

    /// The scores of one row; the same bits as [`scores`](Self::scores) gives.
    pub fn scores_of_one(
        &self,
        scheme: Scheme,
        options: &Options,
        row: Row<'_>,
        scores: &mut [f64],
    ) {
        let mut values: Vec<[f64; WIDTH]> = vec![[0.0; WIDTH]; self.rows.len()];
        for (k, value) in values.iter_mut().enumerate() {
            value[0] = self.value_with(k, row);
        }
        let mut board = vec![[0.0; WIDTH]; scheme.discriminators()];
        self.read(scheme, options, &values, &mut board);
        for (score, board) in scores.iter_mut().zip(&board) {
            *score = board[0];
        }
    }
}

/// Adds coefficients times kernel values, corrected example by corrected example.
struct Weigh<'a> {
    bias: &'a [f64],
    coefficients: &'a [f64],
    values: &'a [[f64; WIDTH]],
    board: &'a mut [[f64; WIDTH]],
}

/// Kernel values that stay in the first cache while every discriminator takes its turn.
const AT_ONCE: usize = 96;

impl Work for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let k = self.board.len();
        for (board, bias) in self.board.iter_mut().zip(self.bias) {
            board.fill(*bias);
        }
        for (coefficients, values) in self
            .coefficients
            .chunks(AT_ONCE * k)
            .zip(self.values.chunks(AT_ONCE))
        {
            for (d, board) in self.board.iter_mut().enumerate() {
                let mut sums = *board;
                for (row, values) in coefficients.chunks_exact(k).zip(values) {
                    let c = row[d];
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum += c * value;
                    }
                }
                *board = sums;
            }
        }
    }
}
