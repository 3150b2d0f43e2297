//! The places where a model learns.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};

use crate::answer::{Shape, push_text};
use crate::learn::{Learned, Task};
use crate::learner::Learner;
use crate::model::Served;
use crate::problem::{Answer, Problem};
use crate::request::{key_of, made_up, read_body, text_of, work};
use crate::routes::{Shared, json_response, named};
use crate::rows::{self, Form};

/// Who learns for a model.
///
/// # Errors
/// If nobody does.
pub fn learner(served: &Served) -> Answer<&Learner> {
    served.learner.as_ref().ok_or_else(|| {
        Problem::new(
            StatusCode::CONFLICT,
            "this server does not learn; start it with --learn and a --log folder",
        )
    })
}

/// Learns labelled rows.
pub async fn learn(State(app): Shared, request: Request) -> Answer {
    let served = named(&app, request.uri().path())?;
    let learner = learner(&served)?;
    let (parts, body) = request.into_parts();
    let form = Form::of(text_of(&parts.headers, header::CONTENT_TYPE))?;
    let key = key_of(&parts.headers)?;
    let body = read_body(&app, &parts.headers, body).await?;
    let most = app.settings.limits.rows;
    let rows = work(body.len(), || rows::of_body(&served, form, body, most))?;
    rows.require_moderate()?;
    let labels = rows.labels.ok_or_else(|| {
        Problem::unfit(format!(
            "there are no labels to learn from: the column {} is missing or empty",
            served.label()
        ))
    })?;
    let learned = learner.ask(Task::Learn(rows.matrix, labels), key).await?;
    Ok(learned_response(&served, learner, &learned))
}

/// Learns rows that were predicted, now that their labels are known.
pub async fn label(State(app): Shared, request: Request) -> Answer {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Late {
        id: String,
        label: Value,
    }
    let served = named(&app, request.uri().path())?;
    let learner = learner(&served)?;
    let (parts, body) = request.into_parts();
    let key = key_of(&parts.headers)?;
    let body = read_body(&app, &parts.headers, body).await?;
    let late: Late = serde_json::from_slice(&body).map_err(|e| crate::json::malformed(&e))?;
    let labels = match late.label {
        Value::Array(all) => all.into_iter().map(label_text).collect(),
        one => label_text(one).map(|one| vec![one]),
    };
    let task = Task::Label(made_up("id", &late.id)?, labels?);
    let learned = learner.ask(task, key).await?;
    Ok(learned_response(&served, learner, &learned))
}

/// The label that a value is.
fn label_text(value: Value) -> Answer<String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        other => Err(Problem::malformed(format!(
            "label: expected a text or a number, found {other}"
        ))),
    }
}

fn learned_response(served: &Served, learner: &Learner, learned: &Learned) -> Response {
    let mut out = String::from("{\"model_name\":");
    push_text(&mut out, &served.name);
    let n = learned.rows.len() as u64;
    let mistakes = learned.rows.iter().filter(|(p, l)| p != l).count();
    let facts = format!(
        ",\"sequence\":{},\"learned\":{n},\"mistakes\":{mistakes},\"sync\":\"{}\",\"durable\":{},\"repeated\":{}",
        learned.sequence + n,
        learner.sync,
        learned.durable,
        learned.repeated
    );
    out.push_str(&facts);
    out.push_str(",\"predicted\":[");
    let published = served.published.load();
    for (i, (predicted, _)) in learned.rows.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        push_text(&mut out, published.model.classes.name(*predicted));
    }
    out.push_str("],\"mistake\":[");
    for (i, (predicted, label)) in learned.rows.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        out.push_str(if predicted == label { "false" } else { "true" });
    }
    out.push_str("]}");
    Shape::Json.response(out)
}

/// Saves the model as it is.
pub async fn snapshot(State(app): Shared, request: Request) -> Answer {
    let served = named(&app, request.uri().path())?;
    let saved = learner(&served)?.ask(Task::Snapshot, None).await?;
    Ok(json_response(&json!({
        "model_name": served.name,
        "sequence": saved.sequence,
        "file": saved.snapshot,
    })))
}
