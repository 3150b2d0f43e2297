//! One pair of axes and what is drawn on them.

use crate::axis::{Axis, Labels, Ruler, Scale, labels_below, labels_beside, widen};
use crate::color::{GRID, INK, LEVELS, QUIET_GRID};
use crate::layer::{HeatMap, Layer, Plane, Shape};
use crate::svg::{Anchor, Piece, Type, fit, leading, number};
use crate::text::{width, wrap};
use std::fmt::Write as _;

/// A plotting area: a title, two axes, layers.
///
/// ```
/// use rosenblatt_plot::{Axis, Layer, Panel};
/// let panel = Panel::new()
///     .title("First pass")
///     .x(Axis::linear("row").whole())
///     .y(Axis::linear("score"))
///     .layer(Layer::points([(1.0, -1.0), (2.0, -1.0), (3.0, 14.0)]))
///     .layer(Layer::horizontal(0.0));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Panel {
    title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) layers: Vec<Layer>,
    size: Option<(f64, f64)>,
    equal: bool,
    bare: bool,
}

impl Panel {
    /// An empty panel with linear axes.
    pub fn new() -> Self {
        Panel::default()
    }

    /// A panel for a drawing: no axes, and one unit equally long both ways.
    pub fn bare() -> Self {
        Panel {
            bare: true,
            ..Panel::new()
        }
        .x(Axis::hidden())
        .y(Axis::hidden())
        .equal()
    }

    /// A heat map as a picture with square cells and no axes.
    pub fn picture(title: impl Into<String>, map: HeatMap) -> Self {
        Panel {
            title: title.into(),
            ..Panel::new()
        }
        .x(Axis::hidden())
        .y(Axis::hidden())
        .equal()
        .layer(map)
    }

    /// A confusion matrix: rows are true classes, columns predicted ones.
    ///
    /// ```
    /// use rosenblatt_plot::Panel;
    /// let panel = Panel::confusion(&["ham", "spam"], &[vec![960, 6], vec![11, 138]]);
    /// ```
    pub fn confusion<S: AsRef<str>>(names: &[S], counts: &[Vec<u64>]) -> Self {
        let names = || names.iter().map(|n| n.as_ref().to_string());
        let cells = counts.len().max(1) as f64;
        let side = (cells * 44.0).clamp(180.0, 560.0);
        Panel::new()
            .x(Axis::categories("predicted class", names()))
            .y(Axis::categories("true class", names()))
            .size(side, side)
            .equal()
            .layer(HeatMap::confusion(counts).scale("share of the true class"))
    }

    /// The words over the panel.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The horizontal axis.
    #[must_use]
    pub fn x(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    /// The vertical axis.
    #[must_use]
    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    /// Adds a layer over those already there.
    #[must_use]
    pub fn layer(mut self, layer: impl Into<Layer>) -> Self {
        self.layers.push(layer.into());
        self
    }

    /// Adds several layers.
    #[must_use]
    pub fn layers(mut self, layers: impl IntoIterator<Item = Layer>) -> Self {
        self.layers.extend(layers);
        self
    }

    /// The plotting area in pixels; labels come on top of it.
    #[must_use]
    pub fn size(mut self, width: f64, height: f64) -> Self {
        self.size = Some((width, height));
        self
    }

    /// Makes one unit of x as long as one unit of y by shrinking the plotting area.
    #[must_use]
    pub fn equal(mut self) -> Self {
        self.equal = true;
        self
    }

    fn heat(&self) -> Option<&HeatMap> {
        self.layers.iter().find_map(|layer| match &layer.shape {
            Shape::Heat(map) => Some(map),
            _ => None,
        })
    }

    /// The ranges of the two axes, from the axes and the data.
    pub(crate) fn ranges(&self) -> [(f64, f64); 2] {
        let (mut x, mut y) = (None, None);
        for layer in &self.layers {
            let (lx, ly) = layer.extent(&self.x, &self.y);
            for end in lx.into_iter().flat_map(|(a, b)| [a, b]) {
                x = widen(x, end);
            }
            for end in ly.into_iter().flat_map(|(a, b)| [a, b]) {
                y = widen(y, end);
            }
        }
        let pad = !self.layers.iter().any(Layer::fills_panel);
        // Bars stand on the axis; lines at zero stay clear of it.
        let rests = self.layers.iter().any(Layer::stands_on_axis);
        [self.x.resolve(x, pad, rests), self.y.resolve(y, pad, rests)]
    }

    /// Chooses sizes and labels for given ranges.
    pub(crate) fn lay_out(
        &self,
        [x_range, y_range]: [(f64, f64); 2],
        default_size: (f64, f64),
        words: (bool, bool),
    ) -> Laid<'_> {
        let (mut w, mut h) = self.size.unwrap_or_else(|| {
            if self.equal {
                let side = default_size.0.min(default_size.1 * 1.25);
                (side, side)
            } else {
                default_size
            }
        });
        w = if w.is_finite() {
            w.clamp(20.0, 5000.0)
        } else {
            480.0
        };
        h = if h.is_finite() {
            h.clamp(20.0, 5000.0)
        } else {
            300.0
        };
        if self.equal {
            let (dx, dy) = (
                x_range.1 / 2.0 - x_range.0 / 2.0,
                y_range.1 / 2.0 - y_range.0 / 2.0,
            );
            let unit = (w / dx).min(h / dy);
            (w, h) = ((dx * unit).clamp(20.0, w), (dy * unit).clamp(20.0, h));
        }
        // Rows of a table count downwards, unless the axis says otherwise.
        let down = self.y.reversed.unwrap_or(self.heat().is_some());
        let left = self.x.reversed.unwrap_or(false);
        let (x0, x1) = if left { (w, 0.0) } else { (0.0, w) };
        let (y0, y1) = if down { (0.0, h) } else { (h, 0.0) };
        let plane = Plane {
            x: Ruler::new(self.x.scale, x_range, x0, x1),
            y: Ruler::new(self.y.scale, y_range, y0, y1),
        };
        let size = if w < 200.0 { 10.5 } else { 12.0 };
        // Equal units ask for equal steps, so both axes are marked equally densely.
        let spacing = if self.equal { 52.0 } else { 38.0 };
        let mut laid = Laid {
            panel: self,
            plane,
            w,
            h,
            x_labels: labels_below(&self.x, &plane.x, size),
            y_labels: labels_beside(&self.y, &plane.y, size, spacing),
            x_title: Vec::new(),
            y_title: Vec::new(),
            title: wrap(&self.title, TITLE, true, w.max(110.0)),
            words,
            bar: self
                .heat()
                .filter(|map| map.scale_label.is_some())
                .map(|map| ColorBar::new(map, h)),
            margins: Margins::default(),
        };
        laid.measure();
        laid
    }
}

const TITLE: f64 = 13.0;
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
pub(crate) struct Laid<'a> {
    panel: &'a Panel,
    plane: Plane,
    pub(crate) w: f64,
    pub(crate) h: f64,
    x_labels: Labels,
    y_labels: Labels,
    x_title: Vec<String>,
    y_title: Vec<String>,
    title: Vec<String>,
    /// Whether the axes carry words; in a grid with shared axes only the outer ones do.
    words: (bool, bool),
    bar: Option<ColorBar>,
    pub(crate) margins: Margins,
}

impl Laid<'_> {
    pub(crate) fn has_axes(&self) -> bool {
        !(self.panel.x.hidden && self.panel.y.hidden)
    }

    fn measure(&mut self) {
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

fn newline(piece: Piece) -> String {
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

/// The scale of colours beside a heat map.
struct ColorBar {
    map: HeatMap,
    labels: Labels,
    label: String,
}

impl ColorBar {
    const GAP: f64 = 12.0;
    const WIDTH: f64 = 12.0;
    const TEXT: f64 = 10.5;

    fn new(map: &HeatMap, height: f64) -> Self {
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

    fn depth(&self) -> f64 {
        let label = if self.label.is_empty() { 0.0 } else { 18.0 };
        Self::GAP + Self::WIDTH + 8.0 + self.labels.depth + label
    }

    fn draw(&self, left: f64, top: f64, height: f64) -> String {
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
