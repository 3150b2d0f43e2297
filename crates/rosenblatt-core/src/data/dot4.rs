//! Four sums over rows at once.
//!
//! A sum in ascending order waits for each addition before the next. Four rows in step do not
//! wait for each other, so they take little longer than one. The bits are those of [`Row::dot`].

use super::indices::{Index, NARROW};
use super::row::Row;
use super::rows::Rows;
/// Indices and values of a sparse row.
type Pairs<'a, I, T> = (&'a [I], &'a [T]);

/// `start + Σ_j weights[j]·x[j]` for each of four rows.
///
/// # Panics
/// If a row has a feature beyond `weights`.
#[inline]
pub(crate) fn dots(rows: [Row<'_>; 4], weights: &[f64], start: f64) -> [f64; 4] {
    match same_kind(rows) {
        Kind::Sparse32(rows) => wide(rows, weights, start),
        Kind::Sparse64(rows) => wide(rows, weights, start),
        Kind::Narrow32(rows) => narrow(rows, weights, start),
        Kind::Narrow64(rows) => narrow(rows, weights, start),
        Kind::Dense32(rows) => dense(rows, start, weights, |w, x| w * f64::from(x)),
        Kind::Dense64(rows) => dense(rows, start, weights, |w, x| w * x),
        Kind::Mixed => rows.map(|row| row.dot(weights, start)),
    }
}

/// The same of the rows at `examples`.
#[inline]
pub(crate) fn dots_at(
    rows: Rows<'_>,
    examples: [usize; 4],
    weights: &[f64],
    start: f64,
) -> [f64; 4] {
    match rows {
        Rows::Sparse32(lists) => wide(each(examples, |i| lists.row(i)), weights, start),
        Rows::Sparse64(lists) => wide(each(examples, |i| lists.row(i)), weights, start),
        Rows::Narrow32(lists) => narrow(each(examples, |i| lists.row(i)), weights, start),
        Rows::Narrow64(lists) => narrow(each(examples, |i| lists.row(i)), weights, start),
        _ => dots(examples.map(|i| rows.row(i)), weights, start),
    }
}

/// The sums of four sparse rows with many columns.
#[inline(always)]
fn wide<T: Copy + Into<f64>>(
    rows: [Pairs<'_, u32, T>; 4],
    weights: &[f64],
    start: f64,
) -> [f64; 4] {
    in_step(rows, start, |j, x| weights[j.column()] * x.into())
}

/// Those of four with few.
#[inline(always)]
fn narrow<T: Copy + Into<f64>>(
    rows: [Pairs<'_, u16, T>; 4],
    weights: &[f64],
    start: f64,
) -> [f64; 4] {
    match weights.first_chunk::<NARROW>() {
        // There is one for every index, as the compiler sees.
        Some(weights) => in_step(rows, start, |j, x| weights[j.column()] * x.into()),
        None => in_step(rows, start, |j, x| weights[j.column()] * x.into()),
    }
}

/// `f` of each. (The `map` of arrays is not always inlined where `f` may panic.)
#[inline(always)]
fn each<T: Copy, U>([a, b, c, d]: [T; 4], f: impl Fn(T) -> U) -> [U; 4] {
    [f(a), f(b), f(c), f(d)]
}

/// ‖x‖² of each of four rows; the bits are those of [`Row::squared_norm`].
#[inline]
pub(crate) fn squared_norms(rows: [Row<'_>; 4]) -> [f64; 4] {
    match same_kind(rows) {
        Kind::Sparse32(rows) => sparse_squares(rows),
        Kind::Sparse64(rows) => sparse_squares(rows),
        Kind::Narrow32(rows) => sparse_squares(rows),
        Kind::Narrow64(rows) => sparse_squares(rows),
        Kind::Dense32(rows) => dense_squares(rows),
        Kind::Dense64(rows) => dense_squares(rows),
        Kind::Mixed => rows.map(Row::squared_norm),
    }
}

/// ‖x‖² of four sparse rows, in step.
#[inline(always)]
fn sparse_squares<I: Index, T: Copy + Into<f64>>(rows: [Pairs<'_, I, T>; 4]) -> [f64; 4] {
    in_step(rows, 0.0, |_, x| {
        let x: f64 = x.into();
        x * x
    })
}

/// ‖x‖² of four dense rows of one length, in step.
#[inline(always)]
fn dense_squares<T: Copy + Into<f64>>([a, b, c, d]: [&[T]; 4]) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for ((&a, &b), (&c, &d)) in a.iter().zip(b).zip(c.iter().zip(d)) {
        let values: [f64; 4] = [a.into(), b.into(), c.into(), d.into()];
        for (sum, x) in sums.iter_mut().zip(values) {
            *sum += x * x;
        }
    }
    sums
}

/// Four rows that are stored alike.
enum Kind<'a> {
    Sparse32([Pairs<'a, u32, f32>; 4]),
    Sparse64([Pairs<'a, u32, f64>; 4]),
    Narrow32([Pairs<'a, u16, f32>; 4]),
    Narrow64([Pairs<'a, u16, f64>; 4]),
    Dense32([&'a [f32]; 4]),
    Dense64([&'a [f64]; 4]),
    Mixed,
}

#[inline(always)]
fn same_kind(rows: [Row<'_>; 4]) -> Kind<'_> {
    macro_rules! alike {
        ($dense:ident) => {
            if let [
                Row::$dense(a),
                Row::$dense(b),
                Row::$dense(c),
                Row::$dense(d),
            ] = rows
            {
                return Kind::$dense([a, b, c, d]);
            }
        };
        ($sparse:ident with indices) => {
            if let [
                Row::$sparse(i, a),
                Row::$sparse(j, b),
                Row::$sparse(k, c),
                Row::$sparse(l, d),
            ] = rows
            {
                return Kind::$sparse([(i, a), (j, b), (k, c), (l, d)]);
            }
        };
    }
    alike!(Narrow32 with indices);
    alike!(Sparse32 with indices);
    alike!(Narrow64 with indices);
    alike!(Sparse64 with indices);
    alike!(Dense32);
    alike!(Dense64);
    Kind::Mixed
}

/// Four dense rows of one length, in step.
#[inline(always)]
fn dense<T: Copy>(
    [a, b, c, d]: [&[T]; 4],
    start: f64,
    weights: &[f64],
    term: impl Fn(f64, T) -> f64,
) -> [f64; 4] {
    let mut sums = [start; 4];
    let rows = a.iter().zip(b).zip(c.iter().zip(d));
    for (&w, ((&a, &b), (&c, &d))) in weights[..a.len()].iter().zip(rows) {
        sums[0] += term(w, a);
        sums[1] += term(w, b);
        sums[2] += term(w, c);
        sums[3] += term(w, d);
    }
    sums
}

#[inline(always)]
fn part<'a, I, T>(
    row: Pairs<'a, I, T>,
    from: usize,
    to: usize,
) -> impl Iterator<Item = (&'a I, &'a T)> {
    row.0[from..to].iter().zip(&row.1[from..to])
}

/// The places of four lengths in ascending order, by exchanges and without branches: half of
/// those would be guessed wrong.
#[inline(always)]
fn by_length(lengths: [usize; 4]) -> [usize; 4] {
    let mut keys = [0, 1, 2, 3].map(|r| lengths[r] << 2 | r);
    for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
        (keys[a], keys[b]) = (keys[a].min(keys[b]), keys[a].max(keys[b]));
    }
    keys.map(|key| key & 3)
}

/// Four sparse rows in step, as far as the shortest goes; then three, two, and the longest.
#[inline(always)]
fn in_step<I: Copy, T: Copy>(
    rows: [Pairs<'_, I, T>; 4],
    start: f64,
    term: impl Fn(I, T) -> f64,
) -> [f64; 4] {
    let order = by_length(each(rows, |row| row.0.len()));
    let [a, b, c, d] = each(order, |r| rows[r]);
    let [mut s0, mut s1, mut s2, mut s3] = [start; 4];
    let (one, two, three, four) = (a.0.len(), b.0.len(), c.0.len(), d.0.len());
    let add = |sum: &mut f64, (&j, &x): (&I, &T)| *sum += term(j, x);
    let all = part(a, 0, one).zip(part(b, 0, one));
    for ((a, b), (c, d)) in all.zip(part(c, 0, one).zip(part(d, 0, one))) {
        add(&mut s0, a);
        add(&mut s1, b);
        add(&mut s2, c);
        add(&mut s3, d);
    }
    for (b, (c, d)) in part(b, one, two).zip(part(c, one, two).zip(part(d, one, two))) {
        add(&mut s1, b);
        add(&mut s2, c);
        add(&mut s3, d);
    }
    for (c, d) in part(c, two, three).zip(part(d, two, three)) {
        add(&mut s2, c);
        add(&mut s3, d);
    }
    for d in part(d, three, four) {
        add(&mut s3, d);
    }
    let mut found = [0.0; 4];
    order
        .iter()
        .zip([s0, s1, s2, s3])
        .for_each(|(&r, sum)| found[r] = sum);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    #[test]
    fn four_at_once_are_each_the_same_bits() {
        let mut random = Random::new(7, Stream::Start, 0);
        let weights: Vec<f64> = (0..300).map(|_| random.normal()).collect();
        for round in 0..200 {
            let rows: Vec<(Vec<u32>, Vec<f32>)> = (0..4)
                .map(|_| {
                    let keep = random.below(101);
                    let indices: Vec<u32> = (0..300).filter(|_| random.below(100) < keep).collect();
                    let values = indices.iter().map(|_| random.normal() as f32).collect();
                    (indices, values)
                })
                .collect();
            let wide: Vec<Vec<f64>> = rows
                .iter()
                .map(|r| r.1.iter().map(|&x| f64::from(x)).collect())
                .collect();
            let dense: Vec<Vec<f32>> = rows
                .iter()
                .map(|r| {
                    let mut full = vec![0.0; 300];
                    r.0.iter()
                        .zip(&r.1)
                        .for_each(|(&j, &x)| full[j as usize] = x);
                    full
                })
                .collect();
            let narrow: Vec<Vec<u16>> = rows
                .iter()
                .map(|r| r.0.iter().map(|&j| j as u16).collect())
                .collect();
            let kinds: [[Row<'_>; 4]; 6] = [
                std::array::from_fn(|r| Row::Narrow32(&narrow[r], &rows[r].1)),
                std::array::from_fn(|r| Row::Narrow64(&narrow[r], &wide[r])),
                std::array::from_fn(|r| Row::Sparse32(&rows[r].0, &rows[r].1)),
                std::array::from_fn(|r| Row::Sparse64(&rows[r].0, &wide[r])),
                std::array::from_fn(|r| Row::Dense32(&dense[r])),
                std::array::from_fn(|r| {
                    if r == round % 4 {
                        Row::Dense32(&dense[r])
                    } else {
                        Row::Sparse32(&rows[r].0, &rows[r].1)
                    }
                }),
            ];
            for four in kinds {
                for start in [0.25, -0.0] {
                    let found = dots(four, &weights, start);
                    for (row, found) in four.iter().zip(found) {
                        assert_eq!(row.dot(&weights, start).to_bits(), found.to_bits());
                    }
                }
                for (row, found) in four.iter().zip(squared_norms(four)) {
                    assert_eq!(row.squared_norm().to_bits(), found.to_bits());
                }
            }
        }
    }

    /// The features of a row of ten, of which the last has no weight.
    fn one_beyond() -> Vec<u32> {
        (0..9).chain([u32::MAX]).collect()
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_feature_beyond_the_weights_is_not_looked_up() {
        let row = Row::Sparse32(&one_beyond(), &[1.0; 10]);
        dots([row; 4], &[0.5; 9], 0.0);
    }
}
