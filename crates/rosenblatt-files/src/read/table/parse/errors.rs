//! What is said of a row that cannot be read.

use super::Parser;
use crate::read::delimited::{Cell, CellError, count_cells};
use crate::read::number::Stored;
use crate::read::row_errors::quote;
use rosenblatt_core::Error;

impl<T: Stored> Parser<'_, T> {
    #[cold]
    pub(super) fn not_a_number(&self, column: usize, cell: &Cell, text: &[u8]) -> Error {
        let name = &self.scheme.names[column];
        let error = Error::data(format!(
            "expected a number in the column {name}, found {}",
            quote(text)
        ));
        self.fault(
            cell.start,
            error.remedy(format!(
                "correct the cell, empty it, pass ⟨column {name}=numeric-or-missing⟩ when training, or ⟨on-error skip⟩"
            )),
        )
    }

    #[cold]
    pub(super) fn not_a_date(&self, column: usize, cell: &Cell, text: &[u8]) -> Error {
        let name = &self.scheme.names[column];
        let error = Error::data(format!(
            "expected a date in the column {name}, found {}",
            quote(text)
        ));
        self.fault(
            cell.start,
            error.remedy("correct the cell, empty it, or pass ⟨on-error skip⟩"),
        )
    }

    #[cold]
    pub(super) fn bad_quote(&self, error: CellError) -> Error {
        let (at, error) = error.told();
        self.fault(at, error)
    }

    #[cold]
    pub(super) fn ragged(&self, start: usize, column: usize, cell: &Cell) -> Error {
        let expected = self.scheme.takes.len();
        let (found, _) = count_cells(self.data, start, &self.scheme.dialect);
        let at = if cell.last || column + 1 < expected {
            cell.start
        } else {
            cell.next
        };
        let counted = |cells: usize| cells.saturating_sub(self.scheme.cells_in_front);
        let (expected, found) = (counted(expected), counted(found));
        let error = self.fault(
            at,
            Error::data(format!("expected {expected} cells, found {found}")),
        );
        let first = self.chunk.index == 0 && error.position().is_some_and(|p| p.line == 1);
        error.remedy(if first {
            "pass ⟨header yes⟩ if line 1 is a preamble, or ⟨comment⟩ with what it starts with"
        } else {
            "check the delimiter and the quotes, or pass ⟨on-error skip⟩"
        })
    }
}
