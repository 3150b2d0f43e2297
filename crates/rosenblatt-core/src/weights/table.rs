//! The numbers of a weight vector, and room behind them.

use std::ops::{Deref, DerefMut};

use crate::data::NARROW;

/// Weights, one after the other.
///
/// A row's column numbers are not trusted: each is held against the number of weights before one
/// is looked up. Where there is a weight for every number of 16 bits that goes without saying,
/// and a score is found a tenth faster. So where a good part of them is there anyway, zeros
/// behind the last make up the rest.
#[derive(Debug, Clone)]
pub(super) struct Table {
    values: Vec<f64>,
    len: usize,
}

impl Table {
    /// So many zeros.
    pub(super) fn zero(len: usize) -> Self {
        let padded = match len > NARROW / 4 {
            true => len.max(NARROW),
            false => len,
        };
        Table {
            values: vec![0.0; padded],
            len,
        }
    }

    /// The weights and what is behind them.
    #[inline(always)]
    pub(super) fn padded(&self) -> &[f64] {
        &self.values
    }
}

impl Deref for Table {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.values[..self.len]
    }
}

impl DerefMut for Table {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.values[..self.len]
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
