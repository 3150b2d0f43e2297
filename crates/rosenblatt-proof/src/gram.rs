//! Separability in the space of a kernel, decided on the matrix of kernel values.
//!
//! Some w in the span of the φ(x_j) separates iff w = Σ a_j φ(x_j) does, so the rows are
//! y_i·(K_i1, …, K_in) and the unknown is a; Σ λ_i y_i φ(x_i) = 0 iff Σ_j K_ij y_j λ_j = 0
//! for all i, which is Gordan's condition on the same rows. Kernels that are polynomials in
//! the data have exact values and so exact verdicts, on sets small enough for n² of them.
//! Gaussian and Laplacian kernels are strictly positive definite: distinct points are
//! independent, and only identical rows with different labels stand in the way.

use std::collections::HashMap;

use super::number::{Exact, Notation};
use super::rows::{ExactRows, SignedRows, TwoSides};
use super::verdict::Verdict;
use rosenblatt_core::kernel::Kernel;
use rosenblatt_core::{Error, Result};

/// Whether a kernel's values are exact for exact data.
pub fn has_exact_values(kernel: &Kernel) -> bool {
    matches!(
        kernel,
        Kernel::Linear
            | Kernel::Polynomial { .. }
            | Kernel::Geometric { .. }
            | Kernel::Monomial { .. }
    )
}

/// The exact value of a kernel that has one.
fn exact_value(
    kernel: &Kernel,
    x: &[(usize, Exact)],
    z: &[(usize, Exact)],
    notation: Notation,
) -> Option<Exact> {
    let radix = notation.radix();
    let products = || {
        let mut at = 0;
        x.iter().filter_map(move |(j, a)| {
            while z.get(at).is_some_and(|(i, _)| i < j) {
                at += 1;
            }
            z.get(at).filter(|(i, _)| i == j).map(|(_, b)| a.mul(b))
        })
    };
    let sum = |terms: &mut dyn Iterator<Item = Exact>| {
        terms.fold(Exact::integer(0), |sum, t| sum.add(&t, radix))
    };
    Some(match *kernel {
        Kernel::Linear => sum(&mut products()),
        Kernel::Polynomial {
            degree,
            scale,
            constant,
        } => {
            let base = sum(&mut products())
                .mul(&Exact::of(scale, notation))
                .add(&Exact::of(constant, notation), radix);
            (0..degree).fold(Exact::integer(1), |power, _| power.mul(&base))
        }
        Kernel::Geometric { degree } => {
            let base = sum(&mut products());
            (0..degree).fold(Exact::integer(1), |sum, _| {
                sum.mul(&base).add(&Exact::integer(1), radix)
            })
        }
        Kernel::Monomial { degree } => {
            // Complete homogeneous sums, feature by feature.
            let mut sums = vec![Exact::integer(0); degree as usize + 1];
            sums[0] = Exact::integer(1);
            for t in products() {
                for k in 1..sums.len() {
                    sums[k] = sums[k].add(&sums[k - 1].mul(&t), radix);
                }
            }
            sum(&mut sums.into_iter())
        }
        _ => return None,
    })
}

/// The rows y_i·(K_i1, …, K_in).
#[derive(Debug)]
pub struct Gram {
    n: usize,
    signs: Vec<f64>,
    exact: Vec<Exact>,
    near: Vec<f64>,
    notation: Notation,
}

/// The most examples a kernel question is asked about: a matrix of 4096² values.
const MOST: usize = 4096;

impl Gram {
    /// Kernel values of the examples on two sides, for a kernel that has
    /// [exact ones](has_exact_values); `lifted` adds 1 to each.
    pub fn new(rows: &TwoSides<'_>, kernel: &Kernel, lifted: bool) -> Result<Self> {
        let (notation, radix) = (rows.notation(), rows.notation().radix());
        let (members, signs) = members_of(rows)?;
        let n = members.len();
        let entries = |&row: &usize| {
            let mut entries = Vec::new();
            (rows.exact()).each_exact(row, &mut |j, value| entries.push((j, value)));
            entries
        };
        let examples: Vec<Vec<(usize, Exact)>> = members.iter().map(entries).collect();
        let mut exact = vec![Exact::integer(0); n * n];
        for i in 0..n {
            for j in i..n {
                let value = exact_value(kernel, &examples[i], &examples[j], notation);
                let mut value = value.ok_or_else(|| {
                    Error::options(format!("the kernel {kernel} has no exact values"))
                })?;
                if lifted {
                    value = value.add(&Exact::integer(1), radix);
                }
                exact[j * n + i] = value.clone();
                exact[i * n + j] = value;
            }
        }
        Self::finish(n, signs, exact, notation)
    }

    /// A matrix given row by row, with +1 or −1 for each example.
    pub fn precomputed(values: &[f64], signs: Vec<f64>, notation: Notation) -> Result<Self> {
        let n = signs.len();
        check_size(n)?;
        if values.len() != n * n || values.iter().any(|v| !v.is_finite()) {
            return Err(
                Error::data(format!("{} kernel values for {n} examples", values.len()))
                    .remedy("give a square matrix of finite numbers"),
            );
        }
        let exact = values.iter().map(|&v| Exact::of(v, notation)).collect();
        Self::finish(n, signs, exact, notation)
    }

    fn finish(n: usize, signs: Vec<f64>, exact: Vec<Exact>, notation: Notation) -> Result<Self> {
        let radix = notation.radix();
        let near: Vec<f64> = exact.iter().map(|v| v.approximate(radix)).collect();
        if near.iter().any(|v| !v.is_finite()) {
            return Err(Error::data("a kernel value is beyond 1e308")
                .remedy("scale the features or lower the degree"));
        }
        Ok(Gram {
            n,
            signs,
            exact,
            near,
            notation,
        })
    }

    /// A matrix of rounded values, for kernels that have no exact ones; `lifted` adds 1 to
    /// each. Good for the linear program, not for verdicts.
    pub fn rounded(rows: &TwoSides<'_>, kernel: &Kernel, lifted: bool) -> Result<Self> {
        let data = rows.exact().data();
        let (examples, signs) = members_of(rows)?;
        let lift = f64::from(u8::from(lifted));
        let pairs = examples
            .iter()
            .flat_map(|&i| examples.iter().map(move |&j| (i, j)));
        let values: Vec<f64> = pairs
            .map(|(i, j)| kernel.value(data.row(i), data.row(j)) + lift)
            .collect();
        Self::precomputed(&values, signs, Notation::Binary)
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// y_i y_j K_ij.
    pub(crate) fn signed(&self, i: usize, j: usize) -> f64 {
        self.signs[i] * self.signs[j] * self.near[i * self.n + j]
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.near[i * self.n..(i + 1) * self.n]
    }
}

/// The rows on two sides, each with its sign, unless they are too many.
fn members_of(rows: &TwoSides<'_>) -> Result<(Vec<usize>, Vec<f64>)> {
    let mut members = Vec::new();
    rows.each_row(&mut |row| members.push(row));
    check_size(members.len())?;
    let signs = members.iter().map(|&row| rows.sign(row)).collect();
    Ok((members, signs))
}

fn check_size(n: usize) -> Result<()> {
    if n > MOST {
        return Err(Error::data(format!(
            "{n} examples make a kernel matrix of {n} × {n} exact values, and {MOST} is the limit"
        ))
        .remedy("use an explicit embedding instead"));
    }
    Ok(())
}

impl SignedRows for Gram {
    fn dimension(&self) -> usize {
        self.n
    }

    fn groups(&self) -> usize {
        self.n
    }

    fn score(&self, group: usize, w: &[f64], f: &mut dyn FnMut(usize, f64)) {
        let sum: f64 = self.row(group).iter().zip(w).map(|(k, w)| k * w).sum();
        f(group, self.signs[group] * sum);
    }

    fn each(&self, row: usize, f: &mut dyn FnMut(usize, f64)) {
        for (j, &k) in self.row(row).iter().enumerate().filter(|(_, k)| **k != 0.0) {
            f(j, self.signs[row] * k);
        }
    }

    fn each_exact(&self, row: usize, f: &mut dyn FnMut(usize, Exact)) {
        for j in 0..self.n {
            let value = &self.exact[row * self.n + j];
            if !value.mantissa.is_zero() {
                f(j, value.clone().negated_if(self.signs[row] < 0.0));
            }
        }
    }

    fn notation(&self) -> Notation {
        self.notation
    }
}

/// What strictly positive definite kernels (Gaussian, Laplacian) make of a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrictKernel {
    /// Separable iff there is no conflict; overlapping iff every row is in one.
    pub verdict: Verdict,
    /// For each point with both labels one row of either, ascending.
    pub conflicts: Vec<(usize, usize)>,
    /// Multipliers that refute separability, on every row in a conflict, ascending: each row
    /// weighs as much as its point has rows of the other label.
    pub lambda: Vec<(usize, usize)>,
}

/// Decides for a strictly positive definite kernel: by identical rows with different labels.
pub fn strict_kernel(rows: &TwoSides<'_>) -> StrictKernel {
    let exact: &ExactRows<'_> = rows.exact();
    type Point = Vec<(usize, String, i32)>;
    let mut seen: HashMap<Point, [Vec<usize>; 2]> = HashMap::new();
    rows.each_row(&mut |row| {
        let mut key = Vec::new();
        exact.each_exact(row, &mut |j, value| {
            // One spelling for each value: no trailing zeros.
            let digits = value.mantissa.to_string();
            let short = digits.trim_end_matches('0');
            let (digits, zeros) = if exact.notation() == Notation::Decimal {
                (short.to_owned(), (digits.len() - short.len()) as i32)
            } else {
                (digits, 0)
            };
            key.push((j, digits, value.exponent + zeros));
        });
        let side = usize::from(rows.is_positive(row));
        seen.entry(key).or_default()[side].push(row);
    });
    let mut conflicts = Vec::new();
    let mut lambda = Vec::new();
    let mut peace = false;
    for [negative, positive] in seen.values() {
        if let (Some(a), Some(b)) = (negative.first(), positive.first()) {
            conflicts.push((*a.min(b), *a.max(b)));
            lambda.extend(negative.iter().map(|&row| (row, positive.len())));
            lambda.extend(positive.iter().map(|&row| (row, negative.len())));
        } else {
            peace = true;
        }
    }
    conflicts.sort_unstable();
    lambda.sort_unstable();
    StrictKernel {
        verdict: match (conflicts.is_empty(), peace) {
            (true, _) => Verdict::Separable,
            (false, true) => Verdict::QuasiSeparable,
            (false, false) => Verdict::Overlapping,
        },
        conflicts,
        lambda,
    }
}
