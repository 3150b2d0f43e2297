//! Data, options, learners and models of the perceptron family. Most people add the crate
//! `rosenblatt`, which re-exports this one.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_methods))]

pub mod bounds;
pub mod cache;
mod classifier;
pub mod data;
pub mod embedding;
mod error;
pub mod file;
pub mod geometry;
mod hypothesis;
#[doc(hidden)]
pub mod internal;
pub mod kernel;
mod large;
pub mod learner;
pub mod metrics;
pub mod model;
pub mod options;
pub mod parallel;
pub mod progress;
pub mod random;
pub mod readout;
pub mod report;
pub mod scheme;
mod session;
mod simd;
pub mod training;
pub mod weights;

pub use classifier::Classifier;
pub use error::{Error, ErrorKind, Position, Remedy, Result};
pub use options::Options;
pub use session::Session;
