//! Words, arrows and reference lines.

use super::{Layer, Look, Plane, Shape, Style};
use crate::svg::{Anchor, Piece, Type, leading, path};
use crate::text::width;

/// The side of a point on which a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    /// On the point itself.
    #[default]
    Center,
    /// Left of the point.
    Left,
    /// Right of the point.
    Right,
    /// Over the point.
    Above,
    /// Under the point.
    Below,
}

/// A line that goes on for ever.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    Horizontal(f64),
    Vertical(f64),
    /// {(x, y) : a·x + b·y + c = 0}
    Boundary(f64, f64, f64),
}

impl Layer {
    /// Words at a point. A newline starts a second line.
    pub fn text(at: (f64, f64), text: impl Into<String>) -> Self {
        Layer::new(Shape::Text {
            at,
            text: text.into(),
        })
    }

    /// An arrow.
    pub fn arrow(from: (f64, f64), to: (f64, f64)) -> Self {
        Layer::new(Shape::Arrow {
            from,
            to,
            both: false,
        })
    }

    /// An arrow with a head at both ends, to show a distance.
    pub fn distance(from: (f64, f64), to: (f64, f64)) -> Self {
        Layer::new(Shape::Arrow {
            from,
            to,
            both: true,
        })
    }

    /// A reference line at a height: a bound, a base rate.
    ///
    /// ```
    /// use rosenblatt_plot::Layer;
    /// let bound = Layer::horizontal(412.0).label("bound R²/γ²").note("412");
    /// ```
    pub fn horizontal(y: f64) -> Self {
        Layer::new(Shape::Rule(Rule::Horizontal(y)))
    }

    /// An upright reference line.
    pub fn vertical(x: f64) -> Self {
        Layer::new(Shape::Rule(Rule::Vertical(x)))
    }

    /// The boundary of a linear classifier, {v : w·v + bias = 0}, across the whole panel.
    pub fn boundary(weights: [f64; 2], bias: f64) -> Self {
        Layer::new(Shape::Rule(Rule::Boundary(weights[0], weights[1], bias)))
    }
}

impl Rule {
    /// What the line adds to the ranges of x and y: only what cannot be missed.
    #[allow(clippy::type_complexity)] // two ranges, either of which may be missing
    pub(super) fn extent(self) -> (Option<(f64, f64)>, Option<(f64, f64)>) {
        match self {
            Rule::Horizontal(y) if y.is_finite() => (None, Some((y, y))),
            Rule::Vertical(x) if x.is_finite() => (Some((x, x)), None),
            _ => (None, None),
        }
    }

    /// The two points where the line leaves the panel, in data units.
    fn ends(self, plane: &Plane) -> Option<[(f64, f64); 2]> {
        let (x, y) = (plane.x, plane.y);
        let ends = match self {
            Rule::Horizontal(at) => [(x.low, at), (x.high, at)],
            Rule::Vertical(at) => [(at, y.low), (at, y.high)],
            Rule::Boundary(a, b, c) => {
                // Solve for the coordinate along which the line is flatter on the screen.
                let (across, up) = (a * (x.high - x.low), b * (y.high - y.low));
                if across.abs() <= up.abs() {
                    let at = |v: f64| (-c - a * v) / b;
                    [(x.low, at(x.low)), (x.high, at(x.high))]
                } else {
                    let at = |v: f64| (-c - b * v) / a;
                    [(at(y.low), y.low), (at(y.high), y.high)]
                }
            }
        };
        ends.iter()
            .all(|p| p.0.is_finite() && p.1.is_finite())
            .then_some(ends)
    }

    pub(super) fn draw(self, piece: &mut Piece, plane: &Plane, style: &Style, look: &Look) {
        let Some([from, to]) = self.ends(plane) else {
            return;
        };
        let (from, to) = (plane.px(from), plane.px(to));
        piece.line(from, to, &look.stroke());
        let Some(note) = &style.note else { return };
        let face = Type {
            size: look.size.unwrap_or(12.0),
            fill: &look.color,
            halo: true,
            ..Type::default()
        };
        let ((x0, x1), (y0, y1)) = (plane.x.ends(), plane.y.ends());
        match self {
            Rule::Vertical(_) => {
                let wide = width(note, face.size, false);
                let right = from.0 + 5.0 + wide <= x1;
                let anchor = if right { Anchor::Start } else { Anchor::End };
                let x = from.0 + if right { 5.0 } else { -5.0 };
                piece.text(x, y0 + face.size + 2.0, note, Type { anchor, ..face });
            }
            Rule::Horizontal(_) | Rule::Boundary(..) => {
                let left = style.side == Some(Side::Left);
                let end = if (to.0 >= from.0) != left { to } else { from };
                let anchor = if left { Anchor::Start } else { Anchor::End };
                let below = style.side == Some(Side::Below) || end.1 - 5.0 - face.size < y0;
                let y = end.1 + if below { face.size + 3.0 } else { -5.0 };
                let y = y.min(y1 - 4.0).max(y0 + face.size);
                let x = if left {
                    end.0.max(x0) + 5.0
                } else {
                    end.0.min(x1) - 5.0
                };
                piece.text(x, y, note, Type { anchor, ..face });
            }
        }
    }
}

pub(super) fn draw_text(
    piece: &mut Piece,
    plane: &Plane,
    at: (f64, f64),
    text: &str,
    style: &Style,
    look: &Look,
) {
    let point = plane.px(at);
    set_words(piece, plane, point, text, style, look);
}

fn set_words(
    piece: &mut Piece,
    plane: &Plane,
    (x, y): (f64, f64),
    text: &str,
    style: &Style,
    look: &Look,
) {
    if !(x.is_finite() && y.is_finite()) {
        return;
    }
    let size = look.size.unwrap_or(12.0);
    let line = leading(size);
    let lines: Vec<&str> = text.lines().collect();
    let wide = lines
        .iter()
        .map(|l| width(l, size, style.bold))
        .fold(0.0, f64::max);
    let tall = line * lines.len() as f64;
    let gap = size * 0.6;
    let (left, top) = match style.side.unwrap_or_default() {
        Side::Center => (x - wide / 2.0, y - tall / 2.0),
        Side::Left => (x - wide - gap, y - tall / 2.0),
        Side::Right => (x + gap, y - tall / 2.0),
        Side::Above => (x - wide / 2.0, y - tall - gap),
        Side::Below => (x - wide / 2.0, y + gap),
    };
    // Words stay inside the panel where they can.
    let ((x0, x1), (y0, y1)) = (plane.x.ends(), plane.y.ends());
    let left = left.min(x1 - wide).max(x0);
    let top = top.min(y1 - tall).max(y0);
    let face = Type {
        size,
        bold: style.bold,
        fill: &look.color,
        // Centred words usually stand inside a shape of their own.
        halo: style.side.unwrap_or_default() != Side::Center,
        ..Type::default()
    };
    for (i, words) in lines.iter().enumerate() {
        let inset = match style.side.unwrap_or_default() {
            Side::Left => wide - width(words, size, style.bold),
            Side::Right => 0.0,
            _ => (wide - width(words, size, style.bold)) / 2.0,
        };
        piece.text(left + inset, top + line * i as f64 + size, words, face);
    }
}

pub(super) fn draw_arrow(
    piece: &mut Piece,
    plane: &Plane,
    from: (f64, f64),
    to: (f64, f64),
    both: bool,
    style: &Style,
    look: &Look,
) {
    let (from, to) = (plane.px(from), plane.px(to));
    if [from.0, from.1, to.0, to.1].iter().any(|v| !v.is_finite()) {
        return;
    }
    arrow_marks(piece, from, to, both, look);
    if let Some(note) = &style.note {
        // Beside the middle: over a flat arrow, right of a steep one.
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        let steep = (to.1 - from.1).abs() > (to.0 - from.0).abs();
        let side = style
            .side
            .unwrap_or(if steep { Side::Right } else { Side::Above });
        let style = Style {
            side: Some(side),
            ..style.clone()
        };
        set_words(piece, plane, middle, note, &style, look);
    }
}

/// Shaft and heads between two pixels.
pub(super) fn arrow_marks(
    piece: &mut Piece,
    from: (f64, f64),
    to: (f64, f64),
    both: bool,
    look: &Look,
) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 1e-6 {
        return;
    }
    let (ux, uy) = (dx / length, dy / length);
    let head = (5.0 + look.width * 2.0).min(length / if both { 2.0 } else { 1.0 });
    let half = head * 0.42;
    let inset = head * 0.8;
    let start = if both {
        (from.0 + ux * inset, from.1 + uy * inset)
    } else {
        from
    };
    let end = (to.0 - ux * inset, to.1 - uy * inset);
    piece.line(start, end, &look.stroke());
    let mut tip = |at: (f64, f64), ux: f64, uy: f64| {
        let back = (at.0 - ux * head, at.1 - uy * head);
        let corners = [
            at,
            (back.0 - uy * half, back.1 + ux * half),
            (back.0 + uy * half, back.1 - ux * half),
        ];
        piece.path(&path(&corners, true), &look.wash(1.0));
    };
    tip(to, ux, uy);
    if both {
        tip(from, -ux, -uy);
    }
}
