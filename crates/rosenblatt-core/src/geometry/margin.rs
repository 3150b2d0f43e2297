//! Margins: by how much a plane gets its examples right.

use serde::{Deserialize, Serialize};

use super::norm;
use crate::data::Row;

/// Which vector a geometric margin is measured against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarginKind {
    /// ‖w‖ includes the bias, and rows carry the constant 1: distances in lifted space.
    Lifted,
    /// ‖w‖ leaves the bias out: distances in the space of the data.
    Plain,
}

/// The functional margin min_i y_i·s_i, where s_i = bias + w·x_i and y_i = ±1; ∞ for no
/// examples at all.
///
/// ```
/// use rosenblatt_core::data::Row;
/// use rosenblatt_core::geometry::{MarginKind, functional_margin, geometric_margin};
/// let examples = [(Row::Dense64(&[3.0, 4.0]), 1.0), (Row::Dense64(&[0.0, 0.0]), -1.0)];
/// let functional = functional_margin(examples, &[3.0, 4.0], -10.0);
/// assert_eq!(functional, 10.0);
/// assert_eq!(geometric_margin(functional, &[3.0, 4.0], -10.0, MarginKind::Plain), Some(2.0));
/// ```
pub fn functional_margin<'a>(
    examples: impl IntoIterator<Item = (Row<'a>, f64)>,
    weights: &[f64],
    bias: f64,
) -> f64 {
    examples
        .into_iter()
        .map(|(x, y)| y * x.dot(weights, bias))
        .fold(f64::INFINITY, f64::min)
}

/// The geometric margin, functional/‖w‖; `None` where that ‖w‖ is zero.
pub fn geometric_margin(
    functional: f64,
    weights: &[f64],
    bias: f64,
    kind: MarginKind,
) -> Option<f64> {
    let length = match kind {
        MarginKind::Plain => norm(weights),
        MarginKind::Lifted => norm(&[norm(weights), bias]),
    };
    (length > 0.0).then(|| functional / length)
}

/// R = max_i ‖x_i‖, with the constant 1 of the lift if `kind` is lifted; 0 for no rows.
pub fn radius<'a>(rows: impl IntoIterator<Item = Row<'a>>, kind: MarginKind) -> f64 {
    let constant = match kind {
        MarginKind::Lifted => 1.0,
        MarginKind::Plain => 0.0,
    };
    rows.into_iter().fold(0.0f64, |largest, row| {
        let mut values = vec![constant];
        row.for_each(|_, x| values.push(x));
        largest.max(norm(&values))
    })
}

/// The relative margin γ/R, which no common rescaling of the data changes; the perceptron
/// makes at most (R/γ)² mistakes. `None` if the radius is zero.
pub fn relative_margin(margin: f64, radius: f64) -> Option<f64> {
    (radius > 0.0).then(|| margin / radius)
}

#[cfg(test)]
mod tests {
    use super::super::hull_distance;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lifted_and_plain_differ_by_the_bias() {
        let (w, bias) = ([3.0, 0.0], 4.0);
        assert_eq!(
            geometric_margin(15.0, &w, bias, MarginKind::Plain),
            Some(5.0)
        );
        assert_eq!(
            geometric_margin(15.0, &w, bias, MarginKind::Lifted),
            Some(3.0)
        );
        assert_eq!(
            geometric_margin(1.0, &[0.0], 2.0, MarginKind::Lifted),
            Some(0.5)
        );
        assert_eq!(geometric_margin(1.0, &[0.0], 2.0, MarginKind::Plain), None);
        let rows = [Row::Sparse32(&[7], &[3.0]), Row::Dense32(&[0.0])];
        assert_eq!(radius(rows, MarginKind::Plain), 3.0);
        assert_eq!(radius(rows, MarginKind::Lifted), 10f64.sqrt());
        assert_eq!(radius([], MarginKind::Lifted), 0.0);
        assert_eq!(relative_margin(1.0, 4.0), Some(0.25));
        assert_eq!(relative_margin(1.0, 0.0), None);
        assert_eq!(functional_margin([], &w, bias), f64::INFINITY);
    }

    proptest! {
        // Half the distance between the hulls is the largest plain margin: the plane halfway
        // between the closest points attains it, and no other plane beats it.
        #[test]
        fn the_best_plain_margin_is_half_the_hull_distance(
            points in prop::collection::vec(prop::collection::vec(-4.0f64..4.0, 3), 2..14),
            split in 1usize..13,
            rival in prop::collection::vec(-1.0f64..1.0, 4),
        ) {
            prop_assume!(split < points.len());
            let shifted: Vec<Vec<f64>> =
                points[..split].iter().map(|p| vec![p[0] + 6.0, p[1], p[2]]).collect();
            let (a, b) = (&shifted[..], &points[split..]);
            let distance = hull_distance(a, b).unwrap();
            prop_assume!(distance.lower > 0.05);
            let examples = || {
                a.iter()
                    .map(|p| (Row::Dense64(p), 1.0))
                    .chain(b.iter().map(|p| (Row::Dense64(p), -1.0)))
            };
            let (p, q) = (&distance.left, &distance.right);
            let w: Vec<f64> = p.iter().zip(q).map(|(x, y)| x - y).collect();
            let bias = -0.5 * p.iter().zip(q).zip(&w).map(|((x, y), w)| (x + y) * w).sum::<f64>();
            let best = geometric_margin(
                functional_margin(examples(), &w, bias), &w, bias, MarginKind::Plain).unwrap();
            prop_assert!((best - 0.5 * distance.upper).abs() < 1e-9 * distance.upper);
            prop_assume!(norm(&rival[..3]) > 0.1);
            let other = geometric_margin(
                functional_margin(examples(), &rival[..3], rival[3]),
                &rival[..3], rival[3], MarginKind::Plain).unwrap();
            prop_assert!(other <= 0.5 * distance.upper + 1e-12);
        }
    }
}
