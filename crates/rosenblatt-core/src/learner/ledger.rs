//! The sum of the weights, kept up by whoever has time.
//!
//! A good part of what an update costs is its share in the sum of the weights over visits
//! ([`Average`]), which nobody asks for while a run goes on. So where
//! somebody is there to help, updates are only noted down, and the helper makes the corrections,
//! in the order of the notes, which gives the same bits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::crew::Crew;
use crate::data::{Matrix, Rows};
use crate::model::{Average, Change, Weights};

/// Notes that are handed over together.
const PAGE: usize = 64;

/// Pages that may wait.
const MOST: usize = 256;

/// Notes ahead of the one worked on whose row is asked for.
const SOON: usize = 4;

/// A correction to be made: changes by the row of an example.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Note {
    pub(crate) example: u32,
    pub(crate) change: Change,
    /// A second change by the same row.
    pub(crate) other: Option<Change>,
}

/// Corrections, and what they are made to.
pub(crate) struct Ledger<'a> {
    matrix: &'a Matrix,
    rows: Rows<'a>,
    /// Pages that nobody has taken yet, oldest first.
    pages: Mutex<VecDeque<Vec<Note>>>,
    /// The sum, while it is here; who holds it takes the pages.
    sum: Mutex<Option<Weights>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Ledger<'a> {
    /// For corrections by the rows of `matrix`.
    pub(crate) fn new(matrix: &'a Matrix) -> Self {
        Ledger {
            matrix,
            rows: Rows::of(matrix),
            pages: Mutex::default(),
            sum: Mutex::default(),
        }
    }

    /// Corrections are made to `sum` from now on.
    fn open(&self, sum: Weights) {
        *lock(&self.sum) = Some(sum);
    }

    /// Adds a page. Where helpers are far behind, some of the work is done here.
    fn add(&self, page: Vec<Note>) {
        let mut pages = lock(&self.pages);
        pages.push_back(page);
        let too_many = pages.len() > MOST;
        drop(pages);
        if too_many {
            drop(self.work_on(lock(&self.sum)));
        }
    }

    /// Makes the corrections that are noted, unless somebody else is doing so.
    pub(crate) fn work(&self) {
        let held = match self.sum.try_lock() {
            Ok(held) => held,
            Err(_) => return,
        };
        drop(self.work_on(held));
    }

    /// The sum after all corrections.
    fn close(&self) -> Option<Weights> {
        self.work_on(lock(&self.sum)).take()
    }

    fn work_on<'b>(
        &self,
        mut held: MutexGuard<'b, Option<Weights>>,
    ) -> MutexGuard<'b, Option<Weights>> {
        if let Some(sum) = held.as_mut() {
            while let Some(page) = self.next_page() {
                self.correct(sum, &page);
            }
        }
        held
    }

    /// The oldest page, which is then nobody else's.
    fn next_page(&self) -> Option<Vec<Note>> {
        lock(&self.pages).pop_front()
    }

    fn correct(&self, sum: &mut Weights, page: &[Note]) {
        for (n, note) in page.iter().enumerate() {
            if let Some(soon) = page.get(n + SOON) {
                self.rows.row(soon.example as usize).prefetch();
            }
            note.correct(sum, self.rows);
            // It may be far from the last one.
            self.matrix.were_read(1);
        }
    }
}

impl Note {
    /// Makes this correction.
    #[inline]
    fn correct(self, sum: &mut Weights, rows: Rows<'_>) {
        let row = rows.row(self.example as usize);
        let Change { d, scale, bias } = self.change;
        match self.other {
            None => sum.add(d, row, scale, bias),
            Some(other) => sum.add_both([self.change, other], row),
        }
    }
}

/// Corrects the sum at once, or leaves that to helpers.
pub(super) struct Keeper<'a> {
    crew: &'a Crew,
    ledger: &'a Ledger<'a>,
    /// Notes for the ledger, while the sum is there.
    page: Option<Vec<Note>>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(crew: &'a Crew, ledger: &'a Ledger<'a>) -> Self {
        Keeper {
            crew,
            ledger,
            page: None,
        }
    }

    /// Leaves the sum to helpers, if there are any now.
    pub(super) fn hand_over(&mut self, average: &mut Option<Average>) {
        if self.page.is_some() || self.crew.helpers() == 0 {
            return;
        }
        if let Some(average) = average {
            let nothing = Weights::zero(1, 0);
            let sum = std::mem::replace(&mut average.correction, nothing);
            self.ledger.open(sum);
            self.page = Some(Vec::with_capacity(PAGE));
        }
    }

    /// Has the sum here again, with all corrections.
    pub(super) fn take_back(&mut self, average: &mut Option<Average>) {
        if let (Some(page), Some(average)) = (self.page.take(), average) {
            self.ledger.add(page);
            if let Some(sum) = self.ledger.close() {
                average.correction = sum;
            }
        }
    }

    /// Makes a correction, or notes it down.
    #[inline]
    pub(super) fn correct(&mut self, average: &mut Average, note: Note) {
        let Some(page) = &mut self.page else {
            return note.correct(&mut average.correction, self.ledger.rows);
        };
        page.push(note);
        if page.len() == PAGE {
            let full = std::mem::replace(page, Vec::with_capacity(PAGE));
            self.ledger.add(full);
            self.crew.ask();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::{Crew, Dismissal};
    use crate::data::{Matrix, Precision};
    use crate::random::{Random, Stream};

    #[test]
    fn corrections_made_aside_are_those_made_at_once() {
        let columns = 40;
        let mut random = Random::new(8, Stream::Start, 0);
        let rows: Vec<Vec<f64>> = (0..50)
            .map(|_| (0..columns).map(|_| random.normal()).collect())
            .collect();
        let matrix = Matrix::dense_from_rows(columns, &rows, Precision::F64);
        let rows = Rows::of(&matrix);
        // More than may wait, so that some are made by the one who notes them down.
        for (helpers, notes) in [
            (0, 3 * PAGE),
            (0, (MOST + 9) * PAGE),
            (1, 5000),
            (3, 30_000),
        ] {
            let (crew, ledger) = (Crew::new(helpers + 1), Ledger::new(&matrix));
            let mut expected = Weights::zero(3, columns);
            let found = std::thread::scope(|scope| {
                let _dismissal = Dismissal(&crew);
                for _ in 0..helpers {
                    scope.spawn(|| crew.serve(|| ledger.work()));
                }
                ledger.open(Weights::zero(3, columns));
                let mut page = Vec::new();
                for k in 0..notes {
                    let mut change = |d: usize| Change {
                        d,
                        scale: random.normal(),
                        bias: random.normal(),
                    };
                    let note = Note {
                        example: (k * 7 % 50) as u32,
                        change: change(k % 3),
                        other: k.is_multiple_of(2).then(|| change((k + 1) % 3)),
                    };
                    note.correct(&mut expected, rows);
                    page.push(note);
                    if page.len() == PAGE {
                        ledger.add(std::mem::take(&mut page));
                        crew.ask();
                    }
                }
                ledger.add(page);
                ledger.close()
            });
            assert_eq!(found, Some(expected));
            assert!(ledger.close().is_none());
        }
    }
}
