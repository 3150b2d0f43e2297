//! `verify CERTIFICATE DATA...`: the checker by itself, for decompressed data.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use rosenblatt_verify::verify_files;
use std::fs::File;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [certificate, data @ ..] = &arguments[..] else {
        eprintln!("usage: verify CERTIFICATE DATA...");
        return ExitCode::from(2);
    };
    let outcome = std::fs::read(certificate).and_then(|certificate| {
        verify_files(&certificate, Duration::MAX, data.len(), |i| {
            File::open(&data[i])
        })
    });
    match outcome {
        Ok(outcome) => {
            println!("{outcome}");
            ExitCode::from(outcome.exit_status())
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}
