//! What a run remembers as parts, and back.

use super::file::bad;
use super::parts::Parts;
use super::weights_file::{put_weights, take_weights};
use super::LinearState;
use crate::readout::{Average, LogEntry, UpdateLog};
use crate::scheme::Scheme;
use crate::weights::Weights;
use crate::error::Result;

/// Puts what a run remembers among the parts.
pub(super) fn put<'a>(parts: &mut Parts<'a>, state: &'a LinearState) {
    parts.put_fact("state.unit", state.unit);
    put_weights(parts, "state.", &state.weights);
    if let Some(norms) = &state.norms {
        parts.put("state.norms", norms.clone());
    }
    if let Some(kept) = &state.kept {
        put_weights(parts, "state.kept.", kept);
    }
    if let Some(confidence) = &state.confidence {
        put_weights(parts, "state.confidence.", confidence);
    }
    if let Some(average) = &state.average {
        parts.put("state.average.factor", average.factor.clone());
        parts.put("state.average.visits", average.visits.clone());
        put_weights(parts, "state.average.", &average.correction);
    }
    if let Some(log) = &state.log {
        put_weights(parts, "log.start.", &log.start);
        parts.put("log.start.survived", log.start_survived.clone());
        parts.put("log.row", log.entries.iter().map(|e| e.row).collect());
        parts.put("log.raised", log.entries.iter().map(|e| e.raised).collect());
        parts.put(
            "log.lowered",
            log.entries.iter().map(|e| e.lowered).collect(),
        );
        parts.put(
            "log.coefficient",
            log.entries.iter().map(|e| e.coefficient).collect(),
        );
        parts.put(
            "log.divisor",
            log.entries.iter().map(|e| e.divisor).collect(),
        );
        parts.put(
            "log.survived",
            log.entries.iter().map(|e| e.survived).collect(),
        );
    }
}

/// Takes it out again, where there is any.
pub(super) fn take(parts: &mut Parts<'_>, scheme: Scheme) -> Result<Option<LinearState>> {
    if !parts.has_fact("state.unit") {
        return Ok(None);
    }
    let unit: f64 = parts.take_fact("state.unit")?;
    let weights = take_weights(parts, "state.", scheme)?;
    let same_shape = |other: &Weights| other.features() == weights.features();
    let norms = if parts.has("state.norms") {
        Some(parts.take_len("state.norms", scheme.groups())?)
    } else {
        None
    };
    let kept = if parts.has("state.kept.bias") {
        Some(take_weights(parts, "state.kept.", scheme)?)
    } else {
        None
    };
    let confidence = if parts.has("state.confidence.bias") {
        Some(take_weights(parts, "state.confidence.", scheme)?)
    } else {
        None
    };
    let average = if parts.has("state.average.factor") {
        Some(Average {
            factor: parts.take_len("state.average.factor", scheme.groups())?,
            visits: parts.take_len("state.average.visits", scheme.groups())?,
            correction: take_weights(parts, "state.average.", scheme)?,
        })
    } else {
        None
    };
    let log = if parts.has("log.row") {
        Some(take_log(parts, scheme)?)
    } else {
        None
    };
    let finite = |list: &Vec<f64>| list.iter().all(|x| x.is_finite());
    if !norms.iter().all(finite) || !average.iter().all(|a| finite(&a.factor)) {
        return Err(bad("the sums of its state are not all finite"));
    }
    let shapes_fit = kept.iter().chain(&confidence).all(same_shape)
        && average.iter().all(|a| same_shape(&a.correction))
        && log.iter().all(|l| same_shape(&l.start));
    if !shapes_fit || !unit.is_finite() {
        return Err(bad("the parts of its state do not fit each other"));
    }
    Ok(Some(LinearState {
        weights,
        unit,
        norms,
        confidence,
        average,
        kept,
        log,
    }))
}

fn take_log(parts: &mut Parts<'_>, scheme: Scheme) -> Result<UpdateLog> {
    let start = take_weights(parts, "log.start.", scheme)?;
    let start_survived: Vec<u64> = parts.take("log.start.survived")?;
    let row: Vec<u32> = parts.take("log.row")?;
    let n = row.len();
    let raised: Vec<u32> = parts.take_len("log.raised", n)?;
    let lowered: Vec<u32> = parts.take_len("log.lowered", n)?;
    let coefficient: Vec<f64> = parts.take_len("log.coefficient", n)?;
    let divisor: Vec<f64> = parts.take_len("log.divisor", n)?;
    let survived: Vec<u64> = parts.take_len("log.survived", n)?;
    if !coefficient.iter().all(|c| c.is_finite()) || !divisor.iter().all(|d| d.is_normal()) {
        return Err(bad(
            "its log of updates has steps that are no usable numbers",
        ));
    }
    let entries = (0..n)
        .map(|i| LogEntry {
            row: row[i],
            raised: raised[i],
            lowered: lowered[i],
            coefficient: coefficient[i],
            divisor: divisor[i],
            survived: survived[i],
        })
        .collect();
    UpdateLog::from_parts(scheme, start, start_survived, entries)
        .ok_or_else(|| bad("its log of updates does not fit its classes"))
}
