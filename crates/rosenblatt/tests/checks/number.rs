//! Decimals, one for each piece between blanks: read as the standard library reads them.

use std::io::Cursor;

use rosenblatt::data::Precision;
use rosenblatt::read::{
    ColumnKind, Format, ModelReader, OnError, Preparation, ReadOptions, Scale, read_from,
};

use super::decimal::Decimal;
use super::{one_chunk, prepare};

/// The ways in which a decimal is read.
const WAYS: [(Format, Precision); 4] = [
    (Format::Libsvm, Precision::F32),
    (Format::Csv, Precision::F32),
    (Format::Libsvm, Precision::F64),
    (Format::Csv, Precision::F64),
];

fn pieces(data: &[u8], most: usize) -> Vec<&[u8]> {
    let pieces = data.split(|&b| b <= b' ' || b == b'#');
    pieces.filter(|p| !p.is_empty()).take(most).collect()
}

pub fn check(data: &[u8]) {
    let pieces = pieces(data, 32);
    for way in 0..WAYS.len() {
        for_a_model(&pieces, way);
        in_a_file(&pieces, way);
    }
}

pub fn check_some(data: &[u8]) {
    let pieces = pieces(data, 8);
    let way = data.len() % WAYS.len();
    match data.len() / WAYS.len() % 16 {
        0 => in_a_file(&pieces, way),
        _ => for_a_model(&pieces, way),
    }
}

fn in_a_file(pieces: &[&[u8]], way: usize) {
    let (format, precision) = WAYS[way];
    match format {
        Format::Libsvm => in_libsvm(pieces, precision),
        _ => in_table(pieces, precision),
    }
}

/// Rows that a model meets, without all else that a file needs.
fn for_a_model(pieces: &[&[u8]], way: usize) {
    thread_local! {
        static READERS: Vec<ModelReader> = WAYS.map(|(format, precision)| reader(format, precision)).into();
    }
    READERS.with(|readers| compare_rows(pieces, &readers[way], WAYS[way]));
}

/// A reader for a model of two classes and one feature, a number.
fn reader(format: Format, precision: Precision) -> ModelReader {
    let (text, mut options) = match format {
        Format::Libsvm => ("a 1:1\nb 1:2\n", options(format, precision)),
        _ => ("a,1\nb,2\n", table_options(precision)),
    };
    options.on_error = OnError::Fail;
    let raw = read_from(Cursor::new(text), "two rows", &options).expect("two rows");
    let preparation = Preparation::fit(&raw, None, Some(Scale::None)).expect("nothing to scale");
    ModelReader::new(&preparation, raw.classes(), &options)
}

fn compare_rows(pieces: &[&[u8]], reader: &ModelReader, (format, precision): (Format, Precision)) {
    let start = match format {
        Format::Libsvm => "a 1:",
        _ => "a,",
    };
    let mut text = Vec::new();
    let mut expected = Vec::new();
    for piece in pieces {
        if format != Format::Libsvm && !is_plain_cell(piece) {
            continue;
        }
        let before = text.len();
        text.extend(start.bytes());
        text.extend(*piece);
        text.push(b'\n');
        match bits(piece, precision) {
            Some(bits) => expected.push((*piece, bits)),
            None => {
                let row = text.split_off(before);
                assert!(reader.rows(&row).is_err(), "{}", row.escape_ascii());
            }
        }
    }
    if expected.is_empty() {
        return;
    }
    let shown = || text.escape_ascii().to_string();
    let read = reader.rows(&text);
    let read = read.unwrap_or_else(|e| panic!("{e}\n{}", shown()));
    let texts = expected
        .iter()
        .map(|(piece, _)| std::str::from_utf8(piece).unwrap_or_default());
    if let Some(matrix) = reader.numbers(texts) {
        assert_eq!(format!("{matrix:?}"), format!("{:?}", read.matrix));
    }
    assert_eq!(read.matrix.rows(), expected.len(), "{}", shown());
    for (i, (piece, bits)) in expected.into_iter().enumerate() {
        let x = read.matrix.row(i).to_dense(1)[0];
        assert!(same(x, bits), "{}: {x}", piece.escape_ascii());
    }
}

/// Zeros have no sign in sparse rows.
fn same(x: f64, bits: u64) -> bool {
    x.to_bits() == bits || x == 0.0 && bits << 1 == 0
}

/// Whether a cell is a decimal or nothing that could be one: commas, apostrophes, blanks and several
/// points within a cell may separate thousands, by what the column holds, and some cells stand for
/// nothing.
fn is_plain_cell(piece: &[u8]) -> bool {
    let missing = matches!(piece, b"?" | b"NA" | b"NaN" | b"nan");
    let points = piece.iter().filter(|b| **b == b'.').count();
    piece.is_ascii() && !missing && points < 2 && !piece.iter().any(|b| b"\"', ".contains(b))
}

fn options(format: Format, precision: Precision) -> ReadOptions {
    ReadOptions {
        format: Some(format),
        precision,
        on_error: OnError::Skip,
        keep_long_decimals: true,
        threads: 1,
        ..ReadOptions::default()
    }
}

fn table_options(precision: Precision) -> ReadOptions {
    ReadOptions {
        delimiter: Some(rosenblatt::read::Delimiter::Byte(b',')),
        header: Some(false),
        label: Some("0".to_owned()),
        columns: vec![("1".to_owned(), ColumnKind::Numeric)],
        ..options(Format::Csv, precision)
    }
}

fn in_libsvm(pieces: &[&[u8]], precision: Precision) {
    let mut text = b"end\n".to_vec();
    for (i, piece) in pieces.iter().enumerate() {
        text.extend(format!("r{i} 1:").bytes());
        text.extend(*piece);
        text.push(b'\n');
    }
    compare(text, &options(Format::Libsvm, precision), |i| {
        value(pieces.get(i)?, precision)
    });
}

fn in_table(pieces: &[&[u8]], precision: Precision) {
    let pieces: Vec<&[u8]> = pieces
        .iter()
        .copied()
        .filter(|p| is_plain_cell(p))
        .collect();
    let mut text = b"end,0\n".to_vec();
    for (i, piece) in pieces.iter().enumerate() {
        text.extend(format!("r{i},").bytes());
        text.extend(*piece);
        // One way to end a line for each way to read a cell.
        text.extend([&b"\n"[..], b"\r\n", b" \n"][i % 3]);
    }
    compare(text, &table_options(precision), |i| {
        value(pieces.get(i)?, precision)
    });
}

/// What a row must hold; `None` if it cannot be read.
struct Expected {
    bits: u64,
    /// `None` if either answer will do.
    long: Option<bool>,
}

fn compare(text: Vec<u8>, options: &ReadOptions, expected: impl Fn(usize) -> Option<Expected>) {
    let shown = String::from_utf8_lossy(&text).into_owned();
    let lines = text.iter().filter(|&&b| b == b'\n').count() - 1;
    let options = ReadOptions {
        chunk_bytes: one_chunk(&text),
        ..options.clone()
    };
    let raw = read_from(Cursor::new(text), "numbers", &options)
        .unwrap_or_else(|e| panic!("{e}\n{shown}"));
    let found = prepare(raw, Some(Scale::None)).expect("nothing to scale");
    let names: Vec<&str> = (0..found.raw.rows())
        .map(|i| found.data.classes.name(found.data.labels[i]))
        .collect();
    let mut row = 0;
    assert_eq!(names[row], "end");
    for i in 0..lines {
        let Some(expected) = expected(i) else {
            continue;
        };
        row += 1;
        assert_eq!(names.get(row).copied(), Some(&*format!("r{i}")), "{shown}");
        let x = found.data.row(row).to_dense(found.data.features().max(1))[0];
        assert!(same(x, expected.bits), "line {i}: {x}\n{shown}");
        let long = (found.raw.long_decimals().iter()).any(|l| l.row == row as u64);
        assert!(expected.long.is_none_or(|e| e == long), "line {i}\n{shown}");
    }
    assert_eq!(row + 1, names.len(), "{shown}");
}

/// The bits, as `f64`, of a decimal by the grammar; `None` if it is none or too large.
fn bits(piece: &[u8], precision: Precision) -> Option<u64> {
    Decimal::of(piece)?.bits(precision)
}

/// The same, and whether the decimal says more than its `f64`.
fn value(piece: &[u8], precision: Precision) -> Option<Expected> {
    let decimal = Decimal::of(piece)?;
    let bits = decimal.bits(precision)?;
    let exact = decimal.exact();
    let written = format!("{}{}", decimal.whole, decimal.fraction);
    let significant = written.trim_matches('0').len();
    let long = if significant == 0 {
        Some(false)
    } else {
        // Longer texts are told by their `f64` if it prints just so.
        let printed = format!("{exact:e}");
        let printed = printed.split('e').next().unwrap_or("");
        let printed: String = printed.chars().filter(char::is_ascii_digit).collect();
        let same = printed.trim_matches('0') == written.trim_matches('0');
        let inside = (1e-280..1e280).contains(&exact.abs());
        match (significant > 15 && !same, inside) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    };
    Some(Expected { bits, long })
}
