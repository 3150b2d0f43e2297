//! One error type: what went wrong, where in which file, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

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
    remedy: Option<String>,
}

impl Error {
    /// An error of a kind with its message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            position: None,
            remedy: None,
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
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::new(ErrorKind::Io, "there is no such file")
                .in_file(file)
                .remedy("check the path"),
            _ => Self::new(ErrorKind::Io, error.to_string()).in_file(file),
        }
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
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
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
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it went wrong.
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }

    /// What to do about it.
    pub fn advice(&self) -> Option<&str> {
        self.0.remedy.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.0.position {
            write!(f, "{position}: ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(remedy) = &self.0.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_place_trouble_and_remedy() {
        let error = Error::data("found \"abc\", expected a number")
            .at(2, 7)
            .shifted(10)
            .in_file("a.csv")
            .remedy("pass --column age=category");
        assert_eq!(
            error.to_string(),
            "a.csv:12:7: found \"abc\", expected a number; pass --column age=category"
        );
        assert_eq!(error.kind(), ErrorKind::Data);
    }
}
