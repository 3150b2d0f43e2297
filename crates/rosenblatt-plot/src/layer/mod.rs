//! What a panel shows, one layer over another.

mod bars;
mod heat;
mod lines;
mod notes;
mod points;
mod regions;

pub use bars::bin_edges;
pub use heat::HeatMap;
pub use lines::{quartiles, spread};
pub use notes::Side;
pub use points::Marker;
pub use regions::Regions;

use crate::axis::{Axis, Ruler, widen};
use crate::color::Color;
use crate::svg::{Piece, number};
use std::fmt::Write as _;

/// How a line is broken up, so that series differ without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dash {
    /// Unbroken.
    #[default]
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Dash, dot, dash, dot.
    DashDot,
    /// Long dashes.
    Long,
}

impl Dash {
    const CYCLE: [Dash; 5] = [
        Dash::Solid,
        Dash::Dashed,
        Dash::DashDot,
        Dash::Dotted,
        Dash::Long,
    ];

    fn pattern(self) -> &'static str {
        match self {
            Dash::Solid => "",
            Dash::Dashed => "7 4",
            Dash::Dotted => "2 3",
            Dash::DashDot => "8 3 2 3",
            Dash::Long => "14 4",
        }
    }
}

/// What all layers have in common; what is not said is chosen by the series.
#[derive(Debug, Clone, Default)]
pub(crate) struct Style {
    pub(crate) label: Option<String>,
    pub(crate) series: Option<usize>,
    color: Option<Color>,
    dash: Option<Dash>,
    marker: Option<Marker>,
    hollow: bool,
    width: Option<f64>,
    size: Option<f64>,
    opacity: Option<f64>,
    pub(crate) note: Option<String>,
    pub(crate) side: Option<Side>,
    pub(crate) bold: bool,
}

/// One layer of a panel: points, a line, a band, bars, a heat map, a note.
///
/// Colour, dash and marker follow from the layer's *series*: layers with the same label share one,
/// others count up. Any of them can be set by hand. Values that are not finite, and values that are
/// not positive on a logarithmic axis, are left out; in a line they leave a gap.
///
/// ```
/// use rosenblatt_plot::{Layer, Marker};
/// let median = [(1.0, 12.0), (2.0, 7.0), (3.0, 5.0)];
/// let layer = Layer::points(median).label("averaged").marker(Marker::Diamond);
/// ```
#[derive(Debug, Clone)]
pub struct Layer {
    pub(crate) shape: Shape,
    pub(crate) style: Style,
}

#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Line {
        points: Vec<(f64, f64)>,
        steps: bool,
    },
    Band(Vec<(f64, f64, f64)>),
    Ranges(Vec<(f64, f64, f64)>),
    Area(Vec<(f64, f64)>),
    Points(Vec<(f64, f64)>),
    Bars(bars::Bars),
    Histogram {
        edges: Vec<f64>,
        counts: Vec<f64>,
    },
    Heat(HeatMap),
    Regions(Regions),
    Text {
        at: (f64, f64),
        text: String,
    },
    Arrow {
        from: (f64, f64),
        to: (f64, f64),
        both: bool,
    },
    Rule(notes::Rule),
}

impl Layer {
    pub(crate) fn new(shape: Shape) -> Self {
        Layer {
            shape,
            style: Style::default(),
        }
    }

    /// The name in the legend; layers with the same name share a series and a legend entry.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.style.label = Some(label.into());
        self
    }

    /// Takes colour, dash, marker and tint of this series.
    #[must_use]
    pub fn series(mut self, series: usize) -> Self {
        self.style.series = Some(series);
        self
    }

    /// Draws in this colour.
    #[must_use]
    pub fn color(mut self, color: Color) -> Self {
        self.style.color = Some(color);
        self
    }

    /// Breaks lines this way.
    #[must_use]
    pub fn dash(mut self, dash: Dash) -> Self {
        self.style.dash = Some(dash);
        self
    }

    /// Marks points this way.
    #[must_use]
    pub fn marker(mut self, marker: Marker) -> Self {
        self.style.marker = Some(marker);
        self
    }

    /// Leaves markers, areas and bars unfilled.
    #[must_use]
    pub fn hollow(mut self) -> Self {
        self.style.hollow = true;
        self
    }

    /// The width of lines in pixels.
    #[must_use]
    pub fn width(mut self, pixels: f64) -> Self {
        self.style.width = Some(pixels);
        self
    }

    /// The diameter of markers, or the height of text, in pixels.
    #[must_use]
    pub fn size(mut self, pixels: f64) -> Self {
        self.style.size = Some(pixels);
        self
    }

    /// How opaque the layer is, from 0 to 1.
    #[must_use]
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.style.opacity = Some(opacity);
        self
    }

    /// A few words beside a reference line or the middle of an arrow.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.style.note = Some(note.into());
        self
    }

    /// The side of its point on which a text stands. For the note of a reference line, which stands
    /// above its right end, `Below` and `Left` move it.
    #[must_use]
    pub fn side(mut self, side: Side) -> Self {
        self.style.side = Some(side);
        self
    }

    /// Heavier letters in a text.
    #[must_use]
    pub fn bold(mut self) -> Self {
        self.style.bold = true;
        self
    }

    /// Whether a series must still be found for the layer.
    pub(crate) fn needs_series(&self) -> bool {
        let marked = self.style.series.is_some() || self.style.color.is_some();
        !marked
            && !matches!(
                self.shape,
                Shape::Heat(_)
                    | Shape::Regions(_)
                    | Shape::Text { .. }
                    | Shape::Arrow { .. }
                    | Shape::Rule(_)
            )
    }

    /// The labels the layer brings to the legend, with the series each needs.
    pub(crate) fn legend_labels(&self) -> Vec<(String, Option<usize>)> {
        if let Shape::Regions(regions) = &self.shape {
            return (0..regions.names.len())
                .map(|i| (regions.names[i].clone(), Some(i)))
                .collect();
        }
        self.style
            .label
            .iter()
            .map(|l| (l.clone(), self.style.series))
            .collect()
    }

    /// The extent of the data that can be shown on these axes.
    pub(crate) fn extent(&self, x: &Axis, y: &Axis) -> (Extent, Extent) {
        let mut ends = (None, None);
        let mut take = |px: f64, py: f64| {
            if x.shows(px) && y.shows(py) {
                ends = (widen(ends.0, px), widen(ends.1, py));
            }
        };
        match &self.shape {
            Shape::Line { points, .. } | Shape::Points(points) | Shape::Area(points) => {
                points.iter().for_each(|p| take(p.0, p.1));
            }
            Shape::Band(rows) | Shape::Ranges(rows) => rows.iter().for_each(|r| {
                take(r.0, r.1);
                take(r.0, r.2);
            }),
            Shape::Bars(bars) => bars.corners().for_each(|p| take(p.0, p.1)),
            Shape::Histogram { edges, counts } => {
                for (pair, count) in edges.windows(2).zip(counts) {
                    take(pair[0], *count);
                    take(pair[1], *count);
                }
                if let (Some(first), true) = (edges.first(), y.scale == crate::Scale::Linear) {
                    take(*first, 0.0);
                }
            }
            Shape::Heat(map) => {
                take(-0.5, -0.5);
                take(map.columns as f64 - 0.5, map.rows() as f64 - 0.5);
            }
            Shape::Regions(regions) => {
                take(regions.x.0, regions.y.0);
                take(regions.x.1, regions.y.1);
            }
            Shape::Text { at, .. } => take(at.0, at.1),
            Shape::Arrow { from, to, .. } => {
                take(from.0, from.1);
                take(to.0, to.1);
            }
            Shape::Rule(rule) => {
                let (rx, ry) = rule.extent();
                return (rx.filter(|v| x.shows(v.0)), ry.filter(|v| y.shows(v.0)));
            }
        }
        ends
    }

    /// Whether data reach the edges of their extent exactly, so that no air is wanted around them.
    pub(crate) fn fills_panel(&self) -> bool {
        matches!(self.shape, Shape::Heat(_) | Shape::Regions(_))
    }

    /// Whether the layer stands on the axis at zero.
    pub(crate) fn stands_on_axis(&self) -> bool {
        matches!(self.shape, Shape::Bars(_) | Shape::Histogram { .. })
    }

    /// Whether marks may stand over the edge of the plotting area.
    fn spills(&self) -> bool {
        matches!(
            self.shape,
            Shape::Points(_) | Shape::Text { .. } | Shape::Arrow { .. }
        )
    }

    /// Draws the layer as one balanced piece.
    pub(crate) fn draw(&self, plane: &Plane) -> String {
        let mut piece = Piece::new();
        let look = Look::of(self);
        match &self.shape {
            Shape::Line { points, steps } => {
                lines::draw_line(&mut piece, plane, points, *steps, &look)
            }
            Shape::Band(rows) => lines::draw_band(&mut piece, plane, rows, &look),
            Shape::Ranges(rows) => lines::draw_ranges(&mut piece, plane, rows, &look),
            Shape::Area(points) => lines::draw_area(&mut piece, plane, points, &look),
            Shape::Points(points) => points::draw(&mut piece, plane, points, &look),
            Shape::Bars(bars) => bars.draw(&mut piece, plane, &look),
            Shape::Histogram { edges, counts } => {
                bars::draw_histogram(&mut piece, plane, edges, counts, &look);
            }
            Shape::Heat(map) => map.draw(&mut piece, plane),
            Shape::Regions(regions) => regions.draw(&mut piece, plane, &look),
            Shape::Text { at, text } => {
                notes::draw_text(&mut piece, plane, *at, text, &self.style, &look)
            }
            Shape::Arrow { from, to, both } => {
                notes::draw_arrow(&mut piece, plane, *from, *to, *both, &self.style, &look);
            }
            Shape::Rule(rule) => rule.draw(&mut piece, plane, &self.style, &look),
        }
        if piece.is_empty() {
            return String::new();
        }
        let ((x0, x1), (y0, y1)) = (plane.x.ends(), plane.y.ends());
        let body = piece.finish();
        if self.spills() {
            return format!("<g>{body}</g>\n");
        }
        // A nested viewport clips without the need for an id, which might clash in a page.
        let (x, y, w, h) = (number(x0), number(y0), number(x1 - x0), number(y1 - y0));
        format!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">{body}</svg>\n"
        )
    }

    /// Draws the layer's part of a legend key, in a box around `(x, y)`.
    pub(crate) fn draw_key(&self, piece: &mut Piece, x: f64, y: f64, index: usize) {
        let look = Look::of(self);
        match &self.shape {
            Shape::Line { .. } | Shape::Rule(_) => {
                piece.line((x - 13.0, y), (x + 13.0, y), &look.stroke());
            }
            Shape::Band(_) => piece.rect(x - 13.0, y - 6.0, 26.0, 12.0, &look.wash(0.22)),
            Shape::Ranges(_) => piece.line((x, y - 7.0), (x, y + 7.0), &look.stroke_solid()),
            Shape::Points(_) => points::draw_one(piece, x, y, &look),
            Shape::Bars(_) => piece.rect(x - 11.0, y - 6.0, 22.0, 12.0, &look.bar()),
            Shape::Area(_) | Shape::Histogram { .. } => {
                let wash = if matches!(self.shape, Shape::Area(_)) {
                    0.18
                } else {
                    look.tint()
                };
                if !look.hollow {
                    piece.rect(x - 11.0, y - 6.0, 22.0, 12.0, &look.wash(wash));
                }
                piece.rect(x - 11.0, y - 6.0, 22.0, 12.0, &look.stroke());
            }
            Shape::Regions(regions) => {
                piece.rect(x - 13.0, y - 7.0, 26.0, 14.0, &regions.fill(index, &look));
            }
            Shape::Arrow { .. } => {
                notes::arrow_marks(piece, (x - 13.0, y), (x + 13.0, y), false, &look);
            }
            Shape::Heat(_) | Shape::Text { .. } => {}
        }
    }
}

type Extent = Option<(f64, f64)>;

/// The two rulers of a panel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plane {
    pub(crate) x: Ruler,
    pub(crate) y: Ruler,
}

impl Plane {
    pub(crate) fn px(&self, point: (f64, f64)) -> (f64, f64) {
        (self.x.px(point.0), self.y.px(point.1))
    }
}

/// A style with all its choices made.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    color: String,
    dash: Dash,
    marker: Marker,
    hollow: bool,
    width: f64,
    size: Option<f64>,
    opacity: Option<f64>,
    series: usize,
}

impl Look {
    fn of(layer: &Layer) -> Self {
        let style = &layer.style;
        let series = style.series.unwrap_or(0);
        let (color, dash, width) = match layer.shape {
            Shape::Rule(_) => (Color::Ink, Dash::Dashed, 1.4),
            Shape::Text { .. } | Shape::Arrow { .. } => (Color::Ink, Dash::Solid, 1.6),
            Shape::Area(_) => (Color::Series(series), Dash::Solid, 1.4),
            Shape::Histogram { .. } => (
                Color::Series(series),
                Dash::CYCLE[series % Dash::CYCLE.len()],
                1.5,
            ),
            _ => (
                Color::Series(series),
                Dash::CYCLE[series % Dash::CYCLE.len()],
                2.0,
            ),
        };
        let color = match (style.color, style.series) {
            (Some(color), _) => color,
            (None, Some(series)) => Color::Series(series),
            (None, None) => color,
        };
        Look {
            color: color.hex(),
            dash: style.dash.unwrap_or(dash),
            marker: style.marker.unwrap_or(Marker::of_series(series)),
            hollow: style.hollow,
            width: style.width.unwrap_or(width).clamp(0.0, 100.0),
            size: style.size.map(|s| s.clamp(0.0, 200.0)),
            opacity: style
                .opacity
                .map(|o| if o.is_nan() { 1.0 } else { o.clamp(0.0, 1.0) }),
            series,
        }
    }

    /// Attributes of a line.
    fn stroke(&self) -> String {
        let mut out = self.stroke_solid();
        if self.dash != Dash::Solid {
            let _ = write!(out, " stroke-dasharray=\"{}\"", self.dash.pattern());
        }
        out
    }

    fn stroke_solid(&self) -> String {
        let mut out = format!(
            " fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
            self.color,
            number(self.width)
        );
        if let Some(opacity) = self.opacity {
            let _ = write!(out, " stroke-opacity=\"{}\"", number(opacity));
        }
        out
    }

    /// Attributes of a light wash of colour without outline.
    fn wash(&self, opacity: f64) -> String {
        format!(
            " fill=\"{}\" fill-opacity=\"{}\"",
            self.color,
            number(self.opacity.unwrap_or(opacity))
        )
    }

    /// How strongly a histogram is tinted, so that two can overlap.
    fn tint(&self) -> f64 {
        [0.45, 0.2, 0.32][self.series % 3]
    }

    /// Attributes of a bar: outlined, its tint set by the series so that greys differ.
    fn bar(&self) -> String {
        let tint = [0.85, 0.35, 0.6, 0.2][self.series % 4];
        let fill = if self.hollow {
            0.0
        } else {
            self.opacity.unwrap_or(tint)
        };
        format!(
            " fill=\"{0}\" fill-opacity=\"{1}\" stroke=\"{0}\" stroke-width=\"1\"",
            self.color,
            number(fill)
        )
    }
}
