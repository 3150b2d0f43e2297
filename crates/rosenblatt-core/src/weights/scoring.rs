//! The one way scores are summed, for one row and for four in step.

use super::Weights;
use crate::data::{Row, Rows, by_storage, dots4};
use crate::optimisations;
use crate::simd::{self, Level, Work};

/// Rows that are scored together.
pub(crate) const GROUP: usize = 4;

impl Weights {
    /// How long a buffer [`scores`](Self::scores) needs.
    pub fn score_buffer(&self) -> Vec<f64> {
        vec![0.0; self.stride]
    }

    /// Every discriminator's score of `row`, into `scores` (from [`score_buffer`](Self::score_buffer)).
    #[inline]
    pub fn scores(&self, row: Row<'_>, scores: &mut [f64]) {
        match self.stride {
            1 => scores[0] = row.dot(&self.values, self.bias[0]),
            4 => self.scores_in_registers::<4>(row, scores),
            8 => self.scores_in_registers::<8>(row, scores),
            12 => self.scores_in_registers::<12>(row, scores),
            16 => self.scores_in_registers::<16>(row, scores),
            20 => self.scores_in_wide_registers::<20>(row, scores),
            24 => self.scores_in_wide_registers::<24>(row, scores),
            28 => self.scores_in_wide_registers::<28>(row, scores),
            32 => self.scores_in_wide_registers::<32>(row, scores),
            stride => {
                scores.copy_from_slice(&self.bias);
                row.for_each(|j, x| {
                    let weights = &self.values[j * stride..(j + 1) * stride];
                    for (s, &w) in scores.iter_mut().zip(weights) {
                        *s += w * x;
                    }
                });
            }
        }
    }

    /// The scores of the rows at `examples`, one row's after the other's; the same bits as
    /// [`scores`](Self::scores) gives. Where they are [scored in step](Self::in_step), [`GROUP`]
    /// rows take little longer than one.
    #[inline]
    pub(crate) fn scores_of_group(
        &self,
        rows: Rows<'_>,
        in_step: bool,
        examples: impl ExactSizeIterator<Item = usize>,
        scores: &mut [f64],
    ) {
        if in_step && examples.len() == GROUP {
            let mut four = [0; GROUP];
            four.iter_mut().zip(examples).for_each(|(to, i)| *to = i);
            let scores = &mut scores[..GROUP * self.stride];
            match self.stride {
                1 => {
                    let found = dots4(rows, four, &self.values, self.bias[0]);
                    scores.copy_from_slice(&found);
                }
                4 => self.full_rows_in_step::<4>(rows, four, scores),
                8 => self.full_rows_in_step::<8>(rows, four, scores),
                12 => self.full_rows_in_step::<12>(rows, four, scores),
                _ => self.full_rows_in_step::<16>(rows, four, scores),
            }
            return;
        }
        for (i, scores) in examples.zip(scores.chunks_exact_mut(self.stride)) {
            self.scores(rows.row(i), scores);
        }
    }

    /// Whether groups of these rows are scored in step: by one discriminator, or, where hardly
    /// a value is zero, by a few.
    pub(crate) fn in_step(&self, rows: Rows<'_>) -> bool {
        let pays = self.stride == 1 || (self.stride <= 16 && rows.are_full());
        pays && optimisations::enabled("simd-dot")
    }

    fn full_rows_in_step<const S: usize>(
        &self,
        rows: Rows<'_>,
        four: [usize; GROUP],
        scores: &mut [f64],
    ) {
        match four.map(|i| rows.row(i)) {
            [
                Row::Dense32(a),
                Row::Dense32(b),
                Row::Dense32(c),
                Row::Dense32(d),
            ] => simd::dispatch(ScoreFour::<S, f32>(self, [a, b, c, d], scores)),
            [
                Row::Dense64(a),
                Row::Dense64(b),
                Row::Dense64(c),
                Row::Dense64(d),
            ] => simd::dispatch(ScoreFour::<S, f64>(self, [a, b, c, d], scores)),
            rows => (rows.iter().zip(scores.chunks_exact_mut(S)))
                .for_each(|(row, scores)| self.scores(*row, scores)),
        }
    }

    /// The same where the registers of every processor are too narrow.
    #[inline]
    fn scores_in_wide_registers<const S: usize>(&self, row: Row<'_>, scores: &mut [f64]) {
        simd::dispatch(ScoreRow::<S> {
            weights: self,
            row,
            scores,
        });
    }

    #[inline(always)]
    fn scores_in_registers<const S: usize>(&self, row: Row<'_>, scores: &mut [f64]) {
        let mut sums = [0.0; S];
        sums.copy_from_slice(&self.bias);
        let (weights, _) = self.values.as_chunks::<S>();
        // A closure would not be compiled for the registers of its caller.
        macro_rules! add {
            ($j:expr, $x:expr) => {{
                let (w, x) = (&weights[$j], f64::from($x));
                for c in 0..S {
                    sums[c] += w[c] * x;
                }
            }};
        }
        by_storage!(
            row,
            Dense(values) => {
                for k in 0..values.len() {
                    if values[k] != 0.0 {
                        add!(k, values[k]);
                    }
                }
            },
            Sparse(indices, values) => {
                for k in 0..values.len() {
                    add!(indices[k] as usize, values[k]);
                }
            },
        );
        scores.copy_from_slice(&sums);
    }

    /// The score of one discriminator; the same bits as [`scores`](Self::scores) gives.
    pub fn score(&self, d: usize, row: Row<'_>) -> f64 {
        if self.stride == 1 {
            return row.dot(&self.values, self.bias[0]);
        }
        let mut sum = self.bias[d];
        row.for_each(|j, x| sum += self.values[j * self.stride + d] * x);
        sum
    }
}

/// The scores of one row by S discriminators.
struct ScoreRow<'a, const S: usize> {
    weights: &'a Weights,
    row: Row<'a>,
    scores: &'a mut [f64],
}

impl<const S: usize> Work for ScoreRow<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        self.weights.scores_in_registers::<S>(self.row, self.scores);
    }
}

/// The scores of four dense rows by S discriminators. Each sum waits for its last addition, the
/// four rows do not wait for each other.
struct ScoreFour<'a, const S: usize, T>(&'a Weights, [&'a [T]; GROUP], &'a mut [f64]);

impl<const S: usize, T: Copy + Into<f64>> Work for ScoreFour<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let ScoreFour(weights, [a, b, c, d], scores) = self;
        let mut bias = [0.0; S];
        bias.copy_from_slice(&weights.bias);
        let mut sums = [bias; GROUP];
        let (columns, _) = weights.values.as_chunks::<S>();
        for (j, w) in columns[..a.len()].iter().enumerate() {
            let values: [f64; GROUP] = [a[j].into(), b[j].into(), c[j].into(), d[j].into()];
            for r in 0..GROUP {
                for k in 0..S {
                    sums[r][k] += w[k] * values[r];
                }
            }
        }
        scores.copy_from_slice(sums.as_flattened());
    }
}
