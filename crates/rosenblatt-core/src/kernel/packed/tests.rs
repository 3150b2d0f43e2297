use super::*;
use crate::data::{Matrix, Precision};
use proptest::prelude::*;

fn check(
    kernel: &Kernel,
    arithmetic: Arithmetic,
    rows: &[Vec<f64>],
    precision: Precision,
    sparse: bool,
) {
    let columns = rows[0].len();
    let dense = Matrix::dense_from_rows(columns, rows, precision);
    let matrix = if sparse {
        let mut m = Matrix::empty_sparse(columns, precision);
        rows.iter()
            .for_each(|r| m.push_sparse(r.iter().enumerate().map(|(j, &x)| (j as u32, x))));
        m
    } else {
        dense.clone()
    };
    let mut support = SupportRows::new(arithmetic);
    (0..rows.len()).for_each(|i| support.push(matrix.row(i), i as u32));
    let slots: Vec<u32> = (0..rows.len() as u32).collect();
    for start in (0..rows.len()).step_by(WIDTH) {
        let here = start..(start + WIDTH).min(rows.len());
        let lanes = PackedRows::new(arithmetic, here.clone().map(|i| matrix.row(i)));
        let mut out = vec![[0.0; WIDTH]; slots.len()];
        lanes.values(kernel, 0.5, &support, &slots, &mut out);
        for &slot in &slots {
            let mut alone = [[0.0; WIDTH]];
            lanes.values(kernel, 0.5, &support, &[slot], &mut alone);
            for i in here.clone() {
                let expected = kernel.value(dense.row(slot as usize), dense.row(i)) + 0.5;
                let found = out[slot as usize][i - start];
                assert_eq!(
                    found.to_bits(),
                    expected.to_bits(),
                    "{kernel} {arithmetic:?}: {found} {expected}"
                );
                assert_eq!(alone[0][i - start].to_bits(), expected.to_bits());
            }
        }
    }
}

fn kernels() -> Vec<Kernel> {
    [
        "linear",
        "quadratic",
        "polynomial:5,0.5,2",
        "polynomial:6",
        "geometric:3",
        "monomial:3",
        "rbf:0.1",
        "laplacian:0.2",
        "sigmoid:0.01,0.1",
    ]
    .iter()
    .map(|k| k.parse().unwrap())
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_means_gives_the_bits_of_one_pair_alone(
        columns in 1usize..40,
        n in 1usize..50,
        seed in any::<u64>(),
    ) {
        let mut random = crate::random::Random::new(seed, crate::random::Stream::Sample, 0);
        let mut rows = |f: &mut dyn FnMut(&mut crate::random::Random) -> f64| -> Vec<Vec<f64>> {
            (0..n).map(|_| (0..columns).map(|_| f(&mut random)).collect()).collect()
        };
        let pixels = rows(&mut |r| if r.below(3) == 0 { r.below(256) as f64 } else { 0.0 });
        let signed = rows(&mut |r| r.below(41) as f64 - 20.0);
        let floats = rows(&mut |r| if r.below(2) == 0 { f64::from(r.normal() as f32) } else { 0.0 });
        let doubles = rows(&mut |r| r.normal());
        for kernel in kernels() {
            if kernel.is_of_products() {
                check(&kernel, Arithmetic::Bytes { columns }, &pixels, Precision::F32, false);
                for chunk in [columns, columns.div_ceil(2)] {
                    check(&kernel, Arithmetic::Single { columns, chunk }, &pixels, Precision::F32, false);
                    check(&kernel, Arithmetic::Single { columns, chunk }, &signed, Precision::F32, true);
                }
            }
            for data in [&pixels, &signed, &floats] {
                check(&kernel, Arithmetic::Double { columns, exact: true }, data, Precision::F32, false);
                check(&kernel, Arithmetic::Sparse { columns }, data, Precision::F32, true);
            }
            check(&kernel, Arithmetic::Double { columns, exact: false }, &doubles, Precision::F64, false);
            check(&kernel, Arithmetic::Sparse { columns }, &doubles, Precision::F64, true);
        }
    }
}

#[test]
fn the_data_decide_the_means() {
    let choose = |rows: &[Vec<f64>], precision| {
        Arithmetic::choose(
            &Kernel::Linear,
            &[&Matrix::dense_from_rows(rows[0].len(), rows, precision)],
        )
    };
    let expected = if tile::multiplies_bytes() {
        Arithmetic::Bytes { columns: 2 }
    } else {
        Arithmetic::Single {
            columns: 2,
            chunk: 2,
        }
    };
    assert_eq!(choose(&[vec![0.0, 255.0]], Precision::F32), expected);
    assert_eq!(
        choose(&[vec![-1.0, 255.0]], Precision::F64),
        Arithmetic::Single {
            columns: 2,
            chunk: 2
        }
    );
    assert_eq!(
        choose(&[vec![-4000.0, 4000.0]], Precision::F64),
        Arithmetic::Single {
            columns: 2,
            chunk: 1
        }
    );
    assert_eq!(
        choose(&[vec![-5000.0, 4000.0]], Precision::F32),
        Arithmetic::Double {
            columns: 2,
            exact: true
        }
    );
    assert_eq!(
        choose(&[vec![0.5]], Precision::F64),
        Arithmetic::Double {
            columns: 1,
            exact: false
        }
    );
}
