//! A write-ahead log over plain files: segments of checked records.

pub mod codec;
pub mod files;
pub mod segment;
