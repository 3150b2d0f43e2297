//! The perceptron family.

pub mod data;
mod error;
pub mod file;
pub mod geometry;
pub mod random;

pub use error::{Error, ErrorKind, Position, Result};
