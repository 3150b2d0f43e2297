//! The places that requests can go to.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::answer::{Predicted, Shape, Wanted};
use crate::app::App;
use crate::learn::Task;
use crate::learner::Learner;
use crate::learning::{label, learn, learner, snapshot};
use crate::model::{Kind, Served};
use crate::problem::{Answer, Problem};
use crate::request::{flag, made_up, parameter, read_body, text_of, work};
use crate::rows::{self, Form};
use crate::{openapi, page, tensor};

/// What handlers are given.
pub type Shared = State<Arc<App>>;

/// The header that says how long the JSON before binary tensors is.
const JSON_LENGTH: &str = "inference-header-content-length";

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

/// An answer in JSON.
pub fn json_response(value: &Value) -> Response {
    Shape::Json.response(value.to_string())
}

/// The model that a path names.
///
/// # Errors
/// If there is none of that name, or of that version.
pub fn named(app: &App, path: &str) -> Answer<Arc<Served>> {
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
