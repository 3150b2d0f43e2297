//! Rows, and one more that is an axis.

use super::number::{Exact, Notation};
use super::rows::SignedRows;

/// Some rows with a few more behind them, given by one coordinate each: ±e_j.
pub(crate) struct RowsAndAxis<'a> {
    pub(crate) rows: &'a dyn SignedRows,
    pub(crate) axis: usize,
    /// +1 or −1.
    pub(crate) sign: f64,
}

impl SignedRows for RowsAndAxis<'_> {
    fn dimension(&self) -> usize {
        self.rows.dimension()
    }

    fn groups(&self) -> usize {
        self.rows.groups() + 1
    }

    fn limit(&self) -> usize {
        self.rows.limit() + 1
    }

    fn score(&self, group: usize, w: &[f64], f: &mut dyn FnMut(usize, f64)) {
        if group < self.rows.groups() {
            self.rows.score(group, w, f);
        } else {
            f(self.rows.limit(), self.sign * w[self.axis]);
        }
    }

    fn terms(&self) -> usize {
        self.rows.terms()
    }

    fn each(&self, row: usize, f: &mut dyn FnMut(usize, f64)) {
        if row < self.rows.limit() {
            self.rows.each(row, f);
        } else {
            f(self.axis, self.sign);
        }
    }

    fn each_exact(&self, row: usize, f: &mut dyn FnMut(usize, Exact)) {
        if row < self.rows.limit() {
            self.rows.each_exact(row, f);
        } else {
            f(self.axis, Exact::integer(self.sign as i64));
        }
    }

    fn notation(&self) -> Notation {
        self.rows.notation()
    }

    fn members(&self, group: usize, f: &mut dyn FnMut(usize)) {
        if group < self.rows.groups() {
            self.rows.members(group, f);
        } else {
            f(self.rows.limit());
        }
    }

    fn group_of(&self, row: usize) -> usize {
        if row < self.rows.limit() {
            self.rows.group_of(row)
        } else {
            self.rows.groups()
        }
    }
}
