//! Data, options, learners and models of the perceptron family. Most people add the crate
//! `rosenblatt`, which re-exports this one.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_methods))]

pub mod bounds;
pub mod calibration;
mod classifier;
pub mod data;
pub mod embedding;
mod error;
pub mod estimation;
mod file;
pub mod geometry;
mod hypothesis;
mod importance;
#[doc(hidden)]
pub mod internal;
pub mod kernel;
pub mod learner;
pub mod metrics;
pub mod mixing;
pub mod model;
#[doc(hidden)]
pub mod optimisations;
pub mod options;
#[doc(hidden)]
pub mod parallel;
pub mod progress;
#[doc(hidden)]
pub mod random;
pub mod readout;
pub mod report;
pub mod scheme;
mod session;
#[doc(hidden)]
pub mod simd;
pub mod synthetic;
pub mod threshold;
pub mod training;
pub mod weights;

pub use classifier::{Classifier, RowSource};
pub use error::{Error, ErrorKind, Position, Result, Wording};
pub use options::Options;
pub use session::{OnlineLearner, Session};
