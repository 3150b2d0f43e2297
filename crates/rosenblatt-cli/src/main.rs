//! The `rosenblatt` program: arguments in, one of the commands, an exit status out.

mod args;
mod commands;
mod experiment;
mod figures;
mod output;
mod render;
mod shortened;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    shortened::say_so();
    let cli = args::Cli::parse();
    output::exit(commands::run(cli))
}
