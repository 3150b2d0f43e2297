//! The `rosenblatt` program: arguments in, one of the commands, an exit status out.

mod args;
mod commands;
mod experiment;
mod figures;
mod output;
mod render;
mod sigbus;
mod summary;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os()))
}

/// Runs the program with these arguments, its own name first; gives its exit status. Ends the
/// process where the arguments are wrong or ask for help.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    sigbus::install();
    let cli = args::Cli::parse_from(arguments);
    output::exit(commands::run(cli))
}
