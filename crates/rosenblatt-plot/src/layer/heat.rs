//! Heat maps: confusion matrices, weight pictures, images.

use super::{Layer, Plane, Shape};
use crate::color::{LEVELS, Palette, luminance};
use crate::svg::{Anchor, Piece, Type, number};
use crate::text::width;
use crate::ticks;
use std::fmt::Write as _;

/// A table of numbers shown as colours; row 0 is at the top, cell centres at whole numbers.
///
/// ```
/// use rosenblatt_plot::{HeatMap, Palette, Panel};
/// let weights = HeatMap::signed(2, [0.5, -1.0, 0.0, 2.0]).numbers(1);
/// let panel = Panel::picture("weights", weights);
/// ```
#[derive(Debug, Clone)]
pub struct HeatMap {
    pub(crate) columns: usize,
    values: Vec<f64>,
    pub(crate) palette: Palette,
    range: Option<(f64, f64)>,
    cells: Vec<String>,
    /// Whether colours follow the square root of a value, which brings out small ones.
    root: bool,
    pub(crate) scale_label: Option<String>,
}

impl HeatMap {
    /// Amounts, row by row; a last row that is too short is padded with empty cells.
    pub fn new(columns: usize, values: impl Into<Vec<f64>>) -> Self {
        let columns = columns.max(1);
        let mut values = values.into();
        values.resize(values.len().next_multiple_of(columns), f64::NAN);
        HeatMap {
            columns,
            values,
            palette: Palette::Sequential,
            range: None,
            cells: Vec::new(),
            root: false,
            scale_label: None,
        }
    }

    /// Signed values, with zero white and both signs on one scale: weights of a picture.
    pub fn signed(columns: usize, values: impl Into<Vec<f64>>) -> Self {
        let map = HeatMap {
            palette: Palette::Diverging,
            ..HeatMap::new(columns, values)
        };
        let largest = map.finite().map(f64::abs).fold(0.0, f64::max);
        let largest = if largest > 0.0 { largest } else { 1.0 };
        map.range(-largest, largest)
    }

    /// A picture in grey: 0 is paper, the largest value black.
    pub fn image(columns: usize, values: impl Into<Vec<f64>>) -> Self {
        let map = HeatMap {
            palette: Palette::Grey,
            ..HeatMap::new(columns, values)
        };
        let largest = map.finite().fold(0.0, f64::max);
        map.range(0.0, if largest > 0.0 { largest } else { 1.0 })
    }

    /// Counts of true classes (rows) against predicted ones (columns): the count in each cell, the
    /// share of its row as colour, on a scale of square roots so that rare confusions show.
    pub fn confusion(counts: &[Vec<u64>]) -> Self {
        let columns = counts.iter().map(Vec::len).max().unwrap_or(0);
        let mut shares = Vec::new();
        let mut cells = Vec::new();
        for row in counts {
            let total: u64 = row.iter().sum();
            for column in 0..columns {
                let count = row.get(column).copied().unwrap_or(0);
                shares.push(if total > 0 {
                    count as f64 / total as f64
                } else {
                    0.0
                });
                cells.push(ticks::decimal(count as f64, 0));
            }
        }
        let map = HeatMap::new(columns, shares).range(0.0, 1.0);
        HeatMap {
            cells,
            root: true,
            ..map
        }
    }

    /// Colours in another palette.
    #[must_use]
    pub fn palette(mut self, palette: Palette) -> Self {
        self.palette = palette;
        self
    }

    /// The values at the two ends of the palette.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Writes each value into its cell with this many decimals, where it fits.
    #[must_use]
    pub fn numbers(mut self, decimals: usize) -> Self {
        self.cells = self
            .values
            .iter()
            .map(|&v| {
                if v.is_finite() {
                    ticks::decimal(v, decimals.min(12))
                } else {
                    String::new()
                }
            })
            .collect();
        self
    }

    /// Shows the scale of colours beside the panel, with this label.
    #[must_use]
    pub fn scale(mut self, label: impl Into<String>) -> Self {
        self.scale_label = Some(label.into());
        self
    }

    pub(crate) fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    fn finite(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().copied().filter(|v| v.is_finite())
    }

    /// The values at the two ends of the palette.
    pub(crate) fn ends(&self) -> (f64, f64) {
        let (low, high) = self.range.unwrap_or_else(|| {
            let low = self.finite().fold(f64::INFINITY, f64::min);
            let high = self.finite().fold(f64::NEG_INFINITY, f64::max);
            if low <= high { (low, high) } else { (0.0, 1.0) }
        });
        ticks::sane_range(low, high)
    }

    /// Where a value stands on the palette, from 0 to 1.
    pub(crate) fn position(&self, value: f64) -> f64 {
        position(value, self.ends(), self.root)
    }

    pub(super) fn draw(&self, piece: &mut Piece, plane: &Plane) {
        let ends = self.ends();
        let level = |v: f64| Palette::level(position(v, ends, self.root));
        // One path per colour, one rectangle per run of equal cells: small files, sharp edges.
        let mut paths = vec![String::new(); LEVELS];
        for (row, cells) in self.values.chunks(self.columns).enumerate() {
            let y = plane.y.px(row as f64 - 0.5);
            let h = plane.y.px(row as f64 + 0.5) - y;
            let mut start = 0;
            for run in cells.chunk_by(|&a, &b| {
                a.is_finite() == b.is_finite() && (!a.is_finite() || level(a) == level(b))
            }) {
                let from = plane.x.px(start as f64 - 0.5);
                start += run.len();
                let w = plane.x.px(start as f64 - 0.5) - from;
                if run[0].is_finite() {
                    let (x, y, w, h) = (number(from), number(y), number(w), number(h));
                    let _ = write!(paths[level(run[0])], "M{x} {y}h{w}v{h}H{x}z");
                }
            }
        }
        piece.open("g", " shape-rendering=\"crispEdges\"");
        for (i, d) in paths.iter().enumerate() {
            piece.path(d, &format!(" fill=\"{}\"", self.palette.level_hex(i)));
        }
        piece.close("g");
        self.draw_numbers(piece, plane);
    }

    fn draw_numbers(&self, piece: &mut Piece, plane: &Plane) {
        let widest = self
            .cells
            .iter()
            .map(|c| width(c, 1.0, false))
            .fold(0.0, f64::max);
        if widest == 0.0 {
            return;
        }
        let cell_w = (plane.x.px(1.0) - plane.x.px(0.0)).abs();
        let cell_h = (plane.y.px(1.0) - plane.y.px(0.0)).abs();
        let size = (cell_w * 0.84 / widest).min(cell_h * 0.5).min(13.0);
        if size < 6.0 {
            return;
        }
        for (i, text) in self.cells.iter().enumerate().take(self.values.len()) {
            let (row, column) = (i / self.columns, i % self.columns);
            let (x, y) = plane.px((column as f64, row as f64));
            let back = luminance(self.palette.at(self.position(self.values[i])));
            let fill = match back {
                _ if self.root && self.values[i] == 0.0 => "#8a8f96",
                back if back > 0.22 => "#000000",
                _ => "#ffffff",
            };
            let face = Type {
                size,
                fill,
                anchor: Anchor::Middle,
                ..Type::default()
            };
            piece.text(x, y + size * 0.36, text, face);
        }
    }
}

fn position(value: f64, (low, high): (f64, f64), root: bool) -> f64 {
    let part = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    if root { part.max(0.0).sqrt() } else { part }
}

impl From<HeatMap> for Layer {
    fn from(map: HeatMap) -> Self {
        Layer::new(Shape::Heat(map))
    }
}
