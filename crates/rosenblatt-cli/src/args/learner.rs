//! The learner's parameters on the command line, straight from the library's table.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use rosenblatt::Options;
use rosenblatt::learner::{LearnerEntry, Perceptron};

/// The parameters given, as (name, text).
#[derive(Debug, Clone, Default)]
pub struct LearnerArgs {
    pub given: Vec<(&'static str, String)>,
}

impl LearnerArgs {
    /// Whether this option was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(n, _)| *n == name)
    }

    /// The options: `base` with what was given.
    pub fn options(&self, base: Options) -> rosenblatt::Result<Options> {
        let mut options = base;
        // An option that only some learner has says which learner is meant.
        if !self.has("learner") && options.learner.is::<Perceptron>() {
            let names = self.given.iter().map(|(name, _)| *name);
            if let Some(implied) = LearnerEntry::implied_by(names) {
                options.learner = implied.default_settings();
            }
        }
        options.set_all(self.given.iter().map(|(name, text)| (*name, text.as_str())))?;
        Ok(options)
    }
}

impl Args for LearnerArgs {
    fn augment_args(command: Command) -> Command {
        let mut command = command.next_help_heading("Learner");
        for parameter in Options::parameters() {
            let arg = Arg::new(parameter.name).long(parameter.name);
            command = command.arg(if parameter.value.is_empty() {
                arg.action(ArgAction::SetTrue).help(parameter.help)
            } else {
                arg.value_name(parameter.value)
                    .allow_hyphen_values(true)
                    .help(format!(
                        "{} [default: {}]",
                        parameter.help, parameter.default
                    ))
            });
        }
        command.next_help_heading(None::<&str>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LearnerArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = Options::parameters()
            .into_iter()
            .filter_map(|p| {
                if p.value.is_empty() {
                    matches
                        .get_flag(p.name)
                        .then(|| (p.name, "true".to_owned()))
                } else {
                    matches
                        .get_one::<String>(p.name)
                        .map(|text| (p.name, text.clone()))
                }
            })
            .collect();
        Ok(LearnerArgs { given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
