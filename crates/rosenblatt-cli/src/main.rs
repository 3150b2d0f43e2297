//! The `rosenblatt` program: arguments in, one of the commands, an exit status out.

mod args;
mod commands;
mod experiment;
mod figures;
mod output;
mod render;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    output::exit(commands::run(cli))
}
