use super::super::{convex_combination, norm};
use super::*;
use proptest::prelude::*;

type P = [i64; 2];

fn cross(o: P, a: P, b: P) -> i64 {
    (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
}

fn on_segment(p: P, a: P, b: P) -> bool {
    cross(a, b, p) == 0 && (0..2).all(|k| p[k] >= a[k].min(b[k]) && p[k] <= a[k].max(b[k]))
}

fn segments_meet(a: P, b: P, c: P, d: P) -> bool {
    let sides = |o, e, p, q| cross(o, e, p).signum() * cross(o, e, q).signum();
    sides(a, b, c, d) < 0 && sides(c, d, a, b) < 0
        || on_segment(a, c, d)
        || on_segment(b, c, d)
        || on_segment(c, a, b)
        || on_segment(d, a, b)
}

fn in_triangle(p: P, a: P, b: P, c: P) -> bool {
    let s = [cross(a, b, p), cross(b, c, p), cross(c, a, p)];
    let degenerate = cross(a, b, c) == 0;
    if degenerate {
        return on_segment(p, a, b) || on_segment(p, b, c) || on_segment(p, c, a);
    }
    s.iter().all(|&v| v >= 0) || s.iter().all(|&v| v <= 0)
}

fn to_segment(p: P, a: P, b: P) -> f64 {
    let v = [(b[0] - a[0]) as f64, (b[1] - a[1]) as f64];
    let u = [(p[0] - a[0]) as f64, (p[1] - a[1]) as f64];
    let length = dot(&v, &v);
    let t = if length > 0.0 {
        (dot(&u, &v) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    norm(&[u[0] - t * v[0], u[1] - t * v[1]])
}

/// The distance between plane hulls by trying every segment and triangle, exact about 0.
fn oracle(a: &[P], b: &[P]) -> f64 {
    let inside = |p: P, hull: &[P]| {
        hull.iter().any(|&x| {
            hull.iter()
                .any(|&y| hull.iter().any(|&z| in_triangle(p, x, y, z)))
        })
    };
    if a.iter().any(|&p| inside(p, b)) || b.iter().any(|&p| inside(p, a)) {
        return 0.0;
    }
    let mut best = f64::INFINITY;
    for &a1 in a {
        for &a2 in a {
            for &b1 in b {
                for &b2 in b {
                    if segments_meet(a1, a2, b1, b2) {
                        return 0.0;
                    }
                    best = best.min(to_segment(a1, b1, b2)).min(to_segment(b1, a1, a2));
                }
            }
        }
    }
    best
}

fn real(points: &[P]) -> Vec<Vec<f64>> {
    points
        .iter()
        .map(|p| p.iter().map(|&x| x as f64).collect())
        .collect()
}

fn lattice(size: i64) -> impl Strategy<Value = Vec<P>> {
    prop::collection::vec([-size..=size, -size..=size], 1..7)
}

#[test]
fn bad_hulls_are_refused() {
    let none: [[f64; 1]; 0] = [];
    assert!(hull_distance(&none, &[[1.0]]).is_err());
    assert!(hull_distance(&[[1.0]], &none).is_err());
    assert!(hull_distance(&[[1.0]], &[[1.0, 2.0]]).is_err());
    assert!(hull_distance(&[[f64::NAN]], &[[1.0]]).is_err());
}

#[test]
fn scale_and_place_do_not_matter() {
    let square = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    for scale in [1e-300, 1e-9, 1.0, 1e300] {
        for place in [0.0, 1000.0] {
            let a: Vec<Vec<f64>> = (square.iter())
                .map(|p| p.iter().map(|x| (x + place) * scale).collect())
                .collect();
            let b = [[(3.0 + place) * scale, (4.0 + place) * scale]];
            let distance = hull_distance(&a, &b).unwrap();
            let expected = 13f64.sqrt() * scale;
            assert!(
                (distance.lower / expected - 1.0).abs() < 1e-12,
                "{distance:?}"
            );
            assert!(
                (distance.upper / expected - 1.0).abs() < 1e-12,
                "{distance:?}"
            );
            assert!(distance.lower <= distance.upper);
        }
    }
}

#[test]
fn hulls_a_trillionth_apart_are_told_apart() {
    for gap in [1e-8, 1e-10, 1e-12] {
        let a = [[gap, -1.0, 0.5], [gap, 1.0, -0.5], [2.0, 0.3, 0.1]];
        let b = [[0.0, 0.0, 0.0], [-1.0, 3.0, 0.0]];
        let distance = hull_distance(&a, &b).unwrap();
        let tolerance = 3e-14 / gap;
        assert!(
            (distance.lower / gap - 1.0).abs() < tolerance,
            "{distance:?}"
        );
        assert!(
            (distance.upper / gap - 1.0).abs() < tolerance,
            "{distance:?}"
        );
        assert_eq!(distance.meet(), Some(false));
    }
    let touching = hull_distance(&[[0.0, -1.0], [0.0, 1.0]], &[[0.0, 0.25], [-3.0, 1.0]]);
    assert_eq!(touching.unwrap().meet(), Some(true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn plane_lattice_hulls_agree_with_brute_force(a in lattice(4), b in lattice(4)) {
        let expected = oracle(&a, &b);
        let there = hull_distance(&real(&a), &real(&b)).unwrap();
        let back = hull_distance(&real(&b), &real(&a)).unwrap();
        for distance in [&there, &back] {
            prop_assert!(distance.lower <= expected && expected <= distance.upper,
                "{distance:?} {expected}");
            prop_assert!(distance.upper - distance.lower <= 1e-12, "{distance:?}");
            prop_assert_eq!(distance.meet(), Some(expected == 0.0));
        }
        let inside = in_hull(&real(&a)[0], &real(&b)).unwrap();
        prop_assert_eq!(inside, oracle(&a[..1], &b) == 0.0);
    }
}

proptest! {
    // In any dimension the answer carries its own proof: weights for the upper end, and
    // a direction along which every pair of points is apart for the lower.
    #[test]
    fn the_bracket_proves_itself(
        (a, b) in (1usize..9).prop_flat_map(|d| {
            let points = || prop::collection::vec(
                prop::collection::vec(-1.0f64..1.0, d), 1..25);
            (points(), points())
        }),
        shift in 0.0f64..3.0,
    ) {
        let a: Vec<Vec<f64>> = a.into_iter().map(|mut p| { p[0] += shift; p }).collect();
        let distance = hull_distance(&a, &b).unwrap();
        let left = convex_combination(&a, &distance.left_weights).unwrap();
        let right = convex_combination(&b, &distance.right_weights).unwrap();
        prop_assert_eq!(&left, &distance.left);
        prop_assert_eq!(&right, &distance.right);
        let x: Vec<f64> = left.iter().zip(&right).map(|(p, q)| p - q).collect();
        prop_assert!((norm(&x) - distance.upper).abs() < 1e-13);
        prop_assert!(distance.upper - distance.lower < 1e-12, "{distance:?}");
        if distance.apart() {
            let low = a.iter().map(|p| dot(&x, p)).fold(f64::INFINITY, f64::min);
            let high = b.iter().map(|p| dot(&x, p)).fold(f64::NEG_INFINITY, f64::max);
            // x is a difference of points of size 1, so its own rounding is some 1e-15.
            prop_assert!(low - high >= (distance.lower - 1e-12) * norm(&x) - 1e-14);
        }
    }

    #[test]
    fn combinations_lie_in_the_hull_and_points_beyond_a_face_do_not(
        points in prop::collection::vec(prop::collection::vec(-3i32..4, 3), 1..8),
        weights in prop::collection::vec(0.01f64..1.0, 8),
    ) {
        let points: Vec<Vec<f64>> = points
            .into_iter()
            .map(|p| p.into_iter().map(f64::from).collect())
            .collect();
        let total: f64 = weights[..points.len()].iter().sum();
        let convex: Vec<f64> = weights[..points.len()].iter().map(|w| w / total).collect();
        let mut inside = convex_combination(&points, &convex).unwrap();
        // A rounded combination may really lie outside a thin hull, by its rounding.
        let distance = hull_distance(&[&inside], &points).unwrap();
        prop_assert!(distance.upper < 1e-13, "{distance:?}");
        inside[1] = points.iter().map(|p| p[1]).fold(f64::NEG_INFINITY, f64::max) + 1e-9;
        prop_assert!(!in_hull(&inside, &points).unwrap());
    }
}
