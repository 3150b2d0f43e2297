//! Planes in the space of a kernel.

use super::*;

#[test]
fn a_linear_kernel_finds_the_linear_plane() {
    let toy = noisy(11, 120, 4);
    let data = toy.dataset();
    for bias in BIASES {
        for c in [Some(0.2), Some(2.0)] {
            let linear = with_tolerance(options(c, bias), 1e-9);
            let kernel = with_tolerance(over("linear", c, bias), 1e-9);
            let (linear, kernel) = (trained(&data, &linear), trained(&data, &kernel));
            let (a, b) = (
                support(&linear.model).optima[0],
                support(&kernel.model).optima[0],
            );
            assert!(close(a.primal, b.primal, 0.0, 1e-8), "{bias}: {a:?} {b:?}");
            assert!(close(a.margin, b.margin, 0.0, 1e-4), "{bias}: {a:?} {b:?}");
            let of = |m: &Model| m.scores(&data.matrix, 1).unwrap();
            for (s, t) in of(&linear.model).iter().zip(of(&kernel.model)) {
                assert!(close(*s, t, 1.0, 1e-3), "{bias}: {s} {t}");
            }
        }
    }
}

#[test]
fn a_precomputed_kernel_is_the_kernel() {
    let toy = noisy(12, 60, 3);
    let kernel: Kernel = "rbf:0.4".parse().unwrap();
    let data = toy.dataset();
    let gram = (0..60)
        .map(|i| {
            (0..60)
                .map(|j| kernel.value(data.row(i), data.row(j)))
                .collect()
        })
        .collect();
    let given = Toy {
        rows: gram,
        ..toy.clone()
    };
    for scattered in [false, true] {
        let stored = given.stored(Storage { scattered, ..PLAIN });
        let a = trained(
            &stored,
            &over("precomputed", Some(1.0), Bias::Unlifted(None)),
        );
        let b = trained(&data, &over("rbf:0.4", Some(1.0), Bias::Unlifted(None)));
        assert_eq!(support(&a.model).rows, support(&b.model).rows);
        let (a, b) = (support(&a.model).optima[0], support(&b.model).optima[0]);
        assert!(close(a.primal, b.primal, 0.0, 1e-6));
    }
}

/// Gram matrices of a low rank and with large entries, on which steps of one or two α at a time
/// get nowhere: the plane is that of the same monomials written out.
#[test]
fn polynomials_of_whole_numbers_find_their_plane() {
    let root = 3f64.sqrt();
    for seed in 0..40 {
        let mut random = random(seed);
        let n = 8 + random.below(30) as usize;
        let numbers: Vec<f64> = (0..n).map(|_| random.below(9) as f64 - 4.0).collect();
        let toy = Toy {
            rows: numbers.iter().map(|&x| vec![x]).collect(),
            labels: (0..n as u64)
                .map(|i| if i < 2 { i } else { random.below(2) } as u32)
                .collect(),
            classes: 2,
            weights: None,
        };
        let written = Toy {
            rows: (numbers.iter())
                .map(|&x| vec![1.0, root * x, root * x * x, x * x * x])
                .collect(),
            ..toy.clone()
        };
        for bias in BIASES {
            for c in [1.0, 100.0] {
                let kernel = trained(&toy.dataset(), &over("polynomial:3", Some(c), bias));
                let linear = trained(&written.dataset(), &options(Some(c), bias));
                let stop = kernel.model.progress.stop;
                assert_eq!(stop, Some(Stop::Converged), "{seed} {bias} {c}");
                let (a, b) = (
                    support(&kernel.model).optima[0],
                    support(&linear.model).optima[0],
                );
                // Both are within the tolerance of the optimum; roots are rounded to the precision of rows.
                assert!(
                    close(a.primal, b.primal, 0.0, 1e-4),
                    "{seed} {bias} {c}: {a:?} {b:?}"
                );
            }
        }
    }
}
