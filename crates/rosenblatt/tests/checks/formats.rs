//! Two choices, then a file of one of the formats that are no text in cells: read and met again.

use rosenblatt::data::Precision;
use rosenblatt::read::{Format, OnError, ReadOptions, Scale};

use super::{Choices, check_met_again, read_twice};

/// Checks bytes as a file of this format; `None`: as what they begin like.
pub fn check(format: Option<Format>, data: &[u8]) {
    let mut choices = Choices { rest: data };
    let bits = choices.next();
    let options = ReadOptions {
        format,
        precision: [Precision::F32, Precision::F64][bits & 1],
        on_error: [OnError::Fail, OnError::Skip][bits >> 1 & 1],
        positive: (bits & 4 != 0).then(|| "a".to_owned()),
        ..ReadOptions::default()
    };
    let scale = match bits & 8 {
        0 => None,
        _ => Some(Scale::None),
    };
    let chunk = 1 + choices.next();
    let bytes = choices.rest;
    if let Some(found) = read_twice(bytes, "f", &options, scale, chunk) {
        check_met_again(bytes, "f", &found, &options, chunk);
    }
}
