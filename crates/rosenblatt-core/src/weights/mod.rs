//! Weights of one or several linear discriminators.
//!
//! Feature-major: the weights that all discriminators give one feature lie side by side, so
//! that one look-up serves every class and sums run in parallel across classes, never inside
//! one sum. A score is the bias, then the features in ascending order, one accumulator,
//! multiply then add.

mod scoring;

use std::borrow::Cow;

use crate::data::Row;
pub(crate) use scoring::GROUP;

/// Weights and biases of `discriminators` linear functions of `features` features.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    discriminators: usize,
    stride: usize,
    values: Vec<f64>,
    bias: Vec<f64>,
}

/// What is added to one discriminator: `scale`·x, and `bias` on its bias.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    /// The discriminator.
    pub d: usize,
    /// How often the row is added to its weights.
    pub scale: f64,
    /// What is added to its bias.
    pub bias: f64,
}

/// Discriminators are padded to a multiple of this, so that sums fill SIMD registers.
const LANES: usize = 4;

fn stride_of(discriminators: usize) -> usize {
    if discriminators == 1 {
        1
    } else {
        discriminators.next_multiple_of(LANES)
    }
}

impl Weights {
    /// All zero.
    pub fn zero(discriminators: usize, features: usize) -> Self {
        let stride = stride_of(discriminators);
        Weights {
            discriminators,
            stride,
            values: vec![0.0; features * stride],
            bias: vec![0.0; stride],
        }
    }

    /// Every weight `weight` and every bias `bias`.
    pub(crate) fn filled(discriminators: usize, features: usize, weight: f64, bias: f64) -> Self {
        let mut weights = Weights::zero(discriminators, features);
        (0..discriminators).for_each(|d| {
            weights.map(d, |_| weight);
            weights.bias[d] = bias;
        });
        weights
    }

    /// From `features × discriminators` values, feature by feature, and one bias each.
    pub fn from_parts(discriminators: usize, values: &[f64], bias: &[f64]) -> Self {
        assert_eq!(bias.len(), discriminators);
        let mut weights = Weights::zero(discriminators, values.len() / discriminators);
        for (to, from) in weights
            .values
            .chunks_exact_mut(weights.stride)
            .zip(values.chunks_exact(discriminators))
        {
            to[..discriminators].copy_from_slice(from);
        }
        weights.bias[..discriminators].copy_from_slice(bias);
        weights
    }

    /// The bytes that weights of this shape take; `None` if the number overflows.
    pub fn bytes_needed(discriminators: usize, features: usize) -> Option<usize> {
        stride_of(discriminators)
            .checked_mul(features.checked_add(1)?)?
            .checked_mul(size_of::<f64>())
    }

    /// The number of discriminators.
    pub fn discriminators(&self) -> usize {
        self.discriminators
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.values.len() / self.stride
    }

    /// The bias of discriminator `d`.
    pub fn bias(&self, d: usize) -> f64 {
        self.bias[d]
    }

    /// The biases of all discriminators.
    pub fn biases(&self) -> &[f64] {
        &self.bias[..self.discriminators]
    }

    /// The weight that discriminator `d` gives feature `j`.
    pub fn get(&self, d: usize, j: usize) -> f64 {
        self.values[j * self.stride + d]
    }

    /// The weight that discriminator `d` gives a feature, or its bias.
    #[inline]
    pub(crate) fn at(&mut self, d: usize, feature: Option<usize>) -> &mut f64 {
        match feature {
            Some(j) => &mut self.values[j * self.stride + d],
            None => &mut self.bias[d],
        }
    }

    /// Sets a weight.
    pub fn set(&mut self, d: usize, j: usize, value: f64) {
        self.values[j * self.stride + d] = value;
    }

    /// Sets a bias.
    pub fn set_bias(&mut self, d: usize, value: f64) {
        self.bias[d] = value;
    }

    /// The weights without padding, feature by feature.
    pub fn packed(&self) -> Cow<'_, [f64]> {
        if self.stride == self.discriminators {
            return Cow::Borrowed(&self.values);
        }
        self.values
            .chunks_exact(self.stride)
            .flat_map(|c| &c[..self.discriminators])
            .copied()
            .collect()
    }

    /// The weights of discriminator `d`, without its bias.
    pub fn column(&self, d: usize) -> Vec<f64> {
        self.values
            .iter()
            .skip(d)
            .step_by(self.stride)
            .copied()
            .collect()
    }

    /// `w_d += scale·x`, and `bias` more on its bias.
    #[inline]
    pub fn add(&mut self, d: usize, row: Row<'_>, scale: f64, bias: f64) {
        self.bias[d] += bias;
        if self.stride == 1 {
            row.add_to(&mut self.values, scale);
        } else {
            let stride = self.stride;
            let values = &mut self.values[d..];
            row.for_each(|j, x| values[j * stride] += scale * x);
        }
    }

    /// One change by a row.
    #[inline]
    pub(crate) fn add_change(&mut self, row: Row<'_>, change: Change) {
        self.add(change.d, row, change.scale, change.bias);
    }

    /// Both of two changes by one row, which is gone through once.
    #[inline]
    pub(crate) fn add_both(&mut self, changes: [Change; 2], row: Row<'_>) {
        let [one, other] = changes;
        self.bias[one.d] += one.bias;
        self.bias[other.d] += other.bias;
        let stride = self.stride;
        row.for_each(|j, x| {
            let weights = &mut self.values[j * stride..(j + 1) * stride];
            weights[one.d] += one.scale * x;
            weights[other.d] += other.scale * x;
        });
    }

    /// ‖w_d‖², the bias included where `with_bias`.
    pub fn squared_norm(&self, d: usize, with_bias: bool) -> f64 {
        let start = if with_bias {
            self.bias[d] * self.bias[d]
        } else {
            0.0
        };
        self.values
            .iter()
            .skip(d)
            .step_by(self.stride)
            .fold(start, |sum, w| sum + w * w)
    }

    /// The same of every discriminator.
    pub fn squared_norms(&self, with_bias: bool) -> Vec<f64> {
        let mut sums = vec![0.0; self.stride];
        if with_bias {
            sums.iter_mut()
                .zip(&self.bias)
                .for_each(|(s, b)| *s = b * b);
        }
        for weights in self.values.chunks_exact(self.stride) {
            sums.iter_mut().zip(weights).for_each(|(s, w)| *s += w * w);
        }
        sums.truncate(self.discriminators);
        sums
    }

    /// The largest |w|, biases included.
    pub(crate) fn largest(&self) -> f64 {
        let all = self.values.iter().chain(&self.bias);
        all.fold(0.0, |most: f64, w| most.max(w.abs()))
    }

    /// Σ w·v over all weights, biases left out.
    pub(crate) fn dot(&self, other: &Weights) -> f64 {
        let both = self.values.iter().zip(&*other.values);
        both.fold(0.0, |sum, (w, v)| sum + w * v)
    }

    /// Applies `f(own, other)` to every weight and bias of discriminator `d`.
    pub fn combine(&mut self, d: usize, other: &Weights, f: impl Fn(f64, f64) -> f64) {
        self.bias[d] = f(self.bias[d], other.bias[d]);
        let others = other.values.iter().skip(d).step_by(other.stride);
        for (own, &w) in self
            .values
            .iter_mut()
            .skip(d)
            .step_by(self.stride)
            .zip(others)
        {
            *own = f(*own, w);
        }
    }

    /// `f(d, own, other)` of every weight and bias, all discriminators in one pass.
    pub(crate) fn combined(&self, other: &Weights, f: impl Fn(usize, f64, f64) -> f64) -> Weights {
        let (k, stride) = (self.discriminators, self.stride);
        let mut made = Weights::zero(k, self.features());
        for (d, bias) in made.bias[..k].iter_mut().enumerate() {
            *bias = f(d, self.bias[d], other.bias[d]);
        }
        let both = (self.values.chunks_exact(stride)).zip(other.values.chunks_exact(stride));
        for (new, (own, other)) in made.values.chunks_exact_mut(stride).zip(both) {
            for d in 0..k {
                new[d] = f(d, own[d], other[d]);
            }
        }
        made
    }

    /// Replaces every weight and bias of discriminator `d` by `f` of it.
    pub fn map(&mut self, d: usize, f: impl Fn(f64) -> f64) {
        self.bias[d] = f(self.bias[d]);
        for w in self.values.iter_mut().skip(d).step_by(self.stride) {
            *w = f(*w);
        }
    }

    /// Of each discriminator the `most` weights that are largest in absolute value, largest
    /// first, with their features; among equals those that come first. Zeros are left out.
    pub fn largest_of_each(&self, most: usize) -> Vec<Vec<(usize, f64)>> {
        let order = |a: &(usize, f64), b: &(usize, f64)| {
            b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0))
        };
        let keep = |found: &mut Vec<(usize, f64)>| {
            if found.len() > most {
                found.select_nth_unstable_by(most, order);
                found.truncate(most);
            }
        };
        // Candidates, and what the next must exceed.
        let mut found = vec![(Vec::new(), 0.0); self.discriminators];
        for (j, weights) in self.values.chunks_exact(self.stride).enumerate() {
            for (&w, (found, least)) in weights.iter().zip(&mut found) {
                if w.abs() > *least {
                    found.push((j, w));
                    if found.len() >= 2 * most {
                        keep(found);
                        let smallest = found.iter().map(|(_, w)| w.abs());
                        *least = smallest.fold(f64::INFINITY, f64::min);
                    }
                }
            }
        }
        let ranked = found.into_iter().map(|(mut found, _)| {
            keep(&mut found);
            found.sort_by(order);
            found
        });
        ranked.collect()
    }

    /// Whether all are finite.
    pub fn is_finite(&self) -> bool {
        self.values.iter().chain(&self.bias).all(|w| w.is_finite())
    }
}

#[cfg(test)]
mod tests;
