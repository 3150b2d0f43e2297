//! Label texts on their way to classes: interned while reading, then mapped.

use std::borrow::Cow;

use super::interner::Interner;
use super::number::load;
use super::row_errors::check_text;
use rosenblatt_core::data::{ClassFinder, Classes};
use rosenblatt_core::internal::label_number;
use rosenblatt_core::{Error, Result};

/// The code of a row without a label.
pub(crate) const ABSENT: u32 = u32::MAX;

/// The name of all classes but the positive one.
pub(crate) const REST: &str = "rest";

/// The same, should the positive one be called that.
const OTHERS: &str = "others";

/// Whether two labels are one: the same text, or the same number.
fn same_label(a: &str, b: &str) -> bool {
    a == b || label_number(a).is_some_and(|a| label_number(b) == Some(a))
}

const REMEMBERED: usize = 64;

/// A short label as a word, and the slot where it is remembered.
#[inline(always)]
fn short(bytes: &[u8], start: usize, end: usize) -> Option<(u64, usize)> {
    let len = end.wrapping_sub(start);
    if len == 0 || len > 7 {
        return None;
    }
    let word = load(bytes, start) & (u64::MAX >> (64 - 8 * len)) | (len as u64) << 56;
    let slot = (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize;
    Some((word, slot))
}

/// The labels of a chunk: a code for each row.
#[derive(Debug)]
pub(crate) struct LabelSink {
    pub(crate) codes: Vec<u32>,
    pub(crate) names: Interner,
    /// Short labels seen lately, as words.
    recent: Box<[(u64, u32); REMEMBERED]>,
}

impl Default for LabelSink {
    fn default() -> Self {
        LabelSink {
            codes: Vec::new(),
            names: Interner::default(),
            recent: Box::new([(0, ABSENT); REMEMBERED]),
        }
    }
}

impl LabelSink {
    /// Appends the label at `start..end`. If it is no text: the place of the bad byte.
    #[inline]
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        start: usize,
        end: usize,
    ) -> std::result::Result<(), (usize, Error)> {
        if self.push_known(bytes, start, end) {
            return Ok(());
        }
        self.push_text(&bytes[start..end])
            .map_err(|(n, e)| (start + n, e))?;
        if let (Some((word, slot)), Some(&code)) = (short(bytes, start, end), self.codes.last()) {
            self.recent[slot] = (word, code);
        }
        Ok(())
    }

    /// Appends the label at `start..end` if it is short and was pushed lately; says whether.
    #[inline(always)]
    pub(crate) fn push_known(&mut self, bytes: &[u8], start: usize, end: usize) -> bool {
        match short(bytes, start, end) {
            Some((word, slot)) if self.recent[slot].0 == word => {
                self.codes.push(self.recent[slot].1);
                true
            }
            _ => false,
        }
    }

    /// Appends a label. If it is no text: the offset of the bad byte.
    pub(crate) fn push_text(&mut self, text: &[u8]) -> std::result::Result<(), (usize, Error)> {
        let code = match self.names.find(text) {
            Some(code) => code,
            None => {
                check_text(text)?;
                if let Some(at) = text.iter().position(|b| b"\t\r\n".contains(b)) {
                    let error = Error::data("a label holds a tab or a line end")
                        .remedy("labels are written a line each; check the quotes of the table");
                    return Err((at, error));
                }
                self.names.intern(text).0
            }
        };
        self.codes.push(code);
        Ok(())
    }
}

/// What the user wants done to labels before they become classes.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LabelRules {
    /// Labels to be replaced, and by what.
    pub map: Vec<(String, String)>,
    /// The class that stands against all others.
    pub positive: Option<String>,
}

/// Which of `names` labels occur among the codes. Most often all do, and in the first rows.
pub(crate) fn occurring(codes: &[u32], names: usize) -> Vec<bool> {
    let mut used = vec![false; names];
    let mut missing = names;
    for &code in codes.iter().filter(|&&c| c != ABSENT) {
        if missing == 0 {
            break;
        }
        let met = std::mem::replace(&mut used[code as usize], true);
        missing -= usize::from(!met);
    }
    used
}

impl LabelRules {
    /// Refuses a label that is to become two others, or none that can be written in a line.
    pub(crate) fn check(&self) -> Result<()> {
        for (i, (old, new)) in self.map.iter().enumerate() {
            let wrong = |what: &str| {
                Err(Error::options(format!("⟨label-map {old}={new}⟩: {what}"))
                    .remedy("give each label one new name"))
            };
            // Whoever maps an empty label to itself wants rows without one.
            if new.is_empty() && !old.is_empty() {
                return wrong("the new name is empty");
            }
            if new.contains(['\t', '\r', '\n']) {
                return wrong("the new name holds a tab or a line end");
            }
            let other = |(before, name): &&(String, String)| before == old && name != new;
            if let Some((_, other)) = self.map[..i].iter().find(other) {
                return wrong(&format!("{old} was to become {other} already"));
            }
        }
        Ok(())
    }

    /// The label that `text` stands for, before `positive` is looked at.
    fn mapped<'a>(&'a self, text: Cow<'a, str>) -> Cow<'a, str> {
        match self.map.iter().find(|(old, _)| *old == text) {
            Some((_, new)) => Cow::Borrowed(new),
            None => text,
        }
    }

    /// The class of each code, and the classes among the codes that occur.
    pub(crate) fn classes(&self, names: &Interner, codes: &[u32]) -> Result<(Vec<u32>, Classes)> {
        let used = occurring(codes, names.len());
        let texts: Vec<String> = (0..names.len() as u32)
            .map(|i| self.mapped(names.text(i)).into_owned())
            .collect();
        let used = || {
            texts
                .iter()
                .zip(&used)
                .filter(|(_, u)| **u)
                .map(|(t, _)| t.as_str())
        };
        let mut classes = Classes::from_labels(used());
        let class_of: Vec<u32> = if let Some(positive) = &self.positive {
            if !used().any(|t| same_label(t, positive)) {
                let known: Vec<&str> = classes
                    .names()
                    .iter()
                    .take(20)
                    .map(String::as_str)
                    .collect();
                return Err(Error::options(format!(
                    "⟨positive {positive}⟩: no row has that label"
                ))
                .remedy(format!("the labels are {}", known.join(", "))));
            }
            let others = if positive == REST { OTHERS } else { REST };
            classes = Classes::from_ordered(vec![others.into(), positive.clone()]);
            texts
                .iter()
                .map(|t| u32::from(same_label(t, positive)))
                .collect()
        } else {
            let mut finder = classes.finder();
            texts.iter().map(|t| finder.find(t).unwrap_or(0)).collect()
        };
        Ok((class_of, classes))
    }

    /// The class that a label of a new file names, if the model has it.
    pub(crate) fn find<'a>(
        &'a self,
        text: Cow<'a, str>,
        finder: &mut ClassFinder<'_>,
    ) -> std::result::Result<u32, Cow<'a, str>> {
        let text = self.mapped(text);
        match (finder.find(&text), &self.positive) {
            (Some(class), _) => Ok(class),
            // The model knows two classes, the positive one and the rest.
            (None, Some(positive)) if same_label(&text, positive) => {
                Ok(finder.find(positive).unwrap_or(0))
            }
            (None, Some(_)) => Ok(0),
            (None, None) => Err(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_get_codes_by_first_appearance() {
        let mut sink = LabelSink::default();
        let text = b"+1 -1 a-long-label +1";
        for (start, end) in [(0, 2), (3, 5), (6, 18), (19, 21)] {
            sink.push(text, start, end).unwrap();
        }
        assert_eq!(sink.codes, [0, 1, 2, 0]);
        assert_eq!(sink.push(b"ab\xFF", 0, 3).unwrap_err().0, 2);
        assert_eq!(sink.push(b"a\0", 0, 2).unwrap_err().0, 1);
    }

    #[test]
    fn maps_that_leave_no_name_are_refused() {
        for (map, words) in [
            (vec![("a", "")], "empty"),
            (vec![("a", "x\ny")], "line end"),
            (vec![("a", "x"), ("b", "x"), ("a", "y")], "already"),
        ] {
            let map = map.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned()));
            let rules = LabelRules {
                map: map.collect(),
                positive: None,
            };
            let error = rules.check().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let twice = vec![("a".to_owned(), "x".to_owned()); 2];
        let rules = LabelRules {
            map: twice,
            positive: None,
        };
        assert!(rules.check().is_ok());
    }

    #[test]
    fn maps_and_positive_classes() {
        let names: Interner = ["a.", "b", "c", "unused"].into_iter().collect();
        let codes = [0, 1, 2, 1, ABSENT];
        let map = vec![("a.".to_owned(), "b".to_owned())];
        let rules = LabelRules {
            map,
            positive: None,
        };
        let (class_of, classes) = rules.classes(&names, &codes).unwrap();
        assert_eq!(classes.names(), ["b", "c"]);
        assert_eq!(class_of[..3], [0, 0, 1]);
        let one = LabelRules {
            positive: Some("c".into()),
            ..rules
        };
        let (class_of, classes) = one.classes(&names, &codes).unwrap();
        assert_eq!(classes.names(), ["rest", "c"]);
        assert_eq!(class_of[..3], [0, 0, 1]);
        let mut finder = classes.finder();
        assert_eq!(one.find("c".into(), &mut finder), Ok(1));
        assert_eq!(one.find("new".into(), &mut finder), Ok(0));
        let wrong = LabelRules {
            positive: Some("z".into()),
            ..one
        };
        assert!(
            wrong
                .classes(&names, &codes)
                .unwrap_err()
                .to_string()
                .contains("b, c")
        );
    }
}
