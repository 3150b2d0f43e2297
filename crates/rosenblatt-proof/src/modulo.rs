//! Linear algebra modulo the prime 2⁶¹ − 1: which rows are independent, and which lie in the
//! span of others.
//!
//! Rank modulo a prime is never more than the true rank, and differs only if the prime
//! divides one particular minor. So independence found here is a proof; dependence is
//! certain but for odds of about 2⁻⁶⁰, and wherever a witness rests on it, the witness is
//! checked in whole numbers before it is returned.

use dashu_int::IBig;

use super::number::{Exact, parts};
use super::rows::SignedRows;

/// The prime.
pub(crate) const PRIME: u64 = (1 << 61) - 1;

/// a·b modulo the prime.
#[inline]
pub(crate) fn mul(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    let folded = (wide as u64 & PRIME) + (wide >> 61) as u64;
    if folded >= PRIME {
        folded - PRIME
    } else {
        folded
    }
}

#[inline]
pub(crate) fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[inline]
pub(crate) fn negate(a: u64) -> u64 {
    if a == 0 { 0 } else { PRIME - a }
}

/// Σ a·b modulo the prime: a product is below 2¹²², so that sums of 32 fit.
pub(crate) fn dot(a: &[u64], b: &[u64]) -> u64 {
    a.chunks(32).zip(b.chunks(32)).fold(0, |sum, (a, b)| {
        let products = a.iter().zip(b);
        let wide: u128 = products.map(|(&a, &b)| u128::from(a) * u128::from(b)).sum();
        add(sum, (wide % u128::from(PRIME)) as u64)
    })
}

fn pow(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul(result, base);
        }
        base = mul(base, base);
        exponent >>= 1;
    }
    result
}

pub(crate) fn invert(a: u64) -> u64 {
    pow(a, PRIME - 2)
}

pub(crate) fn of_big(m: &IBig) -> u64 {
    let rest: i64 = m % (PRIME as i64);
    if rest < 0 {
        (rest + PRIME as i64) as u64
    } else {
        rest as u64
    }
}

/// Residues of exact values: powers of the radix are looked up.
#[derive(Debug)]
pub(crate) struct Residues {
    radix: u64,
    up: Vec<u64>,
    down: Vec<u64>,
}

impl Residues {
    pub(crate) fn new(radix: u64) -> Self {
        let table = |base: u64| {
            let mut powers = vec![1u64; 1200];
            for i in 1..powers.len() {
                powers[i] = mul(powers[i - 1], base);
            }
            powers
        };
        Residues {
            radix,
            up: table(radix),
            down: table(invert(radix)),
        }
    }

    fn power(&self, exponent: i32) -> u64 {
        let table = if exponent < 0 { &self.down } else { &self.up };
        let size = exponent.unsigned_abs();
        match table.get(size as usize) {
            Some(&power) => power,
            None => {
                let base = if exponent < 0 {
                    invert(self.radix)
                } else {
                    self.radix
                };
                pow(base, u64::from(size))
            }
        }
    }

    fn exact(&self, value: &Exact) -> u64 {
        mul(of_big(&value.mantissa), self.power(value.exponent))
    }

    /// Calls `f` with the residues of a row's coordinates that are not zero.
    fn each(&self, rows: &dyn SignedRows, row: usize, mut f: impl FnMut(usize, u64)) {
        let notation = rows.notation();
        match rows.floats_tell(row) {
            true => rows.each(row, &mut |j, z| {
                let (mantissa, exponent) = parts(z, notation);
                let mantissa = mantissa.rem_euclid(PRIME as i64) as u64;
                f(j, mul(mantissa, self.power(exponent)));
            }),
            false => rows.each_exact(row, &mut |j, value| f(j, self.exact(&value))),
        }
    }

    /// A row written out in full.
    pub(crate) fn row(&self, rows: &dyn SignedRows, row: usize) -> Vec<u64> {
        let mut residues = vec![0; rows.dimension()];
        self.each(rows, row, |j, residue| residues[j] = residue);
        residues
    }

    /// g·z.
    pub(crate) fn dot(&self, rows: &dyn SignedRows, row: usize, g: &[u64]) -> u64 {
        let mut sum = 0;
        self.each(rows, row, |j, residue| sum = add(sum, mul(g[j], residue)));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_holds() {
        let a = 1_234_567_890_123_456_789 % PRIME;
        assert_eq!(mul(a, invert(a)), 1);
        assert_eq!(add(a, negate(a)), 0);
        assert_eq!(of_big(&IBig::from(-5)), PRIME - 5);
        let tenth = Residues::new(10).exact(&Exact::parse("0.1").unwrap());
        assert_eq!(mul(tenth, 10), 1);
    }
}
