//! File formats, the preparation of tables and text, and the cache of prepared examples. Most
//! people add the crate `rosenblatt`, which re-exports this one.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_methods))]

pub mod cache;
pub mod read;
pub mod write;
