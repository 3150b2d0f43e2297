//! Vowpal Wabbit text: `label weight 'tag|namespace:weight feature:value …`, a row on each line.
//!
//! Features are numbered as Vowpal Wabbit does it: a whole number without a namespace is itself; a
//! name is hashed with its namespace (MurmurHash3), here to 2¹⁸ numbers from 1. So a model needs no
//! list of names, and a name that comes twice in a row (or shares its number with another) counts
//! as the sum. Values are rounded to the type they are stored in after that. Tags are left out.

use std::ops::Range;

use super::chunk::Chunk;
use super::dispatch::dispatch;
use super::labels::ABSENT;
use super::libsvm::batch::Batch;
use super::libsvm::{self, Rules, SparsePart};
use super::number::{self, Stored, load, up_to_seven_digits};
use super::report::LongDecimal;
use super::row_errors::{OnError, check_text, overlong, quote};
use rosenblatt_core::Error;
use rosenblatt_core::data::Precision;
use rosenblatt_core::internal::simd::{Level, Work};

/// Names are hashed to so many numbers.
const NUMBERS: u32 = 1 << 18;

/// A fault, and its place.
type Fault = (usize, Error);

type Result<T> = std::result::Result<T, Fault>;

/// Reads the rows of a chunk, and their weights.
pub(super) fn parse<T: Stored>(chunk: &Chunk, rules: Rules) -> (SparsePart, Vec<f64>) {
    let mut parser = Parser::<T>::new(chunk, rules);
    dispatch(Run(&mut parser, chunk));
    let part = SparsePart {
        indices: parser.indices,
        values: T::wrap(parser.values),
        ..parser.part
    };
    (part, parser.weights)
}

/// Reads all lines, with the best instructions for digits that there are.
struct Run<'a, 'b, T>(&'a mut Parser<'b, T>, &'b Chunk);

impl<T: Stored> Work for Run<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L) {
        self.0.run(level, self.1);
    }
}

struct Parser<'a, T> {
    /// Lines, then bytes that may be looked at without being theirs.
    bytes: &'a [u8],
    rules: Rules,
    /// The largest value that can be stored.
    largest: f64,
    /// The features of the row, their values, and whether they ascend.
    features: Vec<u32>,
    sums: Vec<f64>,
    ascending: bool,
    /// Memory for sorting them.
    unsorted: Vec<(u32, f64)>,
    indices: Vec<u32>,
    values: Vec<T>,
    weights: Vec<f64>,
    /// What was read, these three aside.
    part: SparsePart,
}

/// What is said of words by what stands behind their bar.
#[derive(Clone, Copy)]
struct Namespace {
    named: bool,
    seed: u32,
    scale: f64,
}

impl Namespace {
    /// The feature that a whole number stands for.
    #[inline(always)]
    fn numbered(self, number: u32) -> u32 {
        match self.named {
            true => 1 + number.wrapping_add(self.seed) % NUMBERS,
            false => number,
        }
    }

    /// The feature of this name.
    #[inline]
    fn feature(self, name: &[u8]) -> u32 {
        match number_of(name) {
            Some(number) => self.numbered(number),
            None => 1 + murmur3(name, self.seed) % NUMBERS,
        }
    }
}

impl<'a, T: Stored> Parser<'a, T> {
    fn new(chunk: &'a Chunk, rules: Rules) -> Self {
        let values = chunk.about_numbers(b' ', 1);
        Parser {
            bytes: chunk.padded(),
            rules,
            largest: match T::PRECISION {
                Precision::F32 => f64::from(f32::MAX),
                Precision::F64 => f64::MAX,
            },
            features: Vec::new(),
            sums: Vec::new(),
            ascending: true,
            unsorted: Vec::new(),
            indices: Vec::with_capacity(values),
            values: Vec::with_capacity(values),
            weights: Vec::new(),
            part: SparsePart::new::<T>(),
        }
    }

    #[inline(always)]
    fn run(&mut self, level: impl Level, chunk: &Chunk) {
        if chunk.overlong {
            self.part.faults.add(overlong(1), OnError::Fail);
            return;
        }
        let mut batch = Batch::new();
        let (mut start, mut lines) = (0, 0);
        for newline in memchr::memchr_iter(b'\n', chunk.data()) {
            lines += 1;
            let line = self.bytes[start..newline].trim_ascii_end();
            if !line.is_empty()
                && let Err((at, error)) = self.row(level, &mut batch, start..start + line.len())
            {
                let error = error.at(lines, (at - start) as u64 + 1);
                if !self.part.faults.add(error, self.rules.on_error) {
                    return;
                }
            }
            start = newline + 1;
        }
        self.part.faults.measured(lines, chunk);
    }

    /// Reads a row, behind which a blank stands. Nothing of it is kept before all of it is known
    /// to be good.
    #[inline(always)]
    fn row(
        &mut self,
        level: impl Level,
        batch: &mut Batch<f64>,
        Range { start, end }: Range<usize>,
    ) -> Result<()> {
        let bytes = self.bytes;
        let Some(bar) = memchr::memchr(b'|', &bytes[start..end]).map(|n| start + n) else {
            let line = quote(&bytes[start..end]);
            return Err((
                start,
                Error::data(format!("expected label | features, found {line}"))
                    .remedy("check that this is Vowpal Wabbit text, or pass ⟨format⟩"),
            ));
        };
        let (label, weight) = head(&bytes[start..bar]).map_err(|(at, e)| (start + at, e))?;
        if label.is_empty() && self.rules.labels_required {
            return Err((
                start,
                Error::data("the row has no label")
                    .remedy("a row is: label weight 'tag | features"),
            ));
        }
        self.features.clear();
        self.sums.clear();
        self.ascending = true;
        let mut at = bar;
        while at < end {
            at = self.namespace(level, batch, at + 1, end)?;
        }
        if !self.ascending {
            self.add_up().map_err(|error| (bar, error))?;
        }
        let labels = &mut self.part.labels;
        match label.is_empty() {
            true => labels.codes.push(ABSENT),
            false => labels.push(bytes, start + label.start, start + label.end)?,
        }
        self.weights.push(weight);
        if self.features.first() == Some(&0) {
            self.part.smallest = 0;
        }
        let width = match self.features.last() {
            Some(&last) => u64::from(last) + 1,
            // As if feature 1 were said to be zero.
            None => 2 * u64::from(label.is_empty()),
        };
        self.part.width = self.part.width.max(width);
        self.push_all();
        self.part.ends.push(self.indices.len() as u32);
        Ok(())
    }

    /// Reads the words behind a bar; gives the place of the next bar, or the end.
    #[inline(always)]
    fn namespace(
        &mut self,
        level: impl Level,
        batch: &mut Batch<f64>,
        mut at: usize,
        end: usize,
    ) -> Result<usize> {
        let bytes = self.bytes;
        let mut namespace = Namespace {
            named: false,
            seed: 0,
            scale: 1.0,
        };
        if !ends_word(bytes[at]) {
            let stop = word_end(bytes, at);
            let (name, scale) = name_and_value(bytes, at, stop)?;
            namespace = Namespace {
                named: true,
                seed: hash(name, 0),
                scale,
            };
            at = stop;
        }
        let mut uncommon = 0; // where words of a short number and a short value are next looked for
        loop {
            while at < end && bytes[at].is_ascii_whitespace() {
                at += 1;
            }
            if at >= end || bytes[at] == b'|' {
                return Ok(at);
            }
            if let Some(level) = level.avx2()
                && at >= uncommon
                && bytes[at].is_ascii_digit()
            {
                let tokens = batch.read(level, bytes, at);
                uncommon = tokens.uncommon;
                if tokens.next > at {
                    let before = self.features.len();
                    // The last may end with what ends no word here.
                    let ended = bytes[tokens.next - 1] == b' ' || ends_word(bytes[tokens.next]);
                    if self.add_all(namespace, tokens.indices, tokens.values) && ended {
                        at = tokens.next;
                        continue;
                    }
                    // Perhaps a fault: word by word.
                    self.features.truncate(before);
                    self.sums.truncate(before);
                    uncommon = end;
                }
            }
            at = self.word(namespace, at)?;
        }
    }

    /// Reads the word at `at`; gives where it ends.
    #[inline(never)]
    fn word(&mut self, namespace: Namespace, at: usize) -> Result<usize> {
        let bytes = self.bytes;
        // Most words are a name or a short whole number with a value, or a name alone.
        let (number, digits) = up_to_seven_digits(load(bytes, at));
        let numbered = digits > 0 && bytes[at + digits as usize] == b':';
        let name_end = match numbered {
            true => at + digits as usize,
            false => name_end(bytes, at),
        };
        let name = &bytes[at..name_end];
        let (index, value, stop) = if bytes[name_end] == b':'
            && !name.is_empty()
            && let Some(read) = number::read::<f64>(bytes, name_end + 1)
            && ends_word(read.stop)
        {
            let index = match numbered {
                true => namespace.numbered(number as u32),
                false => namespace.feature(name),
            };
            (index, read.value, read.end)
        } else if ends_word(bytes[name_end]) {
            (namespace.feature(name), 1.0, name_end)
        } else {
            let stop = word_end(bytes, at);
            let (name, value) = name_and_value(bytes, at, stop)?;
            if name.is_empty() {
                let word = quote(&bytes[at..stop]);
                return Err((
                    at,
                    Error::data(format!("expected name:value, found {word}"))
                        .remedy("write no space before the colon"),
                ));
            }
            (namespace.feature(name), value, stop)
        };
        let value = value * namespace.scale;
        if self.add(index, value) {
            return Ok(stop);
        }
        let error = match value.abs() <= self.largest {
            true => libsvm::found_index_zero(),
            false => {
                let name = quote(split(&bytes[at..stop]).0);
                Error::data(format!("the value of {name} is too large"))
                    .remedy("rescale the values, or train with ⟨precision f64⟩")
            }
        };
        Err((at, error))
    }

    /// Appends a feature; false if the row may not have it.
    #[inline(always)]
    fn add(&mut self, index: u32, value: f64) -> bool {
        self.ascending &= self.features.last().is_none_or(|last| *last < index);
        self.features.push(index);
        self.sums.push(value);
        value.abs() <= self.largest && !(index == 0 && self.rules.from_one)
    }

    /// Appends features with a whole number; false if the row may not have some.
    #[inline(always)]
    fn add_all(&mut self, namespace: Namespace, numbers: &[u32], values: &[f64]) -> bool {
        let (start, scale, largest) = (self.features.len(), namespace.scale, self.largest);
        match namespace.named {
            true => {
                let features = numbers.iter().map(|&number| namespace.numbered(number));
                self.features.extend(features);
                self.sums.extend(values.iter().map(|&value| value * scale));
            }
            false => {
                self.features.extend_from_slice(numbers);
                self.sums.extend_from_slice(values);
            }
        }
        let added = &self.features[start.saturating_sub(1)..];
        let pairs = added.iter().zip(added.iter().skip(1));
        self.ascending &= pairs.fold(true, |all, (a, b)| all & (a < b));
        let sums = &self.sums[start..];
        let zero = self.rules.from_one && self.features[start..].contains(&0);
        sums.iter().fold(!zero, |all, x| all & (x.abs() <= largest))
    }

    /// Sorts the features; those of one number are summed in the order in which they come.
    fn add_up(&mut self) -> std::result::Result<(), Error> {
        let row = &mut self.unsorted;
        row.clear();
        row.extend(self.features.drain(..).zip(self.sums.drain(..)));
        row.sort_by_key(|(index, _)| *index);
        row.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        self.features.extend(row.iter().map(|feature| feature.0));
        self.sums.extend(row.iter().map(|feature| feature.1));
        let largest = self.largest;
        match self.sums.iter().all(|sum| sum.abs() <= largest) {
            true => Ok(()),
            false => Err(Error::data("the sum of a feature's values is too large")
                .remedy("rescale the values, or train with ⟨precision f64⟩")),
        }
    }

    /// Takes the features of the row to those of the chunk, zeros left out.
    #[inline(always)]
    fn push_all(&mut self) {
        if self.sums.iter().fold(true, |all, &x| all & usual::<T>(x).1) {
            self.indices.extend_from_slice(&self.features);
            self.values
                .extend(self.sums.iter().map(|&x| usual::<T>(x).0));
            return;
        }
        for k in 0..self.features.len() {
            let (index, value) = (self.features[k], self.sums[k]);
            let stored = match usual::<T>(value) {
                (stored, true) => stored,
                _ if value == 0.0 => continue,
                _ => self.unusual(index, value),
            };
            if stored != T::ZERO {
                self.indices.push(index);
                self.values.push(stored);
            }
        }
    }

    /// The value as its decimal would be read; this is kept where no `f64` tells it.
    #[cold]
    fn unusual(&mut self, index: u32, value: f64) -> T {
        let mut text = Vec::new();
        crate::write::decimal(&mut text, value, Precision::F64);
        if self.rules.keep_long_decimals && number::is_long(&text, 0) {
            self.part.long.push(LongDecimal {
                row: self.part.ends.len() as u64,
                column: index,
                text: String::from_utf8_lossy(&text).into_owned(),
            });
        }
        number::whole(&text).unwrap_or(T::ZERO)
    }
}

/// A value as it is stored, and whether that is sure and not zero. One that is about halfway
/// between two of its type may have been rounded to there.
#[inline(always)]
fn usual<T: Stored>(value: f64) -> (T, bool) {
    let (stored, sure) = T::scaled(value, 1.0);
    (stored, sure & (value.abs() >= 1e-30) & (value.abs() < 1e30))
}

/// Whether words end before this byte.
#[inline(always)]
fn ends_word(b: u8) -> bool {
    b.is_ascii_whitespace() || b == b'|'
}

/// The place of the first colon, bar, blank or control character from `at` on.
#[inline(always)]
fn name_end(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    loop {
        let word = load(bytes, at);
        // The high bit of each byte below `least`, right up to and including the first of them.
        let below = |x: u64, least: u8| x.wrapping_sub(ONES * u64::from(least)) & !x & ONES << 7;
        let is = |b: u8| below(word ^ (ONES * u64::from(b)), 1);
        let marks = below(word, b' ' + 1) | is(b':') | is(b'|');
        if marks != 0 {
            return at + marks.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
}

/// Where the word at `at` ends.
#[inline]
fn word_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes[at..].iter();
    at + rest.take_while(|b| !ends_word(**b)).count()
}

/// The name of a word, and the place of the colon behind it.
#[inline]
fn split(word: &[u8]) -> (&[u8], Option<usize>) {
    let colon = word.iter().rposition(|b| *b == b':');
    (&word[..colon.unwrap_or(word.len())], colon)
}

/// The name and the value of the word at `at..stop`; 1 where there is no value.
#[inline]
fn name_and_value(bytes: &[u8], at: usize, stop: usize) -> Result<(&[u8], f64)> {
    let (name, colon) = split(&bytes[at..stop]);
    let Some(colon) = colon else {
        return Ok((name, 1.0));
    };
    let start = at + colon + 1;
    if let Some(read) = number::read::<f64>(bytes, start)
        && read.end == stop
    {
        return Ok((name, read.value));
    }
    // Infinite where it is too large.
    match number::whole(&bytes[start..stop]) {
        Some(value) => Ok((name, value)),
        None => {
            let found = quote(&bytes[start..stop]);
            Err((
                start,
                Error::data(format!("expected a number, found {found}"))
                    .remedy("values are decimals such as -1.5e-3"),
            ))
        }
    }
}

/// The label, empty if there is none, and the weight that stand before the first bar.
fn head(text: &[u8]) -> Result<(Range<usize>, f64)> {
    let words = text.split(u8::is_ascii_whitespace);
    let words = words.filter(|word| !word.is_empty());
    let start = text.as_ptr() as usize;
    // One more than there may be is a fault, whatever follows.
    let (mut found, mut count) = ([(0, &b""[..]); 4], 0);
    for (slot, word) in found.iter_mut().zip(words) {
        *slot = (word.as_ptr() as usize - start, word);
        count += 1;
    }
    // A tag begins with ' or touches the bar.
    let close = text.last().is_some_and(|b| !b.is_ascii_whitespace());
    if let Some((_, last)) = found[..count].last()
        && (last.starts_with(b"'") || (close && number::whole::<f64>(last).is_none()))
    {
        count -= 1;
    }
    let found = &found[..count];
    let (at, label) = found.first().copied().unwrap_or((0, b""));
    if label.iter().any(|b| b":#,".contains(b)) {
        return Err((
            at,
            Error::data(format!("the label {} is not a single one", quote(label))).remedy(
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
    check_text(label).map_err(|(n, error)| (at + n, error))?;
    if let Some(n) = label.iter().position(|b| *b < b' ') {
        return Err((
            at + n,
            Error::data("a label holds a control character")
                .remedy("check that this is Vowpal Wabbit text, or pass ⟨format⟩"),
        ));
    }
    Ok((at..at + label.len(), weight))
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

#[cfg(test)]
mod tests;
