//! `inspect --geometry`: where the rows of a file lie beside the plane of a model.

use std::path::Path;

use rosenblatt::Error;
use rosenblatt::geometry::{Hyperplane, MarginKind, Side, geometric_margin};
use rosenblatt::model::{Decision, Model};
use rosenblatt::read::{LabelFound, Preparation, Scale};
use rosenblatt::scheme::Scheme;
use serde_json::{Value, json};

use super::batches;
use super::context::{Context, in_data};
use super::trace::{exact, vector};
use crate::args::ModelDataArgs;
use crate::output::{self, Done, Outcome};
use crate::render::numbers::short;
use crate::render::table::{Align, clipped, columns};

/// Coordinates that are printed at most.
const MOST: usize = 1_000_000;

/// A row beside the plane.
struct Placed {
    label: Option<String>,
    score: f64,
    /// y·score, where the label is one of the model's.
    functional: Option<f64>,
    side: &'static str,
    distance: f64,
    foot: Vec<f64>,
}

pub fn run(
    context: Context,
    model: &Model,
    preparation: Option<&Preparation>,
    data: &Path,
    json: bool,
) -> Outcome {
    let weights = match (&model.decision, model.scheme, &model.embedding) {
        (Decision::Linear(weights), Scheme::Binary, None) => weights,
        _ => {
            return Err(Error::options(
                "--geometry asks about the plane of a linear model of two classes",
            )
            .remedy("train one without a kernel, with --positive CLASS if there are more")
            .into());
        }
    };
    let (normal, bias) = (weights.column(0), weights.bias(0));
    let plane = Hyperplane::new(normal.clone(), -bias)?;
    let batches = batches::open(context, model, preparation, data, &ModelDataArgs::default())?;
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch?;
        if (rows.len() + batch.matrix.rows()) * normal.len().max(1) > MOST {
            return Err(
                Error::options("--geometry prints every row, and these are too many")
                    .remedy("give a file with fewer rows")
                    .into(),
            );
        }
        let number = |i| batch.first_row + i;
        let scores = model.numbered_scores(&batch.matrix, number, context.threads);
        for (i, score) in scores
            .map_err(|e| in_data(e, data))?
            .into_iter()
            .enumerate()
        {
            let x = batch.matrix.row(i).to_dense(normal.len());
            let found = batch.labels.as_ref().map(|labels| &labels[i]);
            let (label, functional) = match found {
                Some(LabelFound::Class(class)) => {
                    let y = if *class == 1 { 1.0 } else { -1.0 };
                    let name = model.classes.name(*class).to_owned();
                    (Some(name), Some(y * score))
                }
                Some(LabelFound::Unknown(text)) => (Some(text.clone()), None),
                _ => (None, None),
            };
            rows.push(Placed {
                label,
                score,
                functional,
                side: match plane.side(&x) {
                    Side::Positive => "+",
                    Side::On => "on",
                    Side::Negative => "-",
                },
                distance: plane.distance(&x),
                foot: plane.foot(&x),
            });
        }
    }
    let least = rows
        .iter()
        .filter_map(|row| row.functional)
        .reduce(f64::min);
    let margins = least.map(|least| {
        let of = |kind| geometric_margin(least, &normal, bias, kind).unwrap_or(0.0);
        (least, of(MarginKind::Plain), of(MarginKind::Lifted))
    });
    if json {
        let rows = rows.iter().enumerate();
        let rows: Vec<Value> = rows
            .map(|(i, row)| {
                json!({
                    "row": i + 1,
                    "label": row.label,
                    "score": row.score,
                    "functional_margin": row.functional,
                    "side": row.side,
                    "distance": row.distance,
                    "foot": row.foot,
                })
            })
            .collect();
        output::print_json(&json!({
            "normal": normal,
            "threshold": -bias,
            "positive": model.classes.name(1),
            "rows": rows,
            "functional_margin": margins.map(|m| m.0),
            "geometric_margin": margins.map(|m| m.1),
            "lifted_geometric_margin": margins.map(|m| m.2),
        }))?;
        return Ok(Done::Finished);
    }
    let mut text = format!(
        "plane w·x = θ: w = {}, θ = {}; + is the side of {}\n",
        vector(&normal),
        exact(-bias),
        clipped(model.classes.name(1), 30),
    );
    if preparation.is_some_and(|p| p.scale() != Scale::None) {
        text.push_str("in scaled features: --scale none trains on the numbers as they are\n");
    }
    let titles = [
        "row",
        "label",
        "w·x - θ",
        "margin",
        "side",
        "distance",
        "foot",
    ];
    let mut table = vec![titles.map(String::from).to_vec()];
    for (i, row) in rows.iter().enumerate() {
        table.push(vec![
            (i + 1).to_string(),
            row.label.as_ref().map_or(String::new(), |l| clipped(l, 20)),
            short(row.score),
            row.functional.map_or(String::new(), short),
            row.side.to_owned(),
            short(row.distance),
            vector(&row.foot),
        ]);
    }
    use Align::{Left, Right};
    text.push_str(&columns(
        &table,
        &[Right, Right, Right, Right, Left, Right, Left],
        0,
    ));
    if let Some((least, plain, lifted)) = margins {
        text.push_str(&format!(
            "smallest functional margin {}; geometric {} plain, {} lifted\n",
            short(least),
            short(plain),
            short(lifted)
        ));
    }
    output::print(&text)?;
    Ok(Done::Finished)
}
