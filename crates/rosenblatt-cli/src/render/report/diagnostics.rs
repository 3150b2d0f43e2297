//! What a model says about labelled rows, gathered part by part: counts for the whole, margins
//! of all, and the few rows that are hardest.

use rosenblatt::Result;
use rosenblatt::data::{Dataset, Matrix};
use rosenblatt::metrics::Evaluation;
use rosenblatt::model::{Decision, Model};
use rosenblatt::scheme::Scheme;

use crate::render::train::figures;

/// Hard examples that are kept.
const HARDEST: usize = 12;
/// Points that a plot of two features shows.
const POINTS: usize = 1500;
/// Rows that are scored in one batch.
const BATCH_ROWS: usize = 8192;

/// An example and how far the model is from being right about it.
pub struct Hard {
    /// Its row, from 0.
    pub row: usize,
    pub truth: u32,
    pub predicted: u32,
    /// The best class but the truth.
    pub rival: u32,
    pub margin: f64,
    /// Its features that are not zero.
    pub features: Vec<(usize, f64)>,
}

impl Hard {
    /// The features that pull hardest away from the truth, with their pull w_j·x_j; only of
    /// linear models.
    pub fn against(&self, model: &Model) -> Vec<(usize, f64)> {
        let (Decision::Linear(weights), None) = (&model.decision, &model.embedding) else {
            return Vec::new();
        };
        let weight = |j: usize| match model.scheme {
            Scheme::Binary if self.truth == 1 => weights.get(0, j),
            Scheme::Binary => -weights.get(0, j),
            Scheme::Argmax { .. } | Scheme::OneVsRest { .. } => {
                weights.get(self.truth as usize, j) - weights.get(self.rival as usize, j)
            }
            Scheme::OneVsOne { .. } => 0.0,
        };
        let mut pulls: Vec<(usize, f64)> = self
            .features
            .iter()
            .map(|&(j, x)| (j, weight(j) * x))
            .filter(|(_, pull)| *pull < 0.0)
            .collect();
        pulls.sort_by(|a, b| a.1.total_cmp(&b.1));
        pulls.truncate(4);
        pulls
    }
}

/// What a model says about rows.
pub struct Diagnostics<'m> {
    model: &'m Model,
    threads: usize,
    pub evaluation: Evaluation,
    /// How far each example is on its right side.
    pub margins: Vec<f64>,
    /// The examples of the smallest margins, smallest first.
    pub hardest: Vec<Hard>,
    /// Two features: where examples lie, and their class.
    pub points: Vec<(f64, f64, u32)>,
}

impl<'m> Diagnostics<'m> {
    /// Nothing yet.
    pub fn new(model: &'m Model, threads: usize) -> Self {
        Diagnostics {
            model,
            threads,
            evaluation: Evaluation::new(&model.classes),
            margins: Vec::new(),
            hardest: Vec::new(),
            points: Vec::new(),
        }
    }

    /// All examples of a data set, whose rows have these numbers in the file.
    pub fn of(
        model: &'m Model,
        data: &Dataset,
        number: impl Fn(usize) -> usize,
        threads: usize,
    ) -> Result<Self> {
        let mut diagnostics = Diagnostics::new(model, threads);
        for start in (0..data.len()).step_by(BATCH_ROWS) {
            let rows = start..data.len().min(start + BATCH_ROWS);
            let part = data.matrix.select(rows.clone());
            diagnostics.add(
                &part,
                |i| Some(data.labels[start + i]),
                |i| number(data.number(start + i)),
            )?;
        }
        Ok(diagnostics)
    }

    /// Adds rows with their labels, where the model knows them, and their numbers. Gives the
    /// predicted classes.
    pub fn add(
        &mut self,
        matrix: &Matrix,
        label: impl Fn(usize) -> Option<u32>,
        number: impl Fn(usize) -> usize,
    ) -> Result<Vec<u32>> {
        let model = self.model;
        let each = model.scheme.discriminators();
        let scores = model.numbered_scores(matrix, &number, self.threads)?;
        let mut predicted = Vec::with_capacity(matrix.rows());
        let mut probabilities = vec![0.0; model.scheme.classes()];
        for (i, scores) in scores.chunks_exact(each).enumerate() {
            let class = model.decide(scores);
            predicted.push(class);
            let Some(truth) = label(i) else { continue };
            self.evaluation.count(truth, class);
            if model.scheme == Scheme::Binary {
                self.evaluation.rank(scores[0], truth == 1);
            }
            if model.has_probabilities() {
                model.probabilities_of(scores, &mut probabilities);
                self.evaluation.count_probabilities(truth, &probabilities);
            }
            let (margin, rival) = margin(model.scheme, scores, truth as usize);
            self.margins.push(margin);
            if matrix.columns() == 2 && self.points.len() < POINTS {
                let x = matrix.row(i).to_dense(2);
                self.points.push((x[0], x[1], truth));
            }
            let last = self.hardest.last().map_or(f64::INFINITY, |h| h.margin);
            if self.hardest.len() < HARDEST || margin < last {
                let mut features = Vec::new();
                matrix.row(i).for_each(|j, x| features.push((j, x)));
                let at = self.hardest.partition_point(|h| h.margin <= margin);
                self.hardest.insert(
                    at,
                    Hard {
                        row: number(i),
                        truth,
                        predicted: class,
                        rival: rival as u32,
                        margin,
                        features,
                    },
                );
                self.hardest.truncate(HARDEST);
            }
        }
        Ok(predicted)
    }

    /// Figures for all classes together, line by line.
    pub fn figures(&self) -> Vec<String> {
        let found = self.evaluation.metrics(self.model.options.seed);
        found.as_ref().map(figures).unwrap_or_default()
    }

    /// What the margins are.
    pub fn margin_name(&self) -> &'static str {
        match self.model.scheme {
            Scheme::Binary => "margin: score, positive for the true class",
            Scheme::OneVsOne { .. } => "margin: lowest score of the true class against another",
            _ => "margin: score of the true class above the next best",
        }
    }
}

/// How far scores are on the side of the truth, positive where the answer is right; and the
/// class that comes closest to it or beats it.
fn margin(scheme: Scheme, scores: &[f64], truth: usize) -> (f64, usize) {
    let against = |c: usize| match scheme {
        Scheme::Binary if truth == 1 => scores[0],
        Scheme::Binary => -scores[0],
        Scheme::OneVsOne { .. } if truth > c => scores[scheme.pair(c, truth)],
        Scheme::OneVsOne { .. } => -scores[scheme.pair(truth, c)],
        _ => scores[truth] - scores[c],
    };
    (0..scheme.classes())
        .filter(|&c| c != truth)
        .map(|c| (against(c), c))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((f64::INFINITY, truth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_positive_where_the_answer_is_right() {
        assert_eq!(margin(Scheme::Binary, &[2.5], 1), (2.5, 0));
        assert_eq!(margin(Scheme::Binary, &[2.5], 0), (-2.5, 1));
        let argmax = Scheme::Argmax { classes: 3 };
        assert_eq!(margin(argmax, &[1.0, 4.0, 2.5], 1), (1.5, 2));
        assert_eq!(margin(argmax, &[1.0, 4.0, 2.5], 2), (-1.5, 1));
        // Pairs in the order 0-1, 0-2, 1-2; positive speaks for the second.
        let pairs = Scheme::OneVsOne { classes: 3 };
        assert_eq!(margin(pairs, &[1.0, -2.0, -3.0], 1), (1.0, 0));
        assert_eq!(margin(pairs, &[1.0, -2.0, -3.0], 0), (-1.0, 1));
        assert_eq!(margin(pairs, &[1.0, -2.0, -3.0], 2), (-3.0, 1));
    }
}
