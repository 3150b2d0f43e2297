//! What a maximum-margin learner found besides its planes: which examples hold them up.

use super::parts::Parts;
use crate::error::Result;
use crate::scheme::Scheme;

/// The examples that hold up the planes, and how good the planes are.
///
/// w = Σ α_i y_i φ(x_i): an example with α_i = 0 could be left out without any change.
#[derive(Debug, Clone, PartialEq)]
pub struct SupportVectors {
    /// Row numbers in the training file, from 0, ascending.
    pub rows: Vec<u32>,
    /// α ≥ 0, `rows × discriminators`, row by row.
    pub alphas: Vec<f64>,
    /// How good each plane is, one a discriminator.
    pub optima: Vec<Optimum>,
}

/// How near a plane is to the best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// ½‖w‖² + Σ C_i max(0, 1 − y_i s_i) of the plane; ½‖w‖² for a hard margin.
    pub primal: f64,
    /// No plane has less than this.
    pub dual: f64,
    /// 1/‖w‖: how far the lines of score ±1 lie from the plane. ‖w‖ counts a lifted bias.
    pub margin: f64,
}

impl Optimum {
    /// (primal − dual)/primal.
    pub fn relative_gap(&self) -> f64 {
        relative_gap(self.primal, self.dual)
    }
}

pub(crate) fn relative_gap(primal: f64, dual: f64) -> f64 {
    if !primal.is_finite() {
        f64::INFINITY
    } else if primal == dual {
        0.0
    } else {
        (primal - dual) / primal
    }
}

impl SupportVectors {
    /// The α of the row at place `k` for discriminator `d`.
    pub fn alpha(&self, k: usize, d: usize) -> f64 {
        self.alphas[k * self.optima.len() + d]
    }

    /// How many examples hold up plane `d`.
    pub fn count(&self, d: usize) -> usize {
        (0..self.rows.len())
            .filter(|&k| self.alpha(k, d) > 0.0)
            .count()
    }

    /// Row numbers from 1 with the largest α of any plane, the hardest first.
    pub fn hardest(&self) -> Vec<(u64, f64)> {
        let mut all: Vec<(u64, f64)> = self
            .rows
            .iter()
            .zip(self.alphas.chunks_exact(self.optima.len()))
            .map(|(&row, alphas)| {
                let largest = alphas.iter().copied().fold(0.0, f64::max);
                (u64::from(row) + 1, largest)
            })
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all
    }

    pub(super) fn put(&self, parts: &mut Parts<'_>) {
        parts.put("support.rows", self.rows.clone());
        parts.put_table(
            "support.alphas",
            self.optima.len(),
            self.alphas.clone().into(),
        );
        let optima = self.optima.iter();
        let numbers = optima.flat_map(|o| [o.primal, o.dual, o.margin]);
        parts.put_table("support.optima", 3, numbers.collect());
    }

    pub(super) fn take(parts: &mut Parts<'_>, scheme: Scheme) -> Result<Option<Self>> {
        if !parts.has("support.rows") {
            return Ok(None);
        }
        let k = scheme.discriminators();
        let rows: Vec<u32> = parts.take("support.rows")?;
        let alphas: Vec<f64> = parts.take_len("support.alphas", rows.len() * k)?;
        let numbers: Vec<f64> = parts.take_len("support.optima", 3 * k)?;
        let sound = rows.is_sorted_by(|a, b| a < b)
            && alphas.iter().all(|a| a.is_finite() && *a >= 0.0)
            && !numbers.iter().any(|x| x.is_nan());
        if !sound {
            return Err(super::file::bad(
                "its support vectors do not fit each other",
            ));
        }
        let optima = numbers.as_chunks::<3>().0.iter();
        let optima = optima.map(|&[primal, dual, margin]| Optimum {
            primal,
            dual,
            margin,
        });
        Ok(Some(SupportVectors {
            rows,
            alphas,
            optima: optima.collect(),
        }))
    }
}
