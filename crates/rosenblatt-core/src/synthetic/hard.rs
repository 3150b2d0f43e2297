//! Cases that are hard to decide: what rounding hides, and what a large set hides.
//!
//! The numbers here are whole multiples of a power of ten with at most fifteen digits, so
//! that a file says exactly what is meant: the shortest decimal of the stored binary64 is
//! that multiple itself.

use super::sphere::Slab;
use super::{Coefficient, Draft, Separator, Settings, plus_minus};
use crate::data::Precision;
use crate::error::{Error, Result};
use crate::random::Random;

/// Rows of whole numbers over `per_one`, turned by the angle whose cosine is 3/5.
///
/// A row has a distance t from the plane 3x1 + 4x2 = 0 and a place r along it. The rotation
/// x1 = (3t − 4r)/5, x2 = (4t + 3r)/5 stays among whole numbers because all of t, r and the
/// coordinates that do not turn are multiples of five; they are counted in fives.
struct Turned {
    /// A power of ten that is exact in binary64.
    per_one: f64,
    draft: Draft,
}

impl Turned {
    fn new(settings: &Settings, per_one: f64) -> Self {
        let mut draft = Draft::new(settings.d, settings.n, Precision::F64, plus_minus());
        let mut w = vec![0.0; settings.d];
        (w[0], w[1]) = (3.0, 4.0);
        draft.separator = Some(Separator::binary(w, 0.0));
        Turned { per_one, draft }
    }

    /// `fives[0]` is t/5, `fives[1]` is r/5, the rest are further coordinates over 5.
    fn push(&mut self, fives: &[i64], label: u32) {
        let mut whole: Vec<i64> = fives.iter().map(|f| 5 * f).collect();
        whole[0] = 3 * fives[0] - 4 * fives[1];
        whole[1] = 4 * fives[0] + 3 * fives[1];
        // Both are exact, so the quotient is the binary64 nearest to the decimal.
        let row: Vec<f64> = whole.iter().map(|&x| x as f64 / self.per_one).collect();
        self.draft.push(&row, label);
    }

    /// Rows on either side of the plane, none nearer than `least`, and among them a negative
    /// one that faces the middle of two positive ones across it at exactly that distance:
    /// the hulls are 2·`least` apart. `depth`, `along` and `aside` bound t, r and the rest.
    fn fill(
        mut self,
        settings: &Settings,
        least: i64,
        depth: i64,
        along: i64,
        aside: i64,
    ) -> Draft {
        let mut random = settings.global();
        let within =
            |random: &mut Random, size: i64| random.below(2 * size as u64 + 1) as i64 - size;
        let others = |random: &mut Random, row: &mut [i64]| {
            row[1] = within(random, along);
            row[2..].iter_mut().for_each(|x| *x = within(random, aside));
        };
        let mut facing = vec![-least; settings.d];
        others(&mut random, &mut facing);
        let step: Vec<i64> = (0..settings.d)
            .map(|j| match j {
                0 => 0,
                1 => 1 + random.below(along as u64) as i64,
                _ => within(&mut random, aside),
            })
            .collect();
        let across = |sign: i64| -> Vec<i64> {
            let mut row: Vec<i64> = (facing.iter().zip(&step))
                .map(|(f, s)| f + sign * s)
                .collect();
            row[0] = least;
            row
        };
        let mut rows = vec![(facing.clone(), 0), (across(1), 1), (across(-1), 1)];
        for i in rows.len()..settings.n {
            let mut random = settings.for_row(i);
            let label = random.below(2) as u32;
            let mut row = vec![0; settings.d];
            others(&mut random, &mut row);
            let t = least + 1 + random.below(depth as u64) as i64;
            row[0] = if label == 1 { t } else { -t };
            rows.push((row, label));
        }
        random.shuffle(&mut rows);
        for (row, label) in rows {
            self.push(&row, label);
        }
        self.draft
    }
}

/// Whole numbers; the two hulls share one point of the plane and nothing else meets it.
pub(super) fn margin_zero(settings: &Settings) -> Result<Draft> {
    Ok(Turned::new(settings, 1.0).fill(settings, 0, 100, 100, 100))
}

/// Coordinates of a few units with thirteen decimals; the plain margin is two fives of 1e-13.
pub(super) fn margin_tiny(settings: &Settings) -> Result<Draft> {
    let one = 2 * 10i64.pow(12);
    Ok(Turned::new(settings, 1e13).fill(settings, 2, one, one, one))
}

/// A line some units long, everything within 1e-7 of it, the plain margin 1e-9.
pub(super) fn collinear(settings: &Settings) -> Result<Draft> {
    let one = 2 * 10i64.pow(12);
    Ok(Turned::new(settings, 1e13).fill(settings, 2_000, 200_000, one, 200_000))
}

/// A separable set with every column and every row multiplied by its own power of ten,
/// from 10^−150 to 10^150 each. With scale p_j of column j the separator is u_j/p_j, and a
/// row's positive factor cannot change its side.
pub(super) fn wide_range(settings: &Settings) -> Result<Draft> {
    const DECIMALS: i32 = 9;
    let slab = Slab::new(settings)?;
    let (n, d) = (settings.n, settings.d);
    // Both ends are always there; the rest lie evenly between.
    let power = |i: usize, count: usize| -150 + (300 * i / (count - 1)) as i32;
    let mut columns: Vec<i32> = (0..d).map(|j| power(j, d)).collect();
    let mut rows: Vec<i32> = (0..n).map(|i| power(i, n)).collect();
    let mut random = settings.for_row(n);
    random.shuffle(&mut columns);
    random.shuffle(&mut rows);
    let mut draft = Draft::new(d, n, Precision::F64, plus_minus());
    for (i, &row_power) in rows.iter().enumerate() {
        let (row, label) = slab.row(settings, i);
        let row: Vec<f64> = (row.iter().zip(&columns))
            .map(|(x, power)| ten_to((x * 1e9).round(), power + row_power - DECIMALS))
            .collect();
        draft.push(&row, label);
    }
    let weights = (slab.u.iter().zip(&columns))
        .map(|(u, power)| ten_to((u * 1e15).round(), -power - 15))
        .collect();
    draft.separator = Some(Separator::binary(weights, 0.0));
    Ok(draft)
}

/// whole·10^power in one rounding.
fn ten_to(whole: f64, power: i32) -> f64 {
    // The reader of decimals is correct to the last bit; multiplying powers would not be.
    format!("{whole}e{power}").parse().unwrap_or(0.0)
}

/// A separable set whose last row is the mean of all positive rows but labelled negative: it
/// lies deep within the positive hull, where no rounding can take it out again.
pub(super) fn contradiction(settings: &Settings) -> Result<Draft> {
    let slab = Slab::new(settings)?;
    let (n, d) = (settings.n, settings.d);
    let mut draft = Draft::new(d, n, settings.precision, plus_minus());
    let (mut mean, mut count) = (vec![0.0; d], 0.0);
    for i in 0..n - 1 {
        let (row, label) = slab.row(settings, i);
        if label == 1 {
            count += 1.0;
            mean.iter_mut().zip(&row).for_each(|(m, x)| *m += x);
        }
        draft.push(&row, label);
    }
    if count < 2.0 * (d as f64 + 1.0) {
        return Err(Error::options(format!(
            "{n} examples are too few for a contradiction in {d} dimensions that no rounding undoes"
        ))
        .remedy(format!("ask for at least {}", 8 * (d + 1))));
    }
    let last: Vec<f64> = mean.iter().map(|m| m / count).collect();
    draft.push(&last, 0);
    Ok(draft)
}

/// A logistic design with a known recession cone C = {w : w·z_i ≥ 0 for all i}.
///
/// Base rows have whole covariates and come in pairs of equal rows with both labels, so on
/// them every w in C scores 0: the bias and the covariates' coefficients are finite. One
/// indicator is set only in positive rows (its coefficient is +∞), one only in negative rows
/// (−∞). Two doses a, b occur in positive rows as (2, 1) and (1, 2) alone: 2a + b ≥ 0 and
/// a + 2b ≥ 0 let each be negative if the other makes up for it (`Either`).
pub(super) fn quasi(settings: &Settings) -> Result<Draft> {
    let (n, d) = (settings.n, settings.d);
    let least = 2 * (d - 3) + 4;
    if n < least {
        return Err(
            Error::options(format!("{n} examples are too few for {d} features"))
                .remedy(format!("ask for at least {least}")),
        );
    }
    let mut random = settings.global();
    let mut columns: Vec<usize> = (0..d).collect();
    random.shuffle(&mut columns);
    let [plus, minus, dose_a, dose_b] = [columns[0], columns[1], columns[2], columns[3]];
    let covariates = &columns[4..];

    let mut draft = Draft::new(d, n, settings.precision, plus_minus());
    let mut rows: Vec<(Vec<f64>, u32)> = Vec::with_capacity(n);
    // The origin and a unit step along each covariate, both ways: the base spans everything.
    for step in std::iter::once(None).chain(covariates.iter().map(Some)) {
        let mut row = vec![0.0; d];
        if let Some(&j) = step {
            row[j] = 1.0;
        }
        rows.push((row.clone(), 0));
        rows.push((row, 1));
    }
    let special = |kind: usize, row: &mut [f64]| -> u32 {
        match kind {
            0 => row[plus] = 1.0,
            1 => row[minus] = 1.0,
            2 => (row[dose_a], row[dose_b]) = (2.0, 1.0),
            _ => (row[dose_a], row[dose_b]) = (1.0, 2.0),
        }
        u32::from(kind != 1)
    };
    let mut i = 0;
    while rows.len() < n {
        let mut random = settings.for_row(i);
        let mut row = vec![0.0; d];
        for &j in covariates {
            row[j] = random.below(21) as f64 - 10.0;
        }
        if i < 4 || n - rows.len() == 1 || random.below(3) == 0 {
            let label = special(i % 4, &mut row);
            rows.push((row, label));
        } else {
            rows.push((row.clone(), 0));
            rows.push((row, 1));
        }
        i += 1;
    }
    random.shuffle(&mut rows);
    for (row, label) in rows {
        draft.push(&row, label);
    }
    let mut coefficients = vec![Coefficient::Finite; d + 1];
    let mut weights = vec![0.0; d];
    for (j, coefficient, weight) in [
        (plus, Coefficient::PlusInfinity, 1.0),
        (minus, Coefficient::MinusInfinity, -1.0),
        (dose_a, Coefficient::Either, 1.0),
        (dose_b, Coefficient::Either, 1.0),
    ] {
        coefficients[j + 1] = coefficient;
        weights[j] = weight;
    }
    draft.coefficients = Some(coefficients);
    draft.separator = Some(Separator::binary(weights, 0.0));
    Ok(draft)
}
