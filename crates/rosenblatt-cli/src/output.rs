//! Where results and messages go, and how the program ends.

use std::borrow::Cow;
use std::io::{self, ErrorKind as IoKind, IsTerminal, Write};
use std::path::Path;

use rosenblatt::{Error, ErrorKind};

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It did what it was asked.
    Finished,
    /// It was interrupted, and saved what it had.
    Interrupted,
    /// A certificate does not hold.
    Refuted,
    /// A limit on time ended a check without a verdict.
    Undecided,
}

/// How a command failed.
#[derive(Debug)]
pub enum Failure {
    /// Something to tell the user.
    Error(Error),
    /// Nobody reads our output any more: nothing to tell, no one to tell it to.
    PipeClosed,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

/// What a command gives back.
pub type Outcome = Result<Done, Failure>;

/// Turns a failed write to stdout into a failure.
pub fn stdout_failed(error: &io::Error) -> Failure {
    match error.kind() {
        IoKind::BrokenPipe => Failure::PipeClosed,
        _ => Failure::Error(Error::io("stdout", error)),
    }
}

/// The colours that the program itself uses.
const COLOURS: [&str; 2] = ["\x1b[1;32m", "\x1b[0m"];

/// Whether a terminal would obey this character, or turn others round, and not show it.
fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// A text as a terminal may have it: what names and labels could hide or steer is spelled out.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hidden(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Prints a result: the bytes as they are to a file or a pipe.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let mut text = Cow::Borrowed(text);
    if out.is_terminal() && text.contains(is_hidden) {
        let mut safe = shown(&text).into_owned();
        for colour in COLOURS {
            safe = safe.replace(&*shown(colour), colour);
        }
        text = Cow::Owned(safe);
    }
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| stdout_failed(&e))
}

/// Prints one JSON object.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value).map_err(|e| {
        Error::new(
            ErrorKind::Io,
            format!("the result cannot be written as JSON: {e}"),
        )
    })?;
    text.push('\n');
    print(&text)
}

/// Says something beside the result. A message that cannot be said is no reason to fail.
pub fn say(quiet: bool, text: &str) {
    if !quiet {
        let _ = writeln!(io::stderr().lock(), "{}", shown(text));
    }
}

/// Writes a file whole or not at all.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> rosenblatt::Result<()> {
    rosenblatt::write::write_atomic(path, |out| {
        out.write_all(bytes).map_err(|e| Error::io(path, &e))
    })
}

/// Whether a path means stdin or stdout.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses an output that would replace an input.
pub fn refuse_overwriting(input: &Path, output: &Path) -> rosenblatt::Result<()> {
    let same = match (input.canonicalize(), output.canonicalize()) {
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        _ => false,
    };
    if same {
        return Err(Error::options(format!(
            "{} is the input: it would be replaced",
            output.display()
        ))
        .remedy("name another file"));
    }
    Ok(())
}

/// Refuses two outputs that would be one file.
pub fn refuse_same(one: &Path, other: &Path) -> rosenblatt::Result<()> {
    let whole = |path: &Path| {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        path.canonicalize()
            .ok()
            .or_else(|| Some(folder.join(path.file_name()?)))
    };
    let file = |path: &Path| !path.exists() || path.is_file();
    match whole(one).is_some() && whole(one) == whole(other) && file(one) {
        true => Err(Error::options(format!(
            "{} is named twice: one would replace the other",
            other.display()
        ))
        .remedy("name two files")),
        false => Ok(()),
    }
}

/// Fails early where a page cannot be written or would replace one of the inputs.
pub fn check_page(path: &Path, inputs: &[&Path]) -> rosenblatt::Result<()> {
    if is_dash(path) {
        return Err(Error::options("a page does not go to stdout").remedy("name an .html file"));
    }
    writable(path)?;
    inputs
        .iter()
        .try_for_each(|input| refuse_overwriting(input, path))
}

/// Fails before hours of work rather than after them.
pub fn writable(path: &Path) -> rosenblatt::Result<()> {
    rosenblatt::internal::writable(path)
}

/// Whether colour is welcome on stdout.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// The exit status: 0 success, 1 failure, 2 usage error, 3 refuted, 4 undecided, 130 interrupted.
pub fn exit(outcome: Outcome) -> u8 {
    match outcome {
        Ok(Done::Finished) | Err(Failure::PipeClosed) => 0,
        Ok(Done::Interrupted) => 130,
        Ok(Done::Refuted) => 3,
        Ok(Done::Undecided) => 4,
        Err(Failure::Error(error)) => {
            say(
                false,
                &format!("error: {}", error.wording().as_command_line()),
            );
            match error.kind() {
                ErrorKind::Options => 2,
                ErrorKind::Interrupted => 130,
                _ => 1,
            }
        }
    }
}
