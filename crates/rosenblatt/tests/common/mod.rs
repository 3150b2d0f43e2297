//! Small labelled sets, every way to store them, and an observer that writes everything down.

// Each test target uses its own part of this module.
#![allow(dead_code)]

use rosenblatt::Session;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::model::Model;
use rosenblatt::options::{Order, Readout};
use rosenblatt::training::{Callback, Fitted, Step};
use rosenblatt::weights::Weights;
use rosenblatt::{Options, Result};

pub(crate) const ORDERS: [Order; 7] = [
    Order::Given,
    Order::ByClass,
    Order::Shuffled,
    Order::Random,
    Order::Mistakes,
    Order::Worst,
    Order::Restart,
];

/// Those whose visits are known ahead.
pub(crate) const AHEAD: [Order; 4] = [Order::Given, Order::ByClass, Order::Shuffled, Order::Random];

pub(crate) const READOUTS: [Readout; 6] = [
    Readout::Last,
    Readout::Averaged,
    Readout::AveragedNormalised,
    Readout::Voted,
    Readout::Random,
    Readout::Pocket,
];

/// How a set is stored; nothing may depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Storage {
    pub(crate) sparse: bool,
    pub(crate) precision: Precision,
    pub(crate) scattered: bool,
}

pub(crate) const PLAIN: Storage = Storage {
    sparse: false,
    precision: Precision::F64,
    scattered: false,
};

/// A labelled set in plain vectors.
#[derive(Debug, Clone)]
pub(crate) struct Toy {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) labels: Vec<u32>,
    pub(crate) classes: usize,
    pub(crate) weights: Option<Vec<f64>>,
}

impl Toy {
    /// Two classes; labels are 0 and 1.
    pub(crate) fn binary(rows: Vec<Vec<f64>>, labels: Vec<u32>) -> Self {
        Toy {
            rows,
            labels,
            classes: 2,
            weights: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn features(&self) -> usize {
        self.rows[0].len()
    }

    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// The label of row `i` as ±1.
    pub(crate) fn sign(&self, i: usize) -> f64 {
        if self.labels[i] == 1 { 1.0 } else { -1.0 }
    }

    pub(crate) fn stored(&self, storage: Storage) -> Dataset {
        let columns = self.features();
        let matrix = if storage.sparse {
            let mut matrix = Matrix::empty_sparse(columns, storage.precision);
            for row in &self.rows {
                matrix.push_sparse(row.iter().enumerate().map(|(j, &x)| (j as u32, x)));
            }
            matrix
        } else {
            Matrix::dense_from_rows(columns, &self.rows, storage.precision)
        };
        let classes = Classes::from_ordered((0..self.classes).map(|c| c.to_string()).collect());
        let data =
            Dataset::new(matrix, self.labels.clone(), classes, self.weights.clone()).unwrap();
        if storage.scattered {
            data.permuted()
        } else {
            data
        }
    }

    pub(crate) fn dataset(&self) -> Dataset {
        self.stored(PLAIN)
    }

    /// The same set with the constant `value` as feature 0.
    pub(crate) fn with_constant(&self, value: f64) -> Toy {
        let rows = self.rows.iter().map(|x| {
            let mut row = vec![value];
            row.extend(x);
            row
        });
        Toy {
            rows: rows.collect(),
            ..self.clone()
        }
    }
}

/// Every visit of a run.
#[derive(Default)]
pub(crate) struct Recorder(pub(crate) Vec<Step>);

impl Callback for Recorder {
    fn wants_steps(&self) -> bool {
        true
    }
    fn step(&mut self, step: Step) {
        self.0.push(step);
    }
}

/// Trains and writes every visit down.
pub(crate) fn followed(data: &Dataset, options: &Options) -> Result<(Vec<Step>, Fitted)> {
    let mut recorder = Recorder::default();
    let fitted = Session::new(options).train_with(data, &mut recorder)?;
    Ok((recorder.0, fitted))
}

pub(crate) fn trained(data: &Dataset, options: &Options) -> Fitted {
    Session::new(options).train(data).unwrap()
}

/// Each discriminator as one vector, bias first.
pub(crate) fn planes(weights: &Weights) -> Vec<Vec<f64>> {
    (0..weights.discriminators())
        .map(|d| {
            let mut plane = vec![weights.bias(d)];
            plane.extend(weights.column(d));
            plane
        })
        .collect()
}

/// The running weights of a model, whatever it reads out, in units of 1.
pub(crate) fn running(model: &Model) -> Vec<Vec<f64>> {
    let state = model.state.as_ref().unwrap();
    planes(&state.weights)
        .iter()
        .map(|plane| plane.iter().map(|w| w * state.unit).collect())
        .collect()
}

pub(crate) fn bits(planes: &[Vec<f64>]) -> Vec<Vec<u64>> {
    planes
        .iter()
        .map(|p| p.iter().map(|w| w.to_bits()).collect())
        .collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// The score of `row` by a plane with its bias first.
pub(crate) fn score(plane: &[f64], row: &[f64]) -> f64 {
    row.iter()
        .zip(&plane[1..])
        .fold(plane[0], |sum, (x, w)| sum + w * x)
}

/// Whether `a` and `b` agree to `tolerance`, relative to `scale`.
pub(crate) fn close(a: f64, b: f64, scale: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * scale.max(a.abs()).max(b.abs())
}

pub(crate) fn random(seed: u64) -> Random {
    Random::new(seed, Stream::Synthetic, 0)
}

pub(crate) fn unit_vector(random: &mut Random, d: usize) -> Vec<f64> {
    let v: Vec<f64> = (0..d).map(|_| random.normal()).collect();
    let length = norm(&v);
    v.iter().map(|x| x / length).collect()
}

/// Whole numbers from −`most` to `most` with arbitrary labels, every class present.
pub(crate) fn integers(seed: u64, n: usize, d: usize, classes: usize, most: i64) -> Toy {
    let mut random = random(seed);
    let span = 2 * most as u64 + 1;
    let rows = (0..n)
        .map(|_| {
            (0..d)
                .map(|_| (random.below(span) as i64 - most) as f64)
                .collect()
        })
        .collect();
    Toy {
        rows,
        labels: labels(&mut random, n, classes),
        classes,
        weights: None,
    }
}

/// Normal numbers, exact in `f32`, with arbitrary labels, every class present.
pub(crate) fn reals(seed: u64, n: usize, d: usize, classes: usize) -> Toy {
    let mut random = random(seed);
    let rows = (0..n)
        .map(|_| {
            (0..d)
                .map(|_| {
                    let x = f64::from(random.normal() as f32);
                    if random.below(4) == 0 { 0.0 } else { x }
                })
                .collect()
        })
        .collect();
    Toy {
        rows,
        labels: labels(&mut random, n, classes),
        classes,
        weights: None,
    }
}

fn labels(random: &mut Random, n: usize, classes: usize) -> Vec<u32> {
    let mut labels: Vec<u32> = (0..n).map(|i| (i % classes) as u32).collect();
    random.shuffle(&mut labels);
    labels
}

/// Two classes with |u·x − θ| ≥ `gap` for a unit u, which comes along.
pub(crate) fn separable(seed: u64, n: usize, d: usize, theta: f64, gap: f64) -> (Toy, Vec<f64>) {
    let mut random = random(seed);
    let u = unit_vector(&mut random, d);
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    while rows.len() < n {
        let x: Vec<f64> = (0..d).map(|_| random.normal()).collect();
        let side = dot(&x, &u) - theta;
        // Both classes, about alternating.
        let wanted = if rows.len() % 2 == 0 { 1.0 } else { -1.0 };
        if side * wanted >= gap {
            rows.push(x);
            labels.push(u32::from(side > 0.0));
        }
    }
    (Toy::binary(rows, labels), u)
}
