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

/// A regular square matrix, ready to be solved against.
pub(crate) struct Solver {
    n: usize,
    /// Row by row; modulo the prime.
    inverse: Vec<u64>,
    matrix: Planes,
    /// The length in bits of the longest entry of each row.
    lengths: Vec<usize>,
}

/// A matrix of whole numbers, row by row, in machine words: the sum of planes times powers of
/// 2⁶², so that a sum of products takes words alone, however long the numbers are.
struct Planes(Vec<Vec<i64>>);

/// Bits of a plane.
const PLANE: usize = 62;

impl Planes {
    fn new(matrix: &[IBig]) -> Self {
        let most = matrix.iter().map(bits).max().unwrap_or(0);
        let plane = |k: usize| {
            let part = |a: &IBig| {
                let size: IBig = if is_negative(a) { -a } else { a.clone() };
                let part: IBig = (size >> (k * PLANE)) & IBig::from((1i64 << PLANE) - 1);
                let part = i64::try_from(&part).unwrap_or(0);
                if is_negative(a) { -part } else { part }
            };
            matrix.iter().map(part).collect()
        };
        Planes((0..most.div_ceil(PLANE)).map(plane).collect())
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
        let lengths = matrix.chunks(n.max(1));
        let lengths = lengths.map(|row| row.iter().map(bits).max().unwrap_or(0));
        let lengths = lengths.collect();
        let matrix = Planes::new(&matrix);
        Ok(Some(Solver {
            n,
            inverse,
            matrix,
            lengths,
        }))
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
        (0..n)
            .map(|i| self.lengths[i].max(bits(&b[i])) + half_log)
            .sum()
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

/// The inverse modulo the prime by Gauss and Jordan; `None` if singular.
fn invert(n: usize, a: Vec<u64>, limits: &Limits<'_>) -> OrStopped<Option<Vec<u64>>> {
    let width = 2 * n;
    let mut table = vec![0u64; n * width];
    for i in 0..n {
        table[i * width..i * width + n].copy_from_slice(&a[i * n..(i + 1) * n]);
        table[i * width + n + i] = 1;
    }
    for column in 0..n {
        limits.check()?;
        let Some(pivot) = (column..n).find(|&i| table[i * width + column] != 0) else {
            return Ok(None);
        };
        for j in (0..width).filter(|_| pivot != column) {
            table.swap(pivot * width + j, column * width + j);
        }
        let factor = inverse_of(table[column * width + column]);
        // Left of the column the pivot row is zero.
        let pivot_row: Vec<u64> = table[column * width + column..(column + 1) * width]
            .iter()
            .map(|&x| mul(x, factor))
            .collect();
        for (i, row) in table.chunks_exact_mut(width).enumerate() {
            let right = &mut row[column..];
            if i == column {
                right.copy_from_slice(&pivot_row);
            } else if right[0] != 0 {
                let factor = negate(right[0]);
                for (x, &y) in right.iter_mut().zip(&pivot_row) {
                    *x = add(*x, mul(factor, y));
                }
            }
        }
    }
    let rows = table.chunks_exact(width.max(1));
    Ok(Some(rows.flat_map(|row| row[n..].to_vec()).collect()))
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
