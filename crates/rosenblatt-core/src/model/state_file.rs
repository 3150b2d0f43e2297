//! What a run remembers as parts, and back.

use super::LinearState;
use super::file::bad;
use super::parts::Parts;
use super::weights_file::{put_weights, take_weights};
use crate::error::Result;
use crate::readout::{Average, LogEntry, UpdateLog};
use crate::scheme::Scheme;
use crate::weights::Weights;

/// Puts what a run remembers among the parts.
pub(super) fn put<'a>(parts: &mut Parts<'a>, state: &'a LinearState) {
    parts.put_fact("state.unit", state.unit);
    put_weights(parts, "state.", &state.weights);
    if let Some(norms) = &state.norms {
        parts.put("state.norms", norms.clone());
    }
    if let Some(scale) = &state.scale {
        parts.put("state.scale", scale.clone());
    }
    for (name, of, _) in LinearState::OPTIONAL_WEIGHTS {
        if let Some(weights) = of(state) {
            put_weights(parts, &format!("state.{name}."), weights);
        }
    }
    if let Some(average) = &state.average {
        parts.put("state.average.factor", average.factor.clone());
        parts.put("state.average.visits", average.visits.clone());
        put_weights(parts, "state.average.", &average.correction);
    }
    if let Some(log) = &state.log {
        put_weights(parts, "log.start.", &log.start);
        parts.put("log.start.survived", log.start_survived.clone());
        put_entries(parts, "log.", &log.entries);
    }
}

/// Puts updates among the parts, a list for each of their numbers.
pub(super) fn put_entries(parts: &mut Parts<'_>, prefix: &str, entries: &[LogEntry]) {
    let name = |field: &str| format!("{prefix}{field}");
    let each = || entries.iter();
    parts.put(&name("row"), each().map(|e| e.row).collect());
    parts.put(&name("raised"), each().map(|e| e.raised).collect());
    parts.put(&name("lowered"), each().map(|e| e.lowered).collect());
    parts.put(
        &name("coefficient"),
        each().map(|e| e.coefficient).collect(),
    );
    parts.put(&name("divisor"), each().map(|e| e.divisor).collect());
    parts.put(&name("survived"), each().map(|e| e.survived).collect());
}

/// Takes them out again.
pub(super) fn take_entries(parts: &mut Parts<'_>, prefix: &str) -> Result<Vec<LogEntry>> {
    let name = |field: &str| format!("{prefix}{field}");
    let row: Vec<u32> = parts.take(&name("row"))?;
    let n = row.len();
    let raised: Vec<u32> = parts.take_len(&name("raised"), n)?;
    let lowered: Vec<u32> = parts.take_len(&name("lowered"), n)?;
    let coefficient: Vec<f64> = parts.take_len(&name("coefficient"), n)?;
    let divisor: Vec<f64> = parts.take_len(&name("divisor"), n)?;
    let survived: Vec<u64> = parts.take_len(&name("survived"), n)?;
    let entries = (0..n).map(|i| LogEntry {
        row: row[i],
        raised: raised[i],
        lowered: lowered[i],
        coefficient: coefficient[i],
        divisor: divisor[i],
        survived: survived[i],
    });
    Ok(entries.collect())
}

/// Takes it out again, where there is any.
pub(super) fn take(parts: &mut Parts<'_>, scheme: Scheme) -> Result<Option<LinearState>> {
    if !parts.has_fact("state.unit") {
        return Ok(None);
    }
    let unit: f64 = parts.take_fact("state.unit")?;
    let mut state = LinearState::of(take_weights(parts, "state.", scheme)?);
    state.unit = unit;
    if parts.has("state.norms") {
        state.norms = Some(parts.take_len("state.norms", scheme.groups())?);
    }
    if parts.has("state.scale") {
        state.scale = Some(parts.take_len("state.scale", scheme.groups())?);
    }
    for (name, _, of) in LinearState::OPTIONAL_WEIGHTS {
        let prefix = format!("state.{name}.");
        if parts.has(&format!("{prefix}bias")) {
            *of(&mut state) = Some(take_weights(parts, &prefix, scheme)?);
        }
    }
    if parts.has("state.average.factor") {
        state.average = Some(Average {
            factor: parts.take_len("state.average.factor", scheme.groups())?,
            visits: parts.take_len("state.average.visits", scheme.groups())?,
            correction: take_weights(parts, "state.average.", scheme)?,
        });
    }
    if parts.has("log.row") {
        state.log = Some(take_log(parts, scheme)?);
    }
    let finite = |list: &Vec<f64>| list.iter().all(|x| x.is_finite());
    let scales_fit = |list: &Vec<f64>| finite(list) && list.iter().all(|s| *s > 0.0);
    if !state.scale.iter().all(scales_fit) {
        return Err(bad("the scales of its state are not all above 0"));
    }
    if !state.norms.iter().all(finite) || !state.average.iter().all(|a| finite(&a.factor)) {
        return Err(bad("the sums of its state are not all finite"));
    }
    let same_shape = |other: &Weights| other.features() == state.weights.features();
    let optional = LinearState::OPTIONAL_WEIGHTS;
    let shapes_fit = (optional.iter()).all(|(_, of, _)| of(&state).iter().all(same_shape))
        && state.average.iter().all(|a| same_shape(&a.correction))
        && state.log.iter().all(|l| same_shape(&l.start));
    if !shapes_fit || !unit.is_finite() {
        return Err(bad("the parts of its state do not fit each other"));
    }
    Ok(Some(state))
}

fn take_log(parts: &mut Parts<'_>, scheme: Scheme) -> Result<UpdateLog> {
    let start = take_weights(parts, "log.start.", scheme)?;
    let mut log = UpdateLog::new(scheme, start);
    log.start_survived = parts.take("log.start.survived")?;
    log.entries = take_entries(parts, "log.")?;
    log.checked(scheme)
        .ok_or_else(|| bad("its log of updates does not fit its classes"))
}
