use super::*;
use crate::read::chunk::Chunk;
use rosenblatt_core::internal::random::{Random, Stream};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A row: its label, its weight, and bits of values by index, zeros included.
type Row = (String, f64, BTreeMap<u32, u64>);

fn rules() -> Rules {
    Rules {
        labels_required: false,
        on_error: OnError::Fail,
        ..Rules::default()
    }
}

/// The only row of a line, zeros left out.
fn read(line: &str) -> (String, f64, Vec<(u32, f64)>) {
    let (part, weights) = parse::<f64>(&Chunk::from_bytes(line.as_bytes()), rules());
    assert!(part.faults.fatal.is_none(), "{:?}", part.faults.fatal);
    assert_eq!((part.rows(), weights.len()), (1, 1), "{line:?}");
    let features = part.range(0).map(|k| part.get(k)).collect();
    (label(&part, 0), weights[0], features)
}

fn label(part: &SparsePart, row: usize) -> String {
    match part.labels.codes[row] {
        ABSENT => String::new(),
        code => part.labels.names.text(code).into_owned(),
    }
}

#[test]
fn hashes_are_vowpal_wabbits() {
    // Reference values of MurmurHash3_x86_32.
    assert_eq!(murmur3(b"", 0), 0);
    assert_eq!(murmur3(b"", 1), 0x514E_28B7);
    assert_eq!(murmur3(b"test", 0x9747_B28C), 0x704B_81DC);
    assert_eq!(murmur3(b"Hello, world!", 0x9747_B28C), 0x2488_4CBA);
    assert_eq!(hash(b"12", 30), 42);
}

#[test]
fn a_line_is_a_row() {
    let row = |label: &str, features: &[(u32, f64)]| (label.to_owned(), 1.0, features.to_vec());
    assert_eq!(read("1 | 3:0.5 7"), row("1", &[(3, 0.5), (7, 1.0)]));
    assert_eq!(read("-1 2.5 'a|x").1, 2.5);
    let tag = read("yes| 2:4");
    assert_eq!(tag, row("", &[(2, 4.0)]), "a word at the bar is a tag");
    assert_eq!(read("yes | 2:4"), row("yes", &[(2, 4.0)]));
    assert_eq!(read("| 2:4"), row("", &[(2, 4.0)]));
    assert_eq!(read("|"), row("", &[]));
    assert_eq!(read("1 | 2:4 \n "), row("1", &[(2, 4.0)]));
    assert_eq!(read("1 | 7:1 3:2 7:0.5"), row("1", &[(3, 2.0), (7, 1.5)]));
    assert_eq!(read("1 |a:2 x:3 |b x"), read("1 |a x:6 |b x:1"));
    assert_ne!(read("1 |a x"), read("1 |b x"));
    assert_ne!(read("1 |a x"), read("1 | x"));
    let none = parse::<f32>(&Chunk::from_bytes(b"  \n\r\n"), rules());
    assert_eq!((none.0.rows(), none.1.len()), (0, 0));
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    for (line, column, word) in [
        ("1 2 3", 1, "expected label | features"),
        ("1:2:0.5 | a", 1, "not a single one"),
        ("1 x | a", 3, "expected a weight"),
        ("1 -2 | a", 3, "expected a weight"),
        ("1 2 0.5 | a", 5, "initial predictions"),
        ("1 | a:b", 7, "expected a number"),
        ("1 | 3:4x", 7, "expected a number"),
        ("1 | 3:4\x0B 5:1", 7, "expected a number"),
        ("1 | 1:1 3:4\x0B", 11, "expected a number"),
        ("1 | a :3", 7, "no space before"),
        ("1 | a:1e999", 5, "too large"),
        ("1 | 3:1e999", 5, "the value of \"3\" is too large"),
        ("1 |a 3:1e308 |a 3:1e308", 3, "too large"),
        ("  a\u{1} | 3", 4, "control character"),
        ("  a\0 | 3", 4, "zero byte"),
    ] {
        let (part, _) = parse::<f64>(&Chunk::from_bytes(line.as_bytes()), rules());
        let error = part.faults.fatal.unwrap();
        assert_eq!(error.position().unwrap().column, column, "{error}");
        assert!(error.to_string().contains(word), "{error}");
        assert!(error.advice().is_some(), "{error}");
    }
    let (part, _) = parse::<f64>(
        &Chunk::from_bytes(b"1 | 3:1 0:1"),
        Rules {
            from_one: true,
            ..rules()
        },
    );
    let error = part.faults.fatal.unwrap();
    assert_eq!(error.position().unwrap().column, 9, "{error}");
}

#[test]
fn names_end_where_they_do_byte_by_byte() {
    let mut random = Random::new(14, Stream::Sample, 0);
    for _ in 0..20_000 {
        let mut text: Vec<u8> = (0..random.below(20))
            .map(|_| match random.below(4) {
                0 => random.below(256) as u8,
                1 => b"!9;z{}\x7F\x80\xA0\xBA\xFC"[random.below(11) as usize],
                _ => b'a' + random.below(26) as u8,
            })
            .collect();
        text.push(b'\n');
        let expected = text.iter().position(|b| *b <= b' ' || b":|".contains(b));
        assert_eq!(Some(name_end(&text, 0)), expected, "{text:?}");
    }
}

/// A row that is left out once took the place of another among the weights.
#[test]
fn rows_that_are_left_out_have_no_weight() {
    let rules = Rules {
        from_one: true,
        on_error: OnError::Skip,
        ..rules()
    };
    let (part, weights) = parse::<f64>(&Chunk::from_bytes(b"1 2 | 0:1\n1 3 | 1:1\n"), rules);
    assert_eq!((part.rows(), &weights[..]), (1, &[3.0][..]));
}

#[test]
fn decimals_that_no_f64_tells_are_kept() {
    let rules = Rules {
        keep_long_decimals: true,
        ..rules()
    };
    let text = b"1 | 1:0.5\n1 | 2:1e-300 3:0.12345678901234567\n";
    let (part, _) = parse::<f64>(&Chunk::from_bytes(text), rules);
    let [long] = &part.long[..] else {
        panic!("{:?}", part.long);
    };
    assert_eq!(
        (long.row, long.column, &long.text[..]),
        (1, 2, "1e-300"),
        "as libsvm text has it"
    );
}

/// A line by the definition, or the place of its first fault.
fn naive<T: Stored>(line: &str) -> std::result::Result<Option<Row>, usize> {
    let blank = |c: char| c.is_ascii_whitespace();
    let places = |text: &str| -> Vec<(usize, String)> {
        let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let words = text.split(blank).filter(|word| !word.is_empty());
        words.map(|word| (start(word), word.to_owned())).collect()
    };
    let decimal = |text: &str| -> Option<f64> {
        let plain = text.bytes().all(|b| b"+-.0123456789eE".contains(&b));
        text.parse().ok().filter(|_| plain)
    };
    let line = line.trim_end_matches(blank);
    if line.is_empty() {
        return Ok(None);
    }
    let mut parts = line.split('|');
    let front = parts.next().unwrap();
    if front.len() == line.len() {
        return Err(0);
    }
    let mut words = places(front);
    if let Some((_, last)) = words.last()
        && (last.starts_with('\'') || (!front.ends_with(blank) && decimal(last).is_none()))
    {
        words.pop();
    }
    let (at, label) = words.first().cloned().unwrap_or_default();
    if label.contains([':', '#', ',']) {
        return Err(at);
    }
    let weight = match words.get(1) {
        None => 1.0,
        Some((at, word)) => decimal(word)
            .filter(|w| *w > 0.0 && w.is_finite())
            .ok_or(*at)?,
    };
    if let Some((at, _)) = words.get(2) {
        return Err(*at);
    }
    let largest = match T::PRECISION {
        Precision::F32 => f64::from(f32::MAX),
        Precision::F64 => f64::MAX,
    };
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    let mut start = front.len() + 1;
    for part in parts {
        let named = part.starts_with(|c| !blank(c));
        let (mut seed, mut scale) = (0, 1.0);
        for (k, (at, word)) in places(part).into_iter().enumerate() {
            let (name, value) = match word.rsplit_once(':') {
                None => (&word[..], 1.0),
                Some((name, value)) => {
                    let place = start + at + name.len() + 1;
                    (name, decimal(value).ok_or(place)?)
                }
            };
            if named && k == 0 {
                (seed, scale) = (hash(name.as_bytes(), 0), value);
                continue;
            }
            let whole = name.bytes().all(|b| b.is_ascii_digit());
            let whole = whole.then(|| name.parse().ok()).flatten();
            let index = match whole.filter(|&n: &u32| n < u32::MAX) {
                _ if name.is_empty() => return Err(start + at),
                Some(number) if !named => number,
                Some(number) => 1 + number.wrapping_add(seed) % (1 << 18),
                None => 1 + murmur3(name.as_bytes(), seed) % (1 << 18),
            };
            let value = value * scale;
            if value.is_nan() || value.abs() > largest {
                return Err(start + at);
            }
            *sums.entry(index).or_insert(-0.0) += value;
        }
        start += part.len() + 1;
    }
    let stored = |x: f64| {
        // As in libsvm text.
        let text = format!("{x:?}");
        text.parse::<T>().unwrap_or_default().to_f64().to_bits()
    };
    if sums.values().any(|x| x.abs() > largest) {
        return Err(front.len());
    }
    let stored = sums.into_iter().map(|(j, x)| (j, stored(x))).collect();
    Ok(Some((label, weight, stored)))
}

fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len() as u64) as usize]
}

/// Something like a line of Vowpal Wabbit's text.
fn some_line(random: &mut Random) -> String {
    const LABELS: [&str; 12] = [
        "1 ",
        "-1 ",
        "+1 ",
        "",
        "yes ",
        "1 2.5 ",
        " 0 1e-3 'tag",
        "1 'tag",
        "tag",
        "é ",
        "3",
        "\t2 ",
    ];
    const SPACES: [&str; 14] = [
        "", "", "", "a", "b:2", "c:-0.5", "12", "a:1e300", "|", ":3", "", "7:0", "é", "a:x",
    ];
    const NAMES: [&str; 20] = [
        "1",
        "2",
        "7",
        "0",
        "007",
        "12345678",
        "123456789",
        "4294967294",
        "4294967295",
        "a",
        "b",
        "long_name_of_a_feature",
        "a:b",
        "é",
        "'",
        "7x",
        "-1",
        "1.5",
        "99999999999",
        "a^b",
    ];
    const VALUES: [&str; 26] = [
        "",
        "",
        ":1",
        ":0.5",
        ":-0.25",
        ":1e-3",
        ":0",
        ":-0",
        ":16777217",
        ":1e-45",
        ":7e-46",
        ":3.4028235e38",
        ":1e300",
        ":0.1234567890123456",
        ":1.00000005960464477",
        ":1.",
        ":.5",
        ":+2",
        ":123456789012345678",
        ":3.4028234663852886e38",
        ":1e-40",
        ":1.1754943e-38",
        ":2.3509887016445750e-38",
        ":1E5",
        ":5e-324",
        ":0.30000001192092896",
    ];
    const WRONG: [&str; 12] = [
        " :3", " a:x", " 3:", " 3:1e999", " 4:1x", " 5:--1", " 6:nan", " 7:inf", " 8:1_0", " 9:1e",
        " 1:0x1", " 2:.",
    ];
    let mut line = pick(random, &LABELS).to_owned();
    for _ in 0..random.below(4) {
        line.push('|');
        line.push_str(match random.below(3) {
            0 => pick(random, &SPACES),
            _ => "",
        });
        for _ in 0..random.below(8) {
            match random.below(200) {
                0 => line.push_str(pick(random, &WRONG)),
                1 => line.push_str(pick(random, &["  ", "\t", "\x0C", "\r"])),
                2..80 => {
                    let value = random.below(1_000_000) as f64 / 1e4 - 50.0;
                    let _ = write!(line, " {}:{value}", random.below(30));
                }
                _ => {
                    line.push(' ');
                    line.push_str(pick(random, &NAMES));
                    line.push_str(pick(random, &VALUES));
                }
            }
        }
    }
    line.push_str(pick(random, &["", "", "", " ", "\r", "x", "\x0B"]));
    line
}

fn agree<T: Stored>(text: &str) {
    let lines: Vec<_> = text.split('\n').map(naive::<T>).collect();
    let rules = Rules {
        on_error: OnError::Skip,
        ..rules()
    };
    let (part, weights) = parse::<T>(&Chunk::from_bytes(text.as_bytes()), rules);
    let expected: Vec<&Row> = lines
        .iter()
        .filter_map(|l| l.as_ref().ok()?.as_ref())
        .collect();
    assert_eq!(
        (part.rows(), part.labels.codes.len()),
        (expected.len(), expected.len()),
        "{text:?}"
    );
    let bits =
        |weights: &mut dyn Iterator<Item = f64>| weights.map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(
        bits(&mut weights.iter().copied()),
        bits(&mut expected.iter().map(|row| row.1))
    );
    for (i, row) in expected.iter().enumerate() {
        assert_eq!(label(&part, i), row.0, "{text:?}");
        let found = part
            .range(i)
            .map(|k| part.get(k))
            .map(|(j, x)| (j, x.to_bits()));
        let kept = row.2.iter().map(|(j, x)| (*j, *x));
        let kept = kept.filter(|(_, x)| f64::from_bits(*x) != 0.0);
        assert!(found.eq(kept), "row {i} of {text:?}");
    }
    // A row with neither label nor features counts as one with feature 1, which is zero.
    let width = expected
        .iter()
        .map(|(label, _, features)| match features.last_key_value() {
            Some((last, _)) => u64::from(*last) + 1,
            None => 2 * u64::from(label.is_empty()),
        });
    assert_eq!(part.width, width.max().unwrap_or(0), "{text:?}");
    let zero = expected.iter().any(|row| row.2.contains_key(&0));
    assert_eq!(part.smallest, u32::from(!zero), "{text:?}");
    assert_eq!((part.unsorted, part.qids), (0, 0));
    // And the first fault, where rows are not left out.
    let wrong = lines.iter().position(|line| line.is_err());
    let (part, _) = parse::<T>(
        &Chunk::from_bytes(text.as_bytes()),
        Rules {
            on_error: OnError::Fail,
            ..rules
        },
    );
    let found = part.faults.fatal.map(|error| {
        let place = error.position().unwrap();
        (place.line, place.column)
    });
    let place = |k: usize| (k as u64 + 1, *lines[k].as_ref().unwrap_err() as u64 + 1);
    assert_eq!(found, wrong.map(place), "{text:?}");
}

#[test]
fn lines_are_read_as_the_definition_says() {
    let mut random = Random::new(13, Stream::Sample, 0);
    for _ in 0..400 {
        let mut text = some_line(&mut random);
        for _ in 0..random.below(12) {
            text.push('\n');
            text.push_str(&some_line(&mut random));
        }
        agree::<f32>(&text);
        agree::<f64>(&text);
    }
}
