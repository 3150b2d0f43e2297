//! A figure: panels in a grid, one legend, a title and a caption.

mod grid;
mod legend;

use crate::axis::widen;
use crate::color::{INK, MUTED};
use crate::layer::Layer;
use crate::panel::{Panel, PanelLayout};
use crate::svg::{self, Piece, Type, leading};
use crate::text::{width, wrap};
use grid::Grid;
use legend::{Entry, KEY, KEY_TEXT, LONGEST_KEY, legend_below, legend_right};

/// Where the legend stands; never over the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legend {
    /// At the right when it is narrow and the figure not wide, else below.
    #[default]
    Auto,
    /// At the right of the panels.
    Right,
    /// Below the panels.
    Below,
    /// Nowhere.
    None,
}

/// A figure, drawn as SVG or PNG.
///
/// Sizes are those of the plotting areas; the figure grows to hold its labels.
///
/// ```
/// use rosenblatt_plot::{Axis, Figure, Layer, Panel};
/// let figure = Figure::of(
///     Panel::new()
///         .x(Axis::linear("pass").whole())
///         .y(Axis::linear("mistakes").from_zero())
///         .layer(Layer::line([(1.0, 41.0), (2.0, 17.0), (3.0, 4.0)]).label("plain"))
///         .layer(Layer::horizontal(50.0).label("bound R²/γ²")),
/// )
/// .title("Mistakes by pass")
/// .caption("Three passes over the same rows.");
/// let svg = figure.svg();
/// assert!(svg.starts_with("<svg") && svg.contains("Mistakes by pass"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Figure {
    title: String,
    caption: String,
    alternative: Option<String>,
    panels: Vec<Panel>,
    columns: Option<usize>,
    panel_size: Option<(f64, f64)>,
    share: (bool, bool),
    legend: Legend,
}

impl Figure {
    /// A figure without panels.
    pub fn new() -> Self {
        Figure::default()
    }

    /// A figure with one panel.
    pub fn of(panel: Panel) -> Self {
        Figure::new().panel(panel)
    }

    /// The words over the figure.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The words under the figure; they wrap.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// What a reader who cannot see the figure should know; the caption, if nothing else is said.
    #[must_use]
    pub fn alternative(mut self, text: impl Into<String>) -> Self {
        self.alternative = Some(text.into());
        self
    }

    /// Adds a panel.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Adds panels: small multiples, row by row.
    #[must_use]
    pub fn panels(mut self, panels: impl IntoIterator<Item = Panel>) -> Self {
        self.panels.extend(panels);
        self
    }

    /// How many panels stand side by side; else about three quarters as many rows as columns.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = Some(columns.max(1));
        self
    }

    /// The plotting area of panels that do not set their own.
    #[must_use]
    pub fn panel_size(mut self, width: f64, height: f64) -> Self {
        self.panel_size = Some((width, height));
        self
    }

    /// Gives all panels the same horizontal range; only the lowest carry labels.
    #[must_use]
    pub fn share_x(mut self) -> Self {
        self.share.0 = true;
        self
    }

    /// Gives all panels the same vertical range; only the leftmost carry labels.
    #[must_use]
    pub fn share_y(mut self) -> Self {
        self.share.1 = true;
        self
    }

    /// Where the legend stands.
    #[must_use]
    pub fn legend(mut self, legend: Legend) -> Self {
        self.legend = legend;
        self
    }

    /// The figure as an SVG document, the same text for the same figure everywhere.
    pub fn svg(&self) -> String {
        let drawn = self.draw();
        svg::document(
            drawn.width,
            drawn.height,
            &self.title,
            self.description(),
            &drawn.pieces.concat(),
        )
    }

    /// The figure as a PNG, `scale` pixels to each pixel of the SVG; 2 suits screens, 3 print.
    ///
    /// # Errors
    /// When the picture would be too large (over 64 million pixels) or the scale is not a positive
    /// number; in a build without the feature `png`, always.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, crate::PngError> {
        crate::svg_to_png(&self.svg(), scale)
    }

    /// The figure as SVG with its legend below, unless it was told where.
    pub(crate) fn narrow(&self) -> String {
        match self.legend {
            Legend::Auto => self.clone().legend(Legend::Below).svg(),
            _ => self.svg(),
        }
    }

    pub(crate) fn heading(&self) -> &str {
        &self.title
    }

    pub(crate) fn description(&self) -> &str {
        self.alternative.as_deref().unwrap_or(&self.caption)
    }

    fn column_count(&self) -> usize {
        let count = self.panels.len().max(1);
        let guess = || (count as f64 * 1.3).sqrt().ceil() as usize;
        self.columns.unwrap_or_else(guess).clamp(1, count)
    }

    /// The ranges of every panel, shared where asked.
    pub(crate) fn ranges(&self) -> Vec<[(f64, f64); 2]> {
        let mut ranges: Vec<_> = self.panels.iter().map(Panel::ranges).collect();
        // Only axes of one kind can share: a logarithmic one and one of names have nothing in common.
        let kind = |i: usize, axis: usize| {
            let axis = [&self.panels[i].x, &self.panels[i].y][axis];
            (axis.scale, axis.names.is_some())
        };
        let own = ranges.clone();
        for (axis, shared) in [self.share.0, self.share.1].into_iter().enumerate() {
            for i in (0..own.len()).filter(|_| shared) {
                let alike = (0..own.len()).filter(|&j| kind(j, axis) == kind(i, axis));
                let ends = alike.flat_map(|j| [own[j][axis].0, own[j][axis].1]);
                ranges[i][axis] = ends.fold(None, widen).unwrap_or(own[i][axis]);
            }
        }
        ranges
    }

    /// Fixes the ranges of every panel: the frames of an animation must not jump.
    pub(crate) fn fix_ranges(&mut self, ranges: &[[(f64, f64); 2]]) {
        for (panel, [x, y]) in self.panels.iter_mut().zip(ranges) {
            panel.x.range = Some(*x);
            panel.y.range = Some(*y);
        }
    }

    /// The same figure with a series for every layer that needs one.
    fn with_series(&self) -> Figure {
        let mut figure = self.clone();
        let mut known: Vec<(String, usize)> = Vec::new();
        let layers = || self.panels.iter().flat_map(|p| &p.layers);
        for (label, series) in layers().flat_map(Layer::legend_labels) {
            if let Some(series) = series
                && known.iter().all(|k| k.0 != label)
            {
                known.push((label, series));
            }
        }
        for label in layers()
            .filter(|l| l.needs_series())
            .filter_map(|l| l.style.label.clone())
        {
            if known.iter().all(|k| k.0 != label) {
                let free = (0..).find(|i| known.iter().all(|k| k.1 != *i));
                known.push((label, free.unwrap_or(0)));
            }
        }
        for panel in &mut figure.panels {
            let mut taken: Vec<usize> = known.iter().map(|k| k.1).collect();
            for layer in panel.layers.iter_mut().filter(|l| l.needs_series()) {
                let named = layer.style.label.as_ref();
                let series = match named.and_then(|l| known.iter().find(|k| k.0 == *l)) {
                    Some(found) => found.1,
                    None => {
                        let free = (0..).find(|i| !taken.contains(i)).unwrap_or(0);
                        taken.push(free);
                        free
                    }
                };
                layer.style.series = Some(series);
            }
        }
        figure
    }

    fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for layer in self.panels.iter().flat_map(|p| &p.layers) {
            for (index, (label, _)) in layer.legend_labels().into_iter().enumerate() {
                if label.trim().is_empty() {
                    continue;
                }
                let kind = std::mem::discriminant(&layer.shape);
                match entries.iter_mut().find(|e| e.label == label) {
                    Some(entry) => {
                        let known =
                            |k: &(&Layer, usize)| std::mem::discriminant(&k.0.shape) == kind;
                        if !entry.keys.iter().any(known) {
                            entry.keys.push((layer, index));
                        }
                    }
                    None => entries.push(Entry {
                        label,
                        keys: vec![(layer, index)],
                    }),
                }
            }
        }
        entries
    }

    pub(crate) fn draw(&self) -> Drawn {
        let figure = self.with_series();
        let columns = figure.column_count();
        let default_size = figure.panel_size.unwrap_or(match columns {
            1 => (480.0, 300.0),
            2 => (320.0, 220.0),
            3 => (230.0, 170.0),
            4 => (175.0, 135.0),
            _ => (130.0, 104.0),
        });
        let count = figure.panels.len();
        let layouts: Vec<PanelLayout<'_>> = figure
            .panels
            .iter()
            .zip(figure.ranges())
            .enumerate()
            .map(|(i, (panel, ranges))| {
                let lowest = i + columns >= count;
                let words = (
                    !figure.share.0 || lowest,
                    !figure.share.1 || i % columns == 0,
                );
                panel.lay_out(ranges, default_size, words)
            })
            .collect();
        let grid = Grid::of(&layouts, columns);
        let entries = if figure.legend == Legend::None {
            Vec::new()
        } else {
            figure.entries()
        };
        let labels = entries
            .iter()
            .map(|e| width(&e.label, KEY_TEXT, false))
            .fold(0.0, f64::max);
        let right = match figure.legend {
            Legend::Right => true,
            Legend::Below | Legend::None => false,
            Legend::Auto => {
                let tall = entries.len() as f64 * 22.0;
                labels <= 150.0 && grid.width <= 640.0 && tall <= grid.height && entries.len() > 1
            }
        };

        let mut pieces = Vec::new();
        let side = if right && !entries.is_empty() {
            labels.min(LONGEST_KEY) + KEY + 20.0
        } else {
            0.0
        };
        let mut total = (grid.width + side).max(160.0);
        // A title may widen a narrow figure, within reason.
        let wish = width(&figure.title, TITLE, true).max(if figure.caption.is_empty() {
            0.0
        } else {
            300.0
        });
        total = total.max(wish.min(420.0));

        let mut y = PAD;
        let mut piece = Piece::new();
        for line in wrap(&figure.title, TITLE, true, total) {
            piece.text(
                PAD,
                y + TITLE,
                &line,
                Type {
                    size: TITLE,
                    bold: true,
                    fill: INK,
                    ..Type::default()
                },
            );
            y += leading(TITLE);
        }
        if !figure.title.is_empty() {
            y += 8.0;
        }
        pieces.push(piece.finish() + "\n");
        for (i, panel) in layouts.iter().enumerate() {
            let (left, top) = grid.place(i, panel);
            pieces.extend(panel.draw(PAD + left, y + top));
        }
        let top = y;
        y += grid.height;
        if !entries.is_empty() {
            let (markup, height) = if right {
                let middle = grid.first_middle(&layouts);
                legend_right(&entries, PAD + grid.width + 16.0, top, middle)
            } else {
                legend_below(&entries, PAD, y + 8.0, total)
            };
            pieces.push(markup);
            if right {
                y = y.max(top + height);
            } else {
                y += 8.0 + height;
            }
        }
        let mut piece = Piece::new();
        if !figure.caption.is_empty() {
            y += 8.0;
            for line in wrap(&figure.caption, CAPTION, false, total) {
                piece.text(
                    PAD,
                    y + CAPTION,
                    &line,
                    Type {
                        size: CAPTION,
                        fill: MUTED,
                        ..Type::default()
                    },
                );
                y += leading(CAPTION);
            }
        }
        pieces.push(piece.finish() + "\n");
        pieces.retain(|p| !p.trim().is_empty());
        Drawn {
            width: (total + 2.0 * PAD).ceil(),
            height: (y + PAD).ceil(),
            pieces,
        }
    }
}

const PAD: f64 = 12.0;
const TITLE: f64 = 16.0;
const CAPTION: f64 = 12.0;

/// A drawn figure: its size and balanced pieces of markup, back to front.
pub(crate) struct Drawn {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) pieces: Vec<String>,
}
