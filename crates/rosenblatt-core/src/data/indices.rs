//! The columns of values in sparse rows.

use std::ops::Range;

use super::buffer::Buffer;
use crate::optimisations;

/// Columns beyond which an index needs more than 16 bits.
pub(crate) const NARROW: usize = 1 << 16;

/// Column numbers, in 16 bits or in 32.
///
/// A pass over sparse rows takes as long as their bytes take to arrive, and a quarter of these
/// go where an index has half the bits.
#[derive(Debug, Clone)]
pub enum Indices {
    /// In 16 bits.
    Narrow(Buffer<u16>),
    /// In 32 bits.
    Wide(Buffer<u32>),
}

/// Some neighbours among them.
#[derive(Debug, Clone, Copy)]
pub enum SomeIndices<'a> {
    /// Of 16 bits.
    Narrow(&'a [u16]),
    /// Of 32 bits.
    Wide(&'a [u32]),
}

/// A column number of either width.
pub trait Index: Copy + Default + Send + Sync + 'static {
    /// One past the largest column that fits.
    const LIMIT: u64;

    /// The column.
    fn column(self) -> usize;
    /// The number of a column that fits.
    fn of(column: u32) -> Self;
    /// Indices of this width.
    fn wrap(indices: impl Into<Buffer<Self>>) -> Indices;
}

impl Index for u16 {
    const LIMIT: u64 = NARROW as u64;

    #[inline(always)]
    fn column(self) -> usize {
        usize::from(self)
    }

    #[inline(always)]
    fn of(column: u32) -> Self {
        column as u16
    }

    fn wrap(indices: impl Into<Buffer<Self>>) -> Indices {
        Indices::Narrow(indices.into())
    }
}

impl Index for u32 {
    const LIMIT: u64 = 1 << 32;

    #[inline(always)]
    fn column(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn of(column: u32) -> Self {
        column
    }

    fn wrap(indices: impl Into<Buffer<Self>>) -> Indices {
        Indices::Wide(indices.into())
    }
}

impl Indices {
    /// Whether those of so many columns fit 16 bits.
    #[doc(hidden)]
    pub fn fit_narrow(columns: usize) -> bool {
        columns <= NARROW && optimisations::enabled("short-indices")
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Indices::Narrow(indices) => indices.len(),
            Indices::Wide(indices) => indices.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one at `k`.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn get(&self, k: usize) -> u32 {
        match self {
            Indices::Narrow(indices) => u32::from(indices[k]),
            Indices::Wide(indices) => indices[k],
        }
    }

    /// Those in a range.
    #[inline(always)]
    #[doc(hidden)]
    pub fn some(&self, range: Range<usize>) -> SomeIndices<'_> {
        match self {
            Indices::Narrow(indices) => SomeIndices::Narrow(&indices[range]),
            Indices::Wide(indices) => SomeIndices::Wide(&indices[range]),
        }
    }

    /// All of them in 32 bits.
    pub fn to_vec(&self) -> Vec<u32> {
        match self {
            Indices::Narrow(indices) => indices.iter().map(|&j| u32::from(j)).collect(),
            Indices::Wide(indices) => indices.to_vec(),
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Indices::Narrow(indices) => indices.len() * size_of::<u16>(),
            Indices::Wide(indices) => indices.len() * size_of::<u32>(),
        }
    }

    /// A list of 32 bits that can grow; others are copied first.
    pub(crate) fn make_wide(&mut self) -> &mut Vec<u32> {
        if let Indices::Narrow(_) = self {
            *self = Indices::Wide(self.to_vec().into());
        }
        match self {
            Indices::Wide(indices) => indices.to_mut(),
            Indices::Narrow(_) => unreachable!("they were widened just now"),
        }
    }

    /// Tells a lender that so many were read.
    pub(crate) fn were_read(&self, count: usize) {
        match self {
            Indices::Narrow(indices) => indices.were_read(count),
            Indices::Wide(indices) => indices.were_read(count),
        }
    }
}

impl From<Vec<u32>> for Indices {
    fn from(indices: Vec<u32>) -> Self {
        Indices::Wide(indices.into())
    }
}

impl From<Vec<u16>> for Indices {
    fn from(indices: Vec<u16>) -> Self {
        Indices::Narrow(indices.into())
    }
}

/// The numbers count, not their bits.
impl PartialEq for Indices {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Indices::Narrow(a), Indices::Narrow(b)) => a == b,
            (Indices::Wide(a), Indices::Wide(b)) => a == b,
            (Indices::Narrow(a), Indices::Wide(b)) | (Indices::Wide(b), Indices::Narrow(a)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(&i, &j)| u32::from(i) == j)
            }
        }
    }
}
