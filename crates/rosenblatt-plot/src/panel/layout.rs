//! A panel whose sizes and labels are decided.

use super::Panel;
use super::color_bar::ColorBar;
use crate::axis::{Labels, Scale};
use crate::color::{GRID, INK, QUIET_GRID};
use crate::layer::{Layer, Plane};
use crate::svg::{Anchor, Piece, Type, leading, number};
use crate::text::{width, wrap};
use std::fmt::Write as _;

pub(super) const TITLE: f64 = 13.0;
const AXIS_TITLE: f64 = 13.0;
const TICK: f64 = 5.0;
const TICK_GAP: f64 = 4.0;

/// Room around a plotting area.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Margins {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// A panel with everything decided but its place.
pub(crate) struct PanelLayout<'a> {
    pub(super) panel: &'a Panel,
    pub(super) plane: Plane,
    pub(crate) w: f64,
    pub(crate) h: f64,
    pub(super) x_labels: Labels,
    pub(super) y_labels: Labels,
    pub(super) x_title: Vec<String>,
    pub(super) y_title: Vec<String>,
    pub(super) title: Vec<String>,
    /// Whether the axes carry words; in a grid with shared axes only the outer ones do.
    pub(super) words: (bool, bool),
    pub(super) bar: Option<ColorBar>,
    pub(crate) margins: Margins,
}

impl PanelLayout<'_> {
    pub(crate) fn has_axes(&self) -> bool {
        !(self.panel.x.hidden && self.panel.y.hidden)
    }

    pub(super) fn measure(&mut self) {
        let panel = self.panel;
        let mut m = Margins {
            left: 2.0,
            right: 2.0,
            top: 2.0,
            bottom: 2.0,
        };
        if !panel.x.hidden {
            m.bottom = TICK + 2.0;
            if self.words.0 {
                m.bottom += TICK_GAP + self.x_labels.depth;
                self.x_title = wrap(&panel.x.full_label(), AXIS_TITLE, false, self.w.max(120.0));
                m.bottom += self.x_title.len() as f64 * leading(AXIS_TITLE) + 3.0;
                let (before, after) = self.overhang();
                m.left = m.left.max(before);
                m.right = m.right.max(after);
                let title = widest(&self.x_title, AXIS_TITLE, false);
                m.left = m.left.max((title - self.w) / 2.0);
                m.right = m.right.max((title - self.w) / 2.0);
            }
        }
        if !panel.y.hidden {
            let mut left = TICK + 2.0;
            if self.words.1 {
                left += TICK_GAP + self.y_labels.depth;
                self.y_title = wrap(&panel.y.full_label(), AXIS_TITLE, false, self.h.max(120.0));
                left += self.y_title.len() as f64 * leading(AXIS_TITLE) + 5.0;
                m.top = m.top.max(self.y_labels.size * 0.6);
                let over = (widest(&self.y_title, AXIS_TITLE, false) - self.h) / 2.0;
                m.top = m.top.max(over);
                m.bottom = m.bottom.max(over);
            }
            m.left = m.left.max(left);
        }
        if !self.title.is_empty() {
            m.top = m.top.max(2.0) + self.title.len() as f64 * leading(TITLE) + 4.0;
            m.right = m.right.max(widest(&self.title, TITLE, true) - self.w);
        }
        if let Some(bar) = &self.bar {
            m.right = m.right.max(bar.depth());
        }
        self.margins = m;
    }

    /// How far the labels under the axis reach beyond its ends.
    fn overhang(&self) -> (f64, f64) {
        let labels = &self.x_labels;
        let (mut before, mut after) = (0f64, 0f64);
        for (value, lines) in &labels.at {
            let x = self.plane.x.px(*value);
            let wide = widest(lines, labels.size, false);
            if labels.turn == 0.0 {
                before = before.max(wide / 2.0 - x);
                after = after.max(x + wide / 2.0 - self.w);
            } else {
                before = before.max(wide * labels.turn.to_radians().cos() - x);
                after = after.max(x + labels.size - self.w);
            }
        }
        (before + 1.0, after + 1.0)
    }

    /// Draws the panel with its plotting area at `(left, top)`, as balanced pieces.
    pub(crate) fn draw(&self, left: f64, top: f64) -> Vec<String> {
        let mut pieces = Vec::new();
        let plane = Plane {
            x: self.plane.x.moved(left),
            y: self.plane.y.moved(top),
        };
        pieces.push(self.draw_title(left, top));
        let filled = self.panel.layers.iter().any(Layer::fills_panel);
        if !filled {
            pieces.push(self.draw_grid(&plane, left, top));
        }
        pieces.extend(self.panel.layers.iter().map(|layer| layer.draw(&plane)));
        pieces.push(self.draw_frame(left, top, filled));
        if !self.panel.x.hidden {
            pieces.push(self.draw_x(&plane, left, top));
        }
        if !self.panel.y.hidden {
            pieces.push(self.draw_y(&plane, left, top));
        }
        if let Some(bar) = &self.bar {
            pieces.push(bar.draw(left + self.w, top, self.h));
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    fn draw_title(&self, left: f64, top: f64) -> String {
        let mut piece = Piece::new();
        let face = Type {
            size: TITLE,
            bold: true,
            fill: INK,
            ..Type::default()
        };
        let count = self.title.len() as f64;
        for (i, line) in self.title.iter().enumerate() {
            let y = top - 8.0 - (count - 1.0 - i as f64) * leading(TITLE);
            piece.text(left, y, line, face);
        }
        newline(piece)
    }

    fn draw_grid(&self, plane: &Plane, left: f64, top: f64) -> String {
        let mut piece = Piece::new();
        let upright = |values: &mut dyn Iterator<Item = f64>| {
            values
                .filter(|v| plane.x.holds(*v))
                .fold(String::new(), |mut d, v| {
                    let _ = write!(
                        d,
                        "M{} {}v{}",
                        number(plane.x.px(v)),
                        number(top),
                        number(self.h)
                    );
                    d
                })
        };
        let level = |values: &mut dyn Iterator<Item = f64>| {
            values
                .filter(|v| plane.y.holds(*v))
                .fold(String::new(), |mut d, v| {
                    let _ = write!(
                        d,
                        "M{} {}h{}",
                        number(left),
                        number(plane.y.px(v)),
                        number(self.w)
                    );
                    d
                })
        };
        let (x, y) = (&self.panel.x, &self.panel.y);
        let mut quiet = String::new();
        let mut plain = String::new();
        if !x.hidden && x.names.is_none() {
            if x.scale == Scale::Log {
                quiet += &upright(&mut self.x_labels.minor.iter().copied());
            }
            plain += &upright(&mut self.x_labels.at.iter().map(|t| t.0));
        }
        if !y.hidden && y.names.is_none() {
            if y.scale == Scale::Log {
                quiet += &level(&mut self.y_labels.minor.iter().copied());
            }
            plain += &level(&mut self.y_labels.at.iter().map(|t| t.0));
        }
        piece.path(
            &quiet,
            &format!(" fill=\"none\" stroke=\"{QUIET_GRID}\" stroke-width=\"1\""),
        );
        piece.path(
            &plain,
            &format!(" fill=\"none\" stroke=\"{GRID}\" stroke-width=\"1\""),
        );
        newline(piece)
    }

    fn draw_frame(&self, left: f64, top: f64, filled: bool) -> String {
        let mut piece = Piece::new();
        if self.panel.bare {
            return String::new();
        }
        let line = " fill=\"none\" stroke-width=\"1\" stroke=";
        let boxed = filled || self.panel.equal;
        if boxed {
            piece.rect(left, top, self.w, self.h, &format!("{line}\"{GRID}\""));
        }
        let mut d = String::new();
        if !self.panel.y.hidden && !filled {
            let _ = write!(d, "M{} {}v{}", number(left), number(top), number(self.h));
        }
        if !self.panel.x.hidden && !filled {
            let _ = write!(
                d,
                "M{} {}h{}",
                number(left),
                number(top + self.h),
                number(self.w)
            );
        }
        piece.path(&d, &format!("{line}\"{INK}\""));
        newline(piece)
    }

    fn draw_x(&self, plane: &Plane, left: f64, top: f64) -> String {
        let mut piece = Piece::new();
        let labels = &self.x_labels;
        let base = top + self.h;
        piece.open("g", " class=\"x-axis\"");
        let mut d = String::new();
        for (value, _) in &labels.at {
            let _ = write!(
                d,
                "M{} {}v{}",
                number(plane.x.px(*value)),
                number(base),
                number(TICK)
            );
        }
        piece.path(
            &d,
            &format!(" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1\""),
        );
        if self.words.0 {
            let face = Type {
                size: labels.size,
                fill: INK,
                ..Type::default()
            };
            for (value, lines) in &labels.at {
                let x = plane.x.px(*value);
                let y = base + TICK + TICK_GAP + labels.size * 0.78;
                if labels.turn == 0.0 {
                    for (i, line) in lines.iter().enumerate() {
                        let face = Type {
                            anchor: Anchor::Middle,
                            ..face
                        };
                        piece.text(x, y + i as f64 * labels.size * 1.2, line, face);
                    }
                } else if let Some(line) = lines.first() {
                    let face = Type {
                        anchor: Anchor::End,
                        turn: labels.turn,
                        ..face
                    };
                    piece.text(x + labels.size * 0.4, y, line, face);
                }
            }
        }
        piece.close("g");
        let face = Type {
            size: AXIS_TITLE,
            fill: INK,
            anchor: Anchor::Middle,
            ..Type::default()
        };
        for (i, line) in self.x_title.iter().enumerate() {
            let y = base
                + TICK
                + TICK_GAP
                + labels.depth
                + 3.0
                + leading(AXIS_TITLE) * i as f64
                + AXIS_TITLE;
            piece.text(left + self.w / 2.0, y, line, face);
        }
        newline(piece)
    }

    fn draw_y(&self, plane: &Plane, left: f64, top: f64) -> String {
        let mut piece = Piece::new();
        let labels = &self.y_labels;
        piece.open("g", " class=\"y-axis\"");
        let mut d = String::new();
        for (value, _) in &labels.at {
            let _ = write!(
                d,
                "M{} {}h{}",
                number(left - TICK),
                number(plane.y.px(*value)),
                number(TICK)
            );
        }
        piece.path(
            &d,
            &format!(" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1\""),
        );
        if self.words.1 {
            let face = Type {
                size: labels.size,
                fill: INK,
                anchor: Anchor::End,
                ..Type::default()
            };
            for (value, lines) in &labels.at {
                let y = plane.y.px(*value) + labels.size * 0.36;
                piece.text(left - TICK - TICK_GAP, y, &lines.concat(), face);
            }
        }
        piece.close("g");
        let face = Type {
            size: AXIS_TITLE,
            fill: INK,
            anchor: Anchor::Middle,
            turn: -90.0,
            ..Type::default()
        };
        for (i, line) in self.y_title.iter().enumerate() {
            let over = (self.y_title.len() - 1 - i) as f64 * leading(AXIS_TITLE);
            let x = left - TICK - TICK_GAP - labels.depth - 9.0 - over;
            piece.text(x, top + self.h / 2.0, line, face);
        }
        newline(piece)
    }
}

pub(super) fn newline(piece: Piece) -> String {
    let mut text = piece.finish();
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn widest(lines: &[String], size: f64, bold: bool) -> f64 {
    lines
        .iter()
        .map(|l| width(l, size, bold))
        .fold(0.0, f64::max)
}
