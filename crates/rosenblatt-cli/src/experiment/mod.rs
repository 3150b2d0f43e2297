//! Studies of how perceptrons behave: many seeded runs, a log of every one, and what they show.
//!
//! A [`Study`] is a value: the cases to run, how one case is run, and what follows from all of
//! them. [`run`] does the rest, the same for each: it runs the cases that the log lacks on
//! all cores, notes each as it ends, and hands the whole to the study's conclusion.

mod data;
mod page;
mod run_log;
mod runner;
mod statistics;
mod studies;
mod study;

pub use page::{page, write_figures};
pub use runner::{Finished, run};
pub use study::{Effort, Study};

/// Every study, in the order they are best read.
pub const STUDIES: &[Study] = &[
    studies::angle::STUDY,
    studies::convergence::STUDY,
    studies::bound::STUDY,
    studies::rates::STUDY,
    studies::variants::STUDY,
    studies::classes::STUDY,
    studies::readouts::STUDY,
    studies::scatter::STUDY,
];
