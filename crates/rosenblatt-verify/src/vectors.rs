//! Inner products of a row with several integer vectors, exactly.

use crate::certificate::Sparse;
use crate::read::Row;
use dashu_int::IBig;
use std::collections::HashMap;
use std::ops::Range;

/// Integer vectors, kept feature by feature, so that a row meets only the entries it needs.
pub(crate) struct Vectors {
    places: Places,
    /// Where the entries of the feature at a place start; one more than there are places.
    starts: Vec<usize>,
    /// Vector and entry.
    entries: Vec<(usize, IBig)>,
    /// The same in machine integers; empty if one does not fit.
    small: Vec<(usize, i64)>,
    sums: Vec<i128>,
    products: Vec<IBig>,
}

/// From a feature to its place among those with entries.
enum Places {
    /// Indexed by feature; 0 for none, else the place plus one.
    Dense(Vec<usize>),
    /// Where features are too far apart for a table: its size must not be a matter of what
    /// a certificate merely says.
    Scattered(HashMap<u32, usize>),
}

impl Vectors {
    pub(crate) fn new(vectors: &[Sparse]) -> Self {
        let mut all: Vec<(u32, usize, &IBig)> = Vec::new();
        for (vector, entries) in vectors.iter().enumerate() {
            all.extend(
                entries
                    .iter()
                    .map(|(feature, value)| (*feature, vector, value)),
            );
        }
        all.sort_unstable_by_key(|&(feature, vector, _)| (feature, vector));
        let mut features = Vec::new();
        let mut starts = Vec::new();
        for (at, &(feature, ..)) in all.iter().enumerate() {
            if features.last() != Some(&feature) {
                features.push(feature);
                starts.push(at);
            }
        }
        starts.push(all.len());
        let small: Option<Vec<_>> = all
            .iter()
            .map(|&(_, vector, value)| Some((vector, i64::try_from(value).ok()?)))
            .collect();
        Vectors {
            places: Places::new(&features),
            starts,
            entries: all
                .iter()
                .map(|&(_, vector, value)| (vector, value.clone()))
                .collect(),
            small: small.unwrap_or_default(),
            sums: vec![0; vectors.len()],
            products: vec![IBig::ZERO; vectors.len()],
        }
    }

    /// The inner product of each vector with the row's integers.
    pub(crate) fn products(&mut self, row: &Row) -> &[IBig] {
        if self.machine_products(row).is_some() {
            for (product, &sum) in self.products.iter_mut().zip(&self.sums) {
                *product = sum.into();
            }
        } else {
            self.products.fill(IBig::ZERO);
            for (feature, value) in row.integers() {
                for (vector, entry) in &self.entries[self.range(feature)] {
                    self.products[*vector] += entry * &value;
                }
            }
        }
        &self.products
    }

    /// The products in 128 bits; none if something does not fit.
    fn machine_products(&mut self, row: &Row) -> Option<()> {
        if self.small.len() < self.entries.len() || !row.is_small() {
            return None;
        }
        self.sums.fill(0);
        for &(feature, value) in &row.small {
            let range = self.range(feature);
            for &(vector, entry) in &self.small[range] {
                let product = match i64::try_from(value) {
                    Ok(value) => i128::from(value) * i128::from(entry), // always fits
                    Err(_) => value.checked_mul(i128::from(entry))?,
                };
                self.sums[vector] = self.sums[vector].checked_add(product)?;
            }
        }
        Some(())
    }

    fn range(&self, feature: u32) -> Range<usize> {
        match self.places.find(feature) {
            Some(place) => self.starts[place]..self.starts[place + 1],
            None => 0..0,
        }
    }
}

impl Places {
    /// `features` ascend.
    fn new(features: &[u32]) -> Self {
        let last = features.last().map_or(0, |&last| last as usize);
        if last > 1024 + 64 * features.len() {
            let places = features.iter().enumerate();
            return Places::Scattered(places.map(|(place, &feature)| (feature, place)).collect());
        }
        let mut table = vec![0; last + 1];
        for (place, &feature) in features.iter().enumerate() {
            table[feature as usize] = place + 1;
        }
        Places::Dense(table)
    }

    fn find(&self, feature: u32) -> Option<usize> {
        match self {
            Places::Dense(table) => table.get(feature as usize)?.checked_sub(1),
            Places::Scattered(places) => places.get(&feature).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_whether_or_not_they_fit_machine_integers() {
        let huge = i128::MAX / 3;
        let long = i128::from(i64::MAX);
        let sparse = |entries: &[(u32, i128)]| -> Sparse {
            entries.iter().map(|&(i, v)| (i, IBig::from(v))).collect()
        };
        let narrow = [
            sparse(&[(0, 2), (3, -5), (4_000_000_000, 7)]),
            sparse(&[(1, long), (3, long)]),
            sparse(&[]),
        ];
        let wide = [sparse(&[(0, 2), (3, huge)])];
        for row in [
            Row::of(&[(0, "1"), (1, "10"), (3, "1.25"), (4_000_000_000, "0.5")]),
            Row::of(&[(0, "9e18"), (1, "9e18"), (3, "9e18")]),
            Row::of(&[(0, "9e18"), (1, "9e18"), (3, "0.00000001")]),
            Row::of(&[(1, "1e40"), (3, "-1e40")]),
            Row::of(&[]),
        ] {
            for vectors in [&narrow[..], &wide[..]] {
                let integers: HashMap<u32, IBig> = row.integers().collect();
                let product = |vector: &Sparse| -> IBig {
                    let met = vector
                        .iter()
                        .filter_map(|(f, e)| Some(e * integers.get(f)?));
                    met.sum()
                };
                let expected: Vec<IBig> = vectors.iter().map(product).collect();
                assert_eq!(Vectors::new(vectors).products(&row), expected);
            }
        }
    }

    #[test]
    fn far_apart_features_take_no_table() {
        let scattered = Places::new(&[5, 4_000_000_000]);
        assert!(matches!(scattered, Places::Scattered(_)));
        assert_eq!(scattered.find(4_000_000_000), Some(1));
        assert_eq!(scattered.find(6), None);
        let dense = Places::new(&[0, 3]);
        assert_eq!(
            (dense.find(3), dense.find(1), dense.find(9)),
            (Some(1), None, None)
        );
        assert_eq!(Places::new(&[]).find(0), None);
    }
}
