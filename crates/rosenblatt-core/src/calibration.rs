//! Calibration: a map from scores to probabilities, fitted on rows that the model was not
//! trained on.
//!
//! Every row counts once, and sums run row after row, so a fit depends on the rows alone. Two
//! classes have one score, that of the positive class. Several have one each: by sigmoid and by
//! isotonic regression each class is calibrated against the rest and the probabilities of a row
//! are divided by their sum (Zadrozny & Elkan 2002); temperature is one number for all and keeps
//! their order.

use crate::error::{Error, Result};
use crate::model::Parts;
use crate::options::{Choice, choices};
use crate::scheme::Scheme;

choices! {
    /// How scores become probabilities.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Method {
        /// 1/(1 + exp(−(a·s + b))) (Platt 2000).
        Sigmoid = "sigmoid",
        /// The best non-decreasing function of the score, by pooling adjacent violators.
        Isotonic = "isotonic",
        /// The softmax of s/T (Guo et al. 2017).
        Temperature = "temperature",
    }
}

impl Method {
    /// What serves this number of classes where nothing is said.
    pub fn usual(classes: usize) -> Self {
        match classes {
            0..=2 => Method::Sigmoid,
            _ => Method::Temperature,
        }
    }
}

/// Rows that something was chosen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ChosenOn {
    /// How many.
    pub examples: u64,
    /// Whether they were held out of training; else they were scored in cross-validation, each
    /// by a model that was trained without it.
    pub held_out: bool,
}

/// A fitted calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    map: Map,
    /// What it was fitted on.
    pub fitted_on: ChosenOn,
}

/// From a score to a probability; of several classes one each, but one temperature for all.
#[derive(Debug, Clone, PartialEq)]
enum Map {
    /// Slope and intercept.
    Sigmoid(Vec<[f64; 2]>),
    /// Scores, ascending, and their probabilities; between them straight lines.
    Isotonic(Vec<Vec<[f64; 2]>>),
    Temperature(f64),
}

impl Calibration {
    /// Fits a calibration to scores, `rows × discriminators`, and the class of each row.
    ///
    /// # Errors
    /// Without rows, and for two classes without rows of both.
    pub fn fit(
        method: Method,
        scheme: Scheme,
        scores: &[f64],
        labels: &[u32],
        held_out: bool,
    ) -> Result<Self> {
        let k = scheme.classes();
        let present = |class| labels.contains(&class);
        if labels.is_empty() || (k == 2 && !(present(0) && present(1))) {
            return Err(
                Error::data("the rows for the calibration are not of both classes")
                    .remedy("hold out more rows"),
            );
        }
        let rows = ClassScores::of(scheme, scores);
        let columns = if k == 2 { 1..2 } else { 0..k };
        let one_class = columns.map(|c| rows.against_rest(c, labels));
        let map = match method {
            Method::Sigmoid => Map::Sigmoid(one_class.map(|rows| sigmoid_fit(&rows)).collect()),
            Method::Isotonic => Map::Isotonic(one_class.map(isotonic_fit).collect()),
            Method::Temperature => Map::Temperature(1.0 / sharpness(&rows, labels)),
        };
        Ok(Calibration {
            map,
            fitted_on: ChosenOn {
                examples: labels.len() as u64,
                held_out,
            },
        })
    }

    /// Which method.
    pub fn method(&self) -> Method {
        match self.map {
            Map::Sigmoid(_) => Method::Sigmoid,
            Map::Isotonic(_) => Method::Isotonic,
            Map::Temperature(_) => Method::Temperature,
        }
    }

    /// The temperature, where it is one.
    pub fn temperature(&self) -> Option<f64> {
        match self.map {
            Map::Temperature(t) => Some(t),
            _ => None,
        }
    }

    /// The slope and the intercept of a sigmoid for two classes, where it is that.
    pub fn sigmoid(&self) -> Option<[f64; 2]> {
        match &self.map {
            Map::Sigmoid(lines) if lines.len() == 1 => Some(lines[0]),
            _ => None,
        }
    }

    /// The probability of each class, for the scores of one row.
    pub fn probabilities(&self, scheme: Scheme, scores: &[f64], to: &mut [f64]) {
        if scheme.classes() == 2 {
            let score = scheme.positive_score(scores);
            let [no, yes] = match &self.map {
                Map::Sigmoid(lines) => both_sides(line(lines[0], score)),
                Map::Temperature(t) => both_sides(score / t),
                Map::Isotonic(curves) => {
                    let p = along(&curves[0], score);
                    [1.0 - p, p]
                }
            };
            (to[0], to[1]) = (no, yes);
            return;
        }
        scheme.class_scores(scores, to);
        match &self.map {
            Map::Temperature(t) => {
                let most = to.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                to.iter_mut().for_each(|s| *s = libm::exp((*s - most) / t));
            }
            Map::Sigmoid(lines) => {
                let each = to.iter_mut().zip(lines);
                each.for_each(|(s, l)| *s = both_sides(line(*l, *s))[1]);
            }
            Map::Isotonic(curves) => {
                let each = to.iter_mut().zip(curves);
                each.for_each(|(s, curve)| *s = along(curve, *s));
            }
        }
        let sum: f64 = to.iter().sum();
        match sum > 0.0 {
            true => to.iter_mut().for_each(|p| *p /= sum),
            // All so unlikely that nothing is left of them.
            false => to.fill(1.0 / to.len() as f64),
        }
    }

    pub(crate) fn put(&self, parts: &mut Parts<'_>) {
        parts.put_fact("calibration", crate::options::choice_name(self.method()));
        parts.put_fact("calibration.fitted_on", self.fitted_on);
        let lists: Vec<Vec<[f64; 2]>> = match &self.map {
            Map::Sigmoid(lines) => lines.iter().map(|l| vec![*l]).collect(),
            Map::Isotonic(curves) => curves.clone(),
            Map::Temperature(t) => vec![vec![[*t, 0.0]]],
        };
        let lengths = lists.iter().map(|list| list.len() as u64);
        parts.put("calibration.lengths", lengths.collect());
        parts.put_table("calibration.points", 2, lists.concat().concat().into());
    }

    pub(crate) fn take(parts: &mut Parts<'_>, scheme: Scheme) -> Result<Option<Self>> {
        let bad = || {
            Error::model("the model file is not valid: its calibration does not fit")
                .remedy("take it from its source again, or train it anew")
        };
        if !parts.has_fact("calibration") {
            return Ok(None);
        }
        let name: String = parts.take_fact("calibration")?;
        let method = Method::ALL.iter().find(|(_, text)| *text == name);
        let (method, _) = *method.ok_or_else(bad)?;
        let fitted_on: ChosenOn = parts.take_fact("calibration.fitted_on")?;
        let lengths: Vec<u64> = parts.take("calibration.lengths")?;
        let points: Vec<f64> = parts.take("calibration.points")?;
        let (points, rest) = points.as_chunks::<2>();
        let finite = points.iter().flatten().all(|x| x.is_finite());
        let mut left = points;
        let mut lists = Vec::new();
        for length in lengths {
            let length = usize::try_from(length).map_err(|_| bad())?;
            let (list, behind) = left.split_at_checked(length).ok_or_else(bad)?;
            lists.push(list.to_vec());
            left = behind;
        }
        let k = scheme.classes();
        let columns = match method {
            Method::Temperature => 1,
            _ if k == 2 => 1,
            _ => k,
        };
        if !rest.is_empty() || !left.is_empty() || !finite || lists.len() != columns {
            return Err(bad());
        }
        let single = |list: &Vec<[f64; 2]>| (list.len() == 1).then(|| list[0]).ok_or_else(bad);
        let rises = |list: &Vec<[f64; 2]>| {
            let inside = list.iter().all(|[_, p]| (0.0..=1.0).contains(p));
            let up = list
                .windows(2)
                .all(|w| w[0][0] < w[1][0] && w[0][1] <= w[1][1]);
            inside && up && !list.is_empty()
        };
        let map = match method {
            Method::Sigmoid => Map::Sigmoid(lists.iter().map(single).collect::<Result<_>>()?),
            Method::Isotonic if lists.iter().all(rises) => Map::Isotonic(lists),
            Method::Temperature => match single(&lists[0])?[0] {
                t if t > 0.0 => Map::Temperature(t),
                _ => return Err(bad()),
            },
            Method::Isotonic => return Err(bad()),
        };
        Ok(Some(Calibration { map, fitted_on }))
    }
}

/// 1/(1 + exp(x)) and 1/(1 + exp(−x)).
pub(crate) fn both_sides(x: f64) -> [f64; 2] {
    let e = libm::exp(-x.abs());
    let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
    match x >= 0.0 {
        true => [small, large],
        false => [large, small],
    }
}

fn line([slope, intercept]: [f64; 2], score: f64) -> f64 {
    slope * score + intercept
}

/// The probability at a score, between points of a curve.
fn along(curve: &[[f64; 2]], score: f64) -> f64 {
    let after = curve.partition_point(|[s, _]| *s <= score);
    let (Some(before), Some(behind)) = (after.checked_sub(1), curve.get(after)) else {
        return curve[after.min(curve.len() - 1)][1];
    };
    let [[s, p], [t, q]] = [curve[before], *behind];
    // Halved, so that no difference is beyond all numbers.
    let share = (score / 2.0 - s / 2.0) / (t / 2.0 - s / 2.0);
    (p + (q - p) * share).clamp(p, q)
}

/// The scores of classes, row by row; of two classes the first has 0.
struct ClassScores {
    classes: usize,
    scores: Vec<f64>,
}

impl ClassScores {
    fn of(scheme: Scheme, scores: &[f64]) -> Self {
        let k = scheme.classes();
        let rows = scores.chunks_exact(scheme.discriminators());
        let mut found = vec![0.0; rows.len() * k];
        for (row, to) in rows.zip(found.chunks_exact_mut(k)) {
            match k {
                2 => to[1] = scheme.positive_score(row),
                _ => scheme.class_scores(row, to),
            }
        }
        ClassScores {
            classes: k,
            scores: found,
        }
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.scores.chunks_exact(self.classes)
    }

    /// The score of one class and whether the row is of it.
    fn against_rest(&self, class: usize, labels: &[u32]) -> Vec<(f64, bool)> {
        let rows = self.rows().zip(labels);
        rows.map(|(scores, &label)| (scores[class], label as usize == class))
            .collect()
    }
}

/// The unit in which no score is above 1.
fn unit(scores: impl Iterator<Item = f64>) -> f64 {
    let most = scores.fold(0.0, |most: f64, s| most.max(s.abs()));
    if most > 0.0 { most } else { 1.0 }
}

/// Slope and intercept of largest likelihood, with targets a little inside 0 and 1, by Newton's
/// method (Lin, Lin & Weng 2007).
fn sigmoid_fit(rows: &[(f64, bool)]) -> [f64; 2] {
    let unit = unit(rows.iter().map(|(s, _)| *s));
    let up = rows.iter().filter(|(_, own)| *own).count() as f64;
    let down = rows.len() as f64 - up;
    let (high, low) = ((up + 1.0) / (up + 2.0), 1.0 / (down + 2.0));
    let target = |own: bool| if own { high } else { low };
    let loss = |at: [f64; 2]| -> f64 {
        let each = rows.iter().map(|&(s, own)| {
            let x = line(at, s / unit);
            // ln(1 + exp(x)) − t·x
            libm::log1p(libm::exp(-x.abs())) + x.max(0.0) - target(own) * x
        });
        each.sum()
    };
    let mut at = [0.0, libm::log((up + 1.0) / (down + 1.0))];
    let mut now = loss(at);
    for _ in 0..100 {
        let (mut g, mut h) = ([0.0; 2], [1e-12, 0.0, 1e-12]);
        for &(s, own) in rows {
            let s = s / unit;
            let [q, p] = both_sides(line(at, s));
            let (d, w) = (p - target(own), p * q);
            g = [g[0] + d * s, g[1] + d];
            h = [h[0] + w * s * s, h[1] + w * s, h[2] + w];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        let step = [
            -(h[2] * g[0] - h[1] * g[1]) / determinant,
            -(h[0] * g[1] - h[1] * g[0]) / determinant,
        ];
        let slope = g[0] * step[0] + g[1] * step[1];
        let better = (0..40).find_map(|i| {
            let t = 1.0 / (1u64 << i) as f64;
            let next = [at[0] + t * step[0], at[1] + t * step[1]];
            let there = loss(next);
            (there < now && there < now + 1e-4 * t * slope).then_some((next, there))
        });
        let Some((next, there)) = better else { break };
        let gained = now - there;
        (at, now) = (next, there);
        if gained <= 1e-14 * now.abs() {
            break;
        }
    }
    [at[0] / unit, at[1]]
}

/// The non-decreasing probabilities of largest likelihood: neighbours in the order of scores whose
/// shares fall are pooled (Ayer et al. 1955). Shares of 0 and 1 are kept inside by the rule of
/// succession, so that no row has an infinite loss.
fn isotonic_fit(mut rows: Vec<(f64, bool)>) -> Vec<[f64; 2]> {
    struct Block {
        first: f64,
        last: f64,
        up: u64,
        all: u64,
    }
    let n = rows.len() as f64;
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut blocks: Vec<Block> = Vec::new();
    for tied in rows.chunk_by(|a, b| a.0 == b.0) {
        let mut block = Block {
            first: tied[0].0,
            last: tied[0].0,
            up: tied.iter().filter(|(_, own)| *own).count() as u64,
            all: tied.len() as u64,
        };
        let falls = |b: &Block, next: &Block| {
            u128::from(b.up) * u128::from(next.all) >= u128::from(next.up) * u128::from(b.all)
        };
        while let Some(before) = blocks.pop_if(|b| falls(b, &block)) {
            block.first = before.first;
            block.up += before.up;
            block.all += before.all;
        }
        blocks.push(block);
    }
    let (low, high) = (1.0 / (n + 2.0), (n + 1.0) / (n + 2.0));
    let mut curve = Vec::new();
    for block in blocks {
        let p = (block.up as f64 / block.all as f64).clamp(low, high);
        curve.push([block.first, p]);
        if block.last > block.first {
            curve.push([block.last, p]);
        }
    }
    curve
}

/// 1/T, T the temperature of least log loss, with targets a little inside 0 and 1, as if one row
/// more of each kind had been seen. The loss is convex in 1/T: Newton's method within a bracket.
fn sharpness(rows: &ClassScores, labels: &[u32]) -> f64 {
    let k = rows.classes;
    let unit = unit(rows.scores.iter().copied());
    // One number is fitted to all rows, so the targets know how many there are, not how many of
    // each class: that would take a row's worth away for every wrong class.
    let missed = 1.0 / (labels.len() as f64 + 2.0);
    let elsewhere = missed / (k as f64 - 1.0);
    // The loss's first and second derivative.
    let mut p = vec![0.0; k];
    let mut derivatives = |sharpness: f64| {
        let (mut first, mut second) = (0.0, 0.0);
        for (scores, &label) in rows.rows().zip(labels) {
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max) / unit;
            let mut sum = 0.0;
            for (p, s) in p.iter_mut().zip(scores) {
                *p = libm::exp((s / unit - most) * sharpness);
                sum += *p;
            }
            let (mut mean, mut squares, mut aim) = (0.0, 0.0, 0.0);
            for (c, (p, s)) in p.iter().zip(scores).enumerate() {
                let (p, s) = (p / sum, s / unit);
                mean += p * s;
                squares += p * s * s;
                let own = c == label as usize;
                aim += s * if own { 1.0 - missed } else { elsewhere };
            }
            first += mean - aim;
            second += (squares - mean * mean).max(0.0);
        }
        (first, second)
    };
    let (mut low, mut high) = (1e-6, 1.0);
    while derivatives(high).0 < 0.0 && high < 1e12 {
        (low, high) = (high, high * 4.0);
    }
    let mut at = high / 2.0;
    for _ in 0..200 {
        let (first, second) = derivatives(at);
        match first > 0.0 {
            true => high = at,
            false => low = at,
        }
        let newton = at - first / second;
        let next = match low < newton && newton < high {
            true => newton,
            false => low + (high - low) / 2.0,
        };
        let moved = (next - at).abs();
        at = next;
        if moved <= 1e-12 * at {
            break;
        }
    }
    at / unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    const METHODS: [Method; 3] = [Method::Sigmoid, Method::Isotonic, Method::Temperature];

    /// Rows whose score leans to their class, some scores the same.
    fn rows(scheme: Scheme, n: usize, seed: u64, unit: f64) -> (Vec<f64>, Vec<u32>) {
        let mut random = Random::new(seed, Stream::Sample, 0);
        let (k, d) = (scheme.classes(), scheme.discriminators());
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for i in 0..n {
            let label = (i % k) as u32;
            for j in 0..d {
                let (low, high) = scheme.sides(j);
                let lean = match low {
                    _ if label == high => 1.0,
                    Some(low) if low != label => 0.0,
                    _ => -1.0,
                };
                let score = ((random.normal() * 1.5 + lean) * 8.0).round() / 8.0;
                scores.push(score * unit);
            }
            labels.push(label);
        }
        (scores, labels)
    }

    fn log_loss(labels: &[u32], k: usize, mut p: impl FnMut(usize, &mut [f64])) -> f64 {
        let mut to = vec![0.0; k];
        let each = labels.iter().enumerate().map(|(i, &label)| {
            p(i, &mut to);
            -libm::log(to[label as usize].max(1e-300))
        });
        each.sum::<f64>() / labels.len() as f64
    }

    fn schemes() -> [Scheme; 5] {
        [
            Scheme::Binary,
            Scheme::Argmax { classes: 2 },
            Scheme::Argmax { classes: 4 },
            Scheme::OneVsRest { classes: 3 },
            Scheme::OneVsOne { classes: 3 },
        ]
    }

    #[test]
    fn probabilities_sum_to_one_and_lose_less_than_scores_as_they_are() {
        for scheme in schemes() {
            for unit in [0.01, 1.0, 300.0] {
                let (scores, labels) = rows(scheme, 600, 7, unit);
                let (k, d) = (scheme.classes(), scheme.discriminators());
                let raw = log_loss(&labels, k, |i, to| {
                    scheme.class_scores(&scores[i * d..][..d], to);
                    if k == 2 {
                        let s = scheme.positive_score(&scores[i * d..][..d]);
                        to.copy_from_slice(&both_sides(s));
                        return;
                    }
                    let most = to.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    to.iter_mut().for_each(|s| *s = libm::exp(*s - most));
                    let sum: f64 = to.iter().sum();
                    to.iter_mut().for_each(|p| *p /= sum);
                });
                for method in METHODS {
                    let found = Calibration::fit(method, scheme, &scores, &labels, true).unwrap();
                    let loss = log_loss(&labels, k, |i, to| {
                        found.probabilities(scheme, &scores[i * d..][..d], to);
                        assert!((to.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                        assert!(to.iter().all(|p| (0.0..=1.0).contains(p)));
                    });
                    let guess = libm::log(k as f64);
                    // Of several classes against the rest no method but the temperature is
                    // fitted to this very loss; and targets inside 0 and 1 cost a little.
                    let beats = k > 2 && method != Method::Temperature || loss < raw + 1e-3;
                    assert!(
                        beats && loss < guess,
                        "{method:?} {scheme:?} {unit}: {loss} {raw}"
                    );
                }
            }
        }
    }

    #[test]
    fn two_classes_are_calibrated_monotonely() {
        for method in METHODS {
            for unit in [1e-8, 1.0, 1e9] {
                let (scores, labels) = rows(Scheme::Binary, 300, 3, unit);
                let found =
                    Calibration::fit(method, Scheme::Binary, &scores, &labels, true).unwrap();
                let mut last = 0.0;
                for i in -400..=400 {
                    let mut p = [0.0; 2];
                    found.probabilities(Scheme::Binary, &[f64::from(i) * unit / 50.0], &mut p);
                    assert!(p[1] >= last, "{method:?}");
                    last = p[1];
                }
                assert!(last > 0.7 && last < 1.0, "{method:?} {last}");
            }
        }
    }

    /// Each share by its definition, the largest over starts of the smallest over ends of means.
    #[test]
    fn isotonic_regression_is_the_best_of_all() {
        for seed in 0..20 {
            let (scores, labels) = rows(Scheme::Binary, 40 + seed as usize, seed, 1.0);
            let own: Vec<(f64, bool)> = scores
                .iter()
                .copied()
                .zip(labels.iter().map(|l| *l == 1))
                .collect();
            let mut distinct = scores.clone();
            distinct.sort_by(f64::total_cmp);
            distinct.dedup();
            let mean = |from: f64, to: f64| {
                let inside: Vec<bool> = own
                    .iter()
                    .filter(|(s, _)| from <= *s && *s <= to)
                    .map(|r| r.1)
                    .collect();
                inside.iter().filter(|up| **up).count() as f64 / inside.len() as f64
            };
            let curve = isotonic_fit(own.clone());
            let n = own.len() as f64;
            for &s in &distinct {
                let starts = distinct.iter().filter(|a| **a <= s);
                let best = starts.map(|a| {
                    let ends = distinct.iter().filter(|b| **b >= s);
                    ends.map(|b| mean(*a, *b)).fold(f64::INFINITY, f64::min)
                });
                let best = best
                    .fold(0.0, f64::max)
                    .clamp(1.0 / (n + 2.0), (n + 1.0) / (n + 2.0));
                assert!((along(&curve, s) - best).abs() < 1e-12, "{s}");
            }
        }
    }

    #[test]
    fn no_other_sigmoid_and_no_other_temperature_loses_less() {
        let (scores, labels) = rows(Scheme::Binary, 500, 5, 20.0);
        let own: Vec<(f64, bool)> = scores
            .iter()
            .copied()
            .zip(labels.iter().map(|l| *l == 1))
            .collect();
        let targets = [1.0 / 252.0, 251.0 / 252.0];
        let loss = |at: [f64; 2]| -> f64 {
            let each = own.iter().map(|&(s, up)| {
                let [q, p] = both_sides(line(at, s));
                let t = targets[usize::from(up)];
                -t * libm::log(p) - (1.0 - t) * libm::log(q)
            });
            each.sum()
        };
        let best = sigmoid_fit(&own);
        for (da, db) in [
            (0.01, 0.0),
            (-0.01, 0.0),
            (0.0, 0.01),
            (0.0, -0.01),
            (0.01, -0.01),
        ] {
            let other = [best[0] * (1.0 + da), best[1] + db];
            assert!(loss(other) > loss(best), "{best:?}");
        }
        let scheme = Scheme::Argmax { classes: 3 };
        let (scores, labels) = rows(scheme, 900, 5, 20.0);
        let b = sharpness(&ClassScores::of(scheme, &scores), &labels);
        let loss = |b: f64| {
            log_loss(&labels, 3, |i, to| {
                to.copy_from_slice(&scores[i * 3..][..3]);
                to.iter_mut().for_each(|s| *s = libm::exp(*s * b));
                let sum: f64 = to.iter().sum();
                to.iter_mut().for_each(|p| *p /= sum);
            })
        };
        // The targets are inside 0 and 1, so the least loss is near, not there.
        assert!(loss(b) < loss(b * 1.1) && loss(b) < loss(b / 1.1), "{b}");
    }

    /// Classes drawn by the softmax of their scores have the temperature 1.
    #[test]
    fn the_temperature_of_sure_predictions_of_many_classes_is_found() {
        let mut random = Random::new(11, Stream::Sample, 0);
        for k in [3, 10, 26] {
            let scheme = Scheme::Argmax { classes: k };
            let (mut scores, mut labels) = (Vec::new(), Vec::new());
            for _ in 0..600 {
                let row: Vec<f64> = (0..k).map(|_| 6.0 * random.normal()).collect();
                let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = row.iter().map(|s| libm::exp(s - most)).sum();
                let mut left = random.unit() * sum;
                let drawn = row.iter().position(|s| {
                    left -= libm::exp(s - most);
                    left < 0.0
                });
                labels.push(drawn.unwrap_or(0) as u32);
                scores.extend(row);
            }
            let b = sharpness(&ClassScores::of(scheme, &scores), &labels);
            assert!((0.8..1.25).contains(&b), "{k} classes: {b}");
        }
    }

    #[test]
    fn separated_rows_and_rows_all_alike_have_finite_probabilities() {
        let labels: Vec<u32> = (0..40).map(|i| u32::from(i >= 20)).collect();
        let separated: Vec<f64> = (0..40).map(|i| f64::from(i) - 19.5).collect();
        for scores in [separated, vec![3.0; 40], vec![0.0; 40]] {
            for method in METHODS {
                let found =
                    Calibration::fit(method, Scheme::Binary, &scores, &labels, true).unwrap();
                for s in scores.iter().chain(&[1e300, -1e300]) {
                    let mut p = [0.0; 2];
                    found.probabilities(Scheme::Binary, &[*s], &mut p);
                    assert!(p[0].is_finite() && (p[0] + p[1] - 1.0).abs() < 1e-12);
                }
            }
        }
        let one_class = Calibration::fit(Method::Sigmoid, Scheme::Binary, &[1.0], &[1], true);
        assert!(one_class.unwrap_err().to_string().contains("both classes"));
    }

    #[test]
    fn it_reads_back_as_written_and_is_checked() {
        for scheme in schemes() {
            let (scores, labels) = rows(scheme, 90, 1, 1.0);
            for method in METHODS {
                let found = Calibration::fit(method, scheme, &scores, &labels, false).unwrap();
                let parts = || {
                    let mut parts = Parts::new();
                    found.put(&mut parts);
                    Parts::from_bytes(&parts.to_bytes().unwrap()).unwrap()
                };
                let again = Calibration::take(&mut parts(), scheme).unwrap();
                assert_eq!(again.as_ref(), Some(&found));
                let mut spoilt = parts();
                let mut points: Vec<f64> = spoilt.take("calibration.points").unwrap();
                points[0] = f64::NAN;
                spoilt.put_table("calibration.points", 2, points.into());
                assert!(Calibration::take(&mut spoilt, scheme).is_err());
                let mut short = parts();
                short.put("calibration.lengths", vec![1u64; 9]);
                assert!(Calibration::take(&mut short, scheme).is_err());
            }
        }
    }
}
