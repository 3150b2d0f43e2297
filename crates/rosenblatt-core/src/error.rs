//! One error type: what went wrong, where in which file, and what to do about it.
//!
//! A message mentions a parameter as `⟨name⟩`, or `⟨name value⟩`: each front end has its own
//! spelling ([`Error::spelled`]), the command line `--name value`, this library `name = value`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A result of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// What sort of thing went wrong; a program maps it to an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be read or written.
    Io,
    /// The data are not what they must be.
    Data,
    /// An option has a value that makes no sense, alone or beside another.
    Options,
    /// A model file is damaged, foreign, or of a version this program cannot read.
    Model,
    /// The caller asked to stop.
    Interrupted,
}

/// A place in an input file. Lines and columns count from 1; 0 means unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position {
    /// The file as the user named it.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: u64,
    /// Byte column in that line, from 1.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        Ok(())
    }
}

/// An error with its position and its remedy.
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    position: Option<Position>,
    remedy: Option<Remedy>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// What to do about an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Advice in words, which may mention parameters.
    Advice(String),
    /// Give a parameter this value.
    Set {
        /// Its name.
        parameter: String,
        /// The value.
        value: String,
    },
    /// Leave a parameter out.
    Omit {
        /// Its name.
        parameter: String,
    },
}

impl Remedy {
    /// Give a parameter this value.
    pub fn set(parameter: impl Into<String>, value: impl Into<String>) -> Self {
        Remedy::Set {
            parameter: parameter.into(),
            value: value.into(),
        }
    }

    /// Leave a parameter out.
    pub fn omit(parameter: impl Into<String>) -> Self {
        Remedy::Omit {
            parameter: parameter.into(),
        }
    }

    /// The advice in words, with parameters as [`Error::spelled`] has them.
    fn words(&self) -> String {
        match self {
            Remedy::Advice(text) => text.clone(),
            Remedy::Set { parameter, value } => format!("set ⟨{parameter} {value}⟩"),
            Remedy::Omit { parameter } => format!("leave out ⟨{parameter}⟩"),
        }
    }
}

impl<T: Into<String>> From<T> for Remedy {
    fn from(text: T) -> Self {
        Remedy::Advice(text.into())
    }
}

/// How this library spells a parameter and its value.
fn as_field(name: &str, value: Option<&str>) -> String {
    let name = name.replace('-', "_");
    match value {
        Some(value) => format!("{name} = {value}"),
        None => name,
    }
}

/// Replaces every mention of a parameter by what `spell` makes of its name and value.
fn respelled(text: &str, spell: &dyn Fn(&str, Option<&str>) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, mention)) = rest.split_once('⟨') {
        out.push_str(before);
        let Some((mention, after)) = mention.split_once('⟩') else {
            out.push('⟨');
            rest = mention;
            continue;
        };
        match mention.split_once(' ') {
            Some((name, value)) => out.push_str(&spell(name, Some(value))),
            None => out.push_str(&spell(mention, None)),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

impl Error {
    /// An error of a kind with its message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            position: None,
            remedy: None,
            source: None,
        }))
    }

    /// Bad data.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// A bad option.
    pub fn options(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Options, message)
    }

    /// A bad model file.
    pub fn model(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Model, message)
    }

    /// A failed read or write of `file`.
    pub fn io(file: impl AsRef<Path>, error: &std::io::Error) -> Self {
        let mut found = match error.kind() {
            std::io::ErrorKind::NotFound => Self::new(ErrorKind::Io, "there is no such file")
                .in_file(file)
                .remedy("check the path"),
            _ => Self::new(ErrorKind::Io, error.to_string()).in_file(file),
        };
        // The error itself cannot be cloned; its kind and its words can.
        let cause = std::io::Error::new(error.kind(), error.to_string());
        found.0.source = Some(Arc::new(cause));
        found
    }

    /// The same error, in this file (a line already known is kept).
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<Path>) -> Self {
        self.0.position.get_or_insert_default().file = file.as_ref().to_path_buf();
        self
    }

    /// The same error, at this line and column.
    #[must_use]
    pub fn at(mut self, line: u64, column: u64) -> Self {
        let position = self.0.position.get_or_insert_default();
        position.line = line;
        position.column = column;
        self
    }

    /// The same error, with advice.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// The same error, `lines` further down: for parts of a file parsed on their own.
    #[must_use]
    pub fn shifted(mut self, lines: u64) -> Self {
        if let Some(position) = &mut self.0.position {
            position.line += lines;
        }
        self
    }

    /// What sort of error this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What went wrong, without position and remedy.
    pub fn message(&self) -> String {
        respelled(&self.0.message, &as_field)
    }

    /// Where it went wrong.
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }

    /// What to do about it.
    pub fn advice(&self) -> Option<&Remedy> {
        self.0.remedy.as_ref()
    }

    /// The whole error in the words of a front end: `spell` writes a parameter, and the value it
    /// is to have if one is named.
    pub fn spelled(&self, spell: &dyn Fn(&str, Option<&str>) -> String) -> String {
        let position = self.0.position.as_ref();
        let mut text = position.map_or_else(String::new, |position| format!("{position}: "));
        text.push_str(&respelled(&self.0.message, spell));
        if let Some(remedy) = &self.0.remedy {
            text.push_str("; ");
            text.push_str(&respelled(&remedy.words(), spell));
        }
        text
    }

    /// The whole error as the command line words it, with parameters as `--name value`.
    pub fn as_command_line(&self) -> String {
        self.spelled(&|name, value| match value {
            Some(value) => format!("--{name} {value}"),
            None => format!("--{name}"),
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(&as_field))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_deref()?;
        Some(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_place_trouble_and_remedy() {
        let error = Error::data("found \"abc\", expected a number")
            .at(2, 7)
            .shifted(10)
            .in_file("a.csv")
            .remedy("give ⟨column age=category⟩");
        assert_eq!(
            error.to_string(),
            "a.csv:12:7: found \"abc\", expected a number; give column = age=category"
        );
        assert_eq!(
            error.as_command_line(),
            "a.csv:12:7: found \"abc\", expected a number; give --column age=category"
        );
        assert_eq!(error.kind(), ErrorKind::Data);
    }
}
