//! Two choices, then a libsvm file: read, met again, written and read back.

use std::io::Cursor;

use rosenblatt::data::{Layout, Precision};
use rosenblatt::read::{Format, OnError, Preparation, ReadOptions, Scale, read_from};
use rosenblatt::write::{TextFormat, write};

use super::{Choices, ONE_CHUNK, check_met_again, numbered, read_twice};

pub fn check(data: &[u8]) {
    let mut choices = Choices { rest: data };
    let bits = choices.next();
    let (scale, chunk) = (bits >> 2, 1 + choices.next());
    let options = ReadOptions {
        format: Some(Format::Libsvm),
        on_error: [OnError::Fail, OnError::Skip][bits & 1],
        precision: [Precision::F32, Precision::F64][bits >> 1 & 1],
        positive: (scale >= 4).then(|| "1".to_owned()),
        keep_long_decimals: scale & 1 == 1,
        ..ReadOptions::default()
    };
    let scale = [Scale::None, Scale::UnitRows, Scale::Standard, Scale::Minmax][scale & 3];
    let bytes = choices.rest;
    let Some(found) = read_twice(bytes, "f", &options, Some(scale), chunk) else {
        return;
    };
    check_met_again(bytes, "f", &found, &options, chunk);

    let plain = Preparation::fit(&found.raw, None, Some(Scale::None)).expect("nothing to scale");
    let data = found
        .raw
        .dataset(&plain, None, Layout::AsGiven)
        .expect("nothing to scale");
    let mut text = Vec::new();
    write(&data, TextFormat::Libsvm, &mut text).expect("what was read can be written");
    let options = ReadOptions {
        positive: None,
        keep_long_decimals: false,
        on_error: OnError::Fail,
        threads: 1,
        chunk_bytes: ONE_CHUNK,
        ..options
    };
    let raw = read_from(Cursor::new(text), "again", &options).expect("what was written reads");
    let plain = Preparation::fit(&raw, None, Some(Scale::None)).expect("nothing to scale");
    let again = raw
        .dataset(&plain, None, Layout::AsGiven)
        .expect("nothing to scale");
    assert_eq!(numbered(&again), numbered(&data));
}
