//! The `rosenblatt` program: arguments in, one of the commands, an exit status out.

mod args;
mod commands;
mod experiment;
mod figures;
mod output;
mod render;
mod sigbus;
mod summary;

use std::process::ExitCode;

use clap::Parser;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    sigbus::install();
    let cli = args::Cli::parse();
    output::exit(commands::run(cli))
}
