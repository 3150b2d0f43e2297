//! One error type: what went wrong, where in which file, and what to do about it.
//!
//! A message mentions a parameter as `⟨name⟩`, or `⟨name value⟩` ([`Wording`]): each front end
//! has its own spelling, the command line `--name value`, this library `name = value`.

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
    message: Wording,
    position: Option<Position>,
    remedy: Option<Wording>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// A text that mentions parameters as `⟨name⟩` or `⟨name value⟩`, for each front end to word. It
/// serialises in the words of the command line, whose reports are JSON.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(transparent)]
pub struct Wording(String);

impl Wording {
    /// The parameters that are mentioned, each with its value if one is named.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let mut rest = self.0.as_str();
        std::iter::from_fn(move || {
            let (_, mentioned, after) = next_mention(rest)?;
            rest = after;
            Some(mentioned)
        })
    }

    /// The text in the words of a front end: `spell` writes a parameter, and the value it is to
    /// have if one is named.
    pub fn spelled(&self, spell: &dyn Fn(&str, Option<&str>) -> String) -> String {
        let mut out = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some((before, (name, value), after)) = next_mention(rest) {
            out.push_str(before);
            out.push_str(&spell(name, value));
            rest = after;
        }
        out + rest
    }

    /// The text as the command line words it, with parameters as `--name value`.
    pub fn as_command_line(&self) -> String {
        self.spelled(&|name, value| match value {
            Some(value) => format!("--{name} {value}"),
            None => format!("--{name}"),
        })
    }
}

/// A parameter's name, and the value it is mentioned with.
type Mention<'a> = (&'a str, Option<&'a str>);

/// The first mention of a parameter, between what stands before it and after it.
fn next_mention(text: &str) -> Option<(&str, Mention<'_>, &str)> {
    text.match_indices('⟨').find_map(|(start, open)| {
        let (mention, after) = text[start + open.len()..].split_once('⟩')?;
        let (name, value) = match mention.split_once(' ') {
            Some((name, value)) => (name, Some(value)),
            None => (mention, None),
        };
        let is_name = name.bytes().all(|b| b == b'-' || b.is_ascii_lowercase());
        is_name.then_some((&text[..start], (name, value), after))
    })
}

impl<T: Into<String>> From<T> for Wording {
    fn from(text: T) -> Self {
        Wording(text.into())
    }
}

impl fmt::Display for Wording {
    /// With parameters as this library spells them, `name = value`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(&|name, value| {
            let name = name.replace('-', "_");
            match value {
                Some(value) => format!("{name} = {value}"),
                None => name,
            }
        }))
    }
}

impl serde::Serialize for Wording {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.as_command_line())
    }
}

impl Error {
    /// An error of a kind with its message.
    pub fn new(kind: ErrorKind, message: impl Into<Wording>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            position: None,
            remedy: None,
            source: None,
        }))
    }

    /// Bad data.
    pub fn data(message: impl Into<Wording>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// A bad option.
    pub fn options(message: impl Into<Wording>) -> Self {
        Self::new(ErrorKind::Options, message)
    }

    /// A bad model file.
    pub fn model(message: impl Into<Wording>) -> Self {
        Self::new(ErrorKind::Model, message)
    }

    /// A failed read or write of `file`.
    pub fn io(file: impl AsRef<Path>, error: &std::io::Error) -> Self {
        // A reader of this library's own says more than that it failed.
        let own = error.get_ref().and_then(|inner| inner.downcast_ref());
        if let Some(own) = own {
            let own: &Error = own;
            return match &own.0.position {
                Some(position) if !position.file.as_os_str().is_empty() => own.clone(),
                _ => own.clone().in_file(file),
            };
        }
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

    /// The same error, with advice, which mentions the parameters to change.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Wording>) -> Self {
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
        self.0.message.to_string()
    }

    /// Where it went wrong.
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }

    /// What to do about it.
    pub fn advice(&self) -> Option<&Wording> {
        self.0.remedy.as_ref()
    }

    /// The whole error: place, message and advice.
    pub fn wording(&self) -> Wording {
        let position = self.0.position.as_ref();
        let mut text = position.map_or_else(String::new, |position| format!("{position}: "));
        text.push_str(&self.0.message.0);
        if let Some(remedy) = &self.0.remedy {
            text.push_str("; ");
            text.push_str(&remedy.0);
        }
        Wording(text)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.wording().fmt(f)
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
            error.wording().as_command_line(),
            "a.csv:12:7: found \"abc\", expected a number; give --column age=category"
        );
        let advice = error.advice().unwrap();
        assert!(advice.parameters().eq([("column", Some("age=category"))]));
        assert_eq!(error.kind(), ErrorKind::Data);
    }

    #[test]
    fn brackets_that_enclose_no_name_stay() {
        let text = Wording::from("a ⟨B⟩, ⟨learning-rate 0.1⟩ and ⟨ties⟩ ⟨");
        assert_eq!(text.to_string(), "a ⟨B⟩, learning_rate = 0.1 and ties ⟨");
        assert_eq!(
            serde_json::to_string(&text).unwrap(),
            "\"a ⟨B⟩, --learning-rate 0.1 and --ties ⟨\""
        );
    }
}
