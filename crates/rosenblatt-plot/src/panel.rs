//! One pair of axes and what is drawn on them.

mod color_bar;
mod layout;

use crate::axis::{Axis, Ruler, labels_below, labels_beside, widen};
use crate::layer::{HeatMap, Layer, Plane, Shape};
use crate::text::wrap;
use color_bar::ColorBar;
use layout::TITLE;
pub(crate) use layout::{Margins, PanelLayout};

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
    ) -> PanelLayout<'_> {
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
        let mut layout = PanelLayout {
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
        layout.measure();
        layout
    }
}
