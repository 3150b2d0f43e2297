//! Lines, bands, ranges and areas.

use super::{Layer, Look, Plane, Shape};
use crate::svg::{Piece, path};

impl Layer {
    /// A line through points in the order given.
    pub fn line(points: impl Into<Vec<(f64, f64)>>) -> Self {
        Layer::new(Shape::Line {
            points: points.into(),
            steps: false,
        })
    }

    /// A staircase: each value holds until the next point. For counts and ROC curves.
    pub fn steps(points: impl Into<Vec<(f64, f64)>>) -> Self {
        Layer::new(Shape::Line {
            points: points.into(),
            steps: true,
        })
    }

    /// The curve of a function, sampled at `count` places between two ends.
    ///
    /// ```
    /// use rosenblatt_plot::Layer;
    /// let hinge = Layer::curve((-2.0, 2.0), 81, |margin| (1.0 - margin).max(0.0));
    /// ```
    pub fn curve(range: (f64, f64), count: usize, f: impl Fn(f64) -> f64) -> Self {
        let last = count.max(2) - 1;
        let points: Vec<(f64, f64)> = (0..=last)
            .map(|i| {
                let t = i as f64 / last as f64;
                let x = range.0 * (1.0 - t) + range.1 * t;
                (x, f(x))
            })
            .collect();
        Layer::line(points)
    }

    /// A band between two curves: rows of x, low, high.
    pub fn band(rows: impl Into<Vec<(f64, f64, f64)>>) -> Self {
        Layer::new(Shape::Band(rows.into()))
    }

    /// An upright range at each x, with caps: rows of x, low, high.
    pub fn ranges(rows: impl Into<Vec<(f64, f64, f64)>>) -> Self {
        Layer::new(Shape::Ranges(rows.into()))
    }

    /// A filled polygon.
    pub fn area(points: impl Into<Vec<(f64, f64)>>) -> Self {
        Layer::new(Shape::Area(points.into()))
    }

    /// A filled circle in the units of the axes.
    pub fn circle(center: (f64, f64), radius: f64) -> Self {
        let points: Vec<(f64, f64)> = (0..96)
            .map(|i| {
                let (sin, cos) = (f64::from(i) / 96.0 * std::f64::consts::TAU).sin_cos();
                (center.0 + radius * cos, center.1 + radius * sin)
            })
            .collect();
        Layer::area(points)
    }
}

/// Lower quartile, median and upper quartile, interpolated between order statistics; `None` without
/// a number. Values that are not numbers are left out.
///
/// ```
/// use rosenblatt_plot::quartiles;
/// assert_eq!(quartiles(&[4.0, 1.0, 2.0, 3.0, 5.0]), Some([2.0, 3.0, 4.0]));
/// assert_eq!(quartiles(&[]), None);
/// ```
pub fn quartiles(values: &[f64]) -> Option<[f64; 3]> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([0.25, 0.5, 0.75].map(|q| {
        let at = q * last as f64;
        let (i, part) = (at.floor() as usize, at.fract());
        if part == 0.0 {
            sorted[i]
        } else {
            sorted[i] * (1.0 - part) + sorted[i + 1] * part
        }
    }))
}

/// The median as a marked line over a band between the quartiles, from samples at each x.
///
/// ```
/// use rosenblatt_plot::{Panel, spread};
/// let runs = [(1.0, vec![3.0, 4.0, 9.0]), (2.0, vec![2.0, 2.0, 5.0])];
/// let panel = Panel::new().layers(spread("averaged", &runs));
/// ```
pub fn spread(label: &str, samples: &[(f64, Vec<f64>)]) -> [Layer; 3] {
    let rows: Vec<(f64, [f64; 3])> = samples
        .iter()
        .filter_map(|(x, values)| quartiles(values).map(|q| (*x, q)))
        .collect();
    let band: Vec<(f64, f64, f64)> = rows.iter().map(|(x, q)| (*x, q[0], q[2])).collect();
    let median: Vec<(f64, f64)> = rows.iter().map(|(x, q)| (*x, q[1])).collect();
    [
        Layer::band(band).label(label),
        Layer::line(median.clone()).label(label),
        Layer::points(median).label(label),
    ]
}

pub(super) fn draw_line(
    piece: &mut Piece,
    plane: &Plane,
    points: &[(f64, f64)],
    steps: bool,
    look: &Look,
) {
    let mut pixels: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for &point in points {
        let here = plane.px(point);
        if let (true, Some(&(_, y))) = (steps, pixels.last()) {
            pixels.push((here.0, y));
        }
        pixels.push(here);
    }
    piece.path(&path(&pixels, false), &look.stroke());
}

pub(super) fn draw_band(piece: &mut Piece, plane: &Plane, rows: &[(f64, f64, f64)], look: &Look) {
    // A row that cannot be shown ends one polygon and starts the next.
    let pixels: Vec<[f64; 3]> = rows
        .iter()
        .map(|r| [plane.x.px(r.0), plane.y.px(r.1), plane.y.px(r.2)])
        .collect();
    for run in pixels.split(|row| row.iter().any(|v| !v.is_finite())) {
        let there = run.iter().map(|r| (r[0], r[1]));
        let back = run.iter().rev().map(|r| (r[0], r[2]));
        let outline: Vec<(f64, f64)> = there.chain(back).collect();
        piece.path(&path(&outline, true), &look.wash(0.22));
    }
}

pub(super) fn draw_ranges(piece: &mut Piece, plane: &Plane, rows: &[(f64, f64, f64)], look: &Look) {
    let mut pixels = Vec::new();
    for &(x, low, high) in rows {
        let (x, low, high) = (plane.x.px(x), plane.y.px(low), plane.y.px(high));
        let gap = (f64::NAN, f64::NAN);
        pixels.extend([(x, low), (x, high), gap]);
        pixels.extend([(x - 4.0, low), (x + 4.0, low), gap]);
        pixels.extend([(x - 4.0, high), (x + 4.0, high), gap]);
    }
    piece.path(&path(&pixels, false), &look.stroke_solid());
}

pub(super) fn draw_area(piece: &mut Piece, plane: &Plane, points: &[(f64, f64)], look: &Look) {
    let pixels: Vec<(f64, f64)> = points
        .iter()
        .map(|&p| plane.px(p))
        .filter(|p| p.0.is_finite() && p.1.is_finite())
        .collect();
    let outline = path(&pixels, true);
    if !look.hollow {
        piece.path(&outline, &look.wash(0.18));
    }
    if look.width > 0.0 {
        piece.path(&outline, &look.stroke());
    }
}
