//! Laws of ticks: they cover the range, they are few, they ascend, and no two read the same.

use proptest::prelude::*;
use rosenblatt_plot::ticks::{self, Ticks};
use std::collections::BTreeSet;

fn labels(ticks: &Ticks) -> Vec<&str> {
    ticks.major.iter().map(|t| t.1.as_str()).collect()
}

fn lawful(ticks: &Ticks, low: f64, high: f64) -> Result<(), TestCaseError> {
    let values: Vec<f64> = ticks.major.iter().map(|t| t.0).collect();
    prop_assert!(
        (3..=9).contains(&values.len()),
        "{:?} on {low}..{high}",
        labels(ticks)
    );
    prop_assert!(values.windows(2).all(|w| w[0] < w[1]));
    let slack = (high - low) * 1e-5;
    prop_assert!(
        values
            .iter()
            .all(|v| (low - slack..=high + slack).contains(v))
    );
    let distinct: BTreeSet<&str> = labels(ticks).into_iter().collect();
    prop_assert_eq!(distinct.len(), values.len(), "{:?}", labels(ticks));
    Ok(())
}

proptest! {
    #[test]
    fn linear_ticks_cover_any_range(middle in -1e6..1e6f64, exponent in -8.0..12.0f64) {
        let half = 10f64.powf(exponent);
        let (low, high) = ticks::sane_range(middle - half, middle + half);
        let ticks = ticks::linear(low, high, 9);
        lawful(&ticks, low, high)?;
        // No end is farther from a tick than one step.
        let step = ticks.major[1].0 - ticks.major[0].0;
        let last = ticks.major[ticks.major.len() - 1].0;
        prop_assert!(ticks.major[0].0 - low <= step * 1.001);
        prop_assert!(high - last <= step * 1.001);
        prop_assert!(ticks.minor.iter().all(|v| (low..=high).contains(v)));
    }

    #[test]
    fn fewer_are_never_more_than_asked(low in -1e3..1e3f64, width in 1e-3..1e6f64, most in 1usize..12) {
        prop_assert!(ticks::linear(low, low + width, most).major.len() <= most);
        prop_assert!(ticks::whole(low, low + width, most).major.len() <= most);
        let positive = low.abs() + 1e-3;
        prop_assert!(ticks::log(positive, positive + width, most).major.len() <= most);
    }

    #[test]
    fn log_ticks_cover_any_range(start in -30.0..30.0f64, decades in 0.1..40.0f64) {
        let (low, high) = (10f64.powf(start), 10f64.powf(start + decades));
        lawful(&ticks::log(low, high, 9), low, high)?;
    }

    #[test]
    fn whole_ticks_are_whole(low in -1e4..1e4f64, width in 0.1..1e5f64) {
        let ticks = ticks::whole(low, low + width, 9);
        prop_assert!(ticks.major.iter().all(|t| t.0.fract() == 0.0 && !t.1.contains('.')));
    }

    #[test]
    fn any_two_numbers_make_a_range(a in any::<f64>(), b in any::<f64>()) {
        let (low, high) = ticks::sane_range(a, b);
        prop_assert!(low.is_finite() && high.is_finite() && low < high);
        for ticks in [ticks::linear(a, b, 9), ticks::log(a, b, 9)] {
            let labels = labels(&ticks);
            let distinct: BTreeSet<&&str> = labels.iter().collect();
            prop_assert_eq!(distinct.len(), labels.len(), "{:?}", labels);
            prop_assert!(labels.len() >= 2);
        }
    }
}

#[test]
fn well_known_ranges_read_well() {
    let cases: [(Ticks, &[&str]); 8] = [
        (
            ticks::linear(0.0, 10.0, 6),
            &["0", "2", "4", "6", "8", "10"],
        ),
        (
            ticks::linear(-1.0, 1.0, 5),
            &["−1.0", "−0.5", "0.0", "0.5", "1.0"],
        ),
        (
            ticks::linear(0.0, 1.0, 5),
            &["0.00", "0.25", "0.50", "0.75", "1.00"],
        ),
        (
            ticks::linear(0.0, 45_000.0, 6),
            &["0", "10,000", "20,000", "30,000", "40,000"],
        ),
        (
            ticks::linear(0.0, 3e7, 4),
            &["0", "1×10⁷", "2×10⁷", "3×10⁷"],
        ),
        (
            ticks::linear(0.0, 4e-5, 5),
            &["0", "1×10⁻⁵", "2×10⁻⁵", "3×10⁻⁵", "4×10⁻⁵"],
        ),
        (ticks::log(1.0, 60.0, 9), &["1", "2", "5", "10", "20", "50"]),
        (
            ticks::log(1e-6, 1e2, 9),
            &[
                "10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹", "10²",
            ],
        ),
    ];
    for (ticks, expected) in cases {
        assert_eq!(labels(&ticks), expected);
    }
}

#[test]
fn no_minor_tick_stands_on_a_major_one() {
    for ticks in [
        ticks::linear(0.0, 10.0, 6),
        ticks::log(0.5, 2e4, 9),
        ticks::log(1.0, 1e20, 9),
    ] {
        assert!(!ticks.minor.is_empty());
        assert!(ticks.minor.iter().all(|m| {
            ticks
                .major
                .iter()
                .all(|t| (t.0 - m).abs() > 1e-9 * t.0.abs())
        }));
    }
}
