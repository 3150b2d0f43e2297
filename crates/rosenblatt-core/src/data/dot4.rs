//! Four sums over rows at once.
//!
//! A sum in ascending order waits for each addition before the next. Four rows in step do not
//! wait for each other, so they take little longer than one. The bits are those of
//! [`Row::dot`](super::Row::dot).

use super::row::by_storage;
use super::rows::Rows;

/// Indices and values of a sparse row.
type Pairs<'a, T> = (&'a [u32], &'a [T]);

/// `start + Σ_j weights[j]·x[j]` for each of the rows at `examples`.
///
/// # Panics
/// If a row has a feature beyond `weights`.
#[inline]
pub(crate) fn dots(rows: Rows<'_>, examples: [usize; 4], weights: &[f64], start: f64) -> [f64; 4] {
    by_storage!(
        rows.all,
        Dense(values) => dense(each(examples, |i| &values[rows.ends.of(i)]), weights, start),
        Sparse(indices, values) => {
            let row = |i: usize| {
                let range = rows.ends.of(i);
                (&indices[range.clone()], &values[range])
            };
            sparse(each(examples, row), weights, start)
        },
    )
}

/// `f` of each. (The `map` of arrays is not always inlined where `f` may panic.)
#[inline(always)]
fn each<T: Copy, U>([a, b, c, d]: [T; 4], f: impl Fn(T) -> U) -> [U; 4] {
    [f(a), f(b), f(c), f(d)]
}

/// Four dense rows of one length, in step.
#[inline(always)]
fn dense<T: Copy + Into<f64>>([a, b, c, d]: [&[T]; 4], weights: &[f64], start: f64) -> [f64; 4] {
    let mut sums = [start; 4];
    let rows = a.iter().zip(b).zip(c.iter().zip(d));
    for (&w, ((&a, &b), (&c, &d))) in weights[..a.len()].iter().zip(rows) {
        sums[0] += w * a.into();
        sums[1] += w * b.into();
        sums[2] += w * c.into();
        sums[3] += w * d.into();
    }
    sums
}

#[inline(always)]
fn part<'a, T>(
    row: Pairs<'a, T>,
    from: usize,
    to: usize,
) -> impl Iterator<Item = (&'a u32, &'a T)> {
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
fn sparse<T: Copy + Into<f64>>(rows: [Pairs<'_, T>; 4], weights: &[f64], start: f64) -> [f64; 4] {
    let order = by_length(each(rows, |row| row.0.len()));
    let [a, b, c, d] = each(order, |r| rows[r]);
    let [mut s0, mut s1, mut s2, mut s3] = [start; 4];
    let (one, two, three, four) = (a.0.len(), b.0.len(), c.0.len(), d.0.len());
    let add = |sum: &mut f64, (&j, &x): (&u32, &T)| *sum += weights[j as usize] * x.into();
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
    use crate::data::{Matrix, Storage, Values};
    use crate::random::{Random, Stream};

    /// The same rows in every storage.
    fn stored(rows: &[Vec<f64>]) -> Vec<Matrix> {
        let mut sparse = Matrix::empty_sparse(300, crate::data::Precision::F32);
        for row in rows {
            sparse.push_sparse(row.iter().enumerate().map(|(j, &x)| (j as u32, x)));
        }
        let Storage::Sparse {
            offsets,
            indices,
            values: Values::F32(short),
            ..
        } = sparse.storage()
        else {
            panic!("made sparse");
        };
        let long: Vec<f64> = short.iter().map(|&x| f64::from(x)).collect();
        let mut all = Vec::new();
        for values in [Values::F32(short.clone()), long.into()] {
            all.push(Matrix::from_storage(Storage::Sparse {
                columns: 300,
                offsets: offsets.clone(),
                indices: indices.clone(),
                values,
            }));
        }
        let full = |i: usize| sparse.row(i).to_dense(300);
        let dense: Vec<f64> = (0..rows.len()).flat_map(full).collect();
        let short: Vec<f32> = dense.iter().map(|&x| x as f32).collect();
        all.push(Matrix::dense(rows.len(), 300, dense).unwrap());
        all.push(Matrix::dense(rows.len(), 300, short).unwrap());
        all
    }

    #[test]
    fn four_at_once_are_each_the_same_bits() {
        let mut random = Random::new(7, Stream::Start, 0);
        let weights: Vec<f64> = (0..300).map(|_| random.normal()).collect();
        for _ in 0..200 {
            let rows: Vec<Vec<f64>> = (0..4)
                .map(|_| {
                    let keep = random.below(101);
                    let mut value = || match random.below(100) < keep {
                        true => random.normal(),
                        false => 0.0,
                    };
                    (0..300).map(|_| value()).collect()
                })
                .collect();
            for matrix in stored(&rows) {
                let rows = Rows::of(&matrix);
                for start in [0.25, -0.0] {
                    let found = dots(rows, [0, 1, 2, 3], &weights, start);
                    for (i, found) in found.into_iter().enumerate() {
                        assert_eq!(
                            matrix.row(i).dot(&weights, start).to_bits(),
                            found.to_bits()
                        );
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_feature_beyond_the_weights_is_not_looked_up() {
        let mut matrix = Matrix::empty_sparse(usize::MAX, crate::data::Precision::F32);
        matrix.push_sparse((0..9).chain([u32::MAX]).map(|j| (j, 1.0)));
        dots(Rows::of(&matrix), [0; 4], &[0.5; 9], 0.0);
    }
}
