//! How far an update goes: the step size, one small rule for each mistake-driven learner.

/// The step size of a learner: an update adds size·x to a discriminator, or takes it away.
pub(crate) trait StepSize: Copy {
    /// The size for an example that calls for an update, given its margin, its weight and the
    /// squared length of its row in the metric of the hypothesis; `None` if no step changes its
    /// score, as for a row of zeros.
    fn size(self, margin: f64, weight: f64, squared_length: impl FnOnce() -> f64) -> Option<f64>;
}

/// The perceptron's: η·c whatever the margin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Constant(pub f64);

impl StepSize for Constant {
    #[inline(always)]
    fn size(self, _: f64, weight: f64, _: impl FnOnce() -> f64) -> Option<f64> {
        Some(self.0 * weight)
    }
}
