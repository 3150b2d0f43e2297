//! Exact solutions of square systems of whole numbers, by p-adic lifting (Dixon, 1982).
//!
//! One inverse modulo a word-sized prime gives the solution modulo p, p², p³, …, one digit
//! for each multiplication by the matrix; when enough digits are known the rational solution
//! is recovered by continued fractions. That costs n³ word operations once and n² for each
//! digit, where elimination over the integers would cost n³ operations on long numbers.

use dashu_int::IBig;

use super::number::{bits, is_negative};

/// The solutions of A·x = b for several b: each is `numerators / denominator`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Solution {
    pub(crate) numerators: Vec<IBig>,
    /// Positive.
    pub(crate) denominator: IBig,
}

/// Primes just below 2³¹.
const PRIMES: [u64; 6] = [
    2_147_483_647,
    2_147_483_629,
    2_147_483_587,
    2_147_483_579,
    2_147_483_563,
    2_147_483_549,
];

/// A regular square matrix, ready to be solved against.
pub(crate) struct Solver {
    n: usize,
    prime: u64,
    /// Row by row; modulo the prime.
    inverse: Vec<u32>,
    matrix: Entries,
}

enum Entries {
    /// All entries below 2⁶².
    Small(Vec<i64>),
    Large(Vec<IBig>),
}

impl Solver {
    /// `None` if the matrix (row by row) is singular. Singular modulo six primes counts as
    /// singular; a caller for whom that matters has shown the matrix regular by other means.
    pub(crate) fn new(n: usize, matrix: Vec<IBig>) -> Option<Self> {
        let limit = 1i64 << 62;
        let small: Option<Vec<i64>> = matrix
            .iter()
            .map(|a| i64::try_from(a).ok().filter(|a| -limit < *a && *a < limit))
            .collect();
        for prime in PRIMES {
            let residues: Vec<u64> = match &small {
                Some(entries) => entries
                    .iter()
                    .map(|a| a.rem_euclid(prime as i64) as u64)
                    .collect(),
                None => matrix.iter().map(|a| residue(a, prime)).collect(),
            };
            if let Some(inverse) = invert(n, residues, prime) {
                let matrix = match small {
                    Some(entries) => Entries::Small(entries),
                    None => Entries::Large(matrix),
                };
                return Some(Solver {
                    n,
                    prime,
                    inverse,
                    matrix,
                });
            }
        }
        None
    }

    /// The solution of A·x = b.
    pub(crate) fn solve(&self, b: &[IBig]) -> Solution {
        let n = self.n;
        if n == 0 || b.iter().all(IBig::is_zero) {
            return Solution {
                numerators: vec![IBig::ZERO; n],
                denominator: IBig::ONE,
            };
        }
        // Cramer and Hadamard: numerators and denominator are below the product of the row
        // norms, of which the largest may be replaced by that of b. Most solutions are far
        // shorter, so reconstruction is tried early and checked.
        let most = self.most_bits(b);
        let mut digits: Vec<Vec<u32>> = Vec::new();
        let mut residual = Residual::new(&self.matrix, b);
        let mut next_try = 4;
        loop {
            let digit = residual.digit(self);
            residual.advance(self, &digit);
            digits.push(digit);
            let known = digits.len() * 30;
            let last = known > 2 * most + 8;
            if digits.len() >= next_try || last {
                next_try = next_try * 3 / 2 + 1;
                if let Some(solution) = self.reconstruct(&digits)
                    && (last || self.holds(&solution, b))
                {
                    return solution;
                }
                if known > 4 * most + 1000 {
                    // Not reached: at twice the bound the reconstruction is unique.
                    return Solution {
                        numerators: vec![IBig::ZERO; n],
                        denominator: IBig::ONE,
                    };
                }
            }
        }
    }

    fn most_bits(&self, b: &[IBig]) -> usize {
        let n = self.n;
        let entry_bits = |i: usize| -> usize {
            match &self.matrix {
                Entries::Small(m) => m[i * n..(i + 1) * n]
                    .iter()
                    .map(|a| 64 - a.unsigned_abs().leading_zeros() as usize)
                    .max(),
                Entries::Large(m) => m[i * n..(i + 1) * n].iter().map(bits).max(),
            }
            .unwrap_or(0)
        };
        let half_log = (usize::BITS - (n + 1).leading_zeros()) as usize / 2 + 1;
        (0..n)
            .map(|i| entry_bits(i).max(bits(&b[i])) + half_log)
            .sum()
    }

    fn reconstruct(&self, digits: &[Vec<u32>]) -> Option<Solution> {
        let n = self.n;
        let prime = IBig::from(self.prime);
        let modulus = prime.pow(digits.len());
        let half: IBig = &modulus >> 1usize;
        let mut denominator = IBig::ONE;
        let mut values: Vec<IBig> = (0..n)
            .map(|i| combine(&digits.iter().map(|d| d[i]).collect::<Vec<_>>(), self.prime))
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
        let n = self.n;
        (0..n).all(|i| {
            let mut sum = IBig::ZERO;
            match &self.matrix {
                Entries::Small(m) => {
                    for (a, x) in m[i * n..(i + 1) * n].iter().zip(&solution.numerators) {
                        if *a != 0 {
                            sum += x * *a;
                        }
                    }
                }
                Entries::Large(m) => {
                    for (a, x) in m[i * n..(i + 1) * n].iter().zip(&solution.numerators) {
                        if !a.is_zero() {
                            sum += a * x;
                        }
                    }
                }
            }
            sum == &b[i] * &solution.denominator
        })
    }
}

/// What is left of b after the digits so far, divided by the prime each time.
enum Residual {
    Small(Vec<i128>),
    Large(Vec<IBig>),
}

impl Residual {
    fn new(matrix: &Entries, b: &[IBig]) -> Self {
        if let Entries::Small(_) = matrix {
            let limit = 1i128 << 100;
            let small: Option<Vec<i128>> = b
                .iter()
                .map(|x| i128::try_from(x).ok().filter(|x| -limit < *x && *x < limit))
                .collect();
            if let Some(small) = small {
                return Residual::Small(small);
            }
        }
        Residual::Large(b.to_vec())
    }

    /// The next digit of the solution: inverse · residual modulo the prime.
    fn digit(&self, solver: &Solver) -> Vec<u32> {
        let (n, prime) = (solver.n, solver.prime);
        let reduced: Vec<u64> = match self {
            Residual::Small(r) => r
                .iter()
                .map(|x| x.rem_euclid(i128::from(prime)) as u64)
                .collect(),
            Residual::Large(r) => r.iter().map(|x| residue(x, prime)).collect(),
        };
        solver
            .inverse
            .chunks_exact(n)
            .map(|row| {
                // Products are below 2⁶²; every fourth sum is folded.
                let mut sum = 0u64;
                for (a, b) in row.chunks(3).zip(reduced.chunks(3)) {
                    let part: u64 = a.iter().zip(b).map(|(&x, &y)| u64::from(x) * y).sum();
                    sum += part % prime;
                }
                (sum % prime) as u32
            })
            .collect()
    }

    /// residual ← (residual − A·digit)/p, which is whole.
    fn advance(&mut self, solver: &Solver, digit: &[u32]) {
        let n = solver.n;
        match (self, &solver.matrix) {
            (Residual::Small(r), Entries::Small(m)) => {
                for (r, row) in r.iter_mut().zip(m.chunks_exact(n)) {
                    let mut sum = 0i128;
                    for (&a, &x) in row.iter().zip(digit) {
                        sum += i128::from(a) * i128::from(x);
                    }
                    *r = (*r - sum) / i128::from(solver.prime);
                }
            }
            (Residual::Large(r), Entries::Small(m)) => {
                for (r, row) in r.iter_mut().zip(m.chunks_exact(n)) {
                    let mut sum = 0i128;
                    for (&a, &x) in row.iter().zip(digit) {
                        sum += i128::from(a) * i128::from(x);
                    }
                    *r = (&*r - IBig::from(sum)) / solver.prime;
                }
            }
            (Residual::Large(r), Entries::Large(m)) => {
                for (r, row) in r.iter_mut().zip(m.chunks_exact(n)) {
                    let mut sum = std::mem::take(r);
                    for (a, &x) in row.iter().zip(digit) {
                        if !a.is_zero() {
                            sum -= a * x;
                        }
                    }
                    *r = sum / solver.prime;
                }
            }
            // A small residual is only made for a small matrix.
            (Residual::Small(_), Entries::Large(_)) => {}
        }
    }
}

fn residue(a: &IBig, prime: u64) -> u64 {
    let rest: i64 = a % (prime as i64);
    if rest < 0 {
        (rest + prime as i64) as u64
    } else {
        rest as u64
    }
}

/// Σ digits[k]·p^k, by halves.
fn combine(digits: &[u32], prime: u64) -> IBig {
    let mut level: Vec<IBig> = digits.iter().map(|&d| IBig::from(d)).collect();
    let mut base = IBig::from(prime);
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
    if is_negative(a) {
        &-a <= bound
    } else {
        a <= bound
    }
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
fn invert(n: usize, a: Vec<u64>, prime: u64) -> Option<Vec<u32>> {
    let width = 2 * n;
    let mut table = vec![0u64; n * width];
    for i in 0..n {
        table[i * width..i * width + n].copy_from_slice(&a[i * n..(i + 1) * n]);
        table[i * width + n + i] = 1;
    }
    for column in 0..n {
        let pivot = (column..n).find(|&i| table[i * width + column] != 0)?;
        if pivot != column {
            for j in 0..width {
                table.swap(pivot * width + j, column * width + j);
            }
        }
        let factor = power(table[column * width + column], prime - 2, prime);
        // Left of the column the pivot row is zero, right of n + column it still may be.
        let reach = column..(n + n);
        for j in reach.clone() {
            let at = column * width + j;
            table[at] = table[at] * factor % prime;
        }
        let pivot_row: Vec<u64> = table[column * width..(column + 1) * width].to_vec();
        for i in 0..n {
            if i == column {
                continue;
            }
            let factor = table[i * width + column];
            if factor == 0 {
                continue;
            }
            let factor = prime - factor;
            let row = &mut table[i * width..(i + 1) * width];
            for (x, &y) in row[reach.clone()].iter_mut().zip(&pivot_row[reach.clone()]) {
                *x = (*x + factor * y) % prime;
            }
        }
    }
    Some(
        (0..n)
            .flat_map(|i| {
                table[i * width + n..(i + 1) * width]
                    .iter()
                    .map(|&x| x as u32)
                    .collect::<Vec<_>>()
            })
            .collect(),
    )
}

fn power(mut base: u64, mut exponent: u64, prime: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % prime;
        }
        base = base * base % prime;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use rosenblatt_core::random::{Random, Stream};

    fn matrix(random: &mut Random, n: usize, scale: usize) -> Vec<IBig> {
        (0..n * n)
            .map(|_| {
                let high = IBig::from(random.below(2001) as i64 - 1000) << (scale * 10);
                high + IBig::from(random.below(7))
            })
            .collect()
    }

    #[test]
    fn the_primes_are_prime() {
        for p in PRIMES {
            assert!((2..50_000).all(|q| p % q != 0), "{p}");
        }
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
                let Some(solver) = Solver::new(n, a.clone()) else {
                    continue;
                };
                let x = solver.solve(&b);
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
        assert!(Solver::new(2, a).is_none());
        assert!(Solver::new(0, Vec::new()).is_some());
    }
}
