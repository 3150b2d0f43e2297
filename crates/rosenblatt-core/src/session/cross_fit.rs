//! Scores of training examples by models that did not see them.

use super::Session;
use crate::data::{Dataset, Layout, split};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Kernel;
use crate::model::UnseenScores;
use crate::progress::Stop;

/// Parts that examples are dealt to.
const FOLDS: usize = 5;

impl Session<'_> {
    /// The scores of the examples by cross-validation: five models are trained, each without a
    /// fifth of the examples of each class, which it then scores. What scaling and an embedding
    /// know of the examples, they know of all.
    ///
    /// # Errors
    /// Where two classes have fewer than two examples each, and for kernel values that were
    /// computed before.
    pub fn cross_fitted_scores(&self, data: &Dataset) -> Result<UnseenScores> {
        if self.options.learner.kernel() == Some(Kernel::Precomputed) {
            return Err(Error::options(
                "precomputed kernel values are of the training rows, so none can be left out",
            )
            .remedy("name rows with ⟨validate-file⟩"));
        }
        if data.classes.len() == 2 && data.class_counts().iter().any(|n| *n < 2) {
            return Err(Error::data(
                "cross-validation for the calibration or the threshold needs two examples of each class",
            )
            .remedy("give more rows"));
        }
        let labels = (0..data.len()).map(|row| data.labels[data.position(row)]);
        let labels: Vec<u32> = labels.collect();
        let mut found = UnseenScores::default();
        for fold in split::folds(&labels, FOLDS.min(labels.len()), self.options.seed) {
            let rest = data.select(&fold.train);
            let rest = match data.layout {
                Layout::Permuted => rest.permuted(),
                Layout::AsGiven => rest,
            };
            let mut session = Session::new(self.options)
                .threads(self.threads)
                .memory(self.memory);
            session.interrupt = self.interrupt;
            session.separability_test = self.separability_test;
            let model = session.train(&rest)?.model;
            if model.progress.stop == Some(Stop::Interrupted) {
                return Err(Error::new(
                    ErrorKind::Interrupted,
                    "interrupted during the cross-validation for the calibration or the threshold",
                ));
            }
            let held_out = data.select(&fold.held_out);
            found
                .scores
                .extend(model.scores(&held_out.matrix, self.threads)?);
            found.labels.extend(held_out.labels);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Method;
    use crate::data::{Classes, Matrix, Precision};
    use crate::metrics::Evaluation;
    use crate::model::Model;
    use crate::options::{Multiclass, Options};
    use crate::random::{Random, Stream};
    use crate::threshold::ThresholdOf;

    /// Clouds that overlap.
    fn clouds(k: usize, n: usize, seed: u64) -> Dataset {
        let mut random = Random::new(seed, Stream::Sample, 0);
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let centre = |j: usize| if i % k == j { 1.2 } else { 0.0 };
                (0..3).map(|j| centre(j) + random.normal()).collect()
            })
            .collect();
        let names = ["a", "b", "c"];
        Dataset::new(
            Matrix::dense_from_rows(3, &rows, Precision::F64),
            (0..n).map(|i| (i % k) as u32).collect(),
            Classes::from_ordered(names[..k].iter().map(|&n| n.to_owned()).collect()),
            None,
        )
        .unwrap()
    }

    #[test]
    fn a_calibrated_model_is_the_same_on_any_number_of_threads_and_reads_back() {
        for (k, multiclass) in [
            (2, None),
            (2, Some(Multiclass::Argmax)),
            (3, None),
            (3, Some(Multiclass::Ovo)),
        ] {
            let options = Options {
                multiclass,
                epochs: Some(4),
                ..Options::default()
            };
            let (data, new) = (clouds(k, 600, 1), clouds(k, 600, 2));
            for method in [None, Some(Method::Isotonic), Some(Method::Sigmoid)] {
                let calibrated = |threads: usize| {
                    let session = Session::new(&options).threads(threads);
                    let mut model = session.train(&data).unwrap().model;
                    let unseen = session.cross_fitted_scores(&data).unwrap();
                    assert_eq!(unseen.labels.len(), 600);
                    model.calibrate(method, &unseen).unwrap();
                    if k == 2 {
                        model
                            .set_threshold("recall:0.9".parse().unwrap(), Some(&unseen))
                            .unwrap();
                    }
                    model
                };
                let model = calibrated(1);
                let bytes = model.to_bytes().unwrap();
                assert_eq!(calibrated(3).to_bytes().unwrap(), bytes);
                let scattered =
                    Session::new(&options).cross_fitted_scores(&data.clone().permuted());
                let unseen = Session::new(&options).cross_fitted_scores(&data).unwrap();
                assert_eq!(scattered.unwrap(), unseen);
                let again = Model::from_bytes(&bytes).unwrap();
                assert_eq!(
                    (&again.calibration, &again.threshold),
                    (&model.calibration, &model.threshold)
                );
                assert_eq!(
                    again.probabilities(&new.matrix, 2).unwrap(),
                    model.probabilities(&new.matrix, 1).unwrap()
                );
                let found = Evaluation::of(&again, &new, 1).unwrap();
                let guess = libm::log(k as f64);
                assert!(
                    found.log_loss().unwrap() < 0.9 * guess,
                    "{:?}",
                    found.log_loss()
                );
                let error = found.expected_calibration_error().unwrap();
                assert!(error < 0.15, "{k} {multiclass:?} {method:?}: {error}");
                if k == 2 {
                    let recall = found.by_class()[1].recall.unwrap();
                    assert!((0.82..0.97).contains(&recall), "{recall}");
                }
            }
        }
    }

    #[test]
    fn a_threshold_decides_and_older_programs_refuse_it() {
        let data = clouds(2, 300, 1);
        let options = Options {
            epochs: Some(3),
            ..Options::default()
        };
        let session = Session::new(&options);
        let mut model = session.train(&data).unwrap().model;
        assert!(model.probabilities(&data.matrix, 1).is_err());
        let format = |model: &Model| -> u64 {
            let mut parts = crate::model::Parts::from_bytes(&model.to_bytes().unwrap()).unwrap();
            parts.take_fact("format").unwrap()
        };
        model.set_threshold("-1.5".parse().unwrap(), None).unwrap();
        assert_eq!(format(&model), crate::model::FORMAT);
        let scores = model.scores(&data.matrix, 1).unwrap();
        let expected: Vec<u32> = scores.iter().map(|s| u32::from(*s >= -1.5)).collect();
        assert_eq!(model.predict(&data.matrix, 2).unwrap(), expected);
        assert_eq!(model.scorer().class(data.row(7)), expected[7]);
        let held_out = clouds(2, 200, 3);
        let unseen = model.held_out_scores(&held_out, 1).unwrap();
        model.calibrate(None, &unseen).unwrap();
        assert!(model.chosen_on.is_some());
        model.set_threshold("0.3".parse().unwrap(), None).unwrap();
        assert_eq!(
            model.threshold.as_ref().unwrap().of,
            ThresholdOf::Probability
        );
        let probabilities = model.probabilities(&data.matrix, 1).unwrap();
        let expected = probabilities.chunks(2).map(|p| u32::from(p[1] >= 0.3));
        assert_eq!(
            model.predict(&data.matrix, 1).unwrap(),
            expected.collect::<Vec<_>>()
        );
        assert!(model.set_threshold("3".parse().unwrap(), None).is_err());
        model.threshold = None;
        assert_eq!(format(&model), 1, "a calibration changes no prediction");
        let several = clouds(3, 90, 1);
        let mut model = session.train(&several).unwrap().model;
        let error = model.set_threshold("0".parse().unwrap(), None).unwrap_err();
        assert!(error.to_string().contains("two classes"), "{error}");
    }
}
