//! Studies of how perceptrons behave: many seeded runs, a ledger of every one, and what they show.
//!
//! A [`Study`] is a value: the cases to run, how one case is run, and what follows from all of
//! them. [`run`] does the rest, the same for each: it runs the cases that the ledger lacks on
//! all cores, notes each as it ends, and hands the whole to the study's conclusion.

mod data;
mod ledger;
mod page;
mod runner;
mod statistics;
mod studies;
mod study;

pub use page::{page, write_figures};
pub use runner::{Finished, run};
pub use study::{Effort, Study};

use rosenblatt::{Error, Result};

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

/// The studies of these names, each once; `all` means every one.
pub fn find(names: &[String]) -> Result<Vec<&'static Study>> {
    let mut found: Vec<&Study> = Vec::new();
    for name in names {
        let before = found.len();
        for study in STUDIES {
            let meant = name == "all" || name == study.name;
            if meant && found.iter().all(|f| f.name != study.name) {
                found.push(study);
            }
        }
        let known = before < found.len() || found.iter().any(|f| f.name == name) || name == "all";
        if !known {
            let names: Vec<&str> = STUDIES.iter().map(|s| s.name).collect();
            return Err(Error::options(format!("there is no study called {name:?}"))
                .remedy(format!("choose among {}, or all", names.join(", "))));
        }
    }
    Ok(found)
}
