//! The scale of colours beside a heat map.

use super::layout::newline;
use crate::axis::{Axis, Labels, Ruler, Scale, labels_beside};
use crate::color::{GRID, INK, LEVELS};
use crate::layer::HeatMap;
use crate::svg::{Anchor, Piece, Type, fit, number};
use std::fmt::Write as _;

/// The scale of colours beside a heat map.
pub(super) struct ColorBar {
    map: HeatMap,
    labels: Labels,
    label: String,
}

impl ColorBar {
    const GAP: f64 = 12.0;
    const WIDTH: f64 = 12.0;
    const TEXT: f64 = 10.5;

    pub(super) fn new(map: &HeatMap, height: f64) -> Self {
        let ruler = Ruler::new(Scale::Linear, map.ends(), height, 0.0);
        let labels = labels_beside(&Axis::linear(""), &ruler, Self::TEXT, 38.0);
        let label = fit(
            map.scale_label.as_deref().unwrap_or(""),
            11.5,
            false,
            height.max(120.0),
        );
        ColorBar {
            map: map.clone(),
            labels,
            label,
        }
    }

    pub(super) fn depth(&self) -> f64 {
        let label = if self.label.is_empty() { 0.0 } else { 18.0 };
        Self::GAP + Self::WIDTH + 8.0 + self.labels.depth + label
    }

    pub(super) fn draw(&self, left: f64, top: f64, height: f64) -> String {
        let mut piece = Piece::new();
        let left = left + Self::GAP;
        piece.open("g", " class=\"scale\"");
        piece.open("g", " shape-rendering=\"crispEdges\"");
        let slice = height / LEVELS as f64;
        for level in 0..LEVELS {
            let y = top + height - (level + 1) as f64 * slice;
            let fill = format!(" fill=\"{}\"", self.map.palette.level_hex(level));
            piece.rect(left, y, Self::WIDTH, slice + 0.4, &fill);
        }
        piece.close("g");
        let outline = format!(" fill=\"none\" stroke=\"{GRID}\" stroke-width=\"1\"");
        piece.rect(left, top, Self::WIDTH, height, &outline);
        let face = Type {
            size: Self::TEXT,
            fill: INK,
            ..Type::default()
        };
        let mut d = String::new();
        for (value, lines) in &self.labels.at {
            let y = top + height * (1.0 - self.map.position(*value));
            let _ = write!(d, "M{} {}h3", number(left + Self::WIDTH), number(y));
            piece.text(
                left + Self::WIDTH + 6.0,
                y + Self::TEXT * 0.36,
                &lines.concat(),
                face,
            );
        }
        piece.path(
            &d,
            &format!(" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1\""),
        );
        let face = Type {
            size: 11.5,
            fill: INK,
            anchor: Anchor::Middle,
            turn: -90.0,
            ..Type::default()
        };
        let x = left + Self::WIDTH + 6.0 + self.labels.depth + 15.0;
        piece.text(x, top + height / 2.0, &self.label, face);
        piece.close("g");
        newline(piece)
    }
}
