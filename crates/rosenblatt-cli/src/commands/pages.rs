//! `completions` and `man`: the command line described to shells and readers.

use std::path::Path;

use clap::CommandFactory;
use rosenblatt::Error;
use rosenblatt::write::write_atomic;

use crate::args::Cli;
use crate::output::{self, Done, Outcome};

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rosenblatt", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Done::Finished)
}

/// Writes a manual page for the program and one for each command.
pub fn manual(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, &e))?;
    let mut command = Cli::command();
    command.build();
    page(folder, &command, "rosenblatt")?;
    for sub in command.get_subcommands().filter(|c| c.get_name() != "help") {
        page(folder, sub, &format!("rosenblatt-{}", sub.get_name()))?;
    }
    Ok(Done::Finished)
}

fn page(folder: &Path, command: &clap::Command, name: &str) -> rosenblatt::Result<()> {
    let path = folder.join(format!("{name}.1"));
    let page = clap_mangen::Man::new(command.clone()).title(name.to_owned());
    write_atomic(&path, |mut out| {
        page.render(&mut out).map_err(|e| Error::io(&path, &e))
    })
}
