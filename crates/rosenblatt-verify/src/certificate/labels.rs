//! Which label texts mean which class.

use super::Result;
use crate::json::Json;
use crate::number::{self, Decimal};
use crate::outcome::Malformed;
use std::collections::HashMap;

/// Classes by label. If every label listed is a number, labels compare as numbers (`+1` is
/// `1.0`), else by bytes.
pub(crate) struct Labels {
    /// Several classes jointly, not one against another.
    pub(crate) multiclass: bool,
    /// Number of classes; when there is a positive one, it is class 1 and the other class 0.
    pub(crate) count: usize,
    /// The labels of each class.
    pub(crate) listed: Vec<Vec<String>>,
    by_text: HashMap<Vec<u8>, usize>,
    by_number: Option<HashMap<Number, usize>>,
}

/// A number in its one spelling: sign, digits without zeros at either end, power of ten.
type Number = (bool, Vec<u8>, i32);

impl Labels {
    pub(super) fn parse(json: &Json) -> Result<Labels> {
        let texts = |json: &Json| json.each(|item| Ok(item.text()?.as_bytes().to_vec()));
        let mut fields = json.fields()?;
        let positive = fields.optional("positive", texts)?;
        let negative = fields.optional("negative", texts)?;
        let classes = fields.optional("classes", |json| json.each(texts))?;
        fields.finish()?;
        let (multiclass, classes) = match (positive, negative, classes) {
            (Some(positive), Some(negative), None) => (false, vec![negative, positive]),
            (None, None, Some(classes)) => (true, classes),
            _ => return Err(Malformed::new("expected positive and negative, or classes")),
        };
        let listed = || {
            let classes = classes.iter().enumerate();
            classes.flat_map(|(class, labels)| labels.iter().map(move |label| (label, class)))
        };
        let by_text: HashMap<_, _> = listed()
            .map(|(text, class)| (text.clone(), class))
            .collect();
        let by_number: Option<HashMap<_, _>> = listed()
            .map(|(text, class)| Some((number(text)?, class)))
            .collect();
        let distinct = by_number.as_ref().map_or(by_text.len(), HashMap::len);
        if distinct != listed().count() {
            return Err(Malformed::new("a label is listed twice"));
        }
        Ok(Labels {
            multiclass,
            count: classes.len(),
            listed: (classes.iter())
                .map(|labels| {
                    let texts = labels.iter().map(|label| String::from_utf8_lossy(label));
                    texts.map(|text| text.into_owned()).collect()
                })
                .collect(),
            by_text,
            by_number,
        })
    }

    pub(crate) fn class_of(&self, label: &[u8]) -> Option<usize> {
        let as_number = || self.by_number.as_ref()?.get(&number(label)?);
        self.by_text.get(label).or_else(as_number).copied()
    }
}

fn number(text: &[u8]) -> Option<Number> {
    let (Decimal::Small { exponent, .. } | Decimal::Big { exponent, .. }) = number::decimal(text)?;
    let mantissa = text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let digits = mantissa.copied().filter(u8::is_ascii_digit);
    let mut digits: Vec<u8> = digits.skip_while(|&digit| digit == b'0').collect();
    let Some(last) = digits.iter().rposition(|&digit| digit != b'0') else {
        return Some((false, Vec::new(), 0));
    };
    let zeros = digits.len() - 1 - last;
    digits.truncate(last + 1);
    Some((text[0] == b'-', digits, exponent + zeros as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Result<Labels> {
        Labels::parse(&Json::parse(text.as_bytes())?)
    }

    #[test]
    fn numbers_compare_by_value_when_all_labels_are_numbers() {
        let labels = labels(r#"{"positive": ["+1"], "negative": ["-1", "0"]}"#).unwrap();
        for text in ["1", "+1", "1.0", "10e-1", "01", "0.1e1", "1."] {
            assert_eq!(labels.class_of(text.as_bytes()), Some(1), "{text}");
        }
        for text in ["-1", "-1.00", "0", "-0", "0.0e7"] {
            assert_eq!(labels.class_of(text.as_bytes()), Some(0), "{text}");
        }
        assert_eq!(labels.class_of(b"2"), None);
        assert_eq!(labels.class_of(b"one"), None);
    }

    #[test]
    fn one_label_that_is_no_number_makes_all_of_them_texts() {
        let labels = labels(r#"{"classes": [["1"], ["1.0"], ["x", "−"]]}"#).unwrap();
        assert_eq!(labels.class_of(b"1.0"), Some(1));
        assert_eq!(labels.class_of(b"+1"), None);
        assert_eq!(labels.class_of("−".as_bytes()), Some(2));
    }

    #[test]
    fn a_label_belongs_to_one_class() {
        assert!(labels(r#"{"positive": ["1"], "negative": ["+1"]}"#).is_err());
        assert!(labels(r#"{"positive": ["a"], "negative": ["b", "b"]}"#).is_err());
        assert!(labels(r#"{"positive": ["a"]}"#).is_err());
        assert!(labels(r#"{"positive": [], "negative": []}"#).is_ok());
    }
}
