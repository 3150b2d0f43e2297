//! Two choices, then a libsvm file: read, met again, written and read back.

use std::io::Cursor;

use rosenblatt::data::{Layout, Precision};
use rosenblatt::read::{Format, OnError, Preparation, ReadOptions, Scale, read_from};
use rosenblatt::write::{TextFormat, write};

use super::{
    Choices, Found, check_met_again, check_scattered, numbered, one_chunk, read_once, read_twice,
};

struct Input<'a> {
    bytes: &'a [u8],
    options: ReadOptions,
    scale: Scale,
    chunk: usize,
}

impl<'a> Input<'a> {
    fn of(data: &'a [u8]) -> Self {
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
        Input {
            bytes: choices.rest,
            options,
            scale: [Scale::None, Scale::UnitRows, Scale::Standard, Scale::Minmax][scale & 3],
            chunk,
        }
    }

    fn read_once(&self) -> Option<Found> {
        read_once(self.bytes, "f", &self.options, Some(self.scale))
    }

    fn read_twice(&self) -> Option<Found> {
        read_twice(self.bytes, "f", &self.options, Some(self.scale), self.chunk)
    }

    fn check_met_again(&self, found: &Found) {
        check_met_again(self.bytes, "f", found, &self.options, self.chunk);
    }

    /// What is written reads back equal.
    fn check_written(&self, found: &Found) {
        let plain = Preparation::fit(&found.raw, None, Some(Scale::None));
        let plain = plain.expect("nothing to scale");
        let data = found.raw.dataset(&plain, None, Layout::AsGiven);
        let data = data.expect("nothing to scale");
        let mut text = Vec::new();
        write(&data, TextFormat::Libsvm, &mut text).expect("what was read can be written");
        let options = ReadOptions {
            positive: None,
            keep_long_decimals: false,
            on_error: OnError::Fail,
            threads: 1,
            chunk_bytes: one_chunk(&text),
            ..self.options.clone()
        };
        let raw = read_from(Cursor::new(text), "again", &options).expect("what was written reads");
        let plain = Preparation::fit(&raw, None, Some(Scale::None)).expect("nothing to scale");
        let again = raw
            .dataset(&plain, None, Layout::AsGiven)
            .expect("nothing to scale");
        assert_eq!(numbered(&again), numbered(&data));
    }
}

pub fn check(data: &[u8]) {
    let input = Input::of(data);
    if let Some(found) = input.read_twice() {
        input.check_met_again(&found);
        input.check_written(&found);
    }
}

pub fn check_some(data: &[u8]) {
    let input = Input::of(data);
    let part = data.len() % 16;
    if part < 2 {
        input.read_twice();
        return;
    }
    let Some(found) = input.read_once() else {
        return;
    };
    match part {
        2 => input.check_met_again(&found),
        3 => input.check_written(&found),
        4 => check_scattered(&found),
        _ => {}
    }
}
