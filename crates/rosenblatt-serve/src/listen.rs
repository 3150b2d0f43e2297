//! Connections: accepted up to a limit, each with a limit on time, and ended gracefully.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rosenblatt::{Error, ErrorKind, Result};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tower_service::Service;

use crate::app::App;
use crate::{guard, routes, systemd};

/// How long connections may go on once the server ends.
const GRACE: Duration = Duration::from_secs(10);

/// The certificate and the key that the settings name.
///
/// # Errors
/// If they cannot be read, or do not fit each other.
pub fn tls(app: &App) -> Result<Option<TlsAcceptor>> {
    let Some((certificate, key)) = &app.settings.tls else {
        return Ok(None);
    };
    let bad = |file: &std::path::Path, what: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Io, format!("{what}"))
            .in_file(file)
            .remedy("expected a PEM file")
    };
    let chain: std::result::Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificate)
        .map_err(|e| bad(certificate, &e))?
        .collect();
    let chain = chain.map_err(|e| bad(certificate, &e))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|e| bad(key, &e))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| bad(certificate, &e))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|e| bad(certificate, &e))?;
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

/// Opens the socket: systemd's, or the one that the settings name.
///
/// # Errors
/// If it cannot be had.
pub fn open(app: &App) -> Result<std::net::TcpListener> {
    let address = app.settings.listen;
    let at = |e: &io::Error| {
        Error::io(address.to_string(), e).remedy("name another address with ⟨listen⟩")
    };
    let listener = match systemd::socket().map_err(|e| at(&e))? {
        Some(listener) => listener,
        None => std::net::TcpListener::bind(address).map_err(|e| at(&e))?,
    };
    listener.set_nonblocking(true).map_err(|e| at(&e))?;
    Ok(listener)
}

/// Answers until the process is told to end, and then saves what was learned.
///
/// # Errors
/// If signals cannot be heard.
pub async fn serve(
    app: Arc<App>,
    listener: std::net::TcpListener,
    tls: Option<TlsAcceptor>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let router = routes::routes(app.clone());
    let free = Arc::new(Semaphore::new(app.settings.limits.connections));
    let (end, ended) = watch::channel(());
    let mut signals = Signals::new()?;
    systemd::notify("READY=1");
    loop {
        let place = free.clone().acquire_owned();
        let accepted = async {
            let place = place.await;
            (place, listener.accept().await)
        };
        tokio::select! {
            (place, accepted) = accepted => match accepted {
                Ok((stream, _)) => {
                    let (app, router) = (app.clone(), router.clone());
                    let (tls, ended) = (tls.clone(), ended.clone());
                    tokio::spawn(async move {
                        let _place = place;
                        connection(app, router, stream, tls, ended).await;
                    });
                }
                Err(error) => {
                    // Too many open files, or a client that went away meanwhile.
                    app.report.say("accept failed", &[("error", &error.to_string())]);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            signal = signals.next() => match signal {
                Signal::Reload => {
                    systemd::notify("RELOADING=1");
                    let app = app.clone();
                    if let Err(error) = tokio::task::block_in_place(|| app.reload_all()) {
                        let why = error.wording().as_command_line();
                        app.report.say("reload failed", &[("error", &why)]);
                    }
                    systemd::notify("READY=1");
                }
                Signal::End => break,
            },
        }
    }
    app.report.say("ending", &[]);
    app.ending.store(true, Ordering::Relaxed);
    systemd::notify("STOPPING=1");
    drop((listener, ended));
    // Whoever follows the channel knows.
    let _ = end.send(());
    let _ = tokio::time::timeout(GRACE, end.closed()).await;
    app.stop().await;
    Ok(())
}

async fn connection(
    app: Arc<App>,
    router: Router,
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    ended: watch::Receiver<()>,
) {
    // Small answers do not wait for more to send; where that cannot be, they do.
    let _ = stream.set_nodelay(true);
    match tls {
        None => http(app, router, stream, ended).await,
        Some(tls) => {
            let time = app.settings.limits.time;
            if let Ok(Ok(stream)) = tokio::time::timeout(time, tls.accept(stream)).await {
                http(app, router, stream, ended).await;
            }
        }
    }
}

async fn http(
    app: Arc<App>,
    router: Router,
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    mut ended: watch::Receiver<()>,
) {
    let time = app.settings.limits.time;
    let service = service_fn(move |request: Request<Incoming>| {
        let (app, router) = (app.clone(), router.clone());
        async move { Ok::<_, Infallible>(answer(&app, router, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(time)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // An error here is a client that went away, or spoke no HTTP and was told so.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ended.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Answers a request, and counts it.
async fn answer(app: &App, mut router: Router, request: Request<Incoming>) -> Response {
    let started = Instant::now();
    let route = routes::route_of(request.uri().path());
    let allowed = guard::check(app, request.method(), request.uri(), request.headers());
    let response = match allowed {
        Err(problem) => problem.into_response(),
        Ok(()) => match router.call(request.map(Body::new)).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
    };
    let status = response.status().as_u16();
    app.metrics.answered(route, status, started.elapsed());
    if status >= 500 && status != 503 {
        let status = status.to_string();
        app.report
            .say("request failed", &[("route", route), ("status", &status)]);
    }
    response
}

/// What the system tells the process.
enum Signal {
    Reload,
    End,
}

#[cfg(unix)]
struct Signals {
    hangup: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.hangup.recv() => Signal::Reload,
            _ = self.terminate.recv() => Signal::End,
            _ = self.interrupt.recv() => Signal::End,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Signals)
    }

    async fn next(&mut self) -> Signal {
        // Without a handler Ctrl-C ends the process.
        let _ = tokio::signal::ctrl_c().await;
        Signal::End
    }
}
