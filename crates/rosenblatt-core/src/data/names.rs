//! Names of features, kept compactly: a million words must not cost a million allocations.

use std::borrow::Cow;

/// Many strings in one allocation: their bytes, and where each ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StringTable {
    bytes: String,
    ends: Vec<u64>,
}

impl StringTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// A table from its parts; `None` unless the ends ascend to the length of `bytes` and
    /// each lies between characters.
    pub fn from_parts(bytes: String, ends: Vec<u64>) -> Option<Self> {
        let mut last = 0;
        for &end in &ends {
            if end < last || end > bytes.len() as u64 || !bytes.is_char_boundary(end as usize) {
                return None;
            }
            last = end;
        }
        (last == bytes.len() as u64).then_some(StringTable { bytes, ends })
    }

    /// All strings, one after the other.
    pub fn bytes(&self) -> &str {
        &self.bytes
    }

    /// The end of each string in [`bytes`](Self::bytes).
    pub fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// Appends a string.
    pub fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len() as u64);
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// String `i`.
    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.bytes[start..self.ends[i] as usize]
    }

    /// All strings, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl<S: AsRef<str>> FromIterator<S> for StringTable {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut table = StringTable::new();
        strings.into_iter().for_each(|s| table.push(s.as_ref()));
        table
    }
}

/// What the features are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureNames {
    /// By number, the first being this one (libsvm files count from 0 or 1).
    Numbered {
        /// The number of the first feature.
        first: u32,
    },
    /// Pixels of an image, row by row.
    Pixels {
        /// Rows of the image.
        height: u32,
        /// Columns of the image.
        width: u32,
    },
    /// Each by its own name.
    Listed(StringTable),
}

impl Default for FeatureNames {
    fn default() -> Self {
        FeatureNames::Numbered { first: 1 }
    }
}

impl FeatureNames {
    /// The name of feature `j`.
    pub fn get(&self, j: usize) -> Cow<'_, str> {
        match self {
            FeatureNames::Numbered { first } => (j + *first as usize).to_string().into(),
            FeatureNames::Pixels { width, .. } => {
                let width = (*width).max(1) as usize;
                format!("pixel {},{}", j / width, j % width).into()
            }
            FeatureNames::Listed(names) if j < names.len() => names.get(j).into(),
            FeatureNames::Listed(_) => format!("feature {j}").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_gives_back_what_went_in() {
        let table: StringTable = ["", "été", "x"].iter().collect();
        assert_eq!(table.iter().collect::<Vec<_>>(), ["", "été", "x"]);
        let again = StringTable::from_parts(table.bytes().to_owned(), table.ends().to_vec());
        assert_eq!(again, Some(table));
    }

    #[test]
    fn damaged_tables_are_refused() {
        assert_eq!(StringTable::from_parts("ab".into(), vec![1]), None);
        assert_eq!(StringTable::from_parts("ab".into(), vec![2, 1]), None);
        assert_eq!(StringTable::from_parts("é".into(), vec![1, 2]), None);
        assert_eq!(StringTable::from_parts("ab".into(), vec![1, 3]), None);
    }

    #[test]
    fn features_have_names_of_every_sort() {
        assert_eq!(FeatureNames::Numbered { first: 1 }.get(0), "1");
        assert_eq!(
            FeatureNames::Pixels {
                height: 28,
                width: 28
            }
            .get(29),
            "pixel 1,1"
        );
        assert_eq!(FeatureNames::Listed(["a"].iter().collect()).get(0), "a");
    }
}
