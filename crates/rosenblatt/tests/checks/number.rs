//! Decimals, one for each piece between blanks: read as the standard library reads them.

use std::io::Cursor;

use rosenblatt::data::Precision;
use rosenblatt::read::{ColumnKind, Format, OnError, ReadOptions, Scale, read_from};

use super::{ONE_CHUNK, prepare};

pub fn check(data: &[u8]) {
    let pieces: Vec<&[u8]> = data
        .split(|&b| b <= b' ' || b == b'#')
        .filter(|p| !p.is_empty())
        .take(32)
        .collect();
    for precision in [Precision::F32, Precision::F64] {
        in_libsvm(&pieces, precision);
        in_table(&pieces, precision);
    }
}

fn options(format: Format, precision: Precision) -> ReadOptions {
    ReadOptions {
        format: Some(format),
        precision,
        on_error: OnError::Skip,
        keep_long_decimals: true,
        threads: 1,
        chunk_bytes: ONE_CHUNK,
        ..ReadOptions::default()
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
        // Commas, apostrophes and blanks within a cell may separate thousands, by what the column
        // holds.
        .filter(|p| p.is_ascii() && !p.iter().any(|b| b"\"', ".contains(b)))
        .filter(|p| !matches!(*p, b"?" | b"NA" | b"NaN" | b"nan"))
        .collect();
    let mut text = b"end,0\n".to_vec();
    for (i, piece) in pieces.iter().enumerate() {
        text.extend(format!("r{i},").bytes());
        text.extend(*piece);
        // One way to end a line for each way to read a cell.
        text.extend([&b"\n"[..], b"\r\n", b" \n"][i % 3]);
    }
    let mut options = options(Format::Csv, precision);
    options.delimiter = Some(rosenblatt::read::Delimiter::Byte(b','));
    options.header = Some(false);
    options.label = Some("0".to_owned());
    options.columns = vec![("1".to_owned(), ColumnKind::Numeric)];
    compare(text, &options, |i| value(pieces.get(i)?, precision));
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
    let raw =
        read_from(Cursor::new(text), "numbers", options).unwrap_or_else(|e| panic!("{e}\n{shown}"));
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
        // Zeros have no sign in sparse rows.
        let same = x.to_bits() == expected.bits || x == 0.0 && expected.bits << 1 == 0;
        assert!(same, "line {i}: {x}\n{shown}");
        let long = (found.raw.long_decimals().iter()).any(|l| l.row == row as u64);
        assert!(expected.long.is_none_or(|e| e == long), "line {i}\n{shown}");
    }
    assert_eq!(row + 1, names.len(), "{shown}");
}

/// The bits, as `f64`, of a decimal by the grammar; `None` if it is none or too large.
fn value(piece: &[u8], precision: Precision) -> Option<Expected> {
    let text = std::str::from_utf8(piece).ok()?;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((m, e)) => (m, Some(e.strip_prefix(['+', '-']).unwrap_or(e))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    let fits = digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|e| !e.is_empty() && digits(e));
    if !fits {
        return None;
    }
    let exact: f64 = text.parse().expect("the grammar is a part of Rust's");
    let stored = match precision {
        Precision::F32 => f64::from(text.parse::<f32>().expect("also for f32")),
        Precision::F64 => exact,
    };
    let written = format!("{whole}{fraction}");
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
    stored.is_finite().then_some(Expected {
        bits: stored.to_bits(),
        long,
    })
}
