//! Where bytes come from: a file, standard input or memory, decompressed on the way.

mod decompress;
pub(crate) mod zip;

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use memmap2::Mmap;

use self::decompress::{compression, decompressed};
use super::converted::Places;
use rosenblatt_core::{Error, Result};

/// What text may begin with.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Bytes to be read, from anywhere.
pub(crate) type Reader = Box<dyn Read + Send>;

/// The bytes of a text from the first to the last.
pub(crate) enum Bytes {
    /// As a reader gives them.
    Streamed(Reader),
    /// Where they lie in a file.
    Mapped(Cursor<Shared<Mmap>>),
}

impl Read for Bytes {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Bytes::Streamed(reader) => reader.read(to),
            Bytes::Mapped(rest) => rest.read(to),
        }
    }
}

impl From<Reader> for Bytes {
    fn from(reader: Reader) -> Self {
        Bytes::Streamed(reader)
    }
}

/// Begins a text from its first byte.
pub(crate) type Opener = dyn Fn() -> Result<Reader> + Send + Sync;

/// Something that can be read, at least once.
#[derive(Clone)]
pub(crate) struct Source {
    name: PathBuf,
    origin: Origin,
}

/// The length of a file and when it was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    bytes: u64,
    changed: SystemTime,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let facts = std::fs::metadata(path).map_err(|e| Error::io(path, &e))?;
        let changed = facts.modified().map_err(|e| Error::io(path, &e))?;
        Ok(Stamp {
            bytes: facts.len(),
            changed,
        })
    }

    /// Fails if the file at `path` is not what it was.
    pub(crate) fn require_same(&self, path: &Path) -> Result<()> {
        match Stamp::of(path)? == *self {
            true => Ok(()),
            false => Err(Self::changed(path)),
        }
    }

    /// What to say if it is not.
    pub(crate) fn changed(path: &Path) -> Error {
        Error::data("the file was changed while it was read")
            .in_file(path)
            .remedy("start again once nobody writes to it")
    }
}

/// The beginning of a source.
pub(crate) struct Peeked {
    /// The first bytes.
    pub(crate) head: Vec<u8>,
    /// Whether there are no others.
    pub(crate) whole: bool,
    /// All bytes, these included.
    pub(crate) all: Reader,
}

#[derive(Clone)]
enum Origin {
    File(PathBuf),
    /// Text that is made of other data, and the places it is from.
    Made(Arc<Opener>, Places),
    Memory(Arc<Vec<u8>>),
    /// A pipe or standard input: gone once read.
    Stream(Arc<Mutex<Option<Reader>>>),
}

impl Source {
    /// The file at `path`; `-` is standard input.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::stream(Path::new("<stdin>"), Box::new(io::stdin())));
        }
        let about = std::fs::metadata(path).map_err(|e| Error::io(path, &e))?;
        if about.is_dir() {
            return Err(Error::new(
                rosenblatt_core::ErrorKind::Io,
                "this is a directory, expected a data file",
            )
            .in_file(path)
            .remedy("name a file in it"));
        }
        if about.is_file() {
            return Ok(Source {
                name: path.to_path_buf(),
                origin: Origin::File(path.to_path_buf()),
            });
        }
        let file = File::open(path).map_err(|e| Error::io(path, &e))?;
        Ok(Self::stream(path, Box::new(file)))
    }

    /// Something that can be read once, by the name that messages will use.
    pub(crate) fn stream(name: &Path, reader: Reader) -> Self {
        Source {
            name: name.to_path_buf(),
            origin: Origin::Stream(Arc::new(Mutex::new(Some(reader)))),
        }
    }

    /// Text that is made of other data, as often as it is wanted.
    pub(crate) fn made(name: &Path, opener: Arc<Opener>, places: Places) -> Self {
        Source {
            name: name.to_path_buf(),
            origin: Origin::Made(opener, places),
        }
    }

    /// The same error, in the file that the user knows.
    pub(crate) fn locate(&self, error: Error) -> Error {
        let position = error.position();
        let (line, column) = position.map_or((0, 0), |position| (position.line, position.column));
        if let Origin::Made(_, places) = &self.origin
            && let Some((file, line, column)) = places.find(line, column)
        {
            return error.at(line, column).in_file(file);
        }
        error.in_file(&self.name)
    }

    /// Cells in front of each row that its file does not have.
    pub(crate) fn cells_in_front(&self) -> usize {
        match &self.origin {
            Origin::Made(_, places) => places.cells,
            _ => 0,
        }
    }

    /// Bytes in memory, taken as they are, by the name that messages will use.
    pub(crate) fn memory(name: &Path, bytes: Vec<u8>) -> Self {
        Source {
            name: name.to_path_buf(),
            origin: Origin::Memory(Arc::new(bytes)),
        }
    }

    /// What the user calls it.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Whether it can be opened again.
    pub(crate) fn rereadable(&self) -> bool {
        !matches!(self.origin, Origin::Stream(_))
    }

    /// The decompressed bytes.
    pub(crate) fn open(&self) -> Result<Reader> {
        let raw: Reader = match &self.origin {
            Origin::Made(open, _) => return open(),
            Origin::Memory(bytes) => return Ok(Box::new(Cursor::new(Shared(bytes.clone())))),
            Origin::File(path) => {
                Box::new(File::open(path).map_err(|e| Error::io(&self.name, &e))?)
            }
            Origin::Stream(reader) => reader
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .ok_or_else(|| {
                    Error::new(
                        rosenblatt_core::ErrorKind::Io,
                        "this input was read already",
                    )
                    .in_file(&self.name)
                    .remedy("give a file instead of a pipe")
                })?,
        };
        decompressed(raw).map_err(|e| Error::io(&self.name, &e))
    }

    /// All bytes of a file that is not compressed or empty, where they lie.
    #[allow(unsafe_code)] // measured: one pass over long lines takes a seventh less, a table a tenth
    pub(crate) fn map(&self) -> Result<Option<Mmap>> {
        let Origin::File(path) = &self.origin else {
            return Ok(None);
        };
        let file = File::open(path).map_err(|e| Error::io(path, &e))?;
        // SAFETY: whoever writes to a file breaks the promise that any program with a mapped
        // file relies on. Bytes that change are bytes still; the system ends the program if the
        // file is made shorter while it is looked at.
        let Ok(mapped) = (unsafe { Mmap::map(&file) }) else {
            return Ok(None);
        };
        let plain = !mapped.is_empty() && compression(&mapped).is_none();
        Ok(plain.then_some(mapped))
    }

    /// The text that `reader` gives from its beginning, where it lies if that may and can be: a
    /// copy of it takes a tenth of the time that a table does.
    pub(crate) fn text(&self, reader: Reader, mapped: bool) -> Result<Bytes> {
        let mapped = if mapped { self.map()? } else { None };
        Ok(match mapped {
            Some(file) => {
                let marked = file.starts_with(BYTE_ORDER_MARK);
                let mut text = Cursor::new(Shared(Arc::new(file)));
                text.set_position(if marked {
                    BYTE_ORDER_MARK.len() as u64
                } else {
                    0
                });
                Bytes::Mapped(text)
            }
            None => reader.into(),
        })
    }

    /// So many first bytes, and as many again while they are not `enough`.
    pub(crate) fn peek(&self, bytes: usize, enough: impl Fn(&[u8]) -> bool) -> Result<Peeked> {
        let mut reader = self.open()?;
        let mut head = Vec::new();
        let mut limit = bytes;
        let whole = loop {
            (&mut reader)
                .take((limit - head.len()) as u64)
                .read_to_end(&mut head)
                .map_err(|e| Error::io(&self.name, &e))?;
            if head.len() < limit || enough(&head) {
                break head.len() < limit;
            }
            limit *= 2;
        };
        let all = Box::new(Cursor::new(head.clone()).chain(reader));
        Ok(Peeked { head, whole, all })
    }

    /// The same data, to be read again and again; `all` are its bytes, which may have begun.
    pub(crate) fn kept(&self, all: Reader) -> Result<Source> {
        match self.rereadable() {
            true => Ok(self.clone()),
            false => self.buffered(all),
        }
    }

    /// The same data, kept in memory, from a reader of all its decompressed bytes.
    pub(crate) fn buffered(&self, mut all: Reader) -> Result<Source> {
        let mut bytes = Vec::new();
        all.read_to_end(&mut bytes)
            .map_err(|e| Error::io(&self.name, &e))?;
        Ok(Source {
            name: self.name.clone(),
            origin: Origin::Memory(Arc::new(bytes)),
        })
    }
}

/// Bytes that several may hold.
#[derive(Debug)]
pub(crate) struct Shared<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<T: Deref<Target = [u8]>> AsRef<[u8]> for Shared<T> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
pub(crate) mod tests;
