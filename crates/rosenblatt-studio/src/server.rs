//! The server: loopback only, short answers, nothing pushed.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Query as FromQuery, State};
use axum::http::{Method, Request, Response, StatusCode, Uri, header};
use rosenblatt::{Error, Result};
use serde_json::json;

use crate::api::{Answer, Query, Refusal, Studio};
use crate::data;
use crate::guard::{self, Guard};
use crate::pages::Pages;

/// Bytes that a page may send.
pub const MOST_BYTES: u64 = 256 << 20;

/// How long a request may take to arrive.
const MOST_TIME: Duration = Duration::from_secs(120);

const INDEX: &[u8] = include_bytes!("../assets/index.html");
const SCRIPT: &[u8] = include_bytes!("../assets/app.js");
const STYLE: &[u8] = include_bytes!("../assets/app.css");

/// What a replay is made of: the script and the style of the page.
pub fn replay_assets() -> (&'static str, &'static str) {
    let text = |bytes: &'static [u8]| std::str::from_utf8(bytes).unwrap_or_default();
    (text(SCRIPT), text(STYLE))
}

/// What to serve.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The data to begin with.
    pub data: Option<PathBuf>,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Whether to begin with the lessons.
    pub lessons: bool,
    /// How many threads to use.
    pub threads: usize,
}

struct Server {
    guard: Guard,
    studio: Studio,
}

/// Serves until `stop` becomes true; tells `ready` the address of the page once it can be opened.
pub fn serve(
    settings: &Settings,
    stop: &'static AtomicBool,
    ready: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    let file = settings.data.as_deref().map(data::opened).transpose()?;
    if let Some(file) = &file {
        // What is wrong with it is said here, before a page opens.
        data::Data::read(file.clone(), data::Reading::default(), settings.threads)?;
    }
    let failed = |e: std::io::Error| Error::io(format!("127.0.0.1:{}", settings.port), &e);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(4)
        .build()
        .map_err(failed)?;
    let served = runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port));
        let listener = tokio::net::TcpListener::bind(address)
            .await
            .map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let token = token()?;
        let server = Arc::new(Server {
            guard: Guard::new(token.clone(), port),
            studio: Studio {
                pages: Pages::default(),
                file,
                lessons: settings.lessons,
                threads: settings.threads,
            },
        });
        let router = Router::new().fallback(handle).with_state(server.clone());
        ready(&format!("http://127.0.0.1:{port}/{token}/"))?;
        let stopped = async move {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            server.studio.pages.stop();
        };
        // Connections that the browser keeps open are no reason to wait.
        tokio::select! {
            served = async { axum::serve(listener, router).await } => served.map_err(failed),
            () = stopped => Ok(()),
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(2));
    served
}

/// The token of the page's address: a new one, or one that is to outlive the server.
fn token() -> Result<String> {
    const NAME: &str = "ROSENBLATT_STUDIO_TOKEN";
    const LEAST: usize = 16;
    let Some(given) = std::env::var_os(NAME) else {
        return guard::new_token();
    };
    let given = given.into_string().unwrap_or_default();
    match given.len() >= LEAST && given.bytes().all(|b| b.is_ascii_alphanumeric()) {
        true => Ok(given),
        false => Err(Error::options(format!(
            "{NAME} is to be at least {LEAST} letters and digits"
        ))
        .remedy("leave it out for a new token each time")),
    }
}

async fn handle(State(server): State<Arc<Server>>, request: Request<Body>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let response = match server.guard.admit(&path, request.headers()) {
        Err((status, why)) => plain(status, why),
        Ok(rest) => answer(&server, rest, request).await,
    };
    guard::protect(response)
}

async fn answer(server: &Arc<Server>, path: &str, request: Request<Body>) -> Response<Body> {
    let post = match *request.method() {
        Method::GET => false,
        Method::POST => true,
        _ => return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST"),
    };
    if let Some(question) = path.strip_prefix("api/") {
        return answer_question(server, post, question, request).await;
    }
    match path {
        "" => asset("text/html; charset=utf-8", INDEX),
        "app.js" => asset("text/javascript; charset=utf-8", SCRIPT),
        "app.css" => asset("text/css; charset=utf-8", STYLE),
        _ => plain(StatusCode::NOT_FOUND, "there is no such page"),
    }
}

async fn answer_question(
    server: &Arc<Server>,
    post: bool,
    question: &str,
    request: Request<Body>,
) -> Response<Body> {
    if guard::length(&request).is_some_and(|bytes| bytes > MOST_BYTES) {
        return too_large();
    }
    let query = match parse(request.uri()) {
        Ok(query) => query,
        Err(why) => return told(Refusal::Senseless(why)),
    };
    let body = to_bytes(request.into_body(), MOST_BYTES as usize);
    let bytes = match tokio::time::timeout(MOST_TIME, body).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => return too_large(),
        Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the request took too long"),
    };
    let (server, question) = (server.clone(), question.to_owned());
    let answered = tokio::task::spawn_blocking(move || {
        let bytes = Vec::from(bytes);
        server.studio.answer(post, &question, query, bytes)
    });
    match answered.await {
        Ok(Ok(Answer::Shown(value))) => json_response(StatusCode::OK, &value),
        Ok(Ok(Answer::Saved(export))) => {
            let named = format!("attachment; filename=\"{}\"", ascii(&export.name));
            Response::builder()
                .header(header::CONTENT_TYPE, export.kind)
                .header(header::CONTENT_DISPOSITION, named)
                .body(Body::from(export.bytes))
                .unwrap_or_default()
        }
        Ok(Err(refusal)) => told(refusal),
        Err(_) => {
            let told = json!({"error": "this is a bug: the answer could not be computed"});
            json_response(StatusCode::INTERNAL_SERVER_ERROR, &told)
        }
    }
}

fn parse(uri: &Uri) -> std::result::Result<Query, String> {
    FromQuery::<Query>::try_from_uri(uri)
        .map(|FromQuery(query)| query)
        .map_err(|e| e.to_string())
}

fn ascii(name: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.chars()
        .map(|c| if safe(c) { c } else { '_' })
        .collect()
}

fn too_large() -> Response<Body> {
    let mib = MOST_BYTES >> 20;
    let told = json!({"error": format!(
        "the file is larger than the {mib} MiB that a page may send; use rosenblatt train, or a part of it"
    )});
    let mut response = json_response(StatusCode::PAYLOAD_TOO_LARGE, &told);
    // The rest of it is not read.
    let close = header::HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

fn told(refusal: Refusal) -> Response<Body> {
    let (status, value) = refusal.told();
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    json_response(status, &value)
}

fn json_response(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(value.to_string()))
        .unwrap_or_default()
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "text/plain; charset=utf-8")
        .body(Body::from(text))
        .unwrap_or_default()
}

fn asset(kind: &'static str, bytes: &'static [u8]) -> Response<Body> {
    Response::builder()
        .header(header::CONTENT_TYPE, kind)
        .body(Body::from(bytes))
        .unwrap_or_default()
}
