//! Coefficients of a logistic regression against the oracle, sign by sign.

use dashu_int::IBig;
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::proof::{BiasTerm, Estimate, ExactRows, Notation, TwoSides, coefficients};

use crate::decisions::{big, dataset, signed};
use crate::oracle;

/// Trends by definition: which signs w_j takes on C, and whether the rows determine it.
fn expected(z: &[Vec<i64>]) -> Vec<Estimate> {
    let d = z[0].len();
    let rank = oracle::rank(big(z));
    (0..d)
        .map(|j| {
            let with = |value: i64| {
                let mut rows = z.to_vec();
                let mut axis = vec![0; d];
                axis[j] = value;
                rows.push(axis);
                rows
            };
            if oracle::rank(big(&with(1))) > rank {
                return Estimate::NotIdentified;
            }
            let takes = |value| oracle::separable_rows(&with(value)).last() == Some(&true);
            match (takes(1), takes(-1)) {
                (true, true) => Estimate::Either,
                (true, false) => Estimate::PlusInfinity,
                (false, true) => Estimate::MinusInfinity,
                (false, false) => Estimate::Finite,
            }
        })
        .collect()
}

#[test]
fn trends_agree_with_the_oracle_on_random_designs() {
    let mut random = Random::new(31, Stream::Sample, 0);
    let mut seen = std::collections::HashMap::new();
    for case in 0..1200 {
        let (n, d) = (2 + random.below(9) as usize, 1 + case % 4);
        let span = 1 + random.below(3);
        let rows: Vec<Vec<i64>> = (0..n)
            .map(|_| (0..d).map(|_| random.below(span + 1) as i64).collect())
            .collect();
        let positive: Vec<bool> = rows
            .iter()
            .map(|r| match case % 3 {
                0 => random.below(2) == 1,
                1 => r[0] > 0 || random.below(3) == 0,
                _ => {
                    r.iter().sum::<i64>() > 1
                        || (r.iter().sum::<i64>() == 1 && random.below(2) == 0)
                }
            })
            .collect();
        let bias = if case % 4 == 3 {
            BiasTerm::None
        } else {
            BiasTerm::Lifted
        };
        let z = signed(&rows, &positive, bias);
        let floats: Vec<Vec<f64>> = rows
            .iter()
            .map(|r| r.iter().map(|&x| x as f64).collect())
            .collect();
        let data = dataset(&floats, &positive);
        let exact = ExactRows::new(&data, Notation::Decimal, &[]).expect("valid");
        let found = coefficients(&TwoSides::positive_against_rest(&exact, bias), 1).expect("rows");
        assert_eq!(
            found.estimates,
            expected(&z),
            "{rows:?} {positive:?} {bias:?}"
        );
        assert_eq!(found.rank, oracle::rank(big(&z)));
        oracle::check(&big(&z), &found.decision);
        for t in found.estimates {
            *seen.entry(t).or_insert(0) += 1;
        }
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert!(seen.values().all(|&c| c > 100), "{seen:?}");
}

#[test]
fn a_category_without_failures_runs_off() {
    // Level B has only positives: its coefficient diverges, the rest stay finite.
    let rows: Vec<Vec<f64>> = [
        [0.0, 1.0],
        [0.0, 2.0],
        [0.0, 3.0],
        [0.0, 4.0],
        [1.0, 2.0],
        [1.0, 3.0],
    ]
    .map(|r| r.to_vec())
    .to_vec();
    let data = dataset(&rows, &[false, true, false, true, true, true]);
    let exact = ExactRows::new(&data, Notation::Decimal, &[]).expect("valid");
    let found = coefficients(
        &TwoSides::positive_against_rest(&exact, BiasTerm::Lifted),
        1,
    )
    .expect("rows");
    assert_eq!(
        found.estimates,
        [Estimate::Finite, Estimate::PlusInfinity, Estimate::Finite]
    );
    let recession = found.recession.expect("quasi-separable");
    assert!(recession[0].is_zero() && recession[1] > IBig::ZERO && recession[2].is_zero());
}
