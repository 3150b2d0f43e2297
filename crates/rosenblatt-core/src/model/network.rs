//! A network with hidden layers: what predicts after back-propagation.

use crate::data::{Matrix, Row};
use crate::kernel::{Products, WIDTH, products};
use crate::options::choices;
use crate::random::Random;

/// One layer: every unit sums its inputs by weights and adds a bias.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    inputs: usize,
    outputs: usize,
    /// Weights of 32 units side by side, input by input.
    pub(crate) panels: Vec<Vec<[f64; WIDTH]>>,
    /// A bias a unit, padded to whole panels.
    pub(crate) bias: Vec<[f64; WIDTH]>,
}

impl Layer {
    /// All weights zero.
    pub fn zero(inputs: usize, outputs: usize) -> Self {
        let panels = outputs.div_ceil(WIDTH);
        Layer {
            inputs,
            outputs,
            panels: vec![vec![[0.0; WIDTH]; inputs]; panels],
            bias: vec![[0.0; WIDTH]; panels],
        }
    }

    /// Normal weights of the given width, biases zero.
    pub(crate) fn random(inputs: usize, outputs: usize, width: f64, random: &mut Random) -> Self {
        let mut layer = Layer::zero(inputs, outputs);
        for i in 0..inputs {
            for o in 0..outputs {
                layer.panels[o / WIDTH][i][o % WIDTH] = width * random.normal();
            }
        }
        layer
    }

    /// From `inputs × outputs` weights, input by input, and a bias an output; `None` if
    /// their numbers do not fit or are not finite.
    pub fn from_parts(inputs: usize, weights: &[f64], bias: &[f64]) -> Option<Self> {
        let finite = weights.iter().chain(bias).all(|w| w.is_finite());
        if !finite || bias.is_empty() || inputs.checked_mul(bias.len())? != weights.len() {
            return None;
        }
        let mut layer = Layer::zero(inputs, bias.len());
        for (i, row) in weights.chunks_exact(bias.len()).enumerate() {
            for (o, &w) in row.iter().enumerate() {
                layer.panels[o / WIDTH][i][o % WIDTH] = w;
            }
        }
        for (o, &b) in bias.iter().enumerate() {
            layer.bias[o / WIDTH][o % WIDTH] = b;
        }
        Some(layer)
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of units.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The weight of unit `o` for input `i`.
    pub fn weight(&self, i: usize, o: usize) -> f64 {
        self.panels[o / WIDTH][i][o % WIDTH]
    }

    /// The weights, input by input.
    pub fn weights(&self) -> Vec<f64> {
        (0..self.inputs)
            .flat_map(|i| (0..self.outputs).map(move |o| (i, o)))
            .map(|(i, o)| self.weight(i, o))
            .collect()
    }

    /// The biases.
    pub fn biases(&self) -> Vec<f64> {
        (0..self.outputs)
            .map(|o| self.bias[o / WIDTH][o % WIDTH])
            .collect()
    }

    /// The sums of every unit for each row of a row-major table of inputs.
    pub(crate) fn sums(
        &self,
        table: &[f64],
        rows: &[u32],
        buffer: &mut Vec<[f64; WIDTH]>,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.resize(rows.len() * self.outputs, 0.0);
        buffer.resize(rows.len(), [0.0; WIDTH]);
        for (p, (panel, bias)) in self.panels.iter().zip(&self.bias).enumerate() {
            products(Products {
                table,
                stride: self.inputs,
                from: 0,
                rows,
                panel,
                // Fused steps would round differently where there is no hardware for them.
                fused: false,
                out: buffer,
            });
            let units = p * WIDTH..((p + 1) * WIDTH).min(self.outputs);
            for (sums, out) in buffer.iter().zip(out.chunks_exact_mut(self.outputs)) {
                for ((out, sum), bias) in out[units.clone()].iter_mut().zip(sums).zip(bias) {
                    *out = sum + bias;
                }
            }
        }
    }
}

/// One start of a network's training and how it ended.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Attempt {
    /// Passes made.
    pub passes: u64,
    /// Training examples it got wrong at its end.
    pub errors: u64,
    /// Whether its loss stopped falling while examples were still wrong.
    pub stuck: bool,
}

/// A network of layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Inputs are multiplied by this first: 1 over the root mean square of the training
    /// values, so that rates and first weights suit any data.
    pub scale: f64,
    /// What hidden units do with their sum.
    pub activation: Activation,
    /// The layers, from the input on.
    pub layers: Vec<Layer>,
    /// The starts that were tried.
    pub attempts: Vec<Attempt>,
}

choices! {
    /// What the hidden units of a network do with their sum.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Activation {
        /// max(0, s).
        #[default]
        Relu = "relu",
        /// The hyperbolic tangent.
        Tanh = "tanh",
    }
}

impl Activation {
    pub(crate) fn apply(self, sums: &mut [f64]) {
        match self {
            Activation::Relu => sums.iter_mut().for_each(|s| *s = s.max(0.0)),
            Activation::Tanh => sums.iter_mut().for_each(|s| *s = libm::tanh(*s)),
        }
    }

    /// The slope, from the activation itself.
    pub(crate) fn slope(self, activation: f64) -> f64 {
        match self {
            Activation::Relu => f64::from(u8::from(activation > 0.0)),
            Activation::Tanh => 1.0 - activation * activation,
        }
    }
}

/// Buffers of a forward pass.
#[derive(Debug, Default)]
pub(crate) struct Forward {
    /// Inputs, then the activations of each layer; row by row.
    pub(crate) activations: Vec<Vec<f64>>,
    buffer: Vec<[f64; WIDTH]>,
    rows: Vec<u32>,
}

/// Rows predicted at a time.
const AT_ONCE: usize = 256;

impl Network {
    /// The number of features it takes.
    pub fn features(&self) -> usize {
        self.layers.first().map_or(0, Layer::inputs)
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(0, Layer::outputs)
    }

    /// Whether each layer takes what the one before gives.
    pub fn is_whole(&self) -> bool {
        !self.layers.is_empty()
            && self.scale.is_finite()
            && self
                .layers
                .windows(2)
                .all(|w| w[0].outputs() == w[1].inputs())
    }

    /// Runs rows through the network; the outputs are the last of the activations.
    pub(crate) fn forward<'r>(&self, rows: impl Iterator<Item = Row<'r>>, forward: &mut Forward) {
        let inputs = self.features();
        forward
            .activations
            .resize_with(self.layers.len() + 1, Vec::new);
        let table = &mut forward.activations[0];
        table.clear();
        let mut count = 0;
        for row in rows {
            table.resize((count + 1) * inputs, 0.0);
            let out = &mut table[count * inputs..];
            row.for_each(|j, x| out[j] = x * self.scale);
            count += 1;
        }
        forward.rows.clear();
        forward.rows.extend(0..count as u32);
        for (l, layer) in self.layers.iter().enumerate() {
            let (before, after) = forward.activations.split_at_mut(l + 1);
            layer.sums(
                &before[l],
                &forward.rows,
                &mut forward.buffer,
                &mut after[0],
            );
            if l + 1 < self.layers.len() {
                self.activation.apply(&mut after[0]);
            }
        }
    }

    /// The outputs for every row of `matrix`, row by row.
    pub fn scores(&self, matrix: &Matrix, threads: usize) -> Vec<f64> {
        let outputs = self.outputs();
        let mut scores = vec![0.0; matrix.rows() * outputs];
        crate::parallel::chunks(&mut scores, AT_ONCE * outputs, threads, || {
            let mut forward = Forward::default();
            move |p: usize, out: &mut [f64]| {
                let first = p * AT_ONCE;
                let rows = first..first + out.len() / outputs;
                self.forward(rows.map(|i| matrix.row(i)), &mut forward);
                out.copy_from_slice(&forward.activations[self.layers.len()]);
            }
        });
        scores
    }
}
