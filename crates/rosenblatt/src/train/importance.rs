//! How much each example counts, and how long it is.

use crate::data::{Dataset, four_squared_norms};
use crate::error::{Error, Result};
use crate::options::ClassWeight;
use crate::threads;

/// c_i = example weight × class weight, and ‖x_i‖², for every example.
#[derive(Debug, Clone)]
pub(crate) struct Importance {
    examples: Option<Vec<f64>>,
    classes: Option<Vec<f64>>,
    squared_norms: Vec<f64>,
    squared_radius: f64,
}

impl Importance {
    /// The weights that `choice` and the data ask for.
    pub(crate) fn new(data: &Dataset, choice: &ClassWeight, threads: usize) -> Result<Self> {
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
        let mut squared_norms = vec![0.0; data.len()];
        let share = threads::worth(threads, data.len());
        threads::chunks(&mut squared_norms, 4, share, || {
            |four: usize, norms: &mut [f64]| {
                let row = |k: usize| data.row(4 * four + k);
                match norms {
                    [_, _, _, _] => {
                        norms.copy_from_slice(&four_squared_norms([
                            row(0),
                            row(1),
                            row(2),
                            row(3),
                        ]));
                    }
                    _ => (norms.iter_mut().enumerate())
                        .for_each(|(k, norm)| *norm = row(k).squared_norm()),
                }
            }
        });
        let mut importance = Importance {
            examples: data.weights.clone(),
            classes,
            squared_norms,
            squared_radius: 0.0,
        };
        importance.squared_radius = importance.squared_radius_with(data, 0.0);
        if let Some(i) = importance.squared_norms.iter().position(|s| !s.is_finite()) {
            return Err(Error::data(format!(
                "the squares of row {} sum to infinity",
                data.number(i) + 1
            ))
            .remedy("scale the data, for example with --scale unit-rows"));
        }
        Ok(importance)
    }

    /// c_i of the example at `i`, whose class is `label`.
    #[inline]
    pub(crate) fn of(&self, i: usize, label: u32) -> f64 {
        let example = self.examples.as_ref().map_or(1.0, |w| w[i]);
        let class = self.classes.as_ref().map_or(1.0, |w| w[label as usize]);
        example * class
    }

    /// The largest c_i.
    pub(crate) fn largest(&self, data: &Dataset) -> f64 {
        (0..data.len()).fold(0.0, |most: f64, i| most.max(self.of(i, data.labels[i])))
    }

    /// ‖x_i‖², without any lift.
    #[inline]
    pub(crate) fn squared_norm(&self, i: usize) -> f64 {
        self.squared_norms[i]
    }

    /// R² = max c_i²‖x_i‖², without any lift.
    pub(crate) fn squared_radius(&self) -> f64 {
        self.squared_radius
    }

    /// max c_i²(‖x_i‖² + constant).
    pub(crate) fn squared_radius_with(&self, data: &Dataset, constant: f64) -> f64 {
        (0..data.len()).fold(0.0, |r: f64, i| {
            let c = self.of(i, data.labels[i]);
            r.max(c * c * (self.squared_norms[i] + constant))
        })
    }
}
