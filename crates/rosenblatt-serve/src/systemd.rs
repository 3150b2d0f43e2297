//! What systemd and the server tell each other: a socket that is open already, and that it is ready.

use std::io;
use std::net::TcpListener;

/// The first socket that systemd hands over.
#[cfg(unix)]
const FIRST: i32 = 3;

/// The socket that systemd opened for this process, if it did.
///
/// # Errors
/// If what it handed over is no such socket.
#[cfg(unix)]
#[allow(unsafe_code)] // The number of a file that another program opened has no safe interface.
pub fn socket() -> io::Result<Option<TcpListener>> {
    use std::os::fd::FromRawFd;
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let meant = number("LISTEN_PID") == Some(std::process::id());
    if !meant || number("LISTEN_FDS").is_none_or(|n| n == 0) {
        return Ok(None);
    }
    // SAFETY: systemd opened the file for this very process, as the variables say, and nothing
    // else in it takes it: this is called once, when the server starts.
    let listener = unsafe { TcpListener::from_raw_fd(FIRST) };
    // Fails where it is no TCP socket.
    listener.local_addr()?;
    Ok(Some(listener))
}

/// Elsewhere there is no systemd.
#[cfg(not(unix))]
pub fn socket() -> io::Result<Option<TcpListener>> {
    Ok(None)
}

/// Tells systemd something, such as `READY=1`; where it does not listen, nobody is told.
#[cfg(target_os = "linux")]
pub fn notify(what: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let Ok(path) = std::env::var("NOTIFY_SOCKET") else {
        return;
    };
    let address = match path.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    // A server runs as well where nobody hears that it does.
    let _ = address
        .and_then(|address| UnixDatagram::unbound()?.send_to_addr(what.as_bytes(), &address));
}

/// Elsewhere there is no systemd.
#[cfg(not(target_os = "linux"))]
pub fn notify(_: &str) {}
