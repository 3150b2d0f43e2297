use super::*;
use crate::data::Rows;
use crate::data::{Matrix, Precision};
use proptest::prelude::*;

proptest! {
    #[test]
    fn all_ways_to_score_give_the_same_bits(
        k in 1usize..36,
        rows in prop::collection::vec(prop::collection::vec(-3.0f64..3.0, 5), 1..4),
        weights in prop::collection::vec(-2.0f64..2.0, 180),
        bias in prop::collection::vec(-2.0f64..2.0, 36),
    ) {
        let w = Weights::from_parts(k, &weights[..5 * k], &bias[..k]);
        prop_assert_eq!(w.packed(), &weights[..5 * k]);
        let matrix = Matrix::dense_from_rows(5, &rows, Precision::F64);
        let mut scores = w.score_buffer();
        for (i, row) in rows.iter().enumerate() {
            w.scores(matrix.row(i), &mut scores);
            for d in 0..k {
                let naive = (0..5).fold(bias[d], |s, j| s + weights[j * k + d] * row[j]);
                prop_assert_eq!(scores[d].to_bits(), naive.to_bits());
                prop_assert_eq!(w.score(d, matrix.row(i)).to_bits(), naive.to_bits());
            }
        }
        let rows = Rows::of(&matrix);
        let four = [0, 1, 2, 3].map(|i| i % matrix.rows());
        let mut of_four = vec![0.0; 4 * scores.len()];
        w.scores_of_group(rows, w.in_step(rows), four.into_iter(), &mut of_four);
        for (i, found) in four.into_iter().zip(of_four.chunks_exact(scores.len())) {
            w.scores(matrix.row(i), &mut scores);
            prop_assert_eq!(&found[..k], &scores[..k]);
        }
    }
}

#[test]
fn two_changes_at_once_are_two_changes() {
    let rows = [vec![2.0, 0.0, -1.5], vec![0.1, 0.2, 0.3]];
    for matrix in [Precision::F32, Precision::F64].map(|p| Matrix::dense_from_rows(3, &rows, p)) {
        let (mut once, mut twice) = (Weights::zero(5, 3), Weights::zero(5, 3));
        for i in 0..2 {
            let change = |d, scale| Change {
                d,
                scale,
                bias: scale / 3.0,
            };
            let both = [change(3, 0.7), change(1, -0.3)];
            once.add_both(both, matrix.row(i));
            for c in both {
                twice.add(c.d, matrix.row(i), c.scale, c.bias);
            }
        }
        assert_eq!(once, twice);
        let other = once.combined(&twice, |d, own, w| own + d as f64 * w);
        (0..5).for_each(|d| once.combine(d, &twice, |own, w| own + d as f64 * w));
        assert_eq!(once, other);
    }
}

#[test]
fn adding_touches_one_discriminator() {
    let mut w = Weights::zero(3, 2);
    let matrix = Matrix::dense_from_rows(2, &[vec![2.0, 0.0]], Precision::F32);
    w.add(1, matrix.row(0), -0.5, 7.0);
    assert_eq!(*w.packed(), [0.0, -1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(w.biases(), [0.0, 7.0, 0.0]);
    assert_eq!(w.squared_norm(1, true), 50.0);
    assert_eq!(w.squared_norm(1, false), 1.0);
    assert_eq!(w.squared_norms(true), [0.0, 50.0, 0.0]);
    assert_eq!(w.squared_norms(false), [0.0, 1.0, 0.0]);
    assert_eq!((w.dot(&w), w.largest()), (1.0, 7.0));
    assert_eq!(w.column(1), [-1.0, 0.0]);
    assert!(w.is_finite());
    w.set_bias(2, f64::INFINITY);
    assert!(!w.is_finite());
    w.set_bias(2, 0.0);
    w.set(0, 1, f64::NAN);
    assert!(!w.is_finite());
}

proptest! {
    #[test]
    fn the_largest_weights_are_those_that_sorting_gives(
        k in 1usize..6,
        weights in prop::collection::vec(-3i32..4, 0..300),
        most in 0usize..20,
    ) {
        let features = weights.len() / k;
        let weights: Vec<f64> = weights[..features * k].iter().map(|&w| f64::from(w)).collect();
        let w = Weights::from_parts(k, &weights, &vec![0.5; k]);
        let found = w.largest_of_each(most);
        prop_assert_eq!(found.len(), k);
        for (d, found) in found.into_iter().enumerate() {
            let column = w.column(d);
            let mut ranked: Vec<usize> = (0..features).filter(|&j| column[j] != 0.0).collect();
            ranked.sort_by(|&a, &b| column[b].abs().total_cmp(&column[a].abs()));
            ranked.truncate(most);
            let ranked: Vec<(usize, f64)> = ranked.into_iter().map(|j| (j, column[j])).collect();
            prop_assert_eq!(found, ranked);
        }
    }
}

#[test]
fn weights_are_combined_place_by_place() {
    let features = 5000;
    for discriminators in [1, 3] {
        let mut one = Weights::zero(discriminators, features);
        let mut other = Weights::zero(discriminators, features);
        for d in 0..discriminators {
            for j in 0..features {
                one.set(d, j, (j % 1013 + d) as f64);
                other.set(d, j, (j % 77) as f64);
            }
            one.set_bias(d, d as f64 + 0.5);
        }
        let combined = one.combined(&other, |d, a, b| a + d as f64 * b);
        for (d, j) in (0..discriminators).flat_map(|d| (0..features).map(move |j| (d, j))) {
            let expected = (j % 1013 + d + d * (j % 77)) as f64;
            assert_eq!(combined.get(d, j), expected);
        }
        assert_eq!(
            combined.bias(discriminators - 1),
            discriminators as f64 - 0.5
        );
    }
}
