//! The cheapest dual coefficients: minimise Σ a_i subject to y_i Σ_j a_j y_j K_ij ≥ 1, a ≥ 0.
//!
//! *Guarantee.* For a positive semidefinite K it has a solution iff the examples are
//! separable (without bias). The optimum is bracketed: a is scaled to satisfy every
//! constraint, and the dual multipliers are scaled to be feasible too.
//!
//! *Cost.* A dense dual simplex, O(n²) a pivot; costs are all 1, so the start is dual
//! feasible. (Lemke, 1954.)

use super::gram::Gram;

/// An optimal a, within rounding.
#[derive(Debug, Clone, PartialEq)]
pub struct DualCounts {
    /// a ≥ 0, satisfying every constraint up to rounding.
    pub counts: Vec<f64>,
    /// Σ a.
    pub total: f64,
    /// No feasible a has a smaller sum, up to rounding.
    pub at_least: f64,
}

/// Solves the linear program; `None` if it has no solution as far as floating point tells.
pub fn dual_counts(gram: &Gram) -> Option<DualCounts> {
    let n = gram.len();
    // Scaled rows keep the pivots comparable.
    let scale: Vec<f64> = (0..n)
        .map(|i| 1.0 / gram.signed(i, i).abs().sqrt().max(1e-150))
        .collect();
    let width = n + 1;
    // The dictionary: basic = right-hand side + Σ table · nonbasic. Row n holds the costs.
    let mut table = vec![0.0f64; (n + 1) * width];
    for i in 0..n {
        for j in 0..n {
            table[i * width + j] = gram.signed(i, j) * scale[i] * scale[j];
        }
        table[i * width + n] = -scale[i];
        table[n * width + i] = scale[i];
    }
    // Variables 0..n are a (scaled), n..2n the slacks, which start basic.
    let mut basic: Vec<usize> = (n..2 * n).collect();
    let mut outside: Vec<usize> = (0..n).collect();
    let tiny = 1e-11;
    for pivot in 0..50 * n + 1000 {
        let infeasible = (0..n).filter(|&i| table[i * width + n] < -tiny * scale_of(&table, i, n));
        let leaving = if pivot < 20 * n + 200 {
            infeasible.min_by(|&a, &b| table[a * width + n].total_cmp(&table[b * width + n]))
        } else {
            infeasible.min_by_key(|&i| basic[i])
        };
        let Some(leaving) = leaving else {
            return finish(gram, &scale, &table, &basic, &outside);
        };
        let entering = (0..n)
            .filter(|&j| table[leaving * width + j] > 1e-10)
            .min_by(|&a, &b| {
                let ratio = |j: usize| table[n * width + j] / table[leaving * width + j];
                ratio(a)
                    .total_cmp(&ratio(b))
                    .then(outside[a].cmp(&outside[b]))
            })?;
        exchange(&mut table, width, leaving, entering);
        std::mem::swap(&mut basic[leaving], &mut outside[entering]);
    }
    None
}

fn scale_of(table: &[f64], i: usize, n: usize) -> f64 {
    let row = &table[i * (n + 1)..i * (n + 1) + n];
    row.iter().fold(1.0f64, |m, x| m.max(x.abs()))
}

/// Solves row `leaving` for the variable of column `entering` and puts it into the others.
fn exchange(table: &mut [f64], width: usize, leaving: usize, entering: usize) {
    let pivot = table[leaving * width + entering];
    let row = &mut table[leaving * width..(leaving + 1) * width];
    for (j, x) in row.iter_mut().enumerate() {
        *x = if j == entering {
            1.0 / pivot
        } else {
            -*x / pivot
        };
    }
    let solved = row.to_vec();
    for (i, row) in table.chunks_exact_mut(width).enumerate() {
        if i == leaving {
            continue;
        }
        let factor = row[entering];
        if factor == 0.0 {
            continue;
        }
        row[entering] = 0.0;
        for (x, s) in row.iter_mut().zip(&solved) {
            *x += factor * s;
        }
    }
}

fn finish(
    gram: &Gram,
    scale: &[f64],
    table: &[f64],
    basic: &[usize],
    outside: &[usize],
) -> Option<DualCounts> {
    let n = gram.len();
    let width = n + 1;
    let mut counts = vec![0.0; n];
    for (i, &variable) in basic.iter().enumerate() {
        if variable < n {
            counts[variable] = (table[i * width + n] * scale[variable]).max(0.0);
        }
    }
    let mut multipliers = vec![0.0; n];
    for (j, &variable) in outside.iter().enumerate() {
        if variable >= n {
            multipliers[variable - n] = (table[n * width + j] * scale[variable - n]).max(0.0);
        }
    }
    // Scale both to feasibility: then they bracket the optimum.
    let product = |v: &[f64], i: usize| -> f64 { (0..n).map(|j| gram.signed(i, j) * v[j]).sum() };
    let least = (0..n)
        .map(|i| product(&counts, i))
        .fold(f64::INFINITY, f64::min);
    let most = (0..n).map(|i| product(&multipliers, i)).fold(0.0, f64::max);
    if least.is_nan() || least <= 0.5 {
        return None;
    }
    if least < 1.0 {
        counts.iter_mut().for_each(|a| *a /= least);
    }
    Some(DualCounts {
        total: counts.iter().sum(),
        at_least: multipliers.iter().sum::<f64>() / most.max(1.0),
        counts,
    })
}
