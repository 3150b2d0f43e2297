//! The legend, beside the panels or below them.

use crate::color::INK;
use crate::layer::{Layer, Shape};
use crate::svg::{Piece, Type, fit, leading};
use crate::text::{width, wrap};

pub(super) const KEY: f64 = 36.0;
pub(super) const KEY_TEXT: f64 = 12.0;
const KEY_LINE: f64 = 21.0;
pub(super) const LONGEST_KEY: f64 = 190.0;

/// A legend entry: a label and the layers that share it.
pub(super) struct Entry<'a> {
    pub(super) label: String,
    pub(super) keys: Vec<(&'a Layer, usize)>,
}

impl Entry<'_> {
    fn draw_key(&self, piece: &mut Piece, x: f64, y: f64) {
        // Washes first, then lines, then markers.
        let rank = |layer: &Layer| match layer.shape {
            Shape::Regions(_) | Shape::Band(_) | Shape::Area(_) | Shape::Histogram { .. } => 0,
            Shape::Points(_) => 2,
            _ => 1,
        };
        let mut keys = self.keys.clone();
        keys.sort_by_key(|(layer, _)| rank(layer));
        for (layer, index) in keys {
            layer.draw_key(piece, x, y, index);
        }
    }
}

pub(super) fn legend_right(entries: &[Entry<'_>], x: f64, top: f64, middle: f64) -> (String, f64) {
    let lines: Vec<Vec<String>> = entries
        .iter()
        .map(|e| wrap(&e.label, KEY_TEXT, false, LONGEST_KEY))
        .collect();
    let tall = |lines: &Vec<String>| KEY_LINE + (lines.len().max(1) - 1) as f64 * leading(KEY_TEXT);
    let height: f64 = lines.iter().map(tall).sum();
    let start = (middle - height / 2.0).max(0.0);
    let mut piece = Piece::new();
    piece.open("g", " class=\"legend\"");
    let mut y = top + start;
    for (entry, lines) in entries.iter().zip(&lines) {
        entry.draw_key(&mut piece, x + 13.0, y + KEY_LINE / 2.0);
        for (i, line) in lines.iter().enumerate() {
            let base = y + KEY_LINE / 2.0 + KEY_TEXT * 0.36 + i as f64 * leading(KEY_TEXT);
            piece.text(
                x + KEY,
                base,
                line,
                Type {
                    size: KEY_TEXT,
                    fill: INK,
                    ..Type::default()
                },
            );
        }
        y += tall(lines);
    }
    piece.close("g");
    (piece.finish() + "\n", start + height)
}

pub(super) fn legend_below(entries: &[Entry<'_>], left: f64, top: f64, room: f64) -> (String, f64) {
    let mut piece = Piece::new();
    piece.open("g", " class=\"legend\"");
    let (mut x, mut y) = (0.0, 0.0);
    for entry in entries {
        let label = fit(&entry.label, KEY_TEXT, false, room - KEY);
        let wide = KEY + width(&label, KEY_TEXT, false);
        if x > 0.0 && x + wide > room {
            x = 0.0;
            y += KEY_LINE;
        }
        entry.draw_key(&mut piece, left + x + 13.0, top + y + KEY_LINE / 2.0);
        let base = top + y + KEY_LINE / 2.0 + KEY_TEXT * 0.36;
        piece.text(
            left + x + KEY,
            base,
            &label,
            Type {
                size: KEY_TEXT,
                fill: INK,
                ..Type::default()
            },
        );
        x += wide + 22.0;
    }
    piece.close("g");
    (piece.finish() + "\n", y + KEY_LINE)
}
