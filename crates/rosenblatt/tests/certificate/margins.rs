//! Margin brackets: known gaps, and brackets that close around them.

use rosenblatt::bounds;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::proof::{
    BiasTerm, Bracket, ExactRows, JointRows, MarginKind, Notation, SearchBudget, TwoSides, Verdict,
    decide, joint_margin, margin, radius,
};

use crate::decisions::dataset;

fn bracket(data: &Dataset, bias: BiasTerm, kind: MarginKind) -> Bracket {
    let rows = ExactRows::new(data, Notation::Decimal, &[]).expect("valid");
    let sides = TwoSides::positive_against_rest(&rows, bias);
    let decision = decide(&sides, 1).expect("rows");
    assert_eq!(decision.verdict(), Verdict::Separable);
    let w = decision.separator().map(Vec::as_slice);
    let with = margin(&sides, kind, w, SearchBudget::default(), 1);
    let without = margin(&sides, kind, None, SearchBudget::default(), 1);
    assert!(with.lower <= without.upper && without.lower <= with.upper);
    with
}

fn around(bracket: Bracket, value: f64) {
    assert!(
        bracket.lower <= value && value <= bracket.upper,
        "{bracket:?} {value}"
    );
    assert!(bracket.relative_gap() <= 1e-6, "{bracket:?}");
}

#[test]
fn known_margins_are_bracketed() {
    let two = dataset(&[vec![1.0], vec![-1.0]], &[true, false]);
    around(bracket(&two, BiasTerm::Lifted, MarginKind::Lifted), 1.0);
    around(bracket(&two, BiasTerm::Lifted, MarginKind::Plain), 1.0);
    around(bracket(&two, BiasTerm::None, MarginKind::Lifted), 1.0);
    // 3 and 5: the hulls are 2 apart, so plain 1; lifted the nearest point of the segment
    // from (1, 5) to (−1, −3), at distance 1/√17.
    let off = dataset(&[vec![5.0], vec![3.0]], &[true, false]);
    around(bracket(&off, BiasTerm::Lifted, MarginKind::Plain), 1.0);
    around(
        bracket(&off, BiasTerm::Lifted, MarginKind::Lifted),
        1.0 / 17f64.sqrt(),
    );
    // AND: (1,1) against the segment from (0,1) to (1,0), half of 1/√2.
    let and = dataset(
        &[
            vec![0.0, 0.0],
            vec![0.0, 1.0],
            vec![1.0, 0.0],
            vec![1.0, 1.0],
        ],
        &[false, false, false, true],
    );
    around(
        bracket(&and, BiasTerm::Lifted, MarginKind::Plain),
        0.125f64.sqrt(),
    );
}

#[test]
fn many_dimensions_are_bracketed_too() {
    // Row i is ±e_i: the nearest point of the hull of n orthonormal rows is their mean, and
    // half the distance between the means of two halves is the same 1/√n.
    let n = 256;
    let axes: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let labels: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
    let data = dataset(&axes, &labels);
    let expected = 1.0 / (n as f64).sqrt();
    let budget = SearchBudget {
        multiplications: 1e8,
        ..SearchBudget::default()
    };
    let rows = ExactRows::new(&data, Notation::Decimal, &[]).expect("valid");
    for (bias, kind, gap) in [
        (BiasTerm::None, MarginKind::Lifted, 1e-6),
        (BiasTerm::Lifted, MarginKind::Plain, 0.05),
    ] {
        let sides = TwoSides::positive_against_rest(&rows, bias);
        let found = margin(&sides, kind, None, budget, 1);
        assert!(
            found.lower <= expected && expected <= found.upper,
            "{found:?}"
        );
        assert!(found.relative_gap() <= gap, "{found:?}");
    }
}

#[test]
fn units_scale_the_plain_margin() {
    for unit in [1e-200, 1e-9, 1.0, 1e7, 1e150] {
        let data = dataset(
            &[vec![5.0 * unit, unit], vec![3.0 * unit, unit]],
            &[true, false],
        );
        let found = bracket(&data, BiasTerm::Lifted, MarginKind::Plain);
        around(found, unit);
    }
}

#[test]
fn one_side_alone_has_no_plain_margin() {
    let data = dataset(&[vec![1.0], vec![2.0]], &[true, true]);
    let plain = bracket(&data, BiasTerm::Lifted, MarginKind::Plain);
    assert_eq!((plain.lower, plain.upper), (f64::INFINITY, f64::INFINITY));
    around(
        bracket(&data, BiasTerm::Lifted, MarginKind::Lifted),
        2f64.sqrt(),
    );
}

#[test]
fn brackets_close_and_bounds_hold_on_random_sets() {
    let mut random = Random::new(4, Stream::Sample, 0);
    for case in 0..60 {
        let (n, d) = (20 + random.below(400) as usize, 2 + case % 9);
        let u: Vec<f64> = (0..d).map(|_| random.normal()).collect();
        let norm = u.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (shift, gap) = (random.normal(), 0.01 + 0.2 * random.unit());
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        while rows.len() < n {
            let x: Vec<f64> = (0..d).map(|_| random.normal()).collect();
            let s = x.iter().zip(&u).map(|(a, b)| a * b).sum::<f64>() / norm - shift;
            if s.abs() >= gap {
                rows.push(x);
                labels.push(s > 0.0);
            }
        }
        let data = dataset(&rows, &labels);
        let lifted = bracket(&data, BiasTerm::Lifted, MarginKind::Lifted);
        let plain = bracket(&data, BiasTerm::Lifted, MarginKind::Plain);
        for b in [lifted, plain] {
            assert!(b.lower <= b.upper && b.relative_gap() <= 1e-6, "{b:?}");
        }
        assert!(lifted.lower <= plain.upper);
        assert!(plain.upper >= gap * (1.0 - 1e-12), "{plain:?} {gap}");
        // A perceptron keeps to the bound at the lower end.
        let exact = ExactRows::new(&data, Notation::Decimal, &[]).expect("valid");
        let sides = TwoSides::positive_against_rest(&exact, BiasTerm::Lifted);
        let bound = bounds::from_zero(radius(&sides, 1), lifted.lower);
        let (mut w, mut updates, mut clean) = (vec![0.0; d + 1], 0.0, false);
        while !clean {
            clean = true;
            for (x, &positive) in rows.iter().zip(&labels) {
                let y = if positive { 1.0 } else { -1.0 };
                let s = w[0] + x.iter().zip(&w[1..]).map(|(a, b)| a * b).sum::<f64>();
                if y * s <= 0.0 {
                    w[0] += y;
                    w[1..].iter_mut().zip(x).for_each(|(w, x)| *w += y * x);
                    updates += 1.0;
                    clean = false;
                }
            }
        }
        assert!(updates <= bound, "{updates} {bound}");
    }
}

/// The margin of all classes at once, where they can be separated.
fn joint(data: &Dataset, bias: BiasTerm) -> Option<Bracket> {
    let rows = ExactRows::new(data, Notation::Decimal, &[]).expect("valid");
    let jointly = JointRows::new(&rows, bias);
    let decision = decide(&jointly, 1).expect("rows");
    let w = (decision.verdict() == Verdict::Separable).then(|| decision.separator())??;
    Some(joint_margin(&jointly, w, SearchBudget::default(), 1))
}

fn of_classes(rows: &[Vec<f64>], labels: Vec<u32>) -> Dataset {
    let matrix = Matrix::dense_from_rows(rows[0].len(), rows, Precision::F64);
    let classes = Classes::from_labels(["a", "b", "c"]);
    Dataset::new(matrix, labels, classes, None).expect("valid")
}

#[test]
fn the_margin_of_several_classes_is_bracketed() {
    // Three directions, 120° apart: w_c = x_c/√3, and x·x − x·x' = 3/2.
    let half = 0.5f64;
    let side = 0.75f64.sqrt();
    let rows = [vec![1.0, 0.0], vec![-half, side], vec![-half, -side]];
    let three = of_classes(&rows, vec![0, 1, 2]);
    let found = joint(&three, BiasTerm::None).expect("separable");
    assert!((found.lower - side).abs() < 1e-6 && (found.upper - side).abs() < 1e-6);
    assert!(found.lower <= found.upper && found.relative_gap() <= 1e-6);
    // Of two classes, w and −w with half of the squares each: √2 times the margin of one plane.
    let off = dataset(&[vec![5.0], vec![3.0]], &[true, false]);
    around(
        joint(&off, BiasTerm::Lifted).expect("separable"),
        (2.0f64 / 17.0).sqrt(),
    );
}

#[test]
fn no_discriminators_do_better_than_the_joint_margin() {
    let mut random = Random::new(4, Stream::Sample, 0);
    let mut seen = 0;
    for _ in 0..60 {
        let width = 2 + random.below(3) as usize;
        let rows: Vec<Vec<f64>> = (0..7)
            .map(|_| (0..width).map(|_| random.normal()).collect())
            .collect();
        let labels: Vec<u32> = (0..7).map(|i| i % 3).collect();
        let Some(found) = joint(&of_classes(&rows, labels.clone()), BiasTerm::None) else {
            continue;
        };
        seen += 1;
        assert!(
            found.lower > 0.0 && found.relative_gap() <= 1e-6,
            "{found:?}"
        );
        // Any discriminators of joint length 1 are a lower bound of what is possible.
        for _ in 0..200 {
            let planes: Vec<Vec<f64>> = (0..3)
                .map(|_| (0..width).map(|_| random.normal()).collect())
                .collect();
            let length: f64 = planes.iter().flatten().map(|w| w * w).sum::<f64>().sqrt();
            let score = |c: usize, x: &[f64]| -> f64 {
                planes[c].iter().zip(x).map(|(w, x)| w * x).sum::<f64>() / length
            };
            let least = rows
                .iter()
                .zip(&labels)
                .fold(f64::INFINITY, |least, (x, &y)| {
                    let own = score(y as usize, x);
                    (0..3)
                        .filter(|&c| c != y as usize)
                        .fold(least, |m, c| m.min(own - score(c, x)))
                });
            assert!(least <= found.upper * (1.0 + 1e-12), "{least} {found:?}");
        }
    }
    assert!(seen > 10, "{seen}");
}
