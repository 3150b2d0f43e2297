//! What signs alone settle, where features are many and rows sparse.
//!
//! If the entries of a column are of one sign over all signed rows, a large weight there puts
//! every row that has it on the positive side, whatever the other weights are; and a relation
//! Σ λ_i z_i = 0 with λ ≥ 0 gives none of those rows weight. So they can be left out, which
//! makes further columns one-sided: of a text, whose rare words occur on one side only, often
//! nothing remains. What remains — the *core* — has no entry in any of these columns, and so
//! can be decided by itself: weights of the core with the columns' weights added, those of
//! earlier levels far above those of later ones, separate what was left out as well.

use std::collections::HashMap;

use super::limits::{Limits, OrStopped};
use super::number::{Exact, Notation, bits, scaled_f64};
use super::passes::{ExactWeights, Scales};
use super::rows::SignedRows;
use dashu_int::IBig;

/// A level: columns of one sign over the rows that earlier levels left, and the rows that have
/// one of them.
#[derive(Debug, Default)]
struct Level {
    /// Columns with their sign.
    columns: Vec<(usize, f64)>,
    rows: Vec<usize>,
}

/// Rows in levels, and those that no level holds.
#[derive(Debug)]
pub(crate) struct Peeled {
    levels: Vec<Level>,
    /// The rows of the core, ascending.
    pub(crate) core: Vec<usize>,
}

/// Leaves out rows level by level, until no column is one-sided.
pub(crate) fn peel(rows: &dyn SignedRows, limits: &Limits<'_>) -> OrStopped<Peeled> {
    let dimension = rows.dimension();
    // How many rows have a negative and a positive entry in each column.
    let mut counts = vec![[0u32; 2]; dimension];
    let mut core = Vec::new();
    rows.each_row(&mut |row| core.push(row));
    for &row in &core {
        rows.each_sign(row, &mut |j, negative| {
            counts[j][usize::from(!negative)] += 1
        });
    }
    let mut levels = Vec::new();
    loop {
        limits.check()?;
        let sign = |&[negative, positive]: &[u32; 2]| match (negative, positive) {
            (0, 1..) => 1.0,
            (1.., 0) => -1.0,
            _ => 0.0,
        };
        let signs: Vec<f64> = counts.iter().map(sign).collect();
        let columns = signs.iter().copied().enumerate();
        let mut level = Level {
            columns: columns.filter(|(_, sign)| *sign != 0.0).collect(),
            rows: Vec::new(),
        };
        if level.columns.is_empty() {
            break;
        }
        core.retain(|&row| {
            let mut one_sided = false;
            rows.each_sign(row, &mut |j, _| one_sided |= signs[j] != 0.0);
            if one_sided {
                rows.each_sign(row, &mut |j, negative| {
                    counts[j][usize::from(!negative)] -= 1;
                });
                level.rows.push(row);
            }
            !one_sided
        });
        levels.push(level);
    }
    Ok(Peeled { levels, core })
}

impl Peeled {
    /// Whether no row is left out.
    pub(crate) fn is_empty(&self) -> bool {
        self.levels.iter().all(|level| level.rows.is_empty())
    }

    /// Weights of the core with weights added that separate the rows left out.
    pub(crate) fn separating(
        &self,
        rows: &dyn SignedRows,
        scales: &Scales,
        core: Vec<IBig>,
    ) -> ExactWeights {
        let mut exact = core;
        // What lies far below the largest weights, beyond the range of `f64`, does not matter.
        let longest = exact.iter().map(bits).max().unwrap_or(0);
        let offset = longest.saturating_sub(400);
        let mut near: Vec<f64> = exact
            .iter()
            .map(|v| scaled_f64(v, -(offset as i64)))
            .collect();
        // The innermost first: each level must outweigh all that lies inside it.
        for level in self.levels.iter().rev() {
            let mut most = 0.0f64;
            let signs: HashMap<usize, f64> = level.columns.iter().copied().collect();
            for &row in &level.rows {
                let (mut own, mut against) = (0.0, 0.0);
                rows.each(row, &mut |j, z| {
                    let z = z * scales.factor[j];
                    match signs.get(&j) {
                        Some(sign) => own += sign * z,
                        None => against += (-near[j] * z).max(0.0),
                    }
                });
                most = most.max(against / own);
            }
            let power = libm::log2(most.max(0.5)).floor() as i64 + 1;
            let power = power.clamp(0, 1000) as usize;
            for &(j, sign) in &level.columns {
                let weight = IBig::ONE << (power + offset);
                exact[j] = if sign < 0.0 { -weight } else { weight };
                near[j] = sign * libm::scalbn(1.0, power as i32);
            }
        }
        ExactWeights::new(exact)
    }
}

/// The rows of a core, in its own columns.
pub(crate) struct Core<'a> {
    rows: &'a dyn SignedRows,
    pub(crate) members: Vec<usize>,
    /// The columns in which a member is not zero, ascending.
    pub(crate) columns: Vec<usize>,
    /// The place of each column among them.
    places: Vec<u32>,
    /// The rows once more, for scores.
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
    longest: usize,
}

impl<'a> Core<'a> {
    pub(crate) fn new(rows: &'a dyn SignedRows, members: Vec<usize>) -> Self {
        let mut used = vec![false; rows.dimension()];
        for &row in &members {
            rows.each_sign(row, &mut |j, _| used[j] = true);
        }
        let columns: Vec<usize> = (0..used.len()).filter(|&j| used[j]).collect();
        let mut places = vec![u32::MAX; used.len()];
        for (place, &j) in columns.iter().enumerate() {
            places[j] = place as u32;
        }
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for &row in &members {
            rows.each(row, &mut |j, z| entries.push((places[j], z)));
            starts.push(entries.len());
        }
        let longest = starts.windows(2).map(|s| s[1] - s[0]).max().unwrap_or(0);
        Core {
            rows,
            members,
            columns,
            places,
            starts,
            entries,
            longest,
        }
    }

    fn entries(&self, row: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[row]..self.starts[row + 1]]
    }
}

impl SignedRows for Core<'_> {
    fn dimension(&self) -> usize {
        self.columns.len()
    }

    fn groups(&self) -> usize {
        self.members.len()
    }

    fn score(&self, group: usize, w: &[f64], f: &mut dyn FnMut(usize, f64)) {
        let terms = self.entries(group).iter();
        f(group, terms.map(|&(j, z)| w[j as usize] * z).sum());
    }

    fn terms(&self) -> usize {
        self.longest
    }

    fn each(&self, row: usize, f: &mut dyn FnMut(usize, f64)) {
        for &(j, z) in self.entries(row) {
            f(j as usize, z);
        }
    }

    fn each_exact(&self, row: usize, f: &mut dyn FnMut(usize, Exact)) {
        let places = &self.places;
        self.rows
            .each_exact(self.members[row], &mut |j, z| f(places[j] as usize, z));
    }

    fn floats_tell(&self, row: usize) -> bool {
        self.rows.floats_tell(self.members[row])
    }

    fn notation(&self) -> Notation {
        self.rows.notation()
    }

    fn is_positive(&self, row: usize) -> bool {
        self.rows.is_positive(self.members[row])
    }
}
