//! Separable, quasi-separable, overlapping: decided right and proved, on sets small enough
//! for the oracle and on the awkward ones.

use dashu_int::IBig;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::progress::Stop;
use rosenblatt::proof::{
    BiasTerm, Decision, Doing, ExactRows, ExactText, Limits, Notation, ProvedVerdict, SignedRows,
    TwoSides, Verdict, Witness, decide,
};

use crate::oracle;

/// A data set of dense rows labelled ±1.
pub(crate) fn dataset(rows: &[Vec<f64>], positive: &[bool]) -> Dataset {
    let matrix = Matrix::dense_from_rows(rows.first().map_or(0, Vec::len), rows, Precision::F64);
    let labels = positive.iter().map(|&p| u32::from(p)).collect();
    Dataset::new(matrix, labels, Classes::from_labels(["-1", "1"]), None).expect("valid data")
}

/// The same, stored sparsely.
fn sparse(rows: &[Vec<f64>], positive: &[bool]) -> Dataset {
    let mut matrix = Matrix::empty_sparse(rows.first().map_or(0, Vec::len), Precision::F64);
    for row in rows {
        let entries = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
        matrix.push_sparse(entries.map(|(j, &x)| (j as u32, x)));
    }
    let labels = positive.iter().map(|&p| u32::from(p)).collect();
    Dataset::new(matrix, labels, Classes::from_labels(["-1", "1"]), None).expect("valid data")
}

fn decided(data: &Dataset, notation: Notation, bias: BiasTerm) -> ProvedVerdict {
    let rows = ExactRows::new(data, notation, &[]).expect("no exceptions");
    decide(&TwoSides::positive_against_rest(&rows, bias), 1).expect("there are rows")
}

/// z_i as whole numbers.
pub(crate) fn signed(rows: &[Vec<i64>], positive: &[bool], bias: BiasTerm) -> Vec<Vec<i64>> {
    rows.iter()
        .zip(positive)
        .map(|(row, &p)| {
            let sign = if p { 1 } else { -1 };
            let lift = (bias == BiasTerm::Lifted).then_some(sign);
            lift.into_iter()
                .chain(row.iter().map(|x| sign * x))
                .collect()
        })
        .collect()
}

pub(crate) fn big(rows: &[Vec<i64>]) -> Vec<Vec<IBig>> {
    rows.iter()
        .map(|r| r.iter().map(|&x| IBig::from(x)).collect())
        .collect()
}

fn floats(rows: &[Vec<i64>]) -> Vec<Vec<f64>> {
    let float = |row: &Vec<i64>| row.iter().map(|&x| x as f64).collect();
    rows.iter().map(float).collect()
}

/// Decides a set of whole numbers, checks the witness, holds the verdict against the oracle.
fn verify(rows: &[Vec<i64>], positive: &[bool], bias: BiasTerm) -> Verdict {
    let z = signed(rows, positive, bias);
    // The witness proves its verdict by itself; the oracle is too slow for many rows.
    let expected = (rows.len() <= 24).then(|| oracle::separable_rows(&z));
    let floats = floats(rows);
    let data = dataset(&floats, positive);
    let decision = decided(&data, Notation::Decimal, bias);
    oracle::check(&big(&z), &decision);
    if let Some(expected) = expected {
        let verdict = oracle::verdict(&expected);
        assert_eq!(
            decision.verdict(),
            verdict,
            "{rows:?} {positive:?} {bias:?}"
        );
        if let Witness::QuasiSeparable { separated, .. } = &decision.witness {
            let all: Vec<usize> = (0..rows.len()).filter(|&i| expected[i]).collect();
            assert_eq!(separated, &all);
        }
    }
    decision.verdict()
}

#[test]
fn thousands_of_random_grids_agree_with_the_oracle() {
    let mut random = Random::new(2024, Stream::Sample, 0);
    let mut counts = [0usize; 3];
    for case in 0..6000 {
        let d = 1 + case % 5;
        let n = 1 + random.below(11) as usize;
        let span = 1 + random.below(4);
        let rows: Vec<Vec<i64>> = (0..n)
            .map(|_| {
                (0..d)
                    .map(|_| random.below(2 * span + 1) as i64 - span as i64)
                    .collect()
            })
            .collect();
        let positive: Vec<bool> = match case % 3 {
            0 => (0..n).map(|_| random.below(2) == 1).collect(),
            _ => {
                // By a plane with whole coefficients, points on it either way: margin 0.
                let w: Vec<i64> = (0..d).map(|_| random.below(5) as i64 - 2).collect();
                let b = random.below(3) as i64 - 1;
                rows.iter()
                    .map(|r| {
                        let s: i64 = b + r.iter().zip(&w).map(|(x, w)| x * w).sum::<i64>();
                        s > 0 || (s == 0 && random.below(2) == 1)
                    })
                    .collect()
            }
        };
        let bias = if case % 2 == 0 {
            BiasTerm::Lifted
        } else {
            BiasTerm::None
        };
        counts[verify(&rows, &positive, bias) as usize] += 1;
    }
    assert!(counts.iter().all(|&c| c > 500), "{counts:?}");
}

#[test]
fn duplicates_collinear_rows_and_constant_columns_agree_with_the_oracle() {
    let mut random = Random::new(77, Stream::Sample, 0);
    for case in 0..1500 {
        let d = 2 + case % 4;
        let generators: Vec<Vec<i64>> = (0..1 + random.below(3))
            .map(|_| (0..d).map(|_| random.below(5) as i64 - 2).collect())
            .collect();
        let n = 2 + random.below(12) as usize;
        let rows: Vec<Vec<i64>> = (0..n)
            .map(|_| {
                let mut row = vec![0; d];
                for g in &generators {
                    let c = random.below(5) as i64 - 2;
                    row.iter_mut().zip(g).for_each(|(x, g)| *x += c * g);
                }
                row[d - 1] = 3;
                row
            })
            .collect();
        let positive: Vec<bool> = rows
            .iter()
            .map(|r| {
                if case % 2 == 0 {
                    r[0] > 0 || (r[0] == 0 && r[1] > 0)
                } else {
                    random.below(2) == 1
                }
            })
            .collect();
        for bias in [BiasTerm::Lifted, BiasTerm::None] {
            verify(&rows, &positive, bias);
        }
    }
}

#[test]
fn columns_that_stand_twice_but_for_one_row_are_told_from_equal_ones() {
    let mut random = Random::new(79, Stream::Sample, 0);
    let mut ranks = Vec::new();
    for differs in [None, Some(0), Some(301), Some(599)] {
        let mut rows: Vec<Vec<i64>> = (0..600)
            .map(|_| {
                let half: Vec<i64> = (0..3).map(|_| random.below(9000) as i64 - 4500).collect();
                [&half[..], &half[..]].concat()
            })
            .collect();
        if let Some(row) = differs {
            rows[row][4] += 1;
        }
        let positive: Vec<bool> = rows.iter().map(|_| random.below(2) == 1).collect();
        // Thousandths, whose products floating point rounds.
        let thousandths = |row: &Vec<i64>| row.iter().map(|&x| x as f64 / 1000.0).collect();
        let floats: Vec<Vec<f64>> = rows.iter().map(thousandths).collect();
        let z = big(&signed(&rows, &positive, BiasTerm::None));
        for data in [dataset(&floats, &positive), sparse(&floats, &positive)] {
            let decision = decided(&data, Notation::Decimal, BiasTerm::None);
            oracle::check(&z, &decision);
            assert_eq!(
                decision.verdict() == Verdict::Overlapping,
                differs.is_none()
            );
            ranks.push(decision.balanced_rank);
        }
    }
    // One row with a part of its own can always be separated.
    assert_eq!(ranks, [Some(3); 8]);
}

#[test]
fn storage_reading_and_scale_change_nothing() {
    let mut random = Random::new(78, Stream::Sample, 0);
    for _ in 0..400 {
        let (n, d) = (3 + random.below(10) as usize, 1 + random.below(4) as usize);
        let rows: Vec<Vec<i64>> = (0..n)
            .map(|_| (0..d).map(|_| random.below(7) as i64 - 3).collect())
            .collect();
        let positive: Vec<bool> = (0..n).map(|_| random.below(2) == 1).collect();
        let verdict = verify(&rows, &positive, BiasTerm::None);
        // Columns and rows times powers of two and ten, up to the ends of the range.
        let column: Vec<i32> = (0..d).map(|_| random.below(560) as i32 - 280).collect();
        let scaled: Vec<Vec<f64>> = rows
            .iter()
            .map(|r| {
                let row = random.below(20) as i32 - 10;
                r.iter()
                    .zip(&column)
                    .map(|(&x, &c)| format!("{x}e{}", c + row).parse().expect("a number"))
                    .collect()
            })
            .collect();
        let data = dataset(&scaled, &positive);
        assert_eq!(
            decided(&data, Notation::Decimal, BiasTerm::None).verdict(),
            verdict
        );
        let data = sparse(&scaled, &positive);
        assert_eq!(
            decided(&data, Notation::Decimal, BiasTerm::None).verdict(),
            verdict
        );
        let halved: Vec<Vec<f64>> = rows
            .iter()
            .map(|r| {
                r.iter()
                    .zip(&column)
                    .map(|(&x, &c)| x as f64 * 2f64.powi(3 * c))
                    .collect()
            })
            .collect();
        let data = dataset(&halved, &positive);
        assert_eq!(
            decided(&data, Notation::Binary, BiasTerm::None).verdict(),
            verdict
        );
    }
}

#[test]
fn larger_random_sets_carry_valid_witnesses() {
    let mut random = Random::new(79, Stream::Sample, 0);
    for case in 0..60 {
        let (n, d) = (
            40 + random.below(200) as usize,
            3 + random.below(25) as usize,
        );
        let w: Vec<i64> = (0..d).map(|_| random.below(21) as i64 - 10).collect();
        let rows: Vec<Vec<i64>> = (0..n)
            .map(|_| (0..d).map(|_| random.below(41) as i64 - 20).collect())
            .collect();
        let positive: Vec<bool> = rows
            .iter()
            .map(|r| {
                let s: i64 = r.iter().zip(&w).map(|(x, w)| x * w).sum();
                (s > 0) ^ (case % 2 == 0 && random.below(20) == 0)
            })
            .collect();
        let floats = floats(&rows);
        let data = dataset(&floats, &positive);
        for bias in [BiasTerm::Lifted, BiasTerm::None] {
            let decision = decided(&data, Notation::Decimal, bias);
            oracle::check(&big(&signed(&rows, &positive, bias)), &decision);
        }
    }
}

#[test]
fn tenths_are_tenths() {
    // Collinear as decimals, bent by binary64: the middle point is the other class.
    let rows = vec![vec![0.1, 0.3], vec![0.2, 0.6], vec![0.3, 0.9]];
    let positive = [true, false, true];
    let data = dataset(&rows, &positive);
    let decision = decided(&data, Notation::Decimal, BiasTerm::Lifted);
    assert_ne!(decision.verdict(), Verdict::Separable);
    let lambda: Vec<(usize, i64)> = decision
        .refutation
        .iter()
        .map(|(i, l)| (*i, i64::try_from(l).expect("small")))
        .collect();
    assert_eq!(lambda, [(0, 1), (1, 2), (2, 1)]);
    // As binary numbers they bend: 0.3 is not three times 0.1 there.
    assert_eq!(
        decided(&data, Notation::Binary, BiasTerm::Lifted).verdict(),
        Verdict::Separable
    );
}

#[test]
fn texts_longer_than_a_float_decide() {
    // Both rows are 0.1 as f64; the second text says a little less.
    let data = dataset(&[vec![0.1], vec![0.1]], &[true, false]);
    assert_eq!(
        decided(&data, Notation::Decimal, BiasTerm::Lifted).verdict(),
        Verdict::Overlapping
    );
    let exceptions = [ExactText {
        row: 1,
        feature: 0,
        text: "0.09999999999999999999999".into(),
    }];
    let rows = ExactRows::new(&data, Notation::Decimal, &exceptions).expect("valid");
    let decision =
        decide(&TwoSides::positive_against_rest(&rows, BiasTerm::Lifted), 1).expect("rows");
    assert_eq!(decision.verdict(), Verdict::Separable);
    let bad = [ExactText {
        row: 5,
        feature: 0,
        text: "1".into(),
    }];
    assert!(ExactRows::new(&data, Notation::Decimal, &bad).is_err());
    let bad = [ExactText {
        row: 1,
        feature: 0,
        text: "one".into(),
    }];
    assert!(ExactRows::new(&data, Notation::Decimal, &bad).is_err());
}

#[test]
fn margins_far_below_rounding_are_still_decided() {
    // (1, 1 + t) and (1, 1) on opposite sides, t down to the last place.
    for t in [1e-3, 1e-8, 1e-12, 1e-14] {
        let rows = vec![
            vec![1.0, 1.0 + t],
            vec![1.0, 1.0],
            vec![3.0, 3.0],
            vec![3.0, 3.0 + 3.0 * t],
        ];
        let data = dataset(&rows, &[true, false, false, true]);
        assert_eq!(
            decided(&data, Notation::Decimal, BiasTerm::Lifted).verdict(),
            Verdict::Separable,
            "{t}"
        );
        // A point between the first two, off the line by less than any float shows.
        let mut rows = rows;
        rows.push(vec![2.0, 2.0]);
        let data = dataset(&rows, &[true, false, false, true, true]);
        assert_ne!(
            decided(&data, Notation::Decimal, BiasTerm::Lifted).verdict(),
            Verdict::Separable,
            "{t}"
        );
    }
}

#[test]
fn one_class_zero_rows_and_empty_rows() {
    let one = dataset(&[vec![1.0, 2.0], vec![-3.0, 0.5]], &[true, true]);
    assert_eq!(
        decided(&one, Notation::Decimal, BiasTerm::Lifted).verdict(),
        Verdict::Separable
    );
    // A zero row without bias can never be strictly on a side.
    let zero = dataset(&[vec![0.0, 0.0], vec![1.0, 0.0]], &[true, true]);
    assert_eq!(
        decided(&zero, Notation::Decimal, BiasTerm::None).verdict(),
        Verdict::QuasiSeparable
    );
    assert_eq!(
        decided(&zero, Notation::Decimal, BiasTerm::Lifted).verdict(),
        Verdict::Separable
    );
    let zeros = dataset(&[vec![0.0, 0.0], vec![0.0, 0.0]], &[true, false]);
    let decision = decided(&zeros, Notation::Decimal, BiasTerm::None);
    assert_eq!(decision.verdict(), Verdict::Overlapping);
    assert_eq!(decision.balanced_rank, Some(0));
    assert_eq!(
        decided(&zeros, Notation::Decimal, BiasTerm::Lifted).verdict(),
        Verdict::Overlapping
    );
    let empty = dataset(&[], &[]);
    let rows = ExactRows::new(&empty, Notation::Decimal, &[]).expect("valid");
    assert!(decide(&TwoSides::positive_against_rest(&rows, BiasTerm::Lifted), 1).is_err());
    let bare = dataset(&[vec![], vec![]], &[true, false]);
    assert_eq!(
        decided(&bare, Notation::Decimal, BiasTerm::Lifted).verdict(),
        Verdict::Overlapping
    );
    let rows = ExactRows::new(&bare, Notation::Decimal, &[]).expect("valid");
    assert!(decide(&TwoSides::positive_against_rest(&rows, BiasTerm::None), 1).is_err());
}

#[test]
fn the_worked_examples() {
    // Two critics.
    let rows = [[1, 1], [3, 2], [2, 4], [3, 4], [2, 3]].map(|r| r.to_vec());
    let labels = [false, true, true, true, false];
    assert_eq!(verify(&rows, &labels, BiasTerm::Lifted), Verdict::Separable);
    // Eight points: overlapping with and without bias, separable under (x1², x2², 1).
    let points = [
        [1, 1],
        [0, 3],
        [1, -1],
        [3, 0],
        [-1, 1],
        [0, -3],
        [-1, -1],
        [-3, 0],
    ];
    let labels: Vec<bool> = (0..8).map(|i| i % 2 == 0).collect();
    let rows: Vec<Vec<i64>> = points.iter().map(|p| p.to_vec()).collect();
    for bias in [BiasTerm::Lifted, BiasTerm::None] {
        assert_eq!(verify(&rows, &labels, bias), Verdict::Overlapping);
    }
    let squares: Vec<Vec<i64>> = points
        .iter()
        .map(|p| vec![p[0] * p[0], p[1] * p[1], 1])
        .collect();
    assert_eq!(
        verify(&squares, &labels, BiasTerm::None),
        Verdict::Separable
    );
    // XOR, and with the product as a third feature.
    let xor = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|r| r.to_vec());
    let labels = [false, true, true, false];
    assert_eq!(
        verify(&xor, &labels, BiasTerm::Lifted),
        Verdict::Overlapping
    );
    let product: Vec<Vec<i64>> = xor.iter().map(|r| vec![r[0], r[1], r[0] * r[1]]).collect();
    assert_eq!(
        verify(&product, &labels, BiasTerm::Lifted),
        Verdict::Separable
    );
    // A disc against its outside under (x1, x2, x1² + x2²).
    let disc: Vec<Vec<i64>> = (-5..=5)
        .flat_map(|a| (-5..=5).map(move |b| vec![a, b]))
        .collect();
    let labels: Vec<bool> = disc
        .iter()
        .map(|p| p[0] * p[0] + p[1] * p[1] <= 9)
        .collect();
    assert_eq!(
        verify(&disc, &labels, BiasTerm::Lifted),
        Verdict::Overlapping
    );
    let circle: Vec<Vec<i64>> = disc
        .iter()
        .map(|p| vec![p[0], p[1], p[0] * p[0] + p[1] * p[1]])
        .collect();
    assert_eq!(
        verify(&circle, &labels, BiasTerm::Lifted),
        Verdict::Separable
    );
}

#[test]
fn two_scores_on_a_grid() {
    let grid = |low: i64, high: i64| -> Vec<Vec<i64>> {
        (low..=high)
            .flat_map(|a| (low..=high).map(move |b| vec![a, b]))
            .collect()
    };
    let large = grid(0, 10);
    let labels: Vec<bool> = large.iter().map(|p| p[0] + p[1] > 8).collect();
    assert_eq!(
        verify(&large, &labels, BiasTerm::Lifted),
        Verdict::Separable
    );
    let small = grid(1, 4);
    let middle: Vec<bool> = small
        .iter()
        .map(|p| p.iter().all(|x| [2, 3].contains(x)))
        .collect();
    assert_eq!(
        verify(&small, &middle, BiasTerm::Lifted),
        Verdict::Overlapping
    );
    let equal: Vec<bool> = small.iter().map(|p| p[0] == p[1]).collect();
    assert_eq!(
        verify(&small, &equal, BiasTerm::Lifted),
        Verdict::Overlapping
    );
}

#[test]
fn a_separator_is_short_where_a_short_one_will_do() {
    let and = dataset(
        &[
            vec![0.0, 0.0],
            vec![0.0, 1.0],
            vec![1.0, 0.0],
            vec![1.0, 1.0],
        ],
        &[false, false, false, true],
    );
    let decision = decided(&and, Notation::Decimal, BiasTerm::Lifted);
    let w = decision.separator().expect("separable");
    assert!(
        w.iter().all(|x| x.clone() * x.clone() <= IBig::from(16)),
        "{w:?}"
    );
}

#[test]
fn threads_do_not_change_the_verdict() {
    let mut random = Random::new(80, Stream::Sample, 0);
    let rows: Vec<Vec<f64>> = (0..30_000)
        .map(|_| (0..10).map(|_| random.normal()).collect())
        .collect();
    let mut positive: Vec<bool> = rows.iter().map(|r| r[0] + 0.3 * r[1] > 0.1).collect();
    let data = dataset(&rows, &positive);
    let exact = ExactRows::new(&data, Notation::Binary, &[]).expect("valid");
    let sides = TwoSides::positive_against_rest(&exact, BiasTerm::Lifted);
    assert_eq!(sides.dimension(), 11);
    for threads in [1, 3] {
        assert_eq!(
            decide(&sides, threads).expect("rows").verdict(),
            Verdict::Separable
        );
    }
    let last = positive.len() - 1;
    positive[last] = rows[last][0] + 0.3 * rows[last][1] <= 0.1;
    let data = dataset(&rows, &positive);
    let exact = ExactRows::new(&data, Notation::Binary, &[]).expect("valid");
    let sides = TwoSides::positive_against_rest(&exact, BiasTerm::Lifted);
    let one = decide(&sides, 1).expect("rows").verdict();
    assert_eq!(one, decide(&sides, 3).expect("rows").verdict());
    assert_ne!(one, Verdict::Separable);
}

#[test]
fn a_decision_that_is_stopped_says_what_it_knows() {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;
    // Quasi-separable in two rounds: the first refutes, the second separates what is left.
    let rows: Vec<Vec<f64>> = [
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 0.0],
        [2.0, 0.0],
        [1.0, 5.0],
        [1.0, -4.0],
    ]
    .map(Vec::from)
    .to_vec();
    let data = dataset(&rows, &[false, false, true, true, true, false]);
    let exact = ExactRows::new(&data, Notation::Decimal, &[]).expect("no exceptions");
    let rows = TwoSides::positive_against_rest(&exact, BiasTerm::Lifted);
    let late = Limits {
        deadline: Some(Instant::now()),
        ..Limits::default()
    };
    let known = Decision::new(&rows, 1, &late)
        .expect("rows")
        .expect_err("no time");
    assert_eq!(known.stop, Stop::TimeLimit);
    assert!(known.refutation.is_empty() && known.fewest_misclassified.is_none());
    let interrupt = AtomicBool::new(false);
    let listener = |doing: &Doing| {
        if doing.refuted {
            interrupt.store(true, Ordering::Relaxed);
        }
    };
    let limits = Limits {
        interrupt: Some(&interrupt),
        listener: Some(&listener),
        ..Limits::default()
    };
    let known = Decision::new(&rows, 1, &limits)
        .expect("rows")
        .expect_err("interrupted");
    assert_eq!(known.stop, Stop::Interrupted);
    let mut sum = vec![IBig::ZERO; 3];
    for (row, weight) in &known.refutation {
        assert!(weight > &IBig::ZERO);
        rows.each(*row, &mut |j, z| sum[j] += weight * IBig::from(z as i64));
    }
    assert!(!known.refutation.is_empty() && sum.iter().all(IBig::is_zero));
    assert!(
        known
            .fewest_misclassified
            .is_some_and(|rows| (1..=6).contains(&rows))
    );
    interrupt.store(false, Ordering::Relaxed);
    let quiet = Limits::default();
    let decision = Decision::new(&rows, 1, &quiet)
        .expect("rows")
        .expect("no limit");
    assert_eq!(decision.proved.verdict(), Verdict::QuasiSeparable);
    assert_eq!(decision.coefficients().map(|c| c.rank), Ok(3));
}

/// Few columns of small whole numbers among many that are empty: what signs and equal rows
/// settle first in sparse rows changes no verdict.
#[test]
fn sparse_rows_in_many_dimensions_agree_with_the_oracle() {
    let mut random = Random::new(39, Stream::Sample, 0);
    let mut counts = [0usize; 3];
    for case in 0..240 {
        let wide = if case % 8 == 0 { 1100 } else { 300 };
        let d = 2 + case % 9;
        let mut n = 2 + random.below(9) as usize;
        let density = 2 + random.below(4);
        let mut rows: Vec<Vec<i64>> = (0..n)
            .map(|_| {
                let entry = |random: &mut Random| match random.below(density) {
                    0 => 1 + random.below(3) as i64,
                    1 if case % 2 == 0 => -1 - random.below(2) as i64,
                    _ => 0,
                };
                (0..d).map(|_| entry(&mut random)).collect()
            })
            .collect();
        let mut positive: Vec<bool> = (0..n).map(|_| random.below(2) == 1).collect();
        for _ in 0..random.below(4) {
            let copied = random.below(n as u64) as usize;
            rows.push(rows[copied].clone());
            positive.push(positive[copied] ^ (random.below(2) == 1));
            n += 1;
        }
        let bias = [BiasTerm::Lifted, BiasTerm::None][case % 2];
        let expected = oracle::separable_rows(&signed(&rows, &positive, bias));
        let places: Vec<usize> = (0..d).map(|j| (j * 97 + case) % wide).collect();
        let spread: Vec<Vec<i64>> = rows
            .iter()
            .map(|row| {
                let mut full = vec![0; wide];
                places.iter().zip(row).for_each(|(&j, &x)| full[j] = x);
                full
            })
            .collect();
        let floats = floats(&spread);
        let decision = decided(&sparse(&floats, &positive), Notation::Decimal, bias);
        oracle::check(&big(&signed(&spread, &positive, bias)), &decision);
        let verdict = decision.verdict();
        assert_eq!(verdict, oracle::verdict(&expected), "{rows:?} {positive:?}");
        if let Witness::QuasiSeparable { separated, .. } = &decision.witness {
            let all: Vec<usize> = (0..n).filter(|&i| expected[i]).collect();
            assert_eq!(separated, &all);
        }
        counts[verdict as usize] += 1;
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

#[test]
fn rare_and_collinear_levels_of_categories_are_decided() {
    let mut random = Random::new(41, Stream::Sample, 0);
    let mut quasi = 0;
    for case in 0..12u64 {
        // The last column is a coarser version of the one before; small levels are common.
        let sizes = [2, 3 + case, 12, 30, 5];
        let mut rows = Vec::new();
        let mut positive = Vec::new();
        for _ in 0..80 + 40 * case {
            let mut row = Vec::new();
            let mut level = 0;
            for (column, &size) in sizes.iter().enumerate() {
                level = match column {
                    4 => level / 6,
                    _ => random.below(size).min(random.below(size)),
                };
                row.extend((0..size).map(|l| i64::from(l == level)));
            }
            rows.push(row);
            positive.push(random.below(3) == 0);
        }
        let verdict = verify(&rows, &positive, BiasTerm::Lifted);
        quasi += u32::from(verdict == Verdict::QuasiSeparable);
    }
    assert!(quasi > 3, "{quasi}");
}

/// Sparse rows of many features that a plane separates, but for rows that come again under the
/// other label and for midpoints of a class under the other: each relation is found among the few
/// rows whose weights grow, and all other rows are separated.
#[test]
fn few_contradictions_among_many_sparse_rows_are_found() {
    let (d, n, contradictions) = (1100, 1500, 5);
    let mut random = Random::new(43, Stream::Sample, 0);
    let mut below = |most: usize| random.below(most as u64) as usize;
    let normal: Vec<i64> = (0..d).map(|_| below(7) as i64 - 3).collect();
    let (mut rows, mut positive): (Vec<Vec<i64>>, Vec<bool>) = (Vec::new(), Vec::new());
    while rows.len() < n {
        let mut row = vec![0; d];
        (0..15).for_each(|_| row[below(d)] = 2 * (1 + below(9) as i64));
        let score: i64 = row.iter().zip(&normal).map(|(x, w)| x * w).sum();
        if score != 0 {
            rows.push(row);
            positive.push(score > 0);
        }
    }
    for k in 0..contradictions {
        rows.push(rows[k].clone());
        positive.push(!positive[k]);
    }
    let mut balanced: Vec<usize> = (0..contradictions).chain(n..n + contradictions).collect();
    let mut of_class = (contradictions..n).filter(|&i| positive[i]);
    for _ in 0..contradictions {
        let (a, b) = (of_class.next().unwrap(), of_class.next().unwrap());
        balanced.extend([a, b, rows.len()]);
        let middle = rows[a].iter().zip(&rows[b]).map(|(x, y)| (x + y) / 2);
        rows.push(middle.collect());
    }
    positive.resize(rows.len(), false);
    balanced.sort_unstable();

    let floats = floats(&rows);
    let data = sparse(&floats, &positive);
    let decision = decided(&data, Notation::Decimal, BiasTerm::Lifted);
    assert_eq!(decision.balanced_rank, Some(3 * contradictions));
    let z = big(&signed(&rows, &positive, BiasTerm::Lifted));
    let Witness::QuasiSeparable { w, lambda, .. } = &decision.witness else {
        panic!("{}", decision.verdict().name());
    };
    oracle::check_lambda(&z, lambda);
    assert!(
        lambda
            .iter()
            .map(|(row, _)| *row)
            .eq(balanced.iter().copied())
    );
    for (i, z) in z.iter().enumerate() {
        let score = oracle::dot(z, w);
        assert_eq!(score.is_zero(), balanced.binary_search(&i).is_ok(), "{i}");
        assert!(score >= IBig::ZERO);
    }
}

#[test]
fn rows_that_are_all_opposite_balance_whatever_they_span() {
    let mut random = Random::new(44, Stream::Sample, 0);
    let mut rows = Vec::new();
    for _ in 0..20 {
        let mut row = vec![0; 1100];
        (0..4).for_each(|_| row[random.below(1100) as usize] = 1 + random.below(5) as i64);
        rows.extend([row.clone(), row]);
    }
    let positive: Vec<bool> = (0..40).map(|i| i % 2 == 0).collect();
    let floats = floats(&rows);
    let data = sparse(&floats, &positive);
    let decision = decided(&data, Notation::Decimal, BiasTerm::Lifted);
    assert_eq!(decision.balanced_rank, None);
    assert_eq!(decision.verdict(), Verdict::Overlapping);
    oracle::check(&big(&signed(&rows, &positive, BiasTerm::Lifted)), &decision);
    // What they span is found where it is asked for.
    let exact = ExactRows::new(&data, Notation::Decimal, &[]).expect("exact rows");
    let sides = TwoSides::positive_against_rest(&exact, BiasTerm::Lifted);
    let coefficients = rosenblatt::proof::coefficients(&sides, 1).expect("coefficients");
    assert_eq!(coefficients.rank, 20);
}
