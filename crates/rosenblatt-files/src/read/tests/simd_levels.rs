//! Every level of the processor reads the same from the same text, errors included.

use super::*;
use crate::read::dispatch::tests::at_every_level;
use rosenblatt_core::data::{Layout, Precision};
use rosenblatt_core::internal::random::{Random, Stream};
use std::fmt::Write;

/// All that is read from `text`, or why nothing is.
fn outcome(text: &[u8], options: &ReadOptions) -> String {
    let all = || {
        let raw = read_from(Cursor::new(text.to_vec()), "f", options)?;
        let fitted = Preparation::fit(&raw, None, Some(Scale::None))?;
        let data = raw.dataset(&fitted, None, Layout::AsGiven)?;
        let mut found = format!("{:?} {:?}\n", data.labels, raw.report());
        for i in 0..data.matrix.rows() {
            data.row(i)
                .for_each(|j, x| write!(found, "{j}:{:x} ", x.to_bits()).unwrap());
            found.push('\n');
        }
        Ok(found)
    };
    all().unwrap_or_else(|error: Error| error.to_string())
}

fn read_alike(text: &[u8], format: Format) {
    for precision in [Precision::F32, Precision::F64] {
        let options = ReadOptions {
            format: Some(format),
            precision,
            threads: 1,
            chunk_bytes: 700,
            ..ReadOptions::default()
        };
        let [scalar, wide] = at_every_level(|| outcome(text, &options));
        let shown = String::from_utf8_lossy(text);
        assert_eq!(scalar, wide, "{shown}");
    }
}

/// A number, mostly of the usual sort.
fn number(random: &mut Random, text: &mut String) {
    let places = random.below(10) as usize;
    match random.below(60) {
        0 => write!(text, "{}", f64::from_bits(random.below(0x7FF << 52))),
        1 => write!(
            text,
            "{:e}",
            f32::from_bits(random.below(0x7F80_0000) as u32)
        ),
        2 => write!(text, "+{}", random.below(100)),
        3 => write!(text, "{}", random.below(1 << 40)),
        4 => write!(text, "-0.0"),
        5 => write!(text, "0"),
        6 => write!(text, "{:.15}", random.unit()),
        7 => write!(text, ".5"),
        8 => write!(text, "7."),
        9..=20 => write!(text, "{}", random.below(1000)),
        _ => write!(text, "{:.places$}", 20.0 * random.unit() - 10.0),
    }
    .unwrap();
}

/// A number of a few characters.
fn short_number(random: &mut Random, text: &mut String) {
    let places = random.below(6) as usize;
    match random.below(20) {
        0 => write!(text, "7."),
        1 => write!(text, "-0.0"),
        2 => write!(text, "{}", random.below(100_000_000)),
        _ => write!(text, "{:.places$}", 20.0 * random.unit() - 10.0),
    }
    .unwrap();
}

/// Now and then a byte that does not belong.
fn spoil(random: &mut Random, text: &mut String) {
    let strange = [
        ":", ".", "-", "\0", "x", "\t", " ", "\u{e9}", ",", "\r", "#", "\"", "e", "1",
    ];
    if random.below(3) == 0 {
        let at = random.below(text.len() as u64) as usize;
        if text.is_char_boundary(at) {
            text.insert_str(at, strange[random.below(strange.len() as u64) as usize]);
        }
    }
}

#[test]
fn sparse_rows() {
    let mut random = Random::new(11, Stream::Sample, 0);
    for round in 0..400 {
        let mut text = String::new();
        for _ in 0..1 + random.below(12) {
            text += ["+1", "-1", "a", "2"][random.below(4) as usize];
            let (mut index, step) = (0, [2, 30, 100_000][random.below(3) as usize]);
            for _ in 0..random.below(40) {
                index += 1 + random.below(step);
                write!(text, " {index}:").unwrap();
                // Long ones keep tokens from being read as such that lie together.
                match round % 4 {
                    0 | 1 => number(&mut random, &mut text),
                    _ => short_number(&mut random, &mut text),
                }
            }
            text += ["\n", "\n", " \n", "\r\n", " # note 1:2\n"][random.below(5) as usize];
        }
        if round % 2 == 1 {
            spoil(&mut random, &mut text);
        }
        read_alike(text.as_bytes(), Format::Libsvm);
    }
}

#[test]
fn tables() {
    let mut random = Random::new(12, Stream::Sample, 0);
    for round in 0..600 {
        let mut text = String::new();
        let columns = 1 + random.below(30);
        let delimiter = [",", ";", "\t", " ", " \t"][random.below(5) as usize];
        let blanks = delimiter.starts_with(' ');
        for _ in 0..2 + random.below(12) {
            text += ["yes", "no"][random.below(2) as usize];
            for _ in 0..columns {
                text += delimiter;
                match random.below(40) {
                    0..4 if blanks => text += "?",
                    0 => {}
                    1 => text += "?",
                    2 => text += "\"1.5\"",
                    3 => text += " 2.5",
                    _ => number(&mut random, &mut text),
                }
            }
            text += ["\n", "\r\n"][random.below(2) as usize];
        }
        if round % 2 == 1 {
            spoil(&mut random, &mut text);
        }
        read_alike(text.as_bytes(), Format::Csv);
    }
}
