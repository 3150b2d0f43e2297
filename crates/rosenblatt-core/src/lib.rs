//! Data, options, learners and models of the perceptron family. Most people add the crate
//! `rosenblatt`, which re-exports this one.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_methods))]

pub mod bounds;
pub mod certificate;
mod classifier;
pub mod data;
pub mod embedding;
mod error;
mod file;
pub mod geometry;
mod hypothesis;
pub mod kernel;
pub mod learner;
pub mod metrics;
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
mod simd;
pub mod synthetic;
pub mod training;
pub mod weights;

pub use classifier::{Classifier, RowSource};
pub use error::{Error, ErrorKind, Position, Remedy, Result};
pub use options::Options;
pub use session::Session;

/// What the crates of this workspace share; not for users, and without any promise.
#[doc(hidden)]
pub mod internal {
    pub use crate::data::{Index, Lender, Owner, SomeIndices, label_number};
    pub use crate::file::write_atomic;
    pub use crate::{optimisations, parallel, random};
    /// Work compiled for several levels of the processor.
    pub mod simd {
        pub use crate::simd::*;
    }
}
