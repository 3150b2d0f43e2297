use super::*;
use crate::random::{Random, Stream};

#[test]
fn figures_of_a_small_table() {
    let mut e = Evaluation::new(&Classes::from_labels(["n", "p"]));
    for (truth, predicted, times) in [(0, 0, 5), (0, 1, 1), (1, 0, 2), (1, 1, 2)] {
        (0..times).for_each(|_| e.count(truth, predicted));
    }
    assert_eq!((e.examples(), e.right(), e.accuracy()), (10, 7, Some(0.7)));
    let p = &e.by_class()[1];
    assert_eq!(
        (p.precision, p.recall, p.f1),
        (Some(2.0 / 3.0), Some(0.5), Some(4.0 / 7.0))
    );
    e.count_unknown("x", 1);
    e.count_unknown("x", 1);
    assert_eq!((e.examples(), e.right()), (12, 7));
    assert_eq!(e.by_class()[1].precision, Some(2.0 / 5.0));
    assert_eq!(e.unknown(), [("x".to_owned(), 2)]);
}

#[test]
fn losses_of_probabilities() {
    let mut two = Evaluation::new(&Classes::from_labels(["n", "p"]));
    assert_eq!((two.log_loss(), two.brier()), (None, None));
    assert_eq!(two.expected_calibration_error(), None);
    two.count_probabilities(1, &[0.25, 0.75]);
    two.count_probabilities(0, &[0.5, 0.5]);
    let mean = -(0.75f64.ln() + 0.5f64.ln()) / 2.0;
    assert!((two.log_loss().unwrap() - mean).abs() < 1e-15);
    assert_eq!(two.brier(), Some((0.0625 + 0.25) / 2.0));
    assert_eq!(two.expected_calibration_error(), Some((0.25 + 0.5) / 2.0));
    two.count_probabilities(1, &[0.5, 0.5]);
    let bins = two.reliability();
    assert_eq!(
        (bins.len(), bins[0].examples, bins[0].observed),
        (2, 2, 0.5)
    );
    assert_eq!(two.expected_calibration_error(), Some(0.25 / 3.0));
    let mut three = Evaluation::new(&Classes::from_labels(["a", "b", "c"]));
    three.count_probabilities(2, &[0.5, 0.25, 0.25]);
    assert_eq!(three.brier(), Some(0.25 + 0.0625 + 0.5625));
    assert_eq!(three.expected_calibration_error(), Some(0.5));
}

#[test]
fn empty_classes_have_no_figures() {
    let mut e = Evaluation::new(&Classes::from_labels(["a", "b", "c"]));
    e.count(0, 1);
    let figures = e.by_class();
    assert_eq!(
        (figures[0].precision, figures[0].recall, figures[0].f1),
        (None, Some(0.0), Some(0.0))
    );
    assert_eq!(
        (figures[2].precision, figures[2].recall, figures[2].f1),
        (None, None, None)
    );
    assert_eq!(
        Evaluation::new(&Classes::from_labels(["a", "b"])).accuracy(),
        None
    );
}

/// Two classes: 90 negatives, 10 positives, of which 4 are found beside 2 false alarms.
fn rare() -> Evaluation {
    let mut e = Evaluation::new(&Classes::from_labels(["n", "p"]));
    for (truth, predicted, times) in [(0, 0, 88), (0, 1, 2), (1, 0, 6), (1, 1, 4)] {
        (0..times).for_each(|_| e.count(truth, predicted));
    }
    e
}

#[test]
fn figures_for_all_classes_follow_their_definitions() {
    let m = rare().metrics(1).unwrap();
    let close = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    };
    let (negative, positive) = (2.0 * 88.0 / (90.0 + 94.0), 2.0 * 4.0 / (10.0 + 6.0));
    close(m.accuracy, 0.92);
    close(m.balanced_accuracy, (88.0 / 90.0 + 0.4) / 2.0);
    close(m.macro_f1, (negative + positive) / 2.0);
    close(m.weighted_f1, 0.9 * negative + 0.1 * positive);
    let root = (90.0f64 * 10.0 * 94.0 * 6.0).sqrt();
    close(m.mcc, (88.0 * 4.0 - 2.0 * 6.0) / root);
    assert_eq!((m.auc, m.average_precision, m.log_loss), (None, None, None));
    for metric in <Metric as crate::options::Choice>::ALL {
        let of_scores = matches!(
            metric.0,
            Metric::Auc | Metric::AveragePrecision | Metric::NegLogLoss
        );
        assert_eq!(rare().score(metric.0).is_none(), of_scores);
    }
    // Labels that the model does not know are errors there, too.
    let mut e = rare();
    (0..10).for_each(|_| e.count_unknown("x", 1));
    let with = e.metrics(1).unwrap();
    assert!(with.mcc < m.mcc && with.macro_f1 < m.macro_f1);
}

#[test]
fn intervals_hold_their_figure_and_narrow_with_the_examples() {
    let few = rare().metrics(1).unwrap();
    let mut many = Evaluation::new(&Classes::from_labels(["n", "p"]));
    let mut random = Random::new(3, Stream::Sample, 0);
    for i in 0..100 {
        let truth = u32::from(i % 10 == 0);
        for _ in 0..100 {
            many.rank(random.normal() + f64::from(truth), truth == 1);
        }
    }
    (0..100).for_each(|_| many.add_counts(&rare()));
    let more = many.metrics(1).unwrap();
    let inside = |[low, high]: Interval, x: f64| assert!(low <= x && x <= high, "{low} {x} {high}");
    for m in [&few, &more] {
        let i = &m.intervals;
        inside(i.accuracy, m.accuracy);
        inside(i.balanced_accuracy, m.balanced_accuracy);
        inside(i.macro_f1, m.macro_f1);
        inside(i.weighted_f1, m.weighted_f1);
        inside(i.mcc, m.mcc);
    }
    inside(more.intervals.auc.unwrap(), more.auc.unwrap());
    inside(
        more.intervals.average_precision.unwrap(),
        more.average_precision.unwrap(),
    );
    let width = |[low, high]: Interval| high - low;
    let ratio = width(few.intervals.balanced_accuracy) / width(more.intervals.balanced_accuracy);
    assert!((7.0..13.0).contains(&ratio), "{ratio}");
    // The standard error of an AUC of about 0.76 from 1,000 and 9,000 is 0.008 (Hanley & McNeil).
    let auc = width(more.intervals.auc.unwrap());
    assert!((0.02..0.045).contains(&auc), "{auc}");
    assert_eq!(few, rare().metrics(1).unwrap());
    assert_ne!(few, rare().metrics(2).unwrap());
}

#[test]
fn wilson_and_mcnemar_agree_with_tables() {
    // Newcombe (1998): 81 of 263.
    let [low, high] = wilson(81, 263);
    assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5);
    let close = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    };
    assert_eq!((mcnemar(0, 0), mcnemar(5, 5)), (1.0, 1.0));
    close(mcnemar(1, 9), 22.0 / 1024.0);
    close(mcnemar(9, 1), 22.0 / 1024.0);
    close(mcnemar(0, 6), 2.0 / 64.0);
    assert!((0.0..1e-100).contains(&mcnemar(10, 1000)));
}

#[test]
fn auc_equals_counting_pairs() {
    let scores = [0.1, 0.4, 0.4, 0.8, -1.0, 0.4];
    let positive = [false, true, false, true, false, true];
    let mut e = Evaluation::new(&Classes::from_labels(["n", "p"]));
    scores.iter().zip(positive).for_each(|(&s, p)| e.rank(s, p));
    let (mut wins, mut pairs) = (0.0, 0.0);
    for (&s, p) in scores.iter().zip(positive) {
        for (&t, q) in scores.iter().zip(positive) {
            if p && !q {
                pairs += 1.0;
                wins += if s > t {
                    1.0
                } else if s == t {
                    0.5
                } else {
                    0.0
                };
            }
        }
    }
    assert_eq!(e.auc(), Some(wins / pairs));
    // The same area under the curve, by trapezia.
    let curve = e.roc();
    let area: f64 = curve
        .windows(2)
        .map(|w| (w[1].0 - w[0].0) * (w[0].1 + w[1].1) / 2.0)
        .sum();
    assert!((area - wins / pairs).abs() < 1e-12);
    assert_eq!((curve[0], curve[curve.len() - 1]), ((0.0, 0.0), (1.0, 1.0)));
    // 0.8 is right; the three at 0.4 hold two more; then three negatives.
    let third = 1.0 / 3.0;
    assert_eq!(
        e.precision_recall(),
        [(third, 1.0), (1.0, 0.75), (1.0, 0.6), (1.0, 0.5)]
    );
    // 0.8; then two more of the three at 0.4.
    assert_eq!(
        e.score(Metric::AveragePrecision),
        Some((1.0 + 2.0 * 0.75) / 3.0)
    );
    assert_eq!(
        Evaluation::new(&Classes::from_labels(["n", "p"])).auc(),
        None
    );
}
