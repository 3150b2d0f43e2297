//! Class labels: any text, kept as given, in a decided order.
//!
//! If every label is a number the classes sort by value (so `+1` is 1 and equals `1.0`),
//! otherwise by bytes. With two classes the last is the positive one, except that `+` and
//! `-` (or `−`) mean themselves.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// The classes of a data set or a model, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Classes {
    names: Vec<String>,
    numeric: bool,
}

/// A number as a label may write it: decimal or scientific, but no `inf` and no `nan`.
#[doc(hidden)]
pub fn label_number(text: &str) -> Option<f64> {
    let starts_like_one = text
        .trim_start_matches(['+', '-'])
        .starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !starts_like_one {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    // −0 and 0 are one label.
    value.is_finite().then_some(value + 0.0)
}

impl Classes {
    /// The classes among `labels`, which may repeat; equal numbers are one class, named as
    /// first written.
    pub fn from_labels<'a>(labels: impl IntoIterator<Item = &'a str>) -> Self {
        let mut distinct: Vec<&str> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for label in labels {
            if seen.insert(label) {
                distinct.push(label);
            }
        }
        let numbers: Option<Vec<f64>> = distinct.iter().map(|l| label_number(l)).collect();
        let numeric = numbers.is_some() && !distinct.is_empty();
        let names: Vec<String> = match numbers {
            Some(numbers) => {
                let mut pairs: Vec<(f64, &str)> = numbers.into_iter().zip(distinct).collect();
                pairs.sort_by(|a, b| a.0.total_cmp(&b.0)); // stable: first spelling stays first
                pairs.dedup_by(|later, first| later.0 == first.0);
                pairs.into_iter().map(|(_, name)| name.to_owned()).collect()
            }
            None => {
                distinct.sort_unstable();
                if let [a, b] = distinct[..] {
                    // '+' sorts before '-', but means positive.
                    if a == "+" && matches!(b, "-" | "−") {
                        distinct.swap(0, 1);
                    }
                }
                distinct.into_iter().map(str::to_owned).collect()
            }
        };
        Classes { names, numeric }
    }

    /// Classes already in their order, as a model file holds them.
    pub fn from_ordered(names: Vec<String>) -> Self {
        let numeric = !names.is_empty() && names.iter().all(|n| label_number(n).is_some());
        Classes { names, numeric }
    }

    /// The same from a file that anyone may have written: names that are empty, repeated or
    /// longer than a line are refused.
    pub fn from_stored(names: Vec<String>) -> Result<Self> {
        let mut seen = std::collections::HashSet::new();
        let bad = names.iter().find(|name| {
            name.is_empty() || name.contains(['\n', '\r']) || !seen.insert(name.as_str())
        });
        match bad {
            Some(name) => Err(Error::data(format!(
                "{name:?} is empty, repeated or more than a line, and no name of a class"
            ))),
            None => Ok(Self::from_ordered(names)),
        }
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of class `index`.
    pub fn name(&self, index: u32) -> &str {
        &self.names[index as usize]
    }

    /// The class that `label` names; numbers compare by value.
    pub fn find(&self, label: &str) -> Option<u32> {
        if self.numeric {
            let value = label_number(label)?;
            self.names
                .iter()
                .position(|n| label_number(n) == Some(value))
                .map(|i| i as u32)
        } else {
            self.names.iter().position(|n| n == label).map(|i| i as u32)
        }
    }

    /// A lookup for many labels.
    pub fn finder(&self) -> ClassFinder<'_> {
        ClassFinder {
            classes: self,
            known: HashMap::new(),
        }
    }

    /// Refuses fewer than two classes.
    pub fn require_two(&self) -> Result<()> {
        match self.names.as_slice() {
            [] => Err(Error::data("there are no labelled rows")
                .remedy("give a file with at least two classes")),
            [only] => Err(Error::data(format!(
                "every row has the label {only:?}, and learning needs two classes"
            ))
            .remedy("check ⟨label⟩, ⟨label-map⟩ and ⟨positive⟩")),
            _ => Ok(()),
        }
    }
}

/// Remembers the labels it has looked up.
#[derive(Debug)]
pub struct ClassFinder<'a> {
    classes: &'a Classes,
    known: HashMap<String, Option<u32>>,
}

impl ClassFinder<'_> {
    /// The class that `label` names.
    pub fn find(&mut self, label: &str) -> Option<u32> {
        if let Some(&found) = self.known.get(label) {
            return found;
        }
        let found = self.classes.find(label);
        self.known.insert(label.to_owned(), found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(labels: &[&str]) -> Vec<String> {
        Classes::from_labels(labels.iter().copied())
            .names()
            .to_vec()
    }

    #[test]
    fn numbers_sort_by_value_and_keep_their_first_spelling() {
        assert_eq!(
            names(&["10", "+1", "2", "1", "-3"]),
            ["-3", "+1", "2", "10"]
        );
        assert_eq!(names(&["1.0", "0", "-0"]), ["0", "1.0"]);
        let classes = Classes::from_labels(["+1", "-1"]);
        assert_eq!(classes.find("1.00"), Some(1));
        assert_eq!(classes.find("-1e0"), Some(0));
        assert_eq!(classes.find("one"), None);
    }

    #[test]
    fn other_labels_sort_by_bytes() {
        assert_eq!(names(&["spam", "ham"]), ["ham", "spam"]);
        assert_eq!(names(&["b", "10", "9"]), ["10", "9", "b"]);
        assert_eq!(names(&["inf", "nan", "1"]), ["1", "inf", "nan"]);
    }

    #[test]
    fn plus_and_minus_mean_themselves() {
        assert_eq!(names(&["+", "-"]), ["-", "+"]);
        assert_eq!(names(&["−", "+"]), ["−", "+"]);
    }

    #[test]
    fn one_class_is_not_enough_to_learn() {
        assert!(Classes::from_labels(["a", "a"]).require_two().is_err());
        assert!(Classes::from_labels([]).require_two().is_err());
        assert!(Classes::from_labels(["a", "b"]).require_two().is_ok());
    }
}
