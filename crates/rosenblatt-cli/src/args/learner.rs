//! The learner's parameters on the command line, straight from the library's table.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use rosenblatt::options::{LearnerKind, Options, PARAMETERS};

/// The parameters given, as (name, text).
#[derive(Debug, Clone, Default)]
pub struct LearnerArgs {
    pub given: Vec<(&'static str, String)>,
}

impl LearnerArgs {
    /// The options: `base` with what was given.
    pub fn options(&self, base: Options) -> rosenblatt::Result<Options> {
        let mut options = base;
        let given = |name: &str| self.given.iter().any(|(n, _)| *n == name);
        // An option that only one learner has says which learner is meant.
        if !given("learner") && options.learner == LearnerKind::Perceptron {
            if given("c") {
                options.learner = LearnerKind::MaxMargin;
            } else if given("kernel") || given("start-dual") {
                options.learner = LearnerKind::Kernel;
            } else if given("hidden") {
                options.learner = LearnerKind::Network;
            }
        }
        self.given
            .iter()
            .try_for_each(|(name, text)| options.set(name, text))?;
        Ok(options)
    }
}

impl Args for LearnerArgs {
    fn augment_args(command: Command) -> Command {
        let mut command = command.next_help_heading("Learner");
        for parameter in PARAMETERS {
            let arg = Arg::new(parameter.name).long(parameter.name);
            command = command.arg(if parameter.value.is_empty() {
                arg.action(ArgAction::SetTrue).help(parameter.help)
            } else {
                arg.value_name(parameter.value)
                    .allow_hyphen_values(true)
                    .help(format!(
                        "{} [default: {}]",
                        parameter.help,
                        parameter.default()
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
        let given = PARAMETERS
            .iter()
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
