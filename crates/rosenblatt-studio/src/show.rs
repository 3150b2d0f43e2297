//! What the page shows of a run: visits with their arithmetic, margins, fields, curves.

use rosenblatt::data::Matrix;
use rosenblatt::embedding::Embedding;
use rosenblatt::model::Decision;
use rosenblatt::options::Bias;
use rosenblatt::scheme::Scheme;
use rosenblatt::training::Judgement;
use rosenblatt::{Error, Result};
use serde_json::{Value, json};

use crate::hypothesis::{Hypothesis, kernel_value, linear, plane_names};
use crate::run::{self, Run};
use crate::view::{Axes, Rectangle, View, grid, grid_size};

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
    let passes = run.passes();
    let progress = fitted.map(|f| &f.model.progress);
    json!({
        "traced": run.is_traced(),
        "length": run.len(),
        "passes": passes.all.len(),
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

/// Margins of the rows drawn, accuracy, and the read-out, after visit `k`.
pub fn detail(run: &Run, view: View, k: usize) -> Result<Value> {
    let data = &run.data;
    let drawn = data.drawn.iter().map(|&i| i as usize);
    let matrix = data.examples.matrix.select(drawn);
    let believed = Hypothesis::after(run, k)?;
    let scores = believed.scores(&matrix)?;
    let width = run.scheme.discriminators();
    let rule = run.rule();
    let mut judgement = Judgement::default();
    let (mut right, mut margins) = (0, Vec::with_capacity(data.drawn.len()));
    for (&i, scores) in data.drawn.iter().zip(scores.chunks_exact(width)) {
        let label = data.examples.labels[i as usize];
        rule.judge(run.scheme, label, scores, &mut judgement);
        margins.push(judgement.margin);
        right += u32::from(believed.decide(run, scores) == label);
    }
    let read_out = match run.is_traced() {
        true => Hypothesis::read_out(run, k),
        false => None,
    };
    let read_out = read_out.map(|(model, pass)| {
        let accuracy = share_right(run, &model, &matrix);
        let lines = model.weights().map(|w| {
            let planes = 0..w.discriminators();
            planes.map(|d| view.line(data, w, d)).collect::<Vec<_>>()
        });
        json!({"pass": pass, "accuracy": accuracy.ok(), "lines": lines})
    });
    Ok(json!({
        "k": k,
        "rows": data.drawn.len(),
        "accuracy": f64::from(right) / data.drawn.len() as f64,
        "margins": histogram(&margins),
        "read_out": read_out,
    }))
}

fn share_right(run: &Run, model: &Hypothesis<'_>, matrix: &Matrix) -> Result<f64> {
    let scores = model.scores(matrix)?;
    let rows = run.data.drawn.iter();
    let right = rows
        .zip(scores.chunks_exact(run.scheme.discriminators()))
        .filter(|(i, scores)| model.decide(run, scores) == run.data.examples.labels[**i as usize]);
    Ok(right.count() as f64 / run.data.drawn.len() as f64)
}

/// Margins counted in equal bins, of which one begins at 0; those beyond the ends are in the last.
fn histogram(margins: &[f64]) -> Value {
    const BINS: usize = 30;
    let mut sizes: Vec<f64> = margins.iter().map(|m| m.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    // A few rows far out do not set the scale.
    let at = |share: f64| sizes[((sizes.len() - 1) as f64 * share) as usize];
    let reach = match at(0.98) {
        0.0 => at(1.0),
        reach => reach,
    };
    let reach = if reach > 0.0 { reach } else { 1.0 };
    let low = margins.iter().any(|&m| m < 0.0);
    let (from, bins_below) = if low { (-reach, BINS / 2) } else { (0.0, 0) };
    let width = reach / (if low { BINS / 2 } else { BINS }) as f64;
    let mut counts = vec![0u32; BINS];
    for m in margins {
        let bin = (m / width).floor() + bins_below as f64;
        counts[bin.clamp(0.0, (BINS - 1) as f64) as usize] += 1;
    }
    let smallest = margins.iter().copied().fold(f64::INFINITY, f64::min);
    json!({"from": from, "width": width, "counts": counts, "smallest": smallest,
        "wrong": margins.iter().filter(|&&m| m < 0.0).count(),
        "on_boundary": margins.iter().filter(|&&m| m == 0.0).count()})
}

/// Classes and scores over the picture, from its lower left, after visit `k`.
pub fn field(
    run: &Run,
    view: View,
    k: usize,
    over: Rectangle,
    size: usize,
    read_out: bool,
) -> Result<Value> {
    let View::Columns(x, y) = view else {
        return Err(
            Error::options("the projection has no field: it shows no plane of features")
                .remedy("choose two columns"),
        );
    };
    let n = grid_size(&run.data, size);
    let matrix = grid(&run.data, (x, y), over, n);
    let believed = match read_out.then(|| Hypothesis::read_out(run, k)).flatten() {
        Some((model, _)) => model,
        None => Hypothesis::after(run, k)?,
    };
    let scores = believed.scores(&matrix)?;
    let width = run.scheme.discriminators();
    let each = || scores.chunks_exact(width);
    let classes: Vec<u32> = each().map(|s| believed.decide(run, s)).collect();
    // By how much the winner leads.
    let lead: Vec<f64> = each()
        .map(|s| match s {
            [one] => one.abs(),
            _ => {
                let mut sorted = s.to_vec();
                sorted.sort_by(f64::total_cmp);
                sorted[width - 1] - sorted[width - 2]
            }
        })
        .collect();
    let most = lead.iter().copied().fold(0.0, f64::max);
    let lead: Vec<u8> = lead
        .iter()
        .map(|l| {
            if most > 0.0 {
                (l / most * 100.0) as u8
            } else {
                0
            }
        })
        .collect();
    Ok(json!({"k": k, "n": n, "x": over.x, "y": over.y, "classes": classes, "lead": lead}))
}

/// Where the rows drawn lie in the picture after visit `k`, and what its axes are.
pub fn places(run: Option<&Run>, data: &crate::data::Data, view: View, k: usize) -> Result<Value> {
    let mut axes = None;
    if view == View::Projection
        && let Some(run) = run.filter(|run| run.len() > 0)
    {
        let believed = Hypothesis::after(run, k)?;
        axes = believed.weights().and_then(|w| Axes::across(data, w));
    }
    let places = data.drawn.iter().flat_map(|&i| {
        let (x, y) = view.place(data, axes.as_ref(), i as usize);
        [x, y]
    });
    let places: Vec<f64> = places.collect();
    // Half as many digits will do for a picture, where the range allows it.
    let few = |x: &f64| *x == 0.0 || (1e-30..1e30).contains(&x.abs());
    let places = match places.iter().all(few) {
        true => json!(places.iter().map(|&x| x as f32).collect::<Vec<f32>>()),
        false => json!(places),
    };
    let names = match view {
        View::Columns(x, y) => {
            let name = |j: usize| match j < data.examples.features() {
                true => data.examples.names.get(j).into_owned(),
                false => String::new(),
            };
            [name(x), name(y)]
        }
        View::Projection if axes.is_none() => [
            data.examples.names.get(0).into_owned(),
            data.examples.names.get(1).into_owned(),
        ],
        View::Projection => [
            "signed distance from the boundary".into(),
            "leading direction across the weights".into(),
        ],
    };
    Ok(json!({
        "places": places,
        "axes": names,
        "projected": axes.is_some(),
    }))
}

/// Mistakes, updates and losses over a run.
pub fn curve(run: &Run) -> Value {
    const POINTS: usize = 300;
    let log = run.log();
    let passes = run.passes();
    let visits = log.visits();
    let stride = visits.div_ceil(POINTS).max(1);
    let counts: Vec<(usize, u64, u64)> = (0..=visits)
        .step_by(stride)
        .chain((!visits.is_multiple_of(stride)).then_some(visits))
        .map(|k| {
            let (mistakes, updates) = log.totals(k);
            (k, mistakes, updates)
        })
        .collect();
    let thin = passes.all.len().div_ceil(POINTS).max(1);
    let second =
        !run.is_traced() || run.rule() != rosenblatt::training::Rule::new(&run.options, 1.0);
    let losses: Vec<(usize, f64, u64)> = (1..)
        .zip(&passes.all)
        .step_by(thin)
        .map(|(number, pass)| {
            let sum = if second {
                pass.squared_error
            } else {
                pass.hinge_loss
            };
            (number, pass.mean(sum), pass.mistakes)
        })
        .collect();
    json!({"counts": counts, "losses": losses,
        "loss": if second { "loss" } else { "hinge loss" }})
}

/// The visit to go to.
pub fn seek(run: &Run, from: usize, to: &str) -> usize {
    let last = run.len();
    if !run.is_traced() {
        return match to {
            "begin" => 0,
            "end" => last,
            "update-back" | "pass-back" => from.saturating_sub(1),
            _ => (from + 1).min(last),
        };
    }
    let log = run.log();
    match to {
        "update" => log.next_update(from).unwrap_or(last),
        "update-back" => log.update_before(from).unwrap_or(0),
        "pass" => log.pass_end(from),
        "pass-back" => log.pass_begin(from),
        "begin" => 0,
        _ => last,
    }
}
