//! Where bytes come from: a file, standard input or memory, decompressed on the way.

mod decompress;

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use memmap2::Mmap;

use self::decompress::{compression, decompressed};
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

    /// All bytes of a file that is not compressed or empty, where they lie, and its stamp.
    #[allow(unsafe_code)] // measured: one pass over long lines takes a seventh less, a table a tenth
    pub(crate) fn map(&self) -> Result<Option<(Stamp, Mmap)>> {
        let Origin::File(path) = &self.origin else {
            return Ok(None);
        };
        let stamp = Stamp::of(path)?;
        if stamp.bytes == 0 {
            return Ok(None);
        }
        let file = File::open(path).map_err(|e| Error::io(path, &e))?;
        // SAFETY: whoever writes to a file breaks the promise that any program with a mapped
        // file relies on. Bytes that change are bytes still, and the stamp then is another one;
        // the system ends the program if the file is made shorter while it is looked at.
        let Ok(mapped) = (unsafe { Mmap::map(&file) }) else {
            return Ok(None);
        };
        let plain = compression(&mapped).is_none();
        Ok(plain.then_some((stamp, mapped)))
    }

    /// The text that `reader` gives from its beginning, where it lies if that may and can be: a
    /// copy of it takes a tenth of the time that a table does.
    pub(crate) fn text(&self, reader: Reader, mapped: bool) -> Result<Bytes> {
        let mapped = if mapped { self.map()? } else { None };
        Ok(match mapped {
            Some((_, file)) => {
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
pub(crate) mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A file that goes when it is dropped.
    pub(crate) struct Passing(pub(crate) PathBuf);

    impl Passing {
        pub(crate) fn new(bytes: &[u8]) -> Self {
            static NUMBER: AtomicUsize = AtomicUsize::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("rosenblatt-passing-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, bytes).unwrap();
            Passing(path)
        }
    }

    impl Drop for Passing {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(data).unwrap();
        out.finish().unwrap()
    }

    pub(crate) fn compressions(data: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
        let mut bz = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bz.write_all(data).unwrap();
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
        xz.write_all(data).unwrap();
        vec![
            ("plain", data.to_vec()),
            ("gz", gzip(data)),
            ("zst", zstd::stream::encode_all(data, 1).unwrap()),
            ("bz2", bz.finish().unwrap()),
            ("xz", xz.finish().unwrap()),
        ]
    }

    fn read_all(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        decompressed(Box::new(Cursor::new(bytes)))?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn only_plain_files_are_read_where_they_lie() {
        for data in [&b"1 1:1\n"[..], b"", &[7; 5000]] {
            for (name, bytes) in compressions(data) {
                let file = Passing::new(&bytes);
                let mapped = Source::new(&file.0).unwrap().map().unwrap();
                assert_eq!(
                    mapped.is_some(),
                    name == "plain" && !data.is_empty(),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn every_compression_gives_the_same_bytes() {
        let data: Vec<u8> = (0..3_000_000u64).map(|i| ((i * i) >> 11) as u8).collect();
        for (name, bytes) in compressions(&data) {
            assert!(read_all(bytes.clone()).unwrap() == data, "{name}");
            if name != "plain" {
                let cut = read_all(bytes[..bytes.len() / 2].to_vec());
                assert!(cut.is_err(), "{name}");
                // Two files one after the other are one file.
                let twice = read_all([bytes.clone(), bytes].concat()).unwrap();
                assert!(twice.len() == 2 * data.len(), "{name}");
            }
        }
        assert_eq!(
            read_all(b"BZh is how this text starts".to_vec())
                .unwrap()
                .len(),
            27
        );
        assert_eq!(read_all(Vec::new()).unwrap(), b"");
    }

    #[test]
    fn a_dictionary_of_gigabytes_is_refused() {
        // Six bytes of text that ask for a dictionary of 4 GiB.
        let file = [
            0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x01, 0x69, 0x22, 0xDE, 0x36, 0x02, 0x00,
            0x21, 0x01, 0x28, 0x00, 0x00, 0x00, 0xE6, 0xA0, 0x11, 0xB3, 0x01, 0x00, 0x05, 0x31,
            0x20, 0x31, 0x3A, 0x31, 0x0A, 0x00, 0x00, 0x00, 0x81, 0x4B, 0xC6, 0xF8, 0x00, 0x01,
            0x1A, 0x06, 0xC5, 0xEA, 0xC8, 0x79, 0x90, 0x42, 0x99, 0x0D, 0x01, 0x00, 0x00, 0x00,
            0x00, 0x01, 0x59, 0x5A,
        ];
        let error = read_all(file.to_vec()).unwrap_err().to_string();
        assert!(error.contains("memory"), "{error}");
    }

    #[test]
    fn peeking_loses_nothing_and_streams_are_read_once() {
        let source = Source::stream(Path::new("x"), Box::new(Cursor::new(gzip(b"hello world"))));
        let Peeked { head, mut all, .. } = source.peek(5, |_| true).unwrap();
        assert_eq!(head, b"hello");
        let memory = source
            .buffered(Box::new(Cursor::new(b"hello world")))
            .unwrap();
        for (bytes, least, head, whole) in [
            (2, 5, "hello wo", false),
            (11, 1, "hello world", false),
            (12, 1, "hello world", true),
            (2, 99, "hello world", true),
        ] {
            let peeked = memory.peek(bytes, |head| head.len() >= least).unwrap();
            assert_eq!(
                (peeked.head.as_slice(), peeked.whole),
                (head.as_bytes(), whole)
            );
        }
        let mut text = String::new();
        all.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello world");
        assert!(source.open().is_err());
    }

    #[test]
    fn missing_files_and_directories_are_named() {
        let error = Source::new(Path::new("/no/such/file")).err().unwrap();
        assert!(
            error
                .to_string()
                .contains("/no/such/file: there is no such file")
        );
        let error = Source::new(&std::env::temp_dir()).err().unwrap();
        assert!(error.to_string().contains("directory"));
    }
}
