//! Passes over all rows: who is violated, and does a given w really separate.
//!
//! A sign found in floating point is believed only beyond a rigorous error bound: the
//! rounding of a sum of t products is below (t + 8)·4ε·‖w‖·‖z‖ here, which also covers the
//! rounding of decimals to `f64` and of an exact w to `f64`. Rows that this cannot decide are
//! tried with the sharper Σ|w_j z_j|, and what remains is computed in whole numbers.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::{self, AtomicBool};

use dashu_int::IBig;
use rosenblatt_core::internal::parallel;

use super::number::{Exact, approximate_all, power};
use super::rows::{SignedRows, quick_dot};

/// Column scales and row lengths: what makes rows comparable, whatever their units.
///
/// Coordinate j is divided by radix^shift_j, so that each column has entries about 1; `w`
/// in these *scaled* coordinates is called v.
#[derive(Debug, Clone)]
pub(crate) struct Scales {
    pub(crate) shift: Vec<i32>,
    /// radix^−shift_j.
    pub(crate) factor: Vec<f64>,
    /// ‖scaled z‖, the largest of each group.
    pub(crate) norm: Vec<f64>,
    pub(crate) terms: usize,
    pub(crate) threads: usize,
}

/// Runs `f` over 0..n in pieces, on several threads where that pays; results in order.
pub(crate) fn pieces<R: Send>(
    n: usize,
    work: usize,
    threads: usize,
    f: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    let threads = if n.saturating_mul(work) < 200_000 {
        1
    } else {
        threads.max(1)
    };
    if threads == 1 {
        return vec![f(0..n)];
    }
    let shares = (0..threads).map(|t| n * t / threads..n * (t + 1) / threads);
    parallel::on_threads(shares, f)
}

impl Scales {
    pub(crate) fn new(rows: &dyn SignedRows, threads: usize) -> Self {
        let dimension = rows.dimension();
        let terms = rows.terms();
        let largest = pieces(rows.groups(), terms, threads, |range| {
            let mut largest = vec![0.0f64; dimension];
            let mut full = vec![0.0; dimension];
            let raise = |largest: &mut f64, z: f64| {
                if z.abs() > *largest {
                    *largest = z.abs();
                }
            };
            for group in range {
                rows.members(group, &mut |row| match rows.write_full(row, &mut full) {
                    true => (largest.iter_mut().zip(&full)).for_each(|(l, &z)| raise(l, z)),
                    false => rows.each(row, &mut |j, z| raise(&mut largest[j], z)),
                });
            }
            largest
        });
        let radix = rows.notation().radix() as f64;
        let mut shift = vec![0i32; dimension];
        let mut factor = vec![1.0; dimension];
        for j in 0..dimension {
            let top = largest.iter().map(|l| l[j]).fold(0.0, f64::max);
            if top > 0.0 && !(0.05..=20.0).contains(&top) {
                let one = libm::log(radix);
                let limit = 300.0 * std::f64::consts::LN_10 / one;
                let s = (libm::log(top) / one).round().clamp(-limit, limit) as i32;
                shift[j] = s;
                factor[j] = libm::pow(radix, f64::from(-s));
            }
        }
        Self::with_shift(rows, threads, shift, factor)
    }

    /// Scales by a given power of the radix in each column.
    pub(crate) fn with_shift(
        rows: &dyn SignedRows,
        threads: usize,
        shift: Vec<i32>,
        factor: Vec<f64>,
    ) -> Self {
        let terms = rows.terms();
        let norm = pieces(rows.groups(), terms, threads, |range| {
            let mut full = vec![0.0; factor.len()];
            range
                .map(|group| {
                    let mut norm = 0.0f64;
                    rows.members(group, &mut |row| {
                        norm = norm.max(length(rows, row, &factor, &mut full))
                    });
                    norm
                })
                .collect::<Vec<_>>()
        })
        .concat();
        Scales {
            shift,
            factor,
            norm,
            terms,
            threads,
        }
    }

    /// How many rows have each column.
    pub(crate) fn column_counts(&self, rows: &dyn SignedRows) -> Vec<u32> {
        let parts = self.pieces(rows, 1, |range| {
            let mut counts = vec![0u32; self.factor.len()];
            for group in range {
                rows.members(group, &mut |row| rows.each(row, &mut |j, _| counts[j] += 1));
            }
            counts
        });
        let sum = |j: usize| parts.iter().map(|counts| counts[j]).sum();
        (0..self.factor.len()).map(sum).collect()
    }

    /// v turned into a w for the rows as they are.
    pub(crate) fn unscale(&self, v: &[f64]) -> Vec<f64> {
        v.iter().zip(&self.factor).map(|(v, f)| v * f).collect()
    }

    /// w for the rows as they are turned into a v.
    pub(crate) fn scale(&self, w: &[f64]) -> Vec<f64> {
        w.iter().zip(&self.factor).map(|(w, f)| w / f).collect()
    }

    /// A scaled row written out in full.
    pub(crate) fn dense(&self, rows: &dyn SignedRows, row: usize) -> Vec<f64> {
        let mut full = vec![0.0; self.factor.len()];
        rows.each(row, &mut |j, z| full[j] = z * self.factor[j]);
        full
    }

    /// A scaled row divided by its length.
    pub(crate) fn unit(&self, rows: &dyn SignedRows, row: usize) -> Vec<f64> {
        let mut z = self.dense(rows, row);
        let norm = self.norm[rows.group_of(row)];
        if norm > 0.0 {
            z.iter_mut().for_each(|x| *x /= norm);
        }
        z
    }

    /// No rounding error in v·z exceeds this times ‖v‖·‖z‖.
    fn relative_error(&self) -> f64 {
        (self.terms as f64 + 8.0) * 4.0 * f64::EPSILON
    }

    /// The rows that are not surely positive under v, worst first and at most `most` of
    /// them, each with its score divided by its length; and in how many groups there are any.
    pub(crate) fn violated(
        &self,
        rows: &dyn SignedRows,
        v: &[f64],
        skip: &[bool],
        below: f64,
        most: usize,
    ) -> (Vec<(f64, usize)>, usize) {
        let w = self.unscale(v);
        let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let margin = below.max(self.relative_error()) * size;
        let found = pieces(rows.groups(), self.terms, self.threads, |range| {
            let mut found: Vec<(f64, usize)> = Vec::new();
            let mut count = 0usize;
            for group in range {
                let norm = self.norm[group];
                let bound = (margin * norm).max(1e-290);
                let mut any = false;
                rows.score(group, &w, &mut |row, score| {
                    if not_surely_positive(score, bound) && !skip.get(row).is_some_and(|&s| s) {
                        any = true;
                        let relative = if norm > 0.0 { score / norm } else { f64::MIN };
                        found.push((
                            if relative.is_nan() {
                                f64::MIN
                            } else {
                                relative
                            },
                            row,
                        ));
                    }
                });
                count += usize::from(any);
                if found.len() >= 8 * most.max(64) {
                    keep_worst(&mut found, most);
                }
            }
            keep_worst(&mut found, most);
            (found, count)
        });
        let count = found.iter().map(|(_, count)| count).sum();
        let mut all: Vec<(f64, usize)> = found.into_iter().flat_map(|(found, _)| found).collect();
        keep_worst(&mut all, most);
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        (all, count)
    }

    /// The first row met that exact `v` does not put strictly on the positive side (rows
    /// marked in `skip` aside), or `None`: then v separates, proved.
    pub(crate) fn refutes(
        &self,
        rows: &dyn SignedRows,
        v: &ExactWeights,
        skip: &[bool],
    ) -> Option<usize> {
        let w = self.unscale(&v.near);
        let size = v.near.iter().map(|x| x * x).sum::<f64>().sqrt();
        let margin = self.relative_error() * size;
        // ExactWeights near the ends of what floating point holds have lost digits.
        let held = 1e-280..1e280;
        let lost = |(w, v): (&f64, &f64)| *v != 0.0 && !held.contains(&w.abs());
        let any_lost = w.iter().zip(&v.near).any(lost);
        let stop = AtomicBool::new(false);
        let found = pieces(rows.groups(), self.terms, self.threads, |range| {
            let mut bad = None;
            let mut unsure = Vec::new();
            for group in range {
                if bad.is_some() || stop.load(atomic::Ordering::Relaxed) {
                    break;
                }
                let bound = (margin * self.norm[group]).max(1e-290);
                let mut any = any_lost;
                rows.score(group, &w, &mut |_, score| {
                    any |= not_surely_positive(score, bound)
                });
                if any {
                    unsure.clear();
                    rows.score_with_size(group, &w, &mut |row, score, size| {
                        let bound = (self.relative_error() * size).max(1e-290);
                        let not_surely_positive = any_lost || not_surely_positive(score, bound);
                        if not_surely_positive && !skip.get(row).is_some_and(|&s| s) {
                            unsure.push(row);
                        }
                    });
                    let mut unsure = unsure.iter().copied();
                    bad = unsure.find(|&row| v.sign(self, rows, row).is_le());
                }
            }
            if bad.is_some() {
                stop.store(true, atomic::Ordering::Relaxed);
            }
            bad
        });
        found.into_iter().flatten().next()
    }

    /// What `f` finds in ranges of the groups, one on each thread, where a group takes as much
    /// work as `times` sums of products.
    pub(crate) fn pieces<R: Send>(
        &self,
        rows: &dyn SignedRows,
        times: usize,
        f: impl Fn(Range<usize>) -> R + Sync,
    ) -> Vec<R> {
        pieces(rows.groups(), times * self.terms, self.threads, f)
    }

    pub(crate) fn integer_row(&self, rows: &dyn SignedRows, row: usize) -> IntegerRow {
        let radix = rows.notation().radix();
        let mut entries: Vec<(usize, Exact)> = Vec::new();
        rows.each_exact(row, &mut |j, mut value| {
            value.exponent -= self.shift[j];
            entries.push((j, value));
        });
        let lowest = entries.iter().map(|(_, v)| v.exponent).min().unwrap_or(0);
        IntegerRow {
            entries: entries
                .into_iter()
                .map(|(j, value)| (j, value.at(lowest, radix)))
                .collect(),
            shift: -lowest,
        }
    }

    /// Whole numbers w in the data's own coordinates as whole numbers in scaled ones.
    pub(crate) fn in_scale(&self, radix: u64, w: Vec<IBig>) -> Vec<IBig> {
        let used = w.iter().zip(&self.shift).filter(|(w, _)| !w.is_zero());
        let least = used.map(|(_, &s)| s).min().unwrap_or(0);
        let scaled = w.into_iter().zip(&self.shift);
        scaled
            .map(|(w, &s)| match usize::try_from(s - least) {
                Ok(0) | Err(_) => w,
                Ok(up) => w * power(radix, up),
            })
            .collect()
    }

    /// Whole numbers v in scaled coordinates as whole numbers in the data's own.
    pub(crate) fn in_units(&self, radix: u64, v: &[IBig]) -> Vec<IBig> {
        let top = v
            .iter()
            .zip(&self.shift)
            .filter(|(v, _)| !v.is_zero())
            .map(|(_, &s)| s)
            .max()
            .unwrap_or(0);
        let mut w: Vec<IBig> = v
            .iter()
            .zip(&self.shift)
            .map(|(v, &s)| v * power(radix, usize::try_from(top - s).unwrap_or(0)))
            .collect();
        super::number::reduce(&mut w);
        w
    }
}

/// Whether a score is not surely positive; NaN is not.
#[inline]
fn not_surely_positive(score: f64, bound: f64) -> bool {
    score.is_nan() || score <= bound
}

pub(crate) fn keep_worst(found: &mut Vec<(f64, usize)>, most: usize) {
    if found.len() > most && most > 0 {
        found.select_nth_unstable_by(most - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.truncate(most);
    }
}

/// ‖scaled z‖, guarded against underflow; `full` has room for a row.
fn length(rows: &dyn SignedRows, row: usize, factor: &[f64], full: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    if rows.write_full(row, full) {
        full.iter_mut().zip(factor).for_each(|(z, f)| *z *= f);
        sum = quick_dot(full, full, 0.0);
    } else {
        rows.each(row, &mut |j, z| {
            let z = z * factor[j];
            sum += z * z;
        });
    }
    if (1e-280..1e280).contains(&sum) {
        return sum.sqrt();
    }
    let mut top = 0.0f64;
    rows.each(row, &mut |j, z| top = top.max((z * factor[j]).abs()));
    if top == 0.0 || !top.is_finite() {
        return top;
    }
    sum = 0.0;
    rows.each(row, &mut |j, z| {
        let z = z * factor[j] / top;
        sum += z * z;
    });
    sum.sqrt() * top
}

/// An exact v in scaled coordinates: whole numbers, with their `f64` images.
#[derive(Debug, Clone)]
pub(crate) struct ExactWeights {
    pub(crate) exact: Vec<IBig>,
    pub(crate) near: Vec<f64>,
}

impl ExactWeights {
    pub(crate) fn new(exact: Vec<IBig>) -> Self {
        let near = approximate_all(&exact);
        ExactWeights { exact, near }
    }

    /// The sign of v·z, computed in whole numbers.
    pub(crate) fn sign(&self, scales: &Scales, rows: &dyn SignedRows, row: usize) -> Ordering {
        let radix = rows.notation().radix();
        let shift = &scales.shift;
        let mut entries: Vec<(IBig, i32)> = Vec::new();
        let mut lowest = i32::MAX;
        rows.each_exact(row, &mut |j, value| {
            let exponent = value.exponent - shift[j];
            if !self.exact[j].is_zero() {
                lowest = lowest.min(exponent);
                entries.push((&self.exact[j] * value.mantissa, exponent));
            }
        });
        let mut sum = IBig::ZERO;
        for (term, exponent) in entries {
            sum += if exponent == lowest {
                term
            } else {
                term * power(radix, usize::try_from(exponent - lowest).unwrap_or(0))
            };
        }
        sum.cmp(&IBig::ZERO)
    }
}

/// A scaled row in whole numbers: the exact row times radix^`shift`.
#[derive(Debug, Clone)]
pub(crate) struct IntegerRow {
    pub(crate) entries: Vec<(usize, IBig)>,
    pub(crate) shift: i32,
}

impl IntegerRow {
    /// Whether v·z is zero.
    pub(crate) fn is_orthogonal(&self, v: &[IBig]) -> bool {
        let terms = self.entries.iter().filter(|(j, _)| !v[*j].is_zero());
        let sum: IBig = terms.map(|(j, value)| value * &v[*j]).sum();
        sum.is_zero()
    }
}

/// Vectors of short whole numbers, for products that floating point shows to be zero exactly.
#[derive(Debug)]
pub(crate) struct QuickNormals {
    /// What is not zero of each; none where a number is long.
    entries: Vec<Option<Vec<(usize, f64)>>>,
    /// Those that are opposite weights on two coordinates, which equal columns show.
    differences: Vec<(usize, [usize; 2])>,
    /// The others.
    others: Vec<usize>,
    /// The numbers of all vectors at each coordinate.
    at: Vec<f64>,
}

/// Up to here every whole number is an `f64`.
const WHOLE: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

impl QuickNormals {
    pub(crate) fn new(vectors: &[Vec<IBig>]) -> Self {
        let dimension = vectors.first().map_or(0, Vec::len);
        let mut at = vec![0.0; dimension * vectors.len()];
        let mut entries = Vec::new();
        for (k, w) in vectors.iter().enumerate() {
            let there = w.iter().enumerate().filter(|(_, w)| !w.is_zero());
            let short = there.map(|(j, w)| Some((j, i32::try_from(w).ok()?.into())));
            let short: Option<Vec<(usize, f64)>> = short.collect();
            for &(j, w) in short.iter().flatten() {
                at[j * vectors.len() + k] = w;
            }
            entries.push(short);
        }
        let (mut differences, mut others) = (Vec::new(), Vec::new());
        for (k, entries) in entries.iter().enumerate() {
            match entries.as_deref() {
                Some(&[(i, a), (j, b)]) if a == -b => differences.push((k, [i, j])),
                _ => others.push(k),
            }
        }
        QuickNormals {
            entries,
            differences,
            others,
            at,
        }
    }

    /// The vectors whose product with a row is not surely zero. The row's `f64` tell its numbers;
    /// `full` has all its numbers, and `there` the places of those that are not zero, where the row is
    /// sparse.
    pub(crate) fn doubtful(&self, full: &[f64], there: Option<&[usize]>) -> Vec<usize> {
        let n = self.entries.len();
        let mut doubtful = Vec::new();
        let whole = match there {
            Some(there) => there.iter().all(|&j| full[j].fract() == 0.0),
            None => full.iter().all(|z| z.fract() == 0.0),
        };
        if whole {
            // Sums of whole numbers that cannot have been rounded.
            let mut sums = vec![(0.0, 0.0); n];
            let mut add = |j: usize| {
                let z = full[j];
                for ((sum, size), w) in sums.iter_mut().zip(&self.at[j * n..(j + 1) * n]) {
                    *sum += w * z;
                    *size += (w * z).abs();
                }
            };
            match there {
                Some(there) => there.iter().for_each(|&j| add(j)),
                None => (0..full.len()).for_each(&mut add),
            }
            doubtful.extend((0..n).filter(|&k| {
                let (sum, size) = sums[k];
                self.entries[k].is_none() || sum != 0.0 || size >= WHOLE
            }));
            return doubtful;
        }
        // Opposite weights on equal numbers, and vectors that only meet whole numbers.
        for &(k, [i, j]) in &self.differences {
            if full[i] != full[j] {
                doubtful.push(k);
            }
        }
        doubtful.extend(self.others.iter().copied().filter(|&k| {
            let Some(entries) = &self.entries[k] else {
                return true;
            };
            let whole = entries.iter().all(|&(j, _)| full[j].fract() == 0.0);
            let products = || entries.iter().map(|&(j, w)| w * full[j]);
            let size: f64 = products().map(f64::abs).sum();
            !whole || size >= WHOLE || products().sum::<f64>() != 0.0
        }));
        doubtful
    }
}
