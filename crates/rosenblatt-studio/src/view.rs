//! The plane that a picture shows: two features, or the rows along the weight vector and the
//! leading other direction.

use rosenblatt::data::{Matrix, Precision};
use rosenblatt::weights::Weights;

use crate::data::Data;

/// What the two axes are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum View {
    /// Two features; where there is one, the other axis is empty.
    Columns(usize, usize),
    /// The signed distance from the boundary, and the direction across it with the largest spread.
    Projection,
}

/// Axes across the weight vector.
pub struct Axes {
    weights: Vec<f64>,
    bias: f64,
    norm: f64,
    other: Vec<f64>,
    offset: f64,
}

impl View {
    /// The view that the page asks for.
    pub fn of(data: &Data, x: Option<usize>, y: Option<usize>, projection: bool) -> Self {
        let last = data.examples.features() - 1;
        match projection {
            true => View::Projection,
            false => View::Columns(x.unwrap_or(0).min(last), y.unwrap_or(1)),
        }
    }

    /// The place of the row at `i`.
    pub fn place(self, data: &Data, axes: Option<&Axes>, i: usize) -> (f64, f64) {
        let row = data.examples.row(i);
        match (self, axes) {
            (View::Columns(x, y), _) => {
                let y = if y < data.examples.features() {
                    row.get(y)
                } else {
                    0.0
                };
                (row.get(x), y)
            }
            (View::Projection, Some(axes)) => {
                let x = row.dot(&axes.weights, axes.bias) / axes.norm;
                (x, row.dot(&axes.other, 0.0) - axes.offset)
            }
            (View::Projection, None) => (row.get(0), row.get(1)),
        }
    }

    /// a, b, c of the line a·x + b·y + c = 0 on which discriminator `d` scores 0; where there are
    /// other features, those are held at their means.
    pub fn line(self, data: &Data, weights: &Weights, d: usize) -> [f64; 3] {
        let View::Columns(x, y) = self else {
            return [1.0, 0.0, 0.0];
        };
        let mut c = weights.bias(d);
        for (j, mean) in data.means.iter().enumerate() {
            if j != x && j != y {
                c += weights.get(d, j) * mean;
            }
        }
        let b = if y < weights.features() && y != x {
            weights.get(d, y)
        } else {
            0.0
        };
        [weights.get(d, x), b, c]
    }
}

impl Axes {
    /// Axes across these weights; none where they are zero.
    pub fn across(data: &Data, weights: &Weights) -> Option<Self> {
        let column = weights.column(0);
        let norm = column.iter().map(|w| w * w).sum::<f64>().sqrt();
        if norm == 0.0 || !norm.is_finite() {
            return None;
        }
        let unit: Vec<f64> = column.iter().map(|w| w / norm).collect();
        let other = leading(data, &unit);
        let offset = dot(&other, &data.means);
        Some(Axes {
            weights: column,
            bias: weights.bias(0),
            norm,
            other,
            offset,
        })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The direction across `unit` with the largest spread, by power iteration on some rows.
fn leading(data: &Data, unit: &[f64]) -> Vec<f64> {
    const ROWS: usize = 400;
    const ROUNDS: usize = 30;
    let step = data.drawn.len().div_ceil(ROWS).max(1);
    let rows: Vec<usize> = data
        .drawn
        .iter()
        .step_by(step)
        .map(|&i| i as usize)
        .collect();
    let across = |v: &mut Vec<f64>| {
        let along = dot(v, unit);
        v.iter_mut().zip(unit).for_each(|(v, u)| *v -= along * u);
        let norm = dot(v, v).sqrt();
        if norm > 0.0 {
            v.iter_mut().for_each(|v| *v /= norm);
        }
        norm
    };
    let d = unit.len();
    let mut v: Vec<f64> = (0..d).map(|j| 1.0 + (j % 7) as f64 / 10.0).collect();
    if across(&mut v) < 1e-9 {
        v = (0..d).map(|j| f64::from(u8::from(j == 0))).collect();
        across(&mut v);
    }
    for _ in 0..ROUNDS {
        let centre = dot(&v, &data.means);
        let mut next = vec![0.0; d];
        let mut sum = 0.0;
        for &i in &rows {
            let row = data.examples.row(i);
            let s = row.dot(&v, 0.0) - centre;
            row.add_to(&mut next, s);
            sum += s;
        }
        next.iter_mut()
            .zip(&data.means)
            .for_each(|(n, m)| *n -= sum * m);
        if across(&mut next) <= 1e-12 {
            break;
        }
        v = next;
    }
    // One of the two signs, the same from visit to visit.
    let largest = v
        .iter()
        .copied()
        .fold(0.0, |l: f64, x| if x.abs() > l.abs() { x } else { l });
    if largest < 0.0 {
        v.iter_mut().for_each(|v| *v = -*v);
    }
    v
}

/// The rectangle of a picture.
#[derive(Debug, Clone, Copy)]
pub struct Rectangle {
    /// From left to right.
    pub x: (f64, f64),
    /// From bottom to top.
    pub y: (f64, f64),
}

/// Most numbers that the rows of a grid may hold.
const GRID_NUMBERS: usize = 6_000_000;

/// How fine a grid over a picture can be.
pub fn grid_size(data: &Data, wanted: usize) -> usize {
    let most = (GRID_NUMBERS / data.examples.features()).isqrt();
    wanted.clamp(2, 200).min(most.max(2))
}

/// The centres of `n` × `n` cells over a rectangle as rows, from the lower left; the features that
/// the picture does not show are at their means.
pub fn grid(data: &Data, (x, y): (usize, usize), over: Rectangle, n: usize) -> Matrix {
    let centre = |range: (f64, f64), i: usize| {
        let t = (i as f64 + 0.5) / n as f64;
        range.0 * (1.0 - t) + range.1 * t
    };
    let rows: Vec<Vec<f64>> = (0..n * n)
        .map(|i| {
            let mut row = data.means.clone();
            if let Some(at) = row.get_mut(y) {
                *at = centre(over.y, i / n);
            }
            row[x] = centre(over.x, i % n);
            row
        })
        .collect();
    Matrix::dense_from_rows(data.examples.features(), &rows, Precision::F64)
}
