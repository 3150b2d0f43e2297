//! Texts cut into words, and the terms made of these: words in a row, or the letters of words.

use std::fmt;
use std::str::FromStr;

use rosenblatt_core::{Error, Result};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Terms longer than this many words or characters are refused.
const LONGEST: u8 = 9;

/// What a feature of a text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Terms {
    /// So many words in a row, from and up to.
    Words(u8, u8),
    /// So many characters in a row of a word with a blank on both sides, from and up to.
    Chars(u8, u8),
}

impl Default for Terms {
    fn default() -> Self {
        Terms::Words(1, 1)
    }
}

impl FromStr for Terms {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (unit, range) = text.split_once(':').unwrap_or((text, ""));
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let range = match range {
            "" if unit == "words" => Some((1, 1)),
            _ => from.parse::<u8>().ok().zip(to.parse::<u8>().ok()),
        };
        let range = range.filter(|&(from, to)| 1 <= from && from <= to && to <= LONGEST);
        match (unit, range) {
            ("words", Some((from, to))) => Ok(Terms::Words(from, to)),
            ("chars", Some((from, to))) => Ok(Terms::Chars(from, to)),
            _ => Err(
                Error::options(format!("there are no terms {text:?}")).remedy(format!(
                    "use words, words:1-2 or chars:3-5, of up to {LONGEST} in a row"
                )),
            ),
        }
    }
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Terms::Words(1, 1) => f.write_str("words"),
            Terms::Words(from, to) => write!(f, "words:{from}-{to}"),
            Terms::Chars(from, to) => write!(f, "chars:{from}-{to}"),
        }
    }
}

/// How texts are cut into terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextCut {
    /// What terms are.
    pub terms: Terms,
    /// Whether capitals differ from small letters.
    #[serde(default)]
    pub keep_case: bool,
    /// Whether accents are taken off letters.
    #[serde(default)]
    pub strip_accents: bool,
}

/// Cuts one text after the other.
#[derive(Debug, Default)]
pub(crate) struct Cutter {
    cut: TextCut,
    word: String,
    plain: String,
    /// The words of a text with a blank before, between and behind them.
    text: String,
    /// Where they start and end.
    words: Vec<(usize, usize)>,
}

impl Cutter {
    pub(crate) fn new(cut: TextCut) -> Self {
        Cutter {
            cut,
            ..Cutter::default()
        }
    }

    /// Calls `f` with each term of `text`; gives the number of words.
    pub(crate) fn for_each_term(&mut self, text: &str, mut f: impl FnMut(&str)) -> u64 {
        let cut = self.cut;
        let text = match cut.strip_accents && !text.is_ascii() {
            true => {
                self.plain.clear();
                self.plain
                    .extend(text.nfd().filter(|c| !is_combining_mark(*c)));
                &self.plain
            }
            false => text,
        };
        let mut count = 0;
        if cut.terms == Terms::Words(1, 1) {
            for_each_word(text, cut.keep_case, &mut self.word, |word| {
                count += 1;
                f(word);
            });
            return count;
        }
        let (whole, words) = (&mut self.text, &mut self.words);
        whole.clear();
        whole.push(' ');
        words.clear();
        for_each_word(text, cut.keep_case, &mut self.word, |word| {
            words.push((whole.len(), whole.len() + word.len()));
            whole.push_str(word);
            whole.push(' ');
        });
        match cut.terms {
            Terms::Words(from, to) => {
                for length in usize::from(from)..=usize::from(to) {
                    for together in words.windows(length) {
                        f(&whole[together[0].0..together[length - 1].1]);
                    }
                }
            }
            Terms::Chars(from, to) => {
                let (from, to) = (usize::from(from), usize::from(to));
                for &(start, end) in words.iter() {
                    let word = &whole[start - 1..=end];
                    let starts = word.char_indices().map(|(at, _)| at);
                    for at in starts {
                        let ends = word[at..]
                            .char_indices()
                            .map(|(n, c)| at + n + c.len_utf8());
                        ends.take(to)
                            .skip(from - 1)
                            .for_each(|end| f(&word[at..end]));
                    }
                }
            }
        }
        words.len() as u64
    }
}

/// Calls `f` with each word of `text`: maximal runs of letters and digits, in lower case unless
/// the case is kept.
fn for_each_word(text: &str, keep_case: bool, word: &mut String, mut f: impl FnMut(&str)) {
    word.clear();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            word.push(if keep_case { c } else { c.to_ascii_lowercase() });
        } else if !c.is_ascii() && c.is_alphanumeric() {
            match keep_case {
                true => word.push(c),
                false => word.extend(c.to_lowercase()),
            }
        } else if !word.is_empty() {
            f(word);
            word.clear();
        }
    }
    if !word.is_empty() {
        f(word);
        word.clear();
    }
}

/// The number of words in `text`.
pub(crate) fn count_words(text: &str) -> u64 {
    let mut count = 0;
    for_each_word(text, true, &mut String::new(), |_| count += 1);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, cut: TextCut) -> Vec<String> {
        let mut terms = Vec::new();
        Cutter::new(cut).for_each_term(text, |t| terms.push(t.to_owned()));
        terms
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let text = "Don't  PAY £1,000 to Élan_x!";
        let words = cut(text, TextCut::default());
        assert_eq!(words, ["don", "t", "pay", "1", "000", "to", "élan", "x"]);
        let plain = TextCut {
            strip_accents: true,
            keep_case: true,
            ..TextCut::default()
        };
        assert_eq!(
            cut(text, plain)[2..],
            ["PAY", "1", "000", "to", "Elan", "x"]
        );
        assert_eq!(count_words(" .. "), 0);
        assert_eq!(count_words(text), 8);
    }

    #[test]
    fn terms_are_words_or_characters_in_a_row() {
        let of = |text: &str, terms: &str| {
            let terms = terms.parse().unwrap();
            cut(
                text,
                TextCut {
                    terms,
                    ..TextCut::default()
                },
            )
        };
        assert_eq!(
            of("to be or", "words:1-2"),
            ["to", "be", "or", "to be", "be or"]
        );
        assert_eq!(of("to", "words:2"), Vec::<String>::new());
        assert_eq!(
            of("a Öl.", "chars:2-3"),
            [" a", " a ", "a ", " ö", " öl", "öl", "öl ", "l "]
        );
        for bad in [
            "words:0-1",
            "words:2-1",
            "chars",
            "lines",
            "words:1-2-3",
            "chars:3-10",
            "",
        ] {
            assert!(bad.parse::<Terms>().is_err(), "{bad}");
        }
        assert_eq!(
            Terms::Chars(3, 5).to_string().parse::<Terms>().unwrap(),
            Terms::Chars(3, 5)
        );
    }
}
