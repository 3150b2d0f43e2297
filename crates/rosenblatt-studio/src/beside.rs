//! What stands beside a visit: margins, accuracy, the read-out, fields, places, curves.

use rosenblatt::data::Matrix;
use rosenblatt::training::{Judgement, Rule};
use rosenblatt::{Error, Result};
use serde_json::{Value, json};

use crate::data::Data;
use crate::hypothesis::Hypothesis;
use crate::run::Run;
use crate::view::{Axes, Rectangle, View, grid, grid_size};

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
pub fn places(run: Option<&Run>, data: &Data, view: View, k: usize) -> Result<Value> {
    let mut axes = None;
    if view == View::Projection
        && let Some(run) = run.filter(|run| run.len() > 0)
    {
        let believed = Hypothesis::after(run, k.min(run.len())).ok();
        let weights = believed.as_ref().and_then(Hypothesis::weights);
        axes = weights.and_then(|w| Axes::across(data, w));
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
    let second = !run.is_traced() || run.rule() != Rule::new(&run.options, 1.0);
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
