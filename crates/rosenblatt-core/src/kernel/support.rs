//! The rows that kernel values are taken with: examples that were corrected, prepared for
//! fast products.

use super::Arithmetic;
use crate::data::{Matrix, Precision, Row};

/// Rows in slots, in the form that the arithmetic asks for.
#[derive(Debug, Clone)]
pub(crate) struct SupportRows {
    pub(super) arithmetic: Arithmetic,
    /// ‖x‖² of each row.
    pub(super) squared_norms: Vec<f64>,
    pub(super) store: SupportStore,
}

#[derive(Debug, Clone)]
pub(super) enum SupportStore {
    /// Values less 128, four signed bytes to a word.
    Bytes(Vec<i32>),
    Single(Vec<f32>),
    Double(Vec<f64>),
    Sparse(Matrix),
    /// The row number in the training file: a column of the Gram matrix.
    Gram(Vec<u32>),
}

impl SupportRows {
    /// No rows yet.
    pub(crate) fn new(arithmetic: Arithmetic) -> Self {
        SupportRows {
            arithmetic,
            squared_norms: Vec::new(),
            store: match arithmetic {
                Arithmetic::Bytes { .. } => SupportStore::Bytes(Vec::new()),
                Arithmetic::Single { .. } => SupportStore::Single(Vec::new()),
                Arithmetic::Double { .. } => SupportStore::Double(Vec::new()),
                Arithmetic::Sparse { columns } => {
                    SupportStore::Sparse(Matrix::empty_sparse(columns, Precision::F64))
                }
                Arithmetic::Gram => SupportStore::Gram(Vec::new()),
            },
        }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.squared_norms.len()
    }

    /// Appends a row; `number` is its number in the training file.
    pub(crate) fn push(&mut self, row: Row<'_>, number: u32) {
        let squared_norm = match self.arithmetic {
            Arithmetic::Gram => 0.0,
            _ => row.squared_norm(),
        };
        self.squared_norms.push(squared_norm);
        match &mut self.store {
            SupportStore::Bytes(words) => {
                let stride = self.arithmetic.stride();
                let start = words.len();
                words.resize(start + stride, i32::from_le_bytes([0x80; 4]));
                row.for_each(|j, x| {
                    let word = &mut words[start + j / 4];
                    let mut bytes = word.to_le_bytes();
                    bytes[j % 4] = (x as u8).wrapping_sub(128);
                    *word = i32::from_le_bytes(bytes);
                });
            }
            SupportStore::Single(values) => {
                let start = values.len();
                values.resize(start + self.arithmetic.stride(), 0.0);
                row.for_each(|j, x| values[start + j] = x as f32);
            }
            SupportStore::Double(values) => {
                let start = values.len();
                values.resize(start + self.arithmetic.stride(), 0.0);
                row.for_each(|j, x| values[start + j] = x);
            }
            SupportStore::Sparse(matrix) => {
                let mut pairs = Vec::new();
                row.for_each(|j, x| pairs.push((j as u32, x)));
                matrix.push_sparse(pairs);
            }
            SupportStore::Gram(numbers) => numbers.push(number),
        }
    }
}
