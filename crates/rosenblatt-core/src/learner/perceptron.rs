//! The primal perceptron.
//!
//! *Rule.* Visit examples; where example i calls for an update, w ← w + η c_i y_i x_i. With
//! several discriminators the judgement says which to raise and which to lower.
//!
//! *Guarantee.* On separable data, from zero and without a margin demand, at most (R/γ)²
//! updates at any rate and in any order, R = max c_i‖x_i‖ and γ the margin.
//!
//! *Cost.* O(non-zeros of the row) a visit, times the number of discriminators to score; an
//! update costs the same again, averaged read-outs included.
//!
//! *Reference.* F. Rosenblatt, "The perceptron: a probabilistic model for information
//! storage and organization in the brain", Psychological Review 65 (1958); A. Novikoff, "On
//! convergence proofs on perceptrons" (1962).

use super::ahead::Ahead;
use super::ledger::{Keeper, Ledger, Note};
use super::start::starting_weights;
use super::twin::Twin;
use crate::crew::Crew;
use crate::data::{Dataset, Rows};
use crate::error::Result;
use crate::model::{Average, Change, LinearState, LogEntry, Scheme, UpdateLog, Weights};
use crate::options::{Bias, Options, Readout, Start};
use crate::train::{Block, Hypothesis, Importance};

/// Who helps it.
#[derive(Clone, Copy)]
pub(crate) struct Help<'a> {
    pub(crate) crew: &'a Crew,
    /// Where they keep the sum of the weights.
    pub(crate) ledger: &'a Ledger<'a>,
    /// Where one of them learns the same weights.
    pub(crate) twin: &'a Twin<'a>,
}

/// The perceptron at work on a data set.
pub(crate) struct Perceptron<'a> {
    data: &'a Dataset,
    importance: &'a Importance<'a>,
    scheme: Scheme,
    state: LinearState,
    /// η, or 1 where the state's unit holds it.
    step: f64,
    /// What the constant feature contributes to an inner product: 1, ρ² or 0.
    constant: f64,
    bias: Bias,
    /// Where the weights began, unless at zero.
    start: Option<Weights>,
    normalise_weights: bool,
    normalised_average: bool,
    crew: &'a Crew,
    keeper: Keeper<'a>,
    scores: Vec<f64>,
    rows: Rows<'a>,
    ahead: Ahead<'a>,
}

impl<'a> Perceptron<'a> {
    /// A perceptron at its start, or going on from a saved state.
    pub(crate) fn new(
        data: &'a Dataset,
        importance: &'a Importance<'a>,
        scheme: Scheme,
        options: &Options,
        Help { crew, ledger, twin }: Help<'a>,
        resume: Option<LinearState>,
    ) -> Result<Self> {
        let constant = match options.bias() {
            Bias::Lifted => 1.0,
            Bias::None => 0.0,
            Bias::Unlifted(rho) => rho.map_or(importance.squared_radius(), |rho| rho * rho),
        };
        // Only from zero does the rate merely scale the weights.
        let scales_only = options.start == Start::Zero
            && options.margin_demand == 0.0
            && !options.normalise_weights;
        let weights = starting_weights(scheme, data.features(), options)?;
        let start = (options.start != Start::Zero).then(|| weights.clone());
        let state = match resume {
            Some(state) => state,
            None => LinearState {
                unit: if scales_only { options.rate() } else { 1.0 },
                average: matches!(
                    options.readout(),
                    Readout::Averaged | Readout::AveragedNormalised
                )
                .then(|| Average::new(scheme, data.features())),
                kept: matches!(options.readout(), Readout::Random | Readout::Pocket)
                    .then(|| weights.clone()),
                norms: (options.readout() == Readout::AveragedNormalised
                    || options.normalise_weights)
                    .then(|| vec![0.0; scheme.groups()]),
                log: (options.readout() == Readout::Voted)
                    .then(|| UpdateLog::new(scheme, weights.clone())),
                weights,
            },
        };
        // Few weights are left out where the examples hold more values than there are weights.
        if state.weights.bytes() <= data.matrix.bytes() {
            let correction = state.average.as_ref().map(|average| &average.correction);
            let all: Vec<&Weights> = correction.into_iter().chain([&state.weights]).collect();
            Weights::bring(&all, crew.threads());
        }
        let normalised_average = options.readout() == Readout::AveragedNormalised;
        Ok(Perceptron {
            data,
            importance,
            scheme,
            step: if scales_only { 1.0 } else { options.rate() },
            constant,
            bias: options.bias(),
            start,
            normalise_weights: options.normalise_weights,
            normalised_average,
            crew,
            keeper: Keeper::new(crew, ledger),
            rows: Rows::of(&data.matrix),
            ahead: Ahead::new(&data.matrix, &state.weights, crew, twin),
            scores: state.weights.score_buffer(),
            state,
        })
    }

    /// How many threads it may use.
    pub(crate) fn threads(&self) -> usize {
        self.crew.threads()
    }

    /// What the constant feature contributes to an inner product.
    pub(crate) fn constant(&self) -> f64 {
        self.constant
    }

    /// Where the weights began, unless at zero.
    pub(crate) fn start(&self) -> Option<&Weights> {
        self.start.as_ref()
    }

    /// The weights as they are, in units of [`unit`](Hypothesis::unit).
    pub(crate) fn weights(&self) -> &Weights {
        &self.state.weights
    }

    /// What the run remembers.
    pub(crate) fn state(&mut self) -> &LinearState {
        self.keeper.take_back(&mut self.state.average);
        &self.state
    }

    /// What the run remembers, when it is over: a perceptron without features is left.
    pub(crate) fn take_state(&mut self) -> LinearState {
        self.keeper.take_back(&mut self.state.average);
        let nothing = LinearState {
            weights: Weights::zero(1, 0),
            unit: 1.0,
            norms: None,
            average: None,
            kept: None,
            log: None,
        };
        std::mem::replace(&mut self.state, nothing)
    }

    /// The running weights in units of 1.
    pub(crate) fn weights_now(&self) -> Weights {
        let mut weights = self.state.weights.clone();
        if self.state.unit != 1.0 {
            (0..self.scheme.discriminators()).for_each(|d| weights.map(d, |w| w * self.state.unit));
        }
        weights
    }

    /// Corrects the sum of the weights for one or two changes by the row of example `i`.
    #[inline]
    fn correct_sum(&mut self, i: usize, one: Change, other: Option<Change>) {
        let Some(average) = &mut self.state.average else {
            return;
        };
        let due = |change: Change| average.due(self.scheme.group(change.d), change);
        let (change, other) = match (due(one), other.and_then(due)) {
            (Some(change), other) => (change, other),
            (None, Some(change)) => (change, None),
            (None, None) => return,
        };
        let example = i as u32;
        let note = Note {
            example,
            change,
            other,
        };
        self.keeper.correct(average, note);
    }

    /// Counts a visit of `group` for the read-outs that want to know.
    #[inline]
    fn count(&mut self, group: usize) {
        self.count_many(group, 1);
    }

    /// Counts so many visits of `group`.
    #[inline]
    fn count_many(&mut self, group: usize, visits: usize) {
        if let Some(average) = &mut self.state.average {
            let share = match &self.state.norms {
                Some(norms) if self.normalised_average => Self::inverse_norm(norms, group),
                _ => 1.0,
            };
            average.count(group, share, visits);
        }
        if let Some(log) = &mut self.state.log {
            log.count(group, visits);
        }
    }

    fn norm_counts_bias(&self) -> bool {
        self.bias == Bias::Lifted
    }

    /// 1/‖w‖ of a group, 0 where the weights are zero.
    fn inverse_norm(norms: &[f64], group: usize) -> f64 {
        if norms[group] > 0.0 {
            1.0 / norms[group].sqrt()
        } else {
            0.0
        }
    }

    /// ‖w_d + a·x‖² = ‖w_d‖² + 2a·w_d·x + a²‖x‖², the lifted feature counted where it is one.
    /// Says whether so much of it cancels that the sum is worth little.
    fn grow_norm(&mut self, d: usize, i: usize, score: f64, amount: f64) -> bool {
        /// How many times smaller a sum may become.
        const CANCELS: f64 = 16.0;
        if self.state.norms.is_none() {
            return false;
        }
        let (inner, squared) = match self.bias {
            Bias::Lifted => (score, self.importance.squared_norm(i) + 1.0),
            Bias::None => (score, self.importance.squared_norm(i)),
            Bias::Unlifted(_) => (
                score - self.state.weights.bias(d),
                self.importance.squared_norm(i),
            ),
        };
        let Some(norms) = &mut self.state.norms else {
            return false;
        };
        let norm = &mut norms[self.scheme.group(d)];
        let before = *norm + amount * amount * squared;
        *norm += 2.0 * amount * inner + amount * amount * squared;
        *norm * CANCELS < before
    }

    /// ‖w‖² of a group, from its weights.
    fn exact_norm(&self, group: usize) -> f64 {
        let with_bias = self.norm_counts_bias();
        let members = self.scheme.members(group);
        members
            .map(|d| self.state.weights.squared_norm(d, with_bias))
            .sum()
    }

    fn renormalise(&mut self, group: usize) {
        // The exact norm, not the running one: it is what the weights are divided by.
        let squared = self.exact_norm(group);
        let Some(norms) = &mut self.state.norms else {
            return;
        };
        norms[group] = 0.0;
        if squared > 0.0 {
            let norm = squared.sqrt();
            self.scheme
                .members(group)
                .for_each(|d| self.state.weights.map(d, |w| w / norm));
            norms[group] = 1.0;
            if let Some(log) = &mut self.state.log {
                log.divided(group, norm);
            }
        }
    }
}

impl Hypothesis for Perceptron<'_> {
    fn scheme(&self) -> Scheme {
        self.scheme
    }

    fn width(&self) -> usize {
        self.scores.len()
    }

    fn unit(&self) -> f64 {
        self.state.unit
    }

    fn begin_pass(&mut self) {
        // Rows that were on their way are there now.
        self.rows = Rows::of(&self.data.matrix);
        self.ahead.rows = self.rows;
        // Running norms drift by rounding; passes begin from exact ones, so that a resumed
        // run and an unbroken one agree.
        if self.state.norms.is_some() {
            let groups = 0..self.scheme.groups();
            self.state.norms = Some(groups.map(|group| self.exact_norm(group)).collect());
        }
    }

    fn look_ahead(&mut self, block: &[u32], coming: &Block) {
        // Weights that are rescaled are added to the sum before.
        if !self.normalise_weights {
            self.keeper.hand_over(&mut self.state.average);
        }
        let told = (!self.normalise_weights).then_some(&self.state.weights);
        self.ahead.expect(block, coming, told);
    }

    fn scores(&mut self, i: usize) -> &[f64] {
        self.state
            .weights
            .scores(self.rows.row(i), &mut self.scores);
        &self.scores
    }

    #[inline]
    fn scores_ahead(&mut self, next: &[u32], scores: &mut Vec<f64>) {
        self.ahead.score(next, &self.state.weights, scores);
    }

    fn update(&mut self, i: usize, scores: &[f64], changes: &[(u32, f64)]) -> f64 {
        self.ahead.updated();
        let row = self.rows.row(i);
        let weight = self.importance.of(i, self.data.labels[i]);
        let amount = self.step * weight;
        let constant = self.constant;
        if self.normalise_weights
            && let Some(average) = &mut self.state.average
        {
            let mut last = None;
            for &(d, _) in changes {
                let group = self.scheme.group(d as usize);
                if last != Some(group) {
                    average.flush(group, self.scheme.members(group), &self.state.weights);
                    last = Some(group);
                }
            }
        }
        let change = |(d, sign): (u32, f64)| {
            let scale = amount * sign;
            Change {
                d: d as usize,
                scale,
                bias: scale * constant,
            }
        };
        let mut cancelled = Vec::new();
        if let &[one, other] = changes {
            let both = [change(one), change(other)];
            for change in both {
                if self.grow_norm(change.d, i, scores[change.d], change.scale) {
                    cancelled.push(self.scheme.group(change.d));
                }
            }
            self.correct_sum(i, both[0], Some(both[1]));
            self.state.weights.add_both(both, row);
        } else {
            for change in changes.iter().map(|&c| change(c)) {
                let Change { d, scale, bias } = change;
                self.ahead.changed(i as u32, change);
                if self.grow_norm(d, i, scores[d], scale) {
                    cancelled.push(self.scheme.group(d));
                }
                self.correct_sum(i, change, None);
                self.state.weights.add(d, row, scale, bias);
            }
        }
        for group in cancelled {
            let exact = self.exact_norm(group);
            if let Some(norms) = &mut self.state.norms {
                norms[group] = exact;
            }
        }
        if let Some(log) = &mut self.state.log {
            let number = self.data.number(i) as u32;
            match (self.scheme, changes) {
                (Scheme::Argmax { .. }, &[(raised, _), (lowered, _)]) => log.push(
                    self.scheme,
                    LogEntry {
                        row: number,
                        raised,
                        lowered,
                        coefficient: amount,
                        divisor: 1.0,
                        survived: 0,
                    },
                ),
                _ => changes.iter().for_each(|&(raised, sign)| {
                    let coefficient = amount * sign;
                    log.push(
                        self.scheme,
                        LogEntry {
                            row: number,
                            raised,
                            lowered: LogEntry::NONE,
                            coefficient,
                            divisor: 1.0,
                            survived: 0,
                        },
                    );
                }),
            }
        }
        if self.normalise_weights {
            let mut last = None;
            for &(d, _) in changes {
                let group = self.scheme.group(d as usize);
                if last != Some(group) {
                    self.renormalise(group);
                    last = Some(group);
                }
            }
        }
        weight * weight * (self.importance.squared_norm(i) + constant)
    }

    #[inline]
    fn settle(&mut self, label: u32) {
        match self.scheme {
            Scheme::Binary | Scheme::Argmax { .. } => self.count(0),
            Scheme::OneVsRest { classes } => (0..classes as usize).for_each(|c| self.count(c)),
            Scheme::OneVsOne { classes } => {
                let own = label as usize;
                for other in (0..classes as usize).filter(|&c| c != own) {
                    self.count(self.scheme.pair(own.min(other), own.max(other)));
                }
            }
        }
    }

    #[inline]
    fn settle_many(&mut self, visits: usize) {
        self.count_many(0, visits);
    }

    fn keep(&mut self) {
        if let Some(kept) = &mut self.state.kept {
            kept.clone_from(&self.state.weights);
        }
    }

    fn vector(&self) -> Vec<f64> {
        let unit = self.state.unit;
        let weights = &self.state.weights;
        (0..self.scheme.discriminators())
            .flat_map(|d| {
                let bias = (self.bias != Bias::None).then(|| weights.bias(d) * unit);
                bias.into_iter()
                    .chain((0..weights.features()).map(move |j| weights.get(d, j) * unit))
            })
            .collect()
    }
}
