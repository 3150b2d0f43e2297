//! Explicit weights: the primal hypothesis of the perceptron, passive-aggressive learning and
//! AROW.
//!
//! A score is the bias, then the features in ascending order. The order of a pass is known
//! ahead, so four examples are scored in step, which hides the latency of each other's sums; a
//! score found ahead stands until the next update. With a confidence Σ (a diagonal for each
//! discriminator), rows are measured by xᵀΣx and updates go along Σx.

use super::start::starting_weights;
use crate::data::{Dataset, Row, Rows};
use crate::error::Result;
use crate::model::{Decision, LinearState, Voted};
use crate::optimisations;
use crate::options::{Bias, Options, Readout, Start};
use crate::readout::{Average, LogEntry, UpdateLog, inverse_root};
use crate::scheme::Scheme;
use crate::training::{Hypothesis, SampleWeights, Snapshot, Training};
use crate::weights::{Change, GROUP, Weights};

/// Explicit weights at work on a data set.
pub(crate) struct Linear<'a> {
    data: &'a Dataset,
    sample_weights: &'a SampleWeights<'a>,
    scheme: Scheme,
    state: LinearState,
    /// What the constant feature contributes to an inner product: 1, ρ² or 0.
    constant: f64,
    bias: Bias,
    /// Where the weights began, unless at zero.
    start: Option<Weights>,
    normalise_weights: bool,
    normalised_average: bool,
    /// r of AROW, where there is a confidence.
    regularisation: f64,
    scores: Vec<f64>,
    rows: Rows<'a>,
    /// Whether four rows take little longer to score than one.
    in_step: bool,
    /// Whether rows are scored before it is known that the weights stay as they are.
    look_ahead: bool,
    prefetch: Prefetch,
}

/// The rows that come after the ones being scored, asked for a few at a time.
#[derive(Default)]
struct Prefetch {
    rows: Vec<u32>,
    asked: usize,
}

impl Prefetch {
    /// Asks for half as many rows as are scored together: a processor waits for few at a time.
    #[inline]
    fn ask(&mut self, all: Rows<'_>) {
        let next = self.rows.iter().skip(self.asked).take(GROUP / 2);
        next.for_each(|&i| all.row(i as usize).prefetch());
        self.asked += GROUP / 2;
    }
}

impl<'a> Linear<'a> {
    /// Weights at their start, or those of a run that is resumed. In units of `unit`: where the
    /// rate merely scales the weights, they are kept as counts times examples.
    pub(crate) fn new(training: &mut Training<'a>, unit: f64) -> Result<Self> {
        let (data, sample_weights) = (training.data, training.sample_weights);
        let (scheme, options) = (training.scheme, training.options);
        let constant = match options.bias() {
            Bias::Lifted => 1.0,
            Bias::None => 0.0,
            Bias::Unlifted(rho) => rho.map_or(sample_weights.squared_radius(), |rho| rho * rho),
        };
        let weights = starting_weights(scheme, data.features(), options)?;
        let start = (options.start != Start::Zero).then(|| weights.clone());
        let state = match training.state.take() {
            Some(state) => state,
            None => initial_state(scheme, weights, unit, options),
        };
        let rows = Rows::of(&data.matrix);
        Ok(Linear {
            data,
            sample_weights,
            scheme,
            constant,
            bias: options.bias(),
            start,
            normalise_weights: options.normalise_weights,
            normalised_average: options.readout() == Readout::AveragedNormalised,
            regularisation: 0.0,
            in_step: state.weights.in_step(rows),
            look_ahead: optimisations::enabled("lookahead"),
            rows,
            scores: state.weights.score_buffer(),
            state,
            prefetch: Prefetch::default(),
        })
    }

    /// The same with a confidence, Σ = I at first, and AROW's r.
    pub(crate) fn with_confidence(
        training: &mut Training<'a>,
        regularisation: f64,
    ) -> Result<Self> {
        let mut linear = Linear::new(training, 1.0)?;
        linear.regularisation = regularisation;
        let (k, features) = (linear.scheme.discriminators(), linear.data.features());
        let bias = f64::from(u8::from(linear.constant > 0.0));
        let identity = || Weights::filled(k, features, 1.0, bias);
        linear.state.confidence.get_or_insert_with(identity);
        Ok(linear)
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

    /// Counts so many visits of `group` for the read-outs that want to know.
    #[inline]
    fn count(&mut self, group: usize, visits: usize) {
        if let Some(average) = &mut self.state.average {
            let share = match &self.state.norms {
                Some(norms) if self.normalised_average => inverse_root(norms[group]),
                _ => 1.0,
            };
            average.count(group, share, visits);
        }
        if let Some(log) = &mut self.state.log {
            log.count(group, visits);
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
            Bias::Lifted => (score, self.sample_weights.squared_norm(i) + 1.0),
            Bias::None => (score, self.sample_weights.squared_norm(i)),
            Bias::Unlifted(_) => (
                score - self.state.weights.bias(d),
                self.sample_weights.squared_norm(i),
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
        let with_bias = self.bias == Bias::Lifted;
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

    /// The groups of the discriminators that change, each once.
    fn groups_of(&self, changes: &[(u32, f64)]) -> impl Iterator<Item = usize> + use<> {
        let mut groups: Vec<usize> = changes
            .iter()
            .map(|&(d, _)| self.scheme.group(d as usize))
            .collect();
        groups.dedup();
        groups.into_iter()
    }

    /// Adds a change to the weights and keeps the sum of the averaged read-outs as it was.
    #[inline]
    fn add(&mut self, row: Row<'_>, change: Change) {
        if let Some(average) = &mut self.state.average
            && let Some(due) = average.due(self.scheme.group(change.d), change)
        {
            average.correction.add_change(row, due);
        }
        self.state.weights.add_change(row, change);
    }

    /// The same of two changes by one row.
    #[inline]
    fn add_both(&mut self, row: Row<'_>, [one, other]: [Change; 2]) {
        if let Some(average) = &mut self.state.average {
            let due = |change: Change| average.due(self.scheme.group(change.d), change);
            match (due(one), due(other)) {
                (Some(one), Some(other)) => average.correction.add_both([one, other], row),
                (one, other) => one
                    .into_iter()
                    .chain(other)
                    .for_each(|due| average.correction.add_change(row, due)),
            }
        }
        self.state.weights.add_both([one, other], row);
    }

    /// AROW's update: w_d += amount·Σ_d x, then Σ_d,jj −= (Σ_d,jj x_j)²/(v + r), all from the
    /// values before; v is the length by which the step was measured.
    fn update_with_confidence(&mut self, i: usize, weight: f64, changes: &[(u32, f64)]) {
        let row = self.rows.row(i);
        let joint = matches!(self.scheme, Scheme::Argmax { .. });
        let lengths: Vec<f64> = changes
            .iter()
            .map(|&(d, _)| self.step_length(i, d))
            .collect();
        let LinearState {
            weights,
            confidence: Some(confidence),
            average,
            ..
        } = &mut self.state
        else {
            return;
        };
        for (&(d, amount), &own) in changes.iter().zip(&lengths) {
            let d = d as usize;
            let variance = if joint { lengths.iter().sum() } else { own };
            let shrink = 1.0 / (variance + self.regularisation / weight);
            let factor = match average {
                Some(average) => average.factor[self.scheme.group(d)],
                None => 0.0,
            };
            let mut correction = average.as_mut().map(|average| &mut average.correction);
            let mut move_weight = |feature: Option<usize>, x: f64| {
                let sigma = confidence.at(d, feature);
                let step = amount * (*sigma * x);
                *weights.at(d, feature) += step;
                if let Some(correction) = &mut correction {
                    *correction.at(d, feature) -= factor * step;
                }
                *sigma -= shrink * (*sigma * x) * (*sigma * x);
            };
            if self.constant > 0.0 {
                move_weight(None, 1.0);
            }
            row.for_each(|j, x| move_weight(Some(j), x));
        }
    }

    /// The update in the log of the voted read-out.
    fn log_update(&mut self, i: usize, changes: &[(u32, f64)]) {
        let Some(log) = &mut self.state.log else {
            return;
        };
        let entries = LogEntry::of(self.data.number(i) as u32, self.scheme, changes);
        entries.into_iter().for_each(|e| log.push(self.scheme, e));
    }
}

/// Weights and what the read-out keeps beside them, before the first visit.
fn initial_state(scheme: Scheme, weights: Weights, unit: f64, options: &Options) -> LinearState {
    let readout = options.readout();
    let averaged = matches!(readout, Readout::Averaged | Readout::AveragedNormalised);
    let snapshot = matches!(readout, Readout::Random | Readout::Pocket);
    let norms = readout == Readout::AveragedNormalised || options.normalise_weights;
    LinearState {
        unit,
        scale: None,
        cut: None,
        confidence: None,
        average: averaged.then(|| Average::new(scheme, weights.features())),
        kept: snapshot.then(|| weights.clone()),
        norms: norms.then(|| vec![0.0; scheme.groups()]),
        log: (readout == Readout::Voted).then(|| UpdateLog::new(scheme, weights.clone())),
        weights,
    }
}

impl Hypothesis for Linear<'_> {
    fn width(&self) -> usize {
        self.scores.len()
    }

    fn unit(&self) -> f64 {
        self.state.unit
    }

    fn begin_pass(&mut self) {
        // Running norms drift by rounding; passes begin from exact ones, so that a resumed
        // run and an unbroken one agree.
        if self.state.norms.is_some() {
            let groups = 0..self.scheme.groups();
            self.state.norms = Some(groups.map(|group| self.exact_norm(group)).collect());
        }
    }

    fn look_ahead(&mut self, _: &[u32], coming: &[u32]) {
        self.prefetch.rows.clear();
        self.prefetch.rows.extend_from_slice(coming);
        // Neighbours in the order of memory, which the processor continues by itself.
        if let (Some(&first), Some(&last)) = (coming.iter().min(), coming.iter().max())
            && (last - first) as usize == coming.len() - 1
        {
            self.prefetch.rows.clear();
            self.prefetch.rows.extend(first..=last);
        }
        self.prefetch.asked = 0;
    }

    fn scores(&mut self, i: usize) -> &[f64] {
        self.state
            .weights
            .scores(self.rows.row(i), &mut self.scores);
        &self.scores
    }

    #[inline]
    fn scores_ahead(&mut self, next: &[u32], scores: &mut Vec<f64>) {
        self.prefetch.ask(self.rows);
        let few = match self.in_step && self.look_ahead {
            true => GROUP,
            false => 1,
        };
        let next = &next[..few.min(next.len())];
        scores.resize(next.len() * self.scores.len(), 0.0);
        let examples = next.iter().map(|&i| i as usize);
        (self.state.weights).scores_of_group(self.rows, self.in_step, examples, scores);
        self.prefetch.ask(self.rows);
    }

    fn squared_length(&self, i: usize) -> f64 {
        self.sample_weights.squared_norm(i) + self.constant
    }

    fn step_length(&self, i: usize, d: u32) -> f64 {
        let Some(confidence) = &self.state.confidence else {
            return self.squared_length(i);
        };
        let d = d as usize;
        let mut length = confidence.bias(d) * self.constant;
        let add = |j, x: f64| length += confidence.get(d, j) * x * x;
        self.rows.row(i).for_each(add);
        length
    }

    fn update(&mut self, i: usize, scores: &[f64], changes: &[(u32, f64)]) {
        if self.state.confidence.is_some() {
            let weight = self.sample_weights.of(i, self.data.labels[i]);
            return self.update_with_confidence(i, weight, changes);
        }
        if self.normalise_weights {
            for group in self.groups_of(changes) {
                if let Some(average) = &mut self.state.average {
                    average.flush(group, self.scheme.members(group), &self.state.weights);
                }
            }
        }
        let mut cancelled = Vec::new();
        for &(d, amount) in changes {
            if self.grow_norm(d as usize, i, scores[d as usize], amount) {
                cancelled.push(self.scheme.group(d as usize));
            }
        }
        let row = self.rows.row(i);
        let constant = self.constant;
        let change = |&(d, amount): &(u32, f64)| Change {
            d: d as usize,
            scale: amount,
            bias: amount * constant,
        };
        match changes {
            [one, other] => self.add_both(row, [change(one), change(other)]),
            _ => changes.iter().for_each(|c| self.add(row, change(c))),
        }
        for group in cancelled {
            let exact = self.exact_norm(group);
            if let Some(norms) = &mut self.state.norms {
                norms[group] = exact;
            }
        }
        self.log_update(i, changes);
        if self.normalise_weights {
            for group in self.groups_of(changes) {
                self.renormalise(group);
            }
        }
    }

    #[inline]
    fn visited(&mut self, label: u32) {
        let scheme = self.scheme;
        match scheme {
            Scheme::Binary | Scheme::Argmax { .. } => self.count(0, 1),
            _ => scheme.groups_of_class(label).for_each(|g| self.count(g, 1)),
        }
    }

    #[inline]
    fn visited_many(&mut self, visits: usize) {
        self.count(0, visits);
    }

    fn keep_snapshot(&mut self) {
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

impl Snapshot for Linear<'_> {
    fn decision(&mut self, data: &Dataset, readout: Readout) -> Decision {
        let state = &self.state;
        if let (Readout::Voted, Some(log)) = (readout, &state.log) {
            return Decision::Voted(Box::new(Voted::new(data, log.clone(), self.constant)));
        }
        Decision::Linear(state.read_out(self.scheme, readout))
    }

    fn state(&mut self) -> Option<LinearState> {
        Some(self.state.clone())
    }

    fn take_state(&mut self) -> Option<LinearState> {
        let nothing = LinearState::of(Weights::zero(1, 0));
        Some(std::mem::replace(&mut self.state, nothing))
    }
}
