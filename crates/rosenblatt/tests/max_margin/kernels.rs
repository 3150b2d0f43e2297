//! Planes in the space of a kernel.

use super::*;

#[test]
fn a_linear_kernel_finds_the_linear_plane() {
    let toy = noisy(11, 120, 4);
    let data = toy.dataset();
    for bias in BIASES {
        for c in [Some(0.2), Some(2.0)] {
            let mut linear = options(c, bias);
            let mut kernel = over("linear", c, bias);
            (linear.tolerance, kernel.tolerance) = (1e-9, 1e-9);
            let (linear, kernel) = (trained(&data, &linear), trained(&data, &kernel));
            let (a, b) = (
                support(&linear.model).optima[0],
                support(&kernel.model).optima[0],
            );
            assert!(close(a.primal, b.primal, 0.0, 1e-8), "{bias}: {a:?} {b:?}");
            assert!(close(a.margin, b.margin, 0.0, 1e-4), "{bias}: {a:?} {b:?}");
            let of = |m: &Model| m.scores(&data.matrix, 1);
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
