//! Sparse rows by feature.

use super::WIDTH;
use crate::data::Row;

/// Sparse rows by feature: who has it, and how much.
#[derive(Debug)]
pub(super) struct InvertedIndex {
    features: Vec<u32>,
    starts: Vec<u32>,
    entries: Vec<(u32, f64)>,
    /// Open addressing: 1 + index into `features`, 0 where empty.
    table: Vec<u32>,
    pub(super) rows: Vec<Vec<(u32, f64)>>,
}

fn slot_of(feature: u32, mask: usize) -> usize {
    (u64::from(feature).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask
}

impl InvertedIndex {
    pub(super) fn new(rows: Vec<Vec<(u32, f64)>>) -> Self {
        let mut all: Vec<(u32, u32, f64)> = rows
            .iter()
            .enumerate()
            .flat_map(|(lane, row)| row.iter().map(move |&(j, x)| (j, lane as u32, x)))
            .collect();
        all.sort_unstable_by_key(|&(j, lane, _)| (j, lane));
        let mut features = Vec::new();
        let mut starts = Vec::new();
        let mut entries = Vec::with_capacity(all.len());
        for (j, lane, x) in all {
            if features.last() != Some(&j) {
                features.push(j);
                starts.push(entries.len() as u32);
            }
            entries.push((lane, x));
        }
        starts.push(entries.len() as u32);
        let size = (features.len() * 2).next_power_of_two().max(2);
        let mut table = vec![0u32; size];
        for (k, &j) in features.iter().enumerate() {
            let mut at = slot_of(j, size - 1);
            while table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            table[at] = k as u32 + 1;
        }
        InvertedIndex {
            features,
            starts,
            entries,
            table,
            rows,
        }
    }

    #[inline]
    fn find(&self, feature: u32) -> &[(u32, f64)] {
        let mask = self.table.len() - 1;
        let mut at = slot_of(feature, mask);
        loop {
            match self.table[at] {
                0 => return &[],
                k if self.features[k as usize - 1] == feature => {
                    let k = k as usize - 1;
                    return &self.entries[self.starts[k] as usize..self.starts[k + 1] as usize];
                }
                _ => at = (at + 1) & mask,
            }
        }
    }

    pub(super) fn products(&self, row: Row<'_>, out: &mut [f64; WIDTH]) {
        out.fill(0.0);
        row.for_each(|j, a| {
            for &(lane, x) in self.find(j as u32) {
                out[lane as usize] += a * x;
            }
        });
    }

    pub(super) fn bytes(&self) -> usize {
        self.entries.len() * 32 + self.table.len() * 4 + self.features.len() * 8
    }
}
