//! How many updates a perceptron can make: theorems, evaluated on numbers.
//!
//! Every bound here is on *updates* (with a margin demand, more than the mistakes). The radius
//! R is the largest c_i‖x_i‖ and the margin γ the smallest c_i y_i u·x_i over the rows, for a
//! unit vector u; both lifted if the learner lifts. A margin of which only a bracket is known
//! enters by its lower end. The results are whole numbers rounded so that rounding can only
//! make them larger, and infinite where there is no margin.
//!
//! The first bound is Novikoff's (1962), after Block (1962); the one for inseparable data is
//! from Freund & Schapire (1999), for several passes by the same argument on the data
//! repeated; the others follow the same two inequalities with the start, the demand or the
//! bias carried along.

/// Room for the handful of roundings in each formula, a few times over.
const SLACK: f64 = 1.0 + 32.0 * f64::EPSILON;

/// A bound on a whole number: up by the slack, then down to the next whole number.
fn whole(bound: f64) -> f64 {
    if bound.is_nan() {
        return f64::INFINITY;
    }
    (bound * SLACK).floor()
}

/// The bound as a count, where it fits one.
pub fn count(bound: f64) -> Option<u64> {
    // Beyond 2⁵³ a float is no longer every whole number, and no run gets there.
    (0.0..=9_007_199_254_740_992.0)
        .contains(&bound)
        .then_some(bound as u64)
}

/// From zero, without a margin demand: (R/γ)², for any rate and any order. A bias of its own with
/// rate ηR², both classes present, makes it 4R²/γ², and one with the best rate ((R + |θ|)/γ)²: that
/// of a radius of 2R, or of R + |θ|.
pub fn from_zero(radius: f64, margin: f64) -> f64 {
    if margin <= 0.0 {
        return f64::INFINITY;
    }
    whole((radius / margin) * (radius / margin))
}

/// From zero, after the fact: M updates have Mγ ≤ sqrt(Σ c²‖x‖²) over the updates made.
/// Never looser than [`from_zero`] at the same M.
pub fn from_trace(sum_of_squared_norms: f64, margin: f64) -> f64 {
    if margin <= 0.0 {
        return f64::INFINITY;
    }
    whole(sum_of_squared_norms.sqrt() / margin)
}

/// The start and the options that the general bound depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// ‖w0‖.
    pub norm: f64,
    /// u·w0 for the unit separator u that has the margin, where it is known.
    pub along_separator: Option<f64>,
    /// The learning rate η.
    pub rate: f64,
    /// The margin demand β.
    pub demand: f64,
}

/// From any start, with any margin demand.
///
/// After M updates u·w ≥ u·w0 + ηMγ and ‖w‖² ≤ ‖w0‖² + M(η²R² + 2ηβ). With a = u·w0/η,
/// b = ‖w0‖/η and Q = R² + 2β/η that is (a + Mγ)² ≤ b² + MQ, so M is at most the larger root
/// ⌊[Q − 2aγ + sqrt((Q − 2aγ)² + 4γ²(b² − a²))]/(2γ²)⌋. Without u the bound is the looser
/// (Q + 2bγ)/γ². Only from zero and without demand is it free of the rate.
pub fn general(radius: f64, margin: f64, start: Start) -> f64 {
    if margin <= 0.0 {
        return f64::INFINITY;
    }
    let b = start.norm / start.rate;
    let q = radius * radius + 2.0 * start.demand / start.rate;
    match start.along_separator {
        None => whole((q + 2.0 * b * margin) / margin / margin),
        Some(along) => {
            let a = (along / start.rate).clamp(-b, b);
            // Each rounding is pushed towards a larger root.
            let product = 2.0 * a * margin;
            let p = q - product + 4.0 * f64::EPSILON * (q + product.abs());
            let rest = (4.0 * margin * margin * (b - a) * (b + a)).max(0.0) * SLACK
                + 16.0 * f64::EPSILON * margin * margin * b * b;
            let root = (p * p + rest).sqrt();
            // For p < 0 the sum p + root cancels; the other form of the root does not.
            let larger = if p >= 0.0 {
                (p + root) / (2.0 * margin * margin)
            } else {
                rest / (root - p) / (2.0 * margin * margin)
            };
            whole(larger * SLACK)
        }
    }
}

/// An unlifted bias with step η·ρ², plain margin γ of the plane u·x = θ, from zero:
/// (R² + ρ²)(1 + θ²/ρ²)/γ². It is the lifted bound for a constant ρ in front of each row.
pub fn unlifted(radius: f64, rho: f64, margin: f64, threshold: f64) -> f64 {
    if margin <= 0.0 || rho <= 0.0 {
        return f64::INFINITY;
    }
    let tilt = threshold / rho;
    whole((radius * radius + rho * rho) / margin * (1.0 + tilt * tilt) / margin)
}

/// Weights renormalised after each update, from zero; `None` where there is no bound and
/// separable data may cycle for ever.
///
/// With r = sqrt(1 + η²R²), each update turns c = u·w into at least (c + ηγ)/r, which climbs
/// to the fixed point c* = ηγ/(r − 1). It passes 1, which no unit vector can, iff
/// η < 2γ/(R² − γ²); then updates ≤ 1 + ln((c* − γ/R)/(c* − 1))/ln r.
pub fn renormalised(radius: f64, margin: f64, rate: f64) -> Option<f64> {
    if margin <= 0.0 || radius <= 0.0 || rate <= 0.0 {
        return None;
    }
    let margin = margin.min(radius);
    // c* − 1 = η(2γ − η(R² − γ²)) / ((r − 1)(1 + ηγ + r)), without cancellation but in the
    // bracket itself, whose error is taken off.
    let spread = rate * (radius - margin) * (radius + margin);
    let bracket = 2.0 * margin - spread - 8.0 * f64::EPSILON * (2.0 * margin + spread);
    if bracket.is_nan() || bracket <= 0.0 {
        return None;
    }
    let er = rate * radius;
    let r = (1.0 + er * er).sqrt();
    let r_less_1 = er * er / (r + 1.0);
    let beyond = rate * bracket / (r_less_1 * (1.0 + rate * margin + r));
    let climb = beyond + (1.0 - margin / radius);
    let steps = libm::log(climb / beyond) / (0.5 * libm::log1p(er * er));
    Some(whole(1.0 + steps * (1.0 + 1e-13)))
}

/// k discriminators corrected in pairs, from zero: 2R²/γ² with Σ‖u_c‖² = 1 and
/// γ = min (u_y·x − max_{j≠y} u_j·x).
pub fn multiclass(radius: f64, margin: f64) -> f64 {
    if margin <= 0.0 {
        return f64::INFINITY;
    }
    whole(2.0 * (radius / margin) * (radius / margin))
}

/// Data no plane need separate, from zero, no demand, unweighted, T passes: ((R + √T·D)/γ)²
/// for any unit u and any γ > 0, with D from [`deviation`].
pub fn inseparable(radius: f64, deviation: f64, margin: f64, passes: u64) -> f64 {
    if margin <= 0.0 {
        return f64::INFINITY;
    }
    let side = (radius + (passes as f64).sqrt() * deviation) / margin;
    whole(side * side)
}

/// D = sqrt(Σ max(0, γ − y_i u·x_i)²): how far the rows fall short of the margin γ. `margins`
/// are y_i u·x_i for a unit u.
pub fn deviation(margins: &[f64], margin: f64) -> f64 {
    // Rounded up: n additions, each off by at most half an epsilon.
    let sum: f64 = margins
        .iter()
        .map(|m| (margin - m).max(0.0))
        .map(|short| short * short)
        .sum();
    sum.sqrt() * (1.0 + (margins.len() as f64 + 8.0) * f64::EPSILON)
}

/// The margin γ that makes [`inseparable`] smallest for the rows' margins under one unit u,
/// and the bound there. (R + √T·D(γ))/γ has one valley, so a golden-section search finds it.
pub fn best_inseparable(radius: f64, margins: &[f64], passes: u64) -> (f64, f64) {
    let at = |log: f64| {
        let gamma = libm::exp(log);
        let d = deviation(margins, gamma);
        (radius + (passes as f64).sqrt() * d) / gamma
    };
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (
        libm::log(radius.max(f64::MIN_POSITIVE)) - 40.0,
        libm::log(radius.max(f64::MIN_POSITIVE)) + 10.0,
    );
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_a, mut at_b) = (at(a), at(b));
    for _ in 0..60 {
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - ratio * (high - low);
            at_a = at(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + ratio * (high - low);
            at_b = at(b);
        }
    }
    let gamma = libm::exp((low + high) / 2.0);
    let bound = inseparable(radius, deviation(margins, gamma), gamma, passes);
    (gamma, bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    #[test]
    fn whole_numbers_stay_what_they_are() {
        assert_eq!(from_zero(1.0, 0.5), 4.0);
        assert_eq!(from_zero(3.0, 0.1), 900.0); // 899.9999999999999 in binary64
        assert_eq!(from_zero(1.0, 0.1), 100.0);
        assert_eq!(from_zero(2.0, 0.5), 16.0);
        assert_eq!(multiclass(1.0, 0.5), 8.0);
        assert_eq!(from_zero(1.0, 0.0), f64::INFINITY);
        assert_eq!(count(from_zero(1.0, 1e-160)), None);
        assert_eq!(count(from_zero(1.0, 0.5)), Some(4));
    }

    #[test]
    fn the_general_bound_meets_the_simple_one_at_zero() {
        let zero = Start {
            norm: 0.0,
            along_separator: Some(0.0),
            rate: 0.3,
            demand: 0.0,
        };
        assert_eq!(general(2.0, 0.25, zero), from_zero(2.0, 0.25));
        let unknown = Start {
            along_separator: None,
            ..zero
        };
        assert_eq!(general(2.0, 0.25, unknown), from_zero(2.0, 0.25));
    }

    #[test]
    fn a_start_that_points_the_wrong_way_takes_a_hundred_and_one_updates() {
        // x = .1 with label +, w0 = −10: each update adds .1, so 100 updates reach 0 and the
        // tie calls for one more. The bound must allow them: (R/γ)² = 1 would not, here where
        // R = γ = .1 and u = 1.
        let start = Start {
            norm: 10.0,
            along_separator: Some(-10.0),
            rate: 1.0,
            demand: 0.0,
        };
        assert_eq!(general(0.1, 0.1, start), 201.0);
    }

    /// Runs a perceptron on one drawn set and returns (updates, radius, margin, u).
    fn draw(random: &mut Random, n: usize, d: usize) -> (Vec<Vec<f64>>, Vec<f64>, f64, f64) {
        let mut u: Vec<f64> = (0..d).map(|_| random.normal()).collect();
        let norm = u.iter().map(|x| x * x).sum::<f64>().sqrt();
        u.iter_mut().for_each(|x| *x /= norm);
        let mut rows = Vec::new();
        while rows.len() < n {
            let x: Vec<f64> = (0..d).map(|_| random.normal()).collect();
            let s: f64 = x.iter().zip(&u).map(|(a, b)| a * b).sum();
            if s.abs() > 0.1 {
                rows.push(x.iter().map(|a| a * s.signum()).collect::<Vec<_>>());
            }
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let margin = rows.iter().map(|z| dot(z, &u)).fold(f64::MAX, f64::min);
        let radius = rows.iter().map(|z| dot(z, z).sqrt()).fold(0.0, f64::max);
        (rows, u, radius, margin)
    }

    #[test]
    fn no_run_exceeds_the_general_bound() {
        let mut random = Random::new(5, Stream::Sample, 0);
        for case in 0..200 {
            let d = 2 + case % 4;
            let (rows, u, radius, margin) = draw(&mut random, 12, d);
            let rate = 0.1 + 3.0 * random.unit();
            let demand = [0.0, 0.5, 3.0][case % 3];
            let scale = 5.0 * random.unit();
            let w0: Vec<f64> = (0..d).map(|_| scale * random.normal()).collect();
            let mut w = w0.clone();
            let mut updates = 0u64;
            loop {
                let mut clean = true;
                for z in &rows {
                    if w.iter().zip(z).map(|(a, b)| a * b).sum::<f64>() <= demand {
                        w.iter_mut().zip(z).for_each(|(a, b)| *a += rate * b);
                        updates += 1;
                        clean = false;
                    }
                }
                if clean {
                    break;
                }
            }
            let start = Start {
                norm: w0.iter().map(|x| x * x).sum::<f64>().sqrt(),
                along_separator: Some(w0.iter().zip(&u).map(|(a, b)| a * b).sum()),
                rate,
                demand,
            };
            let bound = general(radius, margin, start);
            assert!(updates as f64 <= bound, "{updates} > {bound}");
            let loose = Start {
                along_separator: None,
                ..start
            };
            assert!(bound <= general(radius, margin, loose));
        }
    }

    #[test]
    fn renormalised_runs_obey_their_bound_or_have_none() {
        let mut random = Random::new(6, Stream::Sample, 0);
        let mut bounded = 0;
        for case in 0..200 {
            let d = 2 + case % 4;
            let (rows, _, radius, margin) = draw(&mut random, 12, d);
            let limit = 2.0 * margin / (radius * radius - margin * margin);
            assert_eq!(renormalised(radius, margin, limit * 1.001), None);
            let rate = limit * (0.01 + 0.98 * random.unit());
            let Some(bound) = renormalised(radius, margin, rate) else {
                panic!("there is a bound below the limit");
            };
            bounded += 1;
            let mut w = vec![0.0; d];
            let mut updates = 0u64;
            let mut clean = false;
            while !clean {
                clean = true;
                for z in &rows {
                    if w.iter().zip(z).map(|(a, b)| a * b).sum::<f64>() <= 0.0 {
                        w.iter_mut().zip(z).for_each(|(a, b)| *a += rate * b);
                        let norm = w.iter().map(|x| x * x).sum::<f64>().sqrt();
                        w.iter_mut().for_each(|x| *x /= norm);
                        updates += 1;
                        clean = false;
                        assert!(updates as f64 <= bound, "{updates} > {bound}");
                    }
                }
            }
        }
        assert_eq!(bounded, 200);
    }

    #[test]
    fn the_bias_costs_at_most_a_factor_of_four() {
        let (radius, margin) = (2.0, 0.125);
        assert_eq!(unlifted(radius, radius, margin, radius), 1024.0);
        assert_eq!(from_zero(2.0 * radius, margin), 1024.0);
        let theta = 0.5;
        let best = from_zero(radius + theta, margin);
        assert_eq!(best, 400.0);
        for k in 1..40 {
            let rho = 0.1 * f64::from(k);
            assert!(unlifted(radius, rho, margin, theta) >= best);
        }
        assert_eq!(unlifted(radius, 1.0, margin, theta), best);
    }

    #[test]
    fn inseparable_data_obey_the_deviation_bound_over_passes() {
        let mut random = Random::new(7, Stream::Sample, 0);
        for case in 0..100 {
            let d = 2 + case % 3;
            let (mut rows, u, radius, _) = draw(&mut random, 30, d);
            for k in 0..3 {
                rows[k * 7].iter_mut().for_each(|x| *x = -*x);
            }
            let margins: Vec<f64> = rows
                .iter()
                .map(|z| z.iter().zip(&u).map(|(a, b)| a * b).sum())
                .collect();
            for passes in [1u64, 5, 20] {
                let (gamma, bound) = best_inseparable(radius, &margins, passes);
                for other in [0.5 * gamma, 0.99 * gamma, 1.01 * gamma, 2.0 * gamma] {
                    let there = inseparable(radius, deviation(&margins, other), other, passes);
                    assert!(bound <= there + 1.0);
                }
                let mut w = vec![0.0; d];
                let mut updates = 0u64;
                for _ in 0..passes {
                    for z in &rows {
                        if w.iter().zip(z).map(|(a, b)| a * b).sum::<f64>() <= 0.0 {
                            w.iter_mut().zip(z).for_each(|(a, b)| *a += b);
                            updates += 1;
                        }
                    }
                }
                assert!(updates as f64 <= bound, "{updates} > {bound}");
            }
        }
    }

    #[test]
    fn the_trace_is_never_looser() {
        // All rows as long as the radius: both bounds say the same at M = (R/γ)².
        let updates = from_zero(1.0, 0.1);
        assert_eq!(from_trace(updates, 0.1), 100.0);
        assert!(from_trace(updates * 0.5, 0.1) < updates);
    }
}
