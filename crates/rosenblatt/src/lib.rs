//! The perceptron family.

pub mod certificate;
pub mod data;
mod error;
pub mod random;

pub use error::{Error, ErrorKind, Position, Result};
