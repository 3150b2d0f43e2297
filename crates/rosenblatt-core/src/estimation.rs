//! Logistic regression as statisticians use it: estimates in the data's own units, standard
//! errors, and intervals; by maximum likelihood, or with Firth's penalty, which keeps every
//! estimate finite where classes can be separated.
//!
//! *Rule.* Firth's penalty adds ½ log det I(β), I = XᵀWX, W = diag(c_i π_i(1 − π_i)), to the log
//! likelihood. Its score is Σ (c_i(y_i − π_i) + h_i(½ − π_i)) x_i, h_i the leverage of row i; a
//! step of Fisher scoring solves with I and is halved until the objective rises. An end of the
//! profile interval of a coefficient is where twice the fall of the objective, maximised over
//! all others, reaches the quantile of χ² with one degree of freedom.
//!
//! *Cost.* p² for each row and step; a profile interval takes about fifty steps.
//!
//! *Reference.* Firth (1993); Heinze & Schemper, "A solution to the problem of separation in
//! logistic regression" (2002).

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::parallel;

/// What is maximised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The likelihood.
    #[default]
    MaximumLikelihood,
    /// The likelihood with Firth's penalty, that is, with Jeffreys' prior.
    Firth,
}

/// How intervals are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interval {
    /// From the profile of the objective.
    #[default]
    Profile,
    /// The estimate and so many standard errors to each side.
    Wald,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimation {
    /// What is maximised.
    pub objective: Objective,
    /// How intervals are made.
    pub interval: Interval,
    /// What share of intervals is to hold the truth.
    pub level: f64,
    /// Whether there is an intercept; it is the first coefficient.
    pub intercept: bool,
    /// Threads.
    pub threads: usize,
}

impl Default for Estimation {
    fn default() -> Self {
        Estimation {
            objective: Objective::default(),
            interval: Interval::default(),
            level: 0.95,
            intercept: true,
            threads: 1,
        }
    }
}

/// What is known of a coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// The estimate.
    pub estimate: f64,
    /// The root of its entry in the inverse of the information matrix.
    pub standard_error: f64,
    /// The interval.
    pub lower: f64,
    /// The interval.
    pub upper: f64,
    /// Of the hypothesis that it is 0: by the likelihood ratio for profile intervals, else by
    /// the estimate over its standard error.
    pub p_value: f64,
}

/// The result.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    /// By coordinate, the intercept first where there is one.
    pub coefficients: Vec<Coefficient>,
    /// What was maximised, at its maximum.
    pub objective: f64,
    /// Steps of Fisher scoring to the estimates.
    pub steps: usize,
}

/// Estimates the coefficients of a logistic regression of the last class against the other one.
pub fn estimate(data: &Dataset, asked: &Estimation) -> Result<Estimates> {
    if data.classes.len() != 2 {
        return Err(Error::data(format!(
            "a logistic regression has two outcomes, and there are {} classes",
            data.classes.len()
        )));
    }
    let problem = Problem::new(data, asked);
    let p = problem.width;
    if p == 0 || problem.rows == 0 {
        return Err(Error::data("there is nothing to estimate"));
    }
    let order: Vec<usize> = (0..p).collect();
    let best = problem.maximise(vec![0.0; p], &order, p)?;
    let variances = best.information.inverse_diagonal();
    let z = normal_quantile(0.5 + asked.level / 2.0);
    let mut found: Vec<Result<Coefficient>> = (0..p).map(|_| Err(Error::data(""))).collect();
    parallel::each(found.iter_mut().enumerate(), asked.threads, || {
        |(j, place): (usize, &mut Result<Coefficient>)| {
            let error = variances[j].sqrt();
            *place = problem.coefficient(j, &best, error, z, asked.interval);
        }
    });
    Ok(Estimates {
        coefficients: found.into_iter().collect::<Result<_>>()?,
        objective: best.value,
        steps: best.steps,
    })
}

/// Rows scaled by column, with outcomes and weights.
struct Problem {
    rows: usize,
    width: usize,
    x: Vec<f64>,
    outcome: Vec<f64>,
    weight: Vec<f64>,
    /// A column is what was read divided by this.
    scale: Vec<f64>,
    firth: bool,
}

/// A maximum.
struct Fit {
    beta: Vec<f64>,
    value: f64,
    information: Cholesky,
    steps: usize,
}

/// Steps of one fit; a dozen are the rule, hundreds where few rows say little of a coefficient.
const MOST_STEPS: usize = 5000;

/// No score changes by more in one step.
const LONGEST_STEP: f64 = 5.0;

impl Problem {
    fn new(data: &Dataset, asked: &Estimation) -> Self {
        let lift = usize::from(asked.intercept);
        let width = data.features() + lift;
        let mut scale = vec![0.0f64; width];
        let mut x = vec![0.0; data.len() * width];
        for (i, row) in x.chunks_exact_mut(width.max(1)).enumerate() {
            if lift == 1 {
                row[0] = 1.0;
            }
            data.row(i).for_each(|j, value| row[j + lift] = value);
            for (scale, value) in scale.iter_mut().zip(row) {
                *scale = scale.max(value.abs());
            }
        }
        for scale in &mut scale {
            *scale = if *scale > 0.0 { *scale } else { 1.0 };
        }
        for row in x.chunks_exact_mut(width.max(1)) {
            row.iter_mut().zip(&scale).for_each(|(x, s)| *x /= s);
        }
        let weight = |i: usize| data.weights.as_ref().map_or(1.0, |weights| weights[i]);
        Problem {
            rows: data.len(),
            width,
            x,
            outcome: data.labels.iter().map(|&l| f64::from(l == 1)).collect(),
            weight: (0..data.len()).map(weight).collect(),
            scale,
            firth: asked.objective == Objective::Firth,
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.x[i * self.width..(i + 1) * self.width]
    }

    /// The information matrix in an order of the columns, factored, and the objective.
    fn evaluate(&self, beta: &[f64], order: &[usize]) -> Option<(Cholesky, f64)> {
        let p = self.width;
        let mut matrix = vec![0.0; p * p];
        let mut value = 0.0;
        let mut ordered = vec![0.0; p];
        for i in 0..self.rows {
            let row = self.row(i);
            let score = dot(row, beta);
            let toward = if self.outcome[i] > 0.0 { score } else { -score };
            value -= self.weight[i] * log1p_exp(-toward);
            let chance = logistic(score);
            let w = self.weight[i] * chance * (1.0 - chance);
            for (to, &j) in ordered.iter_mut().zip(order) {
                *to = row[j];
            }
            for a in 0..p {
                let factor = w * ordered[a];
                if factor != 0.0 {
                    let line = &mut matrix[a * p..=a * p + a];
                    line.iter_mut()
                        .zip(&ordered)
                        .for_each(|(m, x)| *m += factor * x);
                }
            }
        }
        let information = Cholesky::new(matrix, p)?;
        if self.firth {
            value += 0.5 * information.log_determinant();
        }
        value.is_finite().then_some((information, value))
    }

    /// The score in the same order.
    fn score(&self, beta: &[f64], order: &[usize], information: &Cholesky) -> Vec<f64> {
        let mut sum = vec![0.0; self.width];
        let mut ordered = vec![0.0; self.width];
        for i in 0..self.rows {
            let row = self.row(i);
            let chance = logistic(dot(row, beta));
            let mut residual = self.weight[i] * (self.outcome[i] - chance);
            for (to, &j) in ordered.iter_mut().zip(order) {
                *to = row[j];
            }
            if self.firth {
                let w = self.weight[i] * chance * (1.0 - chance);
                let half = information.forward(&ordered);
                residual += w * dot(&half, &half) * (0.5 - chance);
            }
            for (sum, x) in sum.iter_mut().zip(&ordered) {
                *sum += residual * x;
            }
        }
        sum
    }

    /// Maximises over the first `free` coefficients of the order; the rest stay as they are.
    fn maximise(&self, start: Vec<f64>, order: &[usize], free: usize) -> Result<Fit> {
        let collinear = || {
            Error::data("the information matrix is singular: columns are collinear, or nearly")
                .remedy("leave out columns that others make up for")
        };
        let mut beta = start;
        let (mut information, mut value) = self.evaluate(&beta, order).ok_or_else(collinear)?;
        for steps in 0..MOST_STEPS {
            let score = self.score(&beta, order, &information);
            let step = information.solve_leading(&score[..free]);
            // What the step promises: half of that is gained near the maximum.
            let promised = dot(&step, &score[..free]);
            if promised < 1e-14 * (1.0 + value.abs()).min(100.0) {
                return Ok(Fit {
                    beta,
                    value,
                    information,
                    steps,
                });
            }
            let mut full = vec![0.0; self.width];
            for (&j, step) in order.iter().zip(&step) {
                full[j] = *step;
            }
            let longest = (0..self.rows).fold(0.0f64, |m, i| m.max(dot(self.row(i), &full).abs()));
            let mut factor = if longest > LONGEST_STEP {
                LONGEST_STEP / longest
            } else {
                1.0
            };
            loop {
                let moved: Vec<f64> = beta
                    .iter()
                    .zip(&full)
                    .map(|(b, s)| b + factor * s)
                    .collect();
                let there = self.evaluate(&moved, order);
                if let Some((next, higher)) = there.filter(|(_, next)| *next > value) {
                    (beta, information, value) = (moved, next, higher);
                    break;
                }
                factor /= 2.0;
                if factor < 1e-10 {
                    // Rounding leaves nothing to gain.
                    return Ok(Fit {
                        beta,
                        value,
                        information,
                        steps,
                    });
                }
            }
        }
        Err(Error::data(format!(
            "the estimates did not converge in {MOST_STEPS} steps"
        )))
    }

    /// The coefficient of a column, in the data's own units.
    fn coefficient(
        &self,
        j: usize,
        best: &Fit,
        error: f64,
        z: f64,
        interval: Interval,
    ) -> Result<Coefficient> {
        let (lower, upper, statistic) = match interval {
            Interval::Wald => {
                let reach = z * error;
                let estimate = best.beta[j];
                (estimate - reach, estimate + reach, estimate / error)
            }
            Interval::Profile => {
                let mut order: Vec<usize> = (0..self.width).filter(|&k| k != j).collect();
                order.push(j);
                let profile = Profile {
                    problem: self,
                    order,
                    best,
                };
                let fall = profile.root(0.0, &mut best.beta.clone())?;
                (profile.end(-error, z)?, profile.end(error, z)?, fall)
            }
        };
        let scale = self.scale[j];
        Ok(Coefficient {
            estimate: best.beta[j] / scale,
            standard_error: error / scale,
            lower: lower / scale,
            upper: upper / scale,
            p_value: libm::erfc(statistic.abs() / std::f64::consts::SQRT_2),
        })
    }
}

/// The objective, maximised over all coefficients but the last of an order.
struct Profile<'a> {
    problem: &'a Problem,
    order: Vec<usize>,
    best: &'a Fit,
}

impl Profile<'_> {
    /// The root of twice the fall where the coefficient has this value; `beta` is where the
    /// search starts and ends.
    fn root(&self, value: f64, beta: &mut Vec<f64>) -> Result<f64> {
        let free = self.order.len() - 1;
        beta[self.order[free]] = value;
        let fit = self.problem.maximise(beta.clone(), &self.order, free)?;
        *beta = fit.beta;
        Ok((2.0 * (self.best.value - fit.value)).max(0.0).sqrt())
    }

    /// Where that root is z, on the side of `reach` (its length one standard error): it is
    /// nearly a straight line.
    fn end(&self, reach: f64, z: f64) -> Result<f64> {
        let j = self.order[self.order.len() - 1];
        let estimate = self.best.beta[j];
        let mut beta = self.best.beta.clone();
        let (mut near, mut near_root) = (0.0f64, 0.0f64);
        // In units of `reach`: the near end below z, the far end beyond.
        let (mut far, mut far_root) = (z, self.root(estimate + z * reach, &mut beta)?);
        let mut tries = 0;
        while far_root < z {
            tries += 1;
            if tries > 60 {
                return Ok(if reach > 0.0 {
                    f64::INFINITY
                } else {
                    f64::NEG_INFINITY
                });
            }
            (near, near_root) = (far, far_root);
            far *= 1.5;
            far_root = self.root(estimate + far * reach, &mut beta)?;
        }
        for _ in 0..100 {
            let straight = near + (z - near_root) / (far_root - near_root) * (far - near);
            // A little inside, so that both ends close in.
            let room = 0.01 * (far - near);
            let at = straight.clamp(near + room, far - room);
            let root = self.root(estimate + at * reach, &mut beta)?;
            if (root - z).abs() < 1e-9 * z || far - near < 1e-10 * far {
                return Ok(estimate + at * reach);
            }
            if root < z {
                (near, near_root) = (at, root);
            } else {
                (far, far_root) = (at, root);
            }
        }
        Ok(estimate + far * reach)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn logistic(score: f64) -> f64 {
    let e = libm::exp(-score.abs());
    if score >= 0.0 {
        1.0 / (1.0 + e)
    } else {
        e / (1.0 + e)
    }
}

/// log(1 + exp(x)).
fn log1p_exp(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

/// A = LLᵀ.
struct Cholesky {
    n: usize,
    /// The lower triangle, row by row; the rest is not looked at.
    l: Vec<f64>,
}

impl Cholesky {
    /// `None` if the matrix is not positive definite within rounding.
    fn new(mut a: Vec<f64>, n: usize) -> Option<Self> {
        for i in 0..n {
            for j in 0..=i {
                let (before, here) = a.split_at(i * n);
                let sum = match i == j {
                    true => dot(&here[..j], &here[..j]),
                    false => dot(&here[..j], &before[j * n..j * n + j]),
                };
                let rest = a[i * n + j] - sum;
                if i == j {
                    if rest.is_nan() || rest <= 1e-13 * a[i * n + i] {
                        return None;
                    }
                    a[i * n + i] = rest.sqrt();
                } else {
                    a[i * n + j] = rest / a[j * n + j];
                }
            }
        }
        Some(Cholesky { n, l: a })
    }

    fn log_determinant(&self) -> f64 {
        let diagonal = (0..self.n).map(|i| self.l[i * self.n + i]);
        2.0 * diagonal.map(libm::log).sum::<f64>()
    }

    /// L⁻¹b.
    fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut y = b.to_vec();
        for i in 0..y.len() {
            let line = &self.l[i * self.n..=i * self.n + i];
            y[i] = (y[i] - dot(&line[..i], &y[..i])) / line[i];
        }
        y
    }

    /// The solution with the leading block of A that is as large as b.
    fn solve_leading(&self, b: &[f64]) -> Vec<f64> {
        let mut y = self.forward(b);
        for i in (0..y.len()).rev() {
            y[i] /= self.l[i * self.n + i];
            let value = y[i];
            for (k, y) in y[..i].iter_mut().enumerate() {
                *y -= self.l[i * self.n + k] * value;
            }
        }
        y
    }

    fn inverse_diagonal(&self) -> Vec<f64> {
        let axis = |j: usize| {
            let mut axis = vec![0.0; self.n];
            axis[j] = 1.0;
            let half = self.forward(&axis);
            dot(&half, &half)
        };
        (0..self.n).map(axis).collect()
    }
}

/// Where the distribution function of the normal distribution is `p`, by bisection of erfc.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0f64, 40.0f64);
    for _ in 0..120 {
        let middle = 0.5 * (low + high);
        let below = 0.5 * libm::erfc(-middle / std::f64::consts::SQRT_2);
        if below < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Matrix, Precision};

    fn dataset(rows: &[[f64; 1]], labels: &[u32]) -> Dataset {
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
        let matrix = Matrix::dense_from_rows(1, &rows, Precision::F64);
        let classes = Classes::from_labels(["0", "1"]);
        Dataset::new(matrix, labels.to_vec(), classes, None).expect("valid data")
    }

    #[test]
    fn four_rows_have_intervals_by_their_profiles() {
        // Boolean AND.
        let rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]].map(Vec::from);
        let matrix = Matrix::dense_from_rows(2, &rows, Precision::F64);
        let classes = Classes::from_labels(["0", "1"]);
        let data = Dataset::new(matrix, vec![0, 0, 0, 1], classes, None).expect("valid data");
        let asked = Estimation {
            objective: Objective::Firth,
            ..Estimation::default()
        };
        let found = estimate(&data, &asked).expect("estimates").coefficients;
        assert!(
            (found[1].estimate - found[2].estimate).abs() < 1e-6,
            "{found:?}"
        );
        for found in &found {
            assert!(
                found.lower < found.estimate && found.estimate < found.upper,
                "{found:?}"
            );
            assert!((0.0..=1.0).contains(&found.p_value), "{found:?}");
        }
    }

    #[test]
    fn a_table_of_two_by_two_has_its_log_odds() {
        // 2 of 5 without, 3 of 4 with: log(2/3), log(3/1) − log(2/3). Firth's penalty adds one
        // half to each cell of a saturated model.
        let x = [0., 0., 0., 0., 0., 1., 1., 1., 1.].map(|x| [x]);
        let data = dataset(&x, &[1, 1, 0, 0, 0, 1, 1, 1, 0]);
        for (objective, half) in [(Objective::MaximumLikelihood, 0.0), (Objective::Firth, 0.5)] {
            let asked = Estimation {
                objective,
                ..Estimation::default()
            };
            let found = estimate(&data, &asked).expect("estimates");
            let odds = |a: f64, b: f64| ((a + half) / (b + half)).ln();
            let expected = [odds(2.0, 3.0), odds(3.0, 1.0) - odds(2.0, 3.0)];
            for (found, expected) in found.coefficients.iter().zip(expected) {
                assert!(
                    (found.estimate - expected).abs() < 1e-6,
                    "{found:?} {expected}"
                );
                assert!(found.lower < found.estimate && found.estimate < found.upper);
            }
        }
    }

    #[test]
    fn units_scale_the_estimates_and_weights_count_as_copies() {
        let x = [1.0, 2.0, 2.5, 3.0, 4.0, 6.0].map(|x| [x]);
        let labels = [0, 1, 0, 0, 1, 1];
        let asked = Estimation {
            objective: Objective::Firth,
            ..Estimation::default()
        };
        let one = estimate(&dataset(&x, &labels), &asked).expect("estimates");
        let thousand = estimate(&dataset(&x.map(|[x]| [1000.0 * x]), &labels), &asked);
        let (a, b) = (
            one.coefficients[1],
            thousand.expect("estimates").coefficients[1],
        );
        for (a, b) in [
            (a.estimate, b.estimate),
            (a.lower, b.lower),
            (a.upper, b.upper),
        ] {
            assert!((a - 1000.0 * b).abs() < 1e-6 * a.abs(), "{a} {b}");
        }
        let mut weighted = dataset(&x, &labels);
        weighted.weights = Some(vec![2.0; 6]);
        let twice = dataset(&[x, x].concat(), &[labels, labels].concat());
        let weighted = estimate(&weighted, &asked).expect("estimates");
        let twice = estimate(&twice, &asked).expect("estimates");
        for (a, b) in weighted.coefficients.iter().zip(&twice.coefficients) {
            assert!((a.estimate - b.estimate).abs() < 1e-8);
            assert!((a.upper - b.upper).abs() < 1e-6);
        }
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!(normal_quantile(0.5).abs() < 1e-12);
    }
}
