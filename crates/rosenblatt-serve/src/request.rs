//! What handlers read of a request: its parameters, its keys, its body within the limits.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};

use crate::app::App;
use crate::problem::{Answer, Problem};

/// Bodies beyond this are worked on where other requests need not wait.
const LARGE: usize = 32 << 10;

/// A parameter in the address.
pub fn parameter<'a>(query: Option<&'a str>, name: &str) -> Option<&'a str> {
    let pairs = query?.split('&');
    pairs
        .filter_map(|pair| pair.split_once('=').or(Some((pair, "true"))))
        .find_map(|(key, value)| (key == name).then_some(value))
}

/// A parameter that is true or false.
///
/// # Errors
/// If it is neither.
pub fn flag(query: Option<&str>, name: &str) -> Answer<bool> {
    match parameter(query, name) {
        None | Some("false" | "0") => Ok(false),
        Some("true" | "1") => Ok(true),
        Some(other) => Err(Problem::malformed(format!(
            "{name}={other}: expected true or false"
        ))),
    }
}

/// A key or an id that a client made up.
///
/// # Errors
/// If it is too long, or holds other characters.
pub fn made_up(what: &str, text: &str) -> Answer<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:~\"".contains(c);
    match !text.is_empty() && text.len() <= 128 && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err(Problem::malformed(format!(
            "{what}: expected at most 128 letters, digits or -_.:~"
        ))),
    }
}

/// The idempotency key of a request.
///
/// # Errors
/// If it is no key.
pub fn key_of(headers: &HeaderMap) -> Answer<Option<String>> {
    let key = headers.get("idempotency-key");
    key.map(|key| made_up("Idempotency-Key", key.to_str().unwrap_or_default()))
        .transpose()
}

/// A header as a text.
pub fn text_of(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// Reads a body, within the limits.
///
/// # Errors
/// If it is too large, too slow or compressed.
pub async fn read_body(app: &App, headers: &HeaderMap, body: Body) -> Answer<Vec<u8>> {
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
pub fn work<T>(size: usize, work: impl FnOnce() -> T) -> T {
    match size > LARGE {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}
