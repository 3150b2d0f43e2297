//! See the library of this crate, which compiles beside those that it depends on.

use std::process::ExitCode;

fn main() -> ExitCode {
    rosenblatt_cli::main()
}
