use super::*;
use crate::data::Row;
use crate::geometry::{hull_distance, norm};

fn made(options: &Options) -> Synthetic {
    generate(options).unwrap_or_else(|e| panic!("{}: {e}", options.kind.name()))
}

fn rows_of(dataset: &Dataset, class: u32) -> Vec<Vec<f64>> {
    (0..dataset.len())
        .filter(|&i| dataset.labels[i] == class)
        .map(|i| dataset.row(i).to_dense(dataset.features()))
        .collect()
}

/// FNV-1a over the stored bits and labels.
fn digest(dataset: &Dataset) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut eat = |x: u64| hash = (hash ^ x).wrapping_mul(0x100_0000_01b3);
    for i in 0..dataset.len() {
        dataset.row(i).for_each(|j, x| {
            eat(j as u64);
            eat(x.to_bits());
        });
        eat(u64::from(dataset.labels[i]));
    }
    hash
}

#[test]
fn the_table_names_every_kind_once() {
    for kind in Kind::all() {
        assert_eq!(kind.form().kind, kind);
        assert_eq!(Kind::find(kind.name()).unwrap(), kind);
        assert!(!kind.summary().is_empty());
    }
    assert_eq!(Kind::all().count(), Kind::Quasi as usize + 1);
    let error = Kind::find("moon").unwrap_err();
    assert!(error.to_string().contains("moons"));
}

#[test]
fn every_kind_follows_from_its_seed() {
    for kind in Kind::all() {
        let with = |seed| Options {
            examples: match kind.form().examples {
                Fixed(_) => None,
                Free { least, .. } => Some(least.max(300)),
            },
            seed,
            ..Options::new(kind)
        };
        let (a, again, b) = (made(&with(1)), made(&with(1)), made(&with(2)));
        assert_eq!(a.dataset.matrix, again.dataset.matrix, "{}", kind.name());
        assert_eq!(a.dataset.labels, again.dataset.labels);
        assert_eq!(a.separator, again.separator);
        let fixed = matches!(kind.form().examples, Fixed(_)) || kind == Kind::Xor;
        assert_eq!(
            a.dataset.matrix == b.dataset.matrix,
            fixed,
            "{}",
            kind.name()
        );
        let counts = a.dataset.class_counts();
        assert!(counts.iter().all(|&c| c > 0), "{} {counts:?}", kind.name());
    }
}

#[test]
fn the_numbers_are_the_same_on_every_machine() {
    let of = |kind| {
        digest(
            &made(&Options {
                examples: Some(40),
                seed: 7,
                ..Options::new(kind)
            })
            .dataset,
        )
    };
    let found = [Kind::Separable, Kind::Moons, Kind::Sparse, Kind::MarginTiny].map(of);
    let promised = [
        0xf9e0_e735_cd50_3fdd,
        0x7434_b109_71f6_94f5,
        0x14da_21f7_e317_07c1,
        0xb71b_b04f_92d5_32c0,
    ];
    assert_eq!(found, promised, "{found:#x?}");
}

#[test]
fn separable_rows_keep_exactly_the_margin() {
    for precision in [Precision::F32, Precision::F64] {
        let slack = if precision == Precision::F32 {
            3e-7
        } else {
            1e-15
        };
        for seed in 0..60 {
            let margin = [0.01, 0.05, 0.3, 0.999][seed as usize % 4];
            let options = Options {
                examples: Some(200 + seed as usize),
                features: Some(2 + seed as usize % 20),
                margin: Some(margin),
                precision,
                seed,
                ..Options::new(Kind::Separable)
            };
            let set = made(&options);
            let separator = set.separator.unwrap();
            let u = &separator.weights[0];
            assert!((norm(u) - 1.0).abs() < 1e-15);
            assert_eq!(separator.biases, [0.0]);
            let mut nearest = f64::INFINITY;
            for i in 0..set.dataset.len() {
                let row = set.dataset.row(i);
                let y = [-1.0, 1.0][set.dataset.labels[i] as usize];
                nearest = nearest.min(y * row.dot(u, 0.0));
                assert!((row.squared_norm() - 1.0).abs() < 4.0 * slack);
            }
            assert!((nearest - margin).abs() < slack, "{nearest} for {margin}");
            assert!((set.margin.unwrap() - nearest).abs() < 1e-15);
            assert!(set.dataset.class_counts().iter().all(|&c| c > 0));
        }
    }
}

#[test]
fn classes_keep_exactly_the_margin() {
    for (seed, &(k, d, margin)) in [
        (3, 10, 0.01),
        (2, 2, 0.2),
        (7, 2, 0.002),
        (12, 3, 0.001),
        (5, 5, 0.3),
    ]
    .iter()
    .enumerate()
    {
        let options = Options {
            examples: Some(400),
            features: Some(d),
            classes: Some(k),
            margin: Some(margin),
            precision: Precision::F64,
            seed: seed as u64,
            ..Options::new(Kind::Classes)
        };
        let set = made(&options);
        let separator = set.separator.unwrap();
        assert_eq!(separator.weights.len(), k);
        assert!((separator.length() - 1.0).abs() < 1e-14);
        let mut nearest = f64::INFINITY;
        for i in 0..400 {
            let s = separator.scores(set.dataset.row(i));
            let y = set.dataset.labels[i] as usize;
            let rival = (0..k)
                .filter(|&c| c != y)
                .map(|c| s[c])
                .fold(f64::MIN, f64::max);
            nearest = nearest.min(s[y] - rival);
        }
        assert!((nearest - margin).abs() < 1e-14, "{nearest} for {margin}");
        assert!((set.margin.unwrap() - margin).abs() < 1e-14);
        assert!(set.dataset.class_counts().iter().all(|&c| c > 0));
    }
}

#[test]
fn noise_flips_exactly_its_share() {
    for (kind, classes) in [(Kind::Separable, 2), (Kind::Classes, 4), (Kind::Sparse, 3)] {
        for noise in [0.0, 0.07, 1.0] {
            let options = Options {
                examples: Some(300),
                classes: Some(classes),
                noise,
                ..Options::new(kind)
            };
            let clean = made(&Options {
                noise: 0.0,
                ..options.clone()
            });
            let noisy = made(&options);
            assert_eq!(clean.dataset.matrix, noisy.dataset.matrix);
            let differ: Vec<usize> = (0..300)
                .filter(|&i| clean.dataset.labels[i] != noisy.dataset.labels[i])
                .collect();
            assert_eq!(differ.len(), (noise * 300.0).round() as usize);
            assert_eq!(differ, noisy.flipped);
            assert_eq!(clean.margin, noisy.margin);
        }
    }
}

#[test]
fn shapes_lie_where_they_should() {
    let still = |kind, spread| {
        made(&Options {
            spread: Some(spread),
            ..Options::new(kind)
        })
        .dataset
    };
    let circles = still(Kind::Circles, 0.0);
    for i in 0..circles.len() {
        let radius = [1.0, 0.5][circles.labels[i] as usize];
        assert!((circles.row(i).squared_norm() - radius * radius).abs() < 1e-6);
    }
    let moons = still(Kind::Moons, 0.0);
    for i in 0..moons.len() {
        let p = moons.row(i).to_dense(2);
        let (x, y) = if moons.labels[i] == 0 {
            (p[0], p[1])
        } else {
            (1.0 - p[0], 0.5 - p[1])
        };
        assert!((x * x + y * y - 1.0).abs() < 1e-6 && y > -1e-6);
    }
    let xor = still(Kind::Xor, 0.0);
    assert_eq!(xor.labels, [0, 1, 1, 0]);
    assert_eq!(
        (0..4).map(|i| xor.row(i).to_dense(2)).collect::<Vec<_>>(),
        [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    );
    let blobs = made(&Options {
        examples: Some(3000),
        classes: Some(3),
        features: Some(4),
        spread: Some(0.5),
        ..Options::new(Kind::Blobs)
    });
    for class in 0..3 {
        let rows = rows_of(&blobs.dataset, class);
        assert_eq!(rows.len(), 1000);
        for j in 0..4 {
            let mean = rows.iter().map(|r| r[j]).sum::<f64>() / 1000.0;
            let variance = rows.iter().map(|r| (r[j] - mean).powi(2)).sum::<f64>() / 1000.0;
            assert!((variance.sqrt() - 0.5).abs() < 0.06, "{variance}");
            assert!(mean.abs() < 10.1);
        }
    }
}

#[test]
fn worked_examples_are_as_written() {
    let and = made(&Options::new(Kind::And)).dataset;
    assert_eq!(and.labels, [0, 0, 0, 1]);
    assert_eq!(and.row(1).to_dense(2), [0.0, 1.0]);
    let eight = made(&Options::new(Kind::EightPoints)).dataset;
    assert_eq!(eight.labels, [1, 0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(eight.row(5).to_dense(2), [0.0, -3.0]);
    let apart = |kind| {
        let set = made(&Options::new(kind));
        let (a, b) = (rows_of(&set.dataset, 1), rows_of(&set.dataset, 0));
        let apart = hull_distance(&a, &b).unwrap().meet() == Some(false);
        assert_eq!(
            set.margin.is_some_and(|m| m > 0.0),
            apart,
            "{}",
            kind.name()
        );
        (set.dataset.class_counts()[1], apart)
    };
    assert_eq!(apart(Kind::And), (1, true));
    assert_eq!(apart(Kind::Critics), (3, true));
    assert_eq!(apart(Kind::EightPoints), (4, false));
    assert_eq!(apart(Kind::Grid), (121 - 45, true));
    assert_eq!(apart(Kind::GridMiddle), (4, false));
    assert_eq!(apart(Kind::GridEqual), (4, false));
}

#[test]
fn touching_hulls_touch_and_nothing_more() {
    for seed in 0..20 {
        let options = Options {
            features: Some(2 + seed as usize % 4),
            seed,
            ..Options::new(Kind::MarginZero)
        };
        let set = made(&options);
        assert_eq!(set.margin, Some(0.0));
        let separator = set.separator.unwrap();
        let on = (0..set.dataset.len())
            .filter(|&i| separator.scores(set.dataset.row(i))[0] == 0.0)
            .count();
        // Whole numbers below 2^53: the scores are exact.
        assert_eq!(on, 3);
        let (a, b) = (rows_of(&set.dataset, 1), rows_of(&set.dataset, 0));
        assert_eq!(hull_distance(&a, &b).unwrap().meet(), Some(true));
    }
}

/// The shortest decimal that reads back as a stored number.
fn shortest(x: f64, dataset: &Dataset) -> String {
    match dataset.matrix.precision() {
        Precision::F32 => format!("{:e}", x as f32),
        Precision::F64 => format!("{x:e}"),
    }
}

/// A decimal of at most 13 places as a whole number of 1e-13.
fn units(token: &str) -> i128 {
    let (sign, token) = token.strip_prefix('-').map_or((1, token), |t| (-1, t));
    let (mantissa, power) = token.split_once('e').unwrap_or((token, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let places = 13 - part.len() as i32 + power.parse::<i32>().unwrap();
    assert!(places >= 0, "{token}");
    sign * format!("{whole}{part}").parse::<i128>().unwrap() * 10i128.pow(places as u32)
}

#[test]
fn tiny_margins_are_exact_as_written() {
    for (kind, margin, wide) in [
        (Kind::MarginTiny, 10, 1e-2),
        (Kind::Collinear, 10_000, 1e-6),
    ] {
        for seed in 0..20 {
            let options = Options {
                seed,
                ..Options::new(kind)
            };
            let set = made(&options);
            let mut nearest = i128::MAX;
            let dataset = &set.dataset;
            for i in 0..dataset.len() {
                let label = dataset.classes.name(dataset.labels[i]);
                let y = label.parse::<i128>().unwrap();
                let row = dataset.row(i).to_dense(dataset.features());
                let [a, b] = [row[0], row[1]].map(|x| units(&shortest(x, dataset)));
                // 3x1 + 4x2 is five times the distance.
                nearest = nearest.min(y * (3 * a + 4 * b));
            }
            assert_eq!(nearest, 5 * margin);
            let (a, b) = (rows_of(&set.dataset, 1), rows_of(&set.dataset, 0));
            let distance = hull_distance(&a, &b).unwrap();
            let expected = 2e-13 * margin as f64;
            assert!(
                (distance.lower / expected - 1.0).abs() < wide * 10.0,
                "{distance:?}"
            );
            assert!((distance.upper / expected - 1.0).abs() < wide * 10.0);
            assert!((set.margin.unwrap() / (0.5 * expected) - 1.0).abs() < 1e-2);
        }
    }
    // Nearly on a line, whose direction is (−4, 3, 0, …)/5.
    let set = made(&Options {
        features: Some(5),
        ..Options::new(Kind::Collinear)
    });
    for i in 0..set.dataset.len() {
        let p = set.dataset.row(i).to_dense(5);
        let along = (3.0 * p[1] - 4.0 * p[0]) / 5.0;
        let off = [p[0] + 0.8 * along, p[1] - 0.6 * along, p[2], p[3], p[4]];
        assert!(norm(&off) < 1e-6);
    }
}

#[test]
fn wide_ranges_stay_separable() {
    for seed in 0..20 {
        let set = made(&Options {
            seed,
            ..Options::new(Kind::WideRange)
        });
        let separator = set.separator.unwrap();
        let (mut smallest, mut largest) = (f64::INFINITY, 0.0f64);
        for i in 0..set.dataset.len() {
            let row = set.dataset.row(i);
            assert!(separator.functional_margin(row, set.dataset.labels[i]) > 0.0);
            row.for_each(|_, x| {
                smallest = smallest.min(x.abs());
                largest = largest.max(x.abs());
            });
        }
        assert!(
            smallest < 1e-299 && largest > 1e298,
            "{smallest:e} {largest:e}"
        );
        assert!(set.margin.unwrap() > 0.0);
    }
}

#[test]
fn the_contradiction_is_the_last_row_alone() {
    for precision in [Precision::F32, Precision::F64] {
        let options = Options {
            examples: Some(600),
            features: Some(6),
            margin: Some(0.02),
            precision,
            ..Options::new(Kind::Contradiction)
        };
        let set = made(&options).dataset;
        let hulls = |n: usize| {
            let part = set.select(&(0..n).collect::<Vec<_>>());
            hull_distance(&rows_of(&part, 1), &rows_of(&part, 0)).unwrap()
        };
        assert!(hulls(599).lower > 0.04);
        assert_eq!(hulls(600).meet(), Some(true));
        // Not on the brink: the row stays inside the hull even when moved.
        let mut moved = set.row(599).to_dense(6);
        for x in &mut moved {
            *x += 1e-3;
        }
        assert!(crate::geometry::in_hull(&moved, &rows_of(&set, 1)).unwrap());
    }
}

#[test]
fn quasi_separated_designs_have_the_cone_they_claim() {
    for seed in 0..20 {
        let options = Options {
            features: Some(5 + seed as usize % 4),
            examples: Some(60),
            seed,
            ..Options::new(Kind::Quasi)
        };
        let set = made(&options);
        let d = set.dataset.features();
        let coefficients = set.coefficients.unwrap();
        let at = |c| coefficients.iter().position(|&x| x == c).unwrap() - 1;
        assert_eq!(coefficients.len(), d + 1);
        assert_eq!(coefficients[0], Coefficient::Finite);
        assert_eq!(set.margin, Some(0.0));
        // The least y·score over the rows for a vector over the features, bias 0.
        let least = |w: &[f64]| -> f64 {
            (0..set.dataset.len())
                .map(|i| {
                    [-1.0, 1.0][set.dataset.labels[i] as usize] * set.dataset.row(i).dot(w, 0.0)
                })
                .fold(f64::INFINITY, f64::min)
        };
        let unit = |j: usize, x: f64| {
            let mut w = vec![0.0; d];
            w[j] = x;
            w
        };
        let (plus, minus) = (
            at(Coefficient::PlusInfinity),
            at(Coefficient::MinusInfinity),
        );
        assert_eq!(least(&unit(plus, 1.0)), 0.0);
        assert!(least(&unit(plus, -1.0)) < 0.0);
        assert_eq!(least(&unit(minus, -1.0)), 0.0);
        assert!(least(&unit(minus, 1.0)) < 0.0);
        let either: Vec<usize> = (0..d)
            .filter(|&j| coefficients[j + 1] == Coefficient::Either)
            .collect();
        assert_eq!(either.len(), 2);
        for (a, b) in [(0, 1), (1, 0)] {
            let mut w = unit(either[a], 1.0);
            w[either[b]] = -0.4;
            assert_eq!(least(&w), 0.0);
            w[either[b]] = -0.6;
            assert!(least(&w) < 0.0);
        }
        // Equal rows with both labels pin the rest: the origin and a step along each.
        let has = |row: &[f64], label: u32| {
            (0..set.dataset.len())
                .any(|i| set.dataset.labels[i] == label && set.dataset.row(i).to_dense(d) == row)
        };
        let both = |row: &[f64]| has(row, 0) && has(row, 1);
        assert!(both(&vec![0.0; d]));
        for j in 0..d {
            let finite = coefficients[j + 1] == Coefficient::Finite;
            assert_eq!(both(&unit(j, 1.0)), finite);
        }
    }
}

#[test]
fn text_looks_like_text() {
    let options = Options {
        examples: Some(2000),
        features: Some(47_236),
        ..Options::new(Kind::Sparse)
    };
    let set = made(&options);
    let mean = set.dataset.matrix.non_zeros() as f64 / 2000.0;
    assert!((70.0..80.0).contains(&mean), "{mean}");
    let separator = set.separator.unwrap();
    let u = &separator.weights[0];
    assert!((norm(u) - 1.0).abs() < 1e-12);
    let weighty = u.iter().filter(|w| **w != 0.0).count();
    assert_eq!(weighty, 512);
    let mut frequency = vec![0u32; 47_236];
    let mut nearest = f64::INFINITY;
    for i in 0..2000 {
        let row = set.dataset.row(i);
        assert!((row.squared_norm() - 1.0).abs() < 1e-4);
        let mut last = None;
        row.for_each(|j, _| {
            assert!(last < Some(j));
            last = Some(j);
            frequency[j] += 1;
        });
        let y = [-1.0, 1.0][set.dataset.labels[i] as usize];
        nearest = nearest.min(y * row.dot(u, 0.0));
    }
    assert!(nearest > 0.0 && (set.margin.unwrap() - nearest).abs() < 1e-15);
    let counts = set.dataset.class_counts();
    assert!(counts.iter().all(|&c| c > 800), "{counts:?}");
    // Zipf: a few words nearly everywhere, most nowhere, and frequency falling as 1/rank.
    frequency.sort_unstable_by(|a, b| b.cmp(a));
    assert!(frequency[0] > 1500);
    assert!(frequency[20_000] < 4);
    let ratio = f64::from(frequency[1500]) / f64::from(frequency[6000]);
    assert!((2.5..6.5).contains(&ratio), "{ratio}");
    let few = made(&Options {
        examples: Some(5),
        ..options
    });
    for i in 0..few.dataset.len() {
        few.dataset.row(i).for_each(|_, x| {
            let value = (x as f32).to_string();
            assert!(value.len() <= 8, "{value}");
        });
    }
}

#[test]
fn text_has_as_many_classes_as_asked_and_keeps_its_margin() {
    let options = Options {
        examples: Some(600),
        features: Some(20_000),
        classes: Some(20),
        margin: Some(0.002),
        non_zeros: Some(50.0),
        ..Options::new(Kind::Sparse)
    };
    let set = made(&options);
    let separator = set.separator.unwrap();
    assert!(set.dataset.class_counts().iter().all(|&c| c > 5));
    let measured = separator.margin(&set.dataset);
    assert!((0.002..0.004).contains(&measured), "{measured}");
    assert!((measured - set.margin.unwrap()).abs() < 1e-14);
    // The first rows of a longer set are the same rows.
    let more = made(&Options {
        examples: Some(700),
        ..options.clone()
    });
    let start = more.dataset.select(&(0..600).collect::<Vec<_>>());
    assert_eq!(start.matrix, set.dataset.matrix);
    assert!(
        generate(&Options {
            margin: Some(0.9),
            ..options
        })
        .is_err()
    );
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let new = Options::new;
    let refused = |options: Options| {
        let error = generate(&options).err();
        assert!(error.is_some(), "{options:?}");
        assert_eq!(error.unwrap().kind(), crate::ErrorKind::Options);
    };
    refused(Options {
        features: Some(3),
        ..new(Kind::Moons)
    });
    refused(Options {
        examples: Some(5),
        ..new(Kind::And)
    });
    refused(Options {
        features: Some(1),
        ..new(Kind::Separable)
    });
    refused(Options {
        examples: Some(0),
        ..new(Kind::Separable)
    });
    refused(Options {
        margin: Some(1.5),
        ..new(Kind::Separable)
    });
    refused(Options {
        margin: Some(0.0),
        ..new(Kind::Separable)
    });
    refused(Options {
        margin: Some(-0.1),
        ..new(Kind::Separable)
    });
    refused(Options {
        margin: Some(f64::NAN),
        ..new(Kind::Separable)
    });
    refused(Options {
        margin: Some(1e-12),
        ..new(Kind::Separable)
    });
    refused(Options {
        margin: Some(0.1),
        ..new(Kind::Moons)
    });
    refused(Options {
        classes: Some(3),
        ..new(Kind::Separable)
    });
    refused(Options {
        classes: Some(1),
        ..new(Kind::Classes)
    });
    refused(Options {
        classes: Some(3),
        margin: Some(0.9),
        ..new(Kind::Classes)
    });
    refused(Options {
        classes: Some(9),
        examples: Some(8),
        ..new(Kind::Blobs)
    });
    refused(Options {
        noise: 1.1,
        ..new(Kind::Separable)
    });
    refused(Options {
        noise: f64::NAN,
        ..new(Kind::Separable)
    });
    refused(Options {
        noise: 0.1,
        ..new(Kind::Quasi)
    });
    refused(Options {
        spread: Some(0.1),
        ..new(Kind::Separable)
    });
    refused(Options {
        spread: Some(f64::INFINITY),
        ..new(Kind::Blobs)
    });
    refused(Options {
        non_zeros: Some(10.0),
        ..new(Kind::Separable)
    });
    refused(Options {
        non_zeros: Some(0.0),
        ..new(Kind::Sparse)
    });
    refused(Options {
        features: Some(100),
        ..new(Kind::Sparse)
    });
    refused(Options {
        features: Some(1 << 33),
        ..new(Kind::Sparse)
    });
    refused(Options {
        classes: Some(50_000),
        examples: Some(60_000),
        ..new(Kind::Sparse)
    });
    refused(Options {
        examples: Some(usize::MAX),
        ..new(Kind::Separable)
    });
    refused(Options {
        examples: Some(30),
        ..new(Kind::Contradiction)
    });
    refused(Options {
        features: Some(50),
        examples: Some(40),
        ..new(Kind::Quasi)
    });
    assert!(TextRows::new(&new(Kind::And)).is_err());
    assert!(matches!(
        TextRows::new(&new(Kind::Sparse)).unwrap().next_row(),
        Ok(Some((_, Row::Sparse32(..))))
    ));
}
