//! Sample weights: how much each example counts, and how long its row is.

use std::sync::OnceLock;

use crate::data::{Dataset, Precision};
use crate::error::{Error, Result};
use crate::options::ClassWeight;
use crate::parallel;

/// c_i = example weight × class weight, and ‖x_i‖², for every example.
#[derive(Debug)]
pub(crate) struct SampleWeights<'a> {
    data: &'a Dataset,
    classes: Option<Vec<f64>>,
    /// ‖x_i‖² of all examples, once they are measured.
    squared_norms: OnceLock<Vec<f64>>,
}

impl<'a> SampleWeights<'a> {
    /// The weights that `choice` and the data ask for.
    pub(crate) fn new(data: &'a Dataset, choice: &ClassWeight) -> Result<Self> {
        let classes = match choice {
            ClassWeight::One => None,
            ClassWeight::Balanced => {
                let k = data.classes.len() as f64;
                let n = data.len() as f64;
                let counts = data.class_counts();
                Some(
                    counts
                        .iter()
                        .map(|&c| if c == 0 { 1.0 } else { n / (k * c as f64) })
                        .collect(),
                )
            }
            ClassWeight::Listed(list) => {
                let mut weights = vec![1.0; data.classes.len()];
                for (name, weight) in list {
                    let class = data.classes.find(name).ok_or_else(|| {
                        Error::options(format!(
                            "⟨class-weight⟩ names the class {name:?}, which is not in the data"
                        ))
                        .remedy(format!(
                            "the classes are {}",
                            data.classes.names().join(", ")
                        ))
                    })?;
                    weights[class as usize] = *weight;
                }
                Some(weights)
            }
        };
        Ok(SampleWeights {
            data,
            classes,
            squared_norms: OnceLock::new(),
        })
    }

    /// Takes these for ‖x_i‖² of all examples.
    pub(crate) fn know_squared_norms(&mut self, norms: Vec<f64>) {
        self.squared_norms = norms.into();
    }

    /// All ‖x_i‖², found on so many threads unless they are known.
    pub(crate) fn measure(&self, threads: usize) -> &[f64] {
        self.squared_norms.get_or_init(|| {
            let mut norms = vec![0.0; self.data.len()];
            let threads = parallel::worth(threads, norms.len());
            parallel::chunks(&mut norms, 1, threads, || {
                |i: usize, norm: &mut [f64]| {
                    norm[0] = self.data.row(i).squared_norm();
                    self.data.matrix.group_was_read(i, 1);
                }
            });
            norms
        })
    }

    /// Whether no sum of squares can be too large for a number: those of `f32` cannot.
    pub(crate) fn is_surely_finite(&self) -> bool {
        self.data.matrix.precision() == Precision::F32
    }

    /// Refuses rows whose squares sum to infinity.
    pub(crate) fn require_finite(&self, threads: usize) -> Result<()> {
        match (self.measure(threads).iter()).position(|norm| !norm.is_finite()) {
            None => Ok(()),
            Some(i) => Err(Error::data(format!(
                "the squares of row {} sum to infinity",
                self.data.number(i) + 1
            ))
            .remedy("scale the data, for example with ⟨scale unit-rows⟩")),
        }
    }

    /// c_i of the example at `i`, whose class is `label`.
    #[inline]
    pub(crate) fn of(&self, i: usize, label: u32) -> f64 {
        let example = self.data.weights.as_ref().map_or(1.0, |w| w[i]);
        let class = self.classes.as_ref().map_or(1.0, |w| w[label as usize]);
        example * class
    }

    /// The largest c_i.
    pub(crate) fn largest(&self) -> f64 {
        let all = self.data.labels.iter().enumerate();
        all.fold(0.0, |most: f64, (i, &label)| most.max(self.of(i, label)))
    }

    /// ‖x_i‖², without any lift.
    #[inline]
    pub(crate) fn squared_norm(&self, i: usize) -> f64 {
        match self.squared_norms.get() {
            Some(norms) => norms[i],
            None => self.data.row(i).squared_norm(),
        }
    }

    /// R² = max c_i²‖x_i‖², without any lift.
    pub(crate) fn squared_radius(&self) -> f64 {
        self.squared_radius_with(0.0)
    }

    /// max c_i²(‖x_i‖² + constant).
    pub(crate) fn squared_radius_with(&self, constant: f64) -> f64 {
        let norms = self.measure(1).iter().enumerate();
        norms.fold(0.0, |most: f64, (i, norm)| {
            let c = self.of(i, self.data.labels[i]);
            most.max(c * c * (norm + constant))
        })
    }
}
