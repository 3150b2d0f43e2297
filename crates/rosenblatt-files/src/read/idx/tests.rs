use super::*;
use std::io::Cursor;

pub(crate) fn file(kind: u8, sizes: &[u32], data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, kind, sizes.len() as u8];
    sizes.iter().for_each(|s| bytes.extend(s.to_be_bytes()));
    bytes.extend(data);
    bytes
}

fn open(bytes: Vec<u8>) -> Result<Rows> {
    Rows::start(Box::new(Cursor::new(bytes)), Path::new("i"))
}

#[test]
fn every_element_type_is_read() {
    let cases: [(u8, &[u8], f64); 6] = [
        (0x08, &[200], 200.0),
        (0x09, &[0xFF], -1.0),
        (0x0B, &[0xFF, 0xFE], -2.0),
        (0x0C, &[0, 1, 0, 0], 65536.0),
        (0x0D, &[0x3F, 0x80, 0, 0], 1.0),
        (0x0E, &[0xC0, 0, 0, 0, 0, 0, 0, 0], -2.0),
    ];
    for (kind, data, value) in cases {
        let mut rows = open(file(kind, &[1, 1, 1], data)).unwrap();
        let images = rows.read(1).unwrap();
        assert_eq!(images.row(0).collect::<Vec<_>>(), [value]);
        assert_eq!(rows.shape, Some((1, 1)));
    }
}

#[test]
fn hostile_headers_are_refused_without_belief() {
    let message = |bytes: Vec<u8>| {
        open(bytes)
            .and_then(|mut r| r.read(usize::MAX))
            .unwrap_err()
            .to_string()
    };
    assert!(
        message(file(8, &[u32::MAX, 28, 28], &[0; 2000]))
            .contains("holds 2 of the 4294967295 rows")
    );
    // 2⁶⁷ bytes.
    assert!(message(file(0x0E, &[u32::MAX, 65535, 65535], &[])).contains("holds 0 of"));
    assert!(message(file(8, &[1, u32::MAX, u32::MAX], &[])).contains("too long"));
    assert!(message(file(7, &[1], &[])).contains("not an IDX"));
    assert!(message(vec![0, 0, 8, 3, 0]).contains("ends inside"));
    assert!(message(file(8, &[1, 1], &[1, 2])).contains("bytes behind"));
}

#[test]
fn labels_are_found_by_name() {
    let labels = |p: &str| labels_path(Path::new(p)).map(|p| p.display().to_string());
    assert_eq!(
        labels("d/train-images-idx3-ubyte.gz").as_deref(),
        Some("d/train-labels-idx1-ubyte.gz")
    );
    assert_eq!(labels("d/x.idx"), None);
}
