//! Exact solutions of square systems of whole numbers, by p-adic lifting (Dixon, 1982).
//!
//! One inverse modulo a word-sized prime gives the solution modulo p, p², p³, …, one digit
//! for each multiplication by the matrix; when enough digits are known the rational solution
//! is recovered by continued fractions. That costs n³ word operations once and n² for each
//! digit, where elimination over the integers would cost n³ operations on long numbers.

use std::ops::Range;

use dashu_int::IBig;

use super::limits::{Limits, OrStopped};
use super::modulo::{PRIME, add, dot, invert as inverse_of, mul, negate, of_big};
use super::number::{bits, is_negative};

/// The solutions of A·x = b for several b: each is `numerators / denominator`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Solution {
    pub(crate) numerators: Vec<IBig>,
    /// Positive.
    pub(crate) denominator: IBig,
}

/// A regular square matrix, ready to be solved against. One of size 0 is the default.
#[derive(Debug, Clone, Default)]
pub(crate) struct Solver {
    n: usize,
    /// Row by row; modulo the prime.
    inverse: Vec<u64>,
    matrix: Planes,
}

/// A matrix of whole numbers, row by row, in machine words: the sum of planes times powers of
/// 2⁶², so that a sum of products takes words alone, however long the numbers are.
#[derive(Debug, Clone, Default)]
struct Planes(Vec<Vec<i64>>);

/// Bits of a plane.
const PLANE: usize = 62;

/// What of a whole number lies in plane `k`.
fn part(a: &IBig, k: usize) -> i64 {
    let size: IBig = if is_negative(a) { -a } else { a.clone() };
    let part: IBig = (size >> (k * PLANE)) & IBig::from((1i64 << PLANE) - 1);
    let part = i64::try_from(&part).unwrap_or(0);
    if is_negative(a) { -part } else { part }
}

impl Planes {
    fn new(matrix: &[IBig]) -> Self {
        let most = matrix.iter().map(bits).max().unwrap_or(0);
        let plane = |k: usize| matrix.iter().map(|a| part(a, k)).collect();
        Planes((0..most.div_ceil(PLANE)).map(plane).collect())
    }

    /// This n × n matrix in the corner of an m × m one, with entries outside of it.
    fn extended(&self, n: usize, m: usize, entries: &[(usize, usize, IBig)]) -> Self {
        let most = entries.iter().map(|(.., a)| bits(a)).max().unwrap_or(0);
        let plane = |k: usize| {
            let mut larger = vec![0; m * m];
            if let Some(old) = self.0.get(k) {
                for i in 0..n {
                    larger[i * m..i * m + n].copy_from_slice(&old[i * n..(i + 1) * n]);
                }
            }
            for (i, j, a) in entries {
                larger[i * m + j] = part(a, k);
            }
            larger
        };
        let planes = most.div_ceil(PLANE).max(self.0.len());
        Planes((0..planes).map(plane).collect())
    }

    /// The length in bits of the longest entry in a part.
    fn longest(&self, range: Range<usize>) -> usize {
        let length = |plane: &Vec<i64>| {
            let all = plane[range.clone()].iter();
            all.fold(0, |bits, a| bits | a.unsigned_abs())
                .checked_ilog2()
        };
        let planes = self.0.iter().enumerate().rev();
        let top = planes.filter_map(|(k, plane)| Some(k * PLANE + length(plane)? as usize + 1));
        top.max().unwrap_or(0)
    }

    /// A part of a row times a vector of words below 2⁶¹.
    fn times(&self, range: Range<usize>, x: &[u64]) -> IBig {
        let mut sum = IBig::ZERO;
        for plane in self.0.iter().rev() {
            // The halves of 128-bit products, each in a sum of its own.
            let (mut low, mut high) = (0u128, 0i128);
            for (&a, &x) in plane[range.clone()].iter().zip(x) {
                let product = i128::from(a) * i128::from(x);
                low += u128::from(product as u64);
                high += product >> 64;
            }
            sum = (sum << PLANE) + (IBig::from(high) << 64usize) + IBig::from(low);
        }
        sum
    }

    /// The same for a vector of whole numbers.
    fn times_long(&self, range: Range<usize>, x: &[IBig]) -> IBig {
        self.0.iter().rev().fold(IBig::ZERO, |sum, plane| {
            let terms = plane[range.clone()].iter().zip(x).filter(|(a, _)| **a != 0);
            let here: IBig = terms.map(|(&a, x)| x * a).sum();
            (sum << PLANE) + here
        })
    }
}

impl Solver {
    /// `None` if the matrix (row by row) is singular modulo the prime: with odds of about 2⁻⁶⁰ a
    /// regular one may be. A caller for whom that matters has shown it regular modulo the prime.
    pub(crate) fn new(n: usize, matrix: Vec<IBig>, limits: &Limits<'_>) -> OrStopped<Option<Self>> {
        let residues = matrix.iter().map(of_big).collect();
        let Some(inverse) = invert(n, residues, limits)? else {
            return Ok(None);
        };
        let matrix = Planes::new(&matrix);
        Ok(Some(Solver { n, inverse, matrix }))
    }

    /// The number of rows and columns.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// This matrix with `more` rows and columns behind its own, given by their entries (row,
    /// column, value) that are not zero, or `None` if that is singular modulo the prime. For A
    /// with B on its right, C below it and D in the corner it costs the inverse of what is left of
    /// the corner, D − C·A⁻¹·B, and a few products.
    pub(crate) fn extended(
        &self,
        more: usize,
        entries: &[(usize, usize, IBig)],
        limits: &Limits<'_>,
    ) -> OrStopped<Option<Self>> {
        let (n, m) = (self.n, self.n + more);
        let old = |i: usize| &self.inverse[i * n..(i + 1) * n];
        // The columns of B, the rows of C, and the corner.
        let mut right: Vec<Vec<(usize, u64)>> = vec![Vec::new(); more];
        let mut below: Vec<Vec<(usize, u64)>> = vec![Vec::new(); more];
        let mut corner = vec![0; more * more];
        for (i, j, value) in entries {
            let residue = of_big(value);
            match (i.checked_sub(n), j.checked_sub(n)) {
                (None, None) => debug_assert!(false, "an entry of the old matrix"),
                (None, Some(column)) => right[column].push((*i, residue)),
                (Some(row), None) => below[row].push((*j, residue)),
                (Some(row), Some(column)) => corner[row * more + column] = residue,
            }
        }
        // A⁻¹·B, row by row, and the rows of C·A⁻¹.
        let mut beside = vec![0; n * more];
        for i in 0..n {
            let row = old(i);
            for (at, column) in beside[i * more..].iter_mut().zip(&right) {
                *at = column
                    .iter()
                    .fold(0, |sum, &(k, b)| add(sum, mul(row[k], b)));
            }
        }
        let mut under = vec![vec![0; n]; more];
        for (sum, row) in under.iter_mut().zip(&below) {
            limits.check()?;
            for &(k, c) in row {
                add_times(sum, c, old(k));
            }
        }
        for (left, row) in corner.chunks_exact_mut(more.max(1)).zip(&below) {
            for &(k, c) in row {
                add_times(left, negate(c), &beside[k * more..(k + 1) * more]);
            }
        }
        let Some(corner) = invert(more, corner, limits)? else {
            return Ok(None);
        };
        let corner_row = |i: usize| &corner[i * more..(i + 1) * more];
        let mut inverse = Vec::with_capacity(m * m);
        for i in 0..n {
            limits.check()?;
            // −A⁻¹·B times the inverted corner, and what that takes back from A⁻¹.
            let mut outer = vec![0; more];
            for (k, &b) in beside[i * more..(i + 1) * more].iter().enumerate() {
                add_times(&mut outer, negate(b), corner_row(k));
            }
            let mut row = old(i).to_vec();
            for (under, &z) in under.iter().zip(&outer) {
                add_times(&mut row, negate(z), under);
            }
            inverse.extend(row);
            inverse.extend(outer);
        }
        for i in 0..more {
            let mut row = vec![0; n];
            for (under, &c) in under.iter().zip(corner_row(i)) {
                add_times(&mut row, negate(c), under);
            }
            inverse.extend(row);
            inverse.extend(corner_row(i));
        }
        Ok(Some(Solver {
            n: m,
            inverse,
            matrix: self.matrix.extended(n, m, entries),
        }))
    }

    /// Rows and columns exchanged.
    pub(crate) fn transposed(&self) -> Self {
        let planes = self.matrix.0.iter();
        Solver {
            n: self.n,
            inverse: transposed(self.n, &self.inverse),
            matrix: Planes(planes.map(|plane| transposed(self.n, plane)).collect()),
        }
    }

    /// The solution of A·x = b.
    pub(crate) fn solve(&self, b: &[IBig], limits: &Limits<'_>) -> OrStopped<Solution> {
        let n = self.n;
        if n == 0 || b.iter().all(IBig::is_zero) {
            return Ok(Solution {
                numerators: vec![IBig::ZERO; n],
                denominator: IBig::ONE,
            });
        }
        // Cramer and Hadamard: numerators and denominator are below the product of the row
        // norms, of which the largest may be replaced by that of b. Most solutions are far
        // shorter, so reconstruction is tried early and checked.
        let most = self.most_bits(b);
        let mut digits: Vec<Vec<u64>> = Vec::new();
        // What is left of b after the digits so far, divided by the prime each time.
        let mut residual = b.to_vec();
        let mut next_try = 2;
        loop {
            limits.check()?;
            // Inverse · residual modulo the prime; what is left is a multiple of it.
            let reduced: Vec<u64> = residual.iter().map(of_big).collect();
            let inverse = self.inverse.chunks_exact(n);
            let digit: Vec<u64> = inverse.map(|row| dot(row, &reduced)).collect();
            for (i, left) in residual.iter_mut().enumerate() {
                *left = (&*left - self.matrix.times(i * n..(i + 1) * n, &digit)) / PRIME;
            }
            digits.push(digit);
            let known = digits.len() * 60;
            let last = known > 2 * most + 8;
            if digits.len() >= next_try || last {
                next_try = next_try * 3 / 2 + 1;
                if let Some(solution) = self.reconstruct(&digits)
                    && (last || self.holds(&solution, b))
                {
                    return Ok(solution);
                }
                if known > 4 * most + 1000 {
                    // Not reached: at twice the bound the reconstruction is unique.
                    return Ok(Solution {
                        numerators: vec![IBig::ZERO; n],
                        denominator: IBig::ONE,
                    });
                }
            }
        }
    }

    fn most_bits(&self, b: &[IBig]) -> usize {
        let n = self.n;
        let half_log = (usize::BITS - (n + 1).leading_zeros()) as usize / 2 + 1;
        let length = |i: usize| self.matrix.longest(i * n..(i + 1) * n);
        (0..n).map(|i| length(i).max(bits(&b[i])) + half_log).sum()
    }

    fn reconstruct(&self, digits: &[Vec<u64>]) -> Option<Solution> {
        let n = self.n;
        let prime = IBig::from(PRIME);
        let modulus = prime.pow(digits.len());
        let half: IBig = &modulus >> 1usize;
        let mut denominator = IBig::ONE;
        let mut values: Vec<IBig> = (0..n)
            .map(|i| combine(&digits.iter().map(|d| d[i]).collect::<Vec<_>>()))
            .collect();
        // Numerators and denominators are sought below the square root of half the modulus,
        // with a common denominator that grows as needed.
        let bound = {
            let b = bits(&half) / 2;
            (IBig::ONE << b) - IBig::ONE
        };
        let mut numerators: Vec<IBig> = Vec::with_capacity(n);
        for value in &mut values {
            let scaled = balanced(&(&*value * &denominator), &modulus, &half);
            if magnitude_at_most(&scaled, &bound) {
                numerators.push(scaled);
                continue;
            }
            let scaled = euclidean(&scaled, &modulus);
            let (numerator, extra) = rational(&scaled, &modulus, &bound)?;
            numerators.iter_mut().for_each(|x| *x = &*x * &extra);
            denominator *= extra;
            if !magnitude_at_most(&denominator, &bound) {
                return None;
            }
            numerators.push(numerator);
        }
        Some(Solution {
            numerators,
            denominator,
        })
    }

    fn holds(&self, solution: &Solution, b: &[IBig]) -> bool {
        let (n, x) = (self.n, &solution.numerators);
        (0..n).all(|i| {
            let range = i * n..(i + 1) * n;
            let sum = self.matrix.times_long(range, x);
            sum == &b[i] * &solution.denominator
        })
    }
}

/// v + factor·w modulo the prime.
fn add_times(v: &mut [u64], factor: u64, w: &[u64]) {
    if factor != 0 {
        for (v, &w) in v.iter_mut().zip(w) {
            *v = add(*v, mul(factor, w));
        }
    }
}

fn transposed<T: Copy + Default>(n: usize, matrix: &[T]) -> Vec<T> {
    let mut turned = vec![T::default(); n * n];
    for (i, row) in matrix.chunks_exact(n.max(1)).enumerate() {
        for (j, &x) in row.iter().enumerate() {
            turned[j * n + i] = x;
        }
    }
    turned
}

/// Σ digits[k]·p^k, by halves.
fn combine(digits: &[u64]) -> IBig {
    let mut level: Vec<IBig> = digits.iter().map(|&d| IBig::from(d)).collect();
    let mut base = IBig::from(PRIME);
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [low, high] => low + high * &base,
                rest => rest[0].clone(),
            })
            .collect();
        if level.len() > 1 {
            base = &base * &base;
        }
    }
    level.pop().unwrap_or(IBig::ZERO)
}

fn euclidean(a: &IBig, modulus: &IBig) -> IBig {
    let rest = a % modulus;
    if is_negative(&rest) {
        rest + modulus
    } else {
        rest
    }
}

/// a modulo the modulus, in (−half, half].
fn balanced(a: &IBig, modulus: &IBig, half: &IBig) -> IBig {
    let rest = euclidean(a, modulus);
    if &rest > half { rest - modulus } else { rest }
}

fn magnitude_at_most(a: &IBig, bound: &IBig) -> bool {
    &-bound <= a && a <= bound
}

/// n/d ≡ a with |n|, d ≤ bound, d > 0 (Wang, 1981): the extended Euclidean algorithm stopped
/// halfway.
fn rational(a: &IBig, modulus: &IBig, bound: &IBig) -> Option<(IBig, IBig)> {
    let (mut r0, mut r1) = (modulus.clone(), a.clone());
    let (mut t0, mut t1) = (IBig::ZERO, IBig::ONE);
    while &r1 > bound {
        let quotient = &r0 / &r1;
        let r2 = r0 - &quotient * &r1;
        let t2 = t0 - &quotient * &t1;
        (r0, r1) = (r1, r2);
        (t0, t1) = (t1, t2);
    }
    if t1.is_zero() || !magnitude_at_most(&t1, bound) {
        return None;
    }
    Some(if is_negative(&t1) {
        (-r1, -t1)
    } else {
        (r1, t1)
    })
}

/// The inverse modulo the prime by Gauss and Jordan, in place; `None` if singular.
fn invert(n: usize, mut table: Vec<u64>, limits: &Limits<'_>) -> OrStopped<Option<Vec<u64>>> {
    let mut swaps = Vec::new();
    for column in 0..n {
        limits.check()?;
        let Some(pivot) = (column..n).find(|&i| table[i * n + column] != 0) else {
            return Ok(None);
        };
        if pivot != column {
            swaps.push((pivot, column));
            for j in 0..n {
                table.swap(pivot * n + j, column * n + j);
            }
        }
        // The column that is done makes room for one of the inverse.
        let pivot_row = &mut table[column * n..(column + 1) * n];
        let factor = inverse_of(pivot_row[column]);
        pivot_row[column] = 1;
        pivot_row.iter_mut().for_each(|x| *x = mul(*x, factor));
        let pivot_row = pivot_row.to_vec();
        for (i, row) in table.chunks_exact_mut(n).enumerate() {
            let factor = row[column];
            if i != column && factor != 0 {
                row[column] = 0;
                add_times(row, negate(factor), &pivot_row);
            }
        }
    }
    // Exchanged rows are exchanged columns of the inverse.
    for &(a, b) in swaps.iter().rev() {
        table.chunks_exact_mut(n).for_each(|row| row.swap(a, b));
    }
    Ok(Some(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::internal::random::{Random, Stream};

    fn matrix(random: &mut Random, n: usize, scale: usize) -> Vec<IBig> {
        (0..n * n)
            .map(|_| {
                let high = IBig::from(random.below(2001) as i64 - 1000) << (scale * 10);
                high + IBig::from(random.below(7))
            })
            .collect()
    }

    #[test]
    fn solutions_solve_small_and_large_systems() {
        let mut random = Random::new(3, Stream::Sample, 0);
        for n in [1usize, 2, 3, 5, 9, 20] {
            for scale in [0usize, 3, 12] {
                let a = matrix(&mut random, n, scale);
                let b: Vec<IBig> = (0..n)
                    .map(|_| IBig::from(random.below(99) as i64 - 40))
                    .collect();
                let limits = Limits::default();
                let Some(solver) = Solver::new(n, a.clone(), &limits).expect("no limit") else {
                    continue;
                };
                let x = solver.solve(&b, &limits).expect("no limit");
                assert!(x.denominator > IBig::ZERO);
                for i in 0..n {
                    let sum: IBig = (0..n).map(|j| &a[i * n + j] * &x.numerators[j]).sum();
                    assert_eq!(sum, &b[i] * &x.denominator, "n = {n}, scale = {scale}");
                }
            }
        }
    }

    #[test]
    fn a_matrix_that_grows_solves_as_the_whole_does() {
        let mut random = Random::new(5, Stream::Sample, 0);
        let limits = Limits::default();
        for sizes in [&[0usize, 3, 4, 9][..], &[7, 8], &[1, 2, 3, 20]] {
            for scale in [0, 12] {
                let m = sizes[sizes.len() - 1];
                let a = matrix(&mut random, m, scale);
                let mut grown = Solver::default();
                for &size in sizes {
                    let n = grown.len();
                    let places = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
                    let outside = places.filter(|&(i, j)| i >= n || j >= n);
                    let entries: Vec<_> =
                        outside.map(|(i, j)| (i, j, a[i * m + j].clone())).collect();
                    let larger = grown
                        .extended(size - n, &entries, &limits)
                        .expect("no limit");
                    grown = larger.expect("regular but for odds of 2⁻⁶⁰");
                }
                let whole = Solver::new(m, a.clone(), &limits)
                    .expect("no limit")
                    .unwrap();
                assert_eq!(grown.inverse, whole.inverse);
                let b: Vec<IBig> = (0..m)
                    .map(|_| IBig::from(random.below(99) as i64))
                    .collect();
                let [one, other] =
                    [&grown, &whole].map(|s| s.solve(&b, &limits).expect("no limit"));
                assert_eq!(one, other);
                let turned: Vec<IBig> = (0..m * m).map(|k| a[k % m * m + k / m].clone()).collect();
                let turned = Solver::new(m, turned, &limits).expect("no limit").unwrap();
                let [one, other] =
                    [&grown.transposed(), &turned].map(|s| s.solve(&b, &limits).expect("no limit"));
                assert_eq!(one, other);
            }
        }
        let one = Solver::new(1, vec![IBig::ONE], &limits)
            .expect("no limit")
            .unwrap();
        let dependent = [(0, 1, 2), (1, 0, 2), (1, 1, 4)].map(|(i, j, a)| (i, j, IBig::from(a)));
        assert!(
            one.extended(1, &dependent, &limits)
                .expect("no limit")
                .is_none()
        );
    }

    #[test]
    fn singular_matrices_are_refused() {
        let a = [1, 2, 2, 4].map(IBig::from).to_vec();
        let regular = |n, a| {
            let solver = Solver::new(n, a, &Limits::default());
            solver.expect("no limit").is_some()
        };
        assert!(!regular(2, a));
        assert!(regular(0, Vec::new()));
    }
}
