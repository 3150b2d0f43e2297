//! Watch a perceptron learn, in the browser: a small server on this machine, and its page.
//!
//! ```text
//! page ─► server ─► pages ─► Data (data.rs)      points, a generator, a file: read by the library
//!  │      token     state    Run  (run.rs)       trained once on a thread, recorded (log.rs)
//!  │      Host                └─► show, beside   visits, margins, fields, curves
//!  │      Origin              └─► check          separable? with proof
//!  └◄──── limits              └─► export         model, ONNX, pictures, replay
//! ```
//!
//! The page asks and the server answers; nothing is pushed. Every number comes from the library,
//! so what is seen is what `trace`, `train` and `check` print.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod api;
mod beside;
mod check;
mod command;
mod data;
mod export;
mod guard;
mod hypothesis;
mod log;
mod options;
mod pages;
pub mod picture;
mod run;
mod server;
mod show;
mod view;

pub use server::{Settings, serve};
