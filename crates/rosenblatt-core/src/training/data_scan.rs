//! Facts about all rows that are not needed before training ends: their fingerprint and the
//! radius R. A second thread can find them meanwhile.

use std::sync::OnceLock;

use super::sample_weights::SampleWeights;
use crate::data::Dataset;
use crate::model::{Fingerprint, SeenRows};

/// The fingerprint of a data set and its radius, found once, by whoever asks first.
pub(crate) struct DataScan<'a> {
    /// The rows as they were given.
    raw: &'a Dataset,
    /// Their weights and lengths, embedded where they are.
    sample_weights: &'a SampleWeights<'a>,
    /// What the bias adds to every ‖x‖².
    lift: f64,
    fingerprint: OnceLock<Fingerprint>,
    seen_rows: OnceLock<Option<SeenRows>>,
}

impl<'a> DataScan<'a> {
    pub(crate) fn new(
        raw: &'a Dataset,
        sample_weights: &'a SampleWeights<'a>,
        lift: f64,
        known: Option<Fingerprint>,
    ) -> Self {
        DataScan {
            raw,
            sample_weights,
            lift,
            fingerprint: known.map_or_else(OnceLock::new, OnceLock::from),
            seen_rows: OnceLock::new(),
        }
    }

    /// The same where these are not all rows of the run, so that they are not kept by name.
    pub(crate) fn of_part(self) -> Self {
        DataScan {
            seen_rows: OnceLock::from(None),
            ..self
        }
    }

    /// What the bias adds to every ‖x‖².
    pub(crate) fn lift(&self) -> f64 {
        self.lift
    }

    /// Looks at all rows now.
    pub(crate) fn run(&self, threads: usize) {
        self.fingerprint(threads);
        self.seen_rows
            .get_or_init(|| SeenRows::of(self.raw, threads));
        self.sample_weights.measure(threads);
    }

    /// Which data these are.
    pub(crate) fn fingerprint(&self, threads: usize) -> Fingerprint {
        *self
            .fingerprint
            .get_or_init(|| Fingerprint::of(self.raw, threads))
    }

    /// Which rows these are.
    pub(crate) fn seen_rows(&self, threads: usize) -> Option<SeenRows> {
        let found = self
            .seen_rows
            .get_or_init(|| SeenRows::of(self.raw, threads));
        found.clone()
    }

    /// R² = max c_i²(‖x_i‖² + lift).
    pub(crate) fn squared_radius(&self, threads: usize) -> f64 {
        self.sample_weights.measure(threads);
        self.sample_weights.squared_radius_with(self.lift)
    }
}
