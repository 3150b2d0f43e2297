//! Equal rows on one side of a plane are one example at the sum of their prices.
//!
//! *Rule.* Where x_i = x_j and y_i = y_j, only α_i + α_j matters, and it lies between 0 and
//! C_i + C_j. Solved as one example, no visit is spent on moving a multiplier from one to the
//! other. Afterwards each gets its share, α_i = α·C_i/ΣC (equal shares of a hard margin's), so
//! that the order of equal rows changes nothing.

use std::collections::HashMap;

use super::plane::Plane;
use crate::data::{Dataset, Row, Rows};
use crate::kernel::Kernel;

/// A plane's problem with every example in it once.
pub(super) struct Merged {
    pub plane: Plane,
    /// Where each example of the whole problem is found in `plane`; `None` if all differ.
    places: Option<Vec<u32>>,
}

impl Merged {
    /// Rows of a precomputed kernel are not examples but products with all of them: they are
    /// left as they are.
    pub(super) fn of(data: &Dataset, kernel: Option<Kernel>, whole: &Plane) -> Self {
        if kernel == Some(Kernel::Precomputed) {
            let plane = whole.clone();
            return Merged {
                plane,
                places: None,
            };
        }
        let rows = Rows::of(&data.matrix);
        let mut first: HashMap<u64, u32> = HashMap::with_capacity(whole.len());
        let mut plane = Plane::with_capacity(whole.len());
        let mut places = Vec::with_capacity(whole.len());
        for t in 0..whole.len() {
            let (example, sign, price) = (whole.examples[t], whole.signs[t], whole.prices[t]);
            let row = rows.row(example as usize);
            let mut hash = hash(row, sign);
            places.push(loop {
                let place = *first.entry(hash).or_insert(plane.len() as u32);
                let p = place as usize;
                if p == plane.len() {
                    plane.push(example, sign, price);
                    break place;
                }
                if plane.signs[p] == sign && equal(rows.row(plane.examples[p] as usize), row) {
                    plane.prices[p] += price;
                    break place;
                }
                hash = hash.wrapping_add(1);
            });
        }
        let places = (plane.len() < whole.len()).then_some(places);
        Merged { plane, places }
    }

    /// α of every example of the whole problem.
    pub(super) fn spread(&self, whole: &Plane, alphas: Vec<f64>) -> Vec<f64> {
        let Some(places) = &self.places else {
            return alphas;
        };
        let mut equals = vec![0.0; alphas.len()];
        if whole.is_hard() {
            places.iter().for_each(|&p| equals[p as usize] += 1.0);
        }
        let share = |(&place, &price): (&u32, &f64)| {
            let (alpha, sum) = (alphas[place as usize], self.plane.prices[place as usize]);
            if price.is_infinite() {
                alpha / equals[place as usize]
            } else if alpha >= sum {
                price
            } else {
                (alpha * (price / sum)).min(price)
            }
        };
        places.iter().zip(&whole.prices).map(share).collect()
    }
}

/// Differs for most examples that differ. A sum, so that no term waits for the one before;
/// zeros, which one row may store and its equal not, add nothing.
fn hash(row: Row<'_>, sign: f64) -> u64 {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut sum = u64::from(sign > 0.0);
    row.for_each(|j, x| {
        let mixed = (x.to_bits() ^ (j as u64).wrapping_mul(SPREAD)).wrapping_mul(SPREAD);
        sum = sum.wrapping_add(if x == 0.0 { 0 } else { mixed ^ (mixed >> 32) });
    });
    sum ^ (sum >> 29)
}

/// Whether two rows hold the same numbers.
fn equal(a: Row<'_>, b: Row<'_>) -> bool {
    let mut same = true;
    a.for_each_pair(b, |x, z| same &= x == z);
    same
}
