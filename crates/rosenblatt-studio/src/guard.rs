//! Who may ask: this machine's browser, from this page alone.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};

/// What a page may do: nothing that comes from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Who may ask.
#[derive(Debug, Clone)]
pub struct Guard {
    token: String,
    port: u16,
}

impl Guard {
    /// Those who know the token and came through this port of this machine.
    pub fn new(token: String, port: u16) -> Self {
        Guard { token, port }
    }

    /// Why a request is refused, if it is; else the path behind the token.
    pub fn admit<'p>(
        &self,
        path: &'p str,
        headers: &HeaderMap,
    ) -> Result<&'p str, (StatusCode, &'static str)> {
        let text = |name: header::HeaderName| headers.get(name).and_then(|v| v.to_str().ok());
        let own_host = |host: &str| {
            let name = host.strip_suffix(&format!(":{}", self.port));
            matches!(name, Some("127.0.0.1" | "localhost"))
        };
        if !text(header::HOST).is_some_and(own_host) {
            return Err((
                StatusCode::FORBIDDEN,
                "refused: the Host is not this server",
            ));
        }
        if headers.contains_key(header::ORIGIN) {
            let origin = text(header::ORIGIN).and_then(|o| o.strip_prefix("http://"));
            if !origin.is_some_and(own_host) {
                return Err((
                    StatusCode::FORBIDDEN,
                    "refused: the Origin is not this server's page",
                ));
            }
        }
        let (token, rest) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
        match same(token, &self.token) {
            true => Ok(rest),
            false => Err((
                StatusCode::FORBIDDEN,
                "refused: open the address that rosenblatt studio printed",
            )),
        }
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    let differ = a.bytes().zip(b.bytes()).fold(0, |d, (a, b)| d | (a ^ b));
    a.len() == b.len() && differ == 0
}

/// A token that nobody can guess.
pub fn new_token() -> rosenblatt::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| {
        rosenblatt::Error::new(
            rosenblatt::ErrorKind::Io,
            format!("the system gives no random numbers: {e}"),
        )
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Forbids the browser what the page does not need.
pub fn protect(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    response
}

/// The number of bytes that a request says it brings.
pub fn length(request: &Request<Body>) -> Option<u64> {
    let text = request.headers().get(header::CONTENT_LENGTH)?;
    text.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(path: &str, host: &str, origin: Option<&str>) -> bool {
        let guard = Guard::new("secret".into(), 8000);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        guard.admit(path, &headers).is_ok()
    }

    #[test]
    fn only_the_own_page_is_let_in() {
        let own = "127.0.0.1:8000";
        assert!(admitted("/secret/api", own, None));
        assert!(admitted(
            "/secret/",
            "localhost:8000",
            Some("http://localhost:8000")
        ));
        for (path, host, origin) in [
            ("/", own, None),
            ("/secre/", own, None),
            ("/secret2/", own, None),
            ("/Secret/", own, None),
            ("/secret/", "127.0.0.1:8001", None),
            ("/secret/", "127.0.0.1", None),
            ("/secret/", "evil.example:8000", None),
            ("/secret/", own, Some("http://evil.example")),
            ("/secret/", own, Some("https://127.0.0.1:8000")),
            ("/secret/", own, Some("null")),
        ] {
            assert!(!admitted(path, host, origin), "{path} {host} {origin:?}");
        }
    }

    #[test]
    fn tokens_are_long_and_never_twice_the_same() {
        let (a, b) = (new_token().unwrap(), new_token().unwrap());
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
    }
}
