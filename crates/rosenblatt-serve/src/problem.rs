//! What a client is told when something is wrong: a problem document (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rosenblatt::{Error, ErrorKind};

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem(Box<Document>);

/// Its document. `error` repeats `detail`: clients of the Open Inference Protocol look for it there.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
struct Document {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    status: u16,
    detail: String,
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    /// What is wrong, without the place.
    #[serde(skip)]
    plain: Option<String>,
    #[serde(skip)]
    allow: Option<&'static str>,
}

/// What a handler gives back.
pub type Answer<T = Response> = Result<T, Problem>;

impl Problem {
    /// A problem of this status.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Problem(Box::new(Document {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            error: detail.clone(),
            detail,
            row: None,
            line: None,
            column: None,
            plain: None,
            allow: None,
        }))
    }

    /// The request is not of the form it must have.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// The request is well formed, and what it says does not fit the model.
    pub fn unfit(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// There is nothing of that name.
    pub fn unknown(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// It cannot be done now.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    /// There is such a place, and it takes other methods.
    pub fn method(allow: &'static str) -> Self {
        let what = format!("this place takes {allow}");
        let mut problem = Self::new(StatusCode::METHOD_NOT_ALLOWED, what);
        problem.0.allow = Some(allow);
        problem
    }

    /// The row it is about, from 1.
    #[must_use]
    pub fn at_row(mut self, row: u64) -> Self {
        self.0.row = Some(row);
        self
    }

    /// What an error of the library tells a client: in its words, and where.
    pub fn of(error: &Error) -> Self {
        let status = match error.kind() {
            ErrorKind::Data | ErrorKind::Options => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut problem = Self::new(status, error.wording().as_command_line());
        if let Some(position) = error.position() {
            let advice = error.advice().map(|a| format!("; {}", a.as_command_line()));
            problem.0.plain = Some(error.message() + &advice.unwrap_or_default());
            problem.0.line = Some(position.line).filter(|&n| n > 0);
            problem.0.column = Some(position.column).filter(|&n| n > 0);
        }
        problem
    }

    /// The same, told by the row instead of the line of a text that the client did not write; each
    /// row begins at the line that `lines` gives.
    #[must_use]
    pub fn by_row(mut self, lines: &[u64]) -> Self {
        if let (Some(line), Some(plain)) = (self.0.line.take(), self.0.plain.take()) {
            let row = lines.partition_point(|&first| first <= line) as u64;
            self.0.row = Some(row);
            self.0.column = None;
            self.0.detail = format!("row {row}: {plain}");
            self.0.error.clone_from(&self.0.detail);
        }
        self
    }

    /// Its status.
    pub fn status(&self) -> u16 {
        self.0.status
    }

    /// What is wrong, in words.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_string(&self.0).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        let problem = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, problem);
        if let Some(allow) = self.0.allow {
            headers.insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        match self.0.status {
            401 => {
                let basic = HeaderValue::from_static("Basic realm=\"rosenblatt\"");
                headers.insert(header::WWW_AUTHENTICATE, basic);
            }
            // What was not read of a body stands between this answer and the next request.
            408 | 413 => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            503 => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}
