//! All monomials up to a degree.
//!
//! They stand by degree, and within a degree by their ascending lists of feature numbers:
//! 1, x1, x2, x1², x1x2, x2², … A row with few non-zeros has few non-zero monomials, and
//! only those are visited.

use crate::data::Row;

/// C(n, k); `None` beyond counting.
pub(super) fn choose(n: u128, k: u32) -> Option<u128> {
    let mut result: u128 = 1;
    for i in 0..u128::from(k) {
        if n <= i {
            return Some(0);
        }
        // Exact at every step: a product of i + 1 neighbours is divisible by (i + 1)!.
        result = result.checked_mul(n - i)? / (i + 1);
    }
    Some(result)
}

/// Ascending lists of `length` feature numbers from `first` on, of `inputs` features.
fn lists(inputs: usize, first: usize, length: u32) -> usize {
    choose((inputs - first) as u128 + u128::from(length) - 1, length)
        .and_then(|n| n.try_into().ok())
        .unwrap_or(usize::MAX)
}

/// Calls `f(index, value)` for every non-zero monomial of `row`, ascending.
pub(super) fn of(row: Row<'_>, inputs: usize, degree: u32, mut f: impl FnMut(usize, f64)) {
    let mut features = Vec::new();
    row.for_each(|j, x| features.push((j, x)));
    f(0, 1.0);
    let mut offset = 1;
    for length in 1..=degree {
        descend(&features, inputs, 0, length, offset, 1.0, &mut f);
        offset += lists(inputs, 0, length);
    }
}

/// Visits the lists of `left` more features, none below feature `from`.
fn descend(
    features: &[(usize, f64)],
    inputs: usize,
    from: usize,
    left: u32,
    index: usize,
    value: f64,
    f: &mut impl FnMut(usize, f64),
) {
    if left == 0 {
        f(index, value);
        return;
    }
    for (k, &(j, x)) in features.iter().enumerate() {
        // All lists that begin between `from` and j come first.
        let before = lists(inputs, from, left) - lists(inputs, j, left);
        descend(
            &features[k..],
            inputs,
            j,
            left - 1,
            index + before,
            value * x,
            f,
        );
    }
}
