//! The signed rows z_i = y_i·(lifted x_i) that every question here is about.
//!
//! A row is seen in two ways: as `f64`, for searching, and as exact numbers, for proving.
//! The search asks for scores of many rows at once and never for a copy of the data, so the
//! same search serves a binary problem, several classes at once (where one example stands
//! for k − 1 rows that are never written out) and a matrix of kernel values.

use super::number::{Exact, Notation, is_negative};
use rosenblatt_core::data::{Dataset, Row, Storage};
use rosenblatt_core::{Error, Result};

/// Signed rows, some of them in groups that are scored together.
pub trait SignedRows: Sync {
    /// The number of coordinates.
    fn dimension(&self) -> usize;

    /// The number of groups.
    fn groups(&self) -> usize;

    /// One past the largest row number; numbers may have gaps.
    fn limit(&self) -> usize {
        self.groups()
    }

    /// Calls `f(row, w·z)` for every row of a group.
    fn score(&self, group: usize, w: &[f64], f: &mut dyn FnMut(usize, f64));

    /// Calls `f(row, w·z, Σ|w_j z_j|)` for every row of a group.
    fn score_with_size(&self, group: usize, w: &[f64], f: &mut dyn FnMut(usize, f64, f64)) {
        self.members(group, &mut |row| {
            let (mut sum, mut size) = (0.0, 0.0);
            self.each(row, &mut |j, z| {
                let term = w[j] * z;
                sum += term;
                size += term.abs();
            });
            f(row, sum, size);
        });
    }

    /// The largest number of terms in a score.
    fn terms(&self) -> usize {
        self.dimension()
    }

    /// Calls `f(j, z_j)` for the coordinates of a row that are not zero, ascending.
    fn each(&self, row: usize, f: &mut dyn FnMut(usize, f64));

    /// Writes a row out in full where it is stored so; says whether it did.
    fn write_full(&self, _row: usize, _full: &mut [f64]) -> bool {
        false
    }

    /// Calls `f(j, z_j)` with the exact coordinates that are not zero, ascending.
    fn each_exact(&self, row: usize, f: &mut dyn FnMut(usize, Exact));

    /// Whether the `f64` of a row tell its exact numbers: equal ones stand for equal numbers, and
    /// whole ones for themselves.
    fn floats_tell(&self, _row: usize) -> bool {
        false
    }

    /// Calls `f(j, negative)` with the signs of the coordinates that are not zero, ascending.
    fn each_sign(&self, row: usize, f: &mut dyn FnMut(usize, bool)) {
        match self.floats_tell(row) {
            true => self.each(row, &mut |j, z| f(j, z < 0.0)),
            false => self.each_exact(row, &mut |j, z| f(j, is_negative(&z.mantissa))),
        }
    }

    /// What the numbers stand for; its radix is the one of the exact values.
    fn notation(&self) -> Notation;

    /// Calls `f(row)` for every row of a group.
    fn members(&self, group: usize, f: &mut dyn FnMut(usize)) {
        f(group);
    }

    /// Calls `f(row)` for every row.
    fn each_row(&self, f: &mut dyn FnMut(usize)) {
        (0..self.groups()).for_each(|group| self.members(group, f));
    }

    /// The group that a row is in.
    fn group_of(&self, row: usize) -> usize {
        row
    }

    /// Whether every group is one row.
    fn has_single_rows(&self) -> bool {
        true
    }

    /// Whether a row is of the positive side; all are where there are no sides.
    fn is_positive(&self, _row: usize) -> bool {
        true
    }
}

/// Decimal places that a number may have: whole numbers of as many digits are calculated with.
const MOST_PLACES: i32 = 5000;

/// A value whose text says more than its `f64` can hold: more than 15 significant digits, or
/// an exponent beyond the normal range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactText {
    /// The row, by its position in memory.
    pub row: usize,
    /// The feature.
    pub feature: usize,
    /// The number as written.
    pub text: String,
}

/// The rows of a data set with what they exactly stand for.
#[derive(Debug)]
pub struct ExactRows<'a> {
    data: &'a Dataset,
    notation: Notation,
    /// What longer texts say, by row and feature.
    exceptions: Vec<(usize, Exact)>,
    /// Where those of each row start, if there are any.
    starts: Vec<usize>,
}

impl<'a> ExactRows<'a> {
    /// Rows that mean what `notation` says, except where a longer text is given.
    pub fn new(data: &'a Dataset, notation: Notation, exceptions: &[ExactText]) -> Result<Self> {
        let mut all: Vec<(usize, usize, Exact)> = Vec::with_capacity(exceptions.len());
        for exception in exceptions {
            if exception.row >= data.len() || exception.feature >= data.features() {
                return Err(Error::data(format!(
                    "an exact value for row {}, feature {}, where there is none",
                    exception.row + 1,
                    exception.feature
                )));
            }
            let value = Exact::parse(&exception.text).ok_or_else(|| {
                Error::data(format!("{:?} is not a decimal number", exception.text))
            })?;
            if notation == Notation::Binary {
                return Err(Error::data("binary values have no decimal text"));
            }
            if value.exponent < -MOST_PLACES {
                let row = data.number(exception.row) + 1;
                return Err(Error::data(format!(
                    "row {row} has a number of {} decimal places, too many for exact arithmetic",
                    -i64::from(value.exponent)
                ))
                .remedy(format!(
                    "write numbers with at most {MOST_PLACES} places, or 0"
                )));
            }
            all.push((exception.row, exception.feature, value));
        }
        all.sort_by_key(|(row, feature, _)| (*row, *feature));
        let mut starts = Vec::new();
        if !all.is_empty() {
            starts = vec![0; data.len() + 1];
            all.iter().for_each(|(row, ..)| starts[row + 1] += 1);
            (0..data.len()).for_each(|row| starts[row + 1] += starts[row]);
        }
        Ok(ExactRows {
            data,
            notation,
            exceptions: all.into_iter().map(|(_, j, value)| (j, value)).collect(),
            starts,
        })
    }

    /// The data set.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// What the numbers stand for.
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// Whether longer texts say what some values of a row are.
    fn has_exact_texts(&self, row: usize) -> bool {
        !self.starts.is_empty() && self.starts[row] < self.starts[row + 1]
    }

    /// Calls `f` with what is not zero of a row behind the constant of its bias, all negated if
    /// it is `negative`.
    pub(super) fn each_lifted(
        &self,
        row: usize,
        bias: BiasTerm,
        negative: bool,
        mut f: impl FnMut(usize, f64),
    ) {
        let (sign, offset) = (if negative { -1.0 } else { 1.0 }, bias.offset());
        if offset == 1 {
            f(0, sign);
        }
        let features = self.data.row(row);
        features.for_each(|j, x| f(j + offset, sign * x));
    }

    /// The same in exact numbers.
    pub(super) fn each_exact_lifted(
        &self,
        row: usize,
        bias: BiasTerm,
        negative: bool,
        mut f: impl FnMut(usize, Exact),
    ) {
        let offset = bias.offset();
        if offset == 1 {
            f(0, Exact::integer(1).negated_if(negative));
        }
        self.each_exact(row, &mut |j, value| {
            f(j + offset, value.negated_if(negative));
        });
    }

    /// Calls `f` with each exact feature of a row that is not zero, ascending.
    pub fn each_exact(&self, row: usize, f: &mut dyn FnMut(usize, Exact)) {
        let mut rest: &[(usize, Exact)] = match self.starts.is_empty() {
            true => &[],
            false => &self.exceptions[self.starts[row]..self.starts[row + 1]],
        };
        self.data.row(row).for_each(|j, x| {
            // A text may be non-zero where its f64 is zero, so exceptions lead.
            while let [(feature, value), tail @ ..] = rest {
                if *feature > j {
                    break;
                }
                rest = tail;
                if !value.mantissa.is_zero() {
                    f(*feature, value.clone());
                }
                if *feature == j {
                    return;
                }
            }
            f(j, Exact::of(x, self.notation));
        });
        for (feature, value) in rest {
            if !value.mantissa.is_zero() {
                f(*feature, value.clone());
            }
        }
    }
}

/// Whether a constant 1 stands in front of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BiasTerm {
    /// A constant 1 in front; coordinate 0 is the bias.
    #[default]
    Lifted,
    /// A plane through the origin.
    None,
}

impl BiasTerm {
    pub(crate) fn offset(self) -> usize {
        match self {
            BiasTerm::Lifted => 1,
            BiasTerm::None => 0,
        }
    }
}

/// Which rows take part in a binary question, and on which side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// One class against all others.
    AgainstRest(u32),
    /// The first class positive, the second negative, no other rows.
    Pair(u32, u32),
}

/// Two sides of a data set: z_i = y_i·(lifted x_i).
#[derive(Debug)]
pub struct TwoSides<'a> {
    rows: &'a ExactRows<'a>,
    bias: BiasTerm,
    sides: Sides,
    /// Positions of the rows that take part, where not all do.
    chosen: Option<Vec<usize>>,
}

impl<'a> TwoSides<'a> {
    /// The rows on two sides.
    pub fn new(rows: &'a ExactRows<'a>, bias: BiasTerm, sides: Sides) -> Self {
        let chosen = match sides {
            Sides::AgainstRest(_) => None,
            Sides::Pair(a, b) => Some(
                (0..rows.data.len())
                    .filter(|&i| rows.data.labels[i] == a || rows.data.labels[i] == b)
                    .collect(),
            ),
        };
        TwoSides {
            rows,
            bias,
            sides,
            chosen,
        }
    }

    /// The last class against the rest: for two classes, positive against negative.
    pub fn positive_against_rest(rows: &'a ExactRows<'a>, bias: BiasTerm) -> Self {
        let last = rows.data.classes.len().saturating_sub(1) as u32;
        Self::new(rows, bias, Sides::AgainstRest(last))
    }

    /// Whether there is a bias.
    pub fn bias(&self) -> BiasTerm {
        self.bias
    }

    /// The features of a row.
    pub fn features(&self, row: usize) -> Row<'a> {
        self.rows.data.row(row)
    }

    /// The exact rows behind.
    pub fn exact(&self) -> &'a ExactRows<'a> {
        self.rows
    }

    /// +1 or −1.
    #[inline]
    pub fn sign(&self, row: usize) -> f64 {
        let label = self.rows.data.labels[row];
        let positive = match self.sides {
            Sides::AgainstRest(class) => label == class,
            Sides::Pair(first, _) => label == first,
        };
        if positive { 1.0 } else { -1.0 }
    }

    #[inline]
    fn row_of(&self, group: usize) -> usize {
        self.chosen.as_ref().map_or(group, |chosen| chosen[group])
    }
}

impl SignedRows for TwoSides<'_> {
    fn is_positive(&self, row: usize) -> bool {
        self.sign(row) > 0.0
    }

    fn dimension(&self) -> usize {
        self.rows.data.features() + self.bias.offset()
    }

    fn groups(&self) -> usize {
        self.chosen.as_ref().map_or(self.rows.data.len(), Vec::len)
    }

    fn limit(&self) -> usize {
        self.rows.data.len()
    }

    #[inline]
    fn score(&self, group: usize, w: &[f64], f: &mut dyn FnMut(usize, f64)) {
        let row = self.row_of(group);
        let (start, rest) = match self.bias {
            BiasTerm::Lifted => (w[0], &w[1..]),
            BiasTerm::None => (0.0, w),
        };
        let product = quick_score(self.features(row), rest, start);
        f(row, self.sign(row) * product);
    }

    fn terms(&self) -> usize {
        match self.rows.data.matrix.storage() {
            Storage::Dense { .. } => self.dimension(),
            Storage::Sparse { offsets, .. } => {
                let longest = offsets.windows(2).map(|o| o[1] - o[0]).max();
                longest.unwrap_or(0) + 1
            }
        }
    }

    fn each(&self, row: usize, f: &mut dyn FnMut(usize, f64)) {
        let negative = !self.is_positive(row);
        self.rows.each_lifted(row, self.bias, negative, f);
    }

    fn write_full(&self, row: usize, full: &mut [f64]) -> bool {
        let Row::Dense64(values) = self.features(row) else {
            return false;
        };
        let sign = self.sign(row);
        let (bias, features) = full.split_at_mut(self.bias.offset());
        bias.fill(sign);
        for (z, x) in features.iter_mut().zip(values) {
            *z = sign * x;
        }
        true
    }

    fn each_exact(&self, row: usize, f: &mut dyn FnMut(usize, Exact)) {
        let negative = !self.is_positive(row);
        self.rows.each_exact_lifted(row, self.bias, negative, f);
    }

    fn floats_tell(&self, row: usize) -> bool {
        !self.rows.has_exact_texts(row)
    }

    fn notation(&self) -> Notation {
        self.rows.notation
    }

    fn members(&self, group: usize, f: &mut dyn FnMut(usize)) {
        f(self.row_of(group));
    }

    fn group_of(&self, row: usize) -> usize {
        match &self.chosen {
            None => row,
            Some(chosen) => chosen.binary_search(&row).unwrap_or(0),
        }
    }
}

/// A score for searching.
#[inline]
fn quick_score(row: Row<'_>, w: &[f64], start: f64) -> f64 {
    match row {
        Row::Dense64(values) => quick_dot(values, &w[..values.len()], start),
        other => other.dot(w, start),
    }
}

/// A sum of products in several accumulators, in whatever order is fast. What is proved
/// afterwards does not rest on it.
#[inline]
pub(crate) fn quick_dot(x: &[f64], w: &[f64], start: f64) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (chunks, rest) = x.as_chunks::<8>();
    let (w_chunks, w_rest) = w.as_chunks::<8>();
    for (x, w) in chunks.iter().zip(w_chunks) {
        for l in 0..8 {
            lanes[l] += w[l] * x[l];
        }
    }
    let mut sum = start;
    for (x, w) in rest.iter().zip(w_rest) {
        sum += x * w;
    }
    sum + ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5]))
        + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
}
