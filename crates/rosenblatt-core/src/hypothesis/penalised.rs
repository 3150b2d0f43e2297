//! Explicit weights that a penalty shrinks at every visit.
//!
//! A visit takes the share η α of every weight (`l2`), or η α of its length (`l1`). Both are lazy,
//! so that a visit costs what its row has: the weights are scale·v, of which `l2` moves the scale
//! alone; what `l1` has asked of a weight since its feature was last seen is taken when that is
//! seen again. Biases are not penalised.
//!
//! *Reference.* L. Bottou, "Stochastic gradient descent tricks" (2012); Y. Tsuruoka, J. Tsujii and
//! S. Ananiadou, "Stochastic gradient descent training for L1-regularized log-linear models with
//! cumulative penalty", ACL (2009).

use super::start::starting_weights;
use crate::data::{Dataset, Rows};
use crate::error::Result;
use crate::model::{Decision, LinearState};
use crate::options::{Bias, Readout};
use crate::readout::Average;
use crate::scheme::Scheme;
use crate::training::{Hypothesis, SampleWeights, Snapshot, Training};
use crate::weights::{Change, Weights};

/// Below this the scale goes into the weights: a sum of weights over visits loses as many digits
/// as the scale is small.
const SMALLEST_SCALE: f64 = 1e-4;

/// What one visit takes from the weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shrinkage {
    /// What is left of every weight.
    pub keep: f64,
    /// How much of the length of a weight goes, at most.
    pub cut: f64,
}

/// Penalised weights at work on a data set.
pub(crate) struct Penalised<'a> {
    data: &'a Dataset,
    sample_weights: &'a SampleWeights<'a>,
    scheme: Scheme,
    rows: Rows<'a>,
    /// Its weights are v, with no bias; the sums of its average are those of v, its bias slots
    /// sums of biases.
    state: LinearState,
    /// w = scale·v, by group.
    scale: Vec<f64>,
    biases: Vec<f64>,
    shrinkage: Shrinkage,
    bias: Bias,
    /// What the constant feature contributes to an inner product.
    constant: f64,
    scores: Vec<f64>,
    /// The example being visited, and whether its visit has scaled the weights already.
    current: usize,
    scaled: bool,
}

impl<'a> Penalised<'a> {
    /// Weights at their start, or those of a run that goes on.
    pub(crate) fn new(training: &mut Training<'a>, shrinkage: Shrinkage) -> Result<Self> {
        let (data, scheme, options) = (training.data, training.scheme, training.options);
        let sample_weights = training.sample_weights;
        let constant = match options.bias() {
            Bias::Lifted => 1.0,
            Bias::None => 0.0,
            Bias::Unlifted(rho) => rho.map_or(sample_weights.squared_radius(), |rho| rho * rho),
        };
        let (k, features) = (scheme.discriminators(), data.features());
        let mut state = match training.state.take() {
            Some(state) => state,
            None => {
                let weights = starting_weights(scheme, features, options)?;
                let keeps = matches!(options.readout(), Readout::Random | Readout::Pocket);
                LinearState {
                    kept: keeps.then(|| weights.clone()),
                    average: (options.readout() == Readout::Averaged)
                        .then(|| Average::new(scheme, features)),
                    ..LinearState::of(weights)
                }
            }
        };
        if shrinkage.cut > 0.0 {
            let nothing = || Weights::zero(k, features);
            state.cut.get_or_insert_with(nothing);
        }
        let biases = state.weights.biases().to_vec();
        (0..k).for_each(|d| state.weights.set_bias(d, 0.0));
        Ok(Penalised {
            data,
            sample_weights,
            scheme,
            rows: Rows::of(&data.matrix),
            scale: (state.scale.clone()).unwrap_or_else(|| vec![1.0; scheme.groups()]),
            biases,
            shrinkage,
            bias: options.bias(),
            constant,
            scores: state.weights.score_buffer(),
            state,
            current: 0,
            scaled: false,
        })
    }

    /// The weights as they are.
    fn weights_now(&self) -> Weights {
        let mut weights = self.state.weights.clone();
        for d in 0..self.scheme.discriminators() {
            let scale = self.scale[self.scheme.group(d)];
            weights.map(d, |v| scale * v);
            weights.set_bias(d, self.biases[d]);
        }
        weights
    }

    /// What a run that goes on needs.
    fn whole_state(&self, mut state: LinearState) -> LinearState {
        let biases = self.biases.iter().enumerate();
        biases.for_each(|(d, &bias)| state.weights.set_bias(d, bias));
        state.scale = Some(self.scale.clone());
        state
    }

    /// Multiplies the weights of every group that an example of class `label` is shown to.
    fn shrink(&mut self, label: u32) {
        for group in self.scheme.groups_of_class(label) {
            self.scale[group] *= self.shrinkage.keep;
            if self.scale[group] < SMALLEST_SCALE {
                let scale = std::mem::replace(&mut self.scale[group], 1.0);
                if let Some(average) = &mut self.state.average {
                    average.flush(group, self.scheme.members(group), &self.state.weights);
                }
                let weights = &mut self.state.weights;
                // No zero is to have a sign, which dense rows would take from it.
                (self.scheme.members(group)).for_each(|d| weights.map(d, |v| scale * v + 0.0));
            }
        }
    }

    /// Takes from the weights of the current row what `l1` has asked of them.
    fn cut(&mut self, label: u32) {
        let LinearState {
            weights,
            cut: Some(cut),
            average,
            ..
        } = &mut self.state
        else {
            return;
        };
        let row = self.rows.row(self.current);
        for group in self.scheme.groups_of_class(label) {
            let scale = self.scale[group];
            let factor = average.as_ref().map_or(0.0, |a| a.factor[group]);
            for d in self.scheme.members(group) {
                // The bias slot holds what was asked of every weight.
                *cut.at(d, None) += self.shrinkage.cut;
                let asked = cut.bias(d);
                row.for_each(|j, _| {
                    let before = scale * weights.get(d, j);
                    let taken = cut.at(d, Some(j));
                    let after = match before {
                        w if w > 0.0 => (w - (asked + *taken)).max(0.0),
                        w if w < 0.0 => (w + (asked - *taken)).min(0.0),
                        _ => return,
                    };
                    *taken += after - before;
                    let step = after / scale - weights.get(d, j);
                    *weights.at(d, Some(j)) = after / scale;
                    if let Some(average) = average {
                        *average.correction.at(d, Some(j)) -= factor * step;
                    }
                });
            }
        }
    }
}

impl Hypothesis for Penalised<'_> {
    fn width(&self) -> usize {
        self.scores.len()
    }

    fn unit(&self) -> f64 {
        1.0
    }

    fn always_moves(&self) -> bool {
        true
    }

    fn scores(&mut self, i: usize) -> &[f64] {
        let row = self.rows.row(i);
        self.state.weights.scores(row, &mut self.scores);
        for (d, &bias) in self.biases.iter().enumerate() {
            self.scores[d] = self.scale[self.scheme.group(d)] * self.scores[d] + bias;
        }
        &self.scores
    }

    fn scores_ahead(&mut self, next: &[u32], scores: &mut Vec<f64>) {
        self.current = next[0] as usize;
        scores.clear();
        scores.extend_from_slice(self.scores(self.current));
    }

    fn squared_length(&self, i: usize) -> f64 {
        self.sample_weights.squared_norm(i) + self.constant
    }

    fn update(&mut self, i: usize, _: &[f64], changes: &[(u32, f64)]) {
        self.shrink(self.data.labels[i]);
        self.scaled = true;
        let row = self.rows.row(i);
        for &(d, amount) in changes {
            let (d, group) = (d as usize, self.scheme.group(d as usize));
            let change = Change {
                d,
                scale: amount / self.scale[group],
                bias: 0.0,
            };
            if let Some(average) = &mut self.state.average
                && let Some(due) = average.due(group, change)
            {
                average.correction.add_change(row, due);
            }
            self.state.weights.add_change(row, change);
            self.biases[d] += amount * self.constant;
        }
    }

    fn visited(&mut self, _: u32) {
        let label = self.data.labels[self.current];
        if !std::mem::take(&mut self.scaled) {
            self.shrink(label);
        }
        self.cut(label);
        let Some(average) = &mut self.state.average else {
            return;
        };
        for group in self.scheme.groups_of_class(label) {
            average.count(group, self.scale[group], 1);
            for d in self.scheme.members(group) {
                *average.correction.at(d, None) += self.biases[d];
            }
        }
    }

    fn keep_snapshot(&mut self) {
        if self.state.kept.is_some() {
            self.state.kept = Some(self.weights_now());
        }
    }

    fn vector(&self) -> Vec<f64> {
        let weights = self.weights_now();
        let with_bias = self.bias != Bias::None;
        let planes = (0..self.scheme.discriminators()).map(|d| {
            let bias = with_bias.then(|| weights.bias(d));
            bias.into_iter().chain(weights.column(d))
        });
        planes.flatten().collect()
    }
}

impl Snapshot for Penalised<'_> {
    fn decision(&mut self, _: &Dataset, _: Readout) -> Decision {
        let now = self.weights_now();
        Decision::Linear(match (&self.state.average, &self.state.kept) {
            (Some(average), _) => {
                let mut mean = average.mean(self.scheme, &self.state.weights, 1.0);
                for d in 0..self.scheme.discriminators() {
                    if average.visits[self.scheme.group(d)] == 0 {
                        mean.combine(d, &now, |_, w| w);
                    }
                }
                mean
            }
            (None, Some(kept)) => kept.clone(),
            (None, None) => now,
        })
    }

    fn state(&mut self) -> Option<LinearState> {
        Some(self.whole_state(self.state.clone()))
    }

    fn take_state(&mut self) -> Option<LinearState> {
        let nothing = LinearState::of(Weights::zero(1, 0));
        let state = std::mem::replace(&mut self.state, nothing);
        Some(self.whole_state(state))
    }
}
