//! Whether examples can be separated at all, asked of a test that the session was given.

use crate::data::Dataset;
use crate::error::Result;
use crate::kernel::Kernel;

/// Which examples a plane is to separate, and in which space.
#[derive(Debug, Clone, Copy)]
pub struct SeparabilityQuestion<'a> {
    /// The examples.
    pub data: &'a Dataset,
    /// The class on the positive side.
    pub positive: u32,
    /// The class on the negative side; `None`: all others.
    pub negative: Option<u32>,
    /// Whether the plane may keep away from the origin.
    pub has_bias: bool,
    /// The kernel in whose space the plane lies; `None`: in that of the features.
    pub kernel: Option<Kernel>,
    /// The answer does not depend on it.
    pub threads: usize,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Separability {
    /// Some plane separates them strictly.
    Separable,
    /// None does, for this reason.
    NotSeparable(String),
    /// Not decided.
    Unknown,
}

/// Answers whether examples can be separated. The exact one is in the crate `rosenblatt-proof`.
pub type SeparabilityTest = fn(&SeparabilityQuestion<'_>) -> Result<Separability>;
