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
        0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x01, 0x69, 0x22, 0xDE, 0x36, 0x02, 0x00, 0x21,
        0x01, 0x28, 0x00, 0x00, 0x00, 0xE6, 0xA0, 0x11, 0xB3, 0x01, 0x00, 0x05, 0x31, 0x20, 0x31,
        0x3A, 0x31, 0x0A, 0x00, 0x00, 0x00, 0x81, 0x4B, 0xC6, 0xF8, 0x00, 0x01, 0x1A, 0x06, 0xC5,
        0xEA, 0xC8, 0x79, 0x90, 0x42, 0x99, 0x0D, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5A,
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
