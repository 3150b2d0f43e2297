//! Several classes at once, and kernel spaces.

use dashu_int::IBig;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::kernel::Kernel;
use rosenblatt::proof::{
    BiasTerm, ExactRows, Gram, JointRows, Notation, Sides, SignedRows, TwoSides, Verdict, decide,
    dual_counts, strict_kernel,
};

use crate::decisions::dataset;
use crate::oracle;

fn several(rows: &[Vec<i64>], labels: &[u32], k: u32) -> Dataset {
    let floats: Vec<Vec<f64>> = rows
        .iter()
        .map(|r| r.iter().map(|&x| x as f64).collect())
        .collect();
    let matrix = Matrix::dense_from_rows(rows[0].len(), &floats, Precision::F64);
    let names: Vec<String> = (0..k).map(|c| c.to_string()).collect();
    let classes = Classes::from_ordered(names);
    Dataset::new(matrix, labels.to_vec(), classes, None).expect("valid")
}

/// Kesler's rows written out in full, all k blocks.
fn written_out(rows: &[Vec<i64>], labels: &[u32], k: usize) -> Vec<Vec<i64>> {
    let width = rows[0].len() + 1;
    let mut out = Vec::new();
    for (row, &y) in rows.iter().zip(labels) {
        for j in (0..k).filter(|&j| j != y as usize) {
            let mut z = vec![0; k * width];
            for (class, sign) in [(y as usize, 1), (j, -1)] {
                z[class * width] += sign;
                for (f, &x) in row.iter().enumerate() {
                    z[class * width + 1 + f] += sign * x;
                }
            }
            out.push(z);
        }
    }
    out
}

#[test]
fn joint_questions_agree_with_the_oracle_written_out() {
    let mut random = Random::new(8, Stream::Sample, 0);
    let mut seen = [0; 3];
    for case in 0..400 {
        let (n, d, k) = (3 + random.below(5) as usize, 1 + case % 2, 3);
        let rows: Vec<Vec<i64>> = (0..n)
            .map(|_| (0..d).map(|_| random.below(6) as i64).collect())
            .collect();
        let labels: Vec<u32> = rows
            .iter()
            .map(|r| match case % 3 {
                0 => random.below(3) as u32,
                _ => (r[0] / 2).clamp(0, 2) as u32,
            })
            .collect();
        let full = written_out(&rows, &labels, k);
        let expected = oracle::verdict(&oracle::separable_rows(&full));
        let data = several(&rows, &labels, k as u32);
        let exact = ExactRows::new(&data, Notation::Decimal, &[]).expect("valid");
        let joint = JointRows::new(&exact, BiasTerm::Lifted);
        let decision = decide(&joint, 1).expect("rows");
        assert_eq!(decision.verdict(), expected, "{rows:?} {labels:?}");
        seen[expected as usize] += 1;
        if let Some(w) = decision.separator() {
            // Discriminators with the last one 0.
            let w: Vec<IBig> = w.iter().cloned().chain(vec![IBig::ZERO; d + 1]).collect();
            for z in &full {
                let score: IBig = z.iter().zip(&w).map(|(a, b)| b * *a).sum();
                assert!(score >= IBig::ZERO);
                assert!(expected != Verdict::Separable || score > IBig::ZERO);
            }
        }
        // λ on the rows written out in full.
        let mut sum = vec![IBig::ZERO; k * (d + 1)];
        for (row, weight) in &decision.refutation {
            let (i, rival) = joint.example_and_rival(*row);
            let y = labels[i];
            let place = (0..k as u32).filter(|&j| j != y).position(|j| j == rival);
            let z = &full[i * (k - 1) + place.expect("a rival")];
            sum.iter_mut().zip(z).for_each(|(s, z)| *s += weight * *z);
        }
        assert!(sum.iter().all(IBig::is_zero));
    }
    assert!(seen.iter().all(|&c| c > 5), "{seen:?}");
}

#[test]
fn pairs_and_one_against_the_rest() {
    // Three collinear clusters: each pair separates, the middle one not from the rest.
    let rows: Vec<Vec<i64>> = (0..9).map(|i| vec![i]).collect();
    let labels: Vec<u32> = (0..9).map(|i| i / 3).collect();
    let data = several(&rows, &labels, 3);
    let exact = ExactRows::new(&data, Notation::Decimal, &[]).expect("valid");
    let verdict = |sides| {
        decide(&TwoSides::new(&exact, BiasTerm::Lifted, sides), 1)
            .expect("rows")
            .verdict()
    };
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        assert_eq!(verdict(Sides::Pair(a, b)), Verdict::Separable);
    }
    assert_eq!(verdict(Sides::AgainstRest(0)), Verdict::Separable);
    assert_eq!(verdict(Sides::AgainstRest(1)), Verdict::Overlapping);
    // Jointly they do separate: discriminators of slope 0, 1, 2.
    let joint = JointRows::new(&exact, BiasTerm::Lifted);
    assert_eq!(
        decide(&joint, 1).expect("rows").verdict(),
        Verdict::Separable
    );
}

fn xor() -> Dataset {
    let rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]].map(|r| r.to_vec());
    dataset(&rows, &[false, true, true, false])
}

fn in_kernel(data: &Dataset, kernel: Kernel, lifted: bool) -> Verdict {
    let exact = ExactRows::new(data, Notation::Decimal, &[]).expect("valid");
    let sides = TwoSides::positive_against_rest(&exact, BiasTerm::None);
    let gram = Gram::new(&sides, &kernel, lifted).expect("small");
    let decision = decide(&gram, 1).expect("rows");
    let mut z = vec![vec![IBig::ZERO; gram.len()]; gram.len()];
    for (i, row) in z.iter_mut().enumerate() {
        gram.each_exact(i, &mut |j, value| {
            row[j] = value.mantissa * IBig::from(10).pow(value.exponent as usize)
        });
    }
    oracle::check(&z, &decision);
    let best = dual_counts(&gram);
    assert_eq!(best.is_some(), decision.verdict() == Verdict::Separable);
    if let Some(best) = best {
        assert!(
            (best.total - best.at_least).abs() <= 1e-9 * best.total,
            "{best:?}"
        );
        assert!(best.counts.iter().all(|&a| a >= 0.0));
    }
    decision.verdict()
}

#[test]
fn xor_in_kernel_space() {
    let data = xor();
    let quadratic = |constant| Kernel::Polynomial {
        degree: 2,
        scale: 1.0,
        constant,
    };
    assert_eq!(in_kernel(&data, quadratic(1.0), false), Verdict::Separable);
    assert_ne!(in_kernel(&data, quadratic(0.0), false), Verdict::Separable);
    assert_ne!(in_kernel(&data, Kernel::Linear, true), Verdict::Separable);
    assert_eq!(
        in_kernel(&data, Kernel::Geometric { degree: 2 }, false),
        Verdict::Separable
    );
    assert_eq!(
        in_kernel(&data, Kernel::Monomial { degree: 2 }, false),
        Verdict::Separable
    );
    let exact = ExactRows::new(&data, Notation::Decimal, &[]).expect("valid");
    let sides = TwoSides::positive_against_rest(&exact, BiasTerm::None);
    assert_eq!(strict_kernel(&sides).verdict, Verdict::Separable);
}

#[test]
fn true_or_false() {
    // Every set without conflicting labels is separable under some kernel; not every set.
    let conflict = dataset(&[vec![0.1], vec![0.2], vec![0.1]], &[true, false, false]);
    let exact = ExactRows::new(&conflict, Notation::Decimal, &[]).expect("valid");
    let sides = TwoSides::positive_against_rest(&exact, BiasTerm::None);
    let strict = strict_kernel(&sides);
    assert_eq!(strict.verdict, Verdict::QuasiSeparable);
    assert_eq!(strict.conflicts, [(0, 2)]);
    // Not every valid kernel separates some two-class set: K = 0 is valid.
    let zero = Gram::precomputed(&[0.0; 4], vec![1.0, -1.0], Notation::Decimal).expect("square");
    assert_eq!(
        decide(&zero, 1).expect("rows").verdict(),
        Verdict::Overlapping
    );
    assert!(Gram::precomputed(&[0.0; 3], vec![1.0, -1.0], Notation::Decimal).is_err());
}

#[test]
fn linear_kernels_agree_with_the_primal_question() {
    let mut random = Random::new(9, Stream::Sample, 0);
    for case in 0..200 {
        let (n, d) = (2 + random.below(7) as usize, 1 + case % 3);
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|_| (0..d).map(|_| random.below(5) as f64 - 2.0).collect())
            .collect();
        let positive: Vec<bool> = (0..n).map(|_| random.below(2) == 1).collect();
        let data = dataset(&rows, &positive);
        let exact = ExactRows::new(&data, Notation::Decimal, &[]).expect("valid");
        for (bias, lifted) in [(BiasTerm::None, false), (BiasTerm::Lifted, true)] {
            let primal = decide(&TwoSides::positive_against_rest(&exact, bias), 1).expect("rows");
            assert_eq!(in_kernel(&data, Kernel::Linear, lifted), primal.verdict());
        }
    }
}
