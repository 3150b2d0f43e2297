//! Six choices, then a table: read, met again, written as CSV and read back.

use std::io::Cursor;

use rosenblatt::data::{Dataset, Layout, Precision};
use rosenblatt::read::{
    ColumnKind, Delimiter, Format, OnError, Preparation, ReadOptions, Scale, read_from,
};
use rosenblatt::write::{TextFormat, write};

use super::{Choices, Value, check_error, check_met_again, one_chunk, read_twice, values};

/// Columns beyond which a table is not written: what is guessed to be libsvm may be wide.
const MOST_WRITTEN: usize = 1 << 12;

pub fn check(data: &[u8]) {
    let mut choices = Choices { rest: data };
    let text = |t: &str| Some(t.to_owned());
    let kinds = [
        None,
        Some(ColumnKind::Numeric),
        Some(ColumnKind::Category),
        Some(ColumnKind::Text),
        Some(ColumnKind::Ignore),
    ];
    let options = ReadOptions {
        format: choices.of(&[Some(Format::Csv), Some(Format::Tsv), None]),
        delimiter: choices.of(&[
            None,
            Some(Delimiter::Byte(b',')),
            Some(Delimiter::Byte(b';')),
            Some(Delimiter::Byte(b'\t')),
            Some(Delimiter::Byte(b'|')),
            Some(Delimiter::Byte(b' ')),
            Some(Delimiter::Blanks),
        ]),
        header: choices.of(&[None, Some(true), Some(false)]),
        label: choices.of(&[None, text("0"), text("1"), text("label"), text("a")]),
        columns: choices
            .of(&kinds)
            .map(|kind| ("0".to_owned(), kind))
            .into_iter()
            .collect(),
        ..ReadOptions::default()
    };
    let bits = choices.next();
    let mut options = ReadOptions {
        on_error: [OnError::Fail, OnError::Skip][bits & 1],
        precision: [Precision::F32, Precision::F64][bits >> 1 & 1],
        keep_long_decimals: bits & 4 != 0,
        comment: (bits & 8 != 0).then(|| "#".to_owned()),
        ..options
    };
    let scale = if bits & 16 == 0 {
        None
    } else {
        Some([Scale::None, Scale::UnitRows, Scale::Standard, Scale::Minmax][bits & 3])
    };
    match choices.next() % 6 {
        1 => options.positive = text("a"),
        2 => options.label_map = vec![(String::new(), "none".to_owned())],
        3 => options.weight_column = text("1"),
        4 => options.ignore = vec!["1".to_owned()],
        5 => options.columns.push(("1".to_owned(), ColumnKind::Text)),
        _ => {}
    }
    let chunk = 1 + choices.next();
    let bytes = choices.rest;
    let Some(found) = read_twice(bytes, "f", &options, scale, chunk) else {
        return;
    };
    check_met_again(bytes, "f", &found, &options, chunk);
    if found.data.features() <= MOST_WRITTEN {
        check_written(&found.data);
    }
}

/// The features as CSV read back as the same numbers.
fn check_written(data: &Dataset) {
    let mut text = Vec::new();
    if let Err(error) = write(data, TextFormat::Csv, &mut text) {
        assert!(check_error(&error).contains("rename it"), "{error}");
        return;
    }
    let options = ReadOptions {
        format: Some(Format::Csv),
        delimiter: Some(Delimiter::Byte(b',')),
        header: Some(true),
        label: Some("label".to_owned()),
        weight_column: data.weights.as_ref().map(|_| "weight".to_owned()),
        precision: data.matrix.precision(),
        // A row without a label keeps it.
        label_map: vec![(String::new(), String::new())],
        threads: 1,
        chunk_bytes: one_chunk(&text),
        ..ReadOptions::default()
    };
    let shown = String::from_utf8_lossy(&text).into_owned();
    let raw =
        read_from(Cursor::new(text), "again", &options).unwrap_or_else(|e| panic!("{e}\n{shown}"));
    let plain = Preparation::fit(&raw, None, Some(Scale::None)).expect("nothing to scale");
    let again = raw
        .dataset(&plain, None, Layout::AsGiven)
        .expect("nothing to scale");
    // Columns of nothing but zeros may count the rows or be empty; the others keep their place.
    let rows = |data: &Dataset| -> Vec<(String, Vec<Value>)> {
        (0..data.len())
            .map(|i| {
                let name = data.classes.name(data.labels[i]).to_owned();
                (name, values(data.row(i)))
            })
            .collect()
    };
    assert_eq!(rows(&again), rows(data), "{shown}");
    assert_eq!(again.weights, data.weights);
}
