//! What every command knows and needs.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rosenblatt::Error;

/// What every command knows.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    pub quiet: bool,
    pub threads: usize,
}

/// An error about the data names their file.
pub fn in_data(error: Error, file: impl AsRef<Path>) -> Error {
    let about_data = error.kind() == rosenblatt::ErrorKind::Data && error.position().is_none();
    if about_data {
        error.in_file(file)
    } else {
        error
    }
}

/// Whether there is nothing to be saved any more that Ctrl-C could lose.
static SAVED: AtomicBool = AtomicBool::new(false);

/// From here on Ctrl-C ends the program at once: what was learned is saved, or waits for somebody
/// to read it from a pipe.
pub fn end_at_interrupt() {
    SAVED.store(true, Ordering::Relaxed);
}

/// Becomes true at the first Ctrl-C; a second one ends the program at once.
pub fn interrupt_flag() -> &'static AtomicBool {
    static FLAG: AtomicBool = AtomicBool::new(false);
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        // Without a handler Ctrl-C just ends the program.
        let _ = ctrlc::set_handler(|| {
            if FLAG.swap(true, Ordering::Relaxed) || SAVED.load(Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
    &FLAG
}

/// Those of `all` that are named, in their own order; the name `all` means every one.
pub fn chosen<T>(
    all: &'static [T],
    name: fn(&T) -> &'static str,
    what: &str,
    names: &[String],
) -> rosenblatt::Result<Vec<&'static T>> {
    let known = |asked: &String| asked == "all" || all.iter().any(|one| name(one) == asked);
    if let Some(asked) = names.iter().find(|n| !known(n)) {
        let names: Vec<&str> = all.iter().map(name).collect();
        return Err(
            Error::options(format!("there is no {what} called {asked:?}"))
                .remedy(format!("choose among {}, or all", names.join(", "))),
        );
    }
    let meant = |one: &&T| names.iter().any(|n| n == "all" || n == name(one));
    Ok(all.iter().filter(meant).collect())
}
