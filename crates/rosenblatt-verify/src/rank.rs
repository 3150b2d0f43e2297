//! Proofs that rows span enough dimensions.
//!
//! Modulo a prime a rank can only drop: a minor that is not zero modulo p is not zero. So a
//! rank found modulo p proves that the true one is at least as large, and that is all a
//! certificate asks for. The converse fails only for numbers made for it, such as a column
//! of multiples of both primes below; a claim about such data is refused, never wrongly
//! accepted. Exact elimination would not refuse it, and would take minutes to refuse a false
//! claim about a few hundred features.

use crate::budget::Budget;
use dashu_int::IBig;
use dashu_int::ops::RemEuclid;
use std::collections::BTreeMap;
use std::io;

const PRIMES: [u64; 2] = [(1 << 61) - 1, (1 << 61) - 31];

/// Whether `rows`, ascending by index, are shown to span `wanted` dimensions or more.
pub(crate) fn at_least<R>(
    rows: impl Iterator<Item = R> + Clone,
    wanted: u64,
    budget: Budget,
) -> io::Result<bool>
where
    R: Iterator<Item = (u32, IBig)>,
{
    for prime in PRIMES {
        if rank(rows.clone(), prime, wanted, budget)? >= wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A sparse row modulo a prime, ascending by index, without zeros.
type Residues = Vec<(u32, u64)>;

/// The rank modulo `prime`, or `enough` if it is that or more.
fn rank<R>(
    rows: impl Iterator<Item = R>,
    prime: u64,
    enough: u64,
    budget: Budget,
) -> io::Result<u64>
where
    R: Iterator<Item = (u32, IBig)>,
{
    // Rows in echelon form, by the index of their first entry.
    let mut echelon: BTreeMap<u32, Residues> = BTreeMap::new();
    let mut entries = 0;
    for row in rows {
        if echelon.len() as u64 >= enough {
            break;
        }
        let residues = row.map(|(index, value)| (index, residue(&value, prime)));
        let mut row: Residues = residues.filter(|(_, residue)| *residue != 0).collect();
        while let Some(&(lead, _)) = row.first() {
            budget.require_time()?;
            match echelon.get(&lead) {
                Some(pivot) => row = cancel(&row, pivot, prime),
                None => {
                    entries += row.len();
                    Budget::require_room(entries)?;
                    echelon.insert(lead, row);
                    break;
                }
            }
        }
    }
    Ok(echelon.len() as u64)
}

fn residue(value: &IBig, prime: u64) -> u64 {
    // The rest is below the prime, so the conversion does not fail.
    u64::try_from(value.rem_euclid(IBig::from(prime))).unwrap_or(0)
}

/// `pivot[0]·row − row[0]·pivot`, in which the common first entry vanishes.
fn cancel(row: &[(u32, u64)], pivot: &[(u32, u64)], prime: u64) -> Residues {
    let prime = u128::from(prime);
    let (by_row, by_pivot) = (u128::from(pivot[0].1), prime - u128::from(row[0].1));
    let mut result = Vec::with_capacity(row.len() + pivot.len());
    let (mut left, mut right) = (row[1..].iter().peekable(), pivot[1..].iter().peekable());
    loop {
        let index = match (left.peek(), right.peek()) {
            (Some(l), Some(r)) => l.0.min(r.0),
            (Some(l), None) => l.0,
            (None, Some(r)) => r.0,
            (None, None) => return result,
        };
        let here = |entry: &&(u32, u64)| entry.0 == index;
        let from_row = left.next_if(here).map_or(0, |entry| entry.1);
        let from_pivot = right.next_if(here).map_or(0, |entry| entry.1);
        // Two products of 61 bits each.
        let sum = by_row * u128::from(from_row) + by_pivot * u128::from(from_pivot);
        let value = (sum % prime) as u64;
        if value != 0 {
            result.push((index, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn without_time_nothing_is_claimed() {
        let rows = [[(0, IBig::ONE)].into_iter()].into_iter();
        let error = at_least(rows, 1, Budget::new(Duration::ZERO)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(Budget::require_room(usize::MAX).is_err());
    }

    fn spans(rows: &[&[i128]], wanted: u64) -> bool {
        let rows = rows.iter().map(|row| {
            let entries = row.iter().enumerate();
            entries.map(|(i, &value)| (i as u32, IBig::from(value)))
        });
        at_least(rows, wanted, Budget::new(Duration::MAX)).unwrap()
    }

    #[test]
    fn ranks_of_small_matrices() {
        let cases: [(&[&[i128]], u64); 6] = [
            (&[], 0),
            (&[&[0, 0]], 0),
            (&[&[1, 2], &[2, 4]], 1),
            (&[&[0, 1], &[1, 0], &[1, 1]], 2),
            (&[&[1, 2, 3], &[4, 5, 6], &[7, 8, 9]], 2),
            (&[&[2, 0, 1], &[0, 3, 0], &[0, 0, -5]], 3),
        ];
        for (rows, rank) in cases {
            assert!(spans(rows, rank));
            assert!(!spans(rows, rank + 1));
        }
    }

    #[test]
    fn a_rank_that_drops_modulo_one_prime_is_seen_modulo_the_other() {
        let [p, q] = PRIMES.map(i128::from);
        assert!(spans(&[&[p, 0], &[1, 1]], 2));
        assert!(spans(&[&[q, 0], &[1, 1]], 2));
        assert!(!spans(&[&[p * q, 0], &[1, 1]], 2), "refused, as documented");
    }

    #[test]
    fn residues_follow_the_sign_and_every_word() {
        for prime in PRIMES {
            let value = (IBig::from(prime) << 200) + IBig::from(5);
            assert_eq!(residue(&value, prime), 5);
            assert_eq!(residue(&-value, prime), prime - 5);
            assert_eq!(residue(&-IBig::from(prime), prime), 0);
        }
    }
}
