//! The elements of a tensor, by its datatype.

use serde_json::value::RawValue;

use crate::json::{LARGEST, add_text};

/// The elements of a tensor as texts of numbers, or as texts.
pub enum Elements {
    /// Numbers, or truth values.
    Numbers(Vec<String>),
    /// Texts.
    Texts(Vec<String>),
}

impl Elements {
    /// How many they are.
    pub fn len(&self) -> usize {
        match self {
            Elements::Numbers(all) | Elements::Texts(all) => all.len(),
        }
    }

    /// Writes one as a cell.
    pub fn put(&self, i: usize, to: &mut Vec<u8>) {
        match self {
            Elements::Numbers(all) => to.extend(all[i].as_bytes()),
            Elements::Texts(all) => add_text(&all[i], to),
        }
    }
}

/// A number as a cell.
fn finite<T: Copy + Into<f64> + ToString>(x: T) -> Result<String, String> {
    match x.into().abs() <= LARGEST {
        true => Ok(x.to_string()),
        false => Err(format!(
            "expected numbers up to {LARGEST:e}, found {}",
            x.to_string()
        )),
    }
}

/// Elements as the binary extension has them.
pub fn of_bytes(datatype: &str, bytes: &[u8]) -> Result<Elements, String> {
    fn each<const N: usize>(
        bytes: &[u8],
        text: impl Fn([u8; N]) -> Result<String, String>,
    ) -> Result<Elements, String> {
        let (chunks, rest) = bytes.as_chunks::<N>();
        if !rest.is_empty() {
            return Err(format!(
                "{} bytes are no elements of {N} bytes",
                bytes.len()
            ));
        }
        let texts: Result<_, String> = chunks.iter().map(|&chunk| text(chunk)).collect();
        texts.map(Elements::Numbers)
    }
    match datatype {
        "FP32" => each(bytes, |b| finite(f32::from_le_bytes(b))),
        "FP64" => each(bytes, |b| finite(f64::from_le_bytes(b))),
        "INT8" => each(bytes, |b| Ok(i8::from_le_bytes(b).to_string())),
        "INT16" => each(bytes, |b| Ok(i16::from_le_bytes(b).to_string())),
        "INT32" => each(bytes, |b| Ok(i32::from_le_bytes(b).to_string())),
        "INT64" => each(bytes, |b| Ok(i64::from_le_bytes(b).to_string())),
        "UINT8" => each(bytes, |b| Ok(u8::from_le_bytes(b).to_string())),
        "UINT16" => each(bytes, |b| Ok(u16::from_le_bytes(b).to_string())),
        "UINT32" => each(bytes, |b| Ok(u32::from_le_bytes(b).to_string())),
        "UINT64" => each(bytes, |b| Ok(u64::from_le_bytes(b).to_string())),
        "BOOL" => each(bytes, |[b]| Ok((b != 0).to_string())),
        "BYTES" => {
            let (mut rest, mut texts) = (bytes, Vec::new());
            while !rest.is_empty() {
                let (length, after) = rest.split_first_chunk::<4>().ok_or("a length is cut off")?;
                let length = u32::from_le_bytes(*length) as usize;
                let (text, after) = after.split_at_checked(length).ok_or("a text is cut off")?;
                let text = std::str::from_utf8(text).map_err(|_| "expected UTF-8")?;
                if text.contains('\0') {
                    return Err("there is a zero byte in a text".into());
                }
                texts.push(text.to_owned());
                rest = after;
            }
            Ok(Elements::Texts(texts))
        }
        _ => Err(unknown_type(datatype)),
    }
}

fn unknown_type(datatype: &str) -> String {
    format!(
        "the datatype {datatype:?} is not known; use BOOL, INT8 to INT64, UINT8 to UINT64, FP32, FP64 or BYTES"
    )
}

/// Elements in JSON.
pub fn of_json(datatype: &str, data: &str) -> Result<Elements, String> {
    // Lists within lists are one list, row by row.
    fn flat<'a>(data: &'a RawValue, depth: usize, to: &mut Vec<&'a str>) -> Result<(), String> {
        let text = data.get();
        if !text.starts_with('[') {
            to.push(text);
            return Ok(());
        }
        if depth > 8 {
            return Err("lists within lists, more than 8 deep".into());
        }
        let inner: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| e.to_string())?;
        inner
            .into_iter()
            .try_for_each(|data| flat(data, depth + 1, to))
    }
    if !data.starts_with('[') {
        return Err("data: expected a list".into());
    }
    let mut values = Vec::new();
    let data: &RawValue = serde_json::from_str(data).map_err(|e| e.to_string())?;
    flat(data, 0, &mut values)?;
    let wrong = |value: &str| format!("expected {datatype}, found {value}");
    match datatype {
        "BYTES" => values
            .into_iter()
            .map(|value| match serde_json::from_str::<String>(value) {
                Ok(text) if !text.contains('\0') => Ok(text),
                _ => Err(wrong(value)),
            })
            .collect::<Result<_, _>>()
            .map(Elements::Texts),
        "BOOL" => values
            .into_iter()
            .map(|value| match value {
                "true" | "1" => Ok("true".to_owned()),
                "false" | "0" => Ok("false".to_owned()),
                _ => Err(wrong(value)),
            })
            .collect::<Result<_, _>>()
            .map(Elements::Numbers),
        "FP32" | "FP64" => values
            .into_iter()
            .map(|value| match value.parse::<f64>() {
                Ok(x) if x.abs() <= LARGEST => Ok(value.to_owned()),
                _ => Err(wrong(value)),
            })
            .collect::<Result<_, _>>()
            .map(Elements::Numbers),
        "INT8" | "INT16" | "INT32" | "INT64" | "UINT8" | "UINT16" | "UINT32" | "UINT64" => values
            .into_iter()
            .map(|value| match value.parse::<i128>() {
                Ok(_) => Ok(value.to_owned()),
                Err(_) => Err(wrong(value)),
            })
            .collect::<Result<_, _>>()
            .map(Elements::Numbers),
        _ => Err(unknown_type(datatype)),
    }
}
