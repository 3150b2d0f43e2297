//! Data, options, learners and models of the perceptron family. Most people add the crate
//! `rosenblatt`, which re-exports this one.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_methods))]

pub mod cache;
pub mod certificate;
mod crew;
pub mod data;
pub mod embedding;
mod error;
pub mod file;
pub mod geometry;
pub mod kernel;
mod large;
mod learner;
pub mod metrics;
pub mod model;
pub mod options;
pub mod random;
pub mod report;
mod simd;
pub mod threads;
pub mod train;

pub use error::{Error, ErrorKind, Position, Result};
pub use options::Options;
