//! The perceptron family.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod certificate;
pub mod data;
pub mod embedding;
mod error;
pub mod file;
pub mod geometry;
pub mod kernel;
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
