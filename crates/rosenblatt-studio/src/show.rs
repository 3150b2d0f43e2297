//! What the page shows of a run: the run as a whole, and visits with their arithmetic.

use rosenblatt::embedding::Embedding;
use rosenblatt::model::Decision;
use rosenblatt::options::Bias;
use rosenblatt::scheme::Scheme;
use rosenblatt::{Error, Result};
use serde_json::{Value, json};

use crate::hypothesis::{kernel_value, linear, plane_names};
use crate::run::{self, Run};
use crate::view::{Axes, View};

/// Numbers of a weight vector that a page gets.
const WEIGHTS_SHOWN: usize = 2_000;
/// Terms of a score that are written out.
const TERMS: usize = 8;
/// Discriminators whose scores are written out.
const PLANES: usize = 4;

/// What is known of a run as a whole.
pub fn facts(run: &Run) -> Value {
    let ended = run.ended();
    let fitted = ended.as_ref().and_then(|e| e.fitted.as_ref().ok());
    let width = match run.is_traced() {
        true => run.log().width(),
        false => 0,
    };
    // A lock that is asked for twice waits for whoever writes in between, who waits for it.
    let (length, passes) = (run.len(), run.passes().all.len());
    let progress = fitted.map(|f| &f.model.progress);
    json!({
        "traced": run.is_traced(),
        "length": length,
        "passes": passes,
        "width": width,
        "over": ended.is_some(),
        "broken_off": ended.as_ref().and_then(|e| e.broken_off.clone()),
        "reason": ended.as_ref().map(|e| run::reason(run, e)),
        "failed": ended.as_ref().is_some_and(|e| e.fitted.is_err()),
        "stop": progress.and_then(|p| p.stop).map(|s| s.name()),
        "mistakes": progress.map(|p| p.mistakes),
        "updates": progress.map(|p| p.updates),
        "updates_at_most": fitted.and_then(|f| f.updates_at_most),
        "mistakes_at_most": fitted.and_then(|f| f.mistakes_at_most),
        "radius": fitted.map(|f| f.radius),
        "margin": fitted.and_then(|f| f.margin),
        "kernel": run.options.learner.kernel().map(|k| k.to_string()),
        "embedding": run.embedding.as_ref().map(Embedding::describe),
        "planes": plane_names(run),
        "weights": weight_names(run, width),
        "linear": run.options.learner.kernel().is_none() && run.embedding.is_none()
            && run.options.learner.keeps_weights(),
        "learner": run.options.learner.name(),
        "jointly": matches!(run.scheme, Scheme::Argmax { .. }),
        "readout": rosenblatt::options::choice_name(run.options.readout()),
    })
}

/// What each number of a weight vector belongs to, those of one discriminator after the other.
fn weight_names(run: &Run, width: usize) -> Vec<String> {
    let planes = run.scheme.discriminators();
    let each = (width / planes).min(WEIGHTS_SHOWN);
    if run.options.learner.kernel().is_some() {
        return (1..=each).map(|i| format!("row {i}")).collect();
    }
    let lift = run.options.bias() != Bias::None;
    let features = each - usize::from(lift && each > 0);
    let bias = (lift && each > 0).then(|| "bias".to_owned());
    bias.into_iter()
        .chain((0..features).map(|j| feature_name(run, j)))
        .collect()
}

/// The name of a feature as the learner sees it.
fn feature_name(run: &Run, j: usize) -> String {
    match &run.embedding {
        Some(_) => format!("φ{}", j + 1),
        None => run.data.examples.names.get(j).into_owned(),
    }
}

/// Visits `from`, `from` + `stride`, … as the page draws them.
pub fn steps(run: &Run, view: View, from: usize, count: usize, stride: usize) -> Result<Value> {
    const MOST: usize = 400;
    let last = run.len();
    let each = (from..=last).step_by(stride.max(1)).take(count.min(MOST));
    let steps: Result<Vec<Value>> = each.map(|k| step(run, view, k)).collect();
    Ok(json!({"length": last, "steps": steps?}))
}

/// One visit (or kept pass).
pub fn step(run: &Run, view: View, k: usize) -> Result<Value> {
    if !run.is_traced() {
        return pass_step(run, view, k);
    }
    let log = run.log();
    if k > log.visits() {
        return Err(Error::data(format!("there is no visit {k} yet")));
    }
    let (mistakes, updates) = log.totals(k);
    let after = log.weights(k);
    let shown = |weights: &[f64]| weights[..weights.len().min(WEIGHTS_SHOWN)].to_vec();
    let is_linear = run.options.learner.kernel().is_none() && run.embedding.is_none();
    let lines = |weights: &[f64]| match is_linear && !weights.is_empty() {
        true => Some(lines(run, view, weights)),
        false => None,
    };
    if k == 0 {
        return Ok(json!({
            "k": 0, "pass": 0, "mistakes": 0, "updates": 0,
            "after": shown(&after), "lines": lines(&after),
        }));
    }
    let before = log.weights(k - 1);
    let row = log.row(k) as usize;
    let examples = &run.data.examples;
    let label = examples.labels[row - 1];
    let counted = log.counted(k);
    let scores = log.scores(k);
    let axes = axes(run, view, &after);
    let place = view.place(&run.data, axes.as_ref(), row - 1);
    Ok(json!({
        "k": k,
        "pass": log.pass(k),
        "row": row,
        "label": label,
        "class": examples.classes.name(label),
        "place": place,
        "correct": log.correct(k),
        "mistake": counted.mistakes > 0,
        "scores": scores,
        "planes": planes(run, &before, row - 1, scores),
        "before": shown(&before),
        "after": shown(&after),
        "lines_before": lines(&before),
        "lines": lines(&after),
        "mistakes": mistakes,
        "updates": updates,
    }))
}

/// The end of a pass.
fn pass_step(run: &Run, view: View, k: usize) -> Result<Value> {
    let passes = run.passes();
    let Some(at) = k.checked_sub(1) else {
        return Ok(json!({"k": 0, "pass": 0, "mistakes": 0, "updates": 0}));
    };
    let (number, decision) = passes
        .models
        .get(at)
        .ok_or_else(|| Error::data(format!("there is no pass {k} yet")))?;
    let pass = passes.all.get(number - 1);
    let weights = match decision {
        Decision::Linear(weights) => Some(weights),
        _ => None,
    };
    let vector = weights.map(|w| {
        let planes = 0..w.discriminators();
        let all = planes.flat_map(|d| std::iter::once(w.bias(d)).chain(w.column(d)));
        all.take(WEIGHTS_SHOWN).collect::<Vec<f64>>()
    });
    let lines = weights.filter(|_| run.embedding.is_none()).map(|w| {
        let planes = 0..w.discriminators();
        planes
            .map(|d| view.line(&run.data, w, d))
            .collect::<Vec<_>>()
    });
    Ok(json!({
        "k": k,
        "pass": number,
        "mistakes": pass.map_or(0, |p| p.mistakes),
        "updates": pass.map_or(0, |p| p.updates),
        "loss": pass.map(|p| p.mean(p.squared_error)),
        "after": vector,
        "lines": lines,
    }))
}

fn lines(run: &Run, view: View, vector: &[f64]) -> Vec<[f64; 3]> {
    let weights = linear(run, vector);
    (0..weights.discriminators())
        .map(|d| view.line(&run.data, &weights, d))
        .collect()
}

fn axes(run: &Run, view: View, vector: &[f64]) -> Option<Axes> {
    match view {
        View::Projection if run.options.learner.kernel().is_none() && run.embedding.is_none() => {
            Axes::across(&run.data, &linear(run, vector))
        }
        _ => None,
    }
}

/// How the scores of a row come about, term by term.
fn planes(run: &Run, vector: &[f64], i: usize, scores: &[f64]) -> Vec<Value> {
    let each = vector.len() / scores.len().max(1);
    let shown = scores.len().min(PLANES);
    let own = |d: usize| &vector[d * each..(d + 1) * each];
    if let Some(kernel) = run.options.learner.kernel() {
        let examples = &run.data.examples;
        let lift = match run.options.bias() {
            Bias::Lifted => 1.0,
            Bias::Unlifted(Some(rho)) => rho * rho,
            _ => 0.0,
        };
        let terms = |d: usize| {
            let used = own(d).iter().enumerate().filter(|(_, a)| **a != 0.0);
            let all = used.map(|(j, a)| {
                let value = kernel_value(&kernel, examples, j, examples.row(i)) + lift;
                (format!("K(row {}, x)", j + 1), *a, value)
            });
            written(all.collect())
        };
        return (0..shown).map(terms).collect();
    }
    let lift = usize::from(run.options.bias() != Bias::None);
    let mut row = Vec::new();
    match &run.embedding {
        Some(embedding) => embedding.apply_to_row(run.data.examples.row(i), &mut row),
        None => row = run.data.examples.row(i).to_dense(each - lift),
    }
    let terms = |d: usize| {
        let own = own(d);
        let mut all: Vec<(String, f64, f64)> = Vec::new();
        if lift == 1 {
            all.push(("bias".into(), own[0], 1.0));
        }
        let few = row.len() <= TERMS;
        let features = own[lift..].iter().zip(&row).enumerate();
        let told = features.filter(|(_, (w, x))| few || (**w != 0.0 && **x != 0.0));
        all.extend(told.map(|(j, (w, x))| (feature_name(run, j), *w, *x)));
        written(all)
    };
    (0..shown).map(terms).collect()
}

/// The terms to be written out, the largest where they are many, and the sum of the rest.
fn written(mut terms: Vec<(String, f64, f64)>) -> Value {
    const MOST: usize = TERMS + 1;
    let mut rest = (0, 0.0);
    if terms.len() > MOST {
        terms.sort_by(|a, b| (b.1 * b.2).abs().total_cmp(&(a.1 * a.2).abs()));
        for (_, w, x) in terms.drain(MOST..) {
            rest = (rest.0 + 1, rest.1 + w * x);
        }
    }
    json!({"terms": terms, "others": rest.0, "others_sum": rest.1})
}
