//! Options by name and as text: the shared ones and the learners' own.

use std::collections::BTreeMap;

use super::{LEARNERS, LearnerEntry};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::options::{
    COMMON_PARAMETERS, DynLearner, LearnerChoice, Options, Order, Parameter, ParameterInfo,
    Readout, SHARED_PARAMETERS, STOP_PARAMETERS, Start, Ties, choice_name,
};

/// The parameter that names the learner.
const LEARNER: &str = "learner";

impl Default for LearnerChoice {
    fn default() -> Self {
        LEARNERS[0].default_settings()
    }
}

impl Options {
    /// Every parameter there is, in the order help lists them: the learner, what learners share,
    /// then each learner's own. A name that several learners have stands once.
    pub fn parameters() -> Vec<ParameterInfo> {
        let choices: Vec<String> = LEARNERS
            .iter()
            .map(|l| format!("{}, {}", l.name, l.summary))
            .collect();
        let mut all = vec![ParameterInfo {
            name: LEARNER,
            value: "LEARNER",
            help: format!("which learner: {}", choices.join("; ")),
            default: LEARNERS[0].name.to_owned(),
        }];
        let defaults = Options::default();
        all.extend(SHARED_PARAMETERS.iter().map(|p| p.describe(&defaults)));
        for entry in &LEARNERS {
            for mut own in entry.default_settings().parameters() {
                own.help = format!("{}: {}", entry.name, own.help);
                match all.iter_mut().find(|p| p.name == own.name) {
                    Some(known) => {
                        known.help = format!("{}; {}", known.help, own.help);
                        if known.default != own.default {
                            known.default =
                                format!("{}, {} for {}", known.default, own.default, entry.name);
                        }
                    }
                    None => all.push(own),
                }
            }
        }
        all
    }

    /// The value of the parameter called `name` as text; `None` if it is another learner's, or
    /// there is none of that name.
    pub fn get(&self, name: &str) -> Option<String> {
        if name == LEARNER {
            return Some(self.learner.name().to_owned());
        }
        let shared = Parameter::find(SHARED_PARAMETERS, name).map(|p| (p.get)(self));
        shared.or_else(|| self.learner.get(name))
    }

    /// Sets the parameter called `name` from text. Another learner's parameter is refused, so
    /// the learner is to be set first.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let set = if name == LEARNER {
            self.set_learner(text)
        } else if let Some(parameter) = Parameter::find(SHARED_PARAMETERS, name) {
            (parameter.set)(self, text)
        } else if let Some(set) = self.learner.as_mut().set(name, text) {
            set
        } else {
            return Err(not_this_learners(name, &*self.learner));
        };
        set.map_err(|expected| Error::options(format!("⟨{name}⟩: found {text:?}, {expected}")))
    }

    /// Sets several parameters from text, the learner first, whatever their order.
    pub fn set_all<'t>(
        &mut self,
        given: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<()> {
        let mut given: Vec<_> = given.into_iter().collect();
        given.sort_by_key(|(name, _)| *name != LEARNER);
        given
            .into_iter()
            .try_for_each(|(name, text)| self.set(name, text))
    }

    /// What the parameter called `name` expects, if it cannot take this text, whichever learner
    /// has it.
    pub fn expected(name: &str, text: &str) -> Option<String> {
        let mut learners = LEARNERS.iter().map(LearnerEntry::default_settings);
        match learners.find_map(|mut learner| learner.as_mut().set(name, text)) {
            Some(set) => set.err(),
            None => {
                let mut options = Options::default();
                match Parameter::find(SHARED_PARAMETERS, name) {
                    Some(shared) => (shared.set)(&mut options, text).err(),
                    None if name == LEARNER => options.set_learner(text).err(),
                    None => Some(format!("there is no option {name:?}")),
                }
            }
        }
    }

    fn set_learner(&mut self, name: &str) -> std::result::Result<(), String> {
        if self.learner.name() != name {
            let names = || LEARNERS.map(|l| l.name).join(", ");
            let entry =
                LearnerEntry::find(name).ok_or_else(|| format!("expected one of {}", names()))?;
            self.learner = entry.default_settings();
        }
        Ok(())
    }

    /// The name and value of every parameter that the learner knows, in the order of
    /// [`parameters`](Self::parameters).
    pub fn values(&self) -> Vec<(&'static str, String)> {
        let shared = SHARED_PARAMETERS.iter().map(|p| p.name);
        let own = self.learner.parameters().into_iter().map(|p| p.name);
        std::iter::once(LEARNER)
            .chain(shared)
            .chain(own)
            .filter_map(|name| Some((name, self.get(name)?)))
            .collect()
    }

    /// The parameters that differ from their defaults, as (name, value) texts.
    pub fn changed(&self) -> Vec<(&'static str, String)> {
        let mut defaults = Options::default();
        let mut changed = self.values();
        changed.retain(|(name, value)| {
            let differs = defaults.get(name).as_ref() != Some(value);
            if *name == LEARNER {
                // Its own parameters are compared with its own defaults.
                defaults.set_learner(value).ok();
            }
            differs
        });
        changed
    }

    /// Options from the names and values that a model recorded. Another learner's parameter is
    /// passed over where it has that learner's default: older models recorded all.
    pub(crate) fn from_values(values: &BTreeMap<String, String>) -> Result<Options> {
        let mut options = Options::default();
        if let Some(learner) = values.get(LEARNER) {
            options.set(LEARNER, learner)?;
        }
        let is_a_default = |name: &str, text: &str| {
            let defaults = LEARNERS.iter().map(LearnerEntry::default_settings);
            defaults
                .filter_map(|learner| learner.get(name))
                .any(|default| default == text)
        };
        for (name, text) in values.iter().filter(|(name, _)| *name != LEARNER) {
            if options.get(name).is_some() || !is_a_default(name, text) {
                options.set(name, text)?;
            }
        }
        Ok(options)
    }

    /// Refuses combinations that make no sense, with the reason.
    pub fn validate(&self) -> Result<()> {
        let learner = &self.learner;
        let defaults = Options::default();
        for parameter in SHARED_PARAMETERS {
            let (name, value) = (parameter.name, (parameter.get)(self));
            let last = name == "readout" && self.readout() == Readout::Last;
            let stops = learner.is_mistake_driven() && STOP_PARAMETERS.contains(&name);
            let taken = COMMON_PARAMETERS.contains(&name) || learner.takes().contains(&name);
            let unused = !taken && !stops && !last;
            if unused && value != (parameter.get)(&defaults) {
                return Err(Error::options(format!(
                    "⟨{name} {value}⟩ does not go with ⟨learner {}⟩",
                    learner.name()
                ))
                .remedy(format!("leave out ⟨{name}⟩")));
            }
        }
        if learner.kernel() == Some(Kernel::Precomputed) && self.embed.is_some() {
            return Err(
                Error::options("a Gram matrix has no features to make others of")
                    .remedy("leave out ⟨embed⟩, or give rows of features and a ⟨kernel⟩"),
            );
        }
        learner.check(self)?;
        if self.votes != defaults.votes && self.readout() != Readout::Voted {
            return Err(Error::options("⟨votes⟩ belongs to ⟨readout voted⟩")
                .remedy("add ⟨readout voted⟩, or leave out ⟨votes⟩"));
        }
        if self.patience.is_some() && self.readout() == Readout::Voted {
            return Err(Error::options("⟨patience⟩ needs the validation accuracy after each pass, which the voted read-out makes too costly")
                .remedy("use ⟨readout averaged⟩"));
        }
        Ok(())
    }
}

/// The error for a parameter that the learner does not have.
fn not_this_learners(name: &str, learner: &dyn DynLearner) -> Error {
    if let Some((_, why, remedy)) = learner.lacks().iter().find(|lack| lack.0 == name) {
        return Error::options(format!(
            "⟨learner {}⟩ has no ⟨{name}⟩: {why}",
            learner.name()
        ))
        .remedy(*remedy);
    }
    let others: Vec<&str> = LEARNERS
        .iter()
        .filter(|entry| entry.default_settings().get(name).is_some())
        .map(|entry| entry.name)
        .collect();
    let belongs = |to: &str| Error::options(format!("⟨{name}⟩ belongs to {to}"));
    match &*others {
        [] => Error::options(format!("there is no option {name:?}")),
        [one] => belongs(one).remedy(format!("add ⟨learner {one}⟩")),
        [first, .., last] => {
            let but_last = others[..others.len() - 1].join(", ");
            belongs(&format!("{but_last} and {last}"))
                .remedy(format!("add ⟨learner {first}⟩ or another of these"))
        }
    }
}

/// The shared parameters of mistake-driven learners, beside the stop rules.
pub(super) const MISTAKE_DRIVEN: &[&str] = &[
    "readout",
    "votes",
    "ties",
    "learning-rate",
    "margin-demand",
    "bias",
    "order",
    "normalise-weights",
    "start",
];

/// Those of learners that update by the hinge loss from zero: the margin demanded is 1, and how
/// far a step goes is theirs to say.
pub(super) const HINGE_DRIVEN: &[&str] = &["readout", "votes", "ties", "bias", "order"];

/// Refuses ties that would never let a perceptron move.
pub(super) fn check_ties(options: &Options, from_zero: bool) -> Result<()> {
    if options.ties == Ties::Correct && from_zero && options.margin_demand == 0.0 {
        return Err(Error::options(
            "ties = correct never updates from zero weights: every score is 0, and 0 counts as right",
        )
        .remedy("use ⟨ties mistake⟩, a ⟨margin-demand⟩ above 0, or another ⟨start⟩"));
    }
    Ok(())
}

/// The unit in which weights are kept, and how far a step goes in it. Where a learning rate merely
/// scales the weights, it is their unit: only from zero, without a margin demand and without
/// renormalising.
pub(super) fn unit_and_step(options: &Options, from_zero: bool) -> (f64, f64) {
    match from_zero && options.margin_demand == 0.0 && !options.normalise_weights {
        true => (options.rate(), 1.0),
        false => (1.0, options.rate()),
    }
}

/// Refuses orders that follow the mistakes of a perceptron.
pub(super) fn check_order(options: &Options, learner: &str) -> Result<()> {
    if options.order.is_known_ahead() {
        return Ok(());
    }
    Err(Error::options(format!(
        "the order {} follows the mistakes of a perceptron, which {learner} has no use for",
        choice_name(options.order)
    ))
    .remedy(Order::known_ahead_remedy()))
}

/// Whether the weights start at zero.
pub(super) fn starts_at_zero(options: &Options) -> bool {
    options.start == Start::Zero
}
