//! Several classes at once, by Kesler's construction (Nilsson, 1965; Duda & Hart, 1973).
//!
//! Discriminators w_c separate jointly when (w_{y_i} − w_j)·x_i > 0 for every example i and
//! every other class j: a binary question about the n(k − 1) rows (e_{y_i} − e_j) ⊗ x_i. They
//! are never written out; one example's scores serve its k − 1 rows. Adding one vector to all
//! discriminators changes nothing, so the last class's is fixed at 0 and left out: there are
//! (k − 1) blocks of coordinates, a block for each other class.

use dashu_int::IBig;
use rosenblatt_core::geometry::MarginKind;

use super::bracket::{Bracket, SearchBudget};
use super::limits::Limits;
use super::margin::Narrowing;
use super::number::{Exact, Notation};
use super::rows::{BiasTerm, ExactRows, SignedRows};

/// The joint question. Row i·k + j asks that example i score higher for its own class than
/// for class j.
#[derive(Debug)]
pub struct JointRows<'a> {
    rows: &'a ExactRows<'a>,
    bias: BiasTerm,
    classes: usize,
    /// Coordinates of one class.
    width: usize,
    /// Whether the last class has coordinates, too.
    every_class: bool,
}

impl<'a> JointRows<'a> {
    /// All classes of a data set.
    pub fn new(rows: &'a ExactRows<'a>, bias: BiasTerm) -> Self {
        JointRows {
            rows,
            bias,
            classes: rows.data().classes.len().max(1),
            width: rows.data().features() + bias.offset(),
            every_class: false,
        }
    }

    /// The same rows with coordinates for every class, where lengths are those of all
    /// discriminators, and w there with a sum of 0, times the number of classes.
    pub(super) fn centred(&self, w: &[IBig]) -> (Self, Vec<IBig>) {
        let k = self.classes;
        let of = |class: usize, j: usize| match self.block(class as u32) {
            Some(block) => w[block][j].clone(),
            None => IBig::ZERO,
        };
        let sums: Vec<IBig> = (0..self.width)
            .map(|j| (0..k).map(|class| of(class, j)).sum())
            .collect();
        let all = (0..k).flat_map(|class| (0..self.width).map(move |j| (class, j)));
        let centred = all.map(|(class, j)| of(class, j) * IBig::from(k) - &sums[j]);
        let rows = JointRows {
            every_class: true,
            ..*self
        };
        (rows, centred.collect())
    }

    /// The example and the rival class that a row stands for.
    pub fn example_and_rival(&self, row: usize) -> (usize, u32) {
        (row / self.classes, (row % self.classes) as u32)
    }

    /// The coordinates of one class's discriminator; `None` for the last, which is 0.
    pub fn block(&self, class: u32) -> Option<std::ops::Range<usize>> {
        let at = class as usize;
        (at < self.blocks_there()).then(|| at * self.width..(at + 1) * self.width)
    }

    fn blocks_there(&self) -> usize {
        self.classes - usize::from(!self.every_class)
    }

    fn own(&self, example: usize) -> usize {
        self.rows.data().labels[example] as usize
    }

    /// The blocks of a row in ascending order, with their signs.
    fn blocks(&self, row: usize) -> impl Iterator<Item = (usize, bool)> {
        let (own, rival) = (self.own(row / self.classes), row % self.classes);
        let there = self.blocks_there();
        let pair = if own < rival {
            [(own, false), (rival, true)]
        } else {
            [(rival, true), (own, false)]
        };
        pair.into_iter().filter(move |&(class, _)| class < there)
    }
}

impl SignedRows for JointRows<'_> {
    fn dimension(&self) -> usize {
        self.blocks_there() * self.width
    }

    fn groups(&self) -> usize {
        if self.classes < 2 {
            0
        } else {
            self.rows.data().len()
        }
    }

    fn limit(&self) -> usize {
        self.rows.data().len() * self.classes
    }

    fn score(&self, group: usize, w: &[f64], f: &mut dyn FnMut(usize, f64)) {
        let own = self.own(group);
        let offset = self.bias.offset();
        let row = self.rows.data().row(group);
        let of = |class: usize| match self.block(class as u32) {
            None => 0.0,
            Some(range) => {
                let block = &w[range];
                let start = if offset == 1 { block[0] } else { 0.0 };
                row.dot(&block[offset..], start)
            }
        };
        let mine = of(own);
        for class in (0..self.classes).filter(|&c| c != own) {
            f(group * self.classes + class, mine - of(class));
        }
    }

    fn terms(&self) -> usize {
        2 * self.width + 2
    }

    fn each(&self, row: usize, f: &mut dyn FnMut(usize, f64)) {
        for (class, negative) in self.blocks(row) {
            let (example, start) = (row / self.classes, class * self.width);
            let moved = |j, x| f(start + j, x);
            self.rows.each_lifted(example, self.bias, negative, moved);
        }
    }

    fn each_exact(&self, row: usize, f: &mut dyn FnMut(usize, Exact)) {
        for (class, negative) in self.blocks(row) {
            let (example, start) = (row / self.classes, class * self.width);
            let moved = |j, x| f(start + j, x);
            self.rows
                .each_exact_lifted(example, self.bias, negative, moved);
        }
    }

    fn notation(&self) -> Notation {
        self.rows.notation()
    }

    fn members(&self, group: usize, f: &mut dyn FnMut(usize)) {
        let own = self.own(group);
        for class in (0..self.classes).filter(|&c| c != own) {
            f(group * self.classes + class);
        }
    }

    fn group_of(&self, row: usize) -> usize {
        row / self.classes
    }

    fn has_single_rows(&self) -> bool {
        self.classes == 2
    }
}

/// Brackets the margin of several classes at once, where `separator` (from a
/// [`ProvedVerdict`](super::Decision)) separates them: γ = max min (w_y − w_j)·x over
/// Σ‖w_c‖² = 1, biases counted where there are any.
pub fn joint_margin(
    rows: &JointRows<'_>,
    separator: &[IBig],
    budget: SearchBudget,
    threads: usize,
) -> Bracket {
    joint_margin_within(&Limits::default(), rows, separator, budget, threads)
}

/// The same as far as the limits allow.
pub fn joint_margin_within(
    limits: &Limits<'_>,
    rows: &JointRows<'_>,
    separator: &[IBig],
    budget: SearchBudget,
    threads: usize,
) -> Bracket {
    let (rows, separator) = rows.centred(separator);
    let mut narrowing = Narrowing::new(&rows, false, threads, limits);
    let (lower, upper) = narrowing.run(Some(&separator), budget);
    Bracket {
        lower,
        upper,
        kind: MarginKind::Lifted,
    }
}
