//! Results for people's eyes.

pub mod boundary;
pub mod decision;
pub mod dry_run;
pub mod numbers;
pub mod picture;
pub mod progress;
pub mod report;
pub mod table;
pub mod train;
pub mod tune;
