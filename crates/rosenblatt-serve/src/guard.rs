//! Who may ask: whoever bears the token, or on this machine alone programs rather than web pages.

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};

use crate::app::App;
use crate::problem::{Answer, Problem};

/// Refuses a request that may not be made.
///
/// # Errors
/// If it bears no token and must, or comes from a web page.
pub fn check(app: &App, method: &Method, uri: &Uri, headers: &HeaderMap) -> Answer<()> {
    if uri.path().starts_with("/v2/health/") {
        return Ok(());
    }
    if app.has_token() {
        return match bearer(headers).is_some_and(|token| app.is_token(&token)) {
            true => Ok(()),
            false => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "send the token: Authorization: Bearer TOKEN",
            )),
        };
    }
    if app.settings.insecure {
        return Ok(());
    }
    // A web page may send requests to this machine from its own browser, under a name of its own
    // that it points here, or blindly from elsewhere.
    let host = text(headers, header::HOST).unwrap_or("localhost");
    if !is_local(host) {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!(
                "{host} is no name of this machine; start the server with a token to be asked by other names"
            ),
        ));
    }
    let origin = text(headers, header::ORIGIN);
    let own = |origin: &str| {
        origin
            .split_once("://")
            .is_some_and(|(_, name)| name == host)
    };
    if method != Method::GET && origin.is_some_and(|origin| !own(origin)) {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "web pages of other places may not ask this server",
        ));
    }
    Ok(())
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    let name = name.unwrap_or_default();
    name == "localhost"
        || (name.parse::<std::net::IpAddr>()).is_ok_and(|address| address.is_loopback())
}

/// The token of a request: as a bearer's, or as the password that a browser asks for.
fn bearer(headers: &HeaderMap) -> Option<Vec<u8>> {
    let said = text(headers, header::AUTHORIZATION)?;
    let (scheme, credentials) = said.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(credentials.trim().as_bytes().to_vec());
    }
    if scheme.eq_ignore_ascii_case("basic") {
        let decoded = base64(credentials.trim())?;
        let colon = decoded.iter().position(|&b| b == b':')?;
        return Some(decoded[colon + 1..].to_vec());
    }
    None
}

/// The bytes that a text in base 64 stands for.
fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut held, mut out) = (0u32, 0, Vec::new());
    for c in text.trim_end_matches('=').bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine() {
        for host in [
            "localhost",
            "localhost:8080",
            "127.0.0.1:1",
            "127.8.8.8",
            "[::1]:80",
        ] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "example.org",
            "10.0.0.1:8080",
            "localhost.example.org",
            "[::2]",
            "",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }

    #[test]
    fn base_64() {
        assert_eq!(base64("dXNlcjpzZWNyZXQ=").unwrap(), b"user:secret");
        assert_eq!(base64("").unwrap(), b"");
        assert!(base64("a b").is_none());
    }
}
