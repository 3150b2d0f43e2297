//! The places that requests can go to.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::answer::{Predicted, Shape, Wanted, push_text};
use crate::app::App;
use crate::learn::{Learned, Task};
use crate::learner::Learner;
use crate::model::{Kind, Served};
use crate::problem::{Answer, Problem};
use crate::rows::{self, Form};
use crate::{openapi, page, tensor};

type Shared = State<Arc<App>>;

/// The header that says how long the JSON before binary tensors is.
const JSON_LENGTH: &str = "inference-header-content-length";

/// Bodies beyond this are worked on where other requests need not wait.
const LARGE: usize = 32 << 10;

/// All routes.
pub fn routes(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for version in ["", "/versions/{version}"] {
        let at = |place: &str| format!("/v2/models/{{name}}{version}{place}");
        router = router
            .route(&at(""), get(model_metadata))
            .route(&at("/ready"), get(model_ready))
            .route(&at("/infer"), post(infer));
    }
    router
        .route("/v2/health/live", get(async || StatusCode::OK))
        .route("/v2/health/ready", get(ready))
        .route("/v2", get(server_metadata))
        .route("/v2/models/{name}/predict", post(predict))
        .route("/v2/models/{name}/learn", post(learn))
        .route("/v2/models/{name}/label", post(label))
        .route("/v2/models/{name}/snapshot", post(snapshot))
        .route("/v2/models/{name}/reload", post(reload))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(description))
        .route("/", get(front))
        .fallback(async || Problem::unknown("there is no such place; GET /openapi.json lists them"))
        .method_not_allowed_fallback(wrong_method)
        .with_state(app)
}

/// The route of a path, for metrics: without names.
pub fn route_of(path: &str) -> &'static str {
    let last = path.rsplit('/').next().unwrap_or_default();
    match (path, last) {
        ("/", _) => "/",
        ("/metrics", _) => "/metrics",
        ("/openapi.json", _) => "/openapi.json",
        ("/v2", _) => "/v2",
        ("/v2/health/live", _) => "/v2/health/live",
        ("/v2/health/ready", _) => "/v2/health/ready",
        (_, "infer") => "/v2/models/{name}/infer",
        (_, "predict") => "/v2/models/{name}/predict",
        (_, "learn") => "/v2/models/{name}/learn",
        (_, "label") => "/v2/models/{name}/label",
        (_, "snapshot") => "/v2/models/{name}/snapshot",
        (_, "reload") => "/v2/models/{name}/reload",
        (_, "ready") => "/v2/models/{name}/ready",
        _ if path.starts_with("/v2/models/") => "/v2/models/{name}",
        _ => "other",
    }
}

async fn wrong_method(request: Request) -> Problem {
    let posts = ["infer", "predict", "learn", "label", "snapshot", "reload"];
    let last = request.uri().path().rsplit('/').next().unwrap_or_default();
    Problem::method(match posts.contains(&last) {
        true => "POST",
        false => "GET, HEAD",
    })
}

fn json_response(value: &Value) -> Response {
    Shape::Json.response(value.to_string())
}

/// The model that a path names.
fn named(app: &App, path: &str) -> Answer<Arc<Served>> {
    let mut parts = path.split('/').skip(3);
    let served = app.model(parts.next().unwrap_or_default())?;
    if let (Some("versions"), Some(version)) = (parts.next(), parts.next())
        && version != served.published.load().sequence.to_string()
    {
        return Err(Problem::unknown(format!(
            "there is no version {version:?} of the model {:?}",
            served.name
        )));
    }
    Ok(served)
}

/// A parameter in the address.
fn parameter<'a>(query: Option<&'a str>, name: &str) -> Option<&'a str> {
    let pairs = query?.split('&');
    pairs
        .filter_map(|pair| pair.split_once('=').or(Some((pair, "true"))))
        .find_map(|(key, value)| (key == name).then_some(value))
}

fn flag(query: Option<&str>, name: &str) -> Answer<bool> {
    match parameter(query, name) {
        None | Some("false" | "0") => Ok(false),
        Some("true" | "1") => Ok(true),
        Some(other) => Err(Problem::malformed(format!(
            "{name}={other}: expected true or false"
        ))),
    }
}

/// A key or an id that a client made up.
fn made_up(what: &str, text: &str) -> Answer<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:~\"".contains(c);
    match !text.is_empty() && text.len() <= 128 && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err(Problem::malformed(format!(
            "{what}: expected at most 128 letters, digits or -_.:~"
        ))),
    }
}

fn key_of(headers: &HeaderMap) -> Answer<Option<String>> {
    let key = headers.get("idempotency-key");
    key.map(|key| made_up("Idempotency-Key", key.to_str().unwrap_or_default()))
        .transpose()
}

fn text_of<'a>(headers: &'a HeaderMap, name: impl header::AsHeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// Reads a body, within the limits.
async fn read_body(app: &App, headers: &HeaderMap, body: Body) -> Answer<Vec<u8>> {
    let limits = app.settings.limits;
    let too_large = || {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a body has at most {} bytes; send it in parts", limits.body),
        )
    };
    if text_of(headers, header::CONTENT_ENCODING).is_some_and(|e| e != "identity") {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "bodies are taken as they are, not compressed",
        ));
    }
    let length = text_of(headers, header::CONTENT_LENGTH).and_then(|l| l.parse::<u64>().ok());
    if length.is_some_and(|length| length > limits.body as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(limits.time, axum::body::to_bytes(body, limits.body)).await {
        Ok(Ok(bytes)) => Ok(bytes.into()),
        Ok(Err(error)) => {
            // Whether the limit or the connection broke it off is told by its cause alone.
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            match cause.is_some_and(|cause| cause.contains("length limit")) {
                true => Err(too_large()),
                false => Err(Problem::malformed(format!("the body ended early: {error}"))),
            }
        }
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!(
                "the body took more than {} s to arrive",
                limits.time.as_secs()
            ),
        )),
    }
}

/// Works on a body; on a large one without others waiting for the thread.
fn work<T>(size: usize, work: impl FnOnce() -> T) -> T {
    match size > LARGE {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

async fn ready(State(app): Shared) -> Answer<StatusCode> {
    match app.is_ready() {
        true => Ok(StatusCode::OK),
        false => Err(Problem::unavailable(not_ready(&app))),
    }
}

fn not_ready(app: &App) -> String {
    if app.ending.load(Ordering::Relaxed) {
        return "the server is ending".into();
    }
    let models = app.models.load();
    let failed = models.values().find(|m| !m.is_ready());
    failed.map_or_else(String::new, |m| {
        let why = m
            .learner
            .as_ref()
            .and_then(Learner::failure)
            .unwrap_or_default();
        format!("the model {} learns no more: {why}", m.name)
    })
}

async fn server_metadata(State(app): Shared) -> Response {
    let mut extensions = vec!["binary_tensor_data", "predict", "model_reload"];
    if app.settings.learn.is_some() {
        extensions.push("learn");
    }
    json_response(&json!({
        "name": "rosenblatt",
        "version": env!("CARGO_PKG_VERSION"),
        "extensions": extensions,
        "models": app.models.load().keys().collect::<Vec<_>>(),
    }))
}

async fn model_ready(State(app): Shared, request: Request) -> Answer<StatusCode> {
    let served = named(&app, request.uri().path())?;
    match served.is_ready() {
        true => Ok(StatusCode::OK),
        false => Err(Problem::unavailable(not_ready(&app))),
    }
}

async fn model_metadata(State(app): Shared, request: Request) -> Answer {
    let served = named(&app, request.uri().path())?;
    let published = served.published.load();
    let model = &published.model;
    let number = if served.single { "FP32" } else { "FP64" };
    let inputs: Vec<Value> = match served.columns.is_empty() {
        true => {
            vec![json!({"name": tensor::INPUT, "datatype": number, "shape": [-1, served.features]})]
        }
        false => (served.columns.iter().filter(|c| c.is_feature))
            .map(|c| {
                let datatype = if c.is_number { number } else { "BYTES" };
                json!({"name": c.name, "datatype": datatype, "shape": [-1, 1]})
            })
            .collect(),
    };
    let mut outputs = vec![
        json!({"name": "label", "datatype": "BYTES", "shape": [-1]}),
        json!({"name": "scores", "datatype": "FP64", "shape": [-1, model.scheme.discriminators()]}),
    ];
    if model.has_probabilities() {
        outputs.push(
            json!({"name": "probabilities", "datatype": "FP64", "shape": [-1, model.classes.len()]}),
        );
    }
    let first = match served.kind {
        Kind::Sparse { first } => Some(first),
        _ => None,
    };
    let columns = served.columns.iter().filter(|c| c.is_feature);
    let columns: Vec<&str> = columns.map(|c| c.name.as_str()).collect();
    Ok(json_response(&json!({
        "name": served.name,
        "versions": [published.sequence.to_string()],
        "platform": "rosenblatt",
        "inputs": inputs,
        "outputs": outputs,
        "parameters": {
            "learner": model.options.learner.name(),
            "classes": model.classes.names(),
            "learns": served.learner.is_some(),
            "label": served.label(),
            "columns": columns,
            "first_index": first,
        },
    })))
}

async fn predict(State(app): Shared, request: Request) -> Answer {
    let served = named(&app, request.uri().path())?;
    let (parts, body) = request.into_parts();
    let query = parts.uri.query();
    let form = Form::of(text_of(&parts.headers, header::CONTENT_TYPE))?;
    let shape = Shape::of(text_of(&parts.headers, header::ACCEPT))?;
    let wanted = Wanted {
        scores: flag(query, "scores")?,
        probabilities: flag(query, "probabilities")?,
    };
    let id = parameter(query, "id")
        .map(|id| made_up("id", id))
        .transpose()?;
    let body = read_body(&app, &parts.headers, body).await?;
    let most = app.settings.limits.rows;
    let (rows, text) = work(body.len(), || {
        let rows = rows::of_body(&served, form, body, most)?;
        let published = served.published.load();
        let predicted = Predicted::new(&published, &rows.matrix, wanted)?;
        Ok::<_, Problem>((rows, predicted.write(&served.name, shape, wanted)))
    })?;
    served.predicted.inc_by(rows.matrix.rows() as u64);
    if let Some(id) = id {
        let task = Task::Keep(id, rows.matrix);
        learner(&served)?.ask(task, None).await?;
    }
    Ok(shape.response(text))
}

async fn infer(State(app): Shared, request: Request) -> Answer {
    let served = named(&app, request.uri().path())?;
    let (parts, body) = request.into_parts();
    let length = match text_of(&parts.headers, JSON_LENGTH) {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| {
            Problem::malformed("Inference-Header-Content-Length: expected a number of bytes")
        })?),
    };
    let body = read_body(&app, &parts.headers, body).await?;
    let most = app.settings.limits.rows;
    let (json, binary) = work(body.len(), || {
        let (asked, rows) = tensor::read(&served, &body, length, most)?;
        let published = served.published.load();
        let wanted = asked.wanted(published.model.has_probabilities());
        let predicted = Predicted::new(&published, &rows.matrix, wanted)?;
        served.predicted.inc_by(rows.matrix.rows() as u64);
        Ok::<_, Problem>(asked.answer(&served.name, &predicted, wanted))
    })?;
    if binary.is_empty() {
        return Ok(Shape::Json.response(json));
    }
    let length = HeaderValue::from(json.len());
    let mut bytes = json.into_bytes();
    bytes.extend(binary);
    let mut response = bytes.into_response();
    response.headers_mut().insert(JSON_LENGTH, length);
    Ok(response)
}

fn learner(served: &Served) -> Answer<&Learner> {
    served.learner.as_ref().ok_or_else(|| {
        Problem::new(
            StatusCode::CONFLICT,
            "this server does not learn; start it with --learn and a --log folder",
        )
    })
}

async fn learn(State(app): Shared, request: Request) -> Answer {
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

async fn label(State(app): Shared, request: Request) -> Answer {
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

async fn snapshot(State(app): Shared, request: Request) -> Answer {
    let served = named(&app, request.uri().path())?;
    let saved = learner(&served)?.ask(Task::Snapshot, None).await?;
    Ok(json_response(&json!({
        "model_name": served.name,
        "sequence": saved.sequence,
        "file": saved.snapshot,
    })))
}

async fn reload(State(app): Shared, request: Request) -> Answer {
    let served = named(&app, request.uri().path())?;
    let name = served.name.clone();
    let reloaded = tokio::task::block_in_place(|| app.reload(&name));
    if let Err(error) = reloaded {
        let status = match served.learner.is_some() {
            true => StatusCode::CONFLICT,
            false => StatusCode::UNPROCESSABLE_ENTITY,
        };
        return Err(Problem::new(status, error.wording().as_command_line()));
    }
    let changed = app.model(&name)?.digest != served.digest;
    Ok(json_response(
        &json!({"model_name": name, "changed": changed}),
    ))
}

async fn metrics(State(app): Shared) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let kind = HeaderValue::from_static(kind);
    ([(header::CONTENT_TYPE, kind)], app.metrics.text()).into_response()
}

async fn description(State(app): Shared) -> Response {
    json_response(&openapi::description(&app))
}

async fn front(State(app): Shared) -> Response {
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
    let headers = [(header::CONTENT_SECURITY_POLICY, policy)];
    (headers, Html(page::page(&app))).into_response()
}
