use super::*;
use crate::random::{Random, Stream};

const METHODS: [Method; 3] = [Method::Sigmoid, Method::Isotonic, Method::Temperature];

/// Rows whose score leans to their class, some scores the same.
fn rows(scheme: Scheme, n: usize, seed: u64, unit: f64) -> (Vec<f64>, Vec<u32>) {
    let mut random = Random::new(seed, Stream::Sample, 0);
    let (k, d) = (scheme.classes(), scheme.discriminators());
    let (mut scores, mut labels) = (Vec::new(), Vec::new());
    for i in 0..n {
        let label = (i % k) as u32;
        for j in 0..d {
            let (low, high) = scheme.sides(j);
            let lean = match low {
                _ if label == high => 1.0,
                Some(low) if low != label => 0.0,
                _ => -1.0,
            };
            let score = ((random.normal() * 1.5 + lean) * 8.0).round() / 8.0;
            scores.push(score * unit);
        }
        labels.push(label);
    }
    (scores, labels)
}

fn log_loss(labels: &[u32], k: usize, mut p: impl FnMut(usize, &mut [f64])) -> f64 {
    let mut to = vec![0.0; k];
    let each = labels.iter().enumerate().map(|(i, &label)| {
        p(i, &mut to);
        -libm::log(to[label as usize].max(1e-300))
    });
    each.sum::<f64>() / labels.len() as f64
}

fn schemes() -> [Scheme; 5] {
    [
        Scheme::Binary,
        Scheme::Argmax { classes: 2 },
        Scheme::Argmax { classes: 4 },
        Scheme::OneVsRest { classes: 3 },
        Scheme::OneVsOne { classes: 3 },
    ]
}

#[test]
fn probabilities_sum_to_one_and_lose_less_than_scores_as_they_are() {
    for scheme in schemes() {
        for unit in [0.01, 1.0, 300.0] {
            let (scores, labels) = rows(scheme, 600, 7, unit);
            let (k, d) = (scheme.classes(), scheme.discriminators());
            let raw = log_loss(&labels, k, |i, to| {
                scheme.class_scores(&scores[i * d..][..d], to);
                if k == 2 {
                    let s = scheme.positive_score(&scores[i * d..][..d]);
                    to.copy_from_slice(&both_sides(s));
                    return;
                }
                let most = to.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                to.iter_mut().for_each(|s| *s = libm::exp(*s - most));
                let sum: f64 = to.iter().sum();
                to.iter_mut().for_each(|p| *p /= sum);
            });
            for method in METHODS {
                let found = Calibration::fit(method, scheme, &scores, &labels, true).unwrap();
                let loss = log_loss(&labels, k, |i, to| {
                    found.probabilities(scheme, &scores[i * d..][..d], to);
                    assert!((to.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    assert!(to.iter().all(|p| (0.0..=1.0).contains(p)));
                });
                let guess = libm::log(k as f64);
                // Of several classes against the rest no method but the temperature is
                // fitted to this very loss; and targets inside 0 and 1 cost a little.
                let beats = k > 2 && method != Method::Temperature || loss < raw + 1e-3;
                assert!(
                    beats && loss < guess,
                    "{method:?} {scheme:?} {unit}: {loss} {raw}"
                );
            }
        }
    }
}

#[test]
fn two_classes_are_calibrated_monotonely() {
    for method in METHODS {
        for unit in [1e-8, 1.0, 1e9] {
            let (scores, labels) = rows(Scheme::Binary, 300, 3, unit);
            let found = Calibration::fit(method, Scheme::Binary, &scores, &labels, true).unwrap();
            let mut last = 0.0;
            for i in -400..=400 {
                let mut p = [0.0; 2];
                found.probabilities(Scheme::Binary, &[f64::from(i) * unit / 50.0], &mut p);
                assert!(p[1] >= last, "{method:?}");
                last = p[1];
            }
            assert!(last > 0.7 && last < 1.0, "{method:?} {last}");
        }
    }
}

/// Each share by its definition, the largest over starts of the smallest over ends of means.
#[test]
fn isotonic_regression_is_the_best_of_all() {
    for seed in 0..20 {
        let (scores, labels) = rows(Scheme::Binary, 40 + seed as usize, seed, 1.0);
        let own: Vec<(f64, bool)> = scores
            .iter()
            .copied()
            .zip(labels.iter().map(|l| *l == 1))
            .collect();
        let mut distinct = scores.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let mean = |from: f64, to: f64| {
            let inside: Vec<bool> = own
                .iter()
                .filter(|(s, _)| from <= *s && *s <= to)
                .map(|r| r.1)
                .collect();
            inside.iter().filter(|up| **up).count() as f64 / inside.len() as f64
        };
        let curve = isotonic_fit(own.clone());
        let n = own.len() as f64;
        for &s in &distinct {
            let starts = distinct.iter().filter(|a| **a <= s);
            let best = starts.map(|a| {
                let ends = distinct.iter().filter(|b| **b >= s);
                ends.map(|b| mean(*a, *b)).fold(f64::INFINITY, f64::min)
            });
            let best = best
                .fold(0.0, f64::max)
                .clamp(1.0 / (n + 2.0), (n + 1.0) / (n + 2.0));
            assert!((along(&curve, s) - best).abs() < 1e-12, "{s}");
        }
    }
}

#[test]
fn no_other_sigmoid_and_no_other_temperature_loses_less() {
    let (scores, labels) = rows(Scheme::Binary, 500, 5, 20.0);
    let own: Vec<(f64, bool)> = scores
        .iter()
        .copied()
        .zip(labels.iter().map(|l| *l == 1))
        .collect();
    let targets = [1.0 / 252.0, 251.0 / 252.0];
    let loss = |at: [f64; 2]| -> f64 {
        let each = own.iter().map(|&(s, up)| {
            let [q, p] = both_sides(line(at, s));
            let t = targets[usize::from(up)];
            -t * libm::log(p) - (1.0 - t) * libm::log(q)
        });
        each.sum()
    };
    let best = sigmoid_fit(&own);
    for (da, db) in [
        (0.01, 0.0),
        (-0.01, 0.0),
        (0.0, 0.01),
        (0.0, -0.01),
        (0.01, -0.01),
    ] {
        let other = [best[0] * (1.0 + da), best[1] + db];
        assert!(loss(other) > loss(best), "{best:?}");
    }
    let scheme = Scheme::Argmax { classes: 3 };
    let (scores, labels) = rows(scheme, 900, 5, 20.0);
    let b = sharpness(&ClassScores::of(scheme, &scores), &labels);
    let loss = |b: f64| {
        log_loss(&labels, 3, |i, to| {
            to.copy_from_slice(&scores[i * 3..][..3]);
            to.iter_mut().for_each(|s| *s = libm::exp(*s * b));
            let sum: f64 = to.iter().sum();
            to.iter_mut().for_each(|p| *p /= sum);
        })
    };
    // The targets are inside 0 and 1, so the least loss is near, not there.
    assert!(loss(b) < loss(b * 1.1) && loss(b) < loss(b / 1.1), "{b}");
}

/// Classes drawn by the softmax of their scores have the temperature 1.
#[test]
fn the_temperature_of_sure_predictions_of_many_classes_is_found() {
    let mut random = Random::new(11, Stream::Sample, 0);
    for k in [3, 10, 26] {
        let scheme = Scheme::Argmax { classes: k };
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..600 {
            let row: Vec<f64> = (0..k).map(|_| 6.0 * random.normal()).collect();
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.iter().map(|s| libm::exp(s - most)).sum();
            let mut left = random.unit() * sum;
            let drawn = row.iter().position(|s| {
                left -= libm::exp(s - most);
                left < 0.0
            });
            labels.push(drawn.unwrap_or(0) as u32);
            scores.extend(row);
        }
        let b = sharpness(&ClassScores::of(scheme, &scores), &labels);
        assert!((0.8..1.25).contains(&b), "{k} classes: {b}");
    }
}

#[test]
fn separated_rows_and_rows_all_alike_have_finite_probabilities() {
    let labels: Vec<u32> = (0..40).map(|i| u32::from(i >= 20)).collect();
    let separated: Vec<f64> = (0..40).map(|i| f64::from(i) - 19.5).collect();
    for scores in [separated, vec![3.0; 40], vec![0.0; 40]] {
        for method in METHODS {
            let found = Calibration::fit(method, Scheme::Binary, &scores, &labels, true).unwrap();
            for s in scores.iter().chain(&[1e300, -1e300]) {
                let mut p = [0.0; 2];
                found.probabilities(Scheme::Binary, &[*s], &mut p);
                assert!(p[0].is_finite() && (p[0] + p[1] - 1.0).abs() < 1e-12);
            }
        }
    }
    let one_class = Calibration::fit(Method::Sigmoid, Scheme::Binary, &[1.0], &[1], true);
    assert!(one_class.unwrap_err().to_string().contains("both classes"));
}

#[test]
fn it_reads_back_as_written_and_is_checked() {
    for scheme in schemes() {
        let (scores, labels) = rows(scheme, 90, 1, 1.0);
        for method in METHODS {
            let found = Calibration::fit(method, scheme, &scores, &labels, false).unwrap();
            let parts = || {
                let mut parts = Parts::new();
                found.put(&mut parts);
                Parts::from_bytes(&parts.to_bytes().unwrap()).unwrap()
            };
            let again = Calibration::take(&mut parts(), scheme).unwrap();
            assert_eq!(again.as_ref(), Some(&found));
            let mut spoilt = parts();
            let mut points: Vec<f64> = spoilt.take("calibration.points").unwrap();
            points[0] = f64::NAN;
            spoilt.put_table("calibration.points", 2, points.into());
            assert!(Calibration::take(&mut spoilt, scheme).is_err());
            let mut short = parts();
            short.put("calibration.lengths", vec![1u64; 9]);
            assert!(Calibration::take(&mut short, scheme).is_err());
        }
    }
}
