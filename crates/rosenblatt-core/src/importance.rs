//! Permutation importance: how much worse predictions are where the values of some features belong
//! to other rows (Breiman 2001).

use std::ops::Range;

use serde::Serialize;

use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::metrics::Evaluation;
use crate::model::Model;
use crate::options::{Metric, choice_name};
use crate::parallel;
use crate::random::{Random, Stream};

/// How much a metric falls where the values of some features are permuted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Importance {
    /// The mean fall.
    pub mean: f64,
    /// The standard deviation over permutations; 0 with one.
    pub deviation: f64,
}

/// The permutation importance of each of these ranges of features on labelled rows, by so many
/// permutations of them, which are the same for all ranges. Labels are classes of the model.
///
/// # Errors
/// Where the metric is not defined on the rows.
pub fn permutation_importance(
    model: &Model,
    (matrix, labels): (&Matrix, &[u32]),
    features: &[Range<usize>],
    metric: Metric,
    times: u32,
    threads: usize,
) -> Result<Vec<Importance>> {
    let score = |matrix: &Matrix, threads: usize| -> Result<f64> {
        let found = Evaluation::of_rows(model, matrix, labels, threads)?.score(metric);
        found.ok_or_else(|| {
            let name = choice_name(metric);
            Error::data(format!("{name} is not defined on these rows"))
        })
    };
    let whole = score(matrix, threads)?;
    let orders: Vec<Vec<usize>> = (0..u64::from(times))
        .map(|k| {
            let mut order: Vec<usize> = (0..matrix.rows()).collect();
            Random::new(model.options.seed, Stream::Importance, k).shuffle(&mut order);
            order
        })
        .collect();
    let mut found = vec![Ok(Importance::default()); features.len()];
    parallel::chunks(&mut found, 1, threads, || {
        |i: usize, out: &mut [Result<Importance>]| {
            let falls = orders.iter().map(|order| {
                let permuted = matrix.with_columns_of(features[i].clone(), order);
                Ok(whole - score(&permuted, 1)?)
            });
            out[0] = falls
                .collect::<Result<Vec<f64>>>()
                .map(|falls| of_falls(&falls));
        }
    });
    found.into_iter().collect()
}

fn of_falls(falls: &[f64]) -> Importance {
    let n = falls.len().max(1) as f64;
    let mean = falls.iter().sum::<f64>() / n;
    let squares: f64 = falls.iter().map(|f| (f - mean) * (f - mean)).sum();
    Importance {
        mean,
        deviation: (squares / (n - 1.0).max(1.0)).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Dataset, Precision};
    use crate::{Options, Session};

    #[test]
    fn only_what_the_model_uses_is_important_dense_or_sparse() {
        let mut random = Random::new(1, Stream::Sample, 0);
        let rows: Vec<Vec<f64>> = (0..200)
            .map(|i| vec![random.normal(), if i % 2 == 0 { 1.0 } else { -1.0 }, 0.0])
            .collect();
        let labels: Vec<u32> = (0..200).map(|i| i % 2).collect();
        let dense = Matrix::dense_from_rows(3, &rows, Precision::F64);
        let mut sparse = Matrix::empty_sparse(3, Precision::F64);
        for row in &rows {
            sparse.push_sparse((0..).zip(row.iter().copied()));
        }
        let classes = Classes::from_labels(["a", "b"]);
        let data = Dataset::new(dense.clone(), labels.clone(), classes, None).unwrap();
        let options = Options::default();
        let model = Session::new(&options).train(&data).unwrap().model;
        let features = [0..1, 1..2, 2..3];
        let of = |matrix: &Matrix, threads| {
            let rows = (matrix, labels.as_slice());
            permutation_importance(&model, rows, &features, Metric::Accuracy, 8, threads).unwrap()
        };
        let found = of(&dense, 1);
        assert_eq!(found, of(&sparse, 3));
        // Half of the rows get the value of a row of the other class.
        assert!((found[1].mean - 0.5).abs() < 0.1, "{found:?}");
        assert!(found[1].deviation > 0.0 && found[1].deviation < 0.1);
        assert!(found[0].mean.abs() < 0.05, "{found:?}");
        assert_eq!((found[2].mean, found[2].deviation), (0.0, 0.0));
    }
}
