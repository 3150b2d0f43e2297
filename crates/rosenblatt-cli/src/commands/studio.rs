//! `studio`: watch a perceptron learn, in the browser.

use std::process::{Command, Stdio};

use rosenblatt_studio::{Settings, serve};

use super::context::{Context, interrupt_flag};
use crate::args::StudioArgs;
use crate::output::{self, Done, Failure, Outcome};

pub fn run(context: Context, args: &StudioArgs) -> Outcome {
    let settings = Settings {
        data: args.data.clone(),
        port: args.port,
        lessons: args.lessons,
        threads: context.threads,
    };
    serve(&settings, interrupt_flag(), |address| {
        let told = output::print(&format!("{address}\n"));
        if let Err(Failure::Error(error)) = told {
            return Err(error);
        }
        output::say(context.quiet, "Ctrl-C ends it");
        if !args.no_open && !open(address) {
            output::say(context.quiet, "open this address in a browser");
        }
        Ok(())
    })?;
    Ok(Done::Finished)
}

/// Opens a page in the browser of this machine; says whether there was a program to do so.
fn open(address: &str) -> bool {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(target_os = "windows") {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(before).arg(address);
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
