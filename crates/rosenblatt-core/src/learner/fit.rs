//! What the list of learners holds.

use crate::error::{Error, Result};
use crate::options::{Declared, LearnerChoice, Options, Parameter, SHARED_PARAMETERS};
use crate::training::{Fitted, Training};

/// A learner that can be trained.
pub(crate) trait Fit: Declared {
    /// Trains on checked data with checked options.
    fn fit<'a>(&'a self, training: Training<'a>) -> Result<Fitted>;
}

/// One learner in the list.
#[derive(Debug, Clone, Copy)]
pub struct LearnerEntry {
    /// The name by which users call it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    default: fn() -> LearnerChoice,
    fit: for<'a> fn(&'a Options, Training<'a>) -> Result<Fitted>,
}

impl LearnerEntry {
    pub(super) const fn of<L: Fit>() -> Self {
        LearnerEntry {
            name: L::NAME,
            summary: L::SUMMARY,
            default: || L::default().into(),
            fit: |options, training| match options.learner.settings::<L>() {
                Some(learner) => learner.fit(training),
                None => Err(Error::options("the options are another learner's")),
            },
        }
    }

    /// The learner with its default settings.
    pub fn default_settings(&self) -> LearnerChoice {
        (self.default)()
    }

    /// The learner called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        super::LEARNERS.iter().find(|entry| entry.name == name)
    }

    /// The first learner that has all of these parameters of its own; parameters that learners
    /// share do not count. `None` if there are only such.
    pub fn implied_by<'p>(given: impl Iterator<Item = &'p str> + Clone) -> Option<&'static Self> {
        let shared = |name: &str| Parameter::find(SHARED_PARAMETERS, name).is_some();
        let own = given.filter(|name| !shared(name));
        own.clone().next()?;
        super::LEARNERS.iter().find(|entry| {
            let settings = entry.default_settings();
            own.clone().all(|name| settings.get(name).is_some())
        })
    }

    /// Trains the learner that the options name.
    pub(crate) fn fit(training: Training<'_>) -> Result<Fitted> {
        let options = training.options;
        let entry = Self::find(options.learner.name())
            .ok_or_else(|| Error::options("the learner is not in the list"))?;
        (entry.fit)(options, training)
    }
}
