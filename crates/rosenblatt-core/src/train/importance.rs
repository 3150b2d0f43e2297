//! How much each example counts, and how long it is.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Once, OnceLock};

use crate::data::{Dataset, Precision, four_squared_norms};
use crate::error::{Error, Result};
use crate::options::ClassWeight;
use crate::threads;

/// Rows whose squares are summed in step.
const FOUR: usize = 4;

/// c_i = example weight × class weight, and ‖x_i‖², for every example.
#[derive(Debug)]
pub(crate) struct Importance<'a> {
    data: &'a Dataset,
    classes: Option<Vec<f64>>,
    /// The bits of every ‖x_i‖² that is known, or 0, once several were asked for together.
    squared_norms: OnceLock<Vec<AtomicU64>>,
    /// Whether that is all of them.
    measured: Once,
}

impl<'a> Importance<'a> {
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
                            "--class-weight names the class {name:?}, which is not in the data"
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
        Ok(Importance {
            data,
            classes,
            squared_norms: OnceLock::new(),
            measured: Once::new(),
        })
    }

    /// Finds all ‖x_i‖² on so many threads.
    pub(crate) fn measure(&self, threads: usize) {
        self.measured.call_once(|| {
            let mut norms = vec![0.0; self.data.len()];
            let threads = threads::worth(threads, norms.len());
            threads::chunks(&mut norms, FOUR, threads, || {
                |four: usize, norms: &mut [f64]| {
                    self.find(FOUR * four, norms);
                    self.data.matrix.group_was_read(four, FOUR);
                }
            });
        });
    }

    /// Whether no sum of squares can be too large for a number: those of `f32` cannot.
    pub(crate) fn is_surely_finite(&self) -> bool {
        self.data.matrix.precision() == Precision::F32
    }

    /// Refuses rows whose squares sum to infinity.
    pub(crate) fn require_finite(&self, threads: usize) -> Result<()> {
        self.measure(threads);
        match (0..self.data.len()).find(|&i| !self.squared_norm(i).is_finite()) {
            None => Ok(()),
            Some(i) => Err(Error::data(format!(
                "the squares of row {} sum to infinity",
                self.data.number(i) + 1
            ))
            .remedy("scale the data, for example with --scale unit-rows")),
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
        let known = |norms: &Vec<AtomicU64>| norms[i].load(Ordering::Relaxed);
        match self.squared_norms.get().map_or(0, known) {
            0 => self.data.row(i).squared_norm(),
            known => f64::from_bits(known),
        }
    }

    /// R² = max c_i²‖x_i‖², without any lift.
    pub(crate) fn squared_radius(&self) -> f64 {
        self.squared_radius_with(0.0)
    }

    /// max c_i²(‖x_i‖² + constant).
    pub(crate) fn squared_radius_with(&self, constant: f64) -> f64 {
        self.squared_radius_of(0..self.data.len(), constant)
    }

    /// The same among the examples at these positions.
    pub(crate) fn squared_radius_of(&self, examples: Range<usize>, constant: f64) -> f64 {
        let mut most = 0.0f64;
        for first in examples.clone().step_by(FOUR) {
            let norms = &mut [0.0; FOUR][..FOUR.min(examples.end - first)];
            self.find(first, norms);
            for (i, &norm) in (first..).zip(&*norms) {
                let c = self.of(i, self.data.labels[i]);
                most = most.max(c * c * (norm + constant));
            }
        }
        most
    }

    /// ‖x‖² of up to four examples from `first` on, which do not wait for each other's sums.
    #[inline]
    fn find(&self, first: usize, norms: &mut [f64]) {
        let all = self.squared_norms.get_or_init(|| {
            let zeros = self.data.labels.iter().map(|_| AtomicU64::new(0));
            zeros.collect()
        });
        let memory = &all[first..first + norms.len()];
        let known = memory.iter().map(|bits| bits.load(Ordering::Relaxed));
        (norms.iter_mut().zip(known)).for_each(|(norm, bits)| *norm = f64::from_bits(bits));
        if !norms.contains(&0.0) {
            return;
        }
        let row = |k: usize| self.data.row(first + k);
        match norms {
            [_, _, _, _] => {
                norms.copy_from_slice(&four_squared_norms([row(0), row(1), row(2), row(3)]));
            }
            _ => (norms.iter_mut().enumerate()).for_each(|(k, norm)| *norm = row(k).squared_norm()),
        }
        for (to, norm) in memory.iter().zip(norms) {
            to.store(norm.to_bits(), Ordering::Relaxed);
        }
    }
}
