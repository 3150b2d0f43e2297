//! A simple look at three dimensions: points, planes and surfaces as ordinary layers.

use crate::color::Color;
use crate::layer::{Layer, Side};

/// A point in space.
pub type Point3 = [f64; 3];

/// A parallel projection seen from a direction; z points up.
///
/// ```
/// use rosenblatt_plot::{Layer, Panel, View};
/// let view = View::new(30.0, 25.0);
/// let lifted: Vec<[f64; 3]> = [(0.2, 0.1), (0.9, -0.4)].map(|(x, y)| [x, y, x * x + y * y]).to_vec();
/// let panel = Panel::bare()
///     .layers(view.axes([1.0, 1.0, 1.0], ["x₁", "x₂", "x₁² + x₂²"]))
///     .layer(Layer::points(view.project_all(&lifted)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    azimuth: f64,
    elevation: f64,
    stretch: f64,
}

impl View {
    /// A view turned by `azimuth` degrees about the upright axis and raised by `elevation` degrees
    /// over the ground.
    pub fn new(azimuth: f64, elevation: f64) -> Self {
        View {
            azimuth: azimuth.to_radians(),
            elevation: elevation.to_radians(),
            stretch: 1.0,
        }
    }

    /// Draws heights `factor` times as tall.
    #[must_use]
    pub fn stretch(mut self, factor: f64) -> Self {
        self.stretch = factor;
        self
    }

    /// Where a point appears: right and up.
    ///
    /// ```
    /// use rosenblatt_plot::View;
    /// let (right, up) = View::new(0.0, 0.0).project([1.0, 5.0, 2.0]);
    /// assert!((right - 1.0).abs() < 1e-12 && (up - 2.0).abs() < 1e-12);
    /// ```
    pub fn project(&self, [x, y, z]: Point3) -> (f64, f64) {
        let (sin, cos) = self.azimuth.sin_cos();
        let (rise, level) = self.elevation.sin_cos();
        let right = x * cos + y * sin;
        let away = -x * sin + y * cos;
        (right, z * self.stretch * level + away * rise)
    }

    /// How far a point lies from the eye; larger is farther.
    pub fn depth(&self, [x, y, z]: Point3) -> f64 {
        let (sin, cos) = self.azimuth.sin_cos();
        let (rise, level) = self.elevation.sin_cos();
        (-x * sin + y * cos) * level - z * self.stretch * rise
    }

    /// Where points appear, in the order given.
    pub fn project_all(&self, points: &[Point3]) -> Vec<(f64, f64)> {
        points.iter().map(|&p| self.project(p)).collect()
    }

    /// A line through points.
    pub fn line(&self, points: &[Point3]) -> Layer {
        Layer::line(self.project_all(points)).dash(crate::Dash::Solid)
    }

    /// A flat polygon.
    pub fn polygon(&self, points: &[Point3]) -> Layer {
        Layer::area(self.project_all(points))
    }

    /// Three labelled arrows from the origin, as long as given.
    pub fn axes(&self, lengths: Point3, labels: [&str; 3]) -> Vec<Layer> {
        let origin = self.project([0.0; 3]);
        let mut layers = Vec::new();
        for axis in 0..3 {
            let mut tip = [0.0; 3];
            tip[axis] = lengths[axis];
            let end = self.project(tip);
            let side = if (end.1 - origin.1).abs() > (end.0 - origin.0).abs() {
                if end.1 >= origin.1 {
                    Side::Above
                } else {
                    Side::Below
                }
            } else if end.0 >= origin.0 {
                Side::Right
            } else {
                Side::Left
            };
            layers.push(Layer::arrow(origin, end).color(Color::Muted).width(1.2));
            layers.push(
                Layer::text(end, labels[axis])
                    .side(side)
                    .color(Color::Muted),
            );
        }
        layers
    }

    /// The surface z = f(x, y) as a mesh of `count` × `count` faces, far ones first.
    pub fn surface(
        &self,
        x: (f64, f64),
        y: (f64, f64),
        count: usize,
        color: Color,
        f: impl Fn(f64, f64) -> f64,
    ) -> Vec<Layer> {
        let count = count.clamp(1, 60);
        let place = |range: (f64, f64), i: usize| {
            let t = i as f64 / count as f64;
            range.0 * (1.0 - t) + range.1 * t
        };
        let corner = |i: usize, j: usize| {
            let (x, y) = (place(x, i), place(y, j));
            [x, y, f(x, y)]
        };
        let mut faces: Vec<[Point3; 4]> = (0..count * count)
            .map(|k| (k % count, k / count))
            .map(|(i, j)| {
                [
                    corner(i, j),
                    corner(i + 1, j),
                    corner(i + 1, j + 1),
                    corner(i, j + 1),
                ]
            })
            .filter(|face| face.iter().flatten().all(|v| v.is_finite()))
            .collect();
        let distance = |face: &[Point3; 4]| face.iter().map(|&p| self.depth(p)).sum::<f64>();
        faces.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
        faces
            .iter()
            .map(|face| self.polygon(face).color(color).opacity(0.16).width(0.6))
            .collect()
    }
}
