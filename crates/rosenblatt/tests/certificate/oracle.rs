//! A slow, plain oracle that shares no code with the library: an exact simplex with Bland's
//! rule (1977) for the verdict, and a checker that multiplies witnesses out.

use dashu_int::IBig;
use rosenblatt::proof::{MOST_NULL_VECTORS, ProvedVerdict, Verdict, Witness};

/// max Σ s_i subject to z_i·w ≥ s_i, 0 ≤ s_i ≤ 1. C = {w : z_i·w ≥ 0} is a cone, so the
/// optimum has s_i = 1 for exactly the rows that some w in C separates strictly: returns
/// which. The tableau is kept in whole numbers over one denominator (Edmonds, 1967).
pub(crate) fn separable_rows(rows: &[Vec<i64>]) -> Vec<bool> {
    let n = rows.len();
    let d = rows[0].len();
    // Columns: w⁺ (d), w⁻ (d), s (n), slacks (2n), right-hand side.
    let (slack, width) = (2 * d + n, 2 * d + 3 * n + 1);
    let mut table = vec![vec![IBig::ZERO; width]; 2 * n + 1];
    for (i, z) in rows.iter().enumerate() {
        for (j, &x) in z.iter().enumerate() {
            table[i][j] = IBig::from(-x);
            table[i][d + j] = IBig::from(x);
        }
        table[i][2 * d + i] = IBig::ONE;
        table[i][slack + i] = IBig::ONE;
        table[n + i][2 * d + i] = IBig::ONE;
        table[n + i][slack + n + i] = IBig::ONE;
        table[n + i][width - 1] = IBig::ONE;
        table[2 * n][2 * d + i] = IBig::NEG_ONE;
    }
    let mut basis: Vec<usize> = (slack..slack + 2 * n).collect();
    let mut denominator = IBig::ONE;
    while let Some(column) = (0..width - 1).find(|&j| table[2 * n][j] < IBig::ZERO) {
        let mut leaving: Option<usize> = None;
        for i in 0..2 * n {
            if table[i][column] <= IBig::ZERO {
                continue;
            }
            let better = leaving.is_none_or(|l| {
                let left = &table[i][width - 1] * &table[l][column];
                let right = &table[l][width - 1] * &table[i][column];
                left < right || (left == right && basis[i] < basis[l])
            });
            if better {
                leaving = Some(i);
            }
        }
        let row = leaving.expect("the objective is at most n");
        let pivot = table[row][column].clone();
        let pivot_row = table[row].clone();
        for (i, line) in table.iter_mut().enumerate() {
            if i != row {
                let factor = line[column].clone();
                for (x, p) in line.iter_mut().zip(&pivot_row) {
                    *x = (&*x * &pivot - &factor * p) / &denominator;
                }
            }
        }
        denominator = pivot;
        basis[row] = column;
    }
    (0..n)
        .map(|i| {
            basis
                .iter()
                .position(|&b| b == 2 * d + i)
                .is_some_and(|r| !table[r][width - 1].is_zero())
        })
        .collect()
}

pub(crate) fn verdict(separable: &[bool]) -> Verdict {
    if separable.iter().all(|&s| s) {
        Verdict::Separable
    } else if separable.iter().any(|&s| s) {
        Verdict::QuasiSeparable
    } else {
        Verdict::Overlapping
    }
}

pub(crate) fn dot(z: &[IBig], w: &[IBig]) -> IBig {
    assert_eq!(z.len(), w.len());
    z.iter().zip(w).map(|(a, b)| a * b).sum()
}

/// Rank by elimination in whole numbers, each divided by the pivot before (Bareiss, 1968).
pub(crate) fn rank(mut rows: Vec<Vec<IBig>>) -> usize {
    let mut rank = 0;
    let width = rows.first().map_or(0, Vec::len);
    let mut before = IBig::ONE;
    for column in 0..width {
        let Some(pivot) = (rank..rows.len()).find(|&i| !rows[i][column].is_zero()) else {
            continue;
        };
        rows.swap(rank, pivot);
        let pivot_row = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            let factor = row[column].clone();
            for (x, p) in row.iter_mut().zip(&pivot_row) {
                *x = (&*x * &pivot_row[column] - &factor * p) / &before;
            }
        }
        before = pivot_row[column].clone();
        rank += 1;
    }
    rank
}

pub(crate) fn check_lambda(rows: &[Vec<IBig>], lambda: &[(usize, IBig)]) -> Vec<Vec<IBig>> {
    assert!(!lambda.is_empty());
    assert!(
        lambda.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "rows ascend"
    );
    assert!(lambda.iter().all(|(_, l)| l > &IBig::ZERO), "λ is positive");
    let mut sum = vec![IBig::ZERO; rows[0].len()];
    for (i, l) in lambda {
        sum.iter_mut().zip(&rows[*i]).for_each(|(s, z)| *s += l * z);
    }
    assert!(sum.iter().all(IBig::is_zero), "Σ λ z = 0");
    lambda.iter().map(|(i, _)| rows[*i].clone()).collect()
}

/// Panics unless the witness proves its verdict about `rows`.
pub(crate) fn check(rows: &[Vec<IBig>], decision: &ProvedVerdict) {
    let all_rank = rank(rows.to_vec());
    if decision.verdict() != Verdict::Separable {
        let support = check_lambda(rows, &decision.refutation);
        assert!(
            support.len() <= rank(support.clone()) + 1,
            "at most rank + 1 rows"
        );
    }
    match &decision.witness {
        Witness::Separable { w } => {
            assert!(rows.iter().all(|z| dot(z, w) > IBig::ZERO));
        }
        Witness::QuasiSeparable {
            w,
            lambda,
            separated,
            null_space,
        } => {
            assert!(!separated.is_empty());
            for (i, z) in rows.iter().enumerate() {
                let score = dot(z, w);
                assert!(score >= IBig::ZERO, "row {i}");
                assert_eq!(score > IBig::ZERO, separated.contains(&i), "row {i}");
            }
            let support = check_lambda(rows, lambda);
            let on_plane: Vec<_> = rows
                .iter()
                .filter(|z| dot(z, w).is_zero())
                .cloned()
                .collect();
            let support_rank = rank(support.clone());
            let vectors = rows[0].len() - support_rank;
            assert_eq!(null_space.is_some(), vectors <= MOST_NULL_VECTORS);
            if let Some(null_space) = null_space {
                assert_eq!(null_space.len(), vectors);
                assert_eq!(rank(null_space.clone()), vectors);
                for v in null_space {
                    assert!(on_plane.iter().all(|z| dot(z, v).is_zero()));
                }
            }
            assert_eq!(support_rank, rank(on_plane));
            assert_eq!(Some(support_rank), decision.balanced_rank);
            assert!(support.len() <= (2 * support_rank).max(1) || rows[0].len() >= 1000);
        }
        Witness::Overlapping { lambda, null_space } => {
            let support = check_lambda(rows, lambda);
            assert_eq!(rank(support.clone()), all_rank);
            match decision.balanced_rank {
                Some(rank) => assert_eq!(rank, all_rank),
                None => assert!(lambda.len() == rows.len() && rows[0].len() >= 1000),
            }
            assert!(
                support.len() <= (2 * all_rank).max(1) || rows[0].len() >= 1000,
                "at most 2·rank rows"
            );
            let vectors = rows[0].len() - all_rank;
            let Some(null_space) = null_space else {
                assert!(vectors > MOST_NULL_VECTORS && lambda.len() == rows.len());
                return;
            };
            assert_eq!(null_space.len(), vectors);
            if vectors <= MOST_NULL_VECTORS {
                assert_eq!(rank(null_space.clone()), vectors);
            }
            for v in null_space {
                assert!(rows.iter().all(|z| dot(z, v).is_zero()));
            }
        }
    }
}
