//! Bars and histograms.

use super::{Layer, Look, Plane, Shape};
use crate::svg::{Piece, path};
use crate::ticks;

/// Bars of one layer.
#[derive(Debug, Clone)]
pub(crate) struct Bars {
    /// Place along the axis of categories, and length.
    bars: Vec<(f64, f64)>,
    sideways: bool,
    /// Which of how many bars share a place.
    group: (usize, usize),
}

impl Layer {
    /// Upright bars at the places 0, 1, 2, …
    pub fn bars(lengths: impl IntoIterator<Item = f64>) -> Self {
        Layer::bars_at(lengths.into_iter().enumerate().map(|(i, v)| (i as f64, v)))
    }

    /// Upright bars one unit apart at most: rows of place and length.
    pub fn bars_at(bars: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Layer::new(Shape::Bars(Bars {
            bars: bars.into_iter().collect(),
            sideways: false,
            group: (0, 1),
        }))
    }

    /// Lays bars down: for names too long to stand under an axis.
    #[must_use]
    pub fn sideways(mut self) -> Self {
        if let Shape::Bars(bars) = &mut self.shape {
            bars.sideways = true;
        }
        self
    }

    /// Makes room for `count` layers of bars side by side, this one being the `index`-th from 0.
    #[must_use]
    pub fn group(mut self, index: usize, count: usize) -> Self {
        if let Shape::Bars(bars) = &mut self.shape {
            bars.group = (index, count.max(1));
        }
        self
    }

    /// A histogram of values between ascending edges; values outside are not counted.
    ///
    /// ```
    /// use rosenblatt_plot::{Layer, bin_edges};
    /// let margins = [-0.2, 0.1, 0.3, 0.35, 0.9];
    /// let layer = Layer::histogram(&margins, &bin_edges(&margins, 10));
    /// ```
    pub fn histogram(values: &[f64], edges: &[f64]) -> Self {
        let mut counts = vec![0.0; edges.len().saturating_sub(1)];
        for &value in values {
            let after = edges.partition_point(|&edge| edge <= value);
            // The last bin holds its upper edge too.
            let bin = if Some(&value) == edges.last() {
                after.checked_sub(2)
            } else {
                after.checked_sub(1)
            };
            if let Some(count) = bin.and_then(|bin| counts.get_mut(bin)) {
                *count += 1.0;
            }
        }
        Layer::histogram_counts(edges, &counts)
    }

    /// A histogram already counted: one count fewer than edges.
    pub fn histogram_counts(edges: &[f64], counts: &[f64]) -> Self {
        Layer::new(Shape::Histogram {
            edges: edges.to_vec(),
            counts: counts.to_vec(),
        })
    }
}

/// Edges of about `count` bins at round steps, so that zero, where it lies inside, is an edge.
///
/// ```
/// use rosenblatt_plot::bin_edges;
/// let edges = bin_edges(&[-0.37, 0.81], 12);
/// assert!(edges.contains(&0.0) && edges.len() <= 15);
/// ```
pub fn bin_edges(values: &[f64], count: usize) -> Vec<f64> {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if low <= high {
        (low, high)
    } else {
        (f64::NAN, f64::NAN)
    };
    let (low, high) = ticks::sane_range(low, high);
    let inner: Vec<f64> = ticks::linear(low, high, count.clamp(3, 1000) + 1)
        .major
        .into_iter()
        .map(|t| t.0)
        .collect();
    let [first, second, ..] = inner[..] else {
        return vec![low, high];
    };
    let step = second - first;
    let mut edges = Vec::new();
    if first > low {
        edges.push(first - step);
    }
    edges.extend_from_slice(&inner);
    if let Some(&last) = inner.last()
        && last < high
    {
        edges.push(last + step);
    }
    edges
}

impl Bars {
    /// The breadth of one bar and the place of its first edge.
    fn span(&self, place: f64) -> (f64, f64) {
        let (index, count) = (self.group.0 as f64, self.group.1 as f64);
        let breadth = 0.8 / count;
        let start = place - 0.4 + breadth * index;
        (
            start,
            start + breadth * if count > 1.0 { 0.94 } else { 1.0 },
        )
    }

    pub(super) fn corners(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.bars
            .iter()
            .filter(|b| b.1.is_finite())
            .flat_map(|&(place, length)| {
                let turn = |p: (f64, f64)| if self.sideways { (p.1, p.0) } else { p };
                [
                    turn((place - 0.4, 0.0)),
                    turn((place + 0.4, length)),
                    turn((place, length)),
                ]
            })
    }

    pub(super) fn draw(&self, piece: &mut Piece, plane: &Plane, look: &Look) {
        let (along, across) = if self.sideways {
            (plane.y, plane.x)
        } else {
            (plane.x, plane.y)
        };
        for &(place, length) in &self.bars {
            let (start, end) = self.span(place);
            let (a, b) = (along.px(start), along.px(end));
            let base = across.px(0.0);
            // A logarithmic axis has no zero: its bars stand on the lower end.
            let base = if base.is_finite() {
                base
            } else {
                across.px(across.low)
            };
            let tip = across.px(length);
            if !(a.is_finite() && b.is_finite() && tip.is_finite()) {
                continue;
            }
            // Paper under the tint keeps the grid from showing through.
            for attributes in [" class=\"paper\" fill=\"#ffffff\"", look.bar().as_str()] {
                if self.sideways {
                    piece.rect(base, a, tip - base, b - a, attributes);
                } else {
                    piece.rect(a, base, b - a, tip - base, attributes);
                }
            }
        }
    }
}

pub(super) fn draw_histogram(
    piece: &mut Piece,
    plane: &Plane,
    edges: &[f64],
    counts: &[f64],
    look: &Look,
) {
    let base = plane.y.px(0.0);
    let base = if base.is_finite() {
        base
    } else {
        plane.y.px(plane.y.low)
    };
    // One silhouette: bins that cannot be shown, or are empty on a logarithmic axis, stand at zero.
    let mut outline = Vec::new();
    for (pair, &count) in edges.windows(2).zip(counts) {
        let tip = plane.y.px(count);
        let tip = if tip.is_finite() { tip } else { base };
        let (a, b) = (plane.x.px(pair[0]), plane.x.px(pair[1]));
        if outline.is_empty() {
            outline.push((a, base));
        }
        outline.extend([(a, tip), (b, tip)]);
    }
    if let Some(&(x, _)) = outline.last() {
        outline.push((x, base));
    }
    if !look.hollow {
        piece.path(&path(&outline, true), &look.wash(look.tint()));
    }
    piece.path(&path(&outline, false), &look.stroke());
}
