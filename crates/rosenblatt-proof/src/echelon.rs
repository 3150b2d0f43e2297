//! A growing set of independent vectors modulo the prime, in echelon form.
//!
//! Where the features are many and the rows sparse, vectors are kept sparse too, and a pivot is
//! the column that fewest rows have: a rare word meets few rows to be eliminated from, so that
//! little fills in (the idea of Markowitz, 1957).

use super::modulo::{PRIME, add, dot, invert, mul, negate};

/// A growing set of independent vectors, in echelon form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Echelon {
    /// Each with 1 at its pivot and 0 at the pivots of earlier ones.
    vectors: Vec<Line>,
    pivots: Vec<usize>,
    /// How many rows have each column, where pivots go by that.
    counts: Vec<u32>,
}

#[derive(Debug, Clone)]
enum Line {
    Full(Vec<u64>),
    /// What is not zero, ascending.
    Sparse(Vec<(u32, u64)>),
}

impl Line {
    fn new(v: Vec<u64>) -> Line {
        let there = v.iter().filter(|&&a| a != 0).count();
        if 4 * there > v.len() {
            return Line::Full(v);
        }
        let entries = v.into_iter().zip(0..).filter(|(a, _)| *a != 0);
        Line::Sparse(entries.map(|(a, j)| (j, a)).collect())
    }

    /// v + factor · this.
    fn add_to(&self, v: &mut [u64], factor: u64) {
        match self {
            Line::Full(line) => {
                for (a, &b) in v.iter_mut().zip(line).filter(|(_, b)| **b != 0) {
                    *a = add(*a, mul(factor, b));
                }
            }
            Line::Sparse(line) => {
                for &(j, b) in line {
                    let a = &mut v[j as usize];
                    *a = add(*a, mul(factor, b));
                }
            }
        }
    }

    fn dot(&self, v: &[u64]) -> u64 {
        match self {
            Line::Full(line) => dot(line, v),
            Line::Sparse(line) => {
                let products = line.iter().map(|&(j, b)| mul(b, v[j as usize]));
                products.fold(0, add)
            }
        }
    }
}

impl Echelon {
    /// With pivots by how many rows have each column, the rarest first.
    pub(crate) fn with_counts(counts: Vec<u32>) -> Self {
        Echelon {
            counts,
            ..Self::default()
        }
    }

    /// None, with pivots chosen in the same way.
    pub(crate) fn emptied(&self) -> Self {
        Self::with_counts(self.counts.clone())
    }

    pub(crate) fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// The pivot columns, in the order found. The square matrix of the vectors added, at
    /// these columns, is regular modulo the prime and so in truth.
    pub(crate) fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// The place of each column among the pivots, where it is one.
    pub(crate) fn places(&self, dimension: usize) -> Vec<Option<usize>> {
        let mut places = vec![None; dimension];
        for (place, &pivot) in self.pivots.iter().enumerate() {
            places[pivot] = Some(place);
        }
        places
    }

    fn eliminate(&self, v: &mut [u64]) {
        for (vector, &pivot) in self.vectors.iter().zip(&self.pivots) {
            let factor = v[pivot];
            if factor != 0 {
                vector.add_to(v, negate(factor));
            }
        }
    }

    /// Adds `v` if it is independent of the others, and says whether it was.
    pub(crate) fn insert(&mut self, mut v: Vec<u64>) -> bool {
        self.eliminate(&mut v);
        let there = v.iter().enumerate().filter(|(_, a)| **a != 0);
        let there = there.map(|(j, _)| j);
        let pivot = match self.counts.is_empty() {
            true => there.into_iter().next(),
            false => there.min_by_key(|&j| self.counts.get(j).copied().unwrap_or(u32::MAX)),
        };
        let Some(pivot) = pivot else {
            return false;
        };
        let factor = invert(v[pivot]);
        v.iter_mut()
            .filter(|a| **a != 0)
            .for_each(|a| *a = mul(*a, factor));
        self.vectors.push(Line::new(v));
        self.pivots.push(pivot);
        true
    }

    /// A vector that is orthogonal to all of them, the coordinates off the pivots drawn by
    /// `draw`: a row outside the span meets it at 0 with odds of 2⁻⁶¹.
    pub(crate) fn orthogonal(&self, dimension: usize, mut draw: impl FnMut() -> u64) -> Vec<u64> {
        let mut g: Vec<u64> = (0..dimension).map(|_| draw() % PRIME).collect();
        // Later vectors are zero at earlier pivots, so the last pivot settles first.
        for (vector, &pivot) in self.vectors.iter().zip(&self.pivots).rev() {
            g[pivot] = 0;
            g[pivot] = negate(vector.dot(&g));
        }
        g
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependent_vectors_are_refused_and_orthogonal_ones_found() {
        // Wide enough for sparse vectors; the last column is the rarest.
        let wide = |entries: [u64; 4]| [&entries[..], &[0; 20]].concat();
        for counts in [Vec::new(), (0..24).rev().collect()] {
            let mut echelon = Echelon::with_counts(counts.clone());
            assert!(echelon.insert(wide([0, 2, 4, 6])));
            assert!(echelon.insert(wide([1, 1, 1, 1])));
            assert!(!echelon.insert(wide([2, 4, 6, 8])));
            assert_eq!(echelon.rank(), 2);
            let rarest = if counts.is_empty() { 1 } else { 3 };
            assert_eq!(echelon.pivots()[0], rarest);
            let mut next = 17;
            let g = echelon.orthogonal(24, || {
                next = mul(next, 1_000_003);
                next
            });
            for v in [[0, 2, 4, 6], [1, 1, 1, 1]] {
                let dot = v.iter().zip(&g).fold(0, |s, (&a, &b)| add(s, mul(a, b)));
                assert_eq!(dot, 0);
            }
            assert!(g.iter().any(|&x| x != 0));
        }
    }
}
