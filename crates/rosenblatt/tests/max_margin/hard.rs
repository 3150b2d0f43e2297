//! Hard margins, against every subset of a few examples.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn hard_margins_agree_with_every_subset_tried(
        seed in 0u64..1000,
        n in 3usize..8,
        d in 1usize..4,
    ) {
        let toy = common::separable(seed, n, d, 0.2, 0.05).0;
        for bias in BIASES {
            let Some((squared, alpha)) = by_subsets(&toy, bias) else {
                let error = rosenblatt::session(&options(None, bias)).train(&toy.dataset()).unwrap_err();
                prop_assert!(error.to_string().contains("not separable"), "{}", error);
                continue;
            };
            for told in [options(None, bias), over("linear", None, bias)] {
                let told = within(1e-10, told);
                let fitted = trained(&toy.dataset(), &told);
                let found = support(&fitted.model).optima[0];
                prop_assert!(close(2.0 * found.primal, squared, 0.0, 1e-7), "{:?} {}", found, squared);
                prop_assert!(close(found.margin, 1.0 / squared.sqrt(), 0.0, 1e-7));
                let total: f64 = alphas(&fitted.model, n, 0).iter().sum();
                prop_assert!(close(total, alpha.iter().sum(), 0.0, 1e-6));
                let margin = fitted.margin.unwrap();
                prop_assert!(margin.lower <= 1.0 / squared.sqrt() * (1.0 + 1e-9));
                prop_assert!(margin.upper >= 1.0 / squared.sqrt() * (1.0 - 1e-9));
                for (row, label) in toy.rows.iter().zip(&toy.labels) {
                    let row = rosenblatt::data::Row::Dense64(row);
                    prop_assert_eq!(fitted.model.scorer().class(row), *label);
                }
            }
        }
    }
}

/// ‖w‖² and α of the hard margin: of every set of examples that could hold the plane up, the
/// one whose plane has no example nearer. `None` if there is none.
fn by_subsets(toy: &Toy, bias: Bias) -> Option<(f64, Vec<f64>)> {
    let n = toy.len();
    let free = matches!(bias, Bias::Unlifted(_));
    let lift = f64::from(u8::from(bias == Bias::Lifted));
    let product =
        |i: usize, j: usize| toy.sign(i) * toy.sign(j) * (dot(&toy.rows[i], &toy.rows[j]) + lift);
    for set in 1u32..1 << n {
        let members: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let m = members.len();
        let size = m + usize::from(free);
        // Margins of 1 on the members, and Σ α y = 0 where the bias is free.
        let mut system = vec![vec![0.0; size + 1]; size];
        for (a, &i) in members.iter().enumerate() {
            for (b, &j) in members.iter().enumerate() {
                system[a][b] = product(i, j);
            }
            if free {
                system[a][m] = toy.sign(i);
                system[m][a] = toy.sign(i);
            }
            system[a][size] = 1.0;
        }
        let Some(solved) = eliminate(system) else {
            continue;
        };
        if solved[..m].iter().any(|a| *a < 0.0) {
            continue;
        }
        let b = if free { solved[m] } else { 0.0 };
        let margin = |k: usize| -> f64 {
            let sum: f64 = members
                .iter()
                .zip(&solved)
                .map(|(&i, a)| a * product(i, k))
                .sum();
            sum + b * toy.sign(k)
        };
        if (0..n).all(|k| margin(k) >= 1.0 - 1e-9) {
            let mut alpha = vec![0.0; n];
            members
                .iter()
                .zip(&solved)
                .for_each(|(&i, a)| alpha[i] = *a);
            return Some((solved[..m].iter().sum(), alpha));
        }
    }
    None
}

fn eliminate(mut system: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = system.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| system[a][k].abs().total_cmp(&system[b][k].abs()))?;
        system.swap(k, pivot);
        if system[k][k].abs() < 1e-10 {
            return None;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = system[i][k] / system[k][k];
            let pivot = system[k].clone();
            for (x, p) in system[i].iter_mut().zip(pivot) {
                *x -= factor * p;
            }
        }
    }
    Some((0..n).map(|k| system[k][n] / system[k][k]).collect())
}
