//! The small examples that are worked by hand, in their order.

use std::ops::RangeInclusive;

use super::{Draft, Separator, Settings, plus_minus};

fn table(settings: &Settings, rows: &[([f64; 2], u32)]) -> Draft {
    let mut draft = Draft::new(2, rows.len(), settings.precision, plus_minus());
    for (row, label) in rows {
        draft.push(row, *label);
    }
    draft
}

/// Positive only where both are 1; separated by x1 + x2 = 3/2.
pub(super) fn and(settings: &Settings) -> Draft {
    let mut draft = table(
        settings,
        &[
            ([0.0, 0.0], 0),
            ([0.0, 1.0], 0),
            ([1.0, 0.0], 0),
            ([1.0, 1.0], 1),
        ],
    );
    draft.separator = Some(Separator::binary(vec![1.0, 1.0], -1.5));
    draft
}

/// Two critics' scores and whether the film was liked; separated by 2A + B = 15/2.
pub(super) fn critics(settings: &Settings) -> Draft {
    let mut draft = table(
        settings,
        &[
            ([1.0, 1.0], 0),
            ([3.0, 2.0], 1),
            ([2.0, 4.0], 1),
            ([3.0, 4.0], 1),
            ([2.0, 3.0], 0),
        ],
    );
    draft.names = Some(vec!["A", "B"]);
    draft.separator = Some(Separator::binary(vec![2.0, 1.0], -7.5));
    draft
}

/// Four points near the origin among four on the axes; only their squares separate them.
pub(super) fn eight_points(settings: &Settings) -> Draft {
    table(
        settings,
        &[
            ([1.0, 1.0], 1),
            ([0.0, 3.0], 0),
            ([1.0, -1.0], 1),
            ([3.0, 0.0], 0),
            ([-1.0, 1.0], 1),
            ([0.0, -3.0], 0),
            ([-1.0, -1.0], 1),
            ([-3.0, 0.0], 0),
        ],
    )
}

/// All pairs of whole scores in a range, A before B, positive where `holds`.
pub(super) fn grid(
    settings: &Settings,
    scores: RangeInclusive<i32>,
    holds: impl Fn(i32, i32) -> bool,
) -> Draft {
    let rows: Vec<([f64; 2], u32)> = scores
        .clone()
        .flat_map(|a| scores.clone().map(move |b| (a, b)))
        .map(|(a, b)| ([f64::from(a), f64::from(b)], u32::from(holds(a, b))))
        .collect();
    let mut draft = table(settings, &rows);
    draft.names = Some(vec!["A", "B"]);
    if settings.kind == super::Kind::Grid {
        draft.separator = Some(Separator::binary(vec![1.0, 1.0], -8.5));
    }
    draft
}
