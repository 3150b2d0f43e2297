//! Vowpal Wabbit text: `label weight 'tag|namespace:weight feature:value …`, a row on each line.
//!
//! A row becomes a line of libsvm text. Features are numbered as Vowpal Wabbit does it: a whole
//! number without a namespace is itself; a name is hashed with its namespace (MurmurHash3), here
//! to 2¹⁸ numbers from 1. So a model needs no list of names, and a name that comes twice in a row
//! (or shares its number with another) counts as the sum. Tags are left out.

use std::io::Write;

use super::chunk::Chunk;
use super::libsvm::{self, Rules, SparsePart};
use super::number::{self, Stored};
use super::row_errors::{RowErrors, check_text, quote};
use rosenblatt_core::Error;
use rosenblatt_core::data::Precision;

/// Names are hashed to so many numbers.
const NUMBERS: u32 = 1 << 18;

/// A fault, and its place in the line.
type Fault = (usize, Error);

/// Lines as libsvm text.
struct Rewriter {
    labels_required: bool,
    /// The largest value that can be stored.
    largest: f64,
    features: Vec<(u32, f64)>,
}

impl Rewriter {
    /// Appends a line; gives the weight of its row, or nothing where it is empty.
    fn line(&mut self, line: &[u8], text: &mut Vec<u8>) -> std::result::Result<Option<f64>, Fault> {
        if line.trim_ascii().is_empty() {
            text.push(b'\n');
            return Ok(None);
        }
        let Some(bar) = memchr::memchr(b'|', line) else {
            return Err((
                0,
                Error::data(format!("expected label | features, found {}", quote(line)))
                    .remedy("check that this is Vowpal Wabbit text, or pass ⟨format⟩"),
            ));
        };
        let (label, weight) = head(&line[..bar])?;
        if label.is_empty() && self.labels_required {
            return Err((
                0,
                Error::data("the row has no label")
                    .remedy("a row is: label weight 'tag | features"),
            ));
        }
        check_text(label)?;
        self.features.clear();
        let mut at = bar;
        while at < line.len() {
            let end = memchr::memchr(b'|', &line[at + 1..]).map_or(line.len(), |n| at + 1 + n);
            self.namespace(&line[at + 1..end])
                .map_err(|(n, e)| (at + 1 + n, e))?;
            at = end;
        }
        text.extend_from_slice(label);
        // Features of one number are summed in the order in which they come.
        self.features.sort_by_key(|(index, _)| *index);
        let mut k = 0;
        while let Some(&(index, mut value)) = self.features.get(k) {
            k += 1;
            while let Some((_, more)) = self.features.get(k).filter(|f| f.0 == index) {
                value += more;
                k += 1;
            }
            if value.abs() > self.largest {
                return Err((
                    bar,
                    Error::data("the sum of a feature's values is too large")
                        .remedy("rescale the values, or train with ⟨precision f64⟩"),
                ));
            }
            // Writing to memory cannot fail.
            let _ = write!(text, " {index}:");
            crate::write::decimal(text, value, Precision::F64);
        }
        if label.is_empty() && self.features.is_empty() {
            // An empty line would be no row.
            text.extend_from_slice(b" 1:0");
        }
        text.push(b'\n');
        Ok(Some(weight))
    }

    /// The features between two bars.
    fn namespace(&mut self, text: &[u8]) -> std::result::Result<(), Fault> {
        let named = text.first().is_some_and(|b| !b.is_ascii_whitespace());
        let mut words = words(text);
        let (mut seed, mut scale) = (0, 1.0);
        if named && let Some((at, word)) = words.next() {
            let (name, value) = value(word, at)?;
            (seed, scale) = (hash(name, 0), value);
        }
        for (at, word) in words {
            let (name, value) = value(word, at)?;
            if name.is_empty() {
                return Err((
                    at,
                    Error::data(format!("expected name:value, found {}", quote(word)))
                        .remedy("write no space before the colon"),
                ));
            }
            let index = match number_of(name).filter(|_| !named) {
                Some(index) => index,
                None => 1 + hash(name, seed) % NUMBERS,
            };
            let value = value * scale;
            if value.is_nan() || value.abs() > self.largest {
                return Err((
                    at,
                    Error::data(format!("the value of {} is too large", quote(name)))
                        .remedy("rescale the values, or train with ⟨precision f64⟩"),
                ));
            }
            self.features.push((index, value));
        }
        Ok(())
    }
}

/// The words of a text, each with its place.
fn words(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let start = text.as_ptr() as usize;
    text.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - start, word))
}

/// The label, empty if there is none, and the weight that stand before the first bar.
fn head(text: &[u8]) -> std::result::Result<(&[u8], f64), Fault> {
    let close = text.last().is_some_and(|b| !b.is_ascii_whitespace());
    let mut found: Vec<(usize, &[u8])> = words(text).collect();
    // A tag begins with ' or touches the bar.
    let is_tag = |(_, word): &(usize, &[u8])| {
        word.starts_with(b"'") || (close && number::whole::<f64>(word).is_none())
    };
    if found.last().is_some_and(is_tag) {
        found.pop();
    }
    let label = found.first().copied().unwrap_or((0, b""));
    if memchr::memchr2(b':', b'#', label.1).is_some() || label.1.contains(&b',') {
        return Err((
            label.0,
            Error::data(format!("the label {} is not a single one", quote(label.1))).remedy(
                "labels of contextual bandits and of several classes with costs cannot be read",
            ),
        ));
    }
    let weight = match found.get(1) {
        None => 1.0,
        Some((at, word)) => match number::whole::<f64>(word) {
            Some(weight) if weight > 0.0 && weight.is_finite() => weight,
            _ => {
                return Err((
                    *at,
                    Error::data(format!("expected a weight above 0, found {}", quote(word)))
                        .remedy("a row is: label weight 'tag | features"),
                ));
            }
        },
    };
    if let Some((at, word)) = found.get(2) {
        return Err((
            *at,
            Error::data(format!("expected |, found {}", quote(word)))
                .remedy("initial predictions cannot be read; leave them out"),
        ));
    }
    Ok((label.1, weight))
}

/// The name and the value of `name:value`; 1 where there is no value.
fn value(word: &[u8], at: usize) -> std::result::Result<(&[u8], f64), Fault> {
    let Some(colon) = memchr::memrchr(b':', word) else {
        return Ok((word, 1.0));
    };
    match number::whole::<f64>(&word[colon + 1..]) {
        Some(value) => Ok((&word[..colon], value)),
        None => Err((
            at + colon + 1,
            Error::data(format!(
                "expected a number, found {}",
                quote(&word[colon + 1..])
            ))
            .remedy("values are decimals such as -1.5e-3"),
        )),
    }
}

/// A name that is a whole number below 2³² − 1.
fn number_of(name: &[u8]) -> Option<u32> {
    if name.is_empty() || !name.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number: u32 = std::str::from_utf8(name).ok()?.parse().ok()?;
    (number < u32::MAX).then_some(number)
}

/// Vowpal Wabbit's hash of a name: a whole number is added to the seed.
fn hash(name: &[u8], seed: u32) -> u32 {
    match number_of(name) {
        Some(number) => number.wrapping_add(seed),
        None => murmur3(name, seed),
    }
}

/// MurmurHash3, 32 bits. A. Appleby, 2011 (public domain).
fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    let mix = |k: u32| {
        k.wrapping_mul(0xCC9E_2D51)
            .rotate_left(15)
            .wrapping_mul(0x1B87_3593)
    };
    let (fours, rest) = bytes.as_chunks::<4>();
    let mut h = fours.iter().fold(seed, |h, four| {
        let h = (h ^ mix(u32::from_le_bytes(*four))).rotate_left(13);
        h.wrapping_mul(5).wrapping_add(0xE654_6B64)
    });
    if !rest.is_empty() {
        h ^= mix(rest.iter().rev().fold(0, |k, &b| k << 8 | u32::from(b)));
    }
    h ^= bytes.len() as u32;
    h = (h ^ h >> 16).wrapping_mul(0x85EB_CA6B);
    h = (h ^ h >> 13).wrapping_mul(0xC2B2_AE35);
    h ^ h >> 16
}

/// The rows of a chunk and their weights.
pub(super) fn parse<T: Stored>(chunk: &Chunk, rules: Rules) -> (SparsePart, Vec<f64>) {
    let mut text = Vec::with_capacity(chunk.len() + 1);
    let (mut weights, mut faults, mut lines) = (Vec::new(), RowErrors::default(), 0);
    let mut rewriter = Rewriter {
        labels_required: rules.labels_required,
        largest: match T::PRECISION {
            Precision::F32 => f64::from(f32::MAX),
            Precision::F64 => f64::MAX,
        },
        features: Vec::new(),
    };
    for line in chunk.data().split_inclusive(|&b| b == b'\n') {
        lines += 1;
        let begun = text.len();
        match rewriter.line(line.trim_ascii_end(), &mut text) {
            Ok(weight) => weights.extend(weight),
            Err((at, error)) => {
                text.truncate(begun);
                if !faults.add(error.at(lines, at as u64 + 1), rules.on_error) {
                    break;
                }
                text.push(b'\n');
            }
        }
    }
    let mut rewritten = Chunk::from_bytes(&text);
    rewritten.overlong = chunk.overlong;
    let mut part = libsvm::parse::<T>(&rewritten, rules);
    faults.merge(std::mem::take(&mut part.faults));
    faults.measured(lines, chunk);
    part.faults = faults;
    (part, weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::Result;

    fn read(line: &str) -> Result<(String, Option<f64>)> {
        let mut text = Vec::new();
        let weight = Rewriter {
            labels_required: false,
            largest: f64::MAX,
            features: Vec::new(),
        }
        .line(line.as_bytes(), &mut text)
        .map_err(|(at, e)| e.at(1, at as u64 + 1))?;
        Ok((String::from_utf8(text).unwrap(), weight))
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
        assert_eq!(
            read("1 | 3:0.5 7").unwrap(),
            ("1 3:0.5 7:1\n".into(), Some(1.0))
        );
        assert_eq!(read("-1 2.5 'a|x").unwrap().1, Some(2.5));
        assert_eq!(
            read("yes| 2:4").unwrap().0,
            " 2:4\n",
            "a word at the bar is a tag"
        );
        assert_eq!(read("yes | 2:4").unwrap().0, "yes 2:4\n");
        assert_eq!(read("| 2:4").unwrap().0, " 2:4\n");
        assert_eq!(read("|").unwrap().0, " 1:0\n");
        assert_eq!(read("  ").unwrap(), ("\n".into(), None));
        assert_eq!(read("1 | 7:1 3:2 7:0.5").unwrap().0, "1 3:2 7:1.5\n");
        let (with, without) = (read("1 |a:2 x:3 |b x").unwrap(), read("1 |a x:6 |b x:1"));
        assert_eq!(with, without.unwrap());
        assert_ne!(read("1 |a x").unwrap(), read("1 |b x").unwrap());
        assert_ne!(read("1 |a x").unwrap(), read("1 | x").unwrap());
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
            ("1 | a :3", 7, "no space before"),
            ("1 | a:1e999", 5, "too large"),
        ] {
            let error = read(line).unwrap_err();
            assert_eq!(error.position().unwrap().column, column, "{error}");
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
