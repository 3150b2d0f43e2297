//! What moved a row's score: its features, or the training rows of a kernel.

use super::{Decision, Model, Scorer};
use crate::data::Row;
use crate::options::Readout;
use crate::scheme::{Scheme, leader};

/// Why a row has its class.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// The predicted class.
    pub class: u32,
    /// Its strongest rival.
    pub against: u32,
    /// The score of the class against the rival: a sum of `bias` and all contributions, where
    /// they add up.
    pub score: f64,
    /// What the score begins with.
    pub bias: f64,
    /// What moved the score, the largest in size first.
    pub contributions: Vec<Contribution>,
    /// How they were found.
    pub by: Reason,
}

/// What a contribution is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Weight times value, feature by feature: they add up to the score.
    Weights,
    /// By how much the score falls without the feature, all others as they are; over embeddings,
    /// networks and votes these need not add up.
    LeftOut,
    /// Coefficient times kernel value, training row by training row: they add up to the score.
    TrainingRows,
}

/// A part of a score, for the class where it is positive.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Contribution {
    /// The feature, from 0, or the number of the training row, from 0.
    pub of: usize,
    /// The value of the feature as the model has it, or that of the kernel.
    pub value: f64,
    /// What it adds to the score.
    pub amount: f64,
}

impl Model {
    /// Why the row of this scorer's model has its class: at most so many contributions.
    pub(super) fn explain_with(
        &self,
        scorer: &mut Scorer<'_>,
        row: Row<'_>,
        most: usize,
    ) -> Explanation {
        let scores = scorer.scores(row).to_vec();
        let class = self.decide(&scores);
        let (against, parts) = self.opposed(class, &scores);
        let opposed = |scores: &[f64]| -> f64 {
            let each = parts.iter().map(|&(d, sign)| sign * scores[d]);
            each.sum()
        };
        let score = opposed(&scores);
        let mut found: Vec<Contribution> = Vec::new();
        let (bias, by) = match (&self.decision, &self.embedding) {
            (Decision::Linear(weights), None) => {
                row.for_each(|j, value| {
                    let each = parts.iter().map(|&(d, sign)| sign * weights.get(d, j));
                    let amount = each.sum::<f64>() * value;
                    found.push(Contribution {
                        of: j,
                        value,
                        amount,
                    });
                });
                (opposed(weights.biases()), Reason::Weights)
            }
            (Decision::Kernel(kernel), None) if kernel.readout != Readout::Voted => {
                let k = self.scheme.discriminators();
                let each = kernel.coefficients().chunks_exact(k).enumerate();
                for (i, coefficients) in each {
                    let value = kernel.value_with(i, row);
                    found.push(Contribution {
                        of: kernel.rows[i] as usize,
                        value,
                        amount: opposed(coefficients) * value,
                    });
                }
                (opposed(kernel.bias()), Reason::TrainingRows)
            }
            _ => {
                let (mut indices, mut values) = (Vec::new(), Vec::new());
                row.for_each(|j, value| {
                    indices.push(j as u32);
                    values.push(value);
                });
                for i in 0..values.len() {
                    let value = std::mem::take(&mut values[i]);
                    let without = opposed(scorer.scores(Row::Sparse64(&indices, &values)));
                    values[i] = value;
                    found.push(Contribution {
                        of: indices[i] as usize,
                        value,
                        amount: score - without,
                    });
                }
                let empty = opposed(scorer.scores(Row::Sparse64(&[], &[])));
                (empty, Reason::LeftOut)
            }
        };
        found.retain(|c| c.amount != 0.0);
        found.sort_by(|a, b| {
            let by_size = b.amount.abs().total_cmp(&a.amount.abs());
            by_size.then(a.of.cmp(&b.of))
        });
        found.truncate(most);
        Explanation {
            class,
            against,
            score,
            bias,
            contributions: found,
            by,
        }
    }

    /// The strongest rival of a class, and the discriminators, each with its sign, whose sum says
    /// how far the class is before it.
    fn opposed(&self, class: u32, scores: &[f64]) -> (u32, Vec<(usize, f64)>) {
        let own = class as usize;
        match self.scheme {
            Scheme::Binary => (1 - class, vec![(0, if class == 1 { 1.0 } else { -1.0 })]),
            Scheme::Argmax { .. } | Scheme::OneVsRest { .. } => {
                let rival = leader(scores, Some(class));
                (rival, vec![(own, 1.0), (rival as usize, -1.0)])
            }
            Scheme::OneVsOne { .. } => {
                let against = |c: usize| match own > c {
                    true => (self.scheme.pair(c, own), 1.0),
                    false => (self.scheme.pair(own, c), -1.0),
                };
                let ahead = |c: usize| {
                    let (d, sign) = against(c);
                    sign * scores[d]
                };
                let others = (0..self.scheme.classes()).filter(|c| *c != own);
                let rival = others.min_by(|a, b| ahead(*a).total_cmp(&ahead(*b)));
                let rival = rival.unwrap_or(own);
                (rival as u32, vec![against(rival)])
            }
        }
    }
}

impl Scorer<'_> {
    /// Why a row has its class: at most so many contributions, the largest first.
    pub fn explain(&mut self, row: Row<'_>, most: usize) -> Explanation {
        self.model.explain_with(self, row, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Dataset, Matrix, Precision};
    use crate::options::Options;
    use crate::random::{Random, Stream};
    use crate::session::Session;

    fn data(k: usize) -> Dataset {
        let mut random = Random::new(4, Stream::Sample, 0);
        let rows: Vec<Vec<f64>> = (0..90)
            .map(|i| {
                let lean = |j: usize| if i % k == j { 1.0 } else { 0.0 };
                (0..4).map(|j| lean(j) + random.normal()).collect()
            })
            .collect();
        let names = ["a", "b", "c"];
        Dataset::new(
            Matrix::dense_from_rows(4, &rows, Precision::F64),
            (0..90).map(|i| (i % k) as u32).collect(),
            Classes::from_ordered(names[..k].iter().map(|&n| n.to_owned()).collect()),
            None,
        )
        .unwrap()
    }

    #[test]
    fn contributions_add_up_to_the_score_of_the_class_against_its_rival() {
        for k in [2, 3] {
            for (learner, more) in [
                ("perceptron", &[][..]),
                ("perceptron", &[("multiclass", "ovo")]),
                ("perceptron", &[("readout", "voted")]),
                ("perceptron", &[("embed", "monomials:2")]),
                ("kernel", &[("kernel", "rbf:0.5")]),
                ("max-margin", &[("kernel", "quadratic"), ("c", "1")]),
                ("network", &[]),
            ] {
                let mut options = Options::default();
                let given = [("learner", learner), ("epochs", "3")];
                options.set_all(given.iter().chain(more).copied()).unwrap();
                let data = data(k);
                let model = Session::new(&options).train(&data).unwrap().model;
                let mut scorer = model.scorer();
                for i in 0..20 {
                    let found = scorer.explain(data.row(i), 1000);
                    assert_eq!(found.class, scorer.class(data.row(i)));
                    assert_ne!(found.class, found.against);
                    // The class leads, but for pairs, where it may lose to a rival.
                    let pairs = matches!(model.scheme, Scheme::OneVsOne { .. });
                    assert!(found.score >= 0.0 || pairs, "{found:?}");
                    let sum = found.contributions.iter().map(|c| c.amount).sum::<f64>();
                    let apart = (found.bias + sum - found.score).abs();
                    match found.by {
                        Reason::LeftOut => assert!(found.contributions.len() <= 4),
                        _ => assert!(apart <= 1e-9 * (1.0 + sum.abs()), "{learner} {found:?}"),
                    }
                    let few = scorer.explain(data.row(i), 2);
                    assert_eq!(
                        few.contributions,
                        found.contributions[..few.contributions.len()]
                    );
                    let sizes = found.contributions.iter().map(|c| -c.amount.abs());
                    assert!(sizes.is_sorted() && few.contributions.len() <= 2);
                }
            }
        }
    }
}
