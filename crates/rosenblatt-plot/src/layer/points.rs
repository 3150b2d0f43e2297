//! Points with markers that differ in shape as well as in colour.

use super::{Layer, Look, Plane, Shape};
use crate::svg::{Piece, number, path};

impl Layer {
    /// Points, each with a marker.
    pub fn points(points: impl Into<Vec<(f64, f64)>>) -> Self {
        Layer::new(Shape::Points(points.into()))
    }
}

/// The shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle on its base.
    Triangle,
    /// A square on its tip.
    Diamond,
    /// A diagonal cross.
    Cross,
    /// An upright cross.
    Plus,
    /// A triangle on its tip.
    TriangleDown,
    /// A five-pointed star.
    Star,
    /// A small dot, for very many points.
    Dot,
}

impl Marker {
    const CYCLE: [Marker; 8] = [
        Marker::Circle,
        Marker::Square,
        Marker::Triangle,
        Marker::Diamond,
        Marker::Cross,
        Marker::TriangleDown,
        Marker::Plus,
        Marker::Star,
    ];

    /// The marker a series takes when none is chosen.
    pub(super) fn of_series(series: usize) -> Self {
        Self::CYCLE[series % Self::CYCLE.len()]
    }

    /// Strokes about the origin, sized so that all markers look equally large; whether they close.
    fn outline(self, r: f64) -> (Vec<(f64, f64)>, bool) {
        let gap = (f64::NAN, f64::NAN);
        let corners = |count: usize, radius: f64, start: f64| -> Vec<(f64, f64)> {
            (0..count)
                .map(|i| {
                    let angle = start + i as f64 / count as f64 * std::f64::consts::TAU;
                    (radius * angle.cos(), radius * angle.sin())
                })
                .collect()
        };
        let up = -std::f64::consts::FRAC_PI_2;
        match self {
            Marker::Circle | Marker::Dot => (Vec::new(), true),
            Marker::Square => {
                let s = r * 0.88;
                (vec![(-s, -s), (s, -s), (s, s), (-s, s)], true)
            }
            Marker::Triangle => (corners(3, r * 1.25, up), true),
            Marker::TriangleDown => (corners(3, r * 1.25, -up), true),
            Marker::Diamond => (corners(4, r * 1.22, up), true),
            Marker::Cross => {
                let s = r * 0.9;
                (vec![(-s, -s), (s, s), gap, (-s, s), (s, -s)], false)
            }
            Marker::Plus => {
                let s = r * 1.2;
                (vec![(-s, 0.0), (s, 0.0), gap, (0.0, -s), (0.0, s)], false)
            }
            Marker::Star => {
                let outer = corners(5, r * 1.35, up);
                let inner = corners(5, r * 0.58, up + std::f64::consts::PI / 5.0);
                (
                    outer
                        .into_iter()
                        .zip(inner)
                        .flat_map(|(a, b)| [a, b])
                        .collect(),
                    true,
                )
            }
        }
    }
}

pub(super) fn draw(piece: &mut Piece, plane: &Plane, points: &[(f64, f64)], look: &Look) {
    for &(x, y) in points {
        if plane.x.holds(x) && plane.y.holds(y) {
            let (px, py) = plane.px((x, y));
            draw_one(piece, px, py, look);
        }
    }
}

pub(super) fn draw_one(piece: &mut Piece, x: f64, y: f64, look: &Look) {
    let small = look.marker == Marker::Dot;
    let r = look.size.unwrap_or(if small { 2.6 } else { 7.6 }) / 2.0;
    let (outline, closed) = look.marker.outline(r);
    let opacity = look.opacity.unwrap_or(1.0);
    let mut attributes = if !closed || look.hollow {
        format!(
            " fill=\"none\" stroke=\"{}\" stroke-width=\"1.7\"",
            look.color
        )
    } else if small {
        format!(" fill=\"{}\"", look.color)
    } else {
        // A thin rim of paper keeps overlapping markers apart.
        format!(
            " fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"0.7\"",
            look.color
        )
    };
    if opacity < 1.0 {
        attributes.push_str(&format!(" opacity=\"{}\"", number(opacity)));
    }
    if outline.is_empty() {
        piece.element(
            "circle",
            &format!(
                " cx=\"{}\" cy=\"{}\" r=\"{}\"{attributes}",
                number(x),
                number(y),
                number(r)
            ),
        );
    } else {
        let moved: Vec<(f64, f64)> = outline.iter().map(|p| (x + p.0, y + p.1)).collect();
        piece.path(&path(&moved, closed), &attributes);
    }
}
