//! Decision regions and contour lines of a function of two features.

use super::{Layer, Look, Plane, Shape};
use crate::color::Color;
use crate::svg::{Piece, number};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Which class a rule gives to each place of a rectangle, as a fine raster in light tints.
///
/// ```
/// use rosenblatt_plot::Regions;
/// let rule = |x: f64, y: f64| usize::from(x + y > 0.0);
/// let regions = Regions::sample((-1.0, 1.0), (-1.0, 1.0), 200, rule).names(["minus", "plus"]);
/// ```
#[derive(Debug, Clone)]
pub struct Regions {
    pub(crate) x: (f64, f64),
    pub(crate) y: (f64, f64),
    count: usize,
    /// Row by row from the low end of y.
    classes: Vec<usize>,
    pub(crate) names: Vec<String>,
}

impl Regions {
    /// Asks the rule at the centres of `count` × `count` cells.
    pub fn sample(
        x: (f64, f64),
        y: (f64, f64),
        count: usize,
        rule: impl Fn(f64, f64) -> usize,
    ) -> Self {
        let count = count.clamp(1, 2000);
        let centre = |range: (f64, f64), i: usize| {
            let t = (i as f64 + 0.5) / count as f64;
            range.0 * (1.0 - t) + range.1 * t
        };
        let classes = (0..count * count)
            .map(|i| rule(centre(x, i % count), centre(y, i / count)))
            .collect();
        Regions {
            x,
            y,
            count,
            classes,
            names: Vec::new(),
        }
    }

    /// The classes by name, for the legend; points with the same label share their colour.
    #[must_use]
    pub fn names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    pub(super) fn fill(&self, class: usize, look: &Look) -> String {
        // Neighbouring classes get different strengths, which a grey printer keeps.
        let strength = look.opacity.unwrap_or([0.30, 0.16, 0.23][class % 3]);
        format!(
            " fill=\"{}\" fill-opacity=\"{}\"",
            Color::Series(class).hex(),
            number(strength)
        )
    }

    pub(super) fn draw(&self, piece: &mut Piece, plane: &Plane, look: &Look) {
        let edge = |range: (f64, f64), i: usize| {
            let t = i as f64 / self.count as f64;
            range.0 * (1.0 - t) + range.1 * t
        };
        let mut paths: BTreeMap<usize, String> = BTreeMap::new();
        let rows: Vec<&[usize]> = self.classes.chunks(self.count).collect();
        let mut first = 0;
        // Equal rows are drawn as one.
        for same in rows.chunk_by(|a, b| a == b) {
            let (y0, y1) = (
                plane.y.px(edge(self.y, first)),
                plane.y.px(edge(self.y, first + same.len())),
            );
            first += same.len();
            let mut start = 0;
            for run in same[0].chunk_by(|a, b| a == b) {
                let x0 = plane.x.px(edge(self.x, start));
                start += run.len();
                let x1 = plane.x.px(edge(self.x, start));
                if [x0, x1, y0, y1].iter().all(|v| v.is_finite()) {
                    let d = paths.entry(run[0]).or_default();
                    let (x, y) = (number(x0), number(y1));
                    let _ = write!(d, "M{x} {y}h{}v{}H{x}z", number(x1 - x0), number(y0 - y1));
                }
            }
        }
        piece.open("g", " shape-rendering=\"crispEdges\"");
        for (class, d) in &paths {
            piece.path(d, &self.fill(*class, look));
        }
        piece.close("g");
    }
}

impl From<Regions> for Layer {
    fn from(regions: Regions) -> Self {
        Layer::new(Shape::Regions(regions))
    }
}

impl Layer {
    /// The line on which a function of two variables takes a value: marching squares on `count` ×
    /// `count` cells, joined into strokes.
    ///
    /// ```
    /// use rosenblatt_plot::Layer;
    /// let circle = Layer::contour((-2.0, 2.0), (-2.0, 2.0), 60, 1.0, |x, y| x * x + y * y);
    /// ```
    pub fn contour(
        x: (f64, f64),
        y: (f64, f64),
        count: usize,
        level: f64,
        f: impl Fn(f64, f64) -> f64,
    ) -> Self {
        Layer::line(contour(x, y, count.clamp(1, 1000), level, f))
    }
}

/// A crossing on the grid: its cell corner, and whether it lies on the edge to the right or upward.
type Edge = (usize, usize, bool);

fn contour(
    x: (f64, f64),
    y: (f64, f64),
    count: usize,
    level: f64,
    f: impl Fn(f64, f64) -> f64,
) -> Vec<(f64, f64)> {
    let place = |range: (f64, f64), i: usize| {
        let t = i as f64 / count as f64;
        range.0 * (1.0 - t) + range.1 * t
    };
    let n = count + 1;
    let values: Vec<f64> = (0..n * n)
        .map(|k| f(place(x, k % n), place(y, k / n)) - level)
        .collect();
    let value = |i: usize, j: usize| values[j * n + i];
    let crossing = |(i, j, up): Edge| {
        let (a, b) = (
            value(i, j),
            if up { value(i, j + 1) } else { value(i + 1, j) },
        );
        let t = a / (a - b);
        let (x0, y0) = (place(x, i), place(y, j));
        if up {
            (x0, y0 + (place(y, j + 1) - y0) * t)
        } else {
            (x0 + (place(x, i + 1) - x0) * t, y0)
        }
    };
    let mut neighbours: BTreeMap<Edge, Vec<Edge>> = BTreeMap::new();
    let mut join = |a: Edge, b: Edge| {
        neighbours.entry(a).or_default().push(b);
        neighbours.entry(b).or_default().push(a);
    };
    for j in 0..count {
        for i in 0..count {
            let corners = [
                value(i, j),
                value(i + 1, j),
                value(i + 1, j + 1),
                value(i, j + 1),
            ];
            if corners.iter().any(|v| !v.is_finite()) {
                continue;
            }
            let edges: [Edge; 4] = [
                (i, j, false),
                (i + 1, j, true),
                (i, j + 1, false),
                (i, j, true),
            ];
            let side = corners.map(|v| v > 0.0);
            let crossed: Vec<Edge> = (0..4)
                .filter(|&k| side[k] != side[(k + 1) % 4])
                .map(|k| edges[k])
                .collect();
            match crossed[..] {
                [a, b] => join(a, b),
                // A saddle: the middle decides which corners belong together.
                [a, b, c, d] => {
                    let middle = corners.iter().sum::<f64>() > 0.0;
                    if middle == side[0] {
                        join(a, b);
                        join(c, d);
                    } else {
                        join(a, d);
                        join(b, c);
                    }
                }
                _ => {}
            }
        }
    }
    // Strokes with loose ends first, then the closed ones.
    let ends = neighbours
        .iter()
        .filter(|(_, to)| to.len() == 1)
        .map(|(e, _)| *e);
    let starts: Vec<Edge> = ends.chain(neighbours.keys().copied()).collect();
    let mut points = Vec::new();
    for start in starts {
        let mut here = start;
        let mut stroke = Vec::new();
        while let Some(next) = neighbours.get_mut(&here).and_then(Vec::pop) {
            if let Some(back) = neighbours.get_mut(&next)
                && let Some(k) = back.iter().position(|e| *e == here)
            {
                back.remove(k);
            }
            if stroke.is_empty() {
                stroke.push(crossing(here));
            }
            stroke.push(crossing(next));
            here = next;
        }
        if !stroke.is_empty() {
            if !points.is_empty() {
                points.push((f64::NAN, f64::NAN));
            }
            points.append(&mut stroke);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contour_of_a_disc_is_one_closed_stroke_on_the_circle() {
        let points = contour((-2.0, 2.0), (-2.0, 2.0), 50, 1.0, |x, y| x * x + y * y);
        assert!(points.len() > 50);
        assert!(points.iter().all(|p| (p.0.hypot(p.1) - 1.0).abs() < 2e-3));
        assert_eq!(points.first(), points.last());
    }

    #[test]
    fn the_contour_of_a_plane_is_one_straight_stroke() {
        let points = contour((0.0, 1.0), (0.0, 1.0), 10, 0.7, |x, y| x + 0.3 * y);
        assert!(points.iter().all(|p| (p.0 + 0.3 * p.1 - 0.7).abs() < 1e-12));
    }
}
