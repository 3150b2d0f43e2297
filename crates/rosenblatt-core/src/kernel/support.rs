//! The rows that kernel values are taken with: examples that were corrected, prepared for
//! fast products.

use super::Means;
use super::value::Facts;
use crate::data::{Matrix, Precision, Row};

/// Rows in slots, in the form that the means of multiplication ask for.
#[derive(Debug, Clone)]
pub(crate) struct Support {
    pub(super) means: Means,
    pub(super) facts: Vec<Facts>,
    pub(super) store: Store,
}

#[derive(Debug, Clone)]
pub(super) enum Store {
    /// Values less 128, four signed bytes to a word.
    Bytes(Vec<i32>),
    Single(Vec<f32>),
    Double(Vec<f64>),
    Sparse(Matrix),
    /// The row number in the training file: a column of the Gram matrix.
    Gram(Vec<u32>),
}

impl Support {
    /// No rows yet.
    pub(crate) fn new(means: Means) -> Self {
        Support {
            means,
            facts: Vec::new(),
            store: match means {
                Means::Bytes { .. } => Store::Bytes(Vec::new()),
                Means::Single { .. } => Store::Single(Vec::new()),
                Means::Double { .. } => Store::Double(Vec::new()),
                Means::Sparse { columns } => {
                    Store::Sparse(Matrix::empty_sparse(columns, Precision::F64))
                }
                Means::Gram => Store::Gram(Vec::new()),
            },
        }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }

    /// Appends a row; `number` is its number in the training file.
    pub(crate) fn push(&mut self, row: Row<'_>, number: u32) {
        let facts = if self.means == Means::Gram {
            Facts::default()
        } else {
            Facts::of(row)
        };
        self.facts.push(facts);
        match &mut self.store {
            Store::Bytes(words) => {
                let stride = self.means.stride();
                let start = words.len();
                words.resize(start + stride, i32::from_le_bytes([0x80; 4]));
                row.for_each(|j, x| {
                    let word = &mut words[start + j / 4];
                    let mut bytes = word.to_le_bytes();
                    bytes[j % 4] = (x as u8).wrapping_sub(128);
                    *word = i32::from_le_bytes(bytes);
                });
            }
            Store::Single(values) => {
                let start = values.len();
                values.resize(start + self.means.stride(), 0.0);
                row.for_each(|j, x| values[start + j] = x as f32);
            }
            Store::Double(values) => {
                let start = values.len();
                values.resize(start + self.means.stride(), 0.0);
                row.for_each(|j, x| values[start + j] = x);
            }
            Store::Sparse(matrix) => {
                let mut pairs = Vec::new();
                row.for_each(|j, x| pairs.push((j as u32, x)));
                matrix.push_sparse(pairs);
            }
            Store::Gram(numbers) => numbers.push(number),
        }
    }
}
