//! A kernel model as parts, and back.

use super::file::bad;
use super::parts::Parts;
use super::state_file::{put_entries, take_entries};
use super::{DualLog, KernelModel};
use crate::data::Precision;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::options::Options;
use crate::scheme::Scheme;

/// Puts a kernel model among the parts. The kernel itself stands in the options.
pub(super) fn put(parts: &mut Parts<'_>, model: &KernelModel) {
    let log = &model.log;
    parts.put_fact("kernel.constant", model.constant);
    parts.put_fact("kernel.precision", model.support.precision());
    parts.put_fact("kernel.unit", log.unit);
    parts.put_fact("kernel.kept", log.kept);
    parts.put_matrix("kernel.support", &model.support);
    parts.put("kernel.rows", model.rows.clone());
    parts.put("kernel.start.row", log.start.iter().map(|s| s.0).collect());
    parts.put(
        "kernel.start.coefficient",
        log.start.iter().map(|s| s.1).collect(),
    );
    parts.put("kernel.start.survived", log.start_survived.clone());
    if let Some(norms) = &log.norms {
        parts.put("kernel.norms", norms.clone());
    }
    if let Some(shares) = &log.shares {
        parts.put("kernel.shares", shares.clone());
    }
    if model.bias().iter().any(|b| *b != 0.0) {
        parts.put("kernel.bias", model.bias().to_vec());
    }
    put_entries(parts, "kernel.log.", &log.entries);
}

/// Takes a kernel model from the parts.
pub(super) fn take(
    parts: &mut Parts<'_>,
    scheme: Scheme,
    options: &Options,
) -> Result<KernelModel> {
    let constant: f64 = parts.take_fact("kernel.constant")?;
    let precision: Precision = parts.take_fact("kernel.precision")?;
    let unit: f64 = parts.take_fact("kernel.unit")?;
    let kept: Option<u64> = parts.take_fact("kernel.kept")?;
    let support = parts.take_matrix("kernel.support", precision)?;
    let rows: Vec<u32> = parts.take("kernel.rows")?;
    let start_rows: Vec<u32> = parts.take("kernel.start.row")?;
    let coefficients: Vec<f64> = parts.take_len("kernel.start.coefficient", start_rows.len())?;
    let mut log = DualLog::new(
        scheme,
        start_rows.into_iter().zip(coefficients).collect(),
        unit,
    );
    log.kept = kept;
    log.updates.start_survived = parts.take("kernel.start.survived")?;
    log.norms = parts.take_optional("kernel.norms")?;
    log.shares = parts.take_optional("kernel.shares")?;
    log.updates.entries = take_entries(parts, "kernel.log.")?;
    let log = log
        .checked(scheme)
        .ok_or_else(|| bad("its log of updates does not fit its classes"))?;
    let bias = parts.take_optional("kernel.bias")?;
    let bias = bias.unwrap_or_else(|| vec![0.0; scheme.discriminators()]);
    KernelModel::from_parts(
        scheme,
        options.learner.kernel().unwrap_or(Kernel::Linear),
        constant,
        support,
        rows,
        log,
        options.readout(),
    )
    .ok_or_else(|| bad("its log of updates names examples it does not have"))?
    .with_bias(bias)
    .ok_or_else(|| bad("its biases do not fit its classes"))
}
