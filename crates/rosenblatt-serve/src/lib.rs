//! Predictions over HTTP, and learning from a stream that survives power cuts.
//!
//! ```text
//! request ─► guard ─► routes ─► rows: as `predict` reads them ─► published weights ─► answer
//!                        │                                              ▲
//!                        └─► learn: one thread ─► learner ─► log, sync ─┘ publish, acknowledge
//! ```
//!
//! * [`log`] is a write-ahead log over plain files: segments of checked records;
//! * [`learn`] has what follows from it: the state, its journal with snapshots and recovery, and
//!   the thread that learns;
//! * everything else is HTTP: the Open Inference Protocol v2 beside rows in the formats of files.
//!
//! Weights to predict with are taken from an atomic pointer, without a lock.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod answer;
mod app;
mod guard;
mod json;
pub mod learn;
mod learner;
mod learning;
mod listen;
pub mod log;
mod metrics;
mod model;
mod openapi;
mod page;
mod problem;
mod report;
mod request;
mod routes;
mod rows;
mod systemd;
mod tensor;

use std::net::SocketAddr;
use std::sync::Arc;

use rosenblatt::{Error, Result};

pub use app::{App, LearnSettings, Limits, Settings};
pub use model::{Load, Loaded};
pub use problem::{Answer, Problem};

/// Serves until the process is told to end; `listening` is told where, once it does.
///
/// It is not generic, so that the whole server is compiled with this crate.
///
/// # Errors
/// If a model cannot be served, its log is damaged, or the address cannot be had.
pub fn serve(settings: Settings, listening: &dyn Fn(SocketAddr)) -> Result<()> {
    let app = Arc::new(App::new(settings)?);
    let tls = listen::tls(&app)?;
    let listener = listen::open(&app)?;
    let failed = |e: &std::io::Error| Error::io("the server", e);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(app.settings.threads.max(1))
        .enable_all()
        .build()
        .map_err(|e| failed(&e))?;
    let address = listener.local_addr().map_err(|e| failed(&e))?;
    // A socket that was handed over may listen elsewhere than the settings say.
    app.check_address(address)?;
    app.report
        .say("listening", &[("address", &address.to_string())]);
    listening(address);
    let served = runtime.block_on(listen::serve(app, listener, tls));
    served.map_err(|e| failed(&e))
}
